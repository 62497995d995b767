//! Tables for other programs.

use std::fmt::Write as _;
use std::io::Write;

use super::channel::Kind;
use super::error::RecordingError;
use super::reader::{Recording, Series};
use super::row::Stamp;
use super::table::written_text;

/// Which instants are lines of a table of several topics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Join {
    /// Those of the first topic.
    #[default]
    Left,
    /// Those of any topic.
    Outer,
}

/// Writes topics as one table of comma-separated values.
///
/// The first column is the simulated time `t` [s], the others are `topic.column`, as in
/// `body.state.base.position[2]`; a name that spreadsheets take for a formula has `'` in front. Rows of the same time, tick and microstep share a line; where a
/// topic has no row the cells stay empty. Real numbers have as many digits as it takes to read
/// the same double back; whole numbers and truth values (0, 1) are written as integers.
///
/// # Errors
///
/// [`RecordingError::NoSuchTopic`], or [`RecordingError::Csv`] if `out` fails.
pub fn export_csv(
    recording: &Recording,
    topics: &[&str],
    join: Join,
    out: impl Write,
) -> Result<(), RecordingError> {
    let mut cursors = Vec::with_capacity(topics.len());
    for topic in topics {
        cursors.push(Cursor::new(recording.series(topic)?));
    }
    let mut table = ::csv::Writer::from_writer(out);
    table.write_field("t")?;
    for cursor in &cursors {
        for column in cursor.series.columns() {
            let name = format!("{}.{column}", cursor.series.channel().topic);
            table.write_field(written_text(&name).as_ref())?;
        }
    }
    table.write_record(None::<&[u8]>)?;

    let mut text = String::new();
    while let Some((key, stamp)) =
        cursors.iter().filter_map(Cursor::head).min_by_key(|(key, _)| *key)
    {
        if join == Join::Left && cursors[0].head().is_none_or(|(first, _)| first != key) {
            cursors.iter_mut().for_each(|cursor| cursor.skip(key));
            continue;
        }
        write_value(&mut table, &mut text, Kind::Real, stamp.t)?;
        for cursor in &mut cursors {
            cursor.write_cells(key, &mut table, &mut text)?;
        }
        table.write_record(None::<&[u8]>)?;
    }
    table.flush().map_err(RecordingError::Write)
}

/// Order of lines: time, tick, microstep.
type Key = (u64, u64, u32);

/// A topic and how far it is written.
struct Cursor<'a> {
    series: Series<'a>,
    kinds: Vec<Kind>,
    values: Vec<f64>,
    next: usize,
}

impl<'a> Cursor<'a> {
    fn new(series: Series<'a>) -> Self {
        Self { series, kinds: series.kinds(), values: Vec::new(), next: 0 }
    }

    /// The next row's instant.
    fn head(&self) -> Option<(Key, Stamp)> {
        (self.next < self.series.len()).then(|| {
            let stamp = self.series.stamp(self.next);
            ((stamp.t_ns, stamp.tick, stamp.microstep), stamp)
        })
    }

    fn is_at(&self, key: Key) -> bool {
        self.head().is_some_and(|(head, _)| head == key)
    }

    fn skip(&mut self, key: Key) {
        self.next += usize::from(self.is_at(key));
    }

    /// Writes the row of this instant, or so many empty cells.
    fn write_cells<W: Write>(
        &mut self,
        key: Key,
        table: &mut ::csv::Writer<W>,
        text: &mut String,
    ) -> Result<(), RecordingError> {
        if !self.is_at(key) {
            for _ in &self.kinds {
                table.write_field("")?;
            }
            return Ok(());
        }
        self.series.values_into(self.next, &mut self.values);
        self.next += 1;
        for (kind, value) in self.kinds.iter().zip(&self.values) {
            write_value(table, text, *kind, *value)?;
        }
        Ok(())
    }
}

fn write_value<W: Write>(
    table: &mut ::csv::Writer<W>,
    text: &mut String,
    kind: Kind,
    value: f64,
) -> Result<(), RecordingError> {
    text.clear();
    // Writing to a string cannot fail.
    let _ = match kind {
        Kind::Real => write!(text, "{value:?}"),
        Kind::Int | Kind::Bool => write!(text, "{}", value as i64),
    };
    Ok(table.write_field(&text)?)
}
