//! `WaypointFollower`: the velocity that leads from one place to the next.

use std::f64::consts::TAU;

use legwork_block::quantity::{
    Angle, AngularVelocity, Length, NonNegative, Positive, Time, Velocity,
};
use legwork_block::{
    Block, Int, Invalid, Outcome, OutputCx, Ports, RateRule, Report, Sizes, UpdateCx, Vector,
    block, parameters, ports,
};
use serde::{Deserialize, Serialize};

use crate::buses::{State, StateBus};
use crate::locomotion::trunk::{Base, bounded, roll_pitch_yaw};
use crate::robot::name::RobotName;

/// Velocity commands that lead a robot through waypoints, round and round.
///
/// With the waypoint in the direction e from the robot's heading, it turns at `e/T`, at most at
/// `turn_rate`. While |e| is above `align` it turns on the spot, else it walks at `speed cos e`,
/// nothing to the side. A waypoint is reached once the trunk's origin is within `tolerance` of it;
/// the next is then taken in the next period. After the last comes the first. A waypoint is reached
/// by entering: it is so again only after the robot has been farther away, so one that stays at the
/// only waypoint has reached it once.
///
/// The command jumps where a waypoint is reached: put a `RateLimiter` behind it. It is discrete:
/// state its period by `every:`, or it takes that of `state`.
///
/// S. Zapolsky, E. Drumwright, *Inverse dynamics with rigid contact and friction* (2017), sec. 7.6,
/// have such a course; their law of steering is not printed.
#[ports(
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    out command: Vector::of(3), _, "forward, left, rate of turn, for `FootTrajectory`",
        units "m/s, m/s, rad/s";
    out index: Int, "1", "number of the waypoint that it goes to, from 0";
    out reached: Int, "1", "waypoints reached so far";
)]
#[parameters(aliases("path following", "navigation"))]
pub struct WaypointFollower {
    /// The robot; its base floats.
    pub robot: RobotName,
    /// Places to go to one after another, x and y [m]; at least one.
    pub waypoints: Vec<[Length; 2]>,
    /// Speed on the way [m/s].
    pub speed: NonNegative<Velocity>,
    /// Largest rate of turn [rad/s].
    #[default = "0.5 rad/s"]
    pub turn_rate: NonNegative<AngularVelocity>,
    /// Time T in which an error of heading falls to 37 % [s].
    #[default = "0.5 s"]
    pub settle: Positive<Time>,
    /// Error of heading beyond which it turns on the spot [rad].
    #[default = "30 deg"]
    pub align: Positive<Angle>,
    /// Distance at which a waypoint is reached [m].
    #[default = "5 cm"]
    pub tolerance: Positive<Length>,
}

/// Ports of a [`WaypointFollower`].
pub struct Plan {
    base: Base,
    position: usize,
    io: WaypointFollowerPorts,
}

/// Where it goes to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Course {
    index: usize,
    reached: u64,
    /// Of each waypoint, whether it was reached and not left since.
    is_at: Vec<bool>,
}

impl WaypointFollower {
    /// From the trunk to waypoint `index`, x and y [m].
    fn way(&self, plan: &Plan, state: &State<'_>, index: usize) -> [f64; 2] {
        let [x, y] = self.waypoints[index].map(Length::value);
        [x - state.q[plan.position], y - state.q[plan.position + 1]]
    }
}

