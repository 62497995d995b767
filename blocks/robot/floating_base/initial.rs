//! The state of a robot at t = 0.

use std::sync::Arc;

use legwork_block::quantity::{Angle, AngularVelocity, Length, Velocity};
use legwork_block::{Invalid, Written};

use super::angles::quaternion_from_rpy;
use super::feet::Below;
use super::{Init, Orientation, Place};
use crate::robot::joint_values::{coordinates, positions, velocities, zero_positions};
use crate::robot::model::{RobotModel, unknown};
use crate::robot::robot_file::{unit_quaternion, unit_quaternions};

impl Init {
    /// q and ν, one after the other.
    pub(super) fn state(
        &self,
        robot: &RobotModel,
        below: &mut Below<'_>,
    ) -> Result<Vec<f64>, Invalid> {
        let (mut q, nu) = match robot.is_world() {
            true => self.of_world(robot, below)?,
            false => self.of_robot(robot, below)?,
        };
        q.extend(nu);
        Ok(q)
    }

    /// q and ν of a world: those of its robots, stacked.
    fn of_world(
        &self,
        world: &RobotModel,
        below: &mut Below<'_>,
    ) -> Result<(Vec<f64>, Vec<f64>), Invalid> {
        if let Some(field) = self.stated().next() {
            let message =
                format!("expected the states of the robots of `{}`, found `{field}`", world.name);
            let robots: Vec<String> =
                world.members.iter().map(|robot| format!("\"{}\": (…)", robot.name)).collect();
            return Err(Invalid::parameter("init", message)
                .hint(format!("write `init: (robots: {{{}}})`", robots.join(", "))));
        }
        let known = world.members.iter().map(|robot| robot.name.as_str());
        if let Some(name) = self.robots.keys().find(|name| !known.clone().any(|k| k == *name)) {
            return Err(unknown("init", &format!("a robot of `{}`", world.name), name, known));
        }
        let (mut q, mut nu) = (Vec::new(), Vec::new());
        let still = Self::default();
        for robot in &world.members {
            let init = self.robots.get(&robot.name).unwrap_or(&still);
            let named = |invalid: Invalid| Invalid {
                message: format!("{}: {}", robot.name, invalid.message),
                ..invalid
            };
            let (own_q, own_nu) = init.of_robot(robot, below).map_err(named)?;
            q.extend(own_q);
            nu.extend(own_nu);
        }
        Ok((q, nu))
    }

