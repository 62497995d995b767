//! `legwork run`: compile, run, record, evaluate checks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use legwork_block::{Diagnostic, Registry};
use legwork_diagram::render::{SourceMap, to_json};
use legwork_diagram::{Compiled, Options};
use legwork_program::Program;
use legwork_runtime::recording::{ChunkPolicy, Metadata, Recorder, RecordingError, Sink};
use legwork_runtime::{RunFault, Simulation, channels};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::RunArguments;
use super::drive::{self, Events, Orders};
use super::execution::{Execution, Verdict};
use super::source::{self, Source};
use super::{complaint, console, edits, interrupt, profile, snapshot, summary, time};

/// Directory of runs that get no `--out`.
const RUNS: &str = "runs";
/// Name of the recording in the directory of a run.
pub(crate) const RECORDING: &str = "run.mcap";

/// Name of the directory of kept problems in it.
const PROBLEMS: &str = "problems";

/// Where a run goes and what is known of it before it starts.
pub(crate) struct Setting<'a> {
    /// The diagram.
    pub(crate) source: &'a Source,
    /// The texts that its places point into.
    pub(crate) sources: &'a SourceMap,
    /// What the recording says of the run.
    pub(crate) metadata: &'a Metadata,
    /// What was found wrong, as JSON.
    pub(crate) diagnostics: Value,
    /// Directory of the run.
    pub(crate) directory: PathBuf,
    /// What compilation took [s].
    pub(crate) compile_time: f64,
    /// When it began [s since 1970].
    pub(crate) started: f64,
}

/// A run with its files.
pub(crate) struct Recorded {
    /// What came of it.
    pub(crate) execution: Execution,
    /// What happened besides steps.
    pub(crate) events: Events,
    /// The recording.
    pub(crate) recording: PathBuf,
    /// Problems that solver blocks kept.
    problems: Vec<PathBuf>,
    /// What is known of the run, as `--json` prints it.
    json: Map<String, Value>,
}

/// Runs a diagram.
///
/// # Errors
/// If the file cannot be read or the directory not be written.
pub(crate) fn run(arguments: &RunArguments, registry: &Registry) -> Result<Answer, Failure> {
    let source = Source::open(&arguments.file, registry)?;
    let options = source::options(&arguments.overrides, arguments.until.as_deref())?;
    let started = now();
    let before = Instant::now();
    let (compiled, files) = source.compile_and_keep(&options, registry);
    let compile_time = before.elapsed().as_secs_f64();
    let Compiled { program, diagnostics, sources, .. } = compiled;

    complaint::say_all(&diagnostics, &sources);
    let diagnostics = to_json(&diagnostics, &sources);
    let Some(program) = program else {
        let json = json!({ "diagram": source.name, "diagnostics": diagnostics });
        return Ok(Answer::new(Code::Diagram, json));
    };

    let directory = directory(arguments.out.as_deref(), &program);
    let mut metadata = metadata(&source, &options, &program, &files);
    let program = Arc::new(program);
    let orders = orders(arguments, &source, &options, &program, registry, &mut metadata)?;
    let mut simulation = match &arguments.resume {
        Some(file) => snapshot::read(&program, file)?,
        None => Simulation::new(Arc::clone(&program)),
    };
    if arguments.resume.is_some() {
        metadata.other.insert("resumed".to_owned(), format!("at tick {}", simulation.tick()));
    }
    if arguments.profile {
        simulation.start_profile();
    }
    interrupt::listen();
    let setting = Setting {
        source: &source,
        sources: &sources,
        metadata: &metadata,
        diagnostics,
        directory,
        compile_time,
        started,
    };
    let recorded = record(simulation, orders, &setting)?;
    let Recorded { execution, events, recording, problems, .. } = &recorded;
    if let Some(fault) = &execution.fault {
        say_fault(fault, &sources);
    }
    if let Some(error) = execution.recording_error() {
        console::say(&format!("error: {error}"));
    }
    let code = if events.interrupted {
        Code::Interrupted
    } else {
        execution.code(!arguments.no_checks, arguments.until.is_some())
    };
    let bytes = std::fs::metadata(recording).map_or(0, |file| file.len());
    let directory = &setting.directory;
    let files =
        summary::Files { directory, recording, bytes, problems, events, pace: arguments.pace };
    console::say(&summary::of(execution, compile_time, &files));
    if let Some(times) = &execution.profile {
        console::say(&profile::table(times, execution.wall));
    }
    Ok(Answer::new(code, Value::Object(recorded.json)))
}

/// The time [s since 1970].
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64())
}

