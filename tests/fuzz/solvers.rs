//! Random contact problems: all solvers agree in what the problem determines.

use std::num::NonZeroU32;

use legwork_qp::problem_file::write;
use legwork_qp::problems::{random_definite, rigid_body};
use legwork_qp::{Cone, ConeShape, NamedProblem, Problem, PyramidFit};
use legwork_study::duel::{Disagreement, Dispute, DuelRequest, Status, duel};

use crate::mutate::Random;
use crate::{Target, folder};

/// Random problems through a duel.
pub(crate) struct Solvers;

impl Target for Solvers {
    fn input(&self, random: &mut Random) -> Vec<u8> {
        let cone = match random.below(4) {
            0 => Cone::Circular,
            1 => Cone::Pyramid { sides: 8, fit: PyramidFit::Inscribed },
            2 => Cone::Pyramid { sides: 4, fit: PyramidFit::Circumscribed },
            _ => Cone::Pyramid { sides: 4, fit: PyramidFit::Inscribed },
        };
        let cone = ConeShape::new(cone).unwrap();
        let (seed, count) = (random.next(), 1 + random.below(6));
        let mut problem = match random.below(2) {
            0 => random_definite(seed, count, cone),
            _ => rigid_body(seed, count, cone, random.once_in(3)),
        };
        // Redundant contacts have one solution with a small compliance.
        problem.compliance.fill(1e-7);
        // A ground that yields to no force: no solution, or zero.
        if random.once_in(6) {
            problem.inverse_inertia.fill(0.0);
            problem.compliance.fill(0.0);
            problem.regularisation = 0.0;
        }
        let named = NamedProblem::new("random", "tests/fuzz", Problem::Contact(problem));
        write(&named).into_bytes()
    }

    fn run(&self, input: &[u8], _: &mut Random) -> Result<&'static str, String> {
        let path = folder().join(format!("random-{}.json", std::process::id()));
        std::fs::write(&path, input).unwrap();
        let request = DuelRequest {
            problems: vec![path],
            solvers: Vec::new(),
            tolerance: None,
            repeats: NonZeroU32::MIN,
            shrink: None,
        };
        let duel = duel(&request);
        std::fs::remove_file(&request.problems[0]).unwrap();
        let duel = duel.map_err(|error| error.to_string())?;
        let duel = duel.map_err(|_| "the problem was refused".to_owned())?;
        // A solver may fail, if it says so; what two of them call solved is the same.
        let is_solved = |dispute: &&Dispute, solver: usize| {
            duel.table.cells[dispute.problem][solver].status == Status::Solved
        };
        let wrong = duel.table.disputes.iter().find(|dispute| {
            let (a, b) = dispute.solvers;
            let contradicts = dispute.disagreement == Disagreement::Contradiction;
            contradicts
                || (is_solved(dispute, a)
                    && is_solved(dispute, b)
                    && dispute.disagreement.size() > duel.tolerance)
        });
        match wrong {
            None if duel.disagreements() > 0 => Ok("agree, and one fails"),
            None => Ok("agree"),
            Some(Dispute { solvers: (a, b), disagreement, .. }) => {
                let (a, b) = (&duel.solvers[*a], &duel.solvers[*b]);
                Err(format!("{a} and {b} disagree: {disagreement:?}"))
            }
        }
    }
}
