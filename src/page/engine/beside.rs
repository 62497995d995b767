//! What is computed beside the engine, in threads of their own: what blocks take, and how far two
//! sessions are apart. Neither touches a session.

use std::cmp::Ordering;
use std::path::PathBuf;
use std::sync::atomic::Ordering as AtomicOrdering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use legwork_runtime::{Cursor, Simulation};
use legwork_study::compare::{RecordingsRequest, compare_recordings};
use legwork_study::{Cancel, Catalog, Edit, Error, ErrorKind, Model, Recorded, Session, Snapshot};
use serde_json::{Value, json};

use super::live::Live;
use super::{Engine, Event};
use crate::protocol::Refusal;

/// For how long a copy of a run is measured.
const MEASURED: Duration = Duration::from_millis(300);
/// Where a recording is fetched.
pub(crate) const RECORDING_PATH: &str = "/run.mcap";
/// Most rows of a table of differences.
const MOST_ROWS: usize = 200;

/// A run, to be repeated from its beginning.
struct Again {
    name: String,
    model: Model,
    begin: Option<Snapshot>,
    edits: Vec<Edit>,
    until: f64,
    /// Whether the run has ended there.
    ended: bool,
}

/// A folder that goes when it is done with.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, Error> {
        let cannot = |error: &dyn std::fmt::Display| {
            Error::new(ErrorKind::Output, format!("cannot make a folder: {error}"))
        };
        let name = crate::server::token().map_err(|error| cannot(&error))?;
        let folder = std::env::temp_dir().join(format!("legwork-{name}"));
        let mut made = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut made, 0o700);
        made.create(&folder).map_err(|error| cannot(&error))?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Engine {
    /// Works beside; the page is answered when that is done.
    pub(super) fn beside(
        &self,
        asked: (u64, u64),
        work: impl FnOnce(Cancel) -> Result<Value, Refusal> + Send + 'static,
    ) -> Option<Result<Value, Refusal>> {
        let (events, cancel) = (self.events.clone(), self.cancel.clone());
        let begun = std::thread::Builder::new().name("beside".into()).spawn(move || {
            let (client, id) = asked;
            // The engine may have ended.
            let _ = events.send(Event::Done { client, id, outcome: work(cancel) });
        });
        begun.err().map(|error| Err(format!("cannot start a thread: {error}").into()))
    }

    /// Measures what each block takes [µs per step], on a copy of the run.
    pub(super) fn heat(
        &mut self,
        asked: (u64, u64),
        source: usize,
    ) -> Option<Result<Value, Refusal>> {
        let Some(Some(live)) = self.sources.get(source) else { return None };
        let simulation = live.session.simulation();
        let program = Arc::clone(simulation.program());
        let copy = match simulation.is_between_steps() && simulation.cursor() != Cursor::Done {
            true => simulation.fork(program).map(|(copy, _)| copy),
            // Its first steps will do.
            false => Ok(Simulation::new(program)),
        };
        match copy {
            Ok(copy) => self.beside(asked, move |_| Ok(measure(copy))),
            Err(error) => Some(Err(error.to_string().into())),
        }
    }

    /// The largest differences of what two sources record, the largest first.
    pub(super) fn compare(
        &mut self,
        asked: (u64, u64),
        a: usize,
        b: usize,
    ) -> Option<Result<Value, Refusal>> {
        let of = |index: usize| -> Result<Again, Refusal> {
            let live = self.sources.get(index).and_then(Option::as_ref);
            let live = live.ok_or_else(|| format!("there is no source {index}"))?;
            Ok(live.again())
        };
        let (a, b) = match (of(a), of(b)) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(refusal), _) | (_, Err(refusal)) => return Some(Err(refusal)),
        };
        // Both runs are repeated from their beginnings, which takes a core and memory.
        if self.comparing.swap(true, AtomicOrdering::AcqRel) {
            return Some(Err("two runs are being compared: ask again when that is done".into()));
        }
        let comparing = Arc::clone(&self.comparing);
        let begun = self.beside(asked, move |cancel| {
            let found = differences(&a, &b, &cancel);
            comparing.store(false, AtomicOrdering::Release);
            found
        });
        if begun.is_some() {
            self.comparing.store(false, AtomicOrdering::Release);
        }
        begun
    }
}

impl Engine {
    /// Repeats a run and keeps its recording for whoever fetches it.
    pub(super) fn record(
        &mut self,
        asked: (u64, u64),
        source: usize,
    ) -> Option<Result<Value, Refusal>> {
        let Some(Some(live)) = self.sources.get(source) else { return None };
        let (again, recording) = (live.again(), Arc::clone(&self.recording));
        if self.comparing.swap(true, AtomicOrdering::AcqRel) {
            return Some(Err("a run is being repeated: ask again when that is done".into()));
        }
        let comparing = Arc::clone(&self.comparing);
        let begun = self.beside(asked, move |cancel| {
            let bytes = again.record_bytes(&cancel);
            comparing.store(false, AtomicOrdering::Release);
            let bytes = bytes?;
            let told = json!({ "path": RECORDING_PATH, "bytes": bytes.len() });
            *recording.lock().unwrap_or_else(PoisonError::into_inner) = Some(bytes.into());
            Ok(told)
        });
        if begun.is_some() {
            self.comparing.store(false, AtomicOrdering::Release);
        }
        begun
    }
}

