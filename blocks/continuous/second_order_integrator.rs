//! `SecondOrderIntegrator`: a position driven by its acceleration.

use legwork_block::quantity::{Scalar, Tensor};
use legwork_block::{
    Any, Block, ContinuousState, Crossing, DerivativeCx, Dim, GuardCx, Invalid, Manifold, Outcome,
    OutputCx, Parameters, Ports, ResetCx, Sizes, Slope, SlopesCx, Type, Unit, UpdateCx, Written,
    block, parameters, ports,
};

use crate::continuous::limits::{self, Limits, Start};
use crate::signal::divergence;
use crate::signal::pieces::{self, Piece};
use crate::signal::shape::{self, Common, rate_of};
use crate::signal::units;

/// Position and velocity from acceleration: `ẍ = u`. The outputs are `position` = x and `velocity`
/// = ẋ.
///
/// With `lower` or `upper` the position does not go beyond them: an element that reaches a limit
/// rebounds, `ẋ⁺ = −restitution · ẋ⁻` (Newton's law of impact), and comes to rest there if it would
/// rebound more slowly than `rest`. It stays at rest while the acceleration points outwards. A
/// variable step is cut at impacts and where an element leaves a limit; under fixed steps both are
/// noticed at the next major step, which puts the element back to the limit and takes from its speed
/// what it gained beyond: `√(ẋ² − 2 u d)` at the distance d. Then an element also comes to rest if
/// it would rebound more slowly than the acceleration changes its speed in a step.
///
/// A position that is known to be a length or an angle, by the unit of a parameter, and moves
/// faster than 1e9 m/s or rad/s is a fault of the run: it has diverged.
///
/// The input does not feed through. The semi-implicit Euler solver advances the velocity first and
/// the position with the new velocity; two `Integrator`s in series would use the old one.
#[ports(
    |common: &Common|
    let ty = shape::signal(&common.shape);
    let unit = units::known_or_open(common.unit, ports);
    let second = Unit::RUN_SECOND.into();
    let rate = unit.over(&second).unwrap_or_else(|| units::open(ports));
    in  u: ty.clone() as Any, units::per_second(&rate), "acceleration",
        shape "that of `position`, `velocity`; numbers are broadcast",
        units "unit of `position` / s²";
    feeds();
    out position: ty.clone() as Any, unit, "the position x",
        shape "that of `u`", units "unit of the position";
    out velocity: ty as Any, rate, "its rate ẋ",
        shape "that of `u`", units "unit of the position / s";
)]
#[parameters(aliases("double integrator", "1/s^2"))]
pub struct SecondOrderIntegrator {
    /// Position at t = 0: a number, a list for a vector, a list of rows for a matrix [any unit].
    #[default = 0]
    pub position: Tensor,
    /// Velocity at t = 0 [unit of `position` / s].
    #[default = 0]
    pub velocity: Tensor,
    /// Least position, at most `position` [unit of `position`]; default none. A number stands for
    /// every element.
    pub lower: Option<Tensor>,
    /// Greatest position, at least `position` [unit of `position`]; default none.
    pub upper: Option<Tensor>,
    /// Part of its speed with which an element leaves a limit, from 0 to 1 [1].
    #[default]
    pub restitution: f64,
    /// Speed below which an element does not leave a limit again, zero or more [unit of
    /// `velocity`].
    #[default = 1e-6]
    pub rest: Scalar,
}

/// Ports and initial values of a [`SecondOrderIntegrator`].
pub struct Plan {
    io: SecondOrderIntegratorPorts,
    /// Position, then velocity.
    initial: Vec<f64>,
    /// Limits of each element of the position, if there are any.
    limits: Option<Limits>,
    /// Time by which an impact may be noticed late: a fixed step [s].
    delay: f64,
    /// Unit of the position.
    unit: Option<Unit>,
    /// Whether that is known to be of a length or an angle.
    is_motion: bool,
}

impl SecondOrderIntegrator {
    /// The unit of the position, from either parameter.
    fn unit(&self) -> Result<Option<Unit>, Invalid> {
        let from_velocity = self.velocity.unit().and_then(|unit| unit.times(Unit::SECOND));
        match (self.position.unit(), from_velocity) {
            (Some(position), Some(other)) if !position.agrees(other) => Err(Invalid::parameter(
                "velocity",
                format!(
                    "expected a unit that gives {position} over time, found one that gives {other}"
                ),
            )),
            (position, other) => Ok(position.or(other)),
        }
    }

