//! What the `version` of a robot file changes: defaults of `<limit>` and quaternions in `<origin>`.

use nalgebra::{Matrix3, Vector3};

use crate::manifold::quaternion_to_rotation;

/// Attribute of an `<origin>` with its orientation as a quaternion x, y, z, w.
pub(super) const QUATERNION: &str = "quat_xyzw";

/// Version of the format: major, minor. A file without a valid version counts as 1.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(u32, u32);

impl Version {
    pub(super) const V1_0: Self = Self(1, 0);
    /// Reads `quat_xyzw`; earlier versions ignore it.
    pub(super) const V1_1: Self = Self(1, 1);
    /// Takes a missing `lower` or `upper` as no limit; earlier versions take it as zero.
    pub(super) const V1_2: Self = Self(1, 2);

    /// From the attribute of `<robot>`; an invalid one counts as 1.0.
    pub(super) fn new(attribute: Option<&str>) -> Self {
        attribute
            .and_then(|text| {
                let (major, minor) = text.trim().split_once('.')?;
                Some(Self(major.parse().ok()?, minor.parse().ok()?))
            })
            .unwrap_or(Self::V1_0)
    }

    /// Lower and upper limit of a joint whose `<limit>` states none.
    pub(super) fn missing_bounds(self) -> (f64, f64) {
        if self >= Self::V1_2 { (f64::NEG_INFINITY, f64::INFINITY) } else { (0.0, 0.0) }
    }
}

/// Roll, pitch and yaw [rad] of a quaternion (x, y, z, w) of any length but zero.
///
pub(super) fn roll_pitch_yaw(quaternion: [f64; 4]) -> Option<[f64; 3]> {
    let largest = quaternion.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if largest == 0.0 {
        return None;
    }
    // Scaling first keeps the squares from under- and overflowing.
    let [x, y, z, w] = quaternion.map(|part| part / largest);
    Some(angles_of(&quaternion_to_rotation([w, x, y, z])))
}

/// Roll, pitch and yaw [rad] of a rotation.
///
/// Roll is measured after yaw is undone, so that the three give the rotation back where pitch is a
/// right angle and yaw alone would be arbitrary.
pub(super) fn angles_of(r: &Matrix3<f64>) -> [f64; 3] {
    let yaw = libm::atan2(r[(1, 0)], r[(0, 0)]);
    let (sine, cosine) = libm::sincos(yaw);
    let pitch = libm::atan2(-r[(2, 0)], r[(0, 0)] * cosine + r[(1, 0)] * sine);
    let level = Vector3::new(-sine, cosine, 0.0);
    let roll = libm::atan2(-level.dot(&r.column(2)), level.dot(&r.column(1)));
    [roll, pitch, yaw]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::Placement;

    /// The angles give the rotation back, also where pitch is a right angle or nearly so.
    #[test]
    fn angles_give_the_rotation_back() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let near = libm::sincos(0.5 * (std::f64::consts::FRAC_PI_2 - 1e-3));
        for quaternion in [
            [0.0, 0.0, 0.0, 1.0],
            [0.3, -0.5, 0.2, 0.7],
            [-0.9, 0.1, 0.4, -0.2],
            [0.0, half, 0.0, half],
            [0.0, -half, 0.0, half],
            [0.5, 0.5, 0.5, 0.5],
            [0.5, -0.5, -0.5, 0.5],
            [0.0, near.0, 0.0, near.1],
            [1e200, 2e200, 0.0, -1e200],
            [1e-200, 2e-200, 0.0, -1e-200],
        ] {
            let largest = quaternion.iter().fold(0.0, |most: f64, x: &f64| most.max(x.abs()));
            let [x, y, z, w] = quaternion.map(|part| part / largest);
            let expected = quaternion_to_rotation([w, x, y, z]);
            let found =
                Placement::from_xyz_rpy([0.0; 3], roll_pitch_yaw(quaternion).unwrap_or([9.0; 3]));
            let error = (found.rotation - expected).amax();
            assert!(error < 1e-15 * 8.0, "{quaternion:?}: error {error:.1e}");
        }
        assert_eq!(roll_pitch_yaw([0.0; 4]), None);
    }

    #[test]
    fn versions_compare() {
        assert_eq!(Version::new(None), Version::V1_0);
        assert_eq!(Version::new(Some("one")), Version::V1_0);
        assert_eq!(Version::new(Some(" 1.1 ")), Version::V1_1);
        assert!(Version::new(Some("1.10")) > Version::V1_2);
        assert_eq!(Version::V1_1.missing_bounds(), (0.0, 0.0));
        assert_eq!(Version::V1_2.missing_bounds(), (f64::NEG_INFINITY, f64::INFINITY));
    }
}
