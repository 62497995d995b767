//! Units of the unknowns of a program, from its own numbers.
//!
//! With `x = D x̂`, D of powers of two, the diagonal of `D H D` lies in [1, 4): a product with D is
//! exact. Unknowns without curvature take the unit in which the largest entry of their column in A
//! is one, with rows measured in the units of the others.

use crate::general::Qp;
use crate::status::Status;
use legwork_linalg::lanes::padded;
use legwork_linalg::ldlt;

/// Exponents of diagonal entries within this range need no units.
const SPREAD: i32 = 10;
/// Largest exponent of a unit.
const LARGEST: i32 = 150;

/// Writes D (n). Returns true if its entries differ so much that a solver should use them.
///
/// O(n), and O(m n) if an unknown has no curvature. Does not allocate.
pub(crate) fn units_into(qp: &Qp<'_>, units: &mut [f64]) -> bool {
    let n = qp.dim();
    let (mut least, mut most, mut missing) = (i32::MAX, i32::MIN, 0);
    for (i, unit) in units[..n].iter_mut().enumerate() {
        let diagonal = qp.hessian[i * n + i];
        if diagonal > f64::MIN_POSITIVE {
            let exponent = exponent_of(diagonal);
            (least, most) = (least.min(exponent), most.max(exponent));
            *unit = power_of_two(-(exponent >> 1));
        } else {
            missing += 1;
            *unit = 0.0;
        }
    }
    if missing > 0 {
        return from_columns(qp, units);
    }
    n > 0 && most - least > SPREAD
}

/// Eigenvalues of H, in units of the unknowns, above minus this count as nonnegative.
const SEMIDEFINITE: f64 = 1e-6;

/// Status of an H for which the program is not convex, or `None`: the test for solvers that do not
/// factor H. Allocates.
pub(crate) fn refuse_hessian(qp: &Qp<'_>) -> Option<Status> {
    if !qp.is_symmetric() {
        return Some(Status::Asymmetric);
    }
    let n = qp.dim();
    let stride = padded(n);
    let mut units = vec![0.0; n];
    units_into(qp, &mut units);
    let mut factor = vec![0.0; n * stride];
    let mut trace = 0.0;
    for j in 0..n {
        for i in j..n {
            factor[j * stride + i] = qp.hessian[j * n + i] * units[i] * units[j];
        }
        trace += factor[j * stride + j];
    }
    let shift = if trace > 0.0 { SEMIDEFINITE * trace / n as f64 } else { SEMIDEFINITE };
    (0..n).for_each(|j| factor[j * stride + j] += shift);
    let is_definite = ldlt::factor(&mut factor, n, stride, &mut vec![0.0; stride], 0.0);
    (!is_definite).then_some(Status::Indefinite)
}

/// Unknowns of unit 0 get the unit of their column in A.
#[cold]
fn from_columns(qp: &Qp<'_>, units: &mut [f64]) -> bool {
    let (n, m) = (qp.dim(), qp.row_count());
    let typical = units.iter().fold(0.0f64, |a, b| a.max(*b));
    let typical = if typical > 0.0 { typical } else { 1.0 };
    // Size of a row in the known units; without known units, its largest entry.
    let size = |units: &[f64], row: usize| {
        let (mut known, mut unknown) = (0.0f64, 0.0f64);
        for (j, unit) in units.iter().enumerate() {
            let entry = qp.rows[j * m + row].abs();
            if *unit > 0.0 {
                known = known.max(entry * unit);
            } else {
                unknown = unknown.max(entry);
            }
        }
        if known > 0.0 { known } else { unknown * typical }
    };
    for j in 0..n {
        if units[j] > 0.0 {
            continue;
        }
        let mut largest = 0.0f64;
        for row in 0..m {
            let entry = qp.rows[j * m + row].abs();
            if entry > 0.0 {
                largest = largest.max(entry / size(units, row));
            }
        }
        let unit = if largest > 0.0 && largest.is_finite() { 1.0 / largest } else { typical };
        // Negative until all are found, so that the order of the unknowns has no effect.
        units[j] = -power_of_two(exponent_of(unit));
    }
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for unit in &mut *units {
        *unit = unit.abs();
        (least, most) = (least.min(*unit), most.max(*unit));
    }
    most > power_of_two(SPREAD / 2) * least
}

/// e with `2^e ≤ x < 2^(e+1)` of a normal x > 0.
#[inline]
fn exponent_of(x: f64) -> i32 {
    ((x.to_bits() >> 52) & 0x7FF) as i32 - 1023
}

/// `2^e`, e within ±[`LARGEST`].
#[inline]
fn power_of_two(e: i32) -> f64 {
    let e = e.clamp(-LARGEST, LARGEST);
    f64::from_bits(((e + 1023) as u64) << 52)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop")]
mod tests {
    use super::*;

    fn units(hessian: &[f64], rows: &[f64]) -> (Vec<f64>, bool) {
        let n = hessian.len().isqrt();
        let m = rows.len() / n;
        let qp = Qp {
            hessian,
            gradient: &vec![0.0; n],
            rows,
            row_lower: &vec![0.0; m],
            row_upper: &vec![0.0; m],
            lower: &[],
            upper: &[],
        };
        let mut units = vec![0.0; n];
        let is_needed = units_into(&qp, &mut units);
        (units, is_needed)
    }

    #[test]
    fn the_scaled_diagonal_is_near_one() {
        for (a, b) in [(1.0, 3.0), (2e-4, 2e6), (1e-30, 1e30), (7.0, 1e-3)] {
            let (d, is_needed) = units(&[a, 0.0, 0.0, b], &[]);
            let scaled = [a * d[0] * d[0], b * d[1] * d[1]];
            assert!(scaled.iter().all(|s| (1.0..4.0).contains(s)), "{scaled:?}");
            assert!(d.iter().all(|d| d.to_bits() << 12 == 0), "powers of two: {d:?}");
            assert_eq!(is_needed, (a / b).log2().abs() > 11.0, "{a}, {b}");
        }
    }

    /// `1000 x₁ + 2 x₀`, x₀ in units of 1: so x₁ is in units of about 1/500.
    #[test]
    fn an_unknown_without_curvature_has_the_unit_of_its_column() {
        let (d, _) = units(&[1.0, 0.0, 0.0, 0.0], &[2.0, 1000.0]);
        assert_eq!(d, [1.0, 1.0 / 512.0]);
        assert_eq!(units(&[0.0; 4], &[0.0, 0.0]).0, [1.0, 1.0]);
    }
}
