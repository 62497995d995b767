//! `legwork export`: recorded signals as a table.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use legwork_study::export::{self, Export, Format};
use legwork_study::files::{self, Output};
use legwork_study::{Error, ErrorKind, Library};
use serde_json::json;

use super::answer::{Answer, Code, Failure};
use super::console::{self, Pipe};
use super::recorded;
use super::summary::counted;

/// `legwork export`.
///
/// A row for each time at which one of the signals has a row, several where events give it several;
/// a column for each number under its path, with its unit and, where it has one, the name of its
/// joint. `legwork plot` and `legwork compare` read a table of comma-separated values as a run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  legwork export runs/stand -o stand.csv\n  \
                  legwork export runs/stand body.state.base.position[2] pd.tau | head\n  \
                  legwork export runs/stand -o stand.npz     # numpy.load('stand.npz')['pd.tau']")]
pub(crate) struct ExportArguments {
    /// A recording, or the directory of its run.
    pub(crate) run: PathBuf,
    /// Recorded signals, parts or elements of them, as in `body.state.base` or `pd.tau[2]`; all if
    /// none is named.
    #[arg(value_name = "PATH")]
    pub(crate) signals: Vec<String>,
    /// Where to write; the ending says what: .csv, .npz (arrays of NumPy), or .parquet if legwork
    /// was built with the feature `parquet`. Without it, or with `-`, comma-separated values go to
    /// standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Exports a recording.
///
/// # Errors
/// If there is no recording, a path names nothing, or the table cannot be written.
pub(crate) fn export(arguments: &ExportArguments, library: &Library) -> Result<Answer, Failure> {
    let output = arguments.output.as_deref().filter(|output| *output != Path::new("-"));
    if console::is_json() && output.is_none() {
        let message = "--json and the table would share standard output; name a file with -o";
        return Err(Failure::usage(message));
    }
    let format = output.map_or(Ok(Format::Csv), Format::of)?;
    let run = recorded::open(&arguments.run, library)?;
    if let Some(output) = output {
        files::refuse_input(output, [&run.file])?;
    }
    let export = export::export(&run, &arguments.signals)?;
    match output {
        None => to_standard_output(&export)?,
        Some(output) => to_file(&export, format, output)?,
    }
    let json = json!({
        "recording": run.file.display().to_string(),
        "signals": export.names(),
        "rows": export.row_count(),
        "output": output.map(|output| output.display().to_string()),
    });
    Ok(Answer::new(Code::Success, json))
}

fn to_standard_output(export: &Export<'_>) -> Result<(), Failure> {
    let mut out = Pipe::new(BufWriter::new(std::io::stdout()));
    let written = export.write(Format::Csv, &mut out).and_then(|()| out.flush());
    match written {
        // A reader that has seen enough, as in `| head`, is no mistake.
        Err(error) if !out.broken => {
            let message = format!("cannot write to standard output: {error}");
            Err(Failure { code: Code::Unwritten, message })
        }
        _ => Ok(()),
    }
}

fn to_file(export: &Export<'_>, format: Format, output: &Path) -> Result<(), Failure> {
    let cannot = |error| files::cannot_write(output, &error);
    let mut out = Output::create(output).map_err(cannot)?;
    let written = export.write(format, &mut out).and_then(|()| out.publish());
    // The file could be made: what fails now is no slip of the command line.
    let failed = |error| Error::new(ErrorKind::Output, cannot(error).message());
    written.map_err(failed)?;
    console::note(&format!(
        "wrote {} of {}",
        output.display(),
        counted(export.names().len() as u64, "signal")
    ));
    Ok(())
}
