//! The contact problem that all solvers see, and the views on it.
//!
//! `min ½ fᵀ H f + fᵀ b` subject to `f_i ∈ K(μ_i)`, with `H = G + R + ε I`.
//!
//! Its optimality conditions are `K ∋ f ⟂ a = H f + b ∈ K*`: Gauss's principle of least constraint
//! with friction as maximal dissipation. With a polyhedral K they are a linear complementarity
//! problem, with the circular one a second-order cone program. Because normal and tangential parts
//! share one convex objective, a sliding contact has `a_n = μ |a_t|` instead of `a_n = 0`: the
//! artefact of Anitescu's convex relaxation, which [`crate::CoulombFixedPoint`] removes (M.
//! Anitescu, *Optimization-based simulation of nonsmooth rigid multibody dynamics*, Math. Program.
//! 105, 2006).
//!
//! G is singular for redundant contacts (four vertices of a rigid foot). The problem therefore
//! declares a relative regularisation: `ε = regularisation · mean diagonal of (G + R)` over the
//! active contacts. It makes the minimiser unique: up to O(ε) the one of least norm among the
//! minimisers of the problem without it, so a symmetric foot shares its load evenly.

use crate::cone::ConeShape;
use crate::status::Status;
use legwork_linalg::all_finite;
use legwork_linalg::lanes::{LANES, Lanes};
use thiserror::Error;

/// The default of [`ContactProblem::regularisation`].
///
/// Large enough that a Cholesky factor of a redundant problem keeps six digits of the force
/// distribution, small enough that the contact acceleration changes by 1e-10 of its scale.
pub const DEFAULT_REGULARISATION: f64 = 1e-10;

/// A borrowed view of the contact problem; see the [crate] docs for the symbols.
#[doc(alias("CCP", "cone complementarity problem", "SOCCP", "Delassus"))]
#[derive(Clone, Copy, Debug)]
pub struct ContactProblem<'a> {
    /// G, 3k × 3k, column-major, symmetric positive semidefinite [1/kg].
    pub inverse_inertia: &'a [f64],
    /// b, 3k [m/s²] (velocity problems in impulses: [m/s]).
    pub bias: &'a [f64],
    /// μ of each contact, k, ≥ 0 [1].
    pub friction: &'a [f64],
    /// Diagonal R, 3k, ≥ 0 [1/kg]; empty for rigid contacts.
    pub compliance: &'a [f64],
    /// A typical force, > 0 [N] (e.g. body weight / k); residuals and tolerances are relative to
    /// it.
    pub force_scale: f64,
    /// The friction cone of all contacts.
    pub cone: &'a ConeShape,
    /// Nonzero where a contact acts, k; an inactive contact has zero force. Empty: all act.
    pub active: &'a [f64],
    /// Relative regularisation ε̂ ≥ 0 of the diagonal; see the module docs.
    pub regularisation: f64,
}

/// A slice of the problem has the wrong length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected {expected} values of {field} for {contact_count} contacts, found {found}")]
pub struct ShapeError {
    /// The field's name.
    pub field: &'static str,
    /// Number of contacts, from the length of `friction`.
    pub contact_count: usize,
    /// The length it must have.
    pub expected: usize,
    /// The length it has.
    pub found: usize,
}

/// # Panics
/// If the slices of a problem do not fit one another: the caller's mistake.
#[expect(clippy::panic, reason = "who reads problems from a file has checked their shapes")]
pub(crate) fn must_fit(checked: Result<(), impl std::fmt::Display>) {
    if let Err(error) = checked {
        panic!("{error}");
    }
}

impl<'a> ContactProblem<'a> {
    /// Number of contacts k.
    #[must_use]
    pub fn contact_count(&self) -> usize {
        self.friction.len()
    }

    /// Number of force components, 3k.
    #[must_use]
    pub fn dim(&self) -> usize {
        3 * self.friction.len()
    }

    /// True if contact `i` may carry force.
    #[must_use]
    #[inline]
    pub fn is_active(&self, i: usize) -> bool {
        self.active.is_empty() || self.active[i] != 0.0
    }

    /// One more than the last active contact.
    #[must_use]
    pub fn active_end(&self) -> usize {
        (0..self.contact_count()).rposition(|i| self.is_active(i)).map_or(0, |last| last + 1)
    }

    /// Checks the lengths of all slices against the length of `friction`.
    ///
    /// # Errors
    /// [`ShapeError`] names the first field of wrong length.
    pub fn check_shape(&self) -> Result<(), ShapeError> {
        let k = self.contact_count();
        let n = 3 * k;
        let check = |field, found, expected| {
            if found == expected {
                Ok(())
            } else {
                Err(ShapeError { field, contact_count: k, expected, found })
            }
        };
        check("inverse_inertia", self.inverse_inertia.len(), n * n)?;
        check("bias", self.bias.len(), n)?;
        if !self.compliance.is_empty() {
            check("compliance", self.compliance.len(), n)?;
        }
        if !self.active.is_empty() {
            check("active", self.active.len(), k)?;
        }
        Ok(())
    }

