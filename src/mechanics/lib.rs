//! Rigid-body models and algorithms: numbers in, numbers out. Knows no block, port or diagram.
//!
//! # Tour
//!
//! A [`Model`] is read once from a robot file ([`Model::from_urdf`]) and never changes. Algorithms
//! are free functions `(&model, state, inputs, &mut workspace, &mut out)` on plain slices that
//! allocate nothing:
//!
//! ```text
//! URDF text ──from_urdf──► Model
//! (q, ν) ──Kinematics::update──► Kinematics ─┬─► world_from_frame, frame_velocity
//!                                            ├─► frame_jacobian, point_jacobian, J̇ν of both
//!                                            ├─► center_of_mass, centroidal_momentum, energies
//!                                            ├─► bias_force, gravity_force, inverse_dynamics
//!                                            └─► mass_matrix ──factorize──► MassFactor
//! MassFactor ─► solve_in_place, forward_dynamics, contact_inverse_inertia
//! ```
//!
//! [`Kinematics`] holds what all quantities of one state share and is computed once per state;
//! [`MassFactor`] holds what all solves at one state share. All workspaces are `Clone`, `Send` and
//! `'static`, and are made from a model by `new`.
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
//! let (model, _warnings) = Model::from_urdf(text, &Options::new(Base::Floating))?;
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
//! | n, nv, nc | `joint_count`, `velocity_dim`, `row_count` | | | joints, 6 + n (fixed base: n), contact rows |
//! | nq | `configuration_dim` | | | 7 + n (fixed base: n) |
//! | q | `configuration` | nq | m, 1, rad | (p, quaternion wxyz, s) |
//! | s, ṡ | `joint_positions`, `joint_velocities` | n | rad, rad/s (m, m/s) | in the order of the robot file |
//! | ν | `velocity` | nv | m/s, rad/s | (ṗ, ω, ṡ), world axes |
//! | ν̇ | `acceleration` | nv | m/s², rad/s² | time derivative of ν, component by component |
//! | τ | `joint_torques` | n | N m (N) | |
//! | S | (implied) | nv × n | 1 | selector `[0; I]` |
//! | M | `mass_matrix`, [`MassMatrix`] | nv × nv | kg, kg m, kg m² | |
//! | L, D | [`MassFactor`] | nv × nv | | `M = Lᵀ D L`, L with the sparsity of the tree |
//! | h | `bias_force` | nv | N, N m | Coriolis + gravity, `= inverse_dynamics(q, ν, 0)` |
//! | g | `gravity` | 3 | m/s² | acceleration of free fall, world axes |
//! | J, J̇ν | `jacobian`, `jacobian_dot_velocity` | nc × nv, nc | | world axes, linear rows first |
//! | f | `contact_forces` | nc | N | on the robot, world axes |
//! | G = J M⁻¹ Jᵀ | `contact_inverse_inertia` | nc × nc | 1/kg | Delassus matrix |
//! | O | (in module docs) | | | base origin: reference point of internal spatial vectors |
//!
//! The equation of motion is `M ν̇ + h = Sᵀτ + Σ Jᵀf`. Matrices are column-major slices. Forces
//! act on the robot. `world_from_foot` maps coordinates of the foot's frame to the world's.
//!
//! # Invariants
//!
//! - Sines and the like come from `libm`, sums have a fixed order: the same inputs give the same
//!   bits on every machine.
//! - No function after construction allocates, looks a name up or reads a clock.
//! - No text given to [`Model::from_urdf`] makes it panic or open a file.

mod branch;
mod delassus;
mod forward_dynamics;
mod frame;
mod inertia;
mod inverse_dynamics;
mod kinematics;
mod manifold;
mod mass_factor;
mod mass_matrix;
mod model;
mod momentum;
mod placement;
mod shape;
mod urdf;

pub use branch::BranchPattern;
pub use delassus::{Delassus, contact_inverse_inertia};
pub use forward_dynamics::{add_transposed_product, forward_dynamics, product};
pub use frame::{
    add_frame_wrench, add_point_force, frame_jacobian, frame_jacobian_dot_velocity, frame_velocity,
    point_jacobian, point_jacobian_dot_velocity, point_jacobian_rows, point_velocity,
    world_from_frame,
};
pub use inertia::Inertia;
pub use inverse_dynamics::{InverseDynamics, bias_force, gravity_force, inverse_dynamics};
pub use kinematics::Kinematics;
pub use manifold::{
    configuration_derivative, difference, integrate, normalize, quaternion_to_rotation,
};
pub use mass_factor::{MassFactor, SingularMass};
pub use mass_matrix::{MassMatrix, mass_matrix};
pub use model::{Base, BodyId, Frame, FrameId, Joint, JointId, JointKind, Model, ModelError};
pub use momentum::{
    center_of_mass, center_of_mass_jacobian, center_of_mass_velocity, centroidal_momentum,
    kinetic_energy, potential_energy, rotor_kinetic_energy,
};
pub use nalgebra;
pub use placement::{MixedTwist, MixedWrench, Placement};
pub use shape::{Collision, Shape};
pub use urdf::{MimicJoints, Options, UrdfError, Warning};
