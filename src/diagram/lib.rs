//! From RON text to a program.
//!
//! ```text
//! text ──parse──► Document ──expand──► Network ──infer──► TypedNetwork ──schedule──► Program
//! ```
//!
//! [`compile`] names every arrow in order. `document` reads RON into a tree that keeps every
//! place; `patch` applies overrides to it; `expand` evaluates parameters and unfolds masks,
//! for-each and variants into a flat list of blocks; `infer` plans them and finds every type,
//! dimension and unit; `functions` moves what blocks call into their callers; `rates` and
//! `schedule` find when and in which order they run; `layout` places signals and states.
//!
//! What is absent: this crate names no concrete block, touches no file except through
//! [`ReadFile`], and does not stop at the first mistake of a stage.

pub mod binder;
mod checks;
mod compile;
pub mod document;
mod expand;
mod function_frame;
mod functions;
mod ids;
mod infer;
mod language;
mod layout;
mod listing;
mod loader;
mod network;
mod overrides;
mod patch;
mod path;
mod rates;
pub mod render;
mod schedule;
mod select;
mod types_text;
mod unify;

pub use compile::{Compiled, compile};
pub use expand::constructs;
pub use language::{FieldManual, Manual};
pub use loader::ReadFile;
pub use overrides::Options;
