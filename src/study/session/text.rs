//! The text of the diagram changes while a session goes on.
//!
//! A text that changes parameters alone enters as [`Session::set`] does. One that changes the
//! structure ends a stretch of the run: the next begins with the states that go over by the paths
//! of their blocks, and the stretch before is kept as it stood, so that going back leads into it.

use legwork_runtime::recording::Metadata;
use legwork_runtime::{Carried, History, Simulation};

use std::path::PathBuf;
use std::sync::Arc;

use super::breakpoint::Breakpoint;
use super::edit::EditNote;
use super::probe::Probe;
use super::record::{Head, unwritten};
use super::{Session, fresh, names_of};
use crate::diagram::Diagram;
use crate::edits::{Edit, changes};
use crate::error::Error;
use crate::model::Model;
use crate::run::note_resumed;

/// Most stretches that are kept; the past of older ones is given up.
const MOST_KEPT: usize = 16;
/// Bytes that the snapshots of all stretches may take, about; the last is always kept.
const MOST_BYTES: u64 = 500_000_000;
/// Snapshots of a stretch, at most.
const SNAPSHOTS: u64 = 128;

/// What became of a text that changed.
#[derive(Debug)]
pub enum Rewritten {
    /// It makes the same program.
    Same,
    /// It changes parameters alone, which hold from now on.
    Entered {
        /// The edit.
        edit: Edit,
        /// Paths of the blocks that it changes.
        blocks: Vec<String>,
    },
    /// It changes the structure. The recording begins anew, in memory or, if the session has files,
    /// in a directory that [`Session::record_into`] is to be told.
    Begun {
        /// The edit.
        edit: Edit,
        /// What became of the states.
        carried: Carried,
    },
    /// The run begins anew at t = 0, without a past; the edits so far are overrides of it.
    Anew {
        /// Why it cannot go on; empty if it had not begun.
        why: String,
    },
}

/// What a session was before a text changed its structure.
pub(super) struct Stretch {
    diagram: Diagram,
    metadata: Metadata,
    history: History,
    models: Vec<Model>,
    edits_before: usize,
    probe: Probe,
    head: Option<Head>,
    inputs: Vec<PathBuf>,
    names: Vec<String>,
}

impl Stretch {
    pub(super) fn history(&self) -> &History {
        &self.history
    }
}

