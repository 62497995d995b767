//! Solutions of Riccati equations by the sign function of the Hamiltonian matrix.

use faer::Mat;

use crate::algebra::{above, beside, identity, solve, symmetric};

/// Steps of Newton's iteration for the sign.
const MOST_STEPS: u32 = 100;

/// `[A −G; −H −Aᵀ]`.
pub(crate) fn hamiltonian(a: &Mat<f64>, g: &Mat<f64>, h: &Mat<f64>) -> Mat<f64> {
    let n = a.nrows();
    above(
        &beside(a, &Mat::from_fn(n, n, |i, j| -g[(i, j)])),
        &Mat::from_fn(n, 2 * n, |i, j| if j < n { -h[(i, j)] } else { -a[(j - n, i)] }),
    )
}

/// X of the stable invariant subspace [1; X]: of the Hamiltonian matrix in continuous time, of the
/// pencil `[A 0; −H 1] − z [1 G; 0 Aᵀ]` for a sampled system, whose Cayley transform has the stable
/// poles in the left half plane. Returns `None` if the iteration does not converge.
///
/// # References
/// Roberts, *Linear model reduction and solution of the algebraic Riccati equation by use of the
/// sign function* (1980); Gardiner, Laub, *A generalization of the matrix-sign-function solution
/// for algebraic Riccati equations* (1986).
pub(crate) fn stable_solution(
    a: &Mat<f64>,
    g: &Mat<f64>,
    h: &Mat<f64>,
    sampled: bool,
) -> Option<Mat<f64>> {
    let n = a.nrows();
    // X in a unit in which G and H have similar size; without weights G determines it.
    let (g_size, h_size) = (g.norm_l2(), h.norm_l2());
    let unit = match g_size > 0.0 {
        true if h_size > 0.0 => (h_size / g_size).sqrt(),
        true => 1.0 / g_size,
        false => 1.0,
    };
    let times = |m: &Mat<f64>, by: f64| Mat::from_fn(n, n, |i, j| m[(i, j)] * by);
    let (g, h) = (times(g, unit), times(h, 1.0 / unit));
    let start = match sampled {
        false => hamiltonian(a, &g, &h),
        true => {
            let zero = Mat::zeros(n, n);
            let left = above(&beside(a, &zero), &beside(&times(&h, -1.0), &identity(n)));
            let right = above(&beside(&identity(n), &g), &beside(&zero, &a.transpose().to_owned()));
            solve(&(&left + &right), &(&left - &right))?
        }
    };
    let s = sign(start)?;
    // (S + 1) [1; X] = 0.
    let block = |columns: usize, unit: usize| {
        Mat::from_fn(2 * n, n, |i, j| s[(i, columns + j)] + f64::from(i == unit + j))
    };
    let (known, unknown) = (block(0, 0), block(n, n));
    let svd = unknown.svd().ok()?;
    let x = svd.pseudoinverse() * known;
    let x = Mat::from_fn(n, n, |i, j| -unit * x[(i, j)]);
    x.is_all_finite().then(|| symmetric(&x))
}

/// `Z ← (c Z + Z⁻¹/c) / 2`, with c chosen so that both terms have the same norm.
fn sign(mut z: Mat<f64>) -> Option<Mat<f64>> {
    let one = identity(z.nrows());
    let mut last = f64::INFINITY;
    for _ in 0..MOST_STEPS {
        let inverse = solve(&z, &one)?;
        let scale = if last > 1e-2 { (inverse.norm_l2() / z.norm_l2()).sqrt() } else { 1.0 };
        let next = Mat::from_fn(z.nrows(), z.ncols(), |i, j| {
            0.5 * (scale * z[(i, j)] + inverse[(i, j)] / scale)
        });
        let change = (&next - &z).norm_l2() / next.norm_l2();
        if !next.is_all_finite() || change.is_nan() {
            return None;
        }
        z = next;
        // Quadratic convergence ends at the level of rounding.
        if change <= 1e-14 || (change < 1e-6 && change >= last) {
            return Some(z);
        }
        last = change;
    }
    None
}
