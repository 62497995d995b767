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

    /// The moment `offset` [s] later, whose time is not before `self.time(base) + offset`: what was
    /// seen to have happened at that time has happened at this moment, however numbers round.
    #[must_use]
    pub fn after(self, offset: f64, base: Ratio) -> Self {
        let seen = self.time(base) + offset;
        let mut ticks = self.tau + offset / base.to_f64();
        loop {
            let whole = ticks.floor();
            let moment = Self { tick: self.tick + whole as u64, tau: ticks - whole };
            let missing = seen - moment.time(base);
            if missing.is_nan() || missing <= 0.0 {
                return moment;
            }
            ticks = (ticks + missing / base.to_f64()).max(ticks.next_up());
        }
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
    fn s3_1_rounding_puts_no_event_before_the_time_it_was_seen_at() {
        let mut state = 7_u64;
        let mut part = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for base in [Ratio::new(1, 10), Ratio::new(1, 3), Ratio::new(7, 1000)] {
            let base = base.expect("not zero");
            for _ in 0..2000 {
                let tick = (part() * 1e6) as u64;
                let start = Moment { tick, tau: part() };
                let offset = 3.0 * base.to_f64() * part();
                let seen = start.time(base) + offset;
                let event = start.after(offset, base);
                assert!(event.time(base) >= seen, "{start:?} + {offset}");
                assert!(event.time(base) - seen <= 4.0 * f64::EPSILON * seen, "{start:?}");
            }
        }
    }

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
