//! The laws of the factorisations, over 10⁵ random and structured matrices.

mod bases;
mod definite;
mod general;
mod matrices;
mod rank;
mod sparse;
mod spectra;
