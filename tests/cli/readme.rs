//! The front page and the pages that it links: their size, their links, and the diagram on it.

use std::collections::BTreeSet;
use std::path::Path;

use super::support::{folder, legwork, repository, write};

const MOST_LINES: usize = 160;
const MOST_COLUMNS: usize = 100;

fn text(file: &str) -> String {
    std::fs::read_to_string(repository().join(file))
        .unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The anchor that a heading has on GitHub: lower case, blanks as hyphens, no punctuation.
fn anchor(heading: &str) -> String {
    let lower = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = lower.chars().filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-' || *c == '_');
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Targets of the links `](target)` of a text.
fn links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

#[test]
fn the_front_page_is_short() {
    let page = text("README.md");
    assert!(page.lines().count() <= MOST_LINES, "{} lines", page.lines().count());
    for line in page.lines() {
        assert!(line.chars().count() <= MOST_COLUMNS, "{line}");
    }
}

/// Every link to a file leads to a file, and every one to a heading to a heading.
#[test]
fn links_lead_somewhere() {
    for page in ["README.md", "diagrams/README.md", "benches/README.md"] {
        let whole = text(page);
        let folder = repository().join(page).parent().map(Path::to_owned).expect("a folder");
        for link in links(&whole).into_iter().filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = folder.join(file);
            assert!(file.is_empty() || target.exists(), "{page}: {link}");
            if heading.is_empty() {
                continue;
            }
            let target = if file.is_empty() { repository().join(page) } else { target };
            let other = std::fs::read_to_string(&target).expect("a text");
            let lines = other.lines().filter(|line| line.starts_with('#'));
            let known: BTreeSet<String> = lines.map(anchor).collect();
            assert!(known.contains(heading), "{page}: {link}, {known:?}");
        }
    }
}

/// The diagram on the front page has at most 15 lines, runs as it stands, and prints what is said.
#[test]
fn the_diagram_of_the_front_page_runs() {
    let page = text("README.md");
    let (_, rest) = page.split_once("```ron\n").expect("a diagram");
    let (diagram, rest) = rest.split_once("```").expect("its end");
    assert!(diagram.lines().count() <= 15, "{diagram}");
    let (_, printed) = rest.split_once("It prints `").expect("its result");
    let (printed, _) = printed.split_once('`').expect("the end of the result");
    let here = folder();
    write(&here, "drop.ron", diagram);
    let run = legwork(here.path(), &["run", "drop.ron"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.said().contains(printed), "{printed}\n{}", run.said());
}
