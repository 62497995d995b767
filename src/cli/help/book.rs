//! The reference as a book: Markdown that mdbook turns into a site.

use std::fmt::Write as _;
use std::path::Path;

use legwork_picture::diagram::{self, Options};
use legwork_study::reference::{Example, Page, Part};
use legwork_study::{Library, files, manual};
use serde_json::json;

use super::super::answer::{Answer, Code, Failure};
use super::super::console;

/// How a book of ours begins, so that it may be replaced.
const CONFIGURATION: &str = "# Written by `legwork help --book`.
[book]
title = \"Legwork\"
language = \"en\"
src = \"src\"

[output.html]
default-theme = \"light\"
";

/// Blocks up to which a picture shows the inside of masks and copies.
const MOST_OPENED: usize = 24;

/// Writes the book.
///
/// # Errors
/// If something else is in the folder, or it cannot be written.
pub(super) fn write(folder: &Path, library: &Library) -> Result<Answer, Failure> {
    refuse_other(folder)?;
    let pages = super::pages(library);
    let source = folder.join("src");
    std::fs::create_dir_all(&source).map_err(|error| files::cannot_write(&source, &error))?;
    let mut summary = "# Summary\n\n".to_owned();
    for page in &pages {
        // Writing to a string cannot fail.
        let _ = writeln!(summary, "- [{}]({}.md)", page.title, page.name);
        files::write(&source.join(format!("{}.md", page.name)), text(page, &pages, library))?;
        for part in &page.parts {
            let Part::Example(example) = part else { continue };
            if let Some(picture) = picture(example, library) {
                files::write(&source.join(picture_name(example)), picture)?;
            }
        }
    }
    summary += "\n# The blocks\n\n";
    let manuals = manual::manuals(library.registry());
    for shelf in manual::shelves(library.registry()) {
        let name = format!("blocks_{}.md", shelf.name);
        let mut text = format!("# Blocks: {}\n\n{}\n", shelf.name, shelf.summary);
        for manual in manuals.iter().filter(|manual| manual.shelf == shelf.name) {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n## {}\n\n````text\n{manual}````\n", manual.kind);
        }
        let _ = writeln!(summary, "- [{}]({name})", shelf.name);
        files::write(&source.join(name), text)?;
    }
    files::write(&source.join("SUMMARY.md"), summary)?;
    files::write(&folder.join("book.toml"), CONFIGURATION)?;
    let shown = folder.display();
    console::note(&format!("wrote the book {shown}; `mdbook build {shown}` makes it a site"));
    let json = json!({ "book": shown.to_string(), "pages": pages.len() });
    Ok(Answer::new(Code::Success, json))
}

/// Refuses a folder in which there is something, unless it is a book that was written here.
fn refuse_other(folder: &Path) -> Result<(), Failure> {
    let Ok(mut entries) = std::fs::read_dir(folder) else { return Ok(()) };
    let first = CONFIGURATION.lines().next().unwrap_or_default();
    let is_ours = std::fs::read_to_string(folder.join("book.toml"))
        .is_ok_and(|text| text.lines().next() == Some(first));
    if entries.next().is_none() || is_ours {
        return Ok(());
    }
    let shown = folder.display();
    Err(Failure::usage(format!("there is something else in `{shown}`; name an empty directory")))
}

/// A page with pictures behind its diagrams, and with links to other pages.
fn text(page: &Page, pages: &[Page], library: &Library) -> String {
    let mut text = String::new();
    for part in &page.parts {
        text += &part.to_string();
        if let Part::Example(example) = part
            && picture(example, library).is_some()
        {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\n![The diagram]({})", picture_name(example));
        }
    }
    for other in pages {
        let (command, name) = (format!("`legwork help {}`", other.name), other.name);
        text = text.replace(&command, &format!("[{}]({name}.md)", other.title));
    }
    text
}

fn picture_name(example: &Example) -> String {
    format!("{}.svg", example.file.trim_end_matches(".ron"))
}

/// The drawing of an example, if it is a diagram.
fn picture(example: &Example, library: &Library) -> Option<String> {
    let page = example.file.strip_suffix(".ron")?;
    let compiled = library.open(format!("help:{page}")).ok()?.compile();
    let model = compiled.model.as_ref()?;
    let program = model.program();
    let depth = (program.nodes.len() > MOST_OPENED).then_some(0);
    Some(diagram::svg(program, &Options { depth, ..Options::default() }))
}
