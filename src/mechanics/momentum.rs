//! Centre of mass, momentum and energy of the whole robot.
//!
//! The root body of a fixed base cannot move and is left out of every sum.

use nalgebra::Vector3;

use crate::kinematics::Kinematics;
use crate::mass_matrix::composite_momentum;
use crate::model::{Model, Tree};
use crate::placement::MixedWrench;

/// Centre of mass in the world [m]; the origin of the first tree if nothing has mass.
#[doc(alias("CoM", "com"))]
#[must_use]
pub fn center_of_mass(model: &Model, kinematics: &Kinematics) -> Vector3<f64> {
    reference(kinematics) + center_from_reference(model, kinematics)
}

/// Centre of mass in the world of the body that carries the root link of `tree` [m]; the body's
/// origin if it has no mass.
///
/// # Panics
/// If the tree belongs to another model.
#[must_use]
pub fn base_center_of_mass(model: &Model, kinematics: &Kinematics, tree: &Tree) -> Vector3<f64> {
    let base = tree.bodies.start;
    kinematics.origins[model.bodies[base].tree].position + kinematics.body(base).center
}

/// Velocity of the centre of mass in world axes [m/s].
#[must_use]
pub fn center_of_mass_velocity(model: &Model, kinematics: &Kinematics) -> Vector3<f64> {
    let mass = model.total_mass();
    let (mut at_base, mut relative) = (Vector3::zeros(), Vector3::zeros());
    for (tree, origin) in model.trees.iter().zip(&kinematics.origins) {
        let own = model.bodies[tree.bodies.start].subtree_mass;
        at_base += origin.velocity * if mass > 0.0 { own / mass } else { 1.0 };
        for i in tree.bodies.clone() {
            relative += linear_momentum(model, kinematics, i);
        }
    }
    if mass > 0.0 {
        relative /= mass;
    }
    at_base + relative
}

/// Jacobian of the centre of mass (3 × nv, column-major): `ċ = J ν`.
///
/// The column of a joint is the mass-weighted motion of what it carries,
/// `(m_i S_lin + S_ang × (mc)_i) / m`. O(n), allocates nothing.
///
/// # Panics
/// If `out` has the wrong length.
#[doc(alias("jacobianCenterOfMass", "CoM Jacobian"))]
pub fn center_of_mass_jacobian(model: &Model, kinematics: &Kinematics, out: &mut [f64]) {
    assert_eq!(out.len(), 3 * model.velocity_dim(), "length of out");
    out.fill(0.0);
    let mass = model.total_mass();
    if mass <= 0.0 {
        return;
    }
    for_each_momentum_column(model, kinematics, |_, k, force, _| {
        for (out, force) in out[3 * k..3 * k + 3].iter_mut().zip(force.iter()) {
            *out += force / mass;
        }
    });
}

/// `J̇ν` of the centre of mass [m/s²]: its acceleration at `ν̇ = 0`, so that `c̈ = J ν̇ + J̇ν` with
/// `J` of [`center_of_mass_jacobian`].
///
/// The mass-weighted mean of the velocity-dependent accelerations of the bodies' centres `c_i`,
/// `a_i + α_i × c_i + ω_i × (v_i + ω_i × c_i)`; zero if nothing has mass. O(n), allocates nothing.
#[must_use]
pub fn center_of_mass_jacobian_dot_velocity(
    model: &Model,
    kinematics: &Kinematics,
) -> Vector3<f64> {
    let mass = model.total_mass();
    let mut sum = Vector3::zeros();
    for (i, body) in model.bodies.iter().enumerate() {
        let state = &kinematics.body(i);
        let (v, a, c) = (&state.velocity, &state.bias, &state.center);
        let velocity = v.linear + v.angular.cross(c);
        let acceleration = a.linear + a.angular.cross(c) + v.angular.cross(&velocity);
        sum += acceleration * body.inertia.mass();
    }
    if mass > 0.0 { sum / mass } else { sum }
}

