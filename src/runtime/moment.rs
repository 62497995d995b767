//! Time without accumulated rounding (semantics 3.1).

use legwork_program::Ratio;
use serde::{Deserialize, Serialize};

/// `(k + τ)` periods of the base: tick k, and for located events the part τ ∈ [0, 1) of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Tick k.
    pub tick: u64,
    /// Part of a tick τ.
    pub tau: f64,
}

impl Moment {
    /// The moment of tick `tick`.
    pub fn at(tick: u64) -> Self {
        Self { tick, tau: 0.0 }
    }

    /// Whether it is a tick, not inside one.
    #[inline]
    pub fn is_tick(self) -> bool {
        self.tau == 0.0
    }

    /// The moment `offset` [s] later.
    #[must_use]
    pub fn after(self, offset: f64, base: Ratio) -> Self {
        let ticks = self.tau + offset / base.to_f64();
        let whole = ticks.floor();
        Self { tick: self.tick + whole as u64, tau: ticks - whole }
    }

    /// The earlier of two moments.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        if (self.tick, self.tau) <= (other.tick, other.tau) { self } else { other }
    }

    /// Its time [s].
    #[inline]
    pub fn time(self, base: Ratio) -> f64 {
        let start = base.at(self.tick);
        if self.is_tick() { start } else { start + self.tau * base.to_f64() }
    }

    /// Its time, rounded [ns].
    pub fn nanoseconds(self, base: Ratio) -> u64 {
        let start = base.nanoseconds(self.tick);
        if self.is_tick() { start } else { start + (self.tau * base.to_f64() * 1e9).round() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s3_1_a_moment_counts_ticks_and_the_part_of_one() {
        let base = Ratio::new(1, 100).expect("not zero");
        let event = Moment::at(3).after(0.0125, base);
        assert_eq!(event.tick, 4);
        assert!((event.tau - 0.25).abs() < 1e-12);
        assert!((event.time(base) - 0.0425).abs() < 1e-16);
        assert_eq!(event.nanoseconds(base), 42_500_000);
        assert_eq!(Moment::at(7).time(base), 0.07);
    }
}
