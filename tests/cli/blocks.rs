//! `legwork blocks`: the list, the pages, and that they say everything.

use serde_json::{Value, json};

use super::support::{folder, legwork};

#[test]
fn a_page_shows_the_functions_that_a_block_needs() {
    let here = folder();
    let ty = "fn(problem: ContactProblem(any)) -> (f: Vector(3*n))";
    let page = legwork(here.path(), &["blocks", "CoulombContact", "--json"]).json();
    assert_eq!(
        (&page["needs"][0]["name"], &page["needs"][0]["type"]),
        (&json!("solve"), &json!(ty))
    );
    let text = legwork(here.path(), &["blocks", "CoulombContact"]).out;
    assert!(text.contains(&format!("\nneeds\n  solve: {ty}\n")), "{text}");
    let impact = legwork(here.path(), &["blocks", "Impact", "--json"]).json();
    assert_eq!(
        [&page["needs"][0]["optional"], &impact["needs"][0]["optional"]],
        [&json!(false), &json!(true)]
    );
    let gain = legwork(here.path(), &["blocks", "Gain", "--json"]).json();
    assert_eq!(gain["needs"], json!([]));
}

#[test]
fn every_block_has_a_page_with_documentation_and_ports() {
    let here = folder();
    let json = legwork(here.path(), &["blocks", "--json"]).json();
    let blocks = json["blocks"].as_array().expect("a list");
    assert!(!blocks.is_empty());
    for block in blocks {
        let kind = block["kind"].as_str().expect("a name");
        assert!(!block["summary"].as_str().expect("a text").is_empty(), "{kind} says nothing");
        let page = legwork(here.path(), &["blocks", kind, "--json"]).json();
        assert!(page["outputs"].is_array(), "{kind}: {}", page["ports_unknown"]);
        for parameter in page["parameters"].as_array().expect("a list") {
            let name = parameter["name"].as_str().expect("a name");
            assert!(!parameter["doc"].as_str().expect("a text").is_empty(), "{kind}.{name}");
        }
        let text = legwork(here.path(), &["blocks", kind]).out;
        assert!(text.starts_with(kind) && text.contains("\nexample\n"), "{text}");
    }
    let gain = legwork(here.path(), &["blocks", "Gain", "--json"]).json();
    assert_eq!(gain["outputs"][0]["feeds_through"], serde_json::json!(["u"]));
    let delay = legwork(here.path(), &["blocks", "UnitDelay", "--json"]).json();
    assert_eq!(delay["outputs"][0]["feeds_through"], serde_json::json!([]));
    let slip = legwork(here.path(), &["blocks", "UnitDealy"]);
    assert!(slip.err.contains("did you mean `UnitDelay`?"), "{}", slip.err);
}

#[test]
fn another_word_for_a_block_leads_to_it() {
    let here = folder();
    let text = |word| legwork(here.path(), &["blocks", word]).out;
    for (word, kind) in [("square wave", "SignalBuilder"), ("jump", "Step"), ("pi", "Pid")] {
        assert_eq!(text(word), text(kind), "{word}");
    }
}

#[test]
fn a_construct_of_the_language_has_a_page_too() {
    let here = folder();
    let text = legwork(here.path(), &["blocks", "ForEach"]).out;
    assert!(text.starts_with("# For-each\n") && text.contains("\n- `collect`: "), "{text}");
    for other in ["foreach", "for-each", "for_each"] {
        assert_eq!(legwork(here.path(), &["blocks", other]).out, text);
        assert_eq!(legwork(here.path(), &["help", other]).out, text);
    }
    let json = legwork(here.path(), &["blocks", "ForEach", "--json"]).json();
    let each = &json["constructs"][0];
    assert_eq!(
        (&each["construct"], &each["fields"][0]["name"]),
        (&json!("ForEach"), &json!("over"))
    );
}

