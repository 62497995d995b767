//! `Actuator`: torque limits and bandwidth of the joints' motors.

use legwork_block::quantity::{Frequency, Limit, PerJoint, Positive, Torque};
use legwork_block::{
    Block, ContinuousState, DerivativeCx, Dim, In, Invalid, Manifold, NO_FEEDS, Out, Outcome,
    OutputCx, Parameters, Ports, RateRule, Sizes, Type, UpdateCx, Vector, Written,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::joint_values::JointValues;
use crate::robot_name::RobotName;

/// Motors of the joints: torque limits, then a first-order lag,
/// `τ̇ = 2πf (sat(u) − τ)`. Without `bandwidth`, `τ = sat(u)` at once.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `u` | n | N m | wanted torques |
/// | out `tau` | n | N m | torques; with a lag no input feeds through |
///
/// # The lag and the step
///
/// By default the lag is continuous state: exact as the step h goes to 0. Explicit Euler and
/// semi-implicit Euler advance it by `1 − 2πf h` per step, which is stable while `2πf h < 2` but
/// overshoots beyond 1: f = 200 Hz at h = 1 ms has 2πf h = 1.257, and the torque jumps 26 % past
/// its target and back, step by step less. With `discrete: true` the lag is advanced exactly for
/// an input that is held over the period h, `τ⁺ = τ + (1 − e^(−2πf h)) (sat(u) − τ)`: it never
/// overshoots, and its torque is held over the period. Then the period is that of `every:`, or of
/// a discrete input, such as a controller with `every:`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Actuator {
    /// Largest torque in both directions [N m]: one for all joints, a list, or by joint name or
    /// pattern (needs `robot`); none by default.
    #[serde(default = "no_limit")]
    pub torque_limit: PerJoint<Limit<Torque>>,
    /// Frequency f at which the lag has damped a sine by 3 dB [Hz]; no lag without it.
    #[serde(default)]
    pub bandwidth: Option<Positive<Frequency>>,
    /// Torque of the lag at t = 0 [N m]; 0 by default.
    #[serde(default)]
    pub initial: Option<PerJoint<Torque>>,
    /// Whether the lag is advanced once per period, exactly for a held input.
    #[serde(default)]
    pub discrete: bool,
    /// The robot, if values stand under joint names.
    #[serde(default)]
    pub robot: Option<RobotName>,
}

fn no_limit() -> PerJoint<Limit<Torque>> {
    PerJoint::All(Limit::NONE)
}

/// Ports and limits of [`Actuator`].
pub struct Plan {
    n: Dim,
    limit: JointValues,
    initial: JointValues,
    lag: Lag,
    u: In<Vector>,
    tau: Out<Vector>,
}

/// How the lag is computed.
#[derive(Clone, Copy)]
enum Lag {
    None,
    /// 2πf [1/s].
    Continuous(f64),
    /// 2πf [1/s].
    Discrete(f64),
}

impl Actuator {
    fn lag(&self) -> Result<Lag, Invalid> {
        match &self.bandwidth {
            Some(f) => {
                let rate = std::f64::consts::TAU * f.value();
                Ok(if self.discrete { Lag::Discrete(rate) } else { Lag::Continuous(rate) })
            }
            None if self.discrete || self.initial.is_some() => {
                let parameter = if self.discrete { "discrete" } else { "initial" };
                let message = format!("expected a lag for `{parameter}`, found none");
                Err(Invalid::parameter(parameter, message).hint("add `bandwidth: \"… Hz\"`"))
            }
            None => Ok(Lag::None),
        }
    }
}

