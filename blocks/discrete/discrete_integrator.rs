//! `DiscreteIntegrator`: integrates samples.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, Invalid, Outcome, OutputCx, Parameters, RateRule, Sizes, Type, UpdateCx, block,
    parameters, ports,
};

use crate::signal::shape::{self, initial_state, state_signal};
use crate::signal::units;

/// Integrates samples with the period T, by one of three methods. `x[0] = initial`.
///
/// | `method` | output | next state | feeds through |
/// |---|---|---|---|
/// | `ForwardEuler` | `y[k] = x[k]` | `x[k+1] = y[k] + T u[k]` | no |
/// | `BackwardEuler` | `y[k] = x[k] + T u[k]` | `x[k+1] = y[k]` | yes |
/// | `Trapezoidal` | `y[k] = x[k] + T/2 u[k]` | `x[k+1] = y[k] + T/2 u[k]` | yes |
///
/// The period is stated with `every:` or inherited from a discrete input. `initial` is the state,
/// not the output: y[0] = `initial` for `ForwardEuler` only.
#[ports(
    ports.rate(RateRule::Sampled);
    let ty = state_signal(self.initial.as_ref(), ports)?;
    let unit = self.initial.as_ref().and_then(Tensor::unit);
    let unit = units::known_or_open(unit, ports);
    in  u: ty.clone() as Any, units::per_second(&unit), "rate of change",
        shape "that of `initial`, else any of number, vector, matrix",
        units "unit of y / s";
    let direct = (self.method != Method::ForwardEuler).then_some(u);
    feeds(direct);
    out y: ty.clone() as Any, unit, "the integral",
        shape "that of `u`", units "that of `initial`, or any", elements u;
)]
#[parameters(aliases("accumulator"))]
pub struct DiscreteIntegrator {
    /// `ForwardEuler`, `BackwardEuler` or `Trapezoidal`.
    #[default]
    pub method: Method,
    /// State at t = 0: a number, a list for a vector, a list of rows for a matrix [any unit];
    /// default zeros of the type of `u`.
    pub initial: Option<Tensor>,
}

/// How a [`DiscreteIntegrator`] adds a sample.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Method {
    /// A sample counts for the period after it.
    #[default]
    ForwardEuler,
    /// A sample counts for the period before it.
    BackwardEuler,
    /// A sample counts for half a period on either side.
    Trapezoidal,
}

impl Method {
    /// The parts of T u[k] that are added in the output and in the update.
    pub(crate) fn parts(self) -> (f64, f64) {
        match self {
            Self::ForwardEuler => (0.0, 1.0),
            Self::BackwardEuler => (1.0, 0.0),
            Self::Trapezoidal => (0.5, 0.5),
        }
    }
}

#[block]
impl Block for DiscreteIntegrator {
    /// x.
    type State = Vec<f64>;

    fn check(&self, io: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, io.u)
    }

    fn state(&self, io: &Self::Plan, sizes: &Sizes<'_>) -> Vec<f64> {
        initial_state(self.initial.as_ref(), sizes.output(io.y))
    }

    fn numbers(&self, _: &Self::Plan, state: &Vec<f64>) -> Vec<f64> {
        state.clone()
    }

    fn set_numbers(&self, _: &Self::Plan, state: &mut Vec<f64>, numbers: &[f64]) {
        state.copy_from_slice(numbers);
    }

    fn starting_at(&self, _: &Self::Plan, at: &[f64], outputs: &[Type]) -> Option<Parameters> {
        shape::starting_at("initial", self.initial.as_ref().and_then(Tensor::unit), at, outputs)
    }

    fn output(&self, io: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let y = cx.outputs.get(io.y);
        y.copy_from_slice(cx.state);
        // Without feedthrough the input is not computed yet: it must not be read.
        if self.method != Method::ForwardEuler {
            let factor = self.method.parts().0 * cx.time.step;
            for (y, u) in y.iter_mut().zip(cx.inputs.get(io.u).leaf(0)) {
                *y += factor * u;
            }
        }
        Ok(())
    }

    fn update(&self, io: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let (before, after) = self.method.parts();
        let (before, after) = (before * cx.time.step, after * cx.time.step);
        for (x, u) in cx.state.iter_mut().zip(cx.inputs.get(io.u).leaf(0)) {
            // In the order of the output, so that x[k+1] is bit for bit made from y[k].
            *x = (*x + before * u) + after * u;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    /// Samples of u = 2 t + 1, whose integral is t² + t, at 0, 0.5, 1, 1.5 s: the rectangles before
    /// them, up to them, and the trapezoids, which are exact but for where they start.
    #[test]
    fn methods_sum_the_samples_before_up_to_now_or_half_of_each() {
        for (method, sums, feeds_through) in [
            ("ForwardEuler", [10.0, 10.5, 11.5, 13.0], false),
            ("BackwardEuler", [10.5, 11.5, 13.0, 15.0], true),
            ("Trapezoidal", [10.25, 11.0, 12.25, 14.0], true),
        ] {
            let integrator: DiscreteIntegrator = block(json!({ "method": method, "initial": 10 }));
            let mut bench = Bench::new(integrator, &[Type::Real]).expect("an integrator");
            bench.step = 0.5;
            assert_eq!(bench.samples(&[1.0, 2.0, 3.0, 4.0]), sums, "{method}");
            let is_direct = bench.declaration.groups != [Feeds::Only(vec![])];
            assert_eq!(is_direct, feeds_through, "{method}");
        }
    }

    #[test]
    fn vectors_start_at_zero() {
        let integrator: DiscreteIntegrator = block(json!({}));
        let mut bench = Bench::new(integrator, &[Type::vector(2)]).expect("an integrator");
        assert_eq!(bench.y(0.0, &[("u", &[1.0, 2.0])]), [0.0, 0.0]);
        bench.update(0.0);
        assert_eq!(bench.y(0.001, &[]), [0.001, 0.002]);
    }
}
