//! `legwork step`: a diagram run step by step, forth and back.
//!
//! `input` brings lines, [`legwork_study::commands`] makes commands of them, `sessions` carries
//! them out.

mod input;
mod sessions;

use std::path::PathBuf;

use clap::Args;
use legwork_study::commands::Command;
use legwork_study::session::Session;
use legwork_study::{Library, Snapshot, parse_time, seconds};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::Overrides;
use super::summary::counted;
use super::{console, diagnostics, interrupt};
use input::{Input, Line};
use sessions::{FIRST, Sessions};

/// `legwork step`.
///
/// Runs a diagram block by block or step by step, forth and back. Commands come from the terminal,
/// from a script, or from standard input, one a line; `help` lists them.
#[derive(Debug, Args)]
#[command(after_help = "Commands (unambiguous beginnings will do; `help COMMAND` says more):\n  \
    next [N]        the next block, output or update         step [N]   the rest of the major step\n  \
    into [PART]     the first block of a subsystem           out        behind the last block of it\n  \
    until T         the first step at or after T             goto T     the same, forth or back\n  \
    continue        to the next breakpoint or the end        back [N]   N blocks back, exactly\n  \
    break PATH [C]  stop before a block, or when C holds     delete N   remove a breakpoint\n  \
    watch PATH      show a signal at each stop               print X    a signal, or all of a block\n  \
    set PATH VALUE  change a parameter between two steps     where      time, phase, block, its line\n  \
    schedule        the order of execution                   quit       leave; --out keeps a recording\n  \
    snapshot FILE   write the present state                  restore FILE  go on from one\n  \
    fork NAME [C..] a second session, with changes           session N     go on in another\n\n\
    With --out, a session's recording is that of `legwork run`, byte for byte, as far as it went;\n\
    with edits, that of `legwork run --replay-edits`. The first mistake in a script ends the session with exit code 64.")]
pub(crate) struct StepArguments {
    /// The diagram.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Begin at the first step at or after this time, as in `0.4 s`.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) at: Option<String>,
    /// Continue a snapshot, such as that of the step before a fault.
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) resume: Option<PathBuf>,
    /// Take the commands from this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Tell the mistakes of a script, or of standard input, and go on: for programs that drive a
    /// session. The exit code is 64 if there were any.
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Write the recording, run.mcap, to this directory as the session goes on: at every prompt it
    /// holds all rows so far. Without it nothing is written.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Steps a diagram.
///
/// # Errors
/// If a file cannot be read or written, or a script has a mistake.
pub(crate) fn step(arguments: &StepArguments, library: &Library) -> Result<Answer, Failure> {
    let diagram = arguments.overrides.open(&arguments.file, None, library)?;
    let compiled = diagram.compile();
    diagnostics::say_all(&compiled.diagnostics, &compiled.sources);
    let Some(model) = &compiled.model else {
        let json = json!({ "diagram": diagram.name(), "diagnostics": compiled.to_json() });
        return Ok(Answer::new(Code::Diagram, json));
    };
    let at = arguments.at.as_deref().map(parse_time).transpose()?;
    let mut input = Input::open(arguments.script.as_deref())?;
    let mut session = match &arguments.resume {
        Some(file) => model.resume(&Snapshot::read(file)?)?,
        None => model.session(),
    };
    session.cancel_by(interrupt::listen().clone());
    let mut sessions = Sessions::new(session, arguments.out.as_deref())?;
    let begin = match at {
        // A fault on the way is told with the place.
        Some(t) => sessions.perform(&Command::Goto(t))?,
        None => sessions.tell_place(),
    };
    let say = |text: &str| match console::is_json() {
        true => say_aside(text),
        false => console::print(text),
    };
    say(&begin)?;
    let outcome = talk(&mut sessions, &mut input, arguments.keep_going, &say);
    let mut left = Vec::new();
    let mut code = if interrupt::is_final() { interrupt::code() } else { Code::Success };
    for (name, session) in sessions.all_mut() {
        let (one, json) = leave(name, session);
        left.push(json);
        code = code.worse(one);
    }
    if outcome? > 0 {
        code = code.worse(Code::Usage);
    }
    let mut json = left.remove(0);
    if !left.is_empty() {
        json["forks"] = left.into();
    }
    Ok(Answer::new(code, json))
}

/// Closes the recording of a session, says where it is left, and gives what `--json` prints of it.
pub(crate) fn leave(name: &str, session: &mut Session) -> (Code, Value) {
    let is_fork = name != FIRST;
    let mut code = if session.fault().is_some() { Code::Fault } else { Code::Success };
    // What could be written of it can be read.
    let begun = session.recording_file();
    let (recording, is_whole) = match session.close() {
        Ok(file) => (file, true),
        Err(error) => {
            console::say(&format!("error: {error}"));
            code = Code::Unwritten;
            (begun.filter(|file| file.is_file()), false)
        }
    };
    let recording = recording.map(|file| file.display().to_string());
    let diagram = session.diagram().name();
    let (t, steps) = (session.time(), session.simulation().step_count());
    let shown = if is_fork { format!("{diagram}, {name}") } else { diagram.to_owned() };
    console::note(&format!(
        "{shown}: left at t={} in step {steps}, {}; {}",
        seconds(t),
        counted(session.edits().len() as u64, "edit"),
        match &recording {
            Some(file) if is_whole => format!("recording {file}"),
            Some(file) => format!("recording {file}, which is not whole"),
            None if !is_whole => "nothing is kept".to_owned(),
            None => "nothing is kept (--out DIR keeps the recording)".to_owned(),
        },
    ));
    let mut json = json!({
        "diagram": diagram,
        "sim_time_s": t,
        "steps": steps,
        "edits": session.edits(),
        "fault": session.fault().map(ToString::to_string),
        "recording": recording,
    });
    if is_fork {
        json["session"] = name.into();
    }
    (code, json)
}

fn say_aside(text: &str) -> Result<(), Failure> {
    console::note(text.trim_end());
    Ok(())
}

/// Reads commands and carries them out, to the end; the number of mistakes that it went past.
fn talk(
    sessions: &mut Sessions,
    input: &mut Input,
    keep_going: bool,
    say: &dyn Fn(&str) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let (mut last, mut mistakes) = (None::<String>, 0);
    loop {
        // A session that is killed while it waits has its rows on disk.
        sessions.save().or_else(|error| say(&format!("error: {error}\n")))?;
        if interrupt::is_final() {
            return Ok(mistakes);
        }
        let Line { number, text } = match input.next(sessions.current().names())? {
            Some(line) => line,
            None => return Ok(mistakes),
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
            Ok(None) => return Ok(mistakes),
            Ok(Some(answer)) => say(&answer)?,
            Err(message) if input.is_terminal() => say(&format!("{message}\n"))?,
            Err(message) => {
                let told = format!("{}:{number}: {message}", input.name());
                if !keep_going {
                    return Err(Failure::usage(told));
                }
                console::say(&format!("error: {told}"));
                mistakes += 1;
            }
        }
        last = Some(text);
    }
}
