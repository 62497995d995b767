//! The collision shapes of a robot as convex solids.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use legwork_block::quantity::{Length, Positive};
use legwork_block::{Files, Invalid, parameters};
use legwork_contact::collision::{Polytope, Solid};
use legwork_contact::{Feature, contact_frame};
use legwork_mechanics::{Collision, FrameId, Model, Placement, Shape};
use nalgebra::{Matrix3, Vector3};

use super::Collisions;
use super::pairs::MOST_NAMES;
use crate::contact::hulls::{Hulls, MeshHull};
use crate::contact::shape::add_features;
use crate::robot::meshes::listed;
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

/// The collision shapes of a link; no mesh of them is read yet.
pub(super) struct Shaped {
    pub(super) frame: FrameId,
    shapes: Vec<Collision>,
}

/// All links with collision shapes in the order of the model: those that the diagram states, else
/// those of the file.
///
/// # Errors
/// If there are none, or the diagram names no link.
pub(super) fn shaped(block: &Collisions, robot: &RobotModel) -> Result<Vec<Shaped>, Invalid> {
    let mut by_link: BTreeMap<FrameId, Vec<Collision>> = BTreeMap::new();
    for collision in robot.model.collisions() {
        by_link.entry(collision.link).or_default().push(collision.clone());
    }
    for (name, shapes) in &block.shapes {
        let link = robot.frame("shapes", name)?;
        let stated = shapes.iter().map(|shape| {
            let (shape, link_from_shape) = shape.placed()?;
            Ok(Collision { link, link_from_shape, shape })
        });
        by_link.insert(link, stated.collect::<Result<_, Invalid>>()?);
    }
    if by_link.is_empty() {
        let message = format!("`{}` has no collision shapes", robot.name);
        let hint = "state them: shapes: { \"LINK\": [Capsule(radius: …, from: …, to: …)] }";
        return Err(Invalid::parameter("robot", message).hint(hint));
    }
    Ok(by_link.into_iter().map(|(frame, shapes)| Shaped { frame, shapes }).collect())
}

/// Meshes that links touch with, and what is wrong with them.
#[derive(Default)]
pub(super) struct Meshes {
    /// Links with meshes that cannot touch, each with its file and why not.
    unusable: Vec<(String, String)>,
    /// Links whose meshes reach far beyond their hulls, and how far [m].
    misses: Vec<(String, f64)>,
}

impl Meshes {
    /// Whether all of them can touch.
    pub(super) fn are_whole(&self) -> bool {
        self.unusable.is_empty()
    }

    /// One warning of each kind.
    pub(super) fn doubts(mut self, corners: usize) -> Vec<Invalid> {
        let mut doubts = Vec::new();
        if let Some((link, _)) = self.unusable.first() {
            let names = self.unusable.iter().map(|(link, why)| format!("`{link}` ({why})"));
            let message =
                format!("meshes that cannot be used do not touch: {}", listed(names, MOST_NAMES));
            let hint = format!(
                "state what touches: `shapes: {{ \"{link}\": [Box(size: […])] }}`; `[]` for nothing"
            );
            doubts.push(Invalid::parameter("robot", message).hint(hint));
        }
        self.misses.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        if let Some((link, _)) = self.misses.first() {
            let names = self.misses.iter().map(|(l, by)| format!("`{l}` {:.1} mm", 1000.0 * by));
            let message = format!(
                "hulls of {corners} corners leave out parts of their meshes: {}",
                listed(names, MOST_NAMES)
            );
            let hint = format!(
                "take more, or state what touches: `shapes: {{ \"{link}\": [Box(size: […])] }}`"
            );
            doubts.push(Invalid::parameter("hull_vertices", message).hint(hint));
        }
        doubts
    }
}

/// The links as solids, in their order; none of a link that is not among `chosen` or has nothing
/// that can touch.
///
/// # Errors
/// If a link has a shape that is not known.
pub(super) fn solids(
    block: &Collisions,
    robot: &RobotModel,
    files: &dyn Files,
    links: &[Shaped],
    chosen: &BTreeSet<usize>,
) -> Result<(Vec<Option<Link>>, Meshes), Invalid> {
    let hulls = Hulls::new(robot, files, block.hull_vertices)?;
    let mut meshes = Meshes::default();
    let solid = |(index, shaped): (usize, &Shaped)| match chosen.contains(&index) {
        true => link(&robot.model, &hulls, shaped, &mut meshes),
        false => Ok(None),
    };
    let solids = links.iter().enumerate().map(solid).collect::<Result<_, Invalid>>()?;
    Ok((solids, meshes))
}

/// A link as solids; none if nothing of it can touch.
fn link(
    model: &Model,
    hulls: &Hulls<'_>,
    shaped: &Shaped,
    meshes: &mut Meshes,
) -> Result<Option<Link>, Invalid> {
    let name = &model.frame(shaped.frame).name;
    let mut link = Link { frame: shaped.frame, solids: Vec::new(), features: Vec::new() };
    let mut miss = 0.0_f64;
    for collision in &shaped.shapes {
        let at = &collision.link_from_shape;
        let (solid, placement) = match &collision.shape {
            Shape::Sphere { radius } => (Solid::Sphere { radius: *radius }, *at),
            Shape::Box { size } => (Solid::Box { half_size: size * 0.5 }, *at),
            Shape::Cylinder { radius, length } => {
                (Solid::Cylinder { radius: *radius, half_length: 0.5 * length }, *at)
            }
            Shape::Capsule { radius, length } => {
                (Solid::Capsule { radius: *radius, half_length: 0.5 * length }, *at)
            }
            Shape::Mesh { path, scale } => match mesh(hulls, path, scale, at) {
                Ok((hull, solid, placement)) => {
                    link.features.extend(hull.corners.into_iter().map(Feature::vertex));
                    miss = miss.max(hull.miss.unwrap_or(0.0));
                    (solid, placement)
                }
                Err(why) => {
                    let file = path.rsplit('/').next().unwrap_or(path);
                    meshes.unusable.push((name.clone(), format!("{file}: {why}")));
                    continue;
                }
            },
            _ => {
                let message = format!("link `{name}` has a collision shape that is not known here");
                return Err(Invalid::parameter("robot", message));
            }
        };
        // Those of a mesh are there already.
        add_features(collision, &mut link.features);
        let radius = solid.bounding_radius();
        link.solids.push(LinkSolid { solid, placement, radius });
    }
    if miss > 0.0 {
        meshes.misses.push((name.clone(), miss));
    }
    Ok((!link.solids.is_empty()).then_some(link))
}

/// The hull of a mesh, as a solid about its centre.
fn mesh(
    hulls: &Hulls<'_>,
    path: &str,
    scale: &Vector3<f64>,
    link_from_shape: &Placement,
) -> Result<(MeshHull, Solid, Placement), String> {
    let hull = hulls.hull(path, scale, link_from_shape)?;
    let flat = |error| format!("it has no volume: {error}");
    let stated = Polytope::new(&hull.corners).map_err(flat)?;
    let center = stated.mass_properties().center;
    let own = stated.moved(&Matrix3::identity(), &center).map_err(flat)?;
    let placement = Placement { translation: center, ..Placement::identity() };
    Ok((hull, Solid::Hull(Arc::new(own)), placement))
}
