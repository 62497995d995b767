//! A few spheres by hand.

use serde_json::json;

use super::Spheres;
use crate::testing::{Bench, block};

const STEP: f64 = 0.01;

fn spheres(count: usize, columns: [usize; 2]) -> Bench {
    let parameters = json!({
        "count": count, "radius": "10 cm", "mass": "1 kg", "modulus": 1e11, "damping": 1.0,
        "columns": columns, "gap": "1 mm",
    });
    let mut bench = Bench::new(block::<Spheres>(parameters), &[]).expect("a block");
    bench.step = STEP;
    bench
}

/// Outputs at the time of step k.
fn value(bench: &mut Bench, name: &str, k: u32) -> Vec<f64> {
    bench.output(STEP * f64::from(k)).expect("no fault");
    bench.value(name)
}

/// In free fall momentum is that of gravity alone, exactly.
#[test]
fn a_sphere_that_touches_nothing_falls() {
    let parameters = json!({
        "count": 2, "radius": "10 cm", "mass": "1 kg", "modulus": 1e11, "gap": "10 m",
    });
    let mut bench = Bench::new(block::<Spheres>(parameters), &[]).expect("a block");
    bench.step = STEP;
    let start = value(&mut bench, "positions", 0);
    for k in 0..50 {
        bench.update(STEP * f64::from(k));
    }
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
    for (count, columns) in [(3, [1, 1]), (8, [2, 2])] {
        let mut bench = spheres(count, columns);
        for k in 0..400 {
            bench.update(STEP * f64::from(k));
        }
        let load = value(&mut bench, "load", 400)[0];
        let weight = 9.81 * count as f64;
        assert!((load / weight - 1.0).abs() < 1e-3, "{load} {weight}");
        assert!(value(&mut bench, "speed", 400)[0] < 1e-4);
        assert_eq!(value(&mut bench, "contacts", 400), [count as f64]);
    }
}
