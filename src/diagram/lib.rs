//! From RON text to a program.
//!
//! ```text
//! text ──parse──► Document ──expand──► Network ──infer──► TypedNetwork ──schedule──► Program
//! ```
//!
//! [`compile`] names every arrow in order. `document` reads RON into a tree that keeps every place;
//! `overrides` and `patch` apply what the command line says. `language` holds what all constructs
//! share: each is one type, whose comments are its manual ([`constructs`]). `expand` reads
//! constructs, evaluates parameters, unfolds masks, for-each and variants into planned blocks, and
//! resolves every wire to ids; `infer` finds every type, dimension and unit; `rates` and `schedule`
//! find when and in which order blocks run; `layout` places signals and states; `functions` does so
//! for what blocks call.
//!
//! What is absent: this crate names no concrete block, touches no file except through [`ReadFile`],
//! and does not stop at the first mistake of a stage.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

#[cfg(test)]
mod bind_tests;
mod broken;
mod checks;
mod compile;
mod conditions;
pub mod document;
mod expand;
mod function_frame;
mod functions;
mod groups;
mod ids;
mod infer;
mod judge;
mod labels;
mod language;
mod layout;
mod listing;
mod loader;
mod loads;
mod lookalikes;
mod memory;
mod network;
mod overrides;
mod patch;
mod path;
mod ports;
mod rates;
pub mod render;
pub mod ron_text;
mod schedule;
mod select;
mod study;
mod subsystems;
mod survey;
mod types_text;
mod unify;
mod units;

pub use compile::{Compiled, compile};
pub use expand::{check_kinds, constructs, parameter_kinds, parts, reductions};
pub use language::{FieldManual, Manual, Word};
pub use loader::{ReadFile, look, place};
pub use memory::read_size;
pub use overrides::Options;
pub use study::{
    AxisText, Expected, ExpectedFigure, PlotText, SHOWN, StudyFile, StudyText, is_study, read_study,
};
pub use survey::{KnownPart, KnownPort, survey};
pub use types_text::basic_types;
