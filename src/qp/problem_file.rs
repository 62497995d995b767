//! Problems as text, for replay and for reports of failures.
//!
//! A file is one JSON object. Numbers are written in the shortest form that reads back to the same
//! bits; `inf`, `-inf` and `nan` are strings, a NaN other than Rust's own is `"nan:<16 hex
//! digits>"`. Matrices are lists of rows. [`write`] and [`read`] are pure functions of text, so the
//! caller decides where files live.
//!
//! | key | kinds | value |
//! |---|---|---|
//! | `format` | all | `"legwork-problem"` |
//! | `version` | all | 1 |
//! | `kind` | all | `"qp"`, `"cone_program"`, `"lcp"` or `"contact"` |
//! | `name`, `origin` | all | text |
//! | `dim`, `row_count`, `cone_row_count` | as fit | the dimensions, checked against the data |
//! | `hessian`, `gradient`, `lower`, `upper` | qp, cone_program | as in [`crate::Qp`] |
//! | `rows`, `row_lower`, `row_upper` | qp, cone_program | as in [`crate::Qp`] |
//! | `cone_rows`, `cone_offset`, `cone_sizes` | cone_program | as in [`crate::ConeProgram`] |
//! | `matrix`, `vector` | lcp | as in [`crate::LcpData`] |
//! | `contact_count` | contact | k |
//! | `cone` | contact | `"circular"` or `{"sides": 4, "fit": "inscribed"}` (or `"circumscribed"`) |
//! | `inverse_inertia`, `bias`, `friction` | contact | as in [`crate::ContactProblem`] |
//! | `compliance`, `active` | contact | as in [`crate::ContactProblem`] |
//! | `force_scale`, `regularisation` | contact | numbers |
//! | `extra` | all, optional | an object of lists of numbers, as in [`crate::NamedProblem`] |
//!
//! All other keys of a kind are required, and no others are allowed. "No bound" in `lower`,
//! `upper`, `row_lower` and `row_upper` is infinite, `null`, or any number of at least
//! [`crate::INFINITE_BOUND`] in size; solvers treat them alike.

mod place;
mod read;
mod write;

pub use place::place;
pub use read::read;
pub use write::write;

use thiserror::Error;

/// Why a text is not a problem file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProblemFileError {
    /// The text is not JSON, or a number is too large for a float.
    #[error("expected JSON, found an error at line {line}, column {column}: {message}")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The parser's message.
        message: String,
    },
    /// A value has the wrong type, size or range for its key.
    #[error("expected {expected} at `{at}`, found {found}")]
    Value {
        /// Path of the value, e.g. `hessian[2][0]`.
        at: String,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// A key is missing.
    #[error("expected the key `{key}` in a problem of kind `{kind}`, found none")]
    Missing {
        /// The missing key.
        key: String,
        /// Kind of the problem.
        kind: String,
    },
    /// A key that the kind does not have.
    #[error("expected the keys of kind `{kind}`, found `{key}`{hint}")]
    Unknown {
        /// The key.
        key: String,
        /// Kind of the problem.
        kind: String,
        /// The nearest key, as a sentence, or empty.
        hint: String,
    },
}
