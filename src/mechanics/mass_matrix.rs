//! The mass matrix by the composite-rigid-body algorithm.
//!
//! With `I_i^c` the inertia of body i and all it carries, about `O` in world axes, and `j` an
//! ancestor of `i`: `M_ij = S_jᵀ I_i^c S_i`. The base columns of `S` are the identity in these
//! axes, so the base rows of column i are `I_i^c S_i` itself and the base block is `I_0^c`.
//!
//! Reference: R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 6.2 and 9.5.

use std::sync::Arc;

use nalgebra::Vector3;

use crate::branch::{BASE, BranchPattern, NO_BASE};
use crate::chain::Chain;
use crate::inertia::Symmetric3;
use crate::kinematics::{BodyState, GroupState, Kinematics, Motion};
use crate::layout::{Group, NO_ENTRY, NONE, Role, gather};
use crate::model::Model;
use crate::quad::{LANES, Laned, Quad3, QuadMotion};

/// Mass matrix `M` (nv × nv), stored packed along the branches of the tree.
#[derive(Clone, Debug)]
pub struct MassMatrix {
    pub(crate) pattern: Arc<BranchPattern>,
    pub(crate) diagonal: Vec<f64>,
    /// Upper bound of each diagonal entry: the size of the terms that may have cancelled in it,
    /// which bounds its rounding error.
    pub(crate) scale: Vec<f64>,
    /// Rows of `BranchPattern`: entry (k, ancestor).
    pub(crate) rows: Vec<f64>,
    /// Scratch memory of [`mass_matrix`]: subspaces of a chain, root first, four bodies in a row
    /// each.
    along: Vec<QuadMotion>,
}

