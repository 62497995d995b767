//! The general convex quadratic program of controllers.

use crate::contact_problem::ShapeError;
use legwork_linalg::all_finite;

/// `min ½ xᵀHx + gᵀx` subject to `l ≤ A x ≤ u` and `x_l ≤ x ≤ x_u`: a borrowed view.
///
/// | symbol | field | shape |
/// |---|---|---|
/// | H | `hessian` | n × n, column-major, symmetric positive semidefinite |
/// | g | `gradient` | n |
/// | A | `rows` | m × n, column-major |
/// | l, u | `row_lower`, `row_upper` | m; ±∞ where there is no bound, equal for an equality |
/// | x_l, x_u | `lower`, `upper` | n each, or empty for no bounds |
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

    /// Lower bound of unknown `i`, -∞ if none.
    #[must_use]
    pub fn lower_of(&self, i: usize) -> f64 {
        self.lower.get(i).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Upper bound of unknown `i`, +∞ if none.
    #[must_use]
    pub fn upper_of(&self, i: usize) -> f64 {
        self.upper.get(i).copied().unwrap_or(f64::INFINITY)
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
