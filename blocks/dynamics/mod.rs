//! The equation of motion of a robot, `M ν̇ + h = Sᵀτ + Jᵀf`, and its terms: mass matrix, bias
//! and gravity forces, forward and inverse dynamics, momentum, energy.

pub(crate) mod applied_force;
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
    let mut shelf = r.shelf(
        "dynamics",
        "Mass matrix, bias forces, forward and inverse dynamics, momentum, energy.",
    );
    shelf.block::<BiasForces>(r#"BiasForces(robot: "go")"#);
    shelf.block::<CentroidalMomentum>(r#"CentroidalMomentum(robot: "go")"#);
    shelf.block::<CentroidalMomentumMatrix>(r#"CentroidalMomentumMatrix(robot: "go")"#);
    shelf.block::<CoriolisForces>(r#"CoriolisForces(robot: "go")"#);
    shelf.block::<DynamicsDerivatives>(r#"DynamicsDerivatives(robot: "go")"#);
    shelf.block::<Energy>(r#"Energy(robot: "go")"#);
    shelf.block::<ExternalWrenches>(
        r#"ExternalWrenches(robot: "go", at: [(frame: "trunk", offset: ["10 cm", 0, 0])])"#,
    );
    shelf.block::<ForwardDynamics>(r#"ForwardDynamics(robot: "go")"#);
    shelf.block::<GravityForces>(r#"GravityForces(robot: "go")"#);
    shelf.block::<InverseDynamics>(r#"InverseDynamics(robot: "go")"#);
    shelf.block::<KinDyn>(r#"KinDyn(robot: "go")"#);
    shelf.block::<MassMatrix>(r#"MassMatrix(robot: "go")"#);
    shelf.block::<MomentumBalance>(r#"MomentumBalance(robot: "go")"#);
    shelf.block::<RobotDynamics>(r#"RobotDynamics(robot: "go")"#);
}
