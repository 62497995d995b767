//! The sessions of a `legwork step`, and what each command does with them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use legwork_block::is_hidden;
use legwork_study::commands::{self, Command};
use legwork_study::session::{Fork, Session};
use legwork_study::{Error, ErrorKind, trimmed};

use super::super::summary::counted;

/// Name of the session that a `legwork step` begins with.
pub(super) const FIRST: &str = "main";

/// The sessions by name, the first of them made by the command line, the others forked.
pub(super) struct Sessions {
    all: Vec<(String, Session)>,
    /// Index of the one that commands go to.
    current: usize,
    /// Where they are recorded, forks in directories of their names.
    out: Option<PathBuf>,
}

impl Sessions {
    pub(super) fn new(mut first: Session, out: Option<&Path>) -> Result<Self, Error> {
        record(&mut first, out)?;
        Ok(Self { all: vec![(FIRST.to_owned(), first)], current: 0, out: out.map(Path::to_owned) })
    }

    /// Name and session, in the order in which they were made.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = (&str, &mut Session)> {
        self.all.iter_mut().map(|(name, session)| (name.as_str(), session))
    }

    /// Lets the recording of the one that commands go to hold all of its rows.
    pub(super) fn save(&mut self) -> Result<(), Error> {
        self.current_mut().save()
    }

    /// The one that commands go to.
    pub(super) fn current(&self) -> &Session {
        &self.all[self.current].1
    }

    fn current_mut(&mut self) -> &mut Session {
        &mut self.all[self.current].1
    }

    /// Does what a command asks for; what there is to say.
    pub(super) fn perform(&mut self, command: &Command) -> Result<String, Error> {
        match command {
            Command::Fork(name, changes) => self.fork(name, changes),
            Command::Session(None) => Ok(self.list()),
            Command::Session(Some(name)) => {
                self.current = self.find(name)?;
                Ok(self.tell_place())
            }
            command => command.perform(self.current_mut()).unwrap_or_else(|| Ok(String::new())),
        }
    }

    /// One line on where it is; then the watches.
    pub(super) fn tell_place(&mut self) -> String {
        commands::tell_place(self.current_mut())
    }

    /// Forks the present session and goes on in the new one.
    fn fork(&mut self, name: &str, changes: &[(String, String)]) -> Result<String, Error> {
        if self.all.iter().any(|(other, _)| other == name) {
            return Err(request(format!("there is a session `{name}` already")));
        }
        let changes: Vec<(&str, &str)> =
            changes.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        if name.contains(|c: char| c == '/' || c == '\\' || c == '.' || is_hidden(c)) {
            return Err(request(format!(
                "expected a name that can be a directory's, found `{name}`"
            )));
        }
        let Fork { mut session, carried } = self.current().fork(&changes)?;
        let directory = self.out.as_ref().map(|out| out.join(name));
        record(&mut session, directory.as_deref())?;
        let from = &self.all[self.current].0;
        let mut text = format!(
            "`{name}` is forked from `{from}` at t={} s: {} carried over\n",
            trimmed(session.time()),
            counted(carried.kept.len() as u64, "state"),
        );
        // Writing to a string cannot fail.
        for (path, why) in &carried.fresh {
            let _ = writeln!(text, "  begins anew  {path}: {why}");
        }
        for path in &carried.dropped {
            let _ = writeln!(text, "  left behind  {path}");
        }
        self.all.push((name.to_owned(), session));
        self.current = self.all.len() - 1;
        Ok(text + &self.tell_place())
    }

    fn find(&self, name: &str) -> Result<usize, Error> {
        let names = || self.all.iter().map(|(name, _)| name.as_str());
        names().position(|other| other == name).ok_or_else(|| {
            let names: Vec<&str> = names().collect();
            let names = names.join("`, `");
            request(format!("no session `{name}`; there are `{names}`"))
        })
    }

    /// A line a session; `>` marks the one that commands go to.
    fn list(&self) -> String {
        let mut text = String::new();
        for (i, (name, session)) in self.all.iter().enumerate() {
            let mark = if i == self.current { '>' } else { ' ' };
            let place = commands::place(&session.place());
            let _ = writeln!(text, "{mark} {name}  {place}");
        }
        text
    }
}

/// Records a session into a directory, or nowhere.
fn record(session: &mut Session, directory: Option<&Path>) -> Result<(), Error> {
    match directory {
        Some(directory) => session.record_into(directory),
        None => {
            session.forget_rows();
            Ok(())
        }
    }
}

/// A mistake in a command.
fn request(message: String) -> Error {
    Error::new(ErrorKind::Request, message)
}
