//! Placements of frames and the vectors that live at their origins.

use nalgebra::{Matrix3, Vector3};

/// Rigid displacement `x_A = R x_B + p`, named `a_from_b`.
///
/// Products read right to left and cancel: `world_from_foot = world_from_base * base_from_foot`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Rotation matrix `R`: its columns are the axes of B in A.
    pub rotation: Matrix3<f64>,
    /// Origin `p` of B in A [m].
    pub translation: Vector3<f64>,
}

impl Placement {
    /// The identity.
    #[must_use]
    pub fn identity() -> Self {
        Self { rotation: Matrix3::identity(), translation: Vector3::zeros() }
    }

    /// From a translation [m] and roll, pitch, yaw [rad]: `R = Rz(yaw) Ry(pitch) Rx(roll)`, the
    /// fixed-axis convention of URDF.
    #[must_use]
    pub fn from_xyz_rpy(xyz: [f64; 3], rpy: [f64; 3]) -> Self {
        let (sr, cr) = libm::sincos(rpy[0]);
        let (sp, cp) = libm::sincos(rpy[1]);
        let (sy, cy) = libm::sincos(rpy[2]);
        let rotation = Matrix3::new(
            cy * cp,
            cy * sp * sr - sy * cr,
            cy * sp * cr + sy * sr,
            sy * cp,
            sy * sp * sr + cy * cr,
            sy * sp * cr - cy * sr,
            -sp,
            cp * sr,
            cp * cr,
        );
        Self { rotation, translation: Vector3::from(xyz) }
    }

    /// The inverse: `b_from_a` for `a_from_b`.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.transpose();
        Self { rotation, translation: -(rotation * self.translation) }
    }

    /// Point [m] given in B, expressed in A.
    #[must_use]
    pub fn transform_point(&self, point: &Vector3<f64>) -> Vector3<f64> {
        self.rotation * point + self.translation
    }
}

impl std::ops::Mul for Placement {
    type Output = Self;

    fn mul(self, rhs: Self) -> Self {
        Self {
            rotation: self.rotation * rhs.rotation,
            translation: self.rotation * rhs.translation + self.translation,
        }
    }
}

/// Velocity of a frame, or its time derivative, in the mixed representation: the motion of the
/// frame's origin and the rotation of its axes, both in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixedTwist {
    /// Velocity of the origin [m/s] (acceleration: m/s²).
    pub linear: Vector3<f64>,
    /// Angular velocity [rad/s] (acceleration: rad/s²).
    pub angular: Vector3<f64>,
}

/// Force and moment acting **on** the robot, in world axes, moment about the frame's origin; dual
/// to [`MixedTwist`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixedWrench {
    /// Force [N].
    pub force: Vector3<f64>,
    /// Moment about the frame's origin [N m].
    pub moment: Vector3<f64>,
}
