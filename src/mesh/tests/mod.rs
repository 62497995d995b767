//! Laws of readers, solids and hulls.

mod hulls;
mod readers;
mod solids;

use nalgebra::Vector3;

use crate::mesh::{Mesh, Part};

/// Numbers in [−1, 1), always the same (xorshift).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(super) fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.unit(), self.unit(), self.unit())
    }
}

/// A cuboid between two corners, as 12 triangles.
pub(super) fn cuboid(low: [f64; 3], high: [f64; 3]) -> Mesh {
    let corner = |k: usize| {
        let pick = |axis: usize| if k >> axis & 1 == 0 { low[axis] } else { high[axis] };
        Vector3::new(pick(0), pick(1), pick(2))
    };
    // Counter-clockwise seen from outside.
    let sides =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = sides.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    Mesh {
        vertices: (0..8).map(corner).collect(),
        triangles,
        parts: vec![Part { triangles: 12, ..Part::default() }],
    }
}

/// A ball of radius 1 about the origin: an octahedron whose triangles are cut `times` in four.
pub(super) fn ball(times: usize) -> Mesh {
    let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
    let mut vertices: Vec<Vector3<f64>> = axes.iter().flat_map(|axis| [*axis, -axis]).collect();
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for k in 0..8_u32 {
        let corner = |axis: u32| 2 * axis + (k >> axis & 1);
        let [a, b, c] = [corner(0), corner(1), corner(2)];
        triangles.push(if k.count_ones() % 2 == 0 { [a, b, c] } else { [a, c, b] });
    }
    for _ in 0..times {
        let mut middles = std::collections::BTreeMap::new();
        let mut next = Vec::new();
        for [a, b, c] in triangles {
            let mut middle = |i: u32, j: u32| {
                *middles.entry([i.min(j), i.max(j)]).or_insert_with(|| {
                    let sum = vertices[i as usize] + vertices[j as usize];
                    vertices.push(sum.normalize());
                    vertices.len() as u32 - 1
                })
            };
            let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
            next.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        triangles = next;
    }
    let parts = vec![Part { triangles: triangles.len(), ..Part::default() }];
    Mesh { vertices, triangles, parts }
}
