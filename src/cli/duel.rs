//! `legwork duel`: dumped problems through several solvers, one judge, the worst disagreement cut
//! small.
//!
//! ```text
//! files ──problems──► problems ──qp::duel::run──► table ──► text, report
//!                                                   └─ worst dispute ──cut──► a small problem file
//! ```

mod cut;
mod problems;
mod report;
mod text;

use std::num::NonZeroU32;
use std::time::Instant;

use legwork_block::{Severity, nearest};
use legwork_qp::duel::{self, Dimensions, DuelSolver, Table};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::DuelArguments;
use super::console;
use cut::Cut;
use problems::Given;

/// Differences beyond this are a disagreement, unless the command line says otherwise: solvers of
/// different kinds stop at gaps and residuals of 1e-10, whose root is what accelerations differ by.
const TOLERANCE: f64 = 1e-4;

/// Everything that came of a duel.
struct Outcome {
    given: Vec<Given>,
    solvers: Vec<String>,
    table: Table,
    tolerance: f64,
    repeats: u32,
    cut: Option<Cut>,
}

impl Outcome {
    /// How many of the pairs differ beyond the tolerance; the first ones of the table do.
    fn disagreements(&self) -> usize {
        let is_beyond = |dispute: &&duel::Dispute| dispute.disagreement.size() > self.tolerance;
        self.table.disputes.iter().filter(is_beyond).count()
    }

    /// Whether a solver takes the problem.
    fn is_taken(&self, problem: usize, solver: usize) -> bool {
        self.table.cells[problem][solver].status != legwork_qp::Status::UnsupportedCone
    }
}

/// Puts problems before solvers.
///
/// # Errors
/// If the command line makes no sense, or the small problem cannot be written.
pub(crate) fn duel(arguments: &DuelArguments) -> Result<Answer, Failure> {
    let names = names(&arguments.solvers)?;
    let tolerance = arguments.tol.unwrap_or(TOLERANCE);
    if !(tolerance >= 0.0 && tolerance.is_finite()) {
        return Err(Failure::usage(format!(
            "expected --tol with a number of at least 0, found {tolerance}"
        )));
    }
    let (given, findings) = problems::read_all(&arguments.problems)?;
    if findings.count(Severity::Error) > 0 {
        findings.say();
        return Ok(Answer::new(Code::Diagram, json!({ "diagnostics": findings.to_json() })));
    }
    let mut solvers = make(&names, &given);
    let named: Vec<_> = given.iter().map(|one| one.problem.clone()).collect();
    let repeats = NonZeroU32::get(arguments.repeat);
    let start = Instant::now();
    let table = duel::run(&named, &mut solvers, repeats, &mut || start.elapsed().as_secs_f64());
    let mut outcome = Outcome { given, solvers: names, table, tolerance, repeats, cut: None };
    if let Some(file) = &arguments.shrink {
        outcome.cut = cut::cut(&outcome, file)?;
    }
    console::say(&text::of(&outcome, arguments.shrink.is_some()));
    let code = if outcome.disagreements() > 0 { Code::Check } else { Code::Success };
    Ok(Answer::new(code, Value::Object(report::to_json(&outcome))))
}

/// The solvers asked for, all if none is.
fn names(asked: &[String]) -> Result<Vec<String>, Failure> {
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
            return Err(Failure::usage(format!("no solver `{name}`; {hint}")));
        }
        if names.iter().any(|other| other == name) {
            return Err(Failure::usage(format!("the solver `{name}` is named twice")));
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
