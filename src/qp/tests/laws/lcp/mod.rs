//! Laws of the complementarity solvers: statuses are true, certificates prove, methods agree.

mod contact;
mod enumeration;
pub(crate) mod problems;
mod random;
mod reductions;
mod warm;

use legwork_qp::complementarity::{
    FarkasMargins, Lcp, LcpResiduals, farkas_margins, lcp_residuals,
};

/// A problem that owns its numbers.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) matrix: Vec<f64>,
    pub(crate) vector: Vec<f64>,
}

impl Problem {
    /// From rows of M and q.
    pub(crate) fn rows(rows: &[&[f64]], vector: &[f64]) -> Self {
        let n = vector.len();
        let mut matrix = vec![0.0; n * n];
        for (i, row) in rows.iter().enumerate() {
            for (j, &value) in row.iter().enumerate() {
                matrix[j * n + i] = value;
            }
        }
        Self { matrix, vector: vector.to_vec() }
    }

    pub(crate) fn dim(&self) -> usize {
        self.vector.len()
    }

    pub(crate) fn lcp(&self) -> Lcp<'_> {
        Lcp::new(&self.matrix, &self.vector).unwrap()
    }

    pub(crate) fn residuals(&self, z: &[f64]) -> LcpResiduals {
        let n = self.dim();
        lcp_residuals(&self.lcp(), z, &mut vec![0.0; n], &mut vec![0.0; n])
    }

    pub(crate) fn margins(&self, y: &[f64]) -> FarkasMargins {
        farkas_margins(&self.lcp(), y)
    }
}
