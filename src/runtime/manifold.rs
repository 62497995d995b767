//! State on its manifold: `retract(q, δ)`, and what Runge-Kutta stages need on rotations.
//!
//! A quaternion part is (w, x, y, z) with `R(t) = exp([u(t)]×) R₀` and `ω` in world axes, so that
//! `u̇ = dexp⁻¹(u) ω`. One-step solvers act on `u` (Munthe-Kaas 1998, *Runge-Kutta methods on Lie
//! groups*, BIT 38): a stage's rate is pulled back by `dexp⁻¹` before it is combined, which keeps
//! the order of the method.
//!
//! An Euler-angle part is roll φ, pitch θ, yaw ψ with `R = Rz(ψ) Ry(θ) Rx(φ)`. The angles are their
//! own chart; the rate is pulled back by `T(θ)` of `ω = T⁻¹ (φ̇, θ̇, ψ̇)` (Diebel 2006,
//! *Representing attitude*, sec. 5.6). T has a pole at θ = ±90°.

use legwork_program::Part;

/// `x = retract(x₀, δ)`: plain numbers and angles add, a quaternion is turned by the world rotation
/// `δ`.
pub(crate) fn retract(parts: &[Part], x0: &[f64], delta: &[f64], x: &mut [f64]) {
    let (mut at, mut tangent) = (0, 0);
    for &part in parts {
        match part {
            Part::Euclidean(_) | Part::EulerAngles => {
                for i in 0..part.len() {
                    x[at + i] = x0[at + i] + delta[tangent + i];
                }
            }
            Part::Quaternion => {
                let turned = turn(
                    [x0[at], x0[at + 1], x0[at + 2], x0[at + 3]],
                    [delta[tangent], delta[tangent + 1], delta[tangent + 2]],
                );
                x[at..at + 4].copy_from_slice(&turned);
            }
        }
        at += part.len();
        tangent += part.tangent_len();
    }
}

/// `δ` with `x = retract(x₀, δ)`; of quaternions the shortest turn, whichever sign they have.
pub(crate) fn displacement(parts: &[Part], x0: &[f64], x: &[f64], delta: &mut [f64]) {
    let (mut at, mut tangent) = (0, 0);
    for &part in parts {
        match part {
            Part::Euclidean(_) | Part::EulerAngles => {
                for i in 0..part.len() {
                    delta[tangent + i] = x[at + i] - x0[at + i];
                }
            }
            Part::Quaternion => {
                let q = |x: &[f64]| [x[at], x[at + 1], x[at + 2], x[at + 3]];
                delta[tangent..tangent + 3].copy_from_slice(&turn_between(q(x0), q(x)));
            }
        }
        at += part.len();
        tangent += part.tangent_len();
    }
}

/// `δ` with `q = exp(δ) ⊗ q₀` up to sign, `|δ| ≤ π` [rad].
fn turn_between(q0: [f64; 4], q: [f64; 4]) -> [f64; 3] {
    let ([w0, x0, y0, z0], [w, x, y, z]) = (q0, q);
    let cos = w * w0 + x * x0 + y * y0 + z * z0;
    let v = [
        x * w0 - w * x0 + z * y0 - y * z0,
        y * w0 - w * y0 + x * z0 - z * x0,
        z * w0 - w * z0 + y * x0 - x * y0,
    ];
    let sin = dot(v, v).sqrt();
    let half = libm::atan2(sin, cos.abs());
    // 2 half / sin goes to 2 with the angle.
    let scale = if sin < 1e-8 { 2.0 } else { 2.0 * half / sin };
    let sign = if cos < 0.0 { -scale } else { scale };
    v.map(|part| sign * part)
}

