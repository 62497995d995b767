//! Scratch memory: nothing in it outlives a major step, and no snapshot holds it.

use std::any::Any;

use super::loops::{LoopMemory, LoopWork};
use super::opened::Opened;
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
    /// Whether the outputs of the present step are computed ahead of it.
    pub(super) ahead: bool,
    /// What they can be taken back to.
    pub(super) kept: Kept,
    /// Numbers of signals that are written from outside.
    pub(super) opened: Vec<Opened>,
}

/// What outputs write, as it was before those that were computed ahead.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) arena: Vec<f64>,
    pub(super) x: Vec<f64>,
    pub(super) loops: Vec<LoopMemory>,
    /// States of blocks, where a conditional part may give them their initial ones.
    pub(super) blocks: Vec<Box<dyn Any + Send>>,
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
            ahead: false,
            kept: Kept::default(),
            opened: Vec::new(),
        }
    }
}
