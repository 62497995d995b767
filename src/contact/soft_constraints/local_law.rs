//! The law of one constraint as a monotone function: impulse γ = h λ₁ of its rows' velocity
//! `u = G v₁`.
//!
//! A row's spring-damper, linear in u, is `γ = a - D u` with `D = h² K + h B` [kg] and
//! `a = h λ_p - h K φ₀ - h D Ġv₀` [N s]. Around it are three quantities that an outer iteration
//! brings to convergence (see [`Lag`]):
//!
//! - *multiplier*: a row far stiffer than its inertia 1/w, `D w > S`, is replaced by
//!   `γ = (a - D u + (s - 1) γ_k) / s` with `s = D w / S`, a proximal step on its impulse
//!   (R. T. Rockafellar, *Augmented Lagrangians and applications of the proximal point algorithm in
//!   convex programming*, 1976). The fixed point γ = γ_k is the row's law itself, whatever s;
//! - *tangent point*: a law `K sgn(d) |d|^e` is replaced by its tangent at d_k;
//! - *slip*: the normal row of a sliding contact has `u_n + μ s_k` in place of `u_n`, s_k being its
//!   slip. Without it the common convex objective makes a contact that slides at speed s open at
//!   μ s (G. de Saxcé, Z.-Q. Feng, *The bipotential method*, 1998);
//! - *bound*, in place of slips: friction is held in the disk `|γ_t| ≤ r_k`, Tresca's law, and r_k
//!   is μ times the last normal impulse (P. D. Panagiotopoulos, *A nonlinear programming approach
//!   to the unilateral contact- and friction-boundary value problem*, 1975). Slips settle in few
//!   passes or, where contacts of a stiff body slide with unequal friction, not at all; bounds
//!   settle as long as friction does not turn more than its own share of load.
//!
//! A contact's impulse is the point of the cone `|γ_t| ≤ μ γ_n` that is nearest to the
//! spring-dampers' y = (y_t, y_n) in the metric of 1/D (A. M. Castro et al., *An unconstrained
//! convex formulation of compliant contact*, 2022, section VI):
//!
//! | region | where | γ_n | γ_t |
//! |---|---|---|---|
//! | stick | `\|y_t\| ≤ μ y_n` | y_n | y_t |
//! | slide | between | `(y_n + μ̂ \|y_t\|) / (1 + μ μ̂)` | `μ γ_n y_t/\|y_t\|` |
//! | open | `y_n ≤ -μ̂ \|y_t\|` | 0 | 0 |
//!
//! with `μ̂ = μ D_n / D_t`. It is minus the gradient of a convex function of u, so its derivative
//! `-∂γ/∂u`, the *curvature*, is symmetric positive semidefinite.

use super::lag::{Lag, power, tangent};
use super::problem::Law;

/// S, the largest ratio of a row's conductance D to its inertia in one linear system.
///
/// The system's condition number is about S, so velocities lose six digits at most, which the
/// outer iteration restores; each of its passes gains six.
const STIFFNESS_LIMIT: f64 = 1e6;

/// The set of allowed impulses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Pulls and pushes (bilateral).
    Free,
    /// Only pushes (unilateral).
    NonNegative,
    /// A contact without friction.
    Normal,
    /// A contact with friction.
    Cone,
    /// A contact whose friction has its own bound.
    Disk,
    /// A contact that neither opens nor slides, see [`LocalLaw::held`].
    Held,
}

impl Kind {
    /// Whether it has friction.
    pub(super) fn has_friction(self) -> bool {
        matches!(self, Self::Cone | Self::Disk)
    }
}

/// A constraint's law with the quantities of the outer iteration inserted.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalLaw {
    kind: Kind,
    friction: f64,
    /// r of a disk [N s].
    bound: f64,
    /// D_t and D_n after the proximal step [kg].
    conductance: [f64; 2],
    /// y at u = 0, in the order (r, s, n) [N s].
    offset: [f64; 3],
    /// Factors 1/s of the tangential rows and of the normal row.
    share: [f64; 2],
}

