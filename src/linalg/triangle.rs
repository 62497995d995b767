//! Four 3 × 3 triangles at once: roots of the blocks that points in space have.

use crate::lanes::Lanes;

/// Least length of a rotation, so that none divides by zero.
const NO_LENGTH: f64 = 1e-150;

/// Upper triangular matrices R, four side by side, by rows. What is below the diagonal is not read.
pub type Triangle = [[Lanes; 3]; 3];

/// `RᵀR ← RᵀR + v vᵀ` by rotations; v is overwritten.
///
/// Sums of squares of different entries are never formed, so R is as exact as v however unequal
/// their scales are.
///
/// # References
/// Golub and Van Loan, section 6.5.4.
pub fn update(rows: &mut Triangle, v: &mut [Lanes; 3]) {
    for (k, row) in rows.iter_mut().enumerate() {
        let length = (row[k] * row[k] + v[k] * v[k]).sqrt().max(Lanes::splat(NO_LENGTH));
        let inverse = Lanes::splat(1.0) / length;
        let (c, s) = (row[k] * inverse, v[k] * inverse);
        for (r, v) in row.iter_mut().zip(v.iter_mut()).skip(k) {
            (*r, *v) = (c * *r + s * *v, c * *v - s * *r);
        }
    }
}

/// The entries of `R⁻¹` by rows: (0,0), (0,1), (0,2), (1,1), (1,2), (2,2). Not finite where R is
/// singular.
#[must_use]
pub fn inverse(rows: &Triangle) -> [Lanes; 6] {
    let one = Lanes::splat(1.0);
    let [[r00, r01, r02], [_, r11, r12], [_, _, r22]] = *rows;
    let (a, d, f) = (one / r00, one / r11, one / r22);
    let b = -r01 * d * a;
    let e = -r12 * f * d;
    let c = -(r01 * e + r02 * f) * a;
    [a, b, c, d, e, f]
}
