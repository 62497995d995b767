//! How far feet are above the ground.

use std::f64::consts::TAU;

use legwork_block::{Files, Invalid};
use legwork_contact::{Feature, Surface};
use legwork_mechanics::{Collision, Kinematics, Placement, Shape, world_from_frame};
use legwork_mesh::Hull;
use nalgebra::Vector3;

use crate::contact::shape::add_features;
use crate::robot::meshes::vertices;
use crate::robot::model::RobotModel;

/// Where the search for the ground below feet begins, above them [m].
const SKY: f64 = 100.0;
/// Points of a rim that are tried on ground that is not level.
const AROUND: usize = 16;
/// How often the lowest point of a rim is sought anew along the normal of the ground below it.
const TURNS: usize = 8;

/// What feet are placed over.
pub(super) struct Below<'a> {
    /// The ground; without, the plane z = 0.
    pub(super) ground: Option<&'a Surface>,
    /// Where meshes of feet are.
    pub(super) files: &'a dyn Files,
    /// Meshes that were left out.
    pub(super) doubts: Vec<Invalid>,
}

impl Below<'_> {
    /// How far the lowest foot is above the ground [m].
    ///
    /// # Errors
    /// If the robot has no feet, or there is no ground below one.
    pub(super) fn lowest_foot(&mut self, robot: &RobotModel, q: &[f64]) -> Result<f64, Invalid> {
        let model = &robot.model;
        if robot.feet.is_empty() {
            let message =
                format!("expected a robot with feet to place, found none on `{}`", robot.name);
            let hint = format!("add `feet: [\"…\"]` to the robot `{}`", robot.name);
            return Err(Invalid::parameter("init", message).hint(hint));
        }
        let mut kinematics = Kinematics::new(model);
        kinematics.update_placements(model, q);
        let mut lowest = f64::INFINITY;
        for foot in &robot.feet {
            let world_from_foot = world_from_frame(model, &kinematics, *foot);
            let mut features = Vec::new();
            for collision in model.collisions_of(*foot) {
                if let Err(why) = add(collision, self.files, &mut features) {
                    let name = &model.frame(*foot).name;
                    let message = format!("foot `{name}` is placed without {why}");
                    self.doubts.push(Invalid::parameter("init", message));
                }
            }
            if features.is_empty() {
                features.push(Feature::vertex(Vector3::zeros()));
            }
            for feature in &features {
                lowest = lowest.min(self.height(feature, &world_from_foot)?);
            }
        }
        Ok(lowest)
    }

    /// How far a feature can fall [m].
    fn height(&self, feature: &Feature, world_from_foot: &Placement) -> Result<f64, Invalid> {
        match *feature {
            Feature::Ball { center, radius } => {
                let center = world_from_foot.transform_point(&center);
                Ok(center.z - self.resting(&center, radius)?)
            }
            Feature::Rim { center, axis, radius } => {
                let center = world_from_foot.transform_point(&center);
                self.height_of_rim(&center, &(world_from_foot.rotation * axis), radius)
            }
            _ => Err(Invalid::parameter("init", "a foot has a shape that cannot be placed")),
        }
    }

    /// The point of a circle that comes to the ground first is the lowest one along the normal of
    /// the ground there. Where that turns from place to place, points all around are tried too.
    fn height_of_rim(
        &self,
        center: &Vector3<f64>,
        axis: &Vector3<f64>,
        radius: f64,
    ) -> Result<f64, Invalid> {
        let (mut lowest, mut normal) = (f64::INFINITY, Vector3::z());
        for _ in 0..TURNS {
            let across = normal - axis * axis.dot(&normal);
            // All points of a level circle are as low as its centre.
            let down = across.try_normalize(1e-9).unwrap_or_default();
            let point = center - down * radius;
            let resting = self.resting(&point, 0.0)?;
            lowest = lowest.min(point.z - resting);
            let Some(ground) = self.ground else { return Ok(lowest) };
            let found = ground.at(&Vector3::new(point.x, point.y, resting)).normal;
            if found == normal {
                break;
            }
            normal = found;
        }
        let axes = legwork_contact::contact_frame(axis);
        for k in 0..AROUND {
            let (sine, cosine) = libm::sincos(TAU * k as f64 / AROUND as f64);
            let point = center + axes * Vector3::new(cosine, sine, 0.0) * radius;
            lowest = lowest.min(point.z - self.resting(&point, 0.0)?);
        }
        Ok(lowest)
    }

    /// Height of the centre of a ball that lies on the ground there [m].
    fn resting(&self, center: &Vector3<f64>, radius: f64) -> Result<f64, Invalid> {
        let Some(ground) = self.ground else { return Ok(radius) };
        let from = center + SKY * Vector3::z();
        ground.offset_below(&from, radius, 2.0 * SKY).ok_or_else(|| {
            let (x, y) = (center.x, center.y);
            let message = format!("no ground below the foot at x = {x}, y = {y}");
            Invalid::parameter("init", message)
        })
    }
}

/// Adds the features of a collision shape: of a mesh all corners of its hull.
///
/// # Errors
/// What it is, if it is a mesh that is missing or broken or not known here, and why.
fn add(
    collision: &Collision,
    files: &dyn Files,
    features: &mut Vec<Feature>,
) -> Result<(), String> {
    let Shape::Mesh { path, scale } = &collision.shape else {
        return match add_features(collision, features) {
            true => Ok(()),
            false => Err("a shape that is not known here".to_owned()),
        };
    };
    let points = vertices(files, path, scale, &collision.link_from_shape)
        .map_err(|why| format!("its mesh `{path}`: {why}"))?;
    // A flat mesh has no hull with an inside, but a lowest point.
    let corners = Hull::new(&points).map_or(points, |hull| hull.vertices);
    features.extend(corners.into_iter().map(Feature::vertex));
    Ok(())
}
