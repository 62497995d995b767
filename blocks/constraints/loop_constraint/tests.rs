//! Constraints against differences along the motion, and the law of γ.

use legwork_block::Tolerance;
use legwork_mechanics::integrate;
use serde_json::json;

use super::*;
use crate::testing::contacts::block;
use crate::testing::robots::{Rig, States, close, go};

fn constraints() -> Vec<serde_json::Value> {
    let at = json!([[0.01, 0.02, -0.03], [-0.02, 0.0, 0.05]]);
    vec![
        json!({ "robot": "go", "frames": ["FL_foot", "HR_foot"], "at": at,
                "rpy": [0.3, -0.2, 0.1], "stabilise": "Off" }),
        json!({ "robot": "go", "frames": ["FL_foot", "trunk"], "kind": "Point", "at": at,
                "stabilise": "Off" }),
        json!({ "robot": "go", "frame": "HL_foot", "at": [[0.01, 0.02, 0.03]],
                "to": { "position": [0.1, 0.2, 0.3], "rpy": [0.5, 0.1, -0.4] },
                "stabilise": "Off" }),
    ]
}

/// `φ̇ = J ν` in the linear rows; the rotation turns at the angular rows; `d(Jν)/dt = J̇ν` along
/// the motion at ν̇ = 0. Differences of second order.
#[test]
fn derivatives_agree_with_differences_along_the_motion() {
    let robot = go();
    for parameters in constraints() {
        let loop_ = block::<LoopConstraint>(parameters.clone());
        let is_weld = loop_.kind == LoopKind::Weld;
        let mut rig = Rig::new(loop_, &robot, &[]);
        for (q, nu) in States::of(&robot, 5) {
            let mut at = |h: f64| {
                let increment: Vec<f64> = nu.iter().map(|nu| h * nu).collect();
                let mut moved = q.clone();
                integrate(&robot.model, &q, &increment, &mut moved);
                rig.set("state", &[&moved, &nu]);
                rig.output();
                let j = rig.leaf("constraint", ConstraintBus::JACOBIAN);
                let rate: Vec<f64> =
                    (0..6).map(|r| (0..18).map(|c| j[6 * c + r] * nu[c]).sum()).collect();
                let [error, dot_nu, gamma] =
                    [ConstraintBus::ERROR, ConstraintBus::JACOBIAN_DOT_NU, ConstraintBus::GAMMA]
                        .map(|leaf| rig.leaf("constraint", leaf));
                assert_eq!(dot_nu, gamma);
                (error, rate, dot_nu)
            };
            let h = 1e-5;
            let (error, rate, bias) = at(0.0);
            let (before, after) = (at(-h), at(h));
            let scale = 1.0 + bias.iter().fold(0.0f64, |m, b| m.max(b.abs()));
            let rows = if is_weld { 6 } else { 3 };
            for (i, bias) in bias.iter().enumerate().take(rows) {
                let change = (after.1[i] - before.1[i]) / (2.0 * h);
                let off = (change - bias).abs();
                assert!(off < 1e-6 * scale, "{parameters}: row {i}: {change} {bias}");
            }
            for (i, rate) in rate.iter().enumerate().take(3) {
                let change = (after.0[i] - before.0[i]) / (2.0 * h);
                assert!((change - rate).abs() < 1e-6 * scale, "{parameters}: row {i}");
            }
            if !is_weld {
                assert_eq!((&error[3..], &rate[3..]), (&[0.0; 3][..], &[0.0; 3][..]));
                continue;
            }
            // Turning by φ⁺ and back by φ⁻ is turning by 2h ω.
            let turn = |e: &[f64]| {
                let e = Vector3::new(e[3], e[4], e[5]);
                nalgebra::Rotation3::from_scaled_axis(e).into_inner()
            };
            let turned = rotation_log(&(turn(&after.0) * turn(&before.0).transpose()));
            close((turned / (2.0 * h)).as_slice(), &rate[3..], 1e-6);
        }
    }
}

/// The columns of the base are exactly zero, so that no force of a loop moves the whole robot.
#[test]
fn a_loop_of_one_robot_has_no_columns_of_its_base() {
    let mut rig = Rig::new(block::<LoopConstraint>(constraints().remove(0)), &go(), &[]);
    for (q, nu) in States::of(&go(), 5) {
        rig.set("state", &[&q, &nu]);
        rig.output();
        let j = rig.leaf("constraint", ConstraintBus::JACOBIAN);
        assert!(j[..36].iter().all(|&entry| entry == 0.0));
    }
}

