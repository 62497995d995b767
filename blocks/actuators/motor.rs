//! `Motor`: geared and coupled motors with friction and a supply voltage.

use std::sync::Arc;

use legwork_block::quantity::{
    AngularVelocity, Dimensionless, Frequency, Limit, NonNegative, OfJoint, PerJoint, Positive,
    Resistance, RotationalDamping, Torque, TorqueConstant, Voltage, VoltageConstant,
};
use legwork_block::{
    Block, DerivativeCx, Dim, Fault, Feeding, Invalid, Out, Outcome, OutputCx, Parameters, Ports,
    Real, Sizes, Type, UpdateCx, Vector, Written, block, feeds, parameters, ports,
};
use legwork_mechanics::{DcMotor, Transmission};

use crate::actuators::actuator::lag::{Lag, beginning, check_initial, check_limits, saturated};
use crate::actuators::actuator::motor_efforts;
use crate::buses::StateBus;
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;

pub(crate) mod gears;

use gears::{Coupling, each, transmission};

/// Geared electric motors of the joints: limits, current loop, friction, couplings. One motor for
/// each joint coordinate, with limits of its torque and, at speed, of its supply voltage.
///
/// # The law
///
/// The rotor of motor j turns by θ, its gear's output by `φ = Γθ`, `Γ = diag(1/N)`, and the joints
/// by `s = T φ`: N is `gear_ratio`, T is `coupling`, both 1 by default. Motor j has the name of
/// joint j. With ω = N φ̇ the speed of a rotor and t the torque of a gear's output:
///
/// 1. wanted: `t = sat(Tᵀ u)` within ± `torque_limit`; with `bandwidth` f a lag follows,
///    `ṫ = 2πf (sat(Tᵀ u) − t)`, and `u` no longer feeds through;
/// 2. with `electric`: `i = t / (N k_t)`, cut to `−V ≤ R i + k_e ω ≤ V`, then `t = N k_t i`. Above
///    the no-load speed `V / (k_e N)` the motor brakes whatever is wanted, at most at its torque
///    limit, which goes before the voltage;
/// 3. at speed: t in the direction of φ̇ falls from its value at 0.95 `speed_limit` to zero at the
///    limit, beyond which the motor drives no further; t against φ̇ stays;
/// 4. friction: `t − b φ̇ − c tanh(φ̇ / v)`, where b is `viscous`, c `coulomb`, v `coulomb_speed`;
/// 5. delivered: `τ = T⁻ᵀ t`.
///
/// So friction reaches the joints as `T⁻ᵀ diag(b) T⁻¹ ṡ`, and the inertia of the rotors is
/// `(TΓ)⁻ᵀ I_m (TΓ)⁻¹`, which [`ReflectedInertia`](crate::ReflectedInertia) computes from the same
/// parameters: it belongs to the robot. In the notation `θ = T s` of `Urdf`'s `reflected_inertia`,
/// T is the `(TΓ)⁻¹` of here.
///
/// Dry friction is stiff: below v it acts as a damping `c / v`, and with explicit steps h that
/// needs `(b + c/v) h < 2 I` for the joint's inertia I. There is no sticking: a loaded joint
/// creeps.
///
/// # Mini Cheetah
///
/// | | abad | hip | knee | |
/// |---|---|---|---|---|
/// | `gear_ratio` | 6 | 6 | 9.33 | |
/// | `torque_limit` | 18 | 18 | 27.99 | N m: 3 N m of the rotor |
/// | no-load speed | 40 | 40 | 25.7 | rad/s |
///
/// `torque_constant` 1.5 · 0.05 = 0.075 N m/A, `voltage_constant` 2 · 0.05 = 0.1 V s/rad (of three
/// phases, hence not equal), `resistance` 0.173 ohm, `bus_voltage` 24 V, `viscous` 0.01 N m s/rad,
/// `coulomb` 0.2 N m. The mask `std:masks/mini_cheetah_motors.ron` has them.
///
/// [`Actuator`](crate::Actuator) has limits and lag only, and needs no robot.
///
/// References: B. Katz, J. Di Carlo, S. Kim, *Mini Cheetah: a platform for pushing the limits of
/// dynamic quadruped control* (2019), with the constants and the order of limits of its simulator's
/// `ActuatorModel`; N. Guedelha et al., *A flexible MATLAB/Simulink simulator for robotic
/// floating-base systems in contact with the ground* (2022), for T and Γ.
#[ports(
    |n: &Dim, lag: Lag|
    in  u: Vector::of(n), "N*m", "wanted joint torques";
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    let electric = self.electric.is_some();
    in  bus_voltage?: Real, "V", "supply voltage; default the parameter", when electric;
    let mut feeds = feeds![state].to_vec();
    bus_voltage.push(&mut feeds);
    lag.declare(n, &feeds, ports);
    out tau: Vector::of(n), "N*m", "torques that reach the joints", elements state.s_dot;
    out current: Vector::of(n), "A", "of each motor", when electric, elements state.s_dot;
    out voltage: Vector::of(n), "V", "of each motor, `R i + k_e ω`", when electric,
        elements state.s_dot;
    out power: Vector::of(n), "W", "from the supply; negative where it recovers energy",
        when electric, elements state.s_dot;
)]
#[parameters(aliases("servo", "drive", "DC motor", "BLDC"))]
pub struct Motor {
    /// The robot.
    pub robot: RobotName,
    /// N: turns of the rotor per turn of the gear's output [1; 1/m for prismatic joints].
    #[default = 1]
    pub gear_ratio: PerJoint<Positive<Dimensionless>>,
    /// Joints that several motors move together; none by default.
    #[default]
    pub coupling: Vec<Coupling>,
    /// Largest torque of each gear's output in both directions [N m]; default: the efforts of the
    /// robot's file, but none for joints in `coupling`, whose efforts are not those of their gears:
    /// a warning.
    pub torque_limit: Option<PerJoint<OfJoint<Limit<Torque>>>>,
    /// Largest speed of each gear's output in both directions [rad/s; m/s if prismatic]; default:
    /// the speeds of the robot's file, but none with `electric`, whose supply limits them, nor for
    /// joints in `coupling`.
    pub speed_limit: Option<PerJoint<OfJoint<Limit<AngularVelocity>>>>,
    /// What the supply can drive: `torque_constant` k_t [N m/A], `voltage_constant` k_e [V s/rad],
    /// `resistance` R [ohm], `bus_voltage` V [V]; without it any torque within the limits up to
    /// the `speed_limit`.
    pub electric: Option<Electric>,
    /// b: viscous friction at each gear's output [N m s/rad].
    #[default = 0]
    pub viscous: PerJoint<OfJoint<NonNegative<RotationalDamping>>>,
    /// c: dry friction at each gear's output [N m].
    #[default = 0]
    pub coulomb: PerJoint<OfJoint<NonNegative<Torque>>>,
    /// v: speed of the gear's output at which dry friction is 76 % of c [rad/s].
    #[default = 0.1]
    pub coulomb_speed: Positive<AngularVelocity>,
    /// Frequency f at which the current loop has damped a sine by 3 dB [Hz]; no lag without it.
    pub bandwidth: Option<Positive<Frequency>>,
    /// Torque of each gear's output in the lag at t = 0 [N m]; 0 by default.
    pub initial: Option<PerJoint<OfJoint<Torque>>>,
    /// Whether the lag is advanced once per period, exactly for a held `u`, as in `Actuator`.
    #[default]
    pub discrete: bool,
}

