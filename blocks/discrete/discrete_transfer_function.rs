//! `DiscreteTransferFunction`: a rational function of z.

use legwork_block::quantity::{Scalar, Tensor};
use legwork_block::{
    Block, Invalid, Outcome, OutputCx, Parameters, Ports, Sizes, Type, UpdateCx, Written,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::signal::canonical::{Canonical, DiscreteFilterPlan, coefficients};

/// A rational function of z: `Y(z) / U(z) = numerator(z) / denominator(z)`. It starts from rest.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | number, vector or matrix, each element filtered on its own | any |
/// | out `y` | that of `u` | not checked |
///
/// Coefficients are in descending powers of z: `numerator: [1]`, `denominator: [1, -0.5]` is
/// 1 / (z − 0.5), that is y[k] = 0.5 y[k−1] + u[k−1]. The numerator's degree is at most the
/// denominator's; the input feeds through only if the degrees are equal. The period is stated with
/// `every:` or inherited from a discrete input.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["IIR", "LTI"]))]
pub struct DiscreteTransferFunction {
    /// Coefficients of the numerator, of falling powers of z; units are not checked.
    pub numerator: Vec<Scalar>,
    /// Coefficients of the denominator, of falling powers of z, the first not zero; units are not
    /// checked.
    pub denominator: Vec<Scalar>,
    /// State of the canonical form at t = 0, channel after channel: a list, or one number for all;
    /// default 0.
    #[serde(default = "crate::signal::shape::zero")]
    pub initial: Tensor,
}

impl Block for DiscreteTransferFunction {
    const KIND: &'static str = "DiscreteTransferFunction";
    type Plan = DiscreteFilterPlan;
    /// States of the canonical form, element after element.
    type State = Vec<f64>;
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<DiscreteFilterPlan, Invalid> {
        let numerator = coefficients("numerator", &self.numerator)?;
        let denominator = coefficients("denominator", &self.denominator)?;
        DiscreteFilterPlan::plan(Canonical::new(&numerator, &denominator)?, ports)
    }

    fn check(&self, plan: &DiscreteFilterPlan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        plan.check(&self.initial, sizes)
    }

    fn state(&self, plan: &DiscreteFilterPlan, sizes: &Sizes<'_>) -> Vec<f64> {
        plan.state(&self.initial, sizes.output(plan.y))
    }

    fn numbers(&self, _: &DiscreteFilterPlan, state: &Vec<f64>) -> Vec<f64> {
        state.clone()
    }

    fn set_numbers(&self, _: &DiscreteFilterPlan, state: &mut Vec<f64>, numbers: &[f64]) {
        state.copy_from_slice(numbers);
    }

    fn starting_at(&self, _: &DiscreteFilterPlan, at: &[f64], _: &[Type]) -> Option<Parameters> {
        Some(vec![("initial", Written::list(at))])
    }

    fn scratch(&self, _: &DiscreteFilterPlan, _: &Sizes<'_>) {}

    fn output(&self, plan: &DiscreteFilterPlan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        plan.output(cx.state, cx.inputs, &mut cx.outputs);
        Ok(())
    }

    fn update(&self, plan: &DiscreteFilterPlan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        plan.update(cx.state, cx.inputs);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    /// 1 / (z² − z/2) delays y[k] = y[k−1]/2 + u[k−2].
    #[test]
    fn powers_of_z_are_delays() {
        let function: DiscreteTransferFunction =
            block(json!({ "numerator": [1], "denominator": [1, -0.5, 0] }));
        let mut bench = Bench::new(function, &[Type::Real]).expect("a function");
        assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
        let mut seen = Vec::new();
        for u in [1.0, 0.0, 0.0, 8.0, 0.0, 0.0] {
            seen.push(bench.y(0.0, &[("u", &[u])])[0]);
            bench.update(0.0);
        }
        assert_eq!(seen, [0.0, 0.0, 1.0, 0.5, 0.25, 8.125]);
    }

    /// z / (z − 1/2) feeds through: 1, 1/2, 1/4.
    #[test]
    fn equal_degrees_feed_through() {
        let function: DiscreteTransferFunction =
            block(json!({ "numerator": [1, 0], "denominator": [1, -0.5] }));
        let mut bench = Bench::new(function, &[Type::Real]).expect("a function");
        let mut seen = Vec::new();
        for u in [1.0, 0.0, 0.0] {
            seen.push(bench.y(0.0, &[("u", &[u])])[0]);
            bench.update(0.0);
        }
        assert_eq!(seen, [1.0, 0.5, 0.25]);
    }
}
