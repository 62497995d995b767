//! `KinDyn`: kinematics and dynamics of a robot and its feet on one bus.

use legwork_block::quantity::{Force, NonNegative, Physical};
use legwork_block::{
    Block, Dim, In, Invalid, OptionalIn, Out, Outcome, OutputCx, Ports, Sizes, Vector,
};
use legwork_mechanics::{
    FrameId, Placement, frame_jacobian, frame_jacobian_dot_velocity, world_from_frame,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::{DynamicsBus, KinDynBus, RobotDims};
use crate::robot::frames::input_of;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::{AtState, describe};

/// Kinematics and dynamics for a balancing controller, on one bus. `KinDyn(robot)` holds what such
/// a controller reads of a robot with Nc feet: base pose, joints, poses, Jacobians and J̇ν of the
/// feet, M, h, wrenches, acceleration.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `state` | State(robot) | | configuration and velocity |
/// | in `dynamics` | Dynamics(robot) | | M and h at this state, of `RobotDynamics` |
/// | in `nu_dot` | nv | m/s², rad/s² | acceleration at this state |
/// | in `fc` | 6Nc | N, N m | wrenches on the feet in the order of `frames`, from `FootWrench` |
/// | in `motor_inertia`, optional | n | kg m² | reflected rotor inertia; default the robot's |
/// | out `bus` | `KinDyn(robot)` | | all of it at one instant |
///
/// Everything is of the instant of its inputs: connect outputs without delay, and no field is older
/// than another. (The bus of this name in the reference mixes two steps.) With `every:` all fields
/// are sampled together.
///
/// `feet_in_contact` is 1 where the force of `fc` is longer than `least_force`, whatever its axes.
///
/// Reference: N. Guedelha et al., *A flexible MATLAB/Simulink simulator for robotic floating-base
/// systems in contact with the ground* (2022), bus `kinDynOut`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KinDyn {
    /// The robot; not a world.
    pub robot: RobotName,
    /// Names of the links that touch the ground; default: the robot's feet.
    #[serde(default)]
    pub frames: Option<Vec<String>>,
    /// Force above which a foot is in contact [N]; default 1 mN, far above what solvers leave on an
    /// open contact.
    #[serde(default = "least_force")]
    pub least_force: NonNegative<Force>,
}

fn least_force() -> NonNegative<Force> {
    NonNegative::from_si(1e-3).expect("above zero")
}

/// Ports and frames of a [`KinDyn`].
pub struct Plan {
    at: AtState,
    base: FrameId,
    frames: Vec<FrameId>,
    dynamics: In<DynamicsBus>,
    nu_dot: In<Vector>,
    wrenches: In<Vector>,
    motor_inertia: OptionalIn<Vector>,
    bus: Out<KinDynBus>,
}

impl KinDyn {
    fn feet(&self, at: &AtState) -> Result<Vec<FrameId>, Invalid> {
        if at.robot.is_world() {
            let message = format!("expected one robot, found the world `{}`", at.robot.name);
            return Err(Invalid::parameter("robot", message));
        }
        let frames = match &self.frames {
            Some(names) => {
                names.iter().map(|name| at.robot.frame("frames", name)).collect::<Result<_, _>>()?
            }
            None => at.robot.feet.clone(),
        };
        if frames.is_empty() {
            let message = format!("expected feet, found none of `{}`", at.robot.name);
            return Err(Invalid::parameter("frames", message)
                .hint("name links here, or as `feet` of the robot"));
        }
        Ok(frames)
    }
}

impl Block for KinDyn {
    const KIND: &'static str = "KinDyn";
    type Plan = Plan;
    type State = ();
    type Memo = ();
    /// Jacobian of one foot (6 × nv).
    type Scratch = Vec<f64>;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let at = AtState::plan(&self.robot, ports)?;
        let frames = self.feet(&at)?;
        let name = self.robot.as_str();
        let (dims, count) = (RobotDims::of(ports, name), Dim::fixed(frames.len()));
        let signal = DynamicsBus::of(ports, name);
        let dynamics = input_of(ports, "dynamics", &signal, None, "M and h at this state");
        let acceleration = Vector(dims.nv);
        let nu_dot = input_of(ports, "nu_dot", &acceleration, None, "acceleration");
        let six = Vector(6 * count.clone());
        let wrenches = input_of(ports, "fc", &six, None, "wrenches on the feet");
        let motor_inertia = ports.optional_input("motor_inertia", &Vector(dims.n));
        let doc = "diagonal of the reflected rotor inertia";
        ports.note_optional(motor_inertia).unit("kg*m^2").doc(doc);
        // No field shows an input's memory: under a period of its own the bus would mix instants.
        let signal = KinDynBus::of(ports, name, &count);
        let bus = ports.output("bus", &signal);
        describe(ports, bus, "kinematics and dynamics of the robot and its feet");
        let base = at.robot.model.root_frame();
        Ok(Plan { at, base, frames, dynamics, nu_dot, wrenches, motor_inertia, bus })
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) {}

    fn scratch(&self, plan: &Plan, _: &Sizes<'_>) -> Vec<f64> {
        vec![0.0; 6 * plan.at.robot.model.velocity_dim()]
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let model = &plan.at.robot.model;
        let kinematics = cx.inputs.shared(plan.at.kinematics);
        let (state, dynamics) = (cx.inputs.get(plan.at.state), cx.inputs.get(plan.dynamics));
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
        let base = world_from_frame(model, kinematics, plan.base);
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
