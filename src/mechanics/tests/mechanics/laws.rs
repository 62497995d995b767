//! Laws of dynamics on random robots: forces, masses, energies.

use legwork_mechanics::nalgebra::{DVector, Matrix3, Rotation3, Vector3};
use legwork_mechanics::{
    Base, InverseDynamics, Kinematics, MassFactor, MassMatrix, Model, WeightedJacobian,
    add_point_force, frame_velocity, kinetic_energy, point_velocity, potential_energy,
    quaternion_to_rotation, rotor_kinetic_energy,
};

use crate::quantities::*;
use crate::random::{Rng, Sample, random_models, random_state, small_models};

#[test]
fn inverse_dynamics_is_mass_times_acceleration_plus_bias() {
    let mut law = Law::new("ID = M nu_dot + h", 1e-13);
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let kinematics = kinematics_at(model, &q, &nu);
        let acceleration = DVector::from_vec(Rng::new(*seed).vector(nu.len(), 5.0));
        let force = inverse_dynamics_at(model, &kinematics, acceleration.as_slice());
        let (m, h) = (dense_mass_at(model, &kinematics), bias_at(model, &kinematics));
        let expected = &m * &acceleration + &h;
        law.check(*seed, (force - &expected).norm() / expected.norm());

        let mut product = vec![f64::NAN; nu.len()];
        mass_at(model, &kinematics).multiply(acceleration.as_slice(), &mut product);
        law.check(*seed, relative(&product, (&m * &acceleration).as_slice()));
    }
}

/// Positive definite by nalgebra's dense Cholesky, which knows nothing of trees; ½ νᵀMν against
/// the sum over links and rotors.
#[test]
fn mass_matrix_is_symmetric_positive_definite_and_gives_the_kinetic_energy() {
    let mut law = Law::new("nu' M nu / 2 = kinetic energy", 1e-13);
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let kinematics = kinematics_at(model, &q, &nu);
        let m = dense_mass_at(model, &kinematics);
        assert_eq!(m, m.transpose(), "seed {seed}");
        assert!(m.clone().cholesky().is_some(), "seed {seed}: not positive definite");
        let nu_vector = DVector::from_column_slice(&nu);
        let energy = kinetic_energy(model, &kinematics) + rotor_kinetic_energy(model, &nu);
        law.check(*seed, (0.5 * nu_vector.dot(&(m * &nu_vector)) - energy).abs() / energy);
    }
}

/// Both ways from forces to accelerations give back what inverse dynamics was given, to rounding
/// times the condition number of `M`.
#[test]
fn forward_dynamics_undo_inverse_dynamics() {
    let mut by_factor = Law::new("FD by the factor after ID / condition", 1e-14);
    let mut by_bodies = Law::new("FD by articulated bodies after ID / condition", 1e-14);
    let mut agreement = Law::new("articulated bodies - factor / condition", 1e-14);
    let mut backward = Law::new("articulated bodies, backward error", 1e-13);
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let nv = nu.len();
        let kinematics = kinematics_at(model, &q, &nu);
        let mut rng = Rng::new(*seed);
        let acceleration = DVector::from_vec(rng.vector(nv, 5.0));
        let force = inverse_dynamics_at(model, &kinematics, acceleration.as_slice());
        // Torques carry their rows, an external force the rest and a share of its own.
        let mut external = DVector::from_vec(rng.vector(nv, 3.0));
        let torques = joint_rows(model, (&force - &external).as_slice());
        for tree in model.trees() {
            for k in tree.velocity_range().take(tree.base_dim()) {
                external[k] = force[k];
            }
        }
        let by_m = forward_at(model, &kinematics, &torques, external.as_slice());
        let by_tree = articulated_at(model, &kinematics, &torques, external.as_slice()).unwrap();
        let m = dense_mass_at(model, &kinematics);
        let h = bias_at(model, &kinematics);
        let forces = (h.norm() + force.norm()) / m.norm();
        let scale = condition(&m) * (acceleration.norm() + forces);
        by_factor.check(*seed, (&by_m - &acceleration).norm() / scale);
        by_bodies.check(*seed, (&by_tree - &acceleration).norm() / scale);
        agreement.check(*seed, (&by_tree - &by_m).norm() / scale);
        let residual = &m * &by_tree + &h - &force;
        let size = m.norm() * by_tree.norm() + h.norm() + force.norm();
        backward.check(*seed, residual.norm() / size);
    }
}

