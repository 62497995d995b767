//! `DiscreteFilter`: a rational function of z⁻¹.

use legwork_block::quantity::{Scalar, Tensor};
use legwork_block::{
    Block, Invalid, Outcome, OutputCx, Parameters, Ports, Sizes, Type, UpdateCx, Written,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::signal::canonical::{Canonical, DiscreteFilterPlan, coefficients};

/// A digital filter in powers of z⁻¹, from rest.
/// `a₀ y[k] + a₁ y[k−1] + … = b₀ u[k] + b₁ u[k−1] + …` with b = `numerator` and a = `denominator`.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | number, vector or matrix, each element filtered on its own | any |
/// | out `y` | that of `u` | not checked |
///
/// With the denominator `[1]`, its default, the response to an impulse is finite. The input feeds
/// through only if b₀ is not zero. The period is stated with `every:` or inherited from a discrete
/// input. For powers of z see `DiscreteTransferFunction`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["FIR", "IIR", "digital filter"]))]
pub struct DiscreteFilter {
    /// b₀, b₁, …; units are not checked.
    pub numerator: Vec<Scalar>,
    /// a₀, a₁, …, the first not zero; units are not checked; default `[1]`.
    #[serde(default = "one")]
    pub denominator: Vec<Scalar>,
    /// State of the canonical form at t = 0, channel after channel: a list, or one number for all;
    /// default 0.
    #[serde(default = "crate::signal::shape::zero")]
    pub initial: Tensor,
}

fn one() -> Vec<Scalar> {
    vec![Scalar { value: 1.0, unit: None }]
}

impl Block for DiscreteFilter {
    const KIND: &'static str = "DiscreteFilter";
    type Plan = DiscreteFilterPlan;
    /// States of the canonical form, element after element.
    type State = Vec<f64>;
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<DiscreteFilterPlan, Invalid> {
        let mut numerator = coefficients("numerator", &self.numerator)?;
        let mut denominator = coefficients("denominator", &self.denominator)?;
        // Times z to the highest power that occurs: the same coefficients as powers of z.
        let len = numerator.len().max(denominator.len());
        numerator.resize(len, 0.0);
        if !denominator.is_empty() {
            denominator.resize(len, 0.0);
        }
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
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    /// The difference equation, written out.
    fn by_hand(b: &[f64], a: &[f64], u: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = Vec::new();
        for k in 0..u.len() {
            let sum = |c: &[f64], from: usize, of: &[f64]| -> f64 {
                (from..c.len()).filter(|i| *i <= k).map(|i| c[i] * of[k - i]).sum()
            };
            let next = (sum(b, 0, u) - sum(a, 1, &y)) / a[0];
            y.push(next);
        }
        y
    }

    fn outputs(b: &[f64], a: &[f64], u: &[f64]) -> Vec<f64> {
        let filter: DiscreteFilter = block(json!({ "numerator": b, "denominator": a }));
        let mut bench = Bench::new(filter, &[Type::Real]).expect("a filter");
        let sample = |u: &f64| {
            let y = bench.y(0.0, &[("u", &[*u])])[0];
            bench.update(0.0);
            y
        };
        u.iter().map(sample).collect()
    }

    #[test]
    fn the_difference_equation_holds() {
        let u = [1.0, -2.0, 0.5, 3.0, 0.0, 0.25, -1.0, 4.0];
        let cases: [(&[f64], &[f64]); 4] = [
            (&[0.5, 0.25], &[1.0, -0.5, 0.125]),
            (&[0.0, 1.0, 2.0], &[2.0, 1.0]),
            (&[1.0, 2.0, 3.0, 4.0], &[1.0]),
            (&[3.0], &[4.0]),
        ];
        for (b, a) in cases {
            for (y, exact) in outputs(b, a, &u).iter().zip(by_hand(b, a, &u)) {
                assert!((y - exact).abs() < 1e-13, "{b:?} / {a:?}: {y} against {exact}");
            }
        }
    }

    #[test]
    fn elements_are_filtered_on_their_own() {
        let mean: DiscreteFilter = block(json!({ "numerator": [0.5, 0.5] }));
        let mut bench = Bench::new(mean, &[Type::matrix(2, 1)]).expect("a filter");
        assert_eq!(bench.y(0.0, &[("u", &[2.0, 8.0])]), [1.0, 4.0]);
        bench.update(0.0);
        assert_eq!(bench.y(0.0, &[("u", &[4.0, 0.0])]), [3.0, 4.0]);
    }

    #[test]
    fn the_first_coefficient_of_the_denominator_is_not_zero() {
        let wrong: DiscreteFilter = block(json!({ "numerator": [1], "denominator": [0, 1] }));
        assert!(refusal(wrong, &[]).starts_with("expected a first coefficient other than zero"));
    }
}
