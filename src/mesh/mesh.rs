//! A triangle mesh.

use std::ops::Range;
use std::sync::Arc;

use nalgebra::{Matrix4, Point3, Vector3};

/// Triangles over shared vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// In the units of the file, metres for formats that state theirs. All finite.
    pub vertices: Vec<Vector3<f64>>,
    /// Counter-clockwise seen from outside, by index of vertex. All indices are those of vertices.
    pub triangles: Vec<[u32; 3]>,
    /// Stretches of triangles with one material each, in order, which make up all triangles.
    pub parts: Vec<Part>,
}

/// Triangles of one material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// How many triangles, from where the part before ends.
    pub triangles: usize,
    /// How they look.
    pub material: Material,
    /// Where the corners of each triangle lie in the texture: u from its left edge to the right,
    /// v from its lower edge to the upper, both from 0 to 1, repeated beyond. Empty if there is
    /// no texture or the file does not say where.
    pub coordinates: Vec<[[f32; 2]; 3]>,
}

/// How a surface looks, as far as the file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Material {
    /// Red, green, blue, opacity, from 0 to 1.
    pub color: Option<[f64; 4]>,
    /// A picture on it.
    pub texture: Option<Texture>,
}

/// A picture, encoded.
#[derive(Clone, Debug, PartialEq)]
pub enum Texture {
    /// In a file of its own, by the name that the mesh file has for it.
    File(String),
    /// Some of the bytes of the mesh file.
    Inside(Arc<[u8]>, Range<usize>),
}

/// Triangles of one material, over the vertices of one geometry.
pub(crate) struct Stretch<'s> {
    pub(crate) material: Material,
    pub(crate) triangles: &'s [[u32; 3]],
    /// As those of a [`Part`].
    pub(crate) coordinates: &'s [[[f32; 2]; 3]],
}

impl Mesh {
    /// Corners of triangle `k`.
    ///
    /// # Panics
    /// If there is no such triangle.
    #[must_use]
    pub fn corners(&self, k: usize) -> [Vector3<f64>; 3] {
        self.triangles[k].map(|i| self.vertices[i as usize])
    }

    /// The least and the largest coordinates, of a mesh with vertices.
    #[must_use]
    pub fn bounds(&self) -> Option<[Vector3<f64>; 2]> {
        let first = *self.vertices.first()?;
        let grow = |[low, high]: [Vector3<f64>; 2], v: &Vector3<f64>| [low.inf(v), high.sup(v)];
        Some(self.vertices.iter().fold([first; 2], grow))
    }

    /// Scales along each axis. An odd number of negative factors mirrors: corners are turned round,
    /// so that they stay counter-clockwise from outside.
    pub fn scale(&mut self, factors: Vector3<f64>) {
        for vertex in &mut self.vertices {
            vertex.component_mul_assign(&factors);
        }
        if factors.iter().product::<f64>() < 0.0 {
            self.turn_round(0);
        }
    }

    /// Turns the corners of the triangles from `first` on round.
    fn turn_round(&mut self, first: usize) {
        for triangle in &mut self.triangles[first..] {
            triangle.swap(1, 2);
        }
        let mut start = 0;
        for part in &mut self.parts {
            let before = first.saturating_sub(start).min(part.coordinates.len());
            part.coordinates[before..].iter_mut().for_each(|corners| corners.swap(1, 2));
            start += part.triangles;
        }
    }

    /// Adds vertices and triangles over them, placed by a matrix; a mirror turns corners round.
    pub(crate) fn add(
        &mut self,
        vertices: &[Vector3<f64>],
        stretches: &[Stretch<'_>],
        placed: &Matrix4<f64>,
    ) {
        let (base, first) = (self.vertices.len() as u32, self.triangles.len());
        let place = |v: &Vector3<f64>| placed.transform_point(&Point3::from(*v)).coords;
        self.vertices.extend(vertices.iter().map(place));
        for Stretch { material, triangles, coordinates } in stretches {
            self.triangles.extend(triangles.iter().map(|corners| corners.map(|i| base + i)));
            self.push_part(triangles.len(), material.clone(), coordinates);
        }
        if placed.fixed_view::<3, 3>(0, 0).determinant() < 0.0 {
            self.turn_round(first);
        }
    }

    /// Says how the triangles behind those of the parts before look.
    pub(crate) fn push_part(
        &mut self,
        triangles: usize,
        material: Material,
        coordinates: &[[[f32; 2]; 3]],
    ) {
        let is_placed = material.texture.is_some() && coordinates.len() == triangles;
        let coordinates = if is_placed { coordinates } else { &[] };
        match self.parts.last_mut() {
            _ if triangles == 0 => {}
            Some(last) if last.material == material && last.coordinates.is_empty() != is_placed => {
                last.triangles += triangles;
                last.coordinates.extend_from_slice(coordinates);
            }
            _ => {
                let coordinates = coordinates.to_vec();
                self.parts.push(Part { triangles, material, coordinates });
            }
        }
    }

    /// Leaves out vertices that no triangle has.
    pub(crate) fn leave_out_unused(&mut self) {
        let mut new = vec![u32::MAX; self.vertices.len()];
        for index in self.triangles.iter().flatten() {
            new[*index as usize] = 0;
        }
        let mut count = 0;
        self.vertices = (self.vertices.iter().zip(&mut new))
            .filter(|(_, new)| **new == 0)
            .map(|(vertex, new)| {
                *new = count;
                count += 1;
                *vertex
            })
            .collect();
        for index in self.triangles.iter_mut().flatten() {
            *index = new[*index as usize];
        }
    }

    /// Whether all coordinates are numbers.
    pub(crate) fn is_finite(&self) -> bool {
        self.vertices.iter().all(|v| v.iter().all(|x| x.is_finite()))
    }
}
