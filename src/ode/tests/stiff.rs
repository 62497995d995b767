//! Stiff problems, beside SciPy's Radau at rtol 1e-13.

use super::problems::{hires, reference, robertson, van_der_pol};
use super::*;

fn stiff_kernels(n: usize, tolerance: Tolerance) -> [VariableStep; 2] {
    let [_, esdirk, bdf] = kernels(n, tolerance);
    [esdirk, bdf]
}

/// Solves a reference problem at two tolerances. Errors, relative to |u| + floor, stay below four
/// times those of SciPy's BDF at the same tolerance, which is about the tolerance times the number
/// of steps, and more where the solution is about to jump. Returns the counts at the looser one.
fn compare(name: &str, rate: fn(f64, &[f64], &mut [f64])) -> Vec<Counts> {
    let reference = reference(name);
    let n = reference.start.len();
    let mut counts = Vec::new();
    for peer in &reference.bdf {
        let tolerance = tolerance(peer.relative, reference.floor * peer.relative);
        for mut kernel in stiff_kernels(n, tolerance) {
            let mut flow = Plain::new(rate);
            let states = solve(&mut kernel, &mut flow, &reference.start, &reference.times);
            for ((state, expected), t) in states.iter().zip(&reference.states).zip(&reference.times)
            {
                let error = relative_error(state, expected, reference.floor);
                assert!(
                    error < 4.0 * peer.error + reference.spread,
                    "{name} at t = {t}, tolerance {:e}: {error:e}, peer {:e}, {:?}",
                    peer.relative,
                    peer.error,
                    kernel.counts()
                );
            }
            counts.push(kernel.counts());
        }
    }
    counts.truncate(2);
    counts
}

#[test]
fn van_der_pol_with_mu_1000() {
    for counts in compare("van_der_pol", van_der_pol) {
        assert!(counts.rates < 8000, "{counts:?}");
        assert!(counts.jacobians < counts.steps / 2, "{counts:?}");
    }
}

#[test]
fn robertson_over_five_decades() {
    for counts in compare("robertson", robertson) {
        assert!(counts.rates < 2500, "{counts:?}");
    }
}

#[test]
fn hires_with_eight_states() {
    for counts in compare("hires", hires) {
        assert!(counts.rates < 2500, "{counts:?}");
    }
}

#[test]
fn stiff_decay_is_not_resolved() {
    // u' = λ (u - cos t) - sin t: whatever λ, the solution cos t takes the same few steps.
    for lambda in [-1e3, -1e6, -1e9] {
        for mut kernel in stiff_kernels(1, tolerance(1e-5, 1e-8)) {
            let mut flow = Plain::new(move |t: f64, u: &[f64], rate: &mut [f64]| {
                rate[0] = lambda * (u[0] - libm::cos(t)) - libm::sin(t);
            });
            let end = solve(&mut kernel, &mut flow, &[1.0], &[10.0]);
            let error = (end[0][0] - libm::cos(10.0)).abs();
            assert!(error < 1e-4, "λ {lambda:e}: {error:e}");
            assert!(kernel.counts().steps < 300, "λ {lambda:e}: {:?}", kernel.counts());
        }
    }
}

#[test]
fn linear_system_with_eigenvalues_over_nine_decades_decays() {
    // Rotated diagonal matrix with eigenvalues -1e-3 … -1e6; ten time units.
    let (c, s) = (0.8, 0.6);
    let rate = move |_: f64, u: &[f64], rate: &mut [f64]| {
        let (p, q) = (c * u[0] + s * u[1], c * u[1] - s * u[0]);
        let (p, q) = (-1e6 * p, -1e-3 * q);
        rate[0] = c * p - s * q;
        rate[1] = s * p + c * q;
    };
    for mut kernel in stiff_kernels(2, tolerance(1e-6, 1e-9)) {
        let mut flow = Plain::new(rate);
        let end = solve(&mut kernel, &mut flow, &[1.0, 1.0], &[10.0]);
        let slow = (c - s) * libm::exp(-1e-2);
        let error = relative_error(&end[0], &[-s * slow, c * slow], 0.0);
        assert!(error < 1e-4, "{error:e}, {:?}", kernel.counts());
        assert!(kernel.counts().steps < 200, "{:?}", kernel.counts());
    }
    // Implicit Euler with h λ = -1e6: the fast part is gone after one step, the slow part has
    // (1 + 1e-4)^-100.
    let mut flow = Plain::new(rate);
    let mut kernel = ImplicitEuler::new(2, ImplicitEuler::TOLERANCE);
    let mut u = [1.0, 1.0];
    for i in 0..100 {
        kernel.advance(&mut flow, 0.1 * f64::from(i), 0.1, &mut u).unwrap();
    }
    let slow = (c - s) * libm::exp(-100.0 * libm::log1p(1e-4));
    assert!(relative_error(&u, &[-s * slow, c * slow], 0.0) < 1e-6, "{u:?}");
    assert!(kernel.counts().jacobians <= 2, "{:?}", kernel.counts());
}
