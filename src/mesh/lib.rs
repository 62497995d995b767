//! Triangle meshes, as robot files name them: bytes in, triangles out.
//!
//! ```text
//! bytes ──read──► Mesh ──topology──► what is wrong with its surface
//!                      ──solid─────► volume, centre, moments
//!                      ──hull──────► Hull ──reduced──► few vertices, and how much they miss
//! ```
//!
//! | file | what is read |
//! |---|---|
//! | STL, binary or text | triangles, corners of equal coordinates are one vertex |
//! | OBJ | `v`, `f` (polygons as fans, negative indices), `usemtl`; colours, textures |
//! | COLLADA (`.dae`) | geometries as the scene places them, in its unit; colours, textures |
//! | glTF 2.0 (`.glb`, `.gltf`) | meshes as the default scene places them; base colours, textures |
//! | MSH of MuJoCo | triangles |
//!
//! No input makes this crate panic, and none takes memory out of proportion to its size: counts in
//! a file are believed only as far as bytes for them are there, and a scene may place its
//! geometries at most [`MOST_TRIANGLES`] triangles in all, and 100 000 nodes, geometries and
//! primitives, so that time is bounded too. No file is opened: a function of the caller reads the
//! files that a glTF file names.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod error;
mod hull;
mod mesh;
mod read;
mod solid;
#[cfg(test)]
mod tests;
mod topology;
mod uri;
mod xml;

pub use error::MeshError;
pub use hull::{Hull, HullError};
pub use mesh::{Material, Mesh, Part, Texture};
pub use read::{Format, MOST_TRIANGLES, read};
pub use solid::Solid;
pub use topology::Topology;
pub use uri::percent_decoded;
pub use xml::check_xml;
