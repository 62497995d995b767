//! What a robot tells of its joints' limits, which nothing in its dynamics keeps.

use legwork_block::{Report, Warning};
use legwork_mechanics::Model;
use serde::{Deserialize, Serialize};

/// How far past its limit a joint is told [rad or m]: limits that act as contacts give way less.
const FAR: f64 = 0.01;

/// How much faster than its limit a joint is told [1].
const FAST: f64 = 1.01;

/// Limits of a joint.
pub(crate) struct Limited {
    /// Index into the position, and into ν.
    at: (usize, usize),
    lower: f64,
    upper: f64,
    speed: f64,
}

/// The joints of a robot that have limits, with their places among its joints.
pub(super) fn limited(model: &Model) -> Vec<(usize, Limited)> {
    let joints = model.joints().iter().enumerate().filter(|(_, joint)| {
        let is_single = joint.kind.velocity_dim() == 1;
        let limits = [joint.lower, joint.upper, joint.velocity];
        is_single && limits.iter().any(|limit| limit.is_finite())
    });
    let joints = joints.map(|(i, joint)| {
        let at = (joint.configuration_range().start, joint.velocity_range().start);
        let (lower, upper, speed) = (joint.lower, joint.upper, joint.velocity);
        (i, Limited { at, lower, upper, speed })
    });
    joints.collect()
}

/// A joint past a limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Past {
    is_speed: bool,
    joint: u32,
    /// Where it is, or how fast, and its limit [rad, m, rad/s, m/s].
    found: f64,
    limit: f64,
}

/// The joint that is farthest past a limit of position, else the first that is too fast.
pub(super) fn past(joints: &[(usize, Limited)], q: &[f64], nu: &[f64]) -> Option<Past> {
    let mut most: Option<(f64, Past)> = None;
    for (i, Limited { at, lower, upper, speed }) in joints {
        let (s, rate) = (q[at.0], nu[at.1].abs());
        let limit = if s < *lower { *lower } else { *upper };
        let by = (s - limit) * if s < *lower { -1.0 } else { 1.0 };
        let joint = *i as u32;
        if by > FAR && most.is_none_or(|(other, _)| other < by) {
            most = Some((by, Past { is_speed: false, joint, found: s, limit }));
        } else if rate > FAST * speed && most.is_none() {
            most = Some((0.0, Past { is_speed: true, joint, found: rate, limit: *speed }));
        }
    }
    most.map(|(_, past)| past)
}

/// What was noticed first [s] of positions and of speeds, and in how many steps.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LimitWatch {
    position: Option<(f64, Past)>,
    speed: Option<(f64, Past)>,
    steps: [u64; 2],
}

impl LimitWatch {
    /// Keeps what a step saw.
    pub(super) fn commit(&mut self, t: f64, seen: Option<Past>) {
        let Some(past) = seen else { return };
        let first = if past.is_speed { &mut self.speed } else { &mut self.position };
        first.get_or_insert((t, past));
        self.steps[usize::from(past.is_speed)] += 1;
    }

    /// Warns of the first of each.
    pub(super) fn report(&self, model: &Model, report: &mut Report) {
        let name = |past: &Past| {
            let joint = model.joints().get(past.joint as usize);
            joint.map_or("", |joint| joint.name.as_str()).to_owned()
        };
        if let Some((t, past)) = &self.position {
            let (joint, Past { found, limit, .. }) = (name(past), past);
            report.warnings.push(Warning {
                name: "past-joint-limit".into(),
                t: *t,
                steps: self.steps[0],
                message: format!(
                    "joint `{joint}` is at {found:.4}, past its limit {limit:.4}, which does not \
                     act: `JointLimits` makes limits contacts"
                ),
            });
        }
        if let Some((t, past)) = &self.speed {
            let (joint, Past { found, limit, .. }) = (name(past), past);
            report.warnings.push(Warning {
                name: "past-speed-limit".into(),
                t: *t,
                steps: self.steps[1],
                message: format!(
                    "joint `{joint}` moves at {found:.4}, its limit is {limit:.4}: no motor holds \
                     it to that"
                ),
            });
        }
    }
}
