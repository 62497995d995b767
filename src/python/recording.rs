//! What a run recorded, as arrays.

use std::path::PathBuf;

use legwork::runtime::catalog::{Catalog, Numbers};
use legwork::runtime::recording::Recording as File;
use legwork::study::{Recorded, Run, origin};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::Value;

use crate::convert::to_python;
use crate::errors::{RequestError, exception};
use crate::library::library;

/// A recorded run: signals by path.
#[pyclass(frozen, module = "legwork")]
pub(crate) struct Recording {
    name: String,
    recording: File,
    catalog: Catalog,
    /// The bytes of the recording, or where they are.
    source: Source,
    /// What is known of the run besides, if it ran here.
    summary: Value,
}

enum Source {
    Memory(Vec<u8>),
    File(PathBuf),
}

/// Opens the directory of a run, a recording, or a table (CSV) with the time in front.
#[pyfunction]
pub(crate) fn load(path: PathBuf) -> PyResult<Recording> {
    let recorded =
        Recorded::open(&path, &library(&[], false)).map_err(|error| exception(&error))?;
    let Recorded { name, file, recording, catalog, .. } = recorded;
    Ok(Recording { name, recording, catalog, source: Source::File(file), summary: Value::Null })
}

/// A recording of its bytes, with what is known of the run as JSON.
#[pyfunction]
#[pyo3(name = "_recording_of_bytes")]
pub(crate) fn recording_of_bytes(
    name: String,
    bytes: Vec<u8>,
    summary: &str,
) -> PyResult<Recording> {
    let summary =
        serde_json::from_str(summary).map_err(|error| RequestError::new_err(error.to_string()))?;
    Recording::of_bytes(name, bytes, summary)
}

impl Recording {
    fn of_bytes(name: String, bytes: Vec<u8>, summary: Value) -> PyResult<Self> {
        let recording = File::from_bytes(bytes.clone())
            .map_err(|error| RequestError::new_err(error.to_string()))?;
        let program = recording
            .metadata()
            .and_then(|metadata| origin::program(metadata, &name, &library(&[], false)).ok());
        let catalog = Catalog::of(&recording, program.as_ref());
        Ok(Self { name, recording, catalog, source: Source::Memory(bytes), summary })
    }

    /// What a run recorded.
    pub(crate) fn of_run(run: &Run) -> PyResult<Self> {
        let recording = run.recording().map_err(|error| exception(&error))?;
        let recording = recording.ok_or_else(|| RequestError::new_err("nothing was recorded"))?;
        let catalog = Catalog::of(&recording, Some(&run.execution.program));
        let source = match (run.recording_bytes(), run.recording_file()) {
            (None, Some(file)) => Source::File(file),
            (bytes, _) => Source::Memory(bytes.unwrap_or_default().to_vec()),
        };
        let mut summary = run.to_json();
        summary.insert(
            "outcome".to_owned(),
            serde_json::to_value(run.outcome()).unwrap_or(Value::Null),
        );
        let name = run.model.diagram().name().to_owned();
        Ok(Self { name, recording, catalog, source, summary: Value::Object(summary) })
    }

    /// The recorded run once more, to be compared.
    pub(crate) fn again(&self, py: Python<'_>) -> PyResult<Recorded> {
        let bytes = self.bytes(py)?;
        let recording =
            File::from_bytes(bytes).map_err(|error| RequestError::new_err(error.to_string()))?;
        let (name, catalog) = (self.name.clone(), self.catalog.clone());
        let program = Err("it is not asked for".to_owned());
        let warnings = Vec::new();
        Ok(Recorded { name, file: PathBuf::new(), recording, catalog, program, warnings })
    }

    fn bytes(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        match &self.source {
            Source::Memory(bytes) => Ok(bytes.clone()),
            Source::File(file) => Ok(py.detach(|| std::fs::read(file))?),
        }
    }

