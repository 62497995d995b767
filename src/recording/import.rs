//! Tables of other programs as recordings.

use super::channel::{Channel, Field, Shape};
use super::error::RecordingError;
use super::metadata::Metadata;
use super::rate::RateId;
use super::reader::Recording;
use super::row::{Phase, Stamp};
use super::table::{ColumnUnit, Table, TableError};
use super::writer::{ChunkPolicy, Recorder, Sink};

/// Largest time of a table [s]: nanoseconds of it are exact in a double.
const LATEST: f64 = 9e6;

/// A table as a recording in memory, and warnings about ambiguous text.
pub struct Imported {
    /// The recording.
    pub recording: Recording,
    /// Warnings.
    pub warnings: Vec<String>,
}

/// Reads a table of comma-separated values, such as `legwork export` writes, as a recording in
/// memory: a run of another simulator, or a measurement. Semicolons and tabs separate too.
///
/// The first column is the time `t` (or `time`, `timestamp`) [s], zero or more, which does not
/// decrease from line to line. The others are numbers, each named by its path, with or without a
/// unit, as in `body.state.base.position[2] [m]`; see [`Column`] for other spellings. Numbers in
/// other units, such as `[mm]`, become SI units. Adjacent columns `a.y[0]`, `a.y[1]`, … are one
/// vector, and `M[0, 0]`, `M[1, 0]`, … one matrix, column by column. Where all cells of a signal
/// are empty it has no row. Lines that start with `#` are skipped. Every line has as many cells as
/// the header. A warning says so if the last line has no line break, since its last number may be
/// cut off. Frames are not known, whole numbers and truth values are real numbers, and the tick of
/// a row is the index of its line of numbers, from 0.
///
/// # Errors
///
/// [`RecordingError::Table`] with line and column.
pub fn import_csv(bytes: &[u8]) -> Result<Imported, RecordingError> {
    let mut table = Table::new(bytes)?;
    let wrong = |line: u64, column: Option<usize>, message: String| {
        RecordingError::from(TableError { line, column, message })
    };
    let (mut columns, mut warnings) = (Vec::new(), Vec::new());
    let time = match table.columns().first() {
        Some(time) if time.is_time() => {
            time.time_reading().map_err(|message| wrong(1, Some(1), message))?
        }
        _ => {
            let found = match (table.known_names().first(), table.separator_hint()) {
                (Some(found), _) => format!("found `{found}`"),
                (None, Some(hint)) => format!("in front of numbers, found another text; {hint}"),
                (None, None) => "in front of numbers, found another text".to_owned(),
            };
            let message = format!("expected the time `t` [s] first, {found}");
            return Err(wrong(1, Some(1), message));
        }
    };
    for (at, column) in table.columns().iter().enumerate().skip(1) {
        let reading = column.reading(&column.text);
        let reading = reading.map_err(|message| wrong(1, Some(at + 1), message))?;
        warnings.extend(reading.warning);
        columns.push(Value { name: column.name.clone(), unit: reading.unit });
    }
    let topics = topics(&columns).map_err(|message| wrong(1, None, message))?;
    let channels: Vec<Channel> = topics.iter().map(|topic| topic.channel.clone()).collect();
    let policy = ChunkPolicy::in_memory();
    let mut recorder = Recorder::create(Sink::memory(), &channels, &Metadata::default(), policy)?;
    let (mut last, mut row, mut tick) = (0.0, Vec::new(), 0);
    while let Some(record) = table.next_row()? {
        let line = record.line;
        warnings.extend(record.open_end());
        let cell = |column: usize| record.cells.get(column).unwrap_or_default();
        let mut number = |at: usize, name: &str, unit: Option<&ColumnUnit>| {
            table.number(cell(at), unit).map_err(|why| {
                let found = cell(at);
                let message = format!("{why} in the column `{name}`, found `{found}`");
                wrong(line, Some(at + 1), message)
            })
        };
        let t = number(0, "t", time.as_ref())?;
        if !(last..=LATEST).contains(&t) {
            let clock = if t > LATEST { CLOCK } else { "" };
            let message = format!("expected a time from {last} to {LATEST} s, found {t}{clock}");
            return Err(wrong(line, Some(1), message));
        }
        last = t;
        let stamp = Stamp { t, ..Stamp::new(tick, 0, Phase::Step, (t * 1e9).round() as u64) };
        tick += 1;
        for (index, topic) in topics.iter().enumerate() {
            if topic.columns.iter().all(|column| cell(column + 1).is_empty()) {
                continue;
            }
            row.clear();
            for &column in &topic.columns {
                let Value { name, unit } = &columns[column];
                row.push(number(column + 1, name, unit.as_ref())?);
            }
            recorder.record(RateId(index), &stamp, [row.as_slice()])?;
        }
    }
    let finished = recorder.finish()?;
    let recording = Recording::from_bytes(finished.memory.unwrap_or_default())?;
    Ok(Imported { recording, warnings })
}

