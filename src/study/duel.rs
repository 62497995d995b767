//! Dumped problems through several solvers, one judge, the worst disagreement cut small.
//!
//! ```text
//! files ──problems──► problems ──qp::duel::run──► table ──► report
//!                                                   └─ worst dispute ──cut──► a small problem file
//! ```

mod cut;
mod problems;
mod report;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Instant;

use legwork_block::{Severity, nearest};
use legwork_qp::duel::{self, DuelSolver};
use serde_json::{Map, Value};

pub use cut::{Cut, describe};
pub use legwork_qp::Status;
pub use legwork_qp::duel::{
    BELIEVED_RESIDUAL, Cell, Dimensions, Disagreement, Dispute, Score, Table,
};
pub use problems::Given;

use crate::error::Error;
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
    let mut solvers = make(&names, &given);
    let named: Vec<_> = given.iter().map(|one| one.problem.clone()).collect();
    let repeats = request.repeats.get();
    let start = Instant::now();
    let table = duel::run(&named, &mut solvers, repeats, &mut || start.elapsed().as_secs_f64());
    let mut outcome = Duel { given, solvers: names, table, tolerance, repeats, cut: None };
    if let Some(file) = &request.shrink {
        outcome.cut = cut::cut(&outcome, file)?;
    }
    Ok(Ok(outcome))
}

/// The solvers asked for, all if none is.
fn names(asked: &[String]) -> Result<Vec<String>, Error> {
    let known = duel::solver_names();
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

/// Solvers with memory for all the problems.
fn make(names: &[String], given: &[Given]) -> Vec<Box<dyn DuelSolver>> {
    let sizes = given.iter().map(|one| Dimensions::of(&one.problem.problem));
    let most = sizes.fold(Dimensions::default(), Dimensions::max);
    // The names have been looked up, so none is lost here.
    names.iter().filter_map(|name| duel::make(name, most).ok()).collect()
}
