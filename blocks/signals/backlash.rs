//! `Backlash`: play in a gear.

use legwork_block::quantity::Tensor;
use legwork_block::{Block, Invalid, Outcome, OutputCx, Ports, Sizes, UpdateCx};
use schemars::JsonSchema;
use serde::Deserialize;

use super::elementwise::{Each, Ends, ends};
use crate::shape::{self, Common, spread};

/// Play in a gear: the output stays while the input moves inside the play around it, and is pushed
/// at its ends: `y = min(max(y₀, u − width/2), u + width/2)` with the last output y₀.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | any of number, vector, matrix if all parameters are numbers; otherwise theirs | that of the parameters |
/// | out `y` | that of `u` | that of `u` |
///
/// y₀ is that of the last major step (the last sample, with `every:`): where the input turns inside
/// a step, the turn is seen at its end. The input feeds through.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Backlash {
    /// Width of the play, zero or more [unit of u].
    pub width: Tensor,
    /// Output before t = 0 [unit of u]; default 0.
    #[serde(default = "shape::zero")]
    pub initial: Tensor,
}

/// Ports of a [`Backlash`] and half its width.
pub struct Plan {
    ends: Ends,
    width: Each,
}

impl Plan {
    #[inline]
    fn pushed(&self, i: usize, u: f64, last: f64) -> f64 {
        let half = 0.5 * self.width.at(i);
        crate::saturation::limit(last, (u - half, u + half))
    }
}

impl Block for Backlash {
    const KIND: &'static str = "Backlash";
    type Plan = Plan;
    /// The last output.
    type State = Vec<f64>;
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        shape::finite("width", &self.width)?;
        shape::finite("initial", &self.initial)?;
        let common = Common::of(&[("width", &self.width), ("initial", &self.initial)])?;
        let width = Each::new(&self.width);
        if let Some(wrong) = width.values().iter().find(|width| **width < 0.0) {
            let message = format!("expected a width of zero or more, found {wrong}");
            return Err(Invalid::parameter("width", message));
        }
        ports.updates();
        Ok(Plan { ends: ends(&common, ports), width })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, plan.ends.0)
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> Vec<f64> {
        spread(&self.initial, sizes.output(plan.ends.1))
    }

    fn scratch(&self, _: &Plan, _: &Sizes<'_>) {}

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (u, y) = plan.ends;
        let u = cx.inputs.get(u).leaf(0);
        let last = cx.state.iter();
        for (i, ((y, &u), &last)) in cx.outputs.get(y).iter_mut().zip(u).zip(last).enumerate() {
            *y = plan.pushed(i, u, last);
        }
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        for (i, &u) in cx.inputs.get(plan.ends.0).leaf(0).iter().enumerate() {
            cx.state[i] = plan.pushed(i, u, cx.state[i]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    /// Up, back and down again: it follows half a width behind, and stands while the play is crossed.
    #[test]
    fn the_output_is_pushed_at_the_ends_of_the_play() {
        let play: Backlash = block(json!({ "width": 2 }));
        let mut bench = Bench::new(play, &[Type::Real]).expect("a play");
        let mut seen = Vec::new();
        for u in [0.0, 0.5, 1.0, 3.0, 2.0, 1.0, 0.0, -1.0] {
            seen.push(bench.y(0.0, &[("u", &[u])])[0]);
            bench.update(0.0);
        }
        assert_eq!(seen, [0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 1.0, 0.0]);
    }

    #[test]
    fn without_play_the_output_is_the_input() {
        let none: Backlash = block(json!({ "width": 0, "initial": [5, 5] }));
        let mut bench = Bench::new(none, &[Type::vector(2)]).expect("a play");
        assert_eq!(bench.y(0.0, &[("u", &[-3.0, 8.0])]), [-3.0, 8.0]);
    }

    #[test]
    fn the_width_is_not_negative() {
        let message = refusal(block::<Backlash>(json!({ "width": -1 })), &[]);
        assert_eq!(message, "expected a width of zero or more, found -1");
    }
}
