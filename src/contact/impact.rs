//! Inelastic impacts on closed contacts.
//!
//! Integrating the equation of motion over the instant of impact leaves `M (ν⁺ - ν⁻) = Jᵀ F`, F
//! being the contact impulses. Inelastic means that the impulse removes as much kinetic energy as
//! its constraints allow: `min ½ FᵀGF + Fᵀ J ν⁻`, whose objective *is* the change of kinetic
//! energy. Since F = 0 is allowed, kinetic energy never grows, in no mode.
//!
//! # References
//! N. Guedelha et al. (2024), eqs. (19)-(24). Their eq. (7) prints `-M ν⁻` on the right-hand side;
//! it must be `+M ν⁻`, with which eq. (8) agrees.

use crate::factor::SemidefiniteFactor;
use crate::rigid::{add_contact_acceleration, inverse_inertia_into, row_products_into};
use legwork_qp::{ConeShape, ContactProblemData, ContactSolver, Outcome, Status};

/// What the impulses may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImpactMode {
    /// All closed contacts come to rest, tangentially too, and may be pulled: `J ν⁺ = 0`, the
    /// default of the paper. Redundant contacts share the impulse of least norm.
    Stick,
    /// Impulses push along the normals, without friction.
    NormalOnly,
    /// Impulses lie in the friction cones.
    Frictional,
}

/// The data of an impact, as borrowed slices.
#[derive(Clone, Copy, Debug)]
pub struct ImpactProblem<'a> {
    /// J, 3k × nv, contact axes.
    pub jacobian: &'a [f64],
    /// Y = M⁻¹Jᵀ, nv × 3k.
    pub mass_solved_jacobian: &'a [f64],
    /// μ, k.
    pub friction: &'a [f64],
    /// Nonzero where the contact is closed, k.
    pub closed: &'a [f64],
    /// A typical impulse, > 0 [N s] (e.g. body weight × time step / k).
    pub impulse_scale: f64,
}

/// An impact law with its memory.
#[derive(Clone, Debug)]
pub struct Impact {
    /// What the impulses may do.
    pub mode: ImpactMode,
    problem: ContactProblemData,
    factor: SemidefiniteFactor,
    /// Impulses of the closed contacts, and G of them, for [`ImpactMode::Stick`].
    reduced: Vec<f64>,
    reduced_inertia: Vec<f64>,
}

/// Diagonals of G below this share of the largest count as redundant rows.
const RANK_TOLERANCE: f64 = 1e-11;

impl Impact {
    /// Memory for `contact_count` contacts with impulses in `cone`.
    #[must_use]
    pub fn new(mode: ImpactMode, contact_count: usize, cone: ConeShape) -> Self {
        let n = 3 * contact_count;
        Self {
            mode,
            problem: ContactProblemData::new(contact_count, cone),
            factor: SemidefiniteFactor::new(n),
            reduced: vec![0.0; n],
            reduced_inertia: vec![0.0; n * n],
        }
    }

    /// Solves the impact: writes the impulses F (3k [N s]) and changes `velocity` from ν⁻ to
    /// `ν⁺ = ν⁻ + M⁻¹Jᵀ F`. If the outcome is not usable, the velocity is left as it was.
    ///
    /// `solver` is not called in mode [`ImpactMode::Stick`].
    ///
    /// # Panics
    /// If a shape does not fit.
    pub fn apply(
        &mut self,
        input: &ImpactProblem<'_>,
        solver: &mut dyn ContactSolver,
        velocity: &mut [f64],
        impulses: &mut [f64],
    ) -> Outcome {
        let n = self.problem.bias.len();
        assert_eq!(impulses.len(), n, "impulses need 3k values");
        inverse_inertia_into(
            input.jacobian,
            input.mass_solved_jacobian,
            n,
            &mut self.problem.inverse_inertia,
        );
        row_products_into(input.jacobian, velocity, &mut self.problem.bias);
        self.problem.active.copy_from_slice(input.closed);
        self.problem.force_scale = input.impulse_scale;
        let outcome = match self.mode {
            ImpactMode::Stick => self.stick(impulses),
            ImpactMode::NormalOnly => {
                self.problem.friction.fill(0.0);
                solver.solve(&self.problem.view(), impulses)
            }
            ImpactMode::Frictional => {
                self.problem.friction.copy_from_slice(input.friction);
                solver.solve(&self.problem.view(), impulses)
            }
        };
        if outcome.status.is_usable() {
            add_contact_acceleration(input.mass_solved_jacobian, impulses, velocity);
        }
        outcome
    }

    /// Least-norm solution of `G F = -J ν⁻` over the closed contacts.
    fn stick(&mut self, impulses: &mut [f64]) -> Outcome {
        let n = self.problem.bias.len();
        let active = &self.problem.active;
        let rows = || (0..n).filter(|&i| active[i / 3] != 0.0);
        let size = rows().count();
        let mut entries = self.reduced_inertia.iter_mut();
        for column in rows() {
            for (row, entry) in rows().zip(entries.by_ref()) {
                *entry = self.problem.inverse_inertia[column * n + row];
            }
        }
        for (value, row) in self.reduced.iter_mut().zip(rows()) {
            *value = -self.problem.bias[row];
        }
        impulses.fill(0.0);
        let reduced = &mut self.reduced[..size];
        let inertia = &self.reduced_inertia[..size * size];
        if !inertia.iter().chain(reduced.iter()).all(|v| v.is_finite()) {
            return Outcome { status: Status::InvalidData, iterations: 0, residual: f64::NAN };
        }
        self.factor.factor(inertia, size, RANK_TOLERANCE);
        self.factor.solve_minimum_norm(reduced);
        for (row, &value) in rows().zip(reduced.iter()) {
            impulses[row] = value;
        }
        // Residual: the largest remaining contact velocity over the largest before.
        let (mut before, mut after) = (0.0f64, 0.0f64);
        for row in rows() {
            let change: f64 =
                (0..n).map(|j| self.problem.inverse_inertia[j * n + row] * impulses[j]).sum();
            before = before.max(self.problem.bias[row].abs());
            after = after.max((self.problem.bias[row] + change).abs());
        }
        let residual = if before > 0.0 { after / before } else { 0.0 };
        let status = if residual < 1e-8 { Status::Solved } else { Status::Inaccurate };
        Outcome { status, iterations: 1, residual }
    }
}
