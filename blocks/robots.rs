//! The robots' part of the library: resources, dynamics, control and actuation of joints.

use legwork_block::Registry;

use crate::actuator::Actuator;
use crate::bias_forces::BiasForces;
use crate::dot_j_nu::DotJNu;
use crate::energy::Energy;
use crate::floating_base::FloatingBase;
use crate::forward_dynamics::ForwardDynamics;
use crate::forward_kinematics::ForwardKinematics;
use crate::jacobian::Jacobian;
use crate::joint_pd::JointPd;
use crate::mass_matrix::MassMatrix;
use crate::robot_dynamics::RobotDynamics;
use crate::urdf::Urdf;

/// Adds robots and their blocks. Examples name a robot `go`.
pub(crate) fn register_robots(r: &mut Registry) {
    r.resource::<Urdf>();
    r.block::<RobotDynamics>(r#"RobotDynamics(robot: "go")"#);
    r.block::<MassMatrix>(r#"MassMatrix(robot: "go")"#);
    r.block::<BiasForces>(r#"BiasForces(robot: "go")"#);
    r.block::<ForwardKinematics>(r#"ForwardKinematics(robot: "go", frame: "FL_foot")"#);
    r.block::<Jacobian>(r#"Jacobian(robot: "go", frame: "FL_foot")"#);
    r.block::<DotJNu>(r#"DotJNu(robot: "go", frame: "FL_foot")"#);
    r.block::<Energy>(r#"Energy(robot: "go")"#);
    r.block::<ForwardDynamics>(r#"ForwardDynamics(robot: "go")"#);
    r.block::<FloatingBase>(r#"FloatingBase(robot: "go", init: (position: [0, 0, "40 cm"]))"#);
    r.block::<JointPd>(r#"JointPd(kp: "60 N*m/rad", kd: "1.5 N*m*s/rad")"#);
    r.block::<Actuator>(r#"Actuator(torque_limit: "18 N*m", bandwidth: "200 Hz")"#);
}