/// d/dt (kinetic + potential) = power of the applied forces, by differences along the true motion.
#[test]
fn energy_changes_at_the_power_of_the_applied_forces() {
    let mut law = Law::new("power balance", 1e-9);
    for Sample { seed, model, .. } in small_models(28) {
        let (q, nu) = random_state(model, *seed);
        let mut rng = Rng::new(seed + 1);
        let torques = rng.vector(model.joint_dim(), 3.0);
        let frame = last_frame(model);
        let (offset, force) = (Vector3::new(0.1, 0.0, 0.2), Vector3::new(5.0, -3.0, 2.0));
        let kinematics = kinematics_at(model, &q, &nu);
        let rotation = |kinematics: &Kinematics| {
            legwork_mechanics::world_from_frame(model, kinematics, frame).rotation
        };
        let local = rotation(&kinematics).transpose() * offset;
        let external = |kinematics: &Kinematics| {
            let mut external = vec![0.0; nu.len()];
            let arm = rotation(kinematics) * local;
            add_point_force(model, kinematics, frame, &arm, &force, &mut external);
            external
        };
        let start = articulated_at(model, &kinematics, &torques, &external(&kinematics)).unwrap();
        // Velocities must not change by more than themselves within a radian.
        let eps = step_in_motion(model, &kinematics) / (1.0 + start.norm() / norm(&nu));
        let state = (q.clone(), nu.clone());
        let found = slope(eps, |time| {
            let (q, nu) = runge_kutta(model, &state, &torques, &external, time);
            let kinematics = kinematics_at(model, &q, &nu);
            let kinetic = kinetic_energy(model, &kinematics) + rotor_kinetic_energy(model, &nu);
            DVector::from_element(1, kinetic + potential_energy(model, &kinematics))
        })[0];
        let speeds = joint_rows(model, &nu);
        let by_torque: f64 = torques.iter().zip(speeds).map(|(t, v)| t * v).sum();
        let by_force = force.dot(&point_velocity(model, &kinematics, frame, &offset));
        // Kinetic energy is exchanged within the robot at this rate.
        let m = dense_mass_at(model, &kinematics);
        let scale = 1.0 + (m * &start).norm() * norm(&nu);
        law.check(*seed, (found - by_torque - by_force).abs() / scale);
    }
}

/// Coriolis forces do no work except through the change of `M`: `½ νᵀṀν = νᵀ C ν`, by differences
/// along constant ν; this is the skew symmetry of `Ṁ − 2C`.
#[test]
fn coriolis_forces_are_passive() {
    let mut law = Law::new("nu' M_dot nu / 2 = nu' C nu", 1e-10);
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let kinematics = kinematics_at(model, &q, &nu);
        let energy = |time: f64| {
            let kinematics = kinematics_at(model, &moved(model, &q, &nu, time), &nu);
            DVector::from_element(1, kinetic_energy(model, &kinematics))
        };
        let found = slope(step_in_motion(model, &kinematics), energy)[0];
        let coriolis = coriolis_at(model, &kinematics);
        let power = coriolis.dot(&DVector::from_column_slice(&nu));
        law.check(*seed, (found - power).abs() / (1.0 + coriolis.norm() * norm(&nu)));
    }
}

/// `h = C ν + g`, `C ν` is quadratic in ν, and `g` the derivative of the potential energy.
#[test]
fn bias_force_is_coriolis_plus_gravity() {
    let mut sum = Law::new("coriolis + gravity = bias", 1e-14);
    let mut quadratic = Law::new("C(2 nu) = 4 C(nu)", 1e-14);
    let mut derivative = Law::new("gravity = dV/dq", 1e-11);
    let mut at_rest = Law::new("bias at rest = gravity", 1e-14);
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let kinematics = kinematics_at(model, &q, &nu);
        let h = bias_at(model, &kinematics);
        let (c, g) = (coriolis_at(model, &kinematics), gravity_at(model, &kinematics));
        sum.check(*seed, (&c + &g - &h).norm() / (1.0 + c.norm() + g.norm()));
        let twice: Vec<f64> = nu.iter().map(|v| 2.0 * v).collect();
        let four = coriolis_at(model, &kinematics_at(model, &q, &twice));
        // Doubling is exact.
        quadratic.check(*seed, (four - &c * 4.0).norm() / (1.0 + c.norm()));
        let zero = vec![0.0; nu.len()];
        let still = bias_at(model, &kinematics_at(model, &q, &zero));
        at_rest.check(*seed, (&still - &g).norm() / (1.0 + g.norm()));
        for k in 0..nu.len() {
            let found = slope(STEP, |time| {
                let kinematics = kinematics_at(model, &moved_along(model, &q, k, time), &zero);
                DVector::from_element(1, potential_energy(model, &kinematics))
            })[0];
            let size = 1.0 + potential_energy(model, &kinematics).abs() + g.norm();
            derivative.check(*seed, (found - g[k]).abs() / size);
        }
    }
}

