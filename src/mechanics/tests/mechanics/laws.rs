//! Laws of mechanics on random robots.

use legwork_mechanics::nalgebra::{DMatrix, DVector, Vector3};
use legwork_mechanics::{
    Delassus, FrameId, InverseDynamics, Kinematics, MassFactor, MassMatrix, Model, add_point_force,
    add_transposed_product, bias_force, center_of_mass, center_of_mass_jacobian,
    center_of_mass_velocity, configuration_derivative, contact_inverse_inertia, difference,
    forward_dynamics, frame_jacobian, frame_jacobian_dot_velocity, frame_velocity, integrate,
    inverse_dynamics, kinetic_energy, mass_matrix, point_jacobian, point_jacobian_dot_velocity,
    point_jacobian_rows, point_velocity, potential_energy, product, quaternion_to_rotation,
    rotor_kinetic_energy, world_from_frame,
};

use crate::random::{Rng, random_models, random_state};

fn kinematics_at(model: &Model, q: &[f64], nu: &[f64]) -> Kinematics {
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, q, nu);
    kinematics
}

fn moved(model: &Model, q: &[f64], nu: &[f64], time: f64) -> Vec<f64> {
    let step: Vec<f64> = nu.iter().map(|v| v * time).collect();
    let mut out = vec![0.0; q.len()];
    integrate(model, q, &step, &mut out);
    out
}

fn mass_at(model: &Model, kinematics: &Kinematics) -> MassMatrix {
    let mut mass = MassMatrix::new(model);
    mass_matrix(model, kinematics, &mut mass);
    mass
}

fn dense(mass: &MassMatrix) -> DMatrix<f64> {
    let nv = mass.dim();
    let mut m = DMatrix::zeros(nv, nv);
    mass.write_dense(m.as_mut_slice());
    m
}

