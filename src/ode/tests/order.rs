//! Observed orders of convergence.

use super::problems::{forced, forced_solution, known, known_solution, robertson};
use super::*;

fn error<const N: usize>(u: &[f64], solution: [f64; N]) -> f64 {
    u.iter().zip(solution).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
}

/// Errors at the end and, inside a step, of dense output after one step of each size.
fn one_step<K: Kernel, const N: usize>(
    mut kernel: K,
    rate: fn(f64, &[f64], &mut [f64]),
    solution: fn(f64) -> [f64; N],
    h: f64,
) -> (f64, f64) {
    let mut flow = Plain::new(rate);
    // At t = 0 some derivatives of the solutions vanish.
    let start = 0.7;
    begin(&mut kernel, &mut flow, start, &solution(start), Some(h));
    kernel.step(&mut flow, start + h).unwrap();
    assert_eq!(kernel.t(), start + h, "one step");
    assert_eq!(kernel.counts().steps, 1);
    let mut u = [0.0; N];
    let inside = [0.2, 0.4, 0.6, 0.8].map(|theta| {
        kernel.interpolate(start + theta * h, &mut u);
        error(&u, solution(start + theta * h))
    });
    (error(kernel.u(), solution(start + h)), inside.into_iter().fold(0.0, f64::max))
}

/// A tolerance that every step of these tests passes.
fn no_control() -> Tolerance {
    tolerance(1.0, 1e6)
}

/// Fixed steps to `end`, one segment each, so that nothing but the step size matters.
fn fixed<K: Kernel, const N: usize>(
    mut kernel: K,
    rate: fn(f64, &[f64], &mut [f64]),
    solution: fn(f64) -> [f64; N],
    end: f64,
    steps: u32,
) -> f64 {
    let mut flow = Plain::new(rate);
    begin(&mut kernel, &mut flow, 0.0, &solution(0.0), Some(end));
    for i in 1..=steps {
        kernel.step(&mut flow, f64::from(i) * end / f64::from(steps)).unwrap();
    }
    assert_eq!(kernel.counts().steps, u64::from(steps));
    error(kernel.u(), solution(end))
}

#[test]
fn dormand_prince_is_of_order_five_with_dense_output_of_order_four() {
    let errors = [64, 128, 256].map(|steps| {
        fixed(DormandPrince54::new(3, no_control()), known, known_solution, 5.0, steps)
    });
    for pair in errors.windows(2) {
        let order = libm::log2(pair[0] / pair[1]);
        assert!((4.8..5.2).contains(&order), "global order {order}, errors {errors:?}");
    }
    // One step from exact values has one order more.
    let (end, inside): (Vec<f64>, Vec<f64>) = [0.2, 0.1, 0.05]
        .map(|h| one_step(DormandPrince54::new(3, no_control()), known, known_solution, h))
        .into_iter()
        .unzip();
    let order = libm::log2(end[1] / end[2]);
    assert!((5.6..6.6).contains(&order), "local order {order}, errors {end:?}");
    let order = libm::log2(inside[1] / inside[2]);
    assert!((4.6..5.6).contains(&order), "dense order {order}, errors {inside:?}");
}

#[test]
fn esdirk_is_of_order_four_with_dense_output_of_order_four() {
    // On a linear system one Newton iteration is exact, so the tolerance has no part in the error.
    let errors = [16, 32, 64]
        .map(|steps| fixed(Esdirk43::new(2, no_control()), forced, forced_solution, 2.0, steps));
    for pair in errors.windows(2) {
        let order = libm::log2(pair[0] / pair[1]);
        assert!((3.8..4.4).contains(&order), "global order {order}, errors {errors:?}");
    }
    let (end, inside): (Vec<f64>, Vec<f64>) = [0.2, 0.1, 0.05]
        .map(|h| one_step(Esdirk43::new(2, no_control()), forced, forced_solution, h))
        .into_iter()
        .unzip();
    for errors in [end, inside] {
        let order = libm::log2(errors[1] / errors[2]);
        assert!((4.6..5.6).contains(&order), "local order {order}, errors {errors:?}");
    }
}

