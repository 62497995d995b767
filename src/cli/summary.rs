//! What a run tells people when it has ended.

use std::fmt::Write as _;
use std::path::Path;

use legwork_block::Warning;
use legwork_study::{Execution, Run, Verdict};
pub(crate) use legwork_study::{counted, digits, seconds};

use super::answer::Code;
use super::{console, interrupt};

/// The whole summary of a run; `pace` is what was asked for, simulated time per time.
pub(crate) fn of(run: &Run, pace: Option<f64>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(run, pace, &mut text);
    text.trim_end().to_owned()
}

fn write_all(run: &Run, pace: Option<f64>, out: &mut String) -> std::fmt::Result {
    let execution = &run.execution;
    let program = &execution.program;
    let blocks = program.nodes.iter().filter(|node| !node.hidden).count();
    let end = match (&execution.fault, run.cancelled) {
        (Some(_), _) => "stopped at",
        (None, true) => match interrupt::code() {
            Code::Terminated => "ended by SIGTERM at",
            Code::HungUp => "ended by SIGHUP at",
            _ => "ended by Ctrl-C at",
        },
        (None, false) => "ran",
    };
    writeln!(
        out,
        "{}: {end} {} in {} steps of {}{}, {}, {}",
        program.name,
        seconds(execution.sim_time),
        execution.steps,
        if program.run.solver.is_variable() { "at most " } else { "" },
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
        seconds(run.model.compile_time())
    )?;
    if let (Some(pace), Some(latest)) = (pace, run.latest) {
        let pace = digits(pace);
        writeln!(out, "  paced      {pace} times real time, late by {} at most", seconds(latest))?;
    }
    write_checks(execution, out)?;
    write_metrics(execution, out)?;
    write_reports(execution, out)?;
    write_warnings(run, out)?;
    write_files(run, out)
}

fn write_checks(execution: &Execution, out: &mut String) -> std::fmt::Result {
    let checks = &execution.program.checks;
    if checks.is_empty() {
        return writeln!(out, "  checks     none in this diagram");
    }
    let passed = execution.checks_passed();
    writeln!(out, "  checks     {passed} of {} passed", checks.len())?;
    (0..checks.len()).try_for_each(|i| writeln!(out, "    {}", check_line(execution, i)))
}

/// Lines about the checks for which a run fails.
pub(crate) fn failed_checks(execution: &Execution) -> impl Iterator<Item = String> {
    let is_failed =
        |i: &usize| matches!(execution.checks[*i], Verdict::Failed { .. } | Verdict::Unseen);
    (0..execution.checks.len()).filter(is_failed).map(|i| check_line(execution, i))
}

/// `pass  its name: what it measured`.
fn check_line(execution: &Execution, i: usize) -> String {
    let (check, base) = (&execution.program.checks[i], execution.program.base);
    let verdict = &execution.checks[i];
    let (mark, note) = match verdict {
        Verdict::Passed => ("pass", String::new()),
        Verdict::Failed { .. } => ("FAIL", format!(": {:?}: {}", check.kind, check.text)),
        Verdict::Unseen => {
            ("----", format!(": not seen, it begins at {}", seconds(base.at(check.after))))
        }
        Verdict::NotAsked => ("----", ": not asked, its `when` never held".to_owned()),
        Verdict::Undecided => ("----", ": open, the run stopped".to_owned()),
    };
    let measured = match verdict {
        Verdict::Passed | Verdict::Failed { .. } => execution.measured_text(i),
        Verdict::Unseen | Verdict::NotAsked | Verdict::Undecided => None,
    };
    let measured = measured.map_or(String::new(), |text| format!(": {text}"));
    format!("{mark}  {}{note}{measured}", check.name)
}

