//! Tests of the multistep kernel alone: its order after failures, and dense output after them.

use super::*;

/// Smooth until `jump`, then of another size and frequency.
fn jumps_at(jump: f64, after: f64) -> impl FnMut(f64, &[f64], &mut [f64]) {
    move |t, _: &[f64], rate: &mut [f64]| {
        rate[0] = if t < jump { libm::cos(t) } else { after * libm::cos(after * t) };
    }
}

#[test]
fn the_order_falls_where_the_rate_jumps() {
    let mut met = 0;
    for (jump, after) in [(0.7, 20.0), (1.3, -30.0), (2.1, 300.0), (2.9, 5.0), (3.37, -8.0)] {
        let mut kernel = Bdf::new(1, tolerance(1e-8, 1e-8));
        let mut flow = Plain::new(jumps_at(jump, after));
        begin(&mut kernel, &mut flow, 0.0, &[0.0], None);
        let mut seen = false;
        while kernel.t() < jump {
            let (before, rejected) = (kernel.order(), kernel.counts().rejected);
            kernel.step(&mut flow, 5.0).unwrap();
            let failures = kernel.counts().rejected - rejected;
            if failures > 3 {
                seen = true;
                assert!(kernel.order() < before, "jump at {jump}: {before}, {}", kernel.order());
                assert!(kernel.order() <= 2, "jump at {jump}: order {}", kernel.order());
            }
        }
        met += u32::from(seen);
        while kernel.t() < 5.0 {
            kernel.step(&mut flow, 5.0).unwrap();
        }
        let known = libm::sin(jump) + libm::sin(after * 5.0) - libm::sin(after * jump);
        let error = (kernel.u()[0] - known).abs();
        assert!(error < 1e-8 * kernel.counts().steps as f64, "{error:e}, {:?}", kernel.counts());
    }
    assert!(met >= 3, "{met} of the jumps were met by a step that failed often");
}

#[test]
fn dense_output_stays_after_a_step_that_fails() {
    for steps in 1..60 {
        let mut kernel = Bdf::new(2, tolerance(1e-7, 1e-9));
        let oscillator = |u: &[f64], rate: &mut [f64]| {
            rate[0] = u[1];
            rate[1] = -u[0];
        };
        let mut flow = Plain::new(|_, u: &[f64], rate: &mut [f64]| oscillator(u, rate));
        begin(&mut kernel, &mut flow, 0.0, &[0.0, 1.0], None);
        for _ in 0..steps {
            kernel.step(&mut flow, 50.0).unwrap();
        }
        let (start, end) = (kernel.previous_t(), kernel.t());
        let places = [0.0, 0.25, 0.5, 0.75, 1.0].map(|part| start + part * (end - start));
        let look = |kernel: &Bdf| {
            places.map(|t| {
                let mut u = [0.0; 2];
                kernel.interpolate(t, &mut u);
                u
            })
        };
        let before = look(&kernel);
        for (t, u) in places.iter().zip(&before) {
            assert!((u[0] - libm::sin(*t)).abs() < 1e-4, "after {steps} steps: {u:?} at {t}");
        }
        // A rate that is no longer finite; below, one that fits no step.
        let mut gone = Plain::new(|_, _: &[f64], rate: &mut [f64]| rate.fill(f64::NAN));
        kernel.step(&mut gone, 50.0).unwrap_err();
        assert_eq!(look(&kernel), before, "after {steps} steps, without a rate");
        // The kernel continues from there.
        let mut other = kernel.clone();
        while other.t() < end + 1.0 {
            other.step(&mut flow, 50.0).unwrap();
        }
        let error = (other.u()[0] - libm::sin(other.t())).abs();
        assert!(error < 1e-4, "after {steps} steps: {error:e}");
        let mut sign = 1.0;
        let mut rough = Plain::new(move |_, _: &[f64], rate: &mut [f64]| {
            sign = -sign;
            rate.fill(1e30 * sign);
        });
        let mut other = kernel.clone();
        other.step(&mut rough, 50.0).unwrap_err();
        assert_eq!(look(&other), before, "after {steps} steps, with a rough rate");
    }
}

/// Prothero and Robinson: `u' = λ (u − cos t) − sin t` with solution cos t, at all tolerances.
#[test]
fn a_stiff_equation_is_as_accurate_as_its_tolerance() {
    for lambda in [-1e2, -1e4, -1e7] {
        for t in [1e-3, 1e-5, 1e-7, 1e-9] {
            let mut kernel = Bdf::new(1, tolerance(t, t));
            let mut flow = Plain::new(move |t: f64, u: &[f64], rate: &mut [f64]| {
                rate[0] = lambda * (u[0] - libm::cos(t)) - libm::sin(t);
            });
            let times = [0.5, 1.7, 3.3, 6.0, 10.0];
            let states = solve(&mut kernel, &mut flow, &[1.0], &times);
            for (time, u) in times.iter().zip(&states) {
                let error = (u[0] - libm::cos(*time)).abs();
                assert!(error < 20.0 * t, "λ {lambda:e}, tolerance {t:e}, at {time}: {error:e}");
            }
        }
    }
}
