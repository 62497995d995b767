//! Comparison of solvers on the same problems.
//!
//! [`run`] puts every problem before every solver and lets one judge, which knows the problem
//! alone, rate the answers; [`Disagreement`] says how far two answers are apart in what the problem
//! determines; [`shrink`] reduces a problem as long as a disagreement remains.
//!
//! `legwork duel` does this with problem files from the command line.
//!
//! The library reads no clock: the caller passes one.

mod judge;
mod shrink;
mod solvers;
mod table;

pub use judge::{BELIEVED_RESIDUAL, Disagreement, disagreement, judge, worst_disagreement};
pub use shrink::{shrink, shrink_while};
pub use solvers::{Answer, Dimensions, DuelSolver, UnknownSolver, make, solver_names};
pub use table::{Cell, Dispute, Score, Table};

use crate::problem_data::NamedProblem;
use crate::status::Status;

/// Every solver on every problem, `repeats` times (at least once) each.
///
/// `seconds` returns the time since any fixed point [s]; the time of a solve is the median of its
/// repeats. The first solve of a problem pays for memory that later ones reuse. A repeat that
/// returns other bits than the first is counted: no solver may do that.
///
/// Apart from the times, equal problems and solvers give equal tables.
pub fn run(
    problems: &[NamedProblem],
    solvers: &mut [Box<dyn DuelSolver>],
    repeats: u32,
    seconds: &mut dyn FnMut() -> f64,
) -> Table {
    let mut cells = Vec::with_capacity(problems.len());
    let mut disputes = Vec::new();
    for (problem, named) in problems.iter().enumerate() {
        let mut answers = Vec::with_capacity(solvers.len());
        let mut row = Vec::with_capacity(solvers.len());
        for solver in solvers.iter_mut() {
            let mut times = Vec::new();
            let mut first: Option<Answer> = None;
            let mut differing_repeats = 0;
            for _ in 0..repeats.max(1) {
                let start = seconds();
                let answer = solver.solve(&named.problem);
                times.push(seconds() - start);
                match &first {
                    None => first = Some(answer),
                    Some(first) if !first.has_bits_of(&answer) => differing_repeats += 1,
                    Some(_) => {}
                }
            }
            let answer = first.unwrap_or_else(|| Answer::refused(Status::InvalidData));
            row.push(Cell {
                status: answer.outcome.status,
                iterations: answer.outcome.iterations,
                residual: judge(&named.problem, &answer),
                seconds: table::median(&mut times),
                differing_repeats,
                disagreement: 0.0,
            });
            answers.push(answer);
        }
        // A solver's disagreement is the largest with any other.
        for i in 0..answers.len() {
            for j in 0..i {
                let found = disagreement(&named.problem, &answers[i], &answers[j]);
                let size = found.size();
                row[i].disagreement = row[i].disagreement.max(size);
                row[j].disagreement = row[j].disagreement.max(size);
                if size > 0.0 {
                    disputes.push(Dispute { problem, solvers: (j, i), disagreement: found });
                }
            }
        }
        cells.push(row);
    }
    let names = solvers.iter().map(|solver| solver.name()).collect();
    let problems = problems.iter().map(|named| named.name.clone()).collect();
    Table::new(names, problems, cells, disputes)
}