impl Live {
    fn again(&self) -> Again {
        Again {
            name: self.name.clone(),
            model: self.first.clone(),
            begin: self.begin.clone(),
            edits: self.session.edits().to_vec(),
            until: self.session.time(),
            ended: self.session.is_at_end(),
        }
    }
}

/// Runs a copy for a while.
fn measure(mut copy: Simulation) -> Value {
    copy.start_profile();
    let (begin, first) = (Instant::now(), copy.step_count());
    // What comes of its steps is told where the run itself does them.
    while begin.elapsed() < MEASURED && copy.cursor() != Cursor::Done && copy.step().is_ok() {}
    let took = begin.elapsed().as_secs_f64();
    let steps = copy.step_count().saturating_sub(first).max(1) as f64;
    let times = copy.profile().unwrap_or_default();
    let blocks: Vec<_> = times
        .iter()
        .map(|time| (time.path.as_str(), time.total().nanoseconds as f64 * 1e-3 / steps))
        .collect();
    json!({ "blocks": blocks, "step_us": took * 1e6 / steps })
}

impl Again {
    /// The file that it records, since a text changed its structure.
    fn record_bytes(&self, cancel: &Cancel) -> Result<Vec<u8>, Error> {
        let folder = Scratch::new()?;
        let mut session = match &self.begin {
            Some(snapshot) => self.model.resume(snapshot)?,
            None => self.model.session(),
        };
        session.cancel_by(cancel.clone());
        let mut files = 0;
        let mut failed = None;
        let mut begin = |session: &mut Session| {
            // A text of the same structure goes on in the same file.
            if session.recording_file().is_none() {
                files += 1;
                let outcome = session.record_into(&folder.0.join(files.to_string()));
                failed = outcome.err().filter(|_| session.recording_file().is_none());
            }
        };
        begin(&mut session);
        session.repeat(&self.edits, self.until, &mut begin)?;
        // The outputs of the last step are recorded with it.
        if self.ended {
            session.go_to(f64::INFINITY);
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let file = session.close()?;
        let read = file.map(std::fs::read).transpose();
        let unread = |error| Error::new(ErrorKind::Output, format!("no recording: {error}"));
        Ok(read.map_err(unread)?.unwrap_or_default())
    }

    /// What it records.
    fn record(&self, cancel: &Cancel) -> Result<Recorded, Error> {
        let mut session = match &self.begin {
            Some(snapshot) => self.model.resume(snapshot)?,
            None => self.model.session(),
        };
        session.cancel_by(cancel.clone());
        session.repeat(&self.edits, self.until, |_| {})?;
        let recording = session.recording()?;
        let program = legwork_study::Program::clone(session.program());
        let catalog = Catalog::of(&recording, Some(&program));
        let (name, file) = (self.name.clone(), self.name.clone().into());
        Ok(Recorded { name, file, recording, catalog, program: Ok(program), warnings: Vec::new() })
    }
}

fn differences(a: &Again, b: &Again, cancel: &Cancel) -> Result<Value, Refusal> {
    let runs = [a.record(cancel)?, b.record(cancel)?];
    let compared = compare_recordings(&runs, &RecordingsRequest::default())?;
    let mut rows = Vec::new();
    for signal in compared.pairs.iter().flat_map(|pair| &pair.signals) {
        let t = signal.whole.largest.as_ref().map(|at| at.t);
        let first = first_unlike(&runs, &signal.quantity.name);
        rows.push((signal.whole.max, &signal.quantity, t, first));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let rows = rows.into_iter().take(MOST_ROWS).map(|(difference, quantity, t, first)| {
        let (path, unit) = (&quantity.name, quantity.unit.as_deref().unwrap_or_default());
        json!({ "path": path, "unit": unit, "difference": difference, "t": t, "first": first })
    });
    Ok(json!({ "rows": rows.collect::<Vec<_>>() }))
}

/// When two recordings of a signal first differ in a bit, at the times that both have.
fn first_unlike(runs: &[Recorded; 2], name: &str) -> Option<f64> {
    let of = |run: &'_ Recorded| {
        let numbers = run.catalog.find(name).ok()?.pop()?;
        Some((numbers.channel, numbers.columns))
    };
    let [(a, own), (b, other)] = [of(&runs[0])?, of(&runs[1])?];
    let a = runs[0].recording.series_of_all().nth(a)?;
    let b = runs[1].recording.series_of_all().nth(b)?;
    let (mut i, mut j) = (0, 0);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    while i < a.len() && j < b.len() {
        let (at, beside) = (a.stamp(i), b.stamp(j));
        match at.t_ns.cmp(&beside.t_ns) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                a.values_into(i, &mut x);
                b.values_into(j, &mut y);
                let mut pairs = own.iter().zip(&other);
                if pairs.any(|(own, other)| x[*own].to_bits() != y[*other].to_bits()) {
                    return Some(at.t);
                }
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    None
}
