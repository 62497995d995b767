//! `Clock`: the time.

use legwork_block::{Block, Invalid, Out, Outcome, OutputCx, Ports, RateRule, Real, Sizes};
use schemars::JsonSchema;
use serde::Deserialize;

/// The time: `y = t`.
///
/// | port | shape | unit |
/// |---|---|---|
/// | out `y` | number | s |
///
/// It follows minor steps too; with `every:` it holds the time of the last hit.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["time"]))]
pub struct Clock {}

impl Block for Clock {
    const KIND: &'static str = "Clock";
    type Plan = Out<Real>;
    type State = ();
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.rate(RateRule::Continuous);
        let y = ports.output("y", &Real);
        ports.note_out(y).unit("s").doc("time since the start of the run");
        Ok(y)
    }

    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn output(&self, &y: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.set(y, cx.time.t);
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
