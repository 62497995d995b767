//! Dense algebra that all parts use, on `faer`.

use faer::linalg::solvers::Solve as _;
use faer::{Mat, MatRef, c64};

/// Why a linear problem has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A matrix holds numbers that are not finite.
    #[error("{0} is not finite")]
    NotFinite(&'static str),
    /// Matrices do not fit together.
    #[error("expected {what} of shape {expected:?}, found {found:?}")]
    Shape {
        /// Which matrix.
        what: &'static str,
        /// Rows and columns that it should have.
        expected: (usize, usize),
        /// Rows and columns that it has.
        found: (usize, usize),
    },
    /// A weight or covariance is not symmetric.
    #[error(
        "expected {what} to be symmetric, found {upper} at ({row}, {column}) and {lower} at \
         ({column}, {row})"
    )]
    NotSymmetric {
        /// Name of the matrix.
        what: &'static str,
        /// Row of the entry above the diagonal that differs most from its mirror image.
        row: usize,
        /// Column of that entry.
        column: usize,
        /// Value of the entry.
        upper: f64,
        /// Value of its mirror image.
        lower: f64,
    },
    /// A weight or covariance is not positive definite, or semidefinite, as it must be.
    #[error("expected {what} to be positive {definite}, found the eigenvalue {eigenvalue:.6e}")]
    Indefinite {
        /// Name of the matrix.
        what: &'static str,
        /// Required property: `definite` or `semidefinite`.
        definite: &'static str,
        /// Least eigenvalue.
        eigenvalue: f64,
    },
    /// Eigenvalues or singular values did not converge.
    #[error("the eigenvalues of {0} do not converge")]
    NoConvergence(&'static str),
    /// No gain makes the loop stable.
    #[error("{0}")]
    NoSolution(String),
    /// A request makes no sense for the system.
    #[error("{0}")]
    Request(String),
}

/// Fails if a matrix holds numbers that are not finite.
pub(crate) fn expect_finite(what: &'static str, matrix: MatRef<'_, f64>) -> Result<(), Error> {
    match matrix.is_all_finite() {
        true => Ok(()),
        false => Err(Error::NotFinite(what)),
    }
}

/// Fails if a matrix has another shape.
pub(crate) fn expect_shape(
    what: &'static str,
    matrix: MatRef<'_, f64>,
    expected: (usize, usize),
) -> Result<(), Error> {
    let found = (matrix.nrows(), matrix.ncols());
    match found == expected {
        true => Ok(()),
        false => Err(Error::Shape { what, expected, found }),
    }
}

/// Fails if a matrix is not symmetric, or not positive definite or semidefinite as required. Errors
/// up to 1e-10 of the largest entry are rounding.
pub(crate) fn expect_weight(
    what: &'static str,
    matrix: &Mat<f64>,
    is_definite: bool,
) -> Result<(), Error> {
    let n = matrix.nrows();
    let slack = 1e-10 * matrix.norm_max();
    for j in 0..n {
        for i in 0..j {
            let (upper, lower) = (matrix[(i, j)], matrix[(j, i)]);
            if (upper - lower).abs() > slack {
                return Err(Error::NotSymmetric { what, row: i, column: j, upper, lower });
            }
        }
    }
    // The eigenvalues of a diagonal matrix are exact.
    let is_diagonal = (0..n).all(|j| (0..n).all(|i| i == j || matrix[(i, j)] == 0.0));
    let values = match is_diagonal {
        true => (0..n).map(|i| matrix[(i, i)]).collect(),
        false => symmetric(matrix)
            .self_adjoint_eigenvalues(faer::Side::Lower)
            .map_err(|_| Error::NoConvergence(what))?,
    };
    let eigenvalue = values.into_iter().fold(f64::INFINITY, f64::min);
    let definite = if is_definite { "definite" } else { "semidefinite" };
    let is_fit = match (is_definite, is_diagonal) {
        (true, true) => eigenvalue > 0.0,
        (true, false) => symmetric(matrix).llt(faer::Side::Lower).is_ok(),
        (false, true) => eigenvalue >= 0.0,
        (false, false) => eigenvalue >= -slack,
    };
    match is_fit || n == 0 {
        true => Ok(()),
        false => Err(Error::Indefinite { what, definite, eigenvalue }),
    }
}

/// The identity.
pub(crate) fn identity(n: usize) -> Mat<f64> {
    Mat::identity(n, n)
}

/// `(M + Mᵀ) / 2`.
pub(crate) fn symmetric(matrix: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| 0.5 * (matrix[(i, j)] + matrix[(j, i)]))
}

/// `A⁻¹ B` by LU with partial pivoting; nothing if the result is not finite.
pub(crate) fn solve(a: &Mat<f64>, b: &Mat<f64>) -> Option<Mat<f64>> {
    if a.nrows() == 0 {
        return Some(b.clone());
    }
    let x = a.partial_piv_lu().solve(b);
    x.is_all_finite().then_some(x)
}

/// `B A⁻¹`.
pub(crate) fn solve_right(b: &Mat<f64>, a: &Mat<f64>) -> Option<Mat<f64>> {
    let transposed = solve(&a.transpose().to_owned(), &b.transpose().to_owned())?;
    Some(transposed.transpose().to_owned())
}

