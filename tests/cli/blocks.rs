//! `legwork blocks`, and a library of one's own.

use std::path::Path;
use std::process::Command;

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
    let slip = legwork(here.path(), &["blocks", "unitdelay"]);
    assert!(slip.err.contains("did you mean `UnitDelay`?"), "{}", slip.err);
}

/// A block crate outside the workspace, with a main of its own, builds and runs.
#[test]
fn a_third_party_block_builds_into_the_command_and_runs() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/third_party");
    let target = Path::new(env!("CARGO_BIN_EXE_legwork"))
        .parent()
        .and_then(Path::parent)
        .expect("the command lies in target/profile");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--locked", "--manifest-path"])
        .arg(source.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", target)
        .output()
        .expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let out = folder();
    let ran = Command::new(target.join("debug/limit-switch"))
        .arg("run")
        .arg(source.join("ramp.ron"))
        .arg("--json")
        .arg("--out")
        .arg(out.path())
        .output()
        .expect("the third party's command runs");
    let answer: Value = serde_json::from_slice(&ran.stdout).expect("one JSON object");
    assert_eq!(ran.status.code(), Some(0), "{answer}");
    assert_eq!(answer["metrics"]["tripped"], 1.0, "{answer}");
}
