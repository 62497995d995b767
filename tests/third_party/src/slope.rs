//! A block that calls a function, as a third party writes it.

use legwork_block::{
    Argument, Block, Function, Invalid, Outcome, OutputCx, Ports, Real, ResultOf, Sizes,
    parameters, ports,
};

/// The slope of a function at u by a central difference: `y = (f(u + h) - f(u - h)) / (2 h)`.
///
/// It calls the function that `needs:` binds to `f` twice per output.
#[ports(
    in  u: Real, _, "where the slope is taken";
    out y: Real, _, "the slope";
)]
#[parameters]
pub struct Slope {
    /// Half the distance h of the two points, above zero [unit of u].
    pub h: f64,
}

/// Ports, and the function with its argument and result.
pub struct Plan {
    io: SlopePorts,
    f: Function,
    argument: Argument<Real>,
    value: ResultOf<Real>,
}

impl Block for Slope {
    const KIND: &'static str = "Slope";
    type Plan = Plan;
    type State = ();
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        if !(self.h > 0.0 && self.h.is_finite()) {
            return Err(Invalid::parameter("h", "expected a distance above zero"));
        }
        let io = self.declare(ports);
        let f = ports.function("f");
        let argument = ports.argument(f, "u", &Real);
        let value = ports.result(f, "y", &Real);
        Ok(Plan { io, f, argument, value })
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) {}

    fn scratch(&self, _: &Plan, _: &Sizes<'_>) {}

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let u = cx.inputs.get(plan.io.u);
        let mut call = cx.functions.of(plan.f);
        call.set(plan.argument, u + self.h);
        let above = call.run()?.get(plan.value);
        call.set(plan.argument, u - self.h);
        let below = call.run()?.get(plan.value);
        cx.outputs.set(plan.io.y, (above - below) / (2.0 * self.h));
        Ok(())
    }
}
