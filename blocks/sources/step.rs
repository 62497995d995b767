//! `Step`: a jump at a time.

use legwork_block::quantity::{Tensor, Time};
use legwork_block::{
    Any, Block, GuardCx, Outcome, OutputCx, RateRule, Sizes, UpdateCx, block, parameters, ports,
};

use crate::signal::pieces;
use crate::signal::shape::{self, Common};

/// A jump at a time: `y = before` for t < `time`, `y = after` for t ≥ `time`.
///
/// A variable step is cut at the jump. A fixed step that ends at the jump does not see it, so that
/// every method keeps its order where `time` is a whole multiple of the step; elsewhere the jump
/// takes effect at the first step after it.
#[ports(
    shape::finite("before", &self.before)?;
    shape::finite("after", &self.after)?;
    let common = Common::of(&[("before", &self.before), ("after", &self.after)])?;
    ports.rate(RateRule::Continuous);
    keep before: Vec<f64> = common.spread(&self.before);
    keep after: Vec<f64> = common.spread(&self.after);
    keep located: bool = ports.pieces_of_time();
    out y: shape::signal(&common.shape) as Any, common.unit, "before, then after",
        shape "that of `before` and `after`; numbers are broadcast", units "theirs";
)]
#[parameters(aliases("jump", "Heaviside"))]
pub struct Step {
    /// Time of the jump [s].
    #[default = "1 s"]
    pub time: Time,
    /// Value before the jump [any unit].
    #[default = 0]
    pub before: Tensor,
    /// Value from the jump on [unit of `before`].
    #[default = 1]
    pub after: Tensor,
}

#[block]
impl Block for Step {
    /// Whether the jump was behind at the last major step, if there are minor ones.
    type State = Option<bool>;

    fn state(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Option<bool> {
        plan.located.then_some(false)
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let after = match *cx.state {
            Some(held) if cx.time.minor => held,
            _ => cx.time.t >= self.time.value(),
        };
        let value = if after { &plan.after } else { &plan.before };
        cx.outputs.get(plan.y).copy_from_slice(value);
        Ok(())
    }

    fn update(&self, _: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        if let Some(after) = cx.state {
            *after = cx.time.t >= self.time.value();
        }
        Ok(())
    }

    fn guard(&self, _: &Self::Plan, cx: &mut GuardCx<'_, Self>) {
        cx.values.fill(pieces::passed(*cx.state == Some(true), cx.time.t, self.time.value()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    #[test]
    fn the_jump_belongs_to_the_time_after_it() {
        let step: Step = block(json!({ "time": "500 ms", "before": -1, "after": 3 }));
        let mut bench = Bench::new(step, &[]).expect("a step");
        assert_eq!(bench.y(0.0, &[]), [-1.0]);
        assert_eq!(bench.y(0.5 - 1e-12, &[]), [-1.0]);
        assert_eq!(bench.y(0.5, &[]), [3.0]);
        assert_eq!(bench.y(9.0, &[]), [3.0]);
    }

    #[test]
    fn a_number_stands_for_every_element() {
        let step: Step = block(json!({ "after": ["1 m", 2] }));
        let mut bench = Bench::new(step, &[]).expect("a step");
        assert_eq!(bench.y(0.0, &[]), [0.0, 0.0]);
        assert_eq!(bench.y(1.0, &[]), [1.0, 2.0]);
    }

    #[test]
    fn both_values_have_one_shape_and_one_unit() {
        let shapes: Step = block(json!({ "before": [1, 2], "after": [1, 2, 3] }));
        assert_eq!(refusal(shapes, &[]), "expected the shape [2], found [3]");
        let units: Step = block(json!({ "before": "1 m", "after": "1 s" }));
        assert_eq!(refusal(units, &[]), "expected the unit m, found s");
    }
}
