//! `ZeroOrderHold`: samples its input and holds it.

use legwork_block::{
    Any, Block, Outcome, OutputCx, RateRule, Slope, SlopesCx, block, parameters, ports,
};

/// Samples its input at each hit of its period and holds it in between. `y(t) = u(t_k)` for
/// `t_k ≤ t < t_k+1`.
///
/// State the period with `every:`. A hold is an output, not a delay: at a hit the input feeds
/// through, so two holds of one period in series equal one.
#[ports(
    // The engine holds the output of a block that is not due, so nothing is state here; the
    // rule is there because a hold without a period is a mistake.
    ports.rate(RateRule::Sampled);
    let (ty, unit) = (Any::var(ports.var()), ports.var());
    in  u: ty.clone() as Any, unit, "what is held", shape "any type, buses included", units "any";
    out y: ty as Any, unit, "the input at the last hit", shape "that of `u`", units "that of `u`",
        elements u;
)]
#[parameters(aliases("ZOH", "sample and hold"))]
pub struct ZeroOrderHold {}

#[block]
impl Block for ZeroOrderHold {
    fn output(&self, io: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        for (leaf, u) in cx.inputs.get(io.u).iter().enumerate() {
            cx.outputs.leaf(io.y, leaf).copy_from_slice(u);
        }
        Ok(())
    }

    fn output_slopes(&self, io: &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        for leaf in 0..cx.slopes.leaf_count(io.u) {
            let (y, u) = (cx.slopes.rows(io.y, leaf), cx.slopes.columns(io.u, leaf));
            cx.slopes.each(y, u, |_| 1.0);
        }
        Slope::Exact
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
