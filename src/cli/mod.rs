//! The command: the only code that prints, exits, or reads arguments and files.
//!
//! [`entry::command`] is the door. Each command is one file with one function from its arguments to
//! an [`Answer`](answer::Answer) or a [`Failure`](answer::Failure); `entry` alone writes answers to
//! standard output. What is for people while a command works goes to standard error through
//! [`console`].

mod answer;
mod arguments;
mod blocks;
mod check;
mod compare;
mod complaint;
mod console;
mod demo;
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
