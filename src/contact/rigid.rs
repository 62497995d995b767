//! Rigid contact by Gauss's principle of least constraint, at velocity and at acceleration level.
//!
//! # Velocity level (default)
//!
//! Semi-implicit Euler advances `ν⁺ = ν + Δt (ν̇_f + M⁻¹Jᵀ f)` and then the configuration with ν⁺.
//! The contact velocity after the step is `v⁺ = J ν⁺`, J taken at the known configuration, and the
//! gap is `φ⁺ = φ + Δt v_n⁺` to first order. Divided by Δt (normal rows once more):
//!
//! `a = v⁺/Δt + e_n φ/Δt² = G f + b`, `b = J ν̇_f + J ν/Δt + e_n φ/Δt²`,
//!
//! so `a_n ≥ 0` says `φ⁺ ≥ 0`, and `f_n a_n = 0` says that force acts only where the gap closes.
//! The constraint is on `J(q) ν⁺`, so no `J̇ν` appears. A contact far from
//! the ground has a large positive b_n and no force; touchdown needs no event; what touches stays
//! at `φ = 0` and does not drift.
//!
//! The solvers minimise one convex objective for normal and friction forces together. Its
//! optimality couples the two: a sliding contact has `a_n = μ |a_t|` instead of 0, that is a gap of
//! `Δt μ |v_t|` (0.7 mm at 1 m/s, 1 ms and μ = 0.7). In steady sliding normal force and friction
//! are right on average. But a contact that *begins* to slide on the ground takes up that gap
//! within one step, so it leaves the ground at `μ |v_t|` and comes back after a flight of `2 μ
//! |v_t|/g`. Where feet touch down with slip, or slip at speed, wrap the solver in
//! [`legwork_qp::CoulombFixedPoint`], which removes the coupling.
//!
//! # Penetration
//!
//! With φ < 0 the row would require a velocity of `-φ/Δt` out of the ground: 1 mm in 1 ms is 1 m/s,
//! a jump of 5 cm. [`RecoveryLimit`] caps it, so that recovery injects at most `½ v²/G_nn` per
//! contact, and nothing if the speed is zero.
//!
//! # Acceleration level
//!
//! `b = J ν̇_f + J̇ν (+ J ν/Δt)` for closed contacts only: paper eqs. (13)-(18), the last term
//! being that of (13c). Without that term a contact that already slides at constant speed has no
//! tangential *acceleration* to oppose, so friction at constant speed is lost; errors in velocity
//! and position are never corrected, so contacts drift; and touchdown needs an [`crate::impact`].
//!
//! # References
//! - N. Guedelha, V. Pasandi et al., *A flexible MATLAB/Simulink simulator for robotic
//!   floating-base systems in contact with the ground* (2024), eqs. (13)-(18).
//! - D. Stewart, J. Trinkle, *An implicit time-stepping scheme for rigid body dynamics with
//!   inelastic collisions and Coulomb friction*, Int. J. Numer. Meth. Eng. 39 (1996).
//! - M. Anitescu, *Optimization-based simulation of nonsmooth rigid multibody dynamics*, Math.
//!   Program. 105 (2006): the convex relaxation and its artefact.

use legwork_qp::{ConeShape, ContactProblem, ContactProblemData};

/// How fast a penetrating contact may be pushed out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecoveryLimit {
    /// Share β of the penetration to remove per step, in [0, 1].
    pub fraction: f64,
    /// Highest speed out of the ground that recovery may cause, ≥ 0 [m/s].
    pub max_speed: f64,
}

impl Default for RecoveryLimit {
    /// β = 0.2 and 0.02 m/s, from which a body jumps 0.02 mm.
    fn default() -> Self {
        Self { fraction: 0.2, max_speed: 0.02 }
    }
}

impl RecoveryLimit {
    /// What the normal row of a contact adds to b [m/s²]: `φ/Δt²` for φ ≥ 0, otherwise
    /// `-min(β |φ|/Δt, v_max)/Δt`.
    #[must_use]
    pub fn gap_term(&self, gap: f64, time_step: f64) -> f64 {
        if gap >= 0.0 {
            gap / (time_step * time_step)
        } else {
            (self.fraction * gap / time_step).max(-self.max_speed) / time_step
        }
    }
}

