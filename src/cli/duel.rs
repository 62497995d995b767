//! `legwork duel`: dumped problems through several solvers.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use legwork_study::Library;
use legwork_study::duel::{
    self, BELIEVED_RESIDUAL, Cell, Duel, DuelRequest, Score, Status, describe,
};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::summary::{counted, seconds, write_table};
use super::{console, diagnostics};

/// Most problems that are shown one by one; JSON has them all.
const MOST_PROBLEMS: usize = 12;
/// Most unknowns of a solution that is shown; JSON has them all.
const MOST_UNKNOWNS: usize = 12;
/// Most disagreements that are listed.
const MOST_DISAGREEMENTS: usize = 24;

/// `legwork duel`.
///
/// Every problem is solved by every solver from a cold start. One judge, which knows the problem
/// alone, rates the answers; two solvers differ if one has an answer and the other none, or if
/// their answers are apart in what the problem determines: contact accelerations, objective, slack.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 all within the tolerance, 1 a file that is no problem, \
                  3 solvers differ, 64 usage.")]
pub(crate) struct DuelArguments {
    /// Problem files, or directories of them (`*.json`).
    #[arg(required = true, value_name = "PROBLEM")]
    pub(crate) problems: Vec<PathBuf>,
    /// Solvers, as in `active_set,clarabel`; all that there are without it.
    #[arg(long, value_name = "NAME[,NAME..]", value_delimiter = ',')]
    pub(crate) solvers: Vec<String>,
    /// Largest relative difference of two answers [default: 1e-4].
    #[arg(long, value_name = "SHARE")]
    pub(crate) tol: Option<f64>,
    /// How often each problem is solved by each solver; times are medians.
    #[arg(long, value_name = "N", default_value = "5")]
    pub(crate) repeat: std::num::NonZeroU32,
    /// Cut the problem of the worst disagreement small and write it here.
    #[arg(long, value_name = "FILE")]
    pub(crate) shrink: Option<PathBuf>,
}

/// Puts problems before solvers.
///
/// # Errors
/// If the command line makes no sense, or the small problem cannot be written.
pub(crate) fn duel(arguments: &DuelArguments, _: &Library) -> Result<Answer, Failure> {
    let request = DuelRequest {
        problems: arguments.problems.clone(),
        solvers: arguments.solvers.clone(),
        tolerance: arguments.tol,
        repeats: arguments.repeat,
        shrink: arguments.shrink.clone(),
    };
    let outcome = match duel::duel(&request)? {
        Ok(outcome) => outcome,
        Err(findings) => {
            diagnostics::say_findings(&findings, "");
            return Ok(Answer::new(Code::Diagram, json!({ "diagnostics": findings.to_json() })));
        }
    };
    console::tell(&text(&outcome, arguments.shrink.is_some()))?;
    let code = if outcome.disagreements() > 0 { Code::Check } else { Code::Success };
    Ok(Answer::new(code, Value::Object(outcome.to_json())))
}

/// The whole text. `asked_to_cut`: a small file was asked for.
fn text(outcome: &Duel, asked_to_cut: bool) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(outcome, asked_to_cut, &mut out);
    out.trim_end().to_owned()
}

fn write_all(outcome: &Duel, asked_to_cut: bool, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "duel: {}, {}, {} of each",
        counted(outcome.given.len() as u64, "problem"),
        counted(outcome.solvers.len() as u64, "solver"),
        counted(outcome.repeats.into(), "solve"),
    )?;
    writeln!(out)?;
    write_scores(outcome, out)?;
    write_problems(outcome, out)?;
    write_disagreements(outcome, out)?;
    match &outcome.cut {
        Some(cut) => writeln!(
            out,
            "\nwrote {}: {} cut to {}, {}",
            cut.file.display(),
            counted(cut.unknowns.0 as u64, "unknown"),
            cut.unknowns.1,
            describe(cut.disagreement),
        ),
        None if asked_to_cut => writeln!(out, "\nnothing to cut small: no file written"),
        None => Ok(()),
    }
}

/// A row a solver, the most accurate first.
fn write_scores(outcome: &Duel, out: &mut String) -> std::fmt::Result {
    let mut rows = vec![
        [
            "solver",
            "accuracy",
            "speed",
            "takes",
            "solved",
            "refuted",
            "residual",
            "worst",
            "iter",
            "most",
            "per solve",
            "differs",
        ]
        .map(str::to_owned),
    ];
    let mut order: Vec<&Score> = outcome.table.scores.iter().collect();
    order.sort_by_key(|score| (score.accepted == 0, score.accuracy_rank));
    for score in order {
        let rank = |rank: usize| if score.accepted > 0 { rank.to_string() } else { none() };
        rows.push([
            score.solver.clone(),
            rank(score.accuracy_rank),
            rank(score.time_rank),
            score.accepted.to_string(),
            score.solved.to_string(),
            score.refuted.to_string(),
            figure(score.median_residual),
            figure(score.worst_residual),
            rank(score.median_iterations as usize),
            rank(score.most_iterations as usize),
            time(score.median_seconds),
            if score.accepted > 0 { figure(score.worst_disagreement) } else { none() },
        ]);
    }
    write_table(&rows, "  ", 1, out)?;
    for score in &outcome.table.scores {
        if score.accepted == 0 {
            writeln!(out, "  {} takes none of these problems", score.solver)?;
        }
        if score.overclaimed > 0 {
            writeln!(
                out,
                "  {} calls {} solved with a residual beyond {BELIEVED_RESIDUAL:.0e}",
                score.solver,
                counted(score.overclaimed as u64, "problem"),
            )?;
        }
        if score.unrepeatable > 0 {
            let problems = counted(score.unrepeatable as u64, "problem");
            writeln!(out, "  {} returns other bits when it repeats {problems}", score.solver)?;
        }
    }
    Ok(())
}

