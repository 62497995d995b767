//! A session, and what is shown of it.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use legwork_block::code;
use legwork_program::LogChannel;
use legwork_runtime::{Cursor, Simulation};
use legwork_scene::{Moment, Scene, Viewer};
use legwork_study::session::Value;
use legwork_study::{Error, ErrorKind, Model, Session, Snapshot};
use serde_json::Value as Json;

use super::describe::About;
use super::going::Going;
use super::tap::Tap;
use super::wires;

/// Least time between two states of a run that goes on.
const STATE_TIME: Duration = Duration::from_millis(100);

/// Why a parameter is not changed where it is seen.
const NOT_HERE: &str = "a mask, a copy or a shared function makes this block: change \
                        its parameters, or the text";

/// Most names that lead from one to the next.
const MOST_NAMES: usize = 4;

/// A session that is shown.
pub(super) struct Live {
    pub(super) name: String,
    /// What it began as; the edits of the session lead from there.
    pub(super) first: Model,
    /// What runs.
    pub(super) model: Model,
    pub(super) session: Session,
    pub(super) tap: Tap,
    pub(super) going: Option<Going>,
    /// Why it stopped where it is.
    pub(super) halt: String,
    /// Simulated time per time, of late.
    pub(super) achieved: f64,
    /// The latest time that it has come to [s].
    pub(super) reach: f64,
    /// Where it begins, unless that is t = 0.
    pub(super) begin: Option<Snapshot>,
    /// Signals whose past is to be gone over, by number.
    pub(super) asked: Vec<(usize, String, LogChannel)>,
    /// Whether a thread goes over the past.
    pub(super) is_recalling: bool,
    /// Counts the sessions that it has had.
    pub(super) number: u64,
    /// The text that is shown, as the session counts them.
    text_version: u64,
    /// When each text came, the first first, and whether a file has it.
    texts: Vec<(SystemTime, bool)>,
    viewer: Viewer,
    /// Whether the meshes have been read; what is not shown.
    surfaces: Option<Vec<String>>,
    /// A simulation in which outputs are computed before their time.
    ahead: Option<Simulation>,
    /// Counts what changes the picture, and what changes the state.
    pose_version: u64,
    state_version: u64,
    /// The version that the viewer has seen.
    seen: Option<u64>,
    /// Since the last state, whether it has moved, and when that was.
    has_moved: bool,
    told: Instant,
}

impl Live {
    pub(super) fn new(name: &str, model: Model, session: Session) -> Self {
        let mut live = Self {
            name: name.to_owned(),
            viewer: model.viewer(),
            begin: None,
            tap: Tap::default(),
            going: None,
            halt: String::new(),
            achieved: 0.0,
            reach: 0.0,
            asked: Vec::new(),
            is_recalling: false,
            number: 0,
            first: model.clone(),
            text_version: session.text_version(),
            texts: vec![(SystemTime::now(), true)],
            surfaces: None,
            ahead: None,
            pose_version: 1,
            state_version: 1,
            seen: None,
            has_moved: false,
            told: Instant::now(),
            model,
            session,
        };
        let tap = live.tap.clone();
        live.session.look_by(move |stamp, at_tick, arena| tap.lock().see(stamp, at_tick, arena));
        // Signals are found again before the text is shown.
        let tap = live.tap.clone();
        live.session.tell_structure(move || tap.lock().hide_all());
        // A state that cannot be written has no past to go over.
        if live.session.time() > 0.0 || live.session.is_in_a_step() {
            live.begin = live.session.snapshot().ok();
        }
        live
    }

    pub(super) fn pose_version(&self) -> u64 {
        self.pose_version
    }

    pub(super) fn state_version(&self) -> u64 {
        self.state_version
    }

    /// It has moved, on its way.
    pub(super) fn has_moved(&mut self) {
        self.pose_version += 1;
        self.has_moved = true;
        self.reach = self.reach.max(self.session.time());
    }

    /// Its state is another, which pages are told at once.
    pub(super) fn has_changed(&mut self) {
        self.pose_version += 1;
        self.state_version += 1;
        (self.has_moved, self.told) = (false, Instant::now());
    }

