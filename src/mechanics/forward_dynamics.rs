//! Accelerations from forces.

use legwork_linalg::{dot, matrix_vector};

use crate::mass_factor::MassFactor;
use crate::model::Model;

/// Forward dynamics `ν̇ = M⁻¹ (Sᵀτ + f_ext − h)`.
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | M | `factor` | nv × nv | mass matrix, by its factor |
/// | h | `bias_force` | nv | Coriolis and gravity [N, N m] |
/// | τ | `joint_torques` | n | [N m or N] |
/// | f_ext = Σ Jᵀf | `external_force` | nv | generalised external force |
/// | ν̇ | `out` | nv | [m/s², rad/s², rad/s² or m/s²] |
///
/// `f_ext` is built by [`add_transposed_product`] or `add_frame_wrench`.
///
/// O(nv depth), allocates nothing.
///
/// # Panics
/// If a slice has the wrong length.
pub fn forward_dynamics(
    model: &Model,
    factor: &MassFactor,
    bias_force: &[f64],
    joint_torques: &[f64],
    external_force: &[f64],
    out: &mut [f64],
) {
    generalised_force(model, bias_force, joint_torques, external_force, out);
    factor.solve_in_place(out);
}

/// `out = Sᵀτ + f_ext − h`.
pub(crate) fn generalised_force(
    model: &Model,
    bias_force: &[f64],
    joint_torques: &[f64],
    external_force: &[f64],
    out: &mut [f64],
) {
    let nv = model.velocity_dim();
    assert_eq!(bias_force.len(), nv, "length of bias_force");
    assert_eq!(external_force.len(), nv, "length of external_force");
    assert_eq!(joint_torques.len(), model.joint_dim(), "length of joint_torques");
    assert_eq!(out.len(), nv, "length of out");
    for ((out, external), bias) in out.iter_mut().zip(external_force).zip(bias_force) {
        *out = external - bias;
    }
    for (&k, torque) in model.joint_velocities.iter().zip(joint_torques) {
        out[k] += torque;
    }
}

/// `out += Jᵀ f` for a column-major `J` (nc × nv) and `f` (nc): the generalised force of contact
/// forces.
///
/// # Panics
/// If `jacobian` has not `forces.len() × out.len()` entries.
pub fn add_transposed_product(jacobian: &[f64], forces: &[f64], out: &mut [f64]) {
    assert_eq!(jacobian.len(), forces.len() * out.len(), "length of jacobian");
    if forces.is_empty() {
        return;
    }
    for (out, column) in out.iter_mut().zip(jacobian.chunks_exact(forces.len())) {
        *out += dot(column, forces);
    }
}

/// `out = J x` for a column-major `J` (nc × nv) and `x` (nv): contact velocities.
///
/// # Panics
/// If `jacobian` has not `out.len() × x.len()` entries.
pub fn product(jacobian: &[f64], x: &[f64], out: &mut [f64]) {
    assert_eq!(jacobian.len(), out.len() * x.len(), "length of jacobian");
    matrix_vector(jacobian, out.len(), x, out);
}
