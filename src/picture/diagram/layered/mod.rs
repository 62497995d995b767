//! Layered layout with ports: where every box, frame and wire of a schematic goes.
//!
//! One frame at a time, from the inside out ([`sheet`]): a frame that is laid out is a box with
//! pins to the frame around it. Within a frame: columns ([`rank`]), order within columns
//! ([`order`]), heights ([`place`]), then wires in the channels between columns ([`route`]).

mod order;
mod place;
mod rank;
mod route;
mod sheet;
mod size;
mod tracks;

pub(super) use sheet::lay_out;
pub(super) use size::{LABEL, LINE, NAME, SMALL};

/// All heights of pins are multiples of this [px]: wires either coincide or keep clear.
pub(super) const GRID: i32 = 10;

/// What lies in one frame.
#[derive(Debug, Default)]
struct Level {
    items: Vec<Item>,
    nets: Vec<Net>,
}

/// A box of known size; heights of pins from its top.
#[derive(Debug)]
struct Item {
    width: i32,
    height: i32,
    inputs: Vec<i32>,
    outputs: Vec<i32>,
}

/// One signal within a frame: from one place to many.
#[derive(Debug)]
struct Net {
    root: End,
    sinks: Vec<Sink>,
}

/// Where a signal goes.
#[derive(Debug)]
struct Sink {
    end: End,
    feeds: bool,
    /// Room for a label in front of the pin [px].
    label: i32,
}

/// An end of a signal within a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// A pin of a box.
    Item { item: usize, pin: usize },
    /// The border: left for what comes in, right for what goes out.
    Border,
}

/// A frame's inside, laid out; the origin is its upper left corner.
#[derive(Debug)]
struct PlacedLevel {
    width: i32,
    height: i32,
    /// Upper left corners of the boxes.
    items: Vec<(i32, i32)>,
    /// Height at which a net crosses the border, if it does.
    borders: Vec<Option<i32>>,
    /// Corners of the way to each sink of each net.
    routes: Vec<Vec<Vec<(i32, i32)>>>,
}
