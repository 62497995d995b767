//! `Encoder`: what counters on the joints tell of positions and velocities.

use std::sync::Arc;

use legwork_block::quantity::{
    Angle, AngularVelocity, Dimensionless, NonNegative, PerJoint, Positive,
};
use legwork_block::{
    Block, Invalid, Outcome, OutputCx, Ports, RateRule, Sizes, UpdateCx, Vector, block, parameters,
    ports,
};
use serde::{Deserialize, Serialize};

use crate::actuators::motor::gears::each;
use crate::buses::{RobotDims, StateBus};
use crate::robot::joint_values::{positions, unit_of, velocities};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::signal::philox::Stream;

/// Encoders of all joints: positions in whole counts, and velocities.
///
/// `s = q round((s + w) / q)` with the quantum `q = 2π / (counts N)`: `counts` per turn of the
/// encoder's shaft, which turns N times (`gear_ratio`) as the joint does once, so 1 for an encoder
/// behind the gear. Without `counts` positions are exact. w is normally distributed with the
/// standard deviation `position_noise`, anew in each sample; the bare encoder has none.
///
/// | `velocity` | ṡ |
/// |---|---|
/// | `Tachometer` (the default) | `q_v round((ṡ + w_v) / q_v)` of the true ṡ; by default exact |
/// | `Difference` | `(s[k] − s[k−1]) / T` of measured positions: late by T/2, in steps of `q / T` |
///
/// Differences and noise need a period: state it with `every:`. Joints of several degrees of
/// freedom have no counters and are refused.
#[ports(
    |robot: &RobotModel|
    let n = RobotDims::of(ports, self.robot.as_str()).n;
    let [turn, rate] = [positions, velocities].map(|of| unit_of(&of(&robot.model)));
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    out s: Vector::of(&n), turn, "measured joint positions", units "rad, m",
        elements state.s;
    out s_dot: Vector::of(&n), rate, "measured joint velocities", units "rad/s, m/s",
        elements state.s_dot;
    out measured("state"): StateBus::of(ports, self.robot.as_str()), _,
        "measured joints, true bases: for joint controllers";
)]
#[parameters(aliases("position sensor", "quantization"))]
pub struct Encoder {
    /// The robot.
    pub robot: RobotName,
    /// Counts per turn of the encoder's shaft [1], after interpolation (four per line of a
    /// quadrature encoder); default: exact.
    pub counts: Option<PerJoint<Positive<Dimensionless>>>,
    /// N: turns of the encoder's shaft per turn of the joint [1; 1/m for prismatic joints].
    #[default = 1]
    pub gear_ratio: PerJoint<Positive<Dimensionless>>,
    /// How velocities are measured: `Tachometer` (the default) or `Difference`.
    #[default]
    pub velocity: VelocityFrom,
    /// One digit q_v of the tachometer [rad/s]; default: exact.
    pub velocity_quantum: Option<Positive<AngularVelocity>>,
    /// Standard deviation of the positions [rad]; default 0.
    pub position_noise: Option<NonNegative<Angle>>,
    /// Standard deviation of the tachometer [rad/s]; default 0.
    pub velocity_noise: Option<NonNegative<AngularVelocity>>,
    /// Which stream of this block's random numbers.
    #[default]
    pub seed: u64,
}

/// How joint velocities are measured.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum VelocityFrom {
    /// From the true velocity.
    #[default]
    Tachometer,
    /// From two positions.
    Difference,
}

/// Ports and numbers of an [`Encoder`].
pub struct Plan {
    robot: Arc<RobotModel>,
    /// Index of the position of each joint in q.
    at: Vec<usize>,
    /// One count of each joint [rad]; 0 if exact.
    quanta: Vec<f64>,
    key: u64,
    is_sampled: bool,
    io: EncoderPorts,
}

/// What the next sample of an [`Encoder`] needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Last {
    /// Number of the sample.
    sample: u64,
    /// Positions measured before; of no use in the first sample.
    positions: Vec<f64>,
}

/// The nearest whole multiple of `quantum`, or `value` itself if that is 0.
fn counted(value: f64, quantum: f64) -> f64 {
    if quantum > 0.0 { quantum * libm::round(value / quantum) } else { value }
}