fn write_metrics(execution: &Execution, out: &mut String) -> std::fmt::Result {
    let mut write = |head: &str, metrics: &[(&str, f64, &str)]| {
        if metrics.is_empty() {
            return Ok(());
        }
        writeln!(out, "  {head}")?;
        let width = metrics.iter().map(|(name, ..)| width_of(name)).max().unwrap_or(0);
        for (name, value, unit) in metrics {
            let value = format!("{} {unit}", digits(*value));
            writeln!(out, "    {name:width$}  {}", value.trim_end())?;
        }
        Ok(())
    };
    let judged = execution.judged_metrics().map(|(value, number)| {
        let unit = value.unit.as_deref().filter(|unit| *unit != "1").unwrap_or_default();
        (value.name.as_str(), number, unit)
    });
    write("metrics", &judged.collect::<Vec<_>>())?;
    for (path, report) in &execution.reports {
        let nodes = &execution.program.nodes;
        let kind = nodes.iter().find(|node| node.path == *path).map_or("", |node| node.kind);
        let metrics = report.metrics.iter().map(|one| (one.name.as_str(), one.value, &*one.unit));
        let head = format!("metrics of {path}, see `legwork blocks {kind}`");
        write(&head, &metrics.collect::<Vec<_>>())?;
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

fn write_warnings(run: &Run, out: &mut String) -> std::fmt::Result {
    for (i, line) in warnings(&run.execution).chain(run.unseen.iter().cloned()).enumerate() {
        if i == 0 {
            writeln!(out, "  warnings")?;
        }
        writeln!(out, "    {line}")?;
    }
    Ok(())
}

/// What makes a run doubtful, a line each.
pub(super) fn warnings(execution: &Execution) -> impl Iterator<Item = String> {
    execution.warnings().map(|(block, found)| warning(block, found))
}

/// A warning of the block at a path, a line.
pub(super) fn warning(block: &str, warning: &Warning) -> String {
    let (t, steps) = (seconds(warning.t), counted(warning.steps, "step"));
    let Warning { name, message, .. } = warning;
    format!("{block}: {name} at t={t}, in {steps}: {message}")
}

/// Most dumped problems that are listed.
const MOST_PROBLEMS: usize = 8;

fn write_files(run: &Run, out: &mut String) -> std::fmt::Result {
    let (Some(directory), Some(recording)) = (&run.directory, run.recording_file()) else {
        return Ok(());
    };
    let program = &run.execution.program;
    let rows = match &run.execution.recording {
        Some(Ok(finished)) => {
            let topics = counted(program.log.len() as u64, "signal");
            let bytes = std::fs::metadata(&recording).map_or(0, |file| file.len());
            format!(" ({topics}, {}, {})", counted(finished.row_count, "row"), size(bytes))
        }
        _ => " (not whole)".to_owned(),
    };
    writeln!(out, "  recording  {}{rows}", recording.display())?;
    writeln!(
        out,
        "             as a table: legwork export {} -o {}.csv; as plots: open it in Foxglove or \
         PlotJuggler",
        directory.display(),
        program.name
    )?;
    if let Some((diagram, files)) = run.embedded.split_first() {
        let name = |path: &String| match Path::new(path).file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => path.clone(),
        };
        let mut names: Vec<String> = files.iter().map(name).collect();
        names.dedup();
        let files =
            if names.is_empty() { String::new() } else { format!(", {}", names.join(", ")) };
        writeln!(out, "             with the text of {diagram}{files} (--no-embed leaves it out)")?;
    }
    let mut heading = "problems";
    for path in run.problems.iter().take(MOST_PROBLEMS) {
        writeln!(out, "  {heading:10} {}", path.display())?;
        heading = "";
    }
    if let Some(more) = run.problems.len().checked_sub(MOST_PROBLEMS).filter(|more| *more > 0) {
        writeln!(out, "  {heading:10} and {more} more beside them")?;
    }
    for taken in run.snapshots.iter().filter(|taken| taken.snapshot.is_ok()) {
        let file = directory.join(&taken.name);
        writeln!(
            out,
            "  snapshot   {} (t={}); --resume continues it",
            file.display(),
            seconds(taken.t)
        )?;
    }
    Ok(())
}

/// Aligned columns with two spaces between them: the first `left` to the left, the others to the
/// right. Columns without text are left out. Where a terminal is narrower, the other columns stand
/// in several parts below one another, each behind the first ones.
pub(crate) fn write_table<R: AsRef<[String]>>(
    rows: &[R],
    indent: &str,
    left: usize,
    out: &mut String,
) -> std::fmt::Result {
    write_table_within(console::width(), rows, indent, left, out)
}

fn write_table_within<R: AsRef<[String]>>(
    width: Option<usize>,
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
            *width = width_of(cell).max(*width);
        }
    }
    for (number, part) in parts(&widths, indent.len(), left, width).iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        for row in rows {
            let mut line = indent.to_owned();
            for &column in part {
                let Some(cell) = row.as_ref().get(column) else { continue };
                let width = widths[column];
                if column < left {
                    write!(line, "{cell:<width$}  ")?;
                } else {
                    write!(line, "{cell:>width$}  ")?;
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(())
}

/// The widest column whose cells are padded; formatting panics beyond 65 535.
const MOST_WIDTH: usize = 1000;

/// Padded width of a cell, at most [`MOST_WIDTH`]: longer cells are printed whole.
pub(crate) fn width_of(cell: &str) -> usize {
    cell.chars().take(MOST_WIDTH).count()
}

/// Which columns stand side by side, so that no line is longer than `most`; a part has one column
/// besides the first ones, however long it is.
fn parts(widths: &[usize], indent: usize, left: usize, most: Option<usize>) -> Vec<Vec<usize>> {
    let shown = |column: &usize| widths[*column] > 0;
    let first: Vec<usize> = (0..left.min(widths.len())).filter(shown).collect();
    let length = |part: &[usize]| -> usize {
        indent + part.iter().map(|column| widths[*column] + 2).sum::<usize>()
    };
    let mut parts = vec![first.clone()];
    for column in (left..widths.len()).filter(shown) {
        let last = parts.len() - 1;
        let is_long = most.is_some_and(|most| length(&parts[last]) + widths[column] > most);
        if is_long && parts[last].len() > first.len() {
            parts.push(first.clone());
        }
        if let Some(part) = parts.last_mut() {
            part.push(column);
        }
    }
    parts
}

/// What several runs at a time do to times; nothing is to be said of one.
pub(crate) fn note_of_jobs(at_a_time: usize) -> Option<String> {
    (at_a_time > 1).then(|| {
        format!("{at_a_time} runs at a time share this machine; --jobs 1 times them undisturbed")
    })
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
    fn a_table_is_no_wider_than_the_terminal_and_keeps_every_cell() {
        let words = |count: usize| (0..count).map(|i| "x".repeat(i % 7 + 1)).collect::<Vec<_>>();
        let rows: Vec<Vec<String>> = vec![words(14), words(14), words(12)];
        let text = |width: Option<usize>| {
            let mut out = String::new();
            write_table_within(width, &rows, "  ", 2, &mut out).expect("a string takes all");
            out
        };
        assert_eq!(text(None).lines().count(), 3);
        assert_eq!(text(None), text(Some(200)));
        let cells = |text: &str| text.split_whitespace().count();
        for width in 20..80 {
            let narrow = text(Some(width));
            assert!(narrow.lines().all(|line| line.chars().count() <= width), "{width}\n{narrow}");
            // Every part has the two first columns of three rows.
            let parts = narrow.split("\n\n").count();
            assert_eq!(cells(&narrow), cells(&text(None)) + (parts - 1) * 6, "{width}\n{narrow}");
        }
        assert_eq!(text(Some(1)).split("\n\n").count(), 12);
    }

    #[test]
    fn sizes_have_a_unit() {
        assert_eq!(size(999), "999 bytes");
        assert_eq!(size(1_234_567), "1.235 MB");
    }
}
