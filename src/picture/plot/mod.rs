//! Plots: recorded signals over time or over one another, tables, runs beside a reference.
//!
//! ```text
//! recordings ──signals──► panels ──sheet──► SVG
//! table ──────► series ──chart────────────► SVG
//! comparison ─────────────────────────────► SVG
//! linear system ──panels──sheet───────────► SVG
//! ```

mod axis;
mod chart;
mod comparison;
mod curve;
mod error;
mod ink;
mod linear;
mod recordings;
mod sheet;
mod signals;
mod table;
mod trace;

pub use comparison::{Compared, Comparison, Points};
pub use error::Error;
pub use linear::{Measured, Named, Response, linear};
pub use recordings::{Plot, Recorded, Request, Window, recordings};
pub use signals::Signal;
pub use table::{Table, TablePlot, table};

/// How a plot looks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Look {
    /// The heading; without one, the plot begins with its first panel.
    pub title: Option<String>,
    /// What is written at the vertical axis of the only panel; without it, the unit.
    pub label: Option<String>,
    /// Whether the horizontal axis is logarithmic; points at zero or below then lie at its start.
    pub log_x: bool,
    /// Whether the vertical axis is logarithmic.
    pub log_y: bool,
    /// Width and height [px]; without them, what the panels need.
    pub size: Option<(u32, u32)>,
}
