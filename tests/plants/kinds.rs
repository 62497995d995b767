//! Options that make the difference that their diagrams state: kinds of impact, the solution of
//! least change, and the repair of accelerations. Each is swapped for another in the place where it
//! is used, and exactly the checks that speak of it must fail.

use super::harness::{Case, failed_checks};

fn failed_with(file: &str, path: &str, value: &str) -> Vec<String> {
    let set = [(path, value)];
    failed_checks(&Case { file, set: &set, variants: &[], patches: &[] }.simulate())
}

#[test]
fn a_kind_of_impact_is_not_another() {
    let kinds = [
        ("stick", "Stick", "Stick rolls at once"),
        ("normal_only", "NormalOnly", "NormalOnly slides on"),
        ("frictional", "Frictional", "Frictional presses harder, and hops"),
        ("two_phase", "TwoPhase", "TwoPhase brakes by the impulse of the fall"),
    ];
    for (block, own, check) in kinds {
        for (_, kind, _) in kinds {
            let path = format!("blocks.{block}.kind");
            let failed = failed_with("diagrams/contact/impact.ron", &path, kind);
            let expected: &[&str] = if kind == own { &[] } else { &[check] };
            assert_eq!(failed, expected, "{block} {kind}");
        }
    }
}

/// Of the rocking block, `NormalOnly` and `TwoPhase` are one law, as the diagram says.
#[test]
fn a_rocking_block_tells_kinds_of_impact_from_one_another() {
    let kinds = [
        ("stick", "Stick", "Stick holds the block"),
        ("normal_only", "NormalOnly", "NormalOnly stops the rear edge"),
        ("frictional", "Frictional", "Frictional loses what Housner's block loses"),
        ("two_phase", "TwoPhase", "TwoPhase leaves friction no room"),
    ];
    let are_one = |a: &str, b: &str| {
        a == b || [a, b].iter().all(|kind| ["NormalOnly", "TwoPhase"].contains(kind))
    };
    for (block, own, check) in kinds {
        for (_, kind, _) in kinds {
            let path = format!("blocks.{block}.kind");
            let failed = failed_with("diagrams/contact/rocking_block.ron", &path, kind);
            let expected: &[&str] = if are_one(kind, own) { &[] } else { &[check] };
            assert_eq!(failed, expected, "{block} {kind}");
        }
    }
}

#[test]
fn the_solution_of_least_change_is_not_lemkes() {
    let hold = "diagrams/inverse_dynamics/hold.ron";
    let failed = failed_with(hold, "blocks.holder.over.choose", "[LeastChange, LeastChange]");
    assert_eq!(failed, ["Lemke's fingers let go", "and the box falls"]);
    let failed = failed_with(hold, "blocks.holder.over.choose", "[Lemke, Lemke]");
    let expected = ["which hold the box", "so that it is part of the column", "and does not slip"];
    assert_eq!(failed, expected);
}

#[test]
fn accelerations_are_repaired_where_it_is_asked() {
    let wipe = "diagrams/inverse_dynamics/wipe.ron";
    let failed = failed_with(wipe, "blocks.wiper.over.repair", "[true, true, false]");
    assert_eq!(failed, ["presses with m kp d", "and friction holds it back"]);
    let failed = failed_with(wipe, "blocks.wiper.over.repair", "[false, false, false]");
    assert_eq!(failed, ["repaired it does not press", "and follows as in the air"]);
}
