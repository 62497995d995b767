//! `Clock`: the time.

use legwork_block::{
    Block, Outcome, OutputCx, RateRule, Real, SymbolicUnit, Unit, block, parameters, ports,
};

/// The time: `y = t`.
///
/// It follows minor steps too; with `every:` it holds the time of the last hit.
#[ports(
    ports.rate(RateRule::Continuous);
    out y: Real, SymbolicUnit::from(Unit::RUN_SECOND), "time since the start of the run",
        shape "number", units "s";
)]
#[parameters(aliases("time"))]
pub struct Clock {}

#[block]
impl Block for Clock {
    fn output(&self, io: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.set(io.y, cx.time.t);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;

    #[test]
    fn the_output_is_the_time() {
        let mut bench = Bench::new(Clock {}, &[]).expect("a clock");
        assert_eq!(bench.y(0.0, &[]), [0.0]);
        assert_eq!(bench.y(0.1, &[]), [0.1]);
    }
}
