//! Dense LU factorization with partial pivoting, `P A = L U`, on column-major slices.
//!
//! Left-looking: a column is finished before the next one is touched, four earlier columns at a
//! time. The same elimination of one column is the forward substitution of a solve. `2n³/3`
//! operations, no allocation, every sum in the order of the code.
//!
//! # References
//! Golub, Van Loan, *Matrix Computations* (2013), algorithm 3.4.1 in its gaxpy form (3.2.9).

/// A factored n × n matrix.
#[derive(Debug, Clone)]
pub struct Lu {
    n: usize,
    /// U with its diagonal, and below it L without its ones; column-major.
    factors: Vec<f64>,
    /// Row that was exchanged with row j in step j.
    pivots: Vec<usize>,
    /// `1 / uⱼⱼ`.
    inverse_diagonal: Vec<f64>,
}

/// The matrix has no pivot: it is singular or not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Singular;

impl Lu {
    /// Memory for matrices of n × n.
    pub fn new(n: usize) -> Self {
        Self { n, factors: vec![0.0; n * n], pivots: vec![0; n], inverse_diagonal: vec![0.0; n] }
    }

    /// Factors `I - c J`, with J column-major.
    pub fn factor_shifted(&mut self, c: f64, jacobian: &[f64]) -> Result<(), Singular> {
        for (a, j) in self.factors.iter_mut().zip(jacobian) {
            *a = -c * j;
        }
        for i in 0..self.n {
            self.factors[i * self.n + i] += 1.0;
        }
        self.factor()
    }

    /// Factors the matrix in `factors`.
    fn factor(&mut self) -> Result<(), Singular> {
        let n = self.n;
        for j in 0..n {
            let (done, rest) = self.factors.split_at_mut(j * n);
            let column = &mut rest[..n];
            for (row, &pivot) in self.pivots[..j].iter().enumerate() {
                column.swap(row, pivot);
            }
            eliminate(done, n, j, column);
            let mut pivot = j;
            let mut largest = column[j].abs();
            for (i, a) in column.iter().enumerate().skip(j + 1) {
                if a.abs() > largest {
                    largest = a.abs();
                    pivot = i;
                }
            }
            if !(largest > 0.0 && largest.is_finite()) {
                return Err(Singular);
            }
            self.pivots[j] = pivot;
            if pivot != j {
                column.swap(j, pivot);
                for earlier in done.chunks_exact_mut(n) {
                    earlier.swap(j, pivot);
                }
            }
            let inverse = 1.0 / column[j];
            self.inverse_diagonal[j] = inverse;
            for l in &mut column[j + 1..] {
                *l *= inverse;
            }
        }
        Ok(())
    }

    /// Solves `A x = b` in place.
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        for (row, &pivot) in self.pivots.iter().enumerate() {
            b.swap(row, pivot);
        }
        eliminate(&self.factors, n, n, b);
        // Back substitution, four columns of U at a time.
        let mut j = n;
        while j >= 4 {
            let block = &self.factors[(j - 4) * n..j * n];
            let (c0, rest) = block.split_at(n);
            let (c1, rest) = rest.split_at(n);
            let (c2, c3) = rest.split_at(n);
            let d = &self.inverse_diagonal[j - 4..j];
            let (above, own) = b[..j].split_at_mut(j - 4);
            let x3 = own[3] * d[3];
            let x2 = (own[2] - c3[j - 2] * x3) * d[2];
            let x1 = (own[1] - c3[j - 3] * x3 - c2[j - 3] * x2) * d[1];
            let x0 = (own[0] - c3[j - 4] * x3 - c2[j - 4] * x2 - c1[j - 4] * x1) * d[0];
            own.copy_from_slice(&[x0, x1, x2, x3]);
            let columns = (c0.iter().zip(c1)).zip(c2.iter().zip(c3));
            for (b, ((u0, u1), (u2, u3))) in above.iter_mut().zip(columns) {
                *b -= (u0 * x0 + u1 * x1) + (u2 * x2 + u3 * x3);
            }
            j -= 4;
        }
        while j > 0 {
            j -= 1;
            let x = b[j] * self.inverse_diagonal[j];
            b[j] = x;
            for (b, u) in b[..j].iter_mut().zip(&self.factors[j * n..]) {
                *b -= u * x;
            }
        }
    }
}

