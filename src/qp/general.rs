//! The general convex quadratic program of controllers.

use crate::contact_problem::ShapeError;
use legwork_linalg::all_finite;

/// Size above which a bound is infinite: `|b| ≥ 1e20`, as in OSQP, HiGHS, qpOASES and Ipopt.
///
/// Files write "no bound" as 1e20, 1e30, 1e308 or infinity. A lower bound of `+1e20` or an upper
/// one of `-1e20` admits no number.
pub const INFINITE_BOUND: f64 = 1e20;

/// The bound, with every spelling of infinity replaced by infinity.
#[inline]
fn read_bound(bound: f64) -> f64 {
    if bound >= INFINITE_BOUND {
        f64::INFINITY
    } else if bound <= -INFINITE_BOUND {
        f64::NEG_INFINITY
    } else {
        bound
    }
}

/// `min ½ xᵀHx + gᵀx` subject to `l ≤ A x ≤ u` and `x_l ≤ x ≤ x_u`: a borrowed view.
///
/// | symbol | field | shape |
/// |---|---|---|
/// | H | `hessian` | n × n, column-major, symmetric positive semidefinite |
/// | g | `gradient` | n |
/// | A | `rows` | m × n, column-major |
/// | l, u | `row_lower`, `row_upper` | m; ±∞ where there is no bound, equal for an equality |
/// | x_l, x_u | `lower`, `upper` | n each, or empty for no bounds |
///
/// All solvers treat a bound of at least [`INFINITE_BOUND`] in size as infinite.
#[doc(alias("QP", "quadratic program"))]
#[derive(Clone, Copy, Debug)]
pub struct Qp<'a> {
    /// H.
    pub hessian: &'a [f64],
    /// g; its length is the number of unknowns n.
    pub gradient: &'a [f64],
    /// A.
    pub rows: &'a [f64],
    /// l; its length is the number of rows m.
    pub row_lower: &'a [f64],
    /// u.
    pub row_upper: &'a [f64],
    /// x_l, or empty.
    pub lower: &'a [f64],
    /// x_u, or empty.
    pub upper: &'a [f64],
}

impl Qp<'_> {
    /// Number of unknowns n.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.gradient.len()
    }

    /// Number of rows m.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.row_lower.len()
    }

    /// Lower bound of unknown `i`, or -∞.
    #[inline]
    #[must_use]
    pub fn lower_of(&self, i: usize) -> f64 {
        self.lower.get(i).map_or(f64::NEG_INFINITY, |bound| read_bound(*bound))
    }

    /// Upper bound of unknown `i`, or +∞.
    #[inline]
    #[must_use]
    pub fn upper_of(&self, i: usize) -> f64 {
        self.upper.get(i).map_or(f64::INFINITY, |bound| read_bound(*bound))
    }

    /// Bounds of unknown `i`; infinite without a bound.
    #[inline]
    #[must_use]
    pub fn bounds_of(&self, i: usize) -> (f64, f64) {
        (self.lower_of(i), self.upper_of(i))
    }

    /// Bounds of row `row`; infinite without a bound.
    ///
    /// # Panics
    /// If `row ≥ m`.
    #[inline]
    #[must_use]
    pub fn row_bounds_of(&self, row: usize) -> (f64, f64) {
        (read_bound(self.row_lower[row]), read_bound(self.row_upper[row]))
    }

    /// Checks the lengths of all slices against `gradient` and `row_lower`.
    ///
    /// # Errors
    /// [`ShapeError`] (with `contact_count` 0) names the first field of wrong length.
    pub fn check_shape(&self) -> Result<(), ShapeError> {
        let (n, m) = (self.dim(), self.row_count());
        let check = |field, found, expected| {
            if found == expected {
                Ok(())
            } else {
                Err(ShapeError { field, contact_count: 0, expected, found })
            }
        };
        check("hessian", self.hessian.len(), n * n)?;
        check("rows", self.rows.len(), m * n)?;
        check("row_upper", self.row_upper.len(), m)?;
        if !self.lower.is_empty() {
            check("lower", self.lower.len(), n)?;
        }
        if !self.upper.is_empty() {
            check("upper", self.upper.len(), n)?;
        }
        Ok(())
    }

    /// True if the numbers form a problem: finite H, g, A and no NaN among the bounds.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let no_nan = |x: &[f64]| !x.iter().any(|v| v.is_nan());
        all_finite(self.hessian)
            && all_finite(self.gradient)
            && all_finite(self.rows)
            && [self.row_lower, self.row_upper, self.lower, self.upper].into_iter().all(no_nan)
    }

    /// True if `|H_ij - H_ji|` is at most 1e-8 of `√(H_ii H_jj)` or of the larger of the two. This
    /// allows an H from a sum or a text, but not an H given by one triangle alone.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        let n = self.dim();
        let mut worst = 0.0f64;
        for j in 1..n {
            let column = &self.hessian[j * n..j * n + j];
            let own = self.hessian[j * n + j].abs();
            for (i, upper) in column.iter().enumerate() {
                let miss = upper - self.hessian[i * n + j];
                let size = own * self.hessian[i * n + i].abs();
                worst = worst.max(miss * miss - 1e-16 * size);
            }
        }
        worst <= 0.0 || self.is_symmetric_by_entries()
    }

    /// The same test if a diagonal entry is zero.
    #[cold]
    fn is_symmetric_by_entries(&self) -> bool {
        let n = self.dim();
        let entry = |i: usize, j: usize| self.hessian[j * n + i];
        (0..n).all(|j| {
            (0..j).all(|i| {
                let (a, b) = (entry(i, j), entry(j, i));
                let size = (entry(i, i) * entry(j, j)).abs().sqrt();
                (a - b).abs() <= 1e-8 * size.max(a.abs()).max(b.abs())
            })
        })
    }

    /// Objective `½ xᵀHx + gᵀx`.
    ///
    /// # Panics
    /// If `x` is shorter than n.
    #[must_use]
    pub fn objective(&self, x: &[f64]) -> f64 {
        let n = self.dim();
        let mut sum = 0.0;
        for (i, column) in self.hessian.chunks_exact(n.max(1)).enumerate() {
            sum += x[i] * (0.5 * legwork_linalg::dot(column, &x[..n]) + self.gradient[i]);
        }
        sum
    }
}
