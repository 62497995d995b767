//! The picture as a Mermaid flowchart.

use std::fmt::Write;

use super::colours::Colours;
use super::schematic::{Flow, Role, Schematic};

/// Draws a schematic: subgraphs for frames; `A["name<br/>Kind"]` for blocks; dotted arrows do not
/// feed through, thick ones are buses, those that end in a circle switch a part on and off.
pub(super) fn render(schematic: &Schematic) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "---\ntitle: \"{}\"\n---\nflowchart LR", yaml(&schematic.title));
    frame(&mut out, schematic, &schematic.children(), 0, 1);
    for wire in &schematic.wires {
        let output = &schematic.symbols[wire.from.symbol].outputs[wire.from.pin];
        let input = &schematic.symbols[wire.to.symbol].inputs[wire.to.pin];
        let label = match (output.name.as_str(), input.as_str()) {
            ("", input) => input.to_owned(),
            (output, "") => format!("{output}{}", wire.part),
            (output, input) => format!("{output}{} → {input}", wire.part),
        };
        let arrow = match (wire.flow, output.bus) {
            (Flow::State, _) => "-.->",
            (Flow::Control, _) => "--o",
            (Flow::Through, true) => "==>",
            (Flow::Through, false) => "-->",
        };
        let label = match label.as_str() {
            "" => String::new(),
            label => format!("|\"{}\"|", escape(label)),
        };
        let _ = writeln!(out, "  n{} {arrow}{label} n{}", wire.from.symbol, wire.to.symbol);
    }
    for (i, (sample_time, colour)) in Colours::of(schematic).iter().enumerate() {
        let _ = writeln!(out, "  classDef rate{i} fill:{},stroke:{}", colour.fill, colour.line);
        let members: Vec<String> = schematic
            .symbols
            .iter()
            .enumerate()
            .filter(|(_, symbol)| symbol.sample_time == *sample_time && symbol.role != Role::Join)
            .map(|(n, _)| format!("n{n}"))
            .collect();
        let _ = writeln!(out, "  class {} rate{i}", members.join(","));
    }
    out
}

fn frame(out: &mut String, schematic: &Schematic, children: &[Vec<usize>], f: usize, depth: usize) {
    let indent = "  ".repeat(depth);
    for (n, symbol) in schematic.symbols.iter().enumerate().filter(|(_, symbol)| symbol.frame == f)
    {
        let label = match (symbol.name.as_str(), symbol.kind.as_str()) {
            ("", _) => " ".to_owned(),
            (name, "") => escape(name),
            (name, kind) => format!("{}<br/><i>{}</i>", escape(name), escape(kind)),
        };
        let lines = symbol.caption.iter().map(|line| format!("<br/>{}", escape(line)));
        let label = label + &lines.collect::<String>();
        let (open, close) = match symbol.role {
            Role::Block | Role::Hidden => ("(\"", "\")"),
            Role::Folded => ("[[\"", "\"]]"),
            Role::Join => ("[\"", "\"]"),
            Role::Condition => ("([\"", "\"])"),
        };
        let _ = writeln!(out, "{indent}n{n}{open}{label}{close}");
    }
    for &child in &children[f] {
        let _ = writeln!(
            out,
            "{indent}subgraph f{child}[\"{}\"]",
            escape(&schematic.frames[child].name)
        );
        frame(out, schematic, children, child, depth + 1);
        let _ = writeln!(out, "{indent}end");
    }
}

/// Mermaid's entities: `#` and a name or a code, closed by `;`. Everything but letters, digits and
/// what cannot mean anything is written so.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || " .,:_→-+/()=".contains(c) {
            out.push(c);
        } else {
            let _ = write!(out, "#{};", c as u32);
        }
    }
    out
}

/// Text between double quotes in YAML.
fn yaml(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
