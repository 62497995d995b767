//! The standard block library: one file per block.
//!
//! [`register`] is the list of everything in it. A block's doc comment is its manual: it is what
//! `legwork blocks KIND` prints.

mod clock;
mod concat;
mod constant;
mod discrete_integrator;
mod fcn;
mod function_caller;
mod gain;
mod integrator;
mod limits;
mod matrix_multiply;
mod mean;
mod norm;
mod pieces;
mod product;
mod ramp;
mod saturation;
mod second_order_integrator;
mod select;
mod shape;
mod sine;
mod step;
mod sum;
mod switch;
mod unit_delay;
mod zero_order_hold;

pub mod buses;
mod files;
pub mod signals;

// Robots.
mod actuation;
mod actuator;
mod bias_forces;
mod center_of_mass;
mod centroidal_momentum;
mod centroidal_momentum_matrix;
mod constrained_acceleration;
mod constrained_dynamics;
mod coriolis_forces;
mod dot_j_nu;
mod dynamics_derivatives;
mod encoder;
mod energy;
mod external_wrenches;
mod floating_base;
mod foot_wrench;
mod forward_dynamics;
mod forward_kinematics;
mod free_bodies;
mod free_body;
mod gravity_compensation;
mod gravity_forces;
mod imu;
mod inverse_dynamics;
mod inverse_kinematics;
mod jacobian;
mod joint_pd;
mod joint_values;
mod kin_dyn;
mod mass_matrix;
mod momentum_balance;
mod motor;
mod reflected_inertia;
mod relative_jacobian;
mod relative_transform;
mod robot_dynamics;
mod robot_frames;
mod robot_kinematics;
mod robot_mass;
mod robot_model;
mod robot_name;
mod robots;
#[cfg(test)]
mod robots_testing;
mod urdf;
mod world;

// Locomotion and control.
mod contact_inverse_dynamics;
mod foot_placement;
mod foot_trajectory;
mod gait_generator;
mod leg_inverse_kinematics;
mod legs;
mod locomotion;
mod pendulum_stabiliser;
mod trunk;
mod trunk_levelling;
mod waypoint_follower;

// Contact and solvers.
mod accelerated_gradient;
mod active_set_qp;
mod clarabel_qp;
mod closed_chain;
mod compliant_contact;
mod cone_program;
mod constraint_solver;
mod contact_forces;
mod contact_geometry;
mod contact_ground;
mod contact_metrics;
mod contact_patch;
mod contact_point;
mod contact_shape;
mod contact_solver;
mod contacts;
#[cfg(test)]
mod contacts_testing;
mod coulomb_contact;
mod friction_cone;
mod gauss_contact;
mod gear_constraint;
mod impact;
mod implicit_contact;
mod joint_limits;
mod lcp;
mod lemke;
mod loop_constraint;
#[cfg(feature = "osqp")]
mod osqp;
mod plain_solver;
mod principal_pivoting;
mod problem_dump;
mod projected_gauss_seidel;
mod qp;
mod stewart_trinkle;
mod user_constraint;
mod wire_factor;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use legwork_block::Registry;

pub use clock::Clock;
pub use concat::{Concat, Pieces};
pub use constant::Constant;
pub use discrete_integrator::{DiscreteIntegrator, Method};
pub use fcn::Fcn;
pub use function_caller::FunctionCaller;
pub use gain::Gain;
pub use integrator::Integrator;
pub use matrix_multiply::{MatrixMultiply, Right};
pub use mean::Mean;
pub use norm::Norm;
pub use product::Product;
pub use ramp::Ramp;
pub use saturation::Saturation;
pub use second_order_integrator::SecondOrderIntegrator;
pub use select::Select;
pub use sine::Sine;
pub use step::Step;
pub use sum::Sum;
pub use switch::{Criterion, Switch};
pub use unit_delay::UnitDelay;
pub use zero_order_hold::ZeroOrderHold;

// Robots.
pub use actuator::Actuator;
pub use bias_forces::BiasForces;
pub use center_of_mass::CenterOfMass;
pub use centroidal_momentum::CentroidalMomentum;
pub use centroidal_momentum_matrix::CentroidalMomentumMatrix;
pub use constrained_acceleration::ConstrainedAcceleration;
pub use constrained_dynamics::ConstrainedDynamics;
pub use coriolis_forces::CoriolisForces;
pub use dot_j_nu::DotJNu;
pub use dynamics_derivatives::DynamicsDerivatives;
pub use encoder::{Encoder, VelocityFrom};
pub use energy::Energy;
pub use external_wrenches::{Application, ExternalWrenches};
pub use floating_base::{FloatingBase, Init, Orientation, Place};
pub use foot_wrench::{Axes, FootWrench};
pub use forward_dynamics::{Algorithm, ForwardDynamics};
pub use forward_kinematics::ForwardKinematics;
pub use free_body::{BodyShape, FreeBody};
pub use gravity_compensation::GravityCompensation;
pub use gravity_forces::GravityForces;
pub use imu::{Accelerometer, Gyroscope, Imu};
pub use inverse_dynamics::InverseDynamics;
pub use inverse_kinematics::{FrameTarget, InverseKinematics};
pub use jacobian::Jacobian;
pub use joint_pd::JointPd;
pub use kin_dyn::KinDyn;
pub use mass_matrix::MassMatrix;
pub use momentum_balance::MomentumBalance;
pub use motor::gears::Coupling;
pub use motor::{Electric, Motor};
pub use reflected_inertia::ReflectedInertia;
pub use relative_jacobian::RelativeJacobian;
pub use relative_transform::RelativeTransform;
pub use robot_dynamics::RobotDynamics;
pub use robot_frames::Representation;
pub use robot_kinematics::{KinematicsOf, kinematics};
pub use robot_mass::{Mass, MassOf, mass};
pub use robot_model::{Keyframe, RobotModel};
pub use robot_name::RobotName;
pub use urdf::{BaseKind, Mimic, Mount, NamedPose, Urdf};
pub use world::World;

