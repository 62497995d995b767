//! Scratch memory: nothing in it outlives a major step, and no snapshot holds it.

use super::loops::LoopWork;
use super::plan::Plan;

/// What outputs, guards and updates compute with; it follows from plan and state.
pub(super) struct Work {
    /// Time of the present major step [s].
    pub(super) now: f64,
    /// Which classes are due in the present major step.
    pub(super) due: Vec<bool>,
    /// What guards said last.
    pub(super) guard_values: Vec<f64>,
    /// Guards that fire in the present microstep.
    pub(super) fired: Vec<bool>,
    /// `None` while a loop is being solved.
    pub(super) loops: Vec<Option<LoopWork>>,
}

impl Work {
    pub(super) fn new(plan: &Plan) -> Self {
        let guard_count = plan.crossings.len();
        Self {
            now: 0.0,
            due: vec![false; plan.classes.len()],
            guard_values: vec![0.0; guard_count],
            fired: vec![false; guard_count],
            loops: plan.program.loops.iter().map(|found| Some(LoopWork::new(found))).collect(),
        }
    }
}
