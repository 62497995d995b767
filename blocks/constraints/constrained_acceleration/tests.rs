//! The acceleration of closed mechanisms against dense algebra and conservation laws.

use std::sync::Arc;

use legwork_block::{Dim, Signal, Type};
use legwork_mechanics::{Kinematics, centroidal_momentum_matrix};
use serde_json::json;

use super::ConstrainedAcceleration;
use crate::buses::{ConstraintBus, ConstraintsBus};
use crate::constraints::loop_constraint::LoopConstraint;
use crate::dynamics::robot_dynamics::RobotDynamics;
use crate::robot::model::RobotModel;
use crate::testing::contacts::{Harness, block, dynamics, points};
use crate::testing::robots::{Rig, States, close, go};

const NV: usize = 18;

/// Loops of the quadruped, written into the input `constraints` of a block.
struct Loops {
    dynamics: Rig,
    loops: Vec<Rig>,
}

impl Loops {
    fn new(robot: &Arc<RobotModel>, loops: &[serde_json::Value]) -> Self {
        let rig = |parameters: &serde_json::Value| {
            Rig::new(block::<LoopConstraint>(parameters.clone()), robot, &[])
        };
        let dynamics = Rig::new(block::<RobotDynamics>(json!({ "robot": "go" })), robot, &[]);
        Self { dynamics, loops: loops.iter().map(rig).collect() }
    }

    /// Writes dynamics and constraints at a state; returns J and γ of all rows.
    fn write(&mut self, state: (&[f64], &[f64]), into: &mut Harness) -> (Vec<Vec<f64>>, Vec<f64>) {
        self.dynamics.set("state", &[state.0, state.1]);
        self.dynamics.output();
        for leaf in 0..5 {
            into.set_leaf("dynamics", leaf, &self.dynamics.leaf("bus", leaf));
        }
        let (mut rows, mut bias) = (Vec::new(), Vec::new());
        for (i, rig) in self.loops.iter_mut().enumerate() {
            rig.set("state", &[state.0, state.1]);
            rig.output();
            for leaf in 0..ConstraintBus::LEAVES {
                let values = rig.leaf("constraint", leaf);
                into.set_leaf("constraints", i * ConstraintBus::LEAVES + leaf, &values);
            }
            let j = rig.leaf("constraint", ConstraintBus::JACOBIAN);
            rows.extend((0..6).map(|row| (0..NV).map(|c| j[6 * c + row]).collect()));
            bias.extend(rig.leaf("constraint", ConstraintBus::GAMMA));
        }
        (rows, bias)
    }
}

fn constraints(count: usize) -> Type {
    ConstraintsBus::of(&ConstraintBus::new(&Dim::fixed(NV)), &Dim::fixed(count)).ty()
}

fn harness(count: usize, contacts: usize) -> Harness {
    let mut given = vec![
        ("dynamics", dynamics(NV)),
        ("tau", Type::vector(NV - 6)),
        ("constraints", constraints(count)),
    ];
    if contacts > 0 {
        given.push(("points", points(contacts, NV)));
        given.push(("f", Type::vector(3 * contacts)));
    }
    Harness::new(ConstrainedAcceleration { loops: true, robot: None }, &given).expect("planned")
}

fn weld(a: &str, b: &str) -> serde_json::Value {
    json!({ "robot": "go", "frames": [a, b], "stabilise": "Off" })
}

