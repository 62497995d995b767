//! `legwork blocks`: what there is to put into a diagram.

use std::fmt::Write as _;

use legwork_block::{Registry, nearest};
use legwork_study::manual::{self, BuiltIn, Hit, Section, Shelf, Suggestion};
use legwork_study::{Library, reference};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::BlocksArguments;
use super::help;

/// Lists all kinds by shelf, searches their manuals, or explains what has a name.
///
/// # Errors
/// If there is nothing of this name; the message names the nearest.
pub(crate) fn blocks(arguments: &BlocksArguments, library: &Library) -> Result<Answer, Failure> {
    let registry = library.registry();
    if !arguments.search.is_empty() {
        return Ok(search(&arguments.search.join(" "), library));
    }
    match &arguments.name {
        None => Ok(list(&manual::shelves(registry))),
        Some(name) => explain(name, library),
    }
}

/// The manual of what is called `name`: a shelf, a kind of block, a type of parameters, a page of
/// the language.
///
/// # Errors
/// If there is nothing of this name; the message names the nearest.
pub(crate) fn explain(name: &str, library: &Library) -> Result<Answer, Failure> {
    let registry = library.registry();
    if let Some(path) = name.strip_prefix("std:") {
        return file(path, registry);
    }
    if let Some(shelf) = manual::shelf(name, registry) {
        return Ok(list(&[shelf]));
    }
    // A block and a type of parameters may have one name: the colon asks for the type.
    let (kind, ty) = match name.strip_suffix(':') {
        Some(name) => (None, manual::named_type(name, registry)),
        None => (manual::manual(name, registry), manual::named_type(name, registry)),
    };
    let mut texts: Vec<String> = Vec::new();
    match (&kind, &ty) {
        (Some(kind), Some(_)) => {
            texts.push(kind.to_string());
            texts.push(format!(
                "A type of parameters has this name too: `legwork help {name}:` explains it.\n"
            ));
        }
        (kind, ty) => {
            texts.extend(kind.as_ref().map(ToString::to_string));
            texts.extend(ty.as_ref().map(ToString::to_string));
        }
    }
    let json = match (kind, ty) {
        (None, None) => {
            let all = help::pages(library);
            let pages = reference::find(name, &all);
            if pages.is_empty() {
                // Another word for it.
                match &manual::also_called(name, registry)[..] {
                    [] => {}
                    [kind] => return explain(kind, library),
                    _ => return Ok(search(name, library)),
                }
                return match manual::suggest(name, registry) {
                    // Capitals are no reason to ask again.
                    Suggestion::Near(near) if near.eq_ignore_ascii_case(name) => {
                        explain(near, library)
                    }
                    // An option that a page lists, such as a solver.
                    _ => match &reference::with_row(name, &all)[..] {
                        [] => of_choice(name, registry).ok_or_else(|| unknown(name, registry)),
                        pages => Ok(shown_pages(pages)),
                    },
                };
            }
            return Ok(shown_pages(&pages));
        }
        (Some(kind), None) => json!(kind),
        (None, Some(ty)) => json!(ty),
        (Some(kind), Some(ty)) => {
            let mut json = json!(kind);
            json["meanings"] = json!(ty.meanings);
            json
        }
    };
    Ok(Answer::new(Code::Success, json).text(texts.join("\n")))
}

/// The types of parameters that have a choice of this name.
fn of_choice(name: &str, registry: &Registry) -> Option<Answer> {
    let names = manual::types_with_choice(name, registry);
    let types: Vec<_> = names.iter().filter_map(|ty| manual::named_type(ty, registry)).collect();
    let text = |ty: &manual::NamedType| format!("`{name}` is a choice of `{}`.\n\n{ty}", ty.name);
    let texts: Vec<String> = types.iter().map(text).collect();
    (!texts.is_empty()).then(|| {
        Answer::new(Code::Success, json!({ "choice": name, "types": types })).text(texts.join("\n"))
    })
}

/// Some pages of the language manual.
fn shown_pages(pages: &[&reference::Page]) -> Answer {
    let texts: Vec<String> = pages.iter().map(|page| help::shown(page)).collect();
    let constructs: Vec<_> =
        pages.iter().flat_map(|page| page.names()).flat_map(manual::constructs).collect();
    let json = json!({ "pages": pages, "constructs": constructs });
    Answer::new(Code::Success, json).text(texts.join("\n"))
}