/// Drives a simulation and writes all that is kept of a run into its directory.
///
/// # Errors
/// If something cannot be written, or an edit not be repeated. That a recording breaks off is in
/// what is returned.
pub(crate) fn record(
    simulation: Simulation,
    orders: Orders,
    setting: &Setting<'_>,
) -> Result<Recorded, Failure> {
    let directory = &setting.directory;
    let recorder = recorder(directory, simulation.program(), setting.metadata)?;
    let mut events = Events::default();
    let execution = Execution::going_on(simulation, Some(recorder), |simulation| {
        drive::run(simulation, orders, &mut events)
    });
    if let Some(refused) = events.refused {
        return Err(Failure::usage(refused));
    }
    write_snapshots(directory, &events)?;
    let problems = write_problems(directory, &execution)?;
    let recording = directory.join(RECORDING);
    let json = Map::new();
    let mut recorded = Recorded { execution, events, recording, problems, json };
    recorded.json = to_object(setting, &recorded);
    write_run_json(setting, &recorded.json)?;
    Ok(recorded)
}

/// What the command line asks of the run besides its steps.
fn orders(
    arguments: &RunArguments,
    source: &Source,
    options: &Options,
    program: &Program,
    registry: &Registry,
    metadata: &mut Metadata,
) -> Result<Orders, Failure> {
    let edits = match &arguments.replay_edits {
        Some(path) => edits::read(path)?,
        None => Vec::new(),
    };
    edits::note(&edits, metadata);
    let mut snapshots = Vec::new();
    for text in &arguments.snapshot_at {
        let t = time::seconds(text).map_err(Failure::usage)?;
        let stop = program.run.stop;
        if t > stop.to_f64() {
            let message = format!("no snapshot at {text}: the run stops at {stop}");
            return Err(Failure::usage(message));
        }
        snapshots.push((t, format!("t={t}.snapshot")));
    }
    let edits = edits::plan(edits, source, options, registry)?;
    Ok(Orders { pace: arguments.pace, edits, snapshots, bar: None })
}

/// Writes the snapshots that were taken.
fn write_snapshots(directory: &Path, events: &Events) -> Result<(), Failure> {
    for taken in &events.snapshots {
        match &taken.bytes {
            Ok(bytes) => snapshot::write(&directory.join(&taken.name), bytes)?,
            Err(error) => console::say(&format!("error: no {}: {error}", taken.name)),
        }
    }
    Ok(())
}

/// Makes the directory of a run and the recording in it.
pub(crate) fn recorder(
    directory: &Path,
    program: &Program,
    metadata: &Metadata,
) -> Result<Recorder, Failure> {
    std::fs::create_dir_all(directory).map_err(|error| {
        let directory = directory.display();
        Failure::usage(format!("cannot create the directory `{directory}`: {error}"))
    })?;
    let usage = |error: RecordingError| Failure::usage(error.to_string());
    let sink = Sink::file(directory.join(RECORDING)).map_err(usage)?;
    let channels = channels(program);
    Recorder::create(sink, &channels, metadata, ChunkPolicy::default()).map_err(usage)
}

/// Where runs without `--out` go.
pub(crate) fn directory(out: Option<&Path>, program: &Program) -> PathBuf {
    out.map_or_else(|| Path::new(RUNS).join(&program.name), Path::to_owned)
}

/// Everything that the run depends on; nothing from a clock, a host or the place of a file.
pub(crate) fn metadata(
    source: &Source,
    options: &Options,
    program: &Program,
    files: &[(PathBuf, Vec<u8>)],
) -> Metadata {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut overrides = Vec::new();
    overrides.extend(options.patches.iter().map(|path| format!("with {}", name(Path::new(path)))));
    overrides.extend(options.set.iter().map(|(path, value)| format!("{path}={value}")));
    overrides.extend(options.until.iter().map(|until| format!("run.stop={until}")));
    overrides
        .extend(options.variants.iter().map(|(name, choice)| format!("variants.{name}={choice}")));
    let mut other = BTreeMap::new();
    for (path, bytes) in files {
        let base = format!("file {}", name(path));
        let mut key = base.clone();
        let mut count = 1;
        while other.contains_key(&key) {
            count += 1;
            key = format!("{base} ({count})");
        }
        other.insert(key, String::from_utf8_lossy(bytes).into_owned());
    }
    Metadata {
        diagram: String::from_utf8_lossy(&source.bytes).into_owned(),
        overrides,
        seed: program.run.seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        program_hash: format!("{:016x}", program.hash()),
        other,
    }
}

/// Writes the problems that solver blocks kept; their paths.
fn write_problems(directory: &Path, execution: &Execution) -> Result<Vec<PathBuf>, Failure> {
    let directory = directory.join(PROBLEMS);
    let mut paths = Vec::new();
    for (block, report) in &execution.reports {
        for (name, bytes) in &report.files {
            let path = directory.join(format!("{}-{name}", file_name(block)));
            std::fs::create_dir_all(&directory)
                .and_then(|()| std::fs::write(&path, bytes))
                .map_err(|error| {
                    Failure::usage(format!("cannot write `{}`: {error}", path.display()))
                })?;
            paths.push(path);
        }
    }
    Ok(paths)
}