/// Centroidal momentum in world axes: linear [kg m/s] as `force`, angular about the centre of
/// mass [kg m²/s] as `moment` (a momentum is a wrench times time).
///
/// D. E. Orin, A. Goswami, S.-H. Lee, *Centroidal dynamics of a humanoid robot* (2013), eq. 2.
#[doc(alias("hg"))]
#[must_use]
pub fn centroidal_momentum(model: &Model, kinematics: &Kinematics) -> MixedWrench {
    let center = center_from_reference(model, kinematics);
    let (mut linear, mut angular) = (Vector3::zeros(), Vector3::zeros());
    for (tree, origin) in model.trees.iter().zip(&kinematics.origins) {
        let root = tree.bodies.start;
        let lever = origin.position - reference(kinematics) - center;
        let with_base = origin.velocity * model.bodies[root].subtree_mass;
        linear += with_base;
        // The motion of the base carries the whole tree: it acts at the tree's centre of mass.
        angular +=
            lever.cross(&with_base) + kinematics.body(root).subtree_moment.cross(&origin.velocity);
        for i in tree.bodies.clone() {
            let state = &kinematics.body(i);
            let share = linear_momentum(model, kinematics, i);
            linear += share;
            angular +=
                (state.center + lever).cross(&share) + state.inertia.times(&state.velocity.angular);
        }
    }
    MixedWrench { force: linear, moment: angular }
}

/// Centroidal momentum matrix `A_G` (6 × nv, column-major): `(p, L) = A_G ν`, linear momentum
/// [kg m/s] first, then angular momentum about the centre of mass [kg m²/s], world axes.
///
/// The column of a joint is the momentum of what it carries at unit speed, moved to the centre of
/// mass. O(n), allocates nothing.
///
/// D. E. Orin, A. Goswami, S.-H. Lee, *Centroidal dynamics of a humanoid robot* (2013), eq. 6.
///
/// # Panics
/// If `out` has the wrong length.
#[doc(alias("ccrba", "CMM", "Ag", "centroidal dynamics"))]
pub fn centroidal_momentum_matrix(model: &Model, kinematics: &Kinematics, out: &mut [f64]) {
    assert_eq!(out.len(), 6 * model.velocity_dim(), "length of out");
    out.fill(0.0);
    let center = center_from_reference(model, kinematics);
    for_each_momentum_column(model, kinematics, |tree, k, force, moment| {
        let lever = kinematics.origins[tree].position - reference(kinematics) - center;
        let moment = moment + lever.cross(&force);
        let column = &mut out[6 * k..6 * k + 6];
        for i in 0..3 {
            column[i] += force[i];
            column[3 + i] += moment[i];
        }
    });
}

/// `Ȧ_G ν`: rate of the centroidal momentum at `ν̇ = 0`, so that `(ṗ, L̇) = A_G ν̇ + Ȧ_G ν` with
/// `A_G` of [`centroidal_momentum_matrix`]; linear [N] as `force`, angular about the centre of mass
/// [N m] as `moment`, world axes.
///
/// Summed over the links, from their velocity-dependent accelerations: `Σ m_i a_i` and
/// `Σ (c_i − c) × m_i a_i + I_i α_i + ω_i × I_i ω_i`. O(n), allocates nothing.
///
/// D. E. Orin, A. Goswami, S.-H. Lee, *Centroidal dynamics of a humanoid robot* (2013), sec. 3.
#[must_use]
pub fn centroidal_momentum_dot_velocity(model: &Model, kinematics: &Kinematics) -> MixedWrench {
    let center = center_from_reference(model, kinematics);
    let (mut linear, mut angular) = (Vector3::zeros(), Vector3::zeros());
    for (tree, origin) in model.trees.iter().zip(&kinematics.origins) {
        let lever = origin.position - reference(kinematics) - center;
        for i in tree.bodies.clone() {
            let state = &kinematics.body(i);
            let (v, a, c) = (&state.velocity, &state.bias, &state.center);
            let velocity = v.linear + v.angular.cross(c);
            let acceleration = a.linear + a.angular.cross(c) + v.angular.cross(&velocity);
            let share = acceleration * model.bodies[i].inertia.mass();
            linear += share;
            angular += (c + lever).cross(&share)
                + state.inertia.times(&a.angular)
                + v.angular.cross(&state.inertia.times(&v.angular));
        }
    }
    MixedWrench { force: linear, moment: angular }
}

