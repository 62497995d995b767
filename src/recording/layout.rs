//! The byte pattern of a channel's rows: protobuf of a fixed length, filled in place.
//!
//! A pattern is a message with every value 0, plus the places of the values. Because each value
//! has a fixed width and is always present, tags and lengths never change and are written once.

use std::ops::Range;

use super::channel::Kind;
use super::row::{Phase, Stamp};

/// Protobuf wire types.
#[derive(Clone, Copy)]
enum Wire {
    Varint = 0,
    Fixed64 = 1,
    Bytes = 2,
    Fixed32 = 5,
}

/// Number of fields that every row starts with; the signal's own come after.
pub(super) const STAMP_FIELD_COUNT: u32 = 4;

// Places of the stamp's values; `Pattern::with_stamp` asserts them.
const TICK_AT: usize = 1;
const MICROSTEP_AT: usize = 10;
const PHASE_AT: usize = 15;
const TIME_AT: usize = 17;

/// So many values of one kind without a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    at: usize,
    count: usize,
    kind: Kind,
}

/// The bytes of a message and the places of its values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Pattern {
    bytes: Vec<u8>,
    runs: Vec<Run>,
}

impl Kind {
    fn width(self) -> usize {
        match self {
            Self::Real | Self::Int => 8,
            Self::Bool => 1,
        }
    }
}

impl Pattern {
    /// The pattern that a row starts with: tick, microstep, phase, time.
    pub(super) fn with_stamp() -> Self {
        let mut out = Self::default();
        out.push_tag(1, Wire::Fixed64);
        assert_eq!(out.bytes.len(), TICK_AT);
        out.bytes.extend([0; 8]);
        out.push_tag(2, Wire::Fixed32);
        assert_eq!(out.bytes.len(), MICROSTEP_AT);
        out.bytes.extend([0; 4]);
        out.push_tag(3, Wire::Varint);
        assert_eq!(out.bytes.len(), PHASE_AT);
        out.bytes.push(0);
        out.push_tag(4, Wire::Fixed64);
        assert_eq!(out.bytes.len(), TIME_AT);
        out.bytes.extend([0; 8]);
        out
    }

    /// Length of the message.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Number of values, the stamp's not counted.
    pub(super) fn value_count(&self) -> usize {
        self.runs.iter().map(|run| run.count).sum()
    }

    /// Appends a field of one value.
    pub(super) fn push_scalar(&mut self, number: u32, kind: Kind) {
        let wire = match kind {
            Kind::Real | Kind::Int => Wire::Fixed64,
            Kind::Bool => Wire::Varint,
        };
        self.push_tag(number, wire);
        self.push_run(1, kind);
    }

    /// Appends a packed repeated field.
    pub(super) fn push_packed(&mut self, number: u32, count: usize, kind: Kind) {
        self.push_tag(number, Wire::Bytes);
        self.push_varint((count * kind.width()) as u64);
        self.push_run(count, kind);
    }

    /// Appends a field of a constant, such as the rows of a matrix.
    pub(super) fn push_fixed32(&mut self, number: u32, value: u32) {
        self.push_tag(number, Wire::Fixed32);
        self.bytes.extend(value.to_le_bytes());
    }

    /// Appends a field that holds another message.
    pub(super) fn push_message(&mut self, number: u32, message: &Self) {
        self.push_tag(number, Wire::Bytes);
        self.push_varint(message.bytes.len() as u64);
        let start = self.bytes.len();
        self.bytes.extend(&message.bytes);
        self.runs.extend(message.runs.iter().map(|run| Run { at: start + run.at, ..*run }));
    }

    fn push_run(&mut self, count: usize, kind: Kind) {
        if count > 0 {
            self.runs.push(Run { at: self.bytes.len(), count, kind });
            self.bytes.resize(self.bytes.len() + count * kind.width(), 0);
        }
    }

    fn push_tag(&mut self, number: u32, wire: Wire) {
        self.push_varint(u64::from(number) << 3 | wire as u64);
    }

