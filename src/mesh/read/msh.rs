//! MSH, MuJoCo's own: numbers of vertices, normals, texture coordinates and faces, then those lists.

use nalgebra::Vector3;

use super::bounded;
use crate::error::MeshError;
use crate::mesh::{Material, Mesh};

/// Bytes of a number, and of the four counts.
const NUMBER: usize = 4;
const HEADER: usize = 4 * NUMBER;

pub(super) fn read(bytes: &[u8]) -> Result<Mesh, MeshError> {
    let (head, lists) = bytes.split_at_checked(HEADER).ok_or_else(|| {
        MeshError::malformed(format!("expected a header of 16 bytes, found {}", bytes.len()))
    })?;
    let mut counts = [0; 4];
    for (count, number) in counts.iter_mut().zip(numbers(head)) {
        let found = i32::from_le_bytes(number);
        *count = usize::try_from(found)
            .map_err(|_| MeshError::malformed(format!("expected a count, found {found}")))?;
    }
    let [vertices, normals, coordinates, faces] = counts;
    bounded(faces)?;
    // Counts have 31 bits, so that no sum leaves 64.
    let lists_of = [(vertices, 3), (normals, 3), (coordinates, 2), (faces, 3)];
    let announced: u64 = lists_of.iter().map(|(n, each)| *n as u64 * each * NUMBER as u64).sum();
    if lists.len() as u64 != announced {
        let found = lists.len();
        let message = format!("the header announces {announced} bytes; {found} follow");
        return Err(MeshError::malformed(message));
    }
    let points = &lists[..3 * NUMBER * vertices];
    let corners = &lists[lists.len() - 3 * NUMBER * faces..];
    let coordinates: Vec<f64> =
        numbers(points).map(|number| f64::from(f32::from_le_bytes(number))).collect();
    let indices = numbers(corners).map(|number| {
        let index = i32::from_le_bytes(number);
        let known = u32::try_from(index).ok().filter(|index| (*index as usize) < vertices);
        known.ok_or_else(|| MeshError::malformed(format!("vertex {index} is not among {vertices}")))
    });
    let indices = indices.collect::<Result<Vec<u32>, MeshError>>()?;
    let mut mesh = Mesh {
        vertices: coordinates.chunks_exact(3).map(Vector3::from_column_slice).collect(),
        triangles: indices.chunks_exact(3).map(|three| [three[0], three[1], three[2]]).collect(),
        parts: Vec::new(),
    };
    mesh.push_part(faces, Material::default(), &[]);
    Ok(mesh)
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = [u8; NUMBER]> {
    bytes.chunks_exact(NUMBER).map(|four| [four[0], four[1], four[2], four[3]])
}
