//! The laws of the step, row by row, from the numbers on the ports alone.

use legwork_block::{Dim, Invalid, Signal, Type};
use legwork_qp::problems::Random;
use serde_json::json;

use super::ConstraintSolver;
use crate::buses::{ConstraintBus, ConstraintsBus, contact_points};
use crate::dynamics::robot_dynamics::RobotDynamics;
use crate::testing::contacts::block;
use crate::testing::robots::{Rig, States, close, go};

const NV: usize = 18;

/// Two constraints, one limit, two contacts.
fn rig(parameters: serde_json::Value) -> Result<Rig, Invalid> {
    let dim = Dim::fixed;
    let constraints = ConstraintsBus::of(&ConstraintBus::new(&dim(NV)), &dim(2)).ty();
    let points = |count| contact_points(&dim(count), &dim(NV)).ty();
    let optional: Vec<String> = ["joint", "limit", "contact"]
        .iter()
        .flat_map(|kind| ["stiffness", "damping"].map(|what| format!("{kind}_{what}")))
        .collect();
    let has = |name: &str| !parameters[name].is_null();
    let mut given: Vec<(&str, Type)> = Vec::new();
    for (name, parameter, ty) in [
        ("constraints", "joints", constraints),
        ("limits", "limits", points(1)),
        ("points", "contact", points(2)),
    ] {
        if has(parameter) {
            given.push((name, ty));
        }
    }
    let without: Vec<&str> = optional.iter().map(String::as_str).collect();
    Rig::with(block::<ConstraintSolver>(parameters), &go(), &without, &given)
}

fn normals(random: &mut Random, count: usize) -> Vec<f64> {
    (0..count).map(|_| random.normal()).collect()
}

/// `Σ_c J[row + rows c] ν[c]`.
fn product(j: &[f64], rows: usize, row: usize, nu: &[f64]) -> f64 {
    nu.iter().enumerate().map(|(c, nu)| j[rows * c + row] * nu).sum()
}

/// The leaves of a contact.
struct Touching {
    gap: f64,
    friction: f64,
    velocity: Vec<f64>,
    jacobian: Vec<f64>,
}

impl Touching {
    fn random(random: &mut Random, nu: &[f64], friction: f64) -> Self {
        let gap = 1e-3 * random.normal();
        let jacobian = normals(random, 3 * NV);
        let velocity = (0..3).map(|row| product(&jacobian, 3, row, nu)).collect();
        Self { gap, friction, velocity, jacobian }
    }

    fn leaves<'a>(&'a self, zeros: &'a [f64]) -> Vec<&'a [f64]> {
        let gap = std::slice::from_ref(&self.gap);
        let friction = std::slice::from_ref(&self.friction);
        let (three, nine) = (&zeros[..3], &zeros[..9]);
        vec![
            three,
            nine,
            gap,
            &self.velocity,
            &self.jacobian,
            three,
            friction,
            &zeros[..1],
            &zeros[..1],
        ]
    }
}

/// `M ν̇ = Sᵀτ + external − h + Gᵀλ`, and every λ is what its spring and damper give at the step's
/// end: pulling and pushing, only pushing, within Coulomb's cone.
#[test]
fn forces_are_those_of_springs_and_dampers_at_the_end_of_the_step() {
    laws_hold(&json!("Velocities"), 1e-13);
}

#[test]
fn they_are_by_a_program_in_forces_too() {
    laws_hold(&json!({ "Forces": {} }), 1e-10);
}

