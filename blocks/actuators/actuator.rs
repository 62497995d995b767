//! `Actuator`: torque limits and bandwidth of the joints' motors.

use legwork_block::quantity::{Frequency, Limit, OfJoint, PerJoint, Positive, Torque};
use legwork_block::{
    Block, DerivativeCx, Dim, Invalid, NO_FEEDS, Outcome, OutputCx, Parameters, Ports, Sizes,
    Slope, SlopesCx, Type, UpdateCx, Vector, Written, block, parameters, ports,
};

use crate::robot::joint_values::{JointValues, torques, unit_of};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;

pub(crate) mod lag;

use lag::{Lag, beginning, check_initial, check_limits, saturated};

/// Motors of the joints: torque limits, then a first-order lag. `τ̇ = 2πf (sat(u) − τ)`; without
/// `bandwidth`, `τ = sat(u)` at once.
///
/// # The lag and the step
///
/// By default the lag is continuous state: exact as the step h goes to 0. Explicit Euler and
/// semi-implicit Euler advance it by `1 − 2πf h` per step, which is stable while `2πf h < 2` but
/// overshoots beyond 1: f = 200 Hz at h = 1 ms has 2πf h = 1.257, and the torque jumps 26 % past
/// its target and back, step by step less, though never past its limit. The mean delay is that of
/// the lag, 1 / 2πf, all the same. With `discrete: true` the lag is advanced exactly for an input
/// that is held over the period h, `τ⁺ = τ + (1 − e^(−2πf h)) (sat(u) − τ)`: it never overshoots,
/// and its torque is held over the period, which delays it by h/2 more. Then the period is that of
/// `every:`, or of a discrete input, such as a controller with `every:`.
///
/// [`Motor`](crate::Motor) has the same limits and lag, and gears, friction and a supply voltage.
#[ports(
    keep lag: Lag = Lag::new(self.bandwidth, self.discrete, self.initial.is_some())?;
    let robot = self.robot.as_ref().map(|name| name.find(ports)).transpose()?;
    keep limit: JointValues = match (&self.torque_limit, robot.as_deref()) {
        (None, None) => JointValues::All(f64::INFINITY),
        (None, Some(robot)) => JointValues::Each(motor_efforts(robot, ports)),
        (Some(limit), robot) => JointValues::new("torque_limit", limit, robot)?,
    };
    check_limits(limit.data())?;
    keep initial: JointValues = match &self.initial {
        Some(initial) => JointValues::new("initial", initial, robot.as_deref())?,
        None => JointValues::All(0.0),
    };
    keep n: Dim = match &robot {
        Some(robot) => Dim::fixed(robot.model.joint_dim()),
        None => ports.dim(),
    };
    let torque = robot.as_ref().map_or("N*m".into(), |robot| unit_of(&torques(&robot.model)));
    in  u: Vector::of(&n), torque.clone(), "wanted torques", units "N m, N";
    lag.declare(&n, &NO_FEEDS, ports);
    out tau: Vector::of(&n), torque, "torques; with a lag no input feeds through",
        units "N m, N", elements u;
)]
#[parameters(aliases("motor", "torque limit"))]
pub struct Actuator {
    /// Largest torque in both directions [N m]: one for all joints, a list, or by joint name or
    /// pattern (needs `robot`); default: the efforts of the file of `robot`, or none without it.
    pub torque_limit: Option<PerJoint<OfJoint<Limit<Torque>>>>,
    /// Frequency f at which the lag has damped a sine by 3 dB [Hz]; no lag without it.
    pub bandwidth: Option<Positive<Frequency>>,
    /// Torque of the lag at t = 0 [N m]; 0 by default.
    pub initial: Option<PerJoint<OfJoint<Torque>>>,
    /// Whether the lag is advanced once per period, exactly for a held input.
    #[default]
    pub discrete: bool,
    /// The robot whose efforts are the limits, and whose joints values are given for by name.
    pub robot: Option<RobotName>,
}

