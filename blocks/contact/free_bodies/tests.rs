//! A few bodies by hand.

use legwork_block::Type;
use serde_json::{Value, json};

use super::FreeBodies;
use crate::testing::{Bench, block, refusal};

const STEP: f64 = 0.01;

fn bench(bodies: &Value, count: usize, contact: &Value) -> Bench {
    let parameters = json!({ "bodies": bodies, "contact": contact });
    let given = [Type::vector(6 * count)];
    let mut bench = Bench::new(block::<FreeBodies>(parameters), &given).expect("a block");
    bench.step = STEP;
    bench
}

fn constraints() -> Value {
    json!({ "Constraints": { "spring": { "Hertz": { "modulus": 1e11 } }, "damping": 1.0 } })
}

fn compliant() -> Value {
    let spring = json!({ "Spring": { "stiffness": 1e7 } });
    json!({ "Compliant": { "spring": spring, "damping": 1e3, "steps": 100 } })
}

fn spheres(count: usize, columns: [usize; 2], gap: &str) -> Value {
    let lattice = json!({ "count": count, "columns": columns, "gap": gap });
    json!([{ "Spheres": { "radius": "10 cm", "mass": "1 kg", "at": { "Lattice": lattice } } }])
}

/// Outputs at the time of step k.
fn value(bench: &mut Bench, name: &str, k: u32) -> Vec<f64> {
    bench.output(STEP * f64::from(k)).expect("no fault");
    bench.value(name)
}

fn run(bench: &mut Bench, count: u32) {
    for k in 0..count {
        bench.update(STEP * f64::from(k));
    }
}

/// In free fall momentum is that of gravity alone, exactly.
#[test]
fn a_sphere_that_touches_nothing_falls() {
    let mut bench = bench(&spheres(2, [1, 1], "10 m"), 2, &constraints());
    let start = value(&mut bench, "positions", 0);
    run(&mut bench, 50);
    let (now, t) = (value(&mut bench, "positions", 50), 0.5);
    for i in 0..2 {
        // Semi-implicit Euler: ½ g t (t + Δt).
        let fallen = start[3 * i + 2] - now[3 * i + 2];
        assert!((fallen - 0.5 * 9.81 * t * (t + STEP)).abs() < 1e-9, "{fallen}");
    }
}

/// A stack and four stacks side by side come to rest, and the ground bears their weight.
#[test]
fn stacks_stand() {
    for contact in [constraints(), compliant()] {
        for (count, columns) in [(3, [1, 1]), (8, [2, 2])] {
            let mut bench = bench(&spheres(count, columns, "1 mm"), count, &contact);
            run(&mut bench, 400);
            let load = value(&mut bench, "load", 400)[0];
            let weight = 9.81 * count as f64;
            assert!((load / weight - 1.0).abs() < 1e-3, "{load} {weight}");
            assert!(value(&mut bench, "speed", 400)[0] < 1e-4);
            assert_eq!(value(&mut bench, "contacts", 400), [count as f64]);
        }
    }
}

/// Friction holds a box against a push below μ m g and lets it slide at the difference above.
#[test]
fn a_box_is_pushed() {
    let at = json!({ "Poses": { "positions": [["0 m", "0 m", "5 cm"]] } });
    let boxes =
        json!([{ "Boxes": { "size": ["20 cm", "20 cm", "10 cm"], "mass": "2 kg", "at": at } }]);
    // The compliant box makes a hundred steps in one.
    for (contact, step) in [(constraints(), STEP), (compliant(), 0.01 * STEP)] {
        for (push, acceleration) in [(9.0, 0.0), (12.0, 12.0 / 2.0 - 0.5 * 9.81)] {
            let mut bench = bench(&boxes, 1, &contact);
            bench.set("external", &[push, 0.0, 0.0, 0.0, 0.0, 0.0]);
            run(&mut bench, 100);
            let x = value(&mut bench, "positions", 100)[0];
            let exact = 0.5 * acceleration * (1.0 + step);
            // What sticks on springs creeps below the slip speed of 0.1 mm/s.
            assert!((x - exact).abs() < 1e-4 * exact + 1e-4, "{push}: {x} {exact}");
        }
    }
}

/// Fixed bodies carry others and stay.
#[test]
fn a_shelf_carries_a_ball() {
    let at = |z: f64| json!({ "Poses": { "positions": [[0.0, 0.0, z]] } });
    let bodies = json!([
        { "Boxes": { "size": [1.0, 1.0, 0.1], "fixed": true, "at": at(2.0) } },
        { "Spheres": { "radius": 0.1, "density": 1000.0, "at": at(2.2) } },
    ]);
    let mut bench = bench(&bodies, 2, &constraints());
    run(&mut bench, 200);
    let positions = value(&mut bench, "positions", 200);
    assert_eq!(positions[2], 2.0);
    assert!((positions[5] - 2.15).abs() < 1e-5, "{positions:?}");
    let weight = 9.81 * 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    let load = value(&mut bench, "load", 200)[0];
    assert!((load / weight - 1.0).abs() < 1e-6, "{load} {weight}");
}

/// Parameters that cannot be are refused with the reason.
#[test]
fn bad_parameters_are_refused() {
    let at = json!({ "Lattice": { "count": 1 } });
    let sphere = |extra: Value| {
        let mut group = json!({ "radius": 0.1, "at": at });
        for (key, value) in extra.as_object().expect("fields") {
            group[key] = value.clone();
        }
        json!([{ "Spheres": group }])
    };
    let one = sphere(json!({ "mass": 1.0 }));
    let rigid = |contacts: usize| json!({ "Rigid": { "contacts": contacts } });
    for (bodies, contact, reason) in [
        (json!([]), constraints(), "expected bodies, found none"),
        (sphere(json!({})), constraints(), "expected a mass or a density, found neither"),
        (
            sphere(json!({ "mass": 1.0, "density": 1.0 })),
            constraints(),
            "expected a mass or a density, found both",
        ),
        (
            sphere(json!({ "fixed": true, "spin": [1.0, 0.0, 0.0] })),
            constraints(),
            "expected no velocity of fixed bodies, found one",
        ),
        (one.clone(), rigid(0), "expected 1 to 2500 contacts, found 0"),
        (
            one.clone(),
            json!({ "Compliant": { "spring": { "Spring": { "stiffness": 1.0 } }, "steps": 0 } }),
            "expected small steps, found none",
        ),
    ] {
        let parameters = json!({ "bodies": bodies, "contact": contact });
        assert_eq!(refusal(block::<FreeBodies>(parameters), &[Type::vector(6)]), reason);
    }
}
