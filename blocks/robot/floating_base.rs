//! `FloatingBase`: integrates a robot's acceleration to its state.

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::quantity::{
    Angle, AngularVelocity, Dimensionless, Length, PerJoint, Scalar, Velocity,
};
use legwork_block::{
    Any, Block, ContinuousState, CorrectCx, Crossing, DerivativeCx, Dim, Fault, GuardCx, Invalid,
    Manifold, Outcome, OutputCx, Parameters, Ports, Report, ResetCx, Sizes, Slope, SlopesCx,
    Solver, Type, UpdateCx, Vector, block, parameters, ports,
};
use legwork_contact::Surface;
use legwork_mechanics::Model;

use crate::buses::{RobotDims, StateBus};
use crate::contact::ground::Section as GroundSection;
use crate::dynamics::forward_dynamics::together;
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::signal::divergence;

mod angles;
mod drift;
mod feet;
mod initial;
mod limits;
mod momentum;
mod step_watch;

use angles::EulerBases;
use drift::Drift;
use feet::Below;
use initial::written;
use limits::{LimitWatch, Limited, Seen, limited};
use serde::{Deserialize, Serialize};
use step_watch::StepWatch;

/// State of a robot: integrates its acceleration, the base on its manifold.
///
/// `q = (p, quaternion (w, x, y, z), s)`, `ν = (ṗ, ω, ṡ)` with ω in world axes, and
/// `ṗ = v`, `quaternion' = ½ ω ⊗ quaternion`, `s' = ṡ`, `ν̇ = nu_dot`. It is second-order state:
/// semi-implicit Euler moves q with the new ν. A fixed base has `q = s`, `ν = ṡ`; the quaternion of
/// a ball joint is integrated as that of a base. A coordinate that is faster than 1e9 m/s or rad/s
/// is a fault of the run: it has diverged. So is a single step of `Euler` or `SemiImplicitEuler` to
/// more than 1e4 m/s or rad/s and a hundred times the largest speed before, 10⁴ times the energy.
///
/// | `orientation` of a base | kept as | rate | where it ends |
/// |---|---|---|---|
/// | `Quaternion` | unit quaternion | `½ ω ⊗ quaternion`, on its manifold | nowhere |
/// | `EulerAngles` | `R = Rz(ψ) Ry(θ) Rx(φ)` | `(φ̇, θ̇, ψ̇) = T(θ, ψ) ω` | θ = ±90° |
///
/// with `φ̇ = (ω_x cos ψ + ω_y sin ψ)/cos θ`, `θ̇ = ω_y cos ψ − ω_x sin ψ`, `ψ̇ = ω_z + φ̇ sin θ`.
/// The bus is the same: its quaternion is made of the angles. Within 1° of the pole is a fault of
/// the run. Angles are not wrapped, so that turns count.
///
/// Under `SemiImplicitEuler` forces kick and inertia drifts:
///
/// ```text
/// ν₁ = ν + Δt (ν̇ + M⁻¹ C ν)                  kick by all forces, at the beginning of the step
/// M ν̇ + C ν = 0 from (q, ν₁) to (q⁺, ν⁺)     drift over Δt, to second order
/// ```
///
/// | drift of | rule | kept |
/// |---|---|---|
/// | a body alone, in flight | Simo & Wong (1991), sec. 4 | momentum, energy: to rounding |
/// | a robot that only weight acts on | implicit midpoint, momentum set | the same; energy to Δt² |
/// | a robot in flight, joints driven or tied | `s` as below, base by its momentum | momentum |
/// | those under smooth forces | the same; as in flight if joints resist | the same |
/// | any other, or nearly at rest | `ν⁺ = ν + Δt ν̇`, `q⁺ = q ⊕ Δt ν⁺` | order 1 |
///
/// A robot is in flight if the forces on its base, without weight, are less than 1e-6 m/s² times
/// its mass. Laws of contacts and constraints rely on `q⁺ = q ⊕ Δt ν⁺`, so a body or robot with
/// such forces keeps the explicit drift, and each force counts as one of them. Forces are smooth if
/// `nu_dot` is that of a `ForwardDynamics` without `J` and `f`: thrust, wind, drag and motors. A
/// fixed base with driven joints keeps the explicit drift too. Joints resist if they have damping,
/// friction or springs. A midpoint step that is not solved, or changes the kinetic energy by more
/// than 0.1 %, is divided, into at most 16. The kick is of first order. After a fall of duration t
/// under gravity, a body is `½ g Δt t` too deep and its energy lacks `½ Δt m g·(v − v₀)`; the
/// energy comes back when v does. With `EulerAngles` the drift of a base that turns is of first
/// order.
///
/// One step in 32, one in 4 of a fast motion, is compared with the balance
/// `T⁺ − T = Δt ½ (ν + ν⁺)ᵀ(M ν̇ + C ν)`. The sum over these steps, and the change of T without the
/// work of forces, are two estimates of the energy that no force accounts for. If the smaller one
/// exceeds a tenth of the initial energy and the work of all forces, the run warns:
/// `makes-energy` or `loses-energy`, with the factor. `changes-momentum` warns likewise of linear
/// or angular momentum of a floating base that no force accounts for, compared with the largest
/// momenta of the links and the impulses of all forces. Every method is checked. For a method with
/// stages, work and impulses are those of the mean force of both ends, in steps that resolve it;
/// `unresolved` warns if a quarter of them does not.
/// The warning `chatters` names a coordinate whose speed alternates by more than 0.1 m/s or rad/s
/// in 64 consecutive steps: the step is too long for the forces on it.
///
/// Limits of joints are no part of the robot's dynamics. Those of positions are contacts, by
/// `JointLimits`, which `std:masks/robot_with_contacts.ron` has in it; those of efforts are the
/// limits of `Actuator` and `Motor` that know the robot. Whatever does not act is a warning of the
/// run once it matters: a joint that is more than 0.01 rad or m past a limit of its file, or faster
/// than it says, here; a torque beyond its effort, at `ForwardDynamics`. A joint that starts
/// outside its limits is told so, and no more unless it goes farther out. A robot with
/// `joint_limits: Ignore` has no limits.
///
/// Of a world the robots' states are stacked, and `init` names them:
/// `init: (robots: {"go": (keyframe: "stand"), "box": (position: [1, 0, 0.5])})`.
///
/// `reset` must become 0 by the reset itself, as the trigger of an impact does: an impulse that
/// has acted leaves no approaching velocity.
///
/// Reference for Euler angles: D. T. de Paula et al., *Dynamic modeling and simulation of a
/// torque-controlled spatial quadruped robot* (2024), eqs. (41)–(42). There the angles' matrix
/// gives ω in world axes, the twist of the trunk is in its own axes and is integrated as a velocity
/// in the world; here position and angles both have the velocities in world axes.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    /// Bases that have Euler angles in place of the quaternion in q.
    keep angles: EulerBases = match self.orientation {
        Orientation::Quaternion => EulerBases::none(),
        Orientation::EulerAngles => EulerBases::all(&robot)?,
    };
    let ground = self.is_placed().then(|| ports.ground::<GroundSection>()).flatten();
    let ground = ground.as_ref().map(|section| section.surface());
    /// Position and ν at t = 0.
    keep initial: Vec<f64> = angles.state(&robot, &self.init, &self.start(&robot, ground, ports)?)?;
    self.warn_of_ground(ports);
    /// Numbers of the position; ν follows them.
    keep position_len: usize = angles.position_len(robot.model.configuration_dim());
    /// Joints with limits, which are watched.
    keep limited: Vec<(usize, Limited)> = limited(&robot.model);
    /// Whether a step adds `Δt ν̇` to ν.
    keep is_single_stage: bool = !ports.solver().has_stages();
    /// True if the drift of a step is replaced by one that keeps energy.
    keep corrects: bool = ports.solver() == Solver::SemiImplicitEuler;
    /// Step of the run [s].
    keep step: f64 = ports.step();
    ports.updates();
    ports.continuous_state(ContinuousState::Second(manifold(&robot.model, &angles)));
    ports.guard(Crossing::Level);
    if !angles.is_empty() {
        ports.guard(Crossing::Level);
    }
    let RobotDims { nv, .. } = RobotDims::of(ports, self.robot.as_str());
    in  nu_dot: Vector::of(&nv), _, "acceleration", units "m/s², rad/s²";
    in  reset?: Any::var(ports.var()), _, "resets velocity while a number is above 0",
        shape "Bool, Real or Vector";
    in  nu_reset?: Vector::of(&nv), _, "velocity after the reset", named "`nu_reset`, with `reset`",
        units "m/s, rad/s";
    feeds();
    out state: StateBus::of(ports, self.robot.as_str()), _, "q and ν; no input feeds through",
        units "m, 1, rad; m/s, rad/s";
)]
#[parameters(aliases("robot state", "plant", "six-DOF"))]
pub struct FloatingBase {
    /// The robot.
    pub robot: RobotName,
    /// State at t = 0; without it, all joints at 0, the base level at the origin, at rest. A model
    /// of MuJoCo begins in the pose of its file.
    #[default]
    pub init: Init,
    /// How orientations of floating bases are kept: `Quaternion` (the default) or `EulerAngles`.
    #[default]
    pub orientation: Orientation,
}

