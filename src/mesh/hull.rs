//! Convex hulls, whole or of few vertices.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use foldhash::HashMap;
use nalgebra::Vector3;
use robust::{Coord3D, orient3d};

use crate::mesh::Mesh;

/// The convex hull of points: a closed surface of triangles.
#[derive(Clone, Debug, PartialEq)]
pub struct Hull {
    /// Its corners.
    pub vertices: Vec<Vector3<f64>>,
    /// Counter-clockwise seen from outside, by index of corner.
    pub triangles: Vec<[u32; 3]>,
    /// How far the point that is farthest outside lies beyond the plane of a face [m]; 0 for a
    /// whole hull.
    pub miss: f64,
}

/// Why points have no hull with an inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HullError {
    /// They all lie in a plane.
    #[error("all its points lie in a plane")]
    Flat,
    /// They all lie on a line, or in one place.
    #[error("all its points lie on a line")]
    Thin,
}

/// None of a triangle's neighbours yet.
const NONE: usize = usize::MAX;

/// A face while the hull grows.
struct Face {
    corners: [u32; 3],
    /// Over the edge from corner k to corner k + 1.
    neighbors: [usize; 3],
    /// The product of two edges, outwards; its length is twice the area.
    product: Vector3<f64>,
    /// How far rounding can take `product · (p − corner)` from its value, for every point p.
    doubt: f64,
    /// Unit vector outwards.
    normal: Vector3<f64>,
    /// Points that see it, and those alone.
    outside: Vec<u32>,
    /// The farthest of them, and how far it is.
    farthest: Option<(u32, f64)>,
    is_alive: bool,
}

impl Hull {
    /// The hull of these points.
    ///
    /// Quickhull (C. B. Barber et al. 1996) with exact predicates (J. R. Shewchuk 1997): whether a
    /// point sees a face is decided without rounding, so the surface is closed and convex whatever
    /// the points. Points on a face are no corners. O(n log n) but for contrived points.
    ///
    /// # Errors
    /// [`HullError`] if the points have no volume.
    pub fn new(points: &[Vector3<f64>]) -> Result<Self, HullError> {
        Self::of_at_most(points, usize::MAX)
    }

    /// The hull of at most `most` of these points, at least 4: those that lie farthest outside the
    /// hull of the ones before. `miss` says what is left out.
    ///
    /// # Errors
    /// [`HullError`] if the points have no volume.
    pub fn of_at_most(points: &[Vector3<f64>], most: usize) -> Result<Self, HullError> {
        let mut growing = Growing::new(points)?;
        let mut corners = 4;
        while corners < most
            && let Some(face) = growing.next_face()
        {
            growing.add(face);
            corners += 1;
        }
        Ok(growing.done())
    }

    /// The hull of a mesh.
    ///
    /// # Errors
    /// [`HullError`] if it has no volume.
    pub fn of_mesh(mesh: &Mesh, most: usize) -> Result<Self, HullError> {
        Self::of_at_most(&mesh.vertices, most)
    }

    /// The hull as a mesh without material.
    #[must_use]
    pub fn to_mesh(&self) -> Mesh {
        let mut mesh = Mesh {
            vertices: self.vertices.clone(),
            triangles: self.triangles.clone(),
            parts: Vec::new(),
        };
        mesh.push_part(self.triangles.len(), crate::mesh::Material::default(), &[]);
        mesh
    }
}

struct Growing<'p> {
    points: &'p [Vector3<f64>],
    /// The largest distance of two points along an axis.
    extent: f64,
    faces: Vec<Face>,
    /// Faces with points outside, by the bits of the distance of the farthest; of equal ones the
    /// first comes first. Faces that are gone stay in it.
    waiting: BinaryHeap<(u64, Reverse<usize>)>,
}

fn coordinates(p: &Vector3<f64>) -> Coord3D<f64> {
    Coord3D { x: p.x, y: p.y, z: p.z }
}

/// The first of the points that are farthest, and how far it is; the first of all if none is far.
fn farthest(points: &[Vector3<f64>], distance: impl Fn(&Vector3<f64>) -> f64) -> (usize, f64) {
    let mut best = (0, 0.0);
    for (i, point) in points.iter().enumerate() {
        let d = distance(point);
        if d > best.1 {
            best = (i, d);
        }
    }
    best
}