/// Where the impulse lies in its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    /// No impulse.
    Open,
    /// The spring-dampers' impulse itself.
    Inside,
    /// On the cone's surface.
    Slide,
}

/// An impulse and its curvature.
#[derive(Clone, Copy, Debug)]
pub(super) struct Response {
    pub(super) impulse: [f64; 3],
    pub(super) region: Region,
}

/// Proximal factor s of a row, see the module docs.
fn scale(conductance: f64, inverse_inertia: f64) -> f64 {
    let stiffness = conductance * inverse_inertia;
    if stiffness <= STIFFNESS_LIMIT { 1.0 } else { (stiffness / STIFFNESS_LIMIT).max(1.0) }
}

/// `x/s`, without the division for most rows.
fn shared(x: f64, s: f64) -> f64 {
    if s == 1.0 { x } else { x / s }
}

impl LocalLaw {
    /// The law at these lagged quantities.
    ///
    /// `inverse_inertia` estimates `g M⁻¹ gᵀ` of the tangential rows and of the normal row [1/kg].
    pub(super) fn new(law: &Law, h: f64, inverse_inertia: [f64; 2], lag: &Lag) -> Self {
        // The normal row: conductance D and impulse at rest a of the tangent at the lagged depth.
        // Where D is large beside the inertia, s divides it, and the multiplier carries the rest.
        let normal = law.normal();
        let (slope, rest) = tangent(normal, lag.depth);
        let d_n = h * (h * slope + normal.damping);
        let a_n = h * (normal.preload + rest - slope * normal.deformation - d_n * normal.rate_bias);
        let s_n = scale(d_n, inverse_inertia[1]);
        let mut local = Self {
            kind: match law {
                Law::Bilateral(_) => Kind::Free,
                Law::Unilateral(_) => Kind::NonNegative,
                Law::Contact(..) => Kind::Normal,
            },
            friction: 0.0,
            bound: 0.0,
            conductance: [0.0, shared(d_n, s_n)],
            offset: [0.0, 0.0, shared(a_n + (s_n - 1.0) * lag.multiplier[2], s_n)],
            share: [1.0, shared(1.0, s_n)],
        };
        if let Law::Contact(_, friction) = law {
            // Tangential rows, alike. The cone is lowered by the slip, so that it is Coulomb's; a
            // bound makes it a disk.
            let d_t = h * (h * friction.stiffness + friction.damping);
            if friction.coefficient > 0.0 && d_t > 0.0 {
                local.kind = Kind::Cone;
                local.friction = friction.coefficient;
                let s_t = scale(d_t, inverse_inertia[0]);
                local.conductance[0] = shared(d_t, s_t);
                local.share[0] = shared(1.0, s_t);
                for i in 0..2 {
                    let a = -h
                        * (friction.stiffness * friction.deformation[i]
                            + d_t * friction.rate_bias[i]);
                    local.offset[i] = shared(a + (s_t - 1.0) * lag.multiplier[i], s_t);
                }
                if let Some(bound) = lag.bound {
                    (local.kind, local.bound) = (Kind::Disk, bound);
                } else {
                    local.offset[2] -= local.conductance[1] * local.friction * lag.slip;
                }
            }
        }
        local
    }

    /// This law as that of a contact that keeps touching and sticking, whatever force that takes;
    /// without friction it has no tangential force.
    pub(super) fn held(self) -> Self {
        Self { kind: if self.kind.has_friction() { Kind::Held } else { Kind::Free }, ..self }
    }

    /// Whether an impulse pushes, and is well within the bounds of friction.
    pub(super) fn sticks(&self, [r, s, n]: [f64; 3]) -> bool {
        let bound = if self.kind == Kind::Disk { self.bound } else { self.friction * n };
        n > 0.0 && (!self.kind.has_friction() || r * r + s * s < 0.9 * bound * bound)
    }

