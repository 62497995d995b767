//! Diagrams: opened, compiled, run, compared, swept, trimmed.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use legwork::block::{Registry, nearest};
use legwork::diagram::Options;
use legwork::picture;
use legwork::study::compare::{CompareRequest, RecordingsRequest};
use legwork::study::files::Roots;
use legwork::study::sweep::{Column, Entry, Sweep, SweepRequest, parse_shows, parse_values};
use legwork::study::trim::TrimRequest;
use legwork::study::{
    Cancel, Edit, Event, Library, Model, Outcome, Record, RunRequest, SignalRef, Snapshot, compare,
    unwatched,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use serde_json::{Map, Value, json};

use crate::convert::{input_text, lists_of, text_of, texts_of, time_of, to_python};
use crate::errors::{attach, exception, of_compilation, of_diagnostics, of_fault};
use crate::recording::Recording;
use crate::session::Session;
use crate::wait::wait_for;

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

/// What a diagram is made again of in another process.
#[derive(Debug, Clone)]
struct Origin {
    roots: Vec<PathBuf>,
    trust: bool,
}

/// A compiled diagram with its overrides; it does not change.
#[pyclass(frozen, module = "legwork")]
pub(crate) struct Diagram {
    model: Model,
    origin: Origin,
}

/// What changes a diagram without touching its file.
#[derive(Default)]
struct Overrides<'py> {
    set: Option<Bound<'py, PyDict>>,
    variant: Option<Bound<'py, PyDict>>,
    patches: Vec<PathBuf>,
    inputs: Option<Bound<'py, PyDict>>,
    until: Option<Bound<'py, PyAny>>,
    signals: Vec<String>,
}

impl Overrides<'_> {
    /// The diagram with them.
    fn apply(&self, diagram: legwork::study::Diagram) -> PyResult<legwork::study::Diagram> {
        let mut diagram = diagram;
        for patch in &self.patches {
            diagram = diagram.with(patch).map_err(|error| exception(&error))?;
        }
        for (path, value) in texts_of(self.set.as_ref())? {
            diagram = diagram.set(&path, &value);
        }
        for (name, choice) in texts_of(self.variant.as_ref())? {
            diagram = diagram.variant(&name, &choice);
        }
        if let Some(inputs) = &self.inputs {
            // Their units are those of the diagram with all else.
            let model = diagram.compile().model;
            for (name, value) in inputs.iter() {
                let name: String = name.extract()?;
                let unit = model.as_ref().and_then(|model| unit_of_input(model, &name));
                let value = input_text(&value, unit.as_deref())?;
                diagram = diagram.input(&name, &value).map_err(|error| exception(&error))?;
            }
        }
        if let Some(until) = &self.until {
            diagram = diagram.until(&time_of(until)?);
        }
        if !self.signals.is_empty() {
            diagram = diagram.signals(self.signals.clone());
        }
        Ok(diagram)
    }
}

/// Compiles a diagram.
fn compiled(
    py: Python<'_>,
    diagram: &legwork::study::Diagram,
    origin: Origin,
) -> PyResult<Diagram> {
    let mut compilation = py.detach(|| diagram.compile());
    match compilation.model.take() {
        Some(model) => Ok(Diagram { model, origin }),
        None => Err(of_compilation(py, &compilation)),
    }
}

/// Opens and compiles a diagram: a file, `demo:NAME`, `help:PAGE` or `std:PATH`.
#[pyfunction]
#[pyo3(signature = (file, *, set=None, variant=None, patches=Vec::new(), inputs=None, until=None,
    signals=Vec::new(), roots=Vec::new(), trust=false))]
#[expect(clippy::too_many_arguments, reason = "arguments by name")]
pub(crate) fn open(
    py: Python<'_>,
    file: PathBuf,
    set: Option<Bound<'_, PyDict>>,
    variant: Option<Bound<'_, PyDict>>,
    patches: Vec<PathBuf>,
    inputs: Option<Bound<'_, PyDict>>,
    until: Option<Bound<'_, PyAny>>,
    signals: Vec<String>,
    roots: Vec<PathBuf>,
    trust: bool,
) -> PyResult<Diagram> {
    let library = library(&roots, trust);
    let diagram = library.open(&file).map_err(|error| exception(&error))?;
    let overrides = Overrides { set, variant, patches, inputs, until, signals };
    compiled(py, &overrides.apply(diagram)?, Origin { roots, trust })
}

