//! `JointPd`: proportional-derivative control of all joints.

use std::sync::Arc;

use legwork_block::quantity::{
    NonNegative, OfJoint, PerJoint, RotationalDamping, RotationalStiffness,
};
use legwork_block::{
    Block, Dim, Invalid, Outcome, OutputCx, PortUnit, Ports, Sizes, Slope, SlopesCx, Unit, Vector,
    parameters, ports,
};
use legwork_mechanics::{Kinematics, MassMatrix, difference, mass_matrix};

use crate::buses::{RobotDims, StateBus};
use crate::robot::joint_values::{JointValues, positions, torques, unit_of, velocities};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;

/// Proportional-derivative control of the joints, with feed-forward torque.
/// `τ = kp (s_ref − s) + kd (ṡ_ref − ṡ) + τ_ff`.
///
/// With `every:` it is the controller of a robot's computer, whose torque is held in between;
/// without, it takes the rate of its inputs. It has no state.
///
/// `s_ref − s` of a ball joint is the turn (a rotation vector, at most π long) from its quaternion
/// to the wanted one, in the axes of the joint at rest, as `ṡ` and `τ` are.
///
/// # Stability
///
/// A torque that is held for a step h acts on old velocity. Of one joint with inertia I, under
/// semi-implicit Euler, that stays stable iff `kd h / I + kp h² / (2 I) < 2`; beyond `kd h / I = 1`
/// the velocity overshoots in every step. I is the joint's diagonal entry of M with the reflected
/// rotor inertia, if the other joints and the base are held; free to move, they give way, and
/// of all joints together the bound is `kd h λ < 2` with λ the largest eigenvalue of `Sᵀ M⁻¹ S`.
///
/// Mini Cheetah standing (s = 0, −0.8, 1.6 rad in each leg), kd = 1.5 N m s/rad, h = 1 ms:
///
/// | | abad | hip | knee | all together, `kd h λ` |
/// |---|---|---|---|---|
/// | `kd h / I` with rotors | 0.174 | 0.191 | 0.251 | 0.380 |
/// | without rotor inertia | 0.236 | 0.268 | 3.086 | 3.491 |
///
/// So the rotor inertia belongs into the robot's `rotor_inertia`: without it the knees are unstable
/// at these gains and this step.
#[ports(
    |dims: &RobotDims, state: StateBus, robot: Option<&RobotModel>|
    let units = robot.map(|robot| [positions, velocities, torques].map(|of| unit_of(&of(&robot.model))));
    let turning = || [Unit::RADIAN, Unit::RADIAN_PER_SECOND, Unit::NEWTON_METRE].map(PortUnit::from);
    let [turn, rate, torque] = units.unwrap_or_else(turning);
    in  s_ref: Vector::of(&dims.ns), turn, "wanted joint positions", shape "ns", units "rad, m";
    in  state: state as StateBus, _, "configuration and velocity", shape "State(robot)";
    in  s_dot_ref?: Vector::of(&dims.n), rate, "wanted joint velocities; 0 without", shape "n",
        units "rad/s, m/s";
    in  tau_ff?: Vector::of(&dims.n), torque.clone(), "feedforward torques; 0 without", shape "n",
        units "N m, N";
    out tau: Vector::of(&dims.n), torque, "joint torques", shape "n", units "N m, N",
        elements state.s_dot;
)]
#[parameters(aliases("PD", "joint control", "position control", "impedance"))]
pub struct JointPd {
    /// Stiffness [N m/rad]: one for all joints, a list, or by joint name or pattern (needs
    /// `robot`). That of a joint that slides is in N/m (needs `robot`), or a number without unit.
    pub kp: PerJoint<OfJoint<NonNegative<RotationalStiffness>>>,
    /// Damping [N m s/rad]: as `kp`.
    pub kd: PerJoint<OfJoint<NonNegative<RotationalDamping>>>,
    /// The robot: needed if gains are given by joint name, for a world, and for joints of several
    /// degrees of freedom; otherwise the state tells.
    pub robot: Option<RobotName>,
}

/// Ports and gains of [`JointPd`].
pub struct Plan {
    kp: JointValues,
    kd: JointValues,
    dims: RobotDims,
    robot: Option<Arc<RobotModel>>,
    /// Sizes `[nq, nv, n]` of states of the diagram in which joints are not last.
    mixed: Vec<[usize; 3]>,
    io: JointPdPorts,
}

/// Gains of each joint coordinate, and where the robot is wanted.
pub struct Gains {
    kp: Vec<f64>,
    kd: Vec<f64>,
    /// q with the joints as wanted; empty if the robot is not named.
    wanted: Vec<f64>,
    /// `wanted ⊖ q` (nv).
    error: Vec<f64>,
}

