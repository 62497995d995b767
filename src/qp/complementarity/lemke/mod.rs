//! Lemke's method with an explicit basis inverse.
//!
//! `w = M z + d z0 + q` with an artificial z0 that lifts all slacks above zero; almost
//! complementary pivots drive z0 out. Ends at a solution or on a ray. For copositive-plus matrices
//! (positive semidefinite ones, and those of frictional contact after Stewart and Trinkle) a ray
//! proves that no z ≥ 0 has `M z + q ≥ 0`; its direction is then a certificate, which is verified
//! before the status says so.
//!
//! Ties of the ratio test are broken by the lexicographic order of the rows `(x_B, B⁻¹) / column`,
//! with which no basis returns; if z0 is among the tied it leaves. So the path is a function of the
//! data. B⁻¹ is updated by each pivot, and recomputed every 64 pivots and before an end is
//! accepted.
//!
//! The problem is first brought to entries of size one by powers of two (`M → D M D`, which keeps
//! symmetry, copositivity and definiteness; where that cannot even out rows and columns `D M D'`),
//! so the zero tolerance `ε n ‖M‖∞` has a meaning for each row. If the method fails, it tries other
//! covering vectors, then `10^k I` is added for k = -20, -16, …, 0 and removed again by proximal
//! steps. The answer is judged on the problem as given: by the backward error of each pair, and by
//! the slacks in units of q, which distinguish an answer from a very long vector that M nearly
//! annihilates.
//!
//! # References
//! R. Cottle, J.-S. Pang, R. Stone, *The Linear Complementarity Problem* (1992), algorithm 4.4.5,
//! section 4.9 (lexicographic rule) and theorem 4.4.11. The ladder and the limits are those of
//! Moby's solver (E. Drumwright).

mod basis;
mod scaling;

use crate::budget::Budget;
use crate::complementarity::lcp::{Lcp, farkas_margins, lcp_residuals, slack_error};
use crate::complementarity::principal_pivoting::{SOLVED, SOLVED_SLACK, USABLE, USABLE_SLACK};
use crate::null_vector::refine;
use crate::status::{Outcome, Status};
use legwork_linalg::max_abs;

/// One attempt: exponent k of the 10^k that is added, least pivot as a share of the column, how
/// much the covering vector varies, and how far below zero the ratio test lets a variable fall to
/// reach a larger pivot (P. Harris, 1973; 0: the lexicographic rule).
#[derive(Clone, Copy, Debug)]
struct Attempt {
    exponent: Option<i32>,
    least_pivot: f64,
    variation: f64,
    give: f64,
}

const fn rung(exponent: i32) -> Attempt {
    Attempt { exponent: Some(exponent), least_pivot: 1e-11, variation: 0.0, give: 1e-11 }
}

const fn path(least_pivot: f64, variation: f64, give: f64) -> Attempt {
    Attempt { exponent: None, least_pivot, variation, give }
}

/// The plain method, other paths with larger pivots, then the ladder.
const ATTEMPTS: [Attempt; 13] = [
    path(1e-12, 0.0, 0.0),
    path(1e-11, 1.0, 1e-11),
    path(1e-9, -0.5, 1e-9),
    path(1e-10, 3.0, 1e-12),
    path(1e-8, -0.9, 1e-10),
    path(1e-11, 0.2, 0.0),
    path(1e-9, 9.0, 1e-9),
    rung(-20),
    rung(-16),
    rung(-12),
    rung(-8),
    rung(-4),
    rung(0),
];
/// Attempts at a proof of infeasibility before a long answer is accepted.
const LOOKS: usize = 6;
/// Proximal steps that take the regularisation out of an answer again.
const PROXIMAL_STEPS: u32 = 12;
/// Scaled answers beyond this are suspect: an unsolvable problem can have them up to rounding.
const LONG: f64 = 1e4;
/// Least gain of a direction that may be a certificate with rounding errors.
const LEAST_GAIN: f64 = 1e-9;
/// Largest defect of such a direction.
const NEAR: f64 = 1e-7;
/// Entries below this share of the largest scaled entry of such a direction are rounding.
const NOISE: f64 = 1e-11;
/// Pivots between two recomputations of the inverse.
const REFRESH: u32 = 64;
/// Ratios within this share of the least one are tied.
const TIE: f64 = 1e-12;

/// How the pivots ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Complementary,
    Ray,
    Limit,
    Singular,
}

/// What the judge finds in the problem as given.
#[derive(Clone, Copy, Debug)]
struct Verdict {
    /// Worst scaled figure.
    residual: f64,
    /// [`slack_error`].
    error: f64,
}

impl Verdict {
    /// That of no answer.
    const NONE: Self = Self { residual: f64::INFINITY, error: f64::INFINITY };

