//! Contact geometry and contact models.
//!
//! # Tour
//!
//! - [`Plane`], [`sphere_on_plane`], [`vertex_on_plane`]: contact points and contact axes on flat
//!   ground.
//! - [`Surface`]: the touched surface, as a signed distance field; [`touch`](touch::touch): contact
//!   point and velocity of a [`Feature`] of a moving body on it.
//! - [`collision`]: nearby points of balls, cuboids, capsules, cylinders and convex hulls.
//! - [`rigid`]: the rigid contact problem at velocity level (the default) and at acceleration
//!   level; closed chains and fixed frames are eliminated before.
//! - [`bounce`]: impacts with restitution, in chains too.
//! - [`impact`]: inelastic impacts that stick, slide or act along the normal only.
//! - [`compliant`]: spring-damper contact with regularised friction, explicit.
//! - [`implicit`]: the same law with the force at the end of the step, for large steps.
//! - [`soft_constraints`]: joints, limits and contacts as spring-dampers of any stiffness,
//!   implicit.
//! - [`free_bodies`]: worlds of convex solids, by springs, rigid contacts or constraints.
//! - [`mode`]: when a contact opens and closes.
//!
//! # Conventions
//!
//! Contact axes are (t1, t2, n), n pointing from the ground to the body; contact velocity is that
//! of the body relative to the ground; forces act on the body. Robots enter through slices and the
//! factor of their mass matrix:
//!
//! | symbol | identifier | shape | unit | meaning |
//! |---|---|---|---|---|
//! | nv, k | `velocity_dim`, `contact_count` | | | velocities, contacts |
//! | J | `jacobian` | 3k × nv | | contact velocity `= J ν`, in contact axes |
//! | ν | `velocity` | nv | m/s, rad/s | |
//! | ν̇_f | `free_acceleration` | nv | m/s², rad/s² | `M⁻¹ (Sᵀτ - h)`, without contact forces |
//! | φ | `gaps` | k | m | distance to the ground, negative if penetrating |
//! | Δt | `time_step` | | s | |
//!
//! All matrices are column-major. Nothing allocates after construction.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

pub mod bounce;
pub mod collision;
pub mod compliant;
pub mod energy_limit;
pub mod free_bodies;
mod geometry;
mod height_field;
pub mod impact;
pub mod implicit;
pub mod mode;
pub mod rigid;
pub mod soft_constraints;
mod surface;
pub mod touch;
mod triangle_mesh;

pub use bounce::{BounceProblem, Bounces};
pub use compliant::{CompliantContact, FrictionShape};
pub use energy_limit::{EnergyLimit, share_without_gain, work_of};
pub use geometry::{
    ContactPoint, Plane, contact_frame, contact_frame_spin, point_jacobian_into, rotate_rows_into,
    sphere_on_plane, vertex_on_plane,
};
pub use height_field::{HeightField, HeightFieldError};
pub use impact::{Impact, ImpactMode, ImpactProblem};
pub use implicit::{ImplicitContact, ImplicitProblem, ImplicitSolution};
pub use mode::{ContactMode, next_mode};
pub use rigid::{ContactAssembly, ContactRows, Ground, RecoveryLimit};
pub use surface::{Distance, Part, Surface};
pub use touch::{Belt, Feature, RelativeMotion, Touch};
pub use triangle_mesh::{TriangleMesh, TriangleMeshError};
