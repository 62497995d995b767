//! Shapes of links as the robot file states them.

use nalgebra::Vector3;

use crate::model::{FrameId, Model};
use crate::placement::Placement;

/// A shape, centred in its own frame.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// Ball.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// Cuboid along the axes.
    Box {
        /// Full edge lengths [m].
        size: Vector3<f64>,
    },
    /// Cylinder along z.
    Cylinder {
        /// Radius [m].
        radius: f64,
        /// Full height [m].
        length: f64,
    },
    /// Cylinder along z with two half balls.
    Capsule {
        /// Radius of cylinder and balls [m].
        radius: f64,
        /// Height of the cylinder between the balls' centres [m].
        length: f64,
    },
    /// Surface in a file, which is not opened here.
    Mesh {
        /// The path as the robot file writes it, until [`Model::with_mesh_paths`] puts another in
        /// its place; [`resolve_package`](crate::resolve_package) finds the file.
        path: String,
        /// Factor along each axis.
        scale: Vector3<f64>,
    },
}

/// What a link looks like: one of its shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct Visual {
    /// The link that carries the shape.
    pub link: FrameId,
    /// Where the shape sits: `link_from_shape`.
    pub link_from_shape: Placement,
    /// The shape.
    pub shape: Shape,
    /// Red, green, blue and opacity from 0 to 1, if the file has them.
    pub color: Option<[f64; 4]>,
}

/// One collision element of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Collision {
    /// The link that carries the shape.
    pub link: FrameId,
    /// Where the shape sits: `link_from_shape`.
    pub link_from_shape: Placement,
    /// The shape.
    pub shape: Shape,
}

impl Model {
    /// The model whose meshes have these paths: `path_of` is called with each path of a visual or
    /// collision shape, and gives another, or none to keep it.
    #[must_use]
    pub fn with_mesh_paths(mut self, mut path_of: impl FnMut(&str) -> Option<String>) -> Self {
        let collisions = self.collisions.iter_mut().map(|collision| &mut collision.shape);
        let visuals = self.visuals.iter_mut().map(|visual| &mut visual.shape);
        for shape in collisions.chain(visuals) {
            if let Shape::Mesh { path, .. } = shape
                && let Some(other) = path_of(path)
            {
                *path = other;
            }
        }
        self
    }
}
