//! A schematic with coordinates.

use serde::Serialize;

use super::colours::{Colour, Colours};
use super::schematic::{SampleTime, Schematic};

/// A rectangle [px]; y points down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Upper edge.
    pub y: i32,
    /// Width.
    pub width: i32,
    /// Height.
    pub height: i32,
}

/// A point, x and y [px].
pub type Point = (i32, i32);

/// A schematic, and where everything in it lies. Lists run parallel to those of the schematic. The
/// origin is the upper left corner of the sheet, frame 0, which includes the heading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Drawing {
    /// What is drawn.
    pub schematic: Schematic,
    /// Each frame; the first is the sheet.
    pub frames: Vec<Rect>,
    /// Each symbol.
    pub symbols: Vec<Rect>,
    /// By symbol, each of its input pins, on its left edge.
    pub inputs: Vec<Vec<Point>>,
    /// By symbol, each of its output pins, on its right edge.
    pub outputs: Vec<Vec<Point>>,
    /// Corners of each wire from its output pin to its input pin; pieces are horizontal or
    /// vertical.
    pub wires: Vec<Vec<Point>>,
    /// The part that each wire reads, shortened for its end; empty for the whole.
    pub labels: Vec<String>,
}

impl Drawing {
    /// As a self-contained SVG sheet with a legend.
    pub fn svg(&self) -> String {
        super::svg::render(self)
    }

    /// The sample times that occur with their colours: constants first, then by period.
    pub fn sample_times(&self) -> Vec<(&SampleTime, Colour)> {
        Colours::of(&self.schematic).iter().collect()
    }
}
