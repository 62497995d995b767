//! Shape of a guard between its samples: the quartic through five equidistant values, and a bound
//! of its error.
//!
//! Places are counted in parts of the segment, from 0 to [`PARTS`]. Values have the sign of an
//! upward crossing. A quartic has at most three turning points, so a guard that is one has no
//! extremum that is not found.

/// Number of parts of a segment.
pub(super) const PARTS: usize = 4;

/// Values at the ends of all parts.
pub(super) type Samples = [f64; PARTS + 1];

/// Coefficients of a polynomial of degree 5 in the place relative to the middle of the segment.
type Coefficients = [f64; 6];

const MIDDLE: f64 = 0.5 * PARTS as f64;

/// Largest `max |p − m| / max |y − m|` of the quartic p through values y with the middle m, and of
/// p with its error bound.
const LARGEST_GROWTH: f64 = 3.7;

/// Rounding of the quartic, relative to the largest value.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Distance of two different turning points, in parts.
const DISTINCT: f64 = 1e-9;

/// Quartic through the values of one guard.
pub(super) struct Shape {
    y: Samples,
    quartic: Coefficients,
    /// Error bound, as coefficient of `w = ∏ (x − xⱼ)`.
    doubt: f64,
    rounding: f64,
}

impl Shape {
    /// Returns `None` if neither the quartic nor a function within its error bound is above zero
    /// anywhere, or if a value is not finite.
    pub(super) fn of(y: Samples) -> Option<Self> {
        let high = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let low = y.iter().copied().fold(f64::INFINITY, f64::min);
        let reach = 0.5 * (high + low) + LARGEST_GROWTH * 0.5 * (high - low);
        if reach <= 0.0 || y.iter().any(|y| !y.is_finite()) {
            return None;
        }
        let [a, b, c, d, e] = y;
        let quartic = [
            c,
            (8.0 * (d - b) - (e - a)) / 12.0,
            (16.0 * (d + b) - (e + a) - 30.0 * c) / 24.0,
            ((e - a) - 2.0 * (d - b)) / 12.0,
            ((e + a) - 4.0 * (d + b) + 6.0 * c) / 24.0,
            0.0,
        ];
        let third = |j: usize| (y[j + 3] - y[j] - 3.0 * (y[j + 2] - y[j + 1])).abs();
        let fourth = 24.0 * quartic[4].abs();
        // The error is w/120 times the fifth derivative. For a sine of up to 6 rad in the segment
        // that is at most 2 (|Δ⁴| + |Δ³|), with the differences Δ of the values.
        let doubt = (fourth + third(0).max(third(1))) / 60.0;
        Some(Self { y, quartic, doubt, rounding: ROUNDING * high.max(-low) })
    }

    /// Peak after `from` in part `k` at which the guard crosses and comes back: the values at both
    /// ends of the peak are not above zero.
    pub(super) fn peak(&self, k: usize, from: f64) -> Option<f64> {
        if self.y[k - 1] > 0.0 {
            return None;
        }
        self.turn(k, from, |turn, next| turn > self.rounding && next <= 0.0)
    }

    /// Dip after `from` in part `k` at which the guard returns to its near side before it crosses.
    pub(super) fn dip(&self, k: usize, from: f64) -> Option<f64> {
        self.turn(k, from, |turn, next| turn < -self.rounding && next >= 0.0)
    }

    /// First turning point after `from` in part `k` for which `wanted` holds, given the value there
    /// and at the next turning point or the end of the part.
    fn turn(&self, k: usize, from: f64, wanted: impl Fn(f64, f64) -> bool) -> Option<f64> {
        let middle = k as f64 - 0.5;
        let part = shifted(&self.quartic, middle - MIDDLE);
        let turns = Turns::of(&part);
        let places = turns.places();
        (0..places.len()).find_map(|j| {
            let next = places.get(j + 1).map_or(self.y[k], |next| value(&part, *next));
            let is_after = places[j] + middle > from + DISTINCT;
            let turn = value(&part, places[j]);
            (is_after && wanted(turn, next)).then_some(places[j] + middle)
        })
    }

