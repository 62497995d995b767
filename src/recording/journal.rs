//! Rows in memory, which can be removed again, unlike those of a recorder.

use super::error::RecordingError;
use super::rate::RateId;
use super::row::Stamp;
use super::spool::Spool;
use super::writer::{Finished, Recorder};

/// Values in memory from which the rows go to the file.
const MOST_VALUES: usize = 1 << 17;

/// Rows in the order in which they came.
///
/// A run that is stepped back and forth keeps its rows here and writes them when it ends: the file
/// then is that of a run without steps back. With a [`Spool`] they go to its file as they come, so
/// that memory is bounded.
#[derive(Default)]
pub struct Journal {
    /// Those that are not in the file.
    rows: Vec<Entry>,
    values: Vec<f64>,
    spool: Option<Spool>,
    /// The first error of the file.
    error: Option<RecordingError>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    rate: RateId,
    stamp: Stamp,
    /// Where its values end.
    end: usize,
}

impl Journal {
    /// Appends a row; the leaves are its values in as many slices as suits the caller.
    pub fn push<'a>(
        &mut self,
        rate: RateId,
        stamp: &Stamp,
        leaves: impl IntoIterator<Item = &'a [f64]>,
    ) {
        leaves.into_iter().for_each(|leaf| self.values.extend_from_slice(leaf));
        self.rows.push(Entry { rate, stamp: *stamp, end: self.values.len() });
        if self.values.len() > MOST_VALUES {
            self.spill();
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.spooled() + self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all rows except the first `len`.
    pub fn truncate(&mut self, len: usize) {
        let spooled = self.spooled();
        if len < spooled {
            self.remake(len);
        }
        self.rows.truncate(len.saturating_sub(spooled));
        self.values.truncate(self.rows.last().map_or(0, |row| row.end));
    }

    /// Lets the rows so far and those to come go to a file.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn spool_into(&mut self, spool: Spool) -> Result<(), RecordingError> {
        self.spool = Some(spool);
        self.save()
    }

    /// Lets the file hold all rows so far.
    ///
    /// # Errors
    /// The first error of the file since it was begun.
    pub fn save(&mut self) -> Result<(), RecordingError> {
        self.spill();
        if let (Some(spool), None) = (&mut self.spool, &self.error) {
            self.error = spool.show().err();
        }
        self.error.take().map_or(Ok(()), Err)
    }

    /// Begins the file anew, with another head; [`Journal::save`] tells of errors.
    pub fn renew(&mut self) {
        self.spill();
        self.remake(self.spooled());
    }

    /// Gives up the file, with the rows that it holds by then.
    pub fn take_spool(&mut self) -> Option<Spool> {
        self.spool.take()
    }

    /// Closes the file, if there is one.
    ///
    /// # Errors
    /// If it is not whole.
    pub fn finish(&mut self) -> Option<Result<Finished, RecordingError>> {
        let saved = self.save();
        let finished = self.spool.take()?.finish();
        Some(saved.and(finished))
    }

    fn spooled(&self) -> usize {
        self.spool.as_ref().map_or(0, Spool::len)
    }

    fn remake(&mut self, len: usize) {
        if let Some(spool) = &mut self.spool {
            let remade = spool.remake(len);
            if remade.is_err() {
                // The file holds rows that have been taken back.
                self.spool = None;
            }
            self.note(remade);
        }
    }

    /// Moves the rows in memory to the file.
    fn spill(&mut self) {
        let Some(mut spool) = self.spool.take() else { return };
        let written = self.write_to(spool.recorder());
        self.note(written);
        self.rows.clear();
        self.values.clear();
        self.spool = Some(spool);
    }

    fn note(&mut self, outcome: Result<(), RecordingError>) {
        if let Err(error) = outcome {
            self.error.get_or_insert(error);
        }
    }

    /// Row `i` of those in memory: rate, instant and values.
    pub fn row(&self, i: usize) -> Option<(RateId, Stamp, &[f64])> {
        let Entry { rate, stamp, end } = *self.rows.get(i)?;
        let start = i.checked_sub(1).map_or(0, |before| self.rows[before].end);
        Some((rate, stamp, &self.values[start..end]))
    }

    /// Records the rows that are in memory: all, unless they go to a file.
    ///
    /// # Errors
    /// The first error of [`Recorder::record`].
    pub fn write_to(&self, recorder: &mut Recorder) -> Result<(), RecordingError> {
        for i in 0..self.rows.len() {
            if let Some((rate, stamp, values)) = self.row(i) {
                recorder.record(rate, &stamp, [values])?;
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
            journal.push(RateId(tick as usize), &stamp, [&values[..]]);
        }
        journal.truncate(3);
        assert_eq!((journal.len(), journal.values.len()), (3, 3));
        let (rate, stamp, values) = journal.row(2).expect("three rows are left");
        assert_eq!((rate, stamp.tick, values), (RateId(2), 2, &[2.0, 2.0][..]));
        assert!(journal.row(3).is_none());
        journal.truncate(0);
        assert!(journal.is_empty() && journal.values.is_empty());
    }
}
