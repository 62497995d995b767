//! What changes in a run and shapes its future (semantics 7.1).

use legwork_program::NodeId;
use serde::{Deserialize, Serialize};

use super::loops::LoopMemory;
use super::plan::Plan;
use super::{Cursor, inputs};
use crate::judge::{self, JudgeState};
use crate::moment::Moment;
use crate::observe::CheckState;

/// Everything that shapes the future but for what blocks and the solver keep themselves:
/// [`Saved`](super::snapshot::Saved) adds those.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct State {
    /// When the present major step is.
    pub(super) moment: Moment,
    /// Resets done in the present major step.
    pub(super) microstep: u32,
    /// Major steps that are behind.
    pub(super) step_count: u64,
    /// What comes next.
    pub(super) cursor: Cursor,
    /// The block that ended the run.
    pub(super) stopped_by: Option<NodeId>,
    /// The continuous state.
    pub(super) x: Vec<f64>,
    /// All signals.
    pub(super) arena: Vec<f64>,
    /// Guards that fire when they are crossed.
    pub(super) armed: Vec<bool>,
    /// Guards whose crossing was located at this moment.
    pub(super) located: Vec<bool>,
    /// Guards that fired at this moment because they were located.
    pub(super) spent: Vec<bool>,
    /// The step size that the solver goes on with [s].
    pub(super) step_memory: Option<f64>,
    /// Time between the last event and the present major step [s].
    pub(super) since_event: f64,
    /// Steps that the solver has taken inside the present one.
    pub(super) inner_steps: u64,
    /// How algebraic loops have fared.
    pub(super) loops: Vec<LoopMemory>,
    /// What values of `judge:` have seen, in the order of the program's.
    pub(super) judge: Vec<JudgeState>,
    /// How checks stand, in the order of the program's.
    pub(super) checks: Vec<CheckState>,
}

impl State {
    /// The state at t = 0, with the continuous state `x`.
    pub(super) fn new(plan: &Plan, x: Vec<f64>) -> Self {
        let (program, guard_count) = (&plan.program, plan.crossings.len());
        let mut arena = vec![0.0; program.arena_len];
        program.inputs.iter().for_each(|input| inputs::begin(input, &mut arena));
        for value in &program.judge {
            arena[value.slot as usize] = judge::initial(value);
        }
        Self {
            moment: Moment::at(0),
            microstep: 0,
            step_count: 0,
            cursor: Cursor::Output(0),
            stopped_by: None,
            x,
            arena,
            armed: vec![false; guard_count],
            located: vec![false; guard_count],
            spent: vec![false; guard_count],
            step_memory: None,
            since_event: 0.0,
            inner_steps: 0,
            loops: program.loops.iter().map(LoopMemory::new).collect(),
            judge: vec![JudgeState::default(); program.judge.len()],
            checks: vec![CheckState::default(); program.checks.len()],
        }
    }

    /// Whether a major step has ended and the next has not begun.
    pub(super) fn is_between_steps(&self) -> bool {
        matches!(self.cursor, Cursor::Output(0) | Cursor::Done) && self.microstep == 0
    }

    /// What keeps `self` from being a state of the program that `other` is a state of, if anything
    /// does.
    pub(super) fn misfit(&self, other: &Self, node_count: usize) -> Option<String> {
        for (what, expected, found) in [
            ("numbers of continuous state", other.x.len(), self.x.len()),
            ("numbers in signals", other.arena.len(), self.arena.len()),
            ("guards", other.armed.len(), self.armed.len()),
            ("guards", other.armed.len(), self.located.len()),
            ("guards", other.armed.len(), self.spent.len()),
            ("algebraic loops", other.loops.len(), self.loops.len()),
            ("values of `judge:`", other.judge.len(), self.judge.len()),
            ("checks", other.checks.len(), self.checks.len()),
        ] {
            if expected != found {
                return Some(format!("expected {expected} {what}, found {found}"));
            }
        }
        let same_loops = other.loops.iter().zip(&self.loops).all(|(ours, own)| ours.fits(own));
        let stop_exists = self.stopped_by.is_none_or(|node| node.index() < node_count);
        let Moment { tick, tau } = self.moment;
        let moment_exists = (0.0..1.0).contains(&tau) && tick < u64::MAX / 4;
        let fine = same_loops && stop_exists && moment_exists && self.is_between_steps();
        (!fine).then(|| "a number in it is out of range".to_owned())
    }
}