impl Session {
    /// Goes on with another text of the diagram, which has been compiled with the edits so far:
    /// [`Session::edited_diagram`] with other texts. The edit is kept in the list of edits, and a
    /// run with them repeats it. Going back over it undoes it.
    ///
    /// ```
    /// let library = legwork_study::Library::new(legwork_blocks::register);
    /// let text = |blocks: &str| {
    ///     let run = r#"run: (stop: "1 s", step: "10 ms")"#;
    ///     format!("Diagram({run}, blocks: {{ {blocks} }})")
    /// };
    /// let one = text(r#""a": Constant(value: 1.0), "x": Integrator(in: { "u": "a.y" })"#);
    /// let two = text(
    ///     r#""a": Sine(amplitude: 2.0), "g": Gain(gain: 3.0, in: { "u": "a.y" }),
    ///        "x": Integrator(in: { "u": "g.y" })"#,
    /// );
    /// let mut session = library.diagram("a.ron", one).compile().into_model()?.session();
    /// session.until(0.5)?;
    /// let other = session.edited_diagram().with_text("a.ron", two);
    /// session.rewrite(&other.compile().into_model()?)?;
    /// session.until(0.7)?;
    /// assert!(session.read("g.y").is_ok() && session.edits().len() == 1);
    /// session.go_to(0.4);
    /// assert!(session.read("g.y").is_err() && session.edits().is_empty());
    /// # Ok::<(), legwork_study::Error>(())
    /// ```
    ///
    /// # Errors
    /// Inside a major step, or if a file of the recording cannot be written.
    pub fn rewrite(&mut self, model: &Model) -> Result<Rewritten, Error> {
        // Who is still typing has one edit, from where the run stands.
        if self.is_fresh_stretch() {
            self.leave_text(&mut Vec::new());
        }
        let program = model.program();
        let texts = changes(self.model(), model);
        let is_unedited = self.edits.len() == self.edits_before;
        if program.hash() == self.program().hash() && (is_unedited || texts.is_empty()) {
            if is_unedited {
                self.diagram = model.diagram().clone();
            }
            let last = self.models.len() - 1;
            self.models[last] = model.clone();
            self.text_version += 1;
            return Ok(Rewritten::Same);
        }
        if self.is_at_end() {
            return Ok(self.begin_anew(model, "the run has ended".to_owned()));
        }
        self.may_fork()?;
        // Nothing has happened yet: it begins as the text says, not as the one before said.
        if self.history.step() == 0 && self.earlier.is_empty() {
            return Ok(self.begin_anew(model, String::new()));
        }
        let files: Vec<&str> = texts.iter().map(|change| change.file.as_str()).collect();
        let edit = Edit { path: files.join(", "), texts, ..self.edit_here() };
        let blocks = self.changed_blocks(program);
        if self.history.edit(program).is_ok() {
            self.models.push(model.clone());
            self.edits.push(edit.clone());
            self.text_version += 1;
            self.renew_head();
            return Ok(Rewritten::Entered { edit, blocks });
        }
        let (simulation, carried) = match self.simulation().fork(Arc::clone(program)) {
            Ok(forked) => forked,
            Err(error) => return Ok(self.begin_anew(model, error.to_string())),
        };
        self.save()?;
        self.edits.push(edit.clone());
        let stretch = self.put(model, fresh(simulation), self.edits.len());
        self.earlier.push(stretch);
        let tick = self.simulation().tick();
        note_resumed(&mut self.metadata, tick);
        let bytes = program.memory.max(1).saturating_mul(SNAPSHOTS);
        let most = usize::try_from(MOST_BYTES / bytes).unwrap_or(MOST_KEPT).clamp(1, MOST_KEPT);
        while self.earlier.len() > most {
            close(&mut self.earlier.remove(0))?;
        }
        Ok(Rewritten::Begun { edit, carried })
    }

    /// Tells `tell` whenever another structure takes the place of the present one, before it makes
    /// a step: signals are elsewhere then.
    pub fn tell_structure(&mut self, tell: impl FnMut() + Send + 'static) {
        self.on_structure = Some(Box::new(tell));
    }

    /// Counts the changes of the text: by edits, and by going back over them.
    pub fn text_version(&self) -> u64 {
        self.text_version
    }

    /// The times at which texts changed the structure, as far as going back leads [s].
    pub fn seams(&self) -> Vec<f64> {
        let later = self.earlier.iter().skip(1).map(Stretch::history).chain([&self.history]);
        let begins = later.map(|history| history.kept_before(f64::NEG_INFINITY));
        begins.take(self.earlier.len()).collect()
    }

    /// Whether nothing has happened since a text changed the structure.
    fn is_fresh_stretch(&self) -> bool {
        let begin = self.edits.get(self.edits_before.wrapping_sub(1));
        !self.earlier.is_empty()
            && self.edits.len() == self.edits_before
            && self.history.pieces() == 0
            && begin.is_some_and(|begin| begin.step == self.history.step())
    }

    /// Whether the present stretch begins after `t` [s].
    pub(super) fn begins_after(&self, t: f64) -> bool {
        self.history.kept_before(f64::NEG_INFINITY) > t
    }

    /// Goes back to the end of the stretch before this one; false if it is the first.
    pub(super) fn leave_text(&mut self, notes: &mut Vec<EditNote>) -> bool {
        let Some(stretch) = self.earlier.pop() else { return false };
        let undone = self.edits.split_off(stretch_end(self.edits_before, self.edits.len()));
        notes.extend(undone.into_iter().map(|edit| EditNote::Undone { edit }));
        self.edits_before = stretch.edits_before;
        let mut left = self.exchange(stretch);
        // Its rows are written as far as they came; they lie ahead and count no more.
        let _ = close(&mut left);
        true
    }

