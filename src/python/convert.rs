//! Values of Python as text of the language, and JSON as objects of Python.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::Value;

/// A value as a diagram writes it: texts as they are (`"3 N"`, `"=2*m"`), numbers with all their
/// digits, lists in brackets, arrays of NumPy as lists.
pub(crate) fn text_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_str()?.to_owned());
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(if flag.is_true() { "true" } else { "false" }.to_owned());
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(value.str()?.to_str()?.to_owned());
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(format!("{:?}", value.extract::<f64>()?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items: Vec<String> =
            value.try_iter()?.map(|item| quoted(&item?)).collect::<PyResult<_>>()?;
        return Ok(format!("[{}]", items.join(", ")));
    }
    if value.hasattr("tolist")? {
        let plain = value.call_method0("tolist")?;
        if !plain.hasattr("tolist")? {
            return text_of(&plain);
        }
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "expected a number, a truth value, a text, or a list or an array of them, found {kind}"
    )))
}

/// An entry of a list: texts in quotes, unless they are in some already.
fn quoted(item: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = text_of(item)?;
    Ok(if item.is_instance_of::<PyString>() { format!("{text:?}") } else { text })
}

/// The entries of a dictionary whose values are written as in a diagram.
pub(crate) fn texts_of(settings: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, String)>> {
    let Some(settings) = settings else { return Ok(Vec::new()) };
    settings.iter().map(|(name, value)| Ok((name.extract()?, text_of(&value)?))).collect()
}

/// Whether a value is a number, or a list or an array of numbers, which have no unit.
fn is_bare(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBool>() {
        return Ok(false);
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        for item in value.try_iter()? {
            if !is_bare(&item?)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// A value for an input, in its unit if numbers are given without one.
pub(crate) fn input_text(value: &Bound<'_, PyAny>, unit: Option<&str>) -> PyResult<String> {
    let text = text_of(value)?;
    Ok(match unit {
        Some(unit) if unit != "1" && is_bare(value)? => format!("={text}*1[{unit}]"),
        _ => text,
    })
}

/// The entries of a dictionary of lists.
pub(crate) fn lists_of(lists: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Vec<String>)>> {
    let entry = |(name, list): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let items = match list.cast::<PyString>() {
            Ok(one) => vec![one.to_str()?.to_owned()],
            Err(_) => {
                let items = list.try_iter()?;
                items.map(|item| text_of(&item?)).collect::<PyResult<Vec<_>>>()?
            }
        };
        Ok((name.extract()?, items))
    };
    lists.iter().map(entry).collect()
}

/// A time: seconds as a number, or a text with a unit.
pub(crate) fn time_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = text_of(value)?;
    Ok(if value.is_instance_of::<PyString>() { text } else { format!("{text} s") })
}

/// JSON as objects of Python.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
