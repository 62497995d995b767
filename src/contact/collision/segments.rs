//! Nearest points of segments.

use nalgebra::Vector3;

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
