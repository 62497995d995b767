//! Every problem before every solver.

use legwork_qp::{NamedProblem, Status};

use super::judge::{disagreement, has_point, judge};
use super::solvers::{Answer, DuelSolver};
use super::table::{Cell, Dispute, Table, median};

/// Every solver on every problem, `repeats` times (at least once) each.
///
/// `seconds` returns the time since any fixed point [s]; the time of a solve is the median of its
/// repeats. The first solve of a problem pays for memory that later ones reuse. A repeat that
/// returns other bits than the first is counted: no solver may do that.
///
/// Apart from the times, equal problems and solvers give equal tables.
pub(super) fn run(
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
                seconds: median(&mut times),
                differing_repeats,
                disagreement: 0.0,
                solution: if has_point(&answer) { answer.x.clone() } else { Vec::new() },
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
