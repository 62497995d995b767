use legwork_block::{Scope as _, Value};
use legwork_diagram::constructs;
use tempfile::tempdir;

use super::*;
use crate::manual;
use crate::sweep::{Status, SweepRequest};
use crate::{Agreement, Cancel, Library, Outcome, RunRequest, Severity, unwatched};

fn library() -> Library {
    Library::new(legwork_blocks::register)
}

/// A text without what separates its words, and without commas in front of closing brackets.
fn tight(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let text = text.trim_end_matches(',').replace(",)", ")").replace(",]", "]");
    text.replace(",}", "}")
}

/// A text with one space between its words.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The texts between "```ron" and "```".
fn fragments(text: &str) -> impl Iterator<Item = &str> {
    text.split("```ron\n").skip(1).filter_map(|rest| rest.split("```").next())
}

#[test]
fn every_diagram_of_a_page_runs_and_passes_its_checks() {
    let library = library();
    for example in EXAMPLES.iter().filter(|example| example.is_diagram()) {
        let page = example.file.strip_suffix(".ron").expect("a diagram");
        let diagram = library.open(format!("help:{page}")).expect("it is built in");
        let compiled = diagram.compile();
        let said: Vec<&str> = compiled.diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(said, [""; 0], "{page}");
        let model = compiled.into_model().expect("it has no errors");
        assert!(!model.program().checks.is_empty(), "{page} checks nothing");
        let run = model.run(&RunRequest::default(), &unwatched, &Cancel::default());
        let run = run.expect("it runs");
        assert_eq!(run.outcome(), Outcome::Success, "{page}");
    }
}

/// The study of its page: its figures of others agree but for the one that says why not, and the
/// verdicts of a patch hold beside those of the diagram.
#[test]
fn the_study_of_a_page_runs() {
    let study = library().open("std:help/drive.study").expect("built in").study().expect("a study");
    let request = SweepRequest::default();
    let plan = study.plan(&request, &Cancel::default()).unwrap_or_else(|error| panic!("{error:?}"));
    let sweep = plan.run(&|_, _| {}, &unwatched, &Cancel::default()).expect("it runs");
    assert!(sweep.rows().all(|(_, _, status)| status == Status::Ok), "{sweep:?}");
    let compared = study.compare(&sweep);
    let differing = compared.iter().filter(|one| one.agreement != Agreement::Agrees);
    let differing: Vec<&Agreement> = differing.map(|one| &one.agreement).collect();
    assert_eq!(compared.len(), 7);
    assert!(matches!(differing[..], [Agreement::Differs(_)]), "{compared:?}");
    let patched = library().open("help:judge").and_then(|it| it.with("std:help/verdicts.patch"));
    let model = patched.expect("built in").compile().into_model().expect("no errors");
    let run = model.run(&RunRequest::default(), &unwatched, &Cancel::default()).expect("it runs");
    assert_eq!(run.execution.checks_passed(), 4);
}

#[test]
fn the_patch_of_a_page_applies() {
    let diagram = library().open("help:patches").and_then(|it| it.with("std:help/smaller.patch"));
    let model = diagram.expect("they are built in").compile().into_model().expect("no errors");
    assert!(model.program().signals.iter().any(|signal| signal.path == "half.y"));
}

/// An example works from a folder too, where a person copies it to.
#[test]
fn an_example_runs_from_a_copy() {
    let here = tempdir().expect("a folder");
    for example in EXAMPLES.iter().filter(|example| example.is_diagram()) {
        let file = here.path().join(example.file);
        std::fs::write(&file, example.text).expect("the folder is writable");
        let compiled = library().open(&file).expect("a file").compile();
        let errors = compiled.diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
        assert_eq!(errors, 0, "{}", example.file);
    }
}

/// What stands in the comments of the compiler's types is part of a diagram that runs.
#[test]
fn fragments_of_manuals_are_parts_of_examples() {
    let examples: Vec<String> = EXAMPLES.iter().map(|example| tight(example.text)).collect();
    let mut count = 0;
    for manual in constructs() {
        let doc = fill::lines(manual.doc);
        for fragment in fragments(&doc) {
            count += 1;
            if fragment.starts_with("Diagram(") {
                let compiled = library().diagram("fragment.ron", fragment).compile();
                assert!(compiled.model.is_some(), "{}: {fragment}", manual.name);
            } else {
                let part = tight(fragment);
                assert!(
                    examples.iter().any(|example| example.contains(&part)),
                    "{}: {fragment}",
                    manual.name
                );
            }
        }
    }
    assert!(count >= 15, "{count} fragments");
}

