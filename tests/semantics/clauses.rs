//! The page of the execution rules, `src/semantics.md`, against the code: each clause that is cited
//! is on the page, and each clause has its tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Folders with comments and tests that cite clauses.
const FOLDERS: [&str; 3] = ["src", "blocks", "tests"];

/// The page.
#[derive(Default)]
struct Page {
    /// Numbers of chapters: `3`.
    chapters: BTreeSet<String>,
    /// Numbers of clauses, `3.7`, with file and name of each test.
    clauses: BTreeMap<String, Vec<(String, String)>>,
}

impl Page {
    fn read() -> Self {
        let mut page = Self::default();
        let (mut clause, mut file) = (String::new(), String::new());
        for line in read("src/semantics.md").lines() {
            let number = |title: &str| title.split(' ').next().unwrap_or_default().to_owned();
            if let Some(title) = line.strip_prefix("# ") {
                assert!(page.chapters.insert(number(title)), "two chapters: {line}");
            } else if let Some(title) = line.strip_prefix("## ") {
                clause = number(title);
                let before = page.clauses.insert(clause.clone(), Vec::new());
                assert!(before.is_none(), "two clauses: {line}");
            } else if let Some(name) = quoted(line, "  - `") {
                let tests = page.clauses.get_mut(&clause).expect("a clause before its tests");
                tests.push((file.clone(), name));
            } else if let Some(path) = quoted(line, "- `") {
                file = path;
            }
        }
        assert!(page.clauses.len() > 30, "{} clauses", page.clauses.len());
        page
    }

    fn has(&self, number: &str) -> bool {
        self.chapters.contains(number) || self.clauses.contains_key(number)
    }
}

/// The rest of a line after its beginning, up to a backquote that ends it.
fn quoted(line: &str, beginning: &str) -> Option<String> {
    line.strip_prefix(beginning)?.strip_suffix('`').map(str::to_owned)
}

/// The text of a file of the repository.
fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Path and text of each file of Rust.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = FOLDERS.iter().map(|folder| root.join(folder)).collect();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let (path, name) = (entry.path(), entry.file_name());
            // A link is neither a folder nor a file here.
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && name != "node_modules" && name != "target" {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "rs") {
                let parts = path.strip_prefix(root).unwrap().components();
                let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
                sources.push((parts.join("/"), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    sources.sort();
    sources
}

/// A text after spaces, line breaks and the marks of comments.
fn after_break(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || c == '/' || c == '!')
}

/// The numbers, separated by commas, that follow each `word` of a text.
fn numbers_after(text: &str, word: &str) -> Vec<String> {
    let mut numbers = Vec::new();
    for (at, _) in text.match_indices(word) {
        let rest = &text[at + word.len()..];
        if !rest.starts_with(char::is_whitespace) {
            continue;
        }
        let mut rest = after_break(rest);
        while rest.starts_with(|c: char| c.is_ascii_digit()) {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            numbers.push(rest[..end].trim_end_matches('.').to_owned());
            rest = rest[end..].strip_prefix(',').map_or("", after_break);
        }
    }
    numbers
}

/// Clause and name of each function that is named by a clause, such as `s3_7_…`.
fn named_by_clause(text: &str) -> Vec<(String, String)> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let named = |at: usize| {
        let name = text[at + "fn ".len()..].split('(').next()?;
        let mut parts = name.strip_prefix('s')?.splitn(3, '_');
        let (chapter, number, _) = (parts.next()?, parts.next()?, parts.next()?);
        let is_clause = is_number(chapter) && is_number(number);
        is_clause.then(|| (format!("{chapter}.{number}"), name.to_owned()))
    };
    text.match_indices("fn s").filter_map(|(at, _)| named(at)).collect()
}

#[test]
fn each_clause_that_is_cited_is_on_the_page() {
    let page = Page::read();
    let (mut cited, mut missing) = (0, Vec::new());
    for (path, text) in sources() {
        let named = named_by_clause(&text).into_iter().map(|(number, _)| number);
        for number in numbers_after(&text, "emantics").into_iter().chain(named) {
            cited += 1;
            if !page.has(&number) {
                missing.push(format!("{path}: {number}"));
            }
        }
    }
    assert!(cited > 200, "{cited} citations");
    assert!(missing.is_empty(), "not on the page: {missing:#?}");
}

#[test]
fn clauses_are_cited_in_one_form() {
    let mut others = Vec::new();
    for (path, text) in sources() {
        for word in ["lause", "lauses"] {
            let numbers = numbers_after(&text, word).into_iter();
            others.extend(numbers.map(|number| format!("{path}: {number}")));
        }
    }
    assert!(others.is_empty(), "write `semantics` before the number: {others:#?}");
}

#[test]
fn each_clause_names_tests_that_exist() {
    let page = Page::read();
    let mut texts = BTreeMap::new();
    for (number, tests) in &page.clauses {
        assert!(!tests.is_empty(), "clause {number} names no test");
        for (file, name) in tests {
            let text = texts.entry(file).or_insert_with(|| read(file));
            let head = text.split(&format!("fn {name}(")).next().unwrap_or_default();
            assert!(head.len() < text.len(), "clause {number}: {file} has no `{name}`");
            let is_test = head.trim_end().ends_with("#[test]");
            assert!(is_test, "clause {number}: `{name}` of {file} is not a test");
        }
    }
}

#[test]
fn each_test_named_by_a_clause_is_on_the_page() {
    let page = Page::read();
    let mut missing = Vec::new();
    for (path, text) in sources() {
        for (number, name) in named_by_clause(&text) {
            let test = (path.clone(), name);
            if !page.clauses.get(&number).is_some_and(|tests| tests.contains(&test)) {
                missing.push(format!("{number}: {test:?}"));
            }
        }
    }
    assert!(missing.is_empty(), "add to `src/semantics.md`: {missing:#?}");
}
