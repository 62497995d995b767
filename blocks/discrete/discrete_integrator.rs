//! `DiscreteIntegrator`: integrates samples.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, In, Invalid, NO_FEEDS, Out, Outcome, OutputCx, Parameters, Ports, RateRule, Sizes,
    Type, UpdateCx, feeds,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::signal::shape::{self, initial_state, state_signal};

/// Integrates samples with the period T, by one of three methods. `x[0] = initial`.
///
/// | `method` | output | next state | feeds through |
/// |---|---|---|---|
/// | `ForwardEuler` | `y[k] = x[k]` | `x[k+1] = y[k] + T u[k]` | no |
/// | `BackwardEuler` | `y[k] = x[k] + T u[k]` | `x[k+1] = y[k]` | yes |
/// | `Trapezoidal` | `y[k] = x[k] + T/2 u[k]` | `x[k+1] = y[k] + T/2 u[k]` | yes |
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | that of `initial`, else any of number, vector, matrix | unit of y / s, unchecked |
/// | out `y` | that of `u` | that of `initial` |
///
/// The period is stated with `every:` or inherited from a discrete input. `initial` is the state,
/// not the output: y[0] = `initial` for `ForwardEuler` only.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["accumulator"]))]
pub struct DiscreteIntegrator {
    /// `ForwardEuler`, `BackwardEuler` or `Trapezoidal`; default `ForwardEuler`.
    #[serde(default)]
    pub method: Method,
    /// State at t = 0: a number, a list for a vector, a list of rows for a matrix [any unit];
    /// default zeros of the type of `u`.
    #[serde(default)]
    pub initial: Option<Tensor>,
}

/// How a [`DiscreteIntegrator`] adds a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
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

impl Block for DiscreteIntegrator {
    const KIND: &'static str = "DiscreteIntegrator";
    type Plan = (In<Any>, Out<Any>);
    /// x.
    type State = Vec<f64>;
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.rate(RateRule::Sampled);
        let ty = state_signal(self.initial.as_ref(), ports)?;
        let u = ports.input("u", &ty);
        ports.note_in(u).doc("rate of change");
        match self.method {
            Method::ForwardEuler => ports.group(&NO_FEEDS),
            Method::BackwardEuler | Method::Trapezoidal => ports.group(&feeds![u]),
        }
        let y = ports.output("y", &ty);
        ports.note_out(y).doc("the integral");
        if let Some(unit) = self.initial.as_ref().and_then(Tensor::unit) {
            ports.note_out(y).unit(&unit.to_string());
        }
        Ok((u, y))
    }

    fn check(&self, &(u, _): &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, u)
    }

    fn state(&self, &(_, y): &Self::Plan, sizes: &Sizes<'_>) -> Vec<f64> {
        initial_state(self.initial.as_ref(), sizes.output(y))
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

    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn output(&self, &(u, y): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let y = cx.outputs.get(y);
        y.copy_from_slice(cx.state);
        // Without feedthrough the input is not computed yet: it must not be read.
        if self.method != Method::ForwardEuler {
            let factor = self.method.parts().0 * cx.time.step;
            for (y, u) in y.iter_mut().zip(cx.inputs.get(u).leaf(0)) {
                *y += factor * u;
            }
        }
        Ok(())
    }

    fn update(&self, &(u, _): &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let (before, after) = self.method.parts();
        let (before, after) = (before * cx.time.step, after * cx.time.step);
        for (x, u) in cx.state.iter_mut().zip(cx.inputs.get(u).leaf(0)) {
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

    /// The outputs at 0, 0.5, 1, 1.5 s for u = 2 t + 1, whose integral is t² + t.
    fn outputs(method: &str) -> (Vec<f64>, Feeds) {
        let integrator: DiscreteIntegrator = block(json!({ "method": method, "initial": 10 }));
        let mut bench = Bench::new(integrator, &[Type::Real]).expect("an integrator");
        bench.step = 0.5;
        let mut seen = Vec::new();
        for k in 0..4 {
            let t = 0.5 * f64::from(k);
            seen.push(bench.y(t, &[("u", &[2.0 * t + 1.0])])[0]);
            bench.update(t);
        }
        (seen, bench.declaration.groups[0].clone())
    }

    #[test]
    fn forward_euler_sums_the_samples_before() {
        let (seen, feeds) = outputs("ForwardEuler");
        assert_eq!(seen, [10.0, 10.5, 11.5, 13.0]);
        assert_eq!(feeds, Feeds::Only(vec![]));
    }

    #[test]
    fn backward_euler_sums_the_samples_up_to_now() {
        let (seen, feeds) = outputs("BackwardEuler");
        assert_eq!(seen, [10.5, 11.5, 13.0, 15.0]);
        assert_ne!(feeds, Feeds::Only(vec![]));
    }

    #[test]
    fn the_trapezoidal_rule_is_exact_for_lines() {
        let (seen, _) = outputs("Trapezoidal");
        let exact = |t: f64| t * t + t;
        for (k, y) in seen.iter().enumerate() {
            assert_eq!(y - seen[0], exact(0.5 * k as f64), "sample {k}");
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
