//! `legwork run`: compile, run, record, evaluate checks.

use std::path::{Path, PathBuf};

use clap::Args;
use legwork_study::{
    Edit, Error, ErrorKind, Library, Model, Outcome, RECORDING, Record, RunRequest, Snapshot,
    edits_at, files, parse_time, read_edits, recorded_diagram,
};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::{Overrides, positive};
use super::progress::Progress;
use super::{console, diagnostics, interrupt, profile, summary};

/// Directory of runs that get no `--out`.
const RUNS: &str = "runs";
/// Name of the link to the latest of them.
const LATEST: &str = "latest";
/// Most directories of one diagram's name.
const MOST_NAMESAKES: u32 = 1000;

/// `legwork run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The diagram.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Stop at this time instead of the diagram's, sooner or later, as in `2 s`.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// Directory for run.mcap and run.json, where they replace those of another run, with its
    /// snapshots and problems [default: runs/<name of the diagram>, with a number where that holds
    /// another file's run, or one that goes on; runs/latest is a link to it].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Report failed checks, but do not fail because of them.
    #[arg(long)]
    pub(crate) no_checks: bool,
    /// Continue a snapshot of this diagram, bit for bit. The recording holds the rows from its time
    /// on.
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) resume: Option<PathBuf>,
    /// Write a snapshot before the first step at or after this time, as in `1.5 s`, beside the
    /// recording; may be given several times.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) snapshot_at: Vec<String>,
    /// Repeat the edits of a session of `legwork step`: its directory, its recording, or a list of
    /// edits in JSON.
    #[arg(long, value_name = "RUN", visible_alias = "edits")]
    pub(crate) replay_edits: Option<PathBuf>,
    /// Run at this many times real time, by sleeping between steps; 1 is real time.
    #[arg(long, value_name = "FACTOR", value_parser = positive)]
    pub(crate) pace: Option<f64>,
    /// Leave the texts of the diagram and of the files that it reads, robots included, out of the
    /// recording. `report` and units of compared signals then do without them.
    #[arg(long)]
    pub(crate) no_embed: bool,
    /// Record the scene too, 60 times a second: shapes, poses of links, contacts and forces, which
    /// Foxglove, Lichtblick and Rerun show as a moving robot. Signals and results are the same.
    #[arg(long)]
    pub(crate) scene: bool,
    /// Measure what each block takes. The run is slower by two clock readings per call of a block;
    /// its results are the same.
    #[arg(long)]
    pub(crate) profile: bool,
}

impl RunArguments {
    /// Files of the command line that the run reads, besides the diagram's.
    fn inputs(&self) -> Vec<PathBuf> {
        let edits = self.replay_edits.as_deref().map(edits_at);
        edits.into_iter().chain(self.resume.clone()).collect()
    }
}

/// Runs a diagram.
///
/// # Errors
/// If the file cannot be read or the directory not be written.
pub(crate) fn run(arguments: &RunArguments, library: &Library) -> Result<Answer, Failure> {
    let diagram = arguments.overrides.open(&arguments.file, arguments.until.as_deref(), library)?;
    let compiled = diagram.compile();
    diagnostics::say_all(&compiled.diagnostics, &compiled.sources);
    let Some(model) = &compiled.model else {
        let json = json!({ "diagram": diagram.name(), "diagnostics": compiled.to_json() });
        return Ok(Answer::new(Code::Diagram, json));
    };
    let cancel = interrupt::listen();
    let progress = Progress::default();
    // Runs that begin at one time take directories with the next numbers.
    let mut taken = 0;
    let run = loop {
        let request = request(arguments, model, taken)?;
        match model.run(&request, &|event| progress.tell(event), cancel) {
            Err(error) if arguments.out.is_none() && error.kind() == ErrorKind::Busy => taken += 1,
            done => break done?,
        }
    };
    drop(progress);
    if let (None, Some(directory)) = (&arguments.out, &run.directory) {
        point_latest(directory);
    }
    if let Some(fault) = &run.execution.fault {
        diagnostics::say_fault(fault, model.sources());
    }
    for taken in &run.snapshots {
        if let Err(why) = &taken.snapshot {
            console::say(&format!("error: no {}: {why}", taken.name));
        }
    }
    for error in run.errors() {
        console::say(&format!("error: {error}"));
    }
    console::tell(&summary::of(&run, arguments.pace))?;
    if console::is_quiet() && !arguments.no_checks && run.outcome() == Outcome::CheckFailed {
        for line in summary::failed_checks(&run.execution) {
            console::tell_failed(&line)?;
        }
    }
    if let Some(times) = &run.execution.profile {
        console::tell(&profile::table(times, run.execution.wall))?;
    }
    let code = match run.outcome() {
        Outcome::CheckFailed if arguments.no_checks => Code::Success,
        outcome => outcome.into(),
    };
    Ok(Answer::new(code, Value::Object(run.to_json())))
}

