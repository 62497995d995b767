//! What the blocks of signals share: shapes of parameters and ports, laws in smooth pieces,
//! elementwise application, expressions, linear systems, tables, random numbers.

pub(crate) mod canonical;
pub(crate) mod divergence;
pub(crate) mod elementwise;
pub(crate) mod formula;
pub(crate) mod linear;
pub(crate) mod philox;
pub(crate) mod pieces;
pub(crate) mod shape;
pub(crate) mod table;
pub(crate) mod units;

pub use canonical::Filtered;
pub use table::{Interpolation, Outside};
