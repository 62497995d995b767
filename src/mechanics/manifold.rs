//! The configuration manifold: how velocities move configurations.
//!
//! `q = (p, Q, s)` with a unit quaternion `Q = (w, x, y, z)` that turns base axes into world axes.
//! Angular velocity is in world axes, so increments multiply from the left:
//! `Q⁺ = exp(½ δω) ⊗ Q`, `Q̇ = ½ ω ⊗ Q`. The quaternions of ball joints follow the same rule in the
//! axes of the joint at rest. All other numbers add.

use std::ops::Range;

use nalgebra::{Matrix3, Vector3};

use crate::model::Model;

/// Rotation matrix of a quaternion (w, x, y, z) of any length but zero.
#[must_use]
pub fn quaternion_to_rotation(quaternion: [f64; 4]) -> Matrix3<f64> {
    let [w, x, y, z] = quaternion;
    let scale = 2.0 / (w * w + x * x + y * y + z * z);
    let (sx, sy, sz) = (scale * x, scale * y, scale * z);
    Matrix3::new(
        1.0 - (sy * y + sz * z),
        sx * y - sz * w,
        sx * z + sy * w,
        sx * y + sz * w,
        1.0 - (sx * x + sz * z),
        sy * z - sx * w,
        sx * z - sy * w,
        sy * z + sx * w,
        1.0 - (sx * x + sy * y),
    )
}

/// Retraction `q⁺ = q ⊕ δ`: moves along the constant velocity `δ` for unit time.
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | q | `configuration` | nq | where to start |
/// | δ | `increment` | nv | velocity times time, as ν (world axes) [m, rad, rad or m] |
/// | q⁺ | `out` | nq | where it ends; its quaternion has unit length |
///
/// # Panics
/// If a slice has the wrong length.
#[doc(alias("retraction", "exponential map", "oplus"))]
pub fn integrate(model: &Model, configuration: &[f64], increment: &[f64], out: &mut [f64]) {
    assert_eq!(configuration.len(), model.configuration_dim(), "length of configuration");
    assert_eq!(increment.len(), model.velocity_dim(), "length of increment");
    assert_eq!(out.len(), model.configuration_dim(), "length of out");
    for_each_part(model, |part| match part {
        Part::Plain { q, v } => {
            for ((out, old), delta) in
                out[q.clone()].iter_mut().zip(&configuration[q]).zip(&increment[v])
            {
                *out = old + delta;
            }
        }
        Part::Quaternion { q, v } => {
            let turn =
                quaternion_exp(&Vector3::new(increment[v], increment[v + 1], increment[v + 2]));
            let new = normalized(quaternion_product(turn, quaternion_at(configuration, q)));
            out[q..q + 4].copy_from_slice(&new);
        }
    });
}

/// Difference `δ = to ⊖ from`, the inverse of [`integrate`]: `from ⊕ δ = to`.
///
/// The angular part is the shortest turn, `‖δω‖ ≤ π`.
///
/// # Panics
/// If a slice has the wrong length.
#[doc(alias("logarithmic map", "ominus", "log6"))]
pub fn difference(model: &Model, from: &[f64], to: &[f64], out: &mut [f64]) {
    assert_eq!(from.len(), model.configuration_dim(), "length of from");
    assert_eq!(to.len(), model.configuration_dim(), "length of to");
    assert_eq!(out.len(), model.velocity_dim(), "length of out");
    for_each_part(model, |part| match part {
        Part::Plain { q, v } => {
            for ((out, to), from) in out[v].iter_mut().zip(&to[q.clone()]).zip(&from[q]) {
                *out = to - from;
            }
        }
        Part::Quaternion { q, v } => {
            let start = normalized(quaternion_at(from, q));
            let end = normalized(quaternion_at(to, q));
            let turn = quaternion_product(end, [start[0], -start[1], -start[2], -start[3]]);
            out[v..v + 3].copy_from_slice(quaternion_log(turn).as_slice());
        }
    });
}