/// The electrical side of motors.
#[parameters]
pub struct Electric {
    /// k_t: torque of the rotor per current [N m/A].
    pub torque_constant: PerJoint<Positive<TorqueConstant>>,
    /// k_e: voltage induced per angular velocity of the rotor [V s/rad]; default: k_t, as a brushed
    /// motor has it.
    pub voltage_constant: Option<PerJoint<NonNegative<VoltageConstant>>>,
    /// R of a winding and its drive [ohm].
    pub resistance: PerJoint<Positive<Resistance>>,
    /// V: voltage of the supply [V].
    pub bus_voltage: Positive<Voltage>,
}

/// Ports and numbers of a [`Motor`].
pub struct Plan {
    robot: Arc<RobotModel>,
    gears: Transmission,
    limits: Vec<f64>,
    /// Largest speeds of the gears' outputs; empty if none is finite.
    speed_limits: Vec<f64>,
    viscous: Vec<f64>,
    coulomb: Vec<f64>,
    lag: Lag,
    initial: Vec<f64>,
    /// Empty without `electric`.
    motors: Vec<DcMotor>,
    io: MotorPorts,
}

/// Work memory of a [`Motor`].
pub struct Scratch {
    /// ṡ, then the torques of the gears' outputs.
    joints: Vec<f64>,
    /// φ̇.
    speeds: Vec<f64>,
    /// t.
    torques: Vec<f64>,
}

