//! Two runs of one quantity: the difference, and where it leaves a tolerance.

use std::ops::Range;

use super::samples::Samples;

/// Share of the magnitude that a range has at least: what moves less may move by nothing but the
/// round-off of larger numbers that it was computed from.
const LEAST_RANGE: f64 = 1e-6;

/// How far apart two runs may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// So much of the [`Difference::scale`] [1].
    Relative(f64),
    /// So much, in the quantity's unit.
    Absolute(f64),
}

/// Where two runs differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Divergence {
    /// When [s].
    pub t: f64,
    /// Which number of the quantity.
    pub element: usize,
    /// Its value in the reference.
    pub reference: f64,
    /// Its value in the other run.
    pub other: f64,
}

/// How a quantity differs between two runs, over the times that both have.
///
/// The distance of two values is `|a - b|`; it is zero if both are NaN or both the same infinity,
/// and infinite if only one of them is.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Rows at common times.
    pub rows: usize,
    /// Rows that only one run has.
    pub unmatched: usize,
    /// Largest distance, in the quantity's unit.
    pub max: f64,
    /// Mean of the distances of all numbers at all times, in the quantity's unit: the mean absolute
    /// error.
    pub mean: f64,
    /// Root of the mean square of the distances of all numbers at all times, in the quantity's
    /// unit.
    pub rms: f64,
    /// What relative figures relate to, in the quantity's unit: the range of the reference, which
    /// is that of its number which moves most. What moves by less than a millionth of the magnitude
    /// is as good as constant: its own magnitude counts, or that millionth if it is larger. Where
    /// the reference is zero throughout, the other run's magnitude.
    pub scale: f64,
    /// Where the distance is largest; none if it is zero everywhere.
    pub largest: Option<Divergence>,
    /// The tolerance, in the quantity's unit.
    pub tolerance: f64,
    /// Where the distance first exceeds it; of several numbers at that time, the one farthest off.
    pub first_beyond: Option<Divergence>,
}

impl Difference {
    /// Holds the numbers `columns` of `other` against those of `reference`.
    ///
    /// `magnitude` is what the reference's numbers of this unit reach, here or elsewhere in the
    /// diagram; the quantity's own [`Samples::magnitude`] counts in any case. A gap of 1e-14 m
    /// between bodies that move by metres is round-off, and no range to measure by.
    ///
    /// # Panics
    /// If a row has not so many numbers.
    pub fn between(
        reference: &Samples,
        other: &Samples,
        columns: Range<usize>,
        tolerance: Tolerance,
        magnitude: f64,
    ) -> Self {
        let pairs = reference.common_rows(other);
        let scale = match (range(reference, &pairs, &columns), reference.magnitude(&columns)) {
            (_, own) if own.max(magnitude) == 0.0 => other.magnitude(&columns),
            (range, own) => match LEAST_RANGE * own.max(magnitude) {
                least if range < least => own.max(least),
                _ => range,
            },
        };
        let tolerance = match tolerance {
            Tolerance::Absolute(value) => value,
            Tolerance::Relative(share) => share * scale,
        };
        let mut largest: Option<Divergence> = None;
        let mut first_beyond = None;
        let mut max = 0.0;
        for &(a, b) in &pairs {
            let reference_row = &reference.row(a)[columns.clone()];
            let other_row = &other.row(b)[columns.clone()];
            let Some((element, far)) = farthest(reference_row, other_row) else { continue };
            let here = || Divergence {
                t: reference.time(a),
                element,
                reference: reference_row[element],
                other: other_row[element],
            };
            if far > max {
                max = far;
                largest = Some(here());
            }
            if far > tolerance && first_beyond.is_none() {
                first_beyond = Some(here());
            }
        }
        Self {
            rows: pairs.len(),
            unmatched: reference.len() + other.len() - 2 * pairs.len(),
            max,
            mean: mean(reference, other, &pairs, &columns),
            rms: rms(reference, other, &pairs, &columns, max),
            scale,
            largest,
            tolerance,
            first_beyond,
        }
    }

    /// Largest distance relative to the scale.
    pub fn max_relative(&self) -> f64 {
        relative(self.max, self.scale)
    }

    /// Root mean square of the distances relative to the scale.
    pub fn rms_relative(&self) -> f64 {
        relative(self.rms, self.scale)
    }

    /// Whether the distance never exceeds the tolerance.
    pub fn is_within(&self) -> bool {
        self.first_beyond.is_none()
    }
}

/// `part / whole`, where nothing is no part of nothing.
fn relative(part: f64, whole: f64) -> f64 {
    if part == 0.0 { 0.0 } else { part / whole }
}

/// Distance of two values.
fn distance(a: f64, b: f64) -> f64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        return 0.0;
    }
    let apart = (a - b).abs();
    if apart.is_nan() { f64::INFINITY } else { apart }
}

/// The number that is farthest off and its distance; the first of several.
fn farthest(a: &[f64], b: &[f64]) -> Option<(usize, f64)> {
    let mut worst: Option<(usize, f64)> = None;
    for (element, (a, b)) in a.iter().zip(b).enumerate() {
        let apart = distance(*a, *b);
        if worst.is_none_or(|(_, known)| apart > known) {
            worst = Some((element, apart));
        }
    }
    worst
}

/// The range of the number that moves most. Numbers that are not finite do not count.
fn range(reference: &Samples, pairs: &[(usize, usize)], columns: &Range<usize>) -> f64 {
    let of = |column: usize| {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &(row, _) in pairs {
            let value = reference.row(row)[column];
            if value.is_finite() {
                (low, high) = (low.min(value), high.max(value));
            }
        }
        (high - low).max(0.0)
    };
    columns.clone().map(of).fold(0.0, f64::max)
}

/// Mean of the distances. Each is divided before they are added, so that the sum does not overflow.
fn mean(
    reference: &Samples,
    other: &Samples,
    pairs: &[(usize, usize)],
    columns: &Range<usize>,
) -> f64 {
    let count = (pairs.len() * columns.len()) as f64;
    let distances = pairs.iter().flat_map(|&(a, b)| {
        columns.clone().map(move |i| distance(reference.row(a)[i], other.row(b)[i]))
    });
    distances.fold(0.0, |sum, apart| sum + apart / count)
}

/// Root mean square of the distances, of which the largest is `max`. Squares of shares of `max`
/// neither overflow nor vanish.
fn rms(
    reference: &Samples,
    other: &Samples,
    pairs: &[(usize, usize)],
    columns: &Range<usize>,
    max: f64,
) -> f64 {
    let count = pairs.len() * columns.len();
    if count == 0 || max == 0.0 || !max.is_finite() {
        return max;
    }
    let mut sum = 0.0;
    for &(a, b) in pairs {
        for column in columns.clone() {
            let share = distance(reference.row(a)[column], other.row(b)[column]) / max;
            sum += share * share;
        }
    }
    max * (sum / count as f64).sqrt()
}
