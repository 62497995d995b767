//! How far runs have got, for somebody who watches.

use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use legwork_runtime::Simulation;

use super::console;
use super::execution::LOOK;

/// A bar of so many ticks, if somebody watches.
pub(crate) fn bar(ticks: u64) -> Option<ProgressBar> {
    console::is_watched().then(|| {
        let bar = ProgressBar::with_draw_target(Some(ticks), ProgressDrawTarget::stderr());
        // The template is a constant; without it the bar has its default look.
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {msg} eta {eta}") {
            bar.set_style(style);
        }
        bar
    })
}

/// The progress of one run on its bar, or on one that several runs share.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    is_shared: bool,
    last: Instant,
    /// The tick that a shared bar knows of.
    told: u64,
}

impl Progress {
    /// On a bar of its own.
    pub(crate) fn new(simulation: &Simulation) -> Self {
        let bar = bar(simulation.program().stop_tick);
        Self { bar, is_shared: false, last: Instant::now(), told: 0 }
    }

    /// On a bar of all ticks of several runs.
    pub(crate) fn on(bar: &ProgressBar) -> Self {
        Self { bar: Some(bar.clone()), is_shared: true, last: Instant::now(), told: 0 }
    }

    /// Moves the bar, but not too often.
    pub(crate) fn look(&mut self, simulation: &Simulation) {
        let Some(bar) = &self.bar else { return };
        if self.last.elapsed() < LOOK {
            return;
        }
        self.last = Instant::now();
        if self.is_shared {
            self.tell(simulation.tick());
        } else {
            let stop = simulation.program().run.stop;
            bar.set_position(simulation.tick());
            bar.set_message(format!("{:.2} s of {stop}", simulation.time()));
        }
    }

    /// The run is over, whether or not it got to its stop time.
    pub(crate) fn end(&mut self, simulation: &Simulation) {
        if self.is_shared {
            self.tell(simulation.program().stop_tick);
        } else if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn tell(&mut self, tick: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(tick.saturating_sub(self.told));
            self.told = tick;
        }
    }
}
