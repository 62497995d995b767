//! The dual active-set method of Goldfarb and Idnani: for the friction pyramid and for any
//! [`crate::Qp`].
//!
//! Both are direct methods: a few changes of the active set lead to the exact answer up to
//! rounding. [`PyramidActiveSet`] builds its rows from the structure of the pyramid (three nonzeros
//! each) and removes unknowns that can only be zero. [`GeneralActiveSet`] takes dense rows,
//! equalities and bounds, and Hessians that are only semidefinite.

mod general;
mod pyramid;

pub use general::GeneralActiveSet;
pub use pyramid::PyramidActiveSet;
