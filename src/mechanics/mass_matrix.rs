//! The mass matrix by the composite-rigid-body algorithm.
//!
//! With `I_i^c` the inertia of body i and all it carries, about `O` in world axes, and `j` an
//! ancestor of `i`: `M_ij = S_jᵀ I_i^c S_i`. The base columns of `S` are the identity in these
//! axes, so the base rows of column i are `I_i^c S_i` itself and the base block is `I_0^c`.
//!
//! Reference: R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 6.2 and 9.5.

use std::sync::Arc;

use nalgebra::Vector3;

use crate::branch::BranchPattern;
use crate::inertia::Symmetric3;
use crate::kinematics::{Kinematics, Motion};
use crate::model::Model;

/// Mass matrix `M` (nv × nv), stored packed along the branches of the tree.
#[derive(Clone, Debug)]
pub struct MassMatrix {
    pub(crate) pattern: Arc<BranchPattern>,
    pub(crate) diagonal: Vec<f64>,
    /// Rows of `BranchPattern`: entry (k, ancestor).
    pub(crate) rows: Vec<f64>,
}

impl MassMatrix {
    /// Memory for `model`, all zero.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        Self {
            pattern: Arc::clone(&model.pattern),
            diagonal: vec![0.0; model.velocity_dim()],
            rows: vec![0.0; model.pattern.entry_count()],
        }
    }

    /// Number of rows nv.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.diagonal.len()
    }

    /// The diagonal of `M`.
    #[must_use]
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Writes all of `M` (nv × nv; symmetric, so row- and column-major agree).
    ///
    /// # Panics
    /// If `out` has the wrong length.
    pub fn write_dense(&self, out: &mut [f64]) {
        let nv = self.dim();
        assert_eq!(out.len(), nv * nv, "length of out");
        out.fill(0.0);
        for k in 0..nv {
            out[k * nv + k] = self.diagonal[k];
            for (&i, &value) in
                self.pattern.ancestors(k).iter().zip(&self.rows[self.pattern.row(k)])
            {
                out[k * nv + i] = value;
                out[i * nv + k] = value;
            }
        }
    }

    /// Reads a dense symmetric `M` (nv × nv) that has the pattern of the tree, as written by
    /// [`write_dense`](Self::write_dense); entries outside the pattern are not looked at.
    ///
    /// # Panics
    /// If `dense` has the wrong length.
    pub fn read_dense(&mut self, dense: &[f64]) {
        let nv = self.dim();
        assert_eq!(dense.len(), nv * nv, "length of dense");
        for k in 0..nv {
            self.diagonal[k] = dense[k * nv + k];
            let row = self.pattern.row(k);
            for (&i, value) in self.pattern.ancestors(k).iter().zip(&mut self.rows[row]) {
                *value = dense[i * nv + k];
            }
        }
    }

    /// `out = M x`, over the packed entries only.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        let nv = self.dim();
        assert_eq!(x.len(), nv, "length of x");
        assert_eq!(out.len(), nv, "length of out");
        for ((out, d), x) in out.iter_mut().zip(&self.diagonal).zip(x) {
            *out = d * x;
        }
        for k in 0..nv {
            for (&i, &value) in
                self.pattern.ancestors(k).iter().zip(&self.rows[self.pattern.row(k)])
            {
                out[k] += value * x[i];
                out[i] += value * x[k];
            }
        }
    }
}

/// Mass matrix `M(q)` of the equation of motion `M ν̇ + h = Sᵀτ + Σ Jᵀf`, reflected rotor inertia
/// included on the diagonal.
///
/// `M` is symmetric; it is positive definite unless some joint moves no mass. O(n depth),
/// allocates nothing.
///
/// # Panics
/// If the workspaces belong to another model.
pub fn mass_matrix(model: &Model, kinematics: &Kinematics, out: &mut MassMatrix) {
    let base = model.base_dim();
    if model.is_floating() {
        let root = &kinematics.bodies[0];
        write_base_block(model.total_mass(), &root.subtree_moment, &root.subtree_inertia, out);
    }
    for (i, body) in model.bodies.iter().enumerate().skip(1) {
        let state = &kinematics.bodies[i];
        let (force, moment) = momentum(
            body.subtree_mass,
            &state.subtree_moment,
            &state.subtree_inertia,
            &state.subspace,
        );
        let k = body.v_index;
        out.diagonal[k] = state.subspace.power(&force, &moment) + model.rotor_inertia[k - base];
        let row = &mut out.rows[model.pattern.row(k)];
        if base > 0 {
            row[..3].copy_from_slice(force.as_slice());
            row[3..6].copy_from_slice(moment.as_slice());
        }
        // The row lists ancestors root first; the walk up the tree meets them last first.
        let mut j = body.parent;
        for entry in row[base..].iter_mut().rev() {
            *entry = kinematics.bodies[j].subspace.power(&force, &moment);
            j = model.bodies[j].parent;
        }
    }
}

/// Spatial momentum `I (v, w)` of a composite body: `(m v − mc × w, mc × v + I_O w)`.
#[inline]
fn momentum(
    mass: f64,
    moment: &Vector3<f64>,
    inertia: &Symmetric3,
    motion: &Motion,
) -> (Vector3<f64>, Vector3<f64>) {
    let (v, w) = (&motion.linear, &motion.angular);
    (v * mass + w.cross(moment), moment.cross(v) + inertia.times(w))
}

/// Base block `[m 1, −[mc]×; [mc]×, I_O]`, lower triangle by packed rows.
fn write_base_block(mass: f64, mc: &Vector3<f64>, i: &Symmetric3, out: &mut MassMatrix) {
    out.diagonal[..6].copy_from_slice(&[mass, mass, mass, i.xx, i.yy, i.zz]);
    let rows: [&[f64]; 6] = [
        &[],
        &[0.0],
        &[0.0, 0.0],
        &[0.0, -mc.z, mc.y],
        &[mc.z, 0.0, -mc.x, i.xy],
        &[-mc.y, mc.x, 0.0, i.xz, i.yz],
    ];
    for (k, values) in rows.into_iter().enumerate() {
        let range = out.pattern.row(k);
        out.rows[range].copy_from_slice(values);
    }
}
