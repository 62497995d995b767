//! Convex polytopes: corners, faces, supports.

use legwork_mesh::{Hull, HullError, Mesh};
use nalgebra::{Matrix3, Vector3};

/// Sine of the angle up to which neighbouring triangles are one face.
const FLAT: f64 = 1e-5;

/// A convex solid with flat faces.
#[doc(alias("convex hull", "convex mesh"))]
#[derive(Clone, Debug, PartialEq)]
pub struct Polytope {
    vertices: Vec<Vector3<f64>>,
    faces: Vec<Face>,
    /// Corners of all faces, one face behind the other.
    corners: Vec<u32>,
    bounding_radius: f64,
    inner_radius: f64,
    thickness: f64,
    mass: MassProperties,
}

/// A face of a polytope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Face {
    /// Unit normal outwards.
    pub(super) normal: Vector3<f64>,
    /// Distance of its plane from the origin along the normal [m].
    pub(super) offset: f64,
    /// Its corners, counter-clockwise seen from outside: first of them, and one past the last.
    corners: (usize, usize),
}

/// Volume, centre and second moments at density 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Volume [m³].
    pub volume: f64,
    /// Centre of mass [m].
    pub center: Vector3<f64>,
    /// Rotational inertia about the centre, along the axes of the polytope [m⁵].
    pub inertia: Matrix3<f64>,
}

impl Polytope {
    /// The convex hull of points.
    ///
    /// Triangles that are coplanar to an angle of 1e-5 rad become one face.
    ///
    /// # Errors
    /// If the points have no volume.
    pub fn new(points: &[Vector3<f64>]) -> Result<Self, HullError> {
        Self::of_hull(&Hull::new(points)?)
    }

    /// A polytope with the surface of a hull.
    ///
    /// # Errors
    /// If it has no volume beyond rounding.
    pub fn of_hull(hull: &Hull) -> Result<Self, HullError> {
        let mesh = hull.to_mesh();
        let solid = legwork_mesh::Solid::of(&mesh).ok_or(HullError::Flat)?;
        let mass =
            MassProperties { volume: solid.volume, center: solid.center, inertia: solid.inertia };
        let vertices = hull.vertices.clone();
        let (faces, corners) = faces(&mesh);
        let bounding_radius = vertices.iter().map(Vector3::norm).fold(0.0, f64::max);
        let mut polytope = Self {
            vertices,
            faces,
            corners,
            bounding_radius,
            inner_radius: 0.0,
            thickness: 0.0,
            mass,
        };
        for k in 0..polytope.faces.len() {
            let normal = polytope.faces[k].normal;
            polytope.faces[k].offset = polytope.extent(&normal);
        }
        let nearest = polytope.faces.iter().map(|f| f.offset).fold(f64::INFINITY, f64::min);
        polytope.inner_radius = if nearest >= 0.0 { nearest } else { -bounding_radius };
        let widths = polytope.faces.iter().map(|f| f.offset + polytope.extent(&-f.normal));
        polytope.thickness = widths.fold(f64::INFINITY, f64::min);
        Ok(polytope)
    }

    /// Corners [m].
    #[must_use]
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// Corners of each face, counter-clockwise seen from outside, by index.
    pub fn face_corners(&self) -> impl Iterator<Item = &[u32]> {
        self.faces.iter().map(|face| &self.corners[face.corners.0..face.corners.1])
    }

    /// Volume, centre and moments at density 1.
    #[must_use]
    pub fn mass_properties(&self) -> &MassProperties {
        &self.mass
    }

    /// Radius of the smallest ball about the origin that holds the polytope [m].
    #[must_use]
    pub fn bounding_radius(&self) -> f64 {
        self.bounding_radius
    }

    /// Radius of a ball about the origin that is inside; negative if the origin is not, and then
    /// every support is at least this [m].
    pub(super) fn inner_radius(&self) -> f64 {
        self.inner_radius
    }

    /// The least width across a face [m].
    #[must_use]
    pub fn thickness(&self) -> f64 {
        self.thickness
    }

