//! From values to pixels, and where ticks stand.

/// How values are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    /// By powers of ten; values of zero or less lie at the start.
    Decades,
}

/// A range of values on a range of pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    scale: Scale,
}

/// Most decades that an axis shows; smaller values lie at its start.
const MOST_DECADES: f64 = 12.0;

impl Axis {
    /// Values from `low` to `high` on the pixels from `start` to `end`.
    pub(super) fn new(low: f64, high: f64, start: f64, end: f64, scale: Scale) -> Self {
        Self { low, high, start, end, scale }
    }

    /// Linear, with some room around the values; a constant lies in the middle.
    pub(super) fn around(low: f64, high: f64, start: f64, end: f64) -> Self {
        let room = match high - low {
            0.0 if low == 0.0 => 1.0,
            0.0 => 0.1 * low.abs(),
            range => 0.06 * range,
        };
        // A range of round-off needs room that numbers of this size can tell apart.
        let room = room.max(1e-12 * low.abs().max(high.abs()));
        Self::new(low - room, high + room, start, end, Scale::Linear)
    }

    /// Whole decades around positive values, the largest of them.
    pub(super) fn decades(low: f64, high: f64, start: f64, end: f64) -> Self {
        let top = high.log10().ceil();
        let bottom = low.log10().floor().max(top - MOST_DECADES).min(top - 1.0);
        Self::new(10f64.powf(bottom), 10f64.powf(top), start, end, Scale::Decades)
    }

    /// Pixel of the lowest value.
    pub(super) fn start(&self) -> f64 {
        self.start
    }

    /// Pixel of the highest value.
    pub(super) fn end(&self) -> f64 {
        self.end
    }

    /// Pixel of a value. Values beyond the range lie at its ends.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Decades if value <= self.low => 0.0,
            Scale::Decades => (value / self.low).log10() / (self.high / self.low).log10(),
        };
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// About `count` ticks at round values, with labels.
    pub(super) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Linear => self.linear_ticks(count),
            Scale::Decades => {
                let (low, high) = (self.low.log10().round(), self.high.log10().round());
                let step = ((high - low) / count as f64).ceil().max(1.0) as usize;
                let exponents = (low as i32..=high as i32).rev().step_by(step);
                exponents.map(|e| (10f64.powi(e), format!("1e{e}"))).collect()
            }
        }
    }

    fn linear_ticks(&self, count: usize) -> Vec<(f64, String)> {
        let rough = (self.high - self.low) / count as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|n| n * power >= rough).unwrap_or(10.0);
        let step = step * power;
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        if !(first.is_finite() && last.is_finite() && last - first < 100.0) {
            return Vec::new();
        }
        let size = self.low.abs().max(self.high.abs());
        let label = |value: f64| {
            if value == 0.0 {
                return "0".to_owned();
            }
            if !(1e-3..1e6).contains(&size) {
                // As many digits as tell two ticks apart.
                let digits = (size.log10().floor() - step.log10().floor()).clamp(0.0, 15.0);
                return format!("{value:.*e}", digits as usize);
            }
            let places = (-(step * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 15.0);
            format!("{value:.*}", places as usize)
        };
        (0..=(last - first) as usize)
            .map(|i| {
                // Zero has no sign.
                let value = (first + i as f64) * step + 0.0;
                (value, label(value))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        let axis = Axis::new(low, high, 0.0, 1.0, Scale::Linear);
        axis.ticks(5).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_stand_at_round_values_inside_and_have_labels_that_differ() {
        assert_eq!(labels(0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(-30.0, 70.0), ["-20", "0", "20", "40", "60"]);
        assert_eq!(labels(0.0, 3e-5)[1], "1e-5");
        let ranges =
            [(0.0, 1.0), (0.29, 0.2901), (-5e8, 3e8), (1e-12, 9e-12), (-1.0, 1e-9), (3.0, 3.1)];
        for (low, high) in ranges {
            let ticks = Axis::new(low, high, 0.0, 1.0, Scale::Linear).ticks(6);
            assert!((2..=8).contains(&ticks.len()), "{} ticks from {low} to {high}", ticks.len());
            for pair in ticks.windows(2) {
                assert_ne!(pair[0].1, pair[1].1, "from {low} to {high}");
            }
            assert!(ticks.iter().all(|(at, _)| (low..=high).contains(at)), "{ticks:?}");
        }
    }

    #[test]
    fn decades_hold_their_values() {
        let axis = Axis::decades(3e-9, 0.02, 100.0, 0.0);
        assert_eq!((axis.at(1e-9).round(), axis.at(0.1).round()), (100.0, 0.0));
        assert_eq!((axis.at(0.0), axis.at(f64::INFINITY)), (100.0, 0.0));
        assert!((axis.at(1e-5) - 50.0).abs() < 1e-9);
        assert_eq!(axis.ticks(4)[0].1, "1e-1");
        let one = Axis::decades(1.0, 1.0, 100.0, 0.0);
        assert_eq!(one.ticks(4).len(), 2);
    }

    #[test]
    fn a_constant_has_an_axis() {
        for value in [0.0, 3.0, -1e-9, 1e12] {
            let axis = Axis::around(value, value, 10.0, 0.0);
            assert!((axis.at(value) - 5.0).abs() < 1e-6, "{value}");
            assert!(axis.ticks(6).len() >= 2, "{value}");
        }
    }
}
