//! From a spanned value to a parameter struct.
//!
//! The binder itself stands beside [`quantity`](legwork_block::quantity) in `legwork-block`, since
//! the registry of kinds of blocks calls it; its tests stand here, where files can be read.

pub use legwork_block::bind;

#[cfg(test)]
mod tests;