    /// Forgets what was before the present stretch; its files are whole.
    pub(super) fn forget_earlier(&mut self) {
        for mut stretch in std::mem::take(&mut self.earlier) {
            let _ = close(&mut stretch);
        }
        self.edits_before = 0;
    }

    /// Closes the files of earlier stretches.
    pub(super) fn close_earlier(&mut self) -> Result<(), Error> {
        self.earlier.iter_mut().try_for_each(close)
    }

    /// Begins at t = 0 with this model.
    fn begin_anew(&mut self, model: &Model, why: String) -> Rewritten {
        let history = fresh(Simulation::new(Arc::clone(model.program())));
        self.edits.clear();
        let mut left = self.put(model, history, 0);
        let _ = close(&mut left);
        self.forget_earlier();
        Rewritten::Anew { why }
    }

    /// Puts a model in place of the present one; what was.
    fn put(&mut self, model: &Model, history: History, edits_before: usize) -> Stretch {
        let mut history = history;
        if self.simulation().observer().journal().is_none() {
            history.observer_mut().forget_rows();
        }
        let names = names_of(model.program());
        let stretch = Stretch {
            diagram: model.diagram().clone(),
            metadata: model.metadata(),
            history,
            models: vec![model.clone()],
            edits_before,
            probe: Probe::default(),
            head: None,
            inputs: model.inputs(&[]),
            names,
        };
        self.exchange(stretch)
    }

    /// Puts a stretch in place of the present one; what was.
    fn exchange(&mut self, mut stretch: Stretch) -> Stretch {
        stretch.history.stop_by(self.cancel.flag());
        if let Some(look) = self.history.observer_mut().take_look() {
            stretch.history.observer_mut().look_by(look);
        }
        std::mem::swap(&mut self.diagram, &mut stretch.diagram);
        std::mem::swap(&mut self.metadata, &mut stretch.metadata);
        std::mem::swap(&mut self.history, &mut stretch.history);
        std::mem::swap(&mut self.models, &mut stretch.models);
        std::mem::swap(&mut self.edits_before, &mut stretch.edits_before);
        std::mem::swap(&mut self.probe, &mut stretch.probe);
        std::mem::swap(&mut self.head, &mut stretch.head);
        std::mem::swap(&mut self.inputs, &mut stretch.inputs);
        std::mem::swap(&mut self.names, &mut stretch.names);
        self.pending.clear();
        self.text_version += 1;
        if let Some(tell) = &mut self.on_structure {
            tell();
        }
        // What stops the run, and what is watched, as far as the other program has it.
        let breakpoints = std::mem::take(&mut self.breakpoints);
        self.breakpoints = breakpoints.into_iter().filter_map(|one| self.again(one)).collect();
        let watches = std::mem::take(&mut self.watches);
        self.watches = watches.into_iter().filter(|path| self.read(path).is_ok()).collect();
        stretch
    }

    /// A breakpoint in the present program; none if it names what is gone.
    fn again(&self, breakpoint: Breakpoint) -> Option<Breakpoint> {
        match breakpoint.is_of_text() {
            true => Breakpoint::parse(&breakpoint.text, &self.diagram, self.program()).ok(),
            false => Some(breakpoint),
        }
    }
}

/// Edits that are left when the stretch behind `before` of them goes, with the edit that began it.
fn stretch_end(before: usize, len: usize) -> usize {
    before.saturating_sub(1).min(len)
}

/// Closes the file of a stretch, if it has one.
fn close(stretch: &mut Stretch) -> Result<(), Error> {
    stretch.head = None;
    let journal = stretch.history.observer_mut().journal_mut();
    match journal.and_then(|journal| journal.finish()) {
        Some(Err(error)) => Err(unwritten(&error)),
        _ => Ok(()),
    }
}
