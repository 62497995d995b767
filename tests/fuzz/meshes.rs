//! Mesh files of all formats: read, looked at, and made into a hull for contact and into ground.

use legwork_contact::{Surface, TriangleMesh};
use legwork_mesh::{Hull, Mesh, Solid, Topology};
use nalgebra::Vector3;

use crate::Target;
use crate::mutate::{self, Random};
use crate::targets::corpus;

/// Corners of the hulls.
const CORNERS: usize = 50;
/// Points that are asked how far ground is.
const POINTS: usize = 20;

/// Damaged mesh files.
pub(crate) struct Meshes {
    /// Name and bytes.
    files: Vec<(String, Vec<u8>)>,
}

const WORDS: [&str; 30] = [
    "v",
    "f",
    "usemtl",
    "mtllib",
    "vertex",
    "facet",
    "endsolid",
    "solid",
    "outer loop",
    "<node>",
    "</node>",
    "instance_geometry",
    "instance_node",
    "url=\"#outer\"",
    "<scale>",
    "<matrix>",
    "<p>",
    "</p>",
    "polylist",
    "triangles",
    "float_array",
    "count",
    "stride",
    "offset",
    "\"children\": [0]",
    "\"mesh\"",
    "\"indices\"",
    "\"byteLength\"",
    "\"count\"",
    "5125",
];

impl Meshes {
    pub(crate) fn new() -> Self {
        let kinds = ["stl", "obj", "dae", "gltf", "glb", "msh"];
        let files = kinds.iter().flat_map(|kind| corpus(&["tests/data/meshes"], kind));
        let name = |path: &std::path::Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        Self { files: files.map(|(path, bytes)| (name(&path), bytes)).collect() }
    }
}

impl Target for Meshes {
    /// The number of the file that is damaged, then its bytes.
    fn input(&self, random: &mut Random) -> Vec<u8> {
        let (of, other) = (random.below(self.files.len()), random.below(self.files.len()));
        let (name, bytes) = &self.files[of];
        let other = &self.files[other].1;
        let is_text = !["box.stl", "box.glb", "box.msh"].contains(&name.as_str());
        let damaged = match is_text && !random.once_in(4) {
            true => mutate::text(random, bytes, other, &WORDS),
            false => mutate::bytes(random, bytes, other),
        };
        [&[of as u8], damaged.as_slice()].concat()
    }

    fn run(&self, input: &[u8], random: &mut Random) -> Result<&'static str, String> {
        let Some((&of, bytes)) = input.split_first() else { return Ok("refused") };
        let name = &self.files[of as usize % self.files.len()].0;
        // What it names beside itself is another file, or none.
        let other = &self.files[random.below(self.files.len())].1;
        let mut beside = |name: &str| match name.len().is_multiple_of(2) {
            true => Ok(other.clone()),
            false => Err("there is no such file".to_owned()),
        };
        let Ok(mesh) = legwork_mesh::read(name, bytes, &mut beside) else { return Ok("refused") };
        check(&mesh)?;
        check_ground(&mesh, random)?;
        let is_closed = Topology::of(&mesh).is_closed();
        let solid = Solid::of(&mesh);
        if let Some(solid) = &solid
            && is_closed
            && !solid.volume.is_finite()
        {
            return Err(format!("volume {}", solid.volume));
        }
        let Ok(hull) = Hull::of_mesh(&mesh, CORNERS) else { return Ok("read, no hull") };
        if hull.vertices.len() > CORNERS {
            return Err(format!("a hull of {} corners", hull.vertices.len()));
        }
        check(&hull.to_mesh())?;
        Ok(if is_closed { "closed" } else { "open" })
    }
}

/// Ground is nowhere farther than its nearest vertex, and its normals are unit vectors.
fn check_ground(mesh: &Mesh, random: &mut Random) -> Result<(), String> {
    let Ok(surface) = TriangleMesh::new(mesh) else { return Ok(()) };
    let vertices: Vec<Vector3<f64>> = surface.triangles().flatten().collect();
    let size = vertices.iter().fold(0.0_f64, |most, vertex| most.max(vertex.amax()));
    let surface = Surface::TriangleMesh(surface);
    for _ in 0..POINTS {
        let near = vertices[random.below(vertices.len())];
        let aside = [(); 3].map(|()| random.below(2001) as f64 / 1000.0 - 1.0);
        let point = near + Vector3::from(aside) * size;
        let nearest = vertices.iter().fold(f64::MAX, |d, vertex| d.min((vertex - point).norm()));
        let found = surface.at(&point);
        if found.distance.abs() > nearest + 1e-9 * size {
            return Err(format!("{} to ground whose vertex is {nearest} away", found.distance));
        }
        if (found.normal.norm() - 1.0).abs() > 1e-9 {
            return Err(format!("a normal of length {}", found.normal.norm()));
        }
    }
    Ok(())
}

/// What a mesh promises.
fn check(mesh: &Mesh) -> Result<(), String> {
    if !mesh.vertices.iter().flat_map(|v| v.iter()).all(|x| x.is_finite()) {
        return Err("a vertex that is not finite".to_owned());
    }
    if mesh.triangles.iter().flatten().any(|i| *i as usize >= mesh.vertices.len()) {
        return Err("a triangle of no vertex".to_owned());
    }
    if mesh.parts.iter().any(|part| ![0, part.triangles].contains(&part.coordinates.len())) {
        return Err("a part of which only some triangles have points of a texture".to_owned());
    }
    match mesh.parts.iter().map(|part| part.triangles).sum::<usize>() {
        sum if sum == mesh.triangles.len() => Ok(()),
        sum => Err(format!("parts of {sum} triangles in a mesh of {}", mesh.triangles.len())),
    }
}
