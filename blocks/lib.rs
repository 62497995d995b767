//! The standard block library: one file per block.