/// A leg's foot welded to the trunk closes a loop of three joints, twice over; so does another
/// point of the same foot, and four more; and a point between two feet.
#[test]
fn redundant_loops_give_the_acceleration_of_the_loops_once() {
    let robot = go();
    let vertex = |x: f64, y: f64| {
        json!({ "robot": "go", "frame": "FL_foot", "to": { "position": [x, y, 0.0] },
                "kind": "Point", "at": [[x, y, 0.01]], "stabilise": "Off" })
    };
    let pose = json!({ "robot": "go", "frame": "FL_foot", "to": { "position": [0.1, 0.2, 0.0] },
                       "stabilise": "Off" });
    let pair = weld("FL_foot", "HR_foot");
    // All hold the acceleration of one foot at zero: consistent where the foot does not turn.
    let mut many = Loops::new(
        &robot,
        &[
            pose.clone(),
            pair.clone(),
            vertex(0.1, 0.1),
            vertex(0.1, -0.1),
            vertex(-0.1, 0.1),
            vertex(-0.1, -0.1),
            pair.clone(),
        ],
    );
    let mut few = Loops::new(&robot, &[pose, pair]);
    let (mut of_many, mut of_few) = (harness(7, 0), harness(2, 0));
    let tau: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.0).collect();
    for (q, _) in States::of(&robot, 10) {
        // Feet at rest: γ of all is that of one foot.
        let rest = [0.0; NV];
        let state = (&q[..], &rest[..]);
        let (rows, bias) = many.write(state, &mut of_many);
        few.write(state, &mut of_few);
        for rig in [&mut of_many, &mut of_few] {
            rig.set("tau", &tau);
            rig.output(0.0).expect("no fault");
        }
        assert_eq!(of_few.value("rank"), [12.0]);
        assert_eq!(of_many.value("rank"), [12.0]);
        assert!(of_many.value("residual")[0] < 1e-7, "{:?}", of_many.value("residual"));
        let nu_dot = of_many.value("nu_dot");
        close(&nu_dot, &of_few.value("nu_dot"), 1e-7);
        for (row, gamma) in rows.iter().zip(&bias) {
            let rate: f64 = row.iter().zip(&nu_dot).map(|(j, a)| j * a).sum();
            assert!((rate + gamma).abs() < 1e-7, "{rate} {gamma}");
        }
        // λ explains ν̇: M ν̇ + h = Sᵀτ + Jᵀλ.
        let lambda = of_many.value("lambda");
        let (m, h) = (many.dynamics.leaf("bus", 1), many.dynamics.leaf("bus", 2));
        for i in 0..NV {
            let inertia: f64 = (0..NV).map(|k| m[NV * k + i] * nu_dot[k]).sum();
            let pull: f64 = rows.iter().zip(&lambda).map(|(row, l)| row[i] * l).sum();
            let torque = if i < 6 { 0.0 } else { tau[i - 6] };
            let size = 1.0 + inertia.abs() + pull.abs() + h[i].abs();
            assert!((inertia + h[i] - torque - pull).abs() < 1e-8 * size, "row {i}");
        }
    }
}

/// Forces of a loop are internal: the rate of the centroidal momentum with it and without is that
/// of gravity.
#[test]
fn loops_do_not_change_the_total_momentum() {
    let robot = go();
    let mut loops = Loops::new(&robot, &[weld("FL_foot", "HR_foot"), weld("FR_foot", "trunk")]);
    let mut rig = harness(2, 0);
    let given = [("dynamics", dynamics(NV)), ("tau", Type::vector(NV - 6))];
    let mut free =
        Harness::new(block::<ConstrainedAcceleration>(json!({ "loops": false })), &given)
            .expect("planned");
    let mut kinematics = Kinematics::new(&robot.model);
    let mut matrix = vec![0.0; 6 * NV];
    for (q, nu) in States::of(&robot, 20) {
        loops.write((&q, &nu), &mut rig);
        for leaf in 0..5 {
            free.set_leaf("dynamics", leaf, &loops.dynamics.leaf("bus", leaf));
        }
        for rig in [&mut rig, &mut free] {
            rig.set("tau", &[3.0; NV - 6]);
            rig.output(0.0).expect("no fault");
        }
        kinematics.update(&robot.model, &q, &nu);
        centroidal_momentum_matrix(&robot.model, &kinematics, &mut matrix);
        let (with, without) = (rig.value("nu_dot"), free.value("nu_dot"));
        let difference: Vec<f64> = with.iter().zip(&without).map(|(a, b)| a - b).collect();
        assert!(difference.iter().any(|d| d.abs() > 1e-3), "the loops do something");
        let size = difference.iter().fold(1.0f64, |m, d| m.max(d.abs()));
        for row in 0..6 {
            let change: f64 = (0..NV).map(|c| matrix[6 * c + row] * difference[c]).sum();
            assert!(change.abs() < 1e-9 * size, "row {row}: {change:.1e} of {size:.1e}");
        }
    }
}