    fn is_solved(self) -> bool {
        self.residual <= SOLVED && self.error <= SOLVED_SLACK
    }

    fn is_usable(self) -> bool {
        self.residual <= USABLE && self.error <= USABLE_SLACK
    }

    fn is_better_than(self, other: Self) -> bool {
        let rank = |v: Self| (!v.is_solved(), !v.is_usable());
        (rank(self), self.residual) < (rank(other), other.residual)
    }

    fn outcome(self, status: Status, iterations: u32) -> Outcome {
        Outcome { status, iterations, residual: self.residual }
    }
}

/// Lemke's method for dense problems; see the module docs.
///
/// Memory for n pairs is allocated by [`Self::new`] and grows only for larger problems. A count of
/// multiplications bounds the attempts: a problem that is large and hard ends after the first
/// attempt that exceeds it, with the best answer so far and its status.
#[doc(alias("LCP solver", "complementary pivoting"))]
#[derive(Clone, Debug, Default)]
pub struct Lemke {
    /// Bounds of its attempts.
    pub budget: Budget,
    n: usize,
    /// The scaled M, column-major.
    matrix: Vec<f64>,
    /// The scaled q over `vector_scale`.
    vector: Vec<f64>,
    /// Scales of the columns, so of z.
    scale: Vec<f64>,
    /// Scales of the rows.
    row_scale: Vec<f64>,
    vector_scale: f64,
    /// What the ladder adds to the diagonal.
    shift: f64,
    /// Pivots must be this share of their column.
    least_pivot: f64,
    /// How much the entries of the covering vector differ.
    variation: f64,
    /// How far a variable may fall below zero for a larger pivot.
    give: f64,
    /// The covering vector d.
    cover: Vec<f64>,
    /// B⁻¹ by rows.
    inverse: Vec<f64>,
    /// B by rows, for making the inverse.
    work: Vec<f64>,
    /// Basic variable of each row: w_i is i, z_i is n + i, z0 is 2n.
    basis: Vec<usize>,
    /// `B⁻¹ q`.
    x: Vec<f64>,
    column: Vec<f64>,
    entering: Vec<f64>,
    best: Vec<f64>,
    slack: Vec<f64>,
    terms: Vec<f64>,
    certificate: Vec<f64>,
    has_certificate: bool,
    /// Limit on pivots of one attempt; 0 means `min(1000, 50 n)`.
    pub iteration_limit: u32,
}

impl Lemke {
    /// A solver with memory for `n` pairs.
    #[must_use]
    pub fn new(n: usize) -> Self {
        let mut solver = Self::default();
        solver.reserve(n);
        solver
    }

    fn reserve(&mut self, n: usize) {
        self.n = n;
        for matrix in [&mut self.matrix, &mut self.inverse, &mut self.work] {
            if matrix.len() < n * n {
                matrix.resize(n * n, 0.0);
            }
        }
        for vector in [
            &mut self.vector,
            &mut self.scale,
            &mut self.row_scale,
            &mut self.cover,
            &mut self.x,
            &mut self.column,
            &mut self.entering,
            &mut self.best,
            &mut self.slack,
            &mut self.terms,
            &mut self.certificate,
        ] {
            vector.resize(n, 0.0);
        }
        self.basis.resize(n, 0);
    }

    /// Solves from a cold start: the answer depends on the problem alone.
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | M, q | `lcp` | n × n, n | any matrix; only some classes are sure to be decided |
    /// | z | `z` | n | written; zero unless the status is usable or an iterate is left |
    ///
    /// [`Status::PrimalInfeasible`] comes with a [`Self::certificate`]. [`Status::Undecided`]:
    /// ended on a ray that proves nothing (the matrix is outside the classes above).
    /// [`Status::MaxIterations`] and [`Status::NumericalTrouble`] refer to the attempt without
    /// regularisation.
    ///
    /// # Panics
    /// If `z` is not n long.
    pub fn solve(&mut self, lcp: &Lcp<'_>, z: &mut [f64]) -> Outcome {
        self.run(lcp, None, z)
    }

    /// Solves from the complementary basis in `flags` (nonzero where z_i is basic) and leaves the
    /// final one there.
    ///
    /// The method starts on the principal transform of that basis, which is positive semidefinite
    /// if M is. If the basis is singular or the method fails from it, a cold start follows. A basis
    /// that still holds needs no pivot.
    ///
    /// # Panics
    /// If `flags` or `z` is not n long.
    pub fn solve_warm(&mut self, lcp: &Lcp<'_>, flags: &mut [f64], z: &mut [f64]) -> Outcome {
        assert_eq!(flags.len(), lcp.dim(), "flags need n values");
        let outcome = self.run(lcp, Some(flags), z);
        for (flag, &z) in flags.iter_mut().zip(z.iter()) {
            *flag = f64::from(u8::from(outcome.status.is_usable() && z > 0.0));
        }
        outcome
    }

