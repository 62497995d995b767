//! `UniformRandomNumber`: numbers of an interval.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, Invalid, Outcome, OutputCx, Ports, RateRule, UpdateCx, block, parameters, ports,
};

use crate::signal::philox::Stream;
use crate::signal::shape::{self, Common};

/// Uniformly distributed numbers, new for each sample and element. `minimum ≤ y < maximum`.
///
/// The period is stated with `every:`. Sample k is a function of the run's seed, the block's path,
/// `seed` and k alone (Philox): a run repeats bit for bit, and adding a block changes no other's
/// numbers.
#[ports(
    |common: &Common|
    out y: shape::signal(&common.shape) as Any, common.unit, "the sample",
        shape "that of the bounds; numbers are broadcast", units "theirs";
)]
#[parameters(aliases("noise"))]
pub struct UniformRandomNumber {
    /// Which stream of this block's random numbers.
    #[default]
    pub seed: u64,
    /// Lower end [any unit].
    #[default = 0]
    pub minimum: Tensor,
    /// Upper end, above `minimum` [unit of `minimum`].
    #[default = 1]
    pub maximum: Tensor,
}

/// Port and bounds of a [`UniformRandomNumber`].
pub struct Plan {
    key: u64,
    io: UniformRandomNumberPorts,
    bounds: Vec<(f64, f64)>,
}

#[block]
impl Block for UniformRandomNumber {
    type Plan = Plan;
    /// The number of the sample.
    type State = u64;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        shape::finite("minimum", &self.minimum)?;
        shape::finite("maximum", &self.maximum)?;
        let common = Common::of(&[("minimum", &self.minimum), ("maximum", &self.maximum)])?;
        let bounds: Vec<(f64, f64)> =
            common.spread(&self.minimum).into_iter().zip(common.spread(&self.maximum)).collect();
        if let Some((minimum, maximum)) = bounds.iter().find(|(low, high)| low >= high) {
            let message = format!("expected more than `minimum` = {minimum}, found {maximum}");
            return Err(Invalid::parameter("maximum", message));
        }
        ports.rate(RateRule::Sampled);
        let io = self.declare(ports, &common);
        Ok(Plan { key: ports.random_key(self.seed), io, bounds })
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let stream = Stream::new(plan.key);
        let pairs = cx.outputs.get(plan.io.y).iter_mut().zip(&plan.bounds);
        for (i, (y, (minimum, maximum))) in pairs.enumerate() {
            *y = minimum + (maximum - minimum) * stream.uniform(*cx.state, i);
        }
        Ok(())
    }

    fn update(&self, _: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        *cx.state = cx.state.wrapping_add(1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    #[test]
    fn numbers_fill_the_interval() {
        let random: UniformRandomNumber =
            block(json!({ "seed": 5, "minimum": [-1, 10], "maximum": [1, 11] }));
        let mut bench = Bench::new(random, &[]).expect("numbers");
        let mut counts = [0; 10];
        for _ in 0..10_000 {
            let y = bench.y(0.0, &[]);
            bench.update(0.0);
            assert!((-1.0..1.0).contains(&y[0]) && (10.0..11.0).contains(&y[1]));
            counts[((y[0] + 1.0) * 5.0) as usize] += 1;
        }
        // Of 10 000 numbers 1000 ± 30 fall into each tenth.
        assert!(counts.iter().all(|count| (880..1120).contains(count)), "{counts:?}");
    }

    #[test]
    fn the_interval_is_not_empty() {
        let wrong: UniformRandomNumber = block(json!({ "seed": 1, "minimum": 2 }));
        assert_eq!(refusal(wrong, &[]), "expected more than `minimum` = 2, found 1");
    }
}
