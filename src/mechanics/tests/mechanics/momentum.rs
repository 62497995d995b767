//! Momentum of random robots, and that nobody moves without something to push against.

use legwork_mechanics::nalgebra::{DMatrix, DVector, Vector3};
use legwork_mechanics::{
    Kinematics, MixedWrench, Model, add_frame_wrench, center_of_mass, center_of_mass_velocity,
    centroidal_momentum, centroidal_momentum_dot_velocity, centroidal_momentum_matrix, integrate,
    kinetic_energy, rotor_kinetic_energy, world_from_frame,
};

use crate::quantities::*;
use crate::random::{Rng, Sample, random_models, random_state, small_models};

fn momentum_matrix_at(model: &Model, kinematics: &Kinematics) -> DMatrix<f64> {
    let mut matrix = DMatrix::from_element(6, model.velocity_dim(), f64::NAN);
    centroidal_momentum_matrix(model, kinematics, matrix.as_mut_slice());
    matrix
}

#[test]
fn centroidal_momentum_is_its_matrix_times_velocity() {
    let mut law = Law::new("(p, L) = A_G nu", 1e-13);
    let mut linear = Law::new("p = m v_G", 1e-13);
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let kinematics = kinematics_at(model, &q, &nu);
        let matrix = momentum_matrix_at(model, &kinematics);
        let expected = &matrix * DVector::from_column_slice(&nu);
        let momentum = centroidal_momentum(model, &kinematics);
        // Moments about the base origin cancel to those about the centre of mass.
        let size = matrix.norm() * norm(&nu);
        law.check(*seed, (six_of(&momentum) - &expected).norm() / size);
        let velocity = center_of_mass_velocity(model, &kinematics) * model.total_mass();
        linear.check(*seed, (momentum.force - velocity).norm() / size);
    }
}

/// `Ȧ_G ν` is the change of the momentum along the motion at constant ν; differences of second
/// order.
#[test]
fn the_rate_of_the_momentum_is_its_change_along_the_motion() {
    let mut law = Law::new("dot A_G nu against differences", 1e-7);
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let h = 1e-5;
        let at = |h: f64| {
            let increment: Vec<f64> = nu.iter().map(|nu| h * nu).collect();
            let mut moved = q.clone();
            integrate(model, &q, &increment, &mut moved);
            six_of(&centroidal_momentum(model, &kinematics_at(model, &moved, &nu)))
        };
        let difference = (at(h) - at(-h)) / (2.0 * h);
        let kinematics = kinematics_at(model, &q, &nu);
        let found = six_of(&centroidal_momentum_dot_velocity(model, &kinematics));
        let size = momentum_matrix_at(model, &kinematics).norm() * norm(&nu) * (1.0 + norm(&nu));
        law.check(*seed, (found - difference).norm() / size);
    }
}

/// A floating base pushes on all: the base rows of `M` are the momentum about the base origin.
#[test]
fn base_rows_of_the_mass_matrix_are_the_momentum() {
    let mut law = Law::new("base rows of M = A_G about the base", 1e-13);
    for Sample { seed, model, .. } in random_models() {
        if !model.trees()[0].is_floating() {
            continue;
        }
        let (q, nu) = random_state(model, *seed);
        let kinematics = kinematics_at(model, &q, &nu);
        let m = dense_mass_at(model, &kinematics);
        let mut matrix = momentum_matrix_at(model, &kinematics);
        let arm = center_of_mass(model, &kinematics) - Vector3::new(q[0], q[1], q[2]);
        for mut column in matrix.column_iter_mut() {
            let moment = arm.cross(&Vector3::new(column[0], column[1], column[2]));
            for i in 0..3 {
                column[3 + i] += moment[i];
            }
        }
        // Rotors are no part of the base rows.
        let rows = m.rows(0, 6);
        law.check(*seed, (rows - &matrix).norm() / matrix.norm());
    }
}

