//! Documentation comments: their text, and tables in them.

use syn::{Attribute, DeriveInput, Expr, ExprLit, Lit, Meta, parse_quote};

/// The text of the documentation comments among `attributes`.
pub(crate) fn documentation(attributes: &[Attribute]) -> String {
    let lines: Vec<String> = attributes.iter().filter_map(doc_line).collect();
    let lines: Vec<&str> =
        lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n")
}

/// The line of a documentation comment.
pub(crate) fn doc_line(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// Adds a table with this head to the documentation behind the first paragraph.
pub(crate) fn document(head: &str, rows: &[String], item: &mut DeriveInput) {
    if rows.is_empty() {
        return;
    }
    let docs = item.attrs.iter().map(doc_line);
    let mut end = item.attrs.len();
    for (at, line) in docs.enumerate() {
        match line {
            Some(line) if line.trim().is_empty() => {
                end = at;
                break;
            }
            Some(_) => end = at + 1,
            None => {}
        }
    }
    let head = [" ".to_owned(), format!(" {head}"), " |---|---|---|---|".to_owned()];
    let table = head.iter().chain(rows).map(|line| parse_quote!(#[doc = #line]));
    item.attrs.splice(end..end, table);
}
