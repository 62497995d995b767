//! What of a robot touches, as parameters.

use legwork_block::quantity::{Length, NonNegative, Positive};
use legwork_block::{Invalid, parameters};
use legwork_contact::Feature;
use legwork_mechanics::{Collision, FrameId, Model, Shape};
use nalgebra::Vector3;

use crate::contact::hulls::Hulls;
use crate::contact::sole::sole;

/// What of a robot touches the ground in one point.
#[parameters]
#[derive(Copy, Default, PartialEq)]
pub enum ContactShape {
    /// The collision sphere that the robot file gives to the link.
    #[default]
    FromCollision,
    /// A sphere.
    Sphere {
        /// Its radius, zero or more [m].
        radius: NonNegative<Length>,
    },
    /// A point.
    Point,
}

/// What of a robot touches the ground in several points.
#[parameters]
#[derive(Default, PartialEq)]
pub enum PatchShape {
    /// All collision shapes that the robot file gives to the link: the eight corners of a box, a
    /// sphere, the two rims of a cylinder, the two balls of a capsule, the corners of a mesh's
    /// convex hull.
    #[default]
    FromCollision,
    /// Points of the frame [m].
    Vertices(Vec<[Length; 3]>),
    /// The rim of a flat round sole: points of a circle in the frame's x-y plane, the first one in
    /// the direction of x.
    Circle {
        /// Radius [m].
        radius: Positive<Length>,
        /// How many, at least 3.
        #[default = 8]
        points: usize,
    },
    /// A cylinder that rolls: the lowest point of the circle at each end. With its axis along the
    /// normal it touches at the middle of one end.
    Cylinder {
        /// Radius [m].
        radius: Positive<Length>,
        /// Distance of the ends [m].
        length: Positive<Length>,
        /// Direction of the axis in the frame, of any length but zero [1].
        #[default = [0, 0, 1]]
        axis: [f64; 3],
    },
    /// A sphere.
    Sphere {
        /// Its radius [m].
        radius: Positive<Length>,
    },
    /// What of the link's collision meshes and boxes lies lowest: the corners of the convex polygon
    /// around all their corners down to `depth` above the lowest.
    Sole {
        /// Which way is down in the frame, of any length but zero [1].
        #[default = [0, 0, -1]]
        down: [f64; 3],
        /// How far above the lowest one a corner may lie [m].
        #[default = 0.005]
        depth: Positive<Length>,
        /// Most corners, at least 3; those that cut off the least of the polygon are left out.
        #[default = 8]
        points: usize,
    },
    /// The middles of the cells of a rectangle in the frame's x-y plane, row by row along x: the
    /// elements of a sole or of an elastic foundation.
    Grid {
        /// Edges along x and y [m].
        size: [Positive<Length>; 2],
        /// How many cells along x and y, at least 1, together at most 10 000.
        cells: [usize; 2],
    },
}

/// Most cells of a `Grid`.
const MOST_CELLS: usize = 10_000;

/// A place in a frame [m].
fn place(at: Option<[Length; 3]>) -> Vector3<f64> {
    at.map_or(Vector3::zeros(), |at| Vector3::from(at.map(Length::value)))
}

/// Refuses a place for a shape that has one.
fn without_place(at: Option<[Length; 3]>) -> Result<(), Invalid> {
    if at.is_none() {
        return Ok(());
    }
    let message = "expected a shape with `at`, found FromCollision, which knows where it is";
    Err(Invalid::parameter("at", message).hint("write shape: Sphere(radius: …) or another shape"))
}

impl ContactShape {
    /// The one feature of the link `frame`.
    ///
    /// # Errors
    /// If the link has no such shape, or the shape no such place.
    pub(crate) fn feature(
        self,
        at: Option<[Length; 3]>,
        model: &Model,
        frame: FrameId,
    ) -> Result<Feature, Invalid> {
        match self {
            Self::Point => Ok(Feature::vertex(place(at))),
            Self::Sphere { radius } => {
                Ok(Feature::Ball { center: place(at), radius: radius.value() })
            }
            Self::FromCollision => {
                without_place(at)?;
                collision_sphere(model, frame)
            }
        }
    }
}

