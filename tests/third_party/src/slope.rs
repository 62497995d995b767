//! A block that calls a function, as a third party writes it.

use legwork_block::{
    Argument, Block, Function, Invalid, Outcome, OutputCx, Real, ResultOf, block, parameters, ports,
};

/// The slope of a function at u by a central difference: `y = (f(u + h) - f(u - h)) / (2 h)`.
///
/// It calls the function that `needs:` binds to `f` twice per output.
#[ports(
    self.check_distance()?;
    in  u: Real, _, "where the slope is taken";
    out y: Real, _, "the slope";
    keep f: Function = ports.function("f");
    keep argument: Argument<Real> = ports.argument(f, "u", &Real);
    keep value: ResultOf<Real> = ports.result(f, "y", &Real);
)]
#[parameters]
pub struct Slope {
    /// Half the distance h of the two points, above zero [unit of u].
    pub h: f64,
}

impl Slope {
    fn check_distance(&self) -> Result<(), Invalid> {
        if self.h > 0.0 && self.h.is_finite() {
            return Ok(());
        }
        Err(Invalid::parameter("h", "expected a distance above zero"))
    }
}

#[block]
impl Block for Slope {
    fn output(&self, plan: &SlopePorts, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let u = cx.inputs.get(plan.u);
        let mut call = cx.functions.of(plan.f);
        call.set(plan.argument, u + self.h);
        let above = call.run()?.get(plan.value);
        call.set(plan.argument, u - self.h);
        let below = call.run()?.get(plan.value);
        cx.outputs.set(plan.y, (above - below) / (2.0 * self.h));
        Ok(())
    }
}
