//! `CondensedMpc`: the quadratic program of predictive control of a trunk by its feet.

use std::f64::consts::PI;

use legwork_block::quantity::{Force, Inertia, Length, Positive, Time};
use legwork_block::{
    Block, Dim, Invalid, Matrix, Outcome, OutputCx, Ports, Sizes, Vector, block, parameters, ports,
};
use legwork_control::{
    LEGS, TRUNK_STATE, TrunkModel, TrunkPrediction, TrunkStep, TrunkWeights, elapsed, phase_at,
};

use crate::buses::{GaitBus, GaitRef, StateBus};
use crate::locomotion::trunk::{Base, roll_pitch_yaw};
use crate::robot::name::RobotName;

/// Predictive control of a trunk by the forces at its feet, as a quadratic program. They are those
/// by which it follows a command over some steps to come: `min ½ UᵀH U + gᵀU` over the forces `U`
/// of all steps, world axes, within pyramids of friction: what `Qp` solves; `x[0..12]` are the
/// forces to exert now.
///
/// The trunk is a rigid body on massless legs (`legwork_control::TrunkPrediction`), its state roll,
/// pitch, yaw, position, angular velocity, velocity of its base. The reference goes from where it is
/// with the commanded velocity and rate of turn, level, at `height` over the mean of the feet. Which
/// feet stand is what `gait` says now, continued at the present period; a foot that stands is where
/// it is, one that has yet to touch down will be at `stance` under the trunk of that time, half of
/// a stance ahead.
///
/// Give it the period at which forces are planned anew (`every: "30 ms"`), and the solver behind it;
/// both run beside a faster controller that turns forces into torques.
///
/// J. Di Carlo, P. M. Wensing, B. Katz, G. Bledt, S. Kim, *Dynamic locomotion in the MIT Cheetah 3
/// through convex model-predictive control* (2018).
#[ports(
    |n: &Dim, m: &Dim|
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    in  gait: GaitBus::new(), _, "where the legs are in their steps";
    in  command: Vector::of(3), _, "wanted forward, left, turning", units "m/s, m/s, rad/s";
    in  feet: Vector::of(12), "m", "places of the feet below one another, world axes";
    out hessian("H"): Matrix::of(n, n), _, "the quadratic term", shape "12 steps × 12 steps";
    out gradient("g"): Vector::of(n), _, "the linear term", shape "12 steps";
    out rows("A"): Matrix::of(m, n), "1", "sides of the pyramids of friction",
        shape "16 steps × 12 steps";
    out lower: Vector::of(m), "N", "of the rows", shape "16 steps";
    out upper: Vector::of(m), "N", "of the rows", shape "16 steps";
    out x_lower: Vector::of(n), "N", "of the forces", shape "12 steps";
    out x_upper: Vector::of(n), "N", "of the forces", shape "12 steps";
    out stance: Vector::of(4), "1", "1 for the feet that stand in the first step";
)]
#[parameters(aliases("model-predictive control", "MPC", "convex MPC", "receding horizon"))]
pub struct CondensedMpc {
    /// The robot: one that floats, with four feet.
    pub robot: RobotName,
    /// Principal inertia of the robot about the axes of its trunk [kg m²].
    pub inertia: [Positive<Inertia>; 3],
    /// Height of the trunk over its feet [m].
    pub height: Positive<Length>,
    /// Where feet stand under the trunk, forward and to the left [m].
    pub stance: [[Length; 2]; 4],
    /// Friction that is relied on [1].
    #[default = 0.6]
    pub mu: f64,
    /// Most normal force of a foot that stands [N].
    #[default = "150 N"]
    pub normal_force: Positive<Force>,
    /// How many steps [1].
    #[default = 10]
    pub steps: usize,
    /// How long each is [s].
    #[default = "30 ms"]
    pub duration: Positive<Time>,
    /// Weights of the squares of errors of roll, pitch, yaw, position, angular velocity, velocity
    /// [1]; default 0.25, 0.25, 10, 2, 2, 50, 0, 0, 0.3, 0.2, 0.2, 0.1.
    pub weights: Option<[f64; 12]>,
    /// Weight of the squares of forces [1/N²].
    #[default = 4e-5]
    pub force_weight: f64,
}

