//! Tables of other programs as recordings.

use super::channel::{Channel, Field, Shape};
use super::error::RecordingError;
use super::metadata::Metadata;
use super::reader::Recording;
use super::row::{Phase, Stamp};
use super::table::{Table, TableError};
use super::writer::{ChannelId, ChunkPolicy, Recorder, Sink};

/// Largest time of a table [s]: nanoseconds of it are exact in a double.
const LATEST: f64 = 9e6;

/// Reads a table of comma-separated values, such as [`export_csv`](super::export_csv) writes, as a
/// recording in memory: a run of another simulator, or a measurement.
///
/// The first column is the time `t` [s], zero or more, which does not decrease from line to line.
/// The others are numbers, named `topic.field`, where the topic is the part before the last dot; a
/// name without a dot is its own topic. Adjacent columns `name[0]`, `name[1]`, … are one vector.
/// Where all cells of a topic are empty it has no row. Lines that start with `#` are skipped. Every
/// line has as many cells as the header and ends with a line break, so that a table that was cut
/// off is told from a whole one. Units
/// and frames are not known, whole numbers and truth values are real numbers, and the tick of a row
/// is the index of its line of numbers, from 0.
///
/// # Errors
///
/// [`RecordingError::Table`] with line and column.
pub fn import_csv(bytes: &[u8]) -> Result<Recording, RecordingError> {
    let mut table = Table::new(bytes)?;
    let wrong = |line: u64, column: Option<usize>, message: String| {
        RecordingError::from(TableError { line, column, message })
    };
    let header = table.header().to_vec();
    let mut names = header.iter().map(String::as_str);
    match names.next() {
        Some("t") => {}
        first => {
            let found = first.unwrap_or_default();
            let message = format!("expected the time `t` first, found `{found}`");
            return Err(wrong(1, Some(1), message));
        }
    }
    let columns: Vec<&str> = names.collect();
    let topics = topics(&columns).map_err(|message| wrong(1, None, message))?;
    let channels: Vec<Channel> = topics.iter().map(|topic| topic.channel.clone()).collect();
    let mut recorder =
        Recorder::create(Sink::memory(), &channels, &Metadata::default(), ChunkPolicy::default())?;
    let (mut last, mut row, mut tick) = (0.0, Vec::new(), 0);
    while let Some(record) = table.next_row()? {
        let line = record.line;
        record.refuse_cut()?;
        let cell = |column: usize| record.cells.get(column).unwrap_or_default();
        let t = number(cell(0), "t").map_err(|message| wrong(line, Some(1), message))?;
        if !(last..=LATEST).contains(&t) {
            let message = format!("expected a time from {last} to {LATEST} s, found {t}");
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
                let value = number(cell(column + 1), columns[column]);
                row.push(value.map_err(|message| wrong(line, Some(column + 2), message))?);
            }
            recorder.record(ChannelId(index), &stamp, [row.as_slice()])?;
        }
    }
    let finished = recorder.finish()?;
    Recording::from_bytes(finished.memory.unwrap_or_default())
}

fn number(cell: &str, column: &str) -> Result<f64, String> {
    cell.parse().map_err(|_| format!("expected a number in the column `{column}`, found `{cell}`"))
}

/// A channel and the columns that its rows are made of, the time not counted.
struct Topic {
    channel: Channel,
    columns: Vec<usize>,
}

/// The channels of the columns.
fn topics(columns: &[&str]) -> Result<Vec<Topic>, String> {
    let mut topics: Vec<Topic> = Vec::new();
    let mut next = 0;
    while next < columns.len() {
        let first = next;
        let name = columns[first];
        if name.is_empty() {
            return Err(format!("expected a name of column {}, found none", first + 2));
        }
        // A vector, if it begins at its element 0.
        let stem = name.strip_suffix("[0]");
        if let Some(stem) = stem {
            while columns.get(next) == Some(&format!("{stem}[{}]", next - first).as_str()) {
                next += 1;
            }
        } else {
            next += 1;
        }
        let shape = if stem.is_some() { Shape::Vector(next - first) } else { Shape::Real };
        let (topic, field) = split(stem.unwrap_or(name));
        let at = topics.iter().position(|one| one.channel.topic == topic).unwrap_or_else(|| {
            topics.push(Topic { channel: Channel::new(topic, Vec::new()), columns: Vec::new() });
            topics.len() - 1
        });
        let known = &mut topics[at];
        if known.channel.fields.iter().any(|other| other.name == field) {
            return Err(format!("expected a column of each name, found two of `{name}`"));
        }
        known.channel.fields.push(Field::new(field, shape));
        known.columns.extend(first..next);
    }
    Ok(topics)
}