impl Encoder {
    /// The measured position of joint `j`.
    fn position(&self, plan: &Plan, q: &[f64], sample: u64, j: usize) -> f64 {
        let noise = self.position_noise.map_or(0.0, NonNegative::value);
        let mut s = q[plan.at[j]];
        if noise > 0.0 {
            s += noise * Stream::new(plan.key).normal(sample, j);
        }
        counted(s, plan.quanta[j])
    }

    fn tachometer(&self, plan: &Plan, rate: f64, sample: u64, j: usize) -> f64 {
        let noise = self.velocity_noise.map_or(0.0, NonNegative::value);
        let mut rate = rate;
        if noise > 0.0 {
            // The positions have the elements before.
            rate += noise * Stream::new(plan.key).normal(sample, plan.at.len() + j);
        }
        counted(rate, self.velocity_quantum.map_or(0.0, Positive::value))
    }

    fn is_sampled(&self) -> bool {
        let noisy = self.position_noise.is_some_and(|noise| noise.value() > 0.0)
            || self.velocity_noise.is_some_and(|noise| noise.value() > 0.0);
        noisy || self.velocity == VelocityFrom::Difference
    }

    fn check_tachometer(&self) -> Result<(), Invalid> {
        let given = [
            ("velocity_quantum", self.velocity_quantum.is_some()),
            ("velocity_noise", self.velocity_noise.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((parameter, _)) if self.velocity == VelocityFrom::Difference => {
                let message = format!("expected a tachometer for `{parameter}`, found differences");
                Err(Invalid::parameter(parameter, message)
                    .hint("leave it out, or leave `velocity: Difference` out"))
            }
            _ => Ok(()),
        }
    }
}

#[block]
impl Block for Encoder {
    type Plan = Plan;
    type State = Last;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        self.check_tachometer()?;
        let robot = self.robot.find(ports)?;
        let joints = robot.model.joints();
        if let Some(joint) = joints.iter().find(|joint| joint.configuration_range().len() != 1) {
            let message =
                format!("expected joints of one degree of freedom, found `{}`", joint.name);
            return Err(Invalid::parameter("robot", message));
        }
        let at: Vec<usize> = joints.iter().map(|joint| joint.configuration_range().start).collect();
        let turns = each("gear_ratio", &self.gear_ratio, &robot)?;
        let quanta = match &self.counts {
            None => vec![0.0; turns.len()],
            Some(counts) => each("counts", counts, &robot)?
                .iter()
                .zip(turns)
                .map(|(counts, turns)| std::f64::consts::TAU / (counts * turns))
                .collect(),
        };
        let is_sampled = self.is_sampled();
        if is_sampled {
            ports.rate(RateRule::Sampled);
        }
        let key = ports.random_key(self.seed);
        let io = self.declare(ports, &robot);
        Ok(Plan { robot, at, quanta, key, is_sampled, io })
    }

    fn state(&self, plan: &Plan, _: &Sizes<'_>) -> Last {
        Last { sample: 0, positions: vec![0.0; if plan.is_sampled { plan.at.len() } else { 0 }] }
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let state = cx.inputs.get(plan.io.state);
        let Last { sample, positions } = cx.state;
        let EncoderPorts { s, s_dot, measured, .. } = plan.io;
        let leaves = [s.leaf(0), s_dot.leaf(0), measured.leaf(0), measured.leaf(1)];
        let [s, s_dot, q, nu] = cx.outputs.leaves(leaves);
        q.copy_from_slice(state.q);
        nu.copy_from_slice(state.nu);
        for (j, &v) in plan.robot.model.joint_velocity_indices().iter().enumerate() {
            s[j] = self.position(plan, state.q, *sample, j);
            s_dot[j] = match self.velocity {
                VelocityFrom::Tachometer => self.tachometer(plan, state.nu[v], *sample, j),
                VelocityFrom::Difference if *sample == 0 => 0.0,
                VelocityFrom::Difference => (s[j] - positions[j]) / cx.time.step,
            };
            (q[plan.at[j]], nu[v]) = (s[j], s_dot[j]);
        }
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let q = cx.inputs.get(plan.io.state).q;
        let Last { sample, positions } = &mut *cx.state;
        for (j, position) in positions.iter_mut().enumerate() {
            *position = self.position(plan, q, *sample, j);
        }
        *sample = sample.wrapping_add(1);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