/// Applies the first `count` columns of L to `column`: `x ← L⁻¹ x`.
fn eliminate(factors: &[f64], n: usize, count: usize, column: &mut [f64]) {
    let mut k = 0;
    while k + 4 <= count {
        let block = &factors[k * n..(k + 4) * n];
        let (l0, rest) = block.split_at(n);
        let (l1, rest) = rest.split_at(n);
        let (l2, l3) = rest.split_at(n);
        let x0 = column[k];
        let x1 = column[k + 1] - l0[k + 1] * x0;
        let x2 = column[k + 2] - l0[k + 2] * x0 - l1[k + 2] * x1;
        let x3 = column[k + 3] - l0[k + 3] * x0 - l1[k + 3] * x1 - l2[k + 3] * x2;
        column[k + 1] = x1;
        column[k + 2] = x2;
        column[k + 3] = x3;
        let columns =
            (l0[k + 4..].iter().zip(&l1[k + 4..])).zip(l2[k + 4..].iter().zip(&l3[k + 4..]));
        for (x, ((l0, l1), (l2, l3))) in column[k + 4..].iter_mut().zip(columns) {
            *x -= (l0 * x0 + l1 * x1) + (l2 * x2 + l3 * x3);
        }
        k += 4;
    }
    while k < count {
        let x = column[k];
        for (y, l) in column[k + 1..].iter_mut().zip(&factors[k * n + k + 1..(k + 1) * n]) {
            *y -= l * x;
        }
        k += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in (-1, 1) from a linear congruential generator.
    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }
    }

    #[test]
    fn solutions_satisfy_their_systems() {
        for n in [1, 2, 3, 4, 5, 7, 8, 13, 36] {
            for seed in 0..20 {
                let mut next = numbers(seed + 1000 * n as u64);
                let matrix: Vec<f64> = (0..n * n).map(|_| next()).collect();
                let x: Vec<f64> = (0..n).map(|_| next()).collect();
                let mut b = vec![0.0; n];
                for (column, x) in matrix.chunks_exact(n).zip(&x) {
                    b.iter_mut().zip(column).for_each(|(b, a)| *b += a * x);
                }
                let mut lu = Lu::new(n);
                lu.factors.copy_from_slice(&matrix);
                assert_eq!(lu.factor(), Ok(()));
                let mut solution = b.clone();
                lu.solve(&mut solution);
                // Partial pivoting is backward stable: the residual is round-off of the solution's
                // size, whatever the condition number.
                let size = solution.iter().fold(1.0f64, |m, x| m.max(x.abs()));
                for (i, b) in b.iter().enumerate() {
                    let ax: f64 = (0..n).map(|j| matrix[j * n + i] * solution[j]).sum();
                    let bound = 100.0 * n as f64 * f64::EPSILON * size;
                    assert!((ax - b).abs() <= bound, "n {n}, seed {seed}: {ax} - {b} > {bound}");
                }
            }
        }
    }

    #[test]
    fn shifted_matrix_is_identity_minus_c_times_jacobian() {
        // I - ½ [[0, 2], [4, 0]] = [[1, -1], [-2, 1]]; columns of J: (0, 4), (2, 0).
        let mut lu = Lu::new(2);
        assert_eq!(lu.factor_shifted(0.5, &[0.0, 4.0, 2.0, 0.0]), Ok(()));
        let mut b = [1.0, 3.0];
        lu.solve(&mut b);
        assert_eq!(b, [-4.0, -5.0]);
    }

    #[test]
    fn zero_on_the_diagonal_is_no_obstacle_and_singularity_is_reported() {
        let mut lu = Lu::new(2);
        lu.factors.copy_from_slice(&[0.0, 1.0, 1.0, 0.0]);
        assert_eq!(lu.factor(), Ok(()));
        let mut b = [3.0, 5.0];
        lu.solve(&mut b);
        assert_eq!(b, [5.0, 3.0]);
        assert_eq!(lu.factor_shifted(1.0, &[1.0, 0.0, 0.0, 0.5]), Err(Singular));
        assert_eq!(lu.factor_shifted(f64::NAN, &[1.0, 0.0, 0.0, 0.5]), Err(Singular));
    }
}
