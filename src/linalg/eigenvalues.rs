//! Eigenvalues of small symmetric matrices by Jacobi's method.

/// Sweeps after which the off-diagonal entries count as zero. Convergence is quadratic; ten are
/// common.
const MOST_SWEEPS: usize = 40;

/// Destroys the symmetric n × n matrix (both triangles) and writes its n eigenvalues, ascending.
///
/// Cyclic Jacobi rotations; an entry counts as zero if it is below rounding of the two diagonal
/// entries it joins, so small eigenvalues of graded positive definite matrices come out to high
/// relative accuracy. 4n³ operations a sweep. Eigenvalues are NaN if an entry is.
///
/// # References
/// Golub and Van Loan, algorithm 8.5.3; J. Demmel, K. Veselić, *Jacobi's method is more accurate
/// than QR*, SIAM J. Matrix Anal. Appl. 13 (1992), algorithm 3.1, for the criterion.
pub fn symmetric_eigenvalues(a: &mut [f64], n: usize, eigenvalues: &mut [f64]) {
    for _ in 0..MOST_SWEEPS {
        let mut turned = false;
        for q in 1..n {
            for p in 0..q {
                let (app, aqq, apq) = (a[p * n + p], a[q * n + q], a[q * n + p]);
                if apq == 0.0 || apq.abs() <= f64::EPSILON * (app.abs() * aqq.abs()).sqrt() {
                    continue;
                }
                // The smaller angle that makes entry (p, q) zero.
                let zeta = (aqq - app) / (2.0 * apq);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let c = 1.0 / (1.0 + t * t).sqrt();
                let s = c * t;
                turned |= app + t * apq != app || aqq + t * apq != aqq;
                for i in (0..n).filter(|&i| i != p && i != q) {
                    let (x, y) = (a[p * n + i], a[q * n + i]);
                    (a[p * n + i], a[q * n + i]) = (c * x - s * y, s * x + c * y);
                    (a[i * n + p], a[i * n + q]) = (a[p * n + i], a[q * n + i]);
                }
                (a[p * n + p], a[q * n + q]) = (app - t * apq, aqq + t * apq);
                (a[q * n + p], a[p * n + q]) = (0.0, 0.0);
            }
        }
        if !turned {
            break;
        }
    }
    for (i, eigenvalue) in eigenvalues.iter_mut().enumerate() {
        *eigenvalue = a[i * n + i];
    }
    eigenvalues.sort_by(f64::total_cmp);
}
