//! Mistakes that people make: each gets a message with its place, its cause and a remedy.
//!
//! The table is `tests/data/mistakes.txt`, by paragraphs:
//!
//! ```text
//! what somebody did
//! in quadruped/stand.ron
//! - the text that is found in it, exactly once
//! + what replaces it
//! run check quadruped/stand.ron --set kp=3
//! > a text that the command says
//! ```
//!
//! The command works in a copy of `diagrams`; without `run` it is `check` of the file. In place of
//! `-` and `+`, lines with `|` are a whole file of that name.

use std::fmt::Write as _;
use std::path::Path;

use crate::support::{folder, legwork, repository};

/// A mistake and what is to be said of it.
#[derive(Default)]
struct Mistake {
    what: String,
    file: String,
    /// Text and replacement.
    edits: Vec<(String, String)>,
    /// A whole file.
    text: String,
    command: Vec<String>,
    said: Vec<String>,
}

fn parse(text: &str) -> Vec<Mistake> {
    let paragraphs = text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty());
    paragraphs.map(one).collect()
}

fn one(paragraph: &str) -> Mistake {
    let mut lines = paragraph.trim_matches('\n').lines();
    let mut mistake = Mistake::default();
    lines.next().unwrap_or_default().clone_into(&mut mistake.what);
    for line in lines {
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        match mark {
            "in" => rest.clone_into(&mut mistake.file),
            "-" => mistake.edits.push((rest.to_owned(), String::new())),
            "+" => match mistake.edits.last_mut() {
                Some((_, by)) if by.is_empty() => rest.clone_into(by),
                Some((_, by)) => *by = format!("{by}\n{rest}"),
                None => panic!("`{}`: + without -", mistake.what),
            },
            "|" => mistake.text += &format!("{rest}\n"),
            "run" => mistake.command = rest.split(' ').map(str::to_owned).collect(),
            ">" => mistake.said.push(rest.to_owned()),
            _ => panic!("`{}`: {line}", mistake.what),
        }
    }
    if mistake.command.is_empty() {
        mistake.command = vec!["check".to_owned(), mistake.file.clone()];
    }
    mistake
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in std::fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("a file");
        }
    }
}

#[test]
fn every_mistake_is_told_with_place_cause_and_remedy() {
    let table = repository().join("tests/data/mistakes.txt");
    let mistakes = parse(&std::fs::read_to_string(table).expect("the table"));
    assert!(mistakes.len() >= 150, "{}", mistakes.len());
    let folder = folder();
    let root = folder.path();
    copy(&repository().join("diagrams"), root);
    let mut wrong = String::new();
    for mistake in &mistakes {
        let Mistake { what, file, edits, text, command, said } = mistake;
        let path = root.join(file);
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        let mut edited = if edits.is_empty() { text.clone() } else { before.clone() };
        for (find, replace) in edits {
            assert_eq!(edited.matches(find).count(), 1, "`{what}`: {find}");
            edited = edited.replace(find, replace);
        }
        if !file.is_empty() && !edited.is_empty() {
            std::fs::write(&path, &edited).expect("a file");
        }
        let done = legwork(root, command);
        if !file.is_empty() && !before.is_empty() {
            std::fs::write(&path, &before).expect("a file");
        }
        let all = done.said();
        let missing: Vec<&String> = said.iter().filter(|text| !all.contains(*text)).collect();
        if !missing.is_empty() || said.len() < 2 {
            let _ = writeln!(wrong, "== {what}: {missing:?} of\n{all}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Codes that neither the table nor `tests/data/errors` provokes, each with the reason.
const NOT_PROVOKED: [(&str, &str); 2] = [
    ("absent-block-kind", "needs a build without a feature; a unit test of `blocks` has it"),
    ("not-ron", "both readers agree on all files that are known"),
];

#[test]
fn every_code_is_provoked() {
    let data = repository().join("tests/data");
    let mut texts = std::fs::read_to_string(data.join("mistakes.txt")).expect("the table");
    for entry in std::fs::read_dir(data.join("errors")).expect("a directory") {
        let bytes = std::fs::read(entry.expect("an entry").path()).unwrap_or_default();
        texts += &String::from_utf8_lossy(&bytes);
    }
    for code in legwork_block::code::ALL {
        let is_provoked = texts.contains(&format!("[{code}]"));
        let is_excepted = NOT_PROVOKED.iter().any(|(name, _)| *name == code.name());
        assert!(is_provoked != is_excepted, "{code}: provoked {is_provoked}");
    }
}
