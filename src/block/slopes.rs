//! The derivative of a block at a point, for linearisations.
//!
//! A block that knows its derivative writes the entries of its Jacobian; of one that does not, a
//! linearisation takes differences. What a block gets by [`Ports::ask`](crate::Ports::ask) follows
//! from its inputs: its slopes go through such shared values to the inputs behind them.

use crate::block::{Block, Inputs, SharedPool, Time};
use crate::signal::{In, OptionalIn, Out, PortTable};

/// Whether a block knows its derivative at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Slope {
    /// Every entry that is not zero has been written.
    Exact,
    /// It does not: differences are taken. So at the edge of a saturation, where they find the
    /// slopes of both sides.
    Unknown,
}

/// What an entry of a Jacobian is the slope over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SlopeBy {
    /// The number at this place of the arena.
    Input(u32),
    /// This number of the block's continuous state.
    State(u32),
}

/// An entry of a Jacobian. Entries of one place add up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlopeEntry {
    /// Number of the output group, or of the rate.
    pub row: u32,
    /// What it is the slope over.
    pub by: SlopeBy,
    /// The slope [unit of the row / unit of the column].
    pub slope: f64,
}

/// Numbers side by side whose slopes are written: those of a leaf of an output, or of the rate.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    first: u32,
    len: u32,
}

/// Numbers side by side over which slopes are taken: those of a leaf of an input, or of the
/// continuous state.
#[derive(Debug, Clone, Copy)]
pub struct Columns {
    first: u32,
    len: u32,
    of_state: bool,
}

impl Rows {
    /// How many numbers there are.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The numbers from `first` on.
    #[must_use]
    pub fn from(self, first: usize) -> Self {
        debug_assert!(first <= self.len());
        Self { first: self.first + first as u32, len: self.len - first as u32 }
    }
}

impl Columns {
    /// How many numbers there are.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The numbers from `first` on.
    #[must_use]
    pub fn from(self, first: usize) -> Self {
        debug_assert!(first <= self.len());
        let by = first as u32;
        Self { first: self.first + by, len: self.len - by, of_state: self.of_state }
    }

    fn by(self, j: usize) -> SlopeBy {
        let place = self.first + j as u32;
        if self.of_state { SlopeBy::State(place) } else { SlopeBy::Input(place) }
    }
}

/// Where a block writes the entries of its Jacobian.
pub struct Slopes<'a> {
    pub(crate) entries: &'a mut Vec<SlopeEntry>,
    pub(crate) inputs: &'a PortTable,
    pub(crate) outputs: &'a PortTable,
    /// First place of the output group.
    pub(crate) start: u32,
    /// Numbers of the continuous state, and of its rate.
    pub(crate) state_len: u32,
    pub(crate) rate_len: u32,
    pub(crate) moves: &'a dyn Fn(SlopeBy) -> bool,
    pub(crate) most: usize,
}

impl Slopes<'_> {
    /// The numbers of leaf `leaf` of an output of this group; none of a leaf that shows an input.
    pub fn rows<S>(&self, output: Out<S>, leaf: usize) -> Rows {
        let slot = self.outputs.port(output.index())[leaf];
        match slot.start.checked_sub(self.start) {
            Some(first) => Rows { first, len: slot.len },
            None => Rows { first: 0, len: 0 },
        }
    }

    /// The numbers of the rate of the continuous state.
    pub fn rates(&self) -> Rows {
        Rows { first: 0, len: self.rate_len }
    }

    /// The numbers of leaf `leaf` of an input.
    pub fn columns<S>(&self, input: In<S>, leaf: usize) -> Columns {
        let slot = self.inputs.port(input.port as usize)[leaf];
        Columns { first: slot.start, len: slot.len, of_state: false }
    }

    /// The numbers of leaf `leaf` of an optional input, if it is connected.
    pub fn optional<S>(&self, input: OptionalIn<S>, leaf: usize) -> Option<Columns> {
        let slot = self.inputs.port(input.port as usize).get(leaf)?;
        Some(Columns { first: slot.start, len: slot.len, of_state: false })
    }

    /// How many leaves an input has.
    pub fn leaf_count<S>(&self, input: In<S>) -> usize {
        self.inputs.port(input.port as usize).len()
    }

    /// The numbers of the continuous state.
    pub fn state(&self) -> Columns {
        Columns { first: 0, len: self.state_len, of_state: true }
    }

    /// Adds the slope of number `i` of `rows` over number `j` of `columns`, if there are both and
    /// the latter moves.
    pub fn add(&mut self, (rows, i): (Rows, usize), (columns, j): (Columns, usize), slope: f64) {
        if slope == 0.0 || i >= rows.len() || j >= columns.len() {
            return;
        }
        let (row, by) = (rows.first + i as u32, columns.by(j));
        if self.entries.len() <= self.most && (self.moves)(by) {
            self.entries.push(SlopeEntry { row, by, slope });
        }
    }

    /// Number by number: the slope of `rows[i]` over `columns[i]` is `slope(i)`. A single column
    /// counts for every row.
    pub fn each(&mut self, rows: Rows, columns: Columns, slope: impl Fn(usize) -> f64) {
        for i in 0..rows.len() {
            let j = if columns.len() == 1 { 0 } else { i };
            self.add((rows, i), (columns, j), slope(i));
        }
    }

    /// A matrix of as many rows as `rows` and columns as `columns`, column by column, times
    /// `factor`.
    pub fn matrix(&mut self, rows: Rows, columns: Columns, matrix: &[f64], factor: f64) {
        for (j, column) in matrix.chunks_exact(rows.len().max(1)).enumerate() {
            for (i, slope) in column.iter().enumerate() {
                self.add((rows, i), (columns, j), factor * slope);
            }
        }
    }
}

/// Arguments of [`Block::output_slopes`] and [`Block::rate_slopes`].
pub struct SlopesCx<'a, B: Block> {
    /// The moment.
    pub time: Time,
    /// Which output group; 0 of rates.
    pub group: usize,
    /// Discrete state.
    pub state: &'a B::State,
    /// Work memory.
    pub scratch: &'a mut B::Scratch,
    /// Continuous state.
    pub x: &'a [f64],
    /// The inputs; those that do not feed the group may be of another moment.
    pub inputs: Inputs<'a>,
    /// The slopes, to write.
    pub slopes: Slopes<'a>,
}

/// What the slopes of an output group or of a rate are taken at.
pub struct SlopesIo<'a> {
    /// When.
    pub time: Time,
    /// Which output group, and the first index of its part of the arena; `None` of the rate.
    pub output: Option<(usize, u32)>,
    /// Continuous state of the block.
    pub x: &'a [f64],
    /// Numbers of its rate.
    pub rate_len: usize,
    /// The arena; of an output group, what is before its own part.
    pub arena: &'a [f64],
    /// Shared computations.
    pub shared: &'a SharedPool,
    /// Whether a number moves; slopes over others are left out.
    pub moves: &'a dyn Fn(SlopeBy) -> bool,
    /// Most entries; one more is kept, which says that there are more.
    pub most: usize,
}
