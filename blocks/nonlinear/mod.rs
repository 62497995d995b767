//! Static nonlinearities and those with a memory: limits, dead zones, backlash, relays,
//! quantisation, lookup tables.

mod backlash;
mod dead_zone;
mod lookup_1d;
mod lookup_2d;
mod quantizer;
mod rate_limiter;
mod relay;
pub(crate) mod saturation;

use legwork_block::Registry;

pub use backlash::Backlash;
pub use dead_zone::DeadZone;
pub use lookup_1d::Lookup1D;
pub use lookup_2d::Lookup2D;
pub use quantizer::Quantizer;
pub use rate_limiter::RateLimiter;
pub use relay::Relay;
pub use saturation::Saturation;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf =
        r.shelf("nonlinear", "Limits, dead zones, backlash, relays, quantisers, lookup tables.");
    shelf.block::<Backlash>("Backlash(width: \"1 deg\")");
    shelf.block::<DeadZone>("DeadZone(lower: -0.1, upper: 0.1)");
    shelf.block::<Lookup1D>("Lookup1D(points: [0, 1, 3], values: [0, 2, 2.5])");
    shelf.block::<Lookup2D>("Lookup2D(rows: [0, 1], columns: [0, 1], values: [[0, 1], [1, 4]])");
    shelf.block::<Quantizer>("Quantizer(interval: \"0.1 deg\")");
    shelf.block::<RateLimiter>("RateLimiter(rising: \"2 m/s\")");
    shelf.block::<Relay>("Relay(on: 1, off: -1)");
    shelf.block::<Saturation>("Saturation(lower: \"-10 N*m\", upper: \"10 N*m\")");
}