impl<'p> Growing<'p> {
    /// A tetrahedron of points that lie far apart.
    fn new(points: &'p [Vector3<f64>]) -> Result<Self, HullError> {
        let first = *points.first().ok_or(HullError::Thin)?;
        // Ends of the longest extent: per axis how far below and above the first point they are.
        let (mut low, mut high) = ([(0.0_f64, 0); 3], [(0.0_f64, 0); 3]);
        for (i, point) in points.iter().enumerate() {
            for axis in 0..3 {
                let d = point[axis] - first[axis];
                if -d > low[axis].0 {
                    low[axis] = (-d, i);
                }
                if d > high[axis].0 {
                    high[axis] = (d, i);
                }
            }
        }
        let extents = [0, 1, 2].map(|axis| (low[axis].0 + high[axis].0, low[axis].1, high[axis].1));
        let longest = extents.into_iter().fold(extents[0], |a, b| if b.0 > a.0 { b } else { a });
        let (a, b) = (longest.1, longest.2);
        let along = points[b] - points[a];
        let (c, aside) = farthest(points, |p| along.cross(&(p - points[a])).norm_squared());
        if longest.0 <= 0.0 || aside <= 0.0 {
            return Err(HullError::Thin);
        }
        let normal = along.cross(&(points[c] - points[a]));
        let (mut d, _) = farthest(points, |p| normal.dot(&(p - points[a])).abs());
        let side = |d: usize| {
            let [a, b, c, d] = [a, b, c, d].map(|i| coordinates(&points[i]));
            orient3d(a, b, c, d)
        };
        if side(d) == 0.0 {
            // Rounding may hide a volume that is there.
            d = (0..points.len()).find(|i| side(*i) != 0.0).ok_or(HullError::Flat)?;
        }
        let [a, b, c, d] = [a, b, c, d].map(|i| i as u32);
        // Outwards: the fourth point lies below the face.
        let corners = match side(d as usize) > 0.0 {
            true => [[a, b, c], [a, d, b], [b, d, c], [c, d, a]],
            false => [[a, c, b], [a, b, d], [b, c, d], [c, a, d]],
        };
        let mut growing =
            Self { points, extent: longest.0, faces: Vec::new(), waiting: BinaryHeap::new() };
        for corners in corners {
            growing.push(corners);
        }
        for face in 0..4 {
            for edge in 0..3 {
                let [from, to] = growing.edge(face, edge);
                let found = (0..4).flat_map(|f| (0..3).map(move |e| (f, e)));
                let other = found.into_iter().find(|(f, e)| growing.edge(*f, *e) == [to, from]);
                growing.faces[face].neighbors[edge] = other.map_or(NONE, |(face, _)| face);
            }
        }
        let all = (0..points.len() as u32).filter(|i| ![a, b, c, d].contains(i)).collect();
        growing.share(all, 0);
        Ok(growing)
    }

    fn edge(&self, face: usize, edge: usize) -> [u32; 2] {
        let corners = self.faces[face].corners;
        [corners[edge], corners[(edge + 1) % 3]]
    }

    fn point(&self, index: u32) -> Vector3<f64> {
        self.points[index as usize]
    }

    /// Adds a face without neighbours.
    fn push(&mut self, corners: [u32; 3]) {
        let [a, b, c] = corners.map(|i| self.point(i));
        let product = (b - a).cross(&(c - a));
        // Six products of three differences, each off by at most 8 roundings of 2⁻⁵³ (counted as by
        // J. R. Shewchuk 1997, §4.3), with a third more for what is of second order or underflows.
        let doubt =
            32.0 * f64::EPSILON * (b - a).amax() * (c - a).amax() * self.extent + f64::MIN_POSITIVE;
        // A sliver whose area rounds to nothing has no direction; who sees it is still exact.
        let normal = product.try_normalize(0.0).unwrap_or_default();
        self.faces.push(Face {
            corners,
            neighbors: [NONE; 3],
            product,
            doubt,
            normal,
            outside: Vec::new(),
            farthest: None,
            is_alive: true,
        });
    }

    /// Whether a point lies strictly outside the plane of a face. Exact: where rounding could
    /// decide, the predicate does.
    fn sees(&self, point: u32, face: usize) -> bool {
        let Face { corners, product, doubt, .. } = &self.faces[face];
        let above = product.dot(&(self.point(point) - self.point(corners[0])));
        if above.abs() > *doubt {
            return above > 0.0;
        }
        let [a, b, c] = corners.map(|i| coordinates(&self.point(i)));
        orient3d(a, b, c, coordinates(&self.point(point))) < 0.0
    }