/// A built-in file, which explains itself, or the files of a folder, each with its summary.
///
/// # Errors
/// If there is neither; the message names the nearest.
fn file(path: &str, registry: &Registry) -> Result<Answer, Failure> {
    if let Some(text) = registry.find_file(path) {
        let text = String::from_utf8_lossy(text).into_owned();
        let json = json!({ "file": format!("std:{path}"), "text": text });
        return Ok(Answer::new(Code::Success, json).text(text));
    }
    let files = manual::built_in(path, registry);
    if files.is_empty() {
        let hint = match nearest(path, registry.files()) {
            Some(near) => format!("did you mean `std:{near}`?"),
            None => "`legwork blocks std:` lists all".to_owned(),
        };
        return Err(Failure::usage(format!("no file or folder `std:{path}` is built in; {hint}")));
    }
    let width = files.iter().map(|file| file.file.len()).max().unwrap_or(0);
    let mut text = String::new();
    for BuiltIn { file, summary, .. } in &files {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", format!("{file:width$}  {summary}").trim_end());
    }
    text += "\n`legwork blocks std:PATH` prints one.\n";
    Ok(Answer::new(Code::Success, json!({ "files": files })).text(text))
}

/// All kinds of some shelves, each with its summary.
fn list(shelves: &[Shelf]) -> Answer {
    let kinds = || shelves.iter().flat_map(|shelf| &shelf.kinds);
    let width = kinds().map(|listed| listed.kind.len()).max().unwrap_or(0);
    let mut text = String::new();
    for shelf in shelves {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {}", shelf.name, shelf.summary);
        for listed in &shelf.kinds {
            let _ = writeln!(text, "  {:width$}  {}", listed.kind, listed.summary);
        }
        text.push('\n');
    }
    text += "`legwork blocks KIND` prints the manual of one, `legwork blocks --search WORDS` finds \
             kinds,\n`legwork blocks std:` lists the built-in masks, robots and interfaces, \
             `legwork help` explains\nthe language.\n";
    let of = |section| -> Value {
        kinds().filter(|listed| listed.section == section).map(|listed| json!(listed)).collect()
    };
    let json = json!({
        "shelves": shelves,
        "blocks": of(Section::Blocks),
        "resources": of(Section::Robots),
    });
    Answer::new(Code::Success, json).text(text)
}

/// The kinds and files whose manuals hold the words, each with the lines where they are, and the
/// pages of the language that are about them.
fn search(words: &str, library: &Library) -> Answer {
    let registry = library.registry();
    let hits = manual::search(words, registry);
    let all = help::pages(library);
    let pages = reference::search(words, &all);
    let width = hits.iter().map(|hit| hit.kind.len()).max().unwrap_or(0);
    let mut text = String::new();
    for hit in &hits {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:width$}  {}", hit.kind, hit.summary);
        for found in shown(hit) {
            let _ = writeln!(text, "    {}: {}", found.part, found.line);
        }
    }
    for page in &pages {
        let _ = writeln!(text, "help {}: {}", page.name, page.summary());
    }
    if hits.is_empty() && pages.is_empty() {
        text = format!("no manual holds `{words}`");
        if let Suggestion::Near(near) = manual::suggest(words, registry) {
            let _ = write!(text, "; did you mean `{near}`?");
        }
        text.push('\n');
    }
    let pages: Vec<&str> = pages.iter().map(|page| page.name).collect();
    Answer::new(Code::Success, json!({ "hits": hits, "pages": pages })).text(text)
}

/// The matches that the line of a hit does not show by itself.
fn shown(hit: &Hit) -> impl Iterator<Item = &manual::Match> {
    hit.matches.iter().filter(|found| !["kind", "summary"].contains(&found.part))
}

fn unknown(name: &str, registry: &Registry) -> Failure {
    let hint = match manual::suggest(name, registry) {
        Suggestion::Absent(hint) => {
            return Failure::usage(format!("this build has no block `{name}`; {hint}"));
        }
        Suggestion::Near(near) => format!("did you mean `{near}`?"),
        Suggestion::Alike(alike) => format!("there are {}", alike.join(", ")),
        Suggestion::Nothing => format!(
            "`legwork blocks` lists all, `legwork blocks --search {name}` looks into the manuals"
        ),
    };
    Failure::usage(format!("no kind of block `{name}`; {hint}"))
}
