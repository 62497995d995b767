//! `FootTrajectory`: where feet are to be, from their phases and a wanted velocity.

use legwork_block::quantity::{Length, NonNegative, Positive, Velocity};
use legwork_block::{
    Block, Outcome, OutputCx, RateRule, Sizes, UpdateCx, Vector, block, parameters, ports,
};
use legwork_control::{FootPath, LEGS, Step, StepShape, SwingCurve};

use crate::buses::{GaitBus, GaitRef};
use crate::locomotion::legs::four_legs;
use crate::robot::name::RobotName;

/// Paths of four feet in a gait, smooth in stance and swing, at a wanted velocity.
///
/// The stance centre c of a leg is `height` below the trunk's origin, `forward` of its hip axis
/// and `outward` of where the foot hangs at rest. In stance a foot goes with the ground,
/// `ṗ = −v − ω × (c + p)`, so a step is as long as the command times the stance; it touches down
/// half of that ahead of c, and `shift` more. Vertically it goes `depth` below the ground in
/// stance, to push without feedback, and to `step_height` in swing. Command, `step_height` and
/// `depth` count by the amplitude of the gait, so that a walk begins with small steps.
///
/// With `swing: Bezier` it is in x and y a Bézier curve of 6th order whose ends have the velocities
/// of the stances before and after and no acceleration, in z of 6th order with the stated speeds at
/// lift-off and touch-down; stance in z is of 4th order. So feet never jump, nor do their
/// velocities while the command is steady (`legwork_control::Swing`, `stance_height`).
///
/// With `swing: Spline` it is a cubic spline through lift-off, `step_height` above it,
/// `step_height` above touch-down, and touch-down, at equal times, with the same velocities at its
/// ends. In the middle the foot is at 1.25 of `step_height`. While touch-down moves, in the first
/// three quarters, the rest of the swing is planned anew from where the foot is and as it moves
/// (`legwork_control::SwingSpline`).
///
/// It is discrete: it takes the period of `gait`. Inputs feed through. `lift` is followed at once
/// and its rate does not count in `velocity`.
///
/// References: D. J. Hyun et al., *High speed trot-running* (2014); D. T. de Paula et al.
/// (2024), sec. 6.2, who have planar curves and the abduction at 0. S. Zapolsky, E. Drumwright
/// (2017), sec. 7.2.1, for the spline.
#[ports(
    let legs = four_legs(&self.robot, ports)?;
    let of = |length: Option<Length>| length.map_or(0.0, Length::value);
    let (forward, outward) = (of(self.forward), of(self.outward));
    let mut centres = [[0.0; 2]; LEGS];
    for (centre, leg) in centres.iter_mut().zip(&legs) {
        let hip = leg.hip_position();
        *centre = [hip.x + forward, hip.y + if hip.y < 0.0 { -outward } else { outward }];
    }
    ports.rate(RateRule::Sampled);
    keep centres: [[f64; 2]; LEGS] = centres;
    in  gait: GaitBus::new(), _, "where the legs are in their steps";
    in  command?: Vector::of(3), _, "wanted forward, left, turning; default 0",
        units "m/s, m/s, rad/s";
    in  shift?: Vector::of(2), "m", "forward, left of touch-down, from `FootPlacement`; default 0";
    in  lift?: Vector::of(LEGS), "m", "added height of each foot, from `TrunkLevelling`; default 0",
        shape "4";
    out position: Vector::of(3 * LEGS), "m",
        "feet below one another, axes of the trunk, from its origin", frame "trunk", shape "12";
    out velocity: Vector::of(3 * LEGS), "m/s", "their velocities relative to the trunk",
        frame "trunk", shape "12";
    out from_centre: Vector::of(3 * LEGS), "m", "feet from their stance centres",
        frame "trunk", shape "12";
)]
#[parameters(aliases("swing leg"))]
pub struct FootTrajectory {
    /// The robot: four feet in the order front left, front right, hind left, hind right, on legs of
    /// three hinges about x, y, y.
    pub robot: RobotName,
    /// Height of the trunk's origin over standing feet [m].
    pub height: Positive<Length>,
    /// Height of a foot in the middle of its swing [m].
    #[default = "5 cm"]
    pub step_height: NonNegative<Length>,
    /// Depth of a foot below the ground in the middle of its stance [m].
    #[default = 0]
    pub depth: NonNegative<Length>,
    /// Speed of a foot upward at lift-off [m/s].
    #[default = 0]
    pub lift_off_speed: NonNegative<Velocity>,
    /// Speed of a foot downward at touch-down [m/s].
    #[default = 0]
    pub touch_down_speed: NonNegative<Velocity>,
    /// Curve of a foot in swing.
    #[default]
    pub swing: SwingCurve,
    /// Stance centre forward of the hip axis [m]; default 0.
    pub forward: Option<Length>,
    /// Stance centre outward of where the foot hangs [m]; default 0.
    pub outward: Option<Length>,
}

impl FootTrajectory {
    /// What leg `leg` is to do.
    fn step(
        &self,
        plan: &FootTrajectoryPorts,
        leg: usize,
        gait: &GaitRef<'_>,
        command: &[f64],
        shift: &[f64],
    ) -> Step {
        let share = gait.amplitude;
        Step {
            phase: gait.phase[leg],
            phase_rate: gait.phase_rate[leg],
            stance_time: gait.stance_time,
            swing_time: gait.swing_time,
            velocity: [share * command[0], share * command[1]],
            turn_rate: share * command[2],
            centre: plan.centres[leg],
            shift: [share * shift[0], share * shift[1]],
            shape: StepShape {
                height: share * self.step_height.value(),
                depth: share * self.depth.value(),
                lift_off_speed: share * self.lift_off_speed.value(),
                touch_down_speed: share * self.touch_down_speed.value(),
            },
            curve: self.swing,
        }
    }
}

#[block]
impl Block for FootTrajectory {
    /// Paths of the feet.
    type State = [FootPath; LEGS];

    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) -> [FootPath; LEGS] {
        Default::default()
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let gait = cx.inputs.get(plan.gait);
        let command = cx.inputs.optional(plan.command).unwrap_or(&[0.0; 3]);
        let shift = cx.inputs.optional(plan.shift).unwrap_or(&[0.0; 2]);
        let lift = cx.inputs.optional(plan.lift).unwrap_or(&[0.0; LEGS]);
        for (leg, lift) in lift.iter().enumerate() {
            let foot = cx.state[leg].sample(&self.step(plan, leg, &gait, command, shift));
            let at = 3 * leg..3 * leg + 3;
            let [x, y, z] = foot.position;
            let [to_x, to_y] = plan.centres[leg];
            let z = z + lift;
            cx.outputs.get(plan.from_centre)[at.clone()].copy_from_slice(&[x, y, z]);
            let position = [to_x + x, to_y + y, z - self.height.value()];
            cx.outputs.get(plan.position)[at.clone()].copy_from_slice(&position);
            cx.outputs.get(plan.velocity)[at].copy_from_slice(&foot.velocity);
        }
        Ok(())
    }

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let gait = cx.inputs.get(plan.gait);
        let command = cx.inputs.optional(plan.command).unwrap_or(&[0.0; 3]);
        let shift = cx.inputs.optional(plan.shift).unwrap_or(&[0.0; 2]);
        for (leg, path) in cx.state.iter_mut().enumerate() {
            path.advance(&self.step(plan, leg, &gait, command, shift), cx.time.step);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
