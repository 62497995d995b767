//! Files that a diagram names and that hold a construct: masks, robots, interfaces.

use std::rc::Rc;

use legwork_block::{Diagnostic, Node, code};

use crate::document;
use crate::language::wrong_type;
use crate::loader::Loader;

/// The construct in the file `name`, which is named `at`. It must be one of `kinds`, of which
/// `expected` is an example.
pub(super) fn construct_in(
    loader: &Loader<'_>,
    name: &str,
    at: &Node,
    kinds: &[&str],
    expected: &str,
) -> Result<Rc<Node>, Diagnostic> {
    let (file, bytes) = loader
        .source(name, kinds)
        .map_err(|message| Diagnostic::error(code::MISSING_FILE, at.span, message))?;
    loader.note(name, &bytes);
    let node = document::parse(file, &bytes)?;
    match node.kind_name() {
        Some(kind) if kinds.contains(&kind.text.as_str()) => Ok(Rc::new(node)),
        _ => Err(wrong_type(&node, expected)),
    }
}

/// The file `path` that the file `from` names, as the diagram would name it.
pub(super) fn beside(from: &str, path: &str) -> String {
    let is_elsewhere = path.starts_with("std:") || path.starts_with('/') || path.contains(':');
    match from.rfind(['/', ':']) {
        Some(end) if !is_elsewhere => format!("{}{path}", &from[..=end]),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_others_from_where_it_is() {
        let table = [
            ("robots/go.ron", "go/go.urdf", "robots/go/go.urdf"),
            ("std:robots/go.ron", "go/go.urdf", "std:robots/go/go.urdf"),
            ("std:go.ron", "go.urdf", "std:go.urdf"),
            ("go.ron", "go.urdf", "go.urdf"),
            ("robots/go.ron", "std:go.urdf", "std:go.urdf"),
            ("robots/go.ron", "/robots/go.urdf", "/robots/go.urdf"),
        ];
        for (from, path, expected) in table {
            assert_eq!(beside(from, path), expected, "{path} in {from}");
        }
    }
}
