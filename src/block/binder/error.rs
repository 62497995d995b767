//! Errors on their way from a value to the diagnostics.

use std::fmt;

use crate::diagnostic::{Diagnostic, Span};
use crate::value::Node;

/// A value, or a mistake.
pub(super) type Bound<T> = Result<T, BindError>;

/// What a mistake is about, so that a second reading can pass over it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Culprit {
    /// The value at this address.
    Value(usize),
    /// A field that the value at this address lacks.
    Missing(usize, &'static str),
}

impl Culprit {
    pub(super) fn value(node: &Node) -> Self {
        Self::Value(std::ptr::from_ref(node).addr())
    }

    pub(super) fn missing(node: &Node, field: &'static str) -> Self {
        Self::Missing(std::ptr::from_ref(node).addr(), field)
    }
}

/// A mistake, with its place as soon as that is known.
#[derive(Debug)]
pub(super) struct BindError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    what: What,
    culprit: Option<Culprit>,
}

#[derive(Debug)]
enum What {
    /// A sentence without place.
    Message(String),
    MissingField(&'static str),
    Placed(Diagnostic),
    /// Made-up values did not fit: not a mistake of the author.
    Dream,
}

impl BindError {
    fn new(what: What, culprit: Option<Culprit>) -> Self {
        Self(Box::new(Inner { what, culprit }))
    }

    pub(super) fn placed(diagnostic: Diagnostic, culprit: Option<Culprit>) -> Self {
        Self::new(What::Placed(diagnostic), culprit)
    }

    pub(super) fn dream() -> Self {
        Self::new(What::Dream, None)
    }

    /// Gives an error without place the place of `node`.
    pub(super) fn at(mut self, span: Span, culprit: Option<Culprit>) -> Self {
        if let What::Message(message) = &self.0.what {
            let message = message.clone();
            self.0.what = What::Placed(Diagnostic::error("parameter", span, message));
        }
        if self.0.culprit.is_none() && !matches!(self.0.what, What::MissingField(_)) {
            self.0.culprit = culprit;
        }
        self
    }

    /// The field that a struct found missing, if that is the mistake.
    pub(super) fn missing(&self) -> Option<&'static str> {
        match self.0.what {
            What::MissingField(name) => Some(name),
            _ => None,
        }
    }

    /// The diagnostic, placed at `node` if nowhere else, and what it is about.
    pub(super) fn finish(self, node: &Node) -> (Option<Diagnostic>, Option<Culprit>) {
        let diagnostic = match self.0.what {
            What::Message(message) => Some(Diagnostic::error("parameter", node.span, message)),
            What::MissingField(name) => {
                let message = format!("the parameter `{name}` is missing");
                Some(Diagnostic::error("missing-parameter", node.span, message))
            }
            What::Placed(diagnostic) => Some(diagnostic),
            What::Dream => None,
        };
        (diagnostic, self.0.culprit)
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.what {
            What::Message(message) => f.write_str(message),
            What::MissingField(name) => write!(f, "the parameter `{name}` is missing"),
            What::Placed(diagnostic) => f.write_str(&diagnostic.message),
            What::Dream => f.write_str("a value in place of a wrong one does not fit"),
        }
    }
}

impl std::error::Error for BindError {}

impl serde::de::Error for BindError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(What::Message(message.to_string()), None)
    }

    fn invalid_type(found: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::custom(format!("expected {expected}, found {found}"))
    }

    fn invalid_value(found: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::custom(format!("expected {expected}, found {found}"))
    }

    fn invalid_length(found: usize, expected: &dyn serde::de::Expected) -> Self {
        Self::custom(format!("expected {expected}, found {found} values"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(What::MissingField(field), None)
    }
}
