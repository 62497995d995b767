//! `DiscreteDerivative`: the difference quotient of samples.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, In, Invalid, Out, Outcome, OutputCx, Ports, RateRule, Sizes, Unit, UpdateCx,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::signal::shape::{self, initial_state, state_signal};

/// The backward difference quotient: `y[k] = (u[k] − u[k−1]) / T`, period T.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | that of `initial`; without it any of number, vector, matrix | that of `initial` |
/// | out `y` | that of `u` | unit of u / s |
///
/// y[0] = (u[0] − `initial`) / T; without `initial` it is 0. The period is stated with `every:` or
/// inherited from a discrete input. Noise grows by 1/T: `Pid` and `DiscreteFilter` can filter.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["difference", "differentiator"]))]
pub struct DiscreteDerivative {
    /// The sample before the first: a number, a list for a vector, a list of rows for a matrix
    /// [unit of u]; default the first sample itself.
    #[serde(default)]
    pub initial: Option<Tensor>,
}

impl Block for DiscreteDerivative {
    const KIND: &'static str = "DiscreteDerivative";
    type Plan = (In<Any>, Out<Any>);
    /// Whether there was a sample, and the last one.
    type State = (bool, Vec<f64>);
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.rate(RateRule::Sampled);
        let ty = state_signal(self.initial.as_ref(), ports)?;
        let u = ports.input("u", &ty);
        let y = ports.output("y", &ty);
        ports.note_out(y).doc("rate of change");
        if let Some(unit) = self.initial.as_ref().and_then(Tensor::unit) {
            ports.note_in(u).unit(&unit.to_string());
            if let Some(rate) = unit.over(Unit::SECOND) {
                ports.note_out(y).unit(&rate.to_string());
            }
        }
        Ok((u, y))
    }

    fn check(&self, &(u, _): &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, u)
    }

    fn state(&self, &(_, y): &Self::Plan, sizes: &Sizes<'_>) -> (bool, Vec<f64>) {
        (self.initial.is_some(), initial_state(self.initial.as_ref(), sizes.output(y)))
    }

    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn output(&self, &(u, y): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (started, last) = cx.state;
        let y = cx.outputs.get(y);
        if !started {
            y.fill(0.0);
            return Ok(());
        }
        for ((y, u), last) in y.iter_mut().zip(cx.inputs.get(u).leaf(0)).zip(last) {
            *y = (u - last) / cx.time.step;
        }
        Ok(())
    }

    fn update(&self, &(u, _): &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        cx.state.0 = true;
        cx.state.1.copy_from_slice(cx.inputs.get(u).leaf(0));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{Bench, block};

    fn quotients(parameters: Value) -> Vec<f64> {
        let derivative: DiscreteDerivative = block(parameters);
        let mut bench = Bench::new(derivative, &[Type::Real]).expect("a derivative");
        bench.step = 0.5;
        let mut seen = Vec::new();
        for u in [1.0, 3.0, 2.0] {
            seen.push(bench.y(0.0, &[("u", &[u])])[0]);
            bench.update(0.0);
        }
        seen
    }

    #[test]
    fn the_output_is_the_difference_over_the_period() {
        assert_eq!(quotients(json!({})), [0.0, 4.0, -2.0]);
        assert_eq!(quotients(json!({ "initial": 0 })), [2.0, 4.0, -2.0]);
    }
}
