//! `LoopConstraint`: a closed kinematic loop, or a frame that is held.

mod held;

use std::sync::Arc;

use legwork_block::quantity::{
    Angle, AngularVelocity, Dimensionless, Frequency, Length, NonNegative, Positive, Velocity,
};
use legwork_block::{
    Block, Fault, Invalid, Outcome, OutputCx, Real, Solver, block, parameters, ports,
};
use legwork_control::rotation_log;
use legwork_mechanics::{
    FrameId, Kinematics, MixedTwist, Model, Placement, frame_jacobian, frame_jacobian_dot_velocity,
    frame_velocity, relative_jacobian, relative_jacobian_dot_velocity, relative_placement,
    relative_velocity, world_from_frame,
};
use nalgebra::{Matrix3, Unit, Vector3};

use crate::buses::{CONSTRAINT_ROWS, ConstraintBus, RobotDims, StateBus};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::robot_file::Mount;
use crate::robot::shared_kinematics::kinematics;
use held::Held;
pub(crate) use held::Rows;

/// A closed loop, a joint or a held frame, as a bilateral constraint. Two frames of a robot or
/// world stay together, or one frame stays where it is held.
///
/// | `kind` | linear rows | angular rows | holds |
/// |---|---|---|---|
/// | `Point` | 3 | | the points: a ball joint |
/// | `Weld` | 3 | 3 | the points and the axes |
/// | `Hinge(axis: [0, 1, 0])` | 3 | 2 | the points and one direction |
/// | `Slider(axis: [1, 0, 0])` | 2 | 3 | the axes, and the points up to that direction |
/// | `Distance(length: "1 m")` | 1 | | the distance of the points |
///
/// Rows are in the axes of the first frame, with `frame` and `to` in those of the pose; `axis` too.
/// With x the position of the second point as the first frame sees it, R its orientation, b₁ and b₂
/// normal to the axis a, and `a' = R R_closedᵀ a`, the linear φ are x; `bᵢ·x` for `Slider`;
/// `|x| − length` for `Distance`. The angular φ are `bᵢ·(a × a')` for `Hinge`, else the rotation
/// vector `log(R R_closedᵀ)`, for which `J ν` is the angular velocity. For two frames of one robot
/// the columns of a floating base are exactly zero: the forces of a loop change no momentum.
///
/// | `stabilise` | γ | |
/// |---|---|---|
/// | `Projection` | `φ/Δt² + J ν/Δt + ½ J̇ν` | closed after the step, to third order in Δt |
/// | `Baumgarte(…)` | `J̇ν + 2ζω J ν + ω² φ` | an error decays like a spring and damper |
/// | `Off` | `J̇ν` | errors of velocity and position stay, and the loop drifts |
///
/// `Projection` follows from `φ(q ⊕ Δt ν⁺) = φ + Δt J ν⁺ + ½ Δt² J̇ν + O(Δt³)` with
/// `ν⁺ = ν + Δt ν̇`, which is how `SemiImplicitEuler` moves; other solvers are refused. A loop that
/// is open at the start would be closed in one step, so that φ/Δt is limited to `max_speed` and
/// `max_turn_rate`: it closes at that speed, and is not called a fault.
///
/// `in: { "constraints": Join(["left.constraint", "right.constraint"]) }` connects the outputs
/// `constraint` of several blocks to `ConstraintSolver`, `GaussContact`, `Impact` and
/// `ConstrainedAcceleration`. `collect: { "all": Array("loop.constraint") }` joins those of a
/// `ForEach`. Loops may be redundant.
///
/// References: J. Baumgarte, *Stabilization of constraints and integrals of motion in dynamical
/// systems* (1972); J.-P. Ryckaert et al., *Numerical integration of the cartesian equations of
/// motion of a system with constraints* (1977), whose SHAKE closes constraints after a step too;
/// N. Guedelha et al., *A flexible MATLAB/Simulink simulator …* (2024), eqs. (9)–(13), whose loops
/// drift.
#[ports(
    self.stabilise.check_solver(ports.solver())?;
    keep held: Held = self.kind.held()?;
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    keep ends: Ends = self.ends(&robot)?;
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    out constraint: ConstraintBus::new(&nv), _, "J, J̇ν, error φ and γ of `J ν̇ + γ = 0`";
    out distance: Real, "m", "how far the points are apart";
    out angle: Real, "rad", "angle between the axes that are held; zero if none are";
)]
#[parameters(aliases("closed chain", "weld", "loop closure"))]
pub struct LoopConstraint {
    /// The robot.
    pub robot: RobotName,
    /// Names of the two links that stay together; or write `frame` and `to`.
    pub frames: Option<[String; 2]>,
    /// Name of the link that is held at `to`.
    pub frame: Option<String>,
    /// Where `frame` is held, world axes: `(position: [0, 0, "1 m"], rpy: [0, 0, 0])`.
    pub to: Option<Mount>,
    /// What is held: `Weld` (the default), `Point`, `Hinge(axis: […])`, `Slider(axis: […])`,
    /// `Distance(length: …)`.
    #[default]
    pub kind: LoopKind,
    /// Where the points are: one for each frame, in its axes [m]; default their origins.
    #[default]
    pub at: Vec<[Length; 3]>,
    /// Orientation of the second frame as the first sees it when all is closed, by roll, pitch, yaw
    /// [rad]; default equal axes. Of two frames whose axes are held.
    pub rpy: Option<[Angle; 3]>,
    /// How the loop is kept closed; default `Projection`.
    #[default]
    pub stabilise: Stabilise,
    /// `Projection`: highest speed at which an open loop closes [m/s].
    #[default = "1 m/s"]
    pub max_speed: NonNegative<Velocity>,
    /// `Projection`: highest rate at which an open weld turns shut [rad/s].
    #[default = "10 rad/s"]
    pub max_turn_rate: NonNegative<AngularVelocity>,
}