impl PatchShape {
    /// The features of the link `frame`, one for each contact.
    ///
    /// # Errors
    /// If there are none, or the link has no such shapes, or the shape no such place.
    pub(crate) fn features(
        &self,
        at: Option<[Length; 3]>,
        model: &Model,
        frame: FrameId,
        hulls: &mut Hulls<'_>,
    ) -> Result<Vec<Feature>, Invalid> {
        let wrong = |message: String| Err(Invalid::parameter("shape", message));
        let center = place(at);
        // What the robot file places is not moved.
        let at = at.filter(|_| center != Vector3::zeros());
        match self {
            Self::FromCollision => {
                without_place(at)?;
                collision_features(model, frame, hulls)
            }
            Self::Sole { down, depth, points } => {
                without_place(at)?;
                let corners = sole(&corners(model, frame, hulls)?, *down, depth.value(), *points)?;
                Ok(corners.into_iter().map(Feature::vertex).collect())
            }
            Self::Vertices(vertices) if vertices.is_empty() => {
                wrong("expected at least one vertex, found none".to_owned())
            }
            Self::Vertices(vertices) => {
                let point = |vertex: &[Length; 3]| center + place(Some(*vertex));
                Ok(vertices.iter().map(|vertex| Feature::vertex(point(vertex))).collect())
            }
            Self::Circle { points, .. } if !(3..=1000).contains(points) => {
                wrong(format!("expected 3 to 1000 points of a circle, found {points}"))
            }
            Self::Circle { radius, points } => Ok((0..*points)
                .map(|i| {
                    let angle = 2.0 * std::f64::consts::PI * i as f64 / *points as f64;
                    let (sine, cosine) = libm::sincos(angle);
                    Feature::vertex(center + radius.value() * Vector3::new(cosine, sine, 0.0))
                })
                .collect()),
            Self::Cylinder { radius, length, axis } => {
                let axis = Vector3::from(*axis);
                if !axis.norm().is_normal() {
                    return wrong(format!("expected an axis with a direction, found {axis:?}"));
                }
                Ok(rims(center, axis.normalize(), radius.value(), length.value()).to_vec())
            }
            Self::Sphere { radius } => Ok(vec![Feature::Ball { center, radius: radius.value() }]),
            Self::Grid { size, cells: [nx, ny] } => {
                let count = nx.saturating_mul(*ny);
                if !(1..=MOST_CELLS).contains(&count) {
                    return wrong(format!("expected 1 to {MOST_CELLS} cells, found {nx} x {ny}"));
                }
                let middle = |k: usize, n: usize| (k as f64 + 0.5) / n as f64 - 0.5;
                let point = |i: usize| {
                    let (x, y) = (middle(i % nx, *nx), middle(i / nx, *ny));
                    center + Vector3::new(x * size[0].value(), y * size[1].value(), 0.0)
                };
                Ok((0..count).map(|i| Feature::vertex(point(i))).collect())
            }
        }
    }
}

/// The ends of a cylinder.
fn rims(center: Vector3<f64>, axis: Vector3<f64>, radius: f64, length: f64) -> [Feature; 2] {
    [-0.5, 0.5].map(|end| Feature::Rim { center: center + axis * (end * length), axis, radius })
}

/// The one collision sphere of a link.
fn collision_sphere(model: &Model, frame: FrameId) -> Result<Feature, Invalid> {
    let name = &model.frame(frame).name;
    let spheres = model.collisions_of(frame).filter_map(|collision| match collision.shape {
        Shape::Sphere { radius } => {
            Some(Feature::Ball { center: collision.link_from_shape.translation, radius })
        }
        _ => None,
    });
    let found: Vec<_> = spheres.collect();
    if let [sphere] = found.as_slice() {
        return Ok(*sphere);
    }
    let total = model.collisions_of(frame).count();
    let message = match (found.len(), total) {
        (0, 0) => format!("link `{name}` has no collision shape"),
        (0, _) => format!("link `{name}` has no sphere among its {total} collision shapes"),
        (many, _) => format!("expected one collision sphere of link `{name}`, found {many}"),
    };
    let mut with_sphere: Vec<&str> = model
        .collisions()
        .iter()
        .filter(|collision| matches!(collision.shape, Shape::Sphere { .. }))
        .map(|collision| model.frame(collision.link).name.as_str())
        .collect();
    with_sphere.dedup();
    let mut invalid = Invalid::parameter("shape", message)
        .hint("state it: shape: Sphere(radius: \"2 cm\") or shape: Point");
    if !with_sphere.is_empty() {
        invalid = invalid.hint(format!("links with spheres are: {}", with_sphere.join(", ")));
    }
    Err(invalid)
}

