//! Where the lines come from: a terminal with line editing, a script, or standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal as _, Read as _, Write as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use legwork_study::commands;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, Helper};

use super::super::answer::Failure;
use super::super::interrupt;

/// The longest line of a script [bytes].
const LONGEST_LINE: u64 = 1 << 20;

/// The prompt of a terminal.
const PROMPT: &str = "> ";

/// A line with its number, from 1.
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) text: String,
}

/// Where lines come from. A thread waits for them, so that signals are heard in between.
pub(super) struct Input {
    /// Names that the tabulator key completes, with every line that is asked for.
    asked: Sender<Vec<String>>,
    lines: Receiver<Result<Option<Line>, Failure>>,
    name: String,
    is_terminal: bool,
}

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(20);

impl Input {
    /// The script, or else standard input.
    pub(super) fn open(script: Option<&Path>) -> Result<Self, Failure> {
        let is_terminal =
            script.is_none() && io::stdin().is_terminal() && io::stdout().is_terminal();
        let script = match script {
            Some(path) => {
                let shown = path.display().to_string();
                let file = File::open(path).map_err(|error| {
                    Failure::usage(format!("cannot read the script `{shown}`: {error}"))
                })?;
                Some((file, shown))
            }
            None => None,
        };
        let name = match &script {
            Some((_, shown)) => shown.clone(),
            None if is_terminal => "<terminal>".to_owned(),
            None => "<stdin>".to_owned(),
        };
        let (asked, asks) = channel::<Vec<String>>();
        let (told, lines) = channel();
        let source = name.clone();
        std::thread::spawn(move || {
            let mut source = Source::open(script.map(|(file, _)| file), is_terminal, source);
            for names in asks {
                let line = match &mut source {
                    Ok(source) => source.next(names),
                    Err(why) => Err(Failure::usage(why.clone())),
                };
                if told.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { asked, lines, name, is_terminal })
    }

    /// What messages call it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether somebody types.
    pub(super) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// The next line; `None` at the end, and after a signal that ends the process. The tabulator
    /// key completes `names`.
    pub(super) fn next(&mut self, names: &[String]) -> Result<Option<Line>, Failure> {
        let names = if self.is_terminal { names.to_vec() } else { Vec::new() };
        if self.asked.send(names).is_err() {
            return Ok(None);
        }
        loop {
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => return line,
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) if interrupt::is_final() => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// What the thread reads.
struct Source {
    kind: Kind,
    name: String,
    number: usize,
}

enum Kind {
    Terminal(Box<Editor<Names, DefaultHistory>>),
    Lines(Box<dyn BufRead>),
}

impl Source {
    fn open(script: Option<File>, is_terminal: bool, name: String) -> Result<Self, String> {
        let kind = match script {
            Some(file) => Kind::Lines(Box::new(BufReader::new(file))),
            None if is_terminal => {
                let mut editor = Editor::new()
                    .map_err(|error| format!("cannot read from the terminal: {error}"))?;
                editor.set_helper(Some(Names::default()));
                Kind::Terminal(Box::new(editor))
            }
            None => Kind::Lines(Box::new(io::stdin().lock())),
        };
        Ok(Self { kind, name, number: 0 })
    }

    fn next(&mut self, names: Vec<String>) -> Result<Option<Line>, Failure> {
        self.number += 1;
        let number = self.number;
        let text = match &mut self.kind {
            Kind::Lines(lines) => {
                let mut bytes = Vec::new();
                let read = lines.take(LONGEST_LINE).read_until(b'\n', &mut bytes);
                let read = read.map_err(|error| {
                    Failure::usage(format!("cannot read `{}`: {error}", self.name))
                })?;
                if read as u64 == LONGEST_LINE {
                    let message = format!("{}:{number}: the line has no end", self.name);
                    return Err(Failure::usage(message));
                }
                if read == 0 {
                    return Ok(None);
                }
                String::from_utf8(bytes).map_err(|_| {
                    Failure::usage(format!("{}:{number}: expected UTF-8", self.name))
                })?
            }
            Kind::Terminal(editor) => {
                if let Some(helper) = editor.helper_mut() {
                    helper.paths = names;
                }
                match editor.readline(PROMPT) {
                    Ok(line) => {
                        let _ = editor.add_history_entry(&line);
                        line
                    }
                    // Ctrl-C gives up the line, Ctrl-D the session.
                    Err(ReadlineError::Interrupted) => "#".to_owned(),
                    Err(ReadlineError::Eof) => {
                        let _ = writeln!(io::stdout());
                        return Ok(None);
                    }
                    Err(error) => {
                        let message = format!("cannot read from the terminal: {error}");
                        return Err(Failure::usage(message));
                    }
                }
            }
        };
        Ok(Some(Line { number, text }))
    }
}

/// Completes commands and paths.
#[derive(Default)]
struct Names {
    paths: Vec<String>,
}

impl Completer for Names {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let begun = last_word(&line[..at]);
        let start = at - begun.len();
        let fits = |name: &&str| name.starts_with(begun);
        let found: Vec<String> = if start == 0 {
            commands::NAMES.into_iter().filter(|name| fits(name)).map(str::to_owned).collect()
        } else {
            self.paths.iter().map(String::as_str).filter(fits).map(str::to_owned).collect()
        };
        Ok((start, found))
    }
}

/// What follows the last white space, which may take several bytes.
fn last_word(text: &str) -> &str {
    text.rsplit(char::is_whitespace).next().unwrap_or(text)
}

impl Hinter for Names {
    type Hint = String;
}
impl Highlighter for Names {}
impl Validator for Names {}
impl Helper for Names {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_completed_behind_a_space_of_several_bytes() {
        for space in [' ', '\t', '\u{a0}', '\u{3000}'] {
            assert_eq!(last_word(&format!("print{space}pd.t")), "pd.t", "{space:?}");
            assert_eq!(last_word(&format!("print{space}")), "", "{space:?}");
        }
        assert_eq!(last_word("pri"), "pri");
    }
}