/// What a constraint holds.
#[parameters]
#[derive(Copy, PartialEq, Default)]
pub enum LoopKind {
    /// A point: three rows.
    Point,
    /// A point and the axes: six rows.
    #[default]
    Weld,
    /// A point and one direction: five rows.
    Hinge {
        /// The direction, axes of the first frame; of any length but zero [1].
        axis: [f64; 3],
    },
    /// The axes and a line: five rows.
    Slider {
        /// Direction of the line, axes of the first frame; of any length but zero [1].
        axis: [f64; 3],
    },
    /// A distance: one row.
    Distance {
        /// The distance of the points, above zero [m].
        length: Positive<Length>,
    },
}

impl LoopKind {
    /// Whether the axes of the frames matter.
    fn has_axes(self) -> bool {
        !matches!(self, Self::Point | Self::Distance { .. })
    }

    /// What it holds, with the direction made a unit vector.
    fn held(self) -> Result<Held, Invalid> {
        let unit = |axis: [f64; 3]| {
            let direction = Unit::try_new(Vector3::from(axis), 1e-9)
                .filter(|direction| direction.iter().all(|number| number.is_finite()));
            direction.ok_or_else(|| {
                let message = format!("expected an axis of a length above zero, found {axis:?}");
                Invalid::parameter("kind", message)
            })
        };
        Ok(match self {
            Self::Point => Held::Point,
            Self::Weld => Held::Weld,
            Self::Hinge { axis } => Held::hinge(unit(axis)?),
            Self::Slider { axis } => Held::slider(unit(axis)?),
            Self::Distance { length } => Held::Distance(length.value()),
        })
    }
}

/// How a constraint is kept closed.
#[parameters]
#[derive(Copy, PartialEq, Default)]
pub enum Stabilise {
    /// The constraint is closed after the step.
    #[default]
    Projection,
    /// A spring and a damper on the error.
    Baumgarte {
        /// Frequency ω/2π at which an error decays [Hz].
        frequency: Positive<Frequency>,
        /// Damping ratio ζ, one is critical [1].
        #[default = 1]
        damping: NonNegative<Dimensionless>,
    },
    /// Only the acceleration is constrained.
    Off,
}

/// What sees the second frame.
enum From {
    Frame(FrameId),
    /// A fixed pose: `world_from_pose`.
    Pose(Placement),
}

/// The frames that are held together.
struct Ends {
    from: From,
    to: FrameId,
    /// The points in their frames.
    at: [Vector3<f64>; 2],
    /// `from_from_to` of the closed loop.
    closed: Matrix3<f64>,
}

