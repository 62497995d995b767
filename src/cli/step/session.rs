//! A session: where the run is, what it stops at, what has been changed.

use std::path::Path;
use std::sync::Arc;

use legwork_block::Registry;
use legwork_diagram::Options;
use legwork_diagram::render::SourceMap;
use legwork_program::Program;
use legwork_runtime::recording::Metadata;
use legwork_runtime::{History, RunFault, Simulation};

use super::super::answer::Failure;
use super::super::edits::Edit;
use super::super::snapshot;
use super::super::source::Source;
use super::breakpoint::Breakpoint;
use super::command::Command;
use super::help;
use super::probe::Probe;

/// What the session is about.
pub(super) struct Origin<'r> {
    pub(super) source: Source,
    /// Overrides of the command line.
    pub(super) options: Options,
    pub(super) registry: &'r Registry,
    /// What the recording says, without edits.
    pub(super) metadata: Metadata,
}

/// A session.
pub(super) struct Session<'r> {
    pub(super) origin: Origin<'r>,
    pub(super) history: History,
    /// Texts of the diagram, and after each edit.
    pub(super) sources: Vec<SourceMap>,
    pub(super) breakpoints: Vec<Breakpoint>,
    pub(super) watches: Vec<String>,
    /// Edits that have entered.
    pub(super) edits: Vec<Edit>,
    /// Edits that wait for the end of the step: path and value.
    pub(super) pending: Vec<(String, String)>,
    pub(super) probe: Probe,
    pub(super) names: Vec<String>,
    pub(super) text: String,
}

/// A history from t = 0 that keeps its rows.
pub(super) fn fresh(program: &Arc<Program>) -> History {
    let mut simulation = Simulation::new(Arc::clone(program));
    simulation.observer_mut().keep_rows();
    History::new(simulation).expect("a new simulation stands before its first step")
}

impl<'r> Session<'r> {
    pub(super) fn new(origin: Origin<'r>, history: History, sources: SourceMap) -> Self {
        let program = history.simulation().program();
        let mut names: Vec<String> =
            program.signals.iter().map(|signal| signal.path.clone()).collect();
        names.extend(program.nodes.iter().map(|node| node.path.clone()));
        names.sort();
        Self {
            origin,
            history,
            sources: vec![sources],
            breakpoints: Vec::new(),
            watches: Vec::new(),
            edits: Vec::new(),
            pending: Vec::new(),
            probe: Probe::default(),
            names,
            text: String::new(),
        }
    }

    pub(super) fn history(&self) -> &History {
        &self.history
    }

