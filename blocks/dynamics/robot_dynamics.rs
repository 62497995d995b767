//! `RobotDynamics`: the terms of the equation of motion on one bus.

use std::sync::Arc;

use legwork_block::{
    Block, Fault, Matrix, Outcome, OutputCx, Sizes, Vector, block, parameters, ports,
};
use legwork_linalg::all_finite;
use legwork_mechanics::pack_dense;

use crate::buses::{DynamicsBus, RobotDims, StateBus};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_mass::{Mass, mass};

/// The terms of `M ν̇ + h = Sᵀτ + Jᵀf − p` at a state, on one bus. `p = d ν + k (s − r)` is damping,
/// dry friction and springs of the joints, see `Urdf` and `Mjcf`; it is in neither M nor h.
///
/// The inertia of the motors adds to the joints' rows and columns of M, on top of the rotors that
/// the robot has of its own, before M is factored. The matrix is `(TΓ)⁻ᵀ I_m (TΓ)⁻¹` for
/// transmission T and ratios Γ: symmetric and positive semidefinite. All that comes from the bus
/// knows of it: `GaussContact`, `Impact`, `ConstrainedAcceleration`. `ForwardDynamics`, which asks
/// for the robot itself, does not: take `ConstrainedAcceleration(loops: false)`.
///
/// A fault if M is singular: some joint moves no mass and has no rotor inertia. One that has the
/// inertia of its motor only is not singular.
///
/// References: R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), ch. 5, 6 and sec. 9.5; N.
/// Guedelha et al., *A flexible MATLAB/Simulink simulator …* (2024), for the motors.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    let n = RobotDims::of(ports, self.robot.as_str()).n;
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask mass: Mass = mass(ports, &robot, state);
    in  diagonal("motor_inertia")?: Vector::of(&n), _,
        "reflected inertia of the motors, zero or more", units "kg m², kg";
    in  matrix("motor_inertia_matrix")?: Matrix::of(&n, &n), _, "the same, of coupled joints",
        units "kg m², kg";
    out bus: DynamicsBus::of(ports, self.robot.as_str()), _,
        "`nu`, handed on; `M`; `h`; `factor` of M";
    ports.forward(bus, DynamicsBus::NU, state, StateBus::NU);
    ports.checks_itself(bus);
)]
#[parameters]
pub struct RobotDynamics {
    /// The robot.
    pub robot: RobotName,
}

/// Difference of entries across the diagonal, relative to the largest, that is rounding.
const ASYMMETRY: f64 = 1e-9;

/// Adds the inertia of each motor to the diagonal of M.
fn add_diagonal(robot: &RobotModel, inertia: &[f64], m: &mut [f64]) -> Outcome {
    let nv = robot.model.velocity_dim();
    for (&k, &inertia) in robot.model.joint_velocity_indices().iter().zip(inertia) {
        if !(inertia >= 0.0 && inertia.is_finite()) {
            let message = format!("expected motor inertia of zero or more, found {inertia}");
            return Err(Fault::new(format!("{message} at `{}`", robot.model.pattern().name(k))));
        }
        m[k * nv + k] += inertia;
    }
    Ok(())
}

/// Adds the inertia matrix of the motors to the joints' part of M.
fn add_matrix(robot: &RobotModel, inertia: &[f64], m: &mut [f64]) -> Outcome {
    let (nv, indices) = (robot.model.velocity_dim(), robot.model.joint_velocity_indices());
    let n = indices.len();
    let largest = inertia.iter().fold(0.0f64, |m, i| m.max(i.abs()));
    for (a, &k) in indices.iter().enumerate() {
        for (b, &l) in indices.iter().enumerate() {
            let (entry, other) = (inertia[a * n + b], inertia[b * n + a]);
            let is_symmetric = (entry - other).abs() <= ASYMMETRY * largest;
            if !(is_symmetric && entry.is_finite() && inertia[a * n + a] >= 0.0) {
                return Err(Fault::new(format!(
                    "expected a symmetric positive semidefinite motor inertia, found {entry} at \
                     ({b}, {a}) and {other} at ({a}, {b})"
                )));
            }
            m[k * nv + l] += 0.5 * (entry + other);
        }
    }
    Ok(())
}