/// The angular velocity of the base is in world axes: turning by δω is a product from the left.
#[test]
fn base_turns_in_world_axes() {
    let floats = |sample: &&Sample| sample.model.trees()[0].is_floating();
    let model = &random_models().iter().find(floats).unwrap().model;
    let (q, _) = random_state(model, 3);
    let end = moved_along(model, &q, 5, std::f64::consts::FRAC_PI_2);
    let before = quaternion_to_rotation([q[3], q[4], q[5], q[6]]);
    let after = quaternion_to_rotation([end[3], end[4], end[5], end[6]]);
    let expected = Vector3::new(-before[(1, 0)], before[(0, 0)], before[(2, 0)]);
    assert!((after.column(0) - expected).norm() < 1e-15);
}

/// Turning base and gravity together turns base rows and leaves joint rows alone; a mounted robot
/// is one at the origin under gravity that is turned back.
#[test]
fn nothing_depends_on_the_axes_of_the_world() {
    let mut forces = Law::new("inverse dynamics in turned axes", 1e-13);
    let mut accelerations = Law::new("forward dynamics in turned axes / condition", 1e-14);
    let turned = legwork_mechanics::Placement::from_xyz_rpy([0.3, -0.7, 1.1], [0.4, -1.2, 2.5]);
    let r = turned.rotation;
    for Sample { seed, model, tree, options } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let nv = nu.len();
        let mut rng = Rng::new(*seed);
        let (nu_dot, torques) = (rng.vector(nv, 3.0), rng.vector(model.joint_dim(), 3.0));
        let there = match model.trees()[0].base {
            Base::Floating => model.clone(),
            Base::Fixed => {
                let mut options = options.clone();
                options.mount = turned * options.mount;
                let (there, _) = Model::from_urdf_text(&tree.text, &options).unwrap();
                let rotors = model.rotors();
                match rotors.matrix() {
                    Some(matrix) => there.with_rotor_inertia_matrix(matrix).unwrap(),
                    None => there.with_rotor_inertia(rotors.diagonal()).unwrap(),
                }
            }
        };
        let there = there.with_gravity(r * model.gravity());
        let base = model.trees()[0].base_dim();
        let turn = |x: &[f64]| {
            let mut x = x.to_vec();
            for part in x[..base].chunks_exact_mut(3) {
                let v = r * Vector3::from_column_slice(part);
                part.copy_from_slice(v.as_slice());
            }
            x
        };
        let mut q_there = q.clone();
        if base > 0 {
            let mut delta = vec![0.0; nv];
            let axis = Rotation3::from_matrix_unchecked(r);
            delta[3..6].copy_from_slice(axis.scaled_axis().as_slice());
            q_there = moved(model, &q, &delta, 1.0);
            let p = turned.transform_point(&Vector3::new(q[0], q[1], q[2]));
            q_there[..3].copy_from_slice(p.as_slice());
        }
        let here = kinematics_at(model, &q, &nu);
        let moved = kinematics_at(&there, &q_there, &turn(&nu));
        let expected = inverse_dynamics_at(model, &here, &nu_dot);
        let found = inverse_dynamics_at(&there, &moved, &turn(&nu_dot));
        forces.check(*seed, relative(found.as_slice(), &turn(expected.as_slice())));
        let none = vec![0.0; nv];
        let expected = articulated_at(model, &here, &torques, &none).unwrap();
        let found = articulated_at(&there, &moved, &torques, &none).unwrap();
        let error = relative(found.as_slice(), &turn(expected.as_slice()));
        accelerations.check(*seed, error / condition(&dense_mass_at(model, &here)));
        assert!((Matrix3::identity() - r.transpose() * r).amax() < 1e-15);
    }
}

