//! A sweep for people.

use std::fmt::Write as _;

use super::super::execution::Execution;
use super::super::pool;
use super::super::summary::{counted, digits, seconds, write_table};
use super::columns::{Column, Entry, Table, reason};
use super::runs::End;
use super::{Outcome, Status};

/// Most columns of metrics; the written table has them all.
const MOST_METRICS: usize = 8;
/// Most pairs of cells that are said to be the same program.
const MOST_PAIRS: usize = 4;

/// The whole text.
pub(super) fn of(outcome: &Outcome<'_>, table: &Table) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(outcome, table, &mut out);
    out.trim_end().to_owned()
}

fn write_all(outcome: &Outcome<'_>, table: &Table, out: &mut String) -> std::fmt::Result {
    let ok = outcome.rows().filter(|(_, _, status)| *status == Status::Ok).count();
    let count = outcome.cells.len();
    writeln!(out, "{}: {}, {ok} ok", outcome.diagram, counted(count as u64, "run"))?;
    writeln!(out)?;
    let measured: Vec<&Column> =
        table.metrics.iter().take(MOST_METRICS).chain(&table.figures).collect();
    let mut rows = vec![heading(outcome, &measured)];
    let all = outcome.rows().enumerate();
    rows.extend(all.map(|(row, (_, end, status))| cells(outcome, row, end, status, &measured)));
    write_table(&rows, "  ", outcome.axes.len() + 1, out)?;
    for note in notes(outcome, table) {
        writeln!(out, "  {note}")?;
    }
    Ok(())
}

fn heading(outcome: &Outcome<'_>, measured: &[&Column]) -> Vec<String> {
    let axes = outcome.axes.iter().map(|axis| axis.name.clone());
    let mut cells: Vec<String> = axes.chain(["status".to_owned()]).collect();
    let is_checked = executions(outcome).any(|execution| !execution.checks.is_empty());
    cells.push(if is_checked { "checks" } else { "" }.to_owned());
    let is_short = executions(outcome).any(|execution| !is_whole(execution));
    cells.push(if is_short { "until" } else { "" }.to_owned());
    cells.push("real time".to_owned());
    cells.extend(measured.iter().map(|column| column.heading()));
    cells
}

fn cells(
    outcome: &Outcome<'_>,
    row: usize,
    end: &End,
    status: Status,
    measured: &[&Column],
) -> Vec<String> {
    let values = outcome.cells[row].values.iter().map(|(_, value)| value.clone());
    let mut cells: Vec<String> = values.chain([status.name().to_owned()]).collect();
    let execution = match end {
        End::Ran(ran) => Some(&ran.execution),
        End::Wrong(_) | End::NotRun => None,
    };
    let of = |text: &dyn Fn(&Execution) -> Option<String>| execution.and_then(text);
    cells.push(
        of(&|execution| match execution.checks.len() {
            0 => None,
            count => Some(format!("{} of {count}", execution.checks_passed())),
        })
        .unwrap_or_default(),
    );
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

fn none() -> String {
    "-".to_owned()
}

fn executions<'o>(outcome: &'o Outcome<'_>) -> impl Iterator<Item = &'o Execution> {
    outcome.ends.iter().filter_map(|end| match end {
        End::Ran(ran) => Some(&ran.execution),
        End::Wrong(_) | End::NotRun => None,
    })
}

/// Whether a run got to its stop time.
fn is_whole(execution: &Execution) -> bool {
    let program = &execution.program;
    execution.fault.is_none() && execution.sim_time >= program.base.at(program.stop_tick)
}

/// What the table does not say by itself.
fn notes(outcome: &Outcome<'_>, table: &Table) -> Vec<String> {
    let mut notes: Vec<String> = pool::note(outcome.jobs).into_iter().collect();
    if table.metrics.len() > MOST_METRICS {
        let more = table.metrics.len() - MOST_METRICS;
        notes.push(format!("and {}; --json and --table have all", counted(more as u64, "metric")));
    }
    for (cell, end, status) in outcome.rows() {
        if let Some(reason) = reason(outcome, end, status) {
            notes.push(format!("{}: {}: {reason}", cell.name, status.name()));
        }
    }
    let mut pairs = twins(outcome);
    let more = pairs.len().saturating_sub(MOST_PAIRS);
    pairs.truncate(MOST_PAIRS);
    notes.extend(pairs.iter().map(|(a, b)| format!("`{a}` and `{b}` are the same program")));
    if more > 0 {
        notes.push(format!("and {}", counted(more as u64, "such pair")));
    }
    notes
}

/// Cells that compile to the same program as an earlier one, with the first such: an axis that
/// changes nothing is a slip.
fn twins<'o>(outcome: &'o Outcome<'_>) -> Vec<(&'o str, &'o str)> {
    let hash = |end: &End| match end {
        End::Ran(ran) => Some(ran.execution.program.hash()),
        End::Wrong(_) | End::NotRun => None,
    };
    let mut pairs = Vec::new();
    for (i, (cell, end, _)) in outcome.rows().enumerate() {
        let Some(own) = hash(end) else { continue };
        let same = outcome.ends[..i].iter().position(|other| hash(other) == Some(own));
        if let Some(first) = same {
            pairs.push((cell.name.as_str(), outcome.cells[first].name.as_str()));
        }
    }
    pairs
}