    /// Lets pages be told of the state now and then while the run goes on.
    pub(super) fn note_progress(&mut self) {
        if self.has_moved && self.told.elapsed() >= STATE_TIME {
            self.state_version += 1;
            (self.has_moved, self.told) = (false, Instant::now());
        }
    }

    /// Takes back the samples of what lies ahead; the last times that are left, by number.
    pub(super) fn settle(&mut self) -> Vec<(usize, Option<f64>)> {
        self.has_changed();
        let cursor = self.session.simulation().cursor();
        let is_seen = matches!(cursor, Cursor::Update(_) | Cursor::Integrate | Cursor::Done);
        self.tap.lock().cut(self.session.time(), !is_seen)
    }

    /// Whether there is a past before what the tap has seen.
    pub(super) fn has_past(&self) -> bool {
        self.session.time() > self.session.earliest() || self.tap.lock().last.is_some()
    }

    /// With the meshes; what is not shown, a sentence each.
    pub(super) fn whole_scene(&mut self) -> (&Scene, &[String]) {
        let Self { model, viewer, surfaces, .. } = self;
        let unseen = surfaces.get_or_insert_with(|| model.read_surfaces(viewer));
        (viewer.scene(), unseen)
    }

    /// Time and signals that are shown. Between two steps of a run that stands they are those of
    /// the step that comes next, computed aside.
    pub(super) fn shown(&mut self) -> (f64, &[f64]) {
        let simulation = self.session.simulation();
        let stands = self.going.is_none() && simulation.is_between_steps();
        if !stands || simulation.cursor() == Cursor::Done || self.session.fault().is_some() {
            let last = self.tap.lock().last.filter(|_| self.going.is_some());
            return (last.unwrap_or(self.session.time()), simulation.arena());
        }
        let program = simulation.program();
        self.ahead = self.ahead.take().filter(|ahead| Arc::ptr_eq(ahead.program(), program));
        let ahead = self.ahead.get_or_insert_with(|| Simulation::new(Arc::clone(program)));
        let restored = ahead.restore(&simulation.snapshot());
        let done = restored.and_then(|()| {
            while !matches!(ahead.cursor(), Cursor::Observe | Cursor::Done) {
                ahead.advance()?;
            }
            Ok(())
        });
        match done {
            Ok(()) => (self.session.time(), ahead.arena()),
            // The run will tell of the fault.
            Err(_) => (self.session.time(), simulation.arena()),
        }
    }

    /// Where everything is; nothing if there is nothing to see.
    pub(super) fn moment(&mut self) -> Option<&Moment> {
        if self.viewer.is_empty() {
            return None;
        }
        if self.seen != Some(self.pose_version) {
            self.seen = Some(self.pose_version);
            let mut viewer = std::mem::replace(&mut self.viewer, Viewer::nothing());
            let (t, arena) = self.shown();
            viewer.see(t, arena);
            self.viewer = viewer;
        }
        Some(self.viewer.moment())
    }

    /// A signal with its rate and its path, by its path or by the name that a drawing has for it.
    ///
    /// # Errors
    /// If there is no such signal.
    pub(super) fn channel(&mut self, path: &str) -> Result<(String, LogChannel), Error> {
        match self.session.channel(path) {
            Ok(channel) => Ok((path.to_owned(), channel)),
            Err(error) => {
                let path = self.other_path(path, error)?;
                let channel = self.session.channel(&path)?;
                Ok((path, channel))
            }
        }
    }

    /// The path of a signal that a drawing calls otherwise; else the error that there is.
    fn other_path(&mut self, path: &str, error: Error) -> Result<String, Error> {
        let mut path = path.to_owned();
        // A name may lead to another that is none: the output behind a port, of what is collected.
        for _ in 0..MOST_NAMES {
            match wires::signal_of(&path, self.session.program()) {
                Ok(Some(other)) => path = other,
                Ok(None) => break,
                Err(message) => return Err(Error::new(ErrorKind::Request, message)),
            }
            if self.session.signal(&path).is_ok() {
                return Ok(path);
            }
        }
        Err(error)
    }

