//! `legwork duel` from outside: what it says, what it writes, how it exits.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::support::{Done, folder, legwork, repository};

/// Problems are named from the root of the repository.
fn duel(arguments: &[&str]) -> Done {
    legwork(repository(), &[&["duel"], arguments].concat())
}

const PROBLEMS: &str = "tests/data/problems";

fn file(name: &str) -> String {
    format!("{PROBLEMS}/{name}.json")
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("the path is UTF-8")
}

/// A damaged copy of a problem.
fn damaged(folder: &Path, from: &str, to: &str) -> PathBuf {
    let text =
        std::fs::read_to_string(repository().join(file("landing"))).expect("the problem is there");
    assert!(text.contains(from), "{from}");
    let path = folder.join("damaged.json");
    std::fs::write(&path, text.replacen(from, to, 1)).expect("the directory is writable");
    path
}

#[test]
fn solvers_agree_on_problems_of_every_kind_and_the_json_has_every_promised_field() {
    let files = [file("landing"), file("hs76"), file("skew")];
    let mut arguments: Vec<&str> = files.iter().map(String::as_str).collect();
    arguments.extend(["--repeat", "2", "--json"]);
    let done = duel(&arguments);
    assert_eq!(done.code, 0, "{}", done.err);
    let json = done.json();
    assert_eq!((&json["agrees"], &json["repeats"]), (&json!(true), &json!(2)));
    assert_eq!((&json["disagreements"], &json["shrunk"]), (&json!([]), &Value::Null));
    let list = |value: &Value| value.as_array().expect("a list").clone();
    assert_eq!(list(&json["solvers"]).len(), 6);
    for score in list(&json["solvers"]) {
        assert_eq!((&score["overclaimed"], &score["unrepeatable"]), (&json!(0), &json!(0)));
        assert!(score["median_s"].as_f64().is_some_and(|t| t > 0.0), "{score}");
        assert!(score["worst_residual"].as_f64().is_some_and(|r| r < 1e-6), "{score}");
    }
    let problems = list(&json["problems"]);
    let kinds: Vec<&Value> = problems.iter().map(|problem| &problem["kind"]).collect();
    assert_eq!(kinds, ["contact", "qp", "lcp"]);
    for problem in &problems {
        for answer in list(&problem["answers"]) {
            // A method for contacts takes no program, and its row says so.
            let is_of_contacts =
                ["pgs", "apgd", "ppm"].iter().any(|name| answer["solver"] == *name);
            let takes = problem["kind"] == "contact" || !is_of_contacts;
            assert_eq!(answer["taken"], takes, "{answer}");
            assert_eq!(answer["status"] == "solved", takes, "{answer}");
        }
    }
    for part in [
        "landing.json (contact, 12 unknowns)",
        "does not take it",
        // As its origin has it.
        "(1.000000, 0.500000, 0.000000)",
        "no two solvers differ",
    ] {
        assert!(done.said().contains(part), "no `{part}` in {}", done.said());
    }
}

/// A problem without a solution by the margin of rounding: one method proves it, another has an
/// inaccurate answer.
#[test]
fn a_disagreement_is_listed_and_cut_small() {
    let here = folder();
    let small = here.path().join("small.json");
    let solvers = ["--solvers", "lemke,active_set,pgs", "--repeat", "1"];
    let whole = file("edge");
    let done = duel(&[&[&*whole, "--shrink", shown(&small), "--json"], &solvers[..]].concat());
    assert_eq!(done.code, 3, "{}", done.err);
    let json = done.json();
    let dispute = &json["disagreements"][0];
    assert_eq!(dispute["solvers"], json!(["lemke", "active_set"]));
    assert_eq!(
        (&dispute["kind"], &dispute["statuses"][0]),
        (&json!("contradiction"), &json!("primal_infeasible"))
    );
    assert!(done.said().contains("lemke: primal infeasible"), "{}", done.said());
    let unknowns = json["shrunk"]["unknowns"].as_u64().expect("a count");
    assert!(unknowns < 12, "{unknowns}");

    let again = duel(&[&[shown(&small), "--json"], &solvers[..]].concat());
    assert_eq!(again.code, 3, "{}", again.err);
    let json = again.json();
    assert_eq!(json["disagreements"][0]["kind"], "contradiction");
    assert_eq!(json["problems"][0]["unknowns"], unknowns);
    let origin = json["problems"][0]["origin"].as_str().expect("a text");
    assert!(origin.contains("edge.json") && origin.contains("lemke and active_set"), "{origin}");

    // Nothing to cut where all agree.
    let none = here.path().join("none.json");
    let done = duel(&[&file("skew"), "--solvers", "lemke,clarabel", "--shrink", shown(&none)]);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{}", done.err);
    assert!(done.out.contains("no file written") && !none.exists(), "{}", done.out);
}

#[test]
fn what_is_no_problem_is_told_with_its_place() {
    let here = folder();
    let bad = damaged(here.path(), "\"force_scale\": 20.2", "\"force_scale\": true");
    let done = duel(&[shown(&bad), &file("skew"), "--json"]);
    assert_eq!(done.code, 1, "{}", done.err);
    let list = done.json()["diagnostics"].clone();
    assert_eq!(list.as_array().map(Vec::len), Some(1), "{list}");
    for part in ["damaged.json:9:18", "at `force_scale`, found true"] {
        assert!(done.err.contains(part), "no `{part}` in {}", done.err);
    }
    let cut = damaged(here.path(), "\"friction\": [0.2,", "\"friction\": [0.2;");
    let done = duel(&[shown(&cut)]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("damaged.json:11:19"), "{}", done.err);
}

#[test]
fn a_command_line_that_makes_no_sense_is_told_so() {
    let here = folder();
    let empty = shown(here.path());
    let (skew, nothing) = (file("skew"), file("nothing"));
    for (arguments, expected) in [
        (vec![&*skew, "--solvers", "lemke,activ_set"], "did you mean `active_set`?"),
        (vec![&*skew, "--solvers", "simplex"], "there are active_set, clarabel, pgs"),
        (vec![&*skew, "--solvers", "lemke,lemke"], "named twice"),
        (vec![&*skew, "--tol", "nan"], "a tolerance of at least 0"),
        (vec![&*skew, &*nothing], "cannot read `tests/data/problems/nothing.json`"),
        (vec![&*skew, "--repeat", "0"], "--repeat"),
        (vec![empty], "no .json files"),
        (vec![], "PROBLEM"),
    ] {
        let done = duel(&arguments);
        assert_eq!(done.code, 64, "{arguments:?}: {}", done.err);
        assert!(done.said().contains(expected), "no `{expected}` in {}", done.said());
    }
}
