//! A function type as text: `fn(problem: ContactProblem) -> (f: Vector)`.

use indexmap::IndexMap;
use legwork_block::{Diagnostic, Node, NodeKind, Place, Text, code};

use super::Interface;
use super::value::Declared;
use crate::types_text::split_arguments;

/// The interface that a function type declares.
pub(super) fn parse(text: &Text) -> Result<Interface, Diagnostic> {
    let whole = text.value.as_str();
    let bad = |part: &str, message: &str| {
        let start = offset(whole, part);
        let span = text.place.part(start, start + part.len());
        Diagnostic::error(code::BAD_TYPE, span, message)
            .hint("write \"fn(problem: ContactProblem) -> (f: Vector)\"")
    };
    let not_a_function = || bad(whole, "expected the type of a function");
    let (inputs, outputs) = whole.split_once("->").ok_or_else(not_a_function)?;
    let inputs = inputs.trim().strip_prefix("fn").ok_or_else(not_a_function)?;
    let ports = |list: &str| -> Result<IndexMap<String, Declared>, Diagnostic> {
        let list = list.trim();
        let inside = list
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'))
            .ok_or_else(|| bad(list, "expected a list in parentheses"))?;
        let mut ports = IndexMap::new();
        for part in split_arguments(inside) {
            let (name, ty) =
                part.split_once(':').ok_or_else(|| bad(part, "expected `name: Type`"))?;
            let (name, ty) = (name.trim(), ty.trim());
            let start = offset(whole, ty);
            let span = text.place.part(start, start + ty.len());
            let place = Place::new(span, span.start, Vec::new());
            let kind = NodeKind::Text(Text { value: ty.to_owned(), place });
            let port = Declared::of_type(Node { span, kind });
            if name.is_empty() || ports.insert(name.to_owned(), port).is_some() {
                return Err(bad(part, "expected a name that no other port has"));
            }
        }
        Ok(ports)
    };
    Ok(Interface { inputs: ports(inputs)?, outputs: ports(outputs)?, ..Interface::default() })
}

/// Where `part` begins in `whole`.
fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}
