//! `legwork demo`: the diagrams that are built in.

use std::fmt::Write as _;
use std::path::PathBuf;

use legwork_block::{FileId, Registry};
use legwork_diagram::document;
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::{DemoArguments, Overrides, RunArguments};
use super::run;
use super::source::{Demo, demos, find_demo};

/// Lists the built-in diagrams, or runs one.
///
/// # Errors
/// If there is no such diagram.
pub(crate) fn demo(arguments: &DemoArguments, registry: &Registry) -> Result<Answer, Failure> {
    let Some(name) = &arguments.name else { return Ok(list(registry)) };
    let name = name.strip_prefix("demo:").unwrap_or(name);
    let found = find_demo(name, registry)?;
    let arguments = RunArguments {
        file: PathBuf::from(format!("demo:{}", found.name)),
        overrides: Overrides::default(),
        until: None,
        out: arguments.out.clone(),
        no_checks: false,
        resume: None,
        snapshot_at: Vec::new(),
        replay_edits: None,
        pace: None,
        profile: false,
    };
    run::run(&arguments, registry)
}

fn list(registry: &Registry) -> Answer {
    let known = demos(registry);
    let width = known.iter().map(|demo| demo.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    let mut json = Vec::new();
    for demo in &known {
        let doc = doc_of(demo, registry);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:width$}  {}", demo.name, first_line(&doc));
        json.push(json!({ "name": demo.name, "file": format!("demo:{}", demo.name), "doc": doc }));
    }
    if known.is_empty() {
        text = "this program has no built-in diagrams\n".to_owned();
    } else {
        text += "\nRun one with `legwork run demo:NAME`, make it yours with `legwork new FILE --from \
                 demo:NAME`.\n";
    }
    Answer::new(Code::Success, json!({ "demos": Value::Array(json) })).text(text)
}

/// What a diagram says about itself.
fn doc_of(demo: &Demo, registry: &Registry) -> String {
    let bytes = registry.find_file(&demo.path).unwrap_or_default();
    let document = document::parse(FileId::default(), bytes).ok();
    let doc = document.as_ref().and_then(|node| node.field("doc")?.text());
    doc.unwrap_or_default().to_owned()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
