//! Why a path leads to no source.

use legwork_block::{Diagnostic, Span};

use crate::language::Interface;
use crate::network::Source;

/// A source, or why there is none.
pub(crate) type Resolved = Result<Source, Unresolved>;

/// Why a path leads to no source.
pub(crate) enum Unresolved {
    /// A mistake in the path.
    Wrong(Box<Diagnostic>),
    /// The block is there, but has no such output.
    NoOutput(Box<Diagnostic>),
    /// It leads to an optional input of a mask that its user has not connected.
    Absent {
        /// Where the input is read.
        span: Span,
        /// Its name.
        input: String,
    },
    /// It leads to something whose own mistakes are reported already.
    Reported,
}

impl Unresolved {
    /// What is to be reported. An input that must be connected may not lead to one that is not.
    pub(crate) fn diagnostic(self) -> Option<Diagnostic> {
        match self {
            Self::Wrong(diagnostic) | Self::NoOutput(diagnostic) => Some(*diagnostic),
            Self::Absent { span, input } => {
                Some(not_connected(span, &format!("`^{input}` is not connected")))
            }
            Self::Reported => None,
        }
    }
}

impl From<Diagnostic> for Unresolved {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Wrong(Box::new(diagnostic))
    }
}

/// An input that must be connected leads to an optional input of a mask that is not.
pub(super) fn not_connected(at: Span, message: &str) -> Diagnostic {
    Diagnostic::error("missing-input", at, message.to_owned())
        .hint("the mask's own input is optional, and its user has not connected it")
}

/// A name that is not among the known ones; these stand in the advice behind `has`, such as
/// "it has".
pub(super) fn not_among<'k>(
    code: &'static str,
    span: Span,
    message: String,
    name: &str,
    known: impl IntoIterator<Item = &'k str>,
    has: &str,
) -> Diagnostic {
    let known: Vec<&str> = known.into_iter().collect();
    let found = Diagnostic::error(code, span, message).suggest(name, known.iter().copied());
    match known.is_empty() {
        true => found,
        false => found.hint(format!("{has} {}", listed(&known))),
    }
}

/// How many names a hint lists.
const NAMES: usize = 50;

/// The first of some names.
pub(super) fn listed(names: &[&str]) -> String {
    let shown = &names[..names.len().min(NAMES)];
    let more = if names.len() > shown.len() { ", …" } else { "" };
    format!("`{}`{more}", shown.join("`, `"))
}

/// An input that `what`, a part or the diagram, does not declare.
pub(super) fn undeclared(what: &str, ports: &Interface, name: &str, span: Span) -> Diagnostic {
    let message = format!("{what} declares no input `{name}`");
    let known = ports.inputs.keys().map(String::as_str);
    let found = not_among("unknown-port", span, message, name, known, "it has");
    match ports.inputs.is_empty() {
        true => found.hint(format!("declare it: ports: (in: {{ \"{name}\": \"Real\" }})")),
        false => found,
    }
}