/// Pulls the rate of a stage back to the chart of the step: `k ← dexp⁻¹(u) k` for quaternion parts,
/// `k ← T(θ) k` for Euler angles, where `u` is the stage's displacement and `x` its position.
pub(crate) fn pull_back(parts: &[Part], displacement: &[f64], x: &[f64], rate: &mut [f64]) {
    let (mut at, mut tangent) = (0, 0);
    for &part in parts {
        let three = |numbers: &[f64], i: usize| [numbers[i], numbers[i + 1], numbers[i + 2]];
        match part {
            Part::Euclidean(_) => {}
            Part::Quaternion => {
                let k = inverse_dexp(three(displacement, tangent), three(rate, tangent));
                rate[tangent..tangent + 3].copy_from_slice(&k);
            }
            Part::EulerAngles => {
                let k = angle_rates(three(x, at), three(rate, tangent));
                rate[tangent..tangent + 3].copy_from_slice(&k);
            }
        }
        at += part.len();
        tangent += part.tangent_len();
    }
}

/// Turns the velocities of Euler-angle parts at the position `x` into angle rates, those of other
/// parts being rates already.
pub(crate) fn turn_to_angle_rates(parts: &[Part], x: &[f64], rate: &mut [f64]) {
    let (mut at, mut tangent) = (0, 0);
    for &part in parts {
        if part == Part::EulerAngles {
            let omega = [rate[tangent], rate[tangent + 1], rate[tangent + 2]];
            let angles = angle_rates([x[at], x[at + 1], x[at + 2]], omega);
            rate[tangent..tangent + 3].copy_from_slice(&angles);
        }
        at += part.len();
        tangent += part.tangent_len();
    }
}

/// Rates (φ̇, θ̇, ψ̇) of roll, pitch and yaw at the angular velocity `ω` in world axes: the
/// solution of `ω = φ̇ Rz(ψ) Ry(θ) e_x + θ̇ Rz(ψ) e_y + ψ̇ e_z`.
fn angle_rates([_, pitch, yaw]: [f64; 3], [x, y, z]: [f64; 3]) -> [f64; 3] {
    let ((sin_pitch, cos_pitch), (sin_yaw, cos_yaw)) = (libm::sincos(pitch), libm::sincos(yaw));
    let roll_rate = (cos_yaw * x + sin_yaw * y) / cos_pitch;
    [roll_rate, cos_yaw * y - sin_yaw * x, z + sin_pitch * roll_rate]
}

/// `exp(δ) ⊗ q`, normalised; `δ` a rotation vector in world axes [rad].
fn turn(q: [f64; 4], delta: [f64; 3]) -> [f64; 4] {
    let angle2 = dot(delta, delta);
    let angle = angle2.sqrt();
    // sin(θ/2)/θ by its series near zero, where the quotient loses digits.
    let (scale, w) = if angle < 1e-4 {
        (
            0.5 - angle2 / 48.0 + angle2 * angle2 / 3840.0,
            1.0 - angle2 / 8.0 + angle2 * angle2 / 384.0,
        )
    } else {
        let (sin, cos) = libm::sincos(0.5 * angle);
        (sin / angle, cos)
    };
    let [x, y, z] = delta.map(|d| scale * d);
    let [qw, qx, qy, qz] = q;
    let product = [
        w * qw - x * qx - y * qy - z * qz,
        w * qx + x * qw + y * qz - z * qy,
        w * qy - x * qz + y * qw + z * qx,
        w * qz + x * qy - y * qx + z * qw,
    ];
    let norm = product.iter().map(|c| c * c).sum::<f64>().sqrt();
    product.map(|c| c / norm)
}

