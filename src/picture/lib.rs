//! Drawings of diagrams and plots of recordings, as SVG.
//!
//! ```text
//! Program ────────────────────► diagram ──► SVG, DOT, Mermaid
//! Recordings, a table, runs ──► plot ─────► SVG
//!                                            └── png ──► PNG (feature `png`)
//! ```
//!
//! Pure functions: nothing here reads files, arguments or clocks, and nothing prints. Equal input
//! gives equal text.

pub mod diagram;
pub mod plot;
#[cfg(feature = "png")]
mod png;
mod text;

#[cfg(feature = "png")]
pub use png::png;
pub use text::xml;
