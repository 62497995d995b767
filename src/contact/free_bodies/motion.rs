//! Motion of bodies: inertia, momentum, the step.

use nalgebra::{Matrix3, Vector3};

use super::{DOF, Motion, Scene, three};

/// Inertia and momentum of a step; keeps only memory from one step to the next.
#[derive(Clone, Debug, Default)]
pub struct FreeMotion {
    /// Inertia about the centre, world axes, n.
    inertia: Vec<Matrix3<f64>>,
    /// Its inverse, n.
    inverse: Vec<Matrix3<f64>>,
    /// `M v* + Δt f`, 6n.
    momentum: Vec<f64>,
}

impl FreeMotion {
    /// Inertia, and momentum at the end of a step without contacts.
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | f | `external` | 6n or empty | further wrenches at the centres, world axes [N, N m] |
    /// | Δt | `time_step` | | > 0 [s] |
    pub fn begin(&mut self, scene: &Scene, motion: Motion<'_>, external: &[f64], time_step: f64) {
        self.inertia.clear();
        self.inverse.clear();
        self.momentum.clear();
        for (i, body) in scene.bodies.iter().enumerate() {
            let v = &motion.velocities[DOF * i..DOF * (i + 1)];
            let moments = &body.moments;
            let angular = if body.is_round() {
                self.inertia.push(Matrix3::from_diagonal(moments));
                self.inverse.push(Matrix3::from_diagonal(&moments.map(f64::recip)));
                moments.component_mul(&three(&v[3..]))
            } else {
                let r = rotation(&motion.orientations[4 * i..]);
                let about = |m: &Vector3<f64>| r * Matrix3::from_diagonal(m) * r.transpose();
                self.inertia.push(about(moments));
                self.inverse.push(about(&moments.map(f64::recip)));
                self.inertia[i] * three(&v[3..])
            };
            if body.is_fixed {
                self.momentum.extend([0.0; DOF]);
                continue;
            }
            let mut linear = body.mass * three(v);
            linear.z -= time_step * body.mass * scene.gravity;
            self.momentum.extend(linear.iter().chain(angular.iter()));
        }
        let bodies = self.momentum.chunks_exact_mut(DOF).zip(external.chunks_exact(DOF));
        for ((p, f), _) in bodies.zip(&scene.bodies).filter(|(_, body)| !body.is_fixed) {
            p.iter_mut().zip(f).for_each(|(p, f)| *p += time_step * f);
        }
    }

    /// `M v* + Δt f`, 6n [N s, N m s].
    #[must_use]
    pub fn momentum(&self) -> &[f64] {
        &self.momentum
    }

    /// Inertia of body i about its centre, world axes [kg m²].
    #[must_use]
    pub fn inertia(&self, i: usize) -> &Matrix3<f64> {
        &self.inertia[i]
    }

    /// Its inverse [1/(kg m²)].
    #[must_use]
    pub fn inverse_inertia(&self, i: usize) -> &Matrix3<f64> {
        &self.inverse[i]
    }

    /// `v ← M⁻¹ p` for all bodies, 6n each.
    ///
    /// # Panics
    /// If a slice is shorter than 6n.
    pub fn velocities_into(&self, scene: &Scene, momentum: &[f64], velocities: &mut [f64]) {
        for (i, body) in scene.bodies.iter().enumerate() {
            let (p, v) = (&momentum[DOF * i..], &mut velocities[DOF * i..DOF * (i + 1)]);
            v[..3].iter_mut().zip(p).for_each(|(v, p)| *v = p / body.mass);
            v[3..].copy_from_slice((self.inverse[i] * three(&p[3..])).as_slice());
        }
    }

    /// `p ← M⁻¹ p` for all bodies, 6n.
    pub(super) fn velocities_in_place(&self, scene: &Scene, momentum: &mut [f64]) {
        for (i, (body, p)) in scene.bodies.iter().zip(momentum.chunks_exact_mut(DOF)).enumerate() {
            let spin = self.inverse[i] * three(&p[3..]);
            p[..3].iter_mut().for_each(|p| *p /= body.mass);
            p[3..].copy_from_slice(spin.as_slice());
        }
    }

