//! The language in which a session is driven line by line, by `legwork step` and by the live page.
//!
//! ```text
//! line ──parse──► Command ──perform, on a Session──► text for people
//! ```
//!
//! What a command makes of more than one session, such as a fork, is its caller's.

mod help;
mod perform;
mod show;

use std::path::PathBuf;

use legwork_block::nearest;

use crate::time::parse_time;

pub use help::help;
pub use perform::{tell_place, watches};
pub use show::{edit, place, stage, stop, value};

/// What a line asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// So many pieces of the step.
    Next(u64),
    /// So many major steps.
    Step(u64),
    /// To the next block of a part; without one, of another.
    Into(Option<String>),
    /// Behind the last block of the part around.
    Out,
    /// To the next breakpoint or the end.
    Continue,
    /// To the first step at or after a time [s]; stops at breakpoints.
    Until(f64),
    /// To the first step at or after a time [s], forth or back.
    Goto(f64),
    /// So many pieces back.
    Back(u64),
    /// So many steps back.
    BackSteps(u64),
    /// A block or a condition to stop at; without, a list.
    Break(Option<String>),
    /// Removes this breakpoint, or all.
    Delete(Option<usize>),
    /// A signal to show at each stop; without, a list.
    Watch(Option<String>),
    /// Stops showing this one, or all.
    Unwatch(Option<usize>),
    /// Shows a signal or a block.
    Print(String),
    /// A parameter and its value.
    Set(String, String),
    /// An input and its value.
    Input(String, String),
    /// Shows the place.
    Where,
    /// Shows the order of execution.
    Schedule,
    /// Writes a snapshot.
    Snapshot(PathBuf),
    /// Goes on from a snapshot.
    Restore(PathBuf),
    /// Name of the new session; what it changes.
    Fork(String, Vec<(String, String)>),
    /// The session to go on in; without, a list.
    Session(Option<String>),
    /// Explains a command, or lists all.
    Help(Option<String>),
    /// Leaves.
    Quit,
}

/// Names of the commands, in the order of the help.
pub const NAMES: [&str; 23] = [
    "next", "step", "into", "out", "continue", "until", "goto", "back", "break", "delete", "watch",
    "unwatch", "print", "set", "input", "where", "schedule", "snapshot", "restore", "fork",
    "session", "help", "quit",
];
/// Short forms that would else be ambiguous.
const SHORT: [(&str, &str); 6] = [
    ("b", "break"),
    ("s", "step"),
    ("w", "where"),
    ("u", "until"),
    ("exit", "quit"),
    ("i", "into"),
];

impl Command {
    /// The command of a line that is not empty.
    ///
    /// # Errors
    /// What was expected, in lower case.
    pub fn parse(line: &str) -> Result<Self, String> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let name = name(word)?;
        let none = |command: Self| match rest {
            "" => Ok(command),
            _ => Err(format!("`{name}` takes nothing, found `{rest}`; see `help {name}`")),
        };
        let needed = |what: &str| match rest {
            "" => Err(format!("`{name}` expected {what}; see `help {name}`")),
            _ => Ok(rest.to_owned()),
        };
        let optional = || (!rest.is_empty()).then(|| rest.to_owned());
        match name {
            "next" => Ok(Self::Next(count(rest)?)),
            "step" => Ok(Self::Step(count(rest)?)),
            "into" => Ok(Self::Into(optional())),
            "out" => none(Self::Out),
            "continue" => none(Self::Continue),
            "until" => Ok(Self::Until(seconds(&needed("a time")?)?)),
            "goto" => Ok(Self::Goto(seconds(&needed("a time")?)?)),
            "back" => {
                let number = rest.strip_suffix("steps").or_else(|| rest.strip_suffix("step"));
                match number {
                    Some(number) => Ok(Self::BackSteps(count(number.trim())?)),
                    None => Ok(Self::Back(count(rest)?)),
                }
            }
            "break" => Ok(Self::Break(optional())),
            "delete" => Ok(Self::Delete(index(rest)?)),
            "watch" => Ok(Self::Watch(optional())),
            "unwatch" => Ok(Self::Unwatch(index(rest)?)),
            "print" => Ok(Self::Print(needed("a signal or a block")?)),
            "set" => {
                let rest = needed("a parameter and its value")?;
                let (path, value) = parameter(&rest).ok_or_else(|| {
                    format!("`set` expected a parameter and its value, found `{rest}`")
                })?;
                Ok(Self::Set(path, value))
            }
            "input" => {
                let rest = needed("an input and its value")?;
                let (name, value) = parameter(&rest).ok_or_else(|| {
                    format!("`input` expected an input and its value, found `{rest}`")
                })?;
                Ok(Self::Input(name, value))
            }
            "where" => none(Self::Where),
            "schedule" => none(Self::Schedule),
            "snapshot" => Ok(Self::Snapshot(needed("a file")?.into())),
            "restore" => Ok(Self::Restore(needed("a file")?.into())),
            "fork" => fork(&needed("a name")?),
            "session" => Ok(Self::Session(optional())),
            "help" => Ok(Self::Help(optional())),
            _ => none(Self::Quit),
        }
    }
}

