//! The step as a problem of contact forces, for any solver of it.

use legwork_qp::DEFAULT_REGULARISATION;
use nalgebra::Matrix3;

use super::{Contact, DOF, FreeMotion, Scene, three};
use crate::rigid::RecoveryLimit;

/// Compliance of the contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ground {
    /// Stiffness K and damping D of linear springs, `(K, D)` [N/m, N s/m]; `None` for rigid
    /// contacts.
    pub spring: Option<(f64, f64)>,
    /// How fast overlap is removed from rigid contacts.
    pub recovery: RecoveryLimit,
}

impl Ground {
    /// Entries of b and R in a normal row with the gap φ [m/s², 1/kg].
    ///
    /// With springs `f = −K (φ + Δt v⁺) − D v⁺`, so `R = 1/(Δt (K Δt + D))` and `γ = K φ R`; D only
    /// in overlap.
    fn terms(&self, gap: f64, time_step: f64) -> (f64, f64) {
        match self.spring {
            None => (self.recovery.gap_term(gap, time_step), 0.0),
            Some((stiffness, damping)) => {
                let damping = if gap < 0.0 { damping } else { 0.0 };
                let compliance = 1.0 / (time_step * (stiffness * time_step + damping));
                (stiffness * gap * compliance, compliance)
            }
        }
    }
}

/// A body's part of a contact: rows (t1, t2, n) of its Jacobian.
#[derive(Clone, Debug)]
struct Side {
    contact: usize,
    body: usize,
    linear: Matrix3<f64>,
    angular: Matrix3<f64>,
    /// `angular · I⁻¹`.
    solved: Matrix3<f64>,
}

/// Gauss's principle at velocity level for the contacts of free bodies:
/// `min ½ fᵀ(G + R) f + bᵀf` over the friction cones, `G = J M⁻¹ Jᵀ`,
/// `b = J M⁻¹(M v* + Δt f_ext)/Δt + e_n γ(φ)`. See [`crate::rigid`].
///
/// G is written block by block from the bodies that contacts share. Matrices may be larger than the
/// contacts of a step need: the rest is zero.
#[derive(Clone, Debug, Default)]
pub struct RigidContacts {
    sides: Vec<Side>,
    /// First side of each body in `sides`, and one past the last.
    starts: Vec<usize>,
    free_velocity: Vec<f64>,
    count: usize,
}

impl RigidContacts {
    /// Reads the contacts of a step.
    pub fn begin(&mut self, scene: &Scene, contacts: &[Contact], free: &FreeMotion) {
        self.count = contacts.len();
        self.free_velocity.resize(DOF * scene.bodies.len(), 0.0);
        free.velocities_into(scene, free.momentum(), &mut self.free_velocity);
        self.sides.clear();
        for (i, contact) in contacts.iter().enumerate() {
            for (body, arm, sign) in contact.sides(scene) {
                let linear = contact.frame.transpose() * sign;
                // Rows arm × axis.
                let angular = linear * arm.cross_matrix().transpose();
                let solved = angular * free.inverse_inertia(body);
                self.sides.push(Side { contact: i, body, linear, angular, solved });
            }
        }
        self.sides.sort_unstable_by_key(|side| (side.body, side.contact));
        self.starts.clear();
        let first = |body: usize| self.sides.partition_point(|side| side.body < body);
        self.starts.extend((0..=scene.bodies.len()).map(first));
    }

    /// Sides of a body.
    fn sides_of(&self, body: usize) -> &[Side] {
        &self.sides[self.starts[body]..self.starts[body + 1]]
    }

