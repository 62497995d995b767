//! A recorded run gone through once more, for what there is to see of it and is not recorded: where
//! contacts are, and their forces.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use legwork_block::Slot;
use legwork_program::Program;
use legwork_runtime::recording::Series;
use legwork_runtime::{Cursor, Simulation};
use legwork_scene::{Moment, Viewer};

/// How long it may take.
const MOST_TIME: Duration = Duration::from_secs(20);
/// What metadata say of a run that the diagram alone does not lead to.
const ELSEWHERE: [(&str, &str); 3] = [
    ("edits", "it was edited as it ran"),
    ("resumed", "it went on from a snapshot"),
    ("forked", "it is a fork"),
];

/// What is to be repeated.
pub(super) struct Repeat<'r> {
    pub(super) program: &'r Program,
    /// What the recording says beside its signals.
    pub(super) other: &'r BTreeMap<String, String>,
    /// Recorded signals, and where they are among those of the program.
    pub(super) channels: Vec<(Series<'r>, Vec<Slot>)>,
    /// When everything is to be seen, in ascending order [s].
    pub(super) times: Vec<f64>,
}

impl Repeat<'_> {
    /// What is seen in the first steps at or after the times.
    ///
    /// # Errors
    /// Why it is not known, in lower case: no run repeats it, or one that gives other numbers.
    pub(super) fn go(self, viewer: &mut Viewer) -> Result<Vec<Moment>, String> {
        let Self { program, other, channels, times } = self;
        if let Some((_, why)) = ELSEWHERE.iter().find(|(key, _)| other.contains_key(*key)) {
            return Err((*why).to_owned());
        }
        let mut simulation = Simulation::new(Arc::new(Program::clone(program)));
        let flag = Arc::<AtomicBool>::default();
        simulation.stop_by(Arc::clone(&flag));
        // Dropped, it lets the watch end.
        let (_busy, done) = channel::<()>();
        let raised = Arc::clone(&flag);
        let watch = std::thread::Builder::new().name("limit".into()).spawn(move || {
            if done.recv_timeout(MOST_TIME) == Err(RecvTimeoutError::Timeout) {
                raised.store(true, Ordering::Relaxed);
            }
        });
        watch.map_err(|error| error.to_string())?;
        let mut moments = Vec::with_capacity(times.len());
        let mut due = times.into_iter();
        let mut next = due.next();
        while let Some(time) = next {
            let outcome = simulation.advance();
            // Most pieces are so short that they end before they are left.
            if flag.load(Ordering::Relaxed) || simulation.was_stopped() {
                return Err(format!("it takes longer than {} s", MOST_TIME.as_secs()));
            }
            outcome.map_err(|fault| fault.to_string())?;
            match simulation.cursor() {
                Cursor::Done => return Err("it ends before what is recorded".to_owned()),
                Cursor::Observe if simulation.time() >= time => {}
                _ => continue,
            }
            let (t, arena) = (simulation.time(), simulation.arena());
            compare(&channels, t, arena)?;
            let moment = viewer.see(t, arena);
            moments.push(moment.clone());
            while next.is_some_and(|time| time <= t) {
                next = due.next();
            }
        }
        Ok(moments)
    }
}

/// Holds signals against the rows of this time.
///
/// # Errors
/// If a number has other bits.
fn compare(channels: &[(Series<'_>, Vec<Slot>)], t: f64, arena: &[f64]) -> Result<(), String> {
    let mut row = Vec::new();
    for (series, slots) in channels {
        let after = first_after(series, t);
        let Some(at) = after.checked_sub(1).filter(|at| series.stamp(*at).t == t) else { continue };
        series.values_into(at, &mut row);
        let now = slots.iter().flat_map(|slot| &arena[slot.range()]);
        if !row.iter().map(|x| x.to_bits()).eq(now.map(|x| x.to_bits())) {
            let topic = &series.channel().topic;
            return Err(format!("`{topic}` at t={t} s has another value now"));
        }
    }
    Ok(())
}

/// The first row after `t`.
fn first_after(series: &Series<'_>, t: f64) -> usize {
    let (mut low, mut high) = (0, series.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        if series.stamp(middle).t <= t { low = middle + 1 } else { high = middle }
    }
    low
}