    /// Gives each point to the face from `first` on that it is farthest outside of: a hull of few
    /// corners takes the farthest points first. Those that see none are inside.
    fn share(&mut self, points: Vec<u32>, first: usize) {
        for point in points {
            let mut found: Option<(usize, f64)> = None;
            for face in (first..self.faces.len()).filter(|face| self.sees(point, *face)) {
                let Face { corners, normal, .. } = &self.faces[face];
                let above = self.point(point) - self.point(corners[0]);
                let distance = normal.dot(&above).max(0.0);
                if found.is_none_or(|(_, most)| distance > most) {
                    found = Some((face, distance));
                }
            }
            let Some((face, distance)) = found else { continue };
            let face = &mut self.faces[face];
            face.outside.push(point);
            if face.farthest.is_none_or(|(_, farthest)| distance > farthest) {
                face.farthest = Some((point, distance));
            }
        }
        for index in first..self.faces.len() {
            if let Some((_, distance)) = self.faces[index].farthest {
                // Distances are not negative: their bits are in their order.
                self.waiting.push((distance.to_bits(), Reverse(index)));
            }
        }
    }

    /// The face whose point is farthest outside; the first of equal ones.
    fn next_face(&mut self) -> Option<usize> {
        std::iter::from_fn(|| self.waiting.pop())
            .map(|(_, Reverse(face))| face)
            .find(|face| self.faces[*face].is_alive)
    }

    /// Makes the farthest point of a face a corner.
    fn add(&mut self, face: usize) {
        let Some((point, _)) = self.faces[face].farthest else { return };
        // All faces that it sees, and the edges around them.
        let (mut seen, mut horizon) = (vec![face], Vec::new());
        self.faces[face].is_alive = false;
        let mut next = 0;
        while next < seen.len() {
            let face = seen[next];
            next += 1;
            for edge in 0..3 {
                let neighbor = self.faces[face].neighbors[edge];
                if !self.faces[neighbor].is_alive {
                    continue;
                }
                if self.sees(point, neighbor) {
                    self.faces[neighbor].is_alive = false;
                    seen.push(neighbor);
                } else {
                    horizon.push((self.edge(face, edge), neighbor));
                }
            }
        }
        // A fan from the point to the horizon.
        let first = self.faces.len();
        for (edge, neighbor) in &horizon {
            let new = self.faces.len();
            self.push([edge[0], edge[1], point]);
            self.faces[new].neighbors[0] = *neighbor;
            let back = (0..3).find(|e| self.edge(*neighbor, *e) == [edge[1], edge[0]]);
            if let Some(back) = back {
                self.faces[*neighbor].neighbors[back] = new;
            }
        }
        // Edge 1 runs from the end of a face's horizon edge to the point; edge 2 comes back.
        let starts: HashMap<u32, usize> =
            horizon.iter().enumerate().map(|(k, (edge, _))| (edge[0], first + k)).collect();
        for (k, (edge, _)) in horizon.iter().enumerate() {
            if let Some(after) = starts.get(&edge[1]) {
                self.faces[first + k].neighbors[1] = *after;
                self.faces[*after].neighbors[2] = first + k;
            }
        }
        let mut loose = Vec::new();
        for face in seen {
            loose.append(&mut self.faces[face].outside);
        }
        loose.retain(|other| *other != point);
        self.share(loose, first);
    }

    /// The faces that are left, over the corners that they use.
    fn done(self) -> Hull {
        let mut of_point = vec![u32::MAX; self.points.len()];
        let (mut vertices, mut triangles, mut miss) = (Vec::new(), Vec::new(), 0.0_f64);
        for face in self.faces.iter().filter(|face| face.is_alive) {
            triangles.push(face.corners.map(|point| {
                let index = &mut of_point[point as usize];
                if *index == u32::MAX {
                    *index = vertices.len() as u32;
                    vertices.push(self.points[point as usize]);
                }
                *index
            }));
        }
        // An older face may be farther below a point than the one it waits at.
        let alive = || self.faces.iter().filter(|face| face.is_alive);
        let planes: Vec<(Vector3<f64>, Vector3<f64>)> =
            alive().map(|face| (face.normal, self.point(face.corners[0]))).collect();
        for point in alive().flat_map(|face| &face.outside) {
            let point = self.point(*point);
            for (normal, corner) in &planes {
                miss = miss.max(normal.dot(&(point - corner)));
            }
        }
        Hull { vertices, triangles, miss }
    }
}
