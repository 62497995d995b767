//! Convex cores: solids less their rounding.

use nalgebra::{Matrix3, Vector3};

use super::rims::Feature;
use super::{Polytope, Pose, Solid};

/// A solid without its rounding: all points that are at most `rounding` from the core are the solid.
#[derive(Clone, Copy)]
pub(super) struct Core<'a> {
    shape: Shape<'a>,
    pose: &'a Pose,
    /// Radius around the core [m].
    pub(super) rounding: f64,
}

#[derive(Clone, Copy)]
enum Shape<'a> {
    Point,
    /// From −z to z.
    Segment(f64),
    Box(&'a Vector3<f64>),
    /// Radius and half of the height.
    Cylinder(f64, f64),
    Hull(&'a Polytope),
    Triangle(&'a Triangle),
}

/// A triangle that is seen from one side, that of its normal.
pub(super) struct Triangle {
    /// Where its middle is, with the axes of the world.
    pose: Pose,
    /// Counter-clockwise seen from outside, from the middle [m].
    corners: [Vector3<f64>; 3],
    normal: Vector3<f64>,
}

impl Triangle {
    /// The triangle of three corners; none of a line.
    pub(super) fn new([a, b, c]: &[Vector3<f64>; 3]) -> Option<Self> {
        let normal = (b - a).cross(&(c - a)).try_normalize(f64::MIN_POSITIVE)?;
        let centre = (a + b + c) / 3.0;
        let pose = Pose { centre, rotation: Matrix3::identity() };
        Some(Self { pose, corners: [a - centre, b - centre, c - centre], normal })
    }
}

/// Corners of a polygon in the place of a round cap.
const CAP: usize = 16;
/// Sine of the angle up to which a line is across a direction.
const LEVEL: f64 = 3e-5;
/// Corners within this part of a core's size of its support are on one edge.
const EDGE: f64 = 1e-7;

impl<'a> Core<'a> {
    pub(super) fn of(solid: &'a Solid, pose: &'a Pose) -> Self {
        let (shape, rounding) = match solid {
            Solid::Sphere { radius } => (Shape::Point, *radius),
            Solid::Capsule { radius, half_length } => (Shape::Segment(*half_length), *radius),
            Solid::Box { half_size } => (Shape::Box(half_size), 0.0),
            Solid::Cylinder { radius, half_length } => {
                (Shape::Cylinder(*radius, *half_length), 0.0)
            }
            Solid::Hull(hull) => (Shape::Hull(hull), 0.0),
        };
        Self { shape, pose, rounding }
    }

    pub(super) fn of_box(half_size: &'a Vector3<f64>, pose: &'a Pose) -> Self {
        Self { shape: Shape::Box(half_size), pose, rounding: 0.0 }
    }

    pub(super) fn of_triangle(triangle: &'a Triangle) -> Self {
        Self { shape: Shape::Triangle(triangle), pose: &triangle.pose, rounding: 0.0 }
    }

    pub(super) fn center(&self) -> &Vector3<f64> {
        &self.pose.centre
    }

    /// Whether its faces are round caps.
    pub(super) fn is_cylinder(&self) -> bool {
        matches!(self.shape, Shape::Cylinder(..))
    }

    /// The point that lies farthest along a direction, world axes.
    pub(super) fn support(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        let local = match self.shape {
            Shape::Point => return self.pose.centre,
            _ => self.pose.rotation.tr_mul(direction),
        };
        let x = match self.shape {
            Shape::Point => Vector3::zeros(),
            Shape::Segment(half) => Vector3::new(0.0, 0.0, half.copysign(local.z)),
            Shape::Box(half) => local.zip_map(half, |d, h| h.copysign(d)),
            Shape::Cylinder(radius, half) => {
                let across = libm::sqrt(local.x * local.x + local.y * local.y);
                let scale = if across > 0.0 { radius / across } else { 0.0 };
                Vector3::new(scale * local.x, scale * local.y, half.copysign(local.z))
            }
            Shape::Hull(hull) => hull.support(&local),
            Shape::Triangle(triangle) => farthest(&triangle.corners, &local),
        };
        self.world(&x)
    }

    /// Middle and half of the length of a core that is a line, or a point.
    pub(super) fn line(&self) -> Option<(&Vector3<f64>, Vector3<f64>)> {
        let half = match self.shape {
            Shape::Point => 0.0,
            Shape::Segment(half) => half,
            Shape::Box(_) | Shape::Cylinder(..) | Shape::Hull(_) | Shape::Triangle(_) => {
                return None;
            }
        };
        Some((&self.pose.centre, self.pose.rotation.column(2) * half))
    }

    /// A length of its size [m].
    pub(super) fn size(&self) -> f64 {
        match self.shape {
            Shape::Point => self.rounding,
            Shape::Segment(half) => half + self.rounding,
            Shape::Box(half) => half.norm(),
            Shape::Cylinder(radius, half) => radius + half,
            Shape::Hull(hull) => hull.bounding_radius(),
            Shape::Triangle(triangle) => {
                triangle.corners.iter().map(Vector3::norm).fold(0.0, f64::max)
            }
        }
    }

    /// The smallest diameter with its rounding, which is that of the other core where this one is
    /// flat [m].
    pub(super) fn thickness(&self) -> f64 {
        match self.shape {
            Shape::Point | Shape::Segment(_) => 2.0 * self.rounding,
            Shape::Box(half) => 2.0 * half.min(),
            Shape::Cylinder(radius, half) => 2.0 * radius.min(half),
            Shape::Hull(hull) => hull.thickness(),
            Shape::Triangle(_) => f64::INFINITY,
        }
    }

    /// Radius of a ball about the centre that is inside the core; negative if that is not [m].
    pub(super) fn inner_radius(&self) -> f64 {
        match self.shape {
            Shape::Point | Shape::Segment(_) | Shape::Triangle(_) => 0.0,
            Shape::Box(half) => half.min(),
            Shape::Cylinder(radius, half) => radius.min(half),
            Shape::Hull(hull) => hull.inner_radius(),
        }
    }

    /// Normals of all faces, world axes, and how far each is from the centre [m].
    pub(super) fn for_each_face(&self, mut f: impl FnMut(Vector3<f64>, f64)) {
        let r = &self.pose.rotation;
        match self.shape {
            Shape::Point | Shape::Segment(_) => {}
            Shape::Box(half) => {
                for axis in 0..3 {
                    f(r.column(axis).into_owned(), half[axis]);
                    f(-r.column(axis), half[axis]);
                }
            }
            Shape::Cylinder(_, half) => {
                f(r.column(2).into_owned(), half);
                f(-r.column(2), half);
            }
            Shape::Hull(hull) => {
                hull.faces().iter().for_each(|face| f(r * face.normal, face.offset));
            }
            Shape::Triangle(triangle) => f(triangle.normal, 0.0),
        }
    }

    /// The face that looks most along a direction: its normal, world axes. None without faces.
    pub(super) fn facing(&self, direction: &Vector3<f64>) -> Option<Vector3<f64>> {
        let mut best: Option<(f64, Vector3<f64>)> = None;
        self.for_each_face(|normal, _| {
            let along = normal.dot(direction);
            if best.is_none_or(|(most, _)| along > most) {
                best = Some((along, normal));
            }
        });
        best.map(|(_, normal)| normal)
    }

    /// Corners of the feature that looks most along a direction, world axes: of a face in their
    /// order, both ends of a line, or a point.
    pub(super) fn feature(&self, direction: &Vector3<f64>, corners: &mut Vec<Vector3<f64>>) {
        corners.clear();
        let local = self.pose.rotation.tr_mul(direction);
        match self.shape {
            Shape::Point => corners.push(self.pose.centre),
            Shape::Segment(half) => {
                corners.extend([-half, half].map(|z| self.world(&Vector3::new(0.0, 0.0, z))));
            }
            Shape::Box(half) => {
                let axis = local.iamax();
                let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
                let side = 1.0_f64.copysign(local[axis]);
                for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                    let mut x = Vector3::zeros();
                    x[axis] = side * half[axis];
                    // Counter-clockwise seen from outside.
                    (x[j], x[k]) = (a * side * half[j], b * half[k]);
                    corners.push(self.world(&x));
                }
            }
            Shape::Cylinder(radius, half) => {
                let across = libm::sqrt(local.x * local.x + local.y * local.y);
                let (c, s) =
                    if across > 0.0 { (local.x / across, local.y / across) } else { (1.0, 0.0) };
                if across > local.z.abs() {
                    let x = |z| self.world(&Vector3::new(radius * c, radius * s, z));
                    corners.extend([x(-half), x(half)]);
                    return;
                }
                let up = 1.0_f64.copysign(local.z);
                for i in 0..CAP {
                    let angle = up * std::f64::consts::TAU * i as f64 / CAP as f64;
                    let (sine, cosine) = libm::sincos(angle);
                    let x = Vector3::new(c * cosine - s * sine, s * cosine + c * sine, 0.0);
                    let x = x * radius + Vector3::new(0.0, 0.0, half.copysign(local.z));
                    corners.push(self.world(&x));
                }
            }
            Shape::Hull(hull) => {
                let mut best: Option<(f64, &super::polytope::Face)> = None;
                for face in hull.faces() {
                    let along = face.normal.dot(&local);
                    if best.is_none_or(|(most, _)| along > most) {
                        best = Some((along, face));
                    }
                }
                if let Some((_, face)) = best {
                    corners.extend(hull.corners_of(face).map(|x| self.world(x)));
                }
            }
            Shape::Triangle(triangle) => corners.extend(triangle.corners.map(|x| self.world(&x))),
        }
    }

    /// The corner, edge, rim or side that holds these points, which are farthest along directions
    /// near one another; `None` if that is a face, or anything else.
    pub(super) fn feature_of(
        &self,
        mut points: impl Iterator<Item = Vector3<f64>>,
    ) -> Option<Feature> {
        let first = points.next()?;
        let corner = Feature { at: first, line: Vector3::zeros(), rim: None };
        if let Shape::Cylinder(radius, half) = self.shape {
            let axis = self.pose.rotation.column(2).into_owned();
            let is_above = |x: Vector3<f64>| axis.dot(&(x - self.pose.centre)) > 0.0;
            let side = is_above(first);
            let (at, line) = if points.all(|x| is_above(x) == side) {
                (axis * if side { half } else { -half }, Vector3::zeros())
            } else {
                (Vector3::zeros(), axis * half)
            };
            return Some(Feature { at: self.pose.centre + at, line, rim: Some((axis, radius)) });
        }
        // A corner is found with the same bits each time.
        let mut others = points.filter(|x| *x != first);
        let Some(second) = others.next() else { return Some(corner) };
        let is_edge = others.all(|x| x == second);
        is_edge.then(|| Feature {
            at: (first + second) / 2.0,
            line: (second - first) / 2.0,
            rim: None,
        })
    }

    /// Both ends of the line that lies farthest along a direction, if that is a line across it.
    pub(super) fn edge(&self, direction: &Vector3<f64>) -> Option<[Vector3<f64>; 2]> {
        let local = self.pose.rotation.tr_mul(direction);
        let slack = EDGE * self.size();
        let line = |half: f64, foot: Vector3<f64>| {
            // Ends that differ by more are a point each.
            (local.z.abs() <= LEVEL)
                .then(|| [-half, half].map(|z| self.world(&(foot + Vector3::new(0.0, 0.0, z)))))
        };
        match self.shape {
            Shape::Point => None,
            Shape::Segment(half) => line(half, Vector3::zeros()),
            Shape::Cylinder(radius, half) => {
                let across = libm::sqrt(local.x * local.x + local.y * local.y);
                let foot = Vector3::new(local.x, local.y, 0.0) * (radius / across);
                if across > 0.5 { line(half, foot) } else { None }
            }
            Shape::Box(half) => {
                let flat = local.abs().component_mul(half);
                let mut level = (0..3).filter(|&i| flat[i] <= slack);
                let axis = level.next()?;
                if level.next().is_some() {
                    return None;
                }
                let mut foot = local.zip_map(half, |d, h| h.copysign(d));
                foot[axis] = 0.0;
                let mut along = Vector3::zeros();
                along[axis] = half[axis];
                Some([self.world(&(foot - along)), self.world(&(foot + along))])
            }
            Shape::Hull(hull) => self.only_two(hull.vertices(), &local, slack),
            Shape::Triangle(triangle) => self.only_two(&triangle.corners, &local, slack),
        }
    }

    /// The two corners that lie farthest along a direction in the core's axes, if they are two.
    fn only_two(
        &self,
        corners: &[Vector3<f64>],
        local: &Vector3<f64>,
        slack: f64,
    ) -> Option<[Vector3<f64>; 2]> {
        let most = farthest(corners, local).dot(local);
        let mut on = corners.iter().filter(|x| x.dot(local) >= most - slack);
        let ends = [on.next()?, on.next()?];
        on.next().is_none().then(|| ends.map(|x| self.world(x)))
    }

    fn world(&self, x: &Vector3<f64>) -> Vector3<f64> {
        self.pose.centre + self.pose.rotation * x
    }
}

/// The corner that lies farthest along a direction; of equal ones the first.
pub(super) fn farthest(corners: &[Vector3<f64>], direction: &Vector3<f64>) -> Vector3<f64> {
    // An index is kept without a branch.
    let (mut most, mut at) = (f64::NEG_INFINITY, 0);
    for (i, corner) in corners.iter().enumerate() {
        let along = corner.dot(direction);
        (most, at) = if along > most { (along, i) } else { (most, at) };
    }
    corners.get(at).copied().unwrap_or_default()
}
