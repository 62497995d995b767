//! The surfaces of meshes that are drawn.

use std::collections::BTreeSet;

use legwork_mesh::{Hull, Mesh};

use crate::shapes::{Patch, Scene, Shape, Surface};

/// Most triangles of a scene, about 100 MB of it; meshes beyond are drawn as their hulls.
const MOST_TRIANGLES: usize = 2_000_000;
/// Most corners of such a hull.
const CORNERS: usize = 200;

impl Scene {
    /// Reads the meshes that are drawn, through a function that gives the bytes of a file by its
    /// path; what cannot be read, a sentence each, stays without a surface.
    ///
    /// A scene has at most 2 million triangles: a mesh that would be beyond is drawn as its convex
    /// hull of at most 200 corners.
    pub fn read_surfaces(
        &mut self,
        read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
    ) -> Vec<String> {
        let links = self.robots.iter().flat_map(|robot| &robot.links);
        let paths: BTreeSet<String> = links
            .flat_map(|link| link.drawn())
            .filter_map(|geometry| match &geometry.shape {
                Shape::Mesh { path, .. } => Some(path.clone()),
                _ => None,
            })
            .collect();
        let (mut triangles, mut problems) = (0, Vec::new());
        for path in paths {
            let mesh = match mesh(&path, read) {
                Ok(mesh) => mesh,
                Err(problem) => {
                    problems.push(format!("the mesh `{path}` is not shown: {problem}"));
                    continue;
                }
            };
            let is_small = triangles + mesh.triangles.len() <= MOST_TRIANGLES;
            let surface = match is_small {
                true => Surface::of(&mesh),
                // A flat mesh has no hull, and is left out.
                false => Hull::of_mesh(&mesh, CORNERS).map_or_else(
                    |_| Surface::default(),
                    |hull| Surface::of(&hull.to_mesh()).painted(&mesh),
                ),
            };
            triangles += if is_small { mesh.triangles.len() } else { 2 * CORNERS };
            self.surfaces.insert(path, surface);
        }
        problems
    }
}

fn mesh(path: &str, read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>) -> Result<Mesh, String> {
    let bytes = read(path)?;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut beside = |name: &str| match folder {
        "" => read(name),
        folder => read(&format!("{folder}/{name}")),
    };
    legwork_mesh::read(path, &bytes, &mut beside).map_err(|error| error.to_string())
}

impl Surface {
    pub(crate) fn of(mesh: &Mesh) -> Self {
        let mut rest = mesh.triangles.as_slice();
        let patches = mesh.parts.iter().map(|part| {
            let (own, others) = rest.split_at(part.triangles.min(rest.len()));
            rest = others;
            Patch { triangles: own.to_vec(), color: part.material.color }
        });
        let patches = patches.collect();
        Self { vertices: mesh.vertices.iter().map(|vertex| (*vertex).into()).collect(), patches }
    }

    /// In the colour of the largest part of a mesh.
    fn painted(mut self, mesh: &Mesh) -> Self {
        let largest = mesh.parts.iter().max_by_key(|part| part.triangles);
        let color = largest.and_then(|part| part.material.color);
        self.patches.iter_mut().for_each(|patch| patch.color = color);
        self
    }
}
