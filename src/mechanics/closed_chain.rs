//! Closed chains and fixed frames: motion under equality constraints.
//!
//! A holonomic constraint reads `J_p ν̇ + γ = 0`. With a square root C of the mass matrix,
//! `CᵀC = M`, the coordinates `z = C ν̇` measure kinetic energy as a plain length, and Gauss's
//! principle becomes an orthogonal projection. With `W_p = J_p C⁻¹`:
//!
//! - `z = P z_f - W_p⁺ γ`, `P = I - W_p⁺ W_p`: the free motion of the closed mechanism;
//! - a row `w = j C⁻¹` of a contact Jacobian acts as `P w`, so that `G = (W P)(W P)ᵀ`.
//!
//! The matrix `S = J_p M⁻¹ J_pᵀ` is not formed: an orthonormal basis of the rows of W_p comes from
//! `W_pᵀ = Q R` with pivoting, whose condition is the root of that of S.
//!
//! Rows that depend on others (the second of two equal loops, four corners of one sole) get no
//! force, and the acceleration that they require is compared with the one that the independent rows
//! produce.
//!
//! # References
//! - F. E. Udwadia, R. E. Kalaba, *A new perspective on constrained motion* (1992).
//! - N. Guedelha et al. (2024), eqs. (13)-(18); eqs. (19)-(24) with the velocity before an impact
//!   in the place of ν̇_f and γ = 0. Their code damps the inverse of S (k = 0.001), which makes
//!   closed chains creep; we do not.

use legwork_linalg::{PivotedQr, axpy, dot};

use crate::delassus::WeightedJacobian;
use crate::mass_factor::MassFactorRef;

/// Share of a row's length that must remain for it to be independent of those before it.
const DEPENDENT: f64 = 3e-6;
/// Length, relative to the longest row, up to which a row is zero up to rounding.
const NOTHING: f64 = 1e-9;

/// The constraints of one mechanism at one state.
#[doc(alias("loop closure", "closed kinematic chain", "bilateral constraint"))]
#[derive(Clone, Debug)]
pub struct ClosedChain {
    /// `W_pᵀ = Q R`.
    factor: PivotedQr,
    dim: usize,
    negligible: f64,
    /// Rows of J_p, row by row.
    rows: Vec<f64>,
    /// `W_p = J_p C⁻¹`, row by row.
    half_rows: Vec<f64>,
    /// γ.
    bias: Vec<f64>,
    /// What the caller calls each row.
    labels: Vec<usize>,
    /// `R⁻ᵀ γ`: what the constraints require of the coordinates `Qᵀ z`.
    required: Vec<f64>,
    /// What `constrain` added, in coordinates of Q.
    reaction: Vec<f64>,
    forces: Vec<f64>,
    /// `R⁻ᵀ J_p = QᵀC`, row by row.
    basis_rows: Vec<f64>,
    shares: Vec<f64>,
}

impl ClosedChain {
    /// Memory for `row_count` rows of a robot with `dim` velocities, whose response `contact_rows`
    /// rows of contacts ask for.
    #[must_use]
    pub fn new(row_count: usize, dim: usize, contact_rows: usize) -> Self {
        let mut factor = PivotedQr::default();
        factor.reserve(dim, row_count);
        Self {
            factor,
            dim,
            negligible: NOTHING,
            rows: Vec::with_capacity(row_count * dim),
            half_rows: Vec::with_capacity(row_count * dim),
            bias: Vec::with_capacity(row_count),
            labels: Vec::with_capacity(row_count),
            required: vec![0.0; row_count],
            reaction: vec![0.0; row_count],
            forces: vec![0.0; row_count],
            basis_rows: vec![0.0; row_count * dim],
            shares: vec![0.0; if row_count > 0 { contact_rows } else { 0 }],
        }
    }

    /// Takes rows of any units: none is zero because others are longer.
    #[must_use]
    pub fn of_any_units(self) -> Self {
        Self { negligible: 0.0, ..self }
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.bias.clear();
        self.labels.clear();
    }

    /// Adds a row of `J_p ν̇ + γ = 0`, which the caller calls `label`.
    pub fn push(&mut self, label: usize, row: impl Iterator<Item = f64>, bias: f64) {
        self.rows.extend(row);
        self.bias.push(bias);
        self.labels.push(label);
    }