    /// Distance from the origin to the supporting plane across `direction` [m].
    #[must_use]
    pub fn extent(&self, direction: &Vector3<f64>) -> f64 {
        self.vertices.iter().map(|x| x.dot(direction)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The corner that lies farthest along `direction`; of equal ones the first.
    pub(super) fn support(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        super::core::farthest(&self.vertices, direction)
    }

    pub(super) fn faces(&self) -> &[Face] {
        &self.faces
    }

    pub(super) fn corners_of(&self, face: &Face) -> impl Iterator<Item = &Vector3<f64>> {
        let indices = &self.corners[face.corners.0..face.corners.1];
        indices.iter().map(|&i| &self.vertices[i as usize])
    }

    /// The same turned and moved: each point x becomes `R (x − origin)`.
    ///
    /// # Errors
    /// If rounding leaves no volume.
    pub fn moved(&self, rotation: &Matrix3<f64>, origin: &Vector3<f64>) -> Result<Self, HullError> {
        let points: Vec<_> = self.vertices.iter().map(|x| rotation * (x - origin)).collect();
        Self::new(&points)
    }
}

/// The faces of a closed convex surface: triangles that share an edge and lie in one plane are one.
/// The largest triangles come first.
fn faces(mesh: &Mesh) -> (Vec<Face>, Vec<u32>) {
    let count = mesh.triangles.len();
    let across = |k: usize| {
        let [a, b, c] = mesh.corners(k);
        (b - a).cross(&(c - a))
    };
    let normals: Vec<_> = (0..count).map(across).collect();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| normals[b].norm().total_cmp(&normals[a].norm()));
    // Each directed edge, with its triangle.
    let mut edges: Vec<([u32; 2], usize)> = Vec::with_capacity(3 * count);
    for (k, t) in mesh.triangles.iter().enumerate() {
        edges.extend([([t[0], t[1]], k), ([t[1], t[2]], k), ([t[2], t[0]], k)]);
    }
    edges.sort_unstable();
    let across_edge = |from: u32, to: u32| {
        edges.binary_search_by(|(edge, _)| edge.cmp(&[to, from])).ok().map(|at| edges[at].1)
    };

    let mut is_taken = vec![false; count];
    let (mut faces, mut corners) = (Vec::new(), Vec::new());
    for seed in order {
        let Some(normal) = normals[seed].try_normalize(f64::MIN_POSITIVE) else { continue };
        if std::mem::replace(&mut is_taken[seed], true) {
            continue;
        }
        // All triangles that can be reached in the plane of the first.
        let mut members = vec![seed];
        let mut next = 0;
        while let Some(&k) = members.get(next) {
            next += 1;
            let t = mesh.triangles[k];
            for i in 0..3 {
                let Some(other) = across_edge(t[i], t[(i + 1) % 3]) else { continue };
                let along = normals[other];
                let is_flat =
                    normal.cross(&along).norm() <= FLAT * along.norm() && normal.dot(&along) >= 0.0;
                if is_flat && !is_taken[other] {
                    is_taken[other] = true;
                    members.push(other);
                }
            }
        }
        members.sort_unstable();
        let first = corners.len();
        corners.extend(outline(mesh, &members));
        faces.push(Face { normal, offset: 0.0, corners: (first, corners.len()) });
    }
    (faces, corners)
}

/// The corners around triangles of one plane.
fn outline(mesh: &Mesh, members: &[usize]) -> Vec<u32> {
    let edges_of = |k: &usize| {
        let t = mesh.triangles[*k];
        [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]
    };
    let mut inner: Vec<[u32; 2]> = members.iter().flat_map(edges_of).collect();
    inner.sort_unstable();
    let is_border = |edge: &[u32; 2]| inner.binary_search(&[edge[1], edge[0]]).is_err();
    let border: Vec<[u32; 2]> = inner.iter().copied().filter(is_border).collect();
    let mut around = Vec::with_capacity(border.len());
    let Some(first) = border.first() else { return around };
    let mut at = first[0];
    for _ in 0..border.len() {
        around.push(at);
        let Ok(next) = border.binary_search_by(|edge| edge[0].cmp(&at)) else { break };
        at = border[next][1];
        if at == first[0] {
            break;
        }
    }
    around
}
