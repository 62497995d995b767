//! `StateSpace`: a linear system in continuous time.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, ContinuousState, DerivativeCx, Dim, Invalid, Manifold, Outcome, OutputCx,
    Parameters, Ports, Sizes, Type, Written, parameters, ports,
};

use crate::signal::linear::{Linear, Matrices};

/// A linear system: `ẋ = A x + B u`, `y = C x + D u`, `x(0) = initial`.
///
/// The input feeds through only if D is not zero. Products have a fixed order of sums and no fused
/// operations.
#[ports(
    |system: &Linear|
    in  u: Any(system.input.clone()), _, "the input",
        shape "number if `b` is a list of n (or a number); vector of m if it has n rows of m",
        units "any";
    let direct = system.feeds_through.then_some(u);
    feeds(direct);
    out y: Any(system.output.clone()), _, "the output",
        shape "number if `c` is a list of n or a number; vector of p for p rows",
        units "not checked";
)]
#[parameters(aliases("LTI", "ABCD"))]
pub struct StateSpace {
    /// A, n rows of n; a number for one state.
    pub a: Tensor,
    /// B: a list of n for an input that is a number, n rows of m for a vector.
    pub b: Tensor,
    /// C: a list of n for an output that is a number, p rows of n for a vector.
    pub c: Tensor,
    /// D, p rows of m; a list where one of them is a number, a number where both are. 0 means zeros
    /// of any shape.
    #[default = 0]
    pub d: Tensor,
    /// State at t = 0: a list of n, or one number for all.
    #[default = 0]
    pub initial: Tensor,
}

/// Ports and matrices of a [`StateSpace`].
pub struct Plan {
    system: Linear,
    initial: Vec<f64>,
    io: StateSpacePorts,
}

impl Block for StateSpace {
    const KIND: &'static str = "StateSpace";
    type Plan = Plan;
    type State = ();
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let system = Linear::new(&Matrices { a: &self.a, b: &self.b, c: &self.c, d: &self.d })?;
        let initial = system.initial(&self.initial)?;
        let states = Manifold::Euclidean(Dim::fixed(system.order));
        ports.continuous_state(ContinuousState::First(vec![states]));
        let io = self.declare(ports, &system);
        Ok(Plan { system, initial, io })
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) {}

    fn scratch(&self, _: &Plan, _: &Sizes<'_>) {}

    fn initial(&self, plan: &Plan, _: &Sizes<'_>, x: &mut [f64]) {
        x.copy_from_slice(&plan.initial);
    }

    fn starting_at(&self, _: &Plan, at: &[f64], _: &[Type]) -> Option<Parameters> {
        Some(vec![("initial", Written::list(at))])
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let inputs = cx.inputs;
        plan.system.output(cx.x, || inputs.get(plan.io.u).leaf(0), cx.outputs.get(plan.io.y));
        Ok(())
    }

    fn derivative(&self, plan: &Plan, cx: &mut DerivativeCx<'_, Self>) -> Outcome {
        plan.system.next(cx.x, cx.inputs.get(plan.io.u).leaf(0), cx.rate);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::integrate::rk4;
    use crate::testing::{Bench, block, refusal};

    /// A rotation at 1 rad/s of (1, 0): x = (cos t, sin t).
    #[test]
    fn a_skew_matrix_turns_its_state() {
        let turn: StateSpace = block(json!({
            "a": [[0, -1], [1, 0]], "b": [0, 0], "c": [[1, 0], [0, 1]], "initial": [1, 0],
        }));
        let mut bench = Bench::new(turn, &[Type::Real]).expect("a system");
        assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
        for k in 0..100 {
            rk4(&mut bench, 0.01 * f64::from(k), 0.01, |_| vec![0.0]);
        }
        let y = bench.y(1.0, &[]);
        assert!((y[0] - libm::cos(1.0)).abs() < 1e-10 && (y[1] - libm::sin(1.0)).abs() < 1e-10);
    }

    #[test]
    fn outputs_and_rates_are_the_products() {
        let system: StateSpace = block(json!({
            "a": [[1, 2], [3, 4]], "b": [[1, 0, 2], [0, 1, 0]], "c": [5, 6], "d": [1, 2, 3],
            "initial": [10, 100],
        }));
        let mut bench = Bench::new(system, &[Type::vector(3)]).expect("a system");
        assert_eq!(bench.y(0.0, &[("u", &[1.0, 2.0, 3.0])]), [650.0 + 14.0]);
        assert_eq!(bench.derivative(0.0), [210.0 + 7.0, 430.0 + 2.0]);
    }

    #[test]
    fn shapes_agree() {
        let system = |b: serde_json::Value, c: serde_json::Value, d: serde_json::Value| {
            let a = json!([[1, 2], [3, 4]]);
            block::<StateSpace>(json!({ "a": a, "b": b, "c": c, "d": d }))
        };
        let message = refusal(system(json!([1, 2, 3]), json!([1, 2]), json!(0)), &[]);
        assert_eq!(message, "expected 2 rows as in `a`, found the shape [3]");
        let message = refusal(system(json!([1, 2]), json!([[1], [2]]), json!(0)), &[]);
        assert_eq!(message, "expected 2 columns as in `a`, found the shape [2, 1]");
        let message = refusal(system(json!([1, 2]), json!([1, 2]), json!([1])), &[]);
        assert!(message.starts_with("expected the shape []"), "{message}");
        let row: StateSpace = block(json!({ "a": [1, 2], "b": 1, "c": 1 }));
        assert_eq!(refusal(row, &[]), "expected a square matrix, found the shape [2]");
    }
}
