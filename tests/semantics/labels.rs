//! What the elements of vectors are called.

use super::harness::{numbers, program, program_of, run};

const LEG: [&str; 3] = ["abad", "hip", "knee"];

fn joints(legs: &[&str]) -> Vec<String> {
    legs.iter().flat_map(|leg| LEG.map(|joint| format!("{leg}_{joint}_joint"))).collect()
}

/// Torques and what is made of them element by element are called as the joints; a bus's part and
/// a stretch are, too; a force and a base's position are not called as joints.
#[test]
fn joints_keep_their_names_along_the_wires() {
    let program = program_of("diagrams/quadruped/stand.ron", &[]);
    let joints = joints(&["FL", "FR", "HL", "HR"]);
    for path in ["body.state.s_dot", "pd.tau", "act.tau"] {
        assert_eq!(program.labels(path), joints, "{path}");
    }
    assert_eq!(program.labels("pd.tau[3..6]"), &joints[3..6]);
    assert_eq!(program.labels("body.state.base.position"), ["x", "y", "z"]);
    for path in ["pose.y", "accel.nu_dot"] {
        assert!(program.signals.iter().any(|signal| signal.path == path), "{path}");
        assert!(program.labels(path).is_empty(), "{path}");
    }
    for path in ["pd.tau[9..14]", "pd.tau[3]", "pd.ta", "pd.tau.s"] {
        assert!(program.labels(path).is_empty(), "{path}");
    }
}

/// Elements go on through what works on them one by one, through loops and stretches; where two
/// that differ meet, there is none.
#[test]
fn names_that_differ_cancel() {
    let program = program(
        r#"Diagram(run: (stop: "1 s", step: "1 ms"),
        robots: { "arm": Robot(file: "std:robots/mini_cheetah.ron") },
        blocks: {
            "body": FloatingBase(robot: "arm", in: { "nu_dot": "zero.y" }),
            "zero": Constant(value: "=zeros(arm.nv)"),
            "plain": Constant(value: [1, 2, 3]),
            "leg": Gain(gain: 2.0, in: { "u": "body.state.s[0..3]" }),
            "late": UnitDelay(every: "1 ms", initial: [0, 0, 0], in: { "u": "back.y" }),
            "back": Sum(signs: "+-", in: { "u1": "late.y", "u2": "leg.y" }),
            "other": Sum(signs: "++", in: { "u1": "leg.y", "u2": "body.state.s[3..6]" }),
            "after": Gain(gain: 1.0, in: { "u": "other.y" }),
            "turned": Gain(gain: [[0, 1, 0], [1, 0, 0], [0, 0, 1]], in: { "u": "leg.y" }),
            "mixed": Sum(signs: "++", in: { "u1": "leg.y", "u2": "plain.y" }),
        })"#,
    );
    let named = program.labels("body.state.s[0..3]").to_vec();
    assert_eq!(named.len(), 3);
    for path in ["leg.y", "late.y", "back.y", "mixed.y"] {
        assert_eq!(program.labels(path), named, "{path}");
    }
    for path in ["plain.y", "other.y", "after.y", "turned.y"] {
        assert!(program.labels(path).is_empty(), "{path}");
    }
}

/// What is connected says which inputs are numbers: behind a chain, in a part, in a loop through a
/// state.
#[test]
fn numbers_and_vectors_are_joined_in_one() {
    let recording = run(r#"Diagram(run: (stop: "2 ms", step: "1 ms"),
        blocks: {
            "a": Constant(value: 1),
            "b": Constant(value: [2, 3]),
            "c": Gain(gain: 4, in: { "u": "a.y" }),
            "all": Concat(in: { "u1": "twice.y", "u2": "b.y", "u3": "half.c" }),
            "twice": Gain(gain: 2, in: { "u": "a.y" }),
            "half": Subsystem(
                ports: (in: { "c": "Real" }, out: { "c": "Real" }), in: { "c": "c.y" },
                blocks: { "c": Gain(gain: 0.5, in: { "u": "^c" }) }, out: { "c": "c.y" },
            ),
            "digits": Fcn(
                expression: "=u[0] + 10*u[1] + 100*u[2] + 1000*u[3]", lengths: { "u": 4 },
                in: { "u": "all.y" },
            ),
            "x": Integrator(initial: 0.5, in: { "u": "back.y[0]" }),
            "back": Gain(gain: -1, in: { "u": "pair.y" }),
            "pair": Concat(in: { "u1": "x.y", "u2": "one.y" }),
            "one": Concat(in: { "u1": "x.y" }),
        },
        log: ["digits.y", "back.y[1]"])"#);
    assert_eq!(numbers(&recording, "digits.y"), [(0.0, 2322.0)]);
    assert_eq!(numbers(&recording, "back.y[1]")[0], (0.0, -0.5));
}
