//! `legwork sweep`: one diagram in every cell of a table of choices and parameters.

mod study;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use legwork_study::files::{self, Output};
use legwork_study::sweep::{
    Column, End, Entry, Finished, Part, Shard, Status, Sweep, SweepPlan, SweepRequest, Table,
    parse_shows, parse_values,
};
use legwork_study::{Check, Error, Execution, Library, Measured};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::{Overrides, example, pair};
use super::progress::Progress;
use super::summary::{counted, digits, note_of_jobs, seconds, write_table};
use super::{console, diagnostics, interrupt, summary};

/// Name of what `--json` prints in the directory of a sweep.
const REPORT: &str = "sweep.json";
/// How often the table is written while the sweep goes on.
const BETWEEN_TABLES: Duration = Duration::from_secs(1);
/// Most columns of metrics; the written table has them all.
const MOST_METRICS: usize = 8;
/// Most pairs of cells that are said to be the same program.
const MOST_PAIRS: usize = 4;
/// Most warnings of runs below the table.
const MOST_WARNINGS: usize = 8;

/// `legwork sweep`.
///
/// Every combination of the axes' values runs, a row each; one that fails says so, and the others
/// go on. Results and recordings are those of single runs, bit for bit, however many run at a time.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  legwork sweep demo:stand --over mu=0.2,0.7 --over qp=active_set,pgs\n  \
                  legwork sweep demo:stand --over mu=0.2,0.4,0.8 --show 'pd.tau[2]:rms' --table \
                  mu.csv\n  \
                  legwork sweep demo:stand --over 'kp=log(20, 320, 5)' --show 'pd.tau[2]:rms'\n  \
                  legwork sweep demo:stand --over mu=0.2,0.4,0.8 --shard 1/2 --out part1\n  \
                  legwork sweep demo:stand --over mu=0.2,0.4,0.8 --merge part1,part2\n\n\
                  Exit codes, the first that holds: 143 ended by SIGTERM, 129 by SIGHUP, 130 by \
                  Ctrl-C, 74 a file could not be written, 1 a row's diagram has \
                  errors or an \
                  axis is not there, 2 a run stopped at a fault, 3 a check failed, 64 usage, 0 \
                  success.")]
pub(crate) struct SweepArguments {
    /// The diagram, or a study of one (`legwork help studies`), whose axes those of --over, --set
    /// and --variant replace.
    pub(crate) file: PathBuf,
    /// An axis of the table: choices of a variant, as in `qp=active_set,clarabel`, or values of
    /// what --set takes, as in `mu=0.1,0.5` or `robots.go.feet=[a,b],[c,d]`. Commas in brackets and
    /// quotes part nothing. Among the values, `lin(0, 1 m, 11)` stands for evenly spaced ones,
    /// ends included, and `log(1, 100, 5)` for ones of a constant ratio. May be given several
    /// times; the first axis changes slowest.
    #[arg(long, value_name = "AXIS=VALUE[,VALUE..]", value_parser = pair)]
    pub(crate) over: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Stop at this time instead of the diagram's, sooner or later, as in `2 s`.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// A column for a recorded signal, a part or an element of it, as in
    /// `body.state.base.position[2]:min`. Over its recorded rows: final (the default), mean, rms,
    /// max, min, abs_mean; of a run that stopped early, over those that it has.
    #[arg(long, value_name = "PATH[:STATISTIC]")]
    pub(crate) show: Vec<String>,
    /// Write the table as comma-separated values, every second while the sweep goes on; `legwork
    /// plot` draws them over the first axis.
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,
    /// Directory for sweep.json and the runs, each as `legwork run` writes it, in a directory named
    /// after its values; no run is kept without it.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with the sweep in --out where it was ended or killed: rows that are whole stay, the
    /// others run. The diagram, its files and the axes must be the same.
    #[arg(long, requires = "out")]
    pub(crate) resume: bool,
    /// Run every N-th row only, from the I-th on, as in `2/4`: a part of a sweep that runs on
    /// several machines, each with its own --out.
    #[arg(long, value_name = "I/N", requires = "out")]
    pub(crate) shard: Option<Shard>,
    /// The whole table of a sweep whose shards have run, from the directories of their --out; rows
    /// that are in none of them run now. The diagram, its files and the axes must be the same.
    #[arg(long, value_name = "DIR[,DIR..]", value_delimiter = ',', conflicts_with = "shard")]
    pub(crate) merge: Vec<PathBuf>,
    /// How many runs at a time; without it, one on each core. Results do not depend on it, times
    /// do.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,
}

