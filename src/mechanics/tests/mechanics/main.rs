//! Laws and references that the crate must keep.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod laws;
mod random;
mod reference;
mod robot_file;
