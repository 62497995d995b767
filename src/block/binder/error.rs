//! Errors on their way from a value to the diagnostics.

use std::fmt;

use crate::code;
use crate::diagnostic::{Diagnostic, Span};
use crate::value::Node;

/// A value, or a mistake.
pub(super) type Bound<T> = Result<T, BindError>;

/// What a mistake is about, so that a second reading can pass over it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Subject {
    /// The way to the value from the one that is bound, by positions.
    pub(super) path: Vec<u32>,
    /// The field that the value lacks, if that is the mistake.
    pub(super) missing: Option<&'static str>,
}

/// A mistake, with its place as soon as that is known.
#[derive(Debug)]
pub(super) struct BindError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    what: What,
    subject: Option<Subject>,
}

#[derive(Debug)]
enum What {
    /// A sentence without place.
    Message(String),
    MissingField(&'static str),
    Placed(Diagnostic),
    /// Made-up values did not fit: not a mistake of the author.
    MadeUp,
}

impl BindError {
    fn new(what: What, subject: Option<Subject>) -> Self {
        Self(Box::new(Inner { what, subject }))
    }

    pub(super) fn placed(diagnostic: Diagnostic, subject: Subject) -> Self {
        Self::new(What::Placed(diagnostic), Some(subject))
    }

    pub(super) fn made_up() -> Self {
        Self::new(What::MadeUp, None)
    }

    /// Gives an error without place this one, and one without subject this one.
    pub(super) fn at(mut self, span: Span, subject: impl FnOnce() -> Subject) -> Self {
        if let What::Message(message) = &mut self.0.what {
            let message = std::mem::take(message);
            self.0.what = What::Placed(Diagnostic::error(code::PARAMETER, span, message));
        }
        if self.0.subject.is_none() && !matches!(self.0.what, What::MissingField(_)) {
            self.0.subject = Some(subject());
        }
        self
    }

    /// Changes the diagnostic, if there is one with a place.
    pub(super) fn map(mut self, change: impl FnOnce(Diagnostic) -> Diagnostic) -> Self {
        self.0.what = match self.0.what {
            What::Placed(diagnostic) => What::Placed(change(diagnostic)),
            what => what,
        };
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
    pub(super) fn finish(self, node: &Node) -> (Option<Diagnostic>, Option<Subject>) {
        let diagnostic = match self.0.what {
            What::Message(message) => Some(Diagnostic::error(code::PARAMETER, node.span, message)),
            What::MissingField(name) => {
                let message = format!("the parameter `{name}` is missing");
                Some(Diagnostic::error(code::MISSING_PARAMETER, node.span, message))
            }
            What::Placed(diagnostic) => Some(diagnostic),
            What::MadeUp => None,
        };
        (diagnostic, self.0.subject)
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.what {
            What::Message(message) => f.write_str(message),
            What::MissingField(name) => write!(f, "the parameter `{name}` is missing"),
            What::Placed(diagnostic) => f.write_str(&diagnostic.message),
            What::MadeUp => f.write_str("a value in place of a wrong one does not fit"),
        }
    }
}

impl std::error::Error for BindError {}

impl serde::de::Error for BindError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(What::Message(message.to_string()), None)
    }

    fn invalid_type(found: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::custom(format_args!("expected {expected}, found {found}"))
    }

    fn invalid_value(found: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::custom(format_args!("expected {expected}, found {found}"))
    }

    fn invalid_length(found: usize, expected: &dyn serde::de::Expected) -> Self {
        Self::custom(format_args!("expected {expected}, found {found} values"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(What::MissingField(field), None)
    }
}
