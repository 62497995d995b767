//! `Integrator`: integrates over continuous time.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, ContinuousState, Crossing, DerivativeCx, Dim, GuardCx, In, Invalid, Manifold,
    NO_FEEDS, OptionalIn, Out, Outcome, OutputCx, Ports, ResetCx, Sizes,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::shape;

/// Integrates over continuous time: `ẋ = u`, `y = x`, `x(0) = initial`.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | that of `initial` | unit of y / s, not checked |
/// | in `reset`, with the parameter `reset` only | a number or a truth value | any |
/// | in `x0`, optional with it | that of `initial` | that of `initial` |
/// | out `y` | that of `initial` | that of `initial` |
///
/// The run's solver advances x. No input feeds through. For a vector of n zeros write
/// `initial: "=zeros(n)"`. For a position driven by an acceleration `SecondOrderIntegrator` lets a
/// semi-implicit solver use the new velocity.
///
/// With `reset`, x becomes `x0` (`initial` if that is not connected) when the input `reset` goes
/// over zero; a truth value counts as 0 and 1. A variable step is cut where it does; under fixed
/// steps it is noticed at the next major step. `x0` is read as it was before any reset.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Integrator {
    /// State at t = 0: a number, a list for a vector, a list of rows for a matrix [any unit];
    /// default 0. It also says what shape `u` and `y` have.
    #[serde(default = "shape::zero")]
    pub initial: Tensor,
    /// Which way the input `reset` must go over zero to reset the state; default: no such input.
    #[serde(default)]
    pub reset: Option<ResetOn>,
}

/// Which way a signal goes over zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum ResetOn {
    /// From zero or below to above.
    Rising,
    /// From above zero to zero or below.
    Falling,
    /// Any of the two.
    Either,
}

/// Ports of an [`Integrator`].
pub struct Plan {
    u: In<Any>,
    reset: Option<(In<Any>, OptionalIn<Any>)>,
    y: Out<Any>,
}

impl Block for Integrator {
    const KIND: &'static str = "Integrator";
    type Plan = Plan;
    type State = ();
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        shape::finite("initial", &self.initial)?;
        let ty = shape::signal(self.initial.shape());
        let n = Dim::fixed(self.initial.data().len());
        ports.continuous_state(ContinuousState::First(vec![Manifold::Euclidean(n)]));
        let u = ports.input("u", &ty);
        ports.note_in(u).doc("rate of change");
        let reset = self.reset.map(|edge| {
            let any = Any::var(ports.var());
            let reset = ports.input("reset", &any);
            ports.note_in(reset).doc("resets the state where it goes over zero");
            let x0 = ports.optional_input("x0", &ty);
            ports.note_optional(x0).doc("the state after a reset");
            if edge != ResetOn::Falling {
                ports.guard(Crossing::Rising);
            }
            if edge != ResetOn::Rising {
                ports.guard(Crossing::Falling);
            }
            (reset, x0)
        });
        ports.group(&NO_FEEDS);
        let y = ports.output("y", &ty);
        ports.note_out(y).doc("the integral");
        if let Some(unit) = self.initial.unit() {
            ports.note_out(y).unit(&unit.to_string());
        }
        Ok(Plan { u, reset, y })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        match plan.reset.map(|(reset, _)| sizes.input(reset)) {
            None | Some(1) => Ok(()),
            Some(n) => {
                let message = format!("expected one number at the input `reset`, found {n}");
                Err(Invalid::parameter("reset", message))
            }
        }
    }

    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn initial(&self, _: &Self::Plan, _: &Sizes<'_>, x: &mut [f64]) {
        x.copy_from_slice(self.initial.data());
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.get(plan.y).copy_from_slice(cx.x);
        Ok(())
    }

    fn derivative(&self, plan: &Plan, cx: &mut DerivativeCx<'_, Self>) -> Outcome {
        cx.rate.copy_from_slice(cx.inputs.get(plan.u).leaf(0));
        Ok(())
    }

    fn guard(&self, plan: &Plan, cx: &mut GuardCx<'_, Self>) {
        let Some((reset, _)) = plan.reset else { return };
        let value = cx.inputs.get(reset).leaf(0).first().copied().unwrap_or(0.0);
        // Zero lies on the near side, just below: a truth value goes over it too.
        cx.values.fill(if value > 0.0 { value } else { value.min(-f64::MIN_POSITIVE) });
    }

    fn reset(&self, plan: &Plan, cx: &mut ResetCx<'_, Self>) -> Outcome {
        let x0 = plan.reset.and_then(|(_, x0)| cx.inputs.optional(x0));
        let x0 = x0.map_or(self.initial.data(), |x0| x0.leaf(0));
        cx.x.copy_from_slice(x0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    #[test]
    fn the_output_is_the_state_and_its_rate_the_input() {
        let integrator: Integrator = block(json!({ "initial": [1, 2] }));
        let mut bench = Bench::new(integrator, &[Type::vector(2)]).expect("an integrator");
        assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
        assert_eq!(bench.y(0.0, &[("u", &[-1.0, 5.0])]), [1.0, 2.0]);
        assert_eq!(bench.derivative(0.0), [-1.0, 5.0]);
        bench.x = vec![7.0, 8.0];
        assert_eq!(bench.y(0.0, &[]), [7.0, 8.0]);
    }

    #[test]
    fn euler_steps_of_a_constant_rate_add_up() {
        let mut bench =
            Bench::new(block::<Integrator>(json!({})), &[Type::Real]).expect("an integrator");
        bench.set("u", &[2.0]);
        for _ in 0..8 {
            bench.x[0] += 0.125 * bench.derivative(0.0)[0];
        }
        assert_eq!(bench.y(1.0, &[]), [2.0]);
    }
}
