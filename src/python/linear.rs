//! Linear systems as dictionaries with arrays of NumPy.

use legwork::study::linear::algebra::Mat;
use legwork::study::linear::{At, LinearRequest};
use legwork::study::trim::TrimRequest;
use legwork::study::{Cancel, Model};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::convert::{time_of, to_python};
use crate::errors::{exception, of_fault};
use crate::wait::wait_for;

/// What `Diagram.linearize` is asked.
pub(crate) struct Request<'py> {
    pub(crate) at: Option<Bound<'py, PyAny>>,
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    pub(crate) sampled: Option<bool>,
    pub(crate) every: Option<Bound<'py, PyAny>>,
    pub(crate) free: Vec<String>,
    pub(crate) settle: Option<Bound<'py, PyAny>>,
}

/// A, B, C, D as arrays, names and units of states, inputs and outputs, poles and the rest of
/// `legwork linearize --json`.
pub(crate) fn linearize<'py>(
    py: Python<'py>,
    model: &Model,
    request: Request<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let Request { at, inputs, outputs, sampled, every, free, settle } = request;
    let settle = settle.as_ref().map(time_of).transpose()?;
    let is_trimmed =
        |at: &Bound<'py, PyAny>| at.extract::<String>().is_ok_and(|at| at == "trimmed");
    let at = match &at {
        Some(at) if is_trimmed(at) => {
            At::Trimmed(TrimRequest { free, settle, ..TrimRequest::default() })
        }
        Some(at) => At::Time(time_of(at)?),
        None => At::Start,
    };
    let every = every.as_ref().map(time_of).transpose()?;
    // As the command: a period of its own is that of a continuous system between samples.
    let sampled = if every.is_some() { Some(false) } else { sampled };
    let request = LinearRequest { at, inputs, outputs, sampled, every, ..Default::default() };
    let cancel = Cancel::default();
    let found = wait_for(py, &cancel, |_| Ok(()), || model.linearize(&request))?;
    let found = found.map_err(|error| exception(&error))?;
    let found = found.map_err(|fault| of_fault(py, &fault.to_string()))?;
    let analysis = found.analysis().map_err(|error| exception(&error))?;
    let json = Value::Object(found.to_json(&analysis));
    let answer = to_python(py, &json)?.cast_into::<PyDict>()?;
    let system = &found.system;
    for (name, matrix) in [("A", &system.a), ("B", &system.b), ("C", &system.c), ("D", &system.d)] {
        answer.set_item(name, array(py, matrix)?)?;
    }
    Ok(answer)
}

fn array<'py>(py: Python<'py>, matrix: &Mat<f64>) -> PyResult<Bound<'py, PyAny>> {
    if matrix.nrows() == 0 || matrix.ncols() == 0 {
        let shape = [matrix.nrows(), matrix.ncols()];
        return Ok(PyArray2::<f64>::zeros(py, shape, false).into_any());
    }
    let row = |i: usize| (0..matrix.ncols()).map(|j| matrix[(i, j)]).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = (0..matrix.nrows()).map(row).collect();
    let array = PyArray2::from_vec2(py, &rows);
    array
        .map(Bound::into_any)
        .map_err(|error| PyErr::new::<pyo3::exceptions::PyValueError, _>(error.to_string()))
}
