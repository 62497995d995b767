//! The command from outside: exit codes, the JSON object, files written, and that no command line
//! makes it panic.

mod blocks;
mod check;
mod export;
mod graph;
mod new;
mod plot;
mod refusals;
mod report;
mod run;
mod support;
mod sweep;
