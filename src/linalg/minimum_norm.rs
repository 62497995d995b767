//! Solutions of least norm with a symmetric positive semidefinite matrix.

use crate::orthonormal_basis::OrthonormalBasis;
use crate::pivoted_cholesky::PivotedCholesky;

/// The pseudoinverse of a positive semidefinite A, as factors.
///
/// With `A = BᵀB` from [`PivotedCholesky`] and `Bᵀ = Q R` it is `A⁺ = Q R⁻ᵀ R⁻¹ Qᵀ`: what is
/// inverted has the root of A's condition.
///
/// # References
/// Golub and Van Loan, section 5.5.2.
#[derive(Clone, Debug, Default)]
pub struct MinimumNorm {
    cholesky: PivotedCholesky,
    /// B.
    root: Vec<f64>,
    row: Vec<f64>,
    basis: OrthonormalBasis,
    product: Vec<f64>,
}

impl MinimumNorm {
    /// Makes room for n × n matrices; allocates only to grow.
    pub fn reserve(&mut self, n: usize) {
        self.cholesky.reserve(n);
        if self.row.len() < n {
            self.root.resize(n * n, 0.0);
            self.row.resize(n, 0.0);
            self.product.resize(n, 0.0);
            self.basis.reset(n);
        }
    }

    /// Factors A (n × n, both triangles) and returns its rank, as [`PivotedCholesky::factor_above`]
    /// does. Of what is not semidefinite, `None`, the pseudoinverse is zero.
    pub fn factor(&mut self, matrix: &[f64], n: usize, tolerance: f64) -> Option<usize> {
        self.reserve(n);
        self.basis.reset(n);
        let root = &mut self.root[..n * n];
        let rank = self.cholesky.factor_above(matrix, n, tolerance, root)?;
        for k in 0..rank {
            let row = &mut self.row[..n];
            row.iter_mut().zip(root.iter().skip(k).step_by(n)).for_each(|(x, b)| *x = *b);
            let distance = self.basis.probe(row);
            // Rows of B form a staircase, so none depends on the others.
            self.basis.push(distance);
        }
        Some(rank)
    }

    /// `b ← A⁺ b`: of all x that minimise `‖A x - b‖` the shortest. O(n rank).
    pub fn solve(&mut self, b: &mut [f64]) {
        let product = &mut self.product[..self.basis.rank()];
        self.basis.products_of(b, product);
        self.basis.solve_upper(product);
        self.basis.solve_transposed(product);
        b.fill(0.0);
        self.basis.add_combination(product, b);
    }
}
