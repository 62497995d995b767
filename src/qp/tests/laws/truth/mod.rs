//! No solver returns a false status, on problems whose outcome is known by construction.

#![allow(clippy::needless_range_loop, reason = "indices are those of the equations")]

mod complementarity;
mod programs;
mod stated;

use std::fmt::Write;

use legwork_qp::complementarity::LemkeProgram;
use legwork_qp::kkt::QpMultipliers;
use legwork_qp::{ClarabelSolver, GeneralActiveSet, Outcome, Status};
use programs::{Case, Truth, case};

/// Number of programs and problems of one run: 200, or as the environment sets it.
pub(crate) fn count() -> u64 {
    std::env::var("LEGWORK_TRUTH_CASES").ok().and_then(|v| v.parse().ok()).unwrap_or(200)
}

/// Outcomes of one solver.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) solved: usize,
    pub(crate) inaccurate: usize,
    pub(crate) refuted: usize,
    pub(crate) failed: usize,
    pub(crate) falsehoods: Vec<String>,
}

impl Tally {
    pub(crate) fn line(&self, name: &str) -> String {
        format!(
            "{name:>12} solved {} inaccurate {} refuted {} failed {} false {}",
            self.solved,
            self.inaccurate,
            self.refuted,
            self.failed,
            self.falsehoods.len()
        )
    }
}

/// Largest residual in base units of a true `Solved`, and of a true `Inaccurate`.
const SOLVED: f64 = 1e-5;
const INACCURATE: f64 = 1e-2;

fn judge(case: &Case, outcome: Outcome, x: &[f64], multipliers: QpMultipliers<'_>, t: &mut Tally) {
    let wrong = |what: &str| Some(format!("{what} {outcome:?}, truth {:?}", case.truth));
    let found = match outcome.status {
        Status::Solved | Status::Inaccurate => {
            let is_solved = outcome.status == Status::Solved;
            *(if is_solved { &mut t.solved } else { &mut t.inaccurate }) += 1;
            let residual = case.residual(x, multipliers.rows, multipliers.bounds);
            let bound = if is_solved { SOLVED } else { INACCURATE };
            // Strong convexity: the error is at most the condition number times the residual.
            let is_certain = is_solved && case.condition < 1e3;
            if case.truth != Truth::Solvable {
                wrong("an answer")
            } else if residual > bound {
                wrong(&format!("residual {residual:.1e}"))
            } else if is_certain && case.error(x) > 1e-3 {
                wrong(&format!("error {:.1e}", case.error(x)))
            } else {
                None
            }
        }
        Status::PrimalInfeasible => {
            t.refuted += 1;
            (case.truth != Truth::Infeasible).then(|| wrong("claim")).flatten()
        }
        Status::Unbounded => {
            t.refuted += 1;
            (case.truth != Truth::Unbounded).then(|| wrong("claim")).flatten()
        }
        Status::MaxIterations | Status::NumericalTrouble | Status::Undecided => {
            t.failed += 1;
            None
        }
        _ => wrong("refused"),
    };
    t.falsehoods.extend(found);
}

fn programs(decades: f64) -> [(&'static str, Tally); 3] {
    let mut tallies = ["active_set", "clarabel", "lemke"].map(|name| (name, Tally::default()));
    let mut active_set = GeneralActiveSet::default();
    let mut clarabel = ClarabelSolver::new(1e-10, 200);
    let mut lemke = LemkeProgram::default();
    for seed in 0..count() {
        let case = case(seed, decades);
        let qp = case.program.view();
        let mut x = vec![0.0; qp.dim()];
        let marked = |tally: &mut Tally, solve: &mut dyn FnMut(&mut Tally)| {
            let before = tally.falsehoods.len();
            solve(tally);
            for one in &mut tally.falsehoods[before..] {
                one.insert_str(0, &format!("seed {seed}, condition {:.0e}: ", case.condition));
            }
        };
        marked(&mut tallies[0].1, &mut |tally| {
            let outcome = active_set.solve(&qp, &mut x);
            judge(&case, outcome, &x, active_set.multipliers(), tally);
        });
        marked(&mut tallies[1].1, &mut |tally| {
            let outcome = clarabel.solve_qp(&qp, &mut x);
            let found = clarabel.multipliers();
            let multipliers = QpMultipliers { rows: found.rows, bounds: found.bounds };
            judge(&case, outcome, &x, multipliers, tally);
        });
        marked(&mut tallies[2].1, &mut |tally| {
            let outcome = lemke.solve(&qp, &mut x);
            judge(&case, outcome, &x, lemke.multipliers(), tally);
        });
    }
    tallies
}

/// The most problems that each solver may leave without an answer, by decades of units.
type Most<const N: usize> = [(f64, [usize; N]); 3];

/// Runs `solve` by decades of units; no status may be false, and no more than `most` problems fail.
pub(crate) fn hold<const N: usize>(
    most: Most<N>,
    solve: impl Fn(f64) -> [(&'static str, Tally); N],
) {
    let (mut text, mut is_held) = (String::new(), true);
    for (decades, most) in most {
        for ((name, tally), most) in solve(decades).iter().zip(most) {
            writeln!(text, "1e±{decades} {} of at most {most}", tally.line(name)).unwrap();
            for one in &tally.falsehoods {
                writeln!(text, "    {name}: {one}").unwrap();
            }
            is_held &= tally.falsehoods.is_empty() && tally.failed <= most * count() as usize / 200;
        }
    }
    assert!(is_held, "{text}");
}

#[test]
fn no_status_of_a_program_is_false() {
    hold([(0.0, [6, 5, 2]), (3.0, [8, 6, 8]), (6.0, [9, 7, 20])], programs);
}
