//! The Jacobian of a frame by the columns that can differ from zero.
//!
//! The columns of a frame are those of its base and of the joints that carry it: of Mini Cheetah's
//! 18 a foot has nine. They are found once; from state to state they are computed four at a time.

use nalgebra::{Matrix3, Vector3};

use crate::frame::{attach, frame_jacobian, jacobian_columns};
use crate::kinematics::Kinematics;
use crate::model::{FrameId, Model};
use crate::quad::{LANES, Laned, Quad3, QuadMatrix, QuadMotion, ZERO};

/// Six rows of a Jacobian, by the columns that can differ from zero.
#[derive(Clone, Debug)]
pub struct FrameRows {
    columns: Vec<usize>,
    /// The joints on the way to the root: body and place among the columns. `None` where coupled
    /// bodies share a column.
    walk: Option<Vec<(usize, usize)>>,
    /// Motion subspaces of the columns about the origin of velocities, four in each.
    subspaces: Vec<QuadMotion>,
    /// The rows, at the frame's origin.
    rows: Vec<QuadMotion>,
    /// All of the Jacobian, where it is needed.
    dense: Vec<f64>,
}

impl FrameRows {
    /// Memory for the Jacobian of `frame`.
    ///
    /// # Panics
    /// If the frame belongs to another model.
    #[must_use]
    pub fn new(model: &Model, frame: FrameId) -> Self {
        let mut new = Self::of_columns(jacobian_columns(model, frame));
        let mut walk = Vec::new();
        let mut i = model.frames[frame.0].body.0;
        let tree = &model.trees[model.bodies[i].tree];
        while i != tree.bodies.start {
            // The columns hold those of all bodies on the way.
            let place = new.columns.partition_point(|&k| k < model.bodies[i].v_index);
            walk.push((i, place));
            i = model.bodies[i].parent;
        }
        for (place, k) in new.columns.iter().map(|k| k.wrapping_sub(tree.v.start)).enumerate() {
            if k < tree.base_dim() {
                let motion = &mut new.subspaces[place / LANES];
                let part = if k < 3 { &mut motion.linear } else { &mut motion.angular };
                let mut axis = Vector3::zeros();
                axis[k % 3] = 1.0;
                part.set_lane(place % LANES, &axis);
            }
        }
        let is_simple = walk.len() + tree.base_dim() == new.columns.len();
        new.walk = is_simple.then_some(walk);
        if !is_simple {
            new.dense = vec![0.0; 6 * model.velocity_dim()];
        }
        new
    }

    /// Memory for these columns of a Jacobian that is [loaded](Self::load).
    #[must_use]
    pub fn of_columns(columns: Vec<usize>) -> Self {
        let count = columns.len().div_ceil(LANES);
        let zero = vec![QuadMotion::zero(); count];
        let (walk, dense) = (Some(Vec::new()), Vec::new());
        Self { columns, walk, subspaces: zero.clone(), rows: zero, dense }
    }

    /// Indices into ν of the columns, rising.
    #[must_use]
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Computes the rows of `frame`, with the bits of [`frame_jacobian`].
    ///
    /// # Panics
    /// If the frame is not that for which the memory was made.
    pub fn update(&mut self, model: &Model, kinematics: &Kinematics, frame: FrameId) {
        let Some(walk) = &self.walk else {
            let mut dense = std::mem::take(&mut self.dense);
            frame_jacobian(model, kinematics, frame, &mut dense);
            self.load(&dense);
            self.dense = dense;
            return;
        };
        let (_, r) = attach(model, kinematics, frame, &Vector3::zeros());
        for &(body, place) in walk {
            let s = kinematics.subspace(body);
            let motion = &mut self.subspaces[place / LANES];
            motion.linear.set_lane(place % LANES, &s.linear);
            motion.angular.set_lane(place % LANES, &s.angular);
        }
        let (r, zero) = (Quad3::splat(&r), Quad3 { x: ZERO, y: ZERO, z: ZERO });
        for (s, row) in self.subspaces.iter().zip(&mut self.rows) {
            // A sum with zero has no zeros with a sign.
            row.linear = zero + (s.linear + s.angular.cross(&r));
            row.angular = zero + s.angular;
        }
    }

    /// Takes the columns of a whole Jacobian (6 × nv, column-major).
    ///
    /// # Panics
    /// If it has fewer columns.
    pub fn load(&mut self, jacobian: &[f64]) {
        for (place, &k) in self.columns.iter().enumerate() {
            let column = &jacobian[6 * k..6 * k + 6];
            let row = &mut self.rows[place / LANES];
            row.linear.set_lane(place % LANES, &Vector3::new(column[0], column[1], column[2]));
            row.angular.set_lane(place % LANES, &Vector3::new(column[3], column[4], column[5]));
        }
    }

    /// Calls `write(k, column)` for each column of the Jacobian of a point, in other axes:
    /// `Fᵀ (J_lin + J_ang × arm)`.
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | F | `axes` | 3 × 3 | the axes, in those of the rows |
    /// | arm | `arm` | 3 | from the frame's origin to the point [m], in the axes of the rows |
    #[inline]
    pub fn at_point(
        &self,
        axes: &Matrix3<f64>,
        arm: &Vector3<f64>,
        mut write: impl FnMut(usize, [f64; 3]),
    ) {
        let (axes, arm) = (QuadMatrix::splat(axes), Quad3::splat(arm));
        for (columns, row) in self.columns.chunks(LANES).zip(&self.rows) {
            let v = row.linear + row.angular.cross(&arm);
            let (x, y, z) = (axes.x.dot(&v), axes.y.dot(&v), axes.z.dot(&v));
            let (x, y, z) = (x.to_array(), y.to_array(), z.to_array());
            for (l, &k) in columns.iter().enumerate() {
                write(k, [x[l], y[l], z[l]]);
            }
        }
    }
}
