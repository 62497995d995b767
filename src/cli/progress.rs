//! How far runs have got, for somebody who watches.

use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use legwork_study::{Event, seconds};

use super::console;

/// A bar of the ticks of all runs of a request, if somebody watches. It goes when it is dropped.
#[derive(Default)]
pub(crate) struct Progress {
    state: Mutex<Option<State>>,
}

struct State {
    bar: ProgressBar,
    runs: usize,
    ended: usize,
    /// Stop time of the longest run [s].
    stop: f64,
    /// By run, the ticks that the bar knows of.
    told: Vec<u64>,
}

impl Progress {
    /// Moves the bar.
    pub(crate) fn tell(&self, event: Event) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match (event, state.as_mut()) {
            (Event::Begin { runs, ticks, stop }, _) if console::is_watched() => {
                let bar = State { bar: bar(ticks), runs, ended: 0, stop, told: vec![0; runs] };
                bar.tell_count();
                *state = Some(bar);
            }
            (Event::Progress { run, tick, t }, Some(state)) => {
                state.advance(run, tick);
                if state.runs == 1 {
                    let stop = seconds(state.stop);
                    state.bar.set_message(format!("{t:.2} s of {stop}"));
                }
            }
            (Event::End { run, ticks }, Some(state)) => {
                state.advance(run, ticks);
                state.ended += 1;
                state.tell_count();
            }
            _ => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = state {
            state.bar.finish_and_clear();
        }
    }
}

impl State {
    fn advance(&mut self, run: usize, tick: u64) {
        if let Some(told) = self.told.get_mut(run) {
            self.bar.inc(tick.saturating_sub(*told));
            *told = tick.max(*told);
        }
    }

    fn tell_count(&self) {
        if self.runs > 1 {
            self.bar.set_message(format!("{} of {} runs", self.ended, self.runs));
        }
    }
}

fn bar(ticks: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(ticks), ProgressDrawTarget::stderr());
    // The template is a constant; without it the bar has its default look.
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {msg} eta {eta}") {
        bar.set_style(style);
    }
    bar
}