/// The problems with the largest disagreements, a row a solver.
fn write_problems(outcome: &Duel, out: &mut String) -> std::fmt::Result {
    let worst = |problem: &usize| {
        let cells = outcome.table.cells[*problem].iter();
        cells.map(|cell| cell.disagreement).fold(0.0, f64::max)
    };
    let mut shown: Vec<usize> = (0..outcome.given.len()).collect();
    if shown.len() > MOST_PROBLEMS {
        shown.sort_by(|a, b| worst(b).total_cmp(&worst(a)));
        shown.truncate(MOST_PROBLEMS);
    }
    for &problem in &shown {
        let given = &outcome.given[problem];
        writeln!(
            out,
            "\n{} ({}, {})",
            given.problem.name,
            given.problem.problem.kind(),
            counted(given.problem.problem.dim() as u64, "unknown"),
        )?;
        let mut rows =
            vec![["solver", "status", "iter", "residual", "time", "differs"].map(str::to_owned)];
        for (solver, cell) in outcome.solvers.iter().zip(&outcome.table.cells[problem]) {
            rows.push(cell_row(solver, cell));
        }
        write_table(&rows, "  ", 2, out)?;
        write_solution(outcome, problem, out)?;
    }
    if shown.len() < outcome.given.len() {
        let others = outcome.given.len() - shown.len();
        writeln!(out, "\nand {others} problems with smaller differences; --json has all")?;
    }
    Ok(())
}

/// The answer with the least residual.
fn write_solution(outcome: &Duel, problem: usize, out: &mut String) -> std::fmt::Result {
    let answers = outcome.solvers.iter().zip(&outcome.table.cells[problem]);
    let usable = answers.filter(|(_, cell)| cell.status.is_usable());
    let Some((solver, best)) = usable.min_by(|(_, a), (_, b)| a.residual.total_cmp(&b.residual))
    else {
        return Ok(());
    };
    let unknowns = &best.solution[..best.solution.len().min(MOST_UNKNOWNS)];
    let mut shown: Vec<String> = unknowns.iter().map(|x| format!("{x:.6}")).collect();
    if unknowns.len() < best.solution.len() {
        shown.push("…".to_owned());
    }
    writeln!(out, "  solution of {solver}: ({})", shown.join(", "))
}

fn cell_row(solver: &str, cell: &Cell) -> [String; 6] {
    if cell.status == Status::UnsupportedCone {
        let note = "does not take it".to_owned();
        return [solver.to_owned(), note, none(), none(), none(), none()];
    }
    [
        solver.to_owned(),
        of_status(cell.status),
        cell.iterations.to_string(),
        figure(cell.residual),
        time(cell.seconds),
        figure(cell.disagreement),
    ]
}

fn write_disagreements(outcome: &Duel, out: &mut String) -> std::fmt::Result {
    let count = outcome.disagreements();
    let tolerance = figure(outcome.tolerance);
    if count == 0 {
        return writeln!(out, "\nno two solvers differ by more than {tolerance}");
    }
    let pairs = if count == 1 { "pair of answers differs" } else { "pairs of answers differ" };
    writeln!(out, "\n{count} {pairs} by more than {tolerance}")?;
    let mut rows = Vec::new();
    for dispute in &outcome.table.disputes[..count.min(MOST_DISAGREEMENTS)] {
        let (a, b) = dispute.solvers;
        let says = |solver: usize| {
            let status = outcome.table.cells[dispute.problem][solver].status;
            format!("{}: {}", outcome.solvers[solver], of_status(status))
        };
        rows.push([
            outcome.given[dispute.problem].problem.name.clone(),
            says(a),
            says(b),
            describe(dispute.disagreement),
        ]);
    }
    write_table(&rows, "  ", 4, out)?;
    if count > MOST_DISAGREEMENTS {
        writeln!(out, "  and {} more; --json has all", count - MOST_DISAGREEMENTS)?;
    }
    Ok(())
}

fn of_status(status: Status) -> String {
    status.name().replace('_', " ")
}

fn none() -> String {
    "-".to_owned()
}

fn figure(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value.is_nan() => none(),
        value if value.is_finite() => format!("{value:.1e}"),
        value => value.to_string(),
    }
}

fn time(value: f64) -> String {
    if value.is_nan() { none() } else { seconds(value) }
}