/// d/dt (p, L) = (m g + f, (c_f − c) × f + n) for a wrench (f, n) on some frame, whatever the
/// joints do: differences along the true motion.
#[test]
fn momentum_changes_by_gravity_and_external_wrenches() {
    let mut law = Law::new("d(p, L)/dt = external wrench", 1e-9);
    let wrench =
        MixedWrench { force: Vector3::new(4.0, -6.0, 3.0), moment: Vector3::new(-1.0, 2.0, 0.5) };
    for Sample { seed, model, .. } in small_models(28) {
        if !model.trees()[0].is_floating() {
            continue;
        }
        let (q, nu) = random_state(model, *seed);
        let torques = Rng::new(*seed).vector(model.joint_dim(), 3.0);
        let frame = last_frame(model);
        let external = |kinematics: &Kinematics| {
            let mut external = vec![0.0; nu.len()];
            add_frame_wrench(model, kinematics, frame, &wrench, &mut external);
            external
        };
        let kinematics = kinematics_at(model, &q, &nu);
        let start = articulated_at(model, &kinematics, &torques, &external(&kinematics)).unwrap();
        let eps = step_in_motion(model, &kinematics) / (1.0 + start.norm() / norm(&nu));
        let state = (q.clone(), nu.clone());
        let found = slope(eps, |time| {
            let (q, nu) = runge_kutta(model, &state, &torques, &external, time);
            six_of(&centroidal_momentum(model, &kinematics_at(model, &q, &nu)))
        });
        let arm = world_from_frame(model, &kinematics, frame).translation
            - center_of_mass(model, &kinematics);
        let expected = six_of(&MixedWrench {
            force: model.gravity() * model.total_mass() + wrench.force,
            moment: wrench.moment + arm.cross(&wrench.force),
        });
        let size = 1.0 + (momentum_matrix_at(model, &kinematics) * &start).norm();
        law.check(*seed, (found - &expected).norm() / size);
    }
}

/// In free flight without gravity, momentum stays while the joints' torques shake the robot. The
/// method is of fourth order: the drift over a fixed time falls by 2⁴ where steps are halved, up to
/// rounding. (8 is asked for: at steps of this size the next order is not yet lost.)
#[test]
fn momentum_is_kept_in_free_flight() {
    let mut law = Law::new("drift of momentum in free flight", 1e-9);
    let mut order = Law::new("drift at half the step / drift", 1.0 / 8.0);
    for Sample { seed, model, .. } in small_models(12) {
        if !model.trees()[0].is_floating() || model.joint_dim() == 0 {
            continue;
        }
        let model = &model.clone().with_gravity(Vector3::zeros());
        let (q, nu) = random_state(model, *seed);
        let torques = Rng::new(*seed).vector(model.joint_dim(), 1.0);
        let none = |_: &Kinematics| vec![0.0; nu.len()];
        let kinematics = kinematics_at(model, &q, &nu);
        let start = centroidal_momentum(model, &kinematics);
        let size = momentum_matrix_at(model, &kinematics).norm() * norm(&nu);
        let rate = articulated_at(model, &kinematics, &torques, &none(&kinematics)).unwrap();
        let time = 200.0 * step_in_motion(model, &kinematics) / (1.0 + rate.norm() / norm(&nu));
        let drift = |steps: u32| {
            let mut state = (q.clone(), nu.clone());
            for _ in 0..steps {
                state = runge_kutta(model, &state, &torques, &none, time / f64::from(steps));
            }
            let end = centroidal_momentum(model, &kinematics_at(model, &state.0, &state.1));
            (six_of(&end) - six_of(&start)).norm() / size
        };
        let (coarse, fine) = (drift(4), drift(8));
        law.check(*seed, fine);
        // Rounding of some hundred operations.
        order.check(*seed, (fine - 1e-14) / coarse.max(1e-12));
    }
}

/// Without gravity, torques and friction, energy stays.
#[test]
fn energy_is_kept_in_free_flight() {
    let mut law = Law::new("drift of energy in free flight", 1e-9);
    for Sample { seed, model, .. } in small_models(12) {
        let model = &model.clone().with_gravity(Vector3::zeros());
        let (q, nu) = random_state(model, *seed);
        let torques = vec![0.0; model.joint_dim()];
        let none = |_: &Kinematics| vec![0.0; nu.len()];
        let energy = |(q, nu): &(Vec<f64>, Vec<f64>)| {
            let kinematics = kinematics_at(model, q, nu);
            kinetic_energy(model, &kinematics) + rotor_kinetic_energy(model, nu)
        };
        let kinematics = kinematics_at(model, &q, &nu);
        let rate = articulated_at(model, &kinematics, &torques, &none(&kinematics)).unwrap();
        let step = 10.0 * step_in_motion(model, &kinematics) / (1.0 + rate.norm() / norm(&nu));
        let start = (q.clone(), nu.clone());
        let mut state = start.clone();
        for _ in 0..20 {
            state = runge_kutta(model, &state, &torques, &none, step);
        }
        law.check(*seed, (energy(&state) - energy(&start)).abs() / energy(&start));
    }
}
