//! The standard block library: one folder per shelf, one file per block.
//!
//! | signals | robots | contact and control |
//! |---|---|---|
//! | [`sources`] | [`robot`]: robots as resources | [`contact`] |
//! | [`math`] | [`kinematics`] | [`constraints`] |
//! | [`nonlinear`] | [`dynamics`] | [`solvers`] |
//! | [`continuous`], [`discrete`] | [`actuators`] | [`control`] |
//! | [`logic`], [`routing`], [`rotation`] | [`sensors`] | [`locomotion`] |
//!
//! [`register`] adds all shelves; each shelf lists its blocks. A block is its parameters: a struct
//! whose doc comment is its manual, which `legwork blocks KIND` prints together with its ports.
//! `legwork blocks --search WORDS` finds blocks by words of their manuals and by the other names
//! that the attribute `x-aliases` gives them.
//!
//! What several shelves share is in [`buses`], the types of the signals between them, and in
//! `signal` and `robot`. To add a block, write its file on a shelf and add it to the three lists in
//! the shelf's `mod.rs`: modules, names and kinds.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

pub mod actuators;
pub mod constraints;
pub mod contact;
pub mod continuous;
pub mod control;
pub mod discrete;
pub mod dynamics;
pub mod kinematics;
pub mod locomotion;
pub mod logic;
pub mod math;
pub mod nonlinear;
pub mod robot;
pub mod rotation;
pub mod routing;
pub mod sensors;
pub mod solvers;
pub mod sources;

pub mod buses;
mod files;
pub mod run_warnings;
mod signal;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use legwork_block::Registry;

pub use actuators::*;
pub use constraints::*;
pub use contact::*;
pub use continuous::*;
pub use control::*;
pub use discrete::*;
pub use dynamics::*;
pub use kinematics::*;
pub use locomotion::*;
pub use logic::*;
pub use math::*;
pub use nonlinear::*;
pub use robot::*;
pub use rotation::*;
pub use routing::*;
pub use sensors::*;
pub use signal::{Filtered, Interpolation, Outside};
pub use solvers::*;
pub use sources::*;

/// Adds the whole library: blocks with an example each, resources, types, built-in files.
/// Examples name a robot `go`.
pub fn register(r: &mut Registry) {
    sources::register(r);
    math::register(r);
    nonlinear::register(r);
    continuous::register(r);
    discrete::register(r);
    logic::register(r);
    routing::register(r);
    rotation::register(r);
    robot::register(r);
    kinematics::register(r);
    dynamics::register(r);
    constraints::register(r);
    contact::register(r);
    solvers::register(r);
    actuators::register(r);
    sensors::register(r);
    control::register(r);
    locomotion::register(r);

    for named in buses::NAMED_TYPES {
        r.named_type(named);
    }
    for (path, bytes) in files::all() {
        r.file(path, bytes);
    }
    for (path, instead) in files::MOVED {
        r.moved_file(path, instead);
    }
}
