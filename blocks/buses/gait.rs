//! `Gait`: where the legs are in their steps.

use legwork_block::{Real, Vector, bus_type};
use legwork_control::LEGS;

/// `Gait`: where four legs are in their steps, in the order front left, front right, hind left,
/// hind right.
#[bus_type(
    phase: Vector::of(LEGS), "rad", "θ: stance on [0, π), swing on [π, 2π)", shape "4";
    phase_rate: Vector::of(LEGS), "rad/s", "θ̇; 0 while the robot stands", shape "4";
    stance: Vector::of(LEGS), "1", "1 where the leg is to stand, else 0", shape "4";
    stance_time: Real, "s", "time of a stance, β T";
    swing_time: Real, "s", "time of a swing, (1 − β) T";
    amplitude: Real, "1", "share of the wanted steps: 0 standing, 1 in full walk";
)]
pub struct GaitBus;
