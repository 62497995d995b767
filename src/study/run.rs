//! Runs a compiled diagram and writes all that is kept of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use legwork_diagram::render::SourceMap;
use legwork_program::Program;
use legwork_runtime::recording::{
    ChunkPolicy, Metadata, Recorder, Recording, RecordingError, Sink,
};
use legwork_runtime::{RunFault, Simulation, channels};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::cancel::Cancel;
use crate::directory::RunDirectory;
use crate::drive::{self, Control, Events, Orders};
use crate::edits::{self, Edit};
use crate::error::Error;
use crate::execution::{Execution, Outcome};
use crate::files;
use crate::model::Model;
use crate::profile;
use crate::recorded;
use crate::scene::SceneView;
use crate::snapshot::Snapshot;
use crate::watch::{Event, Watch};

/// Name of the recording in the directory of a run.
pub const RECORDING: &str = "run.mcap";
/// Name of what is known of a run besides its recording, in its directory.
pub const RUN_JSON: &str = "run.json";

/// Where the recording of a run goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Record {
    /// Nowhere: nothing is recorded.
    #[default]
    Nothing,
    /// Into memory; [`Run::recording`] reads it.
    Memory,
    /// Into a directory, with a `run.json`, snapshots and kept problems beside it. It is made if it
    /// is not there.
    Directory(PathBuf),
}

/// What is asked of a run. The default runs to the stop time and records nothing.
#[derive(Debug, Clone, Default)]
pub struct RunRequest {
    /// Where the recording goes.
    pub record: Record,
    /// Simulated time per time: the run sleeps between steps to keep this pace.
    pub pace: Option<f64>,
    /// Snapshots before the first step at or after these times [s].
    pub snapshots: Vec<f64>,
    /// Parameters to change on the way, in the order of their steps.
    pub edits: Vec<Edit>,
    /// Continue this snapshot, bit for bit, instead of beginning at t = 0.
    pub resume: Option<Snapshot>,
    /// Files that the run reads besides the diagram's own, such as that of the snapshot: none of
    /// them is written.
    pub inputs: Vec<PathBuf>,
    /// Leave the diagram and the files that it read out of the recording.
    pub bare: bool,
    /// Record the scene too, 60 times a second: shapes, poses, contacts and forces, as Foxglove,
    /// Lichtblick and Rerun show them. Signals and results are the same.
    pub scene: bool,
    /// Measure what each block takes.
    pub profile: bool,
}

/// What came of a run.
#[derive(Debug)]
pub struct Run {
    /// What ran.
    pub model: Model,
    /// What came of its steps.
    pub execution: Execution,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// How far a paced run fell behind at most [s].
    pub latest: Option<f64>,
    /// Snapshots, in order.
    pub snapshots: Vec<Taken>,
    /// Its directory, if it has one.
    pub directory: Option<PathBuf>,
    /// Files of problems that solver blocks kept.
    pub problems: Vec<PathBuf>,
    /// What could not be written besides the recording.
    pub unwritten: Vec<Error>,
    /// Names of the files whose texts are in the recording.
    pub embedded: Vec<String>,
    /// What the scene does not show, a sentence each.
    pub unseen: Vec<String>,
    /// The recording in memory, if it is there.
    memory: Option<Vec<u8>>,
}

/// A snapshot taken on the way.
#[derive(Debug)]
pub struct Taken {
    /// Its simulated time [s].
    pub t: f64,
    /// Name of its file in the directory of the run.
    pub name: String,
    /// The snapshot.
    ///
    /// # Errors
    /// Why there is none.
    pub snapshot: Result<Snapshot, String>,
}

