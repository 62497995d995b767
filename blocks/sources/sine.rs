//! `Sine`: a sine wave.

use std::f64::consts::TAU;

use legwork_block::quantity::{Angle, Frequency, Tensor};
use legwork_block::{Any, Block, Outcome, OutputCx, RateRule, block, parameters, ports};

use crate::signal::shape::{self, Common};

/// A sine wave: `y = bias + amplitude · sin(ω t + phase)`. ω = 2π · `frequency`.
///
/// The frequency counts cycles per second. For an angular velocity ω write
/// `frequency: "=omega / (2*pi[rad])"`.
#[ports(
    shape::finite("amplitude", &self.amplitude)?;
    shape::finite("bias", &self.bias)?;
    let common = Common::of(&[("amplitude", &self.amplitude), ("bias", &self.bias)])?;
    ports.rate(RateRule::Continuous);
    keep amplitude: Vec<f64> = common.spread(&self.amplitude);
    keep bias: Vec<f64> = common.spread(&self.bias);
    /// ω [rad/s].
    keep angular_frequency: f64 = TAU * self.frequency.value();
    out y: shape::signal(&common.shape) as Any, common.unit, "the wave",
        shape "that of `amplitude` and `bias`; numbers are broadcast", units "theirs";
)]
#[parameters(aliases("sine wave", "oscillation"))]
pub struct Sine {
    /// Half the distance from trough to crest [any unit].
    #[default = 1]
    pub amplitude: Tensor,
    /// Cycles per second [Hz].
    #[default = "1 Hz"]
    pub frequency: Frequency,
    /// Angle at t = 0 [rad].
    #[default = "0 rad"]
    pub phase: Angle,
    /// Mean value [unit of `amplitude`].
    #[default = 0]
    pub bias: Tensor,
}

#[block]
impl Block for Sine {
    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let wave = libm::sin(plan.angular_frequency * cx.time.t + self.phase.value());
        let y = cx.outputs.get(plan.y);
        for ((y, amplitude), bias) in y.iter_mut().zip(&plan.amplitude).zip(&plan.bias) {
            *y = bias + amplitude * wave;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    #[test]
    fn a_period_is_one_over_the_frequency() {
        let sine: Sine = block(json!({ "amplitude": 3, "frequency": "4 Hz", "bias": 1 }));
        let mut bench = Bench::new(sine, &[]).expect("a sine");
        // Round-off of an argument of a few turns.
        let near = |a: f64, b: f64| (a - b).abs() < 1e-13;
        for t in [0.0, 0.01, 0.07, 0.2] {
            let (now, later) = (bench.y(t, &[])[0], bench.y(t + 0.25, &[])[0]);
            assert!(near(now, later), "{now} and a period later {later}");
        }
        assert!(near(bench.y(1.0 / 16.0, &[])[0], 4.0), "crest after a quarter of a period");
        assert!(near(bench.y(3.0 / 16.0, &[])[0], -2.0), "trough after three");
    }

    #[test]
    fn a_phase_of_a_quarter_turn_makes_a_cosine_of_every_element() {
        let sine: Sine = block(json!({ "amplitude": [1, 2], "phase": "90 deg" }));
        let mut bench = Bench::new(sine, &[]).expect("a sine");
        let y = bench.y(0.0, &[]);
        assert_eq!(y, [1.0, 2.0]);
    }
}
