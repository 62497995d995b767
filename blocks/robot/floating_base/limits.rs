//! What a robot tells of its joints' limits, which nothing in its dynamics keeps.

use legwork_block::{Report, Warning};
use legwork_mechanics::Model;
use serde::{Deserialize, Serialize};

use crate::run_warnings;

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

/// Name of the warning of a joint past a limit of position. What a run knows of limits and solvers
/// is added to it where all reports are.
const PAST_LIMIT: &str = run_warnings::PAST_JOINT_LIMIT.name();

/// A joint past a limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Past {
    joint: u32,
    /// Where it is, or how fast, and its limit [rad, m, rad/s, m/s].
    found: f64,
    limit: f64,
}

/// What a step sees.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The joint that is farthest past a limit of position, and the first that is too fast.
    past: [Option<Past>; 2],
    /// The joint that is farthest past a limit past which it began.
    outside: Option<Past>,
    /// How far each joint is past its limit, 0 within [rad, m].
    beyond: Vec<f64>,
}

impl Seen {
    /// Memory for so many joints.
    pub(super) fn of(count: usize) -> Self {
        Self { beyond: vec![0.0; count], ..Self::default() }
    }

    /// Nothing is seen yet.
    pub(super) fn clear(&mut self) {
        (self.past, self.outside) = ([None; 2], None);
        self.beyond.fill(0.0);
    }
}

/// What was noticed first [s] of positions and of speeds, and in how many steps.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct LimitWatch {
    position: Option<(f64, Past)>,
    speed: Option<(f64, Past)>,
    steps: [u64; 2],
    /// The joint that began farthest past its limit, and how long one was there.
    outside: Option<(f64, Past)>,
    steps_outside: u64,
    has_begun: bool,
    /// How far past its limit each joint began or, once it was nearer, came back [rad, m].
    beyond: Vec<f64>,
}

impl LimitWatch {
    /// Before the first step of so many joints.
    pub(super) fn of(count: usize) -> Self {
        Self { beyond: vec![0.0; count], ..Self::default() }
    }

    /// Looks at a step. A joint that began past its limit is on its way back, whatever takes it
    /// there, as long as it goes no farther out.
    pub(super) fn see(&self, joints: &[(usize, Limited)], q: &[f64], nu: &[f64], seen: &mut Seen) {
        seen.clear();
        let (mut farthest, mut farthest_outside) = (FAR, FAR);
        for (k, (i, Limited { at, lower, upper, speed })) in joints.iter().enumerate() {
            let (s, rate) = (q[at.0], nu[at.1].abs());
            let (limit, by) = if s < *lower { (*lower, lower - s) } else { (*upper, s - upper) };
            let joint = *i as u32;
            let past = Past { joint, found: s, limit };
            seen.beyond[k] = by.max(0.0);
            let began = if self.has_begun { self.beyond[k] } else { seen.beyond[k] };
            if began > FAR && by <= began + FAR {
                if by > farthest_outside {
                    (farthest_outside, seen.outside) = (by, Some(past));
                }
            } else if by > farthest {
                (farthest, seen.past[0]) = (by, Some(past));
            }
            if rate > FAST * speed && seen.past[1].is_none() {
                seen.past[1] = Some(Past { joint, found: rate, limit: *speed });
            }
        }
    }

    /// Keeps what a step saw.
    pub(super) fn commit(&mut self, t: f64, seen: &Seen) {
        let firsts = [&mut self.position, &mut self.speed];
        for ((first, past), steps) in firsts.into_iter().zip(seen.past).zip(&mut self.steps) {
            if let Some(past) = past {
                first.get_or_insert((t, past));
                *steps += 1;
            }
        }
        if let Some(past) = seen.outside {
            self.outside.get_or_insert((t, past));
            self.steps_outside += 1;
        }
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        for (nearest, now) in self.beyond.iter_mut().zip(&seen.beyond) {
            *nearest = if is_first { *now } else { nearest.min(*now) };
        }
    }

