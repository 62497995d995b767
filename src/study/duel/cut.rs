//! The worst disagreement as a small problem file.

use std::path::{Path, PathBuf};

use legwork_qp::{NamedProblem, Problem, problem_file};

use super::Duel;
use super::judge::{self, Disagreement};
use super::shrink::shrink_while;
use super::solvers::{self, DuelSolver};
use crate::error::Error;
use crate::files;

/// A problem that was cut small.
#[derive(Debug)]
pub struct Cut {
    /// Where it was written.
    pub file: PathBuf,
    /// Index of the dispute.
    pub dispute: usize,
    /// Unknowns before and after.
    pub unknowns: (usize, usize),
    /// How the two solvers differ on it.
    pub disagreement: Disagreement,
}

/// Leaves out of the problem of the worst dispute what does not matter to it, and writes the rest
/// to `file`; nothing if no pair differs beyond the tolerance.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn cut(outcome: &Duel, file: &Path) -> Result<Option<Cut>, Error> {
    if outcome.disagreements() == 0 {
        return Ok(None);
    }
    let dispute = &outcome.table.disputes[0];
    let given = &outcome.given[dispute.problem];
    let whole = &given.problem.problem;
    let (a, b) = dispute.solvers;
    let make = |solver: usize| solvers::make(&outcome.solvers[solver]);
    let (Some(mut first), Some(mut second)) = (make(a), make(b)) else { return Ok(None) };
    let mut differ = |problem: &Problem| between(&mut *first, &mut *second, problem);
    let small = shrink_while(whole, &mut |problem| {
        is_of_kind(differ(problem), dispute.disagreement, outcome.tolerance)
    });
    let disagreement = differ(&small);
    let origin = format!(
        "cut from {} by legwork duel: {} and {} differ: {}",
        given.problem.name,
        outcome.solvers[a],
        outcome.solvers[b],
        describe(disagreement),
    );
    let named = NamedProblem::new(format!("{} cut small", given.title), origin, small);
    files::write(file, problem_file::write(&named))?;
    Ok(Some(Cut {
        file: file.to_owned(),
        dispute: 0,
        unknowns: (whole.dim(), named.problem.dim()),
        disagreement,
    }))
}

fn between(
    first: &mut dyn DuelSolver,
    second: &mut dyn DuelSolver,
    problem: &Problem,
) -> Disagreement {
    judge::disagreement(problem, &first.solve(problem), &second.solve(problem))
}

/// Whether a smaller problem still shows what the whole one does: an answer against none stays
/// that, and a distance stays beyond the tolerance.
fn is_of_kind(found: Disagreement, whole: Disagreement, tolerance: f64) -> bool {
    match (found, whole) {
        (Disagreement::Distance(_), Disagreement::Distance(_)) => found.size() > tolerance,
        _ => found == whole,
    }
}

/// How two answers differ, in words.
pub fn describe(disagreement: Disagreement) -> String {
    match disagreement {
        Disagreement::NotComparable => "not comparable".to_owned(),
        Disagreement::Contradiction => "an answer against none".to_owned(),
        Disagreement::Failure => "an answer against a failure".to_owned(),
        Disagreement::None => "the same".to_owned(),
        Disagreement::Distance(_) => match disagreement.size() {
            0.0 => "0 apart".to_owned(),
            size if size.is_nan() => "- apart".to_owned(),
            size if size.is_finite() => format!("{size:.1e} apart"),
            size => format!("{size} apart"),
        },
    }
}
