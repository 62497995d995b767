//! A run that is stepped forth and back: where it is, what it stops at, what has been changed.
//!
//! A [`Session`] is a state with a past. It goes on by pieces of a step (a block's outputs, the
//! guards, recording, a block's update, integration), by steps, to a time, to a breakpoint; it goes
//! back the same ways, exactly; its parameters change between two steps; and it forks into a
//! session of another program. What it is asked is answered with data: [`Stop`], [`Place`],
//! [`Value`], [`BlockView`].

mod breakpoint;
mod edit;
mod evaluate;
mod fork;
mod place;
mod probe;
mod record;
mod text;
mod travel;
mod value;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use legwork_diagram::render::SourceMap;
use legwork_program::Program;
use legwork_runtime::recording::{Metadata, Stamp};
use legwork_runtime::{Cursor, History, RunFault, Simulation};

pub use edit::EditNote;
pub use evaluate::{Condition, Evaluated};
pub use fork::Fork;
pub use place::{BlockLine, Halt, Place, Scheduled, SourceLine, Stage, Stop, Where};
pub use text::Rewritten;
pub use value::{BlockView, InputView, Value};

use crate::cancel::Cancel;
use crate::diagram::Diagram;
use crate::edits::Edit;
use crate::error::Error;
use crate::model::Model;
use crate::run;
use crate::snapshot::Snapshot;
use breakpoint::Breakpoint;
pub(crate) use probe::Probe;
use record::Head;
use text::Stretch;

/// A run with its past.
///
/// ```
/// let library = legwork_study::Library::new(legwork_blocks::register);
/// let text = r#"Diagram(
///     run: (stop: "1 s", step: "10 ms"),
///     params: { "slope": Param(value: 1.0) },
///     blocks: {
///         "rate": Constant(value: "=slope"),
///         "ramp": Integrator(in: { "u": "rate.y" }),
///     },
/// )"#;
/// let mut session = library.diagram("ramp.ron", text).compile().into_model()?.session();
/// session.until(0.5)?;
/// session.set("slope", "3")?;
/// session.until(0.6)?;
/// let state = |session: &legwork_study::Session| session.block("ramp")?.continuous;
/// assert!((state(&session).expect("an integrator has state")[0] - 0.8).abs() < 1e-12);
/// session.go_to(0.5);
/// assert!((state(&session).expect("an integrator has state")[0] - 0.5).abs() < 1e-12);
/// # Ok::<(), legwork_study::Error>(())
/// ```
pub struct Session {
    /// With all overrides, but without the edits since the structure last changed.
    diagram: Diagram,
    /// What the recording says, without edits.
    metadata: Metadata,
    history: History,
    /// The diagram as it was compiled, and after each edit since.
    models: Vec<Model>,
    /// What went on before a text changed the structure, the first stretch first.
    earlier: Vec<Stretch>,
    /// Edits before the present stretch.
    edits_before: usize,
    /// Counts the changes of the text, forth and back.
    text_version: u64,
    /// Who is told of another structure.
    on_structure: Option<Box<dyn FnMut() + Send>>,
    breakpoints: Vec<Breakpoint>,
    watches: Vec<String>,
    /// Edits that have entered.
    edits: Vec<Edit>,
    /// Edits that wait for the end of the step: path and value.
    pending: Vec<(String, String)>,
    probe: Probe,
    /// What the head of the recording's file says, if it has one.
    head: Option<Head>,
    /// Files that it is made of.
    inputs: Vec<PathBuf>,
    /// Paths of signals and blocks.
    names: Vec<String>,
    cancel: Cancel,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place();
        f.debug_struct("Session").field("place", &place).finish_non_exhaustive()
    }
}

impl Model {
    /// A session that begins at t = 0.
    pub fn session(&self) -> Session {
        Session::over(self, fresh(Simulation::new(Arc::clone(self.program()))))
    }

    /// A session that continues a snapshot, with the way back to the beginning of its step.
    ///
    /// # Errors
    /// If the snapshot is damaged, or is of another program.
    pub fn resume(&self, snapshot: &Snapshot) -> Result<Session, Error> {
        let mut session = Session::over(self, snapshot.history(self.program())?);
        session.note_resumed();
        Ok(session)
    }
}

/// A history that begins at a simulation between two steps, and keeps its rows.
#[expect(clippy::expect_used, reason = "`fork` has refused others")]
fn fresh(mut simulation: Simulation) -> History {
    simulation.observer_mut().keep_rows();
    History::new(simulation).expect("a new or forked simulation is between two steps")
}

/// Paths of signals and blocks, sorted.
fn names_of(program: &Program) -> Vec<String> {
    let signals = program.signals.iter().map(|signal| signal.path.clone());
    let nodes = program.nodes.iter().map(|node| node.path.clone());
    let mut names: Vec<String> = signals.chain(nodes).collect();
    names.sort();
    names
}

impl Session {
    fn over(model: &Model, history: History) -> Self {
        let names = names_of(history.simulation().program());
        Self {
            diagram: model.diagram().clone(),
            metadata: model.metadata(),
            inputs: model.inputs(&[]),
            history,
            models: vec![model.clone()],
            earlier: Vec::new(),
            edits_before: 0,
            text_version: 0,
            on_structure: None,
            breakpoints: Vec::new(),
            watches: Vec::new(),
            edits: Vec::new(),
            pending: Vec::new(),
            probe: Probe::default(),
            head: None,
            names,
            cancel: Cancel::default(),
        }
    }

    /// Stops going on when this flag is set, instead of at one of its own.
    pub fn cancel_by(&mut self, cancel: Cancel) {
        self.history.stop_by(cancel.flag());
        self.cancel = cancel;
    }

