//! `legwork sweep`: one diagram in every cell of a table of choices and parameters.
//!
//! ```text
//! command line ──axes──► cells ──prepare──► programs ──runs──► ends ──► columns ──► text, CSV
//!                                                                └────► report (JSON)
//! ```
//!
//! A cell that fails is a row that says why. Cells share nothing, so that each gives the bits of a
//! run of its own.

mod arguments;
mod axes;
mod columns;
mod prepare;
mod report;
mod runs;
mod show;
mod text;

use std::fs::File;
use std::path::Path;

use legwork_block::Registry;
use legwork_diagram::Compiled;
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::source::{self, Source};
use super::{console, grid, interrupt, pool};
pub(crate) use arguments::SweepArguments;
use axes::{Axis, Cell};
use columns::Table;
use prepare::Prepared;
use runs::{End, Job};

/// Name of what `--json` prints in the directory of a sweep.
const REPORT: &str = "sweep.json";

/// Everything that came of a sweep.
struct Outcome<'a> {
    diagram: &'a str,
    axes: &'a [Axis],
    cells: &'a [Cell],
    /// By cell.
    ends: Vec<End>,
    /// What was found wrong in the diagram, as JSON.
    diagnostics: Value,
    /// Runs at a time.
    jobs: usize,
    /// Whether the command line chose the stop time.
    shortened: bool,
}

impl Outcome<'_> {
    /// Every row, with how it ended.
    fn rows(&self) -> impl Iterator<Item = (&Cell, &End, Status)> {
        self.cells.iter().zip(&self.ends).map(|(cell, end)| (cell, end, self.status(end)))
    }

    fn status(&self, end: &End) -> Status {
        match end {
            End::Wrong(_) => Status::DiagramError,
            End::NotRun => Status::NotRun,
            End::Ran(ran) if ran.interrupted => Status::Interrupted,
            End::Ran(ran) => match ran.execution.code(true, self.shortened) {
                Code::Success => Status::Ok,
                Code::Check => Status::CheckFailed,
                _ => Status::Fault,
            },
        }
    }

    fn code(&self) -> Code {
        let codes = self.rows().map(|(_, _, status)| status.code());
        codes.fold(Code::Success, Code::graver)
    }
}

/// How a cell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Ok,
    CheckFailed,
    Fault,
    DiagramError,
    Interrupted,
    NotRun,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::CheckFailed => "check failed",
            Self::Fault => "fault",
            Self::DiagramError => "diagram error",
            Self::Interrupted => "interrupted",
            Self::NotRun => "not run",
        }
    }

    fn code(self) -> Code {
        match self {
            Self::Ok => Code::Success,
            Self::CheckFailed => Code::Check,
            Self::Fault => Code::Fault,
            Self::DiagramError => Code::Diagram,
            Self::Interrupted | Self::NotRun => Code::Interrupted,
        }
    }
}

/// Runs a diagram in every cell.
///
/// # Errors
/// If the command line makes no sense, an axis is not there, or a file cannot be written.
pub(crate) fn sweep(arguments: &SweepArguments, registry: &Registry) -> Result<Answer, Failure> {
    let source = Source::open(&arguments.file, registry)?;
    let options = source::options(&arguments.overrides, arguments.until.as_deref())?;
    let asked = axes::parse(arguments)?;
    let shows = show::parse(&arguments.show)?;
    let Compiled { variants, .. } = source.compile(&options, registry);
    if asked.is_empty() {
        let hint = grid::example("--over", &variants);
        let message = format!("expected --over with an axis and its values; {hint}");
        return Err(Failure::usage(message));
    }
    let axes = axes::classify(asked, &variants)?;
    let cells = axes::cells(&axes, &options);
    let jobs = pool::at_a_time(arguments.jobs, cells.len());
    interrupt::listen();

    let compiled = prepare::compile_all(&source, &cells, jobs, registry);
    if let Some(slip) = prepare::unknown_axis(&axes, &variants, &compiled) {
        return Err(slip);
    }
    let (prepared, findings) = prepare::sort(&source, &cells, compiled);
    findings.say_with("");
    let diagnostics = findings.to_json();
    if prepared.iter().all(Prepared::is_wrong) {
        let json = json!({ "diagram": source.name, "diagnostics": diagnostics });
        return Ok(Answer::new(Code::Diagram, json));
    }
    show::check(&shows, prepared.iter().filter_map(Prepared::program))?;

    let table = arguments.table.as_deref().map(create).transpose()?;
    let directories = axes::directories(&cells, arguments.out.as_deref());
    let waiting = prepared.into_iter().zip(directories);
    let waiting = waiting.map(|(prepared, directory)| Job { prepared, directory }).collect();
    let ends = runs::run_all(waiting, &source, &shows, jobs)?;
    let shortened = arguments.until.is_some();
    let (axes, cells, diagram) = (&axes[..], &cells[..], source.name.as_str());
    let outcome = Outcome { diagram, axes, cells, ends, diagnostics, jobs, shortened };
    tell(&outcome, arguments, table)
}

/// Says and writes what came of it.
fn tell(
    outcome: &Outcome<'_>,
    arguments: &SweepArguments,
    table: Option<File>,
) -> Result<Answer, Failure> {
    let columns = Table::of(outcome);
    console::say(&text::of(outcome, &columns));
    let mut json = report::to_json(outcome, &columns);
    let mut written = Vec::new();
    if let (Some(file), Some(path)) = (table, &arguments.table) {
        columns.write(file).map_err(|error| cannot_write(path, &error))?;
        json["table"] = path.display().to_string().into();
        written.push(path.display().to_string());
    }
    if let Some(directory) = &arguments.out {
        let path = directory.join(REPORT);
        std::fs::create_dir_all(directory)
            .and_then(|()| std::fs::write(&path, format!("{json:#}\n")))
            .map_err(|error| cannot_write(&path, &error))?;
        written.push(path.display().to_string());
    }
    if !written.is_empty() {
        console::say(&format!("\nwrote {}", written.join(", ")));
    }
    Ok(Answer::new(outcome.code(), json))
}

/// Makes the table's file before anything runs, so that a slip costs no time.
fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::usage(format!("cannot write `{}`: {why}", path.display()))
}
