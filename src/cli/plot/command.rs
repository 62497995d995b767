//! `legwork plot`: recorded signals over time or over one another, or the columns of a table.

use std::path::{Path, PathBuf};

use legwork_block::Registry;
use serde_json::{Value, json};

use super::super::answer::{Answer, Code, Failure};
use super::super::arguments::{Logarithmic, PlotArguments};
use super::super::{console, time};
use super::runs::Run;
use super::sheet::Sheet;
use super::signals::{self, Chosen, Window};
use super::{raster, table};

/// What a file's ending asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Svg,
    Png,
}

/// Draws recorded runs, or a table.
///
/// # Errors
/// If what is to be drawn cannot be read or is not there, or the picture cannot be written.
pub(crate) fn plot(arguments: &PlotArguments, registry: &Registry) -> Result<Answer, Failure> {
    let format = format_of(&arguments.output)?;
    let (svg, json) = match arguments.words.split_first() {
        Some((first, rest)) if !is_run(first) => {
            refuse_for_tables(arguments)?;
            table::plot(first, rest, arguments)?
        }
        _ => runs(arguments, registry)?,
    };
    let output = &arguments.output;
    let cannot = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot write `{}`: {why}", output.display()))
    };
    let bytes = match format {
        Format::Svg => svg.into_bytes(),
        Format::Png => raster::png(&svg).map_err(|why| cannot(&why))?,
    };
    std::fs::write(output, bytes).map_err(|error| cannot(&error))?;
    console::say(&format!("wrote {}", output.display()));
    Ok(Answer::new(Code::Success, json))
}

fn format_of(path: &Path) -> Result<Format, Failure> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("svg") => Ok(Format::Svg),
        Some("png") => Ok(Format::Png),
        _ => Err(Failure::usage(format!(
            "expected a file that ends in .svg or .png, found `{}`",
            path.display()
        ))),
    }
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

/// The sheet of recorded runs and what `--json` says of it.
fn runs(arguments: &PlotArguments, registry: &Registry) -> Result<(String, Value), Failure> {
    let (paths, signals) = sorted(&arguments.words);
    let runs = Run::open_all(&paths, registry)?;
    let window = window(arguments.from.as_deref(), arguments.until.as_deref())?;
    let mut chosen: Vec<Chosen> = Vec::new();
    for path in &signals {
        chosen.extend(signals::select(&runs, path)?);
    }
    if signals.is_empty() && arguments.phase.is_empty() {
        let (found, more) = signals::default_choice(&runs);
        if found.is_empty() {
            return Err(Failure::usage("nothing in the recording moves; name a signal"));
        }
        if more > 0 {
            console::say(&format!("{more} more recorded signals move; name those to draw"));
        }
        chosen = found;
    }
    let mut panels = signals::panels(&runs, &chosen, window, arguments.apart)?;
    for pair in arguments.phase.chunks_exact(2) {
        panels.push(signals::phase(&runs, &pair[0], &pair[1], window)?);
    }
    if let Some(label) = &arguments.label {
        let [panel] = panels.as_mut_slice() else {
            let count = panels.len();
            let message = format!("--label is for one panel, and there are {count}");
            return Err(Failure::usage(message));
        };
        panel.left.clone_from(label);
    }
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    let sheet = Sheet {
        title: Some(arguments.title.clone().unwrap_or_else(|| names.join(", "))),
        panels,
        log_x: arguments.log.contains(&Logarithmic::X),
        log_y: arguments.log.contains(&Logarithmic::Y),
        size: arguments.size,
    };
    let svg = sheet.svg().map_err(Failure::usage)?;
    let signal =
        |one: &Chosen| json!({ "path": one.name, "unit": one.unit(), "elements": one.elements() });
    let phases: Vec<&[String]> = arguments.phase.chunks_exact(2).collect();
    let json = json!({
        "plot": arguments.output.display().to_string(),
        "runs": runs.iter().map(|run| run.file.display().to_string()).collect::<Vec<_>>(),
        "signals": chosen.iter().map(signal).collect::<Vec<_>>(),
        "phase": phases,
        "panels": sheet.panels.len(),
    });
    Ok((svg, json))
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
pub(crate) fn window(from: Option<&str>, until: Option<&str>) -> Result<Window, Failure> {
    let seconds = |text: Option<&str>, otherwise: f64| match text {
        Some(text) => time::seconds(text).map_err(Failure::usage),
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
