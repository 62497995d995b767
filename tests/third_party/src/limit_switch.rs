//! A block with memory, as a third party writes it.

use legwork_block::{
    Block, Bool, Invalid, Outcome, OutputCx, Ports, RateRule, Real, Report, UpdateCx, block,
    parameters, ports,
};

/// Latches: `y` is true from the period after `u` first exceeds the limit.
///
/// The output depends on state only, so that it may be in a loop.
#[ports(
    in  u: Real, _, "what is watched";
    feeds();
    out y: Bool, _, "whether it was above the limit";
)]
#[parameters]
pub struct LimitSwitch {
    /// The limit [unit of u].
    pub limit: f64,
}

#[block]
impl Block for LimitSwitch {
    type State = bool;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        if !self.limit.is_finite() {
            return Err(Invalid::parameter("limit", "expected a finite limit"));
        }
        ports.rate(RateRule::Sampled);
        Ok(self.declare(ports))
    }

    fn output(&self, io: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.set(io.y, f64::from(u8::from(*cx.state)));
        Ok(())
    }

    fn update(&self, io: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        *cx.state |= cx.inputs.get(io.u) > self.limit;
        Ok(())
    }

    fn report(&self, _: &Self::Plan, state: &bool, report: &mut Report) {
        report.metric("tripped", f64::from(u8::from(*state)));
    }
}
