//! From values to pixels, and where the ticks are.

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

/// Digits of a label of a tick beyond which an offset is written beside the axis instead.
const MOST_DIGITS: f64 = 5.0;

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

    /// About `count` ticks at round values.
    pub(super) fn ticks(&self, count: usize) -> Ticks {
        match self.scale {
            Scale::Linear => self.linear_ticks(count),
            Scale::Decades => {
                let (low, high) = (self.low.log10().round(), self.high.log10().round());
                let step = ((high - low) / count as f64).ceil().max(1.0) as usize;
                let exponents = (low as i32..=high as i32).rev().step_by(step);
                let marks = exponents.map(|e| (10f64.powi(e), format!("1e{e}"))).collect();
                Ticks { marks, offset: None }
            }
        }
    }

    /// What the labels of the ticks leave out, if they would have too many digits: a round value
    /// near the range, to be written beside the axis.
    fn offset(&self, step: f64) -> f64 {
        let size = self.low.abs().max(self.high.abs());
        if size.log10().floor() - step.log10().floor() < MOST_DIGITS {
            return 0.0;
        }
        let round = 10f64.powf((self.high - self.low).log10().floor() + 1.0);
        ((self.low + self.high) / 2.0 / round).round() * round
    }

    fn linear_ticks(&self, count: usize) -> Ticks {
        let rough = (self.high - self.low) / count as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|n| n * power >= rough).unwrap_or(10.0);
        let step = step * power;
        let offset = self.offset(step);
        let (first, last) =
            (((self.low - offset) / step).ceil(), ((self.high - offset) / step).floor());
        if !(first.is_finite() && last.is_finite() && (0.0..100.0).contains(&(last - first))) {
            return Ticks::default();
        }
        let size = (self.low - offset).abs().max((self.high - offset).abs());
        let marks = (0..=(last - first) as usize).map(|i| {
            // Zero has no sign.
            let value = (first + i as f64) * step + 0.0;
            (offset + value, label(value, size, step))
        });
        let marks = marks.filter(|(at, _)| (self.low..=self.high).contains(at)).collect();
        Ticks { marks, offset: (offset != 0.0).then(|| offset_text(offset, step)) }
    }
}

/// Ticks of an axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Ticks {
    /// Value and label of each.
    pub(super) marks: Vec<(f64, String)>,
    /// What is to be added to the labels, such as `+ 0.123`.
    pub(super) offset: Option<String>,
}

/// The label of a tick: as many digits as tell it from the next, `step` away, on an axis whose
/// values are not larger than `size`.
fn label(value: f64, size: f64, step: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e6).contains(&size) {
        let digits = (size.log10().floor() - step.log10().floor()).clamp(0.0, 15.0);
        return format!("{value:.*e}", digits as usize);
    }
    let places = (-(step * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 15.0);
    format!("{value:.*}", places as usize)
}

/// `+ 0.123`, with the digits down to those of the ticks, but no zeros behind them.
fn offset_text(offset: f64, step: f64) -> String {
    let sign = if offset < 0.0 { '-' } else { '+' };
    let size = offset.abs();
    let number = if (1e-3..1e6).contains(&size) {
        let places = (-step.log10().floor()).clamp(0.0, 15.0);
        let text = format!("{size:.*}", places as usize);
        match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text,
        }
    } else {
        let digits = (size.log10().floor() - step.log10().floor()).clamp(0.0, 15.0);
        let text = format!("{size:.*e}", digits as usize);
        match text.split_once('e') {
            Some((number, power)) if number.contains('.') => {
                format!("{}e{power}", number.trim_end_matches('0').trim_end_matches('.'))
            }
            _ => text,
        }
    };
    format!("{sign} {number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        let axis = Axis::new(low, high, 0.0, 1.0, Scale::Linear);
        axis.ticks(5).marks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_stand_at_round_values_inside_and_have_labels_that_differ() {
        assert_eq!(labels(0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(-30.0, 70.0), ["-20", "0", "20", "40", "60"]);
        assert_eq!(labels(0.0, 3e-5)[1], "1e-5");
        let ranges =
            [(0.0, 1.0), (0.29, 0.2901), (-5e8, 3e8), (1e-12, 9e-12), (-1.0, 1e-9), (3.0, 3.1)];
        for (low, high) in ranges {
            let ticks = Axis::new(low, high, 0.0, 1.0, Scale::Linear).ticks(6).marks;
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
        assert_eq!(axis.ticks(4).marks[0].1, "1e-1");
        let one = Axis::decades(1.0, 1.0, 100.0, 0.0);
        assert_eq!(one.ticks(4).marks.len(), 2);
    }

    #[test]
    fn a_constant_has_an_axis() {
        for value in [0.0, 3.0, -1e-9, 1e12] {
            let axis = Axis::around(value, value, 10.0, 0.0);
            assert!((axis.at(value) - 5.0).abs() < 1e-6, "{value}");
            assert!(axis.ticks(6).marks.len() >= 2, "{value}");
        }
    }

    #[test]
    fn near_constant_values_have_short_labels_and_an_offset_that_adds_up() {
        let ranges = [
            (0.123_456_789, 0.123_456_791),
            (-0.123_456_791, -0.123_456_789),
            (1e6, 1e6 + 3.0),
            (-4.000_001, -3.999_999),
            (7.0, 7.0 + 1e-11),
            (2.5e-9, 2.5e-9 + 1e-17),
            (1e12, 1e12 + 1.0),
        ];
        for (low, high) in ranges {
            let Ticks { marks, offset } = Axis::new(low, high, 0.0, 1.0, Scale::Linear).ticks(6);
            let offset = offset.unwrap_or_else(|| panic!("no offset from {low} to {high}"));
            let sum: f64 = offset.replace(' ', "").parse().expect("a number");
            assert!(marks.len() >= 2, "{marks:?} from {low} to {high}");
            for (at, label) in &marks {
                assert!((low..=high).contains(at), "{at} from {low} to {high}");
                assert!(label.len() <= 8, "{label} from {low} to {high}");
                let value: f64 = label.parse().expect("a number");
                let error = (sum + value - at).abs();
                assert!(error < 1e-3 * (high - low), "{offset} and {label} are not {at}");
            }
        }
        // Few digits need no offset.
        for (low, high) in [(0.0, 1.0), (99.0, 101.0), (-1e-9, 1e-9), (0.29, 0.2901)] {
            let ticks = Axis::new(low, high, 0.0, 1.0, Scale::Linear).ticks(6);
            assert_eq!(ticks.offset, None, "from {low} to {high}");
        }
    }
}