/// Runs a diagram in every cell.
///
/// # Errors
/// If the command line makes no sense, an axis is not there, or a file cannot be written.
pub(crate) fn sweep(arguments: &SweepArguments, library: &Library) -> Result<Answer, Failure> {
    let opened = library.open(&arguments.file)?;
    let until = arguments.until.as_deref();
    if opened.is_study() {
        return study::sweep(&opened, arguments);
    }
    let diagram = arguments.overrides.apply(opened, until)?;
    let request = request(arguments)?;
    if request.over.is_empty() {
        let hint = example("--over", &diagram.compile().variants);
        let message = format!("expected --over with an axis and its values; {hint}");
        return Err(Failure::usage(message));
    }
    let cancel = interrupt::listen();
    let plan = diagram.plan_sweep(&request, cancel)?;
    let sweep = match run(plan, diagram.name(), arguments)? {
        Ok(sweep) => sweep,
        Err(answer) => return Ok(answer),
    };
    let table = sweep.table();
    console::tell(&text(&sweep, &table, &metrics_and_figures(&table)))?;
    tell(&sweep, arguments, sweep.to_json())
}

/// What the command line asks of a sweep.
fn request(arguments: &SweepArguments) -> Result<SweepRequest, Error> {
    let axis = |(name, list): &(String, String)| Ok((name.clone(), parse_values(list)?));
    Ok(SweepRequest {
        over: arguments.over.iter().map(axis).collect::<Result<_, Error>>()?,
        tied: Vec::new(),
        show: parse_shows(&arguments.show)?,
        directory: arguments.out.clone(),
        jobs: arguments.jobs,
        resume: arguments.resume,
        part: arguments.shard.map(Part::Shard),
        merge: arguments.merge.iter().cloned().map(Finished::Directory).collect(),
    })
}

/// Runs what is planned of `name`; an answer instead if none of it compiles.
fn run(
    plan: SweepPlan,
    name: &str,
    arguments: &SweepArguments,
) -> Result<Result<Sweep, Answer>, Failure> {
    diagnostics::say_findings(plan.findings(), "");
    if plan.is_wrong() {
        let json = json!({ "diagram": name, "diagnostics": plan.findings().to_json() });
        return Ok(Err(Answer::new(Code::Diagram, json)));
    }
    if let Some(path) = &arguments.table {
        files::refuse_input(path, plan.inputs())?;
        // Tried before anything runs, so that a slip costs no time.
        Output::create(path).map_err(|error| files::cannot_write(path, &error))?;
    }
    if let Some(directory) = &arguments.out {
        files::refuse_input(&directory.join(REPORT), plan.inputs())?;
    }
    let progress = Progress::default();
    let written = Mutex::new(Instant::now());
    let each = |sweep: &Sweep, _| {
        let mut last = written.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() > BETWEEN_TABLES {
            // Whether it can be written is said at the end.
            let _ = arguments.table.as_deref().map(|path| write_table_file(path, sweep));
            *last = Instant::now();
        }
    };
    let sweep = plan.run(&each, &|event| progress.tell(event), interrupt::flag())?;
    drop(progress);
    Ok(Ok(sweep))
}