    /// `y ≥ 0` with `Mᵀy ≤ 0` and `qᵀy < 0`, which proves that the last problem has no solution;
    /// `None` if it ended otherwise. See [`farkas_margins`].
    #[must_use]
    pub fn certificate(&self) -> Option<&[f64]> {
        self.has_certificate.then_some(&self.certificate)
    }

    fn run(&mut self, lcp: &Lcp<'_>, flags: Option<&[f64]>, z: &mut [f64]) -> Outcome {
        let n = lcp.dim();
        assert_eq!(z.len(), n, "z needs n values");
        self.reserve(n);
        self.has_certificate = false;
        z.fill(0.0);
        if !lcp.is_valid() {
            return Outcome::refused(Status::InvalidData);
        }
        self.equilibrate(lcp);
        let mut pivots = 0;

        // Warm: from the basis of the last answer.
        if let Some(flags) = flags.filter(|flags| flags.iter().any(|&f| f != 0.0)) {
            (self.shift, self.least_pivot) = (0.0, ATTEMPTS[0].least_pivot);
            (self.variation, self.give) = (0.0, 0.0);
            if self.start(|i| flags[i] != 0.0) && self.pivot(&mut pivots) == End::Complementary {
                self.read(z);
                let verdict = self.judge(lcp, z);
                // A nearly singular basis can answer an unsolvable problem with a long vector.
                if verdict.is_solved() && max_abs(&self.x) < LONG {
                    return verdict.outcome(Status::Solved, pivots);
                }
            }
        }

        // Cold: attempts from the plainest to the most regularised; the best answer so far is kept.
        let (mut least, mut first) = (Verdict::NONE, None);
        for (index, attempt) in ATTEMPTS.into_iter().enumerate() {
            self.shift = attempt.exponent.map_or(0.0, |k| libm::exp10(f64::from(k)));
            (self.least_pivot, self.variation) = (attempt.least_pivot, attempt.variation);
            self.give = attempt.give;
            // The first attempt is always made, others only within the budget.
            if first.is_some() && self.work_of(pivots) > self.budget.multiplications {
                break;
            }
            let end = if self.start(|_| false) { self.pivot(&mut pivots) } else { End::Singular };
            first.get_or_insert(end);

            // A ray or a long vector may prove that there is no answer.
            let is_proof = match end {
                End::Ray => self.is_farkas_ray(lcp),
                End::Complementary => {
                    self.read(z);
                    // A regularised problem without solution answers with a long vector along
                    // the direction that proves so.
                    self.shift > 0.0 && self.is_farkas(lcp, z)
                }
                End::Limit | End::Singular => false,
            };
            if is_proof {
                z.fill(0.0);
                let (status, residual) = (Status::PrimalInfeasible, f64::NAN);
                return Outcome { status, iterations: pivots, residual };
            }

            // An answer of the regularised problem comes near that of the problem by proximal
            // steps.
            if end == End::Complementary {
                for step in 0..=PROXIMAL_STEPS {
                    let verdict = self.judge(lcp, z);
                    if verdict.is_better_than(least) {
                        least = verdict;
                        self.best.copy_from_slice(z);
                    }
                    if least.is_solved() || self.shift == 0.0 || step == PROXIMAL_STEPS {
                        break;
                    }
                    self.proximal_step(z);
                }
            }
            let is_doubted = index + 1 < LOOKS && max_abs(&self.x) > LONG;
            if least.is_solved() && !is_doubted {
                z.copy_from_slice(&self.best);
                return least.outcome(Status::Solved, pivots);
            }
        }

        // No attempt solved it: the best is told for what it is.
        if least.residual.is_finite() {
            z.copy_from_slice(&self.best);
        } else {
            z.fill(0.0);
        }
        let status = match first {
            _ if least.is_usable() && !self.is_long(z) => Status::Inaccurate,
            Some(End::Ray) => Status::Undecided,
            Some(End::Limit) => Status::MaxIterations,
            _ => Status::NumericalTrouble,
        };
        self.judge(lcp, z).outcome(status, pivots)
    }

    /// True if z exceeds [`LONG`] in scaled units: the problem may have no solution.
    fn is_long(&self, z: &[f64]) -> bool {
        z.iter().zip(&self.scale).any(|(z, scale)| *z > LONG * scale * self.vector_scale)
    }