/// Eigenvalues of a square matrix, sorted by magnitude, then by real and imaginary part.
///
/// # Errors
/// If the matrix is not finite, or the iteration does not converge.
pub fn eigenvalues(matrix: MatRef<'_, f64>) -> Result<Vec<c64>, Error> {
    expect_finite("the matrix", matrix)?;
    if matrix.nrows() == 0 {
        return Ok(Vec::new());
    }
    let balanced = balance(matrix).0;
    let mut values = balanced.eigenvalues().map_err(|_| Error::NoConvergence("the matrix"))?;
    sort(&mut values);
    Ok(values)
}

/// Sorts by magnitude, then by real and imaginary part; pairs stay together.
pub(crate) fn sort(values: &mut [c64]) {
    // Members of a pair have one magnitude but for rounding: the key is that of the upper one.
    values.sort_by(|a, b| {
        let key = |z: &c64| (round(libm::hypot(z.re, z.im)), round(z.re), round(z.im.abs()), z.im);
        key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)
    });
}

/// A number without its last digits, so that rounding does not change an order.
pub(crate) fn round(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let scale = libm::exp2(libm::floor(libm::log2(x.abs())) - 36.0);
    libm::round(x / scale) * scale
}

/// `D⁻¹ A D` and the diagonal D of powers of two, so that rows and columns have like norms.
///
/// # References
/// Parlett, Reinsch, *Balancing a matrix for calculation of eigenvalues and eigenvectors* (1969).
pub(crate) fn balance(matrix: MatRef<'_, f64>) -> (Mat<f64>, Vec<f64>) {
    let n = matrix.nrows();
    let mut a = matrix.to_owned();
    let mut scales = vec![1.0; n];
    // A row or column of rounding has no size to be balanced.
    let nothing = 1e-13 * a.norm_max();
    for _ in 0..20 {
        let mut is_done = true;
        for i in 0..n {
            let others = || (0..n).filter(|&j| j != i);
            let column: f64 = others().map(|j| a[(j, i)].abs()).sum();
            let row: f64 = others().map(|j| a[(i, j)].abs()).sum();
            if column <= nothing || row <= nothing {
                continue;
            }
            let factor = libm::exp2(libm::round(0.5 * libm::log2(row / column)));
            if column * factor + row / factor < 0.95 * (column + row) {
                is_done = false;
                scales[i] *= factor;
                for j in 0..n {
                    a[(j, i)] *= factor;
                }
                for j in 0..n {
                    a[(i, j)] /= factor;
                }
            }
        }
        if is_done {
            break;
        }
    }
    (a, scales)
}

/// How many singular values are above `tolerance`, the smallest of those and the largest of the
/// others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rank {
    pub(crate) rank: usize,
    pub(crate) kept: f64,
    pub(crate) dropped: f64,
}

/// A singular value decomposition `M = U diag(σ) Vᵀ` with square U and V.
pub(crate) struct Singular {
    pub(crate) u: Mat<f64>,
    pub(crate) v: Mat<f64>,
    pub(crate) values: Vec<f64>,
}

impl Singular {
    /// That of a matrix, which may be empty.
    pub(crate) fn of(matrix: &Mat<f64>) -> Result<Self, Error> {
        let (m, n) = (matrix.nrows(), matrix.ncols());
        if m == 0 || n == 0 {
            return Ok(Self { u: identity(m), v: identity(n), values: Vec::new() });
        }
        expect_finite("the matrix", matrix.as_ref())?;
        let svd = matrix.svd().map_err(|_| Error::NoConvergence("the matrix"))?;
        let values = svd.S().column_vector().iter().copied().collect();
        Ok(Self { u: svd.U().to_owned(), v: svd.V().to_owned(), values })
    }

    /// Its rank, where what is below `tolerance` counts as zero.
    pub(crate) fn rank(&self, tolerance: f64) -> Rank {
        let rank = self.values.iter().take_while(|value| **value > tolerance).count();
        let kept = if rank == 0 { f64::INFINITY } else { self.values[rank - 1] };
        Rank { rank, kept, dropped: self.values.get(rank).copied().unwrap_or(0.0) }
    }
}

/// A block of a matrix.
pub(crate) fn part(
    matrix: &Mat<f64>,
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
) -> Mat<f64> {
    let (first, left) = (rows.start, columns.start);
    Mat::from_fn(rows.len(), columns.len(), |i, j| matrix[(first + i, left + j)])
}

/// `[A B]`.
pub(crate) fn beside(a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    let n = a.ncols();
    Mat::from_fn(a.nrows(), n + b.ncols(), |i, j| if j < n { a[(i, j)] } else { b[(i, j - n)] })
}

/// `[A; B]`.
pub(crate) fn above(a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    let n = a.nrows();
    Mat::from_fn(n + b.nrows(), a.ncols(), |i, j| if i < n { a[(i, j)] } else { b[(i - n, j)] })
}

/// Largest magnitude of an eigenvalue.
pub(crate) fn largest(values: &[c64]) -> f64 {
    values.iter().map(|z| libm::hypot(z.re, z.im)).fold(0.0, f64::max)
}
