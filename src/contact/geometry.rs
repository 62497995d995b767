//! Contact points and contact axes on the ground.

use nalgebra::{Matrix3, Vector3};

/// A half-space of ground below a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// A point of the plane, world axes [m].
    pub point: Vector3<f64>,
    /// Unit normal out of the ground, world axes.
    normal: Vector3<f64>,
}

impl Default for Plane {
    /// Level ground at height zero.
    fn default() -> Self {
        Self { point: Vector3::zeros(), normal: Vector3::z() }
    }
}

impl Plane {
    /// The plane through `point` with the direction of `normal`; `None` if that has no direction.
    #[must_use]
    pub fn new(point: Vector3<f64>, normal: Vector3<f64>) -> Option<Self> {
        let length = normal.norm();
        let is_valid = length.is_normal() && point.iter().all(|x| x.is_finite());
        is_valid.then(|| Self { point, normal: normal / length })
    }

    /// Unit normal out of the ground, world axes.
    #[must_use]
    pub fn normal(&self) -> Vector3<f64> {
        self.normal
    }

    /// Signed distance of a point from the plane, negative inside the ground [m].
    #[must_use]
    pub fn distance(&self, point: &Vector3<f64>) -> f64 {
        self.normal.dot(&(point - self.point))
    }

    /// `world_from_contact`, see [`contact_frame`].
    #[must_use]
    pub fn frame(&self) -> Matrix3<f64> {
        contact_frame(&self.normal)
    }
}

/// Rotation `world_from_contact` with columns (t1, t2, n) for a unit normal n.
///
/// It is the smallest rotation that takes z to n, so level ground has the world's axes and the axes
/// vary smoothly with the normal. No choice is continuous on the whole sphere (hairy ball theorem);
/// this one jumps at `n = -z` alone, where it is `diag(1, -1, -1)`, and is right-handed and
/// orthonormal everywhere.
///
/// `R = [1 - x²c, -xyc, x; -xyc, 1 - y²c, y; -x, -y, z]` with `c = 1/(1+z)`, computed for z < 0 as
/// `(1-z)/(x²+y²)`, which does not cancel.
///
/// # References
/// N. Guedelha et al., *A flexible MATLAB/Simulink simulator* (2024) takes the angle from an
/// arcsine, which is wrong for normals below the horizon; we differ.
#[must_use]
pub fn contact_frame(normal: &Vector3<f64>) -> Matrix3<f64> {
    let (x, y, z) = (normal.x, normal.y, normal.z);
    let radius_squared = x * x + y * y;
    if z < 0.0 && radius_squared < f64::MIN_POSITIVE {
        return Matrix3::from_diagonal(&Vector3::new(1.0, -1.0, -1.0));
    }
    let c = if z < 0.0 { (1.0 - z) / radius_squared } else { 1.0 / (1.0 + z) };
    let xy = -x * y * c;
    Matrix3::new(1.0 - x * x * c, xy, x, xy, 1.0 - y * y * c, y, -x, -y, z)
}

/// Rate at which [`contact_frame`] turns about its normal as that moves by `ṅ` [rad/s]: with
/// `Ḟ = Ω × F`, `Ω = n × ṅ + σ n` and
///
/// `σ = −(x ẏ − y ẋ) c`, c as in [`contact_frame`].
///
/// At `n = −z`, where the axes jump, it is zero.
#[must_use]
pub fn contact_frame_spin(normal: &Vector3<f64>, normal_rate: &Vector3<f64>) -> f64 {
    // F = Rz(λ) Ry(θ) Rz(−λ) turns by λ̇ z + θ̇ e − λ̇ n: about n by −λ̇ (1 − z), and
    // λ̇ = (x ẏ − y ẋ)/(x² + y²).
    let (x, y, z) = (normal.x, normal.y, normal.z);
    let radius_squared = x * x + y * y;
    let swept = x * normal_rate.y - y * normal_rate.x;
    if z >= 0.0 {
        -swept / (1.0 + z)
    } else if radius_squared < f64::MIN_POSITIVE {
        0.0
    } else {
        -swept * ((1.0 - z) / radius_squared)
    }
}

