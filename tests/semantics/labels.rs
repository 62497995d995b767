//! What the elements of vectors are called.

use super::harness::{program, program_of};

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
