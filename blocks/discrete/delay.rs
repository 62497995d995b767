//! `Delay`: the input several periods ago.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, Invalid, Outcome, OutputCx, Parameters, PortUnit, Ports, RateRule, Sizes, Type,
    UpdateCx, block, parameters, ports,
};
use serde::{Deserialize, Serialize};

use crate::discrete::leaves;
use crate::signal::shape;

/// The input several periods ago: `y[k] = u[k − length]`. The first `length` samples are `initial`.
///
/// The input does not feed through, so a delay breaks an algebraic loop. The period is stated with
/// `every:` or inherited from a discrete input. For a time that is no whole number of periods, or
/// in continuous time, see `TransportDelay`.
#[ports(
    |ty: &Any, unit: &PortUnit|
    in  u: ty.clone() as Any, unit.clone(), "what is delayed",
        shape "that of `initial`; any type, buses included, without it", units "that of `initial`";
    feeds();
    out y: ty.clone() as Any, unit.clone(), "the input that many periods ago",
        shape "that of `u`", units "that of `u`", elements u;
)]
#[parameters(aliases("z^-n", "buffer"))]
pub struct Delay {
    /// How many periods, from 1 to 1 000 000.
    pub length: usize,
    /// Output of the first periods: a number, a list for a vector, a list of rows for a matrix
    /// [unit of u]; default zeros of the type of `u`.
    pub initial: Option<Tensor>,
}

/// Most samples that a delay holds.
pub(crate) const MOST_SAMPLES: usize = 1_000_000;

/// Bytes of `length` samples of `width` numbers.
pub(crate) fn ring_memory(length: usize, width: usize) -> u64 {
    let numbers = (length as u64).saturating_mul(width as u64);
    numbers.saturating_mul(size_of::<f64>() as u64)
}

/// The last samples of a [`Delay`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ring {
    /// Sample after sample, leaf after leaf.
    samples: Vec<f64>,
    /// The oldest sample: the next output, and where the next input goes.
    oldest: usize,
}

#[block]
impl Block for Delay {
    type State = Ring;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        if !(1..=MOST_SAMPLES).contains(&self.length) {
            let message =
                format!("expected from 1 to {MOST_SAMPLES} periods, found {}", self.length);
            return Err(Invalid::parameter("length", message));
        }
        ports.rate(RateRule::Sampled);
        let (ty, unit) = shape::like(self.initial.as_ref(), ports)?;
        Ok(self.declare(ports, &ty, &unit))
    }

    fn state(&self, io: &Self::Plan, sizes: &Sizes<'_>) -> Ring {
        let sample = shape::initial_state(self.initial.as_ref(), sizes.output(io.y));
        Ring { samples: sample.repeat(self.length), oldest: 0 }
    }

    fn memory(&self, io: &Self::Plan, sizes: &Sizes<'_>) -> u64 {
        ring_memory(self.length, sizes.output(io.y))
    }

    fn numbers(&self, _: &Self::Plan, state: &Ring) -> Vec<f64> {
        let width = state.samples.len() / self.length;
        let newest = (state.oldest + self.length - 1) % self.length;
        state.samples[newest * width..(newest + 1) * width].to_vec()
    }

    fn set_numbers(&self, _: &Self::Plan, state: &mut Ring, numbers: &[f64]) {
        state.samples = numbers.repeat(self.length);
    }

    /// All samples, the oldest first.
    fn memory_numbers(&self, _: &Self::Plan, state: &Ring) -> Vec<f64> {
        let first = state.samples.len() / self.length * state.oldest;
        [&state.samples[first..], &state.samples[..first]].concat()
    }

    fn set_memory_numbers(&self, _: &Self::Plan, state: &mut Ring, numbers: &[f64]) {
        let first = state.samples.len() / self.length * state.oldest;
        let (older, newer) = numbers.split_at(state.samples.len() - first);
        state.samples[first..].copy_from_slice(older);
        state.samples[..first].copy_from_slice(newer);
    }

    fn accepts(&self, _: &Self::Plan, state: &Ring) -> bool {
        state.oldest < self.length
    }

    fn starting_at(&self, _: &Self::Plan, at: &[f64], outputs: &[Type]) -> Option<Parameters> {
        shape::starting_at("initial", self.initial.as_ref().and_then(Tensor::unit), at, outputs)
    }

    fn output(&self, io: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let width = cx.state.samples.len() / self.length;
        leaves::write(&cx.state.samples[cx.state.oldest * width..], io.y, &mut cx.outputs);
        Ok(())
    }

    fn update(&self, io: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let width = cx.state.samples.len() / self.length;
        leaves::read(cx.inputs.get(io.u), &mut cx.state.samples[cx.state.oldest * width..]);
        cx.state.oldest = (cx.state.oldest + 1) % self.length;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    #[test]
    fn the_output_is_the_input_of_so_many_hits_before() {
        let delay: Delay = block(json!({ "length": 3, "initial": 9 }));
        let mut bench = Bench::new(delay, &[Type::Real]).expect("a delay");
        assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
        let seen = bench.samples(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        assert_eq!(seen, [9.0, 9.0, 9.0, 0.0, 1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn arrays_are_delayed_leaf_by_leaf() {
        let feet = Type::array(Type::vector(2), 2);
        let delay: Delay = block(json!({ "length": 2 }));
        let mut bench = Bench::new(delay, &[feet]).expect("a delay");
        for u in [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]] {
            assert_eq!(bench.y(0.0, &[("u", &u)]), [0.0; 4]);
            bench.update(0.0);
        }
        assert_eq!(bench.y(0.0, &[]), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn a_delay_is_at_least_one_period() {
        let none: Delay = block(json!({ "length": 0 }));
        assert_eq!(refusal(none, &[]), "expected from 1 to 1000000 periods, found 0");
    }
}
