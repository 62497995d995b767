//! Principal pivoting on `N M⁻¹ Nᵀ`, which is never formed.
//!
//! `w = N M⁻¹ Nᵀ z + q`, `0 ≤ z ⟂ w ≥ 0`: nc contact normals of a robot with nv velocities. At most
//! rank(N) ≤ nv contacts need to press (Zapolsky and Drumwright, appendix F), so the method keeps
//! the pressing contacts P linearly independent. With `M⁻¹ = CᵀC` and the columns `B = C Nᵀ` it
//! holds an orthonormal factor `B_P = Q R` that gains and loses columns; a pivot costs
//! O(nv nc + nv r).
//!
//! From the pressing contacts of the last call (warm start), those whose force would be negative
//! are released. Then, until no contact approaches, the one with the worst normalised `w_i` is
//! driven to rest by raising its z; pressing contacts whose z falls to zero on the way are
//! released. The objective `½ zᵀN M⁻¹Nᵀ z + qᵀz` falls with every such step because all pressing z
//! are positive, so no set returns. If z can rise without bound and without effect on w, the
//! multiplier of that direction proves that there is no solution.
//!
//! This is the symmetric principal pivoting method of Dantzig and Cottle. It differs from algorithm
//! 2 of the paper where that one is incomplete: there, one contact is added and another released in
//! the same step by sign alone, which has no descent and can cycle; dependent rows make its
//! line 11 singular; and its vector is `N f*` where the problem says `N M⁻¹ f*` (f* must be read as
//! the velocity without contact forces). Like the paper's it begins with the set of the last call.
//!
//! The cost grows linearly with the contacts once as many press as can. On a robot of 18 velocities
//! 40 contacts in random directions, where up to 18 press and leave again, cost a cold solve three
//! to five times as much as 40 under its feet (`docs/ppm_contacts.svg`, repeated by the bench
//! `lcp`).
//!
//! Everything is computed with columns of unit length, so the units of the rows do not matter. On
//! the way z and `B_P z` are carried along; a candidate answer is computed anew from the factor,
//! refined, and looked at again.
//!
//! # References
//! S. Zapolsky, E. Drumwright, *Inverse dynamics with rigid contact and friction*, Auton. Robots 41
//! (2017), algorithm 2 and appendices D, F. R. Cottle, J.-S. Pang, R. Stone, *The Linear
//! Complementarity Problem* (1992), section 4.2.

mod pivots;

use crate::budget::Budget;
use crate::complementarity::half_inverse_mass::HalfInverseMass;
use crate::complementarity::lcp::{Lcp, farkas_margins, lcp_residuals, slack_error};
use crate::complementarity::lemke::Lemke;
use crate::status::{Outcome, Status};
use legwork_linalg::lanes::padded;
use legwork_linalg::{OrthonormalBasis, PivotedCholesky, all_finite, dot, max_abs};

/// A column nearer than this (relative) to the span of the others depends on them.
const DEPENDENCE: f64 = 1e-10;
/// Squares of lengths that neither overflow nor lose digits.
const TAME_SQUARES: std::ops::Range<f64> = 1e-200..1e200;
/// Answers longer than this, in units of q, are suspect where M is known by its entries only.
const LONG: f64 = 1e4;
/// Scaled residual up to which an answer is called solved, or inaccurate.
pub(in crate::complementarity) const SOLVED: f64 = 1e-10;
pub(in crate::complementarity) const USABLE: f64 = 1e-6;
/// Wrong slack in units of q ([`crate::complementarity::lcp::slack_error`]) up to which an answer
/// is called solved, or inaccurate: a sound answer has rounding times its length.
pub(in crate::complementarity) const SOLVED_SLACK: f64 = 1e-6;
pub(in crate::complementarity) const USABLE_SLACK: f64 = SOLVED_SLACK;

