//! The command: the only code that prints, exits, or reads arguments and files.
//!
//! [`entry::command`] is the door, [`commands`] the list. Each command is one file: its arguments,
//! a function from them to an [`Answer`](answer::Answer) or a [`Failure`](answer::Failure), and its
//! text; what it does is in `legwork_study`. Everything is written through [`console`].

mod answer;
mod arguments;
mod blocks;
mod check;
mod commands;
mod compare;
mod console;
mod demo;
mod diagnostics;
mod duel;
mod entry;
mod export;
mod graph;
mod interrupt;
mod new;
mod plot;
mod profile;
mod progress;
mod recorded;
mod report;
mod run;
mod step;
mod summary;
mod sweep;
mod test;
mod trim;

pub use entry::command;
