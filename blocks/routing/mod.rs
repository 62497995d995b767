//! Signals brought together, taken apart and chosen: vectors, buses, switches, and calls of
//! functions that other blocks offer.

mod block_matrix;
mod bus_create;
mod concat;
mod function_caller;
mod reshape;
mod select;
mod switch;

use legwork_block::Registry;

pub use block_matrix::BlockMatrix;
pub use bus_create::BusCreate;
pub use concat::Concat;
pub use function_caller::FunctionCaller;
pub use reshape::Reshape;
pub use select::Select;
pub use switch::{Criterion, Switch};

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf =
        r.shelf("routing", "Vectors, matrices, buses and switches; calls of functions.");
    shelf.block::<BlockMatrix>("BlockMatrix(layout: [[\"M\", \"-J'\"], [\"J\", \"0\"]])");
    shelf.block::<BusCreate>("BusCreate(name: \"Command\", fields: [\"speed\", \"turn\"])");
    shelf.block::<Concat>("Concat(count: 2)");
    shelf.block::<FunctionCaller>("FunctionCaller(prototype: \"[x, y] = g(u, v)\")");
    shelf.block::<Reshape>("Reshape(shape: [2, 3])");
    shelf.block::<Select>("Select(indices: [0, 2])");
    shelf.block::<Switch>("Switch(criterion: Above(0.5))");
}
