//! `Mean`: the mean of a signal over a run.

use legwork_block::quantity::{NonNegative, Time};
use legwork_block::{
    Any, Block, Invalid, Outcome, OutputCx, Real, Report, Sizes, UpdateCx, block, parameters, ports,
};
use serde::{Deserialize, Serialize};

use crate::signal::shape::expect_numbers;

/// The mean of a signal over its elements and the run so far. `y = Σ_k Σ_i u_i / (n K)`.
///
/// One sample counts per major step, or per period if the block or its input has one. With
/// `magnitude` it is the mean of |u_i|, such as a mean error. The last value is reported as the
/// metric `mean`, the largest |u_i| as `peak`. The sample of now counts in `y`; before the first y
/// is 0.
///
/// Of a vector at one time it is `Fcn(expression: "mean(u)", lengths: { "u": 4 })`.
#[ports(
    ports.updates();
    ports.per_major();
    let unit = ports.var();
    in  u: Any::var(ports.var()), unit, "what is averaged", shape "number, vector, matrix",
        units "any";
    out y: Real, unit, "the mean so far", shape "number", units "that of `u`";
)]
#[parameters]
pub struct Mean {
    /// Whether magnitudes count.
    #[default]
    pub magnitude: bool,
    /// Time before which nothing counts [s].
    #[default = "0 s"]
    pub after: NonNegative<Time>,
}

/// What was summed so far.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct State {
    sum: f64,
    samples: f64,
    peak: f64,
}

impl Mean {
    fn with(&self, state: State, t: f64, u: &[f64]) -> State {
        if t < self.after.value() || u.is_empty() {
            return state;
        }
        let value = |u: &f64| if self.magnitude { u.abs() } else { *u };
        let mean = u.iter().map(value).sum::<f64>() / u.len() as f64;
        let peak = u.iter().fold(state.peak, |peak, u| peak.max(u.abs()));
        State { sum: state.sum + mean, samples: state.samples + 1.0, peak }
    }
}

impl State {
    fn mean(&self) -> f64 {
        if self.samples > 0.0 { self.sum / self.samples } else { 0.0 }
    }
}

#[block]
impl Block for Mean {
    type State = State;

    fn check(&self, io: &MeanPorts, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        expect_numbers(sizes, io.u)
    }

    fn output(&self, io: &MeanPorts, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let now = self.with(*cx.state, cx.time.t, cx.inputs.get(io.u).leaf(0));
        cx.outputs.set(io.y, now.mean());
        Ok(())
    }

    fn update(&self, io: &MeanPorts, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        *cx.state = self.with(*cx.state, cx.time.t, cx.inputs.get(io.u).leaf(0));
        Ok(())
    }

    fn report(&self, _: &MeanPorts, state: &State, report: &mut Report) {
        report.metric("mean", state.mean());
        report.metric("peak", state.peak);
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    #[test]
    fn samples_and_elements_count_alike() {
        for (magnitude, means) in [(false, [-0.5, 1.0]), (true, [1.5, 2.0])] {
            let mean: Mean = block(json!({ "magnitude": magnitude }));
            let mut bench = Bench::new(mean, &[Type::vector(2)]).expect("a mean");
            assert_eq!(bench.y(0.0, &[("u", &[1.0, -2.0])]), [means[0]]);
            bench.update(0.0);
            assert_eq!(bench.y(0.1, &[("u", &[4.0, 1.0])]), [means[1]]);
        }
    }

    #[test]
    fn nothing_counts_before_its_time() {
        let mean: Mean = block(json!({ "after": "1 s" }));
        let mut bench = Bench::new(mean, &[Type::Real]).expect("a mean");
        assert_eq!(bench.y(0.5, &[("u", &[7.0])]), [0.0]);
        bench.update(0.5);
        assert_eq!(bench.y(1.0, &[("u", &[3.0])]), [3.0]);
        bench.update(1.0);
        assert_eq!(bench.y(1.5, &[("u", &[5.0])]), [4.0]);
    }
}
