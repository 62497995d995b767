//! Ground of the world, as contact blocks and pictures share it.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use legwork_block::{Files, Invalid, OtherResources, Resource, ResourceKind, Value};
use legwork_contact::{HeightField, Plane, Surface};
use legwork_mesh::{Mesh, Part};
use nalgebra::Vector3;

use super::Ground;
use super::field::FrictionField;

/// Ground that no body carries.
#[derive(Clone, Debug)]
pub(crate) struct Terrain {
    /// What is touched, in world axes.
    pub(crate) surface: Arc<Surface>,
    /// Its friction by place, if it has that.
    pub(crate) friction: Option<Arc<FrictionField>>,
    /// What its file has that is not used.
    pub(super) doubt: Option<String>,
}

impl Terrain {
    pub(super) fn of(surface: Surface) -> Self {
        Self { surface: Arc::new(surface), friction: None, doubt: None }
    }
}

/// The section `ground:` of a diagram.
pub(crate) struct Section {
    pub(super) terrain: Terrain,
    /// What is seen of it; made for those who look.
    mesh: OnceLock<Mesh>,
}

impl Section {
    /// What is touched, in world axes.
    pub(crate) fn surface(&self) -> &Surface {
        &self.terrain.surface
    }
}

impl Resource for Section {
    fn facts(&self) -> Value {
        Value::record([] as [(&str, Value); 0])
    }

    fn dimension(&self, _: &str) -> Option<usize> {
        None
    }

    /// A [`Mesh`] in world axes.
    fn mechanism(&self) -> Option<&dyn Any> {
        Some(self.mesh.get_or_init(|| mesh(&self.terrain.surface)))
    }
}

impl ResourceKind for Ground {
    const KIND: &'static str = "Ground";

    fn load(
        self,
        _: &str,
        files: &dyn Files,
        _: &dyn OtherResources,
    ) -> Result<(Arc<dyn Resource>, Vec<String>), Invalid> {
        // The section is the value itself, not a block with a parameter of that name.
        let terrain =
            self.stated_terrain(files).map_err(|invalid| Invalid { parameter: None, ..invalid })?;
        let warnings = terrain.doubt.iter().cloned().collect();
        Ok((Arc::new(Section { terrain, mesh: OnceLock::new() }), warnings))
    }
}

/// Half of the edge of the square that is seen of a plane [m].
const SEEN: f64 = 20.0;
/// Most points along an axis that are seen of a height field.
const MOST_SEEN: usize = 300;

/// What is seen of ground.
fn mesh(surface: &Surface) -> Mesh {
    let mut mesh = Mesh::default();
    add(surface, &|point| point, &mut mesh);
    mesh.parts = vec![Part { triangles: mesh.triangles.len(), ..Part::default() }];
    mesh
}

fn add(surface: &Surface, placed: &dyn Fn(Vector3<f64>) -> Vector3<f64>, to: &mut Mesh) {
    match surface {
        Surface::HalfSpace(plane) => add_plane(plane, placed, to),
        Surface::HeightField(field) => add_field(field, placed, to),
        Surface::TriangleMesh(mesh) => {
            for corners in mesh.triangles() {
                let first = to.vertices.len() as u32;
                to.vertices.extend(corners.map(placed));
                to.triangles.push([first, first + 1, first + 2]);
            }
        }
        Surface::Box { half_size } => add_box(half_size, placed, to),
        Surface::Union(parts) => {
            for part in parts {
                let place = &part.placement;
                add(&part.surface, &|point| placed(place.transform_point(&point)), to);
            }
        }
        // No ground of the world is round.
        _ => {}
    }
}

fn add_plane(plane: &Plane, placed: &dyn Fn(Vector3<f64>) -> Vector3<f64>, to: &mut Mesh) {
    let normal = plane.normal();
    let on = -plane.distance(&Vector3::zeros()) * normal;
    // The axis that is least along the normal.
    let aside = if normal.x.abs() < 0.9 { Vector3::x() } else { Vector3::y() };
    let along = SEEN * (aside - normal * normal.dot(&aside)).normalize();
    let across = normal.cross(&along);
    let first = to.vertices.len() as u32;
    let corners = [-along - across, along - across, along + across, across - along];
    to.vertices.extend(corners.map(|corner| placed(on + corner)));
    to.triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
}

fn add_field(field: &HeightField, placed: &dyn Fn(Vector3<f64>) -> Vector3<f64>, to: &mut Mesh) {
    // Every k-th point of the grid, and the last.
    let shown = |count: usize| -> Vec<usize> {
        let every = count.div_ceil(MOST_SEEN);
        (0..count - 1).step_by(every).chain([count - 1]).collect()
    };
    let [along_x, along_y] = field.counts().map(shown);
    let (first, width) = (to.vertices.len() as u32, along_x.len() as u32);
    for j in &along_y {
        for i in &along_x {
            let [x, y] = field.place(*i, *j);
            to.vertices.push(placed(Vector3::new(x, y, field.height(x, y))));
        }
    }
    for j in 0..along_y.len() as u32 - 1 {
        for i in 0..width - 1 {
            let at = first + j * width + i;
            to.triangles.extend([[at, at + 1, at + width + 1], [at, at + width + 1, at + width]]);
        }
    }
}

fn add_box(half_size: &Vector3<f64>, placed: &dyn Fn(Vector3<f64>) -> Vector3<f64>, to: &mut Mesh) {
    let first = to.vertices.len() as u32;
    let side = |corner: u32, axis: u32| if corner >> axis & 1 == 0 { -1.0 } else { 1.0 };
    to.vertices.extend((0..8).map(|corner| {
        let sides = Vector3::new(side(corner, 0), side(corner, 1), side(corner, 2));
        placed(half_size.component_mul(&sides))
    }));
    // Faces of corners by the bits of their numbers, counter-clockwise from outside.
    for [a, b, c, d] in
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    {
        let [a, b, c, d] = [a, b, c, d].map(|corner| first + corner);
        to.triangles.extend([[a, b, c], [a, c, d]]);
    }
}
