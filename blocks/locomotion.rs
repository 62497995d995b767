//! The list of blocks for legged locomotion.

use legwork_block::Registry;

use crate::gait_generator::GaitGenerator;

/// Adds gaits, feet and legs. Examples name a robot `go`.
pub(crate) fn register_locomotion(r: &mut Registry) {
    r.block::<GaitGenerator>("GaitGenerator(gait: Trot, period: \"0.4 s\")");
}
