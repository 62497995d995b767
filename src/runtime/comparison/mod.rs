//! Two recordings of one diagram, signal by signal: how far apart, since when, where.
//!
//! [`quantities`] lists what a program's log holds: the parts of its signals that have one name and
//! one unit, such as `body.state.base.position` [m]. [`Samples`] are the rows of a signal, and
//! [`Difference::between`] holds those of two runs against each other at their common times.
//!
//! Nothing here knows why the runs differ: solvers, contact models and controllers are all the same
//! to it.

mod difference;
pub(crate) mod quantity;
mod samples;

#[cfg(test)]
mod tests;

pub use difference::{Difference, Divergence, Tolerance};
pub use quantity::{Quantity, elements, quantities};
pub use samples::Samples;