/// A possible contact between a body's point and the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// The body's point nearest the ground, world axes [m].
    pub position: Vector3<f64>,
    /// That point relative to the body's reference (sphere centre, or the vertex itself), world
    /// axes [m].
    pub offset: Vector3<f64>,
    /// Distance to the ground, negative if penetrating [m].
    pub gap: f64,
    /// Rotation `world_from_contact` with columns (t1, t2, n).
    pub frame: Matrix3<f64>,
}

/// Contact of a sphere with a plane: the lowest point `centre - radius n`, `gap = distance -
/// radius`.
#[must_use]
pub fn sphere_on_plane(centre: &Vector3<f64>, radius: f64, plane: &Plane) -> ContactPoint {
    let offset = -radius * plane.normal;
    ContactPoint {
        position: centre + offset,
        offset,
        gap: plane.distance(centre) - radius,
        frame: plane.frame(),
    }
}

/// Contact of a point with a plane.
#[must_use]
pub fn vertex_on_plane(vertex: &Vector3<f64>, plane: &Plane) -> ContactPoint {
    ContactPoint {
        position: *vertex,
        offset: Vector3::zeros(),
        gap: plane.distance(vertex),
        frame: plane.frame(),
    }
}

/// Jacobian of a point at `offset` from a frame's origin: `v_p = v + ω × r`, so
/// `J_p = J_lin - [r]× J_ang`.
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | J | `frame_jacobian` | 6 × nv | linear rows first, world axes |
/// | r | `offset` | 3 | from the origin to the point, world axes [m] |
/// | J_p | `point_jacobian` | 3 × nv | written, world axes |
///
/// # Panics
/// If the lengths do not fit 6 : 3.
pub fn point_jacobian_into(
    frame_jacobian: &[f64],
    offset: &Vector3<f64>,
    point_jacobian: &mut [f64],
) {
    assert_eq!(frame_jacobian.len(), 2 * point_jacobian.len(), "expected 6 x nv and 3 x nv");
    let columns = frame_jacobian.chunks_exact(6).zip(point_jacobian.chunks_exact_mut(3));
    for (source, target) in columns {
        let angular = Vector3::new(source[3], source[4], source[5]);
        let swept = angular.cross(offset);
        for axis in 0..3 {
            target[axis] = source[axis] + swept[axis];
        }
    }
}

