//! Wavefront OBJ: vertices, polygons, materials by name.

use std::collections::BTreeMap;

use nalgebra::Vector3;

use super::{bounded, fan};
use crate::error::MeshError;
use crate::mesh::{Material, Mesh, Texture};

/// Reads vertices and faces; of its libraries of materials the colours and textures. A library that
/// cannot be read leaves its materials without.
pub(super) fn read(
    bytes: &[u8],
    beside: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Mesh, MeshError> {
    let mut mesh = Mesh::default();
    let mut known: BTreeMap<String, Material> = BTreeMap::new();
    let (mut material, mut counted) = (Material::default(), 0);
    let mut corners: Vec<Corner> = Vec::new();
    // Points of textures, and those of the triangles since the last `usemtl`.
    let (mut points, mut coordinates) = (Vec::new(), Vec::new());
    for (number, line) in lines(bytes) {
        let (word, rest) = split(&line);
        match word {
            "v" => mesh.vertices.push(vertex(number, rest)?),
            "vt" => points.push(point(rest)),
            "f" => {
                corners.clear();
                for corner in rest.split_ascii_whitespace() {
                    corners.push(Corner::read(number, corner, mesh.vertices.len(), &points)?);
                }
                if corners.len() < 3 {
                    let message = format!("expected 3 corners or more, found {}", corners.len());
                    return Err(MeshError::line(number, message));
                }
                for triangle in fan(&corners) {
                    mesh.triangles.push(triangle.map(|corner| corner.vertex));
                    if material.texture.is_some()
                        && let [Some(a), Some(b), Some(c)] = triangle.map(|corner| corner.point)
                    {
                        coordinates.push([a, b, c]);
                    }
                }
                bounded(mesh.triangles.len())?;
            }
            "usemtl" => {
                mesh.push_part(mesh.triangles.len() - counted, material, &coordinates);
                counted = mesh.triangles.len();
                coordinates.clear();
                material = known.get(rest.trim()).cloned().unwrap_or_default();
            }
            "mtllib" => {
                if let Ok(library) = beside(rest.trim()) {
                    materials(&library, &mut known);
                }
            }
            _ => {}
        }
    }
    mesh.push_part(mesh.triangles.len() - counted, material, &coordinates);
    Ok(mesh)
}

/// A corner of a face.
#[derive(Clone, Copy)]
struct Corner {
    vertex: u32,
    /// Where it lies in a texture, if the file says so.
    point: Option<[f32; 2]>,
}

impl Corner {
    /// A corner `v`, `v/vt`, `v//vn` or `v/vt/vn`.
    fn read(
        line: usize,
        corner: &str,
        vertices: usize,
        points: &[Option<[f32; 2]>],
    ) -> Result<Self, MeshError> {
        let mut parts = corner.split('/');
        let vertex = index(line, parts.next().unwrap_or(""), vertices)?;
        // A mistake in what is only looked at leaves the surface without a picture.
        let of_point = parts.next().and_then(|point| position(point, points.len()));
        Ok(Self { vertex, point: of_point.and_then(|k| points[k as usize]) })
    }
}

/// Lines with their numbers, without comments; a `\` at the end of one joins it to the next.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, String)> {
    let mut rest = bytes.split(|byte| *byte == b'\n').enumerate();
    std::iter::from_fn(move || {
        let (index, first) = rest.next()?;
        let mut line = String::from_utf8_lossy(first).trim_end().to_owned();
        while line.ends_with('\\') {
            line.pop();
            let Some((_, more)) = rest.next() else { break };
            line.push_str(String::from_utf8_lossy(more).trim_end());
        }
        if let Some(comment) = line.find('#') {
            line.truncate(comment);
        }
        Some((index + 1, line))
    })
}

fn split(line: &str) -> (&str, &str) {
    let line = line.trim_start();
    line.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((line, ""))
}

fn vertex(line: usize, rest: &str) -> Result<Vector3<f64>, MeshError> {
    let mut numbers = rest.split_ascii_whitespace().map(str::parse::<f64>);
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(Ok(x)), Some(Ok(y)), Some(Ok(z))) => Ok(Vector3::new(x, y, z)),
        _ => Err(MeshError::line(line, "expected three numbers after `v`")),
    }
}

/// The point `u v` of a texture, if both are numbers.
fn point(rest: &str) -> Option<[f32; 2]> {
    let mut numbers = rest.split_ascii_whitespace().map(str::parse::<f32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(u)), Some(Ok(v))) if u.is_finite() && v.is_finite() => Some([u, v]),
        _ => None,
    }
}

/// A vertex, by its number in the file.
fn index(line: usize, word: &str, vertices: usize) -> Result<u32, MeshError> {
    position(word, vertices).ok_or_else(|| {
        // What is no number may be of any file, so that it is not shown.
        let found = word.parse::<i64>().map_or("another word".to_owned(), |n| format!("`{n}`"));
        let message = format!("expected the number of a vertex among {vertices}, found {found}");
        MeshError::line(line, message)
    })
}

/// Index in a list of this length by the number that a file has for it, which counts from 1, or
/// from the end if it is negative.
fn position(word: &str, length: usize) -> Option<u32> {
    let number: i64 = word.parse().ok()?;
    let from_start =
        if number < 0 { number.checked_add(length as i64)? } else { number.checked_sub(1)? };
    u32::try_from(from_start).ok().filter(|index| (*index as usize) < length)
}

/// Colours (`Kd`, `d`, `Tr`) and textures (`map_Kd`) of a library.
fn materials(library: &[u8], known: &mut BTreeMap<String, Material>) {
    let mut name: Option<String> = None;
    for (_, line) in lines(library) {
        let (word, rest) = split(&line);
        if word == "newmtl" {
            name = Some(rest.trim().to_owned());
            known.insert(rest.trim().to_owned(), Material::default());
        }
        let Some(material) = name.as_ref().and_then(|name| known.get_mut(name)) else { continue };
        let mut numbers = rest.split_ascii_whitespace().map_while(|word| word.parse::<f64>().ok());
        let color = material.color.get_or_insert([1.0; 4]);
        match (word, numbers.next()) {
            ("Kd", Some(red)) => {
                let green = numbers.next().unwrap_or(red);
                let blue = numbers.next().unwrap_or(red);
                color[..3].copy_from_slice(&[red, green, blue]);
            }
            ("d", Some(opacity)) => color[3] = opacity,
            ("Tr", Some(transparency)) => color[3] = 1.0 - transparency,
            ("map_Kd", _) => {
                let file = rest.split_ascii_whitespace().last();
                material.texture = file.map(|file| Texture::File(file.to_owned()));
            }
            _ => {}
        }
    }
}
