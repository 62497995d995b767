//! `DiscreteStateSpace`: a linear system of samples.

use legwork_block::{
    Block, Outcome, OutputCx, Parameters, Ports, RateRule, Sizes, Type, UpdateCx, Written, block,
};

use crate::signal::linear::linear_system;

linear_system! {
    /// A discrete linear system: `x[k+1] = A x[k] + B u[k]`, `y[k] = C x[k] + D u[k]`.
    /// `x[0] = initial`.
    ///
    /// The input feeds through only if D is not zero. The period is stated with `every:` or
    /// inherited from a discrete input; the matrices are those of this period.
    DiscreteStateSpace, sampled
}

/// The states, which `update` advances.
fn sampled(ports: &mut Ports<'_>, _: usize) {
    ports.rate(RateRule::Sampled);
}

#[block]
impl Block for DiscreteStateSpace {
    /// x.
    type State = Vec<f64>;
    /// The next x.
    type Scratch = Vec<f64>;

    fn state(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Vec<f64> {
        plan.initial.clone()
    }

    fn numbers(&self, _: &Self::Plan, state: &Vec<f64>) -> Vec<f64> {
        state.clone()
    }

    fn set_numbers(&self, _: &Self::Plan, state: &mut Vec<f64>, numbers: &[f64]) {
        state.copy_from_slice(numbers);
    }

    fn starting_at(&self, _: &Self::Plan, at: &[f64], _: &[Type]) -> Option<Parameters> {
        Some(vec![("initial", Written::list(at))])
    }

    fn scratch(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Vec<f64> {
        plan.initial.clone()
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let inputs = cx.inputs;
        plan.system.output(cx.state, || inputs.get(plan.u).leaf(0), cx.outputs.get(plan.y));
        Ok(())
    }

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        plan.system.next(cx.state, cx.inputs.get(plan.u).leaf(0), cx.scratch);
        cx.state.copy_from_slice(cx.scratch);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    /// A = [1 1; 1 0] gives the Fibonacci numbers, exact as doubles up to 2⁵³.
    #[test]
    fn the_state_is_the_power_of_the_matrix() {
        let system: DiscreteStateSpace = block(json!({
            "a": [[1, 1], [1, 0]], "b": [0, 0], "c": [0, 1], "initial": [1, 0],
        }));
        let mut bench = Bench::new(system, &[Type::Real]).expect("a system");
        let seen = bench.samples(&[0.0; 10]);
        assert_eq!(seen, [0.0, 1.0, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0]);
    }

    /// x⁺ = x/2 + u from rest: the impulse response 0, 1, 1/2, 1/4, and D adds the input.
    #[test]
    fn the_impulse_response_is_that_of_the_markov_parameters() {
        let system: DiscreteStateSpace = block(json!({ "a": 0.5, "b": 1, "c": 3, "d": 7 }));
        let mut bench = Bench::new(system, &[Type::Real]).expect("a system");
        let seen = bench.samples(&[1.0, 0.0, 0.0, 0.0]);
        assert_eq!(seen, [7.0, 3.0, 1.5, 0.75]);
    }
}