    /// [`Status::InvalidData`] if the numbers cannot form a problem, `None` if they can. Of G it
    /// looks at what couples active contacts: nothing depends on the rest.
    ///
    /// # Panics
    /// If [`Self::check_shape`] fails.
    #[must_use]
    pub fn refuse(&self) -> Option<Status> {
        must_fit(self.check_shape());
        let good = self.has_finite_inertia() && all_finite(self.bias) && self.has_valid_cones();
        (!good).then_some(Status::InvalidData)
    }

    /// Whether what couples active contacts is finite.
    fn has_finite_inertia(&self) -> bool {
        let (n, end) = (self.dim(), 3 * self.active_end());
        if (0..self.contact_count()).all(|i| self.is_active(i)) {
            return all_finite(self.inverse_inertia);
        }
        let columns = self.inverse_inertia.chunks_exact(n).take(end).enumerate();
        let mut active = columns.filter(|(i, _)| self.is_active(i / 3));
        active.all(|(_, column)| all_finite(&column[..end]))
    }

    /// Whether all numbers but G and b can belong to a problem.
    #[inline]
    pub(crate) fn has_valid_cones(&self) -> bool {
        let non_negative = |x: &[f64]| x.iter().all(|&v| v >= 0.0) && all_finite(x);
        all_finite(self.active)
            && non_negative(self.friction)
            && non_negative(self.compliance)
            && non_negative(&[self.regularisation])
            && self.force_scale > 0.0
            && self.force_scale.is_finite()
    }

    /// R of component `i` [1/kg].
    #[inline]
    pub(crate) fn compliance_of(&self, i: usize) -> f64 {
        self.compliance.get(i).copied().unwrap_or(0.0)
    }

    /// Mean diagonal of `G + R` over the active contacts [1/kg]; 1 if it is zero or none is active,
    /// so that it can scale.
    #[must_use]
    pub fn mean_diagonal(&self) -> f64 {
        let n = self.dim();
        let (mut sum, mut count) = (0.0, 0);
        for contact in (0..self.contact_count()).filter(|&c| self.is_active(c)) {
            for i in 3 * contact..3 * contact + 3 {
                sum += self.inverse_inertia[i * n + i] + self.compliance_of(i);
                count += 1;
            }
        }
        if sum > 0.0 { sum / f64::from(count) } else { 1.0 }
    }

    /// ε, what is added to the diagonal of G + R [1/kg].
    #[must_use]
    pub fn diagonal_shift(&self) -> f64 {
        if self.regularisation == 0.0 { 0.0 } else { self.regularisation * self.mean_diagonal() }
    }

    /// A typical contact acceleration for relative residuals:
    /// `max(‖b‖∞ over active contacts, force_scale · mean diagonal)` [m/s²].
    #[must_use]
    pub fn acceleration_scale(&self) -> f64 {
        let mut scale = self.force_scale * self.mean_diagonal();
        for contact in (0..self.contact_count()).filter(|&c| self.is_active(c)) {
            for &b in &self.bias[3 * contact..3 * contact + 3] {
                scale = scale.max(b.abs());
            }
        }
        scale
    }

    /// Operator view: `a = (G + R + εI) f + b` for forces that are zero on inactive contacts.
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | f | `forces` | 3k | contact forces [N] |
    /// | a | `acceleration` | 3k | contact accelerations [m/s²]; b behind the last active contact |
    ///
    /// # Panics
    /// If a slice is not 3k long.
    pub fn acceleration_into(&self, forces: &[f64], acceleration: &mut [f64]) {
        let n = self.dim();
        assert_eq!((forces.len(), acceleration.len()), (n, n), "forces and acceleration need 3k");
        acceleration.copy_from_slice(self.bias);
        self.add_product(forces, acceleration);
    }

    /// Adds `(G + R + εI) f`, up to the last active contact, of forces that are zero on inactive
    /// ones.
    pub(crate) fn add_product(&self, forces: &[f64], acceleration: &mut [f64]) {
        let (n, shift, end) = (self.dim(), self.diagonal_shift(), 3 * self.active_end());
        let acceleration = &mut acceleration[..end];
        // Rows stay in registers while all columns go by; G of inactive contacts may be anything.
        const BLOCK: usize = 3 * LANES;
        let mut start = 0;
        while start + BLOCK <= end {
            self.add_rows::<BLOCK, 3>(forces, start, acceleration);
            start += BLOCK;
        }
        while start + LANES <= end {
            self.add_rows::<LANES, 1>(forces, start, acceleration);
            start += LANES;
        }
        for (i, a) in acceleration.iter_mut().enumerate().skip(start) {
            for (column, &force) in self.inverse_inertia.chunks_exact(n).zip(&forces[..end]) {
                if force != 0.0 {
                    *a += column[i] * force;
                }
            }
        }
        for (i, (a, &force)) in acceleration.iter_mut().zip(forces).enumerate() {
            if force != 0.0 {
                *a += (self.compliance_of(i) + shift) * force;
            }
        }
    }

