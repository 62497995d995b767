//! Compliant contact: a nonlinear spring and damper along the normal, regularised Coulomb friction
//! across it.
//!
//! With the gap δ (negative in contact) and the contact velocity (v_t, δ̇):
//!
//! - normal: `f_n = max(0, K (-δ)^e - c(δ) δ̇)`, with `c(δ) = c_max σ(-δ/w)`. The ramp σ removes
//!   the jump of the damping force at touchdown, the clamp the pull at separation;
//!   With a dissipation a it is Hunt and Crossley's instead,
//!   `f_n = max(0, K (-δ)^e (1 - 3/2 a δ̇))`: damping grows with the spring's force, so nothing
//!   jumps and no ramp is needed, and a body that arrives at speed v leaves at about `(1 - a v) v`;
//! - friction: `f_t = -μ(|v_t|) f_n v_t/|v_t|`. μ rises from 0 at rest to μ_s at v_s and falls to
//!   μ_d at v_d, with cubic steps, so the force is continuous and always opposes slip. There is no
//!   true stiction: a load creeps at a speed below v_s.
//!
//! σ is the cubic step `s²(3 - 2s)` on [0, 1].
//!
//! # References
//! K. H. Hunt, F. R. E. Crossley, *Coefficient of restitution interpreted as damping in
//! vibroimpact* (1975), for the dissipation.
//!
//! D. T. de Paula et al., *Dynamic modeling and simulation of a torque-controlled spatial quadruped
//! robot* (2024), eqs. (34)-(38). Their eq. (34)
//! writes `-K δ^e`, which for δ < 0 means `K (-δ)^e`; their eq. (35) can pull, we clamp; their eq.
//! (38) takes μ per axis, so that friction reaches √2 μ f_n diagonally: that is
//! [`FrictionShape::PerAxis`], the default is isotropic. The table of their parameters exists as an
//! image only; defaults here follow MIT's Mini Cheetah simulator (`f_n = √(-z) (-K z - D ż)`, K =
//! 5·10⁵, D = 5·10³, μ = 0.5), whose damping at a quarter of the robot's weight is 180 N s/m.

/// How the friction coefficient acts on a tangential velocity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrictionShape {
    /// On the slip speed: friction lies on a circle and opposes slip exactly.
    Isotropic,
    /// On each axis alone, as in the paper: friction lies in a square.
    PerAxis,
}

/// Parameters of the law; see the module docs for the equations.
#[doc(alias("Hunt-Crossley", "penalty method", "soft contact", "Hertz"))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompliantContact {
    /// K, ≥ 0 [N/m^e].
    pub stiffness: f64,
    /// e, ≥ 1 [1]; 1 for a linear spring, 1.5 for Hertz's sphere.
    pub exponent: f64,
    /// c_max, ≥ 0 [N s/m].
    pub max_damping: f64,
    /// w, the penetration at which damping is full, ≥ 0 [m].
    pub ramp_depth: f64,
    /// Hunt and Crossley's a, ≥ 0 [s/m]; adds to the damping of `max_damping`.
    pub dissipation: f64,
    /// μ_s, ≥ 0 [1].
    pub static_friction: f64,
    /// v_s, the slip speed at which friction is largest, > 0 [m/s].
    pub static_speed: f64,
    /// μ_d, ≥ 0 [1].
    pub dynamic_friction: f64,
    /// v_d, the slip speed from which friction is μ_d, ≥ v_s [m/s].
    pub dynamic_speed: f64,
    /// How friction acts on the two axes.
    pub shape: FrictionShape,
}

/// Force and energies of a contact at a gap and a velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// Force (t1, t2, n) on the body [N].
    pub force: [f64; 3],
    /// Elastic energy U ≥ 0 [J].
    pub energy: f64,
    /// Power P ≥ 0 that damper and friction take away [W].
    pub dissipated: f64,
}

