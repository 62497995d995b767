//! Solver blocks.
//!
//! One file: all of them are tried on the same problems.

use legwork_qp::problems::{random_definite, rigid_body};
use legwork_qp::{Cone, ContactProblemData, DEFAULT_REGULARISATION, METHODS, Method, PyramidFit};
use serde::de::DeserializeSeed as _;
use serde_json::{Value as Json, json};

use super::kinds::KINDS;
use super::*;
use crate::testing::contacts::{Harness, problem};
use legwork_qp::Value;

/// The contact solver of this kind.
fn solver(kind: &str, parameters: Json) -> ContactSolver {
    Kind::named(kind).deserialize(parameters).expect("parameters of this kind")
}

fn pyramid() -> ConeShape {
    ConeShape::new(Cone::Pyramid { sides: 4, fit: PyramidFit::Inscribed }).expect("four sides")
}

fn harness(kind: &str, parameters: Json, data: &ContactProblemData) -> Harness {
    let ports = [("problem", problem(data.friction.len(), data.bias.len()))];
    let mut rig = Harness::new(solver(kind, parameters), &ports).expect("planned");
    rig.set_problem(data);
    rig
}

fn broken(data: &ContactProblemData) -> ContactProblemData {
    let mut broken = data.clone();
    broken.bias[0] = f64::NAN;
    broken
}

/// Largest difference over the largest force.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
    a.iter().zip(b).fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs())) / size
}

/// What forces do to the contacts, `G f + b`, for all contacts acting.
fn acceleration(data: &ContactProblemData, forces: &[f64]) -> Vec<f64> {
    let mut acceleration = vec![0.0; forces.len()];
    data.view().acceleration_into(forces, &mut acceleration);
    acceleration
}

fn has(method: &Method, setting: &str) -> bool {
    method.settings.iter().any(|known| known.name == setting)
}

/// The methods that take pyramids only and are exact up to rounding.
fn direct() -> impl Iterator<Item = &'static str> {
    let is_direct = |method: &&Method| method.accuracy.is_some_and(|known| known.definite <= 1e-10);
    METHODS.iter().copied().filter(is_direct).map(|method| method.kind)
}

/// The methods that stop at a residual.
fn iterative() -> impl Iterator<Item = &'static Method> {
    let is_iterative = |method: &&Method| method.accuracy.is_some() && has(method, "accept");
    METHODS.iter().copied().filter(is_iterative)
}

/// The name of the setting that limits iterations.
fn limit_of(method: &Method) -> &'static str {
    let is_count = |setting: &&legwork_qp::Setting| matches!(setting.default, Value::Count(_));
    method.settings.iter().find(is_count).expect("a limit").name
}

/// Parameters of the smallest useful tolerance.
fn tightest(method: &Method) -> Json {
    let value = |value: Value| match value {
        Value::Count(value) => json!(value),
        Value::Real(value) | Value::Share(value) => json!(value),
        Value::Flag(value) => json!(value),
    };
    method.tightest.iter().map(|(name, of)| ((*name).to_owned(), value(*of))).collect()
}

/// All of both.
fn warm() -> impl Iterator<Item = &'static str> {
    direct().chain(iterative().map(|method| method.kind))
}

/// An interior point stays about the square root of its gap away from a degenerate corner.
#[test]
fn all_solvers_agree_on_definite_problems() {
    for seed in 0..10 {
        for cone in [pyramid(), ConeShape::circular()] {
            let data = random_definite(seed, 4, cone);
            let mut clarabel = harness("ClarabelQp", json!({}), &data);
            clarabel.step(0.0).expect("solved");
            let compare = |name: &str, mut rig: Harness| {
                rig.step(0.0).expect("solved");
                let apart = difference(&clarabel.value("f"), &rig.value("f"));
                assert!(apart < 1e-5, "seed {seed}: clarabel and {name} differ by {apart:.1e}");
                assert!(rig.value("residual")[0] < 1e-9, "seed {seed}: {name}");
                assert_eq!(rig.value("status"), [0.0], "seed {seed}: {name}");
            };
            for method in iterative() {
                compare(method.kind, harness(method.kind, tightest(method), &data));
            }
            for kind in direct() {
                compare(kind, harness(kind, json!({}), &data));
            }
        }
    }
}