impl LoopConstraint {
    /// The frames, the points in them, and the orientation in which they are welded.
    fn ends(&self, robot: &RobotModel) -> Result<Ends, Invalid> {
        let turn =
            |rpy: [Angle; 3]| Placement::from_xyz_rpy([0.0; 3], rpy.map(Angle::value)).rotation;
        let (from, to, closed) = match (&self.frames, &self.frame, &self.to) {
            (Some([a, b]), None, None) => {
                if a == b {
                    let message = format!("expected two frames, found `{a}` twice");
                    return Err(Invalid::parameter("frames", message));
                }
                let from = From::Frame(robot.frame("frames", a)?);
                let closed = self.rpy.map_or_else(Matrix3::identity, turn);
                (from, robot.frame("frames", b)?, closed)
            }
            (None, Some(frame), Some(to)) => {
                if self.rpy.is_some() {
                    let message = "expected no `rpy` beside `to`, which has its own";
                    return Err(Invalid::parameter("rpy", message));
                }
                let (position, rpy) = (to.position.map(Length::value), to.rpy.map(Angle::value));
                let pose = Placement::from_xyz_rpy(position, rpy);
                (From::Pose(pose), robot.frame("frame", frame)?, Matrix3::identity())
            }
            _ => {
                return Err(Invalid::new("expected either `frames`, or `frame` and `to`").hint(
                    "write frames: [\"a\", \"b\"] for a loop, or frame: \"a\", to: \
                     (position: […]) for a frame that is held",
                ));
            }
        };
        if !self.kind.has_axes() && self.rpy.is_some() {
            let message = "expected a `kind` that holds axes with `rpy`, as `Weld` does";
            return Err(Invalid::parameter("rpy", message));
        }
        Ok(Ends { from, to, at: self.points()?, closed })
    }

    /// The points in their frames.
    fn points(&self) -> Result<[Vector3<f64>; 2], Invalid> {
        let point = |at: &[Length; 3]| Vector3::from(at.map(Length::value));
        match (self.at.as_slice(), self.frames.is_some()) {
            ([], _) => Ok([Vector3::zeros(); 2]),
            ([a, b], true) => Ok([point(a), point(b)]),
            ([b], false) => Ok([Vector3::zeros(), point(b)]),
            (found, is_pair) => {
                let expected = if is_pair { 2 } else { 1 };
                let message =
                    format!("expected one point for each frame, {expected}, found {}", found.len());
                Err(Invalid::parameter("at", message))
            }
        }
    }
}

impl Stabilise {
    /// `Projection` knows what one solver does with a step.
    pub(crate) fn check_solver(self, solver: Solver) -> Result<(), Invalid> {
        if self != Self::Projection || solver == Solver::SemiImplicitEuler {
            return Ok(());
        }
        let message = format!("Projection closes a step of SemiImplicitEuler, found {solver}");
        Err(Invalid::parameter("stabilise", message)
            .hint("write stabilise: Baumgarte(frequency: \"10 Hz\")"))
    }

    /// `Projection` needs to know the length of the step.
    pub(crate) fn check_step(self, time_step: f64) -> Outcome {
        if self != Self::Projection || (time_step > 0.0 && time_step.is_finite()) {
            return Ok(());
        }
        Err(Fault::new(format!("expected a positive time step, found {time_step}")))
    }

    /// `γ` of three rows, linear or angular, whose error closes at `max_rate` at most.
    pub(crate) fn gamma(self, rows: &Rows, time_step: f64, max_rate: f64) -> Vector3<f64> {
        match self {
            Self::Projection => {
                let rate = rows.error / time_step;
                let speed = rate.norm();
                let limit = if speed > max_rate { max_rate / speed } else { 1.0 };
                (rate * limit + rows.rate) / time_step + rows.bias * 0.5
            }
            Self::Baumgarte { frequency, damping } => {
                let omega = std::f64::consts::TAU * frequency.value();
                rows.bias
                    + rows.rate * (2.0 * damping.value() * omega)
                    + rows.error * (omega * omega)
            }
            Self::Off => rows.bias,
        }
    }
}

