//! The standard library with blocks of Python, and what is asked of it without a diagram.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use legwork::block::Registry;
use legwork::picture::plot;
use legwork::study::compare::RecordingsRequest;
use legwork::study::files::Roots;
use legwork::study::{Library, compare};
use pyo3::prelude::*;

use crate::convert::to_python;
use crate::errors::{RequestError, exception};
use crate::recording::Recording;

/// The standard library, and functions of Python as blocks.
pub(crate) fn register(registry: &mut Registry) {
    legwork::blocks::register(registry);
    registry
        .shelf("python", "Functions of Python.")
        .block::<crate::block::Python>("Python(function: \"controller\")");
}

/// The standard library of blocks, robots and files.
fn standard() -> &'static Library {
    static STANDARD: OnceLock<Library> = OnceLock::new();
    STANDARD.get_or_init(|| Library::new(register))
}

/// The standard library, reading the files of these folders too.
pub(crate) fn library(roots: &[PathBuf], trust: bool) -> Library {
    let roots = roots.iter().fold(Roots::default(), Roots::and);
    standard().clone().reading(if trust { roots.trusting() } else { roots })
}

/// Errors and warnings of a diagram, with every choice of every variant.
#[pyfunction]
#[pyo3(signature = (file, *, roots=Vec::new(), trust=false))]
pub(crate) fn check<'py>(
    py: Python<'py>,
    file: PathBuf,
    roots: Vec<PathBuf>,
    trust: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let diagram = library(&roots, trust).open(&file).map_err(|error| exception(&error))?;
    let found = py.detach(|| diagram.check().findings.to_json());
    to_python(py, &found)
}

/// Name and description of the diagrams that are built in.
#[pyfunction]
pub(crate) fn demos() -> BTreeMap<String, String> {
    standard().demos().into_iter().map(|demo| (demo.file, demo.doc)).collect()
}

/// Columns of comma-separated values over the first, drawn as SVG under a title; `label` stands at
/// the vertical axis.
#[pyfunction]
#[pyo3(signature = (text, title, label=None))]
pub(crate) fn plot_table(text: &str, title: String, label: Option<String>) -> PyResult<String> {
    let draw = || {
        let table = plot::Table::parse(text.as_bytes())?;
        let look = plot::Look { title: Some(title), label, ..plot::Look::default() };
        plot::table(&table, &[], &look)
    };
    draw().map(|drawn| drawn.svg).map_err(|error| RequestError::new_err(error.to_string()))
}

/// Compares recorded runs with the first, or with `reference`.
#[pyfunction]
#[pyo3(signature = (runs, *, signals=Vec::new(), tolerances=Vec::new(), reference=None))]
pub(crate) fn compare_recordings<'py>(
    py: Python<'py>,
    runs: Vec<PyRef<'py, Recording>>,
    signals: Vec<String>,
    tolerances: Vec<String>,
    reference: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut recorded = Vec::with_capacity(runs.len());
    for (number, run) in runs.iter().enumerate() {
        let mut again = run.again(py)?;
        let is_taken =
            recorded.iter().any(|other: &legwork::study::Recorded| other.name == again.name);
        if is_taken {
            again.name = format!("{} ({})", again.name, number + 1);
        }
        recorded.push(again);
    }
    let request = RecordingsRequest { signals, tolerances, reference };
    let found = py.detach(|| compare::compare_recordings(&recorded, &request));
    let found = found.map_err(|error| exception(&error))?;
    let mut answer = found.to_json();
    answer["agrees"] = found.agrees().into();
    to_python(py, &answer)
}
