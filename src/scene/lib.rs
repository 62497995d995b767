//! What there is to see of a run, and where it is.
//!
//! ```text
//! Program, robots ──► Viewer ──► Scene              links with their shapes, once; meshes are
//!                       │                           read through a function of the caller
//!                       │
//! arena of a step ──────┴──────► Moment             poses, contacts, centres of mass
//!
//! Scene, Moment ──► foxglove ──► SceneUpdate, FrameTransforms
//! ```
//!
//! [`Scene`] and [`Moment`] are plain data that serde writes: links carry their shapes in their own
//! frames, so that what moves is one pose for each link. [`Viewer`] reads signals of a step and
//! changes nothing: a run that is watched computes the same bits.
//!
//! | seen | from |
//! |---|---|
//! | links | the first signal `State(robot)` of a block that integrates it, else the first at all |
//! | contacts, forces | blocks with the contacts `points` and their forces `f` in contact axes |
//! | ground | the plane that all contacts share, if there is one: [`Moment::ground`] |
//!
//! Lengths are in metres, forces in newtons, axes the world's.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod contacts;
pub mod foxglove;
mod moment;
mod picture;
mod shapes;
mod surfaces;
mod viewer;

pub use contacts::{Contact, Plane};
pub use moment::Moment;
pub use shapes::{Geometry, Link, Patch, Pose, Robot, Scene, Shape, Surface};
pub use viewer::Viewer;
