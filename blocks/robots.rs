//! The robots' part of the library: resources, dynamics, control and actuation of joints.

use legwork_block::Registry;

use crate::actuator::Actuator;
use crate::bias_forces::BiasForces;
use crate::center_of_mass::CenterOfMass;
use crate::centroidal_momentum::CentroidalMomentum;
use crate::centroidal_momentum_matrix::CentroidalMomentumMatrix;
use crate::constrained_acceleration::ConstrainedAcceleration;
use crate::constrained_dynamics::ConstrainedDynamics;
use crate::coriolis_forces::CoriolisForces;
use crate::dot_j_nu::DotJNu;
use crate::dynamics_derivatives::DynamicsDerivatives;
use crate::energy::Energy;
use crate::external_wrenches::ExternalWrenches;
use crate::floating_base::FloatingBase;
use crate::forward_dynamics::ForwardDynamics;
use crate::forward_kinematics::ForwardKinematics;
use crate::free_body::FreeBody;
use crate::gravity_compensation::GravityCompensation;
use crate::gravity_forces::GravityForces;
use crate::inverse_dynamics::InverseDynamics;
use crate::inverse_kinematics::InverseKinematics;
use crate::jacobian::Jacobian;
use crate::joint_pd::JointPd;
use crate::mass_matrix::MassMatrix;
use crate::momentum_balance::MomentumBalance;
use crate::relative_jacobian::RelativeJacobian;
use crate::relative_transform::RelativeTransform;
use crate::robot_dynamics::RobotDynamics;
use crate::urdf::Urdf;
use crate::world::World;

/// Adds robots and their blocks. Examples name a robot `go`.
pub(crate) fn register_robots(r: &mut Registry) {
    r.resource::<Urdf>();
    r.resource::<FreeBody>();
    r.resource::<World>();
    r.block::<RobotDynamics>(r#"RobotDynamics(robot: "go")"#);
    r.block::<MassMatrix>(r#"MassMatrix(robot: "go")"#);
    r.block::<BiasForces>(r#"BiasForces(robot: "go")"#);
    r.block::<GravityCompensation>(r#"GravityCompensation(robot: "go", foot: Force)"#);
    r.block::<GravityForces>(r#"GravityForces(robot: "go")"#);
    r.block::<CoriolisForces>(r#"CoriolisForces(robot: "go")"#);
    r.block::<InverseDynamics>(r#"InverseDynamics(robot: "go")"#);
    r.block::<ForwardKinematics>(r#"ForwardKinematics(robot: "go", frame: "FL_foot")"#);
    r.block::<Jacobian>(r#"Jacobian(robot: "go", frame: "FL_foot")"#);
    r.block::<DotJNu>(r#"DotJNu(robot: "go", frame: "FL_foot")"#);
    r.block::<RelativeTransform>(
        r#"RelativeTransform(robot: "go", from: "FL_foot", to: "HR_foot")"#,
    );
    r.block::<RelativeJacobian>(r#"RelativeJacobian(robot: "go", from: "FL_foot", to: "HR_foot")"#);
    r.block::<CenterOfMass>(r#"CenterOfMass(robot: "go")"#);
    r.block::<CentroidalMomentum>(r#"CentroidalMomentum(robot: "go")"#);
    r.block::<CentroidalMomentumMatrix>(r#"CentroidalMomentumMatrix(robot: "go")"#);
    r.block::<MomentumBalance>(r#"MomentumBalance(robot: "go")"#);
    r.block::<ExternalWrenches>(
        r#"ExternalWrenches(robot: "go", at: [(frame: "trunk", representation: Body, offset: ["10 cm", 0, 0])])"#,
    );
    r.block::<Energy>(r#"Energy(robot: "go")"#);
    r.block::<ForwardDynamics>(r#"ForwardDynamics(robot: "go")"#);
    r.block::<ConstrainedAcceleration>("ConstrainedAcceleration()");
    r.block::<ConstrainedDynamics>(r#"ConstrainedDynamics(robot: "go")"#);
    r.block::<DynamicsDerivatives>(r#"DynamicsDerivatives(robot: "go")"#);
    r.block::<InverseKinematics>(
        r#"InverseKinematics(robot: "go", targets: [(frame: "FL_foot", position_only: true)])"#,
    );
    r.block::<FloatingBase>(r#"FloatingBase(robot: "go", init: (position: [0, 0, "40 cm"]))"#);
    r.block::<JointPd>(r#"JointPd(kp: "60 N*m/rad", kd: "1.5 N*m*s/rad")"#);
    r.block::<Actuator>(r#"Actuator(torque_limit: "18 N*m", bandwidth: "200 Hz")"#);
}
