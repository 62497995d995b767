//! Legwork from Python: a thin layer over `legwork::study`.
//!
//! | file | content |
//! |---|---|
//! | `library` | the blocks, robots and files at hand; check |
//! | `overrides` | what changes a diagram without touching its file |
//! | `diagram` | open, run, compare, trim |
//! | `sweep` | sweeps and their parts |
//! | `recording` | what a run recorded, as arrays |
//! | `session` | step, back, fork, edit, read |
//! | `batch` | many copies of one diagram on all cores |
//! | `member` | one of them |
//! | `block` | blocks that are functions of Python |
//! | `errors` | the exceptions |
//! | `convert` | values of Python as text of the language, JSON as objects of Python |
//! | `wait` | work without the interpreter, ended by Ctrl-C |
//!
//! The package beside it, `legwork/`, is what is imported; it adds what is better said in Python.

mod batch;
mod block;
mod convert;
mod diagram;
mod errors;
mod library;
mod linear;
mod member;
mod overrides;
mod recording;
mod session;
mod sweep;
mod wait;

use pyo3::prelude::*;

/// The compiled part of the package `legwork`.
#[pymodule]
mod _legwork {
    use std::ffi::OsString;

    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::batch::Batch;
    #[pymodule_export]
    use crate::block::register_block;
    #[pymodule_export]
    use crate::diagram::{Diagram, open, parse};
    #[pymodule_export]
    use crate::errors::{DiagramError, Error, Fault, InputError, OutputError, RequestError};
    #[pymodule_export]
    use crate::library::{check, compare_recordings, demos, plot_table};
    #[pymodule_export]
    use crate::recording::{Recording, load, recording_of_bytes};
    #[pymodule_export]
    use crate::session::Session;

    /// The command `legwork` with these arguments, the program's name first; its exit code.
    #[pyfunction]
    fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| legwork::command_of(&arguments, crate::library::register))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
