//! A surface of triangles.

use std::collections::HashMap;

use legwork_mesh::{Mesh, Topology};
use nalgebra::{Matrix3, Vector3};
use thiserror::Error;

use crate::collision::{Facet, bends_down};
use crate::surface::Distance;

/// Sine of its smallest angle below which a triangle is a line.
const LINE: f64 = 1e-12;
/// Part of its size by which a point may be beyond a face or an edge and still belong to it, so
/// that no point falls between two.
const BESIDE: f64 = 1e-11;
/// The same of two distances, of which the face's counts before the edge's and the corner's.
const ALIKE: f64 = 1e-12;
/// Triangles of a leaf of the tree, at most.
const LEAF: usize = 4;
/// Depth of the tree, at most: each level halves the triangles, of which there are less than 2³².
const DEPTH: usize = 40;

/// Triangles that bound the ground, counter-clockwise seen from outside: a closed surface, or a
/// sheet, below which the ground is and beyond whose border there is none.
///
/// Distances are those to the nearest point of a face, an edge or a corner. They are negative where
/// that point is seen from behind, as the normal of the face or the mean normal of the faces around
/// tells, each weighted by its angle (J. Bærentzen, H. Aanæs, *Signed distance computation using
/// the angle weighted pseudonormal*, 2005). A point whose nearest point is on the border of a sheet
/// is outside.
#[doc(alias("mesh", "pseudonormal", "BVH"))]
#[derive(Clone, Debug, PartialEq)]
pub struct TriangleMesh {
    corners: Vec<Corner>,
    edges: Vec<Edge>,
    /// In the order of the tree.
    faces: Vec<Face>,
    /// Each node in front of its first child.
    tree: Vec<Node>,
}

/// Why triangles are no ground.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TriangleMeshError {
    /// Which side is the inside is not known.
    #[error(
        "expected triangles that run the same way round on both sides of each edge, \
         found {edges} edges where they do not, or with more than two triangles"
    )]
    Tangled {
        /// How many such edges there are.
        edges: usize,
    },
    /// All triangles are lines, or there is none.
    #[error("expected triangles, found none that has an area")]
    Empty,
    /// Coordinates that no ground has, and whose products may be no numbers.
    #[error("expected coordinates of at most {LARGEST:e} m, found larger ones")]
    TooLarge,
}