/// Placement, velocity and acceleration at ν̇ = 0 of `to` as `from` sees it; J into `jacobian`.
fn motion(
    ends: &Ends,
    model: &Model,
    kinematics: &Kinematics,
    jacobian: &mut [f64],
) -> (Placement, MixedTwist, MixedTwist) {
    let to = ends.to;
    let pose = match &ends.from {
        From::Frame(from) => {
            relative_jacobian(model, kinematics, *from, to, jacobian);
            return (
                relative_placement(model, kinematics, *from, to),
                relative_velocity(model, kinematics, *from, to),
                relative_jacobian_dot_velocity(model, kinematics, *from, to),
            );
        }
        From::Pose(pose) => pose,
    };
    let axes = pose.rotation;
    let turned = |twist: MixedTwist| MixedTwist {
        linear: axes.tr_mul(&twist.linear),
        angular: axes.tr_mul(&twist.angular),
    };
    frame_jacobian(model, kinematics, to, jacobian);
    for part in jacobian.chunks_exact_mut(3) {
        let seen = axes.tr_mul(&Vector3::new(part[0], part[1], part[2]));
        part.copy_from_slice(seen.as_slice());
    }
    let world_from_to = world_from_frame(model, kinematics, to);
    let placement = Placement {
        rotation: axes.tr_mul(&world_from_to.rotation),
        translation: axes.tr_mul(&(world_from_to.translation - pose.translation)),
    };
    let velocity = turned(frame_velocity(model, kinematics, to));
    (placement, velocity, turned(frame_jacobian_dot_velocity(model, kinematics, to)))
}

#[block]
impl Block for LoopConstraint {
    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let time_step = cx.time.step;
        self.stabilise.check_step(time_step)?;
        let kinematics = cx.inputs.shared(plan.kinematics);
        let [jacobian, dot_nu, error, gamma, active] = cx.outputs.leaves([
            plan.constraint.leaf(ConstraintBus::JACOBIAN),
            plan.constraint.leaf(ConstraintBus::JACOBIAN_DOT_NU),
            plan.constraint.leaf(ConstraintBus::ERROR),
            plan.constraint.leaf(ConstraintBus::GAMMA),
            plan.constraint.leaf(ConstraintBus::ACTIVE),
        ]);
        let (placement, v, a) = motion(&plan.ends, &plan.robot.model, kinematics, jacobian);
        // The second point is fixed in `to` and moves with it: `r` from its origin.
        let r = placement.rotation * plan.ends.at[1];
        if r != Vector3::zeros() {
            for column in jacobian.chunks_exact_mut(CONSTRAINT_ROWS) {
                let lever = Vector3::new(column[3], column[4], column[5]).cross(&r);
                column[..3].iter_mut().zip(lever.iter()).for_each(|(j, lever)| *j += lever);
            }
        }
        let w = v.angular;
        let linear = Rows {
            error: placement.translation + r - plan.ends.at[0],
            rate: v.linear + w.cross(&r),
            bias: a.linear + a.angular.cross(&r) + w.cross(&w.cross(&r)),
        };
        let turned = placement.rotation * plan.ends.closed.transpose();
        let angular = Rows { error: rotation_log(&turned), rate: w, bias: a.angular };
        let parts = plan.held.parts(linear, angular, &turned)?;
        let rates = [self.max_speed.value(), self.max_turn_rate.value()];
        for (i, (part, max_rate)) in parts.iter().zip(rates).enumerate() {
            let range = 3 * i..3 * i + 3;
            for (k, active) in active[range.clone()].iter_mut().enumerate() {
                *active = f64::from(u8::from(k < part.count));
            }
            error[range.clone()].copy_from_slice(part.rows.error.as_slice());
            dot_nu[range.clone()].copy_from_slice(part.rows.bias.as_slice());
            let value = self.stabilise.gamma(&part.rows, time_step, max_rate);
            gamma[range.clone()].copy_from_slice(value.as_slice());
            // Three rows that are held as they are.
            if part.directions == Matrix3::identity() {
                continue;
            }
            for column in jacobian.chunks_exact_mut(CONSTRAINT_ROWS) {
                let column = &mut column[range.clone()];
                let rows = part.directions * Vector3::new(column[0], column[1], column[2]);
                column.copy_from_slice(rows.as_slice());
            }
        }
        let [linear, angular] = &parts;
        cx.outputs.set(plan.distance, linear.rows.error.norm());
        cx.outputs.set(plan.angle, plan.held.angle(&angular.rows, &turned));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