/// `Y = M⁻¹ Jᵀ` column by column, with `solve` overwriting a vector x by `M⁻¹ x`.
///
/// | symbol | argument | shape |
/// |---|---|---|
/// | J | `jacobian` | nc × nv |
/// | Y | `mass_solved_jacobian` | nv × nc, written |
///
/// # Panics
/// If the shapes do not fit.
pub fn mass_solved_jacobian_into(
    jacobian: &[f64],
    row_count: usize,
    mut solve: impl FnMut(&mut [f64]),
    mass_solved_jacobian: &mut [f64],
) {
    assert_eq!(jacobian.len(), mass_solved_jacobian.len(), "J and its solved transpose differ");
    if jacobian.is_empty() {
        return;
    }
    let velocity_dim = jacobian.len() / row_count;
    for (row, column) in mass_solved_jacobian.chunks_exact_mut(velocity_dim).enumerate() {
        for (k, value) in column.iter_mut().enumerate() {
            *value = jacobian[k * row_count + row];
        }
        solve(column);
    }
}

/// Contact-space inverse inertia (Delassus matrix) `G = J Y`, made symmetric by averaging.
///
/// | symbol | argument | shape |
/// |---|---|---|
/// | J | `jacobian` | nc × nv |
/// | Y = M⁻¹Jᵀ | `mass_solved_jacobian` | nv × nc |
/// | G | `inverse_inertia` | nc × nc, written [1/kg] |
///
/// # Panics
/// If the shapes do not fit.
#[doc(alias("Delassus", "operational space inertia"))]
pub fn inverse_inertia_into(
    jacobian: &[f64],
    mass_solved_jacobian: &[f64],
    row_count: usize,
    inverse_inertia: &mut [f64],
) {
    assert_eq!(inverse_inertia.len(), row_count * row_count, "G needs nc x nc values");
    assert_eq!(jacobian.len(), mass_solved_jacobian.len(), "J and its solved transpose differ");
    if jacobian.is_empty() {
        inverse_inertia.fill(0.0);
        return;
    }
    let velocity_dim = jacobian.len() / row_count;
    let columns = inverse_inertia
        .chunks_exact_mut(row_count)
        .zip(mass_solved_jacobian.chunks_exact(velocity_dim));
    for (column, solved) in columns {
        row_products_into(jacobian, solved, column);
    }
    for j in 0..row_count {
        for i in j + 1..row_count {
            let (a, b) = (j * row_count + i, i * row_count + j);
            let mean = 0.5 * (inverse_inertia[a] + inverse_inertia[b]);
            (inverse_inertia[a], inverse_inertia[b]) = (mean, mean);
        }
    }
}

/// Contact velocity `J ν` for a column-major J, into `product`.
///
/// # Panics
/// If `jacobian` is not `product.len() × velocity.len()`.
pub fn row_products_into(jacobian: &[f64], velocity: &[f64], product: &mut [f64]) {
    assert_eq!(jacobian.len(), product.len() * velocity.len(), "J does not fit ν");
    product.fill(0.0);
    if product.is_empty() {
        return;
    }
    for (column, &speed) in jacobian.chunks_exact(product.len()).zip(velocity) {
        for (value, j) in product.iter_mut().zip(column) {
            *value += j * speed;
        }
    }
}

/// Adds the acceleration due to contact forces: `ν̇ += Y f`; with impulses, the change of velocity.
///
/// # Panics
/// If `mass_solved_jacobian` is not `acceleration.len() × forces.len()`.
pub fn add_contact_acceleration(
    mass_solved_jacobian: &[f64],
    forces: &[f64],
    acceleration: &mut [f64],
) {
    assert_eq!(mass_solved_jacobian.len(), acceleration.len() * forces.len(), "Y does not fit");
    if acceleration.is_empty() {
        return;
    }
    for (column, &force) in mass_solved_jacobian.chunks_exact(acceleration.len()).zip(forces) {
        for (value, y) in acceleration.iter_mut().zip(column) {
            *value += y * force;
        }
    }
}

/// A contact problem under assembly, with its memory.
///
/// Set `problem.friction`, `problem.force_scale`, `problem.compliance` and `problem.active` freely;
/// the methods write `inverse_inertia` and `bias`, and the acceleration level `active`.
#[derive(Clone, Debug)]
pub struct ContactAssembly {
    /// The problem; hand `problem.view()` to a solver.
    pub problem: ContactProblemData,
    contact_velocity: Vec<f64>,
}

