//! `FootWrench`: force and moment of a foot's contacts, as a sensor in the foot has them.

use legwork_block::quantity::{Force, NonNegative, Torque};
use legwork_block::{
    Block, In, Invalid, Out, Outcome, OutputCx, Ports, RateRule, Sizes, UpdateCx, Vector,
};
use legwork_mechanics::{FrameId, world_from_frame};
use nalgebra::{Matrix3, Vector3};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::{ContactPointsBus, RobotDims};
use crate::robot::frames::{input_of, output_in};
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::AtState;
use crate::signal::philox::Stream;

/// Force and moment of the contacts of a foot, as a force-torque sensor gives them. They are the
/// sum of the contact forces on the robot, and of their moments about the origin o of a frame of
/// the foot, `Σ (p_i − o) × f_i`.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `state` | State(robot) | | configuration and velocity |
/// | in `contacts` | `ContactPoints` | | the k contacts of this foot |
/// | in `f` | 3k | N | forces on the robot at them, each in its contact's axes (t₁, t₂, n) |
/// | out `wrench` | 6 | N, N m | force, moment on the robot about the frame's origin, in `axes` |
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
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["force-torque sensor", "F/T sensor", "ZMP"]))]
pub struct FootWrench {
    /// The robot.
    pub robot: RobotName,
    /// Name of the link of the robot file about whose origin moments are.
    pub frame: String,
    /// In which axes the wrench is: `World` (the default) or `Frame`.
    #[serde(default)]
    pub axes: Axes,
    /// Standard deviation of each force in one sample [N]; default 0.
    #[serde(default)]
    pub force_noise: Option<NonNegative<Force>>,
    /// Standard deviation of each moment in one sample [N m]; default 0.
    #[serde(default)]
    pub moment_noise: Option<NonNegative<Torque>>,
    /// Which stream of this block's random numbers; default 0.
    #[serde(default)]
    pub seed: u64,
}

/// The axes in which a vector is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Axes {
    /// Those of the world.
    #[default]
    World,
    /// Those of the frame.
    Frame,
}

/// Ports and frame of a [`FootWrench`].
pub struct Plan {
    at: AtState,
    frame: FrameId,
    key: u64,
    /// Standard deviations of force and moment.
    noise: [f64; 2],
    contacts: In<ContactPointsBus>,
    forces: In<Vector>,
    wrench: Out<Vector>,
}

impl Block for FootWrench {
    const KIND: &'static str = "FootWrench";
    type Plan = Plan;
    /// The number of the sample.
    type State = u64;
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let at = AtState::plan(&self.robot, ports)?;
        let frame = at.robot.frame("frame", &self.frame)?;
        let noise = [
            self.force_noise.map_or(0.0, NonNegative::value),
            self.moment_noise.map_or(0.0, NonNegative::value),
        ];
        if noise.iter().any(|deviation| *deviation > 0.0) {
            ports.rate(RateRule::Sampled);
        }
        let key = ports.random_key(self.seed);
        let (count, nv) = (ports.dim(), RobotDims::of(ports, self.robot.as_str()).nv);
        let signal = ContactPointsBus::new(&count, &nv);
        let contacts = input_of(ports, "contacts", &signal, None, "contacts of this foot");
        let doc = "forces on the robot at them";
        let forces = input_of(ports, "f", &Vector(3 * count), Some("N"), doc);
        ports.note_in(forces).frame("contact");
        let axes = if self.axes == Axes::World { "world" } else { &self.frame };
        let doc = "force, then moment about the frame's origin, on the robot";
        let wrench = output_in(ports, "wrench", &Vector::of(6), axes, doc);
        Ok(Plan { at, frame, key, noise, contacts, forces, wrench })
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) -> u64 {
        0
    }

    fn scratch(&self, _: &Plan, _: &Sizes<'_>) {}

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let kinematics = cx.inputs.shared(plan.at.kinematics);
        let world_from_foot = world_from_frame(&plan.at.robot.model, kinematics, plan.frame);
        let (mut force, mut moment) = (Vector3::zeros(), Vector3::zeros());
        let forces = cx.inputs.get(plan.forces).chunks_exact(3);
        for (contact, f) in cx.inputs.get(plan.contacts).iter().zip(forces) {
            let axes = Matrix3::from_column_slice(contact.axes);
            let f = axes * Vector3::from_column_slice(f);
            let lever = Vector3::from_column_slice(contact.position) - world_from_foot.translation;
            force += f;
            moment += lever.cross(&f);
        }
        if self.axes == Axes::Frame {
            force = world_from_foot.rotation.tr_mul(&force);
            moment = world_from_foot.rotation.tr_mul(&moment);
        }
        let out = cx.outputs.get(plan.wrench);
        out[..3].copy_from_slice(force.as_slice());
        out[3..].copy_from_slice(moment.as_slice());
        let stream = Stream::new(plan.key);
        for (i, out) in out.iter_mut().enumerate() {
            let deviation = plan.noise[i / 3];
            if deviation > 0.0 {
                *out += deviation * stream.normal(*cx.state, i);
            }
        }
        Ok(())
    }

    fn update(&self, _: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        *cx.state = cx.state.wrapping_add(1);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
