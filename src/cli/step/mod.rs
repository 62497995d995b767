//! `legwork step`: a diagram run step by step, forth and back.
//!
//! `input` brings lines, `command` makes commands of them, `sessions` carries them out, `show` writes
//! the answers.

mod command;
mod help;
mod input;
mod sessions;
mod show;

use std::path::Path;

use legwork_study::session::Session;
use legwork_study::{Library, Snapshot, parse_time, seconds};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::StepArguments;
use super::run::directory;
use super::summary::counted;
use super::{complaint, console, interrupt};
use command::Command;
use input::{Input, Line};
use sessions::{FIRST, Sessions};

/// Steps a diagram.
///
/// # Errors
/// If a file cannot be read or written, or a script has a mistake.
pub(crate) fn step(
    arguments: &StepArguments,
    json: bool,
    library: &Library,
) -> Result<Answer, Failure> {
    let diagram = arguments.overrides.open(&arguments.file, None, library)?;
    let compiled = diagram.compile();
    complaint::say_all(&compiled.diagnostics, &compiled.sources);
    let Some(model) = &compiled.model else {
        let json = json!({ "diagram": diagram.name(), "diagnostics": compiled.to_json() });
        return Ok(Answer::new(Code::Diagram, json));
    };
    let directory = directory(arguments.out.as_deref(), model);
    let at = arguments.at.as_deref().map(parse_time).transpose()?;
    let mut input = Input::open(arguments.script.as_deref())?;
    let mut session = match &arguments.resume {
        Some(file) => model.resume(&Snapshot::read(file)?)?,
        None => model.session(),
    };
    session.cancel_by(interrupt::listen().clone());
    let mut sessions = Sessions::new(session);
    let begin = match at {
        // A fault on the way is told with the place.
        Some(t) => sessions.perform(&Command::Goto(t))?,
        None => sessions.tell_place(),
    };
    let say = |text: &str| if json { say_aside(text) } else { console::print(text) };
    say(&begin)?;
    let outcome = talk(&mut sessions, &mut input, &say);
    let mut left = Vec::new();
    let mut code = Code::Success;
    for (name, session) in sessions.all() {
        left.push(leave(name, session, &directory)?);
        if session.fault().is_some() {
            code = Code::Fault;
        }
    }
    outcome?;
    let mut json = left.remove(0);
    if !left.is_empty() {
        json["forks"] = left.into();
    }
    Ok(Answer::new(code, json))
}

/// Writes what a session recorded, says where it is left, and gives what `--json` prints of it. A
/// forked session has a directory of its name.
fn leave(name: &str, session: &Session, directory: &Path) -> Result<Value, Failure> {
    let is_fork = name != FIRST;
    let recording = match is_fork {
        false => session.record_into(directory)?,
        true => session.record_into(&directory.join(name))?,
    };
    let diagram = session.diagram().name();
    let (t, steps) = (session.time(), session.simulation().step_count());
    let shown = if is_fork { format!("{diagram}, {name}") } else { diagram.to_owned() };
    console::say(&format!(
        "{shown}: left at t={} in step {steps}, {}; recording {}",
        seconds(t),
        counted(session.edits().len() as u64, "edit"),
        recording.display(),
    ));
    let mut json = json!({
        "diagram": diagram,
        "sim_time_s": t,
        "steps": steps,
        "edits": session.edits(),
        "fault": session.fault().map(ToString::to_string),
        "recording": recording.display().to_string(),
    });
    if is_fork {
        json["session"] = name.into();
    }
    Ok(json)
}

fn say_aside(text: &str) -> Result<(), Failure> {
    console::say(text.trim_end());
    Ok(())
}

/// Reads commands and carries them out, to the end.
fn talk(
    sessions: &mut Sessions,
    input: &mut Input,
    say: &dyn Fn(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut last: Option<String> = None;
    loop {
        input.offer(sessions.current().names());
        let Line { number, text } = match input.next()? {
            Some(line) => line,
            None => return Ok(()),
        };
        let text = text.trim().to_owned();
        if text.starts_with('#') {
            continue;
        }
        let text = match (text.is_empty(), input.is_terminal(), &last) {
            (false, ..) => text,
            (true, true, Some(last)) => last.clone(),
            (true, ..) => continue,
        };
        if !input.is_terminal() {
            say(&format!("> {text}\n"))?;
        }
        interrupt::flag().reset();
        let outcome = Command::parse(&text).and_then(|command| match command {
            Command::Quit => Ok(None),
            _ => sessions.perform(&command).map(Some).map_err(|error| error.to_string()),
        });
        match outcome {
            Ok(None) => return Ok(()),
            Ok(Some(answer)) => say(&answer)?,
            Err(message) if input.is_terminal() => say(&format!("{message}\n"))?,
            Err(message) => {
                return Err(Failure::usage(format!("{}:{number}: {message}", input.name())));
            }
        }
        last = Some(text);
    }
}