/// Coordinates of a base's orientation.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Orientation {
    /// A unit quaternion, everywhere regular.
    #[default]
    Quaternion,
    /// Roll, pitch, yaw: `Rz(yaw) Ry(pitch) Rx(roll)`; singular at a pitch of ±90°.
    EulerAngles,
}

/// State of a robot at t = 0. What is not stated is zero, or as in the keyframe, or without one as
/// in the file of a model of MuJoCo: its pose `reference`. Of a world only
/// `robots` may be stated.
#[parameters]
#[derive(Default)]
pub struct Init {
    /// States of the robots of a world, by name. Those not named begin as one without `init`.
    #[default]
    pub robots: BTreeMap<String, Init>,
    /// Named pose of the robot to begin with; the fields below replace parts of it.
    pub keyframe: Option<String>,
    /// Position of the base in the world [m].
    pub position: Option<[Length; 3]>,
    /// Orientation of the base, world_from_base: quaternion (w, x, y, z) of any length but 0.
    pub orientation: Option<[Dimensionless; 4]>,
    /// Orientation of the base by roll, pitch, yaw [rad]: `Rz(yaw) Ry(pitch) Rx(roll)`.
    pub rpy: Option<[Angle; 3]>,
    /// Joint positions [rad; m for prismatic joints]: a list in the order of the robot file, or by
    /// joint name or pattern. The quaternion of a ball joint may have any length but 0.
    pub s: Option<PerJoint<Scalar>>,
    /// Velocity of the base in world axes [m/s].
    pub velocity: Option<[Velocity; 3]>,
    /// Angular velocity of the base in world axes [rad/s].
    pub angular_velocity: Option<[AngularVelocity; 3]>,
    /// Joint velocities [rad/s; m/s for prismatic joints], as `s`.
    pub s_dot: Option<PerJoint<Scalar>>,
    /// Moves the base up or down to where it fits the ground.
    pub place: Option<Place>,
}

