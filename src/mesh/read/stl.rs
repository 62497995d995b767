//! STL: triangles without neighbours, binary or as text.

use foldhash::HashMap;
use nalgebra::Vector3;

use super::{MOST_TRIANGLES, bounded};
use crate::error::MeshError;
use crate::mesh::{Material, Mesh};

/// Bytes before the number of triangles.
const HEADER: usize = 80;
/// A normal, three corners, an attribute.
const TRIANGLE: usize = 50;

/// Reads either form. Binary files may begin with `solid` too: what tells is their length.
pub(super) fn read(bytes: &[u8]) -> Result<Mesh, MeshError> {
    match count(bytes) {
        Some(triangles) if bytes.len() - HEADER - 4 >= triangles.saturating_mul(TRIANGLE) => {
            let is_text = triangles == 0 && starts_as_text(bytes);
            if is_text { text(bytes) } else { binary(bytes, triangles) }
        }
        _ if starts_as_text(bytes) => text(bytes),
        Some(triangles) => Err(MeshError::malformed(format!(
            "the header announces {triangles} triangles, {} bytes; {} follow",
            triangles.saturating_mul(TRIANGLE),
            bytes.len() - HEADER - 4
        ))),
        None => Err(MeshError::malformed(format!(
            "expected `solid` or a binary header of 84 bytes, found {} bytes",
            bytes.len()
        ))),
    }
}

/// Whether it begins as a text does; binary headers that begin so have zeros in their numbers.
fn starts_as_text(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"solid") && !bytes.iter().take(1000).any(|b| *b == 0)
}

/// The number of triangles that a binary file announces.
fn count(bytes: &[u8]) -> Option<usize> {
    let field = bytes.get(HEADER..HEADER + 4)?;
    Some(u32::from_le_bytes(field.try_into().ok()?) as usize)
}

/// Makes one vertex of all corners of equal coordinates.
#[derive(Default)]
struct Weld {
    mesh: Mesh,
    /// By the bits of x, y and z. A tuple is hashed number by number, an array byte by byte.
    known: HashMap<(u64, u64, u64), u32>,
}

impl Weld {
    /// For about so many triangles: a closed surface has half as many vertices.
    fn new(triangles: usize) -> Self {
        let mut weld = Self::default();
        weld.mesh.triangles.reserve(triangles);
        weld.mesh.vertices.reserve(triangles / 2);
        weld.known.reserve(triangles / 2);
        weld
    }

    fn add(&mut self, corners: [[f64; 3]; 3]) -> Result<(), MeshError> {
        bounded(self.mesh.triangles.len() + 1)?;
        let triangle = corners.map(|corner| {
            // −0 and 0 are one place.
            let [x, y, z] = corner.map(|x| (x + 0.0).to_bits());
            let next = self.mesh.vertices.len() as u32;
            *self.known.entry((x, y, z)).or_insert_with(|| {
                self.mesh.vertices.push(Vector3::from(corner));
                next
            })
        });
        self.mesh.triangles.push(triangle);
        Ok(())
    }

    fn done(mut self) -> Mesh {
        let triangles = self.mesh.triangles.len();
        self.mesh.push_part(triangles, Material::default(), &[]);
        self.mesh
    }
}

fn binary(bytes: &[u8], triangles: usize) -> Result<Mesh, MeshError> {
    // The file has bytes for them all.
    let mut weld = Weld::new(triangles.min(MOST_TRIANGLES));
    for record in bytes[HEADER + 4..].chunks_exact(TRIANGLE).take(triangles) {
        let number = |at: usize| {
            let four = [record[at], record[at + 1], record[at + 2], record[at + 3]];
            f64::from(f32::from_le_bytes(four))
        };
        // Twelve bytes of normal come first.
        let corner = |k: usize| [0, 4, 8].map(|axis| number(12 + 12 * k + axis));
        weld.add([corner(0), corner(1), corner(2)])?;
    }
    Ok(weld.done())
}

fn text(bytes: &[u8]) -> Result<Mesh, MeshError> {
    let mut weld = Weld::default();
    let mut corners: Vec<[f64; 3]> = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let wrong = |message: String| MeshError::line(index + 1, message);
        // Names of solids may be in any encoding.
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_ascii_whitespace();
        match words.next().unwrap_or("") {
            "vertex" => {
                let mut next = || words.next().and_then(|word| word.parse::<f64>().ok());
                match (next(), next(), next()) {
                    (Some(x), Some(y), Some(z)) => corners.push([x, y, z]),
                    _ => return Err(wrong("expected three numbers after `vertex`".to_owned())),
                }
            }
            "endloop" => match corners.as_slice() {
                [a, b, c] => {
                    weld.add([*a, *b, *c])?;
                    corners.clear();
                }
                more => {
                    let message = format!("expected a loop of 3 vertices, found {}", more.len());
                    return Err(wrong(message));
                }
            },
            "" | "solid" | "facet" | "outer" | "endfacet" | "endsolid" | "color" => {}
            // It may be any file, so that nothing of it is shown.
            _ => {
                let message = "expected a line of an STL text, such as `vertex`, found another";
                return Err(wrong(message.to_owned()));
            }
        }
    }
    if corners.is_empty() {
        Ok(weld.done())
    } else {
        Err(MeshError::malformed("the file ends inside a triangle"))
    }
}
