//! The linear complementarity problem and its judge.
//!
//! The judge knows the problem alone. Its scaled figures do not change when unknowns and rows are
//! rescaled (`M → D M D'`, D and D' positive diagonal): a slack is measured against the terms it is
//! the sum of, `e_i = |q_i| + Σ_j |M_ij| |z_j|`, but at least `1e-4 r_i`; an unknown by its largest
//! share in a slack, `max_j |M_ji| |z_i| / e_j`, or, without effect on any, by
//! `|z_i| / (1 + |z|∞)`. `r_i` is the size that the terms of a row could have:
//! `max_j |M_ij| / s_j` times the largest `s_j |z_j|`, with the units
//! `s_j = max_i |M_ij| / max_k |M_ik|`. The figures are backward errors: at 1e-12 the answer is
//! exact for data that differ by 1e-12 of each entry's size.

use crate::general::Qp;
use legwork_linalg::all_finite;
use thiserror::Error;

/// Share of the typical size of a row's terms below which they count as vanished.
const FLOOR: f64 = 1e-4;

/// `w = M z + q`, `0 ≤ z ⟂ w ≥ 0`: a borrowed view.
#[doc(alias("LCP", "linear complementarity problem"))]
#[derive(Clone, Copy, Debug)]
pub struct Lcp<'a> {
    matrix: &'a [f64],
    vector: &'a [f64],
}

/// The matrix of a complementarity problem does not fit its vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected {expected} values of {field}, found {found}")]
pub struct LcpShapeError {
    /// The field's name.
    pub field: &'static str,
    /// The length it must have.
    pub expected: usize,
    /// The length it has.
    pub found: usize,
}

impl<'a> Lcp<'a> {
    /// The problem of `matrix` M (n × n, column-major) and `vector` q (n).
    ///
    /// # Errors
    /// [`LcpShapeError`] if M does not have n² values.
    pub fn new(matrix: &'a [f64], vector: &'a [f64]) -> Result<Self, LcpShapeError> {
        let n = vector.len();
        if matrix.len() != n * n {
            let (expected, found) = (n * n, matrix.len());
            return Err(LcpShapeError { field: "matrix", expected, found });
        }
        Ok(Self { matrix, vector })
    }

    /// As [`Self::new`], of slices that this crate has made.
    pub(crate) fn made(matrix: &'a [f64], vector: &'a [f64]) -> Self {
        debug_assert_eq!(matrix.len(), vector.len().pow(2), "values of the matrix");
        Self { matrix, vector }
    }

    /// M, n × n, column-major.
    #[must_use]
    pub fn matrix(&self) -> &'a [f64] {
        self.matrix
    }

    /// q, n.
    #[must_use]
    pub fn vector(&self) -> &'a [f64] {
        self.vector
    }

    /// Number of complementary pairs n.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.vector.len()
    }

    /// True if all numbers are finite.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        all_finite(self.matrix) && all_finite(self.vector)
    }

    /// Column j of M.
    #[inline]
    pub(crate) fn column(&self, j: usize) -> &'a [f64] {
        let n = self.dim();
        &self.matrix[j * n..(j + 1) * n]
    }

    /// True if `|M_ij - M_ji|` is at most `tolerance` times the larger of the two everywhere.
    #[must_use]
    pub fn is_symmetric(&self, tolerance: f64) -> bool {
        let n = self.dim();
        (0..n).all(|j| {
            (0..j).all(|i| {
                let (a, b) = (self.matrix[j * n + i], self.matrix[i * n + j]);
                (a - b).abs() <= tolerance * a.abs().max(b.abs())
            })
        })
    }

    /// The quadratic program whose optimality conditions this problem is:
    /// `min ½ zᵀMz + qᵀz` subject to `z ≥ 0`; its bound multipliers are w.
    ///
    /// `None` unless M is symmetric to rounding. The program is convex if M is positive
    /// semidefinite; it is unbounded exactly if the complementarity problem then has no solution.
    ///
    /// # Panics
    /// If `zeros`, the bounds, is not n zeros.
    #[must_use]
    pub fn as_qp(&self, zeros: &'a [f64]) -> Option<Qp<'a>> {
        assert!(zeros.len() == self.dim() && zeros.iter().all(|&v| v == 0.0), "need n zeros");
        self.is_symmetric(4.0 * f64::EPSILON).then_some(Qp {
            hessian: self.matrix,
            gradient: self.vector,
            rows: &[],
            row_lower: &[],
            row_upper: &[],
            lower: zeros,
            upper: &[],
        })
    }
}

