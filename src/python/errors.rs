//! The exceptions, and what is said of a name that is none.

use legwork::block::nearest;
use legwork::study::{Compilation, ErrorKind};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use serde_json::Value;

use crate::convert::to_python;

create_exception!(legwork, Error, PyException, "What Legwork could not do.");
create_exception!(
    legwork,
    DiagramError,
    Error,
    "A diagram has errors. `diagnostics` lists them with code, message, file, line and column."
);
create_exception!(
    legwork,
    Fault,
    Error,
    "A run stopped: a number that is none, a singular matrix, a solver's failure. `fault` says when, \
     in which block and where in the file; `recording` is what was recorded until then."
);
create_exception!(legwork, InputError, Error, "An input of the diagram has no value.");
create_exception!(legwork, OutputError, Error, "Something could not be written.");
create_exception!(
    legwork,
    RequestError,
    Error,
    "A request that makes no sense: no such signal, a wrong value, a file that cannot be read."
);

/// The exception for an error.
pub(crate) fn exception(error: &legwork::study::Error) -> PyErr {
    let text = error.message().to_owned();
    match error.kind() {
        ErrorKind::Diagram => DiagramError::new_err(text),
        ErrorKind::Fault => Fault::new_err(text),
        ErrorKind::Input => InputError::new_err(text),
        ErrorKind::Output => OutputError::new_err(text),
        _ => RequestError::new_err(text),
    }
}

/// The exception for a fault: the one that a block in Python raised, with the fault as a note, or
/// [`Fault`].
pub(crate) fn of_fault(py: Python<'_>, text: &str) -> PyErr {
    let Some(error) = crate::block::raised(text) else { return Fault::new_err(text.to_owned()) };
    let value = error.value(py);
    if value.call_method1("add_note", (&text,)).is_err() {
        // Python 3.10 has no notes; tools that show them read this.
        let _ = value.setattr("__notes__", [text]);
    }
    error
}

/// The exception for a diagram that does not compile.
pub(crate) fn of_compilation(py: Python<'_>, compilation: &Compilation) -> PyErr {
    of_diagnostics(py, compilation.to_text(), &compilation.to_json())
}

/// The exception for these messages about a diagram.
pub(crate) fn of_diagnostics(py: Python<'_>, text: String, diagnostics: &Value) -> PyErr {
    let error = DiagramError::new_err(text);
    attach(py, error, "diagnostics", to_python(py, diagnostics))
}

/// An exception with an attribute; what went wrong with that instead.
pub(crate) fn attach(
    py: Python<'_>,
    error: PyErr,
    name: &str,
    value: PyResult<Bound<'_, PyAny>>,
) -> PyErr {
    match value.and_then(|value| error.value(py).setattr(name, value)) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// The message for a name that is none of `known`.
pub(crate) fn unknown<'n>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'n str> + Clone,
) -> PyErr {
    let near =
        nearest(name, known).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    PyValueError::new_err(format!("no {what} `{name}`{near}"))
}
