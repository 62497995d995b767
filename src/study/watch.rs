//! What a request tells while it works.

use std::time::{Duration, Instant};

use legwork_runtime::Simulation;

/// Major steps between two looks at the clock.
const STEPS_PER_LOOK: u32 = 16;
/// Time between two events of one run.
const INTERVAL: Duration = Duration::from_millis(50);

/// How far the runs of a request are.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The runs begin: how many there are, and how many ticks they have in all.
    Begin {
        /// Number of runs.
        runs: usize,
        /// Ticks of all runs.
        ticks: u64,
        /// Stop time of the longest [s].
        stop: f64,
    },
    /// A run has got this far. Told a few times a second.
    Progress {
        /// Index of the run.
        run: usize,
        /// Its tick.
        tick: u64,
        /// Its simulated time [s].
        t: f64,
    },
    /// A run has ended, whether or not it got to its stop time.
    End {
        /// Index of the run.
        run: usize,
        /// All its ticks.
        ticks: u64,
    },
}

/// Who is told of the progress of a request. Runs of several threads call it at the same time.
pub type Watch<'a> = &'a (dyn Fn(Event) + Sync);

/// A [`Watch`] that does nothing.
pub fn unwatched(_: Event) {}

/// Tells of one run, but not too often.
pub(crate) struct Progress<'w> {
    watch: Watch<'w>,
    run: usize,
    steps: u32,
    last: Instant,
}

impl<'w> Progress<'w> {
    pub(crate) fn new(watch: Watch<'w>, run: usize) -> Self {
        Self { watch, run, steps: 0, last: Instant::now() }
    }

    /// A major step has been done.
    pub(crate) fn step(&mut self, simulation: &Simulation) {
        self.steps = self.steps.wrapping_add(1);
        if !self.steps.is_multiple_of(STEPS_PER_LOOK) || self.last.elapsed() < INTERVAL {
            return;
        }
        self.last = Instant::now();
        let (tick, t) = (simulation.tick(), simulation.time());
        (self.watch)(Event::Progress { run: self.run, tick, t });
    }

    pub(crate) fn end(self, simulation: &Simulation) {
        let ticks = simulation.program().stop_tick;
        (self.watch)(Event::End { run: self.run, ticks });
    }
}
