//! What a run tells people when it has ended.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::drive::Events;
use super::execution::{Execution, Verdict};

/// Where a run was written.
pub(crate) struct Files<'a> {
    /// Directory of the run.
    pub(crate) directory: &'a Path,
    /// The recording in it.
    pub(crate) recording: &'a Path,
    /// Size of the recording.
    pub(crate) bytes: u64,
    /// Problems that solver blocks kept.
    pub(crate) problems: &'a [PathBuf],
    /// What happened besides steps.
    pub(crate) events: &'a Events,
    /// Simulated time per time that was asked for.
    pub(crate) pace: Option<f64>,
}

/// The whole summary.
pub(crate) fn of(execution: &Execution, compile_time: f64, files: &Files<'_>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(execution, compile_time, files, &mut text);
    text.trim_end().to_owned()
}

fn write_all(
    execution: &Execution,
    compile_time: f64,
    files: &Files<'_>,
    out: &mut String,
) -> std::fmt::Result {
    let program = &execution.program;
    let blocks = program.nodes.iter().filter(|node| !node.hidden).count();
    let end = match (&execution.fault, files.events.interrupted) {
        (Some(_), _) => "stopped at",
        (None, true) => "ended by Ctrl-C at",
        (None, false) => "ran",
    };
    writeln!(
        out,
        "{}: {end} {} in {} steps of {}, {}, {}",
        program.name,
        seconds(execution.sim_time),
        execution.steps,
        program.run.step,
        program.run.solver,
        counted(blocks as u64, "block"),
    )?;
    if let Some(block) = &execution.stopped_by {
        writeln!(out, "  ended by   {block}")?;
    }
    let factor = execution
        .real_time_factor()
        .map_or(String::new(), |factor| format!(", {} times real time", digits(factor)));
    writeln!(
        out,
        "  took       {}{factor}; compiled in {}",
        seconds(execution.wall),
        seconds(compile_time)
    )?;
    if let (Some(pace), Some(latest)) = (files.pace, files.events.latest) {
        let pace = digits(pace);
        writeln!(out, "  paced      {pace} times real time, late by {} at most", seconds(latest))?;
    }
    write_checks(execution, out)?;
    write_metrics(execution, out)?;
    write_reports(execution, out)?;
    write_files(execution, files, out)
}

fn write_checks(execution: &Execution, out: &mut String) -> std::fmt::Result {
    let checks = &execution.program.checks;
    if checks.is_empty() {
        return writeln!(out, "  checks     none in this diagram");
    }
    let passed = execution.checks_passed();
    writeln!(out, "  checks     {passed} of {} passed", checks.len())?;
    let base = execution.program.base;
    for (check, verdict) in checks.iter().zip(&execution.checks) {
        let (mark, note) = match verdict {
            Verdict::Passed => ("pass", String::new()),
            Verdict::Failed { at: Some(t) } => {
                ("FAIL", format!(": not at t={}: {}", seconds(*t), check.text))
            }
            Verdict::Failed { at: None } => ("FAIL", format!(": {:?}: {}", check.kind, check.text)),
            Verdict::Unseen => {
                ("----", format!(": not seen, it begins at {}", seconds(base.at(check.after))))
            }
            Verdict::Undecided => ("----", ": open, the run stopped".to_owned()),
        };
        writeln!(out, "    {mark}  {}{note}", check.name)?;
    }
    Ok(())
}

fn write_metrics(execution: &Execution, out: &mut String) -> std::fmt::Result {
    let metrics = execution.metrics();
    if metrics.is_empty() {
        return Ok(());
    }
    writeln!(out, "  metrics")?;
    let width = metrics.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, value) in metrics {
        writeln!(out, "    {name:width$}  {}", digits(value))?;
    }
    Ok(())
}

fn write_reports(execution: &Execution, out: &mut String) -> std::fmt::Result {
    let telling = |report: &legwork_block::Report| {
        report.solver_calls > 0 || report.solver_failures > 0 || !report.notes.is_empty()
    };
    let mut headed = false;
    for (path, report) in execution.reports.iter().filter(|(_, report)| telling(report)) {
        if !headed {
            writeln!(out, "  solvers")?;
            headed = true;
        }
        let calls = counted(report.solver_calls, "call");
        let failures = counted(report.solver_failures, "failure");
        writeln!(out, "    {path}: {calls}, {failures}")?;
        for note in &report.notes {
            writeln!(out, "      {note}")?;
        }
    }
    Ok(())
}

fn write_files(execution: &Execution, files: &Files<'_>, out: &mut String) -> std::fmt::Result {
    let rows = match &execution.recording {
        Some(Ok(finished)) => {
            let topics = counted(execution.program.log.len() as u64, "signal");
            format!(" ({topics}, {}, {})", counted(finished.row_count, "row"), size(files.bytes))
        }
        _ => " (not whole)".to_owned(),
    };
    writeln!(out, "  recording  {}{rows}", files.recording.display())?;
    writeln!(
        out,
        "             as a table: legwork export {} -o {}.csv; as plots: open it in Foxglove or \
         PlotJuggler",
        files.directory.display(),
        execution.program.name
    )?;
    let mut heading = "problems";
    for path in files.problems {
        writeln!(out, "  {heading:10} {}", path.display())?;
        heading = "";
    }
    for taken in files.events.snapshots.iter().filter(|taken| taken.bytes.is_ok()) {
        let file = files.directory.join(&taken.name);
        writeln!(
            out,
            "  snapshot   {} (t={}); --resume continues it",
            file.display(),
            seconds(taken.t)
        )?;
    }
    Ok(())
}

/// `1 block`, `2 blocks`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A time with four digits: `3 s`, `12.35 ms`.
pub(crate) fn seconds(t: f64) -> String {
    let (value, unit) = match t.abs() {
        s if s == 0.0 || s >= 1.0 => (t, "s"),
        s if s >= 1e-3 => (t * 1e3, "ms"),
        _ => (t * 1e6, "us"),
    };
    format!("{} {unit}", digits(value))
}

/// A number with four digits and no zeros behind them.
pub(crate) fn digits(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    let places = (3 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.places$}");
    if places > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Aligned columns with two spaces between them: the first `left` to the left, the others to the
/// right. Columns without text are left out.
pub(crate) fn write_table<R: AsRef<[String]>>(
    rows: &[R],
    indent: &str,
    left: usize,
    out: &mut String,
) -> std::fmt::Result {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        let row = row.as_ref();
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    for row in rows {
        let mut line = indent.to_owned();
        for (column, (cell, width)) in row.as_ref().iter().zip(&widths).enumerate() {
            if *width == 0 {
                continue;
            }
            if column < left {
                write!(line, "{cell:<width$}  ")?;
            } else {
                write!(line, "{cell:>width$}  ")?;
            }
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn size(bytes: u64) -> String {
    match bytes as f64 {
        b if b < 1e3 => format!("{bytes} bytes"),
        b if b < 1e6 => format!("{} kB", digits(b / 1e3)),
        b if b < 1e9 => format!("{} MB", digits(b / 1e6)),
        b => format!("{} GB", digits(b / 1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let cases = [
            (0.0, "0"),
            (3.0, "3"),
            (12.3456, "12.35"),
            (123_456.0, "123456"),
            (1.0e7, "1.000e7"),
            (-0.012_345_6, "-0.01235"),
            (1.5e-9, "1.500e-9"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in cases {
            assert_eq!(digits(value), text);
        }
        assert_eq!(seconds(0.0421), "42.1 ms");
        assert_eq!(seconds(90.0), "90 s");
        assert_eq!(size(1_234_567), "1.235 MB");
    }
}