/// Weights of errors for a robot of some 10 kg.
const WEIGHTS: [f64; TRUNK_STATE] =
    [0.25, 0.25, 10.0, 2.0, 2.0, 50.0, 0.0, 0.0, 0.3, 0.2, 0.2, 0.1];
/// Rows of a foot's pyramid of friction.
const SIDES: usize = 4;
/// Unknowns and rows of one step.
const FORCES: usize = 3 * LEGS;
const ROWS: usize = SIDES * LEGS;

/// Ports and model of a [`CondensedMpc`].
pub struct Plan {
    io: CondensedMpcPorts,
    base: Base,
    model: TrunkModel,
    weights: TrunkWeights,
}

/// Work memory of a [`CondensedMpc`].
pub struct Scratch {
    prediction: TrunkPrediction,
    steps: Vec<TrunkStep>,
}

/// The phase of a leg after `time` from `phase` on, and whether it has touched down on the way.
fn ahead(phase: f64, time: f64, gait: &GaitRef<'_>) -> (f64, bool) {
    let period = gait.stance_time + gait.swing_time;
    let duty = gait.stance_time / period;
    let cycles = elapsed(phase, duty) + time / period;
    (phase_at(cycles, duty), cycles >= 1.0)
}

#[block]
impl Block for CondensedMpc {
    type Plan = Plan;
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        if self.steps == 0 || self.steps > 100 {
            let message = format!("expected 1 to 100 steps, found {}", self.steps);
            return Err(Invalid::parameter("steps", message));
        }
        let is_weight = |weight: &f64| *weight >= 0.0 && weight.is_finite();
        let state = self.weights.unwrap_or(WEIGHTS);
        if let Some(weight) = state.iter().find(|weight| !is_weight(weight)) {
            let message = format!("expected weights of zero or more, found {weight}");
            return Err(Invalid::parameter("weights", message));
        }
        for (name, value) in [("force_weight", self.force_weight), ("mu", self.mu)] {
            if !(value > 0.0 && value.is_finite()) {
                let message = format!("expected more than 0, found {value}");
                return Err(Invalid::parameter(name, message));
            }
        }
        let robot = self.robot.find(ports)?;
        let base = Base::of(&robot)?;
        let [x, y, z] = self.inertia.map(|inertia| inertia.value());
        let model = TrunkModel {
            mass: robot.model.total_mass(),
            inertia: [x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z],
            gravity: robot.model.gravity().norm(),
        };
        let weights = TrunkWeights { state, force: self.force_weight };
        let (n, m) = (Dim::fixed(FORCES * self.steps), Dim::fixed(ROWS * self.steps));
        let io = self.declare(ports, &n, &m);
        Ok(Plan { io, base, model, weights })
    }

    fn scratch(&self, _: &Plan, _: &Sizes<'_>) -> Scratch {
        let step = TrunkStep {
            reference: [0.0; TRUNK_STATE],
            arms: [[0.0; 3]; LEGS],
            stands: [true; LEGS],
        };
        Scratch { prediction: TrunkPrediction::new(self.steps), steps: vec![step; self.steps] }
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let io = &plan.io;
        let Scratch { prediction, steps } = cx.scratch;
        let state = cx.inputs.get(io.state);
        let feet = cx.inputs.get(io.feet);
        let trunk = trunk(state.q, state.nu, &plan.base);
        let gait = cx.inputs.get(io.gait);
        self.plan_steps(&trunk, &gait, cx.inputs.get(io.command), feet, steps);
        for (out, stands) in cx.outputs.get(io.stance).iter_mut().zip(steps[0].stands) {
            *out = f64::from(u8::from(stands));
        }
        let [hessian, gradient] = cx.outputs.leaves([io.hessian.leaf(0), io.gradient.leaf(0)]);
        let into = (hessian, gradient);
        let duration = self.duration.value();
        prediction.assemble(&plan.model, &plan.weights, duration, &trunk, steps, into);
        let count = steps.len();
        self.limit(count, io, cx);
        Ok(())
    }
}