impl Block for JointPd {
    const KIND: &'static str = "JointPd";
    type Plan = Plan;
    type State = ();
    type Memo = ();
    type Scratch = Gains;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let robot = self.robot.as_ref().map(|name| name.find(ports)).transpose()?;
        let kp = JointValues::new("kp", &self.kp, robot.as_deref())?;
        let kd = JointValues::new("kd", &self.kd, robot.as_deref())?;
        let (dims, bus) = match &self.robot {
            Some(name) => (RobotDims::of(ports, name.as_str()), StateBus::of(ports, name.as_str())),
            None => {
                let dims = RobotDims::any(ports);
                let bus = StateBus::new(ports.any_robot(), &dims, None);
                (dims, bus)
            }
        };
        match &robot {
            Some(robot) => warn_of_bound(ports, robot, (&kp, &kd)),
            None => {
                if let Some(robot) = RobotModel::only(ports) {
                    warn_of_bound(ports, &robot, (&kp, &kd));
                }
            }
        }
        let mixed = if robot.is_none() { mixed_states(ports) } else { Vec::new() };
        let io = self.declare(ports, &dims, bus, robot.as_deref());
        Ok(Plan { kp, kd, dims, robot, mixed, io })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        let of = |dim: &Dim| sizes.dim(dim);
        let (n, nq, nv) = (of(&plan.dims.n), of(&plan.dims.nq), of(&plan.dims.nv));
        // A floating base has 7 numbers in q and 6 in ν.
        let joints_last = (nq, nv) == (n, n) || (nq, nv) == (n + 7, n + 6);
        if plan.robot.is_none() && plan.mixed.contains(&[nq, nv, n]) {
            let message = "expected the state of one robot, found what may be that of a world";
            return Err(Invalid::new(message).hint("add `robot: \"…\"`"));
        }
        if plan.robot.is_none() && !joints_last {
            let message = format!(
                "expected a wanted position for each joint of the robot, found {n} for a state \
                 of {nq} + {nv} numbers"
            );
            return Err(Invalid::new(message)
                .hint("a world or a robot with ball joints has to be named: add `robot: \"…\"`"));
        }
        plan.kp.check("kp", n)?;
        plan.kd.check("kd", n)
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) {}

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Gains {
        let n = sizes.dim(&plan.dims.n);
        let robot = plan.robot.as_ref();
        Gains {
            kp: plan.kp.spread(n),
            kd: plan.kd.spread(n),
            wanted: vec![0.0; robot.map_or(0, |robot| robot.model.configuration_dim())],
            error: vec![0.0; robot.map_or(0, |robot| robot.model.velocity_dim())],
        }
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let Gains { kp, kd, wanted, error } = &mut *cx.scratch;
        let state = cx.inputs.get(plan.io.state);
        let s_ref = cx.inputs.get(plan.io.s_ref);
        let s_dot_ref = cx.inputs.optional(plan.io.s_dot_ref);
        let tau_ff = cx.inputs.optional(plan.io.tau_ff);
        let torque = |j: usize, error: f64, s_dot: f64| {
            let rate = s_dot_ref.map_or(0.0, |rates| rates[j]);
            let feedforward = tau_ff.map_or(0.0, |torques| torques[j]);
            kp[j] * error + kd[j] * (rate - s_dot) + feedforward
        };
        let tau = cx.outputs.get(plan.io.tau);
        if let Some(robot) = &plan.robot {
            let model = &robot.model;
            wanted.copy_from_slice(state.q);
            let mut at = 0;
            for tree in model.trees() {
                let joints = tree.joint_configuration_range();
                let next = at + joints.len();
                wanted[joints].copy_from_slice(&s_ref[at..next]);
                at = next;
            }
            difference(model, state.q, wanted, error);
            for (j, (tau, &v)) in tau.iter_mut().zip(model.joint_velocity_indices()).enumerate() {
                *tau = torque(j, error[v], state.nu[v]);
            }
            return Ok(());
        }
        let n = tau.len();
        let s = &state.q[state.q.len() - n..];
        let s_dot = &state.nu[state.nu.len() - n..];
        for (j, tau) in tau.iter_mut().enumerate() {
            *tau = torque(j, s_ref[j] - s[j], s_dot[j]);
        }
        Ok(())
    }

    /// Of joints of one coordinate; the turns of ball joints are differenced.
    fn output_slopes(&self, plan: &Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let slopes = &mut cx.slopes;
        let (q, nu) = (slopes.columns(plan.io.state, 0), slopes.columns(plan.io.state, 1));
        let (tau, s_ref) = (slopes.rows(plan.io.tau, 0), slopes.columns(plan.io.s_ref, 0));
        let n = tau.len();
        // Where each joint is in q and in ν.
        let mut places = Vec::with_capacity(n);
        match &plan.robot {
            Some(robot) => {
                for tree in robot.model.trees() {
                    let (q, v) = (tree.joint_configuration_range(), tree.joint_velocity_range());
                    if q.len() != v.len() {
                        return Slope::Unknown;
                    }
                    places.extend(q.zip(v));
                }
            }
            None => places.extend((q.len() - n..q.len()).zip(nu.len() - n..nu.len())),
        }
        let s_dot_ref = slopes.optional(plan.io.s_dot_ref, 0);
        let tau_ff = slopes.optional(plan.io.tau_ff, 0);
        for (j, (at, v)) in places.into_iter().enumerate() {
            let (kp, kd) = (cx.scratch.kp[j], cx.scratch.kd[j]);
            slopes.add((tau, j), (s_ref, j), kp);
            slopes.add((tau, j), (q, at), -kp);
            slopes.add((tau, j), (nu, v), -kd);
            for (given, slope) in [(s_dot_ref, kd), (tau_ff, 1.0)] {
                if let Some(given) = given {
                    slopes.add((tau, j), (given, j), slope);
                }
            }
        }
        Slope::Exact
    }
}