/// Rules that place the base over the section `ground:` of the diagram, or else the plane z = 0.
#[parameters]
#[derive(Copy, PartialEq)]
pub enum Place {
    /// The lowest foot is so far above the ground [m]: the lowest point of the feet's collision
    /// shapes, of meshes too, or of the origins of feet without. Over ground that is not level that
    /// of their balls, corners and rims. The height in `position` or in the keyframe does not
    /// matter then.
    FeetAbove(Length),
}

impl FloatingBasePorts {
    #[cold]
    fn too_fast(&self, nu: &[f64]) -> Box<Fault> {
        let names = self.robot.model.pattern();
        divergence::too_fast(nu, |k| format!("{}: `{}`", self.robot.name, names.name(k)))
    }

    /// Fails if one step takes the robot from what machines do to what none does.
    fn check_step(&self, nu: &[f64], nu_dot: &[f64], step: f64) -> Outcome {
        let after = nu.iter().zip(nu_dot).map(|(nu, rate)| nu + step * rate);
        divergence::check_step(nu.iter().copied(), after, || format!("{}: ", self.robot.name))
    }
}

impl FloatingBase {
    /// q and ν at t = 0, over this ground or else the plane z = 0.
    fn start(
        &self,
        robot: &RobotModel,
        ground: Option<&Surface>,
        ports: &mut Ports<'_>,
    ) -> Result<Vec<f64>, Invalid> {
        let mut below = Below { ground, files: ports.files(), doubts: Vec::new() };
        let start = self.init.state(robot, &mut below)?;
        let doubts = below.doubts;
        doubts.into_iter().for_each(|doubt| ports.warn(doubt));
        Ok(start)
    }