/// Compiles a diagram from its text. Files that it names are looked for beside `name`.
#[pyfunction]
#[pyo3(signature = (text, name="diagram.ron".to_owned(), *, roots=Vec::new(), trust=false))]
pub(crate) fn parse(
    py: Python<'_>,
    text: String,
    name: String,
    roots: Vec<PathBuf>,
    trust: bool,
) -> PyResult<Diagram> {
    let diagram = library(&roots, trust).diagram(&name, text);
    compiled(py, &diagram, Origin { roots, trust })
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

#[pymethods]
impl Diagram {
    /// The name by which it was opened.
    #[getter]
    fn name(&self) -> &str {
        self.model.diagram().name()
    }

    /// What it says about itself.
    #[getter]
    fn doc(&self) -> String {
        self.model.diagram().doc()
    }

    /// Its text.
    #[getter]
    fn text(&self) -> String {
        String::from_utf8_lossy(self.model.diagram().text()).into_owned()
    }

    /// What compilation warns of.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.model.warnings_to_json())
    }

    /// Choices of every variant.
    #[getter]
    fn variants(&self) -> BTreeMap<String, Vec<String>> {
        self.model.variants().iter().cloned().collect()
    }

    /// Inputs of the diagram: type, unit, size, default, doc.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let one = |port: &legwork::program::InputPort| {
            let mut about = about(&port.signal);
            about.insert("doc".to_owned(), port.doc.clone().into());
            let initial = port.initial.as_ref().filter(|_| port.given);
            about.insert("default".to_owned(), json!(initial));
            (port.name.clone(), Value::Object(about))
        };
        let all: Map<String, Value> = self.model.program().inputs.iter().map(one).collect();
        to_python(py, &Value::Object(all))
    }

    /// Outputs of the diagram: type, unit, size.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let outputs = self.model.program().outputs.iter();
        let all: Map<String, Value> =
            outputs.map(|port| (port.name.clone(), Value::Object(about(&port.signal)))).collect();
        to_python(py, &Value::Object(all))
    }

    /// Every signal: type, unit, size.
    #[getter]
    fn signals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let signals = self.model.program().signals.iter();
        let all: Map<String, Value> =
            signals.map(|signal| (signal.path.clone(), Value::Object(about(signal)))).collect();
        to_python(py, &Value::Object(all))
    }

    /// Every block with its parameters, as text of the language.
    #[getter]
    fn blocks(&self) -> BTreeMap<String, String> {
        let nodes = self.model.program().nodes.iter();
        nodes.map(|node| (node.path.clone(), node.text.clone())).collect()
    }

    /// Its hash: diagrams of one hash give the same bits.
    #[getter]
    fn hash(&self) -> String {
        self.model.hash()
    }

    /// Stop time [s].
    #[getter]
    fn stop(&self) -> f64 {
        self.model.program().run.stop.to_f64()
    }

    /// The longest major step [s].
    #[getter]
    fn step(&self) -> f64 {
        let program = self.model.program();
        program.base.at(program.step_ticks)
    }

    /// The same diagram with other overrides, compiled.
    #[pyo3(name = "with_", signature = (*, set=None, variant=None, patches=Vec::new(), inputs=None,
        until=None, signals=Vec::new()))]
    #[expect(clippy::too_many_arguments, reason = "arguments by name")]
    fn with(
        &self,
        py: Python<'_>,
        set: Option<Bound<'_, PyDict>>,
        variant: Option<Bound<'_, PyDict>>,
        patches: Vec<PathBuf>,
        inputs: Option<Bound<'_, PyDict>>,
        until: Option<Bound<'_, PyAny>>,
        signals: Vec<String>,
    ) -> PyResult<Self> {
        let overrides = Overrides { set, variant, patches, inputs, until, signals };
        let diagram = overrides.apply(self.model.diagram().clone())?;
        compiled(py, &diagram, self.origin.clone())
    }

    /// Runs it to its stop time.
    #[pyo3(signature = (*, until=None, out=None, edits=Vec::new(), resume=None, scene=false,
        progress=None, check=false, raise_on_fault=true))]
    #[expect(clippy::too_many_arguments, reason = "arguments by name")]
    fn run(
        &self,
        py: Python<'_>,
        until: Option<Bound<'_, PyAny>>,
        out: Option<PathBuf>,
        edits: Vec<(u64, String, Bound<'_, PyAny>)>,
        resume: Option<Vec<u8>>,
        scene: bool,
        progress: Option<Bound<'_, PyAny>>,
        check: bool,
        raise_on_fault: bool,
    ) -> PyResult<Recording> {
        let shortened;
        let model = match &until {
            None => &self.model,
            Some(until) => {
                let diagram = self.model.diagram().clone().until(&time_of(until)?);
                shortened = compiled(py, &diagram, self.origin.clone())?.model;
                &shortened
            }
        };
        let edit = |(step, path, value): (u64, String, Bound<'_, PyAny>)| {
            Ok(Edit { step, t: String::new(), path, value: text_of(&value)? })
        };
        let request = RunRequest {
            record: out.map_or(Record::Memory, Record::Directory),
            edits: edits.into_iter().map(edit).collect::<PyResult<_>>()?,
            resume: resume.map(|bytes| Snapshot::new("snapshot", bytes)),
            scene,
            ..RunRequest::default()
        };
        let progress = bar(py, progress)?;
        let cancel = Cancel::default();
        // Simulated time so far, as bits.
        let reached = AtomicU64::new(0);
        let watch = |event: Event| {
            if let Event::Progress { t, .. } = event {
                reached.store(t.to_bits(), Ordering::Relaxed);
            }
        };
        let stop = model.program().run.stop.to_f64();
        let look = |_: Python<'_>| match &progress {
            Some(progress) => {
                let t = f64::from_bits(reached.load(Ordering::Relaxed));
                progress.call1((t, stop)).map(drop)
            }
            None => Ok(()),
        };
        let run = wait_for(py, &cancel, look, || model.run(&request, &watch, &cancel))?;
        let run = run.map_err(|error| exception(&error))?;
        if let Some(progress) = &progress {
            progress.call1((run.execution.sim_time, stop))?;
        }
        let outcome = run.outcome();
        let recording = Recording::of_run(&run)?;
        if let Some(fault) = run.execution.fault.as_ref().filter(|_| raise_on_fault) {
            let error = of_fault(py, &fault.to_string());
            let place = legwork::study::fault_to_json(fault, model.sources());
            let error = attach(py, error, "fault", to_python(py, &place));
            let recording = Bound::new(py, recording).map(Bound::into_any);
            return Err(attach(py, error, "recording", recording));
        }
        if outcome == Outcome::Unwritten {
            return Err(crate::errors::OutputError::new_err(run.errors().join("\n")));
        }
        if check && outcome != Outcome::Success {
            let failed = run.execution.failed_checks(run.is_shortened());
            return Err(crate::errors::Error::new_err(failed.join("\n")));
        }
        Ok(recording)
    }

    /// A run that is stepped forth and back.
    #[pyo3(signature = (snapshot=None))]
    fn session(&self, snapshot: Option<Vec<u8>>) -> PyResult<Session> {
        match snapshot {
            None => Ok(Session::of(self.model.session())),
            Some(bytes) => {
                let session = self.model.resume(&Snapshot::new("snapshot", bytes));
                session.map(Session::of).map_err(|error| exception(&error))
            }
        }
    }

    /// Runs choices of variants, and compares what they recorded.
    #[pyo3(signature = (variants, *, tolerances=Vec::new(), reference=None, out=None, jobs=None))]
    fn compare<'py>(
        &self,
        py: Python<'py>,
        variants: &Bound<'py, PyDict>,
        tolerances: Vec<String>,
        reference: Option<String>,
        out: Option<PathBuf>,
        jobs: Option<NonZeroUsize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let variants = lists_of(variants)?;
        let request = CompareRequest { variants, tolerances, reference, directory: out, jobs };
        let plan = py.detach(|| self.model.diagram().plan_comparison(&request));
        let plan = plan.map_err(|error| exception(&error))?;
        if !plan.is_whole() {
            return Err(findings(py, &plan.findings().to_json()));
        }
        let cancel = Cancel::default();
        let found = wait_for(py, &cancel, |_| Ok(()), || plan.run(&unwatched, &cancel))?;
        let found = found.map_err(|error| exception(&error))?;
        let mut answer = Value::Object(found.to_json());
        answer["agrees"] = found.agrees().into();
        to_python(py, &answer)
    }

    /// Runs every combination of values of the axes; columns by name.
    #[pyo3(signature = (over, *, show=Vec::new(), out=None, jobs=None, resume=false, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "arguments by name")]
    fn sweep<'py>(
        &self,
        py: Python<'py>,
        over: &Bound<'py, PyDict>,
        show: Vec<String>,
        out: Option<PathBuf>,
        jobs: Option<NonZeroUsize>,
        resume: bool,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut axes = Vec::new();
        for (name, values) in over.iter() {
            let name: String = name.extract()?;
            let values = match values.cast::<pyo3::types::PyString>() {
                Ok(text) => parse_values(text.to_str()?).map_err(|error| exception(&error))?,
                Err(_) => {
                    values.try_iter()?.map(|value| text_of(&value?)).collect::<PyResult<_>>()?
                }
            };
            axes.push((name, values));
        }
        let request = SweepRequest {
            over: axes,
            show: parse_shows(&show).map_err(|error| exception(&error))?,
            directory: out,
            jobs,
            resume,
            ..SweepRequest::default()
        };
        let cancel = Cancel::default();
        let diagram = self.model.diagram();
        let plan = wait_for(py, &cancel, |_| Ok(()), || diagram.plan_sweep(&request, &cancel))?;
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
        columns(py, &sweep)
    }

    /// Seeks initial states and inputs at which it holds still.
    #[pyo3(signature = (*, free=Vec::new(), settle=None, tolerance=1e-9))]
    fn trim<'py>(
        &self,
        py: Python<'py>,
        free: Vec<String>,
        settle: Option<Bound<'py, PyAny>>,
        tolerance: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let settle = settle.as_ref().map(time_of).transpose()?;
        let request = TrimRequest { free, settle, tolerance };
        let diagram = request.settling(self.model.diagram().clone());
        let model = compiled(py, &diagram, self.origin.clone())?.model;
        let cancel = Cancel::default();
        let found = wait_for(py, &cancel, |_| Ok(()), || model.trim(&request))?;
        let trim = found.map_err(|error| exception(&error))?;
        let trim = trim.map_err(|error| crate::errors::Error::new_err(error.to_string()))?;
        let mut answer = Value::Object(trim.to_json());
        answer["patch"] = json!(trim.patch);
        to_python(py, &answer)
    }

    /// The drawing, in notebooks.
    fn _repr_svg_(&self) -> String {
        let options = picture::diagram::Options { depth: Some(1), ..Default::default() };
        picture::diagram::svg(self.model.program(), &options)
    }

    /// The drawing as SVG; `depth` limits how far masks and subsystems open.
    #[pyo3(signature = (*, depth=None, hidden=false))]
    fn svg(&self, depth: Option<usize>, hidden: bool) -> String {
        let options = picture::diagram::Options { depth, hidden, title: None };
        picture::diagram::svg(self.model.program(), &options)
    }

    fn __repr__(&self) -> String {
        format!("<legwork.Diagram {} {}>", self.name(), self.model.hash())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let diagram = self.model.diagram();
        let options = diagram.options();
        let state = (
            diagram.name(),
            PyBytes::new(py, diagram.text()),
            options.set.clone(),
            options.variants.clone(),
            options.patches.clone(),
            options.until.clone(),
            options.signals.clone(),
            options.roots.clone(),
            self.origin.roots.clone(),
            self.origin.trust,
        );
        let make = py.get_type::<Self>().getattr("_rebuilt")?;
        Ok((make, state.into_pyobject(py)?.into_any()))
    }

    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the state of a pickle")]
    fn _rebuilt(
        py: Python<'_>,
        name: String,
        text: Vec<u8>,
        set: Vec<(String, String)>,
        variants: Vec<(String, String)>,
        patches: Vec<String>,
        until: Option<String>,
        signals: Vec<String>,
        searched: Vec<PathBuf>,
        roots: Vec<PathBuf>,
        trust: bool,
    ) -> PyResult<Self> {
        let library = library(&roots, trust);
        let is_built_in = ["demo:", "help:", "std:"].iter().any(|begin| name.starts_with(begin));
        let diagram = match is_built_in {
            true => library.open(&name).map_err(|error| exception(&error))?,
            false => library.diagram(&name, text),
        };
        let options =
            Options { set, variants, patches, until, signals, roots: searched, study: None };
        compiled(py, &diagram.with_options(options), Origin { roots, trust })
    }
}