/// Warns of gains beyond the bound `kd h / I + kp h² / (2 I) < 2` of a joint whose neighbours are
/// held, at the robot's first keyframe. Free joints give way, so that theirs is lower.
fn warn_of_bound(
    ports: &mut Ports<'_>,
    robot: &RobotModel,
    (kp, kd): (&JointValues, &JointValues),
) {
    let Some(h) = ports.held_for() else { return };
    let model = &robot.model;
    let n = model.joint_dim();
    if robot.is_world() || kp.check("kp", n).is_err() || kd.check("kd", n).is_err() {
        return;
    }
    let mut q = model.zero_configuration();
    if let (Some(pose), [tree]) = (robot.keyframes.values().next(), model.trees()) {
        q[tree.joint_configuration_range()].copy_from_slice(&pose.joint_positions);
    }
    let nv = model.velocity_dim();
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, &q, &vec![0.0; nv]);
    let mut mass = MassMatrix::new(model);
    mass_matrix(model, &kinematics, &mut mass);
    let mut dense = vec![0.0; nv * nv];
    mass.write_dense(&mut dense);
    let joints = model.joint_velocity_indices().iter().copied().zip(robot.joint_names());
    let gains = kp.spread(n).into_iter().zip(kd.spread(n));
    let worst = joints
        .zip(gains)
        .map(|((v, name), (kp, kd))| {
            let inertia = dense[v * (nv + 1)];
            let of_kp = 0.5 * kp * h * h / inertia;
            (of_kp + kd * h / inertia, of_kp, inertia, name)
        })
        .filter(|(ratio, ..)| *ratio > 2.0)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((ratio, of_kp, inertia, name)) = worst {
        let parameter = if of_kp < 2.0 { "kd" } else { "kp" };
        let warning = Invalid::parameter(
            parameter,
            format!(
                "kd h / I + kp h² / (2 I) is {ratio:.3} at `{name}`, beyond the bound 2 of a \
                 torque that is held for h = {h} s on the inertia {inertia:.3e}: the joint will \
                 shake itself apart"
            ),
        );
        let take = match of_kp < 2.0 {
            true => format!("a kd below {:.3}", (2.0 - of_kp) * inertia / h),
            false => format!("a kp far below {:.3}", 4.0 * inertia / (h * h)),
        };
        ports.warn(warning.hint(format!(
            "take {take}, a shorter period, or state the rotor's inertia in the robot"
        )));
    }
}

/// Sizes of the states of worlds whose joints are not the last numbers of q and ν, though the
/// sizes alone are those of one robot.
fn mixed_states(ports: &Ports<'_>) -> Vec<[usize; 3]> {
    let robots = ports.resource_names();
    let worlds = robots.iter().filter_map(|name| ports.resource::<RobotModel>(name).ok());
    worlds
        .filter(|robot| {
            robot.model.trees().iter().skip(1).any(legwork_mechanics::Tree::is_floating)
        })
        .map(|robot| {
            let model = &robot.model;
            [model.configuration_dim(), model.velocity_dim(), model.joint_dim()]
        })
        .collect()
}

#[cfg(test)]
mod tests;
