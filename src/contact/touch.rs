//! Where a feature of a body touches a surface, with its velocity and acceleration.
//!
//! The surface S is fixed in a frame; all vectors here are in its axes, and the body A moves
//! relative to it. With `c` the feature's centre, `o` from it to the contact point `x = c + o`,
//! ω, α the relative angular velocity and its rate, n, H normal and curvature of the surface:
//!
//! ```text
//! u  = ċ + ω × o                      velocity of A's matter at x, against S
//! u̇  = c̈ + α × o + ω × ȯ
//! ```
//!
//! | feature | o | ȯ |
//! |---|---|---|
//! | vertex | 0 | 0 |
//! | ball of radius r | `−r n(c)` | `−r H ċ` |
//! | rim: circle of radius r about the axis a | `−r k n_⊥(x)`, `n_⊥ = n − (a·n) a` | see below |
//!
//! # The lowest point of a rim
//!
//! With `s = |n_⊥|²` the lowest point of the circle has `k = 1/√s`, and swings round it at any
//! speed as the axis comes close to the normal. We take `φ(s) = √s` for `s ≥ ε²` and below it the
//! parabola in s that has the same value, slope and bend there, and `k = 2 φ'`, so that the point
//! moves inwards to the centre. The gap is `d(x) + r (k s − φ)`: its rate is then `n·u` everywhere,
//! and for `s ≥ ε²` it is exact. On curved ground x is the solution of the equation above, by
//! Newton; where the normal jumps under the rim (deep within a box) there may be none, and the last
//! x is taken. With `T = k P + 2 k' n_⊥ n_⊥ᵀ`, `P = 1 − a aᵀ`, the point moves in the body by
//!
//! ```text
//! (1 + r T H) o° = −r T (H u − ω × n),    ȯ = ω × o + o°
//! ```
//!
//! # Contact axes
//!
//! `F = (t₁, t₂, n)` is [`contact_frame`] of the normal in the axes of S, so that the tangents turn
//! with S. As n moves, F turns with `Ω = n × ṅ + σ n` ([`contact_frame_spin`]), and
//!
//! ```text
//! velocity = Fᵀ u,    d/dt velocity = Fᵀ (u̇ − Ω × u)
//! ```

use nalgebra::{Matrix3, Vector3};

use crate::geometry::{contact_frame, contact_frame_spin};
use crate::surface::{Distance, Surface};

/// Below this sine of the angle between normal and axis (0.06°) the lowest point of a rim moves
/// inwards.
const FLAT: f64 = 1e-3;
/// Newton steps to the lowest point of a rim, at most; one on flat ground.
const STEPS: usize = 30;
/// The smallest part of such a step.
const SMALLEST_PART: f64 = 1e-3;

/// The part of a body that touches, in the body's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Feature {
    /// A ball; a vertex if its radius is zero.
    Ball {
        /// Centre [m].
        center: Vector3<f64>,
        /// Radius [m].
        radius: f64,
    },
    /// The rim of a wheel or cylinder, of which the lowest point touches.
    Rim {
        /// Centre [m].
        center: Vector3<f64>,
        /// Unit vector along the axis, of either sign.
        axis: Vector3<f64>,
        /// Radius [m].
        radius: f64,
    },
}

impl Feature {
    /// A point of the body [m].
    #[must_use]
    pub fn vertex(point: Vector3<f64>) -> Self {
        Self::Ball { center: point, radius: 0.0 }
    }
}

/// Motion of a body's frame relative to a surface's frame, in the axes of the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelativeMotion {
    /// Rotation `surface_from_body`.
    pub rotation: Matrix3<f64>,
    /// Origin of the body's frame [m].
    pub translation: Vector3<f64>,
    /// Its rate [m/s].
    pub linear: Vector3<f64>,
    /// Angular velocity of the body against the surface [rad/s].
    pub angular: Vector3<f64>,
    /// Rate of `linear` [m/s²].
    pub linear_rate: Vector3<f64>,
    /// Rate of `angular` [rad/s²].
    pub angular_rate: Vector3<f64>,
}

/// Motion of a surface's material along the surface, which itself does not move: a treadmill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Belt {
    /// Velocity of the matter at the surface's origin [m/s].
    pub linear: Vector3<f64>,
    /// Angular velocity of the matter [rad/s].
    pub angular: Vector3<f64>,
    /// Rate of `linear` [m/s²].
    pub linear_rate: Vector3<f64>,
    /// Rate of `angular` [rad/s²].
    pub angular_rate: Vector3<f64>,
}

/// A possible contact of a feature with a surface, in the axes of the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The contact point x [m].
    pub position: Vector3<f64>,
    /// From the origin of the body's frame to it [m].
    pub arm: Vector3<f64>,
    /// Rotation `surface_from_contact` with columns (t₁, t₂, n).
    pub frame: Matrix3<f64>,
    /// Distance, negative if penetrating [m].
    pub gap: f64,
    /// Velocity of the body's matter at x against the surface's, contact axes [m/s].
    pub velocity: Vector3<f64>,
    /// Rate of `velocity` if the frames move with the given accelerations, contact axes [m/s²].
    pub velocity_rate: Vector3<f64>,
}

