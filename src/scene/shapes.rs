//! What does not change: robots, their links and shapes.

use std::collections::BTreeMap;

use legwork_mechanics::nalgebra::{Rotation3, UnitQuaternion};
use legwork_mechanics::{FrameId, Kinematics, Model, Placement, world_from_frame};
use serde::{Deserialize, Serialize};

/// Everything that can be seen in a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// The robots, by name.
    pub robots: Vec<Robot>,
    /// What the section `ground:` of the diagram looks like, in world axes.
    pub ground: Option<Surface>,
    /// Surfaces that were read, by the paths that shapes have.
    pub surfaces: BTreeMap<String, Surface>,
}

/// The surface that a mesh file describes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Surface {
    /// Corners of triangles, before the shape's scale.
    pub vertices: Vec<[f64; 3]>,
    /// Triangles of one colour each.
    pub patches: Vec<Patch>,
}

/// Triangles of one colour.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Patch {
    /// Counter-clockwise seen from outside, by index of vertex.
    pub triangles: Vec<[u32; 3]>,
    /// Red, green, blue and opacity from 0 to 1, if the mesh file has them.
    pub color: Option<[f64; 4]>,
}

/// A robot, or several that share a world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Robot {
    /// Its name in the diagram.
    pub name: String,
    /// Its links, in the order of the robot file.
    pub links: Vec<Link>,
}

/// A link, which moves as one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Its name, and in front of it the robot's if the scene has several.
    pub name: String,
    /// What it looks like.
    pub visuals: Vec<Geometry>,
    /// What it touches with.
    pub collisions: Vec<Geometry>,
    /// Origins of the links that it carries, in its own frame, with all joints at zero [m].
    pub ends: Vec<[f64; 3]>,
}

impl Link {
    /// What is drawn: what it looks like if its file says so, else what it touches with.
    pub fn drawn(&self) -> &[Geometry] {
        if self.visuals.is_empty() { &self.collisions } else { &self.visuals }
    }
}

/// A shape on a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Geometry {
    /// `link_from_shape`.
    pub pose: Pose,
    /// The shape.
    pub shape: Shape,
    /// Red, green, blue and opacity from 0 to 1, if the file has them.
    pub color: Option<[f64; 4]>,
}

/// A shape, centred in its own frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Shape {
    /// Ball.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// Cuboid along the axes.
    Box {
        /// Full edge lengths [m].
        size: [f64; 3],
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
    /// Surface in a file.
    Mesh {
        /// The path as the robot file writes it.
        path: String,
        /// Factor along each axis.
        scale: [f64; 3],
    },
}

/// Position and orientation of a frame in another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Of its origin [m].
    pub position: [f64; 3],
    /// Unit quaternion (w, x, y, z).
    pub orientation: [f64; 4],
}

impl Pose {
    /// The frame itself.
    pub const IDENTITY: Self = Self { position: [0.0; 3], orientation: [1.0, 0.0, 0.0, 0.0] };
}

impl From<&Placement> for Pose {
    fn from(placement: &Placement) -> Self {
        let rotation = Rotation3::from_matrix_unchecked(placement.rotation);
        let quaternion = UnitQuaternion::from_rotation_matrix(&rotation);
        let [x, y, z, w] = quaternion.coords.into();
        Self { position: placement.translation.into(), orientation: [w, x, y, z] }
    }
}

impl Shape {
    fn of(shape: &legwork_mechanics::Shape) -> Option<Self> {
        use legwork_mechanics::Shape as Of;
        Some(match shape {
            Of::Sphere { radius } => Self::Sphere { radius: *radius },
            Of::Box { size } => Self::Box { size: (*size).into() },
            Of::Cylinder { radius, length } => Self::Cylinder { radius: *radius, length: *length },
            Of::Capsule { radius, length } => Self::Capsule { radius: *radius, length: *length },
            Of::Mesh { path, scale } => Self::Mesh { path: path.clone(), scale: (*scale).into() },
            // The list of mechanics may grow; what is not known here is not drawn.
            _ => return None,
        })
    }
}

impl Robot {
    /// The robot `name`; the names of its links begin with `prefix`.
    pub(crate) fn new(name: &str, prefix: &str, model: &Model) -> Self {
        let mut kinematics = Kinematics::new(model);
        kinematics.update_placements(model, &model.zero_configuration());
        let ids: Vec<FrameId> =
            model.frames().iter().filter_map(|frame| model.find_frame(&frame.name)).collect();
        let at: Vec<Placement> =
            ids.iter().map(|&id| world_from_frame(model, &kinematics, id)).collect();
        let carriers: Vec<Option<usize>> =
            model.links().iter().map(|link| link.parent.map(FrameId::index)).collect();
        let links = model.frames().iter().enumerate().map(|(index, frame)| {
            let is_own = |link: FrameId| link.index() == index;
            let geometry = |placement, shape, color| {
                let shape = Shape::of(shape)?;
                Some(Geometry { pose: Pose::from(placement), shape, color })
            };
            let visuals = model.visuals().iter().filter(|visual| is_own(visual.link));
            let collisions = model.collisions().iter().filter(|shape| is_own(shape.link));
            let carried = carriers.iter().zip(&at).filter(|(carrier, _)| **carrier == Some(index));
            let end = |end: &Placement| at[index].inverse().transform_point(&end.translation);
            Link {
                name: format!("{prefix}{}", frame.name),
                ends: carried.map(|(_, placement)| end(placement).into()).collect(),
                visuals: visuals
                    .filter_map(|v| geometry(&v.link_from_shape, &v.shape, v.color))
                    .collect(),
                collisions: collisions
                    .filter_map(|c| geometry(&c.link_from_shape, &c.shape, None))
                    .collect(),
            }
        });
        Self { name: name.to_owned(), links: links.collect() }
    }
}
