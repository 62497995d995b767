//! Why a path leads to no source.

use legwork_block::{Diagnostic, Span, code};

use crate::language::Interface;
use crate::network::Source;

/// A source, or why there is none.
pub(crate) type Resolved = Result<Source, Unresolved>;

/// An optional port that is not there.
pub(crate) enum AbsentPort {
    /// An input of a mask that its user has not connected.
    Input(String),
    /// An output that a mask, or what fills a hole, does not have: its name, and that of the part.
    Output(String, String),
}

impl AbsentPort {
    /// That it is missing where an input must be connected, in a sentence that begins with `what`
    /// if it is given.
    pub(super) fn missing(&self, at: Span, what: Option<&str>) -> Diagnostic {
        let (text, hint) = match self {
            Self::Input(name) => (
                format!("`^{name}` is not connected"),
                "the mask's own input is optional, and its user has not connected it".to_owned(),
            ),
            Self::Output(name, part) => (
                format!("`{part}` has no output `{name}`"),
                format!("this output of `{part}` is optional, and what stands there has none"),
            ),
        };
        let text = what.map_or(text, |what| format!("{what} not connected"));
        Diagnostic::error(code::MISSING_INPUT, at, text).hint(hint)
    }
}

/// Why a path leads to no source.
pub(crate) enum Unresolved {
    /// A mistake in the path.
    Wrong(Box<Diagnostic>),
    /// The block is there, but has no such output.
    NoOutput(Box<Diagnostic>),
    /// It leads to an optional port that is not there.
    Absent {
        /// Where the port is read.
        span: Span,
        /// Which it is.
        port: AbsentPort,
    },
    /// It leads to something whose own mistakes are reported already.
    Reported,
}

impl Unresolved {
    /// That of the output `name` of `part` which leads here: it is absent where the path is read.
    pub(super) fn of_output(self, name: &str, part: &str, span: Span) -> Self {
        match self {
            Self::Absent { port: AbsentPort::Output(..), .. } => {
                Self::Absent { span, port: AbsentPort::Output(name.to_owned(), part.to_owned()) }
            }
            other => other,
        }
    }

    /// What is to be reported. An input that must be connected may not lead to one that is not.
    pub(crate) fn diagnostic(self) -> Option<Diagnostic> {
        match self {
            Self::Wrong(diagnostic) | Self::NoOutput(diagnostic) => Some(*diagnostic),
            Self::Absent { span, port } => Some(port.missing(span, None)),
            Self::Reported => None,
        }
    }
}

impl From<Diagnostic> for Unresolved {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Wrong(Box::new(diagnostic))
    }
}

/// A name that is not among the known ones; these stand in the advice behind `has`, such as
/// "it has".
pub(super) fn not_among<'k>(
    code: code::Code,
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
    let found = not_among(code::UNKNOWN_PORT, span, message, name, known, "it has");
    match ports.inputs.is_empty() {
        true => found.hint(format!("declare it: ports: (in: {{ \"{name}\": \"Real\" }})")),
        false => found,
    }
}
