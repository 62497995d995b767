//! State of the outer iteration from pass to pass, and the linearisation of nonlinear springs.

use super::problem::SpringDamper;

/// State of the outer iteration for one constraint.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lag {
    /// γ_k, in the order (r, s, n); a single row is n [N s].
    pub(super) multiplier: [f64; 3],
    /// s_k [m/s].
    pub(super) slip: f64,
    /// r_k [N s], in place of the slip.
    pub(super) bound: Option<f64>,
    /// d_k, the depth -φ₁ at which a nonlinear law is linearised [m].
    pub(super) depth: f64,
}

impl Lag {
    /// The lagged quantity of friction: the bound, or the slip.
    pub(super) fn scalar(&self) -> f64 {
        self.bound.unwrap_or(self.slip)
    }

    /// The same, mutable.
    pub(super) fn scalar_mut(&mut self) -> &mut f64 {
        self.bound.as_mut().unwrap_or(&mut self.slip)
    }
}

/// `x^e` for x ≥ 0, with roots instead of the general power for the exponents of Hertz's law.
pub(super) fn power(x: f64, exponent: f64) -> f64 {
    if exponent == 0.5 {
        x.sqrt()
    } else if exponent == 2.0 {
        x * x
    } else if exponent == 1.0 / 1.5 {
        let root = libm::cbrt(x);
        root * root
    } else {
        libm::pow(x, exponent)
    }
}

/// `(K, λ)` of a spring `K₀ sgn(d) |d|^e` along the tangent at depth d_k: slope, and force at d =
/// 0.
pub(super) fn tangent(row: &SpringDamper, depth: f64) -> (f64, f64) {
    if row.exponent == 1.0 {
        return (row.stiffness, 0.0);
    }
    let slope = row.exponent * row.stiffness * power(depth.abs(), row.exponent - 1.0);
    (slope, slope * depth * (1.0 / row.exponent - 1.0))
}

/// `D w` of a nonlinear row at the least depth at which it is linearised first, see
/// [`first_depth`].
const FIRST_STIFFNESS: f64 = 1e2;

/// Depth of the first linearisation of a nonlinear law, if the guess is `depth` and a row of this
/// inverse inertia [1/kg] has at most this speed [m/s].
///
/// A slope of zero at touchdown would let contacts close one by one, each in its own pass. So a
/// shallower contact gets the depth at which it is stiff, `h² K w` = 100, and its force is that of
/// a rigid one to a percent; or, if that is less, the depth at which the spring stops that speed
/// within a step.
pub(super) fn first_depth(
    row: &SpringDamper,
    h: f64,
    inverse_inertia: f64,
    speed: f64,
    depth: f64,
) -> f64 {
    if row.exponent == 1.0 {
        return depth;
    }
    let slope = FIRST_STIFFNESS / (inverse_inertia * h * h);
    let stiff = power(slope / (row.exponent * row.stiffness), 1.0 / (row.exponent - 1.0));
    if depth >= stiff {
        return depth;
    }
    let stopping = power(speed / inverse_inertia / (h * row.stiffness), 1.0 / row.exponent);
    let least = stopping.min(stiff);
    let is_useful = least.is_finite() && depth < least;
    if is_useful { least } else { depth }
}
