//! Collision meshes, as they touch.

use std::ops::RangeInclusive;

use legwork_block::{Files, Invalid};
use legwork_mechanics::Placement;
use legwork_mesh::Hull;
use nalgebra::Vector3;

use crate::robot::meshes;

/// Most corners that a hull may be given, and the fewest that have an inside.
const CORNERS: RangeInclusive<usize> = 4..=1000;
/// How far a mesh may reach beyond its hull without a warning, as a part of its size.
const MOST_MISS: f64 = 0.02;

/// Convex hulls of meshes.
pub(crate) struct Hulls<'a> {
    /// Where the meshes are.
    pub(crate) files: &'a dyn Files,
    /// Most corners of a hull.
    pub(crate) most: usize,
    /// Meshes that reach far beyond their hulls.
    pub(crate) doubts: Vec<Invalid>,
}

impl Hulls<'_> {
    /// The vertices of a mesh, in axes of the link [m].
    ///
    /// # Errors
    /// If the file is missing or no mesh.
    pub(crate) fn vertices(
        &mut self,
        path: &str,
        scale: &Vector3<f64>,
        link_from_shape: &Placement,
    ) -> Result<Vec<Vector3<f64>>, Invalid> {
        meshes::vertices(self.files, path, scale, link_from_shape)
    }

    /// The corners of its hull, in axes of the link [m].
    ///
    /// # Errors
    /// If the file is missing or no mesh, its points have no volume, or the number of corners is
    /// not one that a hull may have.
    pub(crate) fn corners(
        &mut self,
        path: &str,
        scale: &Vector3<f64>,
        link_from_shape: &Placement,
    ) -> Result<Vec<Vector3<f64>>, Invalid> {
        let most = self.most;
        if !CORNERS.contains(&most) {
            let message = format!("expected 4 to {} corners, found {most}", CORNERS.end());
            return Err(Invalid::parameter("hull_vertices", message));
        }
        let points = self.vertices(path, scale, link_from_shape)?;
        let hull = Hull::of_at_most(&points, most).map_err(|error| {
            let message = format!("mesh `{path}` has no volume: {error}");
            let hint = "state what touches: shape: Vertices([[x, y, z], …])";
            Invalid::parameter("shape", message).hint(hint)
        })?;
        let (corners, miss) = (hull.vertices, hull.miss);
        let reach =
            |from: &Vector3<f64>| corners.iter().map(|c| (c - from).norm()).fold(0.0, f64::max);
        let size = corners.first().map_or(0.0, reach);
        if miss > MOST_MISS * size {
            let message = format!(
                "the hull of {most} corners leaves out up to {:.1} mm of the mesh `{path}`",
                1000.0 * miss
            );
            let hint = "take more, or `shape: Sole()`, which is what of the meshes lies lowest";
            self.doubts.push(Invalid::parameter("hull_vertices", message).hint(hint));
        }
        Ok(corners)
    }
}