    /// q and ν of one robot.
    fn of_robot(
        &self,
        robot: &RobotModel,
        below: &mut Below<'_>,
    ) -> Result<(Vec<f64>, Vec<f64>), Invalid> {
        if !self.robots.is_empty() {
            let message = format!("expected the state of `{}` itself, found `robots`", robot.name);
            return Err(Invalid::parameter("init", message)
                .hint("`robots` names the parts of a `World`; this is one robot"));
        }
        let model = &robot.model;
        let keyframe =
            self.keyframe.as_ref().map(|name| robot.keyframe("init", name)).transpose()?;
        let keyframe = keyframe.or(robot.start.as_ref());
        let zeros = zero_positions(model);
        let at = keyframe.map_or(&zeros, |keyframe| &keyframe.joint_positions);
        let named = |field: &'static str| {
            move |invalid: Invalid| Invalid {
                message: format!("{field}: {}", invalid.message),
                ..invalid
            }
        };
        let s = match &self.s {
            Some(s) => coordinates("init", s, model, &positions(model), at)
                .and_then(|s| unit_quaternions("init", s, model))
                .map_err(named("s"))?,
            None => at.clone(),
        };
        let still = vec![0.0; model.joint_dim()];
        let s_dot = match &self.s_dot {
            Some(rates) => coordinates("init", rates, model, &velocities(model), &still)
                .map_err(named("s_dot"))?,
            None => still,
        };
        if !robot.is_floating() {
            self.expect_no_base(&robot.name)?;
            return Ok((s, s_dot));
        }
        let position = self.position.map(|p| p.map(Length::value));
        let position = position.or(keyframe.and_then(|keyframe| keyframe.base_position));
        let turn = self.turn().map_err(named("orientation"))?;
        let turn = turn.or(keyframe.and_then(|keyframe| keyframe.base_orientation));
        let mut q = Vec::with_capacity(model.configuration_dim());
        q.extend(position.unwrap_or([0.0; 3]));
        q.extend(turn.unwrap_or([1.0, 0.0, 0.0, 0.0]));
        q.extend(s);
        if let Some(Place::FeetAbove(height)) = self.place {
            q[2] += height.value() - below.lowest_foot(robot, &q)?;
        }
        let velocity = self.velocity.map_or([0.0; 3], |v| v.map(Velocity::value));
        let turning = self.angular_velocity.map_or([0.0; 3], |v| v.map(AngularVelocity::value));
        Ok((q, [&velocity[..], &turning, &s_dot].concat()))
    }

    /// The orientation, if it is stated.
    fn turn(&self) -> Result<Option<[f64; 4]>, Invalid> {
        match (self.orientation, self.rpy) {
            (Some(_), Some(_)) => Err(Invalid::parameter(
                "init",
                "expected one orientation, found a quaternion and `rpy`",
            )),
            (Some(quaternion), None) => unit_quaternion("init", quaternion).map(Some),
            (None, Some(rpy)) => Ok(Some(quaternion_from_rpy(rpy.map(Angle::value)))),
            (None, None) => Ok(None),
        }
    }

    /// Names of the fields of the base that are stated.
    fn base_stated(&self) -> impl Iterator<Item = &'static str> {
        let base = [
            ("position", self.position.is_some()),
            ("orientation", self.orientation.is_some()),
            ("rpy", self.rpy.is_some()),
            ("velocity", self.velocity.is_some()),
            ("angular_velocity", self.angular_velocity.is_some()),
            ("place", self.place.is_some()),
        ];
        base.into_iter().filter(|(_, stated)| *stated).map(|(field, _)| field)
    }

    /// Names of the fields of one robot that are stated.
    fn stated(&self) -> impl Iterator<Item = &'static str> {
        let joints = [
            ("keyframe", self.keyframe.is_some()),
            ("s", self.s.is_some()),
            ("s_dot", self.s_dot.is_some()),
        ];
        let joints = joints.into_iter().filter(|(_, stated)| *stated).map(|(field, _)| field);
        joints.chain(self.base_stated())
    }

    fn expect_no_base(&self, robot: &str) -> Result<(), Invalid> {
        match self.base_stated().next() {
            None => Ok(()),
            Some(field) => {
                let message = format!(
                    "expected joint positions and velocities only, since the base of `{robot}` \
                     is fixed; found `{field}`"
                );
                Err(Invalid::parameter("init", message))
            }
        }
    }
}

/// The `init` with which a robot or a world begins in the state `x`, position and ν. Quaternions
/// are of length one up to rounding and are normalised again when they are read; angles are kept.
pub(super) fn written(robot: &RobotModel, orientation: Orientation, x: &[f64]) -> Written {
    let (mut q, mut nu) = x.split_at(x.len() - robot.model.velocity_dim());
    if !robot.is_world() {
        return written_robot(robot, orientation, q, nu);
    }
    let member = |member: &Arc<RobotModel>| {
        let (own_q, own_nu);
        (own_q, q) = q.split_at(position_len(member, orientation));
        (own_nu, nu) = nu.split_at(member.model.velocity_dim());
        (member.name.clone(), written_robot(member, orientation, own_q, own_nu))
    };
    let robots = robot.members.iter().map(member).collect();
    Written::Fields(vec![("robots", Written::Map(robots))])
}

/// Numbers of the position of one robot.
fn position_len(robot: &RobotModel, orientation: Orientation) -> usize {
    let dim = robot.model.configuration_dim();
    if robot.is_floating() && orientation == Orientation::EulerAngles { dim - 1 } else { dim }
}

/// The `init` of one robot, of whose position `q` is.
fn written_robot(
    robot: &RobotModel,
    orientation: Orientation,
    mut q: &[f64],
    mut nu: &[f64],
) -> Written {
    let mut fields = Vec::new();
    let mut add = |name: &'static str, numbers: &[f64]| {
        if !numbers.is_empty() {
            fields.push((name, Written::list(numbers)));
        }
    };
    if robot.is_floating() {
        add("position", &q[..3]);
        let (name, turn) = match orientation {
            Orientation::Quaternion => ("orientation", &q[3..7]),
            Orientation::EulerAngles => ("rpy", &q[3..6]),
        };
        add(name, turn);
        add("velocity", &nu[..3]);
        add("angular_velocity", &nu[3..6]);
        (q, nu) = (&q[3 + turn.len()..], &nu[6..]);
    }
    add("s", q);
    add("s_dot", nu);
    Written::Fields(fields)
}
