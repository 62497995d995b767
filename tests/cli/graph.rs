//! `legwork graph`.

use super::support::{folder, legwork, ramp, write};

#[test]
fn a_picture_goes_where_its_ending_says() {
    let here = folder();
    write(&here, "a.ron", ramp(""));
    let mermaid = legwork(here.path(), &["graph", "a.ron"]).out;
    assert!(mermaid.contains("flowchart"), "{mermaid}");
    for (name, start) in [("x.svg", "<svg"), ("x.dot", "digraph"), ("x.mmd", "flowchart")] {
        let done = legwork(here.path(), &["graph", "a.ron", "-o", name, "--json"]);
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(done.json()["output"], name);
        let text = std::fs::read_to_string(here.path().join(name)).unwrap();
        assert!(text.contains(start), "{name}: {text}");
    }
}
