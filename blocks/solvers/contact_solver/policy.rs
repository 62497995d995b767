//! What happens when a contact solver does not solve.

use super::ContactSolver;
use crate::solvers::on_fail::OnFailOr;
use crate::solvers::problem_dump::Dump;
use crate::solvers::state::Policy;

/// What to do when a contact solver does not solve.
pub(crate) type OnFail = OnFailOr<Box<ContactSolver>>;

impl OnFail {
    /// The fallbacks in the order in which they are asked.
    pub(crate) fn fallbacks(&self) -> impl Iterator<Item = &ContactSolver> {
        fn next(on_fail: &OnFail) -> Option<&ContactSolver> {
            on_fail.fallback().map(|solver| &**solver)
        }
        std::iter::successors(next(self), |last| next(last.on_fail()))
    }

    /// What a solver block of this kind does with its problems.
    pub(crate) fn policy(&self, block: &'static str, dump: Dump) -> Policy {
        let last = self.fallbacks().last().map_or(self, ContactSolver::on_fail);
        Policy { block, noun: "contact problem", on_fail: last.last_resort(), dump }
    }
}
