//! `RandomNumber`: normally distributed numbers.

use legwork_block::quantity::Tensor;
use legwork_block::{Any, Block, Outcome, OutputCx, RateRule, UpdateCx, block, parameters, ports};

use crate::signal::philox::Stream;
use crate::signal::shape::{self, Common};

/// Normally distributed numbers, new for each sample and element. `y = mean + deviation · N(0, 1)`.
///
/// The period is stated with `every:`; samples are independent whatever it is, so the power of the
/// noise depends on it: see `WhiteNoise`. Sample k is a function of the run's seed, the
/// block's path, `seed` and k alone (Philox, Box–Muller): a run repeats bit for bit, and adding a
/// block changes no other's numbers.
#[ports(
    shape::finite("mean", &self.mean)?;
    shape::finite("deviation", &self.deviation)?;
    shape::expect("deviation", &self.deviation, "a deviation of zero or more", |d| d >= 0.0)?;
    let common = Common::of(&[("mean", &self.mean), ("deviation", &self.deviation)])?;
    ports.rate(RateRule::Sampled);
    keep mean: Vec<f64> = common.spread(&self.mean);
    keep deviation: Vec<f64> = common.spread(&self.deviation);
    keep key: u64 = ports.random_key(self.seed);
    out y: shape::signal(&common.shape) as Any, common.unit, "the sample",
        shape "that of `mean` and `deviation`; numbers are broadcast", units "theirs";
)]
#[parameters(aliases("Gaussian noise", "normal distribution"))]
pub struct RandomNumber {
    /// Which stream of this block's random numbers.
    #[default]
    pub seed: u64,
    /// Mean value [any unit].
    #[default = 0]
    pub mean: Tensor,
    /// Standard deviation, zero or more [unit of `mean`].
    #[default = 1]
    pub deviation: Tensor,
}

#[block]
impl Block for RandomNumber {
    /// The number of the sample.
    type State = u64;

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let stream = Stream::new(plan.key);
        for (i, y) in cx.outputs.get(plan.y).iter_mut().enumerate() {
            *y = plan.mean[i] + plan.deviation[i] * stream.normal(*cx.state, i);
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

    fn samples(seed: u64) -> Vec<Vec<f64>> {
        let random: RandomNumber =
            block(json!({ "seed": seed, "mean": [0, 100], "deviation": "2" }));
        let mut bench = Bench::new(random, &[]).expect("numbers");
        let mut seen = Vec::new();
        for _ in 0..1000 {
            seen.push(bench.y(0.0, &[]));
            bench.update(0.0);
        }
        seen
    }

    #[test]
    fn a_seed_gives_the_same_numbers_again_and_another_one_others() {
        assert_eq!(samples(3), samples(3));
        assert_ne!(samples(3)[0], samples(4)[0]);
    }

    #[test]
    fn mean_and_deviation_are_those_asked_for() {
        let seen = samples(11);
        let n = seen.len() as f64;
        for (i, mean) in [0.0, 100.0].into_iter().enumerate() {
            let found = seen.iter().map(|y| y[i]).sum::<f64>() / n;
            assert!((found - mean).abs() < 4.0 * 2.0 / libm::sqrt(n), "{found}");
            let variance = seen.iter().map(|y| (y[i] - mean) * (y[i] - mean)).sum::<f64>() / n;
            assert!((variance - 4.0).abs() < 4.0 * 4.0 * libm::sqrt(2.0 / n), "{variance}");
        }
    }

    #[test]
    fn the_deviation_is_not_negative() {
        let wrong: RandomNumber = block(json!({ "seed": 1, "deviation": -1 }));
        assert_eq!(refusal(wrong, &[]), "expected a deviation of zero or more, found -1");
    }
}