    /// True if a function within the error bound may cross in part `k` and come back.
    pub(super) fn is_doubtful(&self, k: usize) -> bool {
        if self.y[k - 1] > 0.0 || self.y[k] > 0.0 {
            return false;
        }
        // w = x⁵ − 5x³ + 4x has one sign in each part: positive in the first.
        let size = if k % 2 == 1 { self.doubt } else { -self.doubt };
        let mut upper = self.quartic;
        upper[1] += 4.0 * size;
        upper[3] -= 5.0 * size;
        upper[5] += size;
        let part = shifted(&upper, k as f64 - 0.5 - MIDDLE);
        part[0] + variation(&part) > self.rounding
            && Turns::of(&part).places().iter().any(|turn| value(&part, *turn) > self.rounding)
    }
}

/// Turning points of a polynomial inside one part, relative to its middle.
struct Turns {
    places: [f64; 6],
    count: usize,
}

impl Turns {
    /// Each derivative is monotone between the zeros of the next one, so it has at most one zero
    /// there.
    fn of(polynomial: &Coefficients) -> Self {
        let mut derivatives = [*polynomial; 6];
        for order in 1..6 {
            derivatives[order] = derivative(&derivatives[order - 1]);
        }
        let mut turns = Self { places: [0.0; 6], count: 0 };
        if derivatives[1][0].abs() > variation(&derivatives[1]) {
            return turns;
        }
        let (low, high) = (-0.5, 0.5);
        for slope in derivatives[1..].iter().rev() {
            let mut found = Self { places: [0.0; 6], count: 0 };
            let mut left = (low, value(slope, low));
            for j in 0..=turns.count {
                let right = turns.places().get(j).copied().unwrap_or(high);
                let right = (right, value(slope, right));
                if left.1 * right.1 < 0.0 {
                    found.push(zero(slope, left, right));
                } else if right.1 == 0.0 && right.0 < high {
                    found.push(right.0);
                }
                left = right;
            }
            turns = found;
        }
        turns
    }

    fn places(&self) -> &[f64] {
        &self.places[..self.count]
    }

    fn push(&mut self, place: f64) {
        self.places[self.count] = place;
        self.count += 1;
    }
}

