//! The step as a problem of implicit spring-dampers.

use super::{Contact, DOF, Elasticity, FreeMotion, Scene};
use crate::soft_constraints::{BodyIndex, ConstraintProblem, Friction, Law, Rows, SpringDamper};
use nalgebra::{Matrix3, Vector3};

/// `G` of the point at `arm` from a body's centre along the columns of `frame`, 3 × 6.
fn point_rows(arm: &Vector3<f64>, frame: &Matrix3<f64>, sign: f64) -> [f64; 3 * DOF] {
    let mut g = [0.0; 3 * DOF];
    for row in 0..3 {
        let axis = frame.column(row).into_owned();
        let turn = arm.cross(&axis);
        for k in 0..3 {
            g[3 * k + row] = sign * axis[k];
            g[3 * (3 + k) + row] = sign * turn[k];
        }
    }
    g
}

/// Momentum, inertia of what is not round, and contacts of a step, into a `problem` with one body
/// of six velocities for each of the scene and `time_step` as its own.
///
/// | argument | meaning [unit] |
/// |---|---|
/// | `elasticity` | springs of all contacts |
/// | `damping` | B along their normals, ≥ 0 [N s/m] |
/// | `friction_damping` | B along their tangents, ≥ 0 [N s/m] |
///
/// Inertia of round bodies does not change: set it once by [`ConstraintProblem::set_mass`].
pub fn push_constraints(
    scene: &Scene,
    contacts: &[Contact],
    free: &FreeMotion,
    elasticity: &Elasticity,
    (damping, friction_damping): (f64, f64),
    problem: &mut ConstraintProblem,
) {
    problem.clear();
    problem.momentum_mut().copy_from_slice(free.momentum());
    for (i, body) in scene.bodies.iter().enumerate().filter(|(_, body)| !body.is_round()) {
        problem.set_mass(BodyIndex(i), &mass_matrix(body.mass, free.inertia(i)));
    }
    let friction = Friction::coulomb(scene.friction, friction_damping);
    for contact in contacts {
        let (stiffness, exponent) = elasticity.stiffness(contact.radius);
        let normal =
            SpringDamper { exponent, ..SpringDamper::new(contact.gap, stiffness, damping) };
        let law = Law::Contact(normal, friction);
        let mut rows = [(BodyIndex(0), [0.0; 3 * DOF]); 2];
        let mut count = 0;
        for ((body, arm, sign), rows) in contact.sides(scene).zip(&mut rows) {
            *rows = (BodyIndex(body), point_rows(arm, &contact.frame, sign));
            count += 1;
        }
        let [first, second] = &rows;
        let parts = [(first.0, &first.1[..]), (second.0, &second.1[..])];
        problem.push(Rows::Bodies(&parts[..count]), law);
    }
}

/// `[m, 0; 0, I]`, 6 × 6.
pub(super) fn mass_matrix(mass: f64, inertia: &Matrix3<f64>) -> [f64; DOF * DOF] {
    let mut matrix = [0.0; DOF * DOF];
    for i in 0..3 {
        matrix[i * (DOF + 1)] = mass;
        for j in 0..3 {
            matrix[(3 + j) * DOF + 3 + i] = inertia[(i, j)];
        }
    }
    matrix
}