#[test]
fn a_warm_start_saves_iterations_and_changes_nothing() {
    // Single problems may take one more: the kept rows are redundant on a rigid body.
    for name in direct() {
        let (mut cold_total, mut warm_total) = (0.0, 0.0);
        for seed in 0..10 {
            let data = rigid_body(seed, 4, pyramid(), false);
            let mut rig = harness(name, json!({}), &data);
            rig.step(0.0).expect("solved");
            let (cold, cold_iterations) = (rig.value("f"), rig.value("iterations")[0]);
            rig.step(0.1).expect("solved");
            // Redundant feet share their load by the regularisation alone: it magnifies rounding.
            let tolerance = 10.0 * f64::EPSILON / DEFAULT_REGULARISATION;
            let apart = difference(&cold, &rig.value("f"));
            assert!(apart < tolerance, "{name}, seed {seed}: warm and cold differ by {apart:.1e}");
            let apart =
                difference(&acceleration(&data, &cold), &acceleration(&data, &rig.value("f")));
            assert!(apart < 1e-9, "{name}, seed {seed}: accelerations differ by {apart:.1e}");
            cold_total += cold_iterations;
            warm_total += rig.value("iterations")[0];
            let mut again = harness(name, json!({ "cold": true }), &data);
            again.step(0.0).expect("solved");
            let first = (again.value("f"), again.value("iterations"));
            again.step(0.1).expect("solved");
            let second = (again.value("f"), again.value("iterations"));
            assert_eq!(first, second, "{name}, seed {seed}: `cold` begins anew");
        }
        let counts = format!("{warm_total} iterations warm, {cold_total} cold");
        assert!(warm_total < 0.75 * cold_total, "{name}: {counts}");
    }
    for method in iterative() {
        let (name, parameters) = (method.kind, tightest(method));
        let data = random_definite(3, 4, pyramid());
        let mut rig = harness(name, parameters, &data);
        rig.step(0.0).expect("solved");
        let cold = rig.value("f");
        assert!(rig.value("iterations")[0] > 0.0, "{name}");
        rig.step(0.1).expect("solved");
        assert_eq!(rig.value("iterations"), [0.0], "{name} begins at the answer");
        // Forces are scaled and scaled back.
        assert!(difference(&rig.value("f"), &cold) <= 4.0 * f64::EPSILON, "{name}");
    }
}

