//! Legwork.
