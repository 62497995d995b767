//! `Integrator`: integrates over continuous time.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, ContinuousState, Crossing, DerivativeCx, Dim, GuardCx, Invalid, Manifold, Outcome,
    OutputCx, Parameters, Ports, ResetCx, Sizes, Slope, SlopesCx, Type, UpdateCx, block,
    parameters, ports,
};

use crate::continuous::limits::{self, Limits, Start};
use crate::signal::pieces::{self, Piece};
use crate::signal::{shape, units};

/// Integrates over continuous time: `ẋ = u`, `y = x`, `x(0) = initial`.
///
/// The run's solver advances x. No input feeds through. For a vector of n zeros write
/// `initial: "=zeros(n)"`. For a position driven by an acceleration `SecondOrderIntegrator` lets a
/// semi-implicit solver use the new velocity.
///
/// With `reset`, x becomes `x0` (`initial` if that is not connected) when the input `reset` goes
/// over zero; a truth value counts as 0 and 1. A variable step is cut where it does; under fixed
/// steps it is noticed at the next major step. `x0` is read as it was before any reset.
///
/// With `lower` or `upper` the state does not go beyond them: an element stays at a limit while its
/// rate points outwards, and leaves it when the rate points inwards. A variable step is cut where
/// an element reaches or leaves a limit; under fixed steps both are noticed at the next major step,
/// which puts the element back to the limit.
#[ports(
    let ty = shape::signal(self.initial.shape());
    let given = [Some(&self.initial), self.lower.as_ref(), self.upper.as_ref()];
    let unit = given.into_iter().flatten().find_map(Tensor::unit);
    let unit = units::known_or_open(unit, ports);
    in  u: ty.clone() as Any, units::per_second(&unit), "rate of change",
        shape "that of `initial`", units "unit of y / s";
    in  reset: Any::var(ports.var()), _, "resets the state where it goes over zero",
        when self.reset.is_some(), shape "a number or a truth value", units "any",
        if "with the parameter `reset` only";
    in  x0?: ty.clone() as Any, unit.clone(), "the state after a reset", when self.reset.is_some(),
        shape "that of `initial`", units "that of `initial`";
    feeds();
    out y: ty as Any, unit, "the integral",
        shape "that of `initial`", units "that of `initial`, or any", elements u;
)]
#[parameters(aliases("1/s"))]
pub struct Integrator {
    /// State at t = 0: a number, a list for a vector, a list of rows for a matrix [any unit]. It
    /// also says what shape `u` and `y` have.
    #[default = 0]
    pub initial: Tensor,
    /// Which way the input `reset` must go over zero to reset the state; default: no such input.
    pub reset: Option<ResetOn>,
    /// Least value of the state, at most `initial` [unit of `initial`]; default none. A number
    /// stands for every element.
    pub lower: Option<Tensor>,
    /// Greatest value of the state, at least `initial` [unit of `initial`]; default none.
    pub upper: Option<Tensor>,
}

/// Which way a signal goes over zero.
#[parameters]
#[derive(Copy, PartialEq, Eq)]
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
    io: IntegratorPorts,
    /// Limits of each element, if there are any.
    limits: Option<Limits>,
    /// How many guards watch the input `reset`.
    reset_guards: usize,
}

