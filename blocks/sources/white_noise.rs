//! `WhiteNoise`: noise of a given power density.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, Outcome, OutputCx, RateRule, Unit, UpdateCx, block, parameters, ports,
};

use crate::signal::philox::Stream;
use crate::signal::shape;

/// White noise of a given power density, up to half the sampling frequency.
/// `y[k] = √(power / T) · N(0, 1)` with the period T, held over it.
///
/// `power` is the height of the two-sided power spectral density: a system much slower than T sees
/// the same noise whatever T is. State the period with `every:`, a hundredth or less of the fastest
/// time constant behind it. A first-order lag of the time constant τ makes noise of the variance
/// `power / (2 τ)` of it. Sample k is a function of the run's seed, the block's
/// path, `seed` and k alone (Philox, Box–Muller): adding a block changes no other's numbers.
#[ports(
    shape::finite("power", &self.power)?;
    shape::expect("power", &self.power, "a power of zero or more", |power| power >= 0.0)?;
    ports.rate(RateRule::Sampled);
    keep key: u64 = ports.random_key(self.seed);
    let per_second = self.power.unit().and_then(|unit| unit.over(Unit::SECOND));
    let unit = per_second.and_then(|unit| unit.power(1, 2));
    out y: shape::signal(self.power.shape()) as Any, unit, "the sample", shape "that of `power`",
        units "root of the unit of `power` / s";
)]
#[parameters(aliases("band-limited noise"))]
pub struct WhiteNoise {
    /// Which stream of this block's random numbers.
    #[default]
    pub seed: u64,
    /// Power spectral density, zero or more [unit of y squared, times s]: a number, a list for a
    /// vector of independent noises.
    pub power: Tensor,
}

#[block]
impl Block for WhiteNoise {
    /// The number of the sample.
    type State = u64;

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let stream = Stream::new(plan.key);
        let pairs = cx.outputs.get(plan.y).iter_mut().zip(self.power.data());
        for (i, (y, power)) in pairs.enumerate() {
            *y = libm::sqrt(power / cx.time.step) * stream.normal(*cx.state, i);
        }
        Ok(())
    }

    fn update(&self, _: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        *cx.state = cx.state.wrapping_add(1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    /// The integral over a time t has the variance `power · t`, whatever the period.
    #[test]
    fn the_integral_does_not_depend_on_the_period() {
        for (period, samples) in [(0.01, 100), (0.001, 1000)] {
            let noise: WhiteNoise = block(json!({ "seed": 9, "power": 0.25 }));
            let mut bench = Bench::new(noise, &[]).expect("noise");
            bench.step = period;
            let runs = 400;
            let mut squares = 0.0;
            for _ in 0..runs {
                let mut integral = 0.0;
                for _ in 0..samples {
                    integral += period * bench.y(0.0, &[])[0];
                    bench.update(0.0);
                }
                squares += integral * integral;
            }
            let variance = squares / f64::from(runs);
            let scatter = 4.0 * 0.25 * libm::sqrt(2.0 / f64::from(runs));
            assert!((variance - 0.25).abs() < scatter, "{period}: {variance}");
        }
    }

    #[test]
    fn the_power_is_not_negative() {
        let wrong: WhiteNoise = block(json!({ "seed": 1, "power": [1, -1] }));
        assert_eq!(refusal(wrong, &[]), "expected a power of zero or more, found -1");
    }
}
