//! Dumped problems through several solvers, one judge, the worst disagreement cut small.
//!
//! ```text
//! files ──problems──► problems ──rounds──► table ──► report
//!                                            └─ worst dispute ──cut──► a small problem file
//! ```
//!
//! Every problem is put before every solver, and one judge, which knows the problem alone, rates
//! the answers. [`Disagreement`] says how far two answers are apart in what the problem determines.

mod cut;
mod judge;
mod problems;
mod report;
mod rounds;
mod shrink;
mod solvers;
mod table;
#[cfg(test)]
mod tests;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Instant;

use legwork_block::{Severity, nearest};
use serde_json::{Map, Value};

pub use cut::{Cut, describe};
pub use judge::{BELIEVED_RESIDUAL, Disagreement};
pub use legwork_qp::Status;
pub use problems::Given;
pub use table::{Cell, Dispute, Score, Table};

use crate::error::Error;
use crate::files;
use crate::findings::Findings;

/// Differences beyond this are a disagreement, unless the request says otherwise: solvers of
/// different kinds stop at gaps and residuals of 1e-10, whose root is what accelerations differ by.
const TOLERANCE: f64 = 1e-4;

/// What is asked of a duel.
#[derive(Debug, Clone)]
pub struct DuelRequest {
    /// Problem files, or directories of them (`*.json`).
    pub problems: Vec<PathBuf>,
    /// Solvers; all that there are if none is named.
    pub solvers: Vec<String>,
    /// Largest relative difference of two answers [1]; without it, 1e-4.
    pub tolerance: Option<f64>,
    /// How often each problem is solved by each solver; times are medians.
    pub repeats: NonZeroU32,
    /// Where to write the problem of the worst disagreement, cut small.
    pub shrink: Option<PathBuf>,
}

/// What came of a duel.
pub struct Duel {
    /// The problems.
    pub given: Vec<Given>,
    /// The solvers.
    pub solvers: Vec<String>,
    /// Answers by problem and solver, scores by solver, disputes from the worst on.
    pub table: Table,
    /// Largest relative difference of two answers [1].
    pub tolerance: f64,
    /// How often each problem was solved by each solver.
    pub repeats: u32,
    /// The problem of the worst disagreement, cut small.
    pub cut: Option<Cut>,
}

impl Duel {
    /// How many of the pairs differ beyond the tolerance; the first ones of the table do.
    pub fn disagreements(&self) -> usize {
        let is_beyond = |dispute: &&Dispute| dispute.disagreement.size() > self.tolerance;
        self.table.disputes.iter().filter(is_beyond).count()
    }

    /// Whether a solver takes the problem.
    pub fn is_taken(&self, problem: usize, solver: usize) -> bool {
        self.table.cells[problem][solver].status != Status::UnsupportedCone
    }

    /// All of it as JSON. Numbers that JSON has not, such as infinite differences, are null.
    pub fn to_json(&self) -> Map<String, Value> {
        report::to_json(self)
    }
}

/// Puts problems before solvers; or what is wrong with the files of the problems.
///
/// # Errors
/// If the request makes no sense, or the small problem cannot be written.
pub fn duel(request: &DuelRequest) -> Result<Result<Duel, Findings>, Error> {
    let names = names(&request.solvers)?;
    let tolerance = request.tolerance.unwrap_or(TOLERANCE);
    if !(tolerance >= 0.0 && tolerance.is_finite()) {
        return Err(Error::request(format!(
            "expected a tolerance of at least 0, found {tolerance}"
        )));
    }
    let (given, findings) = problems::read_all(&request.problems)?;
    if findings.count(Severity::Error) > 0 {
        return Ok(Err(findings));
    }
    if let Some(file) = &request.shrink {
        files::refuse_input(file, given.iter().map(|one| &one.file))?;
    }
    // The names have been looked up, so none is lost here.
    let mut solvers: Vec<_> = names.iter().filter_map(|name| solvers::make(name)).collect();
    let named: Vec<_> = given.iter().map(|one| one.problem.clone()).collect();
    let repeats = request.repeats.get();
    let start = Instant::now();
    let table = rounds::run(&named, &mut solvers, repeats, &mut || start.elapsed().as_secs_f64());
    let mut outcome = Duel { given, solvers: names, table, tolerance, repeats, cut: None };
    if let Some(file) = &request.shrink {
        outcome.cut = cut::cut(&outcome, file)?;
    }
    Ok(Ok(outcome))
}

/// The solvers asked for, all if none is.
fn names(asked: &[String]) -> Result<Vec<String>, Error> {
    let known = solvers::solver_names();
    if asked.is_empty() {
        return Ok(known.iter().map(|name| (*name).to_owned()).collect());
    }
    let mut names: Vec<String> = Vec::with_capacity(asked.len());
    for name in asked.iter().map(|name| name.trim()) {
        if !known.contains(&name) {
            let hint = match nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", known.join(", ")),
            };
            return Err(Error::request(format!("no solver `{name}`; {hint}")));
        }
        if names.iter().any(|other| other == name) {
            return Err(Error::request(format!("the solver `{name}` is named twice")));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}