/// Principal pivoting for symmetric positive semidefinite problems; see the module docs.
///
/// Memory is made by [`Self::new`] and grows only for larger problems. If rounding defeats the
/// method (a limit of 50 + 10 n pivots guards it) [`Lemke`] takes over, with the dense matrix.
#[doc(alias("PPM", "Dantzig-Cottle", "Murty"))]
#[derive(Clone, Debug, Default)]
pub struct PrincipalPivoting {
    dim: usize,
    count: usize,
    /// `C Nᵀ` as it is given, `dim` values per contact.
    given: Vec<f64>,
    /// B: its columns of unit length (or zero), each padded with zeros to `stride`.
    columns: Vec<f64>,
    /// Bᵀ, its columns padded to whole lanes of contacts.
    transposed: Vec<f64>,
    stride: usize,
    norms: Vec<f64>,
    /// q over the norm, over `vector_scale`.
    q: Vec<f64>,
    vector_scale: f64,
    dependence: f64,
    /// Rows of zeros are zeros of the data and not what rounding left.
    has_exact_zeros: bool,
    basis: OrthonormalBasis,
    active: Vec<usize>,
    is_active: Vec<bool>,
    is_tolerated: Vec<bool>,
    /// z of the active columns.
    z: Vec<f64>,
    direction: Vec<f64>,
    correction: Vec<f64>,
    /// `B_P z`.
    sum: Vec<f64>,
    /// `|B_P| z`, by entries, if `has_sizes`.
    sum_size: Vec<f64>,
    has_sizes: bool,
    w: Vec<f64>,
    certificate: Vec<f64>,
    has_certificate: bool,
    terms: Vec<f64>,
    psd: PivotedCholesky,
    dense: Vec<f64>,
    lemke: Lemke,
}

impl PrincipalPivoting {
    /// Memory for `count` contacts and `dim` velocities (plain problems of n: `count = dim = n`).
    #[must_use]
    pub fn new(count: usize, dim: usize) -> Self {
        let mut solver = Self::default();
        solver.reserve(count, dim);
        solver.dense.resize(count * count, 0.0);
        solver.psd.reserve(count);
        solver.lemke = Lemke::new(count);
        solver
    }

    fn reserve(&mut self, count: usize, dim: usize) {
        (self.count, self.dim, self.stride) = (count, dim, padded(dim));
        let (width, height) = (padded(count), self.stride);
        for (vector, length) in [
            (&mut self.given, count * dim),
            (&mut self.columns, count * height),
            (&mut self.transposed, width * dim),
            (&mut self.norms, count),
            (&mut self.q, count),
            (&mut self.w, width),
            (&mut self.certificate, count),
            (&mut self.terms, count),
            (&mut self.sum, height),
            (&mut self.sum_size, height),
            (&mut self.direction, height),
            (&mut self.correction, height),
        ] {
            if vector.len() < length {
                vector.resize(length, 0.0);
            }
        }
        for flags in [&mut self.is_active, &mut self.is_tolerated] {
            if flags.len() < count {
                flags.resize(count, false);
            }
        }
        self.active.clear();
        self.active.reserve(dim + 1);
        self.z.clear();
        self.z.reserve(dim + 1);
        self.basis.reset(height);
    }