/// The largest coordinate [m].
const LARGEST: f64 = 1e12;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Corner {
    at: Vector3<f64>,
    /// Mean normal of the faces around, of any length.
    normal: Vector3<f64>,
    is_border: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Edge {
    /// Mean normal of its faces, of any length.
    normal: Vector3<f64>,
    is_border: bool,
    /// Whether one of its faces bends down behind it, or there is only one.
    is_sharp: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Face {
    corners: [u32; 3],
    /// From each corner to the next.
    edges: [u32; 3],
    /// Unit normal outwards.
    normal: Vector3<f64>,
}

/// A box around triangles: a leaf with faces, or a node with two children.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    low: Vector3<f64>,
    high: Vector3<f64>,
    /// Of a leaf the first face; else the second child.
    first: u32,
    /// Number of faces of a leaf; 0 else.
    count: u32,
}

/// What a nearest point is on.
#[derive(Clone, Copy)]
enum Part {
    Face(u32),
    Edge { edge: u32, along: Vector3<f64> },
    Corner(u32),
}

impl Part {
    /// Of two that are as near the less counts.
    fn rank(&self) -> u8 {
        match self {
            Self::Face(_) => 0,
            Self::Edge { .. } => 1,
            Self::Corner(_) => 2,
        }
    }
}

/// The nearest point of a triangle.
#[derive(Clone, Copy)]
struct Nearest {
    at: Vector3<f64>,
    distance: f64,
    part: Part,
}

impl TriangleMesh {
    /// The surface of a mesh. Vertices of equal coordinates are one; triangles that are lines are
    /// left out. O(n log n).
    ///
    /// # Errors
    /// If the triangles do not tell which side is the inside, none has an area, or a vertex is
    /// beyond 10¹² m.
    pub fn new(mesh: &Mesh) -> Result<Self, TriangleMeshError> {
        if !mesh.vertices.iter().flat_map(Vector3::iter).all(|x| x.abs() <= LARGEST) {
            return Err(TriangleMeshError::TooLarge);
        }
        let mut mesh = mesh.clone();
        mesh.triangles.retain(|t| normal(&t.map(|i| mesh.vertices[i as usize])).is_some());
        let tangled = Topology::of(&mesh).tangled;
        if tangled > 0 {
            return Err(TriangleMeshError::Tangled { edges: tangled });
        }
        let mut surface =
            Self { corners: Vec::new(), edges: Vec::new(), faces: Vec::new(), tree: Vec::new() };
        let (mut places, mut sides) = (HashMap::new(), HashMap::new());
        for k in 0..mesh.triangles.len() {
            surface.add(&mesh.corners(k), &mut places, &mut sides);
        }
        if surface.faces.is_empty() {
            return Err(TriangleMeshError::Empty);
        }
        for face in &surface.faces {
            for k in 0..3 {
                if surface.edges[face.edges[k] as usize].is_border {
                    for corner in [face.corners[k], face.corners[(k + 1) % 3]] {
                        surface.corners[corner as usize].is_border = true;
                    }
                }
            }
        }
        let mut order: Vec<(Vector3<f64>, u32)> = (surface.faces.iter().zip(0..))
            .map(|(face, index)| (surface.corners_of(face).iter().sum::<Vector3<f64>>(), index))
            .collect();
        surface.grow(&mut order, 0);
        surface.faces = order.iter().map(|(_, index)| surface.faces[*index as usize]).collect();
        Ok(surface)
    }

    fn add(
        &mut self,
        triangle: &[Vector3<f64>; 3],
        places: &mut HashMap<[u64; 3], u32>,
        sides: &mut HashMap<[u32; 2], u32>,
    ) {
        let Some(normal) = normal(triangle) else { return };
        let corners = triangle.map(|at| {
            let next = self.corners.len() as u32;
            // 0 and −0 are one.
            let index =
                *places.entry([at.x, at.y, at.z].map(|x| (x + 0.0).to_bits())).or_insert(next);
            if index == next {
                self.corners.push(Corner { at, normal: Vector3::zeros(), is_border: false });
            }
            index
        });
        let edges = [0, 1, 2].map(|k: usize| {
            let [before, here, after] = [k + 2, k, k + 1].map(|i| corners[i % 3]);
            let [p, q, r] = [before, here, after].map(|i| self.corners[i as usize].at);
            let (u, w) = (p - q, r - q);
            let angle = libm::atan2(u.cross(&w).norm(), u.dot(&w));
            self.corners[here as usize].normal += normal * angle;
            let next = self.edges.len() as u32;
            let edge = *sides.entry([here.min(after), here.max(after)]).or_insert(next);
            if edge == next {
                // Until a second face has it.
                self.edges.push(Edge { normal, is_border: true, is_sharp: true });
            } else {
                let edge = &mut self.edges[edge as usize];
                // Seen from the first face, by the third corner of this one.
                edge.is_sharp = bends_down(&edge.normal, &(p - q));
                edge.normal += normal;
                edge.is_border = false;
            }
            edge
        });
        self.faces.push(Face { corners, edges, normal });
    }

    fn corners_of(&self, face: &Face) -> [Vector3<f64>; 3] {
        face.corners.map(|i| self.corners[i as usize].at)
    }

    /// Adds the node of some faces, which are at `first` in the order, and all below it.
    fn grow(&mut self, order: &mut [(Vector3<f64>, u32)], first: u32) {
        let (mut low, mut high) = (Vector3::repeat(f64::MAX), Vector3::repeat(f64::MIN));
        for (_, face) in order.iter() {
            for corner in self.corners_of(&self.faces[*face as usize]) {
                (low, high) = (low.inf(&corner), high.sup(&corner));
            }
        }
        let node = self.tree.len();
        self.tree.push(Node { low, high, first, count: order.len() as u32 });
        if order.len() <= LEAF {
            return;
        }
        let axis = (high - low).iamax();
        let half = order.len() / 2;
        order.select_nth_unstable_by(half, |(a, i), (b, j)| {
            a[axis].total_cmp(&b[axis]).then(i.cmp(j))
        });
        let (left, right) = order.split_at_mut(half);
        self.grow(left, first);
        let second = self.tree.len() as u32;
        self.grow(right, first + half as u32);
        (self.tree[node].first, self.tree[node].count) = (second, 0);
    }

    /// The corners of all triangles, counter-clockwise seen from outside.
    pub fn triangles(&self) -> impl Iterator<Item = [Vector3<f64>; 3]> {
        self.faces.iter().map(|face| self.corners_of(face))
    }

    /// Calls `f` with all triangles whose bounds meet a box, and their numbers. O(log n + k) where
    /// there are k.
    pub(crate) fn for_each_facet(
        &self,
        low: &Vector3<f64>,
        high: &Vector3<f64>,
        mut f: impl FnMut(u64, &Facet),
    ) {
        let mut open = [0_u32; DEPTH];
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let index = open[count];
            let node = &self.tree[index as usize];
            if (0..3).any(|k| node.low[k] > high[k] || node.high[k] < low[k]) {
                continue;
            }
            if node.count == 0 {
                (open[count], open[count + 1]) = (node.first, index + 1);
                count += 2;
            }
            for number in node.first..node.first + node.count {
                let face = &self.faces[number as usize];
                let is_sharp = face.edges.map(|edge| self.edges[edge as usize].is_sharp);
                f(u64::from(number), &Facet { corners: self.corners_of(face), is_sharp });
            }
        }
    }

    /// One more than the largest number of a triangle.
    pub(crate) fn facet_count(&self) -> u64 {
        self.faces.len() as u64
    }

    /// Signed distance, normal and curvature at a point. O(log n) near the surface.
    pub(crate) fn at(&self, point: &Vector3<f64>) -> Distance {
        let Nearest { at, distance, part } = self.nearest(point);
        let apart = point - at;
        let (outwards, is_border, along) = match part {
            Part::Face(face) => {
                let face = &self.faces[face as usize];
                let on = self.corners[face.corners[0] as usize].at;
                return Distance {
                    distance: face.normal.dot(&(point - on)),
                    normal: face.normal,
                    curvature: Matrix3::zeros(),
                };
            }
            Part::Edge { edge, along } => {
                let Edge { normal, is_border, .. } = self.edges[edge as usize];
                (normal, is_border, along * along.transpose())
            }
            Part::Corner(corner) => {
                let Corner { normal, is_border, .. } = self.corners[corner as usize];
                (normal, is_border, Matrix3::zeros())
            }
        };
        let is_inside = apart.dot(&outwards) < 0.0 && !is_border;
        let signed = if is_inside { -distance } else { distance };
        if distance <= ALIKE * at.amax() {
            // On it: what is left of the difference has no direction.
            let normal = outwards.try_normalize(f64::MIN_POSITIVE).unwrap_or_else(Vector3::z);
            return Distance { distance: signed, normal, curvature: Matrix3::zeros() };
        }
        let normal = apart / signed;
        let curvature = (Matrix3::identity() - normal * normal.transpose() - along) / signed;
        Distance { distance: signed, normal, curvature }
    }

    fn nearest(&self, point: &Vector3<f64>) -> Nearest {
        let corner = self.faces[0].corners[0];
        let at = self.corners[corner as usize].at;
        let mut best = Nearest { at, distance: f64::INFINITY, part: Part::Corner(corner) };
        // Nodes to look at, with their distances.
        let mut open = [(0_u32, 0.0); DEPTH];
        let mut count = 1;
        let slack = 1.0 + ALIKE;
        while count > 0 {
            count -= 1;
            let (index, away) = open[count];
            if away > best.distance * slack {
                continue;
            }
            let node = &self.tree[index as usize];
            if node.count > 0 {
                for face in node.first..node.first + node.count {
                    let found = self.nearest_of(face, point);
                    let alike = ALIKE * (best.distance + point.amax());
                    let is_nearer = found.distance < best.distance - alike;
                    let is_better = found.part.rank() < best.part.rank()
                        && found.distance <= best.distance + alike;
                    if is_nearer || is_better || best.distance == f64::INFINITY {
                        best = found;
                    }
                }
                continue;
            }
            let children = [index + 1, node.first].map(|child| {
                let Node { low, high, .. } = &self.tree[child as usize];
                (child, (point - point.sup(low).inf(high)).norm())
            });
            // The nearer one first, which is the last of the list.
            let [one, other] = children;
            let both = if one.1 <= other.1 { [other, one] } else { [one, other] };
            for child in both {
                open[count] = child;
                count += 1;
            }
        }
        best
    }

    fn nearest_of(&self, index: u32, point: &Vector3<f64>) -> Nearest {
        let face = &self.faces[index as usize];
        let x = self.corners_of(face);
        // How far the point is inside of each edge, in the plane, times the edge's length.
        let inside = [0, 1, 2].map(|k: usize| {
            let edge = x[(k + 1) % 3] - x[k];
            (face.normal.cross(&edge).dot(&(point - x[k])), edge)
        });
        if inside.iter().all(|(inside, edge)| *inside >= -BESIDE * edge.norm_squared()) {
            let height = face.normal.dot(&(point - x[0]));
            let at = point - face.normal * height;
            return Nearest { at, distance: height.abs(), part: Part::Face(index) };
        }
        let mut best: Option<Nearest> = None;
        for (k, (inside, edge)) in inside.iter().enumerate() {
            if *inside > 0.0 {
                continue;
            }
            let share = edge.dot(&(point - x[k])) / edge.norm_squared();
            let (at, part) = if share < -BESIDE {
                (x[k], Part::Corner(face.corners[k]))
            } else if share > 1.0 + BESIDE {
                (x[(k + 1) % 3], Part::Corner(face.corners[(k + 1) % 3]))
            } else {
                (x[k] + edge * share, Part::Edge { edge: face.edges[k], along: edge.normalize() })
            };
            let distance = (point - at).norm();
            if best.is_none_or(|known| distance < known.distance) {
                best = Some(Nearest { at, distance, part });
            }
        }
        // A point that is outside is so of one edge at least.
        best.unwrap_or(Nearest {
            at: x[0],
            distance: (point - x[0]).norm(),
            part: Part::Corner(face.corners[0]),
        })
    }
}

/// The unit normal of a triangle; none of a line.
fn normal([a, b, c]: &[Vector3<f64>; 3]) -> Option<Vector3<f64>> {
    let longest = [b - a, c - b, a - c].iter().map(Vector3::norm).fold(0.0, f64::max);
    (b - a).cross(&(c - a)).try_normalize(LINE * longest * longest)
}

#[cfg(test)]
mod tests;
