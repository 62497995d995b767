//! `legwork export`.

use super::support::{folder, legwork, ramp, write};

#[test]
fn a_table_has_the_recorded_values() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    legwork(here.path(), &["run", "a.ron"]);
    let table = legwork(here.path(), &["export", "runs/a"]).out;
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("t,ramp.y.value,rate.y.value"));
    assert_eq!(lines.next(), Some("0.0,0.0,1.0"));
    assert_eq!(lines.next(), Some("0.01,0.01,"));
    let file = legwork(here.path(), &["export", "runs/a/run.mcap", "-o", "t.csv", "--json"]);
    assert_eq!(file.json()["topics"], serde_json::json!(["ramp.y", "rate.y"]));
    assert_eq!(std::fs::read_to_string(here.path().join("t.csv")).unwrap(), table);
    assert_eq!(legwork(here.path(), &["export", "runs/a", "--json"]).code, 64);
    let slip = legwork(here.path(), &["export", "runs/a", "--topic", "ramp", "-o", "u.csv"]);
    assert_eq!(slip.code, 64);
    assert!(!here.path().join("u.csv").exists());
}
