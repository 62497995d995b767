//! The equation of motion of a robot, `M ν̇ + h = Sᵀτ + Jᵀf`, and its terms: mass matrix, bias
//! and gravity forces, forward and inverse dynamics, momentum, energy.

mod bias_forces;
mod centroidal_momentum;
mod centroidal_momentum_matrix;
mod coriolis_forces;
mod dynamics_derivatives;
mod energy;
mod external_wrenches;
pub(crate) mod forward_dynamics;
mod gravity_forces;
mod inverse_dynamics;
mod kin_dyn;
pub(crate) mod mass_matrix;
mod momentum_balance;
pub(crate) mod robot_dynamics;
pub(crate) mod wire_factor;

use legwork_block::Registry;

pub use bias_forces::BiasForces;
pub use centroidal_momentum::CentroidalMomentum;
pub use centroidal_momentum_matrix::CentroidalMomentumMatrix;
pub use coriolis_forces::CoriolisForces;
pub use dynamics_derivatives::DynamicsDerivatives;
pub use energy::Energy;
pub use external_wrenches::{Application, ExternalWrenches};
pub use forward_dynamics::{Algorithm, ForwardDynamics};
pub use gravity_forces::GravityForces;
pub use inverse_dynamics::InverseDynamics;
pub use kin_dyn::KinDyn;
pub use mass_matrix::MassMatrix;
pub use momentum_balance::MomentumBalance;
pub use robot_dynamics::RobotDynamics;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    r.block::<BiasForces>(r#"BiasForces(robot: "go")"#);
    r.block::<CentroidalMomentum>(r#"CentroidalMomentum(robot: "go")"#);
    r.block::<CentroidalMomentumMatrix>(r#"CentroidalMomentumMatrix(robot: "go")"#);
    r.block::<CoriolisForces>(r#"CoriolisForces(robot: "go")"#);
    r.block::<DynamicsDerivatives>(r#"DynamicsDerivatives(robot: "go")"#);
    r.block::<Energy>(r#"Energy(robot: "go")"#);
    r.block::<ExternalWrenches>(
        r#"ExternalWrenches(robot: "go", at: [(frame: "trunk", representation: Body, offset: ["10 cm", 0, 0])])"#,
    );
    r.block::<ForwardDynamics>(r#"ForwardDynamics(robot: "go")"#);
    r.block::<GravityForces>(r#"GravityForces(robot: "go")"#);
    r.block::<InverseDynamics>(r#"InverseDynamics(robot: "go")"#);
    r.block::<KinDyn>(r#"KinDyn(robot: "go")"#);
    r.block::<MassMatrix>(r#"MassMatrix(robot: "go")"#);
    r.block::<MomentumBalance>(r#"MomentumBalance(robot: "go")"#);
    r.block::<RobotDynamics>(r#"RobotDynamics(robot: "go")"#);
}