/// Hint for times of a clock.
const CLOCK: &str = "; subtract the time at which the run begins from times of a clock";

/// A column of numbers.
struct Value {
    name: String,
    unit: Option<ColumnUnit>,
}

impl Value {
    fn unit_text(&self) -> Option<String> {
        self.unit.as_ref().map(ColumnUnit::base_text)
    }
}

/// A channel and the columns that its rows are made of, the time not counted.
struct Topic {
    channel: Channel,
    columns: Vec<usize>,
}

/// The channels of the columns, one for each signal.
fn topics(columns: &[Value]) -> Result<Vec<Topic>, String> {
    let mut topics: Vec<Topic> = Vec::new();
    let mut next = 0;
    while next < columns.len() {
        let name = &columns[next].name;
        if name.is_empty() {
            return Err(format!("expected a name of column {}, found none", next + 2));
        }
        let (topic, shape, count) = signal(&columns[next..]);
        let twice = columns[..next].iter().any(|other| other.name == *name);
        if twice || topics.iter().any(|other| other.channel.topic == topic) {
            return Err(format!("expected a column of each name, found two of `{name}`"));
        }
        let field = Field { unit: columns[next].unit_text(), ..Field::new("value", shape) };
        let channel = Channel::new(topic, vec![field]);
        topics.push(Topic { channel, columns: (next..next + count).collect() });
        next += count;
    }
    Ok(topics)
}

/// The signal that columns begin with: its path, its shape, how many columns it takes.
fn signal(columns: &[Value]) -> (String, Shape, usize) {
    let (name, unit) = (&columns[0].name, columns[0].unit_text());
    let number = || (name.to_owned(), Shape::Real, 1);
    let Some((whole, first)) = element(&columns[0]) else { return number() };
    let is_at = |at: usize, place: &[usize]| {
        let found = columns.get(at).filter(|column| column.unit_text() == unit).and_then(element);
        found.is_some_and(|(other, found)| other == whole && found == place)
    };
    match first[..] {
        [from] => {
            let count = (1..).find(|&i| !is_at(i, &[from + i])).unwrap_or(1);
            match (from, count) {
                (0, _) => (whole.to_owned(), Shape::Vector(count), count),
                (_, 1) => number(),
                _ => (format!("{whole}[{from}..{}]", from + count), Shape::Vector(count), count),
            }
        }
        [0, 0] => {
            let rows = (1..).find(|&row| !is_at(row, &[row, 0])).unwrap_or(1);
            let is_whole =
                |column: usize| (0..rows).all(|row| is_at(column * rows + row, &[row, column]));
            let count = (1..).find(|&column| !is_whole(column)).unwrap_or(1);
            (whole.to_owned(), Shape::Matrix(rows, count), rows * count)
        }
        _ => number(),
    }
}