/// `dexp⁻¹(u) k = k − ½ u×k + c u×(u×k)`, `c = (1 − (θ/2) cot(θ/2)) / θ²`.
fn inverse_dexp(u: [f64; 3], k: [f64; 3]) -> [f64; 3] {
    let angle2 = dot(u, u);
    let c = if angle2 < 1e-4 {
        1.0 / 12.0 + angle2 / 720.0 + angle2 * angle2 / 30240.0
    } else {
        let half = 0.5 * angle2.sqrt();
        let (sin, cos) = libm::sincos(half);
        (1.0 - half * cos / sin) / angle2
    };
    let uk = cross(u, k);
    let uuk = cross(u, uk);
    std::array::from_fn(|i| k[i] - 0.5 * uk[i] + c * uuk[i])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `exp(u(t))` with `u = δ·t` turns at the constant rate `δ`, whatever the start.
    #[test]
    fn inverse_dexp_undoes_the_rate_of_the_exponential() {
        let (u, k) = ([0.3, -0.7, 0.5], [0.2, 0.9, -0.4]);
        // Difference quotient of exp(u + t·v) against ω, with v = dexp⁻¹(u) ω.
        let v = inverse_dexp(u, k);
        let step = 1e-6;
        let at = |t: f64| turn([1.0, 0.0, 0.0, 0.0], std::array::from_fn(|i| u[i] + t * v[i]));
        let (q, plus, minus) = (at(0.0), at(step), at(-step));
        let rate: [f64; 4] = std::array::from_fn(|i| (plus[i] - minus[i]) / (2.0 * step));
        // ω = 2 q̇ ⊗ q*
        let [w, x, y, z] = q;
        let omega = [
            2.0 * (-rate[0] * x + rate[1] * w - rate[2] * z + rate[3] * y),
            2.0 * (-rate[0] * y + rate[1] * z + rate[2] * w - rate[3] * x),
            2.0 * (-rate[0] * z - rate[1] * y + rate[2] * x + rate[3] * w),
        ];
        for i in 0..3 {
            assert!((omega[i] - k[i]).abs() < 1e-9, "axis {i}: {} against {}", omega[i], k[i]);
        }
    }

    /// Angles that change at `T(θ) ω` turn the rotation at ω: against the difference quotient of
    /// the rotation's quaternion `qz(ψ) ⊗ qy(θ) ⊗ qx(φ)`.
    #[test]
    fn angle_rates_turn_at_the_angular_velocity() {
        let quaternion = |[roll, pitch, yaw]: [f64; 3]| {
            let about_x = turn([1.0, 0.0, 0.0, 0.0], [roll, 0.0, 0.0]);
            turn(turn(about_x, [0.0, pitch, 0.0]), [0.0, 0.0, yaw])
        };
        let omega = [0.2, 0.9, -0.4];
        for angles in [[0.0; 3], [0.3, -0.7, 2.5], [-3.0, 1.4, -9.0], [1.0, -1.5, 0.1]] {
            let rates = angle_rates(angles, omega);
            let step = 1e-6;
            let at = |t: f64| quaternion(std::array::from_fn(|i| angles[i] + t * rates[i]));
            let turned = turn_between(at(-step), at(step)).map(|part| part / (2.0 * step));
            for i in 0..3 {
                assert!((turned[i] - omega[i]).abs() < 1e-8, "{angles:?}: {turned:?}");
            }
        }
    }

    #[test]
    fn the_displacement_undoes_the_retraction() {
        let parts = [Part::Euclidean(1), Part::Quaternion];
        let x0 = [2.0, 0.5, 0.5, -0.5, 0.5];
        for delta in
            [[0.25, 0.3, -0.7, 0.5], [0.0; 4], [-1.0, 1e-9, -2e-9, 3e-9], [1.0, 3.0, 0.5, 0.0]]
        {
            let (mut x, mut found) = ([0.0; 5], [0.0; 4]);
            retract(&parts, &x0, &delta, &mut x);
            for sign in [1.0, -1.0] {
                let x = [x[0], sign * x[1], sign * x[2], sign * x[3], sign * x[4]];
                displacement(&parts, &x0, &x, &mut found);
                for (found, delta) in found.iter().zip(delta) {
                    assert!((found - delta).abs() < 1e-14, "{found} against {delta}");
                }
            }
        }
    }

    #[test]
    fn small_and_large_turns_agree_where_the_series_ends() {
        let q = [0.5, 0.5, -0.5, 0.5];
        for scale in [0.999_999e-4, 1.000_001e-4] {
            let turned = turn(q, [scale, 0.0, 0.0]);
            let (sin, cos) = libm::sincos(0.5 * scale);
            assert!((turned[0] - (cos * 0.5 - sin * 0.5)).abs() < 1e-16, "{scale}");
        }
    }
}