impl MassMatrix {
    /// Memory for `model`, all zero.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        Self {
            pattern: Arc::clone(&model.pattern),
            diagonal: vec![0.0; model.velocity_dim()],
            scale: vec![0.0; model.velocity_dim()],
            rows: vec![0.0; model.pattern.storage()],
            along: Vec::with_capacity(model.layout.longest_chain().div_ceil(LANES)),
        }
    }

    /// Number of rows nv.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.diagonal.len()
    }

    /// Adds to `M_ij` and `M_ji`, which are one entry; on the diagonal that is twice the value.
    fn add(&mut self, i: usize, j: usize, value: f64) {
        if i == j {
            self.diagonal[i] += 2.0 * value;
        } else if self.pattern.rank(i) > self.pattern.rank(j) {
            self.rows[self.pattern.entry(i, j)] += value;
        } else {
            self.rows[self.pattern.entry(j, i)] += value;
        }
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
        self.overwrite_dense(out);
    }

    /// Writes the entries of `M` that the tree has into a dense one, whose others are zero and stay
    /// so: the next state of the robot after [`write_dense`](Self::write_dense).
    ///
    /// # Panics
    /// If `out` has the wrong length.
    pub fn overwrite_dense(&self, out: &mut [f64]) {
        let nv = self.dim();
        assert_eq!(out.len(), nv * nv, "length of out");
        for k in 0..nv {
            let (mut ancestors, mut row) =
                (self.pattern.ancestors(k), &self.rows[self.pattern.row(k)]);
            out[k * nv + k] = self.diagonal[k];
            let first = self.pattern.base(k);
            if first != NO_BASE
                && let Some((base, joints)) = row.split_first_chunk::<BASE>()
            {
                // A floating base begins the row, in order.
                out[k * nv + first..][..BASE].copy_from_slice(base);
                for (i, &value) in (first..).zip(base) {
                    out[i * nv + k] = value;
                }
                (ancestors, row) = (&ancestors[BASE..], joints);
            }
            for (&i, &value) in ancestors.iter().zip(row) {
                out[k * nv + i] = value;
                out[i * nv + k] = value;
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
#[doc(alias("crba", "CRBA", "composite rigid body algorithm", "joint-space inertia"))]
pub fn mass_matrix(model: &Model, kinematics: &Kinematics, out: &mut MassMatrix) {
    if model.coupled {
        return coupled_mass_matrix(model, kinematics, out);
    }
    // The block of a floating base is the inertia of all that it carries.
    for tree in model.trees.iter().filter(|tree| tree.is_floating()) {
        let root = tree.bodies.start;
        let mass = model.bodies[root].subtree_mass;
        write_base_block(mass, &kinematics.body(root), tree.v.start, out);
    }
    let (layout, states) = (&*model.layout, &kinematics.groups);
    for (group, state) in layout.groups.iter().zip(states).skip(layout.root_groups) {
        match group.role {
            Role::Tree => {
                let (force, moment) = write_own(group, state, model, out);
                write_path(group, states, &force, &moment, out);
            }
            Role::Start(chain) => write_chain(&layout.chains[chain], states, model, out),
            Role::Link => {}
        }
    }
}

/// Momentum `I^c S` of the composite bodies of a group at unit speed of their joints: the entries
/// of the base, and the diagonal.
#[inline(always)]
fn write_own(
    group: &Group,
    state: &GroupState,
    model: &Model,
    out: &mut MassMatrix,
) -> (Quad3, Quad3) {
    let motion = &state.subspace;
    let (v, w) = (&motion.linear, &motion.angular);
    let force = v.times(group.subtree_mass) + w.cross(&state.subtree_moment);
    let moment = state.subtree_moment.cross(v) + state.subtree_inertia.times(w);
    let diagonal = motion.power(&force, &moment).to_array();
    let scale = group.most(state).to_array();
    let [x, y, z] = [force.x.to_array(), force.y.to_array(), force.z.to_array()];
    let [u, v, w] = [moment.x.to_array(), moment.y.to_array(), moment.z.to_array()];
    for l in 0..LANES {
        if group.live[l] {
            let rotor = model.rotors.diagonal[group.rotors[l]];
            out.diagonal[group.v_index[l]] = diagonal[l] + rotor;
            out.scale[group.v_index[l]] = scale[l] + rotor;
        }
        let row = group.base_rows[l];
        if row != NONE {
            out.rows[row..row + BASE].copy_from_slice(&[x[l], y[l], z[l], u[l], v[l], w[l]]);
        }
    }
    (force, moment)
}

/// Entries of a group at its ancestors, four bodies at a time: what moves an ancestor works against
/// the same momentum.
#[inline(always)]
fn write_path(
    group: &Group,
    states: &[GroupState],
    force: &Quad3,
    moment: &Quad3,
    out: &mut MassMatrix,
) {
    for step in &group.path {
        let above = gather(&step.source, states, |s| &s.subspace);
        let values = above.power(force, moment).to_array();
        for (&entry, value) in step.entries.iter().zip(values) {
            if entry != NO_ENTRY {
                out.rows[entry as usize] = value;
            }
        }
    }
}

/// Entries of a chain: of each body at four ancestors at a time, which stand in its row as they do
/// along the chain, behind those of a base.
#[inline(always)]
fn write_chain(chain: &Chain, states: &[GroupState], model: &Model, out: &mut MassMatrix) {
    let last = chain.len - 1;
    out.along.clear();
    out.along.extend((0..chain.len).step_by(LANES).map(|first| {
        let places: [_; LANES] = std::array::from_fn(|l| chain.place((first + l).min(last)));
        let subspaces = places.map(|(g, _)| &states[g].subspace);
        QuadMotion::collect(subspaces, places.map(|(_, lane)| lane))
    }));
    for g in chain.groups() {
        let group = &model.layout.groups[g];
        let (force, moment) = write_own(group, &states[g], model, out);
        for l in (0..LANES).filter(|&l| group.live[l]) {
            let (force, moment) = (Quad3::spread(&force, l), Quad3::spread(&moment, l));
            let row = &mut out.rows[out.pattern.row(group.v_index[l])];
            let base = row.len() - chain.index(g, l);
            let (fours, rest) = row[base..].as_chunks_mut::<LANES>();
            let mut along = out.along.iter();
            for (four, above) in fours.iter_mut().zip(&mut along) {
                *four = above.power(&force, &moment).to_array();
            }
            if let Some(above) = along.next() {
                let values = above.power(&force, &moment).to_array();
                rest.copy_from_slice(&values[..rest.len()]);
            }
        }
    }
}

/// As [`mass_matrix`] where bodies share coordinates or rotors couple branches: entries add.
fn coupled_mass_matrix(model: &Model, kinematics: &Kinematics, out: &mut MassMatrix) {
    out.diagonal.fill(0.0);
    out.scale.fill(0.0);
    out.rows.fill(0.0);
    for tree in &model.trees {
        let (root, first) = (tree.bodies.start, tree.v.start);
        if tree.is_floating() {
            write_base_block(model.bodies[root].subtree_mass, &kinematics.body(root), first, out);
        }
        // Momentum of the composite body at unit speed, against the motion of each ancestor.
        for i in root + 1..tree.bodies.end {
            let (body, state) = (&model.bodies[i], &kinematics.body(i));
            let (force, moment) = composite_momentum(body.subtree_mass, state);
            let k = body.v_index;
            out.diagonal[k] += state.subspace.power(&force, &moment);
            out.scale[k] += state.most(body.subtree_mass);
            if tree.is_floating() {
                for axis in 0..3 {
                    out.add(k, first + axis, force[axis]);
                    out.add(k, first + 3 + axis, moment[axis]);
                }
            }
            let mut j = body.parent;
            while j != root {
                let value = kinematics.subspace(j).power(&force, &moment);
                out.add(k, model.bodies[j].v_index, value);
                j = model.bodies[j].parent;
            }
        }
    }
    // Rotors, which may couple joints of different branches.
    for (i, &a) in model.joint_velocities.iter().enumerate() {
        out.diagonal[a] += model.rotors.entry(i, i);
        out.scale[a] += model.rotors.entry(i, i);
        for (j, &b) in model.joint_velocities[..i].iter().enumerate() {
            let rotor = model.rotors.entry(i, j);
            if rotor != 0.0 {
                out.add(a, b, rotor);
            }
        }
    }
}

/// Momentum of body and all it carries at unit speed of its joint.
#[inline]
pub(crate) fn composite_momentum(mass: f64, state: &BodyState) -> (Vector3<f64>, Vector3<f64>) {
    momentum(mass, &state.subtree_moment, &state.subtree_inertia, &state.subspace)
}

/// Spatial momentum `I (v, w)` of a composite body: `(m v − mc × w, mc × v + I_O w)`.
#[inline]
pub(crate) fn momentum(
    mass: f64,
    moment: &Vector3<f64>,
    inertia: &Symmetric3,
    motion: &Motion,
) -> (Vector3<f64>, Vector3<f64>) {
    let (v, w) = (&motion.linear, &motion.angular);
    (v * mass + w.cross(moment), moment.cross(v) + inertia.times(w))
}

/// Base block `[m 1, −[mc]×; [mc]×, I_O]`, lower triangle by packed rows.
fn write_base_block(mass: f64, root: &BodyState, first: usize, out: &mut MassMatrix) {
    let (mc, i) = (&root.subtree_moment, &root.subtree_inertia);
    out.diagonal[first..first + 6].copy_from_slice(&[mass, mass, mass, i.xx, i.yy, i.zz]);
    let diagonal = &out.diagonal[first..first + 6];
    out.scale[first..first + 6].copy_from_slice(diagonal);
    let rows: [&[f64]; 6] = [
        &[],
        &[0.0],
        &[0.0, 0.0],
        &[0.0, -mc.z, mc.y],
        &[mc.z, 0.0, -mc.x, i.xy],
        &[-mc.y, mc.x, 0.0, i.xz, i.yz],
    ];
    for (k, values) in rows.into_iter().enumerate() {
        let range = out.pattern.row(first + k);
        out.rows[range].copy_from_slice(values);
    }
}
