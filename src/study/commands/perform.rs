//! What each command does with a session.

use std::path::Path;

use super::{Command, help, show};
use crate::error::Error;
use crate::files;
use crate::session::{Session, Stop};
use crate::snapshot::Snapshot;

impl Command {
    /// Does what it asks of a session; what there is to say. Nothing for what its caller does: a
    /// fork, another session, the end.
    pub fn perform(&self, session: &mut Session) -> Option<Result<String, Error>> {
        let stop = |stop: Result<Stop, Error>, noun: &str, session: &mut Session| {
            stop.map(|stop| show::stop(&stop, noun) + &watches(session))
        };
        Some(match self {
            Self::Next(count) => stop(session.next(*count), "piece", session),
            Self::Step(count) => stop(session.step(*count), "piece", session),
            Self::Into(part) => stop(session.into_part(part.as_deref()), "piece", session),
            Self::Out => stop(session.out_of_part(), "piece", session),
            Self::Continue => stop(session.proceed(), "piece", session),
            Self::Until(t) => stop(session.until(*t), "piece", session),
            Self::Goto(t) => stop(Ok(session.go_to(*t)), "piece", session),
            Self::Back(count) => stop(session.back(*count), "piece", session),
            Self::BackSteps(count) => stop(session.back_steps(*count), "step", session),
            Self::Break(None) => Ok(breakpoints(session)),
            Self::Break(Some(text)) => {
                session.break_at(text).map(|number| format!("breakpoint {number}: {text}\n"))
            }
            Self::Delete(which) => session.delete_breakpoint(*which).map(|()| breakpoints(session)),
            Self::Watch(None) => Ok(list(session.watches().iter(), "no watches")),
            Self::Watch(Some(path)) => session.watch(path).map(|value| show::value(&value)),
            Self::Unwatch(which) => {
                session.unwatch(*which).map(|()| list(session.watches().iter(), "no watches"))
            }
            Self::Print(path) => match session.block(path) {
                Some(block) if !path.starts_with('^') => Ok(show::block(&block)),
                _ => session.read(path).map(|value| show::value(&value)),
            },
            Self::Set(path, value) => session.set(path, value).map(|note| show::edit(&note) + "\n"),
            Self::Input(name, value) => {
                session.input(name, value).map(|note| show::edit(&note) + "\n")
            }
            Self::Where => Ok(show::whereabouts(&session.whereabouts())),
            Self::Schedule => Ok(show::schedule(&session.schedule())),
            Self::Snapshot(file) => write_snapshot(session, file),
            Self::Restore(file) => Snapshot::read(file)
                .and_then(|snapshot| session.restore(&snapshot))
                .map(|()| tell_place(session)),
            Self::Help(word) => help(word.as_deref()).map_err(Error::request),
            Self::Fork(..) | Self::Session(_) | Self::Quit => return None,
        })
    }
}

/// One line on where a session is; then the watches.
pub fn tell_place(session: &mut Session) -> String {
    show::place(&session.place()) + "\n" + &watches(session)
}

/// What is watched, a paragraph each.
pub fn watches(session: &mut Session) -> String {
    let mut text = String::new();
    for value in session.watched() {
        match value {
            Ok(value) => text += &show::value(&value),
            Err(error) => text += &format!("{error}\n"),
        }
    }
    text
}

fn breakpoints(session: &Session) -> String {
    list(session.breakpoints(), "no breakpoints")
}

fn list(texts: impl Iterator<Item = impl AsRef<str>>, none: &str) -> String {
    let line = |(i, text): (usize, _)| format!("{:>3}  {}\n", i + 1, AsRef::<str>::as_ref(&text));
    let lines: String = texts.enumerate().map(line).collect();
    if lines.is_empty() { format!("{none}\n") } else { lines }
}

fn write_snapshot(session: &Session, file: &Path) -> Result<String, Error> {
    files::refuse_input(file, session.inputs())?;
    let snapshot = session.snapshot()?;
    snapshot.write(file)?;
    let mut text = format!("wrote {} ({} bytes)\n", file.display(), snapshot.bytes().len());
    if !session.edits().is_empty() {
        let set = session.edits().iter().map(|edit| match edit.is_of_text() {
            true => edit.words(),
            false => format!("--set '{}={}'", edit.path, edit.value),
        });
        let set: Vec<String> = set.collect();
        text += &format!("it is of the diagram with {}\n", set.join(" "));
    }
    Ok(text)
}
