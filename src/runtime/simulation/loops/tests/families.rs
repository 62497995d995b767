//! Generated families of loops with one unknown: steep laws, tangent roots, domains, and jumps.

use super::super::seek::Outcome;
use super::{Random, TOLERANCE, bisect, one, sat};

/// Starts near and far.
fn starts(random: &mut Random) -> [f64; 6] {
    [0.0, random.between(-3.0, 3.0), 50.0, -1e5, random.size(2.0, 9.0), -random.size(2.0, 9.0)]
}

/// A solution is the floating-point number next to the root if the law is too steep for a smaller
/// residual.
#[test]
fn steep_laws_are_solved_to_the_rounding_of_their_unknown() {
    let mut random = Random(11);
    for case in 0..400 {
        let slope = libm::pow(10.0, f64::from(case % 10));
        let (a, height) = (random.between(-0.9, 0.9), random.size(-1.0, 1.0) + 1.0);
        let kind = (case / 10) % 4;
        let mut u = move |z: f64| {
            let x = slope * (a - z);
            match kind {
                0 => height * libm::tanh(x),
                1 => height * sat(x),
                2 => height * libm::atan(x),
                _ => height * x / (1.0 + x.abs()),
            }
        };
        let known = bisect(&mut u);
        for start in starts(&mut random) {
            let (outcome, z, count) = one(start, &mut u);
            let name = format!("case {case}, kind {kind}, slope {slope:e} from {start}");
            assert_eq!(outcome, Outcome::Solved, "{name}: {z}, known {known}");
            assert!((z - known).abs() <= 1e-9 * known.abs().max(1e-3), "{name}: {z}, {known}");
            let residual = (u(z) - z).abs();
            let rounding = 4.0 * f64::EPSILON * height * slope;
            assert!(residual <= TOLERANCE * (1.0 + z.abs()) + rounding, "{name}: {residual:e}");
            assert!(count < 1000, "{name}: {count} evaluations");
        }
    }
}

/// The same laws with a jump over the solution, however small against the slope around it.
#[test]
fn jumps_are_refused_beside_any_slope() {
    let mut random = Random(12);
    for case in 0..400 {
        let slope = libm::pow(10.0, f64::from(case % 6) - 2.0);
        let a = random.between(-3.0, 3.0);
        let size = random.size(-5.0, 2.0) * (1.0 + slope);
        let share = random.between(0.05, 0.95);
        let kind = (case / 6) % 3;
        // r is positive below a and negative above it.
        let mut u = move |z: f64| {
            let side = if z < a { share * size } else { (share - 1.0) * size };
            let x = slope * (a - z);
            z + side
                + match kind {
                    0 => x,
                    1 => libm::tanh(x),
                    _ => 0.0,
                }
        };
        for start in starts(&mut random) {
            let (outcome, z, _) = one(start, &mut u);
            let name = format!("case {case}, kind {kind}, size {size:e}, slope {slope:e}");
            let Outcome::Jumps { at, .. } = outcome else {
                panic!("{name} from {start}: {outcome:?} at {z}, jump at {a}")
            };
            assert!((at - a).abs() <= 1e-9 * (1.0 + a.abs()), "{name}: {at}, jump at {a}");
        }
    }
}

/// `r = c (z − a)² g` touches zero; with an offset it has no root.
#[test]
fn tangent_roots_are_found_from_any_start_and_near_misses_refused() {
    let mut random = Random(13);
    for case in 0..240 {
        let a = random.between(-5.0, 5.0);
        let c = random.size(-2.0, 2.0) * if case % 2 == 0 { 1.0 } else { -1.0 };
        let kind = (case / 2) % 4;
        let touching = move |z: f64| {
            let d = z - a;
            c * match kind {
                0 => d * d,
                1 => d * d * d * d,
                2 => d.abs(),
                _ => d * d / (1.0 + d * d),
            }
        };
        for start in starts(&mut random) {
            let (outcome, z, count) = one(start, |z| z + touching(z));
            let name = format!("case {case}, kind {kind}, c {c:e}, a {a}, from {start}");
            assert_eq!(outcome, Outcome::Solved, "{name}: {z}");
            let bound = if kind == 1 { 2e-2 } else { 2e-4 };
            assert!((z - a).abs() < bound, "{name}: {z}");
            assert!(count < 3000, "{name}: {count} evaluations");
            for miss in [1e-6_f64, 1e-3, 1.0] {
                let (outcome, z, _) = one(start, |z| z + touching(z) + miss.copysign(c));
                assert_eq!(outcome, Outcome::NotFound, "{name}, missed by {miss:e}: {z}");
            }
        }
    }
}

/// Laws that are defined on a part of the numbers only, from starts outside of it.
#[test]
fn the_domain_of_a_law_is_found_from_outside() {
    let mut random = Random(14);
    for case in 0..300 {
        let (edge, width) = (random.between(-20.0, 20.0), random.between(0.5, 3.0));
        let kind = case % 5;
        // The root is inside the domain, at a share of its width.
        let root = edge + random.between(0.1, 0.9) * width;
        let law = move |z: f64| match kind {
            0 => libm::sqrt(z - edge),
            1 => libm::log(z - edge),
            2 => libm::asin(2.0 * (z - edge) / width - 1.0),
            3 => libm::acos(2.0 * (z - edge) / width - 1.0),
            _ => 1.0 / libm::sqrt((z - edge) * (edge + width - z)),
        };
        let rises = matches!(kind, 0..=2);
        for start in starts(&mut random) {
            // Falling, so that there is one root; for kind 4 one or two.
            let sign = if rises { -1.0 } else { 1.0 };
            let u = |z: f64| root + sign * (law(z) - law(root));
            let (outcome, z, count) = one(start, u);
            let name =
                format!("case {case}, kind {kind}, edge {edge}, width {width}, from {start}");
            assert_eq!(outcome, Outcome::Solved, "{name}: {z}, known {root}");
            let residual = (u(z) - z).abs();
            assert!(residual <= TOLERANCE * (1.0 + z.abs()) * 10.0, "{name}: {residual:e}");
            if kind != 4 {
                assert!((z - root).abs() < 1e-8 * (1.0 + root.abs()), "{name}: {z}, {root}");
            }
            assert!(count < 5000, "{name}: {count} evaluations");
        }
    }
    // Roots between the last value that is doubled and the edge of the domain.
    for start in [0.0, 50.0, -1e5] {
        let (outcome, z, _) = one(start, |z| 0.5 * libm::asin(z) + 0.3);
        assert!(outcome == Outcome::Solved && (0.5 * libm::asin(z) + 0.3 - z).abs() < 1e-9, "{z}");
    }
    // A pole at the start is not a root.
    for (law, roots) in [
        ((|z| 1.0 / z) as fn(f64) -> f64, [1.0, -1.0]),
        (|z| 1.0 / z - 1.5, [0.5, -2.0]),
        (|z| 1.0 / (z * z), [1.0, 1.0]),
    ] {
        let (outcome, z, _) = one(0.0, law);
        assert_eq!(outcome, Outcome::Solved, "{z}");
        assert!(roots.iter().any(|root| (z - root).abs() < 1e-9), "{z}, known {roots:?}");
    }
    // A law that is not defined anywhere.
    assert_eq!(one(2.0, |_| f64::NAN).0, Outcome::NotFound);
}