/// The path of a block as part of a file's name.
fn file_name(block: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-[]".contains(c);
    block.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// Check and whether it passed.
pub(crate) fn checks_to_json(execution: &Execution) -> Map<String, Value> {
    let verdicts = execution.program.checks.iter().zip(&execution.checks);
    verdicts.map(|(check, verdict)| (check.name.clone(), passed(*verdict))).collect()
}

/// What blocks measured.
pub(crate) fn metrics_to_json(execution: &Execution) -> Map<String, Value> {
    execution.metrics().into_iter().map(|(name, value)| (name, value.into())).collect()
}

/// The object that `--json` prints.
fn to_object(setting: &Setting<'_>, recorded: &Recorded) -> Map<String, Value> {
    let Recorded { execution, events, recording, problems, .. } = recorded;
    let mut object = Map::new();
    let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
    add("diagram", setting.source.name.clone().into());
    add("sim_time_s", execution.sim_time.into());
    if let Some(block) = &execution.stopped_by {
        add("stopped_by", block.as_str().into());
    }
    add("steps", execution.steps.into());
    add("compile_s", setting.compile_time.into());
    add("wall_s", execution.wall.into());
    add("real_time_factor", execution.real_time_factor().into());
    add("checks", checks_to_json(execution).into());
    add("metrics", metrics_to_json(execution).into());
    add("solver_calls", execution.solver_calls().into());
    add("solver_failures", execution.solver_failures().into());
    add("recording", recording.display().to_string().into());
    let problems = problems.iter().map(|path| path.display().to_string());
    add("problems", problems.collect::<Vec<_>>().into());
    add("diagnostics", setting.diagnostics.clone());
    let snapshots = events.snapshots.iter().filter(|taken| taken.bytes.is_ok());
    let snapshots: Vec<Value> = snapshots
        .map(|taken| {
            let path = setting.directory.join(&taken.name);
            json!({ "t": taken.t, "path": path.display().to_string() })
        })
        .collect();
    if let Some(fault) = &execution.fault {
        let mut fault = fault_to_json(fault, setting.sources);
        let path = setting.directory.join(drive::FAULT).display().to_string();
        let kept = snapshots.iter().any(|taken| taken["path"] == path.as_str());
        fault["snapshot"] = if kept { path.into() } else { Value::Null };
        add("fault", fault);
    }
    if let Some(times) = &execution.profile {
        add("profile", profile::to_json(times, execution.wall));
    }
    add("snapshots", snapshots.into());
    add("interrupted", events.interrupted.into());
    if let Some(latest) = events.latest {
        add("latest_s", latest.into());
    }
    if let Some(error) = execution.recording_error() {
        add("error", error.to_string().into());
    }
    object
}

/// True, false, or null where the run ended before that could be told.
pub(crate) fn passed(verdict: Verdict) -> Value {
    match verdict {
        Verdict::Passed => true.into(),
        Verdict::Failed { .. } => false.into(),
        Verdict::Unseen | Verdict::Undecided => Value::Null,
    }
}

/// Time, phase, block, text and place of a fault.
pub(crate) fn fault_to_json(fault: &RunFault, sources: &SourceMap) -> Value {
    let (start, end) = sources.positions(fault.span);
    json!({
        "t": fault.t,
        "phase": fault.phase.to_string(),
        "block": fault.block,
        "message": fault.fault.message,
        "span": {
            "file": sources.name(fault.span.file),
            "line": start.line, "column": start.column,
            "end_line": end.line, "end_column": end.column,
        },
    })
}

/// Says a fault and shows its block.
pub(crate) fn say_fault(fault: &RunFault, sources: &SourceMap) {
    complaint::say(&Diagnostic::error("fault", fault.span, fault.to_string()), sources);
}

/// Writes what depends on this machine and this hour beside the recording, which does not.
fn write_run_json(setting: &Setting<'_>, object: &Map<String, Value>) -> Result<(), Failure> {
    let metadata = setting.metadata;
    let mut object = object.clone();
    object.insert("started_unix_s".to_owned(), setting.started.into());
    object.insert("overrides".to_owned(), json!(metadata.overrides));
    object.insert("version".to_owned(), metadata.version.clone().into());
    object.insert("program_hash".to_owned(), metadata.program_hash.clone().into());
    let path = setting.directory.join("run.json");
    std::fs::write(&path, format!("{:#}\n", Value::Object(object)))
        .map_err(|error| Failure::usage(format!("cannot write `{}`: {error}", path.display())))
}
