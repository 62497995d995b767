//! `Jacobian`: the Jacobian of a frame of a robot.

use std::sync::Arc;

use legwork_block::{Inputs, Matrix, Outcome, Outputs, Pure, block, parameters, ports};
use legwork_mechanics::{FrameId, Kinematics, frame_jacobian_in};

use crate::buses::{RobotDims, StateBus};
use crate::robot::frames::Representation;
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Jacobian of a frame of a robot: `(v, ω) = J ν`.
///
/// | `representation` | linear velocity | axes | elsewhere |
/// |---|---|---|---|
/// | `Mixed` | of the frame's origin | world | iDynTree MIXED, Pinocchio LOCAL_WORLD_ALIGNED |
/// | `Body` | of the frame's origin | frame | iDynTree BODY_FIXED, Pinocchio LOCAL |
/// | `World` | of the body at the origin | world | iDynTree INERTIAL_FIXED, Pinocchio WORLD |
///
/// `Jᵀ w` is the generalised force of a wrench w = (force, moment) on the robot in the same
/// representation: for `Mixed` the moment is about the frame's origin, in world axes.
///
/// R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 4.5.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    keep frame: FrameId = robot.frame("frame", &self.frame)?;
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    let axes = self.representation.axes(&self.frame);
    in  state: StateBus::of(ports, self.robot.as_str()), _,
        "configuration and velocity; only q matters";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    out jacobian: Matrix::of(6, nv), _, "rows: linear, angular velocity, in `representation`",
        frame axes, units "1, m";
)]
#[parameters(aliases("frame Jacobian"))]
pub struct Jacobian {
    /// The robot.
    pub robot: RobotName,
    /// Name of a link of the robot file.
    pub frame: String,
    /// How the velocity is written: `Mixed` (the default), `Body` or `World`.
    #[default]
    pub representation: Representation,
}

#[block]
impl Pure for Jacobian {
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let kinematics = inputs.shared(plan.kinematics);
        let representation = self.representation;
        let out = outputs.get(plan.jacobian);
        frame_jacobian_in(&plan.robot.model, kinematics, plan.frame, representation, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinematics::forward_kinematics::ForwardKinematics;
    use crate::robot::frames::read_placement;
    use crate::testing::robots::{Rig, check_reference_frames, close, for_each_reference};

    #[test]
    fn the_mixed_jacobian_is_that_of_pinocchio() {
        check_reference_frames(
            |robot, frame| Jacobian {
                robot: robot.into(),
                frame: frame.into(),
                representation: Representation::Mixed,
            },
            "jacobian",
            |frame, order| frame.columns("jacobian", order),
        );
    }

    /// `Body = diag(Rᵀ, Rᵀ) Mixed`, `World = [1, [p]×; 0, 1] Mixed`.
    #[test]
    fn the_other_representations_follow_from_the_mixed_one() {
        for_each_reference(|robot, reference, order| {
            let (q, nu) = reference.state(order);
            for frame in reference.frame_names() {
                let name = || robot.name.as_str().into();
                let jacobian = |representation: Representation| {
                    let block = Jacobian { robot: name(), frame: frame.clone(), representation };
                    let mut rig = Rig::new(block, robot, &[]);
                    rig.set("state", &[&q, &nu]);
                    rig.output();
                    rig.leaf("jacobian", 0)
                };
                let block = ForwardKinematics {
                    robot: name(),
                    frame: frame.clone(),
                    representation: Representation::Mixed,
                };
                let mut rig = Rig::new(block, robot, &[]);
                rig.set("state", &[&q, &nu]);
                rig.output();
                let place = read_placement(&rig.leaf("pose", 0));
                let (mut body, mut world) = (Vec::new(), Vec::new());
                for column in jacobian(Representation::Mixed).chunks_exact(6) {
                    let v = nalgebra::Vector3::from_column_slice(&column[..3]);
                    let w = nalgebra::Vector3::from_column_slice(&column[3..]);
                    let axes = place.rotation.transpose();
                    body.extend((axes * v).iter().chain((axes * w).iter()));
                    world.extend((v + place.translation.cross(&w)).iter().chain(w.iter()));
                }
                close(&jacobian(Representation::Body), &body, 1e-14);
                close(&jacobian(Representation::World), &world, 1e-14);
            }
        });
    }
}
