//! Drawings of a compiled diagram: SVG, DOT and Mermaid, or coordinates to draw from.
//!
//! ```text
//! Program ──build──► Schematic ──fold──► Schematic ──layered──► Drawing ──svg──► text
//!                                            ├──dot──► text
//!                                            └──mermaid──► text
//! ```
//!
//! Only `build` sees a program; everything after it sees the plain tree of frames, symbols and
//! wires of a [`Schematic`]. The layout is a layered one (Sugiyama, Tagawa, Toda, *Methods for
//! visual understanding of hierarchical system structures*, 1981) with ports, done frame by frame
//! from the inside out. It depends on nothing but the schematic: equal programs give equal
//! drawings.

mod build;
mod calls;
mod colours;
mod dot;
mod drawing;
mod fold;
mod layered;
mod mermaid;
mod schematic;
mod svg;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use legwork_program::Program;

pub use colours::Colour;
pub use drawing::{Drawing, Point, Rect};
pub use schematic::{Flow, Frame, Output, Pin, Role, SampleTime, Schematic, Symbol, Wire};

/// What a drawing shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether to show the shared computations that the compiler made.
    pub hidden: bool,
    /// Frames nested deeper than this are drawn as one box; 0 folds every mask and for-each.
    pub depth: Option<usize>,
    /// Paths of the frames whose insides are shown, in place of a depth.
    pub open: Option<BTreeSet<String>>,
    /// Whether what blocks call is in frames of their own, which open as others do.
    pub functions: bool,
    /// Heading; the program's name if there is none.
    pub title: Option<String>,
}

/// What is drawn of a program.
pub fn schematic(program: &Program, options: &Options) -> Schematic {
    let Options { hidden, depth, open, functions, title } = options;
    let is_open = |path: &str, level: usize| match (open, depth) {
        (Some(open), _) => open.contains(path),
        (None, Some(depth)) => level <= *depth,
        (None, None) => true,
    };
    let calls = |path: &str, level: usize| *functions && is_open(path, level);
    let mut schematic = build::build(program, *hidden, &calls);
    if let Some(title) = title {
        schematic.title.clone_from(title);
    }
    match (open, depth) {
        (None, None) => schematic,
        _ => fold::fold(&schematic, is_open),
    }
}

/// The diagram as a self-contained SVG sheet: inputs left, outputs right, one frame per mask,
/// subsystem and copy, one colour per sample time, wires into state dashed, control wires dotted.
pub fn svg(program: &Program, options: &Options) -> String {
    schematic(program, options).draw().svg()
}

/// The diagram in Graphviz' DOT language, one cluster per frame.
pub fn dot(program: &Program, options: &Options) -> String {
    schematic(program, options).dot()
}

/// The diagram as a Mermaid flowchart, one subgraph per frame.
pub fn mermaid(program: &Program, options: &Options) -> String {
    schematic(program, options).mermaid()
}

impl Schematic {
    /// Places everything and routes the wires.
    pub fn draw(self) -> Drawing {
        layered::lay_out(self)
    }

    /// In Graphviz' DOT language, one cluster per frame.
    pub fn dot(&self) -> String {
        dot::render(self)
    }

    /// As a Mermaid flowchart, one subgraph per frame.
    pub fn mermaid(&self) -> String {
        mermaid::render(self)
    }
}
