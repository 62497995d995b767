//! `Solve`: closes an algebraic loop.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Inputs, Invalid, Outcome, Outputs, PortUnit, Ports, Pure, SolveRule, block, parameters,
    ports,
};

use crate::signal::shape;
use crate::solvers::on_fail::OnFail;

/// Closes an algebraic loop: finds z with `u(z) = z`. The loop computes the input u from the
/// output z.
///
/// The search begins with the solution of the previous major step, which is state (`initial` at
/// t = 0). Continuous loops are solved in minor steps too. Several `Solve` blocks in one loop are
/// solved together, with their smallest `tol` and `limit` and the `on_fail` of the first by path.
///
/// 1. Newton's method on `u(z) − z`, with a Jacobian of difference quotients and a line search. An
///    iteration with n unknown numbers computes the blocks of the loop n + 1 times.
/// 2. If that stalls or reaches `limit`: for one number, a search for a change of sign of `u − z`,
///    and for a place where it touches zero, in both directions and over all sizes; for several
///    numbers, pseudo-transient continuation, then each number by its own equation. This costs some
///    hundred computations of the loop.
///
/// If u is not finite at the start, other starts are tried: zero, and distances that grow by 2 %.
///
/// Saturations, `tanh`, `atan`, dead zones and friction are therefore solved from any start. z is a
/// solution if, for every number, `|u − z|` and the next correction of z are at most `tol` times
/// the larger of |z| and |u|. At the limit of rounding, or at a multiple root,
/// `|u − z| ≤ tol (1 + |z|)` is enough, with a correction of at most `√tol (1 + |z|)`. The sign of
/// `u − z` may change between two adjacent floating-point numbers if a law is steep. Then the
/// better one is the solution, unless the law jumps there.
///
/// A loop may have several solutions; the start of the search selects one. A loop without a
/// solution is a failure, reported with the smallest `|u − z|` that was found. An example is a law
/// that jumps over its solution, such as `sign` in Coulomb friction that sticks: the message then
/// names both sides of the jump. A block that refuses a z of the search ends the search only if
/// nothing else is found.
#[ports(
    |ty: Any, unit: &PortUnit|
    in  u: ty.clone() as Any, unit.clone(), "what the loop makes of `y`",
        shape "numbers of any shape", units "any";
    feeds();
    out y: ty as Any, unit.clone(), "the solution", shape "that of `u`", units "that of `u`";
)]
#[parameters(aliases("algebraic loop", "algebraic constraint", "Newton"))]
pub struct Solve {
    /// Tolerance: largest `|u − z|` of a solution, relative to the larger of |z| and |u| [1].
    #[default = 1e-10]
    pub tol: f64,
    /// Largest number of iterations of Newton's method.
    #[default = 20]
    pub limit: u32,
    /// z at t = 0: a number, a list for a vector, a list of rows for a matrix [unit of u]; default
    /// zeros of the type of `u`. It tells the type, where nothing else in the loop does.
    pub initial: Option<Tensor>,
    /// What to do without a solution; default Stop.
    #[default]
    pub on_fail: OnFail,
}

#[block]
impl Pure for Solve {
    fn plan(&self, ports: &mut Ports<'_>) -> Result<SolvePorts, Invalid> {
        if !(self.tol > 0.0 && self.tol < 1.0) {
            let message = format!("expected a tolerance above 0 and below 1, found {}", self.tol);
            return Err(Invalid::parameter("tol", message));
        }
        if self.limit == 0 {
            return Err(Invalid::parameter("limit", "expected one iteration at least, found 0"));
        }
        let (ty, unit) = shape::like(self.initial.as_ref(), ports)?;
        let io = self.declare(ports, ty, &unit);
        ports.solves(SolveRule {
            tolerance: self.tol,
            limit: self.limit,
            initial: self.initial.as_ref().map_or(Vec::new(), |initial| initial.data().to_vec()),
            on_fail: self.on_fail.into(),
        });
        Ok(io)
    }

    /// The engine writes the output.
    fn output(&self, _: &SolvePorts, _: &Inputs<'_>, _: &mut Outputs<'_>) -> Outcome {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{block, refusal};

    #[test]
    fn a_tolerance_lies_between_zero_and_one_and_a_limit_is_not_zero() {
        let wrong: Solve = block(json!({ "tol": 0.0 }));
        assert_eq!(refusal(wrong, &[]), "expected a tolerance above 0 and below 1, found 0");
        let wrong: Solve = block(json!({ "limit": 0 }));
        assert_eq!(refusal(wrong, &[]), "expected one iteration at least, found 0");
    }
}