    /// Adds `G f` in `SIZE` rows, which are `COUNT` lanes.
    #[inline(always)]
    fn add_rows<const SIZE: usize, const COUNT: usize>(
        &self,
        forces: &[f64],
        start: usize,
        acceleration: &mut [f64],
    ) {
        let n = self.dim();
        let Some(rows) = acceleration[start..].first_chunk_mut::<SIZE>() else { return };
        let mut sums = [Lanes::ZERO; COUNT];
        sums.iter_mut().zip(rows.as_chunks().0).for_each(|(sum, rows)| *sum = Lanes::from(*rows));
        for (column, &force) in self.inverse_inertia.chunks_exact(n).zip(forces) {
            if force == 0.0 {
                continue;
            }
            let Some(column) = column[start..].first_chunk::<SIZE>() else { return };
            for (sum, column) in sums.iter_mut().zip(column.as_chunks().0) {
                *sum += Lanes::from(*column) * Lanes::splat(force);
            }
        }
        let rows = rows.as_chunks_mut().0.iter_mut();
        rows.zip(sums).for_each(|(rows, sum)| *rows = sum.to_array());
    }

    /// Dense QP view: `H = G + R + εI`, 3k × 3k, column-major, over all contacts.
    ///
    /// # Panics
    /// If `hessian` is not (3k)² long.
    pub fn hessian_into(&self, hessian: &mut [f64]) {
        let n = self.dim();
        hessian.copy_from_slice(self.inverse_inertia);
        let shift = self.diagonal_shift();
        for i in 0..n {
            hessian[i * n + i] += self.compliance_of(i) + shift;
        }
    }

    /// Number of rows of [`Self::cone_rows_into`]: k (sides + 1).
    #[must_use]
    pub fn cone_row_count(&self) -> usize {
        self.contact_count() * (self.cone.sides() + 1)
    }

    /// Cone-program view for pyramids: the rows of `A f ≤ 0`, column-major k(m+1) × 3k; per contact
    /// m facet rows `(cos θ, sin θ, -μ')` and the row `(0, 0, -1)`.
    ///
    /// # Panics
    /// If `rows` is not `cone_row_count() · 3k` long.
    pub fn cone_rows_into(&self, rows: &mut [f64]) {
        let (m, n) = (self.cone_row_count(), self.dim());
        assert_eq!(rows.len(), m * n, "cone rows need k (sides + 1) x 3k values");
        rows.fill(0.0);
        let sides = self.cone.sides();
        for (contact, &mu) in self.friction.iter().enumerate() {
            let first = contact * (sides + 1);
            let [t1, t2, normal] = [0, 1, 2].map(|axis| (3 * contact + axis) * m);
            for (j, &[c, s]) in self.cone.facets().iter().enumerate() {
                rows[t1 + first + j] = c;
                rows[t2 + first + j] = s;
                rows[normal + first + j] = -self.cone.facet_friction(mu);
            }
            rows[normal + first + sides] = -1.0;
        }
    }
}

/// A contact problem that owns its numbers.
#[derive(Clone, Debug)]
pub struct ContactProblemData {
    /// G, 3k × 3k, column-major [1/kg].
    pub inverse_inertia: Vec<f64>,
    /// b, 3k [m/s²].
    pub bias: Vec<f64>,
    /// μ, k [1].
    pub friction: Vec<f64>,
    /// R, 3k [1/kg].
    pub compliance: Vec<f64>,
    /// A typical force [N].
    pub force_scale: f64,
    /// The friction cone of all contacts.
    pub cone: ConeShape,
    /// Nonzero where a contact acts, k.
    pub active: Vec<f64>,
    /// Relative regularisation of the diagonal.
    pub regularisation: f64,
}

impl ContactProblemData {
    /// A problem of `contact_count` active contacts whose numbers are zero, scale 1 N.
    #[must_use]
    pub fn new(contact_count: usize, cone: ConeShape) -> Self {
        let n = 3 * contact_count;
        Self {
            inverse_inertia: vec![0.0; n * n],
            bias: vec![0.0; n],
            friction: vec![0.0; contact_count],
            compliance: vec![0.0; n],
            force_scale: 1.0,
            cone,
            active: vec![1.0; contact_count],
            regularisation: DEFAULT_REGULARISATION,
        }
    }

    /// A copy of the numbers of `problem`.
    #[must_use]
    pub fn of(problem: &ContactProblem<'_>) -> Self {
        Self {
            inverse_inertia: problem.inverse_inertia.to_vec(),
            bias: problem.bias.to_vec(),
            friction: problem.friction.to_vec(),
            compliance: problem.compliance.to_vec(),
            force_scale: problem.force_scale,
            cone: problem.cone.clone(),
            active: problem.active.to_vec(),
            regularisation: problem.regularisation,
        }
    }

    /// The view that solvers take.
    #[must_use]
    pub fn view(&self) -> ContactProblem<'_> {
        ContactProblem {
            inverse_inertia: &self.inverse_inertia,
            bias: &self.bias,
            friction: &self.friction,
            compliance: &self.compliance,
            force_scale: self.force_scale,
            cone: &self.cone,
            active: &self.active,
            regularisation: self.regularisation,
        }
    }
}
