//! `legwork export`: recorded signals as a table.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use legwork_study::files::{self, Output};
use legwork_study::recording::{Ending, Join, Recording, export_csv};
use legwork_study::{Error, ErrorKind, Library, recording, recording_at};
use serde_json::json;

use super::answer::{Answer, Code, Failure};
use super::console::{self, Pipe};
use super::summary::counted;

/// `legwork export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// A recording, or the directory of its run.
    pub(crate) run: PathBuf,
    /// A recorded signal, as in `body.state`; all of them if none is named.
    #[arg(long, value_name = "TOPIC")]
    pub(crate) topic: Vec<String>,
    /// Where to write; standard output without it.
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
}

/// Exports a recording.
///
/// # Errors
/// If there is no recording, it lacks a topic, or the table cannot be written.
pub(crate) fn export(arguments: &ExportArguments, _: &Library) -> Result<Answer, Failure> {
    if console::is_json() && arguments.output.is_none() {
        let message = "--json and the table would share standard output; name a file with -o";
        return Err(Failure::usage(message));
    }
    let path = recording_at(&arguments.run)?;
    if let Some(output) = &arguments.output {
        files::refuse_input(output, [&path])?;
    }
    let recording = recording(&path)?;
    if recording.ending() != Ending::Complete {
        let message = format!("warning: `{}` is cut off; its whole part follows", path.display());
        console::note(&message);
    }
    let topics: Vec<&str> = if arguments.topic.is_empty() {
        recording.channels().map(|channel| channel.topic.as_str()).collect()
    } else {
        arguments.topic.iter().map(String::as_str).collect()
    };
    match &arguments.output {
        None => to_standard_output(&recording, &topics)?,
        Some(output) => to_file(&recording, &topics, output)?,
    }
    let output = arguments.output.as_ref().map(|output| output.display().to_string());
    let json =
        json!({ "recording": path.display().to_string(), "topics": topics, "output": output });
    Ok(Answer::new(Code::Success, json))
}

fn to_standard_output(recording: &Recording, topics: &[&str]) -> Result<(), Failure> {
    let mut out = Pipe::new(BufWriter::new(std::io::stdout().lock()));
    let written = export_csv(recording, topics, Join::Outer, &mut out);
    match written.map(|()| out.flush()) {
        // A reader that has seen enough, as in `| head`, is no mistake.
        _ if out.broken => Ok(()),
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Failure::usage(format!("cannot write to standard output: {error}"))),
        Err(error) => Err(Failure::usage(error.to_string())),
    }
}

fn to_file(recording: &Recording, topics: &[&str], output: &Path) -> Result<(), Failure> {
    let cannot = |error| files::cannot_write(output, &error);
    // Asked for before the file is made, so that a slip leaves no empty file.
    for topic in topics {
        recording.series(topic).map_err(|error| Failure::usage(error.to_string()))?;
    }
    let mut out = Output::create(output).map_err(cannot)?;
    let written = export_csv(recording, topics, Join::Outer, &mut out);
    written.map_err(|error| Error::new(ErrorKind::Output, error.to_string()))?;
    out.publish().map_err(cannot)?;
    console::note(&format!(
        "wrote {} of {}",
        output.display(),
        counted(topics.len() as u64, "signal")
    ));
    Ok(())
}