fn bias_at(model: &Model, kinematics: &Kinematics) -> Vec<f64> {
    let mut h = vec![0.0; model.velocity_dim()];
    bias_force(model, kinematics, &mut InverseDynamics::new(model), &mut h);
    h
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// A frame near the end of some branch.
fn last_frame(model: &Model) -> FrameId {
    let deepest = model.frames().iter().max_by_key(|frame| frame.body.index()).unwrap();
    model.find_frame(&deepest.name).unwrap()
}

#[test]
fn inverse_dynamics_is_mass_times_acceleration_plus_bias() {
    for (seed, model) in random_models() {
        let (q, nu) = random_state(&model, seed);
        let kinematics = kinematics_at(&model, &q, &nu);
        let nv = model.velocity_dim();
        let acceleration = Rng::new(seed).vector(nv, 5.0);
        let mut force = vec![0.0; nv];
        let mut workspace = InverseDynamics::new(&model);
        inverse_dynamics(&model, &kinematics, &acceleration, &mut workspace, &mut force);
        let mut expected = vec![0.0; nv];
        mass_at(&model, &kinematics).multiply(&acceleration, &mut expected);
        for (x, h) in expected.iter_mut().zip(bias_at(&model, &kinematics)) {
            *x += h;
        }
        let error = distance(&force, &expected) / norm(&expected);
        assert!(error < 1e-13, "seed {seed}: relative error {error:.1e}");
    }
}

/// Positive definite by nalgebra's dense Cholesky, which knows nothing of trees; ½ νᵀMν against
/// the sum over links and rotors.
#[test]
fn mass_matrix_is_symmetric_positive_definite_and_gives_the_kinetic_energy() {
    for (seed, model) in random_models() {
        let (q, nu) = random_state(&model, seed);
        let kinematics = kinematics_at(&model, &q, &nu);
        let m = dense(&mass_at(&model, &kinematics));
        assert_eq!(m, m.transpose(), "seed {seed}");
        assert!(m.clone().cholesky().is_some(), "seed {seed}: not positive definite");
        let nu_vector = DVector::from_column_slice(&nu);
        let energy = kinetic_energy(&model, &kinematics) + rotor_kinetic_energy(&model, &nu);
        let error = (0.5 * nu_vector.dot(&(m * &nu_vector)) - energy).abs() / energy;
        assert!(error < 1e-13, "seed {seed}: relative error {error:.1e}");
    }
}

/// Column k of J is the velocity of the frame when coordinate k alone moves: central differences
/// on the manifold, error O(ε²) of derivatives of size up to tens.
#[test]
fn jacobians_are_derivatives_of_placements() {
    let eps = 1e-5;
    for (seed, model) in random_models() {
        let (q, nu) = random_state(&model, seed);
        let nv = model.velocity_dim();
        let frame = last_frame(&model);
        let kinematics = kinematics_at(&model, &q, &nu);
        let here = world_from_frame(&model, &kinematics, frame);
        let offset = Vector3::new(0.1, -0.2, 0.3);
        let local = here.rotation.transpose() * offset;
        let mut jacobian = vec![f64::NAN; 6 * nv];
        frame_jacobian(&model, &kinematics, frame, &mut jacobian);
        let mut of_point = vec![f64::NAN; 3 * nv];
        point_jacobian(&model, &kinematics, frame, &offset, &mut of_point);
        let mut of_center = vec![f64::NAN; 3 * nv];
        center_of_mass_jacobian(&model, &kinematics, &mut of_center);
        for k in 0..nv {
            let mut unit = vec![0.0; nv];
            unit[k] = 1.0;
            let side = |time: f64| {
                let kinematics = kinematics_at(&model, &moved(&model, &q, &unit, time), &nu);
                let placement = world_from_frame(&model, &kinematics, frame);
                (placement, center_of_mass(&model, &kinematics))
            };
            let ((ahead, com_ahead), (behind, com_behind)) = (side(eps), side(-eps));
            let linear = (ahead.translation - behind.translation) / (2.0 * eps);
            let spin = (ahead.rotation - behind.rotation) / (2.0 * eps) * here.rotation.transpose();
            let angular = Vector3::new(spin[(2, 1)], spin[(0, 2)], spin[(1, 0)]);
            let point =
                (ahead.transform_point(&local) - behind.transform_point(&local)) / (2.0 * eps);
            let center = (com_ahead - com_behind) / (2.0 * eps);
            for r in 0..3 {
                let pairs = [
                    ("linear", jacobian[6 * k + r], linear[r]),
                    ("angular", jacobian[6 * k + 3 + r], angular[r]),
                    ("point", of_point[3 * k + r], point[r]),
                    ("center", of_center[3 * k + r], center[r]),
                ];
                for (what, found, expected) in pairs {
                    let error = (found - expected).abs();
                    assert!(error < 2e-9, "seed {seed} {what} ({r}, {k}): error {error:.1e}");
                }
            }
        }
    }
}

#[test]
fn velocities_are_jacobians_times_coordinates() {
    for (seed, model) in random_models() {
        let (q, nu) = random_state(&model, seed);
        let nv = model.velocity_dim();
        let frame = last_frame(&model);
        let offset = Vector3::new(-0.3, 0.1, 0.2);
        let kinematics = kinematics_at(&model, &q, &nu);
        let mut matrix = vec![0.0; 6 * nv];
        frame_jacobian(&model, &kinematics, frame, &mut matrix);
        let mut expected = [0.0; 6];
        product(&matrix, &nu, &mut expected);
        let twist = frame_velocity(&model, &kinematics, frame);
        let scale = 1.0 + norm(&expected);
        assert!(distance(twist.linear.as_slice(), &expected[..3]) < 1e-13 * scale, "seed {seed}");
        assert!(distance(twist.angular.as_slice(), &expected[3..]) < 1e-13 * scale, "seed {seed}");

        // Two points stacked: rows of the upper matrix must not disturb the lower.
        let mut stacked = vec![f64::NAN; 6 * nv];
        point_jacobian_rows(&model, &kinematics, frame, &offset, 3, 6, &mut stacked);
        point_jacobian_rows(&model, &kinematics, frame, &Vector3::zeros(), 0, 6, &mut stacked);
        product(&stacked, &nu, &mut expected);
        let point = point_velocity(&model, &kinematics, frame, &offset);
        assert!(distance(twist.linear.as_slice(), &expected[..3]) < 1e-13 * scale, "seed {seed}");
        assert!(distance(point.as_slice(), &expected[3..]) < 1e-13 * scale, "seed {seed}");

        let mut matrix = vec![0.0; 3 * nv];
        center_of_mass_jacobian(&model, &kinematics, &mut matrix);
        let mut expected = [0.0; 3];
        product(&matrix, &nu, &mut expected);
        let velocity = center_of_mass_velocity(&model, &kinematics);
        assert!(distance(velocity.as_slice(), &expected) < 1e-13 * scale, "seed {seed}");
    }
}

/// With constant ν, the velocity of a frame or material point changes by J̇ν alone.
#[test]
fn jacobian_dot_velocity_is_the_derivative_of_the_velocity_at_constant_coordinates() {
    let eps = 1e-5;
    for (seed, model) in random_models() {
        let (q, nu) = random_state(&model, seed);
        let frame = last_frame(&model);
        let kinematics = kinematics_at(&model, &q, &nu);
        let here = world_from_frame(&model, &kinematics, frame);
        let offset = Vector3::new(0.2, 0.1, -0.1);
        let local = here.rotation.transpose() * offset;
        let side = |time: f64| {
            let kinematics = kinematics_at(&model, &moved(&model, &q, &nu, time), &nu);
            let rotation = world_from_frame(&model, &kinematics, frame).rotation;
            let twist = frame_velocity(&model, &kinematics, frame);
            (twist, point_velocity(&model, &kinematics, frame, &(rotation * local)))
        };
        let ((ahead, point_ahead), (behind, point_behind)) = (side(eps), side(-eps));
        let found = frame_jacobian_dot_velocity(&model, &kinematics, frame);
        let point = point_jacobian_dot_velocity(&model, &kinematics, frame, &offset);
        let pairs = [
            ("linear", found.linear, (ahead.linear - behind.linear) / (2.0 * eps)),
            ("angular", found.angular, (ahead.angular - behind.angular) / (2.0 * eps)),
            ("point", point, (point_ahead - point_behind) / (2.0 * eps)),
        ];
        for (what, found, expected) in pairs {
            // Third derivatives grow with the cube of the chain's angular velocity.
            let error = (found - expected).norm() / (1.0 + expected.norm());
            assert!(error < 1e-6, "seed {seed} {what}: relative error {error:.1e}");
        }
    }
}

/// d/dt (kinetic + potential) = power of the applied forces, by differences along the motion.
#[test]
fn energy_changes_at_the_power_of_the_applied_forces() {
    let eps = 1e-6;
    for (seed, model) in random_models() {
        let (q, nu) = random_state(&model, seed);
        let nv = model.velocity_dim();
        let mut rng = Rng::new(seed + 1);
        let torques = rng.vector(model.joint_count(), 3.0);
        let frame = last_frame(&model);
        let (offset, force) = (Vector3::new(0.1, 0.0, 0.2), Vector3::new(5.0, -3.0, 2.0));
        let kinematics = kinematics_at(&model, &q, &nu);
        let mut factor = MassFactor::new(&model);
        factor.factorize(&mass_at(&model, &kinematics)).unwrap();
        let mut external = vec![0.0; nv];
        add_point_force(&model, &kinematics, frame, &offset, &force, &mut external);
        let mut rate = vec![0.0; nv];
        let bias = bias_at(&model, &kinematics);
        forward_dynamics(&model, &factor, &bias, &torques, &external, &mut rate);

        let energy = |time: f64| {
            let speeds: Vec<f64> = nu.iter().zip(&rate).map(|(v, a)| v + a * time).collect();
            // To second order, position moves with the mean velocity.
            let mean: Vec<f64> = nu.iter().zip(&speeds).map(|(a, b)| 0.5 * (a + b)).collect();
            let kinematics = kinematics_at(&model, &moved(&model, &q, &mean, time), &speeds);
            kinetic_energy(&model, &kinematics)
                + rotor_kinetic_energy(&model, &speeds)
                + potential_energy(&model, &kinematics)
        };
        let found = (energy(eps) - energy(-eps)) / (2.0 * eps);
        let by_torque: f64 = torques.iter().zip(&nu[model.base_dim()..]).map(|(t, v)| t * v).sum();
        let by_force = force.dot(&point_velocity(&model, &kinematics, frame, &offset));
        let scale = norm(&rate) * norm(&nu) + energy(0.0).abs() + 1.0;
        let error = (found - by_torque - by_force).abs() / scale;
        assert!(error < 1e-7, "seed {seed}: {found} {by_torque} {by_force}, error {error:.1e}");
    }
}

/// Backward error ‖M x − b‖ / (‖M‖ ‖x‖) of the order of rounding, and the halves make the whole.
#[test]
fn factor_solves_to_rounding() {
    for (seed, model) in random_models() {
        let (q, nu) = random_state(&model, seed);
        let mass = mass_at(&model, &kinematics_at(&model, &q, &nu));
        let m = dense(&mass);
        let nv = mass.dim();
        let mut factor = MassFactor::new(&model);
        factor.factorize(&mass).unwrap();
        let b = Rng::new(seed).vector(nv, 1.0);
        let mut x = b.clone();
        factor.solve_in_place(&mut x);
        let solution = DVector::from_column_slice(&x);
        let residual = (&m * &solution - DVector::from_column_slice(&b)).norm();
        let error = residual / (m.norm() * solution.norm());
        assert!(error < 1e-14, "seed {seed}: backward error {error:.1e}");

        let mut half = b.clone();
        factor.half_solve_in_place(&mut half);
        let energy: f64 = b.iter().zip(&x).map(|(b, x)| b * x).sum();
        let square = norm(&half) * norm(&half);
        assert!((square - energy).abs() < 1e-9 * energy, "seed {seed}: {square} {energy}");
        factor.half_solve_transposed_in_place(&mut half);
        assert!(distance(&half, &x) < 1e-10 * norm(&x), "seed {seed}");

        let mut c = DMatrix::zeros(nv, nv);
        factor.write_dense(c.as_mut_slice());
        let error = (c.transpose() * &c - &m).norm() / m.norm();
        assert!(error < 1e-14, "seed {seed}: CᵀC = M to {error:.1e}");
        let mut read = MassFactor::new(&model);
        read.read_dense(c.as_slice()).unwrap();
        let mut again = b.clone();
        read.solve_in_place(&mut again);
        assert!(distance(&again, &x) < 1e-10 * norm(&x), "seed {seed}");

        let mut copy = MassMatrix::new(&model);
        copy.read_dense(m.as_slice());
        assert_eq!(dense(&copy), m, "seed {seed}");
    }
}

/// Against LU on the dense `M`, with contacts on all branches in random order.
#[test]
fn delassus_matrix_agrees_with_dense_elimination() {
    for (seed, model) in random_models() {
        let (q, nu) = random_state(&model, seed);
        let kinematics = kinematics_at(&model, &q, &nu);
        let mass = mass_at(&model, &kinematics);
        let nv = mass.dim();
        let mut factor = MassFactor::new(&model);
        factor.factorize(&mass).unwrap();
        let mut rng = Rng::new(seed);
        let contacts = rng.below(5);
        let nc = 3 * contacts;
        let mut j = DMatrix::zeros(nc, nv);
        for c in 0..contacts {
            let name = model.frames()[rng.below(model.frames().len())].name.clone();
            let frame = model.find_frame(&name).unwrap();
            let offset = Vector3::from_vec(rng.vector(3, 0.1));
            let out = j.as_mut_slice();
            point_jacobian_rows(&model, &kinematics, frame, &offset, 3 * c, nc, out);
        }
        let mut g = DMatrix::zeros(nc, nc);
        let mut workspace = Delassus::new(&model, nc);
        contact_inverse_inertia(&factor, j.as_slice(), nc, &mut workspace, g.as_mut_slice());
        if nc == 0 {
            continue;
        }
        let expected = &j * dense(&mass).lu().solve(&j.transpose()).unwrap();
        let error = (&g - &expected).norm() / expected.norm();
        let condition = dense(&mass).svd(false, false).singular_values;
        let condition = condition.max() / condition.min();
        let tolerance = 1e-15 * condition.max(1e3);
        assert!(error < tolerance, "seed {seed}: error {error:.1e}, condition {condition:.1e}");
        assert_eq!(g, g.transpose(), "seed {seed}");

        let f = rng.vector(nc, 1.0);
        let mut transposed = vec![0.0; nv];
        add_transposed_product(j.as_slice(), &f, &mut transposed);
        let dense = j.transpose() * DVector::from_column_slice(&f);
        assert!(distance(&transposed, dense.as_slice()) < 1e-13 * (1.0 + dense.norm()));
    }
}

#[test]
fn difference_undoes_integrate() {
    for (seed, model) in random_models() {
        let (q, delta) = random_state(&model, seed);
        for size in [1.0, 1e-2, 1e-4, 1e-9, 0.0] {
            let delta: Vec<f64> = delta.iter().map(|x| x * size * 0.8).collect();
            let end = moved(&model, &q, &delta, 1.0);
            let mut found = vec![f64::NAN; delta.len()];
            difference(&model, &q, &end, &mut found);
            let error = distance(&found, &delta);
            assert!(
                error < 1e-14 * (1.0 + norm(&q)) * 10.0,
                "seed {seed} size {size}: {error:.1e}"
            );
        }
        let mut rate = vec![0.0; q.len()];
        configuration_derivative(&model, &q, &delta, &mut rate);
        let eps = 1e-6;
        let ahead = moved(&model, &q, &delta, eps);
        let behind = moved(&model, &q, &delta, -eps);
        let slope: Vec<f64> =
            ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * eps)).collect();
        assert!(distance(&rate, &slope) < 1e-8, "seed {seed}");
    }
}