#[block]
impl Block for Integrator {
    type Plan = Plan;
    /// Which elements stay at a limit; empty without limits.
    type State = Vec<Piece>;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        shape::finite("initial", &self.initial)?;
        let n = Dim::fixed(self.initial.data().len());
        ports.continuous_state(ContinuousState::First(vec![Manifold::Euclidean(n)]));
        let limits = {
            let initial = &self.initial;
            let start = Start {
                name: "initial",
                values: initial.data(),
                shape: initial.shape(),
                unit: initial.unit(),
            };
            Limits::new(&start, self.lower.as_ref(), self.upper.as_ref())?
        };
        // The guards of the reset come first.
        let edges = match self.reset {
            None => &[][..],
            Some(ResetOn::Rising) => &[Crossing::Rising],
            Some(ResetOn::Falling) => &[Crossing::Falling],
            Some(ResetOn::Either) => &[Crossing::Rising, Crossing::Falling],
        };
        edges.iter().for_each(|edge| ports.guard(*edge));
        if limits.is_some() {
            ports.updates();
            ports.guard(Crossing::Level);
            ports.pieces();
        }
        let reset_guards = edges.len();
        Ok(Plan { io: self.declare(ports), limits, reset_guards })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        match plan.io.reset.map(|reset| sizes.input(reset)) {
            None | Some(1) => Ok(()),
            Some(n) => {
                let message = format!("expected one number at the input `reset`, found {n}");
                Err(Invalid::parameter("reset", message))
            }
        }
    }

    fn state(&self, plan: &Plan, _: &Sizes<'_>) -> Vec<Piece> {
        pieces::held(plan.limits.is_some(), self.initial.data().len())
    }

    fn initial(&self, _: &Self::Plan, _: &Sizes<'_>, x: &mut [f64]) {
        x.copy_from_slice(self.initial.data());
    }

    fn starting_at(&self, _: &Plan, at: &[f64], outputs: &[Type]) -> Option<Parameters> {
        shape::starting_at("initial", self.initial.unit(), at, outputs)
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.get(plan.io.y).copy_from_slice(cx.x);
        Ok(())
    }

    fn derivative(&self, plan: &Plan, cx: &mut DerivativeCx<'_, Self>) -> Outcome {
        limits::rates(cx.inputs.get(plan.io.u).leaf(0), cx.state, cx.rate);
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let Some(limits) = &plan.limits else { return Ok(()) };
        let u = cx.inputs.get(plan.io.u).leaf(0);
        for (i, piece) in cx.state.iter_mut().enumerate() {
            *piece = limits.stays(i, cx.x[i], u[i]);
        }
        Ok(())
    }

    fn guard(&self, plan: &Plan, cx: &mut GuardCx<'_, Self>) {
        let (resets, rest) = cx.values.split_at_mut(plan.reset_guards);
        if let Some(reset) = plan.io.reset {
            let value = cx.inputs.get(reset).leaf(0).first().copied().unwrap_or(0.0);
            // Zero lies on the near side, just below: a truth value goes over it too.
            resets.fill(if value > 0.0 { value } else { value.min(-f64::MIN_POSITIVE) });
        }
        if let Some(limits) = &plan.limits {
            limits.guard(cx.x, cx.state, cx.inputs.get(plan.io.u).leaf(0), rest);
        }
    }

    fn reset(&self, plan: &Plan, cx: &mut ResetCx<'_, Self>) -> Outcome {
        if cx.fired[..plan.reset_guards].contains(&true) {
            let x0 = plan.io.x0.and_then(|x0| cx.inputs.optional(x0));
            let x0 = x0.map_or(self.initial.data(), |x0| x0.leaf(0));
            cx.x.copy_from_slice(x0);
        }
        if let Some(limits) = &plan.limits {
            limits.apply(cx.x);
        }
        Ok(())
    }

    fn output_slopes(&self, plan: &Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        cx.slopes.each(cx.slopes.rows(plan.io.y, 0), cx.slopes.state(), |_| 1.0);
        Slope::Exact
    }

    fn rate_slopes(&self, plan: &Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        limits::rate_slopes(cx.state, plan.io.u, &mut cx.slopes);
        Slope::Exact
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

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
    fn at_a_limit_only_rates_that_point_inwards_count() {
        let integrator: Integrator =
            block(json!({ "initial": [1, 0, -2], "lower": [-5, -5, -2], "upper": 1 }));
        let mut bench = Bench::new(integrator, &[Type::vector(3)]).expect("an integrator");
        for (u, rate) in [([3.0; 3], [0.0, 3.0, 3.0]), ([-3.0; 3], [-3.0, -3.0, 0.0])] {
            bench.set("u", &u);
            bench.update(0.0);
            assert_eq!(bench.derivative(0.0), rate);
        }
    }

    #[test]
    fn the_state_starts_between_its_limits() {
        let message = refusal(block::<Integrator>(json!({ "initial": 2, "upper": 1 })), &[]);
        assert_eq!(message, "expected a limit of at least `initial` = 2, found 1");
        let limits = json!({ "initial": "1 m", "lower": "0 N" });
        assert_eq!(refusal(block::<Integrator>(limits), &[]), "expected the unit m, found N");
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
