//! The nodes that the compiler puts before a conditional part (semantics 6.1): they determine
//! whether its blocks are on.

use serde::{Deserialize, Serialize};

use crate::block::{Block, GuardCx, OutputCx, Sizes, UpdateCx};
use crate::declaration::{Crossing, RateRule};
use crate::fault::{Invalid, Outcome};
use crate::ports::Ports;
use crate::signal::{Any, Bool, In, Out};

/// Which change of sign a trigger waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignChange {
    /// From zero or below to above.
    Rising,
    /// From above zero to zero or below.
    Falling,
    /// Any of the two.
    Either,
}

impl SignChange {
    /// Whether the control signal crossed this edge; true means above zero.
    fn is_met(self, before: bool, now: bool) -> bool {
        match self {
            Self::Rising => !before && now,
            Self::Falling => before && !now,
            Self::Either => before != now,
        }
    }
}

/// When a conditional part is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// While its control signal is above zero.
    Enabled,
    /// At the major step at which its control signal crosses an edge, not at t = 0.
    Triggered(SignChange),
    /// At every n-th hit of its rate, the first included.
    Every(u32),
}

/// Whether the blocks of a conditional part are on. The control signal, a number or a truth value,
/// counts as on above zero.
#[derive(Debug, Clone)]
pub struct Condition {
    /// When the part is on.
    pub test: Test,
    /// Whether it is inside another conditional part.
    pub nested: bool,
    /// Number of incoming signals, for [`Test::Every`]: they determine its rate.
    pub input_count: usize,
}

/// Ports of a condition.
pub struct ConditionPlan {
    control: Option<In<Any>>,
    around: Option<In<Bool>>,
    active: Out<Bool>,
    starts: Out<Bool>,
}

/// State of a condition between major steps.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct ConditionState {
    was_on: bool,
    /// Whether the control signal was above zero, once it has been read.
    was_above: Option<bool>,
    hits: u64,
}

impl Condition {
    fn now(&self, plan: &ConditionPlan, state: &ConditionState, cx: &crate::Inputs<'_>) -> Now {
        let above = plan.control.is_some_and(|control| is_above(cx.get(control).leaf(0)));
        let allowed = plan.around.is_none_or(|around| cx.get(around));
        let met = match self.test {
            Test::Enabled => above,
            Test::Triggered(edge) => {
                state.was_above.is_some_and(|before| edge.is_met(before, above))
            }
            Test::Every(n) => state.hits.is_multiple_of(u64::from(n)),
        };
        Now { above, allowed, on: met && allowed }
    }
}

struct Now {
    above: bool,
    allowed: bool,
    on: bool,
}

fn is_above(control: &[f64]) -> bool {
    control.first().is_some_and(|&control| control > 0.0)
}

impl Block for Condition {
    const KIND: &'static str = "Condition";
    type Plan = ConditionPlan;
    type State = ConditionState;
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let mut control = None;
        if self.test == Test::Enabled || matches!(self.test, Test::Triggered(_)) {
            let ty = ports.var();
            control = Some(ports.input("by", &Any::var(ty)));
            if matches!(
                self.test,
                Test::Enabled | Test::Triggered(SignChange::Rising | SignChange::Either)
            ) {
                ports.locate(Crossing::Rising);
            }
            if matches!(
                self.test,
                Test::Enabled | Test::Triggered(SignChange::Falling | SignChange::Either)
            ) {
                ports.locate(Crossing::Falling);
            }
            ports.updates();
        } else {
            for i in 0..self.input_count {
                let ty = ports.var();
                ports.input(format!("u{}", i + 1), &Any::var(ty));
            }
            ports.rate(RateRule::Sampled);
        }
        let around = self.nested.then(|| ports.input("around", &Bool));
        ports.per_major();
        let feeds: Vec<_> = control.map(In::feed).into_iter().chain(around.map(In::feed)).collect();
        ports.group(&feeds);
        let active = ports.output("active", &Bool);
        let starts = ports.output("starts", &Bool);
        Ok(ConditionPlan { control, around, active, starts })
    }

    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        match plan.control.map(|control| (sizes.input_leaves(control), sizes.input(control))) {
            None | Some((1, 1)) => Ok(()),
            Some((_, numbers)) => Err(Invalid::parameter(
                "by",
                format!("expected one number or truth value, found {numbers} numbers"),
            )),
        }
    }

    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) -> ConditionState {
        ConditionState::default()
    }

    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let now = self.now(plan, cx.state, &cx.inputs);
        cx.outputs.set(plan.active, f64::from(now.on));
        cx.outputs.set(plan.starts, f64::from(now.on && !cx.state.was_on));
        Ok(())
    }

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let now = self.now(plan, cx.state, &cx.inputs);
        cx.state.was_on = now.on;
        cx.state.was_above = Some(now.above);
        cx.state.hits += u64::from(now.allowed);
        Ok(())
    }

    fn guard(&self, plan: &Self::Plan, cx: &mut GuardCx<'_, Self>) {
        let Some(control) = plan.control else { return };
        let control = cx.inputs.get(control).leaf(0).first().copied().unwrap_or(0.0);
        // A switch has no third value: zero counts as just below zero.
        let value = if control > 0.0 { control } else { control.min(-f64::MIN_POSITIVE) };
        cx.values.fill(value);
    }
}
