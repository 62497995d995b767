//! `DiscreteStateSpace`: a linear system of samples.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, Invalid, Outcome, OutputCx, Parameters, Ports, RateRule, Sizes, Type, UpdateCx,
    Written, parameters, ports,
};

use crate::signal::linear::{Linear, Matrices};

/// A discrete linear system: `x[k+1] = A x[k] + B u[k]`, `y[k] = C x[k] + D u[k]`.
/// `x[0] = initial`.
///
/// The input feeds through only if D is not zero. The period is stated with `every:` or inherited
/// from a discrete input; the matrices are those of this period.
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
pub struct DiscreteStateSpace {
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

/// Ports and matrices of a [`DiscreteStateSpace`].
pub struct Plan {
    system: Linear,
    initial: Vec<f64>,
    io: DiscreteStateSpacePorts,
}

impl Block for DiscreteStateSpace {
    const KIND: &'static str = "DiscreteStateSpace";
    type Plan = Plan;
    /// x.
    type State = Vec<f64>;
    type Memo = ();
    /// The next x.
    type Scratch = Vec<f64>;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        ports.rate(RateRule::Sampled);
        let system = Linear::new(&Matrices { a: &self.a, b: &self.b, c: &self.c, d: &self.d })?;
        let initial = system.initial(&self.initial)?;
        let io = self.declare(ports, &system);
        Ok(Plan { system, initial, io })
    }

    fn state(&self, plan: &Plan, _: &Sizes<'_>) -> Vec<f64> {
        plan.initial.clone()
    }

    fn numbers(&self, _: &Plan, state: &Vec<f64>) -> Vec<f64> {
        state.clone()
    }

    fn set_numbers(&self, _: &Plan, state: &mut Vec<f64>, numbers: &[f64]) {
        state.copy_from_slice(numbers);
    }

    fn starting_at(&self, _: &Plan, at: &[f64], _: &[Type]) -> Option<Parameters> {
        Some(vec![("initial", Written::list(at))])
    }

    fn scratch(&self, plan: &Plan, _: &Sizes<'_>) -> Vec<f64> {
        plan.initial.clone()
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let inputs = cx.inputs;
        plan.system.output(cx.state, || inputs.get(plan.io.u).leaf(0), cx.outputs.get(plan.io.y));
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        plan.system.next(cx.state, cx.inputs.get(plan.io.u).leaf(0), cx.scratch);
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