impl Diagram {
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }
}

/// The unit of an input.
pub(crate) fn unit_of_input(model: &Model, name: &str) -> Option<String> {
    model.program().inputs.iter().find(|port| port.name == name)?.signal.unit.clone()
}

/// Type, unit and size of a signal.
fn about(signal: &SignalRef) -> Map<String, Value> {
    let size: usize = signal.slots.iter().map(|slot| slot.len as usize).sum();
    let mut about = Map::new();
    about.insert("type".to_owned(), signal.ty.to_string().into());
    about.insert("unit".to_owned(), json!(signal.unit));
    about.insert("size".to_owned(), size.into());
    about
}

/// The exception for what several compilations found.
fn findings(py: Python<'_>, found: &Value) -> PyErr {
    let list = found.as_array().cloned().unwrap_or_default();
    let message = |one: &Value| one.get("message").and_then(Value::as_str).map(str::to_owned);
    let mut lines: Vec<String> = list.iter().filter_map(message).collect();
    lines.dedup();
    of_diagnostics(py, lines.join("\n"), found)
}

/// What tells of progress: a bar for `True`, or a callable.
fn bar<'py>(
    py: Python<'py>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let made = py.import("legwork._progress")?.call_method1("of", (progress,))?;
    Ok(Some(made).filter(|made| !made.is_none()))
}

/// The columns of a sweep, by name: lists of numbers, texts or `None`.
fn columns<'py>(py: Python<'py>, sweep: &Sweep) -> PyResult<Bound<'py, PyAny>> {
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
