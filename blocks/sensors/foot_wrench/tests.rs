//! A lever arm, and virtual power against the contacts' own Jacobians.

use legwork_block::{Dim, Signal, Type};
use serde_json::{Value, json};

use super::FootWrench;
use crate::buses::{ContactBus, contact_points};
use crate::contact::contact_point::ContactPoint;
use crate::kinematics::jacobian::Jacobian;
use crate::testing::robots::{Rig, States, close, go};

fn rig(parameters: Value, count: usize) -> Rig {
    let block: FootWrench = serde_json::from_value(parameters).expect("the parameters bind");
    let contacts = contact_points(&Dim::fixed(count), &Dim::fixed(18)).ty();
    let given = [("contacts", contacts), ("f", Type::vector(3 * count))];
    Rig::with(block, &go(), &[], &given).expect("a plan")
}

/// Leaves of a contact at `position` on level ground.
fn level(position: [f64; 3]) -> Vec<Vec<f64>> {
    let axes = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let rest =
        [vec![0.0], vec![0.0; 3], vec![0.0; 54], vec![0.0; 3], vec![-1.0], vec![0.0], vec![0.0]];
    [vec![position.to_vec(), axes], rest.to_vec()].concat()
}

fn set_contacts(rig: &mut Rig, contacts: &[Vec<Vec<f64>>]) {
    let leaves: Vec<&[f64]> = contacts.iter().flatten().map(Vec::as_slice).collect();
    rig.set("contacts", &leaves);
}

/// 10 N upward 0.2 m before and 0.1 m left of the trunk's origin: it pitches the nose up, which is
/// a negative moment about y, and rolls to the right, which is a positive one about x.
#[test]
fn the_moment_is_that_of_a_lever_by_hand() {
    let mut q = go().model.zero_configuration();
    q[..3].copy_from_slice(&[1.0, 2.0, 0.3]);
    let mut world = rig(json!({ "robot": "go", "frame": "trunk" }), 3);
    world.set("state", &[&q, &[0.0; 18]]);
    // The torque of a joint at the end of its range is no force on the foot.
    let mut limit = level([5.0, 5.0, 5.0]);
    limit[ContactBus::ROW] = vec![1.0];
    set_contacts(&mut world, &[level([1.2, 2.1, 0.3]), level([1.0, 2.0, 0.0]), limit]);
    world.set("f", &[&[0.0, 0.0, 10.0, 4.0, 0.0, 0.0, 0.0, 0.0, 7.0]]);
    world.output();
    // Of the second: 4 N forward 0.3 m below gives 0.3 · 4 about −y.
    close(&world.leaf("wrench", 0), &[4.0, 0.0, 10.0, 1.0, -2.0 - 1.2, 0.0], 1e-14);

    // The trunk turned a quarter to the left: its x is the world's y.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    q[3..7].copy_from_slice(&[half, 0.0, 0.0, half]);
    let mut own = rig(json!({ "robot": "go", "frame": "trunk", "axes": "Frame" }), 2);
    own.set("state", &[&q, &[0.0; 18]]);
    set_contacts(&mut own, &[level([1.2, 2.1, 0.3]), level([1.0, 2.0, 0.0])]);
    own.set("f", &[&[0.0, 0.0, 10.0, 4.0, 0.0, 0.0]]);
    own.output();
    close(&own.leaf("wrench", 0), &[0.0, -4.0, 10.0, -3.2, -1.0, 0.0], 1e-14);
}

/// `Jᵀ wrench = Σ J_iᵀ f_i` for four points of one foot on a slope, in either axes.
#[test]
fn the_wrench_does_the_same_work_as_the_forces() {
    let corners = [[0.05, 0.02, -0.01], [0.05, -0.02, -0.01], [-0.04, 0.02, 0.0], [0.0; 3]];
    let mut points = corners.map(|at| {
        let block = json!({ "robot": "go", "frame": "HL_foot", "shape": "Point", "at": at,
            "ground": { "Plane": { "normal": [0.3, -0.2, 1.0], "offset": 0.1 } } });
        let block: ContactPoint = serde_json::from_value(block).expect("it binds");
        Rig::new(block, &go(), &[])
    });
    let f: Vec<f64> = (0..12).map(|i| 7.0 * f64::from(i % 5) - 9.0 + f64::from(i)).collect();
    let kinds = [("World", "Mixed"), ("Frame", "Body")];
    for (q, nu) in States::of(&go(), 10) {
        let mut contacts = Vec::new();
        let mut expected = vec![0.0; 18];
        for (i, rig) in points.iter_mut().enumerate() {
            rig.set("state", &[&q, &nu]);
            rig.output();
            let leaves: Vec<Vec<f64>> =
                (0..ContactBus::LEAVES).map(|leaf| rig.leaf("contact", leaf)).collect();
            for (k, column) in leaves[ContactBus::JACOBIAN].chunks_exact(3).enumerate() {
                expected[k] += (0..3).map(|r| column[r] * f[3 * i + r]).sum::<f64>();
            }
            contacts.push(leaves);
        }
        for (axes, representation) in kinds {
            let mut foot =
                rig(json!({ "robot": "go", "frame": "HL_foot", "axes": axes }), corners.len());
            foot.set("state", &[&q, &nu]);
            set_contacts(&mut foot, &contacts);
            foot.set("f", &[&f]);
            foot.output();
            let wrench = foot.leaf("wrench", 0);
            let block = json!({ "robot": "go", "frame": "HL_foot",
                "representation": representation });
            let block: Jacobian = serde_json::from_value(block).expect("it binds");
            let mut jacobian = Rig::new(block, &go(), &[]);
            jacobian.set("state", &[&q, &nu]);
            jacobian.output();
            let power: Vec<f64> = jacobian
                .leaf("jacobian", 0)
                .chunks_exact(6)
                .map(|column| column.iter().zip(&wrench).map(|(j, w)| j * w).sum())
                .collect();
            close(&power, &expected, 1e-13);
        }
    }
}

#[test]
fn noise_is_of_force_and_moment() {
    let block = json!({ "robot": "go", "frame": "FL_foot", "force_noise": 2, "moment_noise": 0.1 });
    let mut rig = rig(block, 0);
    assert_eq!(rig.declaration.rate, legwork_block::RateRule::Sampled);
    rig.set("state", &[&go().model.zero_configuration(), &[0.0; 18]]);
    let (n, mut squares) = (2000.0, [0.0; 6]);
    for _ in 0..2000 {
        rig.output();
        for (square, w) in squares.iter_mut().zip(rig.leaf("wrench", 0)) {
            *square += w * w / n;
        }
        rig.update();
    }
    for (i, variance) in squares.iter().enumerate() {
        let expected = if i < 3 { 4.0 } else { 0.01 };
        assert!((variance / expected - 1.0).abs() < 4.0 * libm::sqrt(2.0 / n), "{squares:?}");
    }
}
