//! Covariances of estimates: how a measurement and a step of time change them.

use legwork_block::Invalid;
use legwork_block::quantity::Tensor;
use legwork_linalg::{cholesky, matrix_vector, symmetric_eigenvalues};
use serde::{Deserialize, Serialize};

use crate::signal::shape::finite;

/// P⁻, n × n, of the estimate before its measurement.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Covariance {
    values: Vec<f64>,
}

impl Covariance {
    /// A first one, column by column.
    pub(super) fn new(values: Vec<f64>) -> Self {
        Self { values }
    }
}

/// A covariance of n numbers: rows of a matrix, a list for a diagonal, or one number for all.
///
/// # Errors
/// If the shape differs, or the matrix is not symmetric and positive semidefinite. The least
/// eigenvalue may be below zero by 1e-10 of the largest entry, which is rounding.
pub(super) fn spread(name: &str, tensor: &Tensor, n: usize) -> Result<Vec<f64>, Invalid> {
    finite(name, tensor)?;
    let diagonal = |at: &dyn Fn(usize) -> f64| {
        (0..n * n).map(|k| if k % n == k / n { at(k % n) } else { 0.0 }).collect()
    };
    let data = tensor.data();
    let values: Vec<f64> = match *tensor.shape() {
        [] => diagonal(&|_| data[0]),
        [len] if len == n => diagonal(&|i| data[i]),
        [rows, columns] if (rows, columns) == (n, n) => data.to_vec(),
        ref found => {
            let message = format!("expected {n} rows of {n}, found the shape {found:?}");
            return Err(Invalid::parameter(name, message));
        }
    };
    let largest = values.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let mut is_diagonal = true;
    for i in 0..n {
        if values[i * n + i] < 0.0 {
            let message =
                format!("expected a diagonal of zero or more, found {}", values[i * n + i]);
            return Err(Invalid::parameter(name, message));
        }
        for j in 0..i {
            if (values[i * n + j] - values[j * n + i]).abs() > 1e-12 * largest {
                let message = format!(
                    "expected a symmetric matrix, found {} at ({j}, {i}) and {} at ({i}, {j})",
                    values[i * n + j],
                    values[j * n + i]
                );
                return Err(Invalid::parameter(name, message));
            }
            is_diagonal &= values[i * n + j] == 0.0;
        }
    }
    if is_diagonal {
        return Ok(values);
    }
    let mut eigenvalues = vec![0.0; n];
    symmetric_eigenvalues(&mut values.clone(), n, &mut eigenvalues);
    match eigenvalues.first() {
        Some(least) if *least < -1e-10 * largest => {
            let message = format!(
                "expected a positive semidefinite matrix, found the eigenvalue {least:.6e}: some \
                 combination of the numbers would have a negative variance"
            );
            Err(Invalid::parameter(name, message))
        }
        _ => Ok(values),
    }
}

/// Work memory of a correction of n states by p measurements, and its gain.
pub(super) struct Update {
    n: usize,
    p: usize,
    /// M, n × p.
    gain: Vec<f64>,
    /// Matrices of n × p, p × p and n × n on the way.
    wide: Vec<f64>,
    across: Vec<f64>,
    square: Vec<f64>,
    inverse_diagonal: Vec<f64>,
    row: Vec<f64>,
    one: Vec<f64>,
    two: Vec<f64>,
}

/// `C = A B` of column-major matrices, A with so many rows, B with as many rows as A has columns.
fn multiply(a: &[f64], rows: usize, b: &[f64], inner: usize, out: &mut [f64]) {
    let columns = b.chunks_exact(inner.max(1));
    for (out, b) in out.chunks_exact_mut(rows.max(1)).zip(columns) {
        matrix_vector(a, rows, b, out);
    }
}

/// The transpose of a column-major matrix of so many rows.
fn transpose(a: &[f64], rows: usize, out: &mut [f64]) {
    let columns = a.len() / rows.max(1);
    for (j, column) in a.chunks_exact(rows.max(1)).enumerate() {
        for (i, a) in column.iter().enumerate() {
            out[i * columns + j] = *a;
        }
    }
}

