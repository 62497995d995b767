//! `legwork new`: a diagram to start from.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

use clap::Args;
use legwork_study::Library;
use serde_json::json;

use super::answer::{Answer, Code, Failure};
use super::console;

/// The diagram that is written without `--from`.
const STARTER: &[u8] = include_bytes!("starter.ron");

/// `legwork new`.
#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// The file to write; one that exists is left alone.
    pub(crate) file: PathBuf,
    /// Start from a diagram that is built in instead, or from a file.
    #[arg(long, value_name = "demo:NAME")]
    pub(crate) from: Option<PathBuf>,
}

/// Writes a new diagram.
///
/// # Errors
/// If the file exists or cannot be written, or what to start from cannot be read.
pub(crate) fn new(arguments: &NewArguments, library: &Library) -> Result<Answer, Failure> {
    let bytes = match &arguments.from {
        None => STARTER.to_vec(),
        Some(from) => library.open(from)?.text().to_vec(),
    };
    let shown = arguments.file.display();
    let mut file = match OpenOptions::new().write(true).create_new(true).open(&arguments.file) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(Failure::usage(format!("`{shown}` exists; it is left as it is")));
        }
        Err(error) => return Err(Failure::usage(format!("cannot create `{shown}`: {error}"))),
    };
    file.write_all(&bytes)
        .map_err(|error| Failure::usage(format!("cannot write `{shown}`: {error}")))?;
    console::note(&format!("wrote {shown}; run it with `legwork run {shown}`"));
    Ok(Answer::new(Code::Success, json!({ "file": shown.to_string() })))
}
