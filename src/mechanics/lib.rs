//! Rigid-body models and algorithms: numbers in, numbers out. Knows no block, port or diagram.
//!
//! # Tour
//!
//! A [`Model`] is read once from a robot file ([`Model::from_urdf`], [`Model::from_mjcf`]) and never
//! changes; several robots and free bodies make one by [`Model::world`]. Algorithms are free functions
//! `(&model, state, inputs, &mut workspace, &mut out)` on plain slices that allocate nothing:
//!
//! ```text
//! URDF text ──from_urdf──┬─► Model ──world──► Model of several robots
//! MJCF text ──from_mjcf──┘
//! (q, ν) ──Kinematics::update──► Kinematics ─┬─► world_from_frame, relative_placement, velocities
//!                                            ├─► frame, point and relative Jacobians, J̇ν of all
//!                                            ├─► center_of_mass, momenta, energies
//!                                            ├─► bias_force = coriolis_force + gravity_force
//!                                            ├─► inverse_dynamics
//!                                            ├─► articulated_body (ν̇ from τ in O(n))
//!                                            ├─► derivatives of inverse and forward dynamics
//!                                            └─► mass_matrix ──factorize──► MassFactor
//! MassFactor ─► solve_in_place, write_inverse, forward_dynamics, contact_inverse_inertia,
//!               ClosedChain, constrained_forward_dynamics
//! ```
//!
//! [`Kinematics`] holds what all quantities of one state share and is computed once per state;
//! [`MassFactor`] holds what all solves at one state share. All workspaces are `Clone`, `Send` and
//! `'static`, and are made from a model by `new`.
//!
//! # Why it is fast
//!
//! - Everything is in world axes about the base origin, so that no vector, inertia or force is
//!   transformed between bodies (`kinematics`).
//! - Every joint coordinate moves one body about or along its z axis (`body`), and four bodies are
//!   computed at once (`layout`, `quad`): the four legs of a quadruped, the limbs of a humanoid.
//!   A list scheduler groups the bodies when the model is built; a serial chain is cut into four
//!   stretches (`chain`).
//! - The mass matrix and its factor are stored along the branches of the tree (`branch`).
//!
//! # Example
//!
//! ```
//! use legwork_mechanics::{Base, Kinematics, MassFactor, MassMatrix, Model, Options};
//! use legwork_mechanics::{InverseDynamics, bias_force, forward_dynamics, mass_matrix};
//!
//! let text = r#"
//!     <robot name="ball">
//!       <link name="ball">
//!         <inertial>
//!           <mass value="2"/>
//!           <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
//!         </inertial>
//!       </link>
//!     </robot>"#;
//! let (model, _warnings) = Model::from_urdf_text(text, &Options::new(Base::Floating))?;
//!
//! let mut kinematics = Kinematics::new(&model);
//! kinematics.update(&model, &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
//! let (mut mass, mut factor) = (MassMatrix::new(&model), MassFactor::new(&model));
//! mass_matrix(&model, &kinematics, &mut mass);
//! factor.factorize(&mass)?;
//! let (mut bias, mut acceleration) = ([0.0; 6], [0.0; 6]);
//! bias_force(&model, &kinematics, &mut InverseDynamics::new(&model), &mut bias);
//! forward_dynamics(&model, &factor, &bias, &[], &[0.0; 6], &mut acceleration);
//! assert!((acceleration[2] + 9.81).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Notation
//!
//! | symbol | identifier | shape | unit | meaning |
//! |---|---|---|---|---|
//! | n | `joint_dim` | | | joint coordinates |
//! | nv | `velocity_dim` | | | 6 + n (fixed base: n) |
//! | nc | `row_count` | | | contact rows |
//! | nq | `configuration_dim` | | | 7 + n (fixed base: n) |
//! | q | `configuration` | nq | m, 1, rad | (p, quaternion wxyz, s) |
//! | s | `joint_positions` | n | rad (m) | in the order of the file; a ball joint: a quaternion |
//! | ṡ | `joint_velocities` | n | rad/s (m/s) | |
//! | ν | `velocity` | nv | m/s, rad/s | (ṗ, ω, ṡ), world axes |
//! | ν̇ | `acceleration` | nv | m/s², rad/s² | time derivative of ν, component by component |
//! | τ | `joint_torques` | n | N m (N) | |
//! | S | (implied) | nv × n | 1 | selector `[0; I]` |
//! | d | `joint_damping` | nv | N m s/rad (N s/m) | 0 at bases |
//! | k, r | `joint_stiffness`, [`JointSpring`] | nv | N m/rad (N/m), rad (m) | 0 at bases |
//! | M | `mass_matrix`, [`MassMatrix`] | nv × nv | kg, kg m, kg m² | |
//! | L, D | [`MassFactor`] | nv × nv | | `M = Lᵀ D L`, L with the sparsity of the tree |
//! | h | `bias_force` | nv | N, N m | Coriolis + gravity, `= inverse_dynamics(q, ν, 0)` |
//! | g | `gravity` | 3 | m/s² | acceleration of free fall, world axes |
//! | J, J̇ν | `jacobian`, `jacobian_dot_velocity` | nc × nv, nc | | world axes, linear rows first |
//! | f | `contact_forces` | nc | N | on the robot, world axes |
//! | G = J M⁻¹ Jᵀ | `contact_inverse_inertia` | nc × nc | 1/kg | Delassus matrix |
//! | O | (in module docs) | | | base origin: reference point of internal spatial vectors |
//!
//! The equation of motion is `M ν̇ + h = Sᵀτ + Σ Jᵀf − d(ν) ν − k (s − r)`: damping and friction of
//! the joints ([`JointResistance`]) and their springs ([`JointSpring`]) are in no function but their
//! own. Matrices are column-major slices. Forces act on the robot. `world_from_foot` maps coordinates of the foot's
//! frame to the world's.
//!
//! # Invariants
//!
//! - Sines and the like come from `libm`, sums have a fixed order, nothing is fused, and lanes do
//!   not mix: the same inputs give the same bits on every machine and for every vector width.
//! - No function after construction allocates, looks a name up or reads a clock.
//! - No text given to [`Model::from_urdf`] or [`expand_xacro`] makes them panic or open a file, and
//!   none given to [`Model::from_mjcf`] makes it panic; files are read through a function of the
//!   caller.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod articulated_body;
mod assembly;
mod body;
mod branch;
mod chain;
mod closed_chain;
mod constrained_dynamics;
mod dc_motor;
mod delassus;
mod derivatives;
#[cfg(test)]
mod featherstone;
mod first_element;
mod forward_dynamics;
mod frame;
mod frame_rows;
mod inertia;
mod inertial_step;
mod inverse_dynamics;
mod inverse_mass;
mod joint_bodies;
mod kinematics;
mod layout;
mod manifold;
mod mass_factor;
mod mass_matrix;
mod mass_scale;
mod mjcf;
mod model;
mod momentum;
mod names;
mod packed_factor;
mod path_rows;
mod placement;
mod quad;
mod relative;
mod representation;
mod resistance;
mod rotors;
mod shape;
mod sine;
mod springs;
mod step_balance;
mod transmission;
mod urdf;
mod xacro;