impl Default for CompliantContact {
    fn default() -> Self {
        Self {
            stiffness: 5e5,
            exponent: 1.5,
            max_damping: 180.0,
            ramp_depth: 1e-3,
            dissipation: 0.0,
            static_friction: 0.5,
            static_speed: 0.01,
            dynamic_friction: 0.5,
            dynamic_speed: 0.02,
            shape: FrictionShape::Isotropic,
        }
    }
}

impl CompliantContact {
    /// Normal force, eqs. (34)-(35) clamped [N]; `gap` δ [m], `normal_velocity` δ̇ [m/s].
    #[must_use]
    pub fn normal_force(&self, gap: f64, normal_velocity: f64) -> f64 {
        self.damped(-gap, self.spring_force(gap), normal_velocity)
    }

    /// Force of the spring alone, `K (-δ)^e` [N]: that at zero velocity.
    #[must_use]
    pub fn spring_force(&self, gap: f64) -> f64 {
        if gap >= 0.0 { 0.0 } else { self.elastic_force(-gap) }
    }

    /// Force at the penetration `depth` with the spring force `elastic`, with damping.
    fn damped(&self, depth: f64, elastic: f64, normal_velocity: f64) -> f64 {
        if depth <= 0.0 {
            return 0.0;
        }
        let share = if self.ramp_depth > 0.0 { step(depth / self.ramp_depth) } else { 1.0 };
        let force = elastic * (1.0 - 1.5 * self.dissipation * normal_velocity)
            - self.max_damping * share * normal_velocity;
        // `max` would turn NaN into zero and hide it.
        if force < 0.0 { 0.0 } else { force }
    }

    /// `K d^e` of a penetration d > 0 [N].
    fn elastic_force(&self, depth: f64) -> f64 {
        // Hertz's exponent is the usual one, and a square root is far cheaper than a power.
        let power = match self.exponent {
            1.0 => depth,
            1.5 => depth * depth.sqrt(),
            exponent => libm::pow(depth, exponent),
        };
        self.stiffness * power
    }

    /// Derivatives of the normal force by the gap [N/m] and by the normal velocity [N s/m]; zero
    /// where it is clamped.
    #[must_use]
    pub fn normal_slopes(&self, gap: f64, normal_velocity: f64) -> [f64; 2] {
        if gap >= 0.0 || self.normal_force(gap, normal_velocity) == 0.0 {
            return [0.0; 2];
        }
        let depth = -gap;
        let elastic = self.elastic_force(depth);
        let (share, growth) = if self.ramp_depth > 0.0 {
            let s = (depth / self.ramp_depth).clamp(0.0, 1.0);
            (step(s), 6.0 * s * (1.0 - s) / self.ramp_depth)
        } else {
            (1.0, 0.0)
        };
        let by_depth = self.exponent * elastic / depth
            * (1.0 - 1.5 * self.dissipation * normal_velocity)
            - self.max_damping * growth * normal_velocity;
        [-by_depth, -1.5 * self.dissipation * elastic - self.max_damping * share]
    }

    /// Resistance to slip: `g(v) = μ(v)/v` at a slip speed v ≥ 0, so that `f_t = -f_n g v_t`, and
    /// its derivative over the speed, `g'(v)/v`. Both are finite at rest [s/m, s³/m³].
    #[must_use]
    pub fn slip_resistance(&self, speed: f64) -> [f64; 2] {
        if speed < self.static_speed {
            let s = speed / self.static_speed;
            let at_rest = 0.5 * self.static_friction / self.static_speed;
            let bend = -2.0 * at_rest / (self.static_speed * self.static_speed);
            return [at_rest * (3.0 - s * s), bend];
        }
        let width = self.dynamic_speed - self.static_speed;
        let change = self.dynamic_friction - self.static_friction;
        let s = if width > 0.0 { ((speed - self.static_speed) / width).min(1.0) } else { 1.0 };
        let slope = if width > 0.0 { change * 6.0 * s * (1.0 - s) / width } else { 0.0 };
        let resistance = (self.static_friction + change * step(s)) / speed;
        [resistance, (slope - resistance) / (speed * speed)]
    }

