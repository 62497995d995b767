//! `Solve`: closes an algebraic loop by Newton's method.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Inputs, Invalid, Outcome, Outputs, PortUnit, Ports, Pure, SolveRule, block, parameters,
    ports,
};

use crate::signal::shape;
use crate::solvers::on_fail::OnFail;

/// Closes an algebraic loop by Newton's method: finds z with `u(z) = z`. The loop computes the
/// input u from the output z.
///
/// Newton's method on `u(z) − z` with a Jacobian of difference quotients: one iteration computes
/// the blocks of the loop once for each number of z and once more. It begins with the solution of
/// the major step before, which is state (`initial` at t = 0), and ends when
/// `|u − z| ≤ tol (1 + |z|)` for every number. Continuous loops are solved in minor steps too.
/// Several `Solve` blocks in one loop are solved together, with the smallest `tol` and `limit` of
/// them and the `on_fail` of the first by path.
///
/// A loop may have several solutions or none; which one is found depends on where it begins.
#[ports(
    |ty: Any, unit: &PortUnit|
    in  u: ty.clone() as Any, unit.clone(), "what the loop makes of `y`",
        shape "numbers of any shape", units "any";
    feeds();
    out y: ty as Any, unit.clone(), "the solution", shape "that of `u`", units "that of `u`";
)]
#[parameters(aliases("algebraic loop", "algebraic constraint", "Newton"))]
pub struct Solve {
    /// Largest `|u − z| / (1 + |z|)` of a solution [1].
    #[default = 1e-10]
    pub tol: f64,
    /// Most iterations.
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
