//! A block with memory, as a third party writes it.

use legwork_block::{
    Block, Bool, In, Invalid, NO_FEEDS, Out, Outcome, OutputCx, Ports, RateRule, Real, Report,
    Sizes, UpdateCx,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// Latches: `y` is true from the period after `u` first exceeds the limit.
///
/// The output depends on state only, so that it may be in a loop.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitSwitch {
    /// The limit [unit of u].
    pub limit: f64,
}

impl Block for LimitSwitch {
    const KIND: &'static str = "LimitSwitch";
    type Plan = (In<Real>, Out<Bool>);
    type State = bool;
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        if !self.limit.is_finite() {
            return Err(Invalid::parameter("limit", "expected a finite limit"));
        }
        ports.rate(RateRule::Sampled);
        let u = ports.input("u", &Real);
        ports.group(&NO_FEEDS);
        Ok((u, ports.output("y", &Bool)))
    }

    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) -> bool {
        false
    }

    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn output(&self, &(_, y): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.set(y, f64::from(u8::from(*cx.state)));
        Ok(())
    }

    fn update(&self, &(u, _): &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        *cx.state |= cx.inputs.get(u) > self.limit;
        Ok(())
    }

    fn report(&self, _: &Self::Plan, state: &bool, report: &mut Report) {
        report.metric("tripped", f64::from(u8::from(*state)));
    }
}
