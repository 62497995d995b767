//! The dual active-set method of Goldfarb and Idnani: for the friction pyramid and for any
//! [`crate::Qp`].
//!
//! Both are direct methods: a few changes of the active set lead to the exact answer up to
//! rounding. [`PyramidActiveSet`] first searches over the faces of the pyramids, where a guess of
//! the active rows costs one small linear system, and falls back to the dual method where that
//! search does not converge. [`GeneralActiveSet`] takes dense rows, equalities and bounds, and
//! Hessians that are
//! only semidefinite; it proves infeasibility by a certificate.

mod faces;
mod general;
mod islands;
mod pyramid;
mod span;

pub use general::GeneralActiveSet;
pub(crate) use pyramid::METHOD;
pub use pyramid::PyramidActiveSet;