impl Model {
    /// Runs it from t = 0 or from a snapshot, to the stop time, a fault, or until it is cancelled.
    /// That a recording breaks off is in what is returned.
    ///
    /// ```
    /// use legwork_study::{Cancel, Library, Outcome, RunRequest, unwatched};
    ///
    /// let library = Library::new(legwork_blocks::register);
    /// let model = library.open("demo:stand")?.until("0.01 s").compile().into_model()?;
    /// let run = model.run(&RunRequest::default(), &unwatched, &Cancel::default())?;
    /// assert_eq!(run.execution.steps, 10);
    /// # Ok::<(), legwork_study::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the request makes no sense, an edit cannot be repeated, or a file cannot be written.
    pub fn run(
        &self,
        request: &RunRequest,
        watch: Watch<'_>,
        cancel: &Cancel,
    ) -> Result<Run, Error> {
        let (ticks, stop) = (self.program().stop_tick, self.program().run.stop.to_f64());
        watch(Event::Begin { runs: 1, ticks, stop });
        self.run_as(request, Control { watch, run: 0, cancel })
    }

    /// Runs it as one of several.
    pub(crate) fn run_as(&self, request: &RunRequest, control: Control<'_>) -> Result<Run, Error> {
        match self.rewritten(request, control.cancel)? {
            Some((model, rest)) => model.run_noting(&rest, &request.edits, control),
            None => self.run_noting(request, &request.edits, control),
        }
    }

    /// Runs it; its recording says that these edits were made.
    fn run_noting(
        &self,
        request: &RunRequest,
        edits: &[Edit],
        control: Control<'_>,
    ) -> Result<Run, Error> {
        let started = now();
        self.expect_inputs()?;
        let orders = self.orders(request)?;
        let mut metadata = if request.bare { self.bare_metadata() } else { self.metadata() };
        let embedded = self.embedded(request);
        edits::note_edits(edits, &mut metadata);
        let mut simulation = match &request.resume {
            Some(snapshot) => snapshot.simulation(self.program())?,
            // What is seen may be what no block reads.
            None if request.scene => Simulation::new(Arc::clone(self.program())),
            None => Simulation::unwatched(Arc::clone(self.program())),
        };
        if request.resume.is_some() {
            note_resumed(&mut metadata, simulation.tick());
        }
        if request.profile {
            simulation.start_profile();
        }
        let mut kept = match &request.record {
            Record::Directory(directory) => {
                let inputs = self.inputs(&request.inputs);
                for (_, name) in &orders.snapshots {
                    files::refuse_input(&directory.join(name), &inputs)?;
                }
                Some(RunDirectory::take(directory, &inputs)?)
            }
            Record::Nothing | Record::Memory => None,
        };
        let mut recorder = match (&request.record, &mut kept) {
            (_, Some(kept)) => Some(kept.recorder(self.program(), &metadata)?),
            (Record::Memory, None) => Some(recorder(self.program(), &metadata)?),
            (_, None) => None,
        };
        // The recording has them, if there is one: those of a robot's meshes are large.
        metadata.other.clear();
        let mut unseen = Vec::new();
        if request.scene {
            let mut view = SceneView::new(self, recorder.as_mut())?;
            unseen = view.read_surfaces(self);
            simulation.observer_mut().view_by(Box::new(view));
        }
        let mut events = Events::default();
        let mut execution = Execution::of(simulation, recorder, |simulation| {
            drive::run(simulation, orders, control, &mut events)
        });
        if let Some(refused) = events.refused {
            return Err(Error::request(refused));
        }
        let memory = match &mut execution.recording {
            Some(Ok(finished)) => finished.memory.take(),
            _ => None,
        };
        let directory = match &request.record {
            Record::Directory(directory) => Some(directory.clone()),
            Record::Nothing | Record::Memory => None,
        };
        let mut run = Run {
            model: self.clone(),
            execution,
            cancelled: events.cancelled,
            latest: events.latest,
            snapshots: events.snapshots.into_iter().map(|one| taken(one, kept.as_ref())).collect(),
            directory,
            problems: Vec::new(),
            unwritten: Vec::new(),
            embedded,
            unseen,
            memory,
        };
        if let Some(kept) = &mut kept {
            run.write_snapshots(kept);
            run.problems = run.write_problems(kept);
            run.unwritten = kept.unwritten();
            run.write_run_json(kept, &metadata, started);
            run.unwritten.extend(kept.unwritten());
            run.unwritten.dedup();
        }
        Ok(run)
    }

