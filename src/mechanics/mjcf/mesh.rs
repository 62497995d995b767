//! Mass properties of meshes: STL, OBJ and MuJoCo's own MSH files, and vertices in the model.

use nalgebra::{Matrix3, Vector3};

use super::source::ReadText;
use super::tree::Mesh;

/// Most triangles of a mesh.
const MAX_FACES: usize = 10_000_000;

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
/// their absolute volumes, which is the same for convex meshes.
pub(super) fn mass(mesh: &Mesh, read: ReadText<'_>) -> Result<MeshMass, String> {
    let mut triangles = match &mesh.file {
        Some(path) => triangles_of(path, &read(path)?).map_err(|what| format!("{path}: {what}"))?,
        None => listed(&mesh.vertices, &mesh.faces)?,
    };
    if triangles.is_empty() {
        return Err("it has no triangles".to_owned());
    }
    if mesh.inertia == "convex" {
        return Err("the inertia of convex hulls is not supported".to_owned());
    }
    let mirrored = mesh.scale.product() < 0.0;
    for triangle in &mut triangles {
        for point in triangle.iter_mut() {
            *point = mesh.reference.transform_point(point).component_mul(&mesh.scale);
        }
        if mirrored {
            triangle.swap(1, 2);
        }
    }
    integral(&triangles, &mesh.inertia)
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

/// Vertices and faces that the model lists.
fn listed(vertices: &[f64], faces: &[f64]) -> Result<Vec<Triangle>, String> {
    if faces.is_empty() {
        return Err("it lists no faces, and convex hulls are not supported".to_owned());
    }
    if !vertices.len().is_multiple_of(3) || !faces.len().is_multiple_of(3) {
        return Err("expected three numbers for each vertex and face".to_owned());
    }
    let count = vertices.len() / 3;
    let at = |index: f64| -> Option<Vector3<f64>> {
        let whole = index >= 0.0 && index.fract() == 0.0 && index < count as f64;
        whole.then(|| Vector3::from_column_slice(&vertices[3 * index as usize..][..3]))
    };
    faces
        .chunks_exact(3)
        .map(|face| {
            let corners = (at(face[0]), at(face[1]), at(face[2]));
            match corners {
                (Some(a), Some(b), Some(c)) => Ok([a, b, c]),
                _ => Err(format!("a face {face:?} names a vertex beyond {count}")),
            }
        })
        .collect()
}

fn triangles_of(path: &str, bytes: &[u8]) -> Result<Vec<Triangle>, String> {
    let ending = path.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
    let triangles = match ending.as_str() {
        "stl" => stl(bytes),
        "obj" => obj(bytes),
        "msh" => msh(bytes),
        _ => return Err("expected an STL, OBJ or MSH file".to_owned()),
    }?;
    let finite = triangles.iter().flatten().all(|point| point.iter().all(|x| x.is_finite()));
    if finite { Ok(triangles) } else { Err("a vertex is not finite".to_owned()) }
}

fn float(bytes: &[u8], at: usize) -> Option<f64> {
    let four = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(f64::from(f32::from_le_bytes(four)))
}

fn count(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    usize::try_from(i32::from_le_bytes(four)).ok()
}

fn point(bytes: &[u8], at: usize) -> Option<Vector3<f64>> {
    Some(Vector3::new(float(bytes, at)?, float(bytes, at + 4)?, float(bytes, at + 8)?))
}

/// Binary: a header of 80 bytes, the number of facets, and 50 bytes for each. Else text.
fn stl(bytes: &[u8]) -> Result<Vec<Triangle>, String> {
    let facets = count(bytes, 80).unwrap_or(0);
    if facets <= MAX_FACES && facets > 0 && bytes.len() == 84 + 50 * facets {
        let facet = |i: usize| {
            let at = 84 + 50 * i + 12;
            Some([point(bytes, at)?, point(bytes, at + 12)?, point(bytes, at + 24)?])
        };
        return (0..facets).map(|i| facet(i).ok_or_else(|| "it is too short".to_owned())).collect();
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|_| format!("expected {facets} facets of 50 bytes, found another length"))?;
    let mut points: Vec<Vector3<f64>> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.trim_start().strip_prefix("vertex") {
            points.push(vector(rest)?);
        }
    }
    if !points.len().is_multiple_of(3) {
        return Err("expected three vertices for each facet".to_owned());
    }
    Ok(points.chunks_exact(3).map(|three| [three[0], three[1], three[2]]).collect())
}

fn vector(text: &str) -> Result<Vector3<f64>, String> {
    let mut words = text.split_whitespace().map(str::parse::<f64>);
    match (words.next(), words.next(), words.next()) {
        (Some(Ok(x)), Some(Ok(y)), Some(Ok(z))) => Ok(Vector3::new(x, y, z)),
        _ => Err("expected three numbers for a vertex".to_owned()),
    }
}

/// Lines `v x y z` and `f a b c …`, whose polygons are fans of triangles.
fn obj(bytes: &[u8]) -> Result<Vec<Triangle>, String> {
    let text = String::from_utf8_lossy(bytes);
    let mut points: Vec<Vector3<f64>> = Vec::new();
    let mut triangles = Vec::new();
    for line in text.lines() {
        let line = line.trim_start();
        if let Some(rest) = line.strip_prefix("v ") {
            points.push(vector(rest)?);
        } else if let Some(rest) = line.strip_prefix("f ") {
            let corner = |word: &str| -> Option<Vector3<f64>> {
                let index: i64 = word.split('/').next()?.parse().ok()?;
                let index = match index {
                    0 => return None,
                    1.. => usize::try_from(index - 1).ok()?,
                    _ => points.len().checked_sub(usize::try_from(-index).ok()?)?,
                };
                points.get(index).copied()
            };
            let corners: Option<Vec<_>> = rest.split_whitespace().map(corner).collect();
            let corners = corners.ok_or("a face names a vertex that is not there")?;
            if corners.len() < 3 {
                return Err("expected three vertices or more for a face".to_owned());
            }
            triangles.extend(corners[1..].windows(2).map(|two| [corners[0], two[0], two[1]]));
        }
    }
    Ok(triangles)
}

/// Numbers of vertices, normals, texture coordinates and faces, then those lists.
fn msh(bytes: &[u8]) -> Result<Vec<Triangle>, String> {
    let short = || "it is too short, or not a MSH file".to_owned();
    let counts = [0, 4, 8, 12].map(|at| count(bytes, at));
    let [Some(vertices), Some(normals), Some(coordinates), Some(faces)] = counts else {
        return Err(short());
    };
    let lists = (vertices * 3 + normals * 3 + coordinates * 2 + faces * 3) * 4;
    if bytes.len() != 16 + lists {
        return Err(short());
    }
    let first_face = 16 + 4 * (vertices * 3 + normals * 3 + coordinates * 2);
    let corner = |at: usize| {
        let index = count(bytes, at).filter(|index| *index < vertices)?;
        point(bytes, 16 + 12 * index)
    };
    let face = |i: usize| {
        let at = first_face + 12 * i;
        Some([corner(at)?, corner(at + 4)?, corner(at + 8)?])
    };
    (0..faces)
        .map(|i| face(i).ok_or_else(|| "a face names a vertex that is not there".to_owned()))
        .collect()
}
