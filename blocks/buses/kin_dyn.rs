//! `KinDyn(robot)`: kinematics and dynamics of a robot and its feet at one instant.

use legwork_block::{Arg, Dim, Matrix, Ports, Vector, bus_type};

use super::RobotDims;

/// `KinDyn(robot)`: what a balancing controller reads of a robot with Nc feet. All fields are of
/// one instant.
///
/// The names are those of the bus `kinDynOut` of N. Guedelha et al., *A flexible MATLAB/Simulink
/// simulator for robotic floating-base systems in contact with the ground* (2022). There the last
/// three belong to the step before the others, and `motorGrpI` is zero.
#[bus_type(
    |robot: Arg, dims: &RobotDims, count: &Dim|
    let RobotDims { nv, n, ns, .. } = dims;
    let (four, six) = (4 * count.clone(), 6 * count.clone());
    world_from_base("w_H_b"): Matrix::of(4, 4), _, "homogeneous transform world_from_base",
        units "1, m", frame "world";
    joint_positions("s"): Vector::of(ns), _, "joint positions", units "rad";
    nu: Vector::of(nv), _, "velocity", units "m/s, rad/s";
    world_from_feet("w_H_feet_sole"): Matrix::of(&four, 4), _,
        "world_from_foot, feet below one another", shape "4Nc × 4", units "1, m", frame "world";
    jacobian("J_feet_sole"): Matrix::of(&six, nv), _,
        "Mixed Jacobians of the feet, below one another", shape "6Nc × nv", units "1, m",
        frame "world";
    jacobian_dot_nu("JDot_feet_sole_nu"): Vector::of(&six), _,
        "accelerations of the feet at ν̇ = 0", shape "6Nc", units "m/s², rad/s²", frame "world";
    mass_matrix("M"): Matrix::of(nv, nv), _,
        "joint-space inertia, reflected rotor inertia included", units "kg, kg m, kg m²";
    bias_force("h"): Vector::of(nv), _, "bias force", units "N, N m";
    motor_inertia("motorGrpI"): Vector::of(n), _, "diagonal of the reflected rotor inertia",
        units "kg m²";
    wrenches("fc"): Vector::of(&six), _, "wrenches on the feet", shape "6Nc", units "N, N m";
    nu_dot("nuDot"): Vector::of(nv), _, "acceleration", units "m/s², rad/s²";
    in_contact("feet_in_contact"): Vector::of(count), "1", "1 where a foot is loaded, else 0",
        shape "Nc";
)]
pub struct KinDynBus;

impl KinDynBus {
    /// The bus of the robot `robot` with `count` feet.
    pub fn of(ports: &Ports<'_>, robot: &str, count: &Dim) -> Self {
        Self::new(Arg::Name(robot.to_owned()), &RobotDims::of(ports, robot), count)
    }
}
