//! Readers: a file each.

mod collada;
mod gltf;
mod msh;
mod obj;
mod stl;

use crate::error::MeshError;
use crate::mesh::Mesh;

/// The most triangles of a mesh.
pub const MOST_TRIANGLES: usize = 20_000_000;

/// A format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Stereolithography, binary or text.
    Stl,
    /// Wavefront.
    Obj,
    /// COLLADA 1.4 and 1.5.
    Collada,
    /// glTF 2.0, as text or in one binary file.
    Gltf,
    /// MuJoCo's own.
    Msh,
}

impl Format {
    /// The endings of names.
    pub const ENDINGS: &str = ".stl, .obj, .dae, .gltf, .glb, .msh";

    /// The format that the ending of a name tells, in any case of letters.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let (_, ending) = name.rsplit_once('.')?;
        Some(match ending.to_ascii_lowercase().as_str() {
            "stl" | "stla" | "stlb" => Self::Stl,
            "obj" => Self::Obj,
            "dae" => Self::Collada,
            "gltf" | "glb" => Self::Gltf,
            "msh" => Self::Msh,
            _ => return None,
        })
    }
}

/// Reads a mesh. `beside` gives the bytes of a file that this one names, by its name in the file.
///
/// O(bytes). Lengths are metres where the format states its unit (COLLADA, glTF), else in the unit
/// of the file. A glTF scene has y up and is turned by 90° about x, to z up; COLLADA's `up_axis` is
/// ignored, as robot viewers do. Vertices without a triangle are left out.
///
/// # Errors
/// [`MeshError`] if the name has no ending of a format, the bytes do not follow it, a coordinate is
/// not finite, or there is no triangle.
pub fn read(
    name: &str,
    bytes: &[u8],
    beside: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Mesh, MeshError> {
    let unknown = || MeshError::UnknownFormat { name: name.to_owned() };
    let mut mesh = match Format::of(name).ok_or_else(unknown)? {
        Format::Stl => stl::read(bytes)?,
        Format::Obj => obj::read(bytes, beside)?,
        Format::Collada => collada::read(bytes)?,
        Format::Gltf => gltf::read(bytes, beside)?,
        Format::Msh => msh::read(bytes)?,
    };
    if mesh.triangles.is_empty() {
        return Err(MeshError::Empty);
    }
    if !mesh.is_finite() {
        return Err(MeshError::malformed("a coordinate is not a finite number"));
    }
    mesh.leave_out_unused();
    Ok(mesh)
}

/// Cuts a polygon into triangles that share its first corner.
fn fan<C: Copy>(corners: &[C]) -> impl Iterator<Item = [C; 3]> {
    let pairs = corners.windows(2).skip(1);
    pairs.map(|pair| [corners[0], pair[0], pair[1]])
}

/// The triangles of a strip, of which every other one turns the other way.
fn strip<C: Copy>(corners: &[C]) -> impl Iterator<Item = [C; 3]> {
    let three = corners.windows(3).enumerate();
    three.map(|(k, c)| if k % 2 == 0 { [c[0], c[1], c[2]] } else { [c[1], c[0], c[2]] })
}

/// Refuses more triangles than a mesh may have.
fn bounded(triangles: usize) -> Result<(), MeshError> {
    if triangles > MOST_TRIANGLES { Err(MeshError::TooLarge) } else { Ok(()) }
}