/// Four figures that are zero at a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LcpFigures {
    /// Natural map `max_i |min(z_i, w_i)|`: one figure for all conditions.
    pub natural: f64,
    /// `max_i max(0, -z_i)`.
    pub primal: f64,
    /// `max_i max(0, -w_i)`.
    pub dual: f64,
    /// `max_i |z_i w_i|`.
    pub complementarity: f64,
}

impl LcpFigures {
    /// The largest figure; NaN if one is NaN.
    #[must_use]
    pub fn worst(&self) -> f64 {
        [self.natural, self.primal, self.dual, self.complementarity].into_iter().fold(0.0, nan_max)
    }
}

/// Residuals of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LcpResiduals {
    /// Every unknown and slack in units of its own terms; see the module docs.
    pub scaled: LcpFigures,
    /// In the units of the problem.
    pub absolute: LcpFigures,
}

/// Residuals of `z` in `lcp`.
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | z | `z` | n | the answer to judge |
/// | w | `slack` | n | written: `M z + q` |
/// | e | `terms` | n | written: the terms' size as the module docs have it, 1 for 0 |
///
/// O(n²), does not allocate.
///
/// # Panics
/// If a slice is not n long.
pub fn lcp_residuals(
    lcp: &Lcp<'_>,
    z: &[f64],
    slack: &mut [f64],
    terms: &mut [f64],
) -> LcpResiduals {
    let n = lcp.dim();
    assert_eq!((z.len(), slack.len(), terms.len()), (n, n, n), "z, slack and terms need n values");
    typical_terms(lcp, z, slack, terms);
    for (size, q) in slack.iter_mut().zip(lcp.vector) {
        *size = q.abs();
    }
    let used = || z.iter().enumerate().filter(|(_, z)| **z != 0.0);
    for (j, z) in used() {
        for (size, m) in slack.iter_mut().zip(lcp.column(j)) {
            *size += m.abs() * z.abs();
        }
    }
    for (term, size) in terms.iter_mut().zip(slack.iter()) {
        let size = nan_max(FLOOR * *term, *size);
        *term = if size == 0.0 { 1.0 } else { size };
    }
    slack.copy_from_slice(lcp.vector);
    for (j, z) in used() {
        for (slack, m) in slack.iter_mut().zip(lcp.column(j)) {
            *slack += m * z;
        }
    }
    let largest = z.iter().fold(0.0, |largest, z| nan_max(largest, z.abs()));
    let (mut scaled, mut absolute) = (Tally::default(), Tally::default());
    for (i, (&z, &w)) in z.iter().zip(slack.iter()).enumerate() {
        let mut share = 0.0;
        let mut is_zero = true;
        for (m, term) in lcp.column(i).iter().zip(terms.iter()) {
            share = nan_max(share, (m * z).abs() / term);
            is_zero &= *m == 0.0;
        }
        // An unknown without effect has no unit but that of the others.
        let share = if is_zero { z.abs() / (1.0 + largest) } else { share };
        scaled.add(share.copysign(z), w / terms[i]);
        absolute.add(z, w);
    }
    LcpResiduals { scaled: scaled.0, absolute: absolute.0 }
}

/// Writes `r_i`; see the module docs. `inverse` is scratch for one over the rows' largest entries.
fn typical_terms(lcp: &Lcp<'_>, z: &[f64], inverse: &mut [f64], terms: &mut [f64]) {
    inverse.fill(0.0);
    for j in 0..z.len() {
        for (largest, m) in inverse.iter_mut().zip(lcp.column(j)) {
            *largest = largest.max(m.abs());
        }
    }
    for largest in inverse.iter_mut() {
        *largest = if *largest > 0.0 { 1.0 / *largest } else { 0.0 };
    }
    terms.fill(0.0);
    let mut longest = 0.0f64;
    for (j, z) in z.iter().enumerate() {
        let column = lcp.column(j);
        let pairs = || column.iter().zip(inverse.iter());
        let unit = pairs().fold(0.0f64, |unit, (m, inverse)| unit.max(m.abs() * inverse));
        longest = longest.max(unit * z.abs());
        let size = if unit > 0.0 { 1.0 / unit } else { 0.0 };
        for (term, m) in terms.iter_mut().zip(column) {
            *term = term.max(m.abs() * size);
        }
    }
    terms.iter_mut().for_each(|term| *term *= longest);
}

