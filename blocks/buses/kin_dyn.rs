//! `KinDyn(robot)`: kinematics and dynamics of a robot and its feet at one instant.

use legwork_block::{Arg, BusField, Dim, Leaves, Ports, Signal, Type, bus};

use super::RobotDims;

/// `KinDyn(robot)`: what a balancing controller reads of a robot with Nc feet. All fields are of
/// one instant.
///
/// | field | shape | unit | meaning |
/// |---|---|---|---|
/// | `w_H_b` | 4 × 4 | 1, m | homogeneous transform world_from_base |
/// | `s` | ns | rad | joint positions |
/// | `nu` | nv | m/s, rad/s | velocity |
/// | `w_H_feet_sole` | 4Nc × 4 | 1, m | world_from_foot, feet below one another |
/// | `J_feet_sole` | 6Nc × nv | 1, m | Mixed Jacobians of the feet, below one another |
/// | `JDot_feet_sole_nu` | 6Nc | m/s², rad/s² | accelerations of the feet at ν̇ = 0 |
/// | `M` | nv × nv | kg, kg m, kg m² | joint-space inertia, reflected rotor inertia included |
/// | `h` | nv | N, N m | bias force |
/// | `motorGrpI` | n | kg m² | diagonal of the reflected rotor inertia |
/// | `fc` | 6Nc | N, N m | wrenches on the feet |
/// | `nuDot` | nv | m/s², rad/s² | acceleration |
/// | `feet_in_contact` | Nc | 1 | 1 where a foot is loaded, else 0 |
///
/// The names are those of the bus `kinDynOut` of N. Guedelha et al., *A flexible MATLAB/Simulink
/// simulator for robotic floating-base systems in contact with the ground* (2022). There the last
/// three belong to the step before the others, and `motorGrpI` is zero.
#[derive(Clone)]
pub struct KinDynBus {
    ty: Type,
}

/// Kinematics and dynamics of a robot, read; matrices column by column.
#[derive(Clone, Copy)]
pub struct KinDynRef<'a> {
    /// world_from_base, 4 × 4.
    pub world_from_base: &'a [f64],
    /// Joint positions.
    pub joint_positions: &'a [f64],
    /// Velocity.
    pub nu: &'a [f64],
    /// world_from_foot, 4Nc × 4.
    pub world_from_feet: &'a [f64],
    /// Mixed Jacobians, 6Nc × nv.
    pub jacobian: &'a [f64],
    /// J̇ν of the feet.
    pub jacobian_dot_nu: &'a [f64],
    /// Joint-space inertia.
    pub mass_matrix: &'a [f64],
    /// Bias force.
    pub bias_force: &'a [f64],
    /// Diagonal of the reflected rotor inertia.
    pub motor_inertia: &'a [f64],
    /// Wrenches on the feet.
    pub wrenches: &'a [f64],
    /// Acceleration.
    pub nu_dot: &'a [f64],
    /// 1 where a foot is loaded.
    pub in_contact: &'a [f64],
}

/// Leaf of each field of a [`KinDynBus`].
pub mod kin_dyn_leaf {
    /// `w_H_b`.
    pub const WORLD_FROM_BASE: usize = 0;
    /// `s`.
    pub const JOINT_POSITIONS: usize = 1;
    /// `nu`.
    pub const NU: usize = 2;
    /// `w_H_feet_sole`.
    pub const WORLD_FROM_FEET: usize = 3;
    /// `J_feet_sole`.
    pub const JACOBIAN: usize = 4;
    /// `JDot_feet_sole_nu`.
    pub const JACOBIAN_DOT_NU: usize = 5;
    /// `M`.
    pub const MASS_MATRIX: usize = 6;
    /// `h`.
    pub const BIAS_FORCE: usize = 7;
    /// `motorGrpI`.
    pub const MOTOR_INERTIA: usize = 8;
    /// `fc`.
    pub const WRENCHES: usize = 9;
    /// `nuDot`.
    pub const NU_DOT: usize = 10;
    /// `feet_in_contact`.
    pub const IN_CONTACT: usize = 11;
}

impl KinDynBus {
    /// The bus of the robot `robot` with `count` feet.
    pub fn of(ports: &Ports<'_>, robot: &str, count: &Dim) -> Self {
        let dims = RobotDims::of(ports, robot);
        Self { ty: kin_dyn_type(Arg::Name(robot.to_owned()), &dims, count) }
    }

    /// The bus of a robot that inference finds, with dimensions `dims` and `count` feet.
    pub fn any(robot: Arg, dims: &RobotDims, count: &Dim) -> Self {
        Self { ty: kin_dyn_type(robot, dims, count) }
    }
}

pub(super) fn kin_dyn_type(robot: Arg, dims: &RobotDims, count: &Dim) -> Type {
    let RobotDims { nv, n, ns, .. } = dims;
    let (four, six) = (4 * count.clone(), 6 * count.clone());
    let fields = vec![
        BusField::new("w_H_b", Type::matrix(4, 4)).frame("world").doc("world_from_base"),
        BusField::new("s", Type::vector(ns)).doc("joint positions"),
        BusField::new("nu", Type::vector(nv)).doc("velocity"),
        BusField::new("w_H_feet_sole", Type::matrix(&four, 4)).frame("world"),
        BusField::new("J_feet_sole", Type::matrix(&six, nv)).frame("world"),
        BusField::new("JDot_feet_sole_nu", Type::vector(&six)).frame("world"),
        BusField::new("M", Type::matrix(nv, nv)).doc("joint-space inertia"),
        BusField::new("h", Type::vector(nv)).doc("bias force"),
        BusField::new("motorGrpI", Type::vector(n)).doc("reflected rotor inertia, diagonal"),
        BusField::new("fc", Type::vector(&six)).doc("wrenches on the feet"),
        BusField::new("nuDot", Type::vector(nv)).doc("acceleration"),
        BusField::new("feet_in_contact", Type::vector(count)).unit("1").doc("1 if loaded"),
    ];
    bus("KinDyn", vec![robot], fields, Vec::new())
}

impl Signal for KinDynBus {
    type Ref<'a> = KinDynRef<'a>;
    fn ty(&self) -> Type {
        self.ty.clone()
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> KinDynRef<'_> {
        KinDynRef {
            world_from_base: leaves.leaf(kin_dyn_leaf::WORLD_FROM_BASE),
            joint_positions: leaves.leaf(kin_dyn_leaf::JOINT_POSITIONS),
            nu: leaves.leaf(kin_dyn_leaf::NU),
            world_from_feet: leaves.leaf(kin_dyn_leaf::WORLD_FROM_FEET),
            jacobian: leaves.leaf(kin_dyn_leaf::JACOBIAN),
            jacobian_dot_nu: leaves.leaf(kin_dyn_leaf::JACOBIAN_DOT_NU),
            mass_matrix: leaves.leaf(kin_dyn_leaf::MASS_MATRIX),
            bias_force: leaves.leaf(kin_dyn_leaf::BIAS_FORCE),
            motor_inertia: leaves.leaf(kin_dyn_leaf::MOTOR_INERTIA),
            wrenches: leaves.leaf(kin_dyn_leaf::WRENCHES),
            nu_dot: leaves.leaf(kin_dyn_leaf::NU_DOT),
            in_contact: leaves.leaf(kin_dyn_leaf::IN_CONTACT),
        }
    }
}
