//! Drives a run: progress, pace, edits, snapshots, cancellation. All of it happens between two
//! steps.

use std::sync::Arc;
use std::time::{Duration, Instant};

use legwork_runtime::{Cursor, RunFault, Simulation, Snapshot, SnapshotError};

use crate::cancel::Cancel;
use crate::edits::Planned;
use crate::watch::{Progress, Watch};

/// Steps between two snapshots in memory; after a fault at most as many are repeated.
const STEPS_PER_SNAPSHOT: u64 = 4096;
/// Time from which a snapshot in memory is old, if steps take long.
const OLD: Duration = Duration::from_millis(20);
/// The longest sleep, so that a cancelled run ends soon.
const LONGEST_SLEEP: Duration = Duration::from_millis(20);

/// Name of the snapshot of the last good step before a fault.
pub(crate) const FAULT: &str = "fault.snapshot";
/// Name of the snapshot at which a cancelled run ended.
pub(crate) const INTERRUPT: &str = "interrupt.snapshot";

/// What is asked of a run besides its steps.
#[derive(Default)]
pub(crate) struct Orders {
    /// Simulated time per time.
    pub(crate) pace: Option<f64>,
    /// Changes of parameters, in order.
    pub(crate) edits: Vec<Planned>,
    /// Times of snapshots with the names of their files [s].
    pub(crate) snapshots: Vec<(f64, String)>,
}

/// A snapshot taken on the way.
#[derive(Debug)]
pub(crate) struct Taken {
    /// Name of the file.
    pub(crate) name: String,
    /// Its simulated time [s].
    pub(crate) t: f64,
    /// The snapshot, or why there is none.
    pub(crate) bytes: Result<Vec<u8>, SnapshotError>,
}

/// What happened besides steps.
#[derive(Default)]
pub(crate) struct Events {
    /// Somebody cancelled the run.
    pub(crate) cancelled: bool,
    /// How far a paced run fell behind at most [s].
    pub(crate) latest: Option<f64>,
    /// Snapshots, in order.
    pub(crate) snapshots: Vec<Taken>,
    /// An edit that cannot be repeated, and why.
    pub(crate) refused: Option<String>,
}

/// Who is told of a run, and who can end it.
#[derive(Clone, Copy)]
pub(crate) struct Control<'c> {
    pub(crate) watch: Watch<'c>,
    /// Index of the run in what is told.
    pub(crate) run: usize,
    pub(crate) cancel: &'c Cancel,
}

/// Runs to the stop time, a fault or until it is cancelled.
///
/// # Errors
/// The fault; then a snapshot of the last good step is among the events.
pub(crate) fn run(
    simulation: &mut Simulation,
    mut orders: Orders,
    control: Control<'_>,
    events: &mut Events,
) -> Result<(), RunFault> {
    orders.edits.reverse();
    orders.snapshots.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut progress = Progress::new(control.watch, control.run);
    let mut drive = Drive {
        rolling: simulation.snapshot(),
        taken_at: simulation.step_count(),
        clock: Clock::new(simulation.step_count()),
        start: Instant::now(),
        from: simulation.time(),
        cancel: control.cancel,
        orders,
        events,
    };
    simulation.stop_by(control.cancel.flag());
    let mut outcome = Ok(());
    while simulation.cursor() != Cursor::Done {
        if drive.cancel.is_cancelled() {
            drive.events.cancelled = true;
            drive.take(simulation, INTERRUPT.to_owned());
            break;
        }
        if !drive.between_steps(simulation) {
            break;
        }
        let step = simulation.step_count();
        if let Err(fault) = simulation.step() {
            if simulation.was_stopped() {
                drive.events.cancelled = true;
                drive.last_good(simulation, step, INTERRUPT);
                break;
            }
            drive.last_good(simulation, step, FAULT);
            outcome = Err(fault);
            break;
        }
        progress.step(simulation);
    }
    progress.end(simulation);
    outcome
}

