//! `DotJNu`: the acceleration of a frame that velocity alone causes.

use std::sync::Arc;

use legwork_block::{
    Inputs, Invalid, Outcome, Outputs, Ports, Pure, Vector, block, parameters, ports,
};
use legwork_mechanics::{
    FrameId, Kinematics, frame_jacobian_dot_velocity_in, relative_jacobian_dot_velocity,
};

use crate::buses::StateBus;
use crate::robot::frames::{Representation, write_twist};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Bias acceleration `J̇ν` of a frame of a robot: its rate of velocity at ν̇ = 0. The rate of its
/// velocity is `J ν̇ + J̇ν`.
///
/// In the `Mixed` representation it is the classical acceleration of the frame's origin and the
/// angular acceleration, in world axes; in the others the rate of the numbers themselves.
///
/// R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 2.11 for the classical and the
/// spatial acceleration.
#[ports(
    |robot: &Arc<RobotModel>|
    let own = self.representation.axes(&self.frame);
    let axes = self.relative_to.as_deref().unwrap_or(own);
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, robot, state);
    out y: Vector::of(6), _, "J of `Jacobian`, or of `RelativeJacobian` with `relative_to`",
        frame axes, units "m/s², rad/s²";
)]
#[parameters(aliases("Jdot qdot", "JdotNu", "bias acceleration"))]
pub struct DotJNu {
    /// The robot.
    pub robot: RobotName,
    /// Name of a link of the robot file.
    pub frame: String,
    /// How the velocity is written: `Mixed` (the default), `Body` or `World`.
    #[default]
    pub representation: Representation,
    /// Name of a link that sees the motion, in whose axes it is then; default: the world does.
    pub relative_to: Option<String>,
}

/// Ports and frames of [`DotJNu`].
pub struct Plan {
    robot: Arc<RobotModel>,
    frame: FrameId,
    relative_to: Option<FrameId>,
    io: DotJNuPorts,
}

#[block]
impl Pure for DotJNu {
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let robot = self.robot.find(ports)?;
        let frame = robot.frame("frame", &self.frame)?;
        let find = |name: &String| robot.frame("relative_to", name);
        let relative_to = self.relative_to.as_ref().map(find).transpose()?;
        if relative_to.is_some() && self.representation != Representation::Mixed {
            let message = "expected no representation of motion relative to a frame, found one";
            return Err(Invalid::parameter("representation", message)
                .hint("leave it out: relative motion is in the axes of `relative_to`"));
        }
        let io = self.declare(ports, &robot);
        Ok(Plan { robot, frame, relative_to, io })
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let model = &plan.robot.model;
        let kinematics = inputs.shared(plan.io.kinematics);
        let rate = match plan.relative_to {
            Some(from) => relative_jacobian_dot_velocity(model, kinematics, from, plan.frame),
            None => {
                let representation = self.representation;
                frame_jacobian_dot_velocity_in(model, kinematics, plan.frame, representation)
            }
        };
        write_twist(outputs.get(plan.io.y), &rate);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinematics::forward_kinematics::ForwardKinematics;
    use crate::kinematics::relative_transform::RelativeTransform;
    use crate::testing::robots::{Rig, States, check_reference_frames, go, refusal};

    fn block(representation: Representation, relative_to: Option<&str>) -> DotJNu {
        let frame = "FL_foot".into();
        let relative_to = relative_to.map(str::to_owned);
        DotJNu { robot: "go".into(), frame, representation, relative_to }
    }

    #[test]
    fn dot_j_nu_is_that_of_pinocchio() {
        check_reference_frames(
            |robot, frame| DotJNu {
                robot: robot.into(),
                frame: frame.into(),
                representation: Representation::Mixed,
                relative_to: None,
            },
            "y",
            |frame, _| frame.numbers("jdot_nu"),
        );
    }

    /// At ν̇ = 0 the velocity's difference along the motion `q ⊕ ν dt` is J̇ν.
    fn check_difference(mut rate: Rig, mut velocity: Rig) {
        let go = go();
        for (q, nu) in States::of(&go, 10) {
            rate.set("state", &[&q, &nu]);
            rate.output();
            let dt = 1e-5;
            let [before, after] = [-dt, dt].map(|dt| {
                let motion: Vec<f64> = nu.iter().map(|v| v * dt).collect();
                let mut moved = q.clone();
                legwork_mechanics::integrate(&go.model, &q, &motion, &mut moved);
                velocity.set("state", &[&moved, &nu]);
                velocity.output();
                velocity.leaf("velocity", 0)
            });
            for (i, y) in rate.leaf("y", 0).into_iter().enumerate() {
                let expected = (after[i] - before[i]) / (2.0 * dt);
                // Third derivatives of some 1e3 times dt²/6, and rounding over dt.
                assert!((y - expected).abs() < 1e-6, "{i}: {y} for {expected}");
            }
        }
    }

    #[test]
    fn it_is_the_rate_of_the_velocity_in_every_representation() {
        for representation in [Representation::Mixed, Representation::Body, Representation::World] {
            let velocity =
                ForwardKinematics { robot: "go".into(), frame: "FL_foot".into(), representation };
            let rate = Rig::new(block(representation, None), &go(), &[]);
            check_difference(rate, Rig::new(velocity, &go(), &[]));
        }
    }

    #[test]
    fn it_is_the_rate_of_relative_velocity() {
        for from in ["HR_foot", "trunk", "FL_thigh"] {
            let velocity =
                RelativeTransform { robot: "go".into(), from: from.into(), to: "FL_foot".into() };
            let rate = Rig::new(block(Representation::Mixed, Some(from)), &go(), &[]);
            check_difference(rate, Rig::new(velocity, &go(), &[]));
        }
    }

    #[test]
    fn relative_motion_has_no_other_representation() {
        let invalid = refusal(block(Representation::Body, Some("HR_foot")), &go(), &[], &[]);
        assert_eq!(invalid.parameter.as_deref(), Some("representation"));
    }
}
