//! What a user does with diagrams, as a library: every door is a thin layer over it.
//!
//! ```text
//! Library ──open──► Diagram ──compile──► Model ──run──► Run ──► Recording
//!                  overrides                ├──session──► Session ──fork──► Session
//!                                           └──stepper──► Stepper
//! ```
//!
//! A request is data, an answer is data, progress is a callback ([`Watch`]), cancellation a flag
//! ([`Cancel`]). This crate prints nothing, ends no process, reads no arguments, installs no signal
//! handlers and knows no concrete block: those come with the [`Library`].

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod below;
mod cancel;
mod check;
pub mod commands;
pub mod compare;
mod diagram;
mod directory;
mod disk;
mod drive;
pub mod duel;
mod edits;
mod error;
mod execution;
mod experiment;
pub mod export;
pub mod files;
mod findings;
pub mod fit;
mod grid;
mod library;
pub mod linear;
pub mod manual;
mod model;
pub mod origin;
mod pool;
pub mod profile;
mod recorded;
pub mod reference;
mod repeat;
pub mod robot;
mod run;
mod scene;
pub mod session;
mod snapshot;
mod stepper;
pub mod sweep;
mod text;
mod time;
pub mod trim;
mod watch;

#[doc = include_str!("reference/pages/glossary.md")]
pub mod glossary {}

pub use below::{Below, diagrams_below};
pub use cancel::Cancel;
pub use check::Checked;
pub use diagram::{Compilation, Diagram, Survey};
pub use disk::Disk;
pub use edits::{Edit, TextChange, edits_at, read_edits};
pub use error::{Error, ErrorKind};
pub use execution::{Execution, Outcome, Verdict};
pub use experiment::{Agreement, Compared, Study, StudyError, StudyPlot};
pub use findings::Findings;
pub use grid::split_list;
pub use library::{Demo, Library};
pub use model::Model;
pub use recorded::{Recorded, is_table, recording, recording_at};
pub use run::{
    RECORDING, RUN_JSON, Record, Run, RunRequest, Taken, fault_to_json, recorded_diagram,
};
pub use session::{Fork, Session};
pub use snapshot::Snapshot;
pub use stepper::{Input, Output, Stepper};
pub use text::{counted, digits, relative, seconds, trimmed};
pub use time::parse_time;
pub use watch::{Event, Watch, unwatched};

pub use legwork_block::{BusType, Measured, Type};
pub use legwork_block::{Diagnostic, Diagnostics, Registry, Report, Severity, nearest};
pub use legwork_diagram::Options;
pub use legwork_diagram::document::begins_with;
pub use legwork_diagram::render::SourceMap;
pub use legwork_program::{Check, Program, SignalRef};
pub use legwork_runtime::catalog::{Catalog, Numbers};
pub use legwork_runtime::recording::{self, Metadata, Recording};
pub use legwork_runtime::{
    BlockTime, Carried, Difference, Proof, RoundtripError, RunFault, Simulation, Spent,
};
