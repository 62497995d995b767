//! `legwork new` and `legwork demo`.

use super::support::{folder, legwork};

#[test]
fn a_new_diagram_runs_and_passes_its_checks() {
    let here = folder();
    assert_eq!(legwork(here.path(), &["new", "cart.ron"]).code, 0);
    let done = legwork(here.path(), &["test", "cart.ron", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.json()["passed"], 1);
    assert_eq!(legwork(here.path(), &["check", "cart.ron"]).code, 0);
}

#[test]
fn every_demo_has_a_word_of_its_own_and_can_be_copied() {
    let here = folder();
    let json = legwork(here.path(), &["demo", "--json"]).json();
    for demo in json["demos"].as_array().expect("a list") {
        let file = demo["file"].as_str().expect("a name");
        assert!(!demo["doc"].as_str().expect("a text").is_empty(), "{file} has no `doc:`");
        let copy = format!("{}.ron", demo["name"].as_str().unwrap().replace('/', "_"));
        assert_eq!(legwork(here.path(), &["new", &copy, "--from", file]).code, 0);
        let done = legwork(here.path(), &["check", file, &copy]);
        assert_eq!(done.code, 0, "{}", done.err);
    }
}
