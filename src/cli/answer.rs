//! What a command comes back with.

use legwork_study::{Error, ErrorKind, Outcome};
use serde_json::Value;

use super::interrupt;

/// Exit codes; they are part of the interface that scripts rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// All is well.
    Success,
    /// The diagram has errors.
    Diagram,
    /// The run stopped at a fault.
    Fault,
    /// A check failed.
    Check,
    /// The command line is wrong, or a file that it names cannot be read or written.
    Usage,
    /// Something could not be written: the disk is full, or a directory went away.
    Unwritten,
    /// Somebody pressed Ctrl-C.
    Interrupted,
    /// The terminal was closed: SIGHUP.
    HungUp,
    /// Something else ended it: SIGTERM.
    Terminated,
}

impl Code {
    /// The number.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Diagram => 1,
            Self::Fault => 2,
            Self::Check => 3,
            Self::Usage => 64,
            Self::Unwritten => 74,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// What it means, for the manual.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Success => "success: it is done, and every check holds",
            Self::Diagram => "the diagram has errors",
            Self::Fault => "the run stopped at a fault, such as a NaN",
            Self::Check => "a check or a tolerance failed",
            Self::Usage => "the command line is wrong, or a file cannot be read",
            Self::Unwritten => "an output could not be written: disk full, directory gone",
            Self::HungUp => "the terminal was closed (SIGHUP)",
            Self::Interrupted => "ended by Ctrl-C (SIGINT)",
            Self::Terminated => "ended by SIGTERM",
        }
    }

    /// All of them, the worst last.
    pub(crate) const ALL: [Self; 9] = [
        Self::Success,
        Self::Check,
        Self::Fault,
        Self::Diagram,
        Self::Unwritten,
        Self::Usage,
        Self::Interrupted,
        Self::HungUp,
        Self::Terminated,
    ];

    /// The worse of two: a diagram that does not compile says more than a check that failed.
    pub(crate) fn worse(self, other: Self) -> Self {
        let place = |code| Self::ALL.iter().position(|known| *known == code);
        if place(self) >= place(other) { self } else { other }
    }
}

impl From<Outcome> for Code {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success => Self::Success,
            Outcome::CheckFailed => Self::Check,
            Outcome::Fault => Self::Fault,
            Outcome::Unwritten => Self::Unwritten,
            Outcome::Cancelled => interrupt::code(),
        }
    }
}

/// What a command found out.
pub(crate) struct Answer {
    /// How it went.
    pub(crate) code: Code,
    /// What `--json` prints.
    pub(crate) json: Value,
    /// What is printed on standard output without `--json`.
    pub(crate) text: String,
}

impl Answer {
    /// An answer without a text of its own: people have read it on standard error.
    pub(crate) fn new(code: Code, json: Value) -> Self {
        Self { code, json, text: String::new() }
    }

    /// With a text for standard output.
    pub(crate) fn text(mut self, text: String) -> Self {
        self.text = text;
        self
    }
}

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) code: Code,
    /// One sentence in lower case.
    pub(crate) message: String,
}

impl Failure {
    /// The command line is wrong, or a file that it names.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: Code::Usage, message: message.into() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error.kind() {
            ErrorKind::Diagram => Code::Diagram,
            ErrorKind::Check => Code::Check,
            ErrorKind::Fault => Code::Fault,
            ErrorKind::Output => Code::Unwritten,
            _ => Code::Usage,
        };
        let hint = match error.kind() {
            ErrorKind::Input => "; give one with --input NAME=VALUE or --input NAME=FILE.csv",
            _ => "",
        };
        Self { code, message: format!("{}{hint}", error.message()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagram_that_does_not_compile_outweighs_a_failed_check() {
        assert_eq!(Code::Check.worse(Code::Diagram), Code::Diagram);
        assert_eq!(Code::Fault.worse(Code::Check), Code::Fault);
        assert_eq!(Code::Success.worse(Code::Success), Code::Success);
    }
}