/// The angular velocity of the base is in world axes: turning by δω is a product from the left.
#[test]
fn base_turns_in_world_axes() {
    let (_, model) = random_models().find(|(_, model)| model.is_floating()).unwrap();
    let (q, _) = random_state(&model, 3);
    let mut turn = vec![0.0; model.velocity_dim()];
    turn[5] = std::f64::consts::FRAC_PI_2;
    let end = moved(&model, &q, &turn, 1.0);
    let before = quaternion_to_rotation([q[3], q[4], q[5], q[6]]);
    let after = quaternion_to_rotation([end[3], end[4], end[5], end[6]]);
    let expected = Vector3::new(-before[(1, 0)], before[(0, 0)], before[(2, 0)]);
    assert!((after.column(0) - expected).norm() < 1e-15);
}

/// Forces do not depend on where the base is or how fast it drifts, to the last digits.
#[test]
fn bias_force_is_the_same_for_all_steady_observers() {
    for (seed, model) in random_models().filter(|(_, model)| model.is_floating()) {
        let (mut q, mut nu) = random_state(&model, seed);
        let here = bias_at(&model, &kinematics_at(&model, &q, &nu));
        for k in 0..3 {
            q[k] += 1e6;
            nu[k] -= 1e3;
        }
        assert_eq!(here, bias_at(&model, &kinematics_at(&model, &q, &nu)), "seed {seed}");
    }
}

/// A workspace carries nothing from one state to the next.
#[test]
fn results_do_not_depend_on_earlier_states() {
    for (seed, model) in random_models() {
        let (q, nu) = random_state(&model, seed);
        let (other_q, other_nu) = random_state(&model, seed + 1000);
        let fresh = kinematics_at(&model, &q, &nu);
        let mut used = kinematics_at(&model, &other_q, &other_nu);
        let mut mass = mass_at(&model, &used);
        used.update(&model, &q, &nu);
        mass_matrix(&model, &used, &mut mass);
        assert_eq!(dense(&mass), dense(&mass_at(&model, &fresh)), "seed {seed}");
        assert_eq!(bias_at(&model, &used), bias_at(&model, &fresh), "seed {seed}");
    }
}

#[test]
fn workspaces_are_cloneable_and_sendable() {
    fn is_workspace<T: Clone + Send + Sync + 'static>() {}
    is_workspace::<Model>();
    is_workspace::<Kinematics>();
    is_workspace::<MassMatrix>();
    is_workspace::<MassFactor>();
    is_workspace::<InverseDynamics>();
    is_workspace::<Delassus>();
}
