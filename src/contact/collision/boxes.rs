//! Two cuboids: separating axes, clipped faces, crossed edges.

use nalgebra::{Matrix3, Vector3};

use super::core::Core;
use super::segments::nearest;
use super::{MOST_WITNESSES, Manifold, Pose, Witness, gjk};

/// Fraction of the smallest half edge by which another axis must be better to be chosen: an edge
/// over a face, a face of the second over one of the first.
const MARGIN: f64 = 1e-3;
/// Error of a distance, as a part of the cuboids' sizes.
const ROUNDING: f64 = 1e-13;
/// Square of the sine below which two edges count as parallel.
const PARALLEL: f64 = 1e-8;

/// A cuboid: half edges and pose.
type Cuboid<'a> = (&'a Vector3<f64>, &'a Pose);

/// The axis with the least overlap.
#[derive(Clone, Copy)]
enum Axis {
    /// Normal of a face of the first.
    First(usize),
    /// Normal of a face of the second.
    Second(usize),
    /// Product of an edge of the first and one of the second; unit, in the first's axes.
    Edges(usize, usize, Vector3<f64>),
}

/// Where the second cuboid is, seen from the first.
struct Relative {
    /// `first_from_second`.
    rotation: Matrix3<f64>,
    /// Centre of the second, in the first's axes.
    centre: Vector3<f64>,
}

/// Witnesses of two cuboids.
pub(super) fn collide(a: Cuboid<'_>, b: Cuboid<'_>, reach: f64, manifold: &mut Manifold) {
    let relative = Relative {
        rotation: a.1.rotation.tr_mul(&b.1.rotation),
        centre: a.1.rotation.tr_mul(&(b.1.centre - a.1.centre)),
    };
    let Some((separation, axis)) = least_overlap(a.0, b.0, &relative, reach) else { return };
    match axis {
        Axis::First(axis) => {
            under_face(a, axis, b, reach, manifold);
            manifold.swap();
        }
        Axis::Second(axis) => under_face(b, axis, a, reach, manifold),
        Axis::Edges(i, j, normal) => {
            crossed_edges(a, b, (i, j), &(a.1.rotation * normal), reach, manifold);
        }
    }
    // The separation is a lower bound of the distance: a witness that is as near is the nearest.
    let known = manifold.witnesses().iter().map(|witness| witness.gap).fold(reach, f64::min);
    let slack = ROUNDING * (a.0.norm() + b.0.norm());
    if separation > 0.0 && known > separation + slack {
        let (a, b) = (Core::of_box(a.0, a.1), Core::of_box(b.0, b.1));
        if let Some(found) = gjk::Search::new(&a, &b).nearest(&Vector3::zeros()) {
            let distance = found.apart.norm();
            if distance <= known {
                manifold.push(Witness::new(found.first, found.second, found.apart / distance));
            }
        }
    }
}

/// The largest separation over all axes, negative in overlap, and its axis; `None` if it is beyond
/// `reach`.
fn least_overlap(
    a: &Vector3<f64>,
    b: &Vector3<f64>,
    relative: &Relative,
    reach: f64,
) -> Option<(f64, Axis)> {
    let (r, t) = (&relative.rotation, &relative.centre);
    let margin = MARGIN * a.min().min(b.min());
    let mut best = (f64::NEG_INFINITY, Axis::First(0));
    let (r_abs, t_second) = (r.abs(), r.tr_mul(t));
    for i in 0..3 {
        let separation = t[i].abs() - a[i] - r_abs.row(i).transpose().dot(b);
        if separation > best.0 {
            best = (separation, Axis::First(i));
        }
    }
    let first = best.0;
    for j in 0..3 {
        let separation = t_second[j].abs() - b[j] - r_abs.column(j).dot(a);
        if separation > best.0.max(first + margin) {
            best = (separation, Axis::Second(j));
        }
    }
    if best.0 > reach {
        return None;
    }
    let face = best.0;
    for i in 0..3 {
        for j in 0..3 {
            let edge = r.column(j).into_owned();
            let mut axis = Vector3::zeros();
            // e_i × r_j.
            let (k, l) = ((i + 1) % 3, (i + 2) % 3);
            (axis[k], axis[l]) = (-edge[l], edge[k]);
            let squared = axis.norm_squared();
            if squared < PARALLEL {
                continue;
            }
            axis /= squared.sqrt();
            let along = axis.dot(t);
            let separation = along.abs() - a.dot(&axis.abs()) - b.dot(&r.tr_mul(&axis).abs());
            if separation > reach {
                return None;
            }
            if separation > best.0.max(face + margin) {
                // Towards the first cuboid.
                let normal = if along > 0.0 { -axis } else { axis };
                best = (separation, Axis::Edges(i, j, normal));
            }
        }
    }
    Some(best)
}