/// Work memory of a [`RobotDynamics`].
pub struct Work {
    /// M of a robot with motors, to be factored, nv × nv.
    factored: Vec<f64>,
    /// Whether the entries of M that the tree does not have were written: they stay zero.
    has_zeros: bool,
}

#[block]
impl Block for RobotDynamics {
    type Scratch = Work;

    fn scratch(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Work {
        let nv = plan.robot.model.velocity_dim();
        let is_alone =
            sizes.optional(plan.diagonal).is_none() && sizes.optional(plan.matrix).is_none();
        let factored = vec![0.0; if is_alone { 0 } else { nv * nv }];
        Work { factored, has_zeros: false }
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (robot, mass) = (&*plan.robot, cx.inputs.shared(plan.mass));
        let (diagonal, matrix) =
            (cx.inputs.optional(plan.diagonal), cx.inputs.optional(plan.matrix));
        let [m, h, factor, joints, force, damping, stiffness] = cx.outputs.leaves([
            plan.bus.leaf(DynamicsBus::MASS_MATRIX),
            plan.bus.leaf(DynamicsBus::BIAS_FORCE),
            plan.bus.leaf(DynamicsBus::FACTOR),
            plan.bus.leaf(DynamicsBus::JOINTS),
            plan.bus.leaf(DynamicsBus::PASSIVE_FORCE),
            plan.bus.leaf(DynamicsBus::DAMPING),
            plan.bus.leaf(DynamicsBus::STIFFNESS),
        ]);
        joints.fill(0.0);
        for &joint in robot.model.joint_velocity_indices() {
            joints[joint] = 1.0;
        }
        h.copy_from_slice(&mass.bias_force);
        force.copy_from_slice(&mass.passive.force);
        damping.copy_from_slice(&mass.passive.damping);
        stiffness.copy_from_slice(&mass.passive.stiffness);
        if diagonal.is_none() && matrix.is_none() {
            match cx.scratch.has_zeros {
                true => mass.matrix.overwrite_dense(m),
                false => mass.matrix.write_dense(m),
            }
            cx.scratch.has_zeros = true;
            mass.factor(robot)?.pack_into(factor);
            return finite(&[h, factor, force, damping, stiffness]);
        }
        mass.matrix.write_dense(m);
        if let Some(inertia) = diagonal {
            add_diagonal(robot, inertia, m)?;
        }
        if let Some(inertia) = matrix {
            add_matrix(robot, inertia, m)?;
        }
        let factored = &mut cx.scratch.factored;
        factored.copy_from_slice(m);
        let diagonal = factored.iter_mut().step_by(joints.len() + 1);
        for (entry, added) in diagonal.zip(&mass.passive.added) {
            *entry += added;
        }
        pack_dense(factored, factor).map_err(|k| {
            let coordinate = robot.model.pattern().name(k);
            Fault::new(format!(
                "{}: the mass matrix with the motors' inertia is not positive definite at \
                 `{coordinate}`",
                robot.name
            ))
        })?;
        finite(&[h, factor, force, damping, stiffness])
    }
}

/// Fails if a number is none or infinite. Where those of M are, so are those of its factor.
fn finite(leaves: &[&mut [f64]]) -> Outcome {
    let is_finite = leaves.iter().all(|leaf| all_finite(leaf));
    if is_finite { Ok(()) } else { Err(Fault::not_finite()) }
}

#[cfg(test)]
mod tests {
    use legwork_mechanics::PackedFactor;
    use serde_json::json;

    use super::RobotDynamics;
    use crate::testing::contacts::block;
    use crate::testing::robots::{Rig, States, go};

    const MOTORS: [&str; 2] = ["motor_inertia", "motor_inertia_matrix"];

    fn rig(without: &[&str]) -> Rig {
        Rig::new(block::<RobotDynamics>(json!({ "robot": "go" })), &go(), without)
    }