    /// Solves `w = N M⁻¹ Nᵀ z + q`, `0 ≤ z ⟂ w ≥ 0`.
    ///
    /// | symbol | argument | shape | meaning [unit, for velocities and impulses] |
    /// |---|---|---|---|
    /// | Nᵀ | `normals` | nv × nc | column i: generalised direction of normal i |
    /// | M | `mass` | nv × nv | its square root |
    /// | q | `vector` | nc | normal velocities without contact forces, + gap / time step [m/s] |
    /// | P | `pressing` | nc | in: guess, nonzero where a contact presses; out: the final set |
    /// | z | `forces` | nc | written: normal impulses [N s]; zero unless the status is usable |
    ///
    /// Nothing but `pressing` is kept between calls: equal data and flags give equal bits. Zeros
    /// are a cold start, and any flags lead to an answer. Where the contacts are redundant the
    /// answer is not unique (w and `Nᵀz` are), and the guess decides which contacts press.
    /// [`Status::PrimalInfeasible`] comes with a [`Self::certificate`]; it cannot occur if q is
    /// `N v` for some v.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn solve(
        &mut self,
        normals: &[f64],
        mass: &impl HalfInverseMass,
        vector: &[f64],
        pressing: &mut [f64],
        forces: &mut [f64],
    ) -> Outcome {
        let (n, d) = (vector.len(), mass.dim());
        assert_eq!(normals.len(), n * d, "normals need nv x nc values");
        self.reserve(n, d);
        self.given[..n * d].copy_from_slice(normals);
        mass.half_solve_all(&mut self.given[..n * d]);
        (self.dependence, self.has_exact_zeros) = (DEPENDENCE, false);
        self.solve_columns(vector, pressing, forces)
    }

    /// Solves a plain problem with a symmetric positive semidefinite matrix; any other matrix goes
    /// to [`Lemke`], whose statuses then apply. Arguments as in [`Self::solve`].
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn solve_lcp(
        &mut self,
        lcp: &Lcp<'_>,
        pressing: &mut [f64],
        forces: &mut [f64],
    ) -> Outcome {
        let n = lcp.dim();
        assert_eq!((pressing.len(), forces.len()), (n, n), "flags and forces need n values");
        self.reserve(n, n);
        self.has_certificate = false;
        if !lcp.is_valid() {
            return refuse(forces, pressing);
        }
        if self.psd.factor(lcp.matrix(), n, &mut self.given[..n * n]).is_none() {
            return self.ask_lemke(lcp, pressing, forces, 0);
        }
        (self.dependence, self.has_exact_zeros) = (gram_dependence(n), true);
        let outcome = self.pivot_from(lcp.vector(), pressing, forces);
        match outcome.status {
            Status::Solved => {
                let residual = lcp_residuals(lcp, forces, &mut self.w[..n], &mut self.terms[..n])
                    .scaled
                    .worst();
                let own = Outcome { residual, ..outcome };
                let error = slack_error(forces, &self.w[..n], |i| {
                    if self.norms[i] > 0.0 { self.norms[i] * self.vector_scale } else { 1.0 }
                });
                let is_solved = residual <= SOLVED && error <= SOLVED_SLACK;
                if is_solved && max_abs(&self.z) < LONG {
                    return own;
                }
                // An unsolvable problem has long answers up to rounding: look for a proof.
                self.terms[..n].copy_from_slice(forces);
                let other = self.ask_lemke(lcp, pressing, forces, outcome.iterations);
                if !is_solved || other.status == Status::PrimalInfeasible {
                    return other;
                }
                forces.copy_from_slice(&self.terms[..n]);
                for (flag, &is_active) in pressing.iter_mut().zip(&self.is_active) {
                    *flag = f64::from(u8::from(is_active));
                }
                own
            }
            Status::PrimalInfeasible if farkas_margins(lcp, &self.certificate[..n]).is_proof() => {
                outcome
            }
            _ => self.ask_lemke(lcp, pressing, forces, outcome.iterations),
        }
    }

    /// Bounds Lemke's method, the last resort.
    pub(in crate::complementarity) fn bound(&mut self, budget: Budget) {
        self.lemke.budget = budget;
    }

    /// For solvers that make the columns `C Nᵀ` themselves: room for `count · dim` values, to fill
    /// before [`Self::solve_columns`]. `is_gram_root`: they come from a factor of a singular
    /// matrix, which knows directions only down to the square root of rounding.
    pub(in crate::complementarity) fn columns_mut(
        &mut self,
        count: usize,
        dim: usize,
        is_gram_root: bool,
    ) -> &mut [f64] {
        self.reserve(count, dim);
        self.dependence = if is_gram_root { gram_dependence(dim) } else { DEPENDENCE };
        self.has_exact_zeros = false;
        &mut self.given[..count * dim]
    }

    /// Solves for the columns that are in place.
    pub(in crate::complementarity) fn solve_columns(
        &mut self,
        vector: &[f64],
        pressing: &mut [f64],
        forces: &mut [f64],
    ) -> Outcome {
        let (n, d) = (self.count, self.dim);
        assert_eq!((pressing.len(), forces.len()), (n, n), "flags and forces need nc values");
        self.has_certificate = false;
        if !all_finite(&self.given[..n * d]) || !all_finite(vector) {
            return refuse(forces, pressing);
        }
        let outcome = self.pivot_from(vector, pressing, forces);
        let is_done = matches!(outcome.status, Status::Solved | Status::PrimalInfeasible);
        if is_done || n == 0 {
            return outcome;
        }
        // Second attempt, by Lemke's method: form the matrix from the unit columns and their
        // lengths.
        let mut dense = std::mem::take(&mut self.dense);
        if dense.len() < n * n {
            dense.resize(n * n, 0.0);
        }
        for j in 0..n {
            for i in 0..n {
                let product = dot(self.column(i), self.column(j));
                dense[j * n + i] = product * self.norms[i] * self.norms[j];
            }
        }
        let second = match Lcp::new(&dense[..n * n], vector) {
            Ok(lcp) => self.ask_lemke(&lcp, pressing, forces, outcome.iterations),
            Err(_) => outcome,
        };
        self.dense = dense;
        second
    }

    fn ask_lemke(
        &mut self,
        lcp: &Lcp<'_>,
        pressing: &mut [f64],
        forces: &mut [f64],
        spent: u32,
    ) -> Outcome {
        let outcome = self.lemke.solve(lcp, forces);
        self.has_certificate = false;
        if let Some(certificate) = self.lemke.certificate() {
            self.certificate[..certificate.len()].copy_from_slice(certificate);
            self.has_certificate = true;
        }
        for (flag, &force) in pressing.iter_mut().zip(forces.iter()) {
            *flag = f64::from(u8::from(force > 0.0));
        }
        Outcome { iterations: outcome.iterations + spent, ..outcome }
    }

    /// `y ≥ 0` with `N M⁻¹ Nᵀ y = 0` and `qᵀy < 0`, which proves that the last problem has no
    /// solution; `None` if it ended otherwise.
    #[must_use]
    pub fn certificate(&self) -> Option<&[f64]> {
        self.has_certificate.then(|| &self.certificate[..self.count])
    }

    /// Scales, pivots, and writes the answer.
    fn pivot_from(&mut self, vector: &[f64], pressing: &mut [f64], forces: &mut [f64]) -> Outcome {
        let n = self.count;
        forces.fill(0.0);
        self.normalise(vector);
        let limit = 50 + 10 * u32::try_from(n).unwrap_or(u32::MAX / 16);
        self.is_active[..n].fill(false);
        self.is_tolerated[..n].fill(false);
        for (i, flag) in pressing.iter_mut().enumerate() {
            if *flag != 0.0 && self.norms[i] > 0.0 {
                let distance = self.probe(i);
                if distance > self.dependence {
                    self.push(i, distance, 0.0);
                }
            }
            *flag = 0.0;
        }
        let mut pivots = 0;
        let (status, residual) = self.run(limit, &mut pivots);
        if status == Status::Solved {
            for (&i, &z) in self.active.iter().zip(&self.z) {
                forces[i] = z * self.vector_scale / self.norms[i];
                pressing[i] = 1.0;
            }
            if !all_finite(forces) {
                forces.fill(0.0);
                return Outcome { status: Status::NumericalTrouble, iterations: pivots, residual };
            }
        }
        Outcome { status, iterations: pivots, residual }
    }

    /// Column i, padded.
    #[inline]
    fn column(&self, i: usize) -> &[f64] {
        &self.columns[i * self.stride..(i + 1) * self.stride]
    }

    /// Columns of unit length, q in their units and of size 1.
    fn normalise(&mut self, vector: &[f64]) {
        let (d, width) = (self.dim, padded(self.count));
        let largest = max_abs(vector);
        let mut size = 0.0f64;
        for (i, &value) in vector.iter().enumerate() {
            let given = &mut self.given[i * d..][..d];
            let mut square = dot(given, given);
            let mut reach = 1.0;
            if !TAME_SQUARES.contains(&square) {
                // Taken out first, so that squares neither overflow nor vanish.
                reach = max_abs(given);
                let inverse = if reach > 0.0 { 1.0 / reach } else { 0.0 };
                given.iter_mut().for_each(|v| *v *= inverse);
                square = dot(given, given);
            }
            let length = square.sqrt();
            let inverse = if length > 0.0 { 1.0 / length } else { 0.0 };
            let norm = reach * length;
            let (column, padding) = self.columns[i * self.stride..][..self.stride].split_at_mut(d);
            let rows = self.transposed.chunks_exact_mut(width);
            for ((value, unit), row) in given.iter().zip(column).zip(rows) {
                *unit = value * inverse;
                row[i] = *unit;
            }
            padding.fill(0.0);
            self.norms[i] = norm;
            self.q[i] = if norm > 0.0 { value / norm } else { 0.0 };
            size = size.max(self.q[i].abs());
        }
        self.vector_scale = if size > 0.0 { size } else { 1.0 };
        for (i, &value) in vector.iter().enumerate() {
            if self.norms[i] > 0.0 {
                self.q[i] /= self.vector_scale;
            } else if self.has_exact_zeros {
                self.q[i] = if value < 0.0 { -1.0 } else { 1.0 };
            } else if largest > 0.0 {
                // A direction that vanished by rounding; so may its entry.
                self.q[i] = value / largest;
            }
        }
    }
}

/// What a factor of a singular n × n matrix knows of the angle between columns.
fn gram_dependence(n: usize) -> f64 {
    (64.0 * n as f64 * f64::EPSILON).sqrt()
}

fn refuse(forces: &mut [f64], pressing: &mut [f64]) -> Outcome {
    forces.fill(0.0);
    pressing.fill(0.0);
    Outcome::refused(Status::InvalidData)
}