/// The witness of an edge of the first and one of the second, `normal` towards the first.
fn crossed_edges(
    a: Cuboid<'_>,
    b: Cuboid<'_>,
    (i, j): (usize, usize),
    normal: &Vector3<f64>,
    reach: f64,
    manifold: &mut Manifold,
) {
    let p = supporting_edge(a, i, &-normal);
    let q = supporting_edge(b, j, normal);
    let (first, second) = nearest((&p.0, &p.1), (&q.0, &q.1));
    let witness = Witness::new(first, second, *normal);
    if witness.gap <= reach {
        manifold.push(witness);
    }
}

/// Middle and half length of the edge along `axis` that lies farthest in `direction`.
fn supporting_edge(
    (half_size, pose): Cuboid<'_>,
    axis: usize,
    direction: &Vector3<f64>,
) -> (Vector3<f64>, Vector3<f64>) {
    let local = pose.rotation.tr_mul(direction);
    let mut middle = local.zip_map(half_size, |d, h| if d < 0.0 { -h } else { h });
    middle[axis] = 0.0;
    (pose.centre + pose.rotation * middle, pose.rotation.column(axis) * half_size[axis])
}

/// A polygon over a face: corners (u, v, w) along the face's edges and above it.
struct Polygon {
    corners: [Vector3<f64>; MOST_WITNESSES],
    len: usize,
}

impl Polygon {
    /// The part on the side `sign · x ≤ limit` of the coordinate `axis`.
    fn clip(&self, axis: usize, sign: f64, limit: f64) -> Self {
        let mut kept = Self { corners: [Vector3::zeros(); MOST_WITNESSES], len: 0 };
        let beyond = |corner: &Vector3<f64>| sign * corner[axis] - limit;
        for k in 0..self.len {
            let (corner, next) = (&self.corners[k], &self.corners[(k + 1) % self.len]);
            let (here, there) = (beyond(corner), beyond(next));
            if here <= 0.0 {
                kept.push(*corner);
            }
            if (here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0) {
                let mut cut = corner + (next - corner) * (here / (here - there));
                // Exactly on the side, so that the next cut does not see rounding.
                cut[axis] = sign * limit;
                kept.push(cut);
            }
        }
        kept
    }

    fn push(&mut self, corner: Vector3<f64>) {
        // Each of four cuts adds one corner at most to the four of a rectangle.
        if self.len < MOST_WITNESSES {
            self.corners[self.len] = corner;
            self.len += 1;
        }
    }
}

/// Witnesses of `other` over the face of `base` across `axis`: first on `other`, normals out of
/// `base`.
fn under_face(
    base: Cuboid<'_>,
    axis: usize,
    other: Cuboid<'_>,
    reach: f64,
    manifold: &mut Manifold,
) {
    let (half, pose) = base;
    let side = if pose.rotation.column(axis).dot(&(other.1.centre - pose.centre)) < 0.0 {
        -1.0
    } else {
        1.0
    };
    // Axes of the face: u, v along its edges, w out of it.
    let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
    let [u, v] = [j, k].map(|i| pose.rotation.column(i).into_owned());
    let normal = pose.rotation.column(axis) * side;
    let to_face = |x: &Vector3<f64>| {
        let x = x - pose.centre;
        Vector3::new(u.dot(&x), v.dot(&x), normal.dot(&x) - half[axis])
    };

    // The face of the other that looks most against the normal.
    let down = other.1.rotation.tr_mul(&-normal);
    let facing = down.iamax();
    let (m, n) = ((facing + 1) % 3, (facing + 2) % 3);
    let mut polygon = Polygon { corners: [Vector3::zeros(); MOST_WITNESSES], len: 0 };
    for (su, sv) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
        let mut local = Vector3::zeros();
        local[facing] = if down[facing] < 0.0 { -other.0[facing] } else { other.0[facing] };
        (local[m], local[n]) = (su * other.0[m], sv * other.0[n]);
        polygon.push(to_face(&(other.1.centre + other.1.rotation * local)));
    }
    let lowest = polygon.corners[..4].iter().copied().min_by(|a, b| a.z.total_cmp(&b.z));

    for (axis, limit) in [(0, half[j]), (1, half[k])] {
        polygon = polygon.clip(axis, 1.0, limit).clip(axis, -1.0, limit);
    }
    let mut add = |corner: &Vector3<f64>| {
        if corner.z <= reach {
            let second = pose.centre + u * corner.x + v * corner.y + normal * half[axis];
            let first = second + normal * corner.z;
            manifold.push(Witness { first, second, normal, gap: corner.z });
        }
    };
    polygon.corners[..polygon.len].iter().for_each(&mut add);
    // Overlapping cuboids of which no corner is over the face: its lowest has the depth.
    if let (0, Some(lowest)) = (polygon.len, lowest)
        && lowest.z < 0.0
    {
        add(&lowest);
    }
}
