//! `legwork plot`: recorded signals over time or over one another, or the columns of a table.

use std::path::{Path, PathBuf};

use legwork_picture::plot::{self, Error, Look, Plot, Recorded, Request, Signal, Table, Window};
use legwork_study::{Library, files, parse_time, recording_at};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::{Logarithmic, PlotArguments};
use super::{console, picture, recorded};

/// Draws recorded runs, or a table.
///
/// # Errors
/// If what is to be drawn cannot be read or is not there, or the picture cannot be written.
pub(crate) fn plot(arguments: &PlotArguments, library: &Library) -> Result<Answer, Failure> {
    let output = &arguments.output;
    if !["svg", "png"].contains(&picture::ending(output)?) {
        let shown = output.display();
        let message = format!("expected a file that ends in .svg or .png, found `{shown}`");
        return Err(Failure::usage(message));
    }
    let words = arguments.words.iter();
    let inputs: Vec<PathBuf> =
        words.map(|word| recording_at(word).unwrap_or_else(|_| word.clone())).collect();
    let (svg, json) = match arguments.words.split_first() {
        Some((first, rest)) if !is_run(first) => {
            refuse_for_tables(arguments)?;
            table(first, rest, arguments)?
        }
        _ => runs(arguments, library)?,
    };
    picture::write(output, svg, &inputs)?;
    Ok(Answer::new(Code::Success, json))
}

/// Whether the first word means a run: a directory, a recording, or neither, as a slip would.
fn is_run(word: &Path) -> bool {
    word.is_dir() || !word.is_file() && word.extension().is_none() || is_recording(word)
}

fn is_recording(word: &Path) -> bool {
    word.extension().is_some_and(|ending| ending == "mcap")
}

fn refuse_for_tables(arguments: &PlotArguments) -> Result<(), Failure> {
    let given = [
        (arguments.from.is_some(), "--from"),
        (arguments.until.is_some(), "--until"),
        (!arguments.phase.is_empty(), "--phase"),
        (arguments.apart, "--apart"),
    ];
    match given.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => {
            Err(Failure::usage(format!("{option} is for recorded runs, not for tables")))
        }
        None => Ok(()),
    }
}

/// How the command line wants a plot to look, under this title if it names none.
fn look(arguments: &PlotArguments, title: String) -> Look {
    Look {
        title: Some(arguments.title.clone().unwrap_or(title)),
        label: arguments.label.clone(),
        log_x: arguments.log.contains(&Logarithmic::X),
        log_y: arguments.log.contains(&Logarithmic::Y),
        size: arguments.size,
    }
}

fn failure(error: &Error) -> Failure {
    Failure::usage(error.to_string())
}

/// The plot of recorded runs and what `--json` says of it.
fn runs(arguments: &PlotArguments, library: &Library) -> Result<(String, Value), Failure> {
    let (paths, signals) = sorted(&arguments.words);
    let runs = recorded::open_all(&paths, library)?;
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    let pair = |pair: &[String]| (pair[0].clone(), pair[1].clone());
    let request = Request {
        signals,
        phase: arguments.phase.chunks_exact(2).map(pair).collect(),
        window: window(arguments.from.as_deref(), arguments.until.as_deref())?,
        apart: arguments.apart,
        look: look(arguments, names.join(", ")),
    };
    let recorded: Vec<Recorded<'_>> = runs.iter().map(recorded::to_draw).collect();
    let Plot { svg, signals, panels, more } =
        plot::recordings(&recorded, &request).map_err(|error| failure(&error))?;
    if more > 0 {
        console::note(&format!("{more} more recorded signals move; name those to draw"));
    }
    let signal = |one: &Signal| {
        let (path, unit) = (one.name(), one.unit());
        json!({ "path": path, "unit": unit, "elements": one.elements() })
    };
    let json = json!({
        "plot": arguments.output.display().to_string(),
        "runs": runs.iter().map(|run| run.file.display().to_string()).collect::<Vec<_>>(),
        "signals": signals.iter().map(signal).collect::<Vec<_>>(),
        "phase": request.phase,
        "panels": panels,
    });
    Ok((svg, json))
}

/// The plot of a table of comma-separated values and what `--json` says of it.
fn table(
    file: &Path,
    columns: &[PathBuf],
    arguments: &PlotArguments,
) -> Result<(String, Value), Failure> {
    let shown = file.display();
    let cannot =
        |why: &dyn std::fmt::Display| Failure::usage(format!("cannot read `{shown}`: {why}"));
    let bytes = files::read(file, files::SIZE_LIMIT).map_err(|error| cannot(&error))?;
    let table = Table::parse(&bytes).map_err(|error| cannot(&error))?;
    if let Some(warning) = table.warning() {
        console::note(&format!("warning: `{shown}`: {warning}"));
    }
    let columns: Vec<String> = columns.iter().map(|name| name.display().to_string()).collect();
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let look = look(arguments, stem.unwrap_or_default());
    let drawn = plot::table(&table, &columns, &look).map_err(|error| match error {
        Error::NotANumber { line, column, found } => Failure::usage(format!(
            "{shown}:{line}: expected a number in the column `{column}`, found `{found}`"
        )),
        Error::NoNumbers => {
            Failure::usage(format!("no column of `{shown}` but its first has numbers"))
        }
        other => failure(&other),
    })?;
    let output = arguments.output.display().to_string();
    let json = json!({ "plot": output, "series": drawn.series, "rows": table.row_count() });
    Ok((drawn.svg, json))
}

/// Runs, and paths of signals. Behind the first word a run is a directory, a file, or has a slash.
fn sorted(words: &[PathBuf]) -> (Vec<PathBuf>, Vec<String>) {
    let (mut runs, mut signals) = (Vec::new(), Vec::new());
    for (i, word) in words.iter().enumerate() {
        let text = word.to_str();
        let has_slash = text.is_none_or(|text| text.contains(['/', '\\']));
        if i == 0 || is_recording(word) || word.exists() || has_slash {
            runs.push(word.clone());
        } else if let Some(text) = text {
            signals.push(text.to_owned());
        }
    }
    (runs, signals)
}

/// The times between two texts.
fn window(from: Option<&str>, until: Option<&str>) -> Result<Window, Failure> {
    let seconds = |text: Option<&str>, otherwise: f64| match text {
        Some(text) => parse_time(text).map_err(Failure::from),
        None => Ok(otherwise),
    };
    let window = Window {
        from: seconds(from, Window::ALL.from)?,
        until: seconds(until, Window::ALL.until)?,
    };
    if window.from >= window.until {
        return Err(Failure::usage(format!(
            "expected --from before --until, found {} s and {} s",
            window.from, window.until
        )));
    }
    Ok(window)
}
