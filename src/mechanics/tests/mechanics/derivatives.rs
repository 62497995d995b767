//! Analytic derivatives against differences on the manifold.

use legwork_mechanics::nalgebra::{DMatrix, DVector, Vector3};
use legwork_mechanics::{
    Derivatives, Kinematics, MixedWrench, Model, add_frame_wrench, add_frame_wrench_derivative,
    forward_dynamics_derivatives, inverse_dynamics_derivatives,
};

use crate::quantities::*;
use crate::random::{Rng, Sample, random_models, random_state, small_models};

/// Column k is the slope of `f(q, ν)` along coordinate k of `q`.
fn by_configuration(
    model: &Model,
    (q, nu): (&[f64], &[f64]),
    eps: f64,
    f: impl Fn(&Kinematics) -> DVector<f64>,
) -> DMatrix<f64> {
    let columns: Vec<DVector<f64>> = (0..nu.len())
        .map(|k| slope(eps, |time| f(&kinematics_at(model, &moved_along(model, q, k, time), nu))))
        .collect();
    DMatrix::from_columns(&columns)
}

/// Column k is the derivative of `f(q, ν)` by `ν_k`: `f` is quadratic in ν, so that the difference
/// over any step is exact.
fn by_velocity(
    model: &Model,
    (q, nu): (&[f64], &[f64]),
    f: impl Fn(&Kinematics) -> DVector<f64>,
) -> DMatrix<f64> {
    let columns: Vec<DVector<f64>> = (0..nu.len())
        .map(|k| {
            let side = |step: f64| {
                let mut nu = nu.to_vec();
                nu[k] += step;
                f(&kinematics_at(model, q, &nu))
            };
            (side(1.0) - side(-1.0)) * 0.5
        })
        .collect();
    DMatrix::from_columns(&columns)
}

/// Velocities do not make derivatives by `q` grow with the time scale of the motion: only
/// `ε = 2e-3` radians and metres of travel count.
#[test]
fn inverse_dynamics_derivatives_are_slopes() {
    let mut configuration = Law::new("d ID / dq", 1e-10);
    let mut velocity = Law::new("d ID / dnu", 1e-12);
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let nv = nu.len();
        let nu_dot = Rng::new(*seed).vector(nv, 5.0);
        let kinematics = kinematics_at(model, &q, &nu);
        let mut workspace = Derivatives::new(model);
        let mut found_q = DMatrix::from_element(nv, nv, f64::NAN);
        let mut found_v = found_q.clone();
        inverse_dynamics_derivatives(
            model,
            &kinematics,
            &nu_dot,
            &mut workspace,
            found_q.as_mut_slice(),
            found_v.as_mut_slice(),
        );
        let f = |kinematics: &Kinematics| inverse_dynamics_at(model, kinematics, &nu_dot);
        let expected = by_configuration(model, (&q, &nu), STEP, f);
        let force = f(&kinematics).norm();
        let size = 1.0 + force + expected.norm();
        configuration.check(*seed, (found_q - &expected).norm() / size);
        let expected = by_velocity(model, (&q, &nu), f);
        velocity.check(*seed, (found_v - &expected).norm() / (1.0 + force + expected.norm()));
    }
}

/// Also: `∂ν̇/∂τ = M⁻¹S`. An ill-conditioned `M` makes ν̇ of both sides uncertain. It also makes ν̇
/// bend sharply: a quarter of the step truncates 256 times less.
#[test]
fn forward_dynamics_derivatives_are_slopes() {
    let mut configuration = Law::new("d FD / dq / condition", 1e-10);
    let mut velocity = Law::new("d FD / dnu / condition", 1e-13);
    let mut torque = Law::new("d FD / dtau / condition", 1e-13);
    for Sample { seed, model, .. } in small_models(28) {
        let (q, nu) = random_state(model, *seed);
        let (nv, n) = (nu.len(), model.joint_dim());
        let mut rng = Rng::new(*seed);
        let (torques, external) = (rng.vector(n, 3.0), rng.vector(nv, 3.0));
        let kinematics = kinematics_at(model, &q, &nu);
        let factor = factor_at(model, &kinematics);
        let f = |kinematics: &Kinematics| {
            articulated_at(model, kinematics, &torques, &external).unwrap()
        };
        let nu_dot = forward_at(model, &kinematics, &torques, &external);
        let mut found_q = DMatrix::from_element(nv, nv, f64::NAN);
        let mut found_v = found_q.clone();
        let mut found_t = DMatrix::from_element(nv, n, f64::NAN);
        forward_dynamics_derivatives(
            model,
            &kinematics,
            &factor,
            nu_dot.as_slice(),
            &mut Derivatives::new(model),
            found_q.as_mut_slice(),
            found_v.as_mut_slice(),
            found_t.as_mut_slice(),
        );
        let condition = condition(&dense_mass_at(model, &kinematics));
        let expected = by_configuration(model, (&q, &nu), STEP / 4.0, f);
        let size = (1.0 + nu_dot.norm() + expected.norm()) * condition;
        configuration.check(*seed, (found_q - &expected).norm() / size);
        let expected = by_velocity(model, (&q, &nu), f);
        let size = (1.0 + nu_dot.norm() + expected.norm()) * condition;
        velocity.check(*seed, (found_v - &expected).norm() / size);
        for (i, column) in found_t.column_iter().enumerate() {
            let mut more = torques.clone();
            more[i] += 1.0;
            let expected = articulated_at(model, &kinematics, &more, &external).unwrap() - &nu_dot;
            let size = (expected.norm() + nu_dot.norm()) * condition;
            torque.check(*seed, (column - &expected).norm() / size);
        }
    }
}

#[test]
fn wrench_derivatives_are_slopes() {
    let mut law = Law::new("d J'w / dq", 1e-10);
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let nv = nu.len();
        let mut rng = Rng::new(*seed);
        let frames: Vec<_> = frame_ids(model).collect();
        for frame in [last_frame(model), frames[rng.below(frames.len())]] {
            let wrench = MixedWrench {
                force: Vector3::from_vec(rng.vector(3, 5.0)),
                moment: Vector3::from_vec(rng.vector(3, 2.0)),
            };
            let kinematics = kinematics_at(model, &q, &nu);
            let mut found = DMatrix::zeros(nv, nv);
            let out = found.as_mut_slice();
            add_frame_wrench_derivative(model, &kinematics, frame, &wrench, out);
            let f = |kinematics: &Kinematics| {
                let mut force = DVector::zeros(nv);
                add_frame_wrench(model, kinematics, frame, &wrench, force.as_mut_slice());
                force
            };
            let expected = by_configuration(model, (&q, &nu), STEP, f);
            let size = 1.0 + f(&kinematics).norm() + expected.norm();
            law.check(*seed, (&found - &expected).norm() / size);
            // It adds.
            add_frame_wrench_derivative(model, &kinematics, frame, &wrench, found.as_mut_slice());
            law.check(*seed, (found - &expected * 2.0).norm() / size);
        }
    }
}
