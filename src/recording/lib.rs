//! The recording of a run: an [MCAP](https://mcap.dev/spec) file with a channel for each rate.
//!
//! A row holds all signals of one rate at one instant. It is a protobuf message whose schema
//! travels in the file, so that Foxglove and PlotJuggler decode it without us. Four fields come
//! first and are the same at every rate:
//!
//! | field | type | meaning |
//! |---|---|---|
//! | `tick` | fixed64 | k, the multiple of the base period |
//! | `microstep` | fixed32 | n, the number of earlier resets at this time |
//! | `phase` | enum | the reason for the row, see [`Phase`] |
//! | `t` | double | simulated time [s] |
//!
//! A field for each signal follows: its value, or a message of its fields if it is a bus. Every
//! number has a fixed width and zeros are written too, so all rows of a rate have one length, and
//! writing a row is a copy into a byte pattern that is made once: no allocation, no computation of
//! sizes. The channel's metadata list its signals with the names of the diagram, units and frames.
//!
//! A file may also hold topics of other schemas, such as those of scenes: [`Recorder::add_topic`],
//! [`Recording::messages`].
//!
//! **Repeatable.** Both times of an MCAP message, log and publish, are the simulated time [ns].
//! Chunks close on bytes or on simulated time, and are compressed by LZ4 if their last rows shrink
//! to a third. Nothing in the file comes from a clock, a host or the order of a hash map, so
//! equal runs write equal bytes.
//!
//! **Robust.** A closed chunk is passed to the operating system immediately and whole. The file of
//! a killed run therefore ends after a chunk or inside one, and [`Recording::open`] reads it up to
//! its last whole chunk and says so. A chunk never ends between two rows of one instant.
//!
//! The entry points are [`Recorder`], [`Recording`] and [`import_csv`].

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod channel;
mod chunk;
mod container;
mod error;
mod import;
mod journal;
mod layout;
mod lengths;
mod metadata;
mod packed;
mod rate;
mod reader;
mod row;
mod schema;
mod spool;
mod table;
mod writer;

#[cfg(test)]
mod tests;

pub use channel::{Channel, Field, Kind, Shape};
pub use error::RecordingError;
pub use import::{Imported, import_csv};
pub use journal::Journal;
pub use metadata::Metadata;
pub use rate::RateId;
pub use reader::{Ending, Message, Recording, Series};
pub use row::{Phase, Row, Stamp};
pub use spool::{Files, Spool};
pub use table::{
    Column, ColumnName, ColumnUnit, Found, Reading, Record, Records, Table, TableError, TableRow,
    kind_of_file, written_text,
};
pub use writer::{ChunkPolicy, Finished, Recorder, Sink, Topic, TopicId};