impl ContactAssembly {
    /// Memory for `contact_count` contacts with forces in `cone`.
    #[must_use]
    pub fn new(contact_count: usize, cone: ConeShape) -> Self {
        Self {
            problem: ContactProblemData::new(contact_count, cone),
            contact_velocity: vec![0.0; 3 * contact_count],
        }
    }

    /// Velocity-level problem, see the module docs: G and `b = J (ν̇_f + ν/Δt) + e_n γ(φ)`, with γ
    /// of [`RecoveryLimit::gap_term`].
    ///
    /// | symbol | argument | shape |
    /// |---|---|---|
    /// | J, Y | `jacobian`, `mass_solved_jacobian` | 3k × nv, nv × 3k |
    /// | ν̇_f, ν | `free_acceleration`, `velocity` | nv |
    /// | φ | `gaps` | k [m] |
    /// | Δt | `time_step` | [s], > 0 |
    ///
    /// # Panics
    /// If a shape does not fit.
    #[expect(clippy::too_many_arguments, reason = "the symbols of the equation, once each")]
    pub fn velocity_level(
        &mut self,
        jacobian: &[f64],
        mass_solved_jacobian: &[f64],
        free_acceleration: &[f64],
        velocity: &[f64],
        gaps: &[f64],
        time_step: f64,
        recovery: RecoveryLimit,
    ) -> ContactProblem<'_> {
        assert_eq!(3 * gaps.len(), self.problem.bias.len(), "one gap per contact");
        self.free_terms(jacobian, mass_solved_jacobian, free_acceleration, velocity);
        for (b, v) in self.problem.bias.iter_mut().zip(&self.contact_velocity) {
            *b += v / time_step;
        }
        for (b, &gap) in self.problem.bias.chunks_exact_mut(3).zip(gaps) {
            b[2] += recovery.gap_term(gap, time_step);
        }
        self.problem.view()
    }

    /// Acceleration-level problem, paper eqs. (16)-(18): `b = J ν̇_f + J̇ν`, plus `J ν/Δt` of eq.
    /// (13c) if `velocity_correction` holds Δt, for contacts with a nonzero `closed`.
    ///
    /// | symbol | argument | shape |
    /// |---|---|---|
    /// | J, Y | `jacobian`, `mass_solved_jacobian` | 3k × nv, nv × 3k |
    /// | ν̇_f, ν | `free_acceleration`, `velocity` | nv |
    /// | J̇ν | `jacobian_dot_velocity` | 3k, contact axes [m/s²] |
    /// | | `closed` | k, nonzero where the contact is closed |
    ///
    /// # Panics
    /// If a shape does not fit.
    #[expect(clippy::too_many_arguments, reason = "the symbols of the equation, once each")]
    pub fn acceleration_level(
        &mut self,
        jacobian: &[f64],
        mass_solved_jacobian: &[f64],
        free_acceleration: &[f64],
        velocity: &[f64],
        jacobian_dot_velocity: &[f64],
        closed: &[f64],
        velocity_correction: Option<f64>,
    ) -> ContactProblem<'_> {
        assert_eq!(jacobian_dot_velocity.len(), self.problem.bias.len(), "J̇ν needs 3k values");
        self.problem.active.copy_from_slice(closed);
        self.free_terms(jacobian, mass_solved_jacobian, free_acceleration, velocity);
        for (b, drift) in self.problem.bias.iter_mut().zip(jacobian_dot_velocity) {
            *b += drift;
        }
        if let Some(time_step) = velocity_correction {
            for (b, v) in self.problem.bias.iter_mut().zip(&self.contact_velocity) {
                *b += v / time_step;
            }
        }
        self.problem.view()
    }

    /// G, `b = J ν̇_f` and the contact velocity `J ν`.
    fn free_terms(
        &mut self,
        jacobian: &[f64],
        mass_solved_jacobian: &[f64],
        free_acceleration: &[f64],
        velocity: &[f64],
    ) {
        let rows = self.problem.bias.len();
        let inverse_inertia = &mut self.problem.inverse_inertia;
        inverse_inertia_into(jacobian, mass_solved_jacobian, rows, inverse_inertia);
        row_products_into(jacobian, free_acceleration, &mut self.problem.bias);
        row_products_into(jacobian, velocity, &mut self.contact_velocity);
    }
}
