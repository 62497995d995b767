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
    joint: u32,
    /// Where it is, or how fast, and its limit [rad, m, rad/s, m/s].
    found: f64,
    limit: f64,
}

/// What a step sees: the joint that is farthest past a limit of position, and the first that is too
/// fast.
pub(super) fn past(joints: &[(usize, Limited)], q: &[f64], nu: &[f64]) -> [Option<Past>; 2] {
    let (mut most, mut fast) = (None, None);
    let mut farthest = FAR;
    for (i, Limited { at, lower, upper, speed }) in joints {
        let (s, rate) = (q[at.0], nu[at.1].abs());
        let (limit, by) = if s < *lower { (*lower, lower - s) } else { (*upper, s - upper) };
        let joint = *i as u32;
        if by > farthest {
            farthest = by;
            most = Some(Past { joint, found: s, limit });
        }
        if rate > FAST * speed && fast.is_none() {
            fast = Some(Past { joint, found: rate, limit: *speed });
        }
    }
    [most, fast]
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
    pub(super) fn commit(&mut self, t: f64, [position, speed]: [Option<Past>; 2]) {
        let firsts = [(&mut self.position, position), (&mut self.speed, speed)];
        for ((first, past), steps) in firsts.into_iter().zip(&mut self.steps) {
            if let Some(past) = past {
                first.get_or_insert((t, past));
                *steps += 1;
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two joints within ±1 rad and 2 rad/s.
    fn joints() -> Vec<(usize, Limited)> {
        let limited = |i| (i, Limited { at: (i, i), lower: -1.0, upper: 1.0, speed: 2.0 });
        (0..2).map(limited).collect()
    }

    /// A step in which one joint is past its range and another too fast tells both.
    #[test]
    fn positions_and_speeds_are_told_apart() {
        let seen = past(&joints(), &[1.5, 0.0], &[0.0, -3.0]);
        let too_far = Past { joint: 0, found: 1.5, limit: 1.0 };
        let too_fast = Past { joint: 1, found: 3.0, limit: 2.0 };
        assert_eq!(seen, [Some(too_far), Some(too_fast)]);
        let mut watch = LimitWatch::default();
        watch.commit(0.5, seen);
        watch.commit(0.6, past(&joints(), &[-1.2, -1.4], &[0.0, 0.0]));
        assert_eq!(watch.steps, [2, 1]);
        assert_eq!((watch.position, watch.speed), (Some((0.5, too_far)), Some((0.5, too_fast))));
        assert_eq!(past(&joints(), &[-1.2, -1.4], &[0.0; 2])[0].map(|past| past.joint), Some(1));
        // What limits as contacts and motors give way is not told.
        assert_eq!(past(&joints(), &[1.009, -1.009], &[2.01, -2.01]), [None, None]);
    }
}
