//! `DiscreteDerivative`: the difference quotient of samples.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, Invalid, Outcome, OutputCx, RateRule, Sizes, UpdateCx, block, parameters, ports,
};

use crate::signal::shape::{self, initial_state, state_signal};
use crate::signal::units;

/// The backward difference quotient: `y[k] = (u[k] − u[k−1]) / T`, period T.
///
/// y[0] = (u[0] − `initial`) / T; without `initial` it is 0. The period is stated with `every:` or
/// inherited from a discrete input. Noise grows by 1/T: `Pid` and `DiscreteFilter` can filter.
#[ports(
    ports.rate(RateRule::Sampled);
    let ty = state_signal(self.initial.as_ref(), ports)?;
    let unit = self.initial.as_ref().and_then(Tensor::unit);
    let unit = units::known_or_open(unit, ports);
    in  u: ty.clone() as Any, unit.clone(), "the samples",
        shape "that of `initial`; without it any of number, vector, matrix",
        units "that of `initial`, or any";
    out y: ty.clone() as Any, units::per_second(&unit), "rate of change",
        shape "that of `u`", units "unit of u / s", elements u;
)]
#[parameters(aliases("difference", "differentiator"))]
pub struct DiscreteDerivative {
    /// The sample before the first: a number, a list for a vector, a list of rows for a matrix
    /// [unit of u]; default the first sample itself.
    pub initial: Option<Tensor>,
}

#[block]
impl Block for DiscreteDerivative {
    /// Whether there was a sample, and the last one.
    type State = (bool, Vec<f64>);

    fn check(&self, io: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, io.u)
    }

    fn state(&self, io: &Self::Plan, sizes: &Sizes<'_>) -> (bool, Vec<f64>) {
        (self.initial.is_some(), initial_state(self.initial.as_ref(), sizes.output(io.y)))
    }

    fn memory_numbers(&self, _: &Self::Plan, (_, last): &(bool, Vec<f64>)) -> Vec<f64> {
        last.clone()
    }

    fn set_memory_numbers(
        &self,
        _: &Self::Plan,
        (_, last): &mut (bool, Vec<f64>),
        numbers: &[f64],
    ) {
        last.copy_from_slice(numbers);
    }

    fn output(&self, io: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (started, last) = cx.state;
        let y = cx.outputs.get(io.y);
        if !started {
            y.fill(0.0);
            return Ok(());
        }
        for ((y, u), last) in y.iter_mut().zip(cx.inputs.get(io.u).leaf(0)).zip(last) {
            *y = (u - last) / cx.time.step;
        }
        Ok(())
    }

    fn update(&self, io: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        cx.state.0 = true;
        cx.state.1.copy_from_slice(cx.inputs.get(io.u).leaf(0));
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
        bench.samples(&[1.0, 3.0, 2.0])
    }

    #[test]
    fn the_output_is_the_difference_over_the_period() {
        assert_eq!(quotients(json!({})), [0.0, 4.0, -2.0]);
        assert_eq!(quotients(json!({ "initial": 0 })), [2.0, 4.0, -2.0]);
    }
}