/// The features of all collision shapes of a link.
fn collision_features(
    model: &Model,
    frame: FrameId,
    hulls: &mut Hulls<'_>,
) -> Result<Vec<Feature>, Invalid> {
    let name = &model.frame(frame).name;
    let mut features = Vec::new();
    for collision in model.collisions_of(frame) {
        if let Shape::Mesh { path, scale } = &collision.shape {
            let corners = hulls.corners(path, scale, &collision.link_from_shape)?;
            features.extend(corners.into_iter().map(Feature::vertex));
        } else if !add_features(collision, &mut features) {
            let message = format!("link `{name}` has a collision shape that is not known here");
            return Err(Invalid::parameter("shape", message));
        }
    }
    if features.is_empty() {
        let message = format!("link `{name}` has no collision shape");
        let hint = "state it: shape: Vertices([[x, y, z], …]) or shape: Circle(radius: …)";
        return Err(Invalid::parameter("shape", message).hint(hint));
    }
    Ok(features)
}

/// The corners of all collision meshes and boxes of a link.
fn corners(
    model: &Model,
    frame: FrameId,
    hulls: &mut Hulls<'_>,
) -> Result<Vec<Vector3<f64>>, Invalid> {
    let mut corners = Vec::new();
    for collision in model.collisions_of(frame) {
        match &collision.shape {
            Shape::Mesh { path, scale } => {
                corners.extend(hulls.vertices(path, scale, &collision.link_from_shape)?);
            }
            Shape::Box { size } => corners.extend(box_corners(collision, size)),
            _ => {}
        }
    }
    if corners.is_empty() {
        let name = &model.frame(frame).name;
        let message = format!("link `{name}` has no box or mesh among its collision shapes");
        let hint = "state it: shape: Vertices([[x, y, z], …]) or shape: FromCollision";
        return Err(Invalid::parameter("shape", message).hint(hint));
    }
    Ok(corners)
}

/// The eight corners of a box.
fn box_corners<'c>(
    collision: &'c Collision,
    size: &'c Vector3<f64>,
) -> impl Iterator<Item = Vector3<f64>> + 'c {
    (0..8).map(move |corner| {
        let side = |bit: usize| if corner >> bit & 1 == 0 { -0.5 } else { 0.5 };
        let half = Vector3::new(side(0), side(1), side(2)).component_mul(size);
        collision.link_from_shape.transform_point(&half)
    })
}

/// Adds the features of one shape; whether it has any.
pub(crate) fn add_features(collision: &Collision, features: &mut Vec<Feature>) -> bool {
    let placement = &collision.link_from_shape;
    let (center, axis) = (placement.translation, placement.rotation.column(2).into_owned());
    match collision.shape {
        Shape::Sphere { radius } => features.push(Feature::Ball { center, radius }),
        Shape::Cylinder { radius, length } => features.extend(rims(center, axis, radius, length)),
        Shape::Capsule { radius, length } => {
            features.extend([-0.5, 0.5].map(|end| {
                let center = center + axis * (end * length);
                Feature::Ball { center, radius }
            }));
        }
        Shape::Box { size } => {
            features.extend(box_corners(collision, &size).map(Feature::vertex));
        }
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::Nothing;
    use crate::testing::robots::go;

    /// Cells of a rectangle have its middle and, but for one part in n², its second moments.
    #[test]
    fn a_grid_is_the_middles_of_its_cells() {
        let shape: PatchShape =
            serde_json::from_value(json!({ "Grid": { "size": [2, 0.6], "cells": [10, 4] } }))
                .expect("a shape");
        let frame = go().model.find_frame("trunk").expect("a link");
        let at = serde_json::from_value(json!([0.1, 0.2, -0.3])).expect("a place");
        let robot = go();
        let mut hulls = Hulls::new(&robot, &Nothing, 16).expect("corners");
        let features = shape.features(Some(at), &robot.model, frame, &mut hulls).expect("features");
        let points: Vec<Vector3<f64>> = (features.iter())
            .map(|feature| match feature {
                Feature::Ball { center, radius } if *radius == 0.0 => *center,
                other => panic!("expected a point, found {other:?}"),
            })
            .collect();
        assert_eq!(points.len(), 40);
        let mean = points.iter().sum::<Vector3<f64>>() / 40.0;
        assert!((mean - Vector3::new(0.1, 0.2, -0.3)).norm() < 1e-15);
        for (k, (edge, n)) in [(2.0, 10.0), (0.6, 4.0)].into_iter().enumerate() {
            let moment = points.iter().map(|p| (p[k] - mean[k]).powi(2)).sum::<f64>() / 40.0;
            let expected = edge * edge / 12.0 * (1.0 - 1.0 / (n * n));
            assert!((moment - expected).abs() < 1e-15, "{moment} {expected}");
        }
        let none: PatchShape =
            serde_json::from_value(json!({ "Grid": { "size": [2, 0.6], "cells": [0, 4] } }))
                .expect("a shape");
        assert!(none.features(None, &go().model, frame, &mut hulls).is_err());
    }
}