/// Time derivative `q̇` of the coordinates: `(ṗ, ½ ω ⊗ Q, ṡ)`, for solvers that integrate the
/// embedded coordinates and project with [`normalize`].
///
/// # Panics
/// If a slice has the wrong length.
pub fn configuration_derivative(
    model: &Model,
    configuration: &[f64],
    velocity: &[f64],
    out: &mut [f64],
) {
    assert_eq!(configuration.len(), model.configuration_dim(), "length of configuration");
    assert_eq!(velocity.len(), model.velocity_dim(), "length of velocity");
    assert_eq!(out.len(), model.configuration_dim(), "length of out");
    for_each_part(model, |part| match part {
        Part::Plain { q, v } => out[q].copy_from_slice(&velocity[v]),
        Part::Quaternion { q, v } => {
            let omega = [0.0, 0.5 * velocity[v], 0.5 * velocity[v + 1], 0.5 * velocity[v + 2]];
            let rate = quaternion_product(omega, quaternion_at(configuration, q));
            out[q..q + 4].copy_from_slice(&rate);
        }
    });
}

/// Projects onto the manifold: scales all quaternions to unit length.
///
/// # Panics
/// If the slice has the wrong length.
pub fn normalize(model: &Model, configuration: &mut [f64]) {
    assert_eq!(configuration.len(), model.configuration_dim(), "length of configuration");
    for &(q, _) in &model.quaternions {
        let unit = normalized(quaternion_at(configuration, q));
        configuration[q..q + 4].copy_from_slice(&unit);
    }
}

/// A range of coordinates of one kind.
enum Part {
    /// Numbers that add.
    Plain { q: Range<usize>, v: Range<usize> },
    /// A quaternion from `q` on, its angular velocity from `v` on.
    Quaternion { q: usize, v: usize },
}

#[inline]
fn for_each_part(model: &Model, mut visit: impl FnMut(Part)) {
    let (mut q, mut v) = (0, 0);
    for &(q_ball, v_ball) in &model.quaternions {
        visit(Part::Plain { q: q..q_ball, v: v..v_ball });
        visit(Part::Quaternion { q: q_ball, v: v_ball });
        (q, v) = (q_ball + 4, v_ball + 3);
    }
    visit(Part::Plain { q: q..model.configuration_dim(), v: v..model.velocity_dim() });
}

fn quaternion_at(configuration: &[f64], q: usize) -> [f64; 4] {
    [configuration[q], configuration[q + 1], configuration[q + 2], configuration[q + 3]]
}

fn normalized(q: [f64; 4]) -> [f64; 4] {
    let scale = 1.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
    q.map(|x| x * scale)
}

/// Hamilton product `a ⊗ b`.
fn quaternion_product(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

/// Quaternion of the rotation vector `turn` [rad].
pub(crate) fn quaternion_exp(turn: &Vector3<f64>) -> [f64; 4] {
    let angle = turn.norm();
    // Below this angle the next term of sin(x/2)/x, x⁴/3840, is lost in rounding.
    let (w, scale) = if angle < 1e-3 {
        let square = angle * angle;
        (1.0 - square / 8.0 + square * square / 384.0, 0.5 - square / 48.0)
    } else {
        let (s, c) = libm::sincos(0.5 * angle);
        (c, s / angle)
    };
    [w, scale * turn.x, scale * turn.y, scale * turn.z]
}

/// Rotation vector [rad] of a unit quaternion, the shorter of the two.
fn quaternion_log(q: [f64; 4]) -> Vector3<f64> {
    let q = if q[0] < 0.0 { q.map(|x| -x) } else { q };
    let v = Vector3::new(q[1], q[2], q[3]);
    let sine = v.norm();
    let scale = if sine < 1e-4 {
        // angle / sin(angle/2) = 2 + sin²/3 + O(sin⁴)
        2.0 + sine * sine / 3.0
    } else {
        2.0 * libm::atan2(sine, q[0]) / sine
    };
    v * scale
}
