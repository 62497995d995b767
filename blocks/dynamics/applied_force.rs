//! Generalised forces that act on a robot, from torques and contact forces.

use legwork_block::{Invalid, Outcome};

use crate::buses::{ContactBus, ContactPoints, Dynamics};

/// Whether `n` joint torques can fit `nv` velocities: every base that floats has six more.
pub(crate) fn check_torques(nv: usize, n: usize) -> Result<(), Invalid> {
    if n <= nv && (nv - n).is_multiple_of(6) {
        return Ok(());
    }
    let expected =
        if nv > 6 { format!("{nv} or {} joint torques", nv - 6) } else { nv.to_string() };
    Err(Invalid::new(format!("expected {expected} at `tau`, found {n}")))
}

/// Generalised force `Sᵀτ + external − h − p` into `out`.
///
/// # Errors
/// If there are more or fewer torques than joints.
pub(crate) fn applied_force(
    dynamics: &Dynamics<'_>,
    tau: &[f64],
    external: Option<&[f64]>,
    out: &mut [f64],
) -> Outcome {
    let opposing = dynamics.bias_force.iter().zip(dynamics.passive_force);
    for (force, (h, passive)) in out.iter_mut().zip(opposing) {
        *force = -h - passive;
    }
    dynamics.add_torques(tau, out)?;
    for (force, external) in out.iter_mut().zip(external.unwrap_or_default()) {
        *force += external;
    }
    Ok(())
}

/// `out += Σ Jᵢᵀ fᵢ`, contacts without force left out.
pub(crate) fn add_contact_forces(points: &ContactPoints<'_>, forces: &[f64], out: &mut [f64]) {
    for (i, f) in forces.as_chunks::<3>().0.iter().enumerate() {
        if *f == [0.0; 3] {
            continue;
        }
        let jacobian = points.leaf(i, ContactBus::JACOBIAN);
        for (out, j) in out.iter_mut().zip(jacobian.as_chunks::<3>().0) {
            *out += j[0] * f[0] + j[1] * f[1] + j[2] * f[2];
        }
    }
}