impl Update {
    pub(super) fn new(n: usize, p: usize) -> Self {
        let zeros = |len: usize| vec![0.0; len];
        Self {
            n,
            p,
            gain: zeros(n * p),
            wide: zeros(n * p),
            across: zeros(n * p),
            square: zeros(p * p),
            inverse_diagonal: zeros(p),
            row: zeros(p),
            one: zeros(n * n),
            two: zeros(n * n),
        }
    }

    /// `M = P⁻ Cᵀ (C P⁻ Cᵀ + V)⁻¹`; nothing if the covariance of the innovation is not positive
    /// definite.
    pub(super) fn gain(
        &mut self,
        prior: &Covariance,
        c: &[f64],
        measurement: &[f64],
    ) -> Option<&[f64]> {
        let Self { n, p, gain, wide, square, inverse_diagonal, row, .. } = self;
        let (n, p) = (*n, *p);
        // wide = Cᵀ, gain = P Cᵀ, square = C P Cᵀ + V.
        transpose(c, p, wide);
        multiply(&prior.values, n, wide, n, gain);
        multiply(c, p, gain, n, square);
        square.iter_mut().zip(measurement).for_each(|(s, v)| *s += v);
        if !cholesky::factor(square, inverse_diagonal, 0.0) {
            return None;
        }
        for i in 0..n {
            (0..p).for_each(|k| row[k] = gain[k * n + i]);
            cholesky::forward(square, inverse_diagonal, row);
            cholesky::backward(square, inverse_diagonal, row);
            (0..p).for_each(|k| gain[k * n + i] = row[k]);
        }
        Some(gain)
    }

    /// The diagonal of P with the last gain: `P = P⁻ − M C P⁻`.
    pub(super) fn variances(&mut self, prior: &Covariance, c: &[f64], out: &mut [f64]) {
        let Self { n, p, gain, wide, across, .. } = self;
        let (n, p) = (*n, *p);
        transpose(c, p, across);
        multiply(&prior.values, n, across, n, wide);
        for (i, out) in out.iter_mut().enumerate() {
            let known = (0..p).fold(0.0, |sum, k| sum + gain[k * n + i] * wide[k * n + i]);
            *out = (prior.values[i * n + i] - known).max(0.0);
        }
    }

    /// The covariance of the next prediction, with the last gain:
    /// `P = (1 − M C) P⁻ (1 − M C)ᵀ + M V Mᵀ`, then `A P Aᵀ + W`.
    pub(super) fn advance(
        &mut self,
        covariance: &mut Covariance,
        (a, c): (&[f64], &[f64]),
        (process, measurement): (&[f64], &[f64]),
    ) {
        let Self { n, p, gain, wide, one, two, .. } = self;
        let (n, p) = (*n, *p);
        let prior = &mut covariance.values;
        // one = 1 − M C.
        multiply(gain, n, c, p, one);
        for (k, value) in one.iter_mut().enumerate() {
            *value = f64::from(u8::from(k % n == k / n)) - *value;
        }
        // prior = one P⁻ oneᵀ.
        multiply(one, n, prior, n, two);
        transpose(two, n, prior);
        multiply(one, n, prior, n, two);
        // + M V Mᵀ: one holds (M V)ᵀ's product.
        multiply(gain, n, measurement, p, wide);
        for j in 0..n {
            for i in 0..n {
                let sum = (0..p).fold(0.0, |sum, k| sum + wide[k * n + i] * gain[k * n + j]);
                two[j * n + i] += sum;
            }
        }
        // A P Aᵀ + W, symmetric to the last digit.
        multiply(a, n, two, n, one);
        transpose(one, n, two);
        multiply(a, n, two, n, one);
        for j in 0..n {
            for i in 0..n {
                let both = 0.5 * (one[j * n + i] + one[i * n + j]);
                prior[j * n + i] = both + process[j * n + i];
            }
        }
    }
}
