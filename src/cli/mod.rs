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
mod drive;
mod duel;
mod edits;
mod entry;
mod execution;
mod export;
mod graph;
mod grid;
mod interrupt;
mod manual;
mod new;
mod origin;
mod plot;
mod pool;
mod profile;
mod progress;
mod recorded;
mod report;
mod run;
mod snapshot;
mod source;
mod step;
mod summary;
mod sweep;
mod test;
mod time;
mod trim;

pub use entry::command;
pub use source::Disk;
