//! The step as a problem of contact forces, for any solver of it.

use legwork_mechanics::{ClosedChain, NoFactor, PackedFactor, pack_dense};
use legwork_qp::DEFAULT_REGULARISATION;
use nalgebra::Matrix6;

use super::{Contact, DOF, FreeMotion, Scene};
use crate::rigid::{ContactAssembly, ContactRows, Ground};

/// A contact problem of free bodies, written in place; k contacts may be more than a step has.
#[derive(Debug)]
pub struct FreeProblem<'a> {
    /// Nonzero where there is a contact, k: written. Before, where J and G may be other than zero.
    pub active: &'a mut [f64],
    /// Coulomb friction μ, k: written.
    pub friction: &'a mut [f64],
    /// J, 3k × 6n, column-major.
    pub jacobian: &'a mut [f64],
    /// The factor of M as [`PackedFactor`] reads it, 6n × (6n + 1).
    pub factor: &'a mut [f64],
    /// G, 3k × 3k.
    pub inverse_inertia: &'a mut [f64],
    /// b, 3k.
    pub bias: &'a mut [f64],
    /// R, 3k.
    pub compliance: &'a mut [f64],
}

/// Gauss's principle at velocity level for the contacts of free bodies:
/// `min ½ fᵀ(G + R) f + bᵀf` over the friction cones, `G = J M⁻¹ Jᵀ`,
/// `b = J M⁻¹(M v* + Δt f_ext)/Δt + e_n γ(φ)`. See [`crate::rigid`].
#[derive(Clone, Debug)]
pub struct RigidContacts {
    assembly: ContactAssembly,
    tree: PackedFactor,
    open: ClosedChain,
    free_velocity: Vec<f64>,
    gaps: Vec<f64>,
    motion: Vec<f64>,
    /// The contacts that acted before.
    was_active: Vec<f64>,
}

impl RigidContacts {
    /// Memory for k contacts of n bodies.
    #[must_use]
    pub fn new(contact_count: usize, body_count: usize) -> Self {
        let nv = DOF * body_count;
        Self {
            assembly: ContactAssembly::new(contact_count, nv),
            tree: PackedFactor::new(nv),
            open: ClosedChain::new(0, nv, 0),
            free_velocity: vec![0.0; nv],
            gaps: vec![0.0; contact_count],
            motion: vec![0.0; nv],
            was_active: vec![0.0; contact_count],
        }
    }

    /// Writes the problem of a step.
    ///
    /// # Errors
    /// If a body has no inertia about some axis.
    ///
    /// # Panics
    /// If there are more contacts than memory was made for, or a shape does not fit.
    pub fn assemble(
        &mut self,
        (scene, free): (&Scene, &FreeMotion),
        contacts: &[Contact],
        ground: &Ground,
        time_step: f64,
        out: &mut FreeProblem<'_>,
    ) -> Result<(), NoFactor> {
        let (count, rows) = (contacts.len(), out.bias.len());
        self.was_active.copy_from_slice(out.active);
        out.active[..count].fill(1.0);
        out.active[count..].fill(0.0);
        out.friction.fill(scene.friction);
        free.velocities_into(scene, free.momentum(), &mut self.free_velocity);
        for (i, contact) in contacts.iter().enumerate() {
            let velocity = contact.velocity(&self.free_velocity) / time_step;
            out.bias[3 * i..3 * i + 3].copy_from_slice(velocity.as_slice());
            self.gaps[i] = contact.gap;
        }

        // A body's part of a contact: the contact's axes, and arm × axis.
        let before = self.was_active.iter().rposition(|active| *active != 0.0).map_or(0, |i| i + 1);
        for column in out.jacobian.chunks_exact_mut(rows.max(1)) {
            column[..3 * before].fill(0.0);
        }
        for (i, contact) in contacts.iter().enumerate() {
            for (body, arm, sign) in contact.sides(scene) {
                let linear = contact.frame.transpose() * sign;
                let angular = linear * arm.cross_matrix().transpose();
                let columns = linear.column_iter().chain(angular.column_iter());
                for (c, column) in columns.enumerate() {
                    let start = (DOF * body + c) * rows + 3 * i;
                    out.jacobian[start..start + 3].copy_from_slice(column.as_slice());
                }
            }
        }
        pack_bodies(scene, free, out.factor);
        self.motion.fill(0.0);
        let factor = self.tree.read(out.factor)?;
        let mut problem = ContactRows {
            active: out.active,
            jacobian: out.jacobian,
            bias: out.bias,
            inverse_inertia: out.inverse_inertia,
            was_active: Some(&self.was_active),
            friction: out.friction,
        };
        self.assembly.respond(factor, &mut self.motion, &mut self.open, &mut problem);
        let (ground, rows) =
            (Some((ground, &self.gaps[..])), (&mut *out.bias, &mut *out.compliance));
        self.assembly.yield_rows(
            ground,
            time_step,
            DEFAULT_REGULARISATION,
            out.inverse_inertia,
            rows,
        );
        Ok(())
    }

    /// `v ← M⁻¹(M v* + Δt f_ext + Δt Jᵀf)`, 6n, of the forces (3k, contact axes) of the problem
    /// assembled last, whose factor is given again.
    ///
    /// # Errors
    /// If `factor` is none.
    ///
    /// # Panics
    /// If a shape does not fit.
    pub fn velocities_into(
        &mut self,
        factor: &[f64],
        forces: &[f64],
        time_step: f64,
        velocities: &mut [f64],
    ) -> Result<(), NoFactor> {
        self.motion.fill(0.0);
        self.assembly.add_forces(forces, &mut self.motion);
        self.tree.read(factor)?.half_solve_transposed_in_place(&mut self.motion);
        let changes = self.free_velocity.iter().zip(&self.motion);
        for (v, (free, change)) in velocities.iter_mut().zip(changes) {
            *v = free + time_step * change;
        }
        Ok(())
    }
}

/// Packs M of all bodies: m, m, m and the inertia about the centre.
fn pack_bodies(scene: &Scene, free: &FreeMotion, factor: &mut [f64]) {
    let nv = DOF * scene.bodies.len();
    let (inverse_pivots, rows) = factor.split_at_mut(nv);
    for (i, body) in scene.bodies.iter().enumerate() {
        let mut packed = [0.0; DOF * (DOF + 1)];
        let mut mass = Matrix6::from_diagonal_element(body.mass);
        mass.fixed_view_mut::<3, 3>(3, 3).copy_from(free.inertia(i));
        // Without inertia the pivots say so.
        let _ = pack_dense(mass.as_mut_slice(), &mut packed);
        let (pivots, own) = packed.split_at(DOF);
        inverse_pivots[DOF * i..DOF * (i + 1)].copy_from_slice(pivots);
        for (k, own) in own.chunks_exact(DOF).enumerate() {
            let row = &mut rows[(DOF * i + k) * nv..][..DOF];
            row.copy_from_slice(own);
            if row[0] >= 0.0 {
                row[0] += (DOF * i) as f64;
            }
        }
    }
}