/// γ of the projection: `φ + Δt J (ν + Δt ν̇) + ½ Δt² J̇ν = 0`; an open loop closes at the limit.
#[test]
fn gamma_is_that_of_the_law() {
    let robot = go();
    let with = |stabilise: serde_json::Value| {
        let parameters = json!({
            "robot": "go", "frames": ["FL_foot", "HR_foot"], "stabilise": stabilise,
            "max_speed": 1e9, "max_turn_rate": 1e9,
        });
        Rig::new(block::<LoopConstraint>(parameters), &robot, &[])
    };
    let baumgarte = json!({ "Baumgarte": { "frequency": "2 Hz", "damping": 0.5 } });
    let mut rigs = [with(json!("Projection")), with(baumgarte), with(json!("Off"))];
    let omega = std::f64::consts::TAU * 2.0;
    for (q, nu) in States::of(&robot, 5) {
        let [projection, baumgarte, bias] = rigs.each_mut().map(|rig| {
            rig.set("state", &[&q, &nu]);
            rig.output();
            rig.leaf("constraint", ConstraintBus::GAMMA)
        });
        let [error, j] =
            [ConstraintBus::ERROR, ConstraintBus::JACOBIAN].map(|l| rigs[0].leaf("constraint", l));
        for i in 0..6 {
            let rate: f64 = (0..18).map(|c| j[6 * c + i] * nu[c]).sum();
            let expected = bias[i] + omega * rate + omega * omega * error[i];
            assert!((baumgarte[i] - expected).abs() < 1e-9 * (1.0 + expected.abs()));
            let step = rigs[0].step;
            let after = error[i] + step * rate + 0.5 * step * step * bias[i];
            let expected = after / (step * step);
            assert!((projection[i] - expected).abs() < 1e-9 * (1.0 + expected.abs()));
        }
        // The limit of the speed, at rest.
        let parameters = json!({ "robot": "go", "frames": ["FL_foot", "HR_foot"] });
        let mut rig = Rig::new(block::<LoopConstraint>(parameters), &robot, &[]);
        rig.set("state", &[&q, &[0.0; 18]]);
        rig.output();
        let gamma = rig.leaf("constraint", ConstraintBus::GAMMA);
        let speed = |rows: &[f64]| rows.iter().map(|g| g * g).sum::<f64>().sqrt() * rig.step;
        assert!(speed(&gamma[..3]) < 1.0 + 1e-9 && speed(&gamma[3..]) < 10.0 + 1e-9);
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let robot = go();
    let refusal = |parameters| {
        Rig::with(block::<LoopConstraint>(parameters), &robot, &[], &[]).err().expect("refused")
    };
    let none = refusal(json!({ "robot": "go" }));
    assert!(none.message.contains("either `frames`"), "{}", none.message);
    let same = refusal(json!({ "robot": "go", "frames": ["trunk", "trunk"] }));
    assert!(same.message.contains("twice"), "{}", same.message);
    let few = json!({ "robot": "go", "frames": ["trunk", "FL_foot"], "at": [[0, 0, 0]] });
    assert_eq!(refusal(few).parameter.as_deref(), Some("at"));
    let rpy = json!({ "robot": "go", "frames": ["trunk", "FL_foot"], "kind": "Point",
                      "rpy": [0, 0, 1] });
    assert_eq!(refusal(rpy).parameter.as_deref(), Some("rpy"));
    let loop_: LoopConstraint = block(json!({ "robot": "go", "frames": ["a", "b"] }));
    let rk4 = Solver::named("Rk4", Tolerance::default()).expect("a solver");
    let solver = loop_.stabilise.check_solver(rk4).expect_err("refused");
    assert!(solver.hints[0].contains("Baumgarte"), "{solver:?}");
}

/// The same for the kinds that hold some directions only; their errors are exact, not only to first
/// order, but for the rotation vector of `Slider`.
#[test]
fn rows_of_joints_agree_with_differences_along_the_motion() {
    let robot = go();
    let at = json!([[0.01, 0.02, -0.03], [-0.02, 0.0, 0.05]]);
    let kinds = [
        (json!({ "Hinge": { "axis": [0.3, -2.0, 0.5] } }), vec![0, 1, 2, 3, 4], 5),
        (json!({ "Slider": { "axis": [1.0, 0.2, 0.0] } }), vec![0, 1, 3, 4, 5], 2),
        (json!({ "Distance": { "length": "20 cm" } }), vec![0], 1),
    ];
    for (kind, rows, exact) in kinds {
        let parameters = json!({ "robot": "go", "frames": ["FL_foot", "HR_foot"], "kind": kind,
                                 "at": at, "stabilise": "Off" });
        let mut rig = Rig::new(block::<LoopConstraint>(parameters), &robot, &[]);
        for (q, nu) in States::of(&robot, 5) {
            let mut at = |h: f64| {
                let increment: Vec<f64> = nu.iter().map(|nu| h * nu).collect();
                let mut moved = q.clone();
                integrate(&robot.model, &q, &increment, &mut moved);
                rig.set("state", &[&moved, &nu]);
                rig.output();
                let j = rig.leaf("constraint", ConstraintBus::JACOBIAN);
                let rate: Vec<f64> =
                    (0..6).map(|r| (0..18).map(|c| j[6 * c + r] * nu[c]).sum()).collect();
                let [error, bias, active] =
                    [ConstraintBus::ERROR, ConstraintBus::JACOBIAN_DOT_NU, ConstraintBus::ACTIVE]
                        .map(|leaf| rig.leaf("constraint", leaf));
                (error, rate, bias, active)
            };
            let h = 1e-5;
            let ((_, rate, bias, active), before, after) = (at(0.0), at(-h), at(h));
            let scale = 1.0 + bias.iter().fold(0.0f64, |m, b| m.max(b.abs()));
            for i in 0..6 {
                let is_held = rows.contains(&i);
                assert_eq!(active[i], f64::from(u8::from(is_held)), "{kind}: row {i}");
                let change = (after.1[i] - before.1[i]) / (2.0 * h);
                assert!((change - bias[i]).abs() < 1e-6 * scale, "{kind}: row {i}: {change}");
                assert!(is_held || (rate[i], bias[i]) == (0.0, 0.0), "{kind}: row {i}");
            }
            for &i in &rows[..exact] {
                let change = (after.0[i] - before.0[i]) / (2.0 * h);
                assert!((change - rate[i]).abs() < 1e-6 * scale, "{kind}: row {i}: {change}");
            }
        }
    }
}

/// A hinge does not see a turn about its axis, a slider no shift along it.
#[test]
fn a_joint_leaves_its_own_motion_free() {
    let robot = go();
    let (roll, step) = (0.7, [0.3, 0.0, 0.0]);
    let error = |kind: serde_json::Value, rpy: [f64; 3], position: [f64; 3]| {
        let to = json!({ "position": position, "rpy": rpy });
        let parameters = json!({ "robot": "go", "frame": "trunk", "to": to, "kind": kind });
        let mut rig = Rig::new(block::<LoopConstraint>(parameters), &robot, &[]);
        rig.set("state", &[&robot.model.zero_configuration(), &[0.0; 18]]);
        rig.output();
        rig.leaf("constraint", ConstraintBus::ERROR).iter().fold(0.0f64, |m, e| m.max(e.abs()))
    };
    let x = json!([1.0, 0.0, 0.0]);
    let (hinge, slider) = (json!({ "Hinge": { "axis": x } }), json!({ "Slider": { "axis": x } }));
    assert!(error(hinge.clone(), [roll, 0.0, 0.0], [0.0; 3]) < 1e-15);
    assert!(error(hinge.clone(), [0.0, roll, 0.0], [0.0; 3]) > 0.1);
    assert!(error(hinge, [0.0; 3], step) > 0.1);
    assert!(error(slider.clone(), [0.0; 3], step) < 1e-15);
    assert!(error(slider.clone(), [roll, 0.0, 0.0], [0.0; 3]) > 0.1);
    assert!(error(slider, [0.0; 3], [0.0, 0.2, 0.0]) > 0.1);
    let flat = json!({ "robot": "go", "frames": ["FL_foot", "FR_foot"],
                       "kind": { "Hinge": { "axis": [0, 0, 0] } } });
    let refused = Rig::with(block::<LoopConstraint>(flat), &robot, &[], &[]).err();
    assert_eq!(refused.expect("refused").parameter.as_deref(), Some("kind"));
}