    /// Friction at the normal force `normal` [N], as in [`Self::force`], and its derivatives by the
    /// two tangential velocities, column by column [N s/m].
    #[must_use]
    pub fn friction_and_slopes(&self, normal: f64, slip: [f64; 2]) -> ([f64; 2], [[f64; 2]; 2]) {
        match self.shape {
            FrictionShape::Isotropic => {
                let [g, bend] =
                    self.slip_resistance((slip[0] * slip[0] + slip[1] * slip[1]).sqrt());
                let entry = |i: usize, j: usize| {
                    let diagonal = if i == j { g } else { 0.0 };
                    -normal * (diagonal + bend * slip[i] * slip[j])
                };
                let slopes = [[entry(0, 0), entry(1, 0)], [entry(0, 1), entry(1, 1)]];
                (slip.map(|v| -normal * g * v), slopes)
            }
            FrictionShape::PerAxis => {
                let [a, b] = slip.map(|v| {
                    let [g, bend] = self.slip_resistance(v.abs());
                    (-normal * g * v, -normal * (g + bend * v * v))
                });
                ([a.0, b.0], [[a.1, 0.0], [0.0, b.1]])
            }
        }
    }

    /// Effective friction coefficient at a slip speed ≥ 0, eq. (38) [1].
    #[must_use]
    pub fn friction_coefficient(&self, speed: f64) -> f64 {
        if speed < self.static_speed {
            // The odd cubic step from -μ_s at -v_s to μ_s at v_s.
            let s = speed / self.static_speed;
            self.static_friction * 0.5 * s * (3.0 - s * s)
        } else {
            let width = self.dynamic_speed - self.static_speed;
            let s = if width > 0.0 { (speed - self.static_speed) / width } else { 1.0 };
            self.static_friction + (self.dynamic_friction - self.static_friction) * step(s)
        }
    }

    /// Contact force (t1, t2, n) on the body [N] from the gap [m] and the contact velocity
    /// (t1, t2, n) [m/s].
    #[must_use]
    pub fn force(&self, gap: f64, velocity: [f64; 3]) -> [f64; 3] {
        self.response(gap, velocity).force
    }

    /// Contact force with the energy that the spring holds and what damper and friction take away.
    ///
    /// The work of the force on the body is `f · v = -U̇ - P`, with `U = K/(e + 1) (-δ)^(e + 1)`
    /// and `P = (K (-δ)^e - f_n) δ̇ - f_t · v_t ≥ 0`, so energy is accounted for to rounding.
    /// Energy of a spring that is left faster than it expands is in P.
    #[must_use]
    pub fn response(&self, gap: f64, velocity: [f64; 3]) -> Response {
        let elastic = self.spring_force(gap);
        let force = self.force_on(gap, elastic, velocity);
        let [f1, f2, normal] = force;
        let [v1, v2, vn] = velocity;
        Response {
            force,
            energy: elastic * (-gap).max(0.0) / (self.exponent + 1.0),
            dissipated: (elastic - normal) * vn - (f1 * v1 + f2 * v2),
        }
    }

    fn force_on(&self, gap: f64, elastic: f64, velocity: [f64; 3]) -> [f64; 3] {
        let [v1, v2, vn] = velocity;
        let normal = self.damped(-gap, elastic, vn);
        let per_axis = |v: f64| -self.friction_coefficient(v.abs()).copysign(v) * normal;
        match self.shape {
            FrictionShape::PerAxis => [per_axis(v1), per_axis(v2), normal],
            FrictionShape::Isotropic => {
                let speed = (v1 * v1 + v2 * v2).sqrt();
                if speed == 0.0 {
                    return [0.0, 0.0, normal];
                }
                let scale = -self.friction_coefficient(speed) * normal / speed;
                [scale * v1, scale * v2, normal]
            }
        }
    }

    /// Forces of k contacts: `gaps` (k), `velocities` and `forces` (3k, contact axes).
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn forces_into(&self, gaps: &[f64], velocities: &[f64], forces: &mut [f64]) {
        assert_eq!(velocities.len(), 3 * gaps.len(), "velocities need 3k values");
        assert_eq!(forces.len(), 3 * gaps.len(), "forces need 3k values");
        let pairs = velocities.chunks_exact(3).zip(forces.chunks_exact_mut(3));
        for (&gap, (v, f)) in gaps.iter().zip(pairs) {
            f.copy_from_slice(&self.force(gap, [v[0], v[1], v[2]]));
        }
    }
}