/// Writes what came of it.
fn tell(
    sweep: &Sweep,
    arguments: &SweepArguments,
    mut json: Map<String, Value>,
) -> Result<Answer, Failure> {
    let mut written = Vec::new();
    let mut errors: Vec<Error> = sweep.unwritten.iter().cloned().collect();
    let mut note = |path: &Path, outcome: Result<(), Error>| match outcome {
        Ok(()) => written.push(path.display().to_string()),
        Err(error) => errors.push(error),
    };
    if let Some(path) = &arguments.table {
        note(path, write_table_file(path, sweep));
        json.insert("table".to_owned(), path.display().to_string().into());
    }
    if let Some(directory) = &arguments.out {
        let path = directory.join(REPORT);
        let text = format!("{:#}\n", Value::Object(json.clone()));
        note(&path, files::write(&path, text));
    }
    if !written.is_empty() {
        console::note(&format!("\nwrote {}", written.join(", ")));
    }
    let mut codes: Vec<Code> = sweep.rows().map(|(_, _, status)| code(status)).collect();
    for error in errors {
        console::say(&format!("error: {error}"));
        codes.push(Code::Unwritten);
    }
    Ok(Answer::new(codes.into_iter().fold(Code::Success, Code::worse), Value::Object(json)))
}

fn write_table_file(path: &Path, sweep: &Sweep) -> Result<(), Error> {
    let mut table = Vec::new();
    sweep.table().write(&mut table).map_err(|error| files::cannot_write(path, &error))?;
    files::write(path, table)
}

fn code(status: Status) -> Code {
    match status {
        Status::Ok => Code::Success,
        Status::CheckFailed => Code::Check,
        Status::Fault => Code::Fault,
        Status::Unwritten => Code::Unwritten,
        Status::DiagramError => Code::Diagram,
        Status::Interrupted | Status::NotRun => interrupt::code(),
    }
}

/// The whole text, with these columns of the table.
fn text(outcome: &Sweep, table: &Table, measured: &[&Column]) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(outcome, table, measured, &mut out);
    out.trim_end().to_owned()
}

/// What is shown of a sweep that is no study.
fn metrics_and_figures(table: &Table) -> Vec<&Column> {
    table.metrics.iter().take(MOST_METRICS).chain(&table.figures).collect()
}

fn write_all(
    outcome: &Sweep,
    table: &Table,
    measured: &[&Column],
    out: &mut String,
) -> std::fmt::Result {
    let ok = outcome.rows().filter(|(_, _, status)| *status == Status::Ok).count();
    let count = outcome.cells.len();
    writeln!(out, "{}: {}, {ok} ok", outcome.diagram, counted(count as u64, "run"))?;
    writeln!(out)?;
    let mut rows = vec![heading(outcome, measured)];
    let all = outcome.rows().enumerate();
    rows.extend(all.map(|(row, (_, end, status))| cells(outcome, row, end, status, measured)));
    write_table(&rows, "  ", outcome.axes.len() + 1, out)?;
    for note in notes(outcome, table) {
        writeln!(out, "  {note}")?;
    }
    Ok(())
}

fn heading(outcome: &Sweep, measured: &[&Column]) -> Vec<String> {
    let axes = outcome.axes.iter().map(|axis| axis.name.clone());
    let mut cells: Vec<String> = axes.chain(["status".to_owned()]).collect();
    let is_checked = executions(outcome).any(|execution| !execution.checks.is_empty());
    cells.push(if is_checked { "checks" } else { "" }.to_owned());
    cells.push(if is_checked { "tightest" } else { "" }.to_owned());
    let is_short = executions(outcome).any(|execution| !is_whole(execution));
    cells.push(if is_short { "until" } else { "" }.to_owned());
    cells.push("real time".to_owned());
    cells.extend(measured.iter().map(|column| column.heading()));
    cells
}

