//! Faults of a run, and invalid parameters.

use std::fmt;

/// What a block's functions return: nothing, or what went wrong with the numbers.
pub type Outcome = Result<(), Box<Fault>>;

/// An invalid number: the run stops, its recording is kept. The engine adds time, phase and
/// the block's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// One sentence in lower case: what was expected, what was found.
    pub message: String,
}

impl Fault {
    /// A fault, boxed so that success returns one word.
    pub fn new(message: impl Into<String>) -> Box<Self> {
        Box::new(Self { message: message.into() })
    }

    /// Numbers of an output that the block itself looks at are not finite. The engine finds which.
    #[cold]
    #[must_use]
    pub fn not_finite() -> Box<Self> {
        Self::new("expected finite outputs, found others")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// A block's parameters do not fit together, or not to the robot or file that they name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// The parameter at fault, if it is one.
    pub parameter: Option<String>,
    /// One sentence in lower case.
    pub message: String,
    /// Advice.
    pub hints: Vec<String>,
    /// True if a required file is missing.
    pub is_missing_file: bool,
}

impl Invalid {
    /// The whole block is at fault.
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { parameter: None, message, hints: Vec::new(), is_missing_file: false }
    }

    /// One parameter is at fault.
    pub fn parameter(name: &str, message: impl Into<String>) -> Self {
        Self { parameter: Some(name.into()), ..Self::new(message) }
    }

    /// States that the cause is a file that is missing.
    #[must_use]
    pub fn missing_file(mut self) -> Self {
        self.is_missing_file = true;
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> Self {
        self.hints.push(text.into());
        self
    }
}