/// Whatever the method kept, a restored copy goes the same way bit for bit.
#[test]
fn s7_1_a_snapshot_holds_the_warm_start_of_every_method() {
    let problems = [3, 4, 5].map(|seed| rigid_body(seed, 4, pyramid(), false));
    for name in warm() {
        let mut rig = harness(name, json!({}), &problems[0]);
        rig.step(0.0).expect("solved");
        let saved = rig.save();
        let mut go = || {
            rig.restore(&*saved);
            problems[1..]
                .iter()
                .map(|data| {
                    rig.set_problem(data);
                    rig.step(0.1).expect("solved");
                    (rig.value("f"), rig.value("iterations"))
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(go(), go(), "{name}");
    }
}

/// Semantics 6.3: a second solve of the same step starts from committed state, and a minor step
/// leaves no memo.
#[test]
fn s6_3_solves_before_an_update_all_start_from_committed_state() {
    let data = rigid_body(3, 4, pyramid(), false);
    let warm = json!({ "sweeps": 3, "tol": 0.0, "accept": 1 });
    let mut rig = harness("ProjectedGaussSeidel", warm, &data);
    rig.output(0.0).expect("solved");
    let first = rig.value("f");
    rig.output(0.0).expect("solved");
    assert_eq!(rig.value("f"), first);
    let saved = rig.save();
    rig.step(0.0).expect("solved");
    rig.minor = true;
    rig.output(0.0005).expect("solved");
    let minor = rig.value("f");
    assert_ne!(minor, first, "the warm start was committed");
    rig.minor = false;
    rig.output(0.001).expect("solved");
    assert_eq!(rig.value("f"), minor);
    // A restored copy goes the same way bit for bit.
    rig.restore(&*saved);
    rig.step(0.0).expect("solved");
    rig.output(0.001).expect("solved");
    assert_eq!(rig.value("f"), minor);
}

#[test]
fn s9_2_a_problem_of_nan_is_a_fault_unless_a_policy_answers_it() {
    let data = rigid_body(1, 4, pyramid(), false);
    let mut stop = harness("ActiveSetQp", json!({}), &broken(&data));
    let fault = stop.output(0.0).expect_err("a fault");
    assert!(fault.message.contains("InvalidData"), "{}", fault.message);
    assert!(fault.message.contains("`Stop`"), "{}", fault.message);

    let mut zero = harness("ClarabelQp", json!({ "on_fail": "Zero" }), &broken(&data));
    zero.step(0.0).expect("zero force");
    assert_eq!(zero.value("f"), [0.0; 12]);
    assert_eq!(zero.value("status"), [6.0]);
    let report = zero.report();
    assert_eq!((report.solver_calls, report.solver_failures), (1, 1));
    assert_eq!(report.notes, ["1 of 1 contact problems were answered with zero"]);

    for name in warm() {
        let mut zero = harness(name, json!({ "on_fail": "Zero" }), &broken(&data));
        zero.step(0.0).expect("zero force");
        assert_eq!((zero.value("f"), zero.value("status")), (vec![0.0; 12], vec![6.0]), "{name}");
    }
}

#[test]
fn s9_2_hold_last_repeats_solved_forces_and_then_stops() {
    let data = rigid_body(2, 4, pyramid(), false);
    let policy = json!({ "on_fail": { "HoldLast": { "max": 2 } } });
    let mut rig = harness("ActiveSetQp", policy.clone(), &broken(&data));
    let fault = rig.output(0.0).expect_err("nothing to hold");
    assert!(fault.message.contains("no earlier solution"), "{}", fault.message);

    let mut rig = harness("ActiveSetQp", policy, &data);
    rig.step(0.0).expect("solved");
    let solved = rig.value("f");
    rig.set_problem(&broken(&data));
    for i in 1..=2 {
        rig.step(0.1 * f64::from(i)).expect("held");
        assert_eq!(rig.value("f"), solved);
    }
    let fault = rig.output(0.3).expect_err("held too long");
    assert!(fault.message.contains("held for 2 steps"), "{}", fault.message);
    rig.set_problem(&data);
    rig.step(0.4).expect("solved");
    rig.set_problem(&broken(&data));
    rig.step(0.5).expect("held anew");
    let report = rig.report();
    assert_eq!((report.solver_calls, report.solver_failures), (5, 3));
    assert_eq!(report.notes, ["3 of 5 contact problems were answered with the last solution"]);
}

#[test]
fn s9_2_a_fallback_solves_what_the_first_solver_did_not() {
    let data = rigid_body(4, 4, pyramid(), false);
    for name in direct() {
        let policy = json!({
            "sweeps": 1, "tol": 1e-14, "accept": 1e-14, "on_fail": { "Fallback": { name: {} } },
        });
        let mut rig = harness("ProjectedGaussSeidel", policy, &data);
        rig.step(0.0).expect("solved by the other");
        let mut direct = harness(name, json!({}), &data);
        direct.step(0.0).expect("solved");
        assert_eq!(rig.value("f"), direct.value("f"));
        assert_eq!(rig.value("status"), [0.0]);
        let report = rig.report();
        assert_eq!((report.solver_calls, report.solver_failures), (1, 1));
        assert_eq!(report.notes, ["1 of 1 contact problems were answered by the fallback"]);
    }

    // If all fail, the last one's policy decides.
    let chain = json!({ "on_fail": { "Fallback": { "ClarabelQp": { "on_fail": "Zero" } } } });
    let mut rig = harness("ActiveSetQp", chain, &broken(&data));
    rig.step(0.0).expect("zero force");
    assert_eq!(rig.value("f"), [0.0; 12]);
}

/// A method of pyramids solves circular cones too, with redundant contacts, from warm and cold
/// starts.
#[test]
fn methods_of_pyramids_solve_circular_cones() {
    for name in direct() {
        for seed in 0..10 {
            let data = rigid_body(seed, 4, ConeShape::circular(), false);
            let mut rig = harness(name, json!({}), &data);
            let mut clarabel = harness("ClarabelQp", json!({}), &data);
            clarabel.step(0.0).expect("solved");
            let expected = acceleration(&data, &clarabel.value("f"));
            for step in 0..2 {
                rig.step(f64::from(step)).expect("solved");
                assert_eq!(rig.value("status"), [0.0], "seed {seed}: {name}");
                let found = acceleration(&data, &rig.value("f"));
                let size = data.view().acceleration_scale();
                let pairs = found.iter().zip(&expected);
                let apart = pairs.fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs()));
                assert!(apart < 1e-5 * size, "seed {seed}: {name}, step {step}: {apart:.1e}");
            }
        }
    }
}

#[test]
fn used_up_sweeps_count_as_inaccurate_up_to_the_accepted_residual() {
    let data = rigid_body(6, 4, pyramid(), false);
    for method in iterative() {
        let (name, limit) = (method.kind, limit_of(method));
        let one = json!({ limit: 1, "tol": 1e-14, "accept": 1 });
        let mut rig = harness(name, one.clone(), &data);
        rig.step(0.0).expect("taken");
        assert_eq!((rig.value("status"), rig.value("iterations")), (vec![1.0], vec![1.0]));
        let notes = rig.report().notes;
        assert_eq!(notes, ["1 of 1 contact problems were solved at reduced accuracy"], "{name}");
        let mut strict = one;
        strict["accept"] = json!(1e-14);
        let fault = harness(name, strict, &data).output(0.0).expect_err("not accepted");
        assert!(fault.message.contains("MaxIterations after 1"), "{name}: {}", fault.message);
    }
}

/// Without a word about it, forces far from a solution are not used: those of no sweep at all, and
/// those of few sweeps over many redundant contacts.
#[test]
fn answers_far_from_a_solution_are_failures_by_default() {
    let (few, many) = (rigid_body(6, 4, pyramid(), false), rigid_body(2, 50, pyramid(), false));
    for method in iterative() {
        let (name, limit) = (method.kind, limit_of(method));
        for (data, most) in [(&few, 0), (&many, 5)] {
            let fault =
                harness(name, json!({ limit: most }), data).output(0.0).expect_err("far away");
            let said = format!("MaxIterations after {most}");
            assert!(fault.message.contains(&said), "{name}: {}", fault.message);
            let policy = json!({ limit: most, "on_fail": "Zero" });
            let mut counted = harness(name, policy, data);
            counted.step(0.0).expect("answered by zero");
            assert_eq!(counted.value("f"), vec![0.0; data.bias.len()], "{name}");
            assert_ne!(counted.value("status"), [0.0], "{name}");
        }
        // What is left after the sweeps of the default is small, or a failure.
        let mut rig = harness(name, json!({ "on_fail": "Zero" }), &many);
        rig.step(0.0).expect("a policy");
        let solved = rig.value("status")[0] < 2.0;
        assert!(!solved || rig.value("residual")[0] <= 1e-4, "{name}");
    }
}

/// What the method makes of a kept problem, without the block.
fn replay(kind: &str, named: &legwork_qp::NamedProblem) -> Vec<f64> {
    let Problem::Contact(data) = &named.problem else { panic!("a contact problem") };
    let (contact_count, method) = (data.friction.len(), Kind::named(kind).method);
    let size = ProblemSize { contact_count, sides: 4, velocity_dim: 3 * contact_count };
    let mut solver = (method.make)(size, &method.defaults());
    let mut start = named.extra.get("start").cloned().unwrap_or_default();
    let mut forces = vec![0.0; 3 * contact_count];
    let mut tree = PackedFactor::new(size.velocity_dim);
    let factor = named.extra.get("factor");
    let root = factor.map(|factor| RootOfInverse(tree.read(factor).expect("a factor")));
    let mass = root.as_ref().map(|root| MassView { jacobian: &named.extra["jacobian"], root });
    let given = Given { mass, ..data.view().into() };
    let solution = solver.solve_warm(&given, &mut start, &mut forces);
    assert!(solution.status.is_usable() || solution.status == Status::MaxIterations);
    forces
}

fn read(files: &[(String, Vec<u8>)]) -> Vec<legwork_qp::NamedProblem> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    let read = |bytes: &[u8]| legwork_qp::problem_file::read(&text(bytes)).expect("a problem");
    files.iter().map(|(_, bytes)| read(bytes)).collect()
}