fn cells(
    outcome: &Sweep,
    row: usize,
    end: &End,
    status: Status,
    measured: &[&Column],
) -> Vec<String> {
    let values = outcome.cells[row].values.iter().map(|(_, value)| value.clone());
    let mut cells: Vec<String> = values.chain([status.name().to_owned()]).collect();
    let execution = match end {
        End::Ran(ran) => Some(&ran.run.execution),
        End::Wrong(_) | End::Unwritten(_) | End::NotRun => None,
    };
    let of = |text: &dyn Fn(&Execution) -> Option<String>| execution.and_then(text);
    cells.push(
        of(&|execution| match execution.checks.len() {
            0 => None,
            count => Some(format!("{} of {count}", execution.checks_passed())),
        })
        .unwrap_or_default(),
    );
    cells.push(of(&|execution| execution.tightest().map(tightest)).unwrap_or_default());
    let until = of(&|execution| (!is_whole(execution)).then(|| seconds(execution.sim_time)));
    cells.push(until.unwrap_or_default());
    let factor = of(&|execution| Some(format!("{} x", digits(execution.real_time_factor()?))));
    cells.push(factor.unwrap_or_else(none));
    cells.extend(measured.iter().map(|column| match &column.entries[row] {
        Entry::Number(number) => digits(*number),
        Entry::Text(text) => text.clone(),
        Entry::Missing => none(),
    }));
    cells
}

/// The check that is nearest to its bound, with its margin.
fn tightest((check, Measured { margin, unit, .. }): (&Check, Measured)) -> String {
    let unit = unit.map(|unit| unit.to_string()).filter(|unit| unit != "1");
    let unit = unit.map_or(String::new(), |unit| format!(" {unit}"));
    format!("{} {}{unit}", check.name, digits(margin))
}

fn none() -> String {
    "-".to_owned()
}

fn executions(outcome: &Sweep) -> impl Iterator<Item = &Execution> {
    outcome.ends.iter().filter_map(|end| match end {
        End::Ran(ran) => Some(&ran.run.execution),
        End::Wrong(_) | End::Unwritten(_) | End::NotRun => None,
    })
}

/// Whether a run got to its stop time.
fn is_whole(execution: &Execution) -> bool {
    let program = &execution.program;
    execution.fault.is_none() && execution.sim_time >= program.base.at(program.stop_tick)
}

/// What makes runs doubtful: a line for each warning of a block, with the first run that has it.
fn warnings(outcome: &Sweep) -> Vec<String> {
    let mut found: Vec<((&str, &str), usize, String)> = Vec::new();
    let mut runs = 0;
    for (cell, end, _) in outcome.rows() {
        let End::Ran(ran) = end else { continue };
        runs += 1;
        for (block, warning) in ran.run.execution.warnings() {
            let key = (block, warning.name.as_str());
            match found.iter_mut().find(|(known, ..)| *known == key) {
                Some((_, count, _)) => *count += 1,
                None => {
                    found.push((
                        key,
                        1,
                        format!("{}: {}", cell.name, summary::warning(block, warning)),
                    ));
                }
            }
        }
    }
    let more = found.len().saturating_sub(MOST_WARNINGS);
    found.truncate(MOST_WARNINGS);
    let line = |(_, count, first): ((&str, &str), usize, String)| match count {
        1 => first,
        count => format!("in {count} of {runs} runs, the first is {first}"),
    };
    let mut lines: Vec<String> = found.into_iter().map(line).collect();
    if more > 0 {
        lines.push(format!("and {}", counted(more as u64, "other warning")));
    }
    lines
}

/// What the table does not say by itself.
fn notes(outcome: &Sweep, table: &Table) -> Vec<String> {
    let mut notes: Vec<String> = note_of_jobs(outcome.jobs).into_iter().collect();
    if outcome.resumed > 0 {
        notes.push(format!("{} had ended before", counted(outcome.resumed as u64, "run")));
    }
    if table.metrics.len() > MOST_METRICS {
        let more = table.metrics.len() - MOST_METRICS;
        notes.push(format!("and {}; --json and --table have all", counted(more as u64, "metric")));
    }
    for (cell, end, status) in outcome.rows() {
        if let Some(reason) = end.reason() {
            notes.push(format!("{}: {}: {reason}", cell.name, status.name()));
        }
    }
    notes.extend(warnings(outcome));
    let mut pairs = outcome.twins();
    let more = pairs.len().saturating_sub(MOST_PAIRS);
    pairs.truncate(MOST_PAIRS);
    notes.extend(
        pairs.iter().map(|(a, b)| format!("`{}` and `{}` are the same program", a.name, b.name)),
    );
    if more > 0 {
        notes.push(format!("and {}", counted(more as u64, "such pair")));
    }
    notes
}
