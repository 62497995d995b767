//! `StateSpace`: a linear system in continuous time.

use legwork_block::{
    Block, ContinuousState, DerivativeCx, Dim, Manifold, Outcome, OutputCx, Parameters, Ports,
    Sizes, Slope, SlopesCx, Type, Written, block,
};

use crate::signal::linear::linear_system;

linear_system! {
    /// A linear system: `ẋ = A x + B u`, `y = C x + D u`, `x(0) = initial`.
    ///
    /// The input feeds through only if D is not zero. Products have a fixed order of sums and no
    /// fused operations.
    StateSpace, continuous
}

/// The states, which the solver of the run advances.
fn continuous(ports: &mut Ports<'_>, order: usize) {
    let states = Manifold::Euclidean(Dim::fixed(order));
    ports.continuous_state(ContinuousState::First(vec![states]));
}

#[block]
impl Block for StateSpace {
    fn initial(&self, plan: &Self::Plan, _: &Sizes<'_>, x: &mut [f64]) {
        x.copy_from_slice(&plan.initial);
    }

    fn starting_at(&self, _: &Self::Plan, at: &[f64], _: &[Type]) -> Option<Parameters> {
        Some(vec![("initial", Written::list(at))])
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let inputs = cx.inputs;
        plan.system.output(cx.x, || inputs.get(plan.u).leaf(0), cx.outputs.get(plan.y));
        Ok(())
    }

    fn derivative(&self, plan: &Self::Plan, cx: &mut DerivativeCx<'_, Self>) -> Outcome {
        plan.system.next(cx.x, cx.inputs.get(plan.u).leaf(0), cx.rate);
        Ok(())
    }

    fn output_slopes(&self, plan: &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let y = cx.slopes.rows(plan.y, 0);
        cx.slopes.matrix(y, cx.slopes.state(), plan.system.c(), 1.0);
        cx.slopes.matrix(y, cx.slopes.columns(plan.u, 0), plan.system.d(), 1.0);
        Slope::Exact
    }

    fn rate_slopes(&self, plan: &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let rates = cx.slopes.rates();
        cx.slopes.matrix(rates, cx.slopes.state(), plan.system.a(), 1.0);
        cx.slopes.matrix(rates, cx.slopes.columns(plan.u, 0), plan.system.b(), 1.0);
        Slope::Exact
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
