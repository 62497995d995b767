//! Mass properties of meshes: files, and vertices in the model.

use legwork_mesh::Hull;
use nalgebra::{Matrix3, Vector3};

use super::source::ReadText;
use super::tree::Mesh;

/// Volume or area of a mesh, and its inertia for a mass of 1 kg, in the axes of its geom.
#[derive(Clone)]
pub(super) struct MeshMass {
    /// [m³; m² of a shell].
    pub(super) extent: f64,
    pub(super) center: Vector3<f64>,
    /// About the centre [m²].
    pub(super) unit_inertia: Matrix3<f64>,
}

type Triangle = [Vector3<f64>; 3];

/// Reads a mesh and integrates over it.
///
/// `exact` sums signed tetrahedra from the centroid of the surface; `legacy`, MuJoCo's default, sums
/// their absolute volumes, which is the same for convex meshes; `convex` takes the convex hull, as
/// do meshes that list vertices without faces.
pub(super) fn mass(mesh: &Mesh, read: ReadText<'_>) -> Result<MeshMass, String> {
    let mut surface = match &mesh.file {
        Some(path) => of_file(path, read)?,
        None => listed(&mesh.vertices, &mesh.faces)?,
    };
    for point in &mut surface.vertices {
        *point = mesh.reference.transform_point(point);
    }
    surface.scale(mesh.scale);
    if mesh.inertia == "convex" || surface.triangles.is_empty() {
        let hull = Hull::of_mesh(&surface, usize::MAX).map_err(|error| error.to_string())?;
        surface = hull.to_mesh();
    }
    let triangles: Vec<Triangle> =
        (0..surface.triangles.len()).map(|k| surface.corners(k)).collect();
    integral(&triangles, &mesh.inertia)
}

fn of_file(path: &str, read: ReadText<'_>) -> Result<legwork_mesh::Mesh, String> {
    let bytes = read(path)?;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut beside = |name: &str| match folder {
        "" => read(name),
        folder => read(&format!("{folder}/{name}")),
    };
    legwork_mesh::read(path, &bytes, &mut beside).map_err(|error| format!("{path}: {error}"))
}

fn integral(triangles: &[Triangle], kind: &str) -> Result<MeshMass, String> {
    let double_area = |t: &Triangle| (t[1] - t[0]).cross(&(t[2] - t[0])).norm();
    let mut surface = Vector3::zeros();
    let mut area = 0.0;
    for triangle in triangles {
        let part = 0.5 * double_area(triangle);
        surface += part * (triangle[0] + triangle[1] + triangle[2]) / 3.0;
        area += part;
    }
    if !(area > 1e-15 && area.is_finite()) {
        return Err("it has no area".to_owned());
    }
    let apex = surface / area;
    // What each triangle weighs, and the centroid of what it stands for.
    let tetrahedron = |t: &Triangle, from: &Vector3<f64>| {
        let volume = (t[0] - from).dot(&(t[1] - from).cross(&(t[2] - from))) / 6.0;
        if kind == "legacy" { volume.abs() } else { volume }
    };
    let weight = |t: &Triangle, from: &Vector3<f64>| match kind {
        "shell" => 0.5 * double_area(t),
        _ => tetrahedron(t, from),
    };
    let (mut extent, mut first) = (0.0, Vector3::zeros());
    for triangle in triangles {
        let part = weight(triangle, &apex);
        let middle = (triangle[0] + triangle[1] + triangle[2]) / 3.0;
        extent += part;
        first += part * (0.75 * middle + 0.25 * apex);
    }
    if kind == "shell" {
        first = surface;
    }
    if !(extent > 1e-15 && extent.is_finite()) {
        return Err(format!("its volume {extent:e} m³ is too small, or its faces point inwards"));
    }
    let center = first / extent;
    // ∫ x xᵀ over a tetrahedron with apex 0 is V/20 (Σ pᵢpᵢᵀ + s sᵀ), s = Σ pᵢ; over a triangle
    // A/12 (Σ pᵢpᵢᵀ + s sᵀ).
    let mut second = Matrix3::zeros();
    let mut total = 0.0;
    for triangle in triangles {
        let part = weight(triangle, &center);
        let points = triangle.map(|point| point - center);
        let sum = points[0] + points[1] + points[2];
        let squares: Matrix3<f64> = points.iter().map(|p| p * p.transpose()).sum();
        let factor = if kind == "shell" { 1.0 / 12.0 } else { 1.0 / 20.0 };
        second += (squares + sum * sum.transpose()) * (factor * part);
        total += part;
    }
    let unit_inertia = (Matrix3::from_diagonal_element(second.trace()) - second) / total;
    Ok(MeshMass { extent: total, center, unit_inertia })
}

/// Vertices and faces that the model lists; without faces, vertices alone.
fn listed(vertices: &[f64], faces: &[f64]) -> Result<legwork_mesh::Mesh, String> {
    if !vertices.len().is_multiple_of(3) || !faces.len().is_multiple_of(3) {
        return Err("expected three numbers for each vertex and face".to_owned());
    }
    if vertices.iter().any(|x| !x.is_finite()) {
        return Err("a vertex is not finite".to_owned());
    }
    let vertices: Vec<_> = vertices.chunks_exact(3).map(Vector3::from_column_slice).collect();
    let at = |index: f64| -> Option<u32> {
        let is_one = index >= 0.0 && index.fract() == 0.0 && index < vertices.len() as f64;
        is_one.then_some(index as u32)
    };
    let triangle = |face: &[f64]| match (at(face[0]), at(face[1]), at(face[2])) {
        (Some(a), Some(b), Some(c)) => Ok([a, b, c]),
        _ => Err(format!("a face {face:?} names a vertex beyond {}", vertices.len())),
    };
    let triangles = faces.chunks_exact(3).map(triangle).collect::<Result<_, _>>()?;
    Ok(legwork_mesh::Mesh { vertices, triangles, parts: Vec::new() })
}