#[test]
fn a_kept_problem_solved_again_has_the_same_forces_bit_for_bit() {
    for name in warm().chain(["ClarabelQp"]) {
        for cold in [false, true] {
            let mut parameters = json!({ "dump": { "Every": { "n": 2, "max": 2 } } });
            if name != "ClarabelQp" {
                parameters["cold"] = json!(cold);
            }
            let mut rig = harness(name, parameters, &rigid_body(0, 4, pyramid(), false));
            let mut expected = Vec::new();
            for step in 0..6 {
                rig.set_problem(&rigid_body(step, 4, pyramid(), step == 2));
                rig.step(0.001 * step as f64).expect("solved");
                if step % 2 == 0 && step < 4 {
                    expected.push(rig.value("f"));
                }
            }
            let files = rig.report().files;
            let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["0.json", "2.json"]);
            for (named, expected) in read(&files).iter().zip(&expected) {
                let has_start = named.extra.contains_key("start");
                assert_eq!(has_start, !cold && name != "ClarabelQp", "{name}");
                let bits = |f: &[f64]| f.iter().map(|f| f.to_bits()).collect::<Vec<_>>();
                let again = replay(name, named);
                assert_eq!(bits(&again), bits(expected), "{name}, {}", named.origin);
            }
        }
    }
}

