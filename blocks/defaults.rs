//! Defaults of parameters.

use legwork_block::quantity::Physical;

/// The quantity of SI value `si`, for a default that is known to be in its range.
pub(crate) fn quantity<Q: Physical>(si: f64) -> Q {
    Q::from_si(si).expect("a default is in its range")
}