    /// y, the spring-dampers' impulse before the projection on its set.
    pub(super) fn drive(&self, u: [f64; 3]) -> [f64; 3] {
        let [d_t, d_n] = self.conductance;
        let [a, b, c] = self.offset;
        [a - d_t * u[0], b - d_t * u[1], c - d_n * u[2]]
    }

    /// μ̂ = μ D_n / D_t.
    fn leaning(&self) -> f64 {
        self.friction * self.conductance[1] / self.conductance[0]
    }

    /// γ at u.
    pub(super) fn response(&self, u: [f64; 3]) -> Response {
        let y = self.drive(u);
        let normal = |force: f64| [0.0, 0.0, force];
        let (impulse, region) = match self.kind {
            Kind::Free => (normal(y[2]), Region::Inside),
            Kind::Held => (y, Region::Inside),
            Kind::NonNegative | Kind::Normal => {
                // Written so that NaN propagates.
                if y[2] <= 0.0 {
                    (normal(0.0), Region::Open)
                } else {
                    (normal(y[2]), Region::Inside)
                }
            }
            Kind::Cone => {
                let (mu, leaning) = (self.friction, self.leaning());
                let y_t = (y[0] * y[0] + y[1] * y[1]).sqrt();
                if y_t <= mu * y[2] {
                    (y, Region::Inside)
                } else if y[2] <= -leaning * y_t {
                    (normal(0.0), Region::Open)
                } else {
                    let n = (y[2] + leaning * y_t) / (1.0 + mu * leaning);
                    let factor = mu * n / y_t;
                    ([factor * y[0], factor * y[1], n], Region::Slide)
                }
            }
            Kind::Disk => {
                let (y_t, n) = ((y[0] * y[0] + y[1] * y[1]).sqrt(), y[2].max(0.0));
                if y_t <= self.bound {
                    ([y[0], y[1], n], Region::Inside)
                } else {
                    let factor = self.bound / y_t;
                    ([factor * y[0], factor * y[1], n], Region::Slide)
                }
            }
        };
        Response { impulse, region }
    }

    /// γ and `-∂γ/∂u`, 3 × 3, at u.
    pub(super) fn curvature(&self, u: [f64; 3], curvature: &mut [f64; 9]) -> Response {
        let response = self.response(u);
        let [d_t, d_n] = self.conductance;
        *curvature = [0.0; 9];
        if self.kind == Kind::Disk {
            self.curvature_of_disk(u, response.region, curvature);
            return response;
        }
        match response.region {
            Region::Open => {}
            Region::Inside => {
                curvature[8] = d_n;
                if matches!(self.kind, Kind::Cone | Kind::Held) {
                    (curvature[0], curvature[4]) = (d_t, d_t);
                }
            }
            Region::Slide => {
                let y = self.drive(u);
                let y_t = (y[0] * y[0] + y[1] * y[1]).sqrt();
                let (mu, t) = (self.friction, [y[0] / y_t, y[1] / y_t]);
                // On the cone's surface: stiff along the generator, soft across, nothing off it.
                let along = d_n / (1.0 + mu * self.leaning());
                let across = mu * response.impulse[2] / y_t * d_t;
                for i in 0..2 {
                    for j in 0..2 {
                        let unit = if i == j { 1.0 } else { 0.0 };
                        let dyad = t[i] * t[j];
                        curvature[3 * j + i] = mu * mu * along * dyad + across * (unit - dyad);
                    }
                    curvature[6 + i] = mu * along * t[i];
                    curvature[3 * i + 2] = mu * along * t[i];
                }
                curvature[8] = along;
            }
        }
        response
    }

