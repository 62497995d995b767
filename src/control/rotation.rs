//! Rotation vectors.

use legwork_mechanics::nalgebra::{Matrix3, Vector3};

/// Rotation vector `log R` [rad]: axis times angle, the shortest turn, `‖log R‖ ≤ π`.
///
/// From the quaternion of `R`, by its largest component, so that it is exact to rounding at all
/// angles: near zero, where the trace is ill-conditioned, and near π, where the antisymmetric part
/// is. Of the two axes of a half turn it returns one.
///
/// Reference: S. W. Shepperd, *Quaternion from rotation matrix* (1978).
#[doc(alias("log3", "logarithm of SO(3)"))]
#[must_use]
pub fn rotation_log(rotation: &Matrix3<f64>) -> Vector3<f64> {
    let r = rotation;
    let (x, y, z) = (r[(0, 0)], r[(1, 1)], r[(2, 2)]);
    // Four times the square of each component of the quaternion (w, x, y, z).
    let squares = [1.0 + x + y + z, 1.0 + x - y - z, 1.0 - x + y - z, 1.0 - x - y + z];
    let mut largest = 0;
    for i in 1..4 {
        if squares[i] > squares[largest] {
            largest = i;
        }
    }
    let (sum, odd) = (
        |i: usize, j: usize| r[(i, j)] + r[(j, i)],
        Vector3::new(r[(2, 1)] - r[(1, 2)], r[(0, 2)] - r[(2, 0)], r[(1, 0)] - r[(0, 1)]),
    );
    // The quaternion times four times its largest component.
    let square = squares[largest];
    let (w, v) = match largest {
        0 => (square, odd),
        1 => (odd.x, Vector3::new(square, sum(0, 1), sum(0, 2))),
        2 => (odd.y, Vector3::new(sum(0, 1), square, sum(1, 2))),
        _ => (odd.z, Vector3::new(sum(0, 2), sum(1, 2), square)),
    };
    let (w, v) = if w < 0.0 { (-w, -v) } else { (w, v) };
    let length = v.norm();
    // At the identity v is zero up to rounding: angle / ‖v‖ → 2 / w.
    let scale = if length < 1e-9 * w { 2.0 / w } else { 2.0 * libm::atan2(length, w) / length };
    v * scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use legwork_mechanics::quaternion_to_rotation;

    #[test]
    fn the_log_inverts_the_exponential_at_all_angles() {
        let axes = [
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
            [0.6, -0.64, 0.48],
            [-0.8, 0.0, -0.6],
        ];
        for axis in axes.map(Vector3::from) {
            for angle in [0.0, 1e-12, 1e-8, 1e-4, 0.3, 1.5, 2.5, 3.1, 3.12] {
                let (s, c) = libm::sincos(0.5 * angle);
                let v = axis * s;
                let log = rotation_log(&quaternion_to_rotation([c, v.x, v.y, v.z]));
                let error = (log - axis * angle).norm();
                assert!(error < 1e-14, "{axis:?} {angle}: {log:?}, error {error:e}");
            }
        }
    }

    #[test]
    fn a_half_turn_has_one_of_its_two_axes() {
        let half = Matrix3::from_diagonal(&Vector3::new(-1.0, 1.0, -1.0));
        assert!((rotation_log(&half).abs() - Vector3::y() * std::f64::consts::PI).norm() < 1e-15);
    }
}