/// Roll, pitch, yaw, position, angular velocity, velocity of the base.
fn trunk(q: &[f64], nu: &[f64], base: &Base) -> [f64; TRUNK_STATE] {
    let position = &q[base.quaternion - 3..base.quaternion];
    let velocity = &nu[base.velocity..base.velocity + 6];
    let mut trunk = [0.0; TRUNK_STATE];
    trunk[0..3].copy_from_slice(&roll_pitch_yaw(&q[base.quaternion..]));
    trunk[3..6].copy_from_slice(position);
    trunk[6..9].copy_from_slice(&velocity[3..6]);
    trunk[9..12].copy_from_slice(&velocity[0..3]);
    trunk
}

impl CondensedMpc {
    /// References, arms and standing feet of the horizon.
    fn plan_steps(
        &self,
        trunk: &[f64; TRUNK_STATE],
        gait: &GaitRef<'_>,
        command: &[f64],
        feet: &[f64],
        steps: &mut [TrunkStep],
    ) {
        let duration = self.duration.value();
        let ground = (0..LEGS).map(|leg| feet[3 * leg + 2]).sum::<f64>() / LEGS as f64;
        for (k, step) in steps.iter_mut().enumerate() {
            let place = |time: f64| {
                let yaw = trunk[2] + command[2] * time;
                // The mean heading on the way: an arc up to third order.
                let (s, c) = libm::sincos(trunk[2] + 0.5 * command[2] * time);
                let x = trunk[3] + time * (c * command[0] - s * command[1]);
                let y = trunk[4] + time * (s * command[0] + c * command[1]);
                (x, y, yaw)
            };
            let end = duration * (k + 1) as f64;
            let middle = duration * (k as f64 + 0.5);
            let (x, y, yaw) = place(end);
            let (s, c) = libm::sincos(yaw);
            step.reference = [
                0.0,
                0.0,
                yaw,
                x,
                y,
                ground + self.height.value(),
                0.0,
                0.0,
                command[2],
                c * command[0] - s * command[1],
                s * command[0] + c * command[1],
                0.0,
            ];
            let (x, y, yaw) = place(middle);
            let height =
                trunk[5] + (step.reference[5] - trunk[5]) * (k as f64 + 0.5) / (k + 1) as f64;
            for leg in 0..LEGS {
                let walks = gait.phase_rate[leg] != 0.0;
                let (phase, landed) = if walks {
                    ahead(gait.phase[leg], middle, gait)
                } else {
                    (gait.phase[leg], false)
                };
                step.stands[leg] = if walks { phase < PI } else { gait.stance[leg] != 0.0 };
                let foot = &feet[3 * leg..3 * leg + 3];
                step.arms[leg] = if landed {
                    // In the middle of its stance a foot is under its place of the trunk.
                    let to_middle = (0.5 - phase / PI) * gait.stance_time;
                    let (s, c) = libm::sincos(yaw);
                    let [forward, left] = self.stance[leg].map(|length| length.value());
                    let (u, v) = (forward + to_middle * command[0], left + to_middle * command[1]);
                    [c * u - s * v, s * u + c * v, ground - height]
                } else {
                    [foot[0] - x, foot[1] - y, foot[2] - height]
                };
            }
        }
    }

    /// The limits of the forces.
    fn limit(&self, steps: usize, io: &CondensedMpcPorts, cx: &mut OutputCx<'_, Self>) {
        let (n, m) = (FORCES * steps, ROWS * steps);
        let rows = cx.outputs.get(io.rows);
        rows.fill(0.0);
        for foot in 0..LEGS * steps {
            for side in 0..SIDES {
                let (row, tangent) = (SIDES * foot + side, 3 * foot + side / 2);
                // ±f_t − μ f_n ≤ 0.
                rows[tangent * m + row] = if side.is_multiple_of(2) { 1.0 } else { -1.0 };
                rows[(3 * foot + 2) * m + row] = -self.mu;
            }
        }
        debug_assert_eq!(rows.len(), n * m);
        // Feet that do not stand have no force by the objective; their bounds only need to hold 0.
        let most = self.normal_force.value();
        cx.outputs.get(io.lower).fill(-1e5);
        cx.outputs.get(io.upper).fill(0.0);
        for lower in cx.outputs.get(io.x_lower).chunks_exact_mut(3) {
            lower.copy_from_slice(&[-1e5, -1e5, 0.0]);
        }
        for upper in cx.outputs.get(io.x_upper).chunks_exact_mut(3) {
            upper.copy_from_slice(&[1e5, 1e5, most]);
        }
    }
}

#[cfg(test)]
mod tests;