    /// G, 3k × 3k with k ≥ the contacts, column-major [1/kg].
    ///
    /// # Panics
    /// If `inverse_inertia` is not square with room for all contacts.
    pub fn inverse_inertia_into(&self, scene: &Scene, k: usize, inverse_inertia: &mut [f64]) {
        let rows = 3 * k;
        assert_eq!(inverse_inertia.len(), rows * rows, "expected 3k x 3k values, k = {k}");
        assert!(self.count <= k, "expected room for {} contacts, found {k}", self.count);
        inverse_inertia.fill(0.0);
        for (i, body) in scene.bodies.iter().enumerate() {
            let sides = self.sides_of(i);
            for (at, a) in sides.iter().enumerate() {
                for b in &sides[at..] {
                    let block = a.linear * b.linear.transpose() / body.mass
                        + a.solved * b.angular.transpose();
                    for c in 0..3 {
                        for r in 0..3 {
                            let (row, column) = (3 * a.contact + r, 3 * b.contact + c);
                            // Above the diagonal of a contact's own block, the mirrored entry is
                            // written.
                            if a.contact != b.contact || r >= c {
                                inverse_inertia[column * rows + row] += block[(r, c)];
                                if row != column {
                                    inverse_inertia[row * rows + column] += block[(r, c)];
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// b and R of all 3k rows; G is read for the scale of R's regularisation.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn bias_into(
        &self,
        contacts: &[Contact],
        ground: &Ground,
        time_step: f64,
        inverse_inertia: &[f64],
        (bias, compliance): (&mut [f64], &mut [f64]),
    ) {
        let rows = bias.len();
        bias.fill(0.0);
        let used = 3 * self.count;
        let trace: f64 = (0..used).map(|i| inverse_inertia[i * (rows + 1)]).sum();
        let mean = if trace > 0.0 { trace / used as f64 } else { 1.0 };
        compliance.fill(DEFAULT_REGULARISATION * mean);
        for (i, contact) in contacts.iter().enumerate() {
            let velocity = contact.velocity(&self.free_velocity) / time_step;
            let (gap_term, of_ground) = ground.terms(contact.gap, time_step);
            bias[3 * i..3 * i + 3].copy_from_slice(velocity.as_slice());
            bias[3 * i + 2] += gap_term;
            compliance[3 * i + 2] += of_ground;
        }
    }

    /// J, 3k × 6n, column-major.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn jacobian_into(&self, k: usize, jacobian: &mut [f64]) {
        let rows = 3 * k;
        jacobian.fill(0.0);
        for side in &self.sides {
            for c in 0..3 {
                for r in 0..3 {
                    let row = 3 * side.contact + r;
                    jacobian[(DOF * side.body + c) * rows + row] = side.linear[(r, c)];
                    jacobian[(DOF * side.body + 3 + c) * rows + row] = side.angular[(r, c)];
                }
            }
        }
    }

    /// C with `CᵀC = M`, 6n × 6n, column-major: lower triangular.
    ///
    /// # Panics
    /// If the shape does not fit.
    pub fn factor_into(scene: &Scene, free: &FreeMotion, factor: &mut [f64]) {
        let nv = DOF * scene.bodies.len();
        factor.fill(0.0);
        for (i, body) in scene.bodies.iter().enumerate() {
            let first = DOF * i;
            for k in first..first + 3 {
                factor[k * (nv + 1)] = body.mass.sqrt();
            }
            // CᵀC from the last row up.
            let mut m = *free.inertia(i);
            for r in (0..3).rev() {
                let diagonal = m[(r, r)].max(f64::MIN_POSITIVE).sqrt();
                let row = m.row(r) / diagonal;
                for c in 0..=r {
                    factor[(first + 3 + c) * nv + first + 3 + r] = row[c];
                }
                m -= row.transpose() * row;
            }
        }
    }

    /// `v ← M⁻¹(M v* + Δt f_ext + Δt Jᵀf)`, 6n, of forces in contact axes, at least 3 for each
    /// contact.
    pub fn velocities_into(
        &self,
        scene: &Scene,
        forces: &[f64],
        time_step: f64,
        velocities: &mut [f64],
    ) {
        velocities.copy_from_slice(&self.free_velocity);
        for side in &self.sides {
            let impulse = three(&forces[3 * side.contact..]) * time_step;
            let v = &mut velocities[DOF * side.body..DOF * (side.body + 1)];
            let linear = side.linear.tr_mul(&impulse) / scene.bodies[side.body].mass;
            let angular = side.solved.tr_mul(&impulse);
            let change = linear.iter().chain(angular.iter());
            v.iter_mut().zip(change).for_each(|(v, dv)| *v += dv);
        }
    }
}
