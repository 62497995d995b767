//! `legwork step`: a diagram run step by step, forth and back.
//!
//! `input` brings lines, `command` makes commands of them, `session` obeys; `probe` finds signals
//! and conditions by compiling them into the diagram, `show` writes values.

mod breakpoint;
mod command;
mod edit;
mod help;
mod input;
mod probe;
mod session;
mod show;
mod travel;
mod views;

use std::path::Path;
use std::sync::Arc;

use legwork_block::Registry;
use legwork_diagram::Compiled;
use legwork_diagram::render::to_json;
use legwork_runtime::recording::RecordingError;
use serde_json::json;

use super::answer::{Answer, Code, Failure};
use super::arguments::StepArguments;
use super::edits;
use super::run::{RECORDING, directory, metadata, recorder};
use super::source::{self, Source};
use super::summary::{counted, seconds};
use super::{complaint, console, interrupt, snapshot, time};
use command::Command;
use input::{Input, Line};
use session::{Origin, Session};

/// Steps a diagram.
///
/// # Errors
/// If a file cannot be read or written, or a script has a mistake.
pub(crate) fn step(
    arguments: &StepArguments,
    json: bool,
    registry: &Registry,
) -> Result<Answer, Failure> {
    let source = Source::open(&arguments.file, registry)?;
    let options = source::options(&arguments.overrides, None)?;
    let (compiled, files) = source.compile_and_keep(&options, registry);
    let Compiled { program, diagnostics, sources, .. } = compiled;
    complaint::say_all(&diagnostics, &sources);
    let Some(program) = program else {
        let diagnostics = to_json(&diagnostics, &sources);
        let json = json!({ "diagram": source.name, "diagnostics": diagnostics });
        return Ok(Answer::new(Code::Diagram, json));
    };
    let metadata = metadata(&source, &options, &program, &files);
    let directory = directory(arguments.out.as_deref(), &program);
    let at = arguments.at.as_deref().map(time::seconds).transpose().map_err(Failure::usage)?;
    let mut input = Input::open(arguments.script.as_deref())?;
    interrupt::listen();

    let program = Arc::new(program);
    let history = match &arguments.resume {
        Some(file) => snapshot::history(&program, file)?,
        None => session::fresh(&program),
    };
    let origin = Origin { source, options, registry, metadata };
    let mut session = Session::new(origin, history, sources);
    if arguments.resume.is_some() {
        session.note_resumed();
    }
    if let Some(t) = at {
        // A fault on the way is told with the place.
        let _ = session.obey(&Command::Goto(t));
    } else {
        session.tell_place();
    }
    let say = |text: &str| if json { say_aside(text) } else { console::print(text) };
    say(&session.take_text())?;
    let outcome = talk(&mut session, &mut input, &say);
    let recording = write_recording(&session, &directory)?;
    let simulation = session.history().simulation();
    let (t, steps) = (simulation.time(), simulation.step_count());
    console::say(&format!(
        "{}: left at t={} in step {steps}, {}; recording {}",
        session.origin().source.name,
        seconds(t),
        counted(session.edits().len() as u64, "edit"),
        recording.display(),
    ));
    outcome?;
    let fault = session.history().fault();
    let code = if fault.is_some() { Code::Fault } else { Code::Success };
    Ok(Answer::new(
        code,
        json!({
            "diagram": session.origin().source.name,
            "sim_time_s": t,
            "steps": steps,
            "edits": session.edits(),
            "fault": fault.map(ToString::to_string),
            "recording": recording.display().to_string(),
        }),
    ))
}

fn say_aside(text: &str) -> Result<(), Failure> {
    console::say(text.trim_end());
    Ok(())
}

/// Reads commands and obeys, to the end.
fn talk(
    session: &mut Session<'_>,
    input: &mut Input,
    say: &dyn Fn(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut last: Option<String> = None;
    loop {
        input.offer(session.names());
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
        interrupt::forget();
        let outcome = Command::parse(&text).and_then(|command| {
            if command == Command::Quit {
                return Ok(true);
            }
            session.obey(&command).map(|()| false)
        });
        say(&session.take_text())?;
        match outcome {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(message) if input.is_terminal() => say(&format!("{message}\n"))?,
            Err(message) => {
                return Err(Failure::usage(format!("{}:{number}: {message}", input.name())));
            }
        }
        last = Some(text);
    }
}

/// Writes what the session recorded.
fn write_recording(session: &Session<'_>, directory: &Path) -> Result<std::path::PathBuf, Failure> {
    let usage = |error: RecordingError| Failure::usage(error.to_string());
    let mut metadata = session.origin().metadata.clone();
    edits::note(session.edits(), &mut metadata);
    let simulation = session.history().simulation();
    let mut recorder = recorder(directory, simulation.program(), &metadata)?;
    if let Some(journal) = simulation.observer().journal() {
        journal.write_to(&mut recorder).map_err(usage)?;
    }
    recorder.finish().map_err(usage)?;
    Ok(directory.join(RECORDING))
}
