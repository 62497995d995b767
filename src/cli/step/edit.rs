//! Parameters changed between two steps (semantics 8.3).

use std::sync::Arc;

use legwork_diagram::Options;
use legwork_diagram::render::SourceMap;
use legwork_program::Program;

use super::super::edits::Edit;
use super::super::summary::counted;
use super::probe::errors;
use super::session::Session;
use super::show::trimmed;

impl Session<'_> {
    /// Changes a parameter before the next step.
    pub(super) fn set(&mut self, path: &str, value: &str) -> Result<(), String> {
        if self.at_end() {
            return Err("the run has ended; `back` and `goto` lead back".to_owned());
        }
        if self.history.pieces() == 0 && self.history.fault().is_none() {
            return self.enter(path, value);
        }
        // What cannot enter is said now rather than at the end of the step.
        let options = self.options_with(path, value);
        self.compile(&options).map_err(|message| self.explain(path, message))?;
        self.pending.push((path.to_owned(), value.to_owned()));
        self.say(&format!("{path} = {value} enters before the next step"));
        Ok(())
    }

    /// Lets the edits in that waited for the end of the step.
    pub(super) fn enter_pending(&mut self) {
        if self.history.pieces() > 0 || self.at_end() {
            return;
        }
        for (path, value) in std::mem::take(&mut self.pending) {
            if let Err(message) = self.enter(&path, &value) {
                self.say(&format!("{path} = {value} is refused: {message}"));
            }
        }
    }

    /// Takes back edits that lie ahead.
    pub(super) fn undo_edits(&mut self) {
        let count = self.history.edit_count();
        for edit in self.edits.split_off(count.min(self.edits.len())) {
            self.say(&format!("undone: {} = {} at t={}", edit.path, edit.value, edit.t));
        }
        self.sources.truncate(count + 1);
    }

    fn enter(&mut self, path: &str, value: &str) -> Result<(), String> {
        let options = self.options_with(path, value);
        let (program, sources) =
            self.compile(&options).map_err(|message| self.explain(path, message))?;
        let changed = self.changed_blocks(&program);
        let robots =
            if program.resources == self.program().resources { "no block" } else { "a robot" };
        self.history.edit(&Arc::new(program)).map_err(|error| error.to_string())?;
        let t = format!("{} s", trimmed(self.time()));
        let (path, value) = (path.to_owned(), value.to_owned());
        self.sources.push(sources);
        let blocks = match &changed[..] {
            [] => robots.to_owned(),
            [one] => format!("`{one}`"),
            many => counted(many.len() as u64, "block"),
        };
        self.say(&format!("{path} = {value} from t={t} on: changes {blocks}"));
        self.edits.push(Edit { step: self.history.step(), t, path, value });
        Ok(())
    }

    /// The command line with all edits so far and one more.
    fn options_with(&self, path: &str, value: &str) -> Options {
        let mut options = self.origin.options.clone();
        let edits = self.edits.iter().map(|edit| (edit.path.clone(), edit.value.clone()));
        options.set.extend(edits);
        options.set.extend(self.pending.iter().cloned());
        options.set.push((path.to_owned(), value.to_owned()));
        options
    }

    fn compile(&self, options: &Options) -> Result<(Program, SourceMap), String> {
        let compiled = self.origin.source.compile(options, self.origin.registry);
        match compiled.program {
            Some(program) => Ok((program, compiled.sources)),
            None => Err(errors(&compiled.diagnostics)),
        }
    }

    /// Why a path that is no parameter cannot be set.
    fn explain(&self, path: &str, message: String) -> String {
        let program = self.program();
        let is_signal = program.signals.iter().any(|signal| {
            path.strip_prefix(signal.path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        });
        if is_signal {
            format!(
                "`{path}` is a signal: it is computed from parameters and states, and a run that \
                 is to be repeated headless can only change parameters"
            )
        } else {
            message
        }
    }

    /// Paths of the blocks whose parameters differ.
    fn changed_blocks(&self, program: &Program) -> Vec<String> {
        let old = self.program();
        let pairs = old.nodes.iter().zip(&program.nodes);
        let changed = pairs.filter(|(old, new)| old.path != new.path || old.text != new.text);
        changed.map(|(_, new)| new.path.clone()).collect()
    }
}
