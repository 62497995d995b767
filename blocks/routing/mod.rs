//! Signals brought together, taken apart and chosen: vectors, buses, switches, and calls of
//! functions that other blocks offer.

mod bus_create;
mod concat;
mod function_caller;
mod reshape;
mod select;
mod switch;

use legwork_block::Registry;

pub use bus_create::BusCreate;
pub use concat::{Concat, Pieces};
pub use function_caller::FunctionCaller;
pub use reshape::Reshape;
pub use select::Select;
pub use switch::{Criterion, Switch};

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    r.block::<BusCreate>("BusCreate(name: \"Command\", fields: [\"speed\", \"turn\"])");
    r.block::<Concat>("Concat(count: 2)");
    r.block::<FunctionCaller>("FunctionCaller(prototype: \"[x, y] = g(u, v)\")");
    r.block::<Reshape>("Reshape(shape: [2, 3])");
    r.block::<Select>("Select(indices: [0, 2])");
    r.block::<Switch>("Switch(criterion: Above(0.5))");
}
