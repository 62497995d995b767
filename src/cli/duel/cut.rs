//! The worst disagreement as a small problem file.

use std::path::{Path, PathBuf};

use legwork_qp::duel::{self, Dimensions, Disagreement, DuelSolver, shrink_while};
use legwork_qp::{NamedProblem, Problem, problem_file};

use super::super::answer::Failure;
use super::{Outcome, text};

/// A problem that was cut small.
pub(super) struct Cut {
    /// Where it was written.
    pub(super) file: PathBuf,
    /// Index of the dispute.
    pub(super) dispute: usize,
    /// Unknowns before and after.
    pub(super) unknowns: (usize, usize),
    /// How the two solvers differ on it.
    pub(super) disagreement: Disagreement,
}

/// Leaves out of the problem of the worst dispute what does not matter to it, and writes the rest to
/// `file`; nothing if no pair differs beyond the tolerance.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn cut(outcome: &Outcome, file: &Path) -> Result<Option<Cut>, Failure> {
    if outcome.disagreements() == 0 {
        return Ok(None);
    }
    let dispute = &outcome.table.disputes[0];
    let given = &outcome.given[dispute.problem];
    let whole = &given.problem.problem;
    let (a, b) = dispute.solvers;
    let make = |solver: usize| duel::make(&outcome.solvers[solver], Dimensions::of(whole)).ok();
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
        text::of_disagreement(disagreement),
    );
    let named = NamedProblem::new(format!("{} cut small", given.title), origin, small);
    std::fs::write(file, problem_file::write(&named))
        .map_err(|error| Failure::usage(format!("cannot write `{}`: {error}", file.display())))?;
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
    duel::disagreement(problem, &first.solve(problem), &second.solve(problem))
}

/// Whether a smaller problem still shows what the whole one does: an answer against none stays that,
/// and a distance stays beyond the tolerance.
fn is_of_kind(found: Disagreement, whole: Disagreement, tolerance: f64) -> bool {
    match (found, whole) {
        (Disagreement::Distance(_), Disagreement::Distance(_)) => found.size() > tolerance,
        _ => found == whole,
    }
}