/// The contact of `feature` with `surface`, see the [module](self).
///
/// Allocates nothing.
#[must_use]
pub fn touch(
    feature: &Feature,
    surface: &Surface,
    motion: &RelativeMotion,
    belt: Option<&Belt>,
) -> Touch {
    let (Feature::Ball { center, radius } | Feature::Rim { center, radius, .. }) = *feature;
    let (w, w_rate) = (&motion.angular, &motion.angular_rate);
    let to_center = motion.rotation * center;
    let c = motion.translation + to_center;
    let swept = w.cross(&to_center);
    let c_rate = motion.linear + swept;
    let c_rate_rate = motion.linear_rate + w_rate.cross(&to_center) + w.cross(&swept);

    let at = match feature {
        Feature::Ball { .. } => lowest_of_ball(surface, &c, radius, &c_rate),
        Feature::Rim { axis, .. } => {
            lowest_of_rim(surface, &c, &(motion.rotation * axis), radius, &c_rate, w)
        }
    };
    let mut u = c_rate + w.cross(&at.offset);
    let mut u_rate = c_rate_rate + w_rate.cross(&at.offset) + w.cross(&at.offset_rate);
    let position = c + at.offset;
    if let Some(belt) = belt {
        u -= belt.linear + belt.angular.cross(&position);
        let carried = belt.angular.cross(&(c_rate + at.offset_rate));
        u_rate -= belt.linear_rate + belt.angular_rate.cross(&position) + carried;
    }
    let frame = contact_frame(&at.normal);
    // The axes turn as the normal does, on flat ground not at all.
    let mut seen_rate = u_rate;
    if at.normal_rate != Vector3::zeros() {
        let spin = contact_frame_spin(&at.normal, &at.normal_rate);
        let turning = at.normal.cross(&at.normal_rate) + at.normal * spin;
        seen_rate -= turning.cross(&u);
    }
    Touch {
        position,
        arm: to_center + at.offset,
        gap: at.gap,
        velocity: frame.tr_mul(&u),
        velocity_rate: frame.tr_mul(&seen_rate),
        frame,
    }
}

/// The point of a feature that is nearest to a surface.
struct Lowest {
    gap: f64,
    /// From the feature's centre, and its rate.
    offset: Vector3<f64>,
    offset_rate: Vector3<f64>,
    normal: Vector3<f64>,
    normal_rate: Vector3<f64>,
}

fn lowest_of_ball(
    surface: &Surface,
    center: &Vector3<f64>,
    radius: f64,
    center_rate: &Vector3<f64>,
) -> Lowest {
    let Distance { distance, normal, curvature } = surface.at(center);
    let normal_rate = curvature * center_rate;
    Lowest {
        gap: distance - radius,
        offset: normal * -radius,
        offset_rate: normal_rate * -radius,
        normal,
        normal_rate,
    }
}

/// The rounded root φ of s, `k = 2 φ'` and `k'`.
fn rounded_root(s: f64) -> [f64; 3] {
    const SQUARE: f64 = FLAT * FLAT;
    if s >= SQUARE {
        let root = libm::sqrt(s);
        return [root, 1.0 / root, -0.5 / (s * root)];
    }
    let t = s / SQUARE;
    [FLAT * (0.375 + t * (0.75 - 0.125 * t)), (1.5 - 0.5 * t) / FLAT, -0.5 / (SQUARE * FLAT)]
}

fn lowest_of_rim(
    surface: &Surface,
    center: &Vector3<f64>,
    axis: &Vector3<f64>,
    radius: f64,
    center_rate: &Vector3<f64>,
    angular: &Vector3<f64>,
) -> Lowest {
    let equation = RimEquation { surface, center, axis, radius };
    let mut here = equation.at(*center);
    for _ in 0..STEPS {
        let change = here.inverse * here.residual;
        if change.amax() <= 1e-14 * (radius + here.x.amax()) {
            break;
        }
        // Where the ground bends within the rim, full steps can oscillate without end.
        let mut part = 1.0;
        let mut next = equation.at(here.x - change);
        while next.residual.norm_squared() > here.residual.norm_squared() && part > SMALLEST_PART {
            part *= 0.5;
            next = equation.at(here.x - change * part);
        }
        here = next;
    }
    let RimPoint { x, near, turning, inverse, beside, .. } = here;
    let offset = x - center;
    let matter = center_rate + angular.cross(&offset);
    let seen = near.curvature * matter - angular.cross(&near.normal);
    let in_body = inverse * (turning * seen) * -radius;
    Lowest {
        gap: near.distance + beside,
        offset,
        offset_rate: angular.cross(&offset) + in_body,
        normal: near.normal,
        normal_rate: near.curvature * (matter + in_body),
    }
}

/// `x − c + r k n_⊥(x) = 0`.
struct RimEquation<'a> {
    surface: &'a Surface,
    center: &'a Vector3<f64>,
    axis: &'a Vector3<f64>,
    radius: f64,
}

/// A [`RimEquation`] at one point.
struct RimPoint {
    x: Vector3<f64>,
    near: Distance,
    residual: Vector3<f64>,
    /// T.
    turning: Matrix3<f64>,
    /// `(1 + r T H)⁻¹`.
    inverse: Matrix3<f64>,
    /// `r (k s − φ)`.
    beside: f64,
}

impl RimEquation<'_> {
    fn at(&self, x: Vector3<f64>) -> RimPoint {
        let near = self.surface.at(&x);
        let across = Matrix3::identity() - self.axis * self.axis.transpose();
        let inward = across * near.normal;
        let s = inward.norm_squared();
        let [root, k, k_rate] = rounded_root(s);
        let turning = across * k + inward * inward.transpose() * (2.0 * k_rate);
        let matrix = Matrix3::identity() + turning * near.curvature * self.radius;
        // Where the rim fits the ground as closely as the ground curves, any point is valid.
        let inverse = matrix.try_inverse().unwrap_or_else(Matrix3::identity);
        let residual = x - self.center + inward * (self.radius * k);
        RimPoint { x, near, residual, turning, inverse, beside: self.radius * (k * s - root) }
    }
}

#[cfg(test)]
mod tests;
