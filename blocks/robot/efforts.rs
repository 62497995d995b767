//! Efforts of a robot's joints: what its motors can, and what a run asks of them.

use legwork_block::{Report, Warning};
use legwork_mechanics::Model;
use serde::{Deserialize, Serialize};

use crate::robot::model::RobotModel;
use crate::run_warnings::PAST_EFFORT_LIMIT;

/// How far beyond its effort a torque is told [1].
const STRONG: f64 = 1.01;

impl RobotModel {
    /// The largest torque of each of the n joint coordinates [N m, N]; infinite without limit.
    pub(crate) fn efforts(&self) -> Vec<f64> {
        self.limits(|joint| joint.effort)
    }

    /// The largest speed of each of its n joint coordinates [rad/s, m/s]; infinite without limit.
    pub(crate) fn speeds(&self) -> Vec<f64> {
        self.limits(|joint| joint.velocity)
    }

    /// The efforts of its joints; empty if none has one.
    pub(crate) fn finite_efforts(&self) -> Vec<f64> {
        let efforts = self.efforts();
        if efforts.iter().any(|effort| effort.is_finite()) { efforts } else { Vec::new() }
    }
}

/// A torque beyond an effort.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Beyond {
    /// Index of the joint coordinate.
    joint: u32,
    /// Magnitude and limit [N m, N].
    found: f64,
    limit: f64,
}

/// The first torque that is beyond the effort of its joint.
pub(crate) fn beyond(efforts: &[f64], tau: &[f64]) -> Option<Beyond> {
    let mut pairs = efforts.iter().zip(tau).enumerate();
    let (i, (limit, tau)) = pairs.find(|(_, (limit, tau))| tau.abs() > STRONG * **limit)?;
    Some(Beyond { joint: i as u32, found: tau.abs(), limit: *limit })
}

/// What was noticed first [s], and in how many steps.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct EffortWatch {
    first: Option<(f64, Beyond)>,
    steps: u64,
}

impl EffortWatch {
    /// Keeps what a step saw.
    pub(crate) fn commit(&mut self, t: f64, seen: Option<Beyond>) {
        if let Some(beyond) = seen {
            self.first.get_or_insert((t, beyond));
            self.steps += 1;
        }
    }

    /// Warns of the first.
    pub(crate) fn report(&self, model: &Model, report: &mut Report) {
        let Some((t, Beyond { joint, found, limit })) = self.first else { return };
        let name = model.joint_velocity_names().nth(joint as usize).unwrap_or("");
        report.warnings.push(Warning {
            name: PAST_EFFORT_LIMIT.to_string(),
            t,
            steps: self.steps,
            message: format!(
                "joint `{name}` gets {found:.4}, more than its effort {limit:.4}: no motor limits it, \
                 as `Actuator(robot: …)` does"
            ),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_torque_beyond_its_effort_is_told() {
        let efforts = [f64::INFINITY, 2.0, 3.0];
        assert_eq!(beyond(&efforts, &[1e9, 2.01, -3.02]), None);
        let seen = beyond(&efforts, &[1e9, 2.0, -3.5]);
        assert_eq!(seen, Some(Beyond { joint: 2, found: 3.5, limit: 3.0 }));
        let mut watch = EffortWatch::default();
        watch.commit(0.1, None);
        watch.commit(0.2, seen);
        watch.commit(0.3, beyond(&efforts, &[0.0, 5.0, 0.0]));
        assert_eq!((watch.first.map(|(t, _)| t), watch.steps), (Some(0.2), 2));
    }
}
