//! `KinDyn`: kinematics and dynamics of a robot and its feet on one bus.

use std::sync::Arc;

use legwork_block::quantity::{Force, NonNegative};
use legwork_block::{
    Block, Dim, Fault, Invalid, Outcome, OutputCx, Sizes, Vector, block, parameters, ports,
};
use legwork_linalg::all_finite;
use legwork_mechanics::{
    FrameId, Kinematics, Placement, frame_jacobian, frame_jacobian_dot_velocity, world_from_frame,
};

use crate::buses::{DynamicsBus, KinDynBus, RobotDims, StateBus};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Kinematics and dynamics for a balancing controller, on one bus. `KinDyn(robot)` holds what such
/// a controller reads of a robot with Nc feet: base pose, joints, poses, Jacobians and J̇ν of the
/// feet, M, h, wrenches, acceleration.
///
/// Everything is of the instant of its inputs: connect outputs without delay, and no field is older
/// than another. (The bus of this name in the reference mixes two steps.) With `every:` all fields
/// are sampled together.
///
/// `feet_in_contact` is 1 where the force of `fc` is longer than `least_force`, whatever its axes.
///
/// Reference: N. Guedelha et al., *A flexible MATLAB/Simulink simulator for robotic floating-base
/// systems in contact with the ground* (2022), bus `kinDynOut`.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    keep frames: Vec<FrameId> = self.feet(&robot)?;
    let RobotDims { nv, n, .. } = RobotDims::of(ports, self.robot.as_str());
    let count = Dim::fixed(frames.len());
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    in  dynamics: DynamicsBus::of(ports, self.robot.as_str()), _,
        "M and h at this state, of `RobotDynamics`";
    in  nu_dot: Vector::of(nv), _, "acceleration at this state", units "m/s², rad/s²";
    in  wrenches("fc"): Vector::of(6 * count.clone()), _,
        "wrenches on the feet in the order of `frames`, from `FootWrench`", shape "6Nc",
        units "N, N m";
    in  motor_inertia?: Vector::of(n), "kg*m^2", "reflected rotor inertia; default the robot's";
    // No field shows an input's memory: under a period of its own the bus would mix instants.
    out bus: KinDynBus::of(ports, self.robot.as_str(), &count), _, "all of it at one instant";
    ports.checks_itself(bus);
)]
#[parameters]
pub struct KinDyn {
    /// The robot; not a world.
    pub robot: RobotName,
    /// Names of the links that touch the ground, or `[]`; default: the robot's feet.
    pub frames: Option<Vec<String>>,
    /// Force above which a foot is in contact [N]; the default is far above what solvers leave on
    /// an open contact.
    #[default = "1 mN"]
    pub least_force: NonNegative<Force>,
}

impl KinDyn {
    fn feet(&self, robot: &RobotModel) -> Result<Vec<FrameId>, Invalid> {
        if robot.is_world() {
            let message = format!("expected one robot, found the world `{}`", robot.name);
            return Err(Invalid::parameter("robot", message));
        }
        let frames = match &self.frames {
            Some(names) => {
                names.iter().map(|name| robot.frame("frames", name)).collect::<Result<_, _>>()?
            }
            None => robot.feet.clone(),
        };
        if frames.is_empty() && self.frames.is_none() {
            let message = format!("expected feet, found none of `{}`", robot.name);
            return Err(Invalid::parameter("frames", message)
                .hint("name links here, or as `feet` of the robot"));
        }
        Ok(frames)
    }
}

#[block]
impl Block for KinDyn {
    /// Jacobian of one foot (6 × nv).
    type Scratch = Vec<f64>;

    fn scratch(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Vec<f64> {
        vec![0.0; 6 * plan.robot.model.velocity_dim()]
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        if !cx.outputs.is_read(plan.bus) {
            return Ok(());
        }
        let model = &plan.robot.model;
        let kinematics = cx.inputs.shared(plan.kinematics);
        let (state, dynamics) = (cx.inputs.get(plan.state), cx.inputs.get(plan.dynamics));
        let (nu_dot, wrenches) = (cx.inputs.get(plan.nu_dot), cx.inputs.get(plan.wrenches));
        let motors = cx.inputs.optional(plan.motor_inertia);
        let motors = motors.unwrap_or_else(|| model.rotors().diagonal());
        let s = &state.q[model.trees()[0].joint_configuration_range()];
        for (leaf, numbers) in [
            (KinDynBus::JOINT_POSITIONS, s),
            (KinDynBus::NU, state.nu),
            (KinDynBus::MASS_MATRIX, dynamics.mass_matrix),
            (KinDynBus::BIAS_FORCE, dynamics.bias_force),
            (KinDynBus::MOTOR_INERTIA, motors),
            (KinDynBus::WRENCHES, wrenches),
            (KinDynBus::NU_DOT, nu_dot),
        ] {
            cx.outputs.leaf(plan.bus, leaf).copy_from_slice(numbers);
        }
        let base = world_from_frame(model, kinematics, model.root_frame());
        write_transform(&base, 0, 1, cx.outputs.leaf(plan.bus, KinDynBus::WORLD_FROM_BASE));

        let count = plan.frames.len();
        let [poses, jacobians, rates, contact] = cx.outputs.leaves([
            plan.bus.leaf(KinDynBus::WORLD_FROM_FEET),
            plan.bus.leaf(KinDynBus::JACOBIAN),
            plan.bus.leaf(KinDynBus::JACOBIAN_DOT_NU),
            plan.bus.leaf(KinDynBus::IN_CONTACT),
        ]);
        let least = self.least_force.value();
        for (foot, &frame) in plan.frames.iter().enumerate() {
            write_transform(&world_from_frame(model, kinematics, frame), foot, count, poses);
            frame_jacobian(model, kinematics, frame, cx.scratch);
            let columns = cx.scratch.chunks_exact(6).zip(jacobians.chunks_exact_mut(6 * count));
            for (own, column) in columns {
                column[6 * foot..6 * foot + 6].copy_from_slice(own);
            }
            let rate = frame_jacobian_dot_velocity(model, kinematics, frame);
            rates[6 * foot..6 * foot + 3].copy_from_slice(rate.linear.as_slice());
            rates[6 * foot + 3..6 * foot + 6].copy_from_slice(rate.angular.as_slice());
            let [x, y, z] = [0, 1, 2].map(|axis| wrenches[6 * foot + axis]);
            contact[foot] = f64::from(u8::from(x * x + y * y + z * z > least * least));
        }
        if !(0..KinDynBus::LEAVES).all(|leaf| all_finite(cx.outputs.leaf(plan.bus, leaf))) {
            return Err(Fault::not_finite());
        }
        Ok(())
    }
}

/// Writes a placement as rows `4 place ..` of `count` homogeneous transforms below one another.
fn write_transform(placement: &Placement, place: usize, count: usize, out: &mut [f64]) {
    for (c, column) in out.chunks_exact_mut(4 * count).enumerate() {
        let rows = &mut column[4 * place..4 * place + 4];
        let (numbers, last) = match c {
            3 => (placement.translation, 1.0),
            _ => (placement.rotation.column(c).into_owned(), 0.0),
        };
        rows[..3].copy_from_slice(numbers.as_slice());
        rows[3] = last;
    }
}

#[cfg(test)]
mod tests;