// Locomotion and control.
pub use contact_inverse_dynamics::{
    Choice, ContactInverseDynamics, Energy as LeastEnergy, Model, OnContactFail, Stages,
};
pub use foot_placement::FootPlacement;
pub use foot_trajectory::FootTrajectory;
pub use gait_generator::{GaitGenerator, GaitKind};
pub use leg_inverse_kinematics::{Knee, LegInverseKinematics};
pub use pendulum_stabiliser::PendulumStabiliser;
pub use trunk_levelling::TrunkLevelling;
pub use waypoint_follower::WaypointFollower;

// Contact and solvers.
pub use accelerated_gradient::AcceleratedGradient;
pub use active_set_qp::ActiveSetQp;
pub use clarabel_qp::ClarabelQp;
pub use compliant_contact::CompliantContact;
pub use cone_program::ConeProgram;
pub use constraint_solver::{
    ConstraintMethod, ConstraintSolver, ContactSoftness, JointSoftness, LimitSoftness, OnStepFail,
    SlidingLaw,
};
pub use contact_forces::ContactForces;
pub use contact_ground::{BodySurface, Ground};
pub use contact_metrics::ContactMetrics;
pub use contact_patch::ContactPatch;
pub use contact_point::ContactPoint;
pub use contact_shape::{ContactShape, PatchShape};
pub use coulomb_contact::CoulombContact;
pub use free_bodies::{
    BodyGroup, BodyPlaces, BoxGroup, ContactMethod, ContactSpring, FreeBodies, SphereGroup,
};
pub use gauss_contact::GaussContact;
pub use gear_constraint::GearConstraint;
pub use impact::Impact;
pub use implicit_contact::ImplicitContact;
pub use joint_limits::JointLimits;
pub use lcp::{Lcp, LcpMethod};
pub use lemke::Lemke;
pub use loop_constraint::{LoopConstraint, LoopKind, Stabilise};
#[cfg(feature = "osqp")]
pub use osqp::Osqp;
pub use principal_pivoting::PrincipalPivoting;
pub use projected_gauss_seidel::ProjectedGaussSeidel;
pub use qp::Qp;
pub use stewart_trinkle::StewartTrinkle;
pub use user_constraint::UserConstraint;

/// Adds the whole library: blocks with an example each, resources, types, built-in files.
pub fn register(r: &mut Registry) {
    // Signal blocks: sources.
    r.block::<Clock>("Clock()");
    r.block::<Constant>("Constant(value: [1, 2, 3])");
    r.block::<Ramp>("Ramp(slope: \"0.5 m/s\", start: \"1 s\")");
    r.block::<Sine>("Sine(amplitude: \"10 deg\", frequency: \"2 Hz\")");
    r.block::<Step>("Step(time: \"1 s\", before: 0, after: 1)");

    // Signal blocks: arithmetic.
    r.block::<Fcn>("Fcn(expression: \"sin(u1) + 0.5*u2^2\")");
    r.block::<Gain>("Gain(gain: 2.0)");
    r.block::<MatrixMultiply>("MatrixMultiply(transpose: true)");
    r.block::<Mean>("Mean(magnitude: true)");
    r.block::<Norm>("Norm()");
    r.block::<Product>("Product(ops: \"*/\")");
    r.block::<Saturation>("Saturation(lower: \"-10 N*m\", upper: \"10 N*m\")");
    r.block::<Sum>("Sum(signs: \"+-\")");

    // Signal blocks: routing.
    r.block::<Concat>("Concat(count: 2)");
    r.block::<Select>("Select(indices: [0, 2])");
    r.block::<Switch>("Switch(criterion: Above(0.5))");

    // Signal blocks: calls.
    r.block::<FunctionCaller>("FunctionCaller(prototype: \"[x, y] = g(u, v)\")");

    // Signal blocks: memory and integration.
    r.block::<DiscreteIntegrator>("DiscreteIntegrator(method: Trapezoidal, initial: 0)");
    r.block::<Integrator>("Integrator(initial: [0, 0, 1])");
    r.block::<SecondOrderIntegrator>("SecondOrderIntegrator(position: \"1 m\")");
    r.block::<UnitDelay>("UnitDelay(initial: 0)");
    r.block::<ZeroOrderHold>("ZeroOrderHold()");

    signals::register_signals(r);
    robots::register_robots(r);
    actuation::register_actuation(r);
    locomotion::register_locomotion(r);
    contacts::register_contacts(r);

    // Files that diagrams find under `std:` and that `demo` lists.
    for (path, bytes) in files::FILES {
        r.file(path, bytes);
    }
}
