//! Values over time, from parameters or a file.

use schemars::JsonSchema;
use serde::Deserialize;

use super::table::{Axis, Interpolation, Outside};

/// What comes after the last time of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum After {
    /// The last values.
    #[default]
    Hold,
    /// The table again: its last time is the first of the next turn.
    Repeat,
}

/// Values at rising times.
pub(super) struct Timetable {
    times: Axis,
    start: f64,
    /// Row after row.
    rows: Vec<f64>,
    width: usize,
}

impl Timetable {
    /// The table of `rows`, of `width` values for each of the `times`.
    ///
    /// # Errors
    /// If times do not rise, or there are less than two.
    pub(super) fn new(times: Vec<f64>, rows: Vec<f64>, width: usize) -> Result<Self, String> {
        let start = times.first().copied().unwrap_or(0.0);
        Ok(Self { times: Axis::of(times)?, start, rows, width })
    }

    /// Writes the values at `t`. Before the first time these are the first.
    pub(super) fn values(&self, t: f64, between: Interpolation, after: After, y: &mut [f64]) {
        let (start, end) = (self.start, self.times.last());
        let t = match after {
            After::Repeat if t > start => start + libm::fmod(t - start, end - start),
            _ => t,
        };
        let Some(at) = self.times.find(t, between, Outside::Clip) else { return };
        let row = |i: usize| &self.rows[i * self.width..(i + 1) * self.width];
        for ((y, a), b) in y.iter_mut().zip(row(at.index)).zip(row(at.index + 1)) {
            *y = at.mix(*a, *b);
        }
    }
}