/// What the command line asks of the run.
fn request(arguments: &RunArguments, model: &Model, taken: usize) -> Result<RunRequest, Failure> {
    let edits: Option<Vec<Edit>> = arguments.replay_edits.as_deref().map(read_edits).transpose()?;
    let snapshots = arguments.snapshot_at.iter().map(|text| parse_time(text));
    Ok(RunRequest {
        record: Record::Directory(directory(arguments.out.as_deref(), model, taken)?),
        pace: arguments.pace,
        snapshots: snapshots.collect::<Result<Vec<f64>, Error>>()?,
        edits: edits.unwrap_or_default(),
        resume: arguments.resume.as_deref().map(Snapshot::read).transpose()?,
        inputs: arguments.inputs(),
        bare: arguments.no_embed,
        scene: arguments.scene,
        profile: arguments.profile,
    })
}

/// Where a run goes: without `--out` to a directory of the diagram's name in `runs`, or, where that
/// holds what is no run of this file that has ended, to one with the next number: `stand-2`. The
/// first `taken` of those are passed over.
fn directory(out: Option<&Path>, model: &Model, taken: usize) -> Result<PathBuf, Failure> {
    if let Some(out) = out {
        return Ok(out.to_owned());
    }
    let runs = Path::new(RUNS);
    refuse_link(runs)?;
    let name = &model.program().name;
    let file = model.diagram().name();
    let is_same = |other: &str| {
        let places = (std::fs::canonicalize(file), std::fs::canonicalize(other));
        other == file || matches!(places, (Ok(place), Ok(other)) if place == other)
    };
    let mut left = taken;
    for number in 1..=MOST_NAMESAKES {
        let directory = match number {
            1 if name == LATEST => continue,
            1 => runs.join(name),
            _ => runs.join(format!("{name}-{number}")),
        };
        refuse_link(&directory)?;
        let is_own = match recorded_diagram(&directory) {
            Some(other) => is_same(&other),
            // That of a session, or of a run that goes on or was killed, says nothing of its file.
            None => directory.join(RECORDING).symlink_metadata().is_err(),
        };
        match left {
            _ if !is_own => {}
            0 => return Ok(directory),
            _ => left -= 1,
        }
    }
    let message =
        format!("`{RUNS}` is full of runs of `{name}`; say with --out where this one goes");
    Err(Failure::usage(message))
}

/// Refuses a link, which whoever wrote the diagram may have put there as well.
fn refuse_link(directory: &Path) -> Result<(), Failure> {
    if directory.symlink_metadata().is_ok_and(|place| place.is_symlink()) {
        let shown = directory.display();
        let message = format!("`{shown}` is a symbolic link; say with --out where the run goes");
        return Err(Failure::usage(message));
    }
    Ok(())
}

/// Lets `runs/latest` name the directory of a run.
fn point_latest(directory: &Path) {
    let pointed =
        directory.file_name().map(|name| files::point(&Path::new(RUNS).join(LATEST), name));
    if let Some(Err(error)) = pointed {
        console::note(&format!("warning: no `{RUNS}/{LATEST}`: {error}"));
    }
}
