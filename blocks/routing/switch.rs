//! `Switch`: one of two signals.

use legwork_block::quantity::Scalar;
use legwork_block::{
    Any, Block, GuardCx, In, Invalid, Out, Outcome, OutputCx, Ports, Sizes, Type, UpdateCx,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::signal::pieces;

/// One of two signals: `u1` where `control` meets the criterion, otherwise `u2`.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u1`, `u2` | any type, buses included, both the same | any, both the same |
/// | in `control` | number; truth value with `criterion: True` | that of the threshold |
/// | out `y` | that of `u1` | that of `u1` |
///
/// With a threshold, a variable step is cut where `control` passes it. `NonZero` is not located: a
/// number that moves is zero at an instant only.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["if", "multiplexer"]))]
pub struct Switch {
    /// When `u1` passes: `AtLeast(threshold)`, `Above(threshold)`, `NonZero` or `True`; default
    /// `AtLeast(0)`.
    #[serde(default)]
    pub criterion: Criterion,
}

/// When the first input of a [`Switch`] passes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub enum Criterion {
    /// `control ≥ threshold` [any unit].
    AtLeast(Scalar),
    /// `control > threshold` [any unit].
    Above(Scalar),
    /// `control ≠ 0`.
    NonZero,
    /// `control` is true.
    True,
}

impl Default for Criterion {
    fn default() -> Self {
        Self::AtLeast(Scalar { value: 0.0, unit: None })
    }
}

impl Criterion {
    #[inline]
    fn met(&self, control: f64) -> bool {
        match self {
            Self::AtLeast(threshold) => control >= threshold.value,
            Self::Above(threshold) => control > threshold.value,
            Self::NonZero | Self::True => control != 0.0,
        }
    }
}

/// Ports of a [`Switch`].
pub struct Plan {
    u1: In<Any>,
    control: In<Any>,
    u2: In<Any>,
    y: Out<Any>,
    located: bool,
}

impl Block for Switch {
    const KIND: &'static str = "Switch";
    type Plan = Plan;
    /// Whether the criterion was met at the last major step, if a variable step is cut at changes.
    type State = Option<bool>;
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let (ty, unit) = (Any::var(ports.var()), ports.var());
        let u1 = ports.input("u1", &ty);
        let control = match self.criterion {
            Criterion::True => ports.input("control", &Any(Type::Bool)),
            _ => ports.input("control", &Any(Type::Real)),
        };
        let u2 = ports.input("u2", &ty);
        let y = ports.output("y", &ty);
        ports.note_in(u1).same_unit(unit).doc("passes where the criterion is met");
        ports.note_in(u2).same_unit(unit).doc("passes otherwise");
        ports.note_out(y).same_unit(unit);
        let mut located = false;
        if let Criterion::AtLeast(threshold) | Criterion::Above(threshold) = &self.criterion {
            located = ports.pieces();
            if let Some(unit) = threshold.unit {
                ports.note_in(control).unit(&unit.to_string());
            }
        }
        Ok(Plan { u1, control, u2, y, located })
    }

    fn state(&self, plan: &Plan, _: &Sizes<'_>) -> Option<bool> {
        plan.located.then_some(false)
    }

    fn scratch(&self, _: &Plan, _: &Sizes<'_>) {}

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let met = match *cx.state {
            Some(held) if cx.time.minor => held,
            _ => self.criterion.met(cx.inputs.get(plan.control).leaf(0)[0]),
        };
        let passing = if met { plan.u1 } else { plan.u2 };
        for (leaf, u) in cx.inputs.get(passing).iter().enumerate() {
            cx.outputs.leaf(plan.y, leaf).copy_from_slice(u);
        }
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        if let Some(held) = cx.state {
            *held = self.criterion.met(cx.inputs.get(plan.control).leaf(0)[0]);
        }
        Ok(())
    }

    fn guard(&self, plan: &Plan, cx: &mut GuardCx<'_, Self>) {
        let control = cx.inputs.get(plan.control).leaf(0)[0];
        let (Criterion::AtLeast(threshold) | Criterion::Above(threshold)) = &self.criterion else {
            return;
        };
        let left = *cx.state != Some(self.criterion.met(control));
        cx.values.fill(pieces::left(left, control - threshold.value));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    /// Whether `u1` passes at this value of `control`.
    fn passes(criterion: &serde_json::Value, ty: Type, control: f64) -> bool {
        let switch: Switch = block(json!({ "criterion": criterion }));
        let mut bench = Bench::new(switch, &[Type::Real, ty, Type::Real]).expect("a switch");
        let y = bench.y(0.0, &[("u1", &[1.0]), ("control", &[control]), ("u2", &[2.0])]);
        y == [1.0]
    }

    #[test]
    fn the_criterion_decides_at_its_threshold() {
        for (criterion, below, at, above) in [
            (json!({ "AtLeast": 0.5 }), false, true, true),
            (json!({ "Above": 0.5 }), false, false, true),
        ] {
            assert_eq!(passes(&criterion, Type::Real, 0.4), below, "{criterion}");
            assert_eq!(passes(&criterion, Type::Real, 0.5), at, "{criterion}");
            assert_eq!(passes(&criterion, Type::Real, 0.6), above, "{criterion}");
        }
        assert!(passes(&json!("NonZero"), Type::Real, -0.1));
        assert!(!passes(&json!("NonZero"), Type::Real, 0.0));
        assert!(passes(&json!("True"), Type::Bool, 1.0));
        assert!(!passes(&json!("True"), Type::Bool, 0.0));
    }

    #[test]
    fn whole_arrays_pass_leaf_by_leaf() {
        let feet = || Type::array(Type::vector(2), 2);
        let given = [feet(), Type::Real, feet()];
        let mut bench = Bench::new(block::<Switch>(json!({})), &given).expect("a switch");
        let (u1, u2) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
        assert_eq!(bench.y(0.0, &[("u1", &u1), ("control", &[0.0]), ("u2", &u2)]), u1);
        assert_eq!(bench.y(0.0, &[("control", &[-1.0])]), u2);
    }
}
