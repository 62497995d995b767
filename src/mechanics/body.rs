//! The moving bodies of a model, as the algorithms walk over them.
//!
//! Every body except a root is connected to its parent by **one** velocity coordinate, which keeps
//! all algorithms free of joint-sized matrices. Joints of several degrees of freedom become several
//! bodies of which only the last has mass:
//!
//! ```text
//! planar     slide x ── slide y ── turn z
//! spherical  ball x ─── ball y ─── ball          (one quaternion, ω in the axes of the carrier)
//! floating   slide x ── slide y ── slide z ── ball x ── ball y ── ball
//! ```
//!
//! The three axes of a ball joint are fixed to the body that carries the joint, not to one
//! another: [`Body::carrier`] says which body's motion turns an axis. It is the parent in every
//! other case.

use nalgebra::{Matrix3, Vector3};

use crate::inertia::Inertia;

/// Motion of a body relative to its parent. Body frames are oriented so that joints rotate about,
/// or slide along, their z axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Revolute,
    Prismatic,
    /// First part of a ball joint: supplies its x axis and does not move the body.
    BallX,
    /// Second part of a ball joint: supplies its y axis and does not move the body.
    BallY,
    /// Last part of a ball joint: rotates by the quaternion and supplies the z axis.
    Ball,
}

/// One moving body. Bodies are in tree order; the bodies of one tree are contiguous, root first.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// A root is its own parent.
    pub(crate) parent: usize,
    /// The body to which the joint's axis is fixed.
    pub(crate) carrier: usize,
    /// Last body of the same joint; a root's is itself.
    pub(crate) last: usize,
    /// The tree that the body belongs to.
    pub(crate) tree: usize,
    /// Index into `configuration`.
    pub(crate) q_index: usize,
    /// Index into `velocity`. Coupled bodies share one.
    pub(crate) v_index: usize,
    pub(crate) axis: Axis,
    /// Displacement along the axis per unit of the coordinate: ±1 unless the joint is coupled.
    pub(crate) scale: f64,
    /// Displacement along the axis at coordinate zero [rad or m].
    pub(crate) shift: f64,
    /// `parent_from_joint`: the body frame at displacement zero.
    pub(crate) rotation: Matrix3<f64>,
    pub(crate) offset: Vector3<f64>,
    /// In the body frame.
    pub(crate) inertia: Inertia,
    /// Mass of the body and all it carries [kg].
    pub(crate) subtree_mass: f64,
}

impl Body {
    /// A root at index `index` of tree `tree`, without mass.
    pub(crate) fn root(index: usize, tree: usize, q_index: usize, v_index: usize) -> Self {
        Self {
            parent: index,
            carrier: index,
            last: index,
            tree,
            q_index,
            v_index,
            axis: Axis::Revolute,
            scale: 1.0,
            shift: 0.0,
            rotation: Matrix3::identity(),
            offset: Vector3::zeros(),
            inertia: Inertia::zero(),
            subtree_mass: 0.0,
        }
    }
}
