//! The picture in Graphviz' DOT language.

use std::fmt::Write;

use super::colours::{Colour, Colours};
use super::schematic::{Flow, Role, Schematic};
use crate::text::xml;

/// Draws a schematic: clusters for frames, tables with one cell per pin for blocks.
pub(super) fn render(schematic: &Schematic) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "digraph diagram {{\n  rankdir=LR;\n  label={};\n  labelloc=t;\n  nodesep=0.3;\n  \
         ranksep=0.8;\n  \
         node [shape=plain, fontname=\"Helvetica\", fontsize=11];\n  \
         edge [fontname=\"Helvetica\", fontsize=9, arrowsize=0.6];\n  \
         graph [fontname=\"Helvetica\", fontsize=12, style=rounded];\n",
        quoted(&schematic.title),
    );
    frame(&mut out, schematic, &schematic.children(), 0, 1);
    let colours = Colours::of(schematic);
    for wire in &schematic.wires {
        let source = &schematic.symbols[wire.from.symbol];
        let output = &source.outputs[wire.from.pin];
        let line = colours.get(&source.sample_time).line;
        let _ = write!(
            out,
            "  n{}:o{}:e -> n{}:i{}:w [color=\"{line}\", tooltip={}",
            wire.from.symbol,
            wire.from.pin,
            wire.to.symbol,
            wire.to.pin,
            quoted(&output.ty),
        );
        if output.bus {
            out.push_str(", penwidth=2.2");
        }
        out.push_str(match wire.flow {
            Flow::Through => "",
            Flow::State => ", style=dashed",
            Flow::Control => ", style=dotted",
        });
        if !wire.part.is_empty() {
            let _ = write!(out, ", label={}", quoted(&wire.part));
        }
        out.push_str("];\n");
    }
    out.push_str("}\n");
    out
}

fn frame(out: &mut String, schematic: &Schematic, children: &[Vec<usize>], f: usize, depth: usize) {
    let indent = "  ".repeat(depth);
    for n in (0..schematic.symbols.len()).filter(|&n| schematic.symbols[n].frame == f) {
        let _ = writeln!(out, "{indent}n{n} [label=<{}>];", table(schematic, n));
    }
    for &child in &children[f] {
        let _ = writeln!(out, "{indent}subgraph cluster_{child} {{");
        let _ = writeln!(out, "{indent}  label={};", quoted(&schematic.frames[child].name));
        frame(out, schematic, children, child, depth + 1);
        let _ = writeln!(out, "{indent}}}");
    }
}

/// An HTML-like table: heading, then inputs left and outputs right.
fn table(schematic: &Schematic, n: usize) -> String {
    let symbol = &schematic.symbols[n];
    let Colour { line, fill } = Colours::of(schematic).get(&symbol.sample_time);
    let style = match symbol.role {
        Role::Hidden => " STYLE=\"rounded,dashed\"",
        _ => " STYLE=\"rounded\"",
    };
    let borders = if symbol.role == Role::Folded { 3 } else { 1 };
    let mut out = format!(
        "<TABLE{style} BORDER=\"{borders}\" CELLBORDER=\"0\" CELLSPACING=\"0\" COLOR=\"{line}\" \
         BGCOLOR=\"{fill}\">"
    );
    if symbol.role != Role::Join {
        let _ = write!(out, "<TR><TD COLSPAN=\"2\"><B>{}</B></TD></TR>", text(&symbol.name));
        if !symbol.kind.is_empty() {
            let _ = write!(out, "<TR><TD COLSPAN=\"2\"><I>{}</I></TD></TR>", text(&symbol.kind));
        }
    }
    for row in 0..symbol.inputs.len().max(symbol.outputs.len()) {
        out.push_str("<TR>");
        let input = symbol.inputs.get(row).map(String::as_str);
        let output = symbol.outputs.get(row).map(|output| output.name.as_str());
        for (name, letter, side) in [(input, 'i', "LEFT"), (output, 'o', "RIGHT")] {
            let _ = match name {
                Some(name) => {
                    write!(out, "<TD PORT=\"{letter}{row}\" ALIGN=\"{side}\">{}</TD>", text(name))
                }
                None => write!(out, "<TD></TD>"),
            };
        }
        out.push_str("</TR>");
    }
    for line in &symbol.caption {
        let _ = write!(out, "<TR><TD COLSPAN=\"2\" ALIGN=\"LEFT\">{}</TD></TR>", text(line));
    }
    out.push_str("</TABLE>");
    out
}

/// Text in a cell. Graphviz refuses empty bold and italic elements, so nothing becomes a space.
fn text(text: &str) -> String {
    if text.is_empty() { " ".to_owned() } else { xml(text) }
}

/// A quoted string: backslashes would start escapes such as `\N`.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
