//! Rows in memory, which can be removed again, unlike those of a recorder.

use super::error::RecordingError;
use super::row::Stamp;
use super::writer::{ChannelId, Recorder};

/// Rows in the order in which they came.
///
/// A run that is stepped back and forth keeps its rows here and writes them when it ends: the file
/// then is that of a run without steps back.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    rows: Vec<Entry>,
    values: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    channel: ChannelId,
    stamp: Stamp,
    /// Where its values end.
    end: usize,
}

impl Journal {
    /// Appends a row; the leaves are its values in as many slices as suits the caller.
    pub fn push<'a>(
        &mut self,
        channel: ChannelId,
        stamp: &Stamp,
        leaves: impl IntoIterator<Item = &'a [f64]>,
    ) {
        leaves.into_iter().for_each(|leaf| self.values.extend_from_slice(leaf));
        self.rows.push(Entry { channel, stamp: *stamp, end: self.values.len() });
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Removes all rows except the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.rows.truncate(len);
        self.values.truncate(self.rows.last().map_or(0, |row| row.end));
    }

    /// Row `i`: channel, instant and values.
    pub fn row(&self, i: usize) -> Option<(ChannelId, Stamp, &[f64])> {
        let Entry { channel, stamp, end } = *self.rows.get(i)?;
        let start = i.checked_sub(1).map_or(0, |before| self.rows[before].end);
        Some((channel, stamp, &self.values[start..end]))
    }

    /// Records all rows.
    ///
    /// # Errors
    /// The first error of [`Recorder::record`].
    pub fn write_to(&self, recorder: &mut Recorder) -> Result<(), RecordingError> {
        for i in 0..self.len() {
            if let Some((channel, stamp, values)) = self.row(i) {
                recorder.record(channel, &stamp, [values])?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::Phase;
    use super::*;

    #[test]
    fn rows_are_taken_back_from_the_end() {
        let mut journal = Journal::default();
        for tick in 0..4u64 {
            let values = vec![tick as f64; tick as usize];
            let stamp = Stamp::new(tick, 0, Phase::Step, tick);
            journal.push(ChannelId(tick as usize), &stamp, [&values[..]]);
        }
        journal.truncate(3);
        assert_eq!((journal.len(), journal.values.len()), (3, 3));
        let (channel, stamp, values) = journal.row(2).expect("three rows are left");
        assert_eq!((channel, stamp.tick, values), (ChannelId(2), 2, &[2.0, 2.0][..]));
        assert!(journal.row(3).is_none());
        journal.truncate(0);
        assert!(journal.is_empty() && journal.values.is_empty());
    }
}
