//! Sweeps: their axes, their parts, their tables.

use std::sync::atomic::{AtomicU64, Ordering};

use legwork::study::sweep::{Column, Entry, Finished, Shard, Sweep, SweepRequest, parse_values};
use legwork::study::{Cancel, unwatched};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use serde_json::Value;

use crate::convert::text_of;
use crate::errors::{exception, of_diagnostics};
use crate::wait::wait_for;

/// Name and values of each axis, as texts of the language; a text is a list or a range of them.
pub(crate) fn axes(over: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Vec<String>)>> {
    let axis = |(name, values): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let values = match values.cast::<PyString>() {
            Ok(text) => parse_values(text.to_str()?).map_err(|error| exception(&error))?,
            Err(_) => values.try_iter()?.map(|value| text_of(&value?)).collect::<PyResult<_>>()?,
        };
        Ok((name.extract()?, values))
    };
    over.iter().map(axis).collect()
}

/// `"2/4"`.
pub(crate) fn shard(text: Option<&str>) -> PyResult<Option<Shard>> {
    text.map(|text| text.parse().map_err(PyValueError::new_err)).transpose()
}

/// The directory of a part that has run, or its rows.
pub(crate) fn finished(part: &Bound<'_, PyAny>) -> PyResult<Finished> {
    match part.cast::<PyBytes>() {
        Ok(bytes) => Ok(Finished::Rows(bytes.as_bytes().to_vec())),
        Err(_) => part.extract().map(Finished::Directory),
    }
}

/// Plans and runs a sweep; `progress` is told how many cells have ended.
pub(crate) fn run(
    py: Python<'_>,
    diagram: &legwork::study::Diagram,
    request: &SweepRequest,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Sweep> {
    let cancel = Cancel::default();
    let plan = wait_for(py, &cancel, |_| Ok(()), || diagram.plan_sweep(request, &cancel))?;
    let plan = plan.map_err(|error| exception(&error))?;
    if plan.is_wrong() {
        return Err(findings(py, &plan.findings().to_json()));
    }
    let progress = bar(py, progress)?;
    let (done, count) = (AtomicU64::new(0), plan.count());
    let each = |_: &Sweep, _: usize| {
        done.fetch_add(1, Ordering::Relaxed);
    };
    let look = |_: Python<'_>| match &progress {
        Some(progress) => progress.call1((done.load(Ordering::Relaxed), count)).map(drop),
        None => Ok(()),
    };
    let sweep = wait_for(py, &cancel, look, || plan.run(&each, &unwatched, &cancel))?;
    let sweep = sweep.map_err(|error| exception(&error))?;
    if let Some(error) = &sweep.unwritten {
        return Err(exception(error));
    }
    if let Some(progress) = &progress {
        progress.call1((count, count))?;
    }
    Ok(sweep)
}

/// The exception for what several compilations found.
pub(crate) fn findings(py: Python<'_>, found: &Value) -> PyErr {
    let list = found.as_array().cloned().unwrap_or_default();
    let message = |one: &Value| one.get("message").and_then(Value::as_str).map(str::to_owned);
    let mut lines: Vec<String> = list.iter().filter_map(message).collect();
    lines.dedup();
    of_diagnostics(py, lines.join("\n"), found)
}

/// What tells of progress: a bar for `True`, or a callable.
pub(crate) fn bar<'py>(
    py: Python<'py>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let made = py.import("legwork._progress")?.call_method1("of", (progress,))?;
    Ok(Some(made).filter(|made| !made.is_none()))
}

/// The columns of a sweep, by name: lists of numbers, texts or `None`.
pub(crate) fn columns<'py>(py: Python<'py>, sweep: &Sweep) -> PyResult<Bound<'py, PyAny>> {
    let table = sweep.table();
    let parts = [&table.axes, &table.runs, &table.metrics, &table.margins, &table.figures];
    let all = parts.into_iter().flatten().chain([&table.reason]);
    let (found, units) = (PyDict::new(py), PyDict::new(py));
    for Column { name, unit, entries } in all {
        let list = PyList::empty(py);
        for entry in entries {
            match entry {
                Entry::Text(text) => list.append(text)?,
                Entry::Number(number) => list.append(number)?,
                Entry::Missing => list.append(py.None())?,
            }
        }
        found.set_item(name, list)?;
        if let Some(unit) = unit {
            units.set_item(name, unit)?;
        }
    }
    py.import("legwork._table")?.getattr("Table")?.call1((found, units))
}