    /// The rules that place it, or the robots of a world.
    fn places(&self) -> impl Iterator<Item = Place> {
        let inits = std::iter::once(&self.init).chain(self.init.robots.values());
        inits.filter_map(|init| init.place)
    }

    /// Whether the ground decides where it begins.
    fn is_placed(&self) -> bool {
        self.places().next().is_some()
    }

    /// Warns of feet that are put below the ground.
    fn warn_of_ground(&self, ports: &mut Ports<'_>) {
        for Place::FeetAbove(height) in self.places() {
            if height.value() < 0.0 {
                let message = format!(
                    "the lowest foot begins {} m inside the ground, which will throw it out",
                    -height.value()
                );
                let warning = Invalid::parameter("init", message);
                ports
                    .warn(warning.hint("write the height above the ground: `FeetAbove(\"5 cm\")`"));
            }
        }
    }
}

/// Checks of a robot during a run: joint limits and energy.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Watch {
    limits: LimitWatch,
    energy: StepWatch,
}

#[block]
impl Block for FloatingBase {
    type State = Watch;
    type Memo = Seen;
    type Scratch = Box<Drift>;

    fn state(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Watch {
        let limits = LimitWatch::of(plan.limited.len());
        Watch { limits, energy: StepWatch::of(&plan.robot.model) }
    }

    fn memo(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Seen {
        Seen::of(plan.limited.len())
    }

    fn scratch(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Self::Scratch {
        Box::new(Drift::new(&plan.robot.model, sizes.is_smooth(plan.nu_dot)))
    }

    fn clear_memo(&self, seen: &mut Seen) {
        seen.clear();
    }

    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        match (sizes.optional(plan.reset), sizes.optional(plan.nu_reset)) {
            (Some(_), None) => Err(together("reset", "nu_reset")),
            (None, Some(_)) => Err(together("nu_reset", "reset")),
            _ => Ok(()),
        }
    }

    fn initial(&self, plan: &Self::Plan, _: &Sizes<'_>, x: &mut [f64]) {
        x.copy_from_slice(&plan.initial);
    }

    fn starting_at(&self, plan: &Self::Plan, at: &[f64], _: &[Type]) -> Option<Parameters> {
        Some(vec![("init", written(&plan.robot, self.orientation, at))])
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (position, nu) = cx.x.split_at(plan.position_len);
        if !cx.time.minor && divergence::is_too_fast(nu) {
            return Err(plan.too_fast(nu));
        }
        let q = cx.outputs.leaf(plan.state, 0);
        plan.angles.configuration(position, q);
        if !cx.time.minor {
            cx.state.limits.see(&plan.limited, q, nu, cx.memo);
        }
        cx.outputs.leaf(plan.state, 1).copy_from_slice(nu);
        Ok(())
    }

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        cx.state.limits.commit(cx.time.t, cx.memo);
        let (drift, energy, time) = (&mut **cx.scratch, &mut cx.state.energy, cx.time);
        let (nu, nu_dot) = (&cx.x[plan.position_len..], cx.inputs.get(plan.nu_dot));
        if !plan.is_single_stage {
            if energy.awaits_end() || energy.wants_balance(nu, time.step) {
                plan.angles.configuration(&cx.x[..plan.position_len], &mut drift.q);
                drift.pass(&plan.robot.model, (time.t, nu, nu_dot), energy);
            }
            return Ok(());
        }
        energy.accelerate(time.t, time.step, nu_dot);
        if energy.wants_balance(nu, time.step) {
            plan.angles.configuration(&cx.x[..plan.position_len], &mut drift.q);
            let model = &plan.robot.model;
            drift.balance(model, nu, nu_dot, time.step, plan.corrects, |tree, of_step| {
                energy.balance(time.t, time.step, tree, of_step);
            });
        }
        Ok(())
    }

    fn report(&self, plan: &Self::Plan, state: &Watch, report: &mut Report) {
        state.limits.report(&plan.robot.model, report);
        state.energy.report(&plan.robot, plan.step, report);
    }

    fn derivative(&self, plan: &Self::Plan, cx: &mut DerivativeCx<'_, Self>) -> Outcome {
        let nu_dot = cx.inputs.get(plan.nu_dot);
        if plan.is_single_stage && !cx.time.minor {
            plan.check_step(&cx.x[plan.position_len..], nu_dot, cx.time.step)?;
        }
        cx.rate.copy_from_slice(nu_dot);
        Ok(())
    }

    fn correct(&self, plan: &Self::Plan, cx: &mut CorrectCx<'_, Self>) -> bool {
        let (position, nu) = cx.x.split_at(plan.position_len);
        plan.angles.configuration(position, &mut cx.scratch.q);
        cx.scratch.replace(&plan.robot.model, nu, cx.time.step, cx.rate, cx.shift)
    }

    fn guard(&self, plan: &Self::Plan, cx: &mut GuardCx<'_, Self>) {
        let largest = |leaves: legwork_block::Leaves<'_>| {
            leaves.iter().flatten().fold(f64::NEG_INFINITY, |most, &number| most.max(number))
        };
        // The guard of a base whose reset is not connected never fires.
        cx.values[0] = cx.inputs.optional(plan.reset).map_or(f64::NEG_INFINITY, largest);
        if let Some(near) = cx.values.get_mut(1) {
            *near = plan.angles.nearness(&cx.x[..plan.position_len]);
        }
    }

