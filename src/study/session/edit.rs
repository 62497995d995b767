//! Parameters changed between two steps (semantics 8.3).

use legwork_program::{Node, Program};
use serde::Serialize;

use super::Session;
use crate::edits::Edit;
use crate::error::Error;
use crate::model::Model;
use crate::text::trimmed;

/// What became of an edit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum EditNote {
    /// It holds from now on.
    Entered {
        /// The edit.
        edit: Edit,
        /// Paths of the blocks that it changes.
        blocks: Vec<String>,
        /// Whether it changes a robot.
        robots: bool,
    },
    /// It enters before the next step.
    Waits {
        /// What is changed.
        path: String,
        /// To what.
        value: String,
    },
    /// It waited for the end of the step and cannot enter.
    Refused {
        /// What was to be changed.
        path: String,
        /// To what.
        value: String,
        /// Why it cannot.
        why: String,
    },
    /// It lies ahead of where the session went back to.
    Undone {
        /// The edit.
        edit: Edit,
    },
}

impl Session {
    /// Changes a parameter before the next step, as [`crate::Diagram::set`] would. What is due
    /// next computes with it, what is held stays held. The recording keeps the edit, and a run
    /// with it repeats the session.
    ///
    /// # Errors
    /// If the run has ended, the diagram does not compile with it, or it changes more than
    /// parameters.
    pub fn set(&mut self, path: &str, value: &str) -> Result<EditNote, Error> {
        if self.is_at_end() {
            return Err(Error::request("the run has ended; `back` and `goto` lead back"));
        }
        if self.history.pieces() == 0 && self.history.fault().is_none() {
            return self.enter(path, value);
        }
        // What cannot enter is said now rather than at the end of the step.
        self.compile_with(path, value)?;
        let (path, value) = (path.to_owned(), value.to_owned());
        self.pending.push((path.clone(), value.clone()));
        Ok(EditNote::Waits { path, value })
    }

    /// Gives an input another value before the next step, as [`Session::set`] changes a parameter:
    /// `force` and `3 N`.
    ///
    /// # Errors
    /// As [`Session::set`]; if there is no such input, or a block feeds it.
    pub fn input(&mut self, name: &str, value: &str) -> Result<EditNote, Error> {
        let held = self.program().inputs.iter().find(|input| input.name == name);
        if let Some(input) = held.filter(|input| input.initial.is_none()) {
            let block = &self.program().nodes[input.node].text;
            return Err(Error::request(format!("`{block}` feeds the input `{name}`")));
        }
        self.set(&format!("inputs.{name}"), value)
    }

    /// Lets the edits in that waited for the end of the step.
    pub(super) fn enter_pending(&mut self, notes: &mut Vec<EditNote>) {
        if self.pending.is_empty() || self.history.pieces() > 0 || self.is_at_end() {
            return;
        }
        for (path, value) in std::mem::take(&mut self.pending) {
            notes.push(self.enter(&path, &value).unwrap_or_else(|error| {
                let why = error.message().to_owned();
                EditNote::Refused { path, value, why }
            }));
        }
    }

    /// Takes back edits that lie ahead.
    pub(super) fn undo_edits(&mut self, notes: &mut Vec<EditNote>) {
        let count = self.history.edit_count();
        let kept = self.edits_before + count;
        let undone = self.edits.split_off(kept.min(self.edits.len()));
        self.text_version += u64::from(undone.iter().any(Edit::is_of_text));
        notes.extend(undone.into_iter().map(|edit| EditNote::Undone { edit }));
        self.models.truncate(count + 1);
    }

    fn enter(&mut self, path: &str, value: &str) -> Result<EditNote, Error> {
        let model = self.compile_with(path, value)?;
        let program = model.program();
        let blocks = self.changed_blocks(program);
        let robots = program.resources != self.program().resources;
        self.history.edit(program).map_err(|error| Error::request(error.to_string()))?;
        let (path, value) = (path.to_owned(), value.to_owned());
        let edit = Edit { path, value, ..self.edit_here() };
        self.models.push(model);
        self.edits.push(edit.clone());
        // A file without the edit would say that its rows are of the program before.
        self.renew_head();
        Ok(EditNote::Entered { edit, blocks, robots })
    }

    /// An edit of nothing yet, at the present step.
    pub(super) fn edit_here(&self) -> Edit {
        let t = format!("{} s", trimmed(self.time()));
        Edit { step: self.history.step(), t, ..Edit::default() }
    }

    /// The diagram with all edits so far and one more.
    fn compile_with(&self, path: &str, value: &str) -> Result<Model, Error> {
        let mut diagram = self.edited_diagram();
        for (path, value) in &self.pending {
            diagram = diagram.set(path, value);
        }
        let compiled = diagram.set(path, value).compile();
        compiled.model_or_errors().map_err(|error| self.explain(path, error))
    }

    /// The diagram with all edits that have entered.
    pub fn edited_diagram(&self) -> crate::Diagram {
        let edits = self.edits[self.edits_before..].iter();
        edits.fold(self.diagram.clone(), |diagram, edit| edit.apply(diagram))
    }

    /// Why a path that is no parameter cannot be set.
    fn explain(&self, path: &str, error: Error) -> Error {
        let is_signal = self.program().signals.iter().any(|signal| {
            path.strip_prefix(signal.path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        });
        if is_signal {
            Error::request(format!(
                "`{path}` is a signal: it is computed from parameters and states, and a run that \
                 is to be repeated headless can only change parameters"
            ))
        } else {
            error
        }
    }

    /// Paths of the blocks whose parameters differ.
    pub(super) fn changed_blocks(&self, program: &Program) -> Vec<String> {
        let old = self.program();
        let pairs = old.nodes.iter().zip(&program.nodes);
        pairs.filter(|(old, new)| differ(old, new)).map(|(_, new)| new.path.clone()).collect()
    }
}

/// Whether two blocks differ, or what they call.
fn differ(old: &Node, new: &Node) -> bool {
    let called = |node: &Node| node.functions.iter().map(|one| one.nodes.len()).sum::<usize>();
    old.path != new.path
        || old.text != new.text
        || called(old) != called(new)
        || old
            .functions
            .iter()
            .zip(&new.functions)
            .any(|(old, new)| old.nodes.iter().zip(&new.nodes).any(|(old, new)| differ(old, new)))
}
