//! Nearest points of segments, and of cuboids that are apart.

use nalgebra::Vector3;

use super::boxes::CORNERS;
use super::{Manifold, Pose, Witness};

/// Nearest points of the segments `p + s u` and `q + t w` with s, t in [−1, 1], or of points where
/// u or w is zero.
///
/// References: C. Ericson, *Real-Time Collision Detection* (2005), sec. 5.1.9.
pub(super) fn nearest(
    (p, u): (&Vector3<f64>, &Vector3<f64>),
    (q, w): (&Vector3<f64>, &Vector3<f64>),
) -> (Vector3<f64>, Vector3<f64>) {
    let r = p - q;
    let (uu, ww, uw) = (u.dot(u), w.dot(w), u.dot(w));
    let (ur, wr) = (u.dot(&r), w.dot(&r));
    let denominator = uu * ww - uw * uw;
    // Parallel segments are nearest wherever they face one another.
    let mut s = if denominator > 1e-12 * uu * ww {
        ((uw * wr - ww * ur) / denominator).clamp(-1.0, 1.0)
    } else {
        0.0
    };
    let t = if ww > 0.0 { (uw * s + wr) / ww } else { 2.0 };
    let clamped = t.clamp(-1.0, 1.0);
    if clamped != t && uu > 0.0 {
        s = ((uw * clamped - ur) / uu).clamp(-1.0, 1.0);
    }
    (p + u * s, q + w * clamped)
}

/// The edges of a cuboid as middles and half lengths, twelve.
fn edges(half_size: &Vector3<f64>, pose: &Pose) -> [(Vector3<f64>, Vector3<f64>); 12] {
    std::array::from_fn(|i| {
        let (axis, corner) = (i / 4, i % 4);
        let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut middle = Vector3::zeros();
        middle[j] = if corner & 1 == 0 { -half_size[j] } else { half_size[j] };
        middle[k] = if corner & 2 == 0 { -half_size[k] } else { half_size[k] };
        let along = pose.rotation.column(axis) * half_size[axis];
        (pose.centre + pose.rotation * middle, along)
    })
}

/// The nearest points of two cuboids that are apart but at most `reach`: at a corner of one or at
/// an edge of each.
pub(super) fn nearest_of_boxes(
    a: (&Vector3<f64>, &Pose),
    b: (&Vector3<f64>, &Pose),
    reach: f64,
    manifold: &mut Manifold,
) {
    let zero = Vector3::zeros();
    let mut best = (f64::INFINITY, zero, zero);
    let mut offer = |first: Vector3<f64>, second: Vector3<f64>| {
        let squared = (first - second).norm_squared();
        if squared < best.0 {
            best = (squared, first, second);
        }
    };
    let (edges_a, edges_b) = (edges(a.0, a.1), edges(b.0, b.1));
    for (p, u) in &edges_a {
        for (q, w) in &edges_b {
            let (first, second) = nearest((p, u), (q, w));
            offer(first, second);
        }
    }
    for corner in CORNERS.map(Vector3::from) {
        let first = a.1.centre + a.1.rotation * a.0.component_mul(&corner);
        offer(first, nearest_of_box(&first, b));
        let second = b.1.centre + b.1.rotation * b.0.component_mul(&corner);
        offer(nearest_of_box(&second, a), second);
    }
    let (squared, first, second) = best;
    let known = manifold.witnesses().iter().map(|w| w.gap).fold(reach, f64::min);
    if squared > 0.0 && squared <= known * known {
        manifold.push(Witness::new(first, second, (first - second) / squared.sqrt()));
    }
}

/// The point of a solid cuboid that is nearest to `point`.
fn nearest_of_box(point: &Vector3<f64>, (half_size, pose): (&Vector3<f64>, &Pose)) -> Vector3<f64> {
    let local = pose.rotation.tr_mul(&(point - pose.centre));
    pose.centre + pose.rotation * local.zip_map(half_size, |x, h| x.clamp(-h, h))
}