    /// The limits of the position, whose shape and unit are `common`.
    fn limits(&self, common: &Common) -> Result<Option<Limits>, Invalid> {
        if !(0.0..=1.0).contains(&self.restitution) {
            let message = format!("expected a number from 0 to 1, found {}", self.restitution);
            return Err(Invalid::parameter("restitution", message));
        }
        if !(self.rest.value >= 0.0 && self.rest.value.is_finite()) {
            let message = format!("expected a speed of zero or more, found {}", self.rest.value);
            return Err(Invalid::parameter("rest", message));
        }
        if let (Some(expected), Some(found)) = (rate_of(common.unit), self.rest.unit)
            && !expected.agrees(found)
        {
            let message = format!("expected the unit {expected}, found {found}");
            return Err(Invalid::parameter("rest", message));
        }
        let start = common.spread(&self.position);
        let start =
            Start { name: "position", values: &start, shape: &common.shape, unit: common.unit };
        Limits::new(&start, self.lower.as_ref(), self.upper.as_ref())
    }
}

#[block]
impl Block for SecondOrderIntegrator {
    type Plan = Plan;
    /// Which elements rest at a limit; empty without limits.
    type State = Vec<Piece>;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        shape::finite("position", &self.position)?;
        shape::finite("velocity", &self.velocity)?;
        let unit = self.unit()?;
        let shape = Common::shape(&[("position", &self.position), ("velocity", &self.velocity)])?;
        let common = Common { shape, unit };
        let limits = self.limits(&common)?;
        if limits.is_some() {
            ports.updates();
            ports.guard(Crossing::Level);
            ports.pieces();
        }
        let mut initial = common.spread(&self.position);
        let n = Dim::fixed(initial.len());
        initial.extend(common.spread(&self.velocity));
        ports.continuous_state(ContinuousState::Second(vec![Manifold::Euclidean(n)]));
        let io = self.declare(ports, &common);
        let is_motion =
            unit.is_some_and(|unit| unit.agrees(Unit::METRE) || unit.agrees(Unit::RADIAN));
        let delay = if ports.locates() { 0.0 } else { ports.step() };
        Ok(Plan { io, initial, limits, delay, unit, is_motion })
    }

    fn state(&self, plan: &Plan, _: &Sizes<'_>) -> Vec<Piece> {
        pieces::held(plan.limits.is_some(), plan.initial.len() / 2)
    }

    fn initial(&self, plan: &Plan, _: &Sizes<'_>, x: &mut [f64]) {
        x.copy_from_slice(&plan.initial);
    }

    fn starting_at(&self, plan: &Plan, at: &[f64], outputs: &[Type]) -> Option<Parameters> {
        let ty = outputs.first()?;
        let (position, velocity) = at.split_at(at.len() / 2);
        let rate = rate_of(plan.unit);
        Some(vec![
            ("position", Written::signal(ty, plan.unit, position)?),
            ("velocity", Written::signal(ty, rate, velocity)?),
        ])
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (position, velocity) = cx.x.split_at(cx.x.len() / 2);
        if plan.is_motion && !cx.time.minor && divergence::is_too_fast(velocity) {
            return Err(divergence::too_fast(velocity, |i| format!("`velocity[{i}]`")));
        }
        cx.outputs.get(plan.io.position).copy_from_slice(position);
        cx.outputs.get(plan.io.velocity).copy_from_slice(velocity);
        Ok(())
    }

    fn derivative(&self, plan: &Plan, cx: &mut DerivativeCx<'_, Self>) -> Outcome {
        limits::rates(cx.inputs.get(plan.io.u).leaf(0), cx.state, cx.rate);
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let Some(limits) = &plan.limits else { return Ok(()) };
        let (position, velocity) = cx.x.split_at(cx.x.len() / 2);
        let u = cx.inputs.get(plan.io.u).leaf(0);
        for (i, piece) in cx.state.iter_mut().enumerate() {
            *piece = match limits.stays(i, position[i], u[i]) {
                _ if velocity[i] != 0.0 => Piece::Inside,
                stays => stays,
            };
        }
        Ok(())
    }

    fn guard(&self, plan: &Plan, cx: &mut GuardCx<'_, Self>) {
        if let Some(limits) = &plan.limits {
            let position = &cx.x[..cx.x.len() / 2];
            limits.guard(position, cx.state, cx.inputs.get(plan.io.u).leaf(0), cx.values);
        }
    }

    /// Impact of every element that is beyond a limit.
    fn reset(&self, plan: &Plan, cx: &mut ResetCx<'_, Self>) -> Outcome {
        let Some(limits) = &plan.limits else { return Ok(()) };
        let (position, velocity) = cx.x.split_at_mut(cx.x.len() / 2);
        let u = cx.inputs.get(plan.io.u).leaf(0);
        for (i, (x, v)) in position.iter().zip(velocity).enumerate() {
            let (lower, upper) = limits.of(i);
            // Positive outwards.
            let outwards = if *x < lower { -1.0 } else { 1.0 };
            if (*x < lower || *x > upper) && outwards * *v > 0.0 {
                let mut speed = outwards * *v;
                let mut least = self.rest.value;
                let pressing = outwards * u[i];
                if plan.delay > 0.0 && pressing > 0.0 {
                    // What the element gained beyond the limit is not a part of its impact.
                    let beyond = if *x < lower { lower - *x } else { *x - upper };
                    speed = libm::sqrt((speed * speed - 2.0 * pressing * beyond).max(0.0));
                    least = least.max(pressing * plan.delay);
                }
                let rebound = self.restitution * speed;
                *v = if rebound < least { 0.0 } else { -outwards * rebound };
            }
        }
        limits.apply(position);
        Ok(())
    }

    fn output_slopes(&self, plan: &Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let slopes = &mut cx.slopes;
        let (state, position) = (slopes.state(), slopes.rows(plan.io.position, 0));
        let (velocity, n) = (slopes.rows(plan.io.velocity, 0), position.len());
        for i in 0..n {
            slopes.add((position, i), (state, i), 1.0);
            slopes.add((velocity, i), (state, n + i), 1.0);
        }
        Slope::Exact
    }

    fn rate_slopes(&self, plan: &Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        limits::rate_slopes(cx.state, plan.io.u, &mut cx.slopes);
        Slope::Exact
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, PortUnit, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    #[test]
    fn the_state_is_position_then_velocity_and_its_rate_the_acceleration() {
        let block: SecondOrderIntegrator = block(json!({ "position": [1, 2], "velocity": 3 }));
        let mut bench = Bench::new(block, &[Type::vector(2)]).expect("an integrator");
        assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
        assert_eq!(bench.x, [1.0, 2.0, 3.0, 3.0]);
        bench.set("u", &[-9.81, 0.5]);
        bench.output(0.0).expect("no fault");
        assert_eq!(bench.value("position"), [1.0, 2.0]);
        assert_eq!(bench.value("velocity"), [3.0, 3.0]);
        assert_eq!(bench.derivative(0.0), [-9.81, 0.5]);
    }

    #[test]
    fn at_a_limit_it_rebounds_or_rests() {
        let json =
            json!({ "position": [0, 0], "velocity": [0, -2], "lower": 0, "restitution": 0.5 });
        let mut bench =
            Bench::new(block::<SecondOrderIntegrator>(json), &[Type::vector(2)]).expect("it");
        bench.set("u", &[-1.0, -1.0]);
        bench.update(0.0);
        assert_eq!(bench.derivative(0.0), [0.0, -1.0], "one rests, the other moves");
        bench.set("u", &[1.0, -1.0]);
        bench.update(0.0);
        assert_eq!(bench.derivative(0.0), [1.0, -1.0], "it is pulled off");
    }

    #[test]
    fn a_speed_that_nothing_has_is_a_fault_where_it_is_one() {
        let output = |json| {
            let mut bench =
                Bench::new(block::<SecondOrderIntegrator>(json), &[Type::Real]).expect("it");
            bench.output(0.0).map_err(|fault| fault.to_string())
        };
        let found = output(json!({ "position": "1 m", "velocity": -1.1e9 })).expect_err("too fast");
        assert!(found.starts_with("`velocity[0]` moves at -1.1e9, more than 1e9 m/s"), "{found}");
        assert!(output(json!({ "position": "1 m", "velocity": 1e9 })).is_ok());
        assert!(output(json!({ "velocity": 1e30 })).is_ok(), "a number of no unit");
    }

    #[test]
    fn limits_lie_around_the_start_and_have_its_unit() {
        let refused = |json| refusal(block::<SecondOrderIntegrator>(json), &[]);
        let message = refused(json!({ "position": 1, "lower": 2 }));
        assert_eq!(message, "expected a limit of at most `position` = 1, found 2");
        let message = refused(json!({ "position": "1 m", "upper": "2 N" }));
        assert_eq!(message, "expected the unit m, found N");
        let message = refused(json!({ "position": "1 m", "lower": 0, "rest": "1 m" }));
        assert_eq!(message, "expected the unit m/s, found m");
        let message = refused(json!({ "restitution": 1.5 }));
        assert_eq!(message, "expected a number from 0 to 1, found 1.5");
    }

    #[test]
    fn units_differ_by_seconds() {
        let block: SecondOrderIntegrator = block(json!({ "velocity": "2 m/s" }));
        let bench = Bench::new(block, &[Type::Real]).expect("an integrator");
        let unit = |unit: Unit| PortUnit::Of(unit.into());
        assert_eq!(bench.declaration.outputs[0].unit, unit(Unit::METRE));
        assert_eq!(bench.declaration.outputs[1].unit, unit(Unit::METRE_PER_SECOND));
        assert_eq!(bench.declaration.inputs[0].unit, unit(Unit::METRE_PER_SECOND_SQUARED));
    }

    #[test]
    fn position_and_velocity_belong_together() {
        let units: SecondOrderIntegrator = block(json!({ "position": "1 m", "velocity": "1 m" }));
        assert!(refusal(units, &[]).starts_with("expected a unit that gives m over time"));
        let shapes: SecondOrderIntegrator =
            block(json!({ "position": [1, 2], "velocity": [1, 2, 3] }));
        assert_eq!(refusal(shapes, &[]), "expected the shape [2], found [3]");
    }
}