impl Electric {
    fn motors(&self, robot: &RobotModel) -> Result<Vec<DcMotor>, Invalid> {
        let within = |name: &str, invalid: Invalid| Invalid {
            parameter: Some("electric".to_owned()),
            message: format!("{name}: {}", invalid.message),
            ..invalid
        };
        let torque = each("electric", &self.torque_constant, robot)
            .map_err(|invalid| within("torque_constant", invalid))?;
        let voltage = match &self.voltage_constant {
            Some(constants) => each("electric", constants, robot)
                .map_err(|invalid| within("voltage_constant", invalid))?,
            None => torque.clone(),
        };
        let resistance = each("electric", &self.resistance, robot)
            .map_err(|invalid| within("resistance", invalid))?;
        let constants = torque.into_iter().zip(voltage).zip(resistance);
        Ok(constants
            .map(|((torque_constant, voltage_constant), resistance)| DcMotor {
                torque_constant,
                voltage_constant,
                resistance,
            })
            .collect())
    }
}

impl Motor {
    /// The efforts of the robot's file where a motor drives one joint.
    fn efforts(&self, robot: &RobotModel, ports: &mut Ports<'_>) -> Vec<f64> {
        let mut efforts = motor_efforts(robot, ports);
        let is_coupled = |name: &&str| self.coupling.iter().any(|group| group.has(name));
        let mut unlimited: Vec<&str> = Vec::new();
        for (name, effort) in robot.joint_names().iter().zip(&mut efforts) {
            if is_coupled(name) && effort.is_finite() {
                unlimited.push(*name);
                *effort = f64::INFINITY;
            }
        }
        if !unlimited.is_empty() {
            let message =
                format!("efforts of coupled joints limit no motor: {}", unlimited.join(", "));
            ports.warn(Invalid::new(message).hint("state `torque_limit` of the gears' outputs"));
        }
        efforts
    }

    /// The speeds of the robot's file where a motor drives one joint and no supply is known.
    fn file_speeds(&self, robot: &RobotModel) -> Vec<f64> {
        let is_coupled = |name: &str| self.coupling.iter().any(|group| group.has(name));
        let speeds = robot.joint_names().into_iter().zip(robot.speeds());
        let has_supply = self.electric.is_some();
        speeds
            .map(|(name, speed)| if has_supply || is_coupled(name) { f64::INFINITY } else { speed })
            .collect()
    }
}

/// Share of a speed limit over which the torque towards it falls to zero.
const TAPER: f64 = 0.05;

/// What is left of a torque at this speed, up to its limit.
fn towards_limit(torque: f64, speed: f64, limit: f64) -> f64 {
    if torque * speed <= 0.0 || limit == f64::INFINITY {
        return torque;
    }
    torque * ((limit - speed.abs()) / (TAPER * limit)).clamp(0.0, 1.0)
}

impl Plan {
    /// The torques that the gears' outputs are to have, within their limits.
    fn wanted<'a>(
        &'a self,
        u: &[f64],
        torques: &'a mut [f64],
    ) -> impl Iterator<Item = f64> + use<'a> {
        self.gears.gear_torques(u, torques);
        torques.iter().zip(&self.limits).map(|(torque, limit)| saturated(*torque, *limit))
    }
}

