//! Where the lines come from: a terminal with line editing, a script, or standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal as _, Write as _};
use std::path::Path;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, Helper};

use super::super::answer::Failure;
use super::command;

/// The prompt of a terminal.
const PROMPT: &str = "> ";

/// A line with its number, from 1.
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) text: String,
}

/// Where lines come from.
pub(super) struct Input {
    kind: Kind,
    name: String,
    number: usize,
}

enum Kind {
    Terminal(Box<Editor<Names, DefaultHistory>>),
    Lines(Box<dyn BufRead>),
}

impl Input {
    /// The script, or else standard input.
    pub(super) fn open(script: Option<&Path>) -> Result<Self, Failure> {
        let (kind, name) = match script {
            Some(path) => {
                let shown = path.display().to_string();
                let file = File::open(path).map_err(|error| {
                    Failure::usage(format!("cannot read the script `{shown}`: {error}"))
                })?;
                (Kind::Lines(Box::new(BufReader::new(file))), shown)
            }
            None if io::stdin().is_terminal() && io::stdout().is_terminal() => {
                let mut editor = Editor::new().map_err(|error| {
                    Failure::usage(format!("cannot read from the terminal: {error}"))
                })?;
                editor.set_helper(Some(Names::default()));
                (Kind::Terminal(Box::new(editor)), "<terminal>".to_owned())
            }
            None => (Kind::Lines(Box::new(io::stdin().lock())), "<stdin>".to_owned()),
        };
        Ok(Self { kind, name, number: 0 })
    }

    /// What messages call it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether somebody types.
    pub(super) fn is_terminal(&self) -> bool {
        matches!(self.kind, Kind::Terminal(_))
    }

    /// Names that the tabulator key completes.
    pub(super) fn offer(&mut self, names: &[String]) {
        if let Kind::Terminal(editor) = &mut self.kind
            && let Some(helper) = editor.helper_mut()
            && helper.paths != names
        {
            helper.paths = names.to_vec();
        }
    }

    /// The next line; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Line>, Failure> {
        self.number += 1;
        let number = self.number;
        let text = match &mut self.kind {
            Kind::Lines(lines) => {
                let mut bytes = Vec::new();
                let read = lines.read_until(b'\n', &mut bytes);
                let read = read.map_err(|error| {
                    Failure::usage(format!("cannot read `{}`: {error}", self.name))
                })?;
                if read == 0 {
                    return Ok(None);
                }
                String::from_utf8(bytes).map_err(|_| {
                    Failure::usage(format!("{}:{number}: expected UTF-8", self.name))
                })?
            }
            Kind::Terminal(editor) => match editor.readline(PROMPT) {
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
            },
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
        let before = &line[..at];
        let start = before.rfind(char::is_whitespace).map_or(0, |space| space + 1);
        let begun = &before[start..];
        let fits = |name: &&str| name.starts_with(begun);
        let found: Vec<String> = if start == 0 {
            command::NAMES.into_iter().filter(|name| fits(name)).map(str::to_owned).collect()
        } else {
            self.paths.iter().map(String::as_str).filter(fits).map(str::to_owned).collect()
        };
        Ok((start, found))
    }
}

impl Hinter for Names {
    type Hint = String;
}
impl Highlighter for Names {}
impl Validator for Names {}
impl Helper for Names {}
