//! The collision shapes of a robot as convex solids.

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::quantity::{Length, Positive};
use legwork_block::{Files, Invalid, parameters};
use legwork_contact::collision::{Polytope, Solid};
use legwork_contact::{Feature, contact_frame};
use legwork_mechanics::{Collision, FrameId, Placement, Shape};
use nalgebra::{Matrix3, Vector3};

use super::Collisions;
use crate::contact::hulls::Hulls;
use crate::contact::shape::add_features;
use crate::robot::model::RobotModel;

/// A collision shape of a link.
pub(super) struct LinkSolid {
    pub(super) solid: Solid,
    /// `link_from_solid`.
    pub(super) placement: Placement,
    /// Radius of a ball about the solid's origin that holds it [m].
    pub(super) radius: f64,
}

/// A link with collision shapes.
pub(super) struct Link {
    pub(super) frame: FrameId,
    pub(super) solids: Vec<LinkSolid>,
    /// What of them touches ground.
    pub(super) features: Vec<Feature>,
}

/// A shape of a link that the diagram states.
#[parameters]
#[derive(Copy)]
pub enum LinkShape {
    /// All that is at most a radius from a line between two points of the link.
    Capsule {
        /// Radius [m].
        radius: Positive<Length>,
        /// One end of the line [m].
        from: [Length; 3],
        /// Its other end [m].
        to: [Length; 3],
    },
    /// A ball.
    Sphere {
        /// Radius [m].
        radius: Positive<Length>,
        /// Its centre [m]; default the link's origin.
        #[default = [0, 0, 0]]
        at: [Length; 3],
    },
    /// A cuboid along the axes of the link.
    Box {
        /// Lengths of the edges along x, y, z [m].
        size: [Positive<Length>; 3],
        /// Its centre [m]; default the link's origin.
        #[default = [0, 0, 0]]
        at: [Length; 3],
    },
}

impl LinkShape {
    /// The shape in its own axes, and where these are in the link.
    fn placed(self) -> Result<(Shape, Placement), Invalid> {
        let place = |at: [Length; 3]| Vector3::from(at.map(Length::value));
        let at = |translation| Placement { translation, ..Placement::identity() };
        Ok(match self {
            Self::Capsule { radius, from, to } => {
                let (from, to) = (place(from), place(to));
                let length = (to - from).norm();
                let Some(axis) = (to - from).try_normalize(f64::MIN_POSITIVE) else {
                    let message = "expected a capsule with two ends, found one point";
                    return Err(Invalid::parameter("shapes", message).hint("write Sphere(…)"));
                };
                let placement =
                    Placement { rotation: contact_frame(&axis), translation: (from + to) * 0.5 };
                (Shape::Capsule { radius: radius.value(), length }, placement)
            }
            Self::Sphere { radius, at: center } => {
                (Shape::Sphere { radius: radius.value() }, at(place(center)))
            }
            Self::Box { size, at: center } => {
                (Shape::Box { size: Vector3::from(size.map(Positive::value)) }, at(place(center)))
            }
        })
    }
}

/// All links with collision shapes, those of the file before those of the diagram, in the order of
/// the model.
///
/// # Errors
/// If a mesh is missing or has no volume, or the diagram names no link.
pub(super) fn solids(
    block: &Collisions,
    robot: &RobotModel,
    files: &dyn Files,
    doubts: &mut Vec<Invalid>,
) -> Result<Vec<Link>, Invalid> {
    let model = &robot.model;
    let mut hulls = Hulls { files, most: block.hull_vertices, doubts: Vec::new() };
    let mut collisions: Vec<Collision> = model.collisions().to_vec();
    for (name, shapes) in &block.shapes {
        let link = robot.frame("shapes", name)?;
        for shape in shapes {
            let (shape, link_from_shape) = shape.placed()?;
            collisions.push(Collision { link, link_from_shape, shape });
        }
    }
    let mut by_link: BTreeMap<FrameId, Link> = BTreeMap::new();
    for collision in &collisions {
        let at = &collision.link_from_shape;
        let link = by_link.entry(collision.link).or_insert_with(|| Link {
            frame: collision.link,
            solids: Vec::new(),
            features: Vec::new(),
        });
        let (solid, placement) = match &collision.shape {
            Shape::Sphere { radius } => (Solid::Sphere { radius: *radius }, *at),
            Shape::Box { size } => (Solid::Box { half_size: size * 0.5 }, *at),
            Shape::Cylinder { radius, length } => {
                (Solid::Cylinder { radius: *radius, half_length: 0.5 * length }, *at)
            }
            Shape::Capsule { radius, length } => {
                (Solid::Capsule { radius: *radius, half_length: 0.5 * length }, *at)
            }
            Shape::Mesh { path, scale } => {
                let corners = hulls.corners(path, scale, at)?;
                link.features.extend(corners.iter().map(|corner| Feature::vertex(*corner)));
                hull(&corners, path)?
            }
            _ => {
                let name = &model.frame(collision.link).name;
                let message = format!("link `{name}` has a collision shape that is not known here");
                return Err(Invalid::parameter("robot", message));
            }
        };
        // Those of a mesh are there already.
        add_features(collision, &mut link.features);
        let radius = solid.bounding_radius();
        link.solids.push(LinkSolid { solid, placement, radius });
    }
    doubts.append(&mut hulls.doubts);
    if by_link.is_empty() {
        let message = format!("`{}` has no collision shapes", robot.name);
        let hint = "state them: shapes: { \"LINK\": [Capsule(radius: …, from: …, to: …)] }";
        return Err(Invalid::parameter("robot", message).hint(hint));
    }
    Ok(by_link.into_values().collect())
}

/// A hull about its centre.
fn hull(corners: &[Vector3<f64>], path: &str) -> Result<(Solid, Placement), Invalid> {
    let flat = |error| Invalid::parameter("robot", format!("mesh `{path}`: {error}"));
    let stated = Polytope::new(corners).map_err(flat)?;
    let center = stated.mass_properties().center;
    let own = stated.moved(&Matrix3::identity(), &center).map_err(flat)?;
    let placement = Placement { translation: center, ..Placement::identity() };
    Ok((Solid::Hull(Arc::new(own)), placement))
}