    /// Takes `J_p ν⁺ = 0` after an impact at the velocity ν⁻ instead: the jump `Δν` has `J_p Δν +
    /// J_p ν⁻ = 0`.
    pub fn hold_velocity(&mut self, velocity: &[f64]) {
        for (bias, row) in self.bias.iter_mut().zip(self.rows.chunks_exact(self.dim.max(1))) {
            *bias = dot(row, velocity);
        }
    }

    /// Eliminates the rows. O(rows (nv depth + rank nv)).
    ///
    /// # Panics
    /// If there are more rows than memory was made for.
    pub fn eliminate(&mut self, factor: MassFactorRef<'_>) {
        assert!(self.labels.len() <= self.required.len(), "rows of the workspace");
        self.half_rows.clear();
        self.half_rows.extend_from_slice(&self.rows);
        for row in self.half_rows.chunks_exact_mut(self.dim.max(1)) {
            factor.half_solve_in_place(row);
        }
        self.factor.factor(&self.half_rows, self.dim, DEPENDENT, self.negligible);
        let independent = &self.factor.order()[..self.factor.rank()];
        for (required, &row) in self.required.iter_mut().zip(independent) {
            *required = self.bias[row];
        }
        self.factor.solve_transposed(&mut self.required);
    }

    /// Number of independent rows.
    #[must_use]
    pub fn rank(&self) -> usize {
        if self.labels.is_empty() { 0 } else { self.factor.rank() }
    }

    /// `z ← P z - W_p⁺ γ`: the motion `z = C ν̇` that the constraints leave of a free one.
    ///
    /// # Panics
    /// If `z` has the wrong length.
    pub fn constrain(&mut self, z: &mut [f64]) {
        assert_eq!(z.len(), self.dim, "length of z");
        let (rank, dim) = (self.rank(), self.dim.max(1));
        let basis = self.factor.q().chunks_exact(dim).take(rank);
        for ((q, required), reaction) in basis.zip(&self.required).zip(&mut self.reaction) {
            *reaction = -(dot(q, z) + required);
            axpy(*reaction, q, z);
        }
    }

    /// Forces λ of the last [`Self::constrain`], `z = z_f + W_pᵀ λ`, at the labels of their rows;
    /// zero elsewhere and in dependent rows.
    pub fn forces_into(&mut self, out: &mut [f64]) {
        out.fill(0.0);
        let rank = self.rank();
        let forces = &mut self.forces[..rank];
        forces.copy_from_slice(&self.reaction[..rank]);
        self.factor.solve_upper(forces);
        for (&row, force) in self.factor.order().iter().zip(forces) {
            out[self.labels[row]] = *force;
        }
    }

    /// Largest `|J_p ν̇ + γ|` over the dependent rows: beyond rounding, the constraints contradict
    /// one another.
    #[must_use]
    pub fn residual(&self, z: &[f64]) -> f64 {
        let wrong = |&row: &usize| {
            (dot(&self.half_rows[row * self.dim..(row + 1) * self.dim], z) + self.bias[row]).abs()
        };
        match self.labels.is_empty() {
            true => 0.0,
            false => {
                self.factor.order()[self.factor.rank()..].iter().map(wrong).fold(0.0, f64::max)
            }
        }
    }

    /// `W ← W P` and `J ← W P C` for the contacts' `W = J C⁻¹` and the same rows of J, column by
    /// column: with them `J M⁻¹ Jᵀ = W Wᵀ` is the G of the closed mechanism.
    pub fn project(&mut self, weighted: &mut WeightedJacobian, jacobian: &mut [f64]) {
        let count = weighted.row_count();
        if self.rank() == 0 || count == 0 {
            return;
        }
        self.factor.combine(&self.rows, &mut self.basis_rows);
        let (basis, shares) = (self.factor.q().chunks_exact(self.dim), &mut self.shares[..count]);
        for (q, on_acceleration) in basis.zip(self.basis_rows.chunks_exact(self.dim)) {
            weighted.project(q, shares);
            for (column, &factor) in jacobian.chunks_exact_mut(count).zip(on_acceleration) {
                axpy(-factor, shares, column);
            }
        }
    }
}