pub use articulated_body::{ArticulatedBody, articulated_body};
pub use branch::BranchPattern;
pub use closed_chain::ClosedChain;
pub use constrained_dynamics::{
    Constrained, ConstrainedDynamics, ConstraintProblem, constrained_forward_dynamics,
};
pub use dc_motor::DcMotor;
pub use delassus::{WeightedJacobian, contact_inverse_inertia};
pub use derivatives::{
    Derivatives, add_frame_wrench_derivative, forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
};
pub use first_element::first_element;
pub use forward_dynamics::{add_transposed_product, forward_dynamics, product};
pub use frame::{
    add_frame_wrench, add_point_force, frame_acceleration, frame_jacobian,
    frame_jacobian_dot_velocity, frame_motion, frame_position, frame_velocity, jacobian_columns,
    point_jacobian, point_jacobian_dot_velocity, point_jacobian_rows, point_velocity,
    world_from_frame,
};
pub use frame_rows::FrameRows;
pub use inertia::Inertia;
pub use inertial_step::{InertialStep, turn_of};
pub use inverse_dynamics::{
    InverseDynamics, bias_force, coriolis_force, gravity_force, inverse_dynamics,
};
pub use inverse_mass::InverseMass;
pub use kinematics::Kinematics;
pub use manifold::{
    configuration_derivative, difference, integrate, normalize, quaternion_to_rotation,
};
pub use mass_factor::{MassFactor, MassFactorRef, SingularMass};
pub use mass_matrix::{MassMatrix, mass_matrix};
pub use mjcf::{
    ActuatorLaw, Mjcf, MjcfActuator, MjcfEquality, MjcfError, MjcfErrors, MjcfGeom, MjcfKeyframe,
    MjcfOptions,
};
pub use model::{
    Base, BodyId, Frame, FrameId, Joint, JointId, JointKind, Link, MimicJoint, Model, ModelError,
    Tree,
};
pub use momentum::{
    base_center_of_mass, center_of_mass, center_of_mass_jacobian,
    center_of_mass_jacobian_dot_velocity, center_of_mass_velocity, centroidal_momentum,
    centroidal_momentum_dot_velocity, centroidal_momentum_matrix, kinetic_energy, potential_energy,
    rotor_kinetic_energy,
};
pub use nalgebra;
pub use packed_factor::{NoFactor, PackedFactor, pack_dense, pack_identity};
pub use placement::{MixedTwist, MixedWrench, Placement};
pub use relative::{
    relative_jacobian, relative_jacobian_dot_velocity, relative_placement, relative_velocity,
};
pub use representation::{
    Representation, frame_jacobian_dot_velocity_in, frame_jacobian_in, frame_velocity_in,
};
pub use resistance::{FRICTION_SPEED, JointResistance};
pub use rotors::Rotors;
pub use shape::{Collision, Shape, Visual};
pub use springs::JointSpring;
pub use step_balance::{FreeMotion, StepBalance, TreeBalance, TreeMotion};
pub use transmission::{Transmission, TransmissionError};
pub use urdf::{
    MimicJoints, NotUsed, Options, PackageError, PackageSearch, UrdfError, Warning, Written,
    resolve_package,
};
pub use urdf_rs;
pub use xacro::{Expanded, ReadIncluded, XacroError, XacroOptions, expand_xacro, is_xacro};
