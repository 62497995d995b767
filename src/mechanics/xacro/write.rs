//! The expanded document as text, an element a line.

use super::scopes::Node;

/// Appends an element; `origins` gets the place of every line.
pub(super) fn write(node: &Node, out: &mut String, origins: &mut Vec<(usize, usize)>) {
    out.push('<');
    out.push_str(&node.name);
    for (key, value) in &node.attributes {
        out.push(' ');
        out.push_str(key);
        out.push_str("=\"");
        for c in value.chars() {
            match c {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '"' => out.push_str("&quot;"),
                '\n' => out.push_str("&#10;"),
                c => out.push(c),
            }
        }
        out.push('"');
    }
    origins.push((node.file, node.line));
    if node.children.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    for child in &node.children {
        write(child, out, origins);
    }
    out.push_str("</");
    out.push_str(&node.name);
    out.push_str(">\n");
    origins.push((node.file, node.line));
}
