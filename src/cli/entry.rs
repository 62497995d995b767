//! From the process's arguments to its exit code.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use legwork_block::is_hidden;
use legwork_study::files::Roots;
use legwork_study::{Library, Registry};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::CommandLine;
use super::{console, interrupt, recorded};

/// The whole `legwork` command, with the blocks, robots and files that `register` adds.
///
/// A program with blocks of its own is one line long:
///
/// ```no_run
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     legwork::command(|registry| {
///         legwork::blocks::register(registry);
///         // mine::register(registry);
///     })
/// }
/// ```
pub fn command(register: impl FnOnce(&mut Registry)) -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    command_of(&arguments, register).into()
}

/// [`command`] with these arguments, the program's name first; its exit code. It is for a program
/// that is more than this command.
pub fn command_of(arguments: &[OsString], register: impl FnOnce(&mut Registry)) -> u8 {
    let parsed = match CommandLine::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            return misunderstood(&error, arguments).number();
        }
    };
    console::configure(parsed.json, parsed.quiet);
    interrupt::outlast_limits();
    let mut roots = parsed.root.iter().fold(Roots::default(), Roots::and);
    if parsed.trust {
        roots = roots.trusting();
        // Where ROS keeps packages, which robot files name.
        for (variable, inner) in [("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share")] {
            let packages = std::env::var_os(variable).unwrap_or_default();
            roots = std::env::split_paths(&packages)
                .filter(|folder| !folder.as_os_str().is_empty())
                .fold(roots, |roots, folder| roots.and(folder.join(inner)));
        }
    }
    let library = Library::new(register).reading(roots).allowing_memory(parsed.memory);
    let outcome = parsed.command.perform(&library);
    answer(outcome, parsed.json).number()
}

/// Prints what a command came back with.
fn answer(outcome: Result<Answer, Failure>, json: bool) -> Code {
    let (code, printed) = match outcome {
        Ok(answer) if json => (answer.code, print_json(&answer.json)),
        Ok(answer) => (answer.code, console::print(&answer.text)),
        Err(failure) => (failure.code, fail(&failure.message, json)),
    };
    // A command that could read only a part has not done all of its work.
    let code = if recorded::take_damage() { code.worse(Code::Usage) } else { code };
    match printed {
        Ok(()) => code,
        Err(failure) => {
            console::say(&format!("error: {}", failure.message));
            failure.code
        }
    }
}

fn fail(message: &str, json: bool) -> Result<(), Failure> {
    console::say(&format!("error: {message}"));
    if json { print_json(&json!({ "error": console::brief(message) })) } else { Ok(()) }
}

fn print_json(value: &Value) -> Result<(), Failure> {
    console::print(&format!("{value:#}\n"))
}

/// What to say of a negative value that is taken for an option: the parser's own advice would make
/// a file of it.
fn negative(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let is_number = |word: &str| {
        word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    // The parser names the word, up to its first letter.
    let Some(ContextValue::String(refused)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let is_refused = |word: &str| is_number(word) && word.starts_with(refused.as_str());
    let at = arguments.iter().position(|word| word.to_str().is_some_and(is_refused))?;
    let word = arguments[at].to_str().filter(|word| !word.contains(is_hidden))?;
    let option = arguments[..at].last()?.to_str().filter(|option| option.starts_with("--"));
    Some(match option {
        Some(option) if !option.contains(is_hidden) && !option.contains('=') => {
            format!(
                "`{word}` is taken for an option; as the value of {option} it is written \
                     {option}='{word}'"
            )
        }
        _ => {
            format!("`{word}` is no option; a value stands behind its option, as in --set k={word}")
        }
    })
}

/// Help and version are answers; everything else that the parser says is a mistake.
fn misunderstood(error: &clap::Error, arguments: &[OsString]) -> Code {
    let json = arguments.iter().any(|word| word == "--json");
    let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if let Some(text) = negative(error, arguments) {
        console::say(&format!("error: {text}"));
        if json {
            let _ = print_json(&json!({ "error": text }));
        }
        return Code::Usage;
    }
    // The parser repeats words as they are.
    let words = arguments.iter().map(|word| word.to_string_lossy());
    if words.into_iter().any(|word| word.contains(is_hidden)) {
        console::say(error.render().to_string().trim_end());
    } else {
        let _ = error.print();
    }
    if asked {
        return Code::Success;
    }
    if json {
        let text = error.render().to_string();
        let first = text.lines().next().unwrap_or_default();
        let _ = print_json(&json!({ "error": first.strip_prefix("error: ").unwrap_or(first) }));
    }
    Code::Usage
}