/// Kinetic energy of the links [J], `Σ ½ m v_c² + ½ ω·I_c ω`.
///
/// Rotors are left out: add `½ ṡᵀ I_rotor ṡ` ([`rotor_kinetic_energy`]) to have `½ νᵀMν`.
#[must_use]
pub fn kinetic_energy(model: &Model, kinematics: &Kinematics) -> f64 {
    let mut twice = 0.0;
    for (i, body) in model.bodies.iter().enumerate() {
        let state = &kinematics.body(i);
        let v = &state.velocity;
        let base = &kinematics.origins[body.tree].velocity;
        let center = base + (v.linear + v.angular.cross(&state.center));
        twice += body.inertia.mass() * center.norm_squared()
            + v.angular.dot(&state.inertia.times(&v.angular));
    }
    0.5 * twice
}

/// Kinetic energy of the motor rotors at the velocity `ν` (nv) [J]: `½ ṡᵀ I_rotor ṡ`.
///
/// # Panics
/// If `velocity` has the wrong length.
#[must_use]
pub fn rotor_kinetic_energy(model: &Model, velocity: &[f64]) -> f64 {
    assert_eq!(velocity.len(), model.velocity_dim(), "length of velocity");
    let indices = &model.joint_velocities;
    let mut twice = 0.0;
    for (i, &a) in indices.iter().enumerate() {
        match model.rotors.matrix() {
            None => twice += model.rotors.diagonal[i] * velocity[a] * velocity[a],
            Some(_) => {
                for (j, &b) in indices.iter().enumerate() {
                    twice += model.rotors.entry(i, j) * velocity[a] * velocity[b];
                }
            }
        }
    }
    0.5 * twice
}

/// Potential energy in the gravity field [J], `−Σ m g·c`, zero at the world origin.
#[must_use]
pub fn potential_energy(model: &Model, kinematics: &Kinematics) -> f64 {
    let mut moment = Vector3::zeros();
    for (tree, origin) in model.trees.iter().zip(&kinematics.origins) {
        let root = tree.bodies.start;
        moment += origin.position * model.bodies[root].subtree_mass
            + kinematics.body(root).subtree_moment;
    }
    -model.gravity.dot(&moment)
}

/// Linear momentum of a body as the Galilean observer of its tree sees it [kg m/s].
#[inline]
pub(crate) fn linear_momentum(model: &Model, kinematics: &Kinematics, i: usize) -> Vector3<f64> {
    let state = &kinematics.body(i);
    let v = &state.velocity;
    (v.linear + v.angular.cross(&state.center)) * model.bodies[i].inertia.mass()
}

/// Reference point for the positions of the trees: the origin of the first one.
#[inline]
fn reference(kinematics: &Kinematics) -> Vector3<f64> {
    kinematics.origins.first().map_or_else(Vector3::zeros, |origin| origin.position)
}

/// Centre of mass from the reference point, world axes [m].
fn center_from_reference(model: &Model, kinematics: &Kinematics) -> Vector3<f64> {
    let mass = model.total_mass();
    let mut moment = Vector3::zeros();
    for (tree, origin) in model.trees.iter().zip(&kinematics.origins) {
        let root = tree.bodies.start;
        moment += (origin.position - reference(kinematics)) * model.bodies[root].subtree_mass
            + kinematics.body(root).subtree_moment;
    }
    if mass > 0.0 { moment / mass } else { moment }
}

/// Calls `add(tree, k, linear, angular)` with the momentum, about the tree's origin, that unit
/// speed of coordinate `k` gives to what it moves; coupled bodies share a column.
#[inline]
fn for_each_momentum_column(
    model: &Model,
    kinematics: &Kinematics,
    mut add: impl FnMut(usize, usize, Vector3<f64>, Vector3<f64>),
) {
    for (t, tree) in model.trees.iter().enumerate() {
        let root = tree.bodies.start;
        if tree.is_floating() {
            let state = &kinematics.body(root);
            for k in 0..3 {
                let mut axis = Vector3::zeros();
                axis[k] = 1.0;
                let moment = &state.subtree_moment;
                let mass = model.bodies[root].subtree_mass;
                add(t, tree.v.start + k, axis * mass, moment.cross(&axis));
                let spin = state.subtree_inertia.times(&axis);
                add(t, tree.v.start + 3 + k, axis.cross(moment), spin);
            }
        }
        for i in root + 1..tree.bodies.end {
            let (body, state) = (&model.bodies[i], &kinematics.body(i));
            let (force, moment) = composite_momentum(body.subtree_mass, state);
            add(t, body.v_index, force, moment);
        }
    }
}
