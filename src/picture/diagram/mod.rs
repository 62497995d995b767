//! Pictures of a compiled diagram: SVG, DOT and Mermaid.
//!
//! ```text
//! Program ──build──► Model ──collapse──► Model ──layered──► Layout ──svg──► text
//!                                          ├──dot──► text
//!                                          └──mermaid──► text
//! ```
//!
//! Only `build` sees a program; everything after it sees the plain tree of frames, blocks and wires
//! of `model`. The layout is a layered one (Sugiyama, Tagawa, Toda, *Methods for visual
//! understanding of hierarchical system structures*, 1981) with ports, done frame by frame from the
//! inside out. It depends on nothing but the model: equal programs give equal pictures.

mod build;
mod collapse;
mod dot;
mod draw;
mod layered;
mod mermaid;
mod model;
mod svg;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

pub use draw::{Options, dot, mermaid, svg};
