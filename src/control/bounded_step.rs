//! One damped least-squares step within bounds.

/// Minimises `½ δᵀ(A + μ1)δ − gᵀδ` over `lower ≤ δ ≤ upper` by an active set that only grows.
///
/// Coordinates without room in the direction of `g` are removed first. Then the damped normal
/// equations of the others are solved; those that leave their bounds are set to them, their
/// contribution goes to the right-hand side, and the rest is solved again. The bounds contain zero,
/// so that `δ = 0` is always allowed.
#[derive(Clone, Debug)]
pub(crate) struct BoundedStep {
    /// Lower Cholesky factor of the free part, row by row.
    factor: Vec<f64>,
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
        Self { factor: vec![0.0; n * n], free: Vec::with_capacity(n), rhs: vec![0.0; n] }
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

    /// `L Lᵀ = (A + μ1)` of the free coordinates.
    fn factorize(&mut self, matrix: &[f64], n: usize, damping: f64) -> bool {
        let m = self.free.len();
        let l = &mut self.factor;
        for (r, &i) in self.free.iter().enumerate() {
            for (c, &j) in self.free[..=r].iter().enumerate() {
                let (above, row) = l[..(r + 1) * m].split_at_mut(r * m);
                let other = if c < r { &above[c * m..c * m + c] } else { &row[..0] };
                let mut sum = matrix[j * n + i];
                if c < r {
                    for (a, b) in row.iter().zip(other) {
                        sum -= a * b;
                    }
                    row[c] = sum / above[c * m + c];
                } else {
                    sum += damping;
                    for a in &row[..c] {
                        sum -= a * a;
                    }
                    let positive = sum > 0.0 && sum.is_finite();
                    if !positive {
                        return false;
                    }
                    row[c] = sum.sqrt();
                }
            }
        }
        true
    }

    /// Solves for the free coordinates, the others at their steps, into the leading `rhs`.
    fn solve_free(&mut self, matrix: &[f64], gradient: &[f64], step: &mut [f64]) {
        let (n, m) = (step.len(), self.free.len());
        let (l, x) = (&self.factor, &mut self.rhs);
        for &i in &self.free {
            step[i] = 0.0;
        }
        for (k, &i) in self.free.iter().enumerate() {
            let mut sum = gradient[i];
            for (j, step) in step.iter().enumerate() {
                sum -= matrix[j * n + i] * step;
            }
            for (a, x) in l[k * m..k * m + k].iter().zip(x.iter()) {
                sum -= a * x;
            }
            x[k] = sum / l[k * m + k];
        }
        for k in (0..m).rev() {
            let mut sum = x[k];
            for r in k + 1..m {
                sum -= l[r * m + k] * x[r];
            }
            x[k] = sum / l[k * m + k];
        }
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