#[test]
fn the_first_problem_that_fails_is_kept_also_where_it_ends_the_run() {
    let data = rigid_body(1, 4, pyramid(), false);
    let mut stop = harness("ActiveSetQp", json!({}), &data);
    stop.step(0.0).expect("solved");
    assert!(stop.report().files.is_empty());
    stop.set_problem(&broken(&data));
    stop.output(0.417).expect_err("a fault");
    let files = stop.report().files;
    assert_eq!(files[0].0, "417.json");
    let [named] = &read(&files)[..] else { panic!("one problem") };
    assert_eq!(
        named.origin,
        "ActiveSetQp at t = 0.417 s: InvalidData after 0 iterations, residual NaN"
    );
    let Problem::Contact(kept) = &named.problem else { panic!("a contact problem") };
    assert!(kept.bias[0].is_nan());
    assert_eq!(kept.bias[1..], data.bias[1..]);
    // The fault may strike in a minor step as well.
    stop.minor = true;
    stop.output(0.418).expect_err("a fault");
    assert_eq!(stop.report().files.len(), 1);

    let held = |dump| {
        let policy = json!({ "on_fail": "Zero", "dump": dump });
        let mut rig = harness("Lemke", policy, &broken(&data));
        for step in 0..4 {
            rig.step(0.001 * f64::from(step)).expect("zero force");
        }
        let copy = rig.save();
        rig.restore(&*copy);
        rig.report().files.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(held(json!("Never")), [""; 0]);
    assert_eq!(held(json!({ "Failures": { "max": 3 } })), ["0.json", "1.json", "2.json"]);

    // What a fallback saved is a failure of the first method, and its problem.
    let chain = json!({ "sweeps": 1, "tol": 1e-14, "accept": 1e-14,
        "on_fail": { "Fallback": { "ActiveSetQp": {} } } });
    let mut rig = harness("ProjectedGaussSeidel", chain, &data);
    rig.step(0.0).expect("solved by the other");
    let origin = &read(&rig.report().files)[0].origin;
    assert!(
        origin.starts_with("ProjectedGaussSeidel at t = 0 s: MaxIterations after 1"),
        "{origin}"
    );
}

/// What a solver keeps is no more than its block says before it is made.
#[test]
fn solvers_keep_no_more_than_they_say() {
    for kind in &*KINDS {
        let block = solver(kind.method.kind, json!({}));
        for (contact_count, velocity_dim) in [(4, 18), (40, 6), (40, 60), (100, 18)] {
            let size = ProblemSize { contact_count, sides: 4, velocity_dim };
            let mut made = None;
            let kept = allocation_counter::measure(|| made = Some(Solver::new(&block, size)));
            let said = 8 * block.numbers(size) + 20_000;
            let (bytes, name) = (kept.bytes_max, kind.method.kind);
            assert!(bytes <= said, "{name}, {size:?}: {bytes} of {said}");
        }
    }
}

/// A body of 2 kg that slides along x at 1 m/s: friction is full against it, and it stays on the
/// ground, where the convex law would lift it.
#[test]
fn what_slides_stays_on_the_ground_under_coulombs_law() {
    let mut data = ContactProblemData::new(1, pyramid());
    (data.inverse_inertia[0], data.inverse_inertia[4], data.inverse_inertia[8]) = (0.5, 0.5, 0.5);
    data.bias = vec![1000.0, 0.0, -9.81];
    data.friction = vec![0.3];
    data.force_scale = 20.0;
    let mut rig = harness("StewartTrinkle", json!({}), &data);
    rig.step(0.0).expect("solved");
    let (f, weight) = (rig.value("f"), 2.0 * 9.81);
    assert!((f[2] - weight).abs() < 1e-6 * weight, "{f:?}");
    let edge = libm::hypot(f[0], f[1]) / f[2];
    assert!(f[0] < 0.0 && (0.3 / libm::sqrt(2.0) - 1e-6..0.3 + 1e-6).contains(&edge), "{f:?}");
}

#[cfg(feature = "osqp")]
#[test]
fn osqp_agrees_with_the_active_set() {
    let data = random_definite(0, 4, pyramid());
    let mut osqp = harness("Osqp", json!({}), &data);
    let mut exact = harness("ActiveSetQp", json!({}), &data);
    for seed in 0..10 {
        let data = random_definite(seed, 4, pyramid());
        osqp.set_problem(&data);
        exact.set_problem(&data);
        osqp.step(0.0).expect("solved");
        exact.step(0.0).expect("solved");
        let (f, expected) = (osqp.value("f"), exact.value("f"));
        let apart = difference(&expected, &f);
        assert!(apart < 1e-5, "seed {seed}: {apart:.1e}");
        assert!(osqp.value("status")[0] < 2.0);
        // Nothing is remembered: the same problem has the same bits.
        osqp.step(0.1).expect("solved");
        assert_eq!(osqp.value("f"), f, "seed {seed}");
    }
}
