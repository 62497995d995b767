//! `legwork demo`: the diagrams that are built in.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use legwork_study::Library;
use serde_json::json;

use super::answer::{Answer, Code, Failure};
use super::arguments::Overrides;
use super::run::{self, RunArguments};

/// `legwork demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// The diagram to run.
    pub(crate) name: Option<String>,
    /// Directory for run.mcap and run.json [default: runs/<name of the diagram>, with a number
    /// where that holds another file's run].
    #[arg(long, value_name = "DIR", requires = "name")]
    pub(crate) out: Option<PathBuf>,
}

/// Lists the built-in diagrams, or runs one.
///
/// # Errors
/// If there is no such diagram.
pub(crate) fn demo(arguments: &DemoArguments, library: &Library) -> Result<Answer, Failure> {
    let Some(name) = &arguments.name else { return Ok(list(library)) };
    let name = name.strip_prefix("demo:").unwrap_or(name);
    let arguments = RunArguments {
        file: PathBuf::from(format!("demo:{name}")),
        overrides: Overrides::default(),
        until: None,
        out: arguments.out.clone(),
        no_checks: false,
        resume: None,
        snapshot_at: Vec::new(),
        replay_edits: None,
        pace: None,
        no_embed: false,
        scene: false,
        profile: false,
    };
    run::run(&arguments, library)
}

fn list(library: &Library) -> Answer {
    let known = library.demos();
    let width = known.iter().map(|demo| demo.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for demo in &known {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:width$}  {}", demo.name, first_line(&demo.doc));
    }
    if known.is_empty() {
        text = "this program has no built-in diagrams\n".to_owned();
    } else {
        text += "\nRun one with `legwork run demo:NAME`, make it yours with \
                 `legwork new FILE --from demo:NAME`.\n";
    }
    Answer::new(Code::Success, json!({ "demos": known })).text(text)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
