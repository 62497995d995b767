//! `SecondOrderIntegrator`: a position driven by its acceleration.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, ContinuousState, DerivativeCx, Dim, In, Invalid, Manifold, NO_FEEDS, Out, Outcome,
    OutputCx, Ports, Sizes, Unit,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::shape::{self, Common};

/// A position driven by its acceleration: `ẍ = u`, outputs `position` = x and `velocity` = ẋ.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | that of `position` and `velocity`; a number stands for every element of the other | unit of the position / s² |
/// | out `position` | that of `u` | unit of the position |
/// | out `velocity` | that of `u` | unit of the position / s |
///
/// The input does not feed through. The semi-implicit Euler solver advances the velocity first and
/// the position with the new velocity; two `Integrator`s in series would use the old one.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecondOrderIntegrator {
    /// Position at t = 0: a number, a list for a vector, a list of rows for a matrix [any unit];
    /// default 0.
    #[serde(default = "shape::zero")]
    pub position: Tensor,
    /// Velocity at t = 0 [unit of `position` / s]; default 0.
    #[serde(default = "shape::zero")]
    pub velocity: Tensor,
}

/// Ports and initial values of a [`SecondOrderIntegrator`].
pub struct Plan {
    u: In<Any>,
    position: Out<Any>,
    velocity: Out<Any>,
    /// Position, then velocity.
    initial: Vec<f64>,
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
}

impl Block for SecondOrderIntegrator {
    const KIND: &'static str = "SecondOrderIntegrator";
    type Plan = Plan;
    type State = ();
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        shape::finite("position", &self.position)?;
        shape::finite("velocity", &self.velocity)?;
        let unit = self.unit()?;
        let shape = Common::shape(&[("position", &self.position), ("velocity", &self.velocity)])?;
        let common = Common { shape, unit };
        let ty = shape::signal(&common.shape);
        let mut initial = common.spread(&self.position);
        let n = Dim::fixed(initial.len());
        initial.extend(common.spread(&self.velocity));
        ports.continuous_state(ContinuousState::Second(vec![Manifold::Euclidean(n)]));
        let u = ports.input("u", &ty);
        ports.note_in(u).doc("acceleration");
        ports.group(&NO_FEEDS);
        let position = ports.output("position", &ty);
        let velocity = ports.output("velocity", &ty);
        if let Some(unit) = common.unit {
            ports.note_out(position).unit(&unit.to_string());
            let rate = unit.over(Unit::SECOND);
            if let Some(rate) = rate {
                ports.note_out(velocity).unit(&rate.to_string());
            }
            if let Some(second_rate) = rate.and_then(|rate| rate.over(Unit::SECOND)) {
                ports.note_in(u).unit(&second_rate.to_string());
            }
        }
        Ok(Plan { u, position, velocity, initial })
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) {}

    fn scratch(&self, _: &Plan, _: &Sizes<'_>) {}

    fn initial(&self, plan: &Plan, _: &Sizes<'_>, x: &mut [f64]) {
        x.copy_from_slice(&plan.initial);
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (position, velocity) = cx.x.split_at(cx.x.len() / 2);
        cx.outputs.get(plan.position).copy_from_slice(position);
        cx.outputs.get(plan.velocity).copy_from_slice(velocity);
        Ok(())
    }

    fn derivative(&self, plan: &Plan, cx: &mut DerivativeCx<'_, Self>) -> Outcome {
        cx.rate.copy_from_slice(cx.inputs.get(plan.u).leaf(0));
        Ok(())
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
    fn units_differ_by_seconds() {
        let block: SecondOrderIntegrator = block(json!({ "velocity": "2 m/s" }));
        let bench = Bench::new(block, &[Type::Real]).expect("an integrator");
        let unit = |unit: &str| PortUnit::Is(unit.into());
        assert_eq!(bench.declaration.outputs[0].unit, unit("m"));
        assert_eq!(bench.declaration.outputs[1].unit, unit("m/s"));
        assert_eq!(bench.declaration.inputs[0].unit, unit("m/s^2"));
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