#[test]
fn implicit_euler_is_of_order_one() {
    let errors = [64, 128, 256].map(|steps| {
        let mut flow = Plain::new(known);
        let mut kernel = ImplicitEuler::new(3, ImplicitEuler::TOLERANCE);
        let h = 2.0 / f64::from(steps);
        let mut u = known_solution(0.0);
        for i in 0..steps {
            kernel.advance(&mut flow, f64::from(i) * h, h, &mut u).unwrap();
        }
        assert!(kernel.counts().jacobians < 8, "{:?}", kernel.counts());
        error(&u, known_solution(2.0))
    });
    for pair in errors.windows(2) {
        let order = libm::log2(pair[0] / pair[1]);
        assert!((0.9..1.1).contains(&order), "order {order}, errors {errors:?}");
    }
}

#[test]
fn implicit_euler_solves_its_equation() {
    // u⁺ - u - h g(t + h, u⁺) = 0, whatever the way there.
    let mut flow = Plain::new(robertson);
    let mut kernel = ImplicitEuler::new(3, ImplicitEuler::TOLERANCE);
    let mut u = [1.0, 0.0, 0.0];
    let mut rate = [0.0; 3];
    for i in 0..200 {
        let h = 0.05;
        let before = u;
        kernel.advance(&mut flow, f64::from(i) * h, h, &mut u).unwrap();
        flow.rate(0.0, &u, &mut rate).unwrap();
        // Newton's error e is about 0.1 in the norm of the tolerance, |eⱼ| ≤ 0.1 √3 wⱼ, here with a
        // factor 2 since that is an estimate; the residual is (I - h J) e.
        let w = u.map(|u| 1e-12 + 1e-9 * u.abs());
        let (slow, fast, back) = (0.04, 1e4 * u[2] + 6e7 * u[1], 1e4 * u[1]);
        let bounds = [
            w[0] + h * (slow * w[0] + 1e4 * u[2] * w[1] + back * w[2]),
            w[1] + h * (slow * w[0] + fast * w[1] + back * w[2]),
            w[2] + h * 6e7 * u[1] * w[1],
        ];
        for j in 0..3 {
            let residual = (u[j] - before[j] - h * rate[j]).abs();
            let bound = 0.2 * 3.0f64.sqrt() * bounds[j];
            assert!(residual <= bound, "step {i}, row {j}: {residual:e} > {bound:e}");
        }
    }
}

/// Error and steps at two tolerances that are a factor 1e4 apart, on 20 time units.
fn proportion(kernel: fn(Tolerance) -> VariableStep) -> [(f64, f64); 2] {
    [1e-5, 1e-9].map(|t| {
        let mut kernel = kernel(tolerance(t, t));
        let mut flow = Plain::new(known);
        let end = solve(&mut kernel, &mut flow, &known_solution(0.0), &[20.0]);
        (error(&end[0], known_solution(20.0)), kernel.counts().steps as f64)
    })
}

#[test]
fn error_follows_the_tolerance_and_work_the_order() {
    type Make = fn(Tolerance) -> VariableStep;
    let make: [(Make, f64, f64); 3] = [
        (|t| VariableStep::DormandPrince54(DormandPrince54::new(3, t)), 4.5, 6.5),
        (|t| VariableStep::Esdirk43(Esdirk43::new(3, t)), 3.5, 5.0),
        // At the loose tolerance the formulas of low order are the better ones.
        (|t| VariableStep::Bdf(Bdf::new(3, t)), 4.0, 8.0),
    ];
    for (kernel, low, high) in make {
        let [(loose, few), (tight, many)] = proportion(kernel);
        // Each step errs by a tolerance at most, the flow makes that e² times as much at most, and
        // the largest state is e.
        for (t, error, steps) in [(1e-5, loose, few), (1e-9, tight, many)] {
            assert!(error < 20.0 * t * steps, "{error:e} in {steps} steps at {t:e}");
        }
        // Steps go like tolerance^(-1/q).
        let q = libm::log(1e4) / libm::log(many / few);
        assert!((low..high).contains(&q), "q {q}, steps {few} {many}");
    }
}

#[test]
fn bdf_reaches_order_five_and_orders_follow_the_tolerance() {
    let highest = |t: f64| {
        let mut kernel = Bdf::new(3, tolerance(t, t));
        let mut flow = Plain::new(known);
        begin(&mut kernel, &mut flow, 0.0, &known_solution(0.0), None);
        let mut highest = 0;
        while kernel.t() < 20.0 {
            kernel.step(&mut flow, 20.0).unwrap();
            highest = highest.max(kernel.order());
        }
        highest
    };
    assert_eq!(highest(1e-9), 5);
    assert!(highest(1e-2) < 5);
}
