//! `legwork plot`.

use super::support::{folder, legwork, write};

#[test]
fn a_table_becomes_a_picture() {
    let here = folder();
    write(&here, "t.csv", "# measured\nn,cold [us],warm [us],note\n1,2,1,0\n10,20,,0\n");
    let done = legwork(
        here.path(),
        &["plot", "t.csv", "cold", "warm", "-o", "t.svg", "--log", "x,y", "--json"],
    );
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.json()["series"], serde_json::json!(["cold", "warm"]));
    let svg = std::fs::read_to_string(here.path().join("t.svg")).expect("the picture is written");
    // Two points and one: an empty cell is none.
    assert_eq!(svg.matches("<circle").count(), 3, "{svg}");
    assert!(svg.contains(">[us]</text>") && svg.contains(">1e1</text>"), "{svg}");

    write(&here, "bad.csv", "n,t\n1,2\n2,fast\n");
    for (arguments, expected) in [
        (vec!["plot", "bad.csv", "-o", "x.svg"], "bad.csv:3: expected a number in the column `t`"),
        (vec!["plot", "t.csv", "clod", "-o", "x.svg"], "did you mean `cold`?"),
        (vec!["plot", "none.csv", "-o", "x.svg"], "none.csv"),
        (vec!["plot", "t.csv", "-o", "no/x.svg"], "cannot write"),
        (vec!["plot", "t.csv"], "--output"),
    ] {
        let done = legwork(here.path(), &arguments);
        assert_eq!(done.code, 64, "{arguments:?}: {}", done.err);
        assert!(done.err.contains(expected), "no `{expected}` in {}", done.err);
    }
}
