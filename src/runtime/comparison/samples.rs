//! The rows of one signal as plain numbers.

use std::ops::Range;

use crate::recording::Series;

/// A signal over time: rows of equal length with ascending times.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Samples {
    /// Numbers in a row.
    width: usize,
    /// Time of each row [s], and rounded [ns].
    times: Vec<(f64, u64)>,
    values: Vec<f64>,
}

impl Samples {
    /// No rows, of `width` numbers each.
    pub fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    /// All rows of a recorded signal.
    pub fn of(series: Series<'_>) -> Self {
        let mut samples = Self::new(series.columns().len());
        let mut row = Vec::with_capacity(samples.width);
        for index in 0..series.len() {
            let stamp = series.stamp(index);
            series.values_into(index, &mut row);
            samples.times.push((stamp.t, stamp.t_ns));
            samples.values.extend_from_slice(&row);
        }
        samples
    }

    /// Appends a row at time `t` [s], which is `t_ns` [ns].
    ///
    /// # Panics
    /// If the row has not [`Samples::width`] numbers, or the time descends.
    pub fn push(&mut self, t: f64, t_ns: u64, row: &[f64]) {
        assert_eq!(row.len(), self.width, "a row of {} numbers, not {}", self.width, row.len());
        let last = self.times.last().map_or(0, |(_, last)| *last);
        assert!(t_ns >= last, "a row at {t_ns} ns after one at {last} ns");
        self.times.push((t, t_ns));
        self.values.extend_from_slice(row);
    }

    /// Numbers in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Time of a row [s].
    ///
    /// # Panics
    /// If there is no such row.
    pub fn time(&self, row: usize) -> f64 {
        self.times[row].0
    }

    /// The numbers of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    /// Largest finite magnitude of the numbers `columns`; zero if there is none.
    ///
    /// # Panics
    /// If a row has not so many numbers.
    pub fn magnitude(&self, columns: &Range<usize>) -> f64 {
        let rows = (0..self.len()).flat_map(|row| &self.row(row)[columns.clone()]);
        rows.filter(|value| value.is_finite()).fold(0.0, |most, value| most.max(value.abs()))
    }

    /// Pairs of rows of equal time in two signals, in order. Rows that share a time, which are
    /// observations after events, are paired first with first.
    pub fn common_rows(&self, other: &Self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::with_capacity(self.len().min(other.len()));
        let (mut a, mut b) = (0, 0);
        while let (Some((_, here)), Some((_, there))) = (self.times.get(a), other.times.get(b)) {
            match here.cmp(there) {
                std::cmp::Ordering::Less => a += 1,
                std::cmp::Ordering::Greater => b += 1,
                std::cmp::Ordering::Equal => {
                    pairs.push((a, b));
                    a += 1;
                    b += 1;
                }
            }
        }
        pairs
    }
}
