//! Newton's matrix of the implicit midpoint rule.

use legwork_linalg::Lu;

use crate::derivatives::{Derivatives, inverse_dynamics_derivatives};
use crate::kinematics::Kinematics;
use crate::mass_matrix::MassMatrix;
use crate::model::Model;

/// Largest number of coordinates for which the matrix is kept: its memory grows with the square.
pub(super) const MOST_OF_NEWTON: usize = 64;

/// Work memory of Newton's method.
#[derive(Clone, Debug)]
pub(super) struct Newton {
    derivatives: Derivatives,
    by_configuration: Vec<f64>,
    by_velocity: Vec<f64>,
    lu: Lu,
}

impl Newton {
    /// Allocates memory for `model`; `None` if it has more than [`MOST_OF_NEWTON`] coordinates.
    pub(super) fn new(model: &Model) -> Option<Box<Self>> {
        let nv = model.velocity_dim();
        (nv <= MOST_OF_NEWTON).then(|| {
            Box::new(Self {
                derivatives: Derivatives::new(model),
                by_configuration: vec![0.0; nv * nv],
                by_velocity: vec![0.0; nv * nv],
                lu: Lu::new(nv),
            })
        })
    }

    /// Solves `(M + ½ h ∂τ/∂ν + ¼ h² ∂τ/∂q) x = r` in place, at the middle of a step h with the
    /// acceleration `drift`; τ is that of inverse dynamics. The turn of the base between the
    /// beginning and the middle is neglected. False if the matrix is singular.
    pub(super) fn solve(
        &mut self,
        model: &Model,
        kinematics: &Kinematics,
        drift: &[f64],
        mass: &MassMatrix,
        h: f64,
        residual: &mut [f64],
    ) -> bool {
        let Self { derivatives, by_configuration, by_velocity, lu } = self;
        inverse_dynamics_derivatives(
            model,
            kinematics,
            drift,
            derivatives,
            by_configuration,
            by_velocity,
        );
        let matrix = lu.matrix_mut();
        mass.write_dense(matrix);
        for (i, entry) in matrix.iter_mut().enumerate() {
            *entry += 0.5 * h * (by_velocity[i] + 0.5 * h * by_configuration[i]);
        }
        if lu.factor(0.0).is_err() {
            return false;
        }
        lu.solve(residual);
        true
    }
}