fn laws_hold(method: &serde_json::Value, tol: f64) {
    let (k, b, k_turn, k_limit, k_contact, mu) = (3e4, 20.0, 500.0, 4e3, 1e5, 0.6);
    let mut rig = rig(json!({
        "robot": "go", "mu": mu, "friction_damping": 50.0, "tol": tol, "method": method,
        "joints": { "stiffness": k, "damping": b, "angular_stiffness": k_turn },
        "limits": { "stiffness": k_limit },
        "contact": { "Spring": { "stiffness": k_contact, "damping": b } },
    }))
    .expect("a plan");
    let mut dynamics = Rig::new(
        block::<RobotDynamics>(json!({ "robot": "go" })),
        &go(),
        &["motor_inertia", "motor_inertia_matrix"],
    );
    let (mut random, h) = (Random::new(8), rig.step);
    let (mut limits, mut slides, mut sticks) = (0, 0, 0);
    for (q, nu) in States::of(&go(), 30) {
        dynamics.set("state", &[&q, &nu]);
        dynamics.output();
        let bus: Vec<Vec<f64>> = (0..8).map(|leaf| dynamics.leaf("bus", leaf)).collect();
        rig.set("dynamics", &bus.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let (tau, external) = (normals(&mut random, 12), normals(&mut random, NV));
        rig.set("tau", &[&tau]);
        rig.set("external", &[&external]);
        let g: Vec<Vec<f64>> = (0..2).map(|_| normals(&mut random, 6 * NV)).collect();
        let phi: Vec<Vec<f64>> =
            (0..2).map(|_| normals(&mut random, 6).iter().map(|x| 1e-3 * x).collect()).collect();
        let (six, active) = ([0.0; 6], [1.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
        let one = |i: usize| [&g[i][..], &six, &phi[i], &six, &active];
        let leaves: Vec<&[f64]> = (0..2).flat_map(one).collect();
        rig.set("constraints", &leaves);
        let limit = Touching::random(&mut random, &nu, 0.0);
        let zeros = [0.0; 9];
        rig.set("limits", &limit.leaves(&zeros));
        let touching: Vec<Touching> =
            [-1.0, mu].into_iter().map(|own| Touching::random(&mut random, &nu, own)).collect();
        let leaves: Vec<&[f64]> = touching.iter().flat_map(|t| t.leaves(&zeros)).collect();
        rig.set("points", &leaves);
        rig.output();
        // An interior point may call itself inaccurate; the laws below judge it.
        let is_exact = *method == json!("Velocities");
        assert!(rig.leaf("status", 0)[0] <= if is_exact { 0.0 } else { 1.0 });

        let nu_dot = rig.leaf("nu_dot", 0);
        let (lambda, f_limit, f) =
            (rig.leaf("lambda", 0), rig.leaf("f_limits", 0), rig.leaf("f", 0));
        let after: Vec<f64> = nu.iter().zip(&nu_dot).map(|(nu, a)| nu + h * a).collect();
        let mut force: Vec<f64> = external.iter().zip(&bus[2]).map(|(e, h)| e - h).collect();
        (0..12).for_each(|i| force[6 + i] += tau[i]);
        for c in 0..NV {
            for i in 0..2 {
                force[c] += (0..6).map(|r| g[i][6 * c + r] * lambda[6 * i + r]).sum::<f64>();
                let j = &touching[i].jacobian;
                force[c] += (0..3).map(|r| j[3 * c + r] * f[3 * i + r]).sum::<f64>();
            }
            force[c] += limit.jacobian[3 * c + 2] * f_limit[0];
        }
        let m = &bus[1];
        let inertial: Vec<f64> = (0..NV).map(|r| product(m, NV, r, &nu_dot)).collect();
        let scale = inertial.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        close(&inertial, &force, 1e-8 * scale);

        for i in 0..2 {
            for row in 0..6 {
                let rate = product(&g[i], 6, row, &after);
                let k = if row < 3 { k } else { k_turn };
                let expected = -k * (phi[i][row] + h * rate) - b * rate;
                let expected = if active[row] == 0.0 { 0.0 } else { expected };
                let found = lambda[6 * i + row];
                assert!((found - expected).abs() < 1e-7 * scale, "{row}: {found} {expected}");
            }
        }
        let expected = -k_limit * (limit.gap + h * product(&limit.jacobian, 3, 2, &after));
        assert!((f_limit[0] - expected.max(0.0)).abs() < 1e-7 * scale, "{expected}");
        limits += u32::from(expected > 0.0);
        for (t, f) in touching.iter().zip(f.chunks_exact(3)) {
            let u: Vec<f64> = (0..3).map(|row| product(&t.jacobian, 3, row, &after)).collect();
            let expected = -k_contact * (t.gap + h * u[2]) - b * u[2];
            assert!((f[2] - expected.max(0.0)).abs() < 1e-6 * scale, "{} {expected}", f[2]);
            let drive = [-50.0 * u[0], -50.0 * u[1]];
            let size = libm::hypot(drive[0], drive[1]);
            let share = if size > mu * f[2] { mu * f[2] / size } else { 1.0 };
            close(&f[..2], &drive.map(|d| share * d), 1e-6 * scale);
            slides += u32::from(share < 1.0 && f[2] > 0.0);
            sticks += u32::from(share == 1.0);
        }
    }
    assert!(limits > 5 && slides > 5 && sticks > 0, "{limits} {slides} {sticks}");
}

/// Without an answer, and with `Zero`, the robot moves as if nothing held it.
#[test]
fn a_step_without_answer_is_free() {
    let loose = |on_fail: &str| {
        let limits = json!({ "stiffness": 1e6 });
        rig(json!({ "robot": "go", "limits": limits, "on_fail": on_fail })).expect("a plan")
    };
    let mut dynamics = Rig::new(
        block::<RobotDynamics>(json!({ "robot": "go" })),
        &go(),
        &["motor_inertia", "motor_inertia_matrix"],
    );
    let mut random = Random::new(3);
    for (q, nu) in States::of(&go(), 3) {
        let mut rig = loose("Zero");
        dynamics.set("state", &[&q, &nu]);
        dynamics.output();
        let bus: Vec<Vec<f64>> = (0..8).map(|leaf| dynamics.leaf("bus", leaf)).collect();
        rig.set("dynamics", &bus.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let tau = normals(&mut random, 12);
        rig.set("tau", &[&tau]);
        rig.set("external", &[&[0.0; NV]]);
        let limit = Touching { gap: f64::NAN, ..Touching::random(&mut random, &nu, 0.0) };
        rig.set("limits", &limit.leaves(&[0.0; 9]));
        rig.output();
        assert!(rig.leaf("status", 0)[0] >= 2.0);
        assert_eq!(rig.leaf("f_limits", 0), [0.0]);
        let nu_dot = rig.leaf("nu_dot", 0);
        let inertial: Vec<f64> = (0..NV).map(|r| product(&bus[1], NV, r, &nu_dot)).collect();
        let mut force: Vec<f64> = bus[2].iter().map(|h| -h).collect();
        (0..12).for_each(|i| force[6 + i] += tau[i]);
        let scale = force.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        close(&inertial, &force, 1e-8 * scale);
    }
}

#[test]
fn what_holds_nothing_or_does_not_fit_is_refused() {
    let refused = |parameters| rig(parameters).err().expect("refused");
    let nothing = refused(json!({ "robot": "go" }));
    assert!(nothing.message.contains("nothing to hold"), "{}", nothing.message);
    let spring = json!({ "Spring": { "stiffness": 1e6 } });
    let smooth = refused(json!({ "robot": "go", "contact": spring }));
    assert_eq!(smooth.parameter.as_deref(), Some("mu"));
    let many = refused(json!({ "robot": "go", "contact": spring, "mu": [0.1, 0.2, 0.3] }));
    assert!(many.message.contains("found 3"), "{}", many.message);
    let loose = json!({ "robot": "go", "limits": { "stiffness": 1 }, "tol": 0 });
    assert_eq!(refused(loose).parameter.as_deref(), Some("tol"));
    let flat = json!({ "Forces": { "cone": { "Pyramid": { "sides": 2 } } } });
    let flat = refused(json!({ "robot": "go", "limits": { "stiffness": 1 }, "method": flat }));
    assert!(flat.message.contains("at least 3 sides"), "{}", flat.message);
    let slides = refused(json!({
        "robot": "go", "contact": spring, "mu": 0.5,
        "method": { "LeastForces": {} }, "friction_law": "Associated",
    }));
    assert_eq!(slides.parameter.as_deref(), Some("friction_law"));
    let falls_back = refused(json!({
        "robot": "go", "contact": spring, "mu": 0.5,
        "method": { "LeastForces": {} }, "on_fail": { "Fallback": "Associated" },
    }));
    assert_eq!(falls_back.parameter.as_deref(), Some("on_fail"));
}