/// Contact forces enter by the Jacobians of the points.
#[test]
fn contact_forces_push_as_external_forces_do() {
    let robot = go();
    let mut loops = Loops::new(&robot, &[weld("FL_foot", "HR_foot")]);
    let mut rig = harness(1, 2);
    let given = [
        ("dynamics", dynamics(NV)),
        ("tau", Type::vector(NV - 6)),
        ("constraints", constraints(1)),
        ("external", Type::vector(NV)),
    ];
    let mut other = Harness::new(ConstrainedAcceleration { loops: true, robot: None }, &given)
        .expect("planned");
    let f = [1.0, -2.0, 30.0, 0.0, 0.0, 0.0];
    let j: Vec<f64> = (0..3 * NV).map(|i| ((i * 7) % 11) as f64 / 11.0).collect();
    let push: Vec<f64> = j.chunks_exact(3).map(|j| (0..3).map(|i| j[i] * f[i]).sum()).collect();
    for (q, nu) in States::of(&robot, 3) {
        loops.write((&q, &nu), &mut rig);
        loops.write((&q, &nu), &mut other);
        rig.set_leaf("points", crate::buses::ContactBus::JACOBIAN, &j);
        rig.set("f", &f);
        other.set("external", &push);
        for rig in [&mut rig, &mut other] {
            rig.set("tau", &[0.5; NV - 6]);
            rig.output(0.0).expect("no fault");
        }
        close(&rig.value("nu_dot"), &other.value("nu_dot"), 1e-12);
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let given = [("dynamics", dynamics(8)), ("tau", Type::vector(3))];
    let free = || block::<ConstrainedAcceleration>(json!({ "loops": false }));
    let wrong = Harness::new(free(), &given).err().expect("wrong length");
    assert_eq!(wrong.message, "expected 8 or 2 joint torques at `tau`, found 3");
    let given = [("dynamics", dynamics(8)), ("tau", Type::vector(2)), ("points", points(1, 8))];
    let alone = Harness::new(free(), &given).err().expect("no forces");
    assert!(alone.message.contains("`points` and `f` together"), "{}", alone.message);
}

/// A robot with tied feet tumbles at 5 rad/s, by semi-implicit Euler: after each step the loops are
/// open by the third order of the step only, as the projection promises; a missing or doubled
/// `½ J̇ν` would leave the second.
#[test]
fn projection_closes_a_tumbling_loop_to_third_order() {
    let robot = go();
    let tie = |right: &str, left: &str| {
        json!({ "robot": "go", "frames": [right, left], "kind": "Point",
                "at": [[0.0, 0.23, 0.0], [0.0, 0.0, 0.0]] })
    };
    let mut loops = Loops::new(&robot, &[tie("FR_foot", "FL_foot"), tie("HR_foot", "HL_foot")]);
    let mut worst_open = |step: f64, steps: usize| {
        let mut rig = harness(2, 0);
        loops.loops.iter_mut().for_each(|rig| rig.step = step);
        rig.set("tau", &[0.0; NV - 6]);
        let mut q = robot.model.zero_configuration();
        q[7..].copy_from_slice(&[0.0, -0.8, 1.6].repeat(4));
        let mut nu = vec![0.0; NV];
        nu[3..6].copy_from_slice(&[3.0, -2.0, 4.0]);
        let mut worst = 0.0f64;
        for _ in 0..steps {
            loops.write((&q, &nu), &mut rig);
            worst = loops.loops.iter().fold(worst, |m, rig| m.max(rig.leaf("distance", 0)[0]));
            rig.output(0.0).expect("no fault");
            for (nu, nu_dot) in nu.iter_mut().zip(rig.value("nu_dot")) {
                *nu += step * nu_dot;
            }
            let increment: Vec<f64> = nu.iter().map(|nu| step * nu).collect();
            let before = q.clone();
            legwork_mechanics::integrate(&robot.model, &before, &increment, &mut q);
        }
        worst
    };
    let (coarse, fine) = (worst_open(1e-3, 100), worst_open(5e-4, 200));
    assert!(coarse < 1e-8, "open by {coarse:.1e} m");
    let order = (coarse / fine).log2();
    assert!((order - 3.0).abs() < 0.2, "{coarse:.2e} m and {fine:.2e} m: order {order:.2}");
}
