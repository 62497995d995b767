//! `Gait`: where the legs are in their steps.

use legwork_block::{BusField, Leaves, Signal, Type, bus};
use legwork_control::LEGS;

/// `Gait`: where four legs are in their steps, in the order front left, front right, hind left,
/// hind right.
///
/// | field | shape | unit | meaning |
/// |---|---|---|---|
/// | `phase` | 4 | rad | θ: stance on [0, π), swing on [π, 2π) |
/// | `phase_rate` | 4 | rad/s | θ̇; 0 while the robot stands |
/// | `stance` | 4 | 1 | 1 where the leg is to stand, else 0 |
/// | `stance_time` | | s | time of a stance, β T |
/// | `swing_time` | | s | time of a swing, (1 − β) T |
/// | `amplitude` | | 1 | share of the wanted steps: 0 standing, 1 in full walk |
#[derive(Clone)]
pub struct GaitBus;

/// A gait, read.
#[derive(Clone, Copy)]
pub struct GaitRef<'a> {
    /// θ of each leg.
    pub phase: &'a [f64],
    /// θ̇ of each leg.
    pub phase_rate: &'a [f64],
    /// 1 where the leg is to stand.
    pub stance: &'a [f64],
    /// Time of a stance.
    pub stance_time: f64,
    /// Time of a swing.
    pub swing_time: f64,
    /// Share of the wanted steps.
    pub amplitude: f64,
}

/// Leaf of each field of a [`GaitBus`].
pub mod gait_leaf {
    /// `phase`.
    pub const PHASE: usize = 0;
    /// `phase_rate`.
    pub const PHASE_RATE: usize = 1;
    /// `stance`.
    pub const STANCE: usize = 2;
    /// `stance_time`.
    pub const STANCE_TIME: usize = 3;
    /// `swing_time`.
    pub const SWING_TIME: usize = 4;
    /// `amplitude`.
    pub const AMPLITUDE: usize = 5;
}

pub(super) fn gait_type() -> Type {
    let legs = || Type::vector(LEGS);
    let fields = vec![
        BusField::new("phase", legs()).unit("rad").doc("stance below pi, then swing"),
        BusField::new("phase_rate", legs()).unit("rad/s"),
        BusField::new("stance", legs()).unit("1").doc("1 where the leg is to stand"),
        BusField::new("stance_time", Type::Real).unit("s"),
        BusField::new("swing_time", Type::Real).unit("s"),
        BusField::new("amplitude", Type::Real).unit("1").doc("share of the wanted steps"),
    ];
    bus("Gait", Vec::new(), fields, Vec::new())
}

impl Signal for GaitBus {
    type Ref<'a> = GaitRef<'a>;
    fn ty(&self) -> Type {
        gait_type()
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> GaitRef<'_> {
        GaitRef {
            phase: leaves.leaf(gait_leaf::PHASE),
            phase_rate: leaves.leaf(gait_leaf::PHASE_RATE),
            stance: leaves.leaf(gait_leaf::STANCE),
            stance_time: leaves.leaf(gait_leaf::STANCE_TIME)[0],
            swing_time: leaves.leaf(gait_leaf::SWING_TIME)[0],
            amplitude: leaves.leaf(gait_leaf::AMPLITUDE)[0],
        }
    }
}
