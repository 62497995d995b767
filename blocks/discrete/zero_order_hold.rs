//! `ZeroOrderHold`: samples its input and holds it.

use legwork_block::{Any, Block, In, Invalid, Out, Outcome, OutputCx, Ports, RateRule, Sizes};
use schemars::JsonSchema;
use serde::Deserialize;

/// Samples its input at each hit of its period and holds it in between. `y(t) = u(t_k)` for
/// `t_k ≤ t < t_k+1`.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | any type, buses included | any |
/// | out `y` | that of `u` | that of `u` |
///
/// State the period with `every:`. A hold is an output, not a delay: at a hit the input feeds
/// through, so two holds of one period in series equal one.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["ZOH", "sample and hold"]))]
pub struct ZeroOrderHold {}

impl Block for ZeroOrderHold {
    const KIND: &'static str = "ZeroOrderHold";
    type Plan = (In<Any>, Out<Any>);
    type State = ();
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        // The engine holds the output of a block that is not due, so nothing is state here; the
        // rule is there because a hold without a period is a mistake.
        ports.rate(RateRule::Sampled);
        let (ty, unit) = (Any::var(ports.var()), ports.var());
        let u = ports.input("u", &ty);
        let y = ports.output("y", &ty);
        ports.note_in(u).same_unit(unit);
        ports.note_out(y).same_unit(unit).doc("the input at the last hit");
        Ok((u, y))
    }

    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn output(&self, &(u, y): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        for (leaf, u) in cx.inputs.get(u).iter().enumerate() {
            cx.outputs.leaf(y, leaf).copy_from_slice(u);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, Type};

    use super::*;
    use crate::testing::Bench;

    #[test]
    fn the_output_is_the_input_at_the_hit() {
        let mut bench = Bench::new(ZeroOrderHold {}, &[Type::vector(2)]).expect("a hold");
        assert_eq!(bench.declaration.groups, [Feeds::All]);
        assert_eq!(bench.y(0.0, &[("u", &[1.0, 2.0])]), [1.0, 2.0]);
        bench.set("u", &[3.0, 4.0]);
        assert_eq!(bench.value("y"), [1.0, 2.0], "held until the next hit");
        assert_eq!(bench.y(0.1, &[]), [3.0, 4.0]);
    }

    #[test]
    fn a_hold_needs_a_period() {
        let bench = Bench::new(ZeroOrderHold {}, &[Type::Real]).expect("a hold");
        assert_eq!(bench.declaration.rate, RateRule::Sampled);
    }
}