    /// What a request asks of the run besides its steps.
    fn orders(&self, request: &RunRequest) -> Result<Orders, Error> {
        let stop = self.program().run.stop;
        if let Some(t) = request.snapshots.iter().find(|t| **t > stop.to_f64()) {
            let message = format!("no snapshot at {t} s: the run stops at {stop}");
            return Err(Error::request(message));
        }
        let snapshots = request.snapshots.iter().map(|t| (*t, format!("t={t}.snapshot")));
        Ok(Orders {
            pace: request.pace,
            edits: edits::plan(request.edits.clone(), self.diagram())?,
            snapshots: snapshots.collect(),
        })
    }
}

/// The time [s since 1970].
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64())
}

fn taken(drive::Taken { name, t, bytes }: drive::Taken, kept: Option<&RunDirectory>) -> Taken {
    let name = kept.map_or_else(|| name.clone(), |kept| kept.unread(&name));
    let snapshot = bytes.map(|bytes| Snapshot::new(name.clone(), bytes));
    Taken { t, name, snapshot: snapshot.map_err(|error| error.to_string()) }
}

/// The name of the diagram whose run a directory holds, if it holds one.
pub fn recorded_diagram(directory: &Path) -> Option<String> {
    let text = files::read_text(&directory.join(RUN_JSON)).ok()?;
    let run: Value = serde_json::from_str(&text).ok()?;
    Some(run.get("diagram")?.as_str()?.to_owned())
}

/// Says in what a recording says of itself that it does not begin at t = 0.
pub(crate) fn note_resumed(metadata: &mut Metadata, tick: u64) {
    metadata.other.insert("resumed".to_owned(), format!("at tick {tick}"));
}

/// A recorder in memory of what a program logs.
pub(crate) fn recorder(program: &Program, metadata: &Metadata) -> Result<Recorder, Error> {
    let channels = channels(program);
    Recorder::create(Sink::memory(), &channels, metadata, ChunkPolicy::in_memory())
        .map_err(|error| recording_error(&error))
}

pub(crate) fn recording_error(error: &RecordingError) -> Error {
    Error::request(error.to_string())
}

impl Run {
    /// A run that ended in another process, into a directory if it has one.
    pub(crate) fn ended_before(
        model: &Model,
        execution: Execution,
        directory: Option<&Path>,
    ) -> Self {
        Self {
            model: model.clone(),
            execution,
            cancelled: false,
            latest: None,
            snapshots: Vec::new(),
            directory: directory.map(Path::to_owned),
            problems: Vec::new(),
            unwritten: Vec::new(),
            unseen: Vec::new(),
            embedded: Vec::new(),
            memory: None,
        }
    }

    /// How it ended.
    pub fn outcome(&self) -> Outcome {
        if self.cancelled {
            return Outcome::Cancelled;
        }
        if !self.unwritten.is_empty() {
            return Outcome::Unwritten;
        }
        self.execution.outcome(self.is_shortened())
    }

    /// Whether an override chose the stop time.
    pub fn is_shortened(&self) -> bool {
        self.model.diagram().options().until.is_some()
    }

    /// The file of the recording, if it has one.
    pub fn recording_file(&self) -> Option<PathBuf> {
        self.directory.as_ref().map(|directory| directory.join(RECORDING))
    }

    /// The recording as bytes, if it is in memory.
    pub fn recording_bytes(&self) -> Option<&[u8]> {
        self.memory.as_deref()
    }

