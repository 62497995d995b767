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
