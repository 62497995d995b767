//! `quadruped/mpc.ron` beyond its own run: other gaits and speeds, stairs from where feet meet
//! their edges in other places, robots whose limits are lower.

use super::harness::Case;

const MPC: &str = "diagrams/quadruped/mpc.ron";
const STAIRS: &str = "diagrams/quadruped/mpc_stairs.patch";

#[test]
fn gaits_hold_one_and_a_half_metres_per_second() {
    for gait in ["trot", "bound", "pronk"] {
        let set = [("speed", "1.5 m/s")];
        Case { file: MPC, set: &set, variants: &[("gait", gait)], ..Case::default() }.passes();
    }
}

/// Whether an edge is met by a foot in stance or in swing, near its top or at its root, depends on
/// the speed and on where the stairs begin.
#[test]
fn stairs_are_climbed_and_descended() {
    let patches = &[STAIRS];
    Case { file: MPC, patches, ..Case::default() }.passes();
    for speed in ["0.4 m/s", "0.7 m/s", "1 m/s"] {
        for start in ["-1.07", "-1.21"] {
            let ground = format!(
                "HeightField(file: \"stairs_5.csv\", cell: \"2 cm\", origin: [{start}, -0.02])"
            );
            let set = [("speed", speed), ("ground", &*ground), ("run.stop", "16 s")];
            Case { file: MPC, set: &set, patches, ..Case::default() }.passes();
        }
    }
}

/// Where a step has edges instead of cells, and two solvers plan.
#[test]
fn stairs_with_edges_are_climbed_and_descended() {
    for qp in ["active_set", "interior_point"] {
        let ground = "Stairs(rise: \"5 cm\", run: \"30 cm\", count: 6, start: [0.8, 0], \
            down: true, landing: \"30 cm\")";
        let (set, patches) = ([("ground", ground)], &[STAIRS]);
        Case { file: MPC, set: &set, patches, variants: &[("qp", qp)] }.passes();
    }
}
