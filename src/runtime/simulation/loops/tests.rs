//! Loops with known solutions, from any start, and loops without a solution.

mod families;

use std::convert::Infallible;

use super::seek::{Equations, Outcome, Seeker};

const TOLERANCE: f64 = 1e-10;

/// `u(z)`, and the number of its evaluations.
struct Plain<F>(F, u32);

impl<F: FnMut(&[f64], &mut [f64])> Equations for Plain<F> {
    type Stop = Infallible;

    fn residual(&mut self, z: &[f64], r: &mut [f64]) -> Result<bool, Infallible> {
        self.1 += 1;
        (self.0)(z, r);
        for (r, z) in r.iter_mut().zip(z) {
            *r -= z;
        }
        Ok(r.iter().all(|r| r.is_finite()))
    }
}

/// Result of a search from `start`: outcome, z, and evaluations.
fn seek(start: &[f64], u: impl FnMut(&[f64], &mut [f64])) -> (Outcome, Vec<f64>, u32) {
    let mut seeker = Seeker::new(start.len());
    (seeker.tolerance, seeker.limit) = (TOLERANCE, 20);
    seeker.z.copy_from_slice(start);
    let mut equations = Plain(u, 0);
    let Ok(_) = equations.residual(start, &mut seeker.r);
    let Ok(outcome) = seeker.seek(&mut equations);
    (outcome, seeker.z.clone(), equations.1)
}

fn one(start: f64, mut u: impl FnMut(f64) -> f64) -> (Outcome, f64, u32) {
    let (outcome, z, count) = seek(&[start], |z, out| out[0] = u(z[0]));
    (outcome, z[0], count)
}

/// Numbers in [0, 1) from a counter (SplitMix64).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A size of random order of magnitude.
    fn size(&mut self, low: f64, high: f64) -> f64 {
        libm::pow(10.0, self.between(low, high))
    }
}

fn sat(x: f64) -> f64 {
    x.clamp(-1.0, 1.0)
}

