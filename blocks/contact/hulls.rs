//! Collision meshes, as they touch.

use std::ops::RangeInclusive;

use legwork_block::{Files, Invalid};
use legwork_mechanics::Placement;
use legwork_mesh::{Format, Hull, HullError};
use nalgebra::Vector3;

use crate::robot::meshes;
use crate::robot::model::RobotModel;

/// Most corners that a hull may be given, and the fewest that have an inside.
const CORNERS: RangeInclusive<usize> = 4..=1000;
/// How far a mesh may reach beyond its hull without a warning, as a part of its size.
const MOST_MISS: f64 = 0.02;

/// Convex hulls of the meshes of a robot.
pub(crate) struct Hulls<'a> {
    robot: &'a RobotModel,
    /// Where the meshes are.
    files: &'a dyn Files,
    /// Most corners of a hull.
    most: usize,
    /// Meshes that reach far beyond their hulls.
    misses: Vec<Miss>,
}

/// A mesh that reaches far beyond its hull.
pub(crate) struct Miss {
    path: String,
    /// How far [m].
    by: f64,
}

/// A mesh as it touches.
pub(crate) struct MeshHull {
    /// The corners of the hull, in axes of the link [m].
    pub(crate) corners: Vec<Vector3<f64>>,
    /// How far the mesh reaches beyond it, if that is far [m].
    pub(crate) miss: Option<f64>,
}

impl<'a> Hulls<'a> {
    /// Hulls of at most so many corners.
    ///
    /// # Errors
    /// If the number of corners is not one that a hull may have.
    pub(crate) fn new(
        robot: &'a RobotModel,
        files: &'a dyn Files,
        most: usize,
    ) -> Result<Self, Invalid> {
        if !CORNERS.contains(&most) {
            let message = format!("expected 4 to {} corners, found {most}", CORNERS.end());
            return Err(Invalid::parameter("hull_vertices", message));
        }
        Ok(Self { robot, files, most, misses: Vec::new() })
    }

    /// The vertices of a mesh, in axes of the link [m].
    ///
    /// # Errors
    /// If the file is missing or no mesh.
    pub(crate) fn vertices(
        &self,
        path: &str,
        scale: &Vector3<f64>,
        link_from_shape: &Placement,
    ) -> Result<Vec<Vector3<f64>>, Invalid> {
        let wrong = |what: String| refused(format!("mesh `{path}`: {what}"));
        meshes::vertices(self.files, path, scale, link_from_shape).map_err(wrong)
    }

    /// The hull of a mesh. Its corners are chosen in the mesh's own axes, but where a scale that
    /// is not the same along all of them changes what is far.
    ///
    /// # Errors
    /// Why it cannot touch: the file is missing or no mesh, or its points have no volume.
    pub(crate) fn hull(
        &self,
        path: &str,
        scale: &Vector3<f64>,
        link_from_shape: &Placement,
    ) -> Result<MeshHull, String> {
        let is_even = scale.iter().all(|factor| factor.abs() == scale.x.abs());
        if scale.iter().any(|factor| *factor == 0.0) {
            return Err(format!("it has no volume: {}", HullError::Flat));
        }
        // Of a glTF file the program depends on files beside it too, which are read with it.
        let is_whole = Format::of(path) != Some(Format::Gltf);
        let is_kept = is_even && is_whole && self.most == meshes::CORNERS;
        let known = self.robot.hull(path).filter(|_| is_kept);
        let (Hull { vertices, miss, .. }, then_scale) = match known {
            Some(hull) => {
                // The program depends on the file all the same.
                self.files.read_found(path)?;
                (hull.clone(), *scale)
            }
            None => {
                let (once, then) = match is_even {
                    true => (Vector3::repeat(1.0), *scale),
                    false => (*scale, Vector3::repeat(1.0)),
                };
                let points = meshes::vertices(self.files, path, &once, &Placement::identity())?;
                let hull = Hull::of_at_most(&points, self.most);
                (hull.map_err(|error| format!("it has no volume: {error}"))?, then)
            }
        };
        let place = |corner: &Vector3<f64>| {
            link_from_shape.transform_point(&corner.component_mul(&then_scale))
        };
        let corners: Vec<Vector3<f64>> = vertices.iter().map(place).collect();
        let miss = miss * then_scale.amax();
        let reach =
            |from: &Vector3<f64>| corners.iter().map(|c| (c - from).norm()).fold(0.0, f64::max);
        let size = corners.first().map_or(0.0, reach);
        Ok(MeshHull { miss: (miss > MOST_MISS * size).then_some(miss), corners })
    }

    /// The corners of its hull, in axes of the link [m].
    ///
    /// # Errors
    /// If the file is missing or no mesh, or its points have no volume.
    pub(crate) fn corners(
        &mut self,
        path: &str,
        scale: &Vector3<f64>,
        link_from_shape: &Placement,
    ) -> Result<Vec<Vector3<f64>>, Invalid> {
        let hull = self.hull(path, scale, link_from_shape);
        let hull = hull.map_err(|why| refused(format!("mesh `{path}`: {why}")))?;
        self.misses.extend(hull.miss.map(|by| Miss { path: path.to_owned(), by }));
        Ok(hull.corners)
    }

    /// What to warn of a foot.
    pub(crate) fn doubts(&self) -> Vec<Invalid> {
        let doubt = |Miss { path, by }: &Miss| {
            let message = format!(
                "the hull of {} corners leaves out up to {:.1} mm of the mesh `{path}`",
                self.most,
                1000.0 * by
            );
            let hint = "take more, or `shape: Sole()`, which is what of the meshes lies lowest";
            Invalid::parameter("hull_vertices", message).hint(hint)
        };
        self.misses.iter().map(doubt).collect()
    }
}

/// A mesh that a foot cannot touch with.
fn refused(message: String) -> Invalid {
    let hint = "state what touches: shape: Vertices([[x, y, z], …])";
    Invalid::parameter("shape", message).hint(hint)
}