/// Says when the last snapshot is old. It looks at the time every so many steps, fewer the longer
/// they take.
struct Clock {
    /// When a snapshot was due last.
    due: Instant,
    /// When it looked last, and before which step it looks again.
    last: Instant,
    next: u64,
    stride: u64,
}

impl Clock {
    fn new(step: u64) -> Self {
        let now = Instant::now();
        // How long a step takes is known after the first.
        Self { due: now, last: now, next: step + 1, stride: 1 }
    }

    /// Whether a snapshot is due before this step.
    fn is_late(&mut self, step: u64) -> bool {
        if step < self.next {
            return false;
        }
        let now = Instant::now();
        let took = now - self.last;
        self.stride = match took {
            _ if took > OLD => 1,
            _ if took < OLD / 20 => (2 * self.stride).min(STEPS_PER_SNAPSHOT),
            _ => self.stride,
        };
        (self.last, self.next) = (now, step + self.stride);
        let is_late = now - self.due > OLD;
        if is_late {
            self.due = now;
        }
        is_late
    }
}

struct Drive<'e> {
    cancel: &'e Cancel,
    orders: Orders,
    events: &'e mut Events,
    /// The state at the beginning of step `taken_at`.
    rolling: Snapshot,
    taken_at: u64,
    clock: Clock,
    start: Instant,
    /// Simulated time at the start [s].
    from: f64,
}

impl Drive<'_> {
    /// What happens before a step; false if the run cannot go on.
    fn between_steps(&mut self, simulation: &mut Simulation) -> bool {
        let step = simulation.step_count();
        while self.orders.edits.last().is_some_and(|next| next.edit.step <= step) {
            let Some(Planned { edit, program }) = self.orders.edits.pop() else { break };
            let outcome = match edit.step == step {
                true => simulation.swap_parameters(&program).map_err(|error| error.to_string()),
                false => Err(format!("the run begins behind step {}", edit.step)),
            };
            if let Err(why) = outcome {
                let refused = format!("the edit {} fails: {why}", edit.words());
                self.events.refused = Some(refused);
                return false;
            }
            self.rolling = simulation.snapshot();
            self.taken_at = step;
        }
        if self.clock.is_late(step) || step >= self.taken_at + STEPS_PER_SNAPSHOT {
            self.rolling = simulation.snapshot();
            self.taken_at = step;
        }
        while self.orders.snapshots.last().is_some_and(|(t, _)| simulation.time() >= *t) {
            let Some((_, name)) = self.orders.snapshots.pop() else { break };
            self.take(simulation, name);
        }
        if let Some(pace) = self.orders.pace {
            self.wait((simulation.time() - self.from) / pace);
        }
        true
    }

    fn take(&mut self, simulation: &Simulation, name: String) {
        let (t, bytes) = (simulation.time(), simulation.to_bytes());
        self.events.snapshots.push(Taken { name, t, bytes });
    }

    /// Sleeps until so long after the start [s].
    fn wait(&mut self, due: f64) {
        loop {
            let ahead = due - self.start.elapsed().as_secs_f64();
            if ahead <= 0.0 {
                self.events.latest = Some(self.events.latest.unwrap_or(0.0).max(-ahead));
                return;
            }
            if self.cancel.is_cancelled() {
                return;
            }
            let ahead = Duration::try_from_secs_f64(ahead).unwrap_or(LONGEST_SLEEP);
            std::thread::sleep(ahead.min(LONGEST_SLEEP));
        }
    }

    /// The state before the step that faulted, by repeating the steps since the last snapshot.
    fn last_good(&mut self, simulation: &Simulation, step: u64, name: &str) {
        let mut again = Simulation::new(Arc::clone(simulation.program()));
        let repeat = |again: &mut Simulation| -> Result<Vec<u8>, SnapshotError> {
            again.restore(&self.rolling)?;
            while again.step_count() < step {
                again.step()?;
            }
            again.to_bytes()
        };
        let bytes = repeat(&mut again);
        self.events.snapshots.push(Taken { name: name.to_owned(), t: again.time(), bytes });
    }
}