#[block]
impl Block for WaypointFollower {
    type Plan = Plan;
    type State = Course;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        if self.waypoints.is_empty() {
            let message = "expected at least one waypoint, found none";
            return Err(Invalid::parameter("waypoints", message).hint("write [[1, 0], [1, 1]]"));
        }
        let robot = self.robot.find(ports)?;
        let base = Base::of(&robot)?;
        let position = base.quaternion - 3;
        ports.rate(RateRule::Sampled);
        Ok(Plan { base, position, io: self.declare(ports) })
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) -> Course {
        Course { is_at: vec![false; self.waypoints.len()], ..Course::default() }
    }

    fn accepts(&self, _: &Plan, course: &Course) -> bool {
        course.index < self.waypoints.len()
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (state, course) = (cx.inputs.get(plan.io.state), cx.state);
        let [x, y] = self.way(plan, &state, course.index);
        let [_, _, yaw] = roll_pitch_yaw(&state.q[plan.base.quaternion..]);
        let ahead = libm::atan2(y, x) - yaw;
        let error = ahead - TAU * libm::rint(ahead / TAU);
        let turn = bounded(error / self.settle.value(), self.turn_rate.value());
        let is_aligned = error.abs() <= self.align.value();
        let forward = if is_aligned { self.speed.value() * libm::cos(error) } else { 0.0 };
        cx.outputs.get(plan.io.command).copy_from_slice(&[forward, 0.0, turn]);
        cx.outputs.set(plan.io.index, course.index as f64);
        cx.outputs.set(plan.io.reached, course.reached as f64);
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let (state, course) = (cx.inputs.get(plan.io.state), &mut *cx.state);
        let is_within = |index: usize| {
            let [x, y] = self.way(plan, &state, index);
            x * x + y * y <= self.tolerance.value() * self.tolerance.value()
        };
        for (index, is_at) in course.is_at.iter_mut().enumerate() {
            *is_at = *is_at && is_within(index);
        }
        let index = course.index;
        if is_within(index) && !course.is_at[index] {
            course.is_at[index] = true;
            course.index = (index + 1) % self.waypoints.len();
            course.reached += 1;
        }
        Ok(())
    }

    fn report(&self, _: &Plan, course: &Course, report: &mut Report) {
        report.metric("reached", course.reached as f64);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::robots::{Rig, go};

    fn rig(parameters: serde_json::Value) -> Rig {
        let block: WaypointFollower = serde_json::from_value(parameters).expect("it binds");
        Rig::new(block, &go(), &[])
    }

    /// The command of a robot at (x, y) that heads to `yaw`.
    fn command(rig: &mut Rig, [x, y, yaw]: [f64; 3]) -> [f64; 3] {
        let mut q = vec![0.0; 19];
        (q[0], q[1], q[3], q[6]) = (x, y, libm::cos(0.5 * yaw), libm::sin(0.5 * yaw));
        rig.set("state", &[&q, &[0.0; 18]]);
        rig.output();
        let command = rig.leaf("command", 0);
        [command[0], command[1], command[2]]
    }

    #[test]
    fn it_walks_ahead_and_turns_on_the_spot_to_what_is_beside() {
        let mut rig = rig(json!({ "robot": "go", "waypoints": [[2, 1]], "speed": 0.3 }));
        let [forward, aside, turn] = command(&mut rig, [0.0, 1.0, 0.1]);
        assert!((forward - 0.3 * libm::cos(0.1)).abs() < 1e-15 && aside == 0.0);
        assert!((turn + 0.2).abs() < 1e-12, "{turn}");
        // To its left, and behind: the shorter way round.
        assert_eq!(command(&mut rig, [2.0, 0.0, 0.0]), [0.0, 0.0, 0.5]);
        assert_eq!(command(&mut rig, [3.0, 0.9, 0.0])[2], 0.5);
        assert_eq!(command(&mut rig, [3.0, 1.1, 0.0])[2], -0.5);
    }

    #[test]
    fn a_waypoint_is_reached_by_entering_it() {
        for (places, first) in [(json!([[1, 0]]), 1.0), (json!([[1, 0], [1.01, 0]]), 2.0)] {
            let mut rig = rig(json!({ "robot": "go", "waypoints": places, "speed": 0.2 }));
            let mut stay = |x: f64| {
                for _ in 0..5 {
                    command(&mut rig, [x, 0.0, 0.0]);
                    rig.update();
                }
                command(&mut rig, [x, 0.0, 0.0]);
                rig.leaf("reached", 0)[0]
            };
            assert_eq!([stay(0.0), stay(1.0), stay(1.02)], [0.0, first, first]);
            // Left and entered again.
            assert_eq!([stay(2.0), stay(1.0)], [first, 2.0 * first]);
        }
    }

    /// A point that goes as it is told, turned by the command, comes to all waypoints in turn.
    #[test]
    fn it_comes_to_all_waypoints_in_turn() {
        let places = [[0.25, 0.0], [0.0, 0.25], [-0.25, 0.0]];
        let mut rig = rig(json!({ "robot": "go", "waypoints": places, "speed": 0.2 }));
        let [mut x, mut y, mut yaw] = [0.0f64, 0.0, 0.0];
        let mut seen = Vec::new();
        for _ in 0..30_000 {
            let [forward, _, turn] = command(&mut rig, [x, y, yaw]);
            let (s, c) = libm::sincos(yaw);
            let reached = rig.leaf("reached", 0)[0] as usize;
            if reached > seen.len() {
                seen.push([x, y]);
            }
            (x, y, yaw) = (x + 1e-3 * forward * c, y + 1e-3 * forward * s, yaw + 1e-3 * turn);
            rig.update();
        }
        assert!(seen.len() >= 3, "reached {}", seen.len());
        for (at, place) in seen.iter().zip(places) {
            let distance = libm::hypot(at[0] - place[0], at[1] - place[1]);
            assert!(distance < 0.051, "{at:?} is {distance} m from {place:?}");
        }
    }
}