/// Cubic step `s²(3 - 2s)`, clamped to [0, 1].
fn step(s: f64) -> f64 {
    let s = s.clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use legwork_qp::problems::Random;

    fn laws() -> [CompliantContact; 3] {
        let base = CompliantContact::default();
        let stribeck = CompliantContact { dynamic_friction: 0.3, ..base };
        [base, stribeck, CompliantContact { shape: FrictionShape::PerAxis, ..stribeck }]
    }

    #[test]
    fn forces_push_and_friction_dissipates_within_the_cone() {
        let mut random = Random::new(1);
        for law in laws() {
            for _ in 0..5000 {
                let gap = 2e-3 * random.normal();
                let v = [0.02 * random.normal(), 0.02 * random.normal(), random.normal()];
                let [f1, f2, fn_] = law.force(gap, v);
                assert!(fn_ >= 0.0 && (gap < 0.0 || fn_ == 0.0));
                assert!(f1 * v[0] + f2 * v[1] <= 0.0, "friction drives");
                let reach = match law.shape {
                    FrictionShape::Isotropic => (f1 * f1 + f2 * f2).sqrt(),
                    FrictionShape::PerAxis => f1.abs().max(f2.abs()),
                };
                assert!(reach <= law.static_friction * fn_ * (1.0 + 1e-14));
            }
        }
    }

    #[test]
    fn the_force_is_continuous_at_touchdown_and_in_slip() {
        for law in laws() {
            assert!(law.normal_force(-1e-9, -1.0) < 1e-3, "jump at touchdown");
            for v in [law.static_speed, law.dynamic_speed] {
                let jump =
                    law.friction_coefficient(v + 1e-12) - law.friction_coefficient(v - 1e-12);
                assert!(jump.abs() < 1e-8, "jump of {jump} at {v}");
            }
            assert_eq!(law.friction_coefficient(law.static_speed), law.static_friction);
            assert_eq!(law.friction_coefficient(1.0), law.dynamic_friction);
        }
    }

    /// Along any motion of the gap, `∫ f · v dt = -ΔU - ∫ P dt`: by Simpson's rule, with
    /// touchdown and a separation faster than the spring expands among it, and never `P < 0`.
    #[test]
    fn work_of_the_force_is_energy_stored_and_dissipated() {
        for (exponent, dissipation) in [(1.0, 0.0), (1.5, 0.0), (1.5, 0.8), (2.2, 0.3)] {
            for law in laws() {
                let law = CompliantContact { exponent, dissipation, ..law };
                let gap = |t: f64| -1.5e-3 + 2e-3 * libm::cos(40.0 * t);
                let velocity = |t: f64| {
                    let (sin, cos) = libm::sincos(40.0 * t);
                    [0.3 * cos, 0.01 - 0.1 * sin, -40.0 * 2e-3 * sin]
                };
                let at = |t: f64| law.response(gap(t), velocity(t));
                // Two touchdowns and a separation.
                let (end, count) = (0.2, 40_000);
                let step = end / f64::from(count);
                let (mut work, mut lost, mut clamped) = (0.0, 0.0, false);
                for i in 0..=count {
                    let t = step * f64::from(i);
                    let weight = match i {
                        0 => 1.0,
                        i if i == count => 1.0,
                        i if i % 2 == 1 => 4.0,
                        _ => 2.0,
                    };
                    let (found, v) = (at(t), velocity(t));
                    assert!(found.energy >= 0.0 && found.dissipated >= 0.0, "{found:?}");
                    clamped |= gap(t) < 0.0 && found.force[2] == 0.0;
                    let power: f64 = found.force.iter().zip(v).map(|(f, v)| f * v).sum();
                    work += step / 3.0 * weight * power;
                    lost += step / 3.0 * weight * found.dissipated;
                }
                let stored = at(end).energy - at(0.0).energy;
                assert!(clamped || exponent == 1.0 || dissipation > 0.0, "no clamped force");
                // The kinks of clamp, ramp and friction leave Simpson's rule order 2.
                let error = (work + stored + lost).abs();
                assert!(error < 1e-6 * lost, "{exponent} {dissipation}: {error} of {lost} J");
            }
        }
    }

    /// Slopes against central differences, away from the kinks of the law.
    #[test]
    fn slopes_are_derivatives() {
        let mut random = Random::new(3);
        let mut compared = 0;
        for law in laws() {
            let law = CompliantContact { dissipation: 0.3, ..law };
            for _ in 0..2000 {
                let gap = -1e-3 * random.uniform() - 1e-5;
                let v = [0.02 * random.normal(), 0.02 * random.normal(), 0.1 * random.normal()];
                let step = 1e-7;
                if law.normal_force(gap, v[2]) < 1e-2 {
                    continue;
                }
                let [by_gap, by_speed] = law.normal_slopes(gap, v[2]);
                let difference = |a: f64, b: f64| (a - b) / (2.0 * step);
                let at_gap = difference(
                    law.normal_force(gap + step, v[2]),
                    law.normal_force(gap - step, v[2]),
                );
                let at_speed = difference(
                    law.normal_force(gap, v[2] + step),
                    law.normal_force(gap, v[2] - step),
                );
                assert!((at_gap - by_gap).abs() < 1e-3 * by_gap.abs() + 50.0, "{at_gap} {by_gap}");
                assert!((at_speed - by_speed).abs() < 1e-4 * by_speed.abs().max(1.0));
                let normal = law.normal_force(gap, v[2]);
                let (friction, slopes) = law.friction_and_slopes(normal, [v[0], v[1]]);
                let force = law.force(gap, v);
                for axis in 0..2 {
                    assert!((friction[axis] - force[axis]).abs() <= 1e-12 * normal);
                    let mut ends = [v, v];
                    ends[0][axis] += step;
                    ends[1][axis] -= step;
                    let [after, before] = ends.map(|v| law.force(gap, v));
                    for (row, &slope) in slopes[axis].iter().enumerate() {
                        let found = difference(after[row], before[row]);
                        let scale = normal * law.static_friction / law.static_speed;
                        assert!((found - slope).abs() < 1e-4 * scale, "{found} for {slope}");
                    }
                }
                compared += 1;
            }
        }
        assert!(compared > 1000, "only {compared} states");
    }

    /// A slow impact leaves with `1 - a v` of its speed (Hunt and Crossley, to first order in a v).
    #[test]
    fn dissipation_gives_the_coefficient_of_restitution() {
        for exponent in [1.0, 1.5] {
            let law = CompliantContact {
                exponent,
                max_damping: 0.0,
                dissipation: 0.2,
                ..CompliantContact::default()
            };
            let speed = 0.1;
            let (mut z, mut v, dt) = (0.0, -speed, 1e-7);
            loop {
                v += dt * law.normal_force(z, v);
                z += dt * v;
                if z >= 0.0 {
                    break;
                }
            }
            let expected = 1.0 - law.dissipation * speed;
            // The next order is about (a v)².
            let second_order = (law.dissipation * speed) * (law.dissipation * speed);
            assert!((v / speed - expected).abs() < second_order, "{exponent}: {}", v / speed);
        }
    }

    /// A mass dropped on the spring comes to rest where `K d^e = m g`.
    #[test]
    fn a_dropped_mass_rests_at_the_static_sink() {
        let law = CompliantContact::default();
        let (mass, gravity, dt) = (2.25, 9.81, 1e-5);
        let (mut z, mut v) = (0.05, 0.0);
        for _ in 0..200_000 {
            v += dt * (law.normal_force(z, v) / mass - gravity);
            z += dt * v;
        }
        let sink = libm::pow(mass * gravity / law.stiffness, 1.0 / law.exponent);
        assert!((z + sink).abs() < 1e-3 * sink, "sink {} instead of {sink}", -z);
    }
}
