//! Drawings of diagrams and plots of recordings, as SVG.
//!
//! ```text
//! Program ────────────────────► diagram ──► SVG, DOT, Mermaid
//! Recordings, a table, runs ──► plot ─────► SVG
//! Links, shapes in a pose ────► robot ────► SVG
//!                                            └── png ──► PNG (feature `png`)
//! ```
//!
//! ```
//! use legwork_picture::plot::{Look, Table, table};
//!
//! let sweep = Table::parse(b"kp,mu,slip [mm]\n50,0.2,3\n50,0.4,1\n60,0.2,2\n60,0.4,0.8\n")?;
//! let plot = table(&sweep, &[], &Look::default())?;
//! assert_eq!(plot.series, ["mu=0.2", "mu=0.4"]);
//! assert!(plot.svg.starts_with("<svg"));
//! # Ok::<(), legwork_picture::plot::Error>(())
//! ```
//!
//! Pure functions: nothing here reads files, arguments or clocks, and nothing prints. Equal input
//! gives equal text.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

pub mod diagram;
pub mod plot;
#[cfg(feature = "png")]
mod png;
pub mod robot;
mod text;

#[cfg(feature = "png")]
pub use png::png;
