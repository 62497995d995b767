//! Closed chains and fixed frames, eliminated before contact is assembled.
//!
//! A holonomic constraint has `J_p ν = 0` and `J_p ν̇ + J̇_p ν = 0`. Eliminating its forces changes
//! what the rest of the assembly sees in two places only:
//!
//! - `ν̇_f ← ν̇_f - Y_p S⁺ (J_p ν̇_f + J̇_p ν)`: the free acceleration of the closed mechanism;
//! - `Y ← Y - Y_p S⁺ J_p Y`: its response to contact forces,
//!
//! with `Y_p = M⁻¹ J_pᵀ` and `S = J_p Y_p`. Then `G = J Y` is paper eq. (17) and `J ν̇_f + …` its
//! bias; for an impact the velocity before it takes the place of ν̇_f, eqs. (22)-(23). S may be
//! singular (dependent chains); its pseudo-inverse comes from a rank-finding factor, undamped.
//!
//! # References
//! N. Guedelha et al. (2024), eqs. (13)-(24). Their code damps the inverse (k = 0.001); we do not.

use crate::factor::SemidefiniteFactor;
use crate::rigid::{add_contact_acceleration, inverse_inertia_into, row_products_into};

/// Diagonals of S below this share of the largest count as dependent rows.
const RANK_TOLERANCE: f64 = 1e-11;

/// The elimination of `row_count` holonomic rows, with its memory.
#[derive(Clone, Debug)]
pub struct HolonomicElimination {
    row_count: usize,
    inertia: Vec<f64>,
    factor: SemidefiniteFactor,
    forces: Vec<f64>,
}

impl HolonomicElimination {
    /// Memory for `row_count` constraint rows.
    #[must_use]
    pub fn new(row_count: usize) -> Self {
        Self {
            row_count,
            inertia: vec![0.0; row_count * row_count],
            factor: SemidefiniteFactor::new(row_count),
            forces: vec![0.0; row_count],
        }
    }

    /// Factors `S = J_p Y_p` (np × nv times nv × np); returns its rank.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn factor(&mut self, jacobian: &[f64], mass_solved_jacobian: &[f64]) -> usize {
        inverse_inertia_into(jacobian, mass_solved_jacobian, self.row_count, &mut self.inertia);
        self.factor.factor(&self.inertia, self.row_count, RANK_TOLERANCE)
    }

    /// Constrains a motion: `x ← x - Y_p S⁺ (J_p x + drift)`, for ν̇_f with drift `J̇_p ν`, for ν
    /// with none (empty), for each column of Y with none. Returns the constraint forces `-S⁺ (J_p x
    /// + drift)`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn constrain(
        &mut self,
        jacobian: &[f64],
        mass_solved_jacobian: &[f64],
        drift: &[f64],
        motion: &mut [f64],
    ) -> &[f64] {
        row_products_into(jacobian, motion, &mut self.forces);
        if !drift.is_empty() {
            assert_eq!(drift.len(), self.row_count, "drift needs one value per row");
            self.forces.iter_mut().zip(drift).for_each(|(f, d)| *f += d);
        }
        self.factor.solve_minimum_norm(&mut self.forces);
        self.forces.iter_mut().for_each(|f| *f = -*f);
        add_contact_acceleration(mass_solved_jacobian, &self.forces, motion);
        &self.forces
    }
}