/// The root of a falling `u(z) − z` by bisection, to the last digit.
fn bisect(u: &mut dyn FnMut(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-1e4, 1e4);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if u(middle) > middle {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Common laws whose loops fall: `z = u(z)` has one solution.
fn law(kind: usize, random: &mut Random) -> Box<dyn FnMut(f64) -> f64> {
    let (a, k) = (random.between(-5.0, 5.0), random.size(-1.0, 4.0));
    let (b, c) = (random.size(-1.0, 3.0), random.between(-3.0, 3.0));
    match kind {
        0 => Box::new(move |z| sat(a - k * z)),
        1 => Box::new(move |z| libm::tanh(a - k * z)),
        2 => Box::new(move |z| libm::atan(a - k * z)),
        // Coulomb friction with a small creep.
        3 => Box::new(move |z| a - b * sat(z * 1e6)),
        4 => Box::new(move |z| a - b * libm::tanh(z / 1e-3)),
        // A dead zone, and a steep one.
        5 => Box::new(move |z| a - k * (z - z.clamp(-0.5, 0.5))),
        // A diode, whose law overflows if a step is too long.
        6 => Box::new(move |z| a - 1e-9 * (libm::exp(z / 0.026) - 1.0)),
        7 => Box::new(move |z| a - k * z.abs().sqrt() * z),
        // Piecewise linear with three slopes.
        8 => Box::new(move |z| a - k * (z - c).max(0.0) + 0.5 * (z - c).min(0.0) - b * sat(z)),
        // Zero slope at the root and far from it.
        9 => Box::new(move |z| z - libm::atan(z - a)),
        10 => Box::new(move |z| z - (z - a).clamp(-0.1, 0.1)),
        _ => Box::new(move |z| z - k * (z - a) / (1.0 + b * (z - a) * (z - a))),
    }
}

#[test]
fn falling_loops_are_solved_from_any_start() {
    let mut random = Random(1);
    let mut most = 0;
    for case in 0..360 {
        let kind = case % 12;
        let mut u = law(kind, &mut random);
        let known = bisect(&mut u);
        for start in [0.0, random.between(-10.0, 10.0), -1e3, random.size(2.0, 9.0), -1e15] {
            let (outcome, z, count) = one(start, &mut u);
            most = most.max(count);
            assert_eq!(
                outcome,
                Outcome::Solved,
                "case {case}, kind {kind}, from {start}: {z} {known}"
            );
            assert!(
                (z - known).abs() <= 1e-8 * (1.0 + known.abs()),
                "case {case}, kind {kind}, from {start}: {z}, known {known}"
            );
            assert!((u(z) - z).abs() <= TOLERANCE * (1.0 + z.abs()), "case {case}: {z}");
        }
    }
    assert!(most < 1000, "{most} evaluations");
}

#[test]
fn common_loops_take_few_evaluations() {
    let (outcome, z, count) = one(0.0, libm::cos);
    assert_eq!(outcome, Outcome::Solved);
    assert!((z - libm::cos(z)).abs() < 1e-14 && count < 16, "{z} {count}");
    let (outcome, z, count) = one(0.0, |z| 3.0 - 5.0 * z);
    assert!(outcome == Outcome::Solved && (z - 0.5).abs() < 1e-14 && count < 8, "{z} {count}");
}

#[test]
fn a_loop_of_small_numbers_is_solved_beside_them() {
    for scale in [1e-12, 1e-6, 1e6, 1e12] {
        let (outcome, z, _) = one(0.0, |z| scale * libm::cos(z / scale));
        assert_eq!(outcome, Outcome::Solved, "{scale}: {z}");
        assert!((z / scale - 0.739_085_133_215_160_6).abs() < 1e-9, "{scale}: {z}");
    }
}

#[test]
fn a_loop_without_solution_is_not_solved() {
    type Named = (&'static str, fn(f64) -> f64);
    let loops: [Named; 9] = [
        ("one more", |z| z + 1.0),
        ("square", |z| z + z * z + 0.1),
        ("bell", |z| z + 1.0 / (1.0 + z * z)),
        ("exponential", |z| z + libm::exp(z)),
        ("falling exponential", |z| z - libm::exp(-z)),
        ("Coulomb friction that holds", |z| 0.5 - if z > 0.0 { 1.0 } else { -1.0 }),
        ("relay", |z| if z < 1.0 { 2.0 } else { 0.0 }),
        ("pole", |z| z + 1.0 / (z - 1.0)),
        ("outside", |z| z + 2.0 + libm::sin(z)),
    ];
    for (name, u) in loops {
        for start in [0.0, 1.0, -3.0, 17.0, 30.0, 200.0, 1e4, -1e9] {
            let (outcome, z, count) = one(start, u);
            assert_ne!(outcome, Outcome::Solved, "{name} from {start}: {z}, {}", u(z) - z);
            assert!(count < 2500, "{name}: {count}");
        }
    }
    // The message names both sides of a jump.
    let (outcome, ..) = one(0.0, |z| if z < 1.0 { 2.0 } else { 0.0 });
    let Outcome::Jumps { at, sides } = outcome else { panic!("{outcome:?}") };
    assert!((at - 1.0).abs() < 1e-12 && sides.0 > 0.9 && sides.1 < -0.9, "{at} {sides:?}");
}

#[test]
fn a_double_root_is_found_to_what_its_residual_shows() {
    for start in [0.0, 5.0, -8.0] {
        let (outcome, z, _) = one(start, |z| z + (z - 2.0) * (z - 2.0));
        assert_eq!(outcome, Outcome::Solved);
        assert!((z - 2.0).abs() < 1e-4, "{z}");
    }
    // Every number is a solution, or an interval of them.
    assert_eq!(one(4.0, |z| z).0, Outcome::Solved);
    assert_eq!(one(0.3, |z| z - (z - z.clamp(-1.0, 1.0))).0, Outcome::Solved);
    assert_eq!(one(9.0, |z| z - (z - z.clamp(-1.0, 1.0))).0, Outcome::Solved);
}

/// `z = f(b − A z)` with A positive definite and f rising has one solution; b is computed from it.
#[test]
fn loops_of_several_unknowns_are_solved_from_any_start() {
    let mut random = Random(7);
    let mut most = 0;
    for case in 0..240 {
        let n = 2 + case % 5;
        let kind = case % 3;
        let gain = random.size(-1.0, 3.0);
        let root: Vec<f64> = (0..n * n).map(|_| random.between(-1.0, 1.0)).collect();
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let product = (0..n).map(|k| root[k * n + i] * root[k * n + j]).sum::<f64>();
                a[i * n + j] = gain * (product + if i == j { 0.1 } else { 0.0 });
            }
        }
        // Some of them are saturated.
        let mut known: Vec<f64> = (0..n).map(|_| random.between(-0.95, 0.95)).collect();
        let mut b: Vec<f64> = known
            .iter()
            .map(|z| match kind {
                0 => *z,
                1 => libm::atanh(*z),
                _ => libm::tan(*z),
            })
            .collect();
        if kind == 0 {
            known[0] = 1.0;
            b[0] = random.between(1.0, 9.0);
        }
        for i in 0..n {
            b[i] += (0..n).map(|j| a[i * n + j] * known[j]).sum::<f64>();
        }
        for start in [0.0, 3.0, -50.0, 1e6] {
            let (outcome, z, count) = seek(&vec![start; n], |z, out| {
                for i in 0..n {
                    let x = b[i] - (0..n).map(|j| a[i * n + j] * z[j]).sum::<f64>();
                    out[i] = match kind {
                        0 => sat(x),
                        1 => libm::tanh(x),
                        _ => libm::atan(x),
                    };
                }
            });
            most = most.max(count);
            assert_eq!(outcome, Outcome::Solved, "case {case} of {n}, kind {kind}, {start}: {z:?}");
            for (z, known) in z.iter().zip(&known) {
                assert!((z - known).abs() < 1e-7, "case {case}, kind {kind}: {z}, known {known}");
            }
        }
    }
    assert!(most < 20_000, "{most} evaluations");
}

/// The start is outside the domain of both laws.
#[test]
fn several_unknowns_enter_the_domain_of_their_laws() {
    for start in [[50.0, -50.0], [1e6, 3.0], [-7.0, -1e3]] {
        let (outcome, z, _) = seek(&start, |z, out| {
            out[0] = 0.4 * libm::asin(z[1]) + 0.3;
            out[1] = 0.5 - 0.3 * libm::acos(z[0]);
        });
        assert_eq!(outcome, Outcome::Solved, "{start:?}: {z:?}");
        assert!((0.4 * libm::asin(z[1]) + 0.3 - z[0]).abs() < 1e-9, "{start:?}: {z:?}");
        assert!((0.5 - 0.3 * libm::acos(z[0]) - z[1]).abs() < 1e-9, "{start:?}: {z:?}");
    }
}

#[test]
fn several_unknowns_without_solution_are_not_solved() {
    let (outcome, ..) = seek(&[0.0, 0.0], |z, out| {
        out[0] = z[0] + z[0] * z[0] + 1.0;
        out[1] = 0.5 * z[0] - z[1];
    });
    assert_eq!(outcome, Outcome::NotFound);
    let (outcome, ..) = seek(&[1.0, -1.0], |z, out| {
        out[0] = z[0] + z[1] - 1.0;
        out[1] = z[1] + z[1] - 2.0;
    });
    assert_eq!(outcome, Outcome::NotFound);
}
