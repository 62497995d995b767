//! The page of numbered clauses, the comments that cite it, and the tests of its clauses agree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The number of a clause: `3.5`, or that of a section alone.
type Number = (u32, Option<u32>);

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for path in entries {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !["target", "node_modules", "dist"].contains(&name) {
            sources(&path, found);
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

/// The number at the beginning of a text, `3.5` or `3`, with `between` in place of the point.
fn number(text: &str, between: char) -> Option<Number> {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
    let first = digits(text);
    let section = text[..first].parse().ok()?;
    let clause = text[first..].strip_prefix(between).and_then(|rest| {
        let second = digits(rest);
        rest[..second].parse().ok()
    });
    Some((section, clause))
}

/// The numbers behind each `before` in a text.
fn numbers(text: &str, before: &str, between: char) -> BTreeSet<Number> {
    text.split(before).skip(1).filter_map(|rest| number(rest, between)).collect()
}

#[test]
fn clauses_citations_and_tests_agree() {
    let page = std::fs::read_to_string(root().join("src/semantics.md")).unwrap();
    let clauses = numbers(&page, "\n**", '.');
    assert!(clauses.len() > 35 && clauses.iter().all(|(_, clause)| clause.is_some()));
    let sections: BTreeSet<Number> = clauses.iter().map(|(section, _)| (*section, None)).collect();
    assert_eq!(numbers(&page, "\n# ", '.'), sections, "headings");

    let mut files = Vec::new();
    ["src", "blocks", "tests"].iter().for_each(|folder| sources(&root().join(folder), &mut files));
    let (mut cited, mut tested) = (BTreeSet::new(), BTreeSet::new());
    for file in files.iter().filter(|file| !file.ends_with("clauses.rs")) {
        let text = std::fs::read_to_string(file).unwrap();
        let here = numbers(&text, "semantics ", '.');
        let known = |cited: &Number| clauses.contains(cited) || sections.contains(cited);
        let unknown: Vec<&Number> = here.iter().filter(|cited| !known(cited)).collect();
        assert_eq!(unknown, Vec::<&Number>::new(), "no such clause: {}", file.display());
        cited.extend(here);
        tested.extend(numbers(&text, "fn s", '_').into_iter().filter(|(_, n)| n.is_some()));
    }
    assert!(!cited.is_empty());
    let untested: Vec<&Number> = clauses.difference(&tested).collect();
    assert_eq!(untested, Vec::<&Number>::new(), "clauses without a test");
    let without_clause: Vec<&Number> = tested.difference(&clauses).collect();
    assert_eq!(without_clause, Vec::<&Number>::new(), "tests without a clause");
    // The line below each clause runs its tests.
    assert_eq!(numbers(&page, "`cargo test s", '_'), clauses, "commands");
}