impl Block for Actuator {
    const KIND: &'static str = "Actuator";
    type Plan = Plan;
    /// Torques of a discrete lag.
    type State = Vec<f64>;
    type Memo = ();
    /// Limits of each joint.
    type Scratch = Vec<f64>;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let lag = self.lag()?;
        let robot = self.robot.as_ref().map(|name| name.find(ports)).transpose()?;
        let limit = JointValues::new("torque_limit", &self.torque_limit, robot.as_deref())?;
        if let Some(negative) = limit.data().iter().find(|limit| **limit < 0.0) {
            let message = format!("expected limits of zero or more, found {negative} N*m");
            return Err(Invalid::parameter("torque_limit", message));
        }
        let initial = match &self.initial {
            Some(initial) => JointValues::new("initial", initial, robot.as_deref())?,
            None => JointValues::All(0.0),
        };
        let n = match &robot {
            Some(robot) => Dim::fixed(robot.model.joint_dim()),
            None => ports.dim(),
        };
        let u = ports.input("u", &Vector(n.clone()));
        ports.note_in(u).unit("N*m").doc("wanted torques");
        match lag {
            Lag::None => {}
            Lag::Continuous(_) => {
                let joints = Manifold::Euclidean(n.clone());
                ports.continuous_state(ContinuousState::First(vec![joints]));
                ports.group(&NO_FEEDS);
            }
            Lag::Discrete(_) => {
                ports.rate(RateRule::Sampled);
                ports.group(&NO_FEEDS);
            }
        }
        let tau = ports.output("tau", &Vector(n.clone()));
        ports.note_out(tau).unit("N*m").doc("torques");
        Ok(Plan { n, limit, initial, lag, u, tau })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        let n = sizes.dim(&plan.n);
        plan.limit.check("torque_limit", n)?;
        plan.initial.check("initial", n)?;
        let (limits, initial) = (plan.limit.spread(n), plan.initial.spread(n));
        match initial.iter().zip(&limits).find(|(torque, limit)| torque.abs() > **limit) {
            None => Ok(()),
            Some((torque, limit)) => {
                let message = format!("expected at most the limit {limit} N*m, found {torque} N*m");
                Err(Invalid::parameter("initial", message))
            }
        }
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> Vec<f64> {
        match plan.lag {
            Lag::Discrete(_) => plan.initial.spread(sizes.dim(&plan.n)),
            Lag::None | Lag::Continuous(_) => Vec::new(),
        }
    }

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Vec<f64> {
        plan.limit.spread(sizes.dim(&plan.n))
    }

    fn initial(&self, plan: &Plan, _: &Sizes<'_>, x: &mut [f64]) {
        // A discrete lag, and none, have no continuous state.
        if !x.is_empty() {
            x.copy_from_slice(&plan.initial.spread(x.len()));
        }
    }

    fn numbers(&self, _: &Plan, state: &Vec<f64>) -> Vec<f64> {
        state.clone()
    }

    fn set_numbers(&self, _: &Plan, state: &mut Vec<f64>, numbers: &[f64]) {
        state.copy_from_slice(numbers);
    }

    fn starting_at(&self, plan: &Plan, at: &[f64], _: &[Type]) -> Option<Parameters> {
        // A lag comes so near to a limit that rounding may carry it beyond, where it cannot begin.
        let limits = plan.limit.spread(at.len());
        let tau: Vec<f64> =
            at.iter().zip(limits).map(|(tau, most)| saturated(*tau, most)).collect();
        Some(vec![("initial", Written::list(&tau))])
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let tau = cx.outputs.get(plan.tau);
        match plan.lag {
            Lag::None => {
                let u = cx.inputs.get(plan.u);
                for ((tau, u), limit) in tau.iter_mut().zip(u).zip(&*cx.scratch) {
                    *tau = saturated(*u, *limit);
                }
            }
            Lag::Continuous(_) => tau.copy_from_slice(cx.x),
            Lag::Discrete(_) => tau.copy_from_slice(cx.state),
        }
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        if let Lag::Discrete(rate) = plan.lag {
            let share = -libm::expm1(-rate * cx.time.step);
            let u = cx.inputs.get(plan.u);
            for ((tau, u), limit) in cx.state.iter_mut().zip(u).zip(&*cx.scratch) {
                *tau += share * (saturated(*u, *limit) - *tau);
            }
        }
        Ok(())
    }

    fn derivative(&self, plan: &Plan, cx: &mut DerivativeCx<'_, Self>) -> Outcome {
        if let Lag::Continuous(rate) = plan.lag {
            let u = cx.inputs.get(plan.u);
            let joints = cx.x.iter().zip(u).zip(&*cx.scratch);
            for (slope, ((tau, u), limit)) in cx.rate.iter_mut().zip(joints) {
                *slope = rate * (saturated(*u, *limit) - tau);
            }
        }
        Ok(())
    }
}

/// `u` within ± `limit`; NaN stays NaN.
fn saturated(u: f64, limit: f64) -> f64 {
    u.clamp(-limit, limit)
}

#[cfg(test)]
mod tests;
