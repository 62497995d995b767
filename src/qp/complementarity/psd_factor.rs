//! `M = BᵀB` of a symmetric positive semidefinite matrix, or the result that it is not one.

/// Cholesky factorisation with diagonal pivoting, which reveals the rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct PsdFactor {
    /// What is left to factor, scaled to a unit diagonal.
    rest: Vec<f64>,
    scale: Vec<f64>,
    done: Vec<bool>,
}

/// Asymmetry and negative curvature beyond this, relative to the diagonal, are not rounding.
const INDEFINITE: f64 = 1e-11;

impl PsdFactor {
    /// Makes room for n × n matrices; allocates only to grow.
    pub(crate) fn reserve(&mut self, n: usize) {
        if self.scale.len() < n {
            self.rest.resize(n * n, 0.0);
            self.scale.resize(n, 0.0);
            self.done.resize(n, false);
        }
    }

    /// Writes B (n × n, rows beyond the rank zero, column-major); false unless `matrix` (n × n) is
    /// symmetric positive semidefinite to rounding.
    ///
    /// Directions with less than 8 n ε of their unknown's diagonal are rounding and left out.
    pub(crate) fn factor(&mut self, matrix: &[f64], n: usize, b: &mut [f64]) -> bool {
        self.reserve(n);
        let (rest, scale) = (&mut self.rest[..n * n], &mut self.scale[..n]);
        for (i, scale) in scale.iter_mut().enumerate() {
            let diagonal = matrix[i * n + i];
            if diagonal.is_nan() || diagonal < 0.0 {
                return false;
            }
            *scale = diagonal.sqrt();
        }
        for j in 0..n {
            for i in 0..n {
                let (value, mirror) = (matrix[j * n + i], matrix[i * n + j]);
                let size = scale[i] * scale[j];
                if (value - mirror).abs() > INDEFINITE * size || value.abs() > 2.0 * size {
                    return false;
                }
                rest[j * n + i] = if size > 0.0 { 0.5 * (value + mirror) / size } else { 0.0 };
            }
        }
        b.fill(0.0);
        self.done[..n].fill(false);
        let least = 8.0 * n as f64 * f64::EPSILON;
        for row in 0..n {
            let mut pivot = None;
            let mut largest = least;
            for i in 0..n {
                if !self.done[i] && rest[i * n + i] > largest {
                    (largest, pivot) = (rest[i * n + i], Some(i));
                }
            }
            let Some(pivot) = pivot else { break };
            self.done[pivot] = true;
            let inverse = 1.0 / largest.sqrt();
            for i in 0..n {
                if !self.done[i] || i == pivot {
                    b[i * n + row] = rest[pivot * n + i] * inverse;
                }
            }
            for j in (0..n).filter(|&j| !self.done[j]) {
                let factor = b[j * n + row];
                if factor != 0.0 {
                    for i in (0..n).filter(|&i| !self.done[i]) {
                        rest[j * n + i] -= factor * b[i * n + row];
                    }
                }
            }
        }
        let open = |i: &usize| !self.done[*i];
        for j in (0..n).filter(open) {
            if (0..n).filter(open).any(|i| rest[j * n + i].abs() > INDEFINITE) {
                return false;
            }
        }
        for (column, &scale) in b.chunks_exact_mut(n.max(1)).zip(scale.iter()) {
            for value in column {
                *value *= scale;
            }
        }
        true
    }
}