    pub(super) fn origin(&self) -> &Origin<'r> {
        &self.origin
    }

    pub(super) fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Paths of signals and blocks.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn program(&self) -> &Arc<Program> {
        self.history.simulation().program()
    }

    /// What has been said since it was last asked for.
    pub(super) fn take_text(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    pub(super) fn say(&mut self, line: &str) {
        self.text += line.trim_end();
        self.text.push('\n');
    }

    /// Says in the recording that it does not begin at t = 0.
    pub(super) fn note_resumed(&mut self) {
        let tick = self.history.simulation().tick();
        self.origin.metadata.other.insert("resumed".to_owned(), format!("at tick {tick}"));
    }

    /// Does what a command asks for.
    pub(super) fn obey(&mut self, command: &Command) -> Result<(), String> {
        match command {
            Command::Next(count) => self.next(*count),
            Command::Step(count) => self.step(*count),
            Command::Into(part) => self.enter_part(part.as_deref()),
            Command::Out => self.leave_part(),
            Command::Continue => self.go_on(None),
            Command::Until(t) => self.go_on(Some(*t)),
            Command::Goto(t) => self.go_to(*t),
            Command::Back(count) => self.back(|history| history.back(*count), *count, "piece"),
            Command::BackSteps(count) => {
                self.back(|history| history.back_steps(*count), *count, "step")
            }
            Command::Break(None) => self.list_breakpoints(),
            Command::Break(Some(text)) => self.add_breakpoint(text),
            Command::Delete(which) => {
                remove(&mut self.breakpoints, *which, "breakpoint")?;
                self.list_breakpoints()
            }
            Command::Watch(None) => self.list_watches(),
            Command::Watch(Some(path)) => self.add_watch(path),
            Command::Unwatch(which) => {
                remove(&mut self.watches, *which, "watch")?;
                self.list_watches()
            }
            Command::Print(path) => self.print(path),
            Command::Set(path, value) => self.set(path, value),
            Command::Where => self.tell_where(),
            Command::Schedule => self.list_schedule(),
            Command::Snapshot(file) => self.write_snapshot(file),
            Command::Restore(file) => self.restore(file),
            Command::Help(word) => {
                let text = help::help(word.as_deref())?;
                self.say(&text);
                Ok(())
            }
            Command::Quit => Ok(()),
        }
    }

    fn add_breakpoint(&mut self, text: &str) -> Result<(), String> {
        let program = Arc::clone(self.program());
        let breakpoint = Breakpoint::parse(text, &self.origin, &program)?;
        self.breakpoints.push(breakpoint);
        self.say(&format!("breakpoint {}: {text}", self.breakpoints.len()));
        Ok(())
    }

    fn list_breakpoints(&mut self) -> Result<(), String> {
        let texts: Vec<String> = self.breakpoints.iter().map(|one| one.text.clone()).collect();
        self.list(&texts, "no breakpoints")
    }

    fn add_watch(&mut self, path: &str) -> Result<(), String> {
        let shown = self.shown_signal(path)?;
        self.watches.push(path.to_owned());
        self.say(&shown);
        Ok(())
    }

    fn list_watches(&mut self) -> Result<(), String> {
        self.list(&self.watches.clone(), "no watches")
    }

    fn list(&mut self, texts: &[String], none: &str) -> Result<(), String> {
        if texts.is_empty() {
            self.say(none);
        }
        for (i, text) in texts.iter().enumerate() {
            self.say(&format!("{:>3}  {text}", i + 1));
        }
        Ok(())
    }

    fn write_snapshot(&mut self, file: &Path) -> Result<(), String> {
        let bytes = self.history.to_bytes().map_err(|error| error.to_string())?;
        snapshot::write(file, &bytes).map_err(|failure| failure.message)?;
        let shown = file.display();
        self.say(&format!("wrote {shown} ({} bytes)", bytes.len()));
        if !self.edits.is_empty() {
            let set: Vec<String> = self
                .edits
                .iter()
                .map(|edit| format!("--set '{}={}'", edit.path, edit.value))
                .collect();
            self.say(&format!("it is of the diagram with {}", set.join(" ")));
        }
        Ok(())
    }

    fn restore(&mut self, file: &Path) -> Result<(), String> {
        let message = |failure: Failure| failure.message;
        let program = Arc::clone(self.program());
        let history = snapshot::history(&program, file).map_err(message)?;
        // The recording begins here, with the edits so far as if the command line had made them.
        let set = self.edits.drain(..).map(|edit| (edit.path, edit.value));
        let set: Vec<(String, String)> = set.collect();
        let overrides = set.iter().map(|(path, value)| format!("{path}={value}"));
        self.origin.metadata.overrides.extend(overrides);
        self.origin.metadata.program_hash = format!("{:016x}", program.hash());
        self.origin.options.set.extend(set);
        self.sources.drain(..self.sources.len() - 1);
        self.history = history;
        self.pending.clear();
        self.breakpoints.iter_mut().for_each(Breakpoint::forget);
        self.note_resumed();
        self.tell_place();
        Ok(())
    }

    /// A fault as a line.
    pub(super) fn tell_fault(&mut self, fault: &RunFault) {
        self.say(&format!("fault: {fault}"));
    }
}

fn remove<T>(list: &mut Vec<T>, which: Option<usize>, noun: &str) -> Result<(), String> {
    match which {
        None => list.clear(),
        Some(number) => match number.checked_sub(1).filter(|at| *at < list.len()) {
            Some(at) => drop(list.remove(at)),
            None => return Err(format!("no {noun} {number}; there are {}", list.len())),
        },
    }
    Ok(())
}
