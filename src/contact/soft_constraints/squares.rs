//! Least forces in circular cones as least squares.

use legwork_qp::{ConeProgramData, ConicLeastSquares, ConicLeastSquaresSolver, Outcome};

/// The objective of least forces as `½ |C x - d|²`, whose Hessian `CᵀC` has lost the digits of its
/// small rows, and its solver.
#[derive(Debug, Default)]
pub(super) struct Squares {
    /// C.
    pub(super) matrix: Vec<f64>,
    /// d.
    pub(super) target: Vec<f64>,
    /// Linear rows, then cones: G, h.
    rows: Vec<f64>,
    offset: Vec<f64>,
    solver: ConicLeastSquaresSolver,
}

impl Squares {
    pub(super) fn clear(&mut self) {
        self.matrix.clear();
        self.target.clear();
    }

    /// Columns by the scale of their unknowns.
    pub(super) fn scale(&mut self, scales: &[f64]) {
        let columns = self.matrix.chunks_exact_mut(self.target.len().max(1));
        for (column, scale) in columns.zip(scales) {
            column.iter_mut().for_each(|x| *x *= scale);
        }
    }

    /// Solves the program with these bounds, rows and cones.
    pub(super) fn solve(&mut self, data: &ConeProgramData, x: &mut [f64]) -> Outcome {
        let ConeProgramData { linear, cone_rows, cone_offset, cone_sizes } = data;
        let (n, r, m) = (x.len(), cone_offset.len(), linear.row_lower.len());
        // A cone bounds the normal impulse of its contact, unless it has another bound.
        let is_in_cone = |k: usize| (0..r).step_by(3).any(|row| cone_rows[k * r + row] > 0.0);
        let bounded = (0..n).filter(|&k| linear.lower[k] == 0.0 && !is_in_cone(k));
        let bounded: Vec<usize> = bounded.collect();
        self.offset.clear();
        self.offset.extend_from_slice(&linear.row_lower);
        self.offset.resize(m + bounded.len(), 0.0);
        self.offset.extend(cone_offset.iter().map(|c| -c));
        self.rows.clear();
        for k in 0..n {
            self.rows.extend_from_slice(&linear.rows[k * m..(k + 1) * m]);
            self.rows.extend(bounded.iter().map(|&other| f64::from(u8::from(other == k))));
            self.rows.extend_from_slice(&cone_rows[k * r..(k + 1) * r]);
        }
        let problem = ConicLeastSquares {
            matrix: &self.matrix,
            target: &self.target,
            rows: &self.rows,
            offset: &self.offset,
            cone_sizes,
        };
        self.solver.solve(&problem, x)
    }
}