    /// The flag that stops it from going on.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// What runs, with the edits so far.
    pub fn program(&self) -> &Arc<Program> {
        self.simulation().program()
    }

    /// The diagram with its overrides, without the edits since its structure last changed.
    pub fn diagram(&self) -> &Diagram {
        &self.diagram
    }

    /// The files that the diagram is made of: no output may be one of them.
    pub fn inputs(&self) -> &[PathBuf] {
        &self.inputs
    }

    /// The simulation at the present place.
    pub fn simulation(&self) -> &Simulation {
        self.history.simulation()
    }

    /// Simulated time [s].
    pub fn time(&self) -> f64 {
        self.simulation().time()
    }

    /// Whether the run has ended.
    pub fn is_at_end(&self) -> bool {
        self.simulation().cursor() == Cursor::Done
    }

    /// The fault that the run stopped at, if it did.
    pub fn fault(&self) -> Option<&RunFault> {
        self.history.fault()
    }

    /// Edits that have entered, in order.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Paths of signals and blocks.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The texts that places of blocks and faults point into.
    pub fn sources(&self) -> &SourceMap {
        self.model().sources()
    }

    /// The diagram with the edits so far, as it was compiled.
    pub fn model(&self) -> &Model {
        &self.models[self.models.len() - 1]
    }

    /// Shows each major step to `look` from now on: its instant, whether that is at a tick, and all
    /// signals, after the outputs and before the update. Steps that are repeated after going back
    /// are shown again. It changes nothing.
    pub fn look_by(&mut self, look: impl FnMut(&Stamp, bool, &[f64]) + Send + 'static) {
        self.history.observer_mut().look_by(Box::new(look));
    }

    /// Where the past begins [s].
    pub fn earliest(&self) -> f64 {
        let first = self.earlier.first().map_or(&self.history, Stretch::history);
        first.kept_before(f64::NEG_INFINITY)
    }

    /// Time of the last snapshot before `t` [s]: [`Session::go_to`] repeats what follows it.
    pub fn snapshot_before(&self, t: f64) -> f64 {
        let all = self.earlier.iter().map(Stretch::history).chain([&self.history]);
        let of_then = all.rev().find(|one| one.kept_before(f64::NEG_INFINITY) <= t);
        of_then.map_or_else(|| self.earliest(), |history| history.kept_before(t))
    }

    /// Whether a step has begun and has not ended.
    pub fn is_in_a_step(&self) -> bool {
        self.history.pieces() > 0
    }

    /// Shows a signal at each stop.
    ///
    /// # Errors
    /// If there is no such signal.
    pub fn watch(&mut self, path: &str) -> Result<Value, Error> {
        let value = self.read(path)?;
        self.watches.push(path.to_owned());
        Ok(value)
    }

    /// What is watched.
    pub fn watches(&self) -> &[String] {
        &self.watches
    }

    /// The values of what is watched.
    pub fn watched(&mut self) -> Vec<Result<Value, Error>> {
        self.watches.clone().iter().map(|path| self.read(path)).collect()
    }

    /// Stops watching watch `number`, from 1; all without one.
    ///
    /// # Errors
    /// If there is no such watch.
    pub fn unwatch(&mut self, number: Option<usize>) -> Result<(), Error> {
        remove(&mut self.watches, number, "watch")
    }

    /// The present state; [`Model::resume`] and [`Session::restore`] continue it bit for bit.
    ///
    /// # Errors
    /// If a block's state cannot be written.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        let bytes = self.history.to_bytes().map_err(|error| Error::request(error.to_string()))?;
        Ok(Snapshot::new("snapshot", bytes))
    }

    /// Goes on from a snapshot of the same program. The past and the recording begin there, with
    /// the edits so far as if they were overrides.
    ///
    /// # Errors
    /// If the snapshot is damaged, or is of another program.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), Error> {
        let program = Arc::clone(self.program());
        let mut history = snapshot.history(&program)?;
        history.stop_by(self.cancel.flag());
        // The rows of the new past go where those of the old one went.
        let (old, new) = (self.history.observer_mut(), history.observer_mut());
        if let Some(look) = old.take_look() {
            new.look_by(look);
        }
        if old.journal().is_none() {
            new.forget_rows();
        }
        let rows = old.take_spool();
        self.history = history;
        for edit in std::mem::take(&mut self.edits).split_off(self.edits_before) {
            match edit.is_of_text() {
                true => {
                    let now = self.model().metadata();
                    self.metadata.diagram = now.diagram;
                    self.metadata.other.extend(now.other);
                }
                false => self.metadata.overrides.push(format!("{}={}", edit.path, edit.value)),
            }
            self.diagram = edit.apply(self.diagram.clone());
        }
        self.forget_earlier();
        self.metadata.program_hash = format!("{:016x}", program.hash());
        self.models.drain(..self.models.len() - 1);
        self.pending.clear();
        self.breakpoints.iter_mut().for_each(Breakpoint::forget);
        self.note_resumed();
        match rows {
            Some(rows) => self.go_on_in(rows),
            None => Ok(()),
        }
    }

    /// Says in the recording that it does not begin at t = 0.
    fn note_resumed(&mut self) {
        let tick = self.simulation().tick();
        run::note_resumed(&mut self.metadata, tick);
    }
}

/// Removes number `which`, from 1, or all.
fn remove<T>(list: &mut Vec<T>, which: Option<usize>, noun: &str) -> Result<(), Error> {
    match which {
        None => list.clear(),
        Some(number) => match number.checked_sub(1).filter(|at| *at < list.len()) {
            Some(at) => drop(list.remove(at)),
            None => {
                let message = format!("no {noun} {number}; there are {}", list.len());
                return Err(Error::request(message));
            }
        },
    }
    Ok(())
}
