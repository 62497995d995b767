//! Mixed complementarity problems: free variables with equations beside complementary pairs.

use super::lcp::Lcp;
use legwork_linalg::{Lu, Singular, axpy, matrix_vector};
use thiserror::Error;

/// `A x + C z + g = 0`, `D x + B z + h = w`, `0 ≤ z ⟂ w ≥ 0` with x free: a borrowed view.
///
/// | symbol | field | shape |
/// |---|---|---|
/// | A | `equations` | p × p, column-major |
/// | C | `equations_of_pairs` | p × n, column-major |
/// | D | `pairs_of_equations` | n × p, column-major |
/// | B | `matrix` | n × n, column-major |
/// | g, h | `equation_vector`, `vector` | p, n |
///
/// These are equations 116 to 119 of paper C (Zapolsky and Drumwright 2017). For its problem
/// without slip x is (v, τ, f_S, f_T), z the normal forces, `A = [M, -Xᵀ; X, 0]` with the rows X of
/// motors and no-slip, `C = [-Nᵀ; 0]`, `D = [N, 0]`, `B = 0`. Its section 4.4 lists g with the
/// wrong sign: with its own equations 42 and 120, `g = (κ; -q̇_des; 0; 0)`. A is regular if the
/// rows of X are independent; [`super::IndependentRows`] picks such rows.
#[doc(alias("MLCP", "mixed linear complementarity problem"))]
#[derive(Clone, Copy, Debug)]
pub struct MixedLcp<'a> {
    /// A.
    pub equations: &'a [f64],
    /// C.
    pub equations_of_pairs: &'a [f64],
    /// D.
    pub pairs_of_equations: &'a [f64],
    /// B.
    pub matrix: &'a [f64],
    /// g; its length is the number p of free variables.
    pub equation_vector: &'a [f64],
    /// h; its length is the number n of pairs.
    pub vector: &'a [f64],
}

/// The equations do not determine the free variables.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error(
    "expected equations that determine the {count} free variables, found rank {rank}: \
     pivot {pivot:e} of entries of size 1; leave out dependent rows"
)]
pub struct SingularEquations {
    /// Number of free variables.
    pub count: usize,
    /// Pivots that were found.
    pub rank: usize,
    /// The next pivot, after scaling; NaN if the data are not finite.
    pub pivot: f64,
}

/// Elimination of the free variables, `M = B - D A⁻¹ C`, `q = h - D A⁻¹ g`.
#[derive(Clone, Debug, Default)]
pub struct MixedLcpReduction {
    /// Factor of the scaled A.
    lu: Lu,
    /// A⁻¹ [C, g], p × (n + 1).
    solved: Vec<f64>,
    row_scale: Vec<f64>,
    column_scale: Vec<f64>,
    matrix: Vec<f64>,
    vector: Vec<f64>,
}

/// Pivots of the scaled equations below this are rounding.
const LEAST_PIVOT: f64 = 1e-13;

impl MixedLcpReduction {
    /// Memory for `free` variables and `pairs`.
    #[must_use]
    pub fn new(free: usize, pairs: usize) -> Self {
        let mut reduction = Self::default();
        reduction.reserve(free, pairs);
        reduction
    }

    fn reserve(&mut self, p: usize, n: usize) {
        self.lu.resize(p);
        self.solved.resize(p * (n + 1), 0.0);
        self.row_scale.resize(p, 0.0);
        self.column_scale.resize(p, 0.0);
        self.matrix.resize(n * n, 0.0);
        self.vector.resize(n, 0.0);
    }

    /// The problem in z alone. LU with row pivoting of the scaled A; O(p³ + p² n + p n²).
    ///
    /// # Errors
    /// [`SingularEquations`] if A is singular to rounding or not finite.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    #[expect(clippy::panic_in_result_fn, reason = "a wrong length is a bug of the caller")]
    pub fn reduce(&mut self, mixed: &MixedLcp<'_>) -> Result<Lcp<'_>, SingularEquations> {
        let (p, n) = (mixed.equation_vector.len(), mixed.vector.len());
        let found = [
            mixed.equations.len(),
            mixed.equations_of_pairs.len(),
            mixed.pairs_of_equations.len(),
            mixed.matrix.len(),
        ];
        assert_eq!(found, [p * p, p * n, n * p, n * n], "blocks need p x p, p x n, n x p, n x n");
        self.reserve(p, n);
        self.solved[..p * n].copy_from_slice(mixed.equations_of_pairs);
        self.solved[p * n..].copy_from_slice(mixed.equation_vector);
        self.factor_and_solve(mixed.equations, p)?;

        self.matrix.copy_from_slice(mixed.matrix);
        self.vector.copy_from_slice(mixed.vector);
        let (matrix, vector) = (&mut self.matrix, &mut self.vector);
        for (j, x) in self.solved.chunks_exact(p.max(1)).take(n + 1).enumerate() {
            let target =
                if j < n { &mut matrix[j * n..(j + 1) * n] } else { vector.as_mut_slice() };
            if n > 0 {
                for (&x, column) in x.iter().zip(mixed.pairs_of_equations.chunks_exact(n)) {
                    axpy(-x, column, target);
                }
            }
        }
        match Lcp::new(&self.matrix, &self.vector) {
            Ok(lcp) => Ok(lcp),
            Err(error) => unreachable!("the reduction made {error}"),
        }
    }

    /// The free variables `x = -A⁻¹ (C z + g)` of a solution z of the last reduced problem.
    ///
    /// # Panics
    /// If a slice does not have the length of the last problem.
    pub fn recover(&self, z: &[f64], x: &mut [f64]) {
        let (p, n) = (self.row_scale.len(), self.vector.len());
        assert_eq!((z.len(), x.len()), (n, p), "z needs n and x needs p values");
        matrix_vector(&self.solved[..p * n], p, z, x);
        axpy(1.0, &self.solved[p * n..], x);
        for x in x {
            *x = -*x;
        }
    }

    /// `solved ← A⁻¹ solved`.
    fn factor_and_solve(&mut self, a: &[f64], p: usize) -> Result<(), SingularEquations> {
        self.row_scale.fill(0.0);
        for column in a.chunks_exact(p.max(1)) {
            for (scale, a) in self.row_scale.iter_mut().zip(column) {
                *scale = scale.max(a.abs());
            }
        }
        let invert = |scale: &mut f64| *scale = if *scale > 0.0 { 1.0 / *scale } else { 1.0 };
        self.row_scale.iter_mut().for_each(invert);
        let matrix = self.lu.matrix_mut();
        matrix.copy_from_slice(a);
        for (column, scale) in matrix.chunks_exact_mut(p.max(1)).zip(&mut self.column_scale) {
            *scale = 0.0;
            for (a, row) in column.iter_mut().zip(&self.row_scale) {
                *a *= row;
                *scale = scale.max(a.abs());
            }
            invert(scale);
            column.iter_mut().for_each(|a| *a *= *scale);
        }
        self.lu.factor(LEAST_PIVOT).map_err(|Singular { rank, pivot }| SingularEquations {
            count: p,
            rank,
            pivot,
        })?;
        for right in self.solved.chunks_exact_mut(p.max(1)) {
            right.iter_mut().zip(&self.row_scale).for_each(|(value, scale)| *value *= scale);
            self.lu.solve(right);
            for (value, scale) in right.iter_mut().zip(&self.column_scale) {
                *value *= scale;
            }
        }
        Ok(())
    }
}
