//! The picture in Graphviz' DOT language.

use std::fmt::Write;

use super::model::{Model, Role};
use crate::text::xml;

/// Draws a model: clusters for frames, tables with one cell per pin for blocks.
pub(super) fn render(model: &Model) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "digraph diagram {{\n  rankdir=LR;\n  label={};\n  labelloc=t;\n  nodesep=0.3;\n  ranksep=0.8;\n  \
         node [shape=plain, fontname=\"Helvetica\", fontsize=11];\n  \
         edge [fontname=\"Helvetica\", fontsize=9, arrowsize=0.6];\n  \
         graph [fontname=\"Helvetica\", fontsize=12, style=rounded];\n",
        quoted(&model.title),
    );
    frame(&mut out, model, &model.children(), 0, 1);
    let paces = model.paces();
    for wire in &model.wires {
        let source = &model.nodes[wire.from.node];
        let output = &source.outputs[wire.from.pin];
        let line = paces.get(&source.pace).map_or("#5b6673", |colour| colour.line);
        let _ = write!(
            out,
            "  n{}:o{}:e -> n{}:i{}:w [color=\"{line}\", tooltip={}",
            wire.from.node,
            wire.from.pin,
            wire.to.node,
            wire.to.pin,
            quoted(&output.ty),
        );
        if output.bus {
            out.push_str(", penwidth=2.2");
        }
        if !wire.feeds {
            out.push_str(", style=dashed");
        }
        if !wire.part.is_empty() {
            let _ = write!(out, ", label={}", quoted(&wire.part));
        }
        out.push_str("];\n");
    }
    out.push_str("}\n");
    out
}

fn frame(out: &mut String, model: &Model, children: &[Vec<usize>], f: usize, depth: usize) {
    let indent = "  ".repeat(depth);
    for n in (0..model.nodes.len()).filter(|&n| model.nodes[n].frame == f) {
        let _ = writeln!(out, "{indent}n{n} [label=<{}>];", table(model, n));
    }
    for &child in &children[f] {
        let _ = writeln!(out, "{indent}subgraph cluster_{child} {{");
        let _ = writeln!(out, "{indent}  label={};", quoted(&model.frames[child].name));
        frame(out, model, children, child, depth + 1);
        let _ = writeln!(out, "{indent}}}");
    }
}

/// An HTML-like table: heading, then inputs left and outputs right.
fn table(model: &Model, n: usize) -> String {
    let node = &model.nodes[n];
    let paces = model.paces();
    let (line, fill) = paces.get(&node.pace).map_or(("#5b6673", "#ffffff"), |c| (c.line, c.fill));
    let style = match node.role {
        Role::Hidden => " STYLE=\"rounded,dashed\"",
        _ => " STYLE=\"rounded\"",
    };
    let borders = if node.role == Role::Folded { 3 } else { 1 };
    let mut out = format!(
        "<TABLE{style} BORDER=\"{borders}\" CELLBORDER=\"0\" CELLSPACING=\"0\" COLOR=\"{line}\" \
         BGCOLOR=\"{fill}\">"
    );
    if node.role != Role::Join {
        let _ = write!(out, "<TR><TD COLSPAN=\"2\"><B>{}</B></TD></TR>", text(&node.name));
        if !node.kind.is_empty() {
            let _ = write!(out, "<TR><TD COLSPAN=\"2\"><I>{}</I></TD></TR>", text(&node.kind));
        }
    }
    for row in 0..node.inputs.len().max(node.outputs.len()) {
        out.push_str("<TR>");
        let input = node.inputs.get(row).map(String::as_str);
        let output = node.outputs.get(row).map(|output| output.name.as_str());
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
