//! `TrunkLevelling`: longer legs where the trunk is low.

use legwork_block::quantity::{Dimensionless, Length, NonNegative, Positive, Time};
use legwork_block::{Inputs, Outcome, Outputs, Pure, Vector, block, parameters, ports};

use crate::buses::StateBus;
use crate::locomotion::legs::legs;
use crate::locomotion::trunk::{Base, along_heading, bounded, roll_pitch_yaw};
use crate::robot::name::RobotName;

/// Changes of leg length that level the trunk.
/// `lift_i = k (φ y_i − ϑ x_i) + k_d (ω_φ y_i − ω_ϑ x_i)`, at most `limit` each way.
///
/// φ, ϑ are roll and pitch of the trunk, ω its angular velocity along its heading and to the left,
/// x and y where the hips are. A foot under the low side is put lower and pushes the trunk up. Gain
/// 1 would put the feet on the ground at once of a trunk turned level in the air.
///
/// De Paula et al. (2024) have no such feedback: their trunk is level by the joints' stiffness.
#[ports(
    let (robot, legs) = legs(&self.robot, ports, |_| Default::default())?;
    keep base: Base = Base::of(&robot)?;
    keep hips: Vec<[f64; 2]> =
        legs.iter().map(|leg| leg.hip_position()).map(|hip| [hip.x, hip.y]).collect();
    let k = hips.len();
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    out lift: Vector::of(k), "m", "added to the height of each foot, for `FootTrajectory`";
)]
#[parameters(aliases("balance", "attitude control"))]
pub struct TrunkLevelling {
    /// The robot; its legs have three hinges about x, y, y.
    pub robot: RobotName,
    /// Gain k of the angles [1]; 0: no feedback.
    pub gain: NonNegative<Dimensionless>,
    /// Gain k_d of the angular velocity [s].
    #[default = 0]
    pub damping: NonNegative<Time>,
    /// Largest lift [m].
    #[default = "5 cm"]
    pub limit: Positive<Length>,
}

#[block]
impl Pure for TrunkLevelling {
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let state = inputs.get(plan.state);
        let Base { quaternion, velocity } = plan.base;
        let [roll, pitch, yaw] = roll_pitch_yaw(&state.q[quaternion..]);
        let [roll_rate, pitch_rate] = along_heading(&state.nu[velocity + 3..], yaw);
        let (gain, damping) = (self.gain.value(), self.damping.value());
        let about_x = gain * roll + damping * roll_rate;
        let about_y = gain * pitch + damping * pitch_rate;
        for (lift, [x, y]) in outputs.get(plan.lift).iter_mut().zip(&plan.hips) {
            *lift = bounded(about_x * y - about_y * x, self.limit.value());
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
    fn feet_follow_the_ground_under_a_trunk_that_turns() {
        let parameters = json!({ "robot": "go", "gain": 1, "damping": 0.5 });
        let block: TrunkLevelling = serde_json::from_value(parameters).expect("it binds");
        let mut rig = Rig::new(block, &go(), &[]);
        let (mut q, mut nu) = (vec![0.0; 19], vec![0.0; 18]);
        // Nose down by a small pitch: front feet, now nearer to the ground, are put lower.
        let pitch = 0.02;
        (q[3], q[5]) = (libm::cos(0.5 * pitch), libm::sin(0.5 * pitch));
        rig.set("state", &[&q, &nu]);
        rig.output();
        let lift = rig.leaf("lift", 0);
        for (lift, x) in lift.iter().zip([0.19, 0.19, -0.19, -0.19]) {
            assert!((lift + pitch * x).abs() < 1e-15, "{lift}");
        }
        // Left side rising: left feet up, right ones down. Heading along y, that is ω along y.
        q = vec![0.0; 19];
        (q[3], q[6]) = (libm::sqrt(0.5), libm::sqrt(0.5));
        nu[4] = 0.1;
        rig.set("state", &[&q, &nu]);
        rig.output();
        let lift = rig.leaf("lift", 0);
        assert!(lift[0] > 0.005 && lift[1] < -0.005, "{lift:?}");
        assert!((lift[0] + lift[1]).abs() < 1e-15, "{lift:?}");
        assert!((lift[0] - lift[2]).abs() < 1e-15, "{lift:?}");
    }
}