    /// Marks the parameters of a block that no path leads to, as those inside of a mask, which are
    /// set by the mask's own.
    pub(super) fn forbid(&self, block: &mut Json) {
        let text = |parameter: &Json, key: &str| parameter[key].as_str().unwrap_or("").to_owned();
        let parameters = block["parameters"].as_array_mut().into_iter().flatten();
        let mut parameters: Vec<&mut Json> = parameters.collect();
        let is_tried = |parameter: &&&mut Json| parameter["tunable"] == true;
        let Some(one) = parameters.iter().find(is_tried) else { return };
        // They stand beside one another: what is true of one is true of all.
        let value = format!("{} {}", text(one, "value"), text(one, "unit"));
        let tried = self.session.diagram().clone().set(&text(one, "path"), value.trim()).compile();
        let lost = [code::BAD_PATH, code::UNKNOWN_NAME, code::UNKNOWN_BLOCK];
        if tried.diagnostics.iter().any(|found| lost.contains(&found.code)) {
            for parameter in &mut parameters {
                parameter["tunable"] = false.into();
                parameter["why"] = NOT_HERE.into();
            }
        }
    }

    /// A signal as it is shown.
    ///
    /// # Errors
    /// If there is no such signal.
    pub(super) fn read(&mut self, path: &str) -> Result<Value, Error> {
        let (path, signal) = match self.session.signal(path) {
            Ok(signal) => (path.to_owned(), signal),
            Err(error) => self.other_path(path, error).and_then(|path| {
                let signal = self.session.signal(&path)?;
                Ok((path, signal))
            })?,
        };
        let mut value = self.session.read(&path)?;
        let (_, arena) = self.shown();
        value.leaves = signal.slots.iter().map(|slot| arena[slot.range()].to_vec()).collect();
        Ok(value)
    }
}

impl Live {
    /// What is described of it.
    pub(super) fn about(&self) -> About<'_> {
        let diagram = self.model.diagram();
        About {
            name: &self.name,
            program: self.session.program(),
            sources: self.model.sources(),
            registry: diagram.library().registry(),
            text: diagram.text(),
            options: self.session.diagram().options(),
            edits: self.session.edits(),
            variants: self.model.variants(),
            scene: self.viewer.scene(),
            warnings: self.model.warnings_to_json(),
        }
    }

    /// Whether the session has another text than the one that is shown.
    pub(super) fn has_other_text(&self) -> bool {
        self.text_version != self.session.text_version()
    }

    /// Shows the text that the session has now: signals are watched as far as it has them. Gives
    /// the numbers of those that it has not.
    pub(super) fn take_text(&mut self) -> Vec<usize> {
        self.text_version = self.session.text_version();
        self.model = self.session.model().clone();
        let edits = self.session.edits().iter().filter(|edit| edit.is_of_text()).count();
        self.texts.resize(edits + 1, (SystemTime::now(), true));
        (self.viewer, self.surfaces) = (self.model.viewer(), None);
        (self.ahead, self.seen) = (None, None);
        (self.is_recalling, self.number) = (false, self.number + 1);
        self.asked.clear();
        let mut lost = Vec::new();
        let watched = self.tap.lock().watched();
        for (number, path) in watched {
            let channel = self.channel(&path).ok();
            if !channel.is_some_and(|(_, channel)| self.tap.lock().replace(number, &channel)) {
                self.tap.lock().release(number);
                lost.push(number);
            }
        }
        self.has_changed();
        lost
    }

    /// It begins anew at t = 0, with what runs now.
    pub(super) fn begins_anew(&mut self) {
        (self.first, self.begin) = (self.session.model().clone(), None);
        (self.texts, self.reach) = (vec![(SystemTime::now(), true)], 0.0);
    }

    /// When the text that runs came, and whether a file has it.
    pub(super) fn text_since(&self) -> (SystemTime, bool) {
        self.texts.last().copied().unwrap_or((SystemTime::UNIX_EPOCH, true))
    }

    /// The text that runs was typed in the page, and no file has it yet.
    pub(super) fn is_typed(&mut self) {
        if let Some(last) = self.texts.last_mut() {
            *last = (SystemTime::now(), false);
        }
    }

    /// The text that runs has been saved.
    pub(super) fn is_saved(&mut self) {
        if let Some((_, is_saved)) = self.texts.last_mut() {
            *is_saved = true;
        }
    }
}
