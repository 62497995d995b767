//! The problem in the space of forces, for solvers that need `W = G M⁻¹ Gᵀ`.
//!
//! Dividing a row's law by `D = h² K + h B` gives `u = û - γ/D`. So the forces of contacts are the
//! solution of a rigid contact problem with the compliance R = 1/D, which every solver of
//! [`legwork_qp::ContactProblem`] takes: `f ∈ K(μ) ⟂ (W + R) f + (G v* - û)/h ∈ K*(μ)`, its convex
//! relaxation being [`super::FrictionLaw::Associated`]. W + R is positive definite, redundant rows
//! or not, but with D W up to 10¹⁵ no longer in floating point: these views are for problems of
//! moderate stiffness, to compare solvers and for files. [`super::Method::Forces`] is the one for
//! steps.

use super::problem::{ConstraintProblem, Law};
use legwork_linalg::BlockCholesky;
use legwork_qp::{ConeShape, ContactProblemData};
use thiserror::Error;

/// Why a problem has no such view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ViewError {
    /// A number is not finite, or negative where it must not be.
    #[error("expected finite numbers and stiffness, damping, friction ≥ 0")]
    Invalid,
    /// The inertia is not positive definite.
    #[error("expected a positive definite inertia")]
    Inertia,
    /// A law is not linear.
    #[error("expected a linear law, found another exponent in constraint {constraint}")]
    Nonlinear {
        /// Index of the constraint.
        constraint: usize,
    },
    /// A constraint is not a contact.
    #[error("expected a contact, found another law in constraint {constraint}")]
    NotAContact {
        /// Index of the constraint.
        constraint: usize,
    },
    /// A row has neither stiffness nor damping.
    #[error("expected stiffness or damping in every row of constraint {constraint}, found neither")]
    NoStiffness {
        /// Index of the constraint.
        constraint: usize,
    },
}

/// Dense quantities of all rows that do not depend on their laws.
#[derive(Clone, Debug, Default)]
pub(super) struct DenseView {
    /// W, rows × rows.
    pub(super) inverse_inertia: Vec<f64>,
    /// û = G M⁻¹ p.
    pub(super) free_velocity: Vec<f64>,
    work: Vec<f64>,
}

impl DenseView {
    /// Computes them, with a `factor` that was analysed for the bodies without couplings and holds
    /// the inertia's afterwards. None if the inertia has no factor.
    pub(super) fn fill(
        &mut self,
        problem: &ConstraintProblem,
        factor: &mut BlockCholesky,
    ) -> Option<()> {
        let (nv, rows) = (problem.velocity_dim(), problem.row_count());
        for body in 0..problem.sizes().len() {
            let (slot, mass) = (factor.slot(body, body), problem.mass_of(body));
            factor.values_mut()[slot.start..slot.start + mass.len()].copy_from_slice(mass);
        }
        if !factor.factor() {
            return None;
        }
        self.work.clear();
        self.work.extend_from_slice(problem.momentum());
        factor.solve(&mut self.work);
        self.free_velocity.resize(rows, 0.0);
        problem.rows_times(&self.work, &mut self.free_velocity);
        self.inverse_inertia.resize(rows * rows, 0.0);
        self.work.resize(nv + rows, 0.0);
        let (acceleration, unit) = self.work.split_at_mut(nv);
        for (i, column) in self.inverse_inertia.chunks_exact_mut(rows.max(1)).enumerate() {
            acceleration.fill(0.0);
            unit.fill(0.0);
            unit[i] = 1.0;
            problem.add_transposed_rows_times(unit, acceleration);
            factor.solve(acceleration);
            problem.rows_times(acceleration, column);
        }
        Some(())
    }
}

/// (D, a) of each row of linear laws: conductance [kg] and the impulse at u = 0 [N s].
fn linear_rows(problem: &ConstraintProblem) -> Result<(Vec<f64>, Vec<f64>), ViewError> {
    let h = problem.time_step;
    let (mut conductance, mut offset) = (Vec::new(), Vec::new());
    for (constraint, c) in problem.constraints().iter().enumerate() {
        if let Law::Contact(_, friction) = &c.law {
            let d = h * (h * friction.stiffness + friction.damping);
            for i in 0..2 {
                let spring = friction.stiffness * friction.deformation[i];
                conductance.push(d);
                offset.push(-h * (spring + d * friction.rate_bias[i]));
            }
        }
        let normal = c.law.normal();
        if normal.exponent != 1.0 {
            return Err(ViewError::Nonlinear { constraint });
        }
        let d = h * (h * normal.stiffness + normal.damping);
        let spring = normal.preload - normal.stiffness * normal.deformation;
        conductance.push(d);
        offset.push(h * (spring - d * normal.rate_bias));
    }
    Ok((conductance, offset))
}

/// The contacts as a rigid contact problem in forces, with compliance; allocates.
///
/// `force_scale` is 1 N and regularisation zero: set them as the solver needs.
///
/// # Errors
/// [`ViewError`] if the problem has other constraints than linear contacts with stiffness or
/// damping in every row, or numbers that form no problem.
pub fn contact_problem(
    problem: &ConstraintProblem,
    cone: ConeShape,
) -> Result<ContactProblemData, ViewError> {
    if !problem.is_valid() {
        return Err(ViewError::Invalid);
    }
    let (conductance, offset) = linear_rows(problem)?;
    let (mut view, mut factor) = (DenseView::default(), BlockCholesky::default());
    factor.analyse(problem.sizes(), &[]);
    view.fill(problem, &mut factor).ok_or(ViewError::Inertia)?;
    let mut data = ContactProblemData::new(problem.constraint_count(), cone);
    for (constraint, c) in problem.constraints().iter().enumerate() {
        let Law::Contact(_, friction) = &c.law else {
            return Err(ViewError::NotAContact { constraint });
        };
        data.friction[constraint] = friction.coefficient;
        if conductance[c.first_row..c.first_row + 3].iter().any(|&d| d <= 0.0) {
            return Err(ViewError::NoStiffness { constraint });
        }
    }
    data.compliance = conductance.iter().map(|d| 1.0 / d).collect();
    let rows = view.free_velocity.iter().zip(offset.iter().zip(&conductance));
    data.bias = rows.map(|(free, (a, d))| (free - a / d) / problem.time_step).collect();
    data.inverse_inertia = view.inverse_inertia;
    data.force_scale = 1.0;
    data.regularisation = 0.0;
    Ok(data)
}
