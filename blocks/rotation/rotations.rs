//! Quaternions (w, x, y, z), rotation matrices and roll, pitch, yaw.

use legwork_block::Fault;

/// The quaternion at unit length.
///
/// # Errors
/// If it has no length, or none that is a number.
pub(super) fn unit(q: &[f64]) -> Result<[f64; 4], Box<Fault>> {
    let [w, x, y, z] = [q[0], q[1], q[2], q[3]];
    let length = libm::sqrt(w * w + x * x + y * y + z * z);
    if !(length > 0.0 && length.is_finite()) {
        return Err(Fault::new(format!(
            "expected a quaternion of a length that is not 0, found [{w}, {x}, {y}, {z}]"
        )));
    }
    Ok([w / length, x / length, y / length, z / length])
}

/// The rotation of a unit quaternion, column by column.
pub(super) fn rotation([w, x, y, z]: [f64; 4]) -> [f64; 9] {
    [
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y + w * z),
        2.0 * (x * z - w * y),
        2.0 * (x * y - w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z + w * x),
        2.0 * (x * z + w * y),
        2.0 * (y * z - w * x),
        1.0 - 2.0 * (x * x + y * y),
    ]
}

/// The unit quaternion of a rotation, w ≥ 0, from its largest component (Shepperd 1978).
pub(crate) fn quaternion(r: &[f64]) -> [f64; 4] {
    let at = |row: usize, column: usize| r[3 * column + row];
    let (x, y, z) = (at(0, 0), at(1, 1), at(2, 2));
    // Four times the square of each component.
    let squares = [1.0 + x + y + z, 1.0 + x - y - z, 1.0 - x + y - z, 1.0 - x - y + z];
    let mut largest = 0;
    for i in 1..4 {
        if squares[i] > squares[largest] {
            largest = i;
        }
    }
    let odd = [at(2, 1) - at(1, 2), at(0, 2) - at(2, 0), at(1, 0) - at(0, 1)];
    let sum = |i: usize, j: usize| at(i, j) + at(j, i);
    let square = squares[largest];
    // The quaternion times four times its largest component.
    let scaled = match largest {
        0 => [square, odd[0], odd[1], odd[2]],
        1 => [odd[0], square, sum(0, 1), sum(0, 2)],
        2 => [odd[1], sum(0, 1), square, sum(1, 2)],
        _ => [odd[2], sum(0, 2), sum(1, 2), square],
    };
    let length = libm::sqrt(scaled.iter().fold(0.0, |sum, c| sum + c * c));
    let sign = if scaled[0] < 0.0 { -1.0 } else { 1.0 };
    scaled.map(|c| sign * c / length)
}

/// The product `a ⊗ b`: first the rotation b, then a.
pub(super) fn product(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

/// Roll, pitch, yaw of a rotation `Rz(yaw) Ry(pitch) Rx(roll)` [rad], pitch from −π/2 to π/2. Where
/// pitch is ±π/2 to rounding, roll is 0.
pub(crate) fn roll_pitch_yaw(r: &[f64]) -> [f64; 3] {
    let at = |row: usize, column: usize| r[3 * column + row];
    let cosine = libm::hypot(at(0, 0), at(1, 0));
    let pitch = libm::atan2(-at(2, 0), cosine);
    if cosine < 1e-12 {
        return [0.0, pitch, libm::atan2(-at(0, 1), at(1, 1))];
    }
    [libm::atan2(at(2, 1), at(2, 2)), pitch, libm::atan2(at(1, 0), at(0, 0))]
}

/// The unit quaternion of `Rz(yaw) Ry(pitch) Rx(roll)`.
pub(super) fn of_roll_pitch_yaw(rpy: &[f64]) -> [f64; 4] {
    let about = |angle: f64, axis: usize| {
        let (sine, cosine) = libm::sincos(0.5 * angle);
        let mut q = [cosine, 0.0, 0.0, 0.0];
        q[axis + 1] = sine;
        q
    };
    product(about(rpy[2], 2), product(about(rpy[1], 1), about(rpy[0], 0)))
}

/// `R v`, or `Rᵀ v`.
pub(super) fn rotate(r: &[f64], v: &[f64], transpose: bool) -> [f64; 3] {
    let at = |row: usize, column: usize| match transpose {
        false => r[3 * column + row],
        true => r[3 * row + column],
    };
    [0, 1, 2].map(|row| at(row, 0) * v[0] + at(row, 1) * v[1] + at(row, 2) * v[2])
}

#[cfg(test)]
mod tests {
    use legwork_mechanics::{Placement, quaternion_to_rotation};

    use super::*;

    /// Quaternions over the whole sphere, near half turns and near the identity.
    pub(super) fn samples() -> Vec<[f64; 4]> {
        let mut found = vec![[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.6, -0.8]];
        for k in 0..40 {
            let wave = |a: f64| libm::sin(a * (1.0 + f64::from(k)));
            found.push(unit(&[wave(1.0), wave(2.3), wave(3.1), wave(4.7)]).expect("a length"));
        }
        found
    }

    #[test]
    fn rotations_are_those_of_the_mechanics() {
        for q in samples() {
            let exact = quaternion_to_rotation(q);
            for (r, exact) in rotation(q).iter().zip(exact.iter()) {
                assert!((r - exact).abs() < 1e-15, "{q:?}");
            }
        }
    }

    #[test]
    fn a_rotation_has_the_quaternion_it_came_from() {
        for q in samples() {
            let back = quaternion(&rotation(q));
            assert!(back[0] >= 0.0);
            let cosine: f64 = back.iter().zip(q).map(|(a, b)| a * b).sum();
            assert!((cosine.abs() - 1.0).abs() < 1e-15, "{q:?} became {back:?}");
        }
    }

    #[test]
    fn angles_are_those_of_the_robot_files_and_come_back() {
        for roll in [-3.0, -0.5, 0.0, 2.0] {
            for pitch in [-1.5, 0.0, 0.4, 1.57] {
                for yaw in [-2.5, 0.1, 3.1] {
                    let rpy = [roll, pitch, yaw];
                    let r = rotation(of_roll_pitch_yaw(&rpy));
                    let exact = Placement::from_xyz_rpy([0.0; 3], rpy).rotation;
                    for (r, exact) in r.iter().zip(exact.iter()) {
                        assert!((r - exact).abs() < 1e-15, "{rpy:?}");
                    }
                    // Rounding of the matrix counts 1 / cos(pitch) times.
                    let tolerance = 1e-15 / libm::cos(pitch);
                    for (found, angle) in roll_pitch_yaw(&r).iter().zip(rpy) {
                        assert!((found - angle).abs() < 4.0 * tolerance, "{rpy:?}: {found}");
                    }
                }
            }
        }
    }

    #[test]
    fn looking_straight_up_has_no_roll() {
        let half = std::f64::consts::FRAC_PI_2;
        let r = rotation(of_roll_pitch_yaw(&[0.3, half, 0.5]));
        let [roll, pitch, yaw] = roll_pitch_yaw(&r);
        assert_eq!(roll, 0.0);
        assert!((pitch - half).abs() < 1e-15, "{pitch}");
        // Only yaw − roll is determined there.
        assert!((yaw - 0.2).abs() < 1e-9, "{yaw}");
    }
}
