//! Standard output and standard error, and what to do when nobody listens.
//!
//! Results go to standard output, unless `--json` has it; what is said besides goes to standard
//! error. `--quiet` leaves errors, and what a command was asked to print: a table, a patch.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use legwork_block::is_hidden;

use super::answer::{Code, Failure};

/// Whether `--json` was given.
static JSON: AtomicBool = AtomicBool::new(false);
/// Whether `--quiet` was given.
static QUIET: AtomicBool = AtomicBool::new(false);

/// What the command line asks of the outputs, once, before anything is written.
pub(crate) fn configure(json: bool, quiet: bool) {
    JSON.store(json, Ordering::Relaxed);
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether standard output holds one JSON object.
pub(crate) fn is_json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// Whether errors alone are said.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes a result for people, and ends its line.
///
/// # Errors
/// If the output is closed or full.
pub(crate) fn tell(text: &str) -> Result<(), Failure> {
    if is_quiet() {
        return Ok(());
    }
    if is_json() {
        say_styled(&clean(text));
        return Ok(());
    }
    print(&format!("{text}\n"))
}

/// As [`tell`] of what failed, which is also said where errors alone are.
///
/// # Errors
/// If the output is closed or full.
pub(crate) fn tell_failed(text: &str) -> Result<(), Failure> {
    if is_quiet() {
        say_styled(&clean(text));
        return Ok(());
    }
    tell(text)
}

/// Writes a line to standard error that is no error: a warning, what was written where.
pub(crate) fn note(text: &str) {
    if !is_quiet() {
        say_styled(&clean(text));
    }
}

/// Writes `text` to standard output. A reader that has gone away, as in `legwork blocks | head`, is
/// no mistake.
///
/// # Errors
/// If the output is closed or full.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let text = clean(text);
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let message = format!("cannot write to standard output: {error}");
            Err(Failure { code: Code::Unwritten, message })
        }
        _ => Ok(()),
    }
}

/// Writes a line about an error to standard error. What cannot be said is not said.
pub(crate) fn say(text: &str) {
    say_styled(&clean(&brief(text)));
}

/// A message without the rest of what it repeats: of a word that is far longer than what somebody
/// wrote there is the beginning, and of a text of that kind, too.
pub(crate) fn brief(text: &str) -> Cow<'_, str> {
    const WORD: usize = 1000;
    const SHOWN: usize = 200;
    const TEXT: usize = 20_000;
    let is_long = |word: &str| word.len() > WORD;
    if text.len() <= TEXT && !text.split(char::is_whitespace).any(is_long) {
        return text.into();
    }
    let mut out = String::new();
    for word in text.split_inclusive(char::is_whitespace) {
        if out.len() > TEXT {
            out.push('…');
            break;
        }
        match is_long(word.trim_end()) {
            true => {
                out.extend(word.chars().take(SHOWN));
                out.push('…');
                out.extend(word.chars().next_back().filter(|end| end.is_whitespace()));
            }
            false => out += word,
        }
    }
    out.into()
}

/// As [`say`], for a text that [`clean`] has seen and that holds colours.
pub(crate) fn say_styled(text: &str) {
    let mut out = io::stderr().lock();
    let _ = writeln!(out, "{text}");
}

/// The text without what acts on a terminal: control characters and those that change the
/// direction of a line are written as in JSON, `\u001b`.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let obeyed = |at: usize, c: char| match c {
        '\n' | '\t' => false,
        '\r' => !text[at + 1..].starts_with('\n'),
        c => is_hidden(c),
    };
    if !text.char_indices().any(|(at, c)| obeyed(at, c)) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if obeyed(at, c) {
            out += &format!("\\u{:04x}", c as u32);
        } else {
            out.push(c);
        }
    }
    out.into()
}

/// Whether people see standard error, and see it in colours.
pub(crate) fn in_colours() -> bool {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    io::stderr().is_terminal() && !plain
}

/// How many characters fit in a line of results: those of the terminal, if they go to one, or of
/// the variable `COLUMNS`.
pub(crate) fn width() -> Option<usize> {
    let stated = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let term = ::console::Term::stdout();
    let seen = || term.is_term().then(|| term.size_checked()).flatten();
    stated.or_else(|| seen().map(|(_, columns)| columns.into())).filter(|width| *width > 0)
}

/// Whether somebody watches standard error.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal() && !is_quiet()
}

/// A writer that remembers that its reader has gone away.
pub(crate) struct Pipe<W> {
    inner: W,
    /// Whether it has.
    pub(crate) broken: bool,
}

impl<W: Write> Pipe<W> {
    /// Writes to `inner`.
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, broken: false }
    }

    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        self.broken |= matches!(&result, Err(error) if error.kind() == ErrorKind::BrokenPipe);
        result
    }
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.inner.write(bytes);
        self.note(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.inner.flush();
        self.note(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_do_not_repeat_all_of_what_is_long() {
        let usual = "no file `a b.ron`;\n  there is `c.ron`\n";
        assert_eq!(brief(usual), usual);
        let word = "ä".repeat(1_000_000);
        let cut = brief(&word);
        assert!(cut.len() < 500 && cut.ends_with('…'));
        let between = format!("expected `a`, found `{word}`\nnext");
        assert!(brief(&between).starts_with("expected `a`, found `ää"));
        assert!(brief(&between).ends_with("…\nnext"));
        assert!(brief(&"word ".repeat(1_000_000)).len() < 30_000);
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(clean("a\tä\r\nb\n"), "a\tä\r\nb\n");
        assert_eq!(clean("\u{1b}[2J\rx\u{7}\u{9b}"), "\\u001b[2J\\u000dx\\u0007\\u009b");
        assert_eq!(clean("\u{202e}txt\u{2066}"), "\\u202etxt\\u2066");
    }
}
