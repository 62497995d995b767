//! The third party's command runs a diagram of its blocks, and its checks hold.

use std::process::Command;

use serde_json::Value;

#[test]
fn a_diagram_of_third_party_blocks_runs_and_passes_its_checks() {
    let out = tempfile::tempdir().expect("a temporary directory");
    let ran = Command::new(env!("CARGO_BIN_EXE_limit-switch"))
        .arg("run")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/ramp.ron"))
        .arg("--json")
        .arg("--out")
        .arg(out.path())
        .output()
        .expect("the third party's command runs");
    let err = String::from_utf8_lossy(&ran.stderr);
    let answer: Value =
        serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}; {err}"));
    assert_eq!(ran.status.code(), Some(0), "{answer}; {err}");
    assert_eq!(answer["metrics"]["tripped"], 1.0, "{answer}");
    let checks = answer["checks"].as_object().expect("an object");
    assert_eq!(checks.len(), 3, "{answer}");
    assert!(checks.values().all(|passed| *passed == true), "{answer}");
}

/// At t = 1 s: the cube by the derivative that it offers, 6 u²; the slope of a cube, which offers
/// none, by differences, 6 u.
#[test]
fn a_block_is_linearised_by_what_it_offers_or_by_differences() {
    let ran = Command::new(env!("CARGO_BIN_EXE_limit-switch"))
        .args(["linearize", concat!(env!("CARGO_MANIFEST_DIR"), "/ramp.ron"), "--json"])
        .args(["--continuous", "--at", "1 s", "--in", "ramp.y"])
        .args(["--out", "cube.y", "--out", "slope.y"])
        .output()
        .expect("the third party's command runs");
    let err = String::from_utf8_lossy(&ran.stderr);
    let answer: Value =
        serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}; {err}"));
    let slope = |row: usize| answer["D"][row][0].as_f64().expect("a number");
    assert!((slope(0) - 6.0).abs() < 1e-12 && (slope(1) - 6.0).abs() < 1e-9, "{answer}");
    let blocks = answer["blocks"].as_array().expect("a list");
    let method = |path: &str| {
        let found = blocks.iter().find(|one| one["block"] == path);
        found.unwrap_or_else(|| panic!("{path}: {answer}"))["method"].as_str()
    };
    assert_eq!(method("cube"), Some("analytic"));
    assert_eq!(method("slope"), Some("differences"));
}
