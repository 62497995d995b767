use legwork_qp::{GeneralActiveSet, Qp};
use serde_json::json;

use super::*;
use crate::testing::robots::{Rig, go};

/// A foot under each corner, and the trunk over their middle.
const FEET: [f64; 12] = [0.2, 0.1, 0.0, 0.2, -0.1, 0.0, -0.2, 0.1, 0.0, -0.2, -0.1, 0.0];

fn rig(steps: usize) -> Rig {
    let block: CondensedMpc = serde_json::from_value(json!({
        "robot": "go", "inertia": [0.07, 0.26, 0.242], "height": 0.28, "steps": steps,
        "stance": [[0.2, 0.1], [0.2, -0.1], [-0.2, 0.1], [-0.2, -0.1]],
    }))
    .expect("it binds");
    let mut rig = Rig::new(block, &go(), &[]);
    let (mut q, nu) = (vec![0.0; 19], vec![0.0; 18]);
    (q[2], q[3]) = (0.28, 1.0);
    rig.set("state", &[&q, &nu]);
    rig.set("command", &[&[0.0; 3]]);
    rig.set("feet", &[&FEET]);
    rig
}

/// phase, rate, stance, times, amplitude.
fn gait(rig: &mut Rig, phase: [f64; 4], rate: f64) {
    let stance = phase.map(|phase| f64::from(u8::from(phase < PI)));
    rig.set("gait", &[&phase, &[rate; 4], &stance, &[0.2], &[0.1], &[1.0]]);
}

/// The forces of all steps.
fn solve(rig: &mut Rig) -> Vec<f64> {
    rig.output();
    let part = |name: &str| rig.leaf(name, 0).to_vec();
    let (hessian, gradient, rows) = (part("H"), part("g"), part("A"));
    let (row_lower, row_upper) = (part("lower"), part("upper"));
    let (lower, upper) = (part("x_lower"), part("x_upper"));
    let qp = Qp {
        hessian: &hessian,
        gradient: &gradient,
        rows: &rows,
        row_lower: &row_lower,
        row_upper: &row_upper,
        lower: &lower,
        upper: &upper,
    };
    let mut x = vec![0.0; gradient.len()];
    let outcome = GeneralActiveSet::new(x.len(), row_lower.len()).solve(&qp, &mut x);
    assert!(outcome.status.is_usable(), "{:?}", outcome.status);
    x
}

/// Standing where it is to be, it carries its weight, by symmetry a quarter on each foot; at first
/// somewhat more, since the end of the horizon is near, where less will do.
#[test]
fn a_robot_that_stands_carries_its_weight() {
    let mut rig = rig(5);
    gait(&mut rig, [0.0; 4], 0.0);
    let forces = solve(&mut rig);
    let weight = 9.81 * go().model.total_mass();
    for foot in forces[..12].chunks_exact(3) {
        assert!(foot[0].abs() < 1e-6 && foot[1].abs() < 1e-6, "{foot:?}");
        assert!((foot[2] - forces[2]).abs() < 1e-6, "{foot:?}, {}", forces[2]);
        assert!((1.0..1.1).contains(&(4.0 * foot[2] / weight)), "{foot:?}, {weight}");
    }
}

/// Pushed to the left it is to be stopped: feet push to the right, within their pyramids; those in
/// the air do nothing.
#[test]
fn forces_are_in_their_pyramids_and_only_at_feet_that_stand() {
    let mut rig = rig(10);
    let (mut q, mut nu) = (vec![0.0; 19], vec![0.0; 18]);
    (q[2], q[3], nu[1]) = (0.28, 1.0, 1.5);
    rig.set("state", &[&q, &nu]);
    gait(&mut rig, [0.5, 4.0, 4.0, 0.5], 1.0);
    let forces = solve(&mut rig);
    assert!(forces[1] < -1.0 && forces[10] < -1.0, "{:?}", &forces[..12]);
    assert!(forces[3..9].iter().all(|f| f.abs() < 1e-9), "{:?}", &forces[..12]);
    for foot in forces.chunks_exact(3) {
        let [x, y, z] = [foot[0], foot[1], foot[2]];
        assert!(x.abs() <= 0.6 * z + 1e-6 && y.abs() <= 0.6 * z + 1e-6 && z <= 150.0 + 1e-6);
    }
}
