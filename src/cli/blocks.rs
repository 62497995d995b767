//! `legwork blocks`: what there is to put into a diagram.

use std::fmt::Write as _;

use legwork_block::Registry;
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::BlocksArguments;
use super::kind_page::{Page, TypePage, summary_of};

/// Lists all kinds of blocks and resources, or prints the page of one, or of a named type of their
/// parameters.
///
/// # Errors
/// If there is no such kind; the message names the nearest.
pub(crate) fn blocks(arguments: &BlocksArguments, registry: &Registry) -> Result<Answer, Failure> {
    let Some(kind) = &arguments.kind else { return Ok(list(registry)) };
    let page = registry
        .find_block(kind)
        .map(|entry| Page::of_block(entry, registry))
        .or_else(|| registry.find_resource(kind).map(Page::of_resource));
    // A block and a type of parameters may have one name.
    let ty = TypePage::find(kind, registry);
    let (json, text) = match (page, ty) {
        (None, None) => return Err(unknown(kind, registry)),
        (Some(page), None) => (page.to_json(), page.to_text()),
        (None, Some(ty)) => (ty.to_json(), ty.to_text()),
        (Some(page), Some(ty)) => {
            let mut json = page.to_json();
            json["meanings"] = ty.to_json()["meanings"].take();
            (json, format!("{}\n{}", page.to_text(), ty.to_text()))
        }
    };
    Ok(Answer::new(Code::Success, json).text(text))
}

fn list(registry: &Registry) -> Answer {
    let blocks: Vec<(&str, String)> = registry
        .blocks()
        .map(|entry| (entry.kind, summary_of(&(entry.schema)().to_value())))
        .collect();
    let resources: Vec<(&str, String)> = registry
        .resources()
        .map(|entry| (entry.kind, summary_of(&(entry.schema)().to_value())))
        .collect();
    let width = blocks.iter().chain(&resources).map(|(kind, _)| kind.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut section = |heading: &str, kinds: &[(&str, String)]| {
        if kinds.is_empty() {
            return;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{heading}");
        for (kind, summary) in kinds {
            let _ = writeln!(text, "  {kind:width$}  {summary}");
        }
    };
    section("blocks, for `blocks:`", &blocks);
    section("resources, for `robots:`", &resources);
    text += "\n`legwork blocks KIND` prints the manual of one.\n";
    let json = json!({ "blocks": to_json(&blocks), "resources": to_json(&resources) });
    Answer::new(Code::Success, json).text(text)
}

fn to_json(kinds: &[(&str, String)]) -> Value {
    kinds.iter().map(|(kind, summary)| json!({ "kind": kind, "summary": summary })).collect()
}

fn unknown(kind: &str, registry: &Registry) -> Failure {
    let known = || {
        registry
            .blocks()
            .map(|entry| entry.kind)
            .chain(registry.resources().map(|entry| entry.kind))
    };
    if let Some(hint) = registry.why_absent(kind) {
        return Failure::usage(format!("this build has no block `{kind}`; {hint}"));
    }
    let hint = match legwork_block::nearest(kind, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let lower = kind.to_lowercase();
            let alike: Vec<&str> =
                known().filter(|name| name.to_lowercase().contains(&lower)).collect();
            if alike.is_empty() || lower.is_empty() {
                "`legwork blocks` lists all".to_owned()
            } else {
                format!("there are {}", alike.join(", "))
            }
        }
    };
    Failure::usage(format!("no kind of block `{kind}`; {hint}"))
}
