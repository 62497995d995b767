//! One damped least-squares step within bounds.

use legwork_linalg::cholesky;

/// Minimises `½ δᵀ(A + μ1)δ − gᵀδ` over `lower ≤ δ ≤ upper` by an active set that only grows.
///
/// Coordinates without room in the direction of `g` are removed first. Then the damped normal
/// equations of the others are solved; those that leave their bounds are set to them, their
/// contribution goes to the right-hand side, and the rest is solved again. The bounds contain zero,
/// so that `δ = 0` is always allowed.
#[derive(Clone, Debug)]
pub(crate) struct BoundedStep {
    /// Cholesky factor of the free part.
    factor: Vec<f64>,
    inverse_diagonal: Vec<f64>,
    free: Vec<usize>,
    rhs: Vec<f64>,
}

/// `A` (order n, column-major), `g`, and the bounds of the step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedProblem<'a> {
    pub(crate) matrix: &'a [f64],
    pub(crate) gradient: &'a [f64],
    pub(crate) lower: &'a [f64],
    pub(crate) upper: &'a [f64],
}

impl BoundedStep {
    /// Memory for up to `n` coordinates.
    pub(crate) fn new(n: usize) -> Self {
        Self {
            factor: vec![0.0; n * n],
            inverse_diagonal: vec![0.0; n],
            free: Vec::with_capacity(n),
            rhs: vec![0.0; n],
        }
    }

    /// Writes the step; `false` if the damped matrix is not positive definite in rounding.
    pub(crate) fn solve(
        &mut self,
        problem: &BoundedProblem<'_>,
        damping: f64,
        step: &mut [f64],
    ) -> bool {
        let BoundedProblem { matrix, gradient, lower, upper } = *problem;
        let n = step.len();
        step.fill(0.0);
        self.free.clear();
        for i in 0..n {
            let room = if gradient[i] > 0.0 { upper[i] } else { -lower[i] };
            if gradient[i] == 0.0 || room > 0.0 {
                self.free.push(i);
            }
        }
        loop {
            if !self.factorize(matrix, n, damping) {
                return false;
            }
            self.solve_free(matrix, gradient, step);
            // Every round removes at least one coordinate.
            let before = self.free.len();
            let rhs = &self.rhs;
            let mut k = 0;
            self.free.retain(|&i| {
                let wanted = rhs[k];
                k += 1;
                step[i] = wanted.clamp(lower[i], upper[i]);
                step[i] == wanted
            });
            if self.free.len() == before {
                return true;
            }
        }
    }

    /// `L Lᵀ = A + μ1` of the free coordinates.
    fn factorize(&mut self, matrix: &[f64], n: usize, damping: f64) -> bool {
        let m = self.free.len();
        for (c, &j) in self.free.iter().enumerate() {
            let column = &mut self.factor[c * m..(c + 1) * m];
            for (target, &i) in column[c..].iter_mut().zip(&self.free[c..]) {
                *target = matrix[j * n + i];
            }
            column[c] += damping;
        }
        cholesky::factor(&mut self.factor[..m * m], &mut self.inverse_diagonal[..m], 0.0)
    }

    /// Solves for the free coordinates, the others at their steps, into the leading `rhs`.
    fn solve_free(&mut self, matrix: &[f64], gradient: &[f64], step: &mut [f64]) {
        let (n, m) = (step.len(), self.free.len());
        for &i in &self.free {
            step[i] = 0.0;
        }
        for (rhs, &i) in self.rhs.iter_mut().zip(&self.free) {
            *rhs = gradient[i];
            for (j, step) in step.iter().enumerate() {
                *rhs -= matrix[j * n + i] * step;
            }
        }
        cholesky::solve(&self.factor[..m * m], &self.inverse_diagonal[..m], &mut self.rhs[..m]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Optimality of the box-constrained problem where only one coordinate is bounded.
    #[test]
    fn a_bounded_coordinate_shifts_the_others() {
        let matrix = [2.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 1.0];
        let gradient = [1.0, 4.0, 0.3];
        let (lower, upper) = ([-9.0; 3], [9.0, 0.5, 9.0]);
        let problem =
            BoundedProblem { matrix: &matrix, gradient: &gradient, lower: &lower, upper: &upper };
        let mut step = [0.0; 3];
        assert!(BoundedStep::new(3).solve(&problem, 0.1, &mut step));
        assert_eq!(step[1], 0.5);
        for (i, g) in gradient.iter().enumerate() {
            let slope: f64 =
                (0..3).map(|j| matrix[3 * j + i] * step[j]).sum::<f64>() + 0.1 * step[i] - g;
            assert!(if i == 1 { slope < 0.0 } else { slope.abs() < 1e-15 }, "{i}: {slope}");
        }
    }

    #[test]
    fn a_coordinate_without_room_stays() {
        let (matrix, gradient) = ([1.0, 0.0, 0.0, 1.0], [1.0, -1.0]);
        let problem = BoundedProblem {
            matrix: &matrix,
            gradient: &gradient,
            lower: &[-1.0, 0.0],
            upper: &[0.0, 1.0],
        };
        let mut step = [7.0; 2];
        assert!(BoundedStep::new(2).solve(&problem, 0.0, &mut step));
        assert_eq!(step, [0.0; 2]);
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let problem =
            BoundedProblem { matrix: &[-1.0], gradient: &[1.0], lower: &[-1.0], upper: &[1.0] };
        assert!(!BoundedStep::new(1).solve(&problem, 0.5, &mut [0.0]));
        assert!(BoundedStep::new(1).solve(&problem, 2.0, &mut [0.0]));
    }
}
