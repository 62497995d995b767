//! `Switch`: one of two signals.

use legwork_block::quantity::Scalar;
use legwork_block::{
    Any, Block, GuardCx, Outcome, OutputCx, Sizes, Slope, SlopesCx, Type, UpdateCx, block,
    parameters, ports,
};

use crate::signal::pieces;

/// One of two signals: `u1` where `control` meets the criterion, otherwise `u2`.
///
/// With a threshold, a variable step is cut where `control` passes it. `NonZero` is not located: a
/// number that moves is zero at an instant only.
#[ports(
    let (decides, threshold, located) = match &self.criterion {
        Criterion::AtLeast(threshold) | Criterion::Above(threshold) => {
            (Type::Real, threshold.unit, ports.pieces())
        }
        Criterion::NonZero => (Type::Real, None, false),
        Criterion::True => (Type::Bool, None, false),
    };
    keep located: bool = located;
    let (ty, unit) = (Any::var(ports.var()), ports.var());
    in  u1: ty.clone() as Any, unit, "passes where the criterion is met",
        shape "any type, buses included", units "any";
    in  control: Any(decides), threshold, "what decides",
        shape "number; truth value with `criterion: True`", units "that of the threshold";
    in  u2: ty.clone() as Any, unit, "passes otherwise", shape "that of `u1`", units "that of `u1`";
    out y: ty as Any, unit, "what passes", shape "that of `u1`", units "that of `u1`";
)]
#[parameters(aliases("if", "multiplexer"))]
pub struct Switch {
    /// When `u1` passes: `AtLeast(threshold)`, `Above(threshold)`, `NonZero` or `True`; default
    /// `AtLeast(0)`.
    #[default]
    pub criterion: Criterion,
}

/// When the first input of a [`Switch`] passes.
#[parameters]
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

#[block]
impl Block for Switch {
    /// Whether the criterion was met at the last major step, if a variable step is cut at changes.
    type State = Option<bool>;

    fn state(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Option<bool> {
        plan.located.then_some(false)
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
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

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        if let Some(held) = cx.state {
            *held = self.criterion.met(cx.inputs.get(plan.control).leaf(0)[0]);
        }
        Ok(())
    }

    fn guard(&self, plan: &Self::Plan, cx: &mut GuardCx<'_, Self>) {
        let control = cx.inputs.get(plan.control).leaf(0)[0];
        let (Criterion::AtLeast(threshold) | Criterion::Above(threshold)) = &self.criterion else {
            return;
        };
        let left = *cx.state != Some(self.criterion.met(control));
        cx.values.fill(pieces::left(left, control - threshold.value));
    }

    /// What passes has the slope 1; at the threshold itself differences say more.
    fn output_slopes(&self, plan: &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let control = cx.inputs.get(plan.control).leaf(0)[0];
        let met = match (&self.criterion, *cx.state) {
            (_, Some(held)) if cx.time.minor => held,
            (Criterion::AtLeast(threshold) | Criterion::Above(threshold), _)
                if threshold.value == control =>
            {
                return Slope::Unknown;
            }
            (criterion, _) => criterion.met(control),
        };
        let passing = if met { plan.u1 } else { plan.u2 };
        for leaf in 0..cx.slopes.leaf_count(passing) {
            let (y, u) = (cx.slopes.rows(plan.y, leaf), cx.slopes.columns(passing, leaf));
            cx.slopes.each(y, u, |_| 1.0);
        }
        Slope::Exact
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