    /// Warns of the first of each.
    pub(super) fn report(&self, model: &Model, report: &mut Report) {
        let mut warn =
            |name: &'static str, first: &Option<(f64, Past)>, steps, text: &dyn Fn(_) -> _| {
                let Some((t, past)) = first else { return };
                let joint = model.joints().get(past.joint as usize);
                let joint = joint.map_or("", |joint| joint.name.as_str());
                let message: String = text((joint, past.found, past.limit));
                report.warnings.push(Warning { name: name.into(), t: *t, steps, message });
            };
        warn(
            run_warnings::OUTSIDE_JOINT_LIMIT.name(),
            &self.outside,
            self.steps_outside,
            &|(joint, found, limit)| {
                format!(
                    "joint `{joint}` starts at {found:.4}, outside its limit {limit:.4}: contacts push \
                 it back slowly, by their `recovery_speed`; start it within"
                )
            },
        );
        warn(PAST_LIMIT, &self.position, self.steps[0], &|(joint, found, limit)| {
            format!("joint `{joint}` is at {found:.4}, past its limit {limit:.4}")
        });
        warn(run_warnings::PAST_SPEED_LIMIT.name(), &self.speed, self.steps[1], &|(
            joint,
            found,
            limit,
        )| {
            format!(
                "joint `{joint}` moves at {found:.4}, its limit is {limit:.4}: no motor holds it \
                 to that"
            )
        });
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

    /// One step of a watch.
    fn step(watch: &mut LimitWatch, t: f64, q: [f64; 2], nu: [f64; 2]) -> Seen {
        let mut seen = Seen::of(2);
        watch.see(&joints(), &q, &nu, &mut seen);
        watch.commit(t, &seen);
        seen
    }

    /// A step in which one joint is past its range and another too fast tells both.
    #[test]
    fn positions_and_speeds_are_told_apart() {
        let mut watch = LimitWatch::of(2);
        step(&mut watch, 0.4, [0.9, 0.0], [0.0; 2]);
        let seen = step(&mut watch, 0.5, [1.5, 0.0], [0.0, -3.0]);
        let too_far = Past { joint: 0, found: 1.5, limit: 1.0 };
        let too_fast = Past { joint: 1, found: 3.0, limit: 2.0 };
        assert_eq!(seen.past, [Some(too_far), Some(too_fast)]);
        let seen = step(&mut watch, 0.6, [-1.2, -1.4], [0.0; 2]);
        assert_eq!(seen.past[0].map(|past| past.joint), Some(1));
        assert_eq!(watch.steps, [2, 1]);
        assert_eq!((watch.position, watch.speed), (Some((0.5, too_far)), Some((0.5, too_fast))));
        // What limits as contacts and motors give way is not told.
        assert_eq!(step(&mut watch, 0.7, [1.009, -1.009], [2.01, -2.01]).past, [None, None]);
        assert_eq!((watch.outside, watch.steps_outside), (None, 0));
    }

    /// A joint that starts outside is told so, and not that its limit does not act, until it goes
    /// farther out or, once it is back, out again.
    #[test]
    fn a_joint_that_starts_outside_is_on_its_way_back() {
        let start = Past { joint: 1, found: -1.5, limit: -1.0 };
        for last in [[0.0, -1.52], [1.02, -1.1]] {
            let mut watch = LimitWatch::of(2);
            for (i, s) in [-1.5, -1.505, -1.4, -1.2].into_iter().enumerate() {
                step(&mut watch, 0.1 * i as f64, [0.0, s], [0.0; 2]);
            }
            assert_eq!((watch.outside, watch.steps_outside), (Some((0.0, start)), 4));
            assert_eq!(watch.position, None);
            step(&mut watch, 0.5, last, [0.0; 2]);
            assert_eq!(watch.position.map(|(t, _)| t), Some(0.5), "{last:?}");
        }
        let mut watch = LimitWatch::of(2);
        for s in [-1.5, -0.9, -1.02] {
            step(&mut watch, 0.0, [0.0, s], [0.0; 2]);
        }
        assert_eq!((watch.steps_outside, watch.steps), (1, [1, 0]));
    }
}