    /// The recording, from memory or from its directory; nothing if nothing was recorded.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn recording(&self) -> Result<Option<Recording>, Error> {
        let recording = match (&self.memory, self.recording_file()) {
            (Some(bytes), _) => Recording::from_bytes(bytes.clone()),
            (None, Some(file)) => return recorded::recording(&file).map(Some),
            (None, None) => return Ok(None),
        };
        recording.map(Some).map_err(|error| recording_error(&error))
    }

    /// What could not be written, the recording first.
    pub fn errors(&self) -> Vec<String> {
        let recording = self.execution.recording_error().map(ToString::to_string);
        recording.into_iter().chain(self.unwritten.iter().map(ToString::to_string)).collect()
    }

    /// Gives up the recording in memory.
    pub(crate) fn forget_recording(&mut self) {
        self.memory = None;
    }

    /// Writes the snapshots that were taken.
    fn write_snapshots(&self, directory: &mut RunDirectory) {
        for taken in &self.snapshots {
            if let Ok(snapshot) = &taken.snapshot {
                directory.write(&taken.name, snapshot.bytes());
            }
        }
    }

    /// Writes the problems that solver blocks kept; their paths.
    fn write_problems(&self, directory: &mut RunDirectory) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        for (block, report) in &self.execution.reports {
            for (name, bytes) in &report.files {
                let name = format!("{}-{name}", file_name(block));
                paths.push(directory.write_problem(&name, bytes));
            }
        }
        paths
    }

    /// Writes what depends on this machine and this hour beside the recording, which does not.
    fn write_run_json(&self, directory: &mut RunDirectory, metadata: &Metadata, started: f64) {
        let mut object = self.to_json();
        object.insert("started_unix_s".to_owned(), started.into());
        object.insert("overrides".to_owned(), json!(metadata.overrides));
        object.insert("version".to_owned(), metadata.version.clone().into());
        object.insert("program_hash".to_owned(), metadata.program_hash.clone().into());
        directory.write(RUN_JSON, format!("{:#}\n", Value::Object(object)).as_bytes());
    }

    /// All that is known of it. Numbers that JSON has not are null.
    pub fn to_json(&self) -> Map<String, Value> {
        let execution = &self.execution;
        let shown = |path: &Path| Value::from(path.display().to_string());
        let mut object = Map::new();
        let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
        add("diagram", self.model.diagram().name().into());
        add("sim_time_s", execution.sim_time.into());
        if let Some(block) = &execution.stopped_by {
            add("stopped_by", block.as_str().into());
        }
        add("steps", execution.steps.into());
        add("compile_s", self.model.compile_time().into());
        add("wall_s", execution.wall.into());
        add("real_time_factor", execution.real_time_factor().into());
        add("checks", execution.checks_to_json().into());
        add("measured", execution.measured_to_json().into());
        add("metrics", execution.metrics_to_json().into());
        add("solver_calls", execution.solver_calls().into());
        add("solver_failures", execution.solver_failures().into());
        add("warnings", execution.warnings_to_json());
        add("recording", self.recording_file().map_or(Value::Null, |file| shown(&file)));
        add("problems", self.problems.iter().map(|path| shown(path)).collect());
        add("diagnostics", self.model.warnings_to_json());
        let path_of = |name: &str| match &self.directory {
            Some(directory) => shown(&directory.join(name)),
            None => Value::Null,
        };
        let kept = || self.snapshots.iter().filter(|taken| taken.snapshot.is_ok());
        if let Some(fault) = &execution.fault {
            let mut fault = fault_to_json(fault, self.model.sources());
            // That of the last good step is the last.
            let last = self.snapshots.last().filter(|taken| taken.snapshot.is_ok());
            fault["snapshot"] = last.map_or(Value::Null, |taken| path_of(&taken.name));
            add("fault", fault);
        }
        if let Some(times) = &execution.profile {
            add("profile", profile::to_json(times, execution.wall));
        }
        let snapshots = kept().map(|taken| json!({ "t": taken.t, "path": path_of(&taken.name) }));
        add("snapshots", snapshots.collect());
        add("interrupted", self.cancelled.into());
        if let Some(latest) = self.latest {
            add("latest_s", latest.into());
        }
        add("embedded", json!(self.embedded));
        if !self.unseen.is_empty() {
            add("unseen", json!(self.unseen));
        }
        if let Some(error) = self.errors().first() {
            add("error", error.as_str().into());
        }
        object
    }
}

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

/// The path of a block as part of a file's name.
fn file_name(block: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-[]".contains(c);
    block.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// Time, phase, block, text and place of a fault.
pub fn fault_to_json(fault: &RunFault, sources: &SourceMap) -> Value {
    let (start, end) = sources.positions(fault.span);
    json!({
        "t": fault.t,
        "phase": fault.phase.to_string(),
        "block": fault.block,
        "message": fault.fault.message,
        "hints": fault.hints,
        "span": {
            "file": sources.name(fault.span.file),
            "line": start.line, "column": start.column,
            "end_line": end.line, "end_column": end.column,
        },
    })
}