    /// `x ← x + Δt v`, and a turn that keeps angular momentum, for all bodies.
    ///
    /// The momentum `L = I(R) ω` stays while the orientation changes, and the spin with it (Euler's
    /// equation without moments): `R₁ = exp(Δt [ω_½]) R` with ω_½ that of L half a turn on, then
    /// `ω₁ = I(R₁)⁻¹ L`. L is kept to rounding at any step, energy to the second order and within
    /// `|L|²/2` over the least and largest moment of inertia.
    ///
    /// | symbol | argument | shape | unit |
    /// |---|---|---|---|
    /// | x | `positions` | 3n | m |
    /// | R | `orientations` | 4n | quaternions |
    /// | v, ω | `velocities` | 6n | m/s, rad/s |
    /// | Δt | `time_step` | | s |
    pub fn advance(
        scene: &Scene,
        positions: &mut [f64],
        orientations: &mut [f64],
        velocities: &mut [f64],
        time_step: f64,
    ) {
        let poses = positions.chunks_exact_mut(3).zip(orientations.chunks_exact_mut(4));
        let motion = poses.zip(velocities.chunks_exact_mut(DOF));
        for (body, ((x, q), v)) in scene.bodies.iter().zip(motion) {
            x.iter_mut().zip(&*v).for_each(|(x, v)| *x += time_step * v);
            let spin = three(&v[3..]);
            if body.is_round() {
                turn(q, &(spin * time_step));
                continue;
            }
            let now = rotation(q);
            let momentum = now * body.moments.component_mul(&now.tr_mul(&spin));
            let spin_at = |q: &[f64]| {
                let r = rotation(q);
                r * r.tr_mul(&momentum).component_div(&body.moments)
            };
            let mut half = [q[0], q[1], q[2], q[3]];
            turn(&mut half, &(spin * (0.5 * time_step)));
            turn(q, &(spin_at(&half) * time_step));
            v[3..].copy_from_slice(spin_at(q).as_slice());
        }
    }
}

/// `q ← exp(½ angle) q`, of unit length again.
pub(super) fn turn(q: &mut [f64], angle: &Vector3<f64>) {
    let size = angle.norm();
    if size == 0.0 {
        return;
    }
    let (sine, cosine) = libm::sincos(0.5 * size);
    let axis = angle * (sine / size);
    let (w, v) = (q[0], three(&q[1..]));
    let vector = v * cosine + axis * w + axis.cross(&v);
    let scalar = w * cosine - axis.dot(&v);
    let length = (scalar * scalar + vector.norm_squared()).sqrt();
    q[0] = scalar / length;
    q[1..4].copy_from_slice((vector / length).as_slice());
}

/// `world_from_body` of a unit quaternion (w, x, y, z).
pub(super) fn rotation(q: &[f64]) -> Matrix3<f64> {
    let (w, x, y, z) = (q[0], q[1], q[2], q[3]);
    Matrix3::new(
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )
}

/// Kinetic energy and that of gravity, zero at z = 0, of all bodies that are not fixed [J].
#[must_use]
pub fn energy(scene: &Scene, motion: Motion<'_>) -> f64 {
    let mut energy = 0.0;
    for (i, body) in scene.bodies.iter().enumerate().filter(|(_, body)| !body.is_fixed) {
        let v = &motion.velocities[DOF * i..];
        let (linear, angular) = (three(v), three(&v[3..]));
        let spin = if body.is_round() {
            angular
        } else {
            rotation(&motion.orientations[4 * i..]).tr_mul(&angular)
        };
        let kinetic =
            body.mass * linear.norm_squared() + body.moments.dot(&spin.component_mul(&spin));
        energy += body.mass * scene.gravity * motion.positions[3 * i + 2] + 0.5 * kinetic;
    }
    energy
}