    fn push_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// The message as last filled.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes a row into the pattern. Does not allocate.
    ///
    /// The leaves are the row's values in order, cut anywhere.
    ///
    /// # Errors
    ///
    /// The number of values found, if it is not [`Pattern::value_count`].
    pub(super) fn fill<'a>(
        &mut self,
        stamp: &Stamp,
        leaves: impl IntoIterator<Item = &'a [f64]>,
    ) -> Result<(), usize> {
        self.bytes[TICK_AT..TICK_AT + 8].copy_from_slice(&stamp.tick.to_le_bytes());
        self.bytes[MICROSTEP_AT..MICROSTEP_AT + 4].copy_from_slice(&stamp.microstep.to_le_bytes());
        self.bytes[PHASE_AT] = stamp.phase.code();
        self.bytes[TIME_AT..TIME_AT + 8].copy_from_slice(&stamp.t.to_le_bytes());

        let mut runs = self.runs.iter();
        // What is left of the run being filled, as a run.
        let mut open = Run { at: 0, count: 0, kind: Kind::Real };
        let (mut found, mut surplus) = (0, false);
        for leaf in leaves {
            found += leaf.len();
            let mut rest = leaf;
            while !rest.is_empty() && !surplus {
                if open.count == 0 {
                    match runs.next() {
                        Some(run) => open = *run,
                        None => surplus = true,
                    }
                }
                let (now, later) = rest.split_at(rest.len().min(open.count));
                let width = open.kind.width() * now.len();
                write_values(&mut self.bytes[open.at..open.at + width], open.kind, now);
                open.at += width;
                open.count -= now.len();
                rest = later;
            }
        }
        if surplus || open.count > 0 || runs.next().is_some() { Err(found) } else { Ok(()) }
    }

    /// The instant of a row, or nothing if its phase is unknown.
    ///
    /// # Panics
    ///
    /// If the row's length is not [`Pattern::len`].
    pub(super) fn stamp(&self, row: &[u8], t_ns: u64) -> Option<Stamp> {
        assert_eq!(row.len(), self.len(), "length of a row");
        Some(Stamp {
            tick: u64::from_le_bytes(eight(row, TICK_AT)),
            microstep: u32::from_le_bytes(std::array::from_fn(|i| row[MICROSTEP_AT + i])),
            phase: Phase::from_code(row[PHASE_AT])?,
            t: f64::from_le_bytes(eight(row, TIME_AT)),
            t_ns,
        })
    }

    /// How many pieces the values are in.
    pub(super) fn piece_count(&self) -> usize {
        self.runs.len()
    }

    /// Appends the values of some pieces of a row to `out`.
    pub(super) fn read_into(&self, pieces: &Range<usize>, row: &[u8], out: &mut Vec<f64>) {
        for run in &self.runs[pieces.clone()] {
            out.extend((0..run.count).map(|i| read_value(row, run, i)));
        }
    }

    /// One value of some pieces of a row.
    pub(super) fn value(&self, pieces: &Range<usize>, row: &[u8], index: usize) -> Option<f64> {
        let mut index = index;
        for run in &self.runs[pieces.clone()] {
            if index < run.count {
                return Some(read_value(row, run, index));
            }
            index -= run.count;
        }
        None
    }

    /// Kind of each value of some pieces.
    pub(super) fn kinds(&self, pieces: &Range<usize>) -> Vec<Kind> {
        let runs = self.runs[pieces.clone()].iter();
        runs.flat_map(|run| std::iter::repeat_n(run.kind, run.count)).collect()
    }
}

fn write_values(bytes: &mut [u8], kind: Kind, values: &[f64]) {
    match kind {
        Kind::Real => {
            for (bytes, value) in bytes.chunks_exact_mut(8).zip(values) {
                bytes.copy_from_slice(&value.to_le_bytes());
            }
        }
        Kind::Int => {
            for (bytes, value) in bytes.chunks_exact_mut(8).zip(values) {
                bytes.copy_from_slice(&(*value as i64).to_le_bytes());
            }
        }
        Kind::Bool => {
            for (byte, value) in bytes.iter_mut().zip(values) {
                *byte = u8::from(*value != 0.0);
            }
        }
    }
}

fn read_value(row: &[u8], run: &Run, index: usize) -> f64 {
    let at = run.at + index * run.kind.width();
    match run.kind {
        Kind::Real => f64::from_le_bytes(eight(row, at)),
        Kind::Int => i64::from_le_bytes(eight(row, at)) as f64,
        Kind::Bool => f64::from(row[at]),
    }
}

fn eight(bytes: &[u8], at: usize) -> [u8; 8] {
    std::array::from_fn(|i| bytes[at + i])
}