    fn reset(&self, plan: &Self::Plan, cx: &mut ResetCx<'_, Self>) -> Outcome {
        if let (true, Some(nu)) = (cx.fired[0], cx.inputs.optional(plan.nu_reset)) {
            cx.x[plan.position_len..].copy_from_slice(nu);
        }
        match cx.fired.get(1) {
            Some(true) => plan.angles.singular(&cx.x[..plan.position_len]),
            _ => Ok(()),
        }
    }

    /// q and ν are the state; Euler angles are differenced.
    fn output_slopes(&self, plan: &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        if !plan.angles.is_empty() {
            return Slope::Unknown;
        }
        let slopes = &mut cx.slopes;
        let (q, nu, state) =
            (slopes.rows(plan.state, 0), slopes.rows(plan.state, 1), slopes.state());
        for i in 0..q.len() {
            slopes.add((q, i), (state, i), 1.0);
        }
        for i in 0..nu.len() {
            slopes.add((nu, i), (state, plan.position_len + i), 1.0);
        }
        Slope::Exact
    }

    fn rate_slopes(&self, plan: &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        cx.slopes.each(cx.slopes.rates(), cx.slopes.columns(plan.nu_dot, 0), |_| 1.0);
        Slope::Exact
    }
}

/// Plain numbers, unit quaternions and Euler angles, in the order of q.
fn manifold(model: &Model, angles: &EulerBases) -> Vec<Manifold> {
    let plain = |n: usize| (n > 0).then(|| Manifold::Euclidean(Dim::fixed(n)));
    let mut parts = Vec::new();
    let mut at = 0;
    for &(quaternion, _) in model.quaternions() {
        parts.extend(plain(quaternion - at));
        parts.push(match angles.has(quaternion) {
            true => Manifold::EulerAngles,
            false => Manifold::Quaternion,
        });
        at = quaternion + 4;
    }
    parts.extend(plain(model.configuration_dim() - at));
    parts
}

#[cfg(test)]
mod tests;
