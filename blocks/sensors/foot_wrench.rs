//! `FootWrench`: force and moment of a foot's contacts, as a sensor in the foot has them.

use std::sync::Arc;

use legwork_block::quantity::{Force, NonNegative, Torque};
use legwork_block::{
    Block, Outcome, OutputCx, PortUnit, RateRule, Unit, UpdateCx, Vector, block, parameters, ports,
};
use legwork_mechanics::{FrameId, Kinematics, frame_position, world_from_frame};
use nalgebra::{Matrix3, Vector3};

use crate::buses::{ContactBus, ContactPointsBus, RobotDims, StateBus, contact_points};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;
use crate::signal::philox::Stream;

/// Units of a force and a moment.
fn wrench_unit() -> PortUnit {
    let units = [Unit::NEWTON, Unit::NEWTON_METRE].map(|unit| vec![Some(unit.into()); 3]);
    PortUnit::List(units.concat())
}

/// Force and moment of the contacts of a foot, as a force-torque sensor gives them. They are the
/// sum of the contact forces on the robot, and of their moments about the origin o of a frame of
/// the foot, `Σ (p_i − o) × f_i`.
///
/// With `axes: World` it is dual to the `Mixed` Jacobian of the frame, with `axes: Frame` to the
/// `Body` one: `Jᵀ wrench = Σ J_iᵀ f_i`. Forces of several feet in one vector are selected by path,
/// `solve.f[0..12]`.
///
/// Noise is off by default; with it, `wrench` has independent normal errors in each sample, whose
/// period `every:` states.
///
/// Reference: N. Guedelha et al., *A flexible MATLAB/Simulink simulator for robotic floating-base
/// systems in contact with the ground* (2022), outputs `wrench_LFoot`, `wrench_RFoot`, in the frame
/// of each foot.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    keep frame: FrameId = robot.frame("frame", &self.frame)?;
    /// Standard deviations of force and moment.
    keep noise: [f64; 2] = [
        self.force_noise.map_or(0.0, NonNegative::value),
        self.moment_noise.map_or(0.0, NonNegative::value),
    ];
    if noise.iter().any(|deviation| *deviation > 0.0) {
        ports.rate(RateRule::Sampled);
    }
    keep key: u64 = ports.random_key(self.seed);
    let (k, nv) = (ports.dim(), RobotDims::of(ports, self.robot.as_str()).nv);
    let axes = if self.axes == Axes::World { "world" } else { &self.frame };
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    in  contacts: contact_points(&k, &nv) as ContactPointsBus, _, "the k contacts of this foot";
    in  f: Vector::of(3 * k), "N",
        "forces on the robot at them, each in its contact's axes (t₁, t₂, n)", frame "contact";
    out wrench: Vector::of(6), wrench_unit(),
        "force, moment on the robot about the frame's origin, in `axes`", frame axes,
        units "N, N m";
)]
#[parameters(aliases("force-torque sensor", "F/T sensor", "ZMP"))]
pub struct FootWrench {
    /// The robot.
    pub robot: RobotName,
    /// Name of the link of the robot file about whose origin moments are.
    pub frame: String,
    /// In which axes the wrench is: `World` (the default) or `Frame`.
    #[default]
    pub axes: Axes,
    /// Standard deviation of each force in one sample [N]; default 0.
    pub force_noise: Option<NonNegative<Force>>,
    /// Standard deviation of each moment in one sample [N m]; default 0.
    pub moment_noise: Option<NonNegative<Torque>>,
    /// Which stream of this block's random numbers.
    #[default]
    pub seed: u64,
}

/// The axes in which a vector is.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Axes {
    /// Those of the world.
    #[default]
    World,
    /// Those of the frame.
    Frame,
}

#[block]
impl Block for FootWrench {
    /// The number of the sample.
    type State = u64;

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let kinematics = cx.inputs.shared(plan.kinematics);
        let model = &plan.robot.model;
        let origin = frame_position(model, kinematics, plan.frame);
        let (mut force, mut moment) = (Vector3::zeros(), Vector3::zeros());
        let contacts = cx.inputs.get(plan.contacts);
        for (i, f) in cx.inputs.get(plan.f).chunks_exact(3).enumerate() {
            // A row without surfaces, such as the end of a joint's range, is no force on a foot.
            if contacts.leaf(i, ContactBus::ROW)[0] != 0.0 {
                continue;
            }
            let axes = Matrix3::from_column_slice(contacts.leaf(i, ContactBus::AXES));
            let f = axes * Vector3::from_column_slice(f);
            let position = Vector3::from_column_slice(contacts.leaf(i, ContactBus::POSITION));
            force += f;
            moment += (position - origin).cross(&f);
        }
        if self.axes == Axes::Frame {
            let rotation = world_from_frame(model, kinematics, plan.frame).rotation;
            force = rotation.tr_mul(&force);
            moment = rotation.tr_mul(&moment);
        }
        let out = cx.outputs.get(plan.wrench);
        out[..3].copy_from_slice(force.as_slice());
        out[3..].copy_from_slice(moment.as_slice());
        if plan.noise == [0.0; 2] {
            return Ok(());
        }
        let stream = Stream::new(plan.key);
        for (i, out) in out.iter_mut().enumerate() {
            let deviation = plan.noise[i / 3];
            if deviation > 0.0 {
                *out += deviation * stream.normal(*cx.state, i);
            }
        }
        Ok(())
    }

    fn update(&self, _: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        *cx.state = cx.state.wrapping_add(1);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
