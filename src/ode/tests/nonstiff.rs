//! Non-stiff problems.

use super::problems::{ARENSTORF_PERIOD, ARENSTORF_START, arenstorf};
use super::*;

#[test]
fn arenstorf_orbit_closes() {
    // Near the Moon errors grow by about 1e4 to 1e6 on the way round; Hairer, Nørsett, Wanner I,
    // fig. II.10.1, finds the same of all codes of order 5.
    let closes = |t: f64| {
        let mut kernel = DormandPrince54::new(4, tolerance(t, t));
        let mut flow = Plain::new(arenstorf);
        let end = solve(&mut kernel, &mut flow, &ARENSTORF_START, &[ARENSTORF_PERIOD]);
        let miss = end[0][..2].iter().zip(&ARENSTORF_START).map(|(a, b)| (a - b).abs());
        (miss.fold(0.0, f64::max), kernel.counts())
    };
    for (t, bound, rates) in [(1e-7, 2e-2, 2000), (1e-10, 2e-5, 7000)] {
        let (miss, counts) = closes(t);
        assert!(miss < bound, "tolerance {t:e} misses by {miss:e}");
        assert!(counts.rates < rates, "tolerance {t:e}: {counts:?}");
    }
}

#[test]
fn stiff_kernels_solve_the_arenstorf_orbit_too() {
    for mut kernel in kernels(4, tolerance(1e-10, 1e-10)) {
        let mut flow = Plain::new(arenstorf);
        let end = solve(&mut kernel, &mut flow, &ARENSTORF_START, &[ARENSTORF_PERIOD]);
        let miss = relative_error(&end[0][..2], &ARENSTORF_START[..2], 1.0);
        assert!(miss < 1e-3, "misses by {miss:e}: {:?}", kernel.counts());
    }
}

#[test]
fn remembered_step_spares_the_choice_and_survives_short_segments() {
    // Segments of 10 ms, each cut far below what the tolerance allows.
    for mut kernel in kernels(2, tolerance(1e-6, 1e-9)) {
        let mut flow = Plain::new(|_, u: &[f64], rate: &mut [f64]| {
            rate[0] = u[1];
            rate[1] = -u[0];
        });
        let (mut u, mut h) = (vec![1.0, 0.0], None);
        let mut least = f64::INFINITY;
        for segment in 0..100 {
            begin(&mut kernel, &mut flow, 0.0, &u, h);
            while kernel.t() < 0.01 {
                kernel.step(&mut flow, 0.01).unwrap();
            }
            u.copy_from_slice(kernel.u());
            h = Some(kernel.remembered_step());
            if segment > 10 {
                least = least.min(kernel.remembered_step());
            }
        }
        // An oscillator keeps errors as they are, and each step errs by √2 tolerances at most.
        let bound = 1.5e-6 * kernel.counts().steps as f64;
        assert!((u[0] - libm::cos(1.0)).abs() < bound, "{u:?}");
        assert_eq!(kernel.t(), 0.01);
        // Order 1 restarts of BDF allow √(2 tolerance) ~ 1.4 ms; the others far more than a
        // segment.
        let bound = if matches!(kernel, VariableStep::Bdf(_)) { 5e-4 } else { 0.01 };
        assert!(least > bound, "remembers {least:e} s");
    }
}