/// Rows in contact axes from rows in world axes: `J_c = R_cᵀ J_w`, written into rows
/// `3 contact .. 3 contact + 3` of a stacked Jacobian of `row_count` rows.
///
/// | symbol | argument | shape |
/// |---|---|---|
/// | R_c | `frame` | `world_from_contact` |
/// | J_w | `world_rows` | 3 × nv |
/// | J | `jacobian` | row_count × nv |
///
/// # Panics
/// If the shapes do not fit.
pub fn rotate_rows_into(
    frame: &Matrix3<f64>,
    world_rows: &[f64],
    contact: usize,
    row_count: usize,
    jacobian: &mut [f64],
) {
    assert!(3 * contact + 3 <= row_count, "contact {contact} is beyond {row_count} rows");
    assert_eq!(world_rows.len() * row_count, 3 * jacobian.len(), "expected equal columns");
    let columns = world_rows.chunks_exact(3).zip(jacobian.chunks_exact_mut(row_count));
    for (source, target) in columns {
        let rotated = frame.tr_mul(&Vector3::new(source[0], source[1], source[2]));
        target[3 * contact..3 * contact + 3].copy_from_slice(rotated.as_slice());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop")]
mod tests {
    use super::*;
    use legwork_qp::problems::Random;

    fn normals() -> Vec<Vector3<f64>> {
        let mut random = Random::new(3);
        let mut normals: Vec<_> = (0..500)
            .map(|_| Vector3::new(random.normal(), random.normal(), random.normal()).normalize())
            .collect();
        for axis in 0..3 {
            let mut e = Vector3::zeros();
            e[axis] = 1.0;
            normals.extend([e, -e]);
        }
        for small in [1e-3, 1e-8, 1e-12, 1e-160] {
            for up in [1.0, -1.0] {
                let raw = Vector3::new(small, -0.7 * small, up);
                normals.push(raw / raw.norm());
            }
        }
        normals
    }

    #[test]
    fn frames_are_right_handed_orthonormal_and_carry_the_normal() {
        for normal in normals() {
            let frame = contact_frame(&normal);
            let error = (frame.transpose() * frame - Matrix3::identity()).amax();
            assert!(error < 1e-14, "{normal}: not orthonormal by {error:.1e}");
            assert!((frame.determinant() - 1.0).abs() < 1e-14, "{normal}: left-handed");
            assert!((frame.column(2) - normal).amax() < 1e-15, "{normal}: normal lost");
        }
        assert_eq!(contact_frame(&Vector3::z()), Matrix3::identity());
    }

    #[test]
    fn frames_are_continuous_away_from_straight_down() {
        let mut random = Random::new(4);
        for normal in normals() {
            let to_down = (normal + Vector3::z()).norm();
            if to_down < 1e-2 {
                continue;
            }
            let nudge = 1e-7 * Vector3::new(random.normal(), random.normal(), random.normal());
            let change = contact_frame(&(normal + nudge).normalize()) - contact_frame(&normal);
            // The slope grows like one over the distance to the pole.
            let bound = 10.0 * nudge.norm() / to_down;
            assert!(change.amax() < bound, "{normal}: jump of {:.1e}", change.amax());
        }
    }

    #[test]
    fn frames_turn_by_the_spin_and_the_turn_of_the_normal() {
        let mut random = Random::new(6);
        let h = 1e-6;
        for normal in normals() {
            let to_down = (normal + Vector3::z()).norm();
            if to_down < 0.1 {
                continue;
            }
            let push = Vector3::new(random.normal(), random.normal(), random.normal());
            let rate = push - normal * normal.dot(&push);
            let at = |t: f64| contact_frame(&(normal + rate * t).normalize());
            let difference = (at(h) - at(-h)) / (2.0 * h);
            let spin = contact_frame_spin(&normal, &rate);
            let turning = normal.cross(&rate) + normal * spin;
            let expected = turning.cross_matrix() * contact_frame(&normal);
            let error = (difference - expected).amax();
            // The third derivative grows like the cube of one over the distance to the pole.
            assert!(error < 1e-8 * (1.0 + 1.0 / to_down.powi(3)), "{normal}: {error:.1e}");
        }
        assert_eq!(contact_frame_spin(&-Vector3::z(), &Vector3::x()), 0.0);
    }

    #[test]
    fn a_sphere_touches_where_its_surface_meets_the_plane() {
        let mut random = Random::new(5);
        for normal in normals() {
            let point = Vector3::new(random.normal(), random.normal(), random.normal());
            let plane = Plane::new(point, 3.0 * normal).unwrap();
            let centre = Vector3::new(random.normal(), random.normal(), random.normal());
            let contact = sphere_on_plane(&centre, 0.02, &plane);
            assert!((contact.gap - plane.distance(&contact.position)).abs() < 1e-14);
            assert!(((contact.position - centre).norm() - 0.02).abs() < 1e-15);
            assert_eq!(contact.gap, vertex_on_plane(&centre, &plane).gap - 0.02);
        }
        assert!(Plane::new(Vector3::zeros(), Vector3::zeros()).is_none());
        assert!(Plane::new(Vector3::zeros(), Vector3::new(f64::NAN, 0.0, 1.0)).is_none());
    }

    /// `J_p ν` is the velocity that rigid-body kinematics gives, in contact axes.
    #[test]
    fn point_rows_give_the_velocity_of_the_point() {
        let plane = Plane::new(Vector3::zeros(), Vector3::new(0.3, -0.2, 0.8)).unwrap();
        let mut frame_jacobian = [0.0; 36];
        for i in 0..6 {
            frame_jacobian[7 * i] = 1.0;
        }
        let (linear, angular) = (Vector3::new(1.0, 2.0, 3.0), Vector3::new(-0.4, 0.5, 0.6));
        let offset = Vector3::new(0.1, 0.2, -0.3);
        let (mut world, mut stacked) = ([0.0; 18], [0.0; 36]);
        point_jacobian_into(&frame_jacobian, &offset, &mut world);
        rotate_rows_into(&plane.frame(), &world, 1, 6, &mut stacked);
        let expected = plane.frame().transpose() * (linear + angular.cross(&offset));
        for axis in 0..3 {
            let velocity: f64 = (0..3)
                .map(|j| {
                    stacked[6 * j + 3 + axis] * linear[j]
                        + stacked[6 * (j + 3) + 3 + axis] * angular[j]
                })
                .sum();
            assert!((velocity - expected[axis]).abs() < 1e-14);
        }
    }
}