fn value(polynomial: &Coefficients, x: f64) -> f64 {
    polynomial.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// Bound of the difference from the value at zero, up to 0.5 away.
fn variation(polynomial: &Coefficients) -> f64 {
    polynomial.iter().skip(1).rev().fold(0.0, |sum, c| 0.5 * (sum + c.abs()))
}

/// The same polynomial relative to another place.
fn shifted(polynomial: &Coefficients, place: f64) -> Coefficients {
    let mut shifted = *polynomial;
    for first in 0..shifted.len() - 1 {
        for power in (first..shifted.len() - 1).rev() {
            shifted[power] += place * shifted[power + 1];
        }
    }
    shifted
}

fn derivative(polynomial: &Coefficients) -> Coefficients {
    let mut slope = [0.0; 6];
    for (power, c) in polynomial.iter().enumerate().skip(1) {
        slope[power - 1] = power as f64 * c;
    }
    slope
}

/// Zero between two places with values of different sign.
fn zero(polynomial: &Coefficients, mut left: (f64, f64), mut right: (f64, f64)) -> f64 {
    for round in 0..100 {
        let secant = left.0 + (right.0 - left.0) * (left.1 / (left.1 - right.1));
        let middle = 0.5 * (left.0 + right.0);
        if right.0 - left.0 < DISTINCT {
            break;
        }
        let place = if round % 2 == 0 { secant } else { middle };
        if place <= left.0 || place >= right.0 {
            continue;
        }
        let there = (place, value(polynomial, place));
        if there.1 == 0.0 {
            return place;
        }
        if (there.1 < 0.0) == (left.1 < 0.0) {
            left = there;
        } else {
            right = there;
        }
    }
    left.0 + (right.0 - left.0) * (left.1 / (left.1 - right.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of a function of the place.
    fn samples(f: impl Fn(f64) -> f64) -> Samples {
        std::array::from_fn(|k| f(k as f64))
    }

    /// Two zeros inside a part, and two others outside of the segment or inside another part.
    #[test]
    fn both_zeros_of_a_quartic_inside_a_part_are_separated_by_its_peak() {
        for part in 1..=PARTS {
            for case in 0..400 {
                let share = |n: u32| f64::from((case * 37 + n * 101) % 400) / 400.0;
                let start = part as f64 - 1.0;
                let gap = [0.9, 0.1, 1e-2, 1e-4, 1e-5][case as usize % 5] * (0.1 + 0.8 * share(1));
                let first = start + 0.01 + (0.98 - gap) * share(2);
                let others = [9.0 * share(3) - 10.0, 4.5 + 8.0 * share(4)];
                let size = if case % 2 == 0 { 1.0 } else { 1e6 };
                // Between the others the product of their factors is negative.
                let f = |x: f64| {
                    size * (x - first) * (x - first - gap) * (x - others[0]) * (x - others[1])
                };
                let shape = Shape::of(samples(f)).expect("it crosses");
                let peak = shape.peak(part, start);
                let place = peak.unwrap_or_else(|| panic!("part {part}, case {case}, gap {gap}"));
                assert!(first < place && place < first + gap, "{place}, {first}, gap {gap}");
                assert_eq!(shape.peak(part, place), None);
                for other in (1..=PARTS).filter(|k| *k != part) {
                    assert_eq!(shape.peak(other, other as f64 - 1.0), None, "part {other}");
                }
            }
        }
    }

    /// Of three zeros inside a part, the first is before the peak, or the dip is before the last.
    #[test]
    fn three_zeros_of_a_cubic_inside_a_part_have_a_peak_or_a_dip() {
        let f = |x: f64| (x - 1.2) * (x - 1.4) * (x - 1.7);
        let shape = Shape::of(samples(f)).expect("it crosses");
        let peak = shape.peak(2, 1.0).expect("a peak");
        assert!(1.2 < peak && peak < 1.4, "{peak}");
        let shape = Shape::of(samples(|x| -f(x))).expect("it crosses");
        let dip = shape.dip(2, 1.0).expect("a dip");
        assert!(1.2 < dip && dip < 1.4, "{dip}");
    }

    /// A cubic has a small error bound, and a sine that turns within a part a large one.
    #[test]
    fn doubt_covers_the_error_of_the_quartic() {
        // The peak of a parabola a little below zero.
        let parabola = |x: f64| -(x - 1.5) * (x - 1.5) - 1e-9;
        let shape = Shape::of(samples(parabola));
        assert!(shape.is_none_or(|shape| (1..=PARTS).all(|k| !shape.is_doubtful(k))));
        for case in 0..2000 {
            let speed = 0.1 + 1.4 * f64::from(case % 100) / 100.0;
            let phase = f64::from(case / 100) * 0.314;
            // A peak of 1e-3 above zero in each turn.
            let f = |x: f64| (speed * x + phase).cos() - 0.999;
            let samples = samples(f);
            for k in 1..=PARTS {
                let crosses = (1..200).any(|j| f(k as f64 - 1.0 + f64::from(j) / 200.0) > 0.0);
                if crosses && samples[k - 1] <= 0.0 && samples[k] <= 0.0 {
                    let shape = Shape::of(samples).expect("it crosses");
                    let is_seen = shape.peak(k, k as f64 - 1.0).is_some() || shape.is_doubtful(k);
                    assert!(is_seen, "speed {speed}, phase {phase}, part {k}");
                }
            }
        }
    }

    #[test]
    fn guards_far_from_zero_and_guards_that_are_not_finite_have_no_shape() {
        assert!(Shape::of(samples(|x| (3.0 * x).sin() - 4.0)).is_none());
        assert!(Shape::of(samples(|_| f64::NEG_INFINITY)).is_none());
        assert!(Shape::of(samples(|x| if x > 2.0 { f64::NAN } else { 1.0 })).is_none());
        // Rounding around zero has no peak.
        let noise = |x: f64| -1e-3 + 1e-18 * (7.0 * x).sin();
        assert!(Shape::of(samples(noise)).is_none());
    }
}
