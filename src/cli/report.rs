//! `legwork report`: a recorded run as one page that needs no network and no other file.

mod sections;

use std::path::Path;

use legwork_picture::diagram::{self, Options};
use legwork_picture::page::{self, Page};
use legwork_picture::plot::{self, Error, Request};
use legwork_study::{Library, RUN_JSON, Recorded, files};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::ReportArguments;
use super::{console, recorded};

/// Name of the page in the directory of a run.
const REPORT: &str = "report.html";

/// Writes the page of a run.
///
/// # Errors
/// If there is no recording, it lacks a signal, or the page cannot be written.
pub(crate) fn report(arguments: &ReportArguments, library: &Library) -> Result<Answer, Failure> {
    let run = &recorded::open(&arguments.run, library)?;
    let folder = run.file.parent().unwrap_or(Path::new("")).to_owned();
    let facts = facts(&folder.join(RUN_JSON), run)?;
    let (plots, drawn) = plots(run, &arguments.plot)?;
    let mut page = Page::new(&sections::title(run, facts.as_ref()));
    sections::summary(&mut page, run, facts.as_ref());
    if let Some(facts) = &facts {
        sections::outcome(&mut page, run, facts);
    } else {
        page.note(
            "There is no run.json of this run beside the recording: checks, metrics and times are \
             not known.",
        );
    }
    page.section("Signals", &plots);
    let picture = run.program.as_ref().map(|program| {
        // The page has a heading of its own.
        diagram::svg(program, &Options { title: Some(String::new()), ..Options::default() })
    });
    match &picture {
        Ok(picture) => page.section("Diagram", &page::scroll(picture)),
        Err(why) => page.section("Diagram", &page::paragraph(&format!("Not drawn: {why}."))),
    }
    sections::source(&mut page, run);

    let output = arguments.output.clone().unwrap_or_else(|| folder.join(REPORT));
    files::refuse_input(&output, [&run.file, &folder.join(RUN_JSON)])?;
    files::write(&output, page.html())?;
    console::note(&format!("wrote {}", output.display()));
    let json = json!({
        "report": output.display().to_string(),
        "plots": drawn,
        "picture": picture.is_ok(),
    });
    Ok(Answer::new(Code::Success, json))
}

/// What `run.json` says, if it is there and of this run.
fn facts(path: &Path, run: &Recorded) -> Result<Option<Value>, Failure> {
    let Ok(text) = files::read_text(path) else { return Ok(None) };
    let shown = path.display();
    let facts: Value = serde_json::from_str(&text).map_err(|error| {
        Failure::usage(format!("`{shown}` is not what `legwork run` wrote: {error}"))
    })?;
    let theirs = facts.get("program_hash").and_then(Value::as_str);
    let own = run.recording.metadata().map(|metadata| metadata.program_hash.as_str());
    if theirs != own {
        console::note(&format!("warning: `{shown}` is of another run and is left out"));
        return Ok(None);
    }
    Ok(Some(facts))
}

/// The plot of the signals named, or of what moves; and their paths.
fn plots(run: &Recorded, paths: &[String]) -> Result<(String, Vec<String>), Failure> {
    let request = Request { signals: paths.to_vec(), ..Request::default() };
    let plot = match plot::recordings(&[recorded::to_draw(run)], &request) {
        Err(Error::NothingMoves) => {
            return Ok((page::paragraph("No recorded signal moves."), Vec::new()));
        }
        plot => plot.map_err(|error| Failure::usage(error.to_string()))?,
    };
    let mut out = page::scroll(&plot.svg);
    if plot.more > 0 {
        let rest = format!(
            "{} more recorded signals move; legwork report --plot PATH draws them.",
            plot.more
        );
        out += &page::paragraph(&rest);
    }
    Ok((out, plot.signals.iter().map(|one| one.name().to_owned()).collect()))
}