#[test]
fn kinds_are_listed_by_shelf_and_a_shelf_alone() {
    let here = folder();
    let all = legwork(here.path(), &["blocks", "--json"]).json();
    let shelves = all["shelves"].as_array().expect("a list");
    let on = |shelf: &Value| -> Vec<String> {
        let kinds = shelf["kinds"].as_array().expect("a list").iter();
        kinds.map(|kind| kind["kind"].as_str().expect("a name").to_owned()).collect()
    };
    let listed: usize = shelves.iter().map(|shelf| on(shelf).len()).sum();
    let known = |section: &str| all[section].as_array().expect("a list").len();
    assert_eq!(listed, known("blocks") + known("resources"));
    let sensors = legwork(here.path(), &["blocks", "sensors", "--json"]).json();
    let shelf = shelves.iter().find(|shelf| shelf["name"] == "sensors").expect("a shelf");
    assert_eq!(sensors["shelves"], json!([shelf]));
    let text = legwork(here.path(), &["blocks", "sensors"]).out;
    assert!(text.starts_with("sensors: "), "{text}");
    assert!(on(shelf).iter().all(|kind| text.contains(&format!("\n  {kind} "))), "{text}");
    assert!(!text.contains("Gain"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
}

#[test]
fn kinds_are_found_by_words_of_their_manuals() {
    let here = folder();
    let found = legwork(here.path(), &["blocks", "--search", "torque", "bandwidth", "--json"]);
    let json = found.json();
    let hits = json["hits"].as_array().expect("a list");
    let kinds: Vec<&str> = hits.iter().map(|hit| hit["kind"].as_str().expect("a name")).collect();
    assert!(kinds.contains(&"Actuator") && kinds.contains(&"Motor"), "{kinds:?}");
    let text = legwork(here.path(), &["blocks", "--search", "torque bandwidth"]).out;
    assert!(text.contains("    parameter: bandwidth: "), "{text}");
    let first = legwork(here.path(), &["blocks", "--search", "crba"]).out;
    assert!(first.starts_with("MassMatrix "), "{first}");
    assert!(first.contains("    alias: CRBA\n"), "{first}");
    let none = legwork(here.path(), &["blocks", "--search", "sturation"]).out;
    assert_eq!(none, "no manual holds `sturation`; did you mean `Saturation`?\n");
}

/// A folder of built-in files is listed, a file printed; searches find both kinds of things.
#[test]
fn built_in_files_are_listed_and_found() {
    let here = folder();
    let masks = legwork(here.path(), &["blocks", "std:masks"]).out;
    assert!(masks.contains("std:masks/low_pass.ron  ") && !masks.contains("std:robots"), "{masks}");
    let all = legwork(here.path(), &["blocks", "std:", "--json"]).json();
    let files = all["files"].as_array().expect("a list");
    assert!(files.iter().any(|file| file["file"] == "std:robots/go2.ron"), "{files:?}");
    let one = legwork(here.path(), &["blocks", "std:masks/low_pass.ron"]).out;
    assert!(one.contains("\"cutoff\""), "{one}");
    let found = legwork(here.path(), &["blocks", "low pass"]).out;
    assert!(found.starts_with("std:masks/low_pass.ron "), "{found}");
    let none = legwork(here.path(), &["blocks", "std:masks/low_pas.ron"]);
    assert_eq!(none.code, 64);
    assert!(none.err.contains("did you mean `std:masks/low_pass.ron`?"), "{}", none.err);
}

/// Types of parameters can be read too, to the last field.
#[test]
fn every_named_type_of_a_parameter_has_a_page() {
    let here = folder();
    let page = |name: &str| legwork(here.path(), &["blocks", name, "--json"]).json();
    let json = legwork(here.path(), &["blocks", "--json"]).json();
    let mut types = std::collections::BTreeSet::new();
    for block in json["blocks"].as_array().expect("a list") {
        let of = page(block["kind"].as_str().expect("a name"));
        if let Some(found) = of["schema"]["$defs"].as_object() {
            let has_parts = |d: &Value| d["oneOf"].is_array() || d["properties"].is_object();
            types.extend(found.iter().filter(|(_, d)| has_parts(d)).map(|(name, _)| name.clone()));
        }
    }
    assert!(types.len() > 20, "{types:?}");
    for name in &types {
        for meaning in page(name)["meanings"].as_array().expect("a list") {
            let choices = meaning["choices"].as_array().expect("a list");
            let fields = meaning["parameters"].as_array().expect("a list");
            assert!(choices.len() + fields.len() > 0, "{name} is empty");
            for choice in choices {
                let what = choice["choice"].as_str().expect("a text");
                assert!(!choice["doc"].as_str().expect("a text").is_empty(), "{name}: {what}");
                for field in choice["parameters"].as_array().expect("a list") {
                    let doc = field["doc"].as_str().expect("a text");
                    assert!(!doc.is_empty(), "{name}: {what}: {}", field["name"]);
                }
            }
        }
    }
    let text = legwork(here.path(), &["blocks", "ConstraintMethod"]).out;
    let choice = text.lines().any(|line| line.trim() == "Forces(…)");
    let field = text.lines().any(|line| line.trim().starts_with("cone: "));
    assert!(text.starts_with("ConstraintMethod, of ConstraintSolver, FreeBodies"), "{text}");
    assert!(choice && field, "{text}");
    let block = legwork(here.path(), &["blocks", "FreeBodies"]).out;
    assert!(block.contains("types, explained by `legwork blocks TYPE`"), "{block}");
}

/// A search finds the pages of the language too, under whatever kinds it finds.
#[test]
fn searches_find_pages() {
    let here = folder();
    for (words, page) in [
        ("Enabled", "enabled"),
        ("foreach", "for_each"),
        ("triggered", "triggered"),
        ("low pass", ""),
        ("sensitivity", "sensitivity"),
    ] {
        let out = legwork(here.path(), &["blocks", "--search", words]).out;
        let pages: Vec<&str> = out.lines().filter(|line| line.starts_with("help ")).collect();
        let leads = pages.iter().any(|line| line.starts_with(&format!("help {page}: ")));
        assert_eq!(leads, !page.is_empty(), "{words}: {out}");
    }
}
