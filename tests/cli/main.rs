//! The command from outside: exit codes, the JSON object, files written, and that no command line
//! makes it panic.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod bare;
mod blocks;
mod check;
mod compare;
mod duel;
mod editors;
mod export;
mod files;
mod fit;
mod gains;
mod graph;
mod help;
mod inputs;
mod judge;
mod kills;
mod linear;
mod mistakes;
mod new;
mod page;
mod plot;
mod readme;
mod refusals;
mod robot;
mod robot_files;
mod run;
mod run_checks;
mod shell;
mod step;
mod study;
mod support;
mod sweep;
mod tables;
mod trim;
mod view;
