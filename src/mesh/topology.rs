//! Whether triangles bound a solid.

use foldhash::{HashMap, HashMapExt as _};

use crate::mesh::Mesh;

/// What a surface is made of, and what keeps it from bounding a solid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Triangles whose corners lie on a line, up to rounding.
    pub degenerate: usize,
    /// Edges that have no triangle on their other side.
    pub open: usize,
    /// Edges with more than two triangles, or two that run the same way round.
    pub tangled: usize,
}

impl Topology {
    /// Looks at every edge. Vertices of equal coordinates count as one. O(triangles).
    #[must_use]
    pub fn of(mesh: &Mesh) -> Self {
        // One number for each place.
        let mut places: HashMap<[u64; 3], u32> = HashMap::new();
        let of_vertex: Vec<u32> = (mesh.vertices.iter())
            .map(|v| {
                let next = places.len() as u32;
                *places.entry([v.x, v.y, v.z].map(|x| (x + 0.0).to_bits())).or_insert(next)
            })
            .collect();
        let mut found = Self::default();
        // Edge, smaller end first → how often it runs up and down.
        let mut edges: HashMap<[u32; 2], [u32; 2]> = HashMap::new();
        for (k, triangle) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = mesh.corners(k);
            let (area, longest) = ((b - a).cross(&(c - a)).norm(), {
                let edges = [(b - a).norm(), (c - b).norm(), (a - c).norm()];
                edges.into_iter().fold(0.0, f64::max)
            });
            if area <= 1e-12 * longest * longest {
                found.degenerate += 1;
            }
            let corners = triangle.map(|i| of_vertex[i as usize]);
            for (from, to) in [(0, 1), (1, 2), (2, 0)] {
                let (from, to) = (corners[from], corners[to]);
                if from != to {
                    let both = edges.entry([from.min(to), from.max(to)]).or_default();
                    both[usize::from(from > to)] += 1;
                }
            }
        }
        // A count does not depend on the order of the map.
        #[expect(clippy::iter_over_hash_type, reason = "sums of whole numbers have no order")]
        for [up, down] in edges.values() {
            match (up, down) {
                (1, 1) => {}
                (1, 0) | (0, 1) => found.open += 1,
                _ => found.tangled += 1,
            }
        }
        found
    }

    /// Whether the surface has an inside: every edge has two triangles, which run round alike.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.open == 0 && self.tangled == 0
    }
}