/// Nothing but places and absolute velocities depends on where the base is or how fast it glides,
/// to the last bit.
#[test]
fn quantities_are_the_same_for_all_steady_observers() {
    for Sample { seed, model, .. } in random_models() {
        if !model.trees()[0].is_floating() {
            continue;
        }
        let (q, nu) = random_state(model, *seed);
        let (mut far_q, mut far_nu) = (q.clone(), nu.clone());
        for k in 0..3 {
            far_q[k] += 1e6;
            far_nu[k] -= 1e3;
        }
        let here = kinematics_at(model, &q, &nu);
        let far = kinematics_at(model, &far_q, &far_nu);
        let mut rng = Rng::new(*seed);
        let (nu_dot, torques) = (rng.vector(nu.len(), 3.0), rng.vector(model.joint_dim(), 3.0));
        let frame = last_frame(model);
        let all = |kinematics: &Kinematics| {
            let acceleration = articulated_at(model, kinematics, &torques, &nu_dot).unwrap();
            let mut center = vec![0.0; 3 * nu.len()];
            legwork_mechanics::center_of_mass_jacobian(model, kinematics, &mut center);
            let mut momentum = vec![0.0; 6 * nu.len()];
            legwork_mechanics::centroidal_momentum_matrix(model, kinematics, &mut momentum);
            let (first, last) = (model.root_frame(), frame);
            let mut relative = vec![0.0; 6 * nu.len()];
            legwork_mechanics::relative_jacobian(model, kinematics, first, last, &mut relative);
            let mut workspace = legwork_mechanics::Derivatives::new(model);
            let mut by_q = vec![0.0; nu.len() * nu.len()];
            let mut by_v = by_q.clone();
            legwork_mechanics::inverse_dynamics_derivatives(
                model,
                kinematics,
                &nu_dot,
                &mut workspace,
                &mut by_q,
                &mut by_v,
            );
            [
                dense_mass_at(model, kinematics).as_slice().to_vec(),
                bias_at(model, kinematics).as_slice().to_vec(),
                gravity_at(model, kinematics).as_slice().to_vec(),
                coriolis_at(model, kinematics).as_slice().to_vec(),
                inverse_dynamics_at(model, kinematics, &nu_dot).as_slice().to_vec(),
                forward_at(model, kinematics, &torques, &nu_dot).as_slice().to_vec(),
                acceleration.as_slice().to_vec(),
                frame_jacobian_at(model, kinematics, frame).as_slice().to_vec(),
                six(&legwork_mechanics::frame_jacobian_dot_velocity(model, kinematics, frame))
                    .as_slice()
                    .to_vec(),
                frame_velocity(model, kinematics, frame).angular.as_slice().to_vec(),
                center,
                momentum,
                relative,
                by_q,
                by_v,
            ]
        };
        for (i, (here, far)) in all(&here).iter().zip(&all(&far)).enumerate() {
            assert_eq!(here, far, "seed {seed}: quantity {i}");
        }
    }
}

/// A workspace carries nothing from one state to the next.
#[test]
fn results_do_not_depend_on_earlier_states() {
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let (other_q, other_nu) = random_state(model, seed + 1000);
        let fresh = kinematics_at(model, &q, &nu);
        let mut used = kinematics_at(model, &other_q, &other_nu);
        let mut mass = mass_at(model, &used);
        let mut bodies = legwork_mechanics::ArticulatedBody::new(model);
        let zero = vec![0.0; nu.len()];
        let torques = vec![1.0; model.joint_dim()];
        let mut out = vec![f64::NAN; nu.len()];
        let mut solve = |kinematics: &Kinematics| {
            legwork_mechanics::articulated_body(
                model,
                kinematics,
                &torques,
                &zero,
                &mut bodies,
                &mut out,
            )
            .unwrap();
            DVector::from_column_slice(&out)
        };
        solve(&used);
        used.update(model, &q, &nu);
        legwork_mechanics::mass_matrix(model, &used, &mut mass);
        assert_eq!(dense(&mass), dense_mass_at(model, &fresh), "seed {seed}");
        assert_eq!(bias_at(model, &used), bias_at(model, &fresh), "seed {seed}");
        let acceleration = articulated_at(model, &fresh, &torques, &zero).unwrap();
        assert_eq!(solve(&used), acceleration, "seed {seed}");
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
    is_workspace::<WeightedJacobian>();
    is_workspace::<legwork_mechanics::ArticulatedBody>();
    is_workspace::<legwork_mechanics::ConstrainedDynamics>();
    is_workspace::<legwork_mechanics::Derivatives>();
    is_workspace::<legwork_mechanics::InverseMass>();
}