/// The vector or matrix that a column is an element of, and its place there.
fn element(column: &Value) -> Option<(&str, Vec<usize>)> {
    let (whole, place) = column.name.strip_suffix(']')?.rsplit_once('[')?;
    let place = place.split(',').map(|index| index.trim().parse().ok());
    Some((whole, place.collect::<Option<_>>()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

    use super::*;

    #[test]
    fn what_is_no_table_of_a_run_is_refused_with_its_line() {
        let cases = [
            ("", "expected the time `t` [s] first, in front of numbers, found another text"),
            ("KEY=1\n", "expected the time `t` [s] first, in front of numbers, found another text"),
            ("x,y\n0,1\n", "expected the time `t` [s] first, found `x`"),
            ("t [mm],y\n0,1\n", "expected the column `t` in s, found m"),
            ("t;y\n0;1\n5;1.5\n6;2,5\n", "line 4, column 2: expected decimal points"),
            ("t,y [furlong]\n0,1\n", "line 1, column 2: column `y [furlong]`: unknown unit"),
            ("t,y (kgf)\n0,1\n", "1 kgf is 9.80665 N"),
            ("t,y\ns,N\n0,1\n", "line 2: expected numbers, found units"),
            ("# t,y\n0,1\n1,2\n", "expected the names of the columns, found numbers; names in"),
            ("t|y\n0|1\n", "the header has one column"),
            ("PK\x03\x04abc", "a zip archive"),
            ("t,a,a\n", "found that of column 2 again"),
            ("t,a [m],a [cm]\n", "two of `a`"),
            ("t,a[0],b,a[0] [m]\n", "two of `a[0]`"),
            ("t,a[0],b,\"a[0,0]\"\n", "two of `a[0,0]`"),
            ("t,\n", "expected a name of column 2"),
            ("t,a\n0,1\n1,fast\n", "line 3, column 2: expected a number in the column `a`"),
            ("t,a[0],a[1]\n0,1,\n", "expected a number in the column `a[1]`, found ``"),
            ("t,a\n1,1\n0.5,1\n", "line 3, column 1: expected a time from 1 to"),
            ("t,a\n-1,1\n", "expected a time from 0"),
            ("t,a\nNaN,1\n", "expected a time from 0"),
            ("t,a\n1e30,1\n", "expected a time from 0"),
            ("t,a\n0,1,2\n", "line 2, column 3: expected 2 cells"),
            ("t,a\n1.7e9,1\n", "times of a clock"),
        ];
        for (table, expected) in cases {
            let found = import_csv(table.as_bytes()).err().map(|error| error.to_string());
            assert!(found.as_ref().is_some_and(|f| f.contains(expected)), "{table:?}: {found:?}");
        }
    }

    #[test]
    fn adjacent_elements_are_vectors_slices_and_matrices() {
        let header = "# seen\nt [s],v.y[0] [m],v.y[1] [m],f.z[2],f.z[3],f.z[7],\
                      \"M[0, 0]\",\"M[1, 0]\",\"M[0,1]\",\"M[1,1]\",\"M[0,2]\",b (c) [s]\n";
        let table = format!("{header}0,1,2,3,4,5,6,7,8,9,10,11\n");
        let recording = import_csv(table.as_bytes()).unwrap().recording;
        let shapes: Vec<(&str, &Shape, Option<&str>)> = recording
            .channels()
            .map(|one| (one.topic.as_str(), &one.fields[0].shape, one.fields[0].unit.as_deref()))
            .collect();
        let expected = [
            ("v.y", &Shape::Vector(2), Some("m")),
            ("f.z[2..4]", &Shape::Vector(2), None),
            ("f.z[7]", &Shape::Real, None),
            ("M", &Shape::Matrix(2, 2), None),
            ("M[0,2]", &Shape::Real, None),
            ("b", &Shape::Real, Some("s")),
        ];
        assert_eq!(shapes, expected);
        assert_eq!(recording.rows("M").unwrap().next().unwrap().values, [6.0, 7.0, 8.0, 9.0]);
    }
}