    /// `M (M⁻¹ x) = x` by the factor.
    fn is_factor(rig: &Rig) {
        let (m, packed) = (rig.leaf("bus", 1), rig.leaf("bus", 3));
        let b: [f64; 18] = std::array::from_fn(|i| (i as f64).sin());
        let mut x = b;
        PackedFactor::new(18).read(&packed).expect("a factor").solve_in_place(&mut x);
        for (i, b) in b.iter().enumerate() {
            let product: f64 = (0..18).map(|k| m[k * 18 + i] * x[k]).sum();
            // Backward stable: rounding of the largest terms.
            let size = (0..18).map(|k| (m[k * 18 + i] * x[k]).abs()).fold(1.0, f64::max);
            assert!((product - b).abs() < 1e-13 * size, "{i}: {product} {b}");
            assert!((0..18).all(|k| m[k * 18 + i] == m[i * 18 + k]));
        }
    }

    #[test]
    fn the_factor_solves_with_the_mass_matrix_and_nu_is_the_states() {
        let mut rig = rig(&MOTORS);
        for (q, nu) in States::of(&go(), 20) {
            rig.set("state", &[&q, &nu]);
            rig.output();
            assert_eq!(rig.leaf("bus", 0), nu);
            is_factor(&rig);
        }
    }

    /// Motors add to the joints' part of M, diagonal and coupled across legs, and nothing else.
    #[test]
    fn motors_add_to_the_joints_and_are_factored() {
        let (mut plain, mut both) = (rig(&MOTORS), rig(&[]));
        let diagonal: Vec<f64> = (0..12).map(|i| 0.01 * f64::from(i)).collect();
        // Every joint with the one three further on, in the next leg: diagonally dominant.
        let entry = |i: usize, j: usize| match i.abs_diff(j) {
            0 => 0.2,
            3 => -0.05,
            _ => 0.0,
        };
        let matrix: Vec<f64> = (0..144).map(|k| entry(k % 12, k / 12)).collect();
        for (q, nu) in States::of(&go(), 20) {
            for rig in [&mut plain, &mut both] {
                rig.set("state", &[&q, &nu]);
            }
            both.set("motor_inertia", &[&diagonal]);
            both.set("motor_inertia_matrix", &[&matrix]);
            plain.output();
            both.output();
            let (m, before) = (both.leaf("bus", 1), plain.leaf("bus", 1));
            assert_eq!(both.leaf("bus", 2), plain.leaf("bus", 2), "h");
            for i in 0..18 {
                for j in 0..18 {
                    let mut expected = before[i * 18 + j];
                    if i >= 6 && j >= 6 {
                        expected += if i == j { diagonal[i - 6] } else { 0.0 };
                        expected += entry(i - 6, j - 6);
                    }
                    assert!((m[i * 18 + j] - expected).abs() < 1e-15, "{i} {j}");
                }
            }
            is_factor(&both);
        }
    }

    #[test]
    fn what_is_no_inertia_is_a_fault() {
        let (q, nu) = States::of(&go(), 1).remove(0);
        let mut vector = rig(&["motor_inertia_matrix"]);
        vector.set("state", &[&q, &nu]);
        let mut inertia = [0.1; 12];
        inertia[3] = -0.1;
        vector.set("motor_inertia", &[&inertia]);
        let fault = vector.try_output().expect_err("a fault");
        assert!(fault.message.contains("found -0.1 at `"), "{}", fault.message);
        let mut full = rig(&["motor_inertia"]);
        full.set("state", &[&q, &nu]);
        let mut matrix = [0.0; 144];
        matrix[1] = 0.1;
        full.set("motor_inertia_matrix", &[&matrix]);
        let fault = full.try_output().expect_err("a fault");
        assert!(fault.message.contains("symmetric"), "{}", fault.message);
        // Symmetric, yet no inertia: the factor finds it.
        (matrix[1], matrix[12]) = (50.0, 50.0);
        full.set("motor_inertia_matrix", &[&matrix]);
        let fault = full.try_output().expect_err("a fault");
        assert!(fault.message.contains("not positive definite at `"), "{}", fault.message);
    }
}
