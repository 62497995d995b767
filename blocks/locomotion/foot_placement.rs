//! `FootPlacement`: where to put feet so that the robot goes as fast as it should.

use legwork_block::quantity::{Length, NonNegative, Positive, Time};
use legwork_block::{Inputs, Outcome, Outputs, Pure, Vector, block, parameters, ports};

use crate::buses::StateBus;
use crate::locomotion::trunk::{Base, along_heading, bounded, roll_pitch_yaw};
use crate::robot::name::RobotName;

/// Where to place feet so that the robot takes on a wanted velocity. The feet are to touch down
/// beyond their usual place by `shift = k (v − v_wanted)`, at most `limit` each way.
///
/// v is the velocity of the trunk along its heading and to the left. A robot that is too fast puts
/// its feet farther ahead and is slowed by them. `FootTrajectory` itself touches down
/// `v_wanted T_st/2` ahead, so the gain `k = T_st/2 + k_R` gives Raibert's law
/// `v T_st/2 + k_R (v − v_wanted)`; `√(h/g)` of the trunk's height h would stop it within one step
/// (capture point).
///
/// References: M. H. Raibert, *Legged robots that balance* (1986), ch. 2; J. Pratt et al., *Capture
/// point: a step toward humanoid push recovery* (2006). De Paula et al. (2024) have no such
/// feedback.
#[ports(
    let robot = self.robot.find(ports)?;
    keep base: Base = Base::of(&robot)?;
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    in  command?: Vector::of(3), _, "wanted forward, left, turning; default 0",
        units "m/s, m/s, rad/s";
    out shift: Vector::of(2), "m", "forward and to the left, for `FootTrajectory`";
)]
#[parameters(aliases("Raibert", "capture point"))]
pub struct FootPlacement {
    /// The robot.
    pub robot: RobotName,
    /// Gain k [s]; 0: no feedback.
    pub gain: NonNegative<Time>,
    /// Largest shift in each direction [m].
    #[default = "10 cm"]
    pub limit: Positive<Length>,
}

#[block]
impl Pure for FootPlacement {
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let state = inputs.get(plan.state);
        let command = inputs.optional(plan.command).unwrap_or(&[0.0; 3]);
        let Base { quaternion, velocity } = plan.base;
        let [_, _, yaw] = roll_pitch_yaw(&state.q[quaternion..]);
        let v = along_heading(&state.nu[velocity..], yaw);
        for ((shift, v), wanted) in outputs.get(plan.shift).iter_mut().zip(v).zip(command) {
            *shift = bounded(self.gain.value() * (v - wanted), self.limit.value());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::robots::{Rig, go};

    #[test]
    fn a_trunk_too_fast_steps_ahead_along_its_own_heading() {
        let block: FootPlacement =
            serde_json::from_value(json!({ "robot": "go", "gain": 0.1 })).expect("it binds");
        let mut rig = Rig::new(block, &go(), &[]);
        let (mut q, mut nu) = (vec![0.0; 19], vec![0.0; 18]);
        // Heads along y: a quarter turn to the left.
        (q[3], q[6]) = (libm::sqrt(0.5), libm::sqrt(0.5));
        (nu[0], nu[1]) = (-0.2, 0.7);
        rig.set("state", &[&q, &nu]);
        rig.set("command", &[&[0.5, 0.0, 0.0]]);
        rig.output();
        let shift = rig.leaf("shift", 0);
        assert!((shift[0] - 0.02).abs() < 1e-15 && (shift[1] - 0.02).abs() < 1e-15, "{shift:?}");
        nu[1] = 9.0;
        rig.set("state", &[&q, &nu]);
        rig.output();
        assert_eq!(rig.leaf("shift", 0)[0], 0.1);
    }
}
