//! Laws of runs, seen through the libraries and not through the command.
//!
//! | module | what |
//! |---|---|
//! | `semantics` | the execution rules; `cargo test --test laws semantics` lists the clauses |
//! | `plants` | the diagrams of robots and bodies, by laws and by figures of others |
//! | `validation` | diagrams against closed forms, SciPy and the theory of stability |
//! | `allocations` | after its first major step a run allocates nothing |
//! | `architecture` | the page of the architecture and the crates agree |
//! | `abuse` | contact models under abuse: right or told, and the table of it |
//! | `energy` | free bodies keep their energy, or the run warns |
//! | `limits` | short texts that ask for much are refused, in little memory |

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod abuse;
mod allocations;
mod architecture;
mod energy;
mod limits;
mod plants;
mod semantics;
mod validation;
