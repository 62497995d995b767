//! Transmission zeros.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::evd::ComputeEigenvectors;
use faer::linalg::gevd;
use faer::{Mat, Par, Spec, c64};

use crate::algebra::{Error, Singular, above, balance, beside, largest, part, sort};
use crate::system::System;

/// The finite transmission zeros: where `[A − s B; C D]` has less than its normal rank.
///
/// Rows, then columns are compressed by orthogonal transformations until D is square and regular;
/// what is left has the zeros as its generalised eigenvalues. Numbers below `precision` times the
/// norm of the matrices count as zero.
///
/// # Errors
/// If the iterations do not converge.
///
/// # References
/// Emami-Naeini, Van Dooren, *Computation of zeros of linear multivariable systems*, Automatica 18
/// (1982).
pub fn zeros(system: &System, precision: f64) -> Result<Vec<c64>, Error> {
    let (a, scales) = balance(system.a.as_ref());
    let b = Mat::from_fn(system.b.nrows(), system.b.ncols(), |i, j| system.b[(i, j)] / scales[i]);
    let c = Mat::from_fn(system.c.nrows(), system.c.ncols(), |i, j| system.c[(i, j)] * scales[j]);
    let pencil = Pencil { a, b, c, d: system.d.clone() };
    let norm = above(&beside(&pencil.a, &pencil.b), &beside(&pencil.c, &pencil.d)).norm_l2();
    let tolerance = precision.max(f64::EPSILON * 10.0) * norm.max(f64::MIN_POSITIVE);
    let rows = pencil.compressed(tolerance)?;
    let both = rows.transposed().compressed(tolerance)?.transposed();
    both.zeros()
}

/// A system matrix on its way.
struct Pencil {
    a: Mat<f64>,
    b: Mat<f64>,
    c: Mat<f64>,
    d: Mat<f64>,
}

impl Pencil {
    /// The dual.
    fn transposed(&self) -> Self {
        let t = |matrix: &Mat<f64>| matrix.transpose().to_owned();
        Self { a: t(&self.a), b: t(&self.c), c: t(&self.b), d: t(&self.d) }
    }

    /// A pencil of the same zeros whose D has full row rank.
    fn compressed(mut self, tolerance: f64) -> Result<Self, Error> {
        loop {
            let (n, p) = (self.a.nrows(), self.d.nrows());
            let rows = Singular::of(&self.d)?;
            let rank = rows.rank(tolerance).rank;
            if rank == p {
                return Ok(self);
            }
            // D has its rows above, zeros below.
            let c = rows.u.transpose() * &self.c;
            let d = part(&(rows.u.transpose() * &self.d), 0..rank, 0..self.d.ncols());
            let lower = part(&c, rank..p, 0..n);
            let upper = part(&c, 0..rank, 0..n);
            // The lower outputs determine some of the states; those are no states of the zeros.
            let columns = Singular::of(&lower)?;
            let seen = columns.rank(tolerance).rank;
            if seen == 0 {
                self.c = upper;
                self.d = d;
                return Ok(self);
            }
            let left = n - seen;
            // Columns in the order [unseen, seen].
            let v = Mat::from_fn(n, n, |i, j| {
                columns.v[(i, if j < left { seen + j } else { j - left })]
            });
            let a = v.transpose() * &self.a * &v;
            let b = v.transpose() * &self.b;
            let upper = upper * &v;
            let m = b.ncols();
            self = Self {
                a: part(&a, 0..left, 0..left),
                b: part(&b, 0..left, 0..m),
                c: above(&part(&upper, 0..rank, 0..left), &part(&a, left..n, 0..left)),
                d: above(&d, &part(&b, left..n, 0..m)),
            };
        }
    }

    /// The zeros, where D is square and regular: on the null space Z of [C D], `[A B] Z` and
    /// `[1 0] Z` are a regular pencil.
    fn zeros(&self) -> Result<Vec<c64>, Error> {
        let n = self.a.nrows();
        if n == 0 {
            return Ok(Vec::new());
        }
        let outputs = beside(&self.c, &self.d);
        let null = Singular::of(&outputs)?.v;
        let null = part(&null, 0..null.nrows(), self.c.nrows()..null.ncols());
        let left = beside(&self.a, &self.b) * &null;
        let right = part(&null, 0..n, 0..n);
        let mut values = generalised(left, right)?;
        values.retain(|z| z.re.is_finite() && z.im.is_finite());
        // Rounding of real zeros that lie together.
        let scale = largest(&values).max(f64::MIN_POSITIVE);
        for value in &mut values {
            if value.im.abs() < 1e-14 * scale {
                value.im = 0.0;
            }
        }
        sort(&mut values);
        Ok(values)
    }
}

/// λ of `A v = λ B v`; some are infinite if B is singular.
///
/// Of faer 0.24 two mistakes are avoided: `Mat::generalized_eigen` sets aside too little memory,
/// and the second of a pair of complex values comes with another scale.
fn generalised(mut a: Mat<f64>, mut b: Mat<f64>) -> Result<Vec<c64>, Error> {
    let n = a.nrows();
    let [mut re, mut im, mut beta] = [(); 3].map(|()| Diag::<f64>::zeros(n));
    let none = ComputeEigenvectors::No;
    let needed = gevd::gevd_scratch::<f64>(n, none, none, Par::Seq, Spec::default());
    let more = StackReq::new::<f64>(16 * n + 64);
    let mut memory = MemBuffer::new(needed.and(more));
    gevd::gevd_real(
        a.as_mut(),
        b.as_mut(),
        re.as_mut(),
        im.as_mut(),
        beta.as_mut(),
        None,
        None,
        Par::Seq,
        MemStack::new(&mut memory),
        Spec::default(),
    )
    .map_err(|_| Error::NoConvergence("the system matrix"))?;
    let mut values: Vec<c64> = Vec::with_capacity(n);
    while values.len() < n {
        let i = values.len();
        let value = c64::new(re[i], im[i]) / beta[i];
        values.push(value);
        if im[i] != 0.0 {
            values.push(value.conj());
        }
    }
    Ok(values)
}
