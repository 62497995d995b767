//! Solvers of contact problems and of optimisation problems: quadratic and cone programs, linear
//! complementarity problems.
//!
//! All of them have the outputs `status` and `residual`. In `status`:
//!
//! | number | meaning |
//! |---|---|
//! | 0 | solved |
//! | 1 | inaccurate: iterations used up, or the tolerance missed, but the residual is accepted |
//! | 2 | iteration limit |
//! | 3 | infeasible |
//! | 4 | unbounded |
//! | 5 | numerical trouble |
//! | 6 | invalid data |
//! | 7 | cone not supported |
//! | 8 | undecided |
//! | 9 | H is not symmetric; both triangles are read |
//! | 10 | H is not positive semidefinite |
//!
//! The statuses 0 to 4 are confirmed by the optimality conditions or by a certificate, in the
//! problem's own units; an answer without confirmation gets another status. Bounds of at least 1e20
//! in size are infinite.
//!
//! What happens to a problem that is not solved says `on_fail`, in the same words everywhere:
//! `Stop`, `HoldLast(max: 5)`, `Zero`, and `Fallback(…)` where there is another way to solve it.
//!
//! Each can be named as the solver of a block that needs one or has one of its own:
//! `needs: { "solve": Use("qp") }`, or `needs: { "solve": Qp(on_fail: Zero) }`.
//!
//! | problem | of | solvers |
//! |---|---|---|
//! | contact forces | `CoulombContact`, `FreeBodies`, `Impact`, `CoulombLcp` | contact solvers |
//! | complementarity | `NoSlipLcp` | `Lcp` |
//! | quadratic program | `CoulombQp`, `NoSlipQp`, pyramids | `Qp`, `ConeProgram` |
//! | program with cones | circular cones | `ConeProgram` |
//!
//! `…Lcp` and `…Qp` are models of `ContactInverseDynamics`, the last two lines methods in forces of
//! `ConstraintSolver`.

mod accelerated_gradient;
mod active_set_qp;
pub(crate) mod called;
mod clarabel_qp;
mod cone_program;
pub(crate) mod contact_solver;
mod coulomb_contact;
mod lcp;
mod lemke;
pub(crate) mod on_fail;
#[cfg(feature = "osqp")]
mod osqp;
mod principal_pivoting;
pub(crate) mod problem_dump;
mod projected_gauss_seidel;
mod qp;
pub(crate) mod state;
mod stewart_trinkle;

use legwork_block::Registry;

pub use accelerated_gradient::AcceleratedGradient;
pub use active_set_qp::ActiveSetQp;
pub use clarabel_qp::ClarabelQp;
pub use cone_program::ConeProgram;
pub use coulomb_contact::CoulombContact;
pub use lcp::{Lcp, LcpMethod};
pub use lemke::Lemke;
#[cfg(feature = "osqp")]
pub use osqp::Osqp;
pub use principal_pivoting::PrincipalPivoting;
pub use projected_gauss_seidel::ProjectedGaussSeidel;
pub use qp::Qp;
pub use stewart_trinkle::StewartTrinkle;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf = r.shelf(
        "solvers",
        "Contact problems, quadratic and cone programs, complementarity problems.",
    );
    shelf.block::<AcceleratedGradient>("AcceleratedGradient(steps: 500)");
    shelf.block::<ActiveSetQp>("ActiveSetQp(on_fail: HoldLast(max: 5))");
    shelf.block::<ClarabelQp>("ClarabelQp(tol: 1e-10)");
    shelf.block::<ConeProgram>("ConeProgram(cones: [3, 3])");
    shelf.block::<CoulombContact>("CoulombContact(passes: 50, tol: 1e-8)");
    shelf.block::<Lcp>("Lcp(method: PrincipalPivoting)");
    shelf.block::<Lemke>("Lemke(on_fail: HoldLast(max: 5))");
    #[cfg(feature = "osqp")]
    shelf.block::<Osqp>("Osqp(tol: 1e-6)");
    shelf.block::<PrincipalPivoting>("PrincipalPivoting(on_fail: HoldLast(max: 5))");
    shelf.block::<ProjectedGaussSeidel>("ProjectedGaussSeidel()");
    shelf.block::<Qp>("Qp(on_fail: HoldLast(max: 5))");
    shelf.block::<StewartTrinkle>("StewartTrinkle(on_fail: HoldLast(max: 5))");
    #[cfg(not(feature = "osqp"))]
    r.absent_block(
        "Osqp",
        "build Legwork with the cargo feature `osqp` (`cargo build --features osqp`), which needs \
         cmake and a C compiler, or take ActiveSetQp or ClarabelQp",
    );
}
