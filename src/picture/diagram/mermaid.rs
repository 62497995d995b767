//! The picture as a Mermaid flowchart.

use std::fmt::Write;

use super::model::{Model, Role};

/// Draws a model: subgraphs for frames; `A["name<br/>Kind"]` for blocks; dotted arrows do not feed
/// through, thick ones are buses.
pub(super) fn render(model: &Model) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "---\ntitle: \"{}\"\n---\nflowchart LR", yaml(&model.title));
    frame(&mut out, model, &model.children(), 0, 1);
    for wire in &model.wires {
        let output = &model.nodes[wire.from.node].outputs[wire.from.pin];
        let input = &model.nodes[wire.to.node].inputs[wire.to.pin];
        let label = match (output.name.as_str(), input.as_str()) {
            ("", input) => input.to_owned(),
            (output, "") => format!("{output}{}", wire.part),
            (output, input) => format!("{output}{} → {input}", wire.part),
        };
        let arrow = match (wire.feeds, output.bus) {
            (false, _) => "-.->",
            (true, true) => "==>",
            (true, false) => "-->",
        };
        let label = match label.as_str() {
            "" => String::new(),
            label => format!("|\"{}\"|", escape(label)),
        };
        let _ = writeln!(out, "  n{} {arrow}{label} n{}", wire.from.node, wire.to.node);
    }
    for (i, (pace, colour)) in model.paces().into_iter().enumerate() {
        let _ = writeln!(out, "  classDef pace{i} fill:{},stroke:{}", colour.fill, colour.line);
        let members: Vec<String> = model
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| &node.pace == pace && node.role != Role::Join)
            .map(|(n, _)| format!("n{n}"))
            .collect();
        let _ = writeln!(out, "  class {} pace{i}", members.join(","));
    }
    out
}

fn frame(out: &mut String, model: &Model, children: &[Vec<usize>], f: usize, depth: usize) {
    let indent = "  ".repeat(depth);
    for (n, node) in model.nodes.iter().enumerate().filter(|(_, node)| node.frame == f) {
        let label = match (node.name.as_str(), node.kind.as_str()) {
            ("", _) => " ".to_owned(),
            (name, "") => escape(name),
            (name, kind) => format!("{}<br/><i>{}</i>", escape(name), escape(kind)),
        };
        let (open, close) = match node.role {
            Role::Block | Role::Hidden => ("(\"", "\")"),
            Role::Folded => ("[[\"", "\"]]"),
            Role::Join => ("[\"", "\"]"),
        };
        let _ = writeln!(out, "{indent}n{n}{open}{label}{close}");
    }
    for &child in &children[f] {
        let _ =
            writeln!(out, "{indent}subgraph f{child}[\"{}\"]", escape(&model.frames[child].name));
        frame(out, model, children, child, depth + 1);
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
