//! A text that reads as RON, made of one that does not.

use std::collections::BTreeSet;

use legwork_block::FileId;
use legwork_diagram::document;

use crate::tree::{Group, Item, Tree, Value};

/// Whether a text reads as RON.
pub(crate) fn is_whole(text: &str) -> bool {
    document::parse(FileId::default(), text.as_bytes()).is_ok()
}

/// What can be understood of a text: its shape without what is missing, wrong or there twice. Its
/// places are others.
pub(crate) fn repaired(text: &str) -> Option<String> {
    let tree = Tree::of(text, true);
    let mut out = String::new();
    value(tree.items.first()?, text, &mut out);
    is_whole(&out).then_some(out)
}

/// Writes an item without its key; whether there is something to write.
fn value(item: &Item, text: &str, out: &mut String) -> bool {
    let mut leaf = |part: &str| {
        let is_leaf = is_whole(part);
        if is_leaf {
            out.push_str(part);
        }
        is_leaf
    };
    match &item.value {
        Value::Missing => false,
        Value::Word(range) => leaf(&text[range.clone()]),
        Value::Text(range, inner) => {
            let closed = leaf(&text[range.clone()]);
            closed || leaf(&format!("\"{}\"", &text[inner.clone()]))
        }
        Value::Group(found) => {
            if let Some(kind) = &item.kind {
                out.push_str(&text[kind.clone()]);
            }
            group(found, text, out);
            true
        }
    }
}

fn group(group: &Group, text: &str, out: &mut String) {
    let close = match group.bracket {
        b'(' => ')',
        b'[' => ']',
        _ => '}',
    };
    out.push(char::from(group.bracket));
    let has_keys = group.bracket != b'[' && group.items.iter().any(|item| item.key.is_some());
    let mut names = BTreeSet::new();
    for item in &group.items {
        let before = out.len();
        match &item.key {
            Some(key) if has_keys && names.insert(&key.name) => {
                out.push_str(&text[key.range.clone()]);
                out.push(':');
            }
            None if !has_keys && group.bracket != b'{' => {}
            _ => continue,
        }
        if value(item, text, out) {
            out.push(',');
        } else {
            out.truncate(before);
        }
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_understood_reads_as_ron() {
        for (text, expected) in [
            ("A(b: 1, c: )", "A(b:1,)"),
            ("A(b: 1x, c: 2, c: 3, 4)", "A(c:2,)"),
            ("A(b: K(c: [1, 2)", "A(b:K(c:[1,2,],),)"),
            ("A(b: { \"u\": \"x, 3 }", "A(b:{\"u\":\"x\",},)"),
            ("A", "A"),
        ] {
            assert_eq!(repaired(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(repaired(")"), None);
    }
}
