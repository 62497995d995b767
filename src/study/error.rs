//! Why a request could not be answered.

/// What kind of mistake an [`Error`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request makes no sense, or a file that it names cannot be read or written.
    Request,
    /// The diagram has errors.
    Diagram,
    /// What was found does not pass the test that the request asks for.
    Check,
    /// The run stopped at a fault.
    Fault,
    /// Something could not be written: the disk is full, or a directory went away.
    Output,
    /// An input of the diagram has no value.
    Input,
    /// Another run writes into the directory.
    Busy,
}

/// A request that could not be answered: what kind of mistake it is, and one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    /// An error of this kind; the message is a sentence in lower case.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The request makes no sense, or a file that it names cannot be read or written.
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Request, message)
    }

    /// Something could not be written.
    pub(crate) fn output(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Output, message)
    }

    /// What kind of mistake it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The sentence.
    pub fn message(&self) -> &str {
        &self.message
    }
}