    /// That of a disk, whose normal and tangential rows are independent.
    fn curvature_of_disk(&self, u: [f64; 3], region: Region, curvature: &mut [f64; 9]) {
        let (y, [d_t, d_n]) = (self.drive(u), self.conductance);
        curvature[8] = if y[2] > 0.0 { d_n } else { 0.0 };
        if region == Region::Inside {
            (curvature[0], curvature[4]) = (d_t, d_t);
            return;
        }
        let y_t = (y[0] * y[0] + y[1] * y[1]).sqrt();
        let (t, across) = ([y[0] / y_t, y[1] / y_t], self.bound / y_t * d_t);
        for i in 0..2 {
            for j in 0..2 {
                let unit = if i == j { 1.0 } else { 0.0 };
                curvature[3 * j + i] = across * (unit - t[i] * t[j]);
            }
        }
    }

    /// Slip speed [m/s]: the tangential velocity that remains at the friction limit.
    pub(super) fn slip(&self, u: [f64; 3], response: &Response) -> f64 {
        let is_sliding = self.kind.has_friction() && response.region != Region::Inside;
        if !is_sliding {
            return 0.0;
        }
        let y = self.drive(u);
        let y_t = (y[0] * y[0] + y[1] * y[1]).sqrt();
        let limit =
            if self.kind == Kind::Disk { self.bound } else { self.friction * response.impulse[2] };
        (y_t - limit) / self.conductance[0]
    }

    /// The slip as a vector [m/s] that belongs to any impulse: by how much the tangential velocity
    /// exceeds that at which the spring-dampers have this impulse.
    pub(super) fn slip_of(&self, u: [f64; 3], impulse: [f64; 3]) -> [f64; 2] {
        if !self.kind.has_friction() {
            return [0.0; 2];
        }
        let y = self.drive(u);
        [0, 1].map(|i| (impulse[i] - y[i]) / self.conductance[0])
    }

    /// The lagged quantities that follow from u, γ and their slip, `slip` being s_k and
    /// `inverse_inertia` the normal row's [1/kg].
    ///
    /// The depth is that of the velocity whose force the normal row has, `u_n + μ (s_k - s)`: with
    /// u_n alone, a slip that has not settled would take a stiff contact off its tangent point. Of
    /// a stiff nonlinear row it is the depth that belongs to its force: the force hardly depends on
    /// the depth then, so that Newton's method in forces needs two or three passes where in depths
    /// it comes nearer by a third each pass, once it is too deep.
    pub(super) fn next_lag(
        &self,
        law: &Law,
        h: f64,
        (u, inverse_inertia): ([f64; 3], f64),
        slip: f64,
        (impulse, next): ([f64; 3], f64),
    ) -> Lag {
        let normal = law.normal();
        // A disk's normal force has the velocity itself.
        let lifted = if self.kind == Kind::Disk { 0.0 } else { self.friction * (slip - next) };
        let velocity = u[2] + lifted;
        let rate = velocity + h * normal.rate_bias;
        let mut depth = -(normal.deformation + h * rate);
        let is_stiff = self.conductance[1] * inverse_inertia >= 1.0;
        if normal.exponent != 1.0 && is_stiff && impulse[2] > 0.0 {
            let elastic = impulse[2] / h - normal.preload + normal.damping * rate;
            if elastic > 0.0 {
                depth = power(elastic / normal.stiffness, 1.0 / normal.exponent);
            }
        }
        let bound = (self.kind == Kind::Disk).then(|| self.friction * impulse[2].max(0.0));
        Lag { multiplier: impulse, slip: next, bound, depth }
    }

    /// D_t and D_n after the proximal step [kg].
    pub(super) fn conductance(&self) -> [f64; 2] {
        self.conductance
    }

    /// The set that holds the impulse.
    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// μ.
    pub(super) fn friction(&self) -> f64 {
        self.friction
    }

    /// r of a disk [N s].
    pub(super) fn bound(&self) -> Option<f64> {
        (self.kind == Kind::Disk).then_some(self.bound)
    }
}

#[cfg(test)]
mod tests;
