//! The quadratic program with second-order cones.
//!
//! `min ½ xᵀHx + gᵀx` subject to the linear constraints of a [`Qp`] and to
//! `t_j = C_j x + c_j ∈ Q`, with `Q = { t : t_0 ≥ |(t_1, …)| }` per block j.

use crate::contact_problem::ShapeError;
use crate::general::Qp;
use legwork_linalg::{all_finite, dot};
use thiserror::Error;

/// A borrowed view of the cone program; see the module docs.
///
/// | symbol | field | shape |
/// |---|---|---|
/// | H, g, A, l, u, x_l, x_u | `linear` | those of [`Qp`] |
/// | C | `cone_rows` | r × n, column-major, the blocks C_j under one another |
/// | c | `cone_offset` | r |
/// | | `cone_sizes` | rows of each block, each ≥ 1, sum r; a block of one row is `t_0 ≥ 0` |
///
/// A [`Qp`] is a cone program without blocks ([`ConeProgram::from`]).
#[doc(alias("SOCP", "second-order cone program"))]
#[derive(Clone, Copy, Debug)]
pub struct ConeProgram<'a> {
    /// Objective and linear constraints.
    pub linear: Qp<'a>,
    /// C.
    pub cone_rows: &'a [f64],
    /// c; its length is the number of cone rows r.
    pub cone_offset: &'a [f64],
    /// Rows of each block.
    pub cone_sizes: &'a [usize],
}

/// Why slices do not form a cone program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConeProgramError {
    /// A slice of the linear part has the wrong length.
    #[error("expected {expected} values of {field}, found {found}")]
    Shape {
        /// The field's name.
        field: &'static str,
        /// The length it must have.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// A block without rows.
    #[error("expected at least 1 row in cone block {block}, found 0")]
    EmptyBlock {
        /// Index of the block.
        block: usize,
    },
}

impl From<ShapeError> for ConeProgramError {
    fn from(error: ShapeError) -> Self {
        Self::Shape { field: error.field, expected: error.expected, found: error.found }
    }
}

impl<'a> From<Qp<'a>> for ConeProgram<'a> {
    fn from(linear: Qp<'a>) -> Self {
        Self { linear, cone_rows: &[], cone_offset: &[], cone_sizes: &[] }
    }
}

impl<'a> ConeProgram<'a> {
    /// A cone program of slices that fit each other.
    ///
    /// # Errors
    /// [`ConeProgramError`] names the first field of wrong length or an empty block. Numbers are
    /// not judged here: see [`Self::is_valid`].
    pub fn new(
        linear: Qp<'a>,
        cone_rows: &'a [f64],
        cone_offset: &'a [f64],
        cone_sizes: &'a [usize],
    ) -> Result<Self, ConeProgramError> {
        let program = Self { linear, cone_rows, cone_offset, cone_sizes };
        program.check_shape()?;
        Ok(program)
    }

    /// Number of unknowns n.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.linear.dim()
    }

    /// Number of linear rows m.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.linear.row_count()
    }

    /// Number of cone rows r.
    #[must_use]
    pub fn cone_row_count(&self) -> usize {
        self.cone_offset.len()
    }

    /// Checks all lengths.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn check_shape(&self) -> Result<(), ConeProgramError> {
        self.linear.check_shape()?;
        let r = self.cone_row_count();
        if let Some(block) = self.cone_sizes.iter().position(|&size| size == 0) {
            return Err(ConeProgramError::EmptyBlock { block });
        }
        let total = self.cone_sizes.iter().fold(0usize, |sum, &size| sum.saturating_add(size));
        if total != r {
            let field = "cone_offset";
            return Err(ConeProgramError::Shape { field, expected: total, found: r });
        }
        let (expected, found) = (r * self.dim(), self.cone_rows.len());
        if found != expected {
            return Err(ConeProgramError::Shape { field: "cone_rows", expected, found });
        }
        Ok(())
    }

    /// True if the numbers form a problem: those of the linear part do and C, c are finite.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.linear.is_valid() && all_finite(self.cone_rows) && all_finite(self.cone_offset)
    }

    /// The row ranges of the blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = std::ops::Range<usize>> + use<'a> {
        let sizes = self.cone_sizes;
        sizes.iter().scan(0, |end, size| {
            let start = *end;
            *end += size;
            Some(start..*end)
        })
    }

    /// `t = C x + c` of cone row `row`.
    ///
    /// # Panics
    /// If `x` is shorter than n or `row ≥ r`.
    #[must_use]
    pub fn cone_value(&self, row: usize, x: &[f64]) -> f64 {
        let r = self.cone_row_count();
        let product: f64 = (0..self.dim()).map(|j| self.cone_rows[j * r + row] * x[j]).sum();
        product + self.cone_offset[row]
    }
}

/// How far `t` is outside the second-order cone: `max(0, |(t_1, …)| - t_0)`.
#[must_use]
pub fn second_order_violation(t: &[f64]) -> f64 {
    match t {
        [] => 0.0,
        [head, tail @ ..] => {
            let norm = norm(tail);
            let lack = norm - head;
            if lack.is_nan() { f64::NAN } else { lack.max(0.0) }
        }
    }
}

/// Nearest point of the second-order cone to `t`, in place.
pub fn project_second_order(t: &mut [f64]) {
    let [head, tail @ ..] = t else { return };
    let norm = norm(tail);
    if norm <= *head {
        return;
    }
    // Halfway between head and norm: the projection on t_0 = |t_rest|.
    let height = 0.5 * (*head + norm);
    if height <= 0.0 {
        *head = 0.0;
        tail.fill(0.0);
    } else {
        *head = height;
        tail.iter_mut().for_each(|v| *v *= height / norm);
    }
}

/// Euclidean norm, scaled against overflow.
fn norm(x: &[f64]) -> f64 {
    let largest = legwork_linalg::max_abs(x);
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    if (1e-140..1e140).contains(&largest) {
        return dot(x, x).sqrt();
    }
    largest * x.iter().map(|v| (v / largest) * (v / largest)).sum::<f64>().sqrt()
}