    /// Times and values of some numbers that stand side by side.
    fn signal<'py>(&self, py: Python<'py>, numbers: &Numbers) -> PyResult<Bound<'py, PyAny>> {
        let Some(series) = self.recording.series_of_all().nth(numbers.channel) else {
            return Err(PyKeyError::new_err(numbers.name.clone()));
        };
        let (rows, width) = (series.len(), numbers.columns.len());
        let (times, values) = py.detach(|| {
            let (mut times, mut values) =
                (Vec::with_capacity(rows), Vec::with_capacity(rows * width));
            let mut row = Vec::new();
            for index in 0..rows {
                times.push(series.stamp(index).t_ns as f64 * 1e-9);
                series.values_into(index, &mut row);
                values.extend(numbers.columns.iter().map(|column| row[*column]));
            }
            (times, values)
        });
        let t = PyArray1::from_vec(py, times);
        let flat = PyArray1::from_vec(py, values);
        let values: Bound<'_, PyAny> = match shape(numbers) {
            Layout::One => flat.into_any(),
            Layout::Vector => flat.reshape([rows, width])?.into_any(),
            // Stored column by column.
            Layout::Matrix(r, c) => {
                flat.reshape([rows, c, r])?.call_method1("transpose", ((0, 2, 1),))?
            }
        };
        let kind = py.import("legwork._signal")?.getattr("Signal")?;
        let names = match numbers.labels.is_empty() {
            true => numbers.elements.clone(),
            false => numbers.labels.clone(),
        };
        kind.call1((values, t, numbers.unit.clone(), names, numbers.name.clone()))
    }
}

/// How numbers are laid out.
enum Layout {
    One,
    Vector,
    Matrix(usize, usize),
}

/// That which the names of the elements say: `a.y`, `a.y[2]`, `a.y[2,1]`.
fn shape(numbers: &Numbers) -> Layout {
    let index = |element: &String| -> Option<Vec<usize>> {
        let (_, inside) = element.strip_suffix(']')?.rsplit_once('[')?;
        inside.split(',').map(|index| index.trim().parse().ok()).collect()
    };
    match numbers.elements.as_slice() {
        [one] if *one == numbers.name || index(one).is_none() => Layout::One,
        [.., last] => match index(last).as_deref() {
            Some([row, column]) if (row + 1) * (column + 1) == numbers.columns.len() => {
                Layout::Matrix(row + 1, column + 1)
            }
            _ => Layout::Vector,
        },
        [] => Layout::Vector,
    }
}

#[pymethods]
impl Recording {
    /// The run's name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// All that is known of the run: outcome, checks, metrics, solver calls, warnings.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.summary)
    }

    /// Its file, if it has one.
    #[getter]
    fn file(&self) -> Option<PathBuf> {
        match &self.source {
            Source::Memory(_) => None,
            Source::File(file) => Some(file.clone()),
        }
    }

    /// Paths of what is recorded.
    fn keys(&self) -> Vec<String> {
        self.catalog.all().iter().map(|numbers| numbers.name.clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.catalog.all().len()
    }

    fn __contains__(&self, path: &str) -> bool {
        self.catalog.find(path).is_ok()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.keys().into_pyobject(py)?.into_any().try_iter().map(Bound::into_any)
    }

    /// A signal with its times, unit and names; a dictionary of them for a bus.
    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        path: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let path: String = path.extract().map_err(|_| {
            PyTypeError::new_err("expected the path of a signal, as in rec[\"body.state\"]")
        })?;
        let found = self.catalog.find(&path).map_err(|advice| {
            PyKeyError::new_err(format!("nothing recorded is called `{path}`; {advice}"))
        })?;
        match found.as_slice() {
            [one] => self.signal(py, one),
            several => {
                let all = PyDict::new(py);
                for numbers in several {
                    all.set_item(&numbers.name, self.signal(py, numbers)?)?;
                }
                Ok(all.into_any())
            }
        }
    }

    /// The recording as the bytes of an MCAP file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes(py)?))
    }

    fn __repr__(&self) -> String {
        format!("<legwork.Recording {} with {} signals>", self.name, self.__len__())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let make = py.import("legwork._legwork")?.getattr("_recording_of_bytes")?;
        let state = (&self.name, self.to_bytes(py)?, self.summary.to_string());
        Ok((make, state.into_pyobject(py)?.into_any()))
    }
}