    /// Multiplications of this many pivots, including the inverses between them.
    fn work_of(&self, pivots: u32) -> u64 {
        let n = self.n as u64;
        let of_pivot = 3 * n * n + n.pow(3) / u64::from(REFRESH);
        u64::from(pivots).saturating_mul(of_pivot)
    }

    fn judge(&mut self, lcp: &Lcp<'_>, z: &[f64]) -> Verdict {
        let residual = lcp_residuals(lcp, z, &mut self.slack, &mut self.terms).scaled.worst();
        let error = slack_error(z, &self.slack, |i| self.vector_scale / self.row_scale[i]);
        Verdict { residual, error }
    }

    /// Solves the regularised problem again about its last answer, `w - (M + δ) z' = q - δ z`, in
    /// the same basis; for a consistent semidefinite problem this tends to a solution without δ.
    fn proximal_step(&mut self, z: &mut [f64]) {
        self.entering.copy_from_slice(&self.vector);
        for ((right, z), scale) in self.entering.iter_mut().zip(z.iter()).zip(&self.scale) {
            *right -= self.shift * z / (scale * self.vector_scale);
        }
        let right = std::mem::take(&mut self.entering);
        self.solve_for_x(&right);
        self.entering = right;
        self.read(z);
    }

    /// z of the basis in the problem's units; what rounding left below zero becomes zero.
    fn read(&self, z: &mut [f64]) {
        let n = self.n;
        z.fill(0.0);
        for (&variable, &x) in self.basis.iter().zip(&self.x) {
            if (n..2 * n).contains(&variable) {
                let i = variable - n;
                z[i] = (x * self.vector_scale * self.scale[i]).max(0.0);
            }
        }
    }

    /// True if the direction of the ray just met proves infeasibility.
    fn is_farkas_ray(&mut self, lcp: &Lcp<'_>) -> bool {
        let n = self.n;
        // The direction: minus the loaded column at the basic variables, one at the entering one.
        let mut direction = std::mem::take(&mut self.entering);
        let noise = 1e-13 * (1.0 + max_abs(&self.column));
        for (&variable, &c) in self.basis.iter().zip(&self.column) {
            if (n..2 * n).contains(&variable) {
                direction[variable - n] = if -c > noise { -c } else { 0.0 };
            }
        }
        for (value, scale) in direction.iter_mut().zip(&self.scale) {
            *value *= scale;
        }
        let is_proof = self.is_farkas(lcp, &direction);
        self.entering = direction;
        is_proof
    }

    /// True if `y` proves infeasibility; it is then kept.
    fn is_farkas(&mut self, lcp: &Lcp<'_>, y: &[f64]) -> bool {
        let largest = max_abs(y);
        if largest == 0.0 || !largest.is_finite() {
            return false;
        }
        for (target, y) in self.certificate.iter_mut().zip(y) {
            *target = y / largest;
        }
        let margins = farkas_margins(lcp, &self.certificate);
        self.has_certificate = margins.is_proof();
        if !self.has_certificate && margins.gain >= LEAST_GAIN && margins.defect <= NEAR {
            self.refine_certificate(lcp);
            self.has_certificate = farkas_margins(lcp, &self.certificate).is_proof();
        }
        self.has_certificate
    }

    /// Reduces rounding errors of a certificate y: entries of `Mᵀy` that are nearly zero become
    /// zero, if that is possible.
    #[cold]
    fn refine_certificate(&mut self, lcp: &Lcp<'_>) {
        let n = self.n;
        let scaled = |i: usize| self.certificate[i] / self.row_scale[i];
        let noise = NOISE * (0..n).map(scaled).fold(0.0, f64::max);
        let held: Vec<usize> = (0..n).filter(|&i| scaled(i) > noise).collect();
        let product = |j: usize| {
            let terms = || lcp.column(j).iter().zip(&self.certificate).map(|(m, y)| m * y);
            (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>())
        };
        let ties: Vec<usize> = (0..n)
            .filter(|&j| {
                let (sum, size) = product(j);
                sum.abs() <= NEAR * size
            })
            .collect();
        let rows = ties.len();
        let columns = held.iter().flat_map(|&i| {
            let matrix = &self.matrix;
            ties.iter().map(move |&j| matrix[j * n + i])
        });
        let columns: Vec<f64> = columns.collect();
        let mut y: Vec<f64> =
            held.iter().map(|&i| self.certificate[i] / self.row_scale[i]).collect();
        refine(rows, &columns, &mut y);
        self.certificate.fill(0.0);
        for (&i, y) in held.iter().zip(&y) {
            self.certificate[i] = (y * self.row_scale[i]).max(0.0);
        }
        let largest = max_abs(&self.certificate);
        if largest > 0.0 {
            self.certificate.iter_mut().for_each(|y| *y /= largest);
        }
    }
}