#[block]
impl Block for Actuator {
    /// Torques of a discrete lag.
    type State = Vec<f64>;
    /// Limits of each joint.
    type Scratch = Vec<f64>;

    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        let n = sizes.dim(&plan.n);
        plan.limit.check("torque_limit", n)?;
        plan.initial.check("initial", n)?;
        check_initial(&plan.initial.spread(n), &plan.limit.spread(n))
    }

    fn state(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Vec<f64> {
        plan.lag.state(plan.initial.spread(sizes.dim(&plan.n)))
    }

    fn scratch(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Vec<f64> {
        plan.limit.spread(sizes.dim(&plan.n))
    }

    fn initial(&self, plan: &Self::Plan, _: &Sizes<'_>, x: &mut [f64]) {
        // A discrete lag, and none, have no continuous state.
        if !x.is_empty() {
            x.copy_from_slice(&plan.initial.spread(x.len()));
        }
    }

    fn numbers(&self, _: &Self::Plan, state: &Vec<f64>) -> Vec<f64> {
        state.clone()
    }

    fn set_numbers(&self, _: &Self::Plan, state: &mut Vec<f64>, numbers: &[f64]) {
        state.copy_from_slice(numbers);
    }

    fn starting_at(&self, plan: &Self::Plan, at: &[f64], _: &[Type]) -> Option<Parameters> {
        let tau = beginning(at, &plan.limit.spread(at.len()));
        Some(vec![("initial", Written::list(&tau))])
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let tau = cx.outputs.get(plan.tau);
        match plan.lag.torques(cx.x, cx.state, cx.scratch) {
            Some(torques) => tau.iter_mut().zip(torques).for_each(|(tau, torque)| *tau = torque),
            None => {
                let wanted = limited(cx.inputs.get(plan.u), cx.scratch);
                tau.iter_mut().zip(wanted).for_each(|(tau, wanted)| *tau = wanted);
            }
        }
        Ok(())
    }

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let wanted = limited(cx.inputs.get(plan.u), cx.scratch);
        plan.lag.advance(cx.time.step, wanted, cx.state);
        Ok(())
    }

    fn derivative(&self, plan: &Self::Plan, cx: &mut DerivativeCx<'_, Self>) -> Outcome {
        plan.lag.slopes(limited(cx.inputs.get(plan.u), cx.scratch), cx.x, cx.rate);
        Ok(())
    }

    /// On the present side of each limit; at a limit itself differences tell both sides.
    fn output_slopes(&self, plan: &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let tau = cx.slopes.rows(plan.tau, 0);
        let (by, at) = match plan.lag {
            Lag::None => (cx.slopes.columns(plan.u, 0), cx.inputs.get(plan.u)),
            Lag::Continuous(_) => (cx.slopes.state(), cx.x),
            Lag::Discrete(_) => return Slope::Exact,
        };
        if at.iter().zip(&*cx.scratch).any(|(torque, limit)| torque.abs() == *limit) {
            return Slope::Unknown;
        }
        let limits = &*cx.scratch;
        cx.slopes.each(tau, by, |i| if at[i].abs() < limits[i] { 1.0 } else { 0.0 });
        Slope::Exact
    }

    fn rate_slopes(&self, plan: &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let Lag::Continuous(rate) = plan.lag else { return Slope::Exact };
        let (u, limits) = (cx.inputs.get(plan.u), &*cx.scratch);
        if u.iter().zip(limits).any(|(u, limit)| u.abs() == *limit) {
            return Slope::Unknown;
        }
        let rates = cx.slopes.rates();
        let by_u = |i: usize| if u[i].abs() < limits[i] { rate } else { 0.0 };
        cx.slopes.each(rates, cx.slopes.columns(plan.u, 0), by_u);
        for i in 0..rates.len() {
            cx.slopes.add((rates, i), (cx.slopes.state(), i), -rate);
        }
        Slope::Exact
    }
}

/// The efforts of the robot's joints as limits of its motors; a warning names those that are 0.
pub(crate) fn motor_efforts(robot: &RobotModel, ports: &mut Ports<'_>) -> Vec<f64> {
    let efforts = robot.efforts();
    let names = robot.joint_names();
    let idle: Vec<&str> =
        names.iter().zip(&efforts).filter(|(_, e)| **e == 0.0).map(|(name, _)| *name).collect();
    if !idle.is_empty() {
        let message =
            format!("the file of `{}` gives these no effort: {}", robot.name, idle.join(", "));
        let hint = "state `torque_limit`, or `joint_limits: Ignore` of the robot";
        ports.warn(Invalid::new(message).hint(hint));
    }
    efforts
}

/// The torques `u` within their limits.
fn limited<'a>(u: &'a [f64], limits: &'a [f64]) -> impl Iterator<Item = f64> + use<'a> {
    u.iter().zip(limits).map(|(u, limit)| saturated(*u, *limit))
}

#[cfg(test)]
mod tests;