/// The whole name of a command or of its beginning.
fn name(word: &str) -> Result<&'static str, String> {
    if let Some((_, name)) = SHORT.iter().find(|(short, _)| *short == word) {
        return Ok(name);
    }
    let fits: Vec<&str> = NAMES.into_iter().filter(|name| name.starts_with(word)).collect();
    match fits[..] {
        _ if NAMES.contains(&word) => Ok(NAMES[NAMES.iter().position(|n| *n == word).unwrap_or(0)]),
        [only] => Ok(only),
        [] => {
            let near = nearest(word, NAMES);
            let near = near.map_or("see `help`".into(), |near| format!("did you mean `{near}`?"));
            Err(format!("no command `{word}`; {near}"))
        }
        _ => Err(format!("`{word}` may be `{}`", fits.join("` or `"))),
    }
}

/// `path value`, `path = value` or `path=value`.
fn parameter(text: &str) -> Option<(String, String)> {
    let (path, value) = match text.split_once('=') {
        Some((path, value)) if !path.trim().contains(char::is_whitespace) => (path, value),
        _ => text.split_once(char::is_whitespace)?,
    };
    let (path, value) = (path.trim(), value.trim());
    (!path.is_empty() && !value.is_empty()).then(|| (path.to_owned(), value.to_owned()))
}

/// `soft kp=60 N*m/rad qp=clarabel`: a name, then what is changed.
fn fork(text: &str) -> Result<Command, String> {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    if name.contains(|c: char| !c.is_ascii_alphanumeric() && !"_-".contains(c)) {
        return Err(format!("expected a name of letters, digits, `_` and `-`, found `{name}`"));
    }
    let mut changes: Vec<(String, String)> = Vec::new();
    for word in words {
        match (word.split_once('='), changes.last_mut()) {
            (Some((path, value)), _) if !path.is_empty() && !value.is_empty() => {
                changes.push((path.to_owned(), value.to_owned()));
            }
            // A value may have spaces, as in `60 N*m/rad`.
            (None, Some((_, value))) => *value += &format!(" {word}"),
            _ => return Err(format!("expected `path=value` or `variant=choice`, found `{word}`")),
        }
    }
    Ok(Command::Fork(name.to_owned(), changes))
}

fn seconds(text: &str) -> Result<f64, String> {
    parse_time(text).map_err(|error| error.to_string())
}

fn count(text: &str) -> Result<u64, String> {
    match text {
        "" => Ok(1),
        _ => text.parse().map_err(|_| format!("expected a number of times, found `{text}`")),
    }
}

fn index(text: &str) -> Result<Option<usize>, String> {
    match text {
        "" | "all" => Ok(None),
        _ => text
            .parse()
            .map(Some)
            .map_err(|_| format!("expected the number in the list, or `all`, found `{text}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_by_its_beginning() {
        for (line, command) in [
            ("n", Command::Next(1)),
            ("n 3", Command::Next(3)),
            ("s", Command::Step(1)),
            ("c", Command::Continue),
            ("b", Command::Break(None)),
            ("b  x.y > 3 ", Command::Break(Some("x.y > 3".into()))),
            ("ba 2", Command::Back(2)),
            ("back 2 steps", Command::BackSteps(2)),
            ("back step", Command::BackSteps(1)),
            ("p body.state", Command::Print("body.state".into())),
            ("set pd.kp 80", Command::Set("pd.kp".into(), "80".into())),
            ("set pd.kp=80 N*m/rad", Command::Set("pd.kp".into(), "80 N*m/rad".into())),
            ("set a [1, 2]", Command::Set("a".into(), "[1, 2]".into())),
            ("input u = 3 N", Command::Input("u".into(), "3 N".into())),
            ("inp u [1, 2]", Command::Input("u".into(), "[1, 2]".into())),
            ("goto 20 ms", Command::Goto(0.02)),
            ("w", Command::Where),
            ("del 2", Command::Delete(Some(2))),
            ("q", Command::Quit),
            ("session", Command::Session(None)),
            ("fork a", Command::Fork("a".into(), Vec::new())),
            (
                "f b kp=60 N*m/rad qp=pgs",
                Command::Fork(
                    "b".into(),
                    vec![("kp".into(), "60 N*m/rad".into()), ("qp".into(), "pgs".into())],
                ),
            ),
        ] {
            assert_eq!(Command::parse(line), Ok(command), "{line}");
        }
    }

    #[test]
    fn a_mistake_is_answered_with_what_was_expected() {
        for (line, said) in [
            ("nxet", "no command `nxet`; did you mean `next`?"),
            ("frobnicate", "no command `frobnicate`; see `help`"),
            ("st 1 2", "expected a number of times, found `1 2`"),
            ("un 3", "`un` may be `until` or `unwatch`"),
            ("print", "`print` expected a signal or a block; see `help print`"),
            ("until soon", "expected a time such as `0.4 s`, found `soon`"),
            ("set kp", "`set` expected a parameter and its value, found `kp`"),
            ("where now", "`where` takes nothing, found `now`; see `help where`"),
            ("fork", "`fork` expected a name"),
            ("fork a/b", "expected a name of letters, digits, `_` and `-`, found `a/b`"),
            ("fork a kp", "expected `path=value` or `variant=choice`, found `kp`"),
        ] {
            let message = Command::parse(line).expect_err(line);
            assert!(message.contains(said), "{line}: {message}");
        }
    }
}