/// Largest slack that is wrong, in units of q: `-w_i` where z_i is zero, `|w_i|` where it is not,
/// each over the `size` that an entry of q has in its row.
///
/// The scaled figures of [`lcp_residuals`] are backward errors in M and q together. A very long z
/// hides q in them: any direction with `M z = 0` to rounding, scaled up, looks like an answer to a
/// problem that has none. Against q alone it does not.
pub(crate) fn slack_error(z: &[f64], slack: &[f64], size: impl Fn(usize) -> f64) -> f64 {
    z.iter().zip(slack).enumerate().fold(0.0, |worst, (i, (&z, &w))| {
        let miss = if z > 0.0 { w.abs() } else { nan_max(0.0, -w) };
        nan_max(worst, miss / size(i))
    })
}

/// Running maxima of the four figures.
pub(crate) struct Tally(pub(crate) LcpFigures);

impl Default for Tally {
    fn default() -> Self {
        Self(LcpFigures { natural: 0.0, primal: 0.0, dual: 0.0, complementarity: 0.0 })
    }
}

impl Tally {
    /// Updates the maxima with the pair z, w.
    #[inline]
    pub(crate) fn add(&mut self, z: f64, w: f64) {
        let figures = &mut self.0;
        let natural = if z.is_nan() || w.is_nan() { f64::NAN } else { z.min(w).abs() };
        figures.natural = nan_max(figures.natural, natural);
        figures.primal = nan_max(figures.primal, if z >= 0.0 { 0.0 } else { -z });
        figures.dual = nan_max(figures.dual, if w >= 0.0 { 0.0 } else { -w });
        figures.complementarity = nan_max(figures.complementarity, (z * w).abs());
    }
}

/// How well y proves that no `z ≥ 0` has `M z + q ≥ 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FarkasMargins {
    /// `-qᵀy / Σ |q_i y_i|`: positive, at most 1.
    pub gain: f64,
    /// Largest `(Mᵀy)_j / Σ_i |M_ij y_i|`, or 0: what is wrong with the proof.
    pub defect: f64,
}

impl FarkasMargins {
    /// True if the gain is at least 1e-9 and the defect is rounding: at most 1e-13 of the gain, or
    /// 1e-14.
    ///
    /// A definite M of condition κ has directions with a defect of 1/κ, which prove nothing: every
    /// z that satisfies the problem has terms of at least gain over defect times those of q.
    #[must_use]
    pub fn is_proof(&self) -> bool {
        self.gain >= 1e-9 && self.defect <= 1e-13 * self.gain.max(0.1)
    }
}

/// Margins of the certificate `y ≥ 0`, `Mᵀy ≤ 0`, `qᵀy < 0`, from which
/// `yᵀ(M z + q) < 0` for all `z ≥ 0`: no z is feasible.
///
/// If y has a negative entry or is not finite the defect is infinite. Both margins do not change
/// when rows and unknowns are rescaled.
///
/// # Panics
/// If `y` is not n long.
///
/// # References
/// R. Cottle, J.-S. Pang, R. Stone, *The Linear Complementarity Problem* (1992), theorem 4.4.11.
#[must_use]
pub fn farkas_margins(lcp: &Lcp<'_>, y: &[f64]) -> FarkasMargins {
    assert_eq!(y.len(), lcp.dim(), "y needs n values");
    let relative = |column: &[f64]| {
        let (mut sum, mut size) = (0.0, 0.0);
        for (m, y) in column.iter().zip(y) {
            sum += m * y;
            size += (m * y).abs();
        }
        if size > 0.0 { sum / size } else { 0.0 }
    };
    let mut defect = (0..lcp.dim()).map(|j| relative(lcp.column(j))).fold(0.0, nan_max);
    if !y.iter().all(|&v| v >= 0.0 && v.is_finite()) {
        defect = f64::INFINITY;
    }
    FarkasMargins { gain: -relative(lcp.vector), defect }
}

/// Maximum that keeps NaN, which `f64::max` drops.
#[inline]
pub(crate) fn nan_max(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}
