//! A comparison for people.

use std::fmt::Write as _;

use legwork_study::compare::{
    Compared, Comparison, Difference, Totals, VariantComparison, VariantRun, severity,
};

use super::super::summary::{self, counted, digits, note_of_jobs, seconds, write_table};

/// Most signals in the table of one run; JSON has them all.
const MOST_SIGNALS: usize = 16;

/// The whole text.
pub(super) fn of(outcome: &VariantComparison) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(outcome, &mut out);
    out.trim_end().to_owned()
}

fn write_all(outcome: &VariantComparison, out: &mut String) -> std::fmt::Result {
    let reference = &outcome.runs[outcome.reference];
    let program = &reference.run.execution.program;
    writeln!(
        out,
        "{}: {} to {} in steps of {}, {}, from the same initial state",
        program.name,
        counted(outcome.runs.len() as u64, "run"),
        seconds(program.run.stop.to_f64()),
        program.run.step,
        program.run.solver,
    )?;
    writeln!(out)?;
    write_costs(outcome, out)?;
    for note in notes(outcome) {
        writeln!(out, "  {note}")?;
    }
    for (one, comparison) in outcome.runs.iter().zip(&outcome.comparisons) {
        if let Some(comparison) = comparison {
            writeln!(out)?;
            write_comparison(outcome, one, comparison, out)?;
        }
    }
    Ok(())
}

/// A row a run: what it cost, what its solvers say, what passed.
fn write_costs(outcome: &VariantComparison, out: &mut String) -> std::fmt::Result {
    let mut rows = vec![
        [
            "run",
            "per step",
            "real time",
            "solves",
            "failed",
            "mean iter",
            "max iter",
            "KKT residual",
            "checks",
        ]
        .map(str::to_owned),
    ];
    rows.extend(outcome.runs.iter().map(cost_row));
    write_table(&rows, "  ", 1, out)
}

fn cost_row(one: &VariantRun) -> [String; 9] {
    let execution = &one.run.execution;
    let total = Totals::of(&one.solvers());
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let calls = execution.solver_calls();
    let checks = match execution.checks.len() {
        0 => "-".to_owned(),
        count => format!("{} of {count}", execution.checks_passed()),
    };
    [
        one.name().to_owned(),
        or_none(one.step_cost().map(seconds)),
        or_none(execution.real_time_factor().map(|factor| format!("{} x", digits(factor)))),
        if calls > 0 { calls.to_string() } else { "-".to_owned() },
        if calls > 0 { execution.solver_failures().to_string() } else { "-".to_owned() },
        or_none(total.mean_iterations.map(|mean| format!("{mean:.2}"))),
        or_none(total.max_iterations.map(digits)),
        or_none(total.worst_residual.map(|residual| format!("{residual:.1e}"))),
        checks,
    ]
}

/// What the table of costs does not say by itself.
fn notes(outcome: &VariantComparison) -> Vec<String> {
    let mut notes: Vec<String> = note_of_jobs(outcome.jobs).into_iter().collect();
    let hash = |one: &VariantRun| one.run.execution.program.hash();
    for (i, one) in outcome.runs.iter().enumerate() {
        if let Some(same) = outcome.runs[..i].iter().find(|other| hash(other) == hash(one)) {
            let (name, same) = (one.name(), same.name());
            notes.push(format!("`{name}` and `{same}` are the same program"));
        }
        for solver in one.solvers() {
            let all = solver.notes.iter().map(|note| format!("{}: {note}", one.name()));
            notes.extend(all);
        }
        let doubts = summary::warnings(&one.run.execution);
        notes.extend(doubts.map(|warning| format!("{}: {warning}", one.name())));
        if let Some(fault) = &one.run.execution.fault {
            notes.push(format!("{} stopped at a fault: {fault}", one.name()));
        }
    }
    notes
}

/// A row a signal, the largest differences first, and where the two part.
fn write_comparison(
    outcome: &VariantComparison,
    one: &VariantRun,
    comparison: &Comparison,
    out: &mut String,
) -> std::fmt::Result {
    let reference = outcome.runs[outcome.reference].name();
    let mut found: Vec<(&Compared, &Difference)> = comparison.found(&outcome.compared).collect();
    let count = found.len();
    let verdict = match comparison.beyond() {
        0 => format!("within the tolerance in {}", counted(count as u64, "signal")),
        beyond => {
            format!("beyond the tolerance in {beyond} of {}", counted(count as u64, "signal"))
        }
    };
    writeln!(out, "{} against {reference}: {verdict}", one.name())?;
    if count > MOST_SIGNALS {
        found.sort_by(|(_, a), (_, b)| severity(b).total_cmp(&severity(a)));
        found.truncate(MOST_SIGNALS);
    }
    let mut rows =
        vec![["", "signal", "unit", "max", "rms", "of range", "tolerance"].map(str::to_owned)];
    for (compared, difference) in &found {
        rows.push([
            if difference.is_within() { "ok" } else { "FAR" }.to_owned(),
            compared.quantity.name.clone(),
            compared.quantity.unit.clone().unwrap_or_default(),
            figure(difference.max),
            figure(difference.rms),
            figure(difference.max_relative()),
            figure(difference.tolerance),
        ]);
    }
    write_table(&rows, "  ", 3, out)?;
    if count > found.len() {
        writeln!(out, "  and {} smaller ones; --json has all", count - found.len())?;
    }
    let missing = comparison.differences.iter().filter(|difference| difference.is_none()).count();
    if missing > 0 {
        let signals = counted(missing as u64, "signal");
        writeln!(out, "  {signals} of {reference} not compared: not there, or of another shape")?;
    }
    let short = found.iter().map(|(_, difference)| difference.unmatched).max().unwrap_or(0);
    if short > 0 {
        writeln!(out, "  {short} rows of a signal have no counterpart in the other run")?;
    }
    if let Some(first) = &comparison.first {
        let quantity = &outcome.compared[first.quantity].quantity;
        let unit = quantity.unit.as_deref().filter(|unit| *unit != "1");
        let unit = unit.map_or(String::new(), |unit| format!(" {unit}"));
        writeln!(
            out,
            "  first beyond at t={}, block {}, port {}: {} = {}{unit}, {reference} has {}{unit}",
            seconds(first.at.t),
            first.source.block,
            first.source.port,
            quantity.elements[first.at.element],
            exact(first.at.other),
            exact(first.at.reference),
        )?;
    }
    Ok(())
}

/// All digits, so that two values that are not equal are not shown as equal.
fn exact(value: f64) -> String {
    if value == 0.0 || (1e-4..1e9).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

fn figure(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value.is_finite() => format!("{value:.1e}"),
        value => value.to_string(),
    }
}
