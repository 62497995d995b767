//! Pole placement one pole after the other, for repeated poles.

use faer::{Mat, c64};

use crate::algebra::{Error, beside, identity};
use crate::system::System;

/// Returns K for which `A − B K` has the poles. `pairs` holds the upper pole of each complex pair;
/// a pole may be repeated any number of times.
///
/// Feedback gives the first pole an eigenvector x: `[A − λ, −B] [x; k] = 0`, with the smallest k
/// relative to x. In an orthonormal basis that begins with x the loop is block triangular, and the
/// remaining poles are placed on its last block. States and inputs should be scaled. A pole
/// repeated more often than there are independent inputs gets Jordan blocks.
///
/// # Errors
/// If a decomposition does not converge, or a pole has no eigenvector.
///
/// # References
/// Petkov, Christov, Konstantinov, *A computational algorithm for pole assignment of linear
/// multiinput systems* (1986).
pub(crate) fn deflated(system: &System, pairs: &[c64]) -> Result<Mat<f64>, Error> {
    let (n, m) = (system.states(), system.inputs());
    let (mut a, mut b) = (system.a.clone(), system.b.clone());
    // Basis columns so far, then the remaining ones; K in that basis.
    let mut basis = identity(n);
    let mut gain = Mat::<f64>::zeros(m, n);
    let mut done = 0;
    for pole in pairs {
        let (x, k) = eigenvector(&a, &b, *pole)?;
        let width = x.ncols();
        // x = Q₁ R, so K Q₁ = k R⁻¹.
        let svd = x.svd().map_err(|_| Error::NoConvergence("a placement"))?;
        let values = svd.S().column_vector();
        let turn = svd.U().to_owned();
        let v = svd.V();
        let left = a.nrows();
        let along = Mat::from_fn(width, width, |i, j| v[(i, j)] / values[j]);
        let first = &k * along;
        let all = Mat::from_fn(n, left, |i, j| basis[(i, done + j)]) * &turn;
        for j in 0..left {
            (0..n).for_each(|i| basis[(i, done + j)] = all[(i, j)]);
        }
        for j in 0..width {
            (0..m).for_each(|i| gain[(i, done + j)] = first[(i, j)]);
        }
        let rest = Mat::from_fn(left, left - width, |i, j| turn[(i, width + j)]);
        (a, b) = (rest.transpose() * &a * &rest, rest.transpose() * &b);
        done += width;
    }
    Ok(gain * basis.transpose())
}

/// An eigenvector that feedback gives a pole, and its feedback k; for a complex pole real and
/// imaginary parts.
fn eigenvector(a: &Mat<f64>, b: &Mat<f64>, pole: c64) -> Result<(Mat<f64>, Mat<f64>), Error> {
    let (n, m) = (a.nrows(), b.ncols());
    let is_pair = pole.im > 0.0;
    let joint = beside(a, &Mat::from_fn(n, m, |i, j| -b[(i, j)]));
    let shifted = Mat::from_fn(n + m, n + m, |i, j| {
        // Zero rows make V square, so that it contains the whole null space.
        let entry = if i < n { c64::new(joint[(i, j)], 0.0) } else { c64::new(0.0, 0.0) };
        entry - if i == j && i < n { pole } else { c64::new(0.0, 0.0) }
    });
    let diverged = |_| Error::NoConvergence("a placement");
    let svd = shifted.svd().map_err(diverged)?;
    let v = svd.V();
    let null = Mat::from_fn(n + m, m, |i, j| v[(i, n + j)]);
    // The vector of the null space with the smallest k has the longest x.
    let states = Mat::from_fn(n, m, |i, j| null[(i, j)]);
    let longest = states.svd().map_err(diverged)?;
    let mixtures = longest.V();
    let candidate = |mix: &Mat<c64>| {
        let vector = &null * mix;
        let parts = |from: usize, len: usize| {
            Mat::from_fn(len, if is_pair { 2 } else { 1 }, |i, j| {
                let z = vector[(from + i, 0)];
                if j == 0 { z.re } else { z.im }
            })
        };
        (parts(0, n), parts(n, m))
    };
    let mut mix = Mat::from_fn(m, 1, |i, _| mixtures[(i, 0)]);
    if !is_pair {
        // A real vector: the phase of the complex one with the largest real part.
        let vector = &null * &mix;
        let real: f64 = (0..n).map(|i| vector[(i, 0)].re * vector[(i, 0)].re).sum();
        let imaginary: f64 = (0..n).map(|i| vector[(i, 0)].im * vector[(i, 0)].im).sum();
        if imaginary > real {
            mix = Mat::from_fn(m, 1, |i, _| mix[(i, 0)] * c64::new(0.0, -1.0));
        }
        return Ok(candidate(&mix));
    }
    // Real and imaginary parts must be independent; a second vector of the null space makes them
    // so.
    for more in 0..m {
        let blend = c64::new(0.0, if more == 0 { 0.0 } else { 1.0 });
        let mixed = Mat::from_fn(m, 1, |i, _| mix[(i, 0)] + blend * mixtures[(i, more)]);
        let (x, k) = candidate(&mixed);
        let values = x.svd().map_err(diverged)?;
        let values = values.S().column_vector();
        if n >= 2 && values[1] > 1e-6 * values[0] {
            return Ok((x, k));
        }
    }
    Err(Error::NoSolution("a pair of poles has no eigenvectors that inputs can give it".to_owned()))
}