/// Topic and field of a name: they are separated at the last dot outside brackets.
fn split(name: &str) -> (&str, &str) {
    let mut depth = 0_u32;
    for (at, c) in name.char_indices().rev() {
        match c {
            ']' => depth += 1,
            '[' => depth = depth.saturating_sub(1),
            '.' if depth == 0 && at > 0 => return (&name[..at], &name[at + 1..]),
            _ => {}
        }
    }
    (name, "value")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

    use super::*;
    use crate::{Join, export_csv};

    #[test]
    fn an_exported_table_comes_back_bit_for_bit() {
        let channels = [
            Channel::new(
                "body.state",
                vec![Field::new("q", Shape::Vector(3)), Field::new("energy", Shape::Real)],
            ),
            Channel::new("foot[FL.1].slip", vec![Field::new("value", Shape::Real)]),
        ];
        let policy = ChunkPolicy::default();
        let mut recorder =
            Recorder::create(Sink::memory(), &channels, &Metadata::default(), policy).unwrap();
        for k in 0..50_u64 {
            let stamp = Stamp::new(k, 0, Phase::Step, k * 1_000_000);
            let x = 1.0 / (k as f64 + 3.0);
            recorder
                .record(ChannelId(0), &stamp, [&[x, -x, f64::MIN_POSITIVE, 1e300][..]])
                .unwrap();
            if k % 3 == 0 {
                recorder.record(ChannelId(1), &stamp, [&[x * x][..]]).unwrap();
            }
        }
        let bytes = recorder.finish().unwrap().memory.unwrap();
        let original = Recording::from_bytes(bytes).unwrap();
        let mut table = Vec::new();
        let topics = ["body.state", "foot[FL.1].slip"];
        export_csv(&original, &topics, Join::Outer, &mut table).unwrap();
        let again = import_csv(&table).unwrap();
        assert!(original.channels().eq(again.channels()));
        for topic in topics {
            let rows = |recording: &Recording| -> Vec<(f64, u64, Vec<f64>)> {
                let rows = recording.rows(topic).unwrap();
                rows.map(|row| (row.stamp.t, row.stamp.t_ns, row.values)).collect()
            };
            assert_eq!(rows(&original), rows(&again), "{topic}");
        }
    }

    #[test]
    fn what_is_no_table_of_a_run_is_refused_with_its_line() {
        let cases = [
            ("", "expected the time `t` first, found ``"),
            ("x,y\n", "expected the time `t` first, found `x`"),
            ("t,a,a\n", "two of `a`"),
            ("t,a,a.value\n", "two of `a.value`"),
            ("t,\n", "expected a name of column 2"),
            ("t,a\n0,1\n1,fast\n", "line 3, column 2: expected a number in the column `a`"),
            ("t,a[0],a[1]\n0,1,\n", "expected a number in the column `a[1]`, found ``"),
            ("t,a\n1,1\n0.5,1\n", "line 3, column 1: expected a time from 1 to"),
            ("t,a\n-1,1\n", "expected a time from 0"),
            ("t,a\nNaN,1\n", "expected a time from 0"),
            ("t,a\n1e30,1\n", "expected a time from 0"),
            ("t,a\n0,1,2\n", "line 2, column 3: expected 2 cells"),
            ("t,a\n0,1\n1,2", "line 3, column 2: the file ends in this cell"),
        ];
        for (table, expected) in cases {
            let found = import_csv(table.as_bytes()).err().map(|error| error.to_string());
            assert!(found.as_ref().is_some_and(|f| f.contains(expected)), "{table:?}: {found:?}");
        }
    }

    #[test]
    fn elements_that_do_not_begin_at_0_are_numbers() {
        let recording = import_csv(b"# seen\nt,f.z[2],f.z[5],b\n0,1,2,3\n").unwrap();
        let columns: Vec<Vec<String>> = recording.channels().map(Channel::columns).collect();
        assert_eq!(columns, [vec!["z[2]", "z[5]"], vec!["value"]]);
        assert_eq!(recording.rows("f").unwrap().next().unwrap().values, [1.0, 2.0]);
    }
}
