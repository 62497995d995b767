//! `legwork run`: compile, run, record, evaluate checks.

use std::path::{Path, PathBuf};

use legwork_study::{
    Edit, Error, Library, Model, Outcome, Record, RunRequest, Snapshot, parse_time, read_edits,
};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::RunArguments;
use super::progress::Progress;
use super::{complaint, console, interrupt, profile, summary};

/// Directory of runs that get no `--out`.
const RUNS: &str = "runs";

/// Runs a diagram.
///
/// # Errors
/// If the file cannot be read or the directory not be written.
pub(crate) fn run(arguments: &RunArguments, library: &Library) -> Result<Answer, Failure> {
    let diagram = arguments.overrides.open(&arguments.file, arguments.until.as_deref(), library)?;
    let compiled = diagram.compile();
    complaint::say_all(&compiled.diagnostics, &compiled.sources);
    let Some(model) = &compiled.model else {
        let json = json!({ "diagram": diagram.name(), "diagnostics": compiled.to_json() });
        return Ok(Answer::new(Code::Diagram, json));
    };
    let request = request(arguments, model)?;
    let cancel = interrupt::listen();
    let progress = Progress::default();
    let run = model.run(&request, &|event| progress.tell(event), cancel)?;
    drop(progress);
    if let Some(fault) = &run.execution.fault {
        complaint::say_fault(fault, model.sources());
    }
    for taken in &run.snapshots {
        if let Err(why) = &taken.snapshot {
            console::say(&format!("error: no {}: {why}", taken.name));
        }
    }
    if let Some(error) = run.execution.recording_error() {
        console::say(&format!("error: {error}"));
    }
    console::say(&summary::of(&run, arguments.pace));
    if let Some(times) = &run.execution.profile {
        console::say(&profile::table(times, run.execution.wall));
    }
    let code = match run.outcome() {
        Outcome::CheckFailed if arguments.no_checks => Code::Success,
        outcome => outcome.into(),
    };
    Ok(Answer::new(code, Value::Object(run.to_json())))
}

/// What the command line asks of the run.
fn request(arguments: &RunArguments, model: &Model) -> Result<RunRequest, Error> {
    let edits: Option<Vec<Edit>> = arguments.replay_edits.as_deref().map(read_edits).transpose()?;
    let snapshots = arguments.snapshot_at.iter().map(|text| parse_time(text));
    Ok(RunRequest {
        record: Record::Directory(directory(arguments.out.as_deref(), model)),
        pace: arguments.pace,
        snapshots: snapshots.collect::<Result<Vec<f64>, Error>>()?,
        edits: edits.unwrap_or_default(),
        resume: arguments.resume.as_deref().map(Snapshot::read).transpose()?,
        profile: arguments.profile,
    })
}

/// Where runs without `--out` go.
pub(crate) fn directory(out: Option<&Path>, model: &Model) -> PathBuf {
    out.map_or_else(|| Path::new(RUNS).join(&model.program().name), Path::to_owned)
}
