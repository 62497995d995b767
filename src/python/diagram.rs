//! Diagrams: opened, compiled, run, compared, swept, trimmed, linearised. One file, because
//! `pymethods` wants the methods of a class in one block.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use legwork::diagram::Options;
use legwork::picture;
use legwork::study::compare::CompareRequest;
use legwork::study::sweep::{Part, SweepRequest, parse_shows};
use legwork::study::trim::TrimRequest;
use legwork::study::{
    Cancel, Edit, Event, Model, Outcome, Record, RunRequest, SignalRef, Snapshot, unwatched,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Map, Value, json};

use crate::convert::{lists_of, text_of, time_of, to_python};
use crate::errors::{attach, exception, of_compilation, of_fault, unknown};
use crate::library::library;
use crate::linear;
use crate::overrides::Overrides;
use crate::recording::Recording;
use crate::session::Session;
use crate::sweep::{self, bar, findings};
use crate::wait::wait_for;

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
            Ok(Edit { step, path, value: text_of(&value)?, ..Edit::default() })
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
    #[pyo3(signature = (over, *, show=Vec::new(), out=None, jobs=None, resume=false, progress=None,
        shard=None, merge=Vec::new(), backend=None))]
    #[expect(clippy::too_many_arguments, reason = "arguments by name")]
    fn sweep<'py>(
        slf: &Bound<'py, Self>,
        over: &Bound<'py, PyDict>,
        show: Vec<String>,
        out: Option<PathBuf>,
        jobs: Option<NonZeroUsize>,
        resume: bool,
        progress: Option<Bound<'py, PyAny>>,
        shard: Option<&str>,
        merge: Vec<Bound<'py, PyAny>>,
        backend: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let axes = sweep::axes(over)?;
        match backend {
            None => {}
            Some("ray") if shard.is_none() && merge.is_empty() => {
                let options = PyDict::new(py);
                options.set_item("show", show)?;
                options.set_item("out", out)?;
                options.set_item("jobs", jobs)?;
                options.set_item("resume", resume)?;
                options.set_item("progress", bar(py, progress)?)?;
                let spread = py.import("legwork._ray")?.getattr("sweep")?;
                return spread.call((slf, axes), Some(&options));
            }
            Some("ray") => {
                let message = "the backend deals out the cells: expected no `shard` and no `merge`";
                return Err(PyValueError::new_err(message));
            }
            Some(other) => return Err(unknown("backend", other, std::iter::once("ray"))),
        }
        let request = SweepRequest {
            over: axes,
            show: parse_shows(&show).map_err(|error| exception(&error))?,
            directory: out,
            jobs,
            resume,
            part: sweep::shard(shard)?.map(Part::Shard),
            merge: merge.iter().map(sweep::finished).collect::<PyResult<_>>()?,
            ..SweepRequest::default()
        };
        let found = sweep::run(py, slf.get().model.diagram(), &request, progress)?;
        sweep::columns(py, &found)
    }

    /// Rows of neighbouring cells of a sweep, to be merged elsewhere.
    #[pyo3(signature = (over, show, first, end, jobs=None))]
    fn _rows<'py>(
        &self,
        py: Python<'py>,
        over: Vec<(String, Vec<String>)>,
        show: Vec<String>,
        first: usize,
        end: usize,
        jobs: Option<NonZeroUsize>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let request = SweepRequest {
            over,
            show: parse_shows(&show).map_err(|error| exception(&error))?,
            part: Some(Part::Cells(first..end)),
            jobs,
            ..SweepRequest::default()
        };
        let found = sweep::run(py, self.model.diagram(), &request, None)?;
        Ok(PyBytes::new(py, &found.finished_rows()))
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

    /// The linear system around its run: A, B, C, D with names and units, poles, zeros, margins.
    #[pyo3(signature = (at=None, *, inputs=Vec::new(), outputs=Vec::new(), sampled=None, every=None,
        free=Vec::new(), settle=None))]
    #[expect(clippy::too_many_arguments, reason = "arguments by name")]
    fn linearize<'py>(
        &self,
        py: Python<'py>,
        at: Option<Bound<'py, PyAny>>,
        inputs: Vec<String>,
        outputs: Vec<String>,
        sampled: Option<bool>,
        every: Option<Bound<'py, PyAny>>,
        free: Vec<String>,
        settle: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let request = linear::Request { at, inputs, outputs, sampled, every, free, settle };
        linear::linearize(py, &self.model, request)
    }

    /// The drawing, in notebooks.
    fn _repr_svg_(&self) -> String {
        let options = picture::diagram::Options { depth: Some(1), ..Default::default() };
        picture::diagram::svg(self.model.program(), &options)
    }

    /// The drawing as SVG; `depth` limits how far masks and subsystems open.
    #[pyo3(signature = (*, depth=None, hidden=false))]
    fn svg(&self, depth: Option<usize>, hidden: bool) -> String {
        let options = picture::diagram::Options { depth, hidden, ..Default::default() };
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
        let options = Options {
            set,
            variants,
            patches,
            until,
            signals,
            roots: searched,
            study: None,
            memory: None,
        };
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