#[block]
impl Block for Motor {
    type Plan = Plan;
    /// Torques of a discrete lag.
    type State = Vec<f64>;
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let lag = Lag::new(self.bandwidth, self.discrete, self.initial.is_some())?;
        let robot = self.robot.find(ports)?;
        let gears = transmission(&robot, &self.gear_ratio, &self.coupling)?;
        let limits = match &self.torque_limit {
            Some(limits) => each("torque_limit", limits, &robot)?,
            None => self.efforts(&robot, ports),
        };
        check_limits(&limits)?;
        let mut speed_limits = match &self.speed_limit {
            Some(limits) => each("speed_limit", limits, &robot)?,
            None => self.file_speeds(&robot),
        };
        if let Some(wrong) = speed_limits.iter().find(|limit| **limit <= 0.0) {
            let message = format!("expected speeds greater than zero, found {wrong}");
            return Err(Invalid::parameter("speed_limit", message));
        }
        if speed_limits.iter().all(|limit| limit.is_infinite()) {
            speed_limits.clear();
        }
        let initial = match &self.initial {
            Some(initial) => each("initial", initial, &robot)?,
            None => vec![0.0; limits.len()],
        };
        check_initial(&initial, &limits)?;
        let viscous = each("viscous", &self.viscous, &robot)?;
        let coulomb = each("coulomb", &self.coulomb, &robot)?;
        let motors = match &self.electric {
            Some(electric) => electric.motors(&robot)?,
            None => Vec::new(),
        };
        let io = self.declare(ports, &Dim::fixed(robot.model.joint_dim()), lag);
        Ok(Plan { robot, gears, limits, speed_limits, viscous, coulomb, lag, initial, motors, io })
    }

    fn state(&self, plan: &Plan, _: &Sizes<'_>) -> Vec<f64> {
        plan.lag.state(plan.initial.clone())
    }

    fn scratch(&self, plan: &Plan, _: &Sizes<'_>) -> Scratch {
        let zeros = vec![0.0; plan.limits.len()];
        Scratch { joints: zeros.clone(), speeds: zeros.clone(), torques: zeros }
    }

    fn initial(&self, plan: &Plan, _: &Sizes<'_>, x: &mut [f64]) {
        // A discrete lag, and none, have no continuous state.
        if !x.is_empty() {
            x.copy_from_slice(&plan.initial);
        }
    }

    fn numbers(&self, _: &Plan, state: &Vec<f64>) -> Vec<f64> {
        state.clone()
    }

    fn set_numbers(&self, _: &Plan, state: &mut Vec<f64>, numbers: &[f64]) {
        state.copy_from_slice(numbers);
    }

    fn starting_at(&self, plan: &Plan, at: &[f64], _: &[Type]) -> Option<Parameters> {
        Some(vec![("initial", Written::list(&beginning(at, &plan.limits)))])
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let io = &plan.io;
        let Scratch { joints, speeds, torques } = &mut *cx.scratch;
        let nu = cx.inputs.get(plan.io.state).nu;
        for (rate, &k) in joints.iter_mut().zip(plan.robot.model.joint_velocity_indices()) {
            *rate = nu[k];
        }
        plan.gears.gear_velocities(joints, speeds);
        match plan.lag.torques(cx.x, cx.state, &plan.limits) {
            Some(lagging) => torques.iter_mut().zip(lagging).for_each(|(to, from)| *to = from),
            None => {
                let wanted = plan.wanted(cx.inputs.get(plan.io.u), joints);
                torques.iter_mut().zip(wanted).for_each(|(torque, wanted)| *torque = wanted);
            }
        }
        if let (Some(electric), Some(bus_voltage)) = (&self.electric, io.bus_voltage) {
            let parameter = electric.bus_voltage.value();
            let supply = cx.inputs.optional(bus_voltage).unwrap_or(parameter);
            if supply.is_nan() || supply < 0.0 {
                let message = format!("expected a bus voltage of zero or more, found {supply} V");
                return Err(Fault::new(message));
            }
            let mut write = |port: Option<Out<Vector>>, j: usize, value: f64| {
                if let Some(port) = port {
                    cx.outputs.get(port)[j] = value;
                }
            };
            for (j, motor) in plan.motors.iter().enumerate() {
                let ratio = plan.gears.ratios()[j];
                let (speed, per_current) = (ratio * speeds[j], ratio * motor.torque_constant);
                let possible = motor.current(torques[j] / per_current, speed, supply);
                torques[j] = saturated(per_current * possible, plan.limits[j]);
                let current = torques[j] / per_current;
                let voltage = motor.voltage(current, speed);
                write(io.current, j, current);
                write(io.voltage, j, voltage);
                write(io.power, j, voltage * current);
            }
        }
        for (j, &limit) in plan.speed_limits.iter().enumerate() {
            torques[j] = towards_limit(torques[j], speeds[j], limit);
        }
        let creeping = self.coulomb_speed.value();
        for (j, torque) in torques.iter_mut().enumerate() {
            let dry = plan.coulomb[j] * libm::tanh(speeds[j] / creeping);
            *torque -= plan.viscous[j] * speeds[j] + dry;
        }
        plan.gears.joint_torques(torques, cx.outputs.get(io.tau));
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let wanted = plan.wanted(cx.inputs.get(plan.io.u), &mut cx.scratch.joints);
        plan.lag.advance(cx.time.step, wanted, cx.state);
        Ok(())
    }

    fn derivative(&self, plan: &Plan, cx: &mut DerivativeCx<'_, Self>) -> Outcome {
        let wanted = plan.wanted(cx.inputs.get(plan.io.u), &mut cx.scratch.joints);
        plan.lag.slopes(wanted, cx.x, cx.rate);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
