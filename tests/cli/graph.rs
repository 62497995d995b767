//! `legwork graph`.

use super::support::{folder, legwork, ramp, repository, write};

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

/// A part that a signal enables, with one inside that its edges trigger.
const SWITCHED: &str = r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "10 ms", solver: Euler),
    blocks: {
        "wave": Sine(frequency: "1 Hz"),
        "part": Enabled(by: "wave.y", when_off: Reset, in: { "u": "wave.y" },
            ports: (in: { "u": "Real" }, out: { "y": "Real", "z": "Real" }),
            blocks: {
                "twice": Gain(gain: 2.0, in: { "u": "^u" }),
                "edge": Triggered(by: "twice.y", edge: Falling, in: { "u": "twice.y" },
                    ports: (in: { "u": "Real" }, out: { "y": "Real" }),
                    blocks: { "take": Gain(gain: 1.0, in: { "u": "^u" }) },
                    out: { "y": "take.y" }),
            },
            out: { "y": "twice.y", "z": "edge.y" }),
    },
    log: ["part.y", "part.z"],
)"#;

/// What blocks call is drawn where it is asked for, in the frame of the caller, with wires there
/// and back; functions that call others too.
#[test]
fn functions_are_drawn_in_the_frames_of_their_callers() {
    let draw = |words: &[&str]| {
        let file = "tests/data/run/functions.ron";
        let done = legwork(repository(), &[&["graph", file], words].concat());
        assert_eq!(done.code, 0, "{}", done.err);
        done.out
    };
    let (closed, open) = (draw(&[]), draw(&["--functions"]));
    assert!(closed.contains("FunctionCaller(f: Gain)"), "{closed}");
    assert!(!open.contains("FunctionCaller(f: Gain)"), "{open}");
    let count = |text: &str, what: &str| text.matches(what).count();
    // Seven callers; four functions with blocks inside, one of which has three copies.
    let frames = |text: &str| count(text, "subgraph");
    assert_eq!(frames(&open) - frames(&closed), 7 + 4 + 4, "{open}");
    // `two` alone: a constant and a sum, wires from the argument and to both results.
    let wires = |text: &str| count(text, "-->");
    assert!(wires(&open) > wires(&closed) + 12, "{open}");
    assert_eq!(draw(&["--functions", "--depth", "0"]), draw(&["--depth", "0"]));
}

#[test]
fn control_wires_of_conditional_parts_are_drawn_in_every_format() {
    let here = folder();
    write(&here, "s.ron", SWITCHED);
    let draw = |words: &[&str], name: &str| {
        let done = legwork(here.path(), &[&["graph", "s.ron", "-o", name], words].concat());
        assert_eq!(done.code, 0, "{}", done.err);
        std::fs::read_to_string(here.path().join(name)).unwrap()
    };
    let svg = draw(&[], "x.svg");
    for part in [
        ">Enabled</text>",
        ">Triggered(Falling)</text>",
        ">switches</text>",
        "<title>wave.y ► part.by (Real)</title>",
        "<title>part.twice.y ► part.edge.by (Real)</title>",
        "part: Enabled; outputs are zero while it is off, states go on when it comes on",
    ] {
        assert!(svg.contains(part), "no `{part}` in {svg}");
    }
    assert_eq!(draw(&[], "x.dot").matches("style=dotted").count(), 2);
    assert_eq!(draw(&[], "x.mmd").matches("--o").count(), 2);
    // Folded, the part has a pin for what enables it.
    let folded = draw(&["--depth", "0"], "x.svg");
    assert!(folded.contains("<title>wave.y ► part.Enabled (Real)</title>"), "{folded}");
    // The compiler's node is drawn once, in its part, also with the shared computations.
    assert_eq!(draw(&["--hidden"], "x.svg").matches(">Enabled</text>").count(), 1);
}

/// Folded parts have the ports that the diagram gives them, not those of the blocks inside.
#[test]
fn a_folded_part_shows_its_own_ports() {
    let here = folder();
    write(
        &here,
        "m.ron",
        r#"Mask(
    format: 2,
    ports: (in: { "error": "Vector(2)" }, out: { "force": "Vector(2)", "first": "Real" }),
    blocks: {
        "p": Gain(gain: 2.0, in: { "u": "^error" }),
        "d": Gain(gain: 3.0, in: { "u": "^error[1]" }),
    },
    out: { "force": "p.y", "first": "p.y[0]" },
)"#,
    );
    write(
        &here,
        "f.ron",
        r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "10 ms", solver: Euler),
    blocks: {
        "one": Constant(value: [1.0, 2.0]),
        "law": Mask(file: "m.ron", in: { "error": "one.y" }),
        "each": ForEach(
            over: { "k": ["a", "b"] },
            body: { "twice": Gain(gain: 2.0, in: { "u": "law.force" }) },
            collect: { "all": Concat("twice.y") },
        ),
        "sum": Gain(gain: 1.0, in: { "u": "each.all" }),
        "top": Gain(gain: 1.0, in: { "u": "law.first" }),
    },
    log: ["sum.y", "top.y"],
)"#,
    );
    let done = legwork(here.path(), &["graph", "f.ron", "--depth", "0", "-o", "x.svg"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let svg = std::fs::read_to_string(here.path().join("x.svg")).unwrap();
    let mut wires: Vec<&str> = svg
        .split("<title>")
        .filter_map(|rest| rest.split("</title>").next())
        .filter(|title| title.contains('►'))
        .collect();
    wires.sort_unstable();
    // `error` is one pin although two blocks read it, one of them in part.
    let expected = [
        "each.all ► sum.u (Vector(4))",
        "law.first ► top.u (Vector(2)[0])",
        "law.force ► each.law.force (Vector(2))",
        "one.y ► law.error (Vector(2))",
    ];
    assert_eq!(wires, expected, "{svg}");
}

/// A block that solves by another says which, in every format.
#[test]
fn what_a_block_calls_is_drawn_with_it() {
    let here = folder();
    let diagram = repository().join("diagrams/floating_base/slope.ron");
    let diagram = diagram.to_str().expect("the path is UTF-8");
    for (qp, kind) in [("clarabel", "ClarabelQp"), ("active_set", "ActiveSetQp")] {
        for name in ["x.svg", "x.dot", "x.mmd"] {
            let choice = format!("qp={qp}");
            let choices = ["--variant", "slip=de_saxce", "--variant", &choice];
            let done =
                legwork(here.path(), &[&["graph", diagram, "-o", name], &choices[..]].concat());
            assert_eq!(done.code, 0, "{}", done.err);
            let text = std::fs::read_to_string(here.path().join(name)).unwrap();
            let label = format!("CoulombContact(solve: {kind})");
            assert!(text.contains(&label), "{name}: no `{label}` in {text}");
        }
    }
}