#[test]
fn every_construct_and_every_field_is_on_a_page() {
    let library = library();
    let pages = pages(library.registry());
    for manual in constructs() {
        let texts: Vec<String> =
            find(manual.name, &pages).into_iter().map(|page| spaced(&page.to_string())).collect();
        for field in manual.fields.iter().chain(manual.shared) {
            let entry = format!("- `{}`", field.name);
            let doc = spaced(&fill::lines(field.doc));
            assert!(!doc.is_empty(), "{}.{}", manual.name, field.name);
            assert!(
                texts.iter().any(|text| text.contains(&entry) && text.contains(&doc)),
                "{}.{}",
                manual.name,
                field.name
            );
        }
    }
}

#[test]
fn every_word_of_the_lists_is_on_its_page() {
    let library = library();
    let text = |page: &str| find(page, &pages(library.registry()))[0].to_string();
    let all = [
        ("expressions", words(legwork_block::expression_functions(), |it| (it.name, it.doc))),
        ("expressions", words(legwork_block::expression_operators(), |it| (it.written[0], it.doc))),
        ("units", words(legwork_block::named_units(), |it| (it.name, it.word))),
        ("types", words(legwork_diagram::basic_types(), |it| (it.name, it.doc))),
        ("types", words(library.registry().types(), |it| (it.name, it.doc))),
        ("checks", words(legwork_diagram::check_kinds(), |it| (it.name, it.doc))),
        ("judge", words(legwork_diagram::reductions(), |it| (it.name, it.doc))),
        ("masks", words(legwork_diagram::parameter_kinds(), |it| (it.name, it.doc))),
        ("run", words(legwork_program::Solver::all(), |it| (it.name(), it.doc()))),
    ];
    for (page, words) in all {
        let text = text(page);
        for (word, doc) in words {
            assert!(!doc.is_empty(), "{page}: {word}");
            let written = format!("| `{}", word.replace('|', "\\|"));
            let line = text.lines().find(|line| line.starts_with(&written) && line.contains(doc));
            assert!(line.is_some(), "{page}: {word}: {doc}");
        }
    }
}

fn words<T>(
    list: impl IntoIterator<Item = T>,
    of: impl Fn(T) -> (&'static str, &'static str),
) -> Vec<(&'static str, &'static str)> {
    list.into_iter().map(of).collect()
}

#[test]
fn pages_are_whole() {
    let library = library();
    let pages = pages(library.registry());
    for page in &pages {
        let text = page.to_string();
        assert!(text.starts_with(&format!("# {}\n", page.title)), "{}", page.name);
        assert!(!text.contains("{{"), "{}: {text}", page.name);
        assert!(!page.summary().is_empty(), "{}", page.name);
        assert!(
            page.parts.iter().any(|part| matches!(part, Part::Example(it)
                if it.is_diagram() || it.file.ends_with(".study"))),
            "{} has no example",
            page.name
        );
        for line in text.lines().filter(|line| !line.starts_with('|')) {
            assert!(line.chars().count() <= 100, "{}: {line}", page.name);
        }
        for other in text.split("`legwork help ").skip(1) {
            let name = other.split('`').next().expect("a name");
            assert_eq!(find(name, &pages).len(), 1, "{}: help {name}", page.name);
        }
    }
    let mut shown: Vec<&str> = pages
        .iter()
        .flat_map(|page| &page.parts)
        .filter_map(|part| match part {
            Part::Example(example) => Some(example.file),
            Part::Text(_) => None,
        })
        .collect();
    shown.sort_unstable();
    let mut known: Vec<&str> = EXAMPLES.iter().map(|example| example.file).collect();
    known.sort_unstable();
    assert_eq!(shown, known);
}

#[test]
fn names_lead_to_pages_in_whatever_way_they_are_written() {
    let library = library();
    let pages = pages(library.registry());
    let names = |name: &str| -> Vec<&str> {
        find(name, &pages).into_iter().map(|page| page.name).collect()
    };
    for (name, page) in [
        ("ForEach", "for_each"),
        ("for-each", "for_each"),
        ("foreach", "for_each"),
        ("run:", "run"),
        ("Every", "every"),
        ("Mask", "masks"),
        ("algebraic loops", "loops"),
    ] {
        assert_eq!(names(name), [page], "{name}");
    }
    assert_eq!(names("xyzzy"), [""; 0]);
    assert!(library.open("help:ForEach").is_ok());
    let error = library.open("help:for_eacj").expect_err("no such page");
    assert!(error.message().ends_with("did you mean `help:for_each`?"), "{error}");
}

#[test]
fn the_facts_of_a_robot_are_those_that_expressions_read() {
    let library = library();
    let robot = manual::Examples::new(library.registry()).lookup("go").expect("it is built in");
    let Value::Record(facts) = robot else { panic!("no facts") };
    let mut known: Vec<&str> = facts.keys().map(String::as_str).collect();
    known.sort_unstable();
    let page = find("robots", &pages(library.registry()))[0].to_string();
    let rows = page.lines().filter(|line| line.starts_with("| `go."));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let mut told: Vec<&str> = cells
        .flat_map(|cell| cell.split('`').filter_map(|name| name.strip_prefix("go.")))
        .collect();
    told.sort_unstable();
    assert_eq!(told, known);
}
