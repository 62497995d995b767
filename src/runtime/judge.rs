//! The values of `judge:`: computed when a step is observed, from what the step computed. They are
//! kept behind the signals of blocks, so that nothing that shapes the run reads them.

use legwork_program::{JudgeValue, Program, Reduction};
use serde::{Deserialize, Serialize};

use crate::recording::Stamp;

/// What a value has seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct JudgeState {
    /// Steps that counted.
    count: f64,
    /// The sum of what is averaged, or the integral.
    sum: f64,
    /// What is integrated from the step before on; nothing if that did not count.
    last: f64,
    /// The time of the step before [s].
    before: f64,
}

impl JudgeState {
    /// Integrates up to the time `t` [s], from which on it is `x`.
    fn integrate(&mut self, x: f64, t: f64) -> f64 {
        if self.last != 0.0 {
            self.sum += self.last * (t - self.before);
        }
        (self.last, self.before) = (x, t);
        self.sum
    }
}

/// What stands in the arena before a step counts.
pub(crate) fn initial(value: &JudgeValue) -> f64 {
    match value.by {
        Some(Reduction::FirstTime) => f64::INFINITY,
        Some(Reduction::LastTime) => f64::NEG_INFINITY,
        Some(Reduction::Integral) => 0.0,
        _ => f64::NAN,
    }
}

/// Looks at a major step; `at_tick` says that it is at a tick, not between two. Values see those in
/// front of them.
pub(crate) fn see(
    program: &Program,
    states: &mut [JudgeState],
    stamp: Stamp,
    at_tick: bool,
    arena: &mut [f64],
) {
    for (value, state) in program.judge.iter().zip(states) {
        let past = stamp.tick > value.until || (stamp.tick == value.until && !at_tick);
        if stamp.tick < value.after || past {
            continue;
        }
        let x = value.at(arena, stamp.t);
        if value.by == Some(Reduction::Integral) {
            arena[value.slot as usize] = state.integrate(x.unwrap_or(0.0), stamp.t);
            continue;
        }
        let Some(x) = x else { continue };
        let before = arena[value.slot as usize];
        state.count += 1.0;
        arena[value.slot as usize] = match value.by {
            None | Some(Reduction::Last) => x,
            // What is no number, such as the value before the first, loses.
            Some(Reduction::Min) => before.min(x),
            Some(Reduction::Max) => before.max(x),
            Some(Reduction::Mean) => {
                state.sum += x;
                state.sum / state.count
            }
            Some(Reduction::Rms) => {
                state.sum += x * x;
                libm::sqrt(state.sum / state.count)
            }
            Some(Reduction::FirstTime) if x != 0.0 => before.min(stamp.t),
            Some(Reduction::LastTime) if x != 0.0 => stamp.t,
            Some(Reduction::FirstTime | Reduction::LastTime | Reduction::Integral) => before,
        };
    }
}
