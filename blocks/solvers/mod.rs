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

pub(crate) mod called;
mod cone_program;
pub(crate) mod contact_solver;
mod coulomb_contact;
mod lcp;
pub(crate) mod on_fail;
pub(crate) mod problem_dump;
mod qp;
pub(crate) mod state;

use legwork_block::Registry;

pub use cone_program::ConeProgram;
pub use contact_solver::ContactSolver;
pub use coulomb_contact::CoulombContact;
pub use lcp::{Lcp, LcpMethod};
pub use qp::Qp;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf = r.shelf(
        "solvers",
        "Contact problems, quadratic and cone programs, complementarity problems.",
    );
    shelf.block::<ConeProgram>("ConeProgram(cones: [3, 3])");
    shelf.block::<CoulombContact>("CoulombContact(passes: 50, tol: 1e-8)");
    shelf.block::<Lcp>("Lcp(method: PrincipalPivoting)");
    shelf.block::<Qp>("Qp(on_fail: HoldLast(max: 5))");
    contact_solver::register(&mut shelf);
    contact_solver::register_choices(r);
    #[cfg(not(feature = "osqp"))]
    r.absent_block(
        "Osqp",
        "build Legwork with the cargo feature `osqp` (`cargo build --features osqp`), which needs \
         cmake and a C compiler, or take ActiveSetQp or ClarabelQp",
    );
}
