//! Recorded signals as tables for other programs.
//!
//! All formats hold one table: a row for each instant at which one of the signals has a row, and
//! several where events give a signal several; a column for each number, under the path by which
//! the language knows it.

mod csv;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;

use std::io::Write;
use std::path::Path;

use legwork_runtime::catalog::Numbers;
use legwork_runtime::recording::{Kind, Series, Stamp};

use crate::error::Error;
use crate::recorded::Recorded;

/// What a table is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values: a header, then a line an instant.
    Csv,
    /// Arrays of NumPy in an archive.
    Npz,
    /// Columns of Apache Parquet.
    Parquet,
}

impl Format {
    /// What a file's ending asks for.
    ///
    /// # Errors
    /// If it is none of `.csv`, `.npz` and `.parquet`, or this program cannot write it.
    pub fn of(path: &Path) -> Result<Self, Error> {
        let shown = path.display();
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("npz") => Ok(Self::Npz),
            Some("parquet") if cfg!(feature = "parquet") => Ok(Self::Parquet),
            Some("parquet") => Err(Error::request(format!(
                "cannot write `{shown}`: this legwork was built without Parquet; name a file that \
                 ends in .csv or .npz, or build it with Parquet: cargo install --path . --features \
                 parquet"
            ))),
            _ => Err(Error::request(format!(
                "expected a file that ends in .csv, .npz or .parquet, or `-` for standard output, \
                 found `{shown}`"
            ))),
        }
    }
}

/// What is exported of a recorded run.
pub struct Export<'r> {
    /// Numbers with one name, each number once.
    numbers: Vec<Numbers>,
    /// By channel of the recording, its rows.
    series: Vec<Series<'r>>,
    /// Time of each row of the table [s].
    times: Vec<f64>,
    /// By channel and row of the table, the row of the channel; empty for channels that are not
    /// exported.
    rows: Vec<Vec<Option<usize>>>,
}

/// A column in memory.
struct Column {
    kind: Kind,
    /// By row; none where its signal has no row.
    values: Vec<Option<f64>>,
}

/// Collects signals, parts or elements of them by their paths, as plots take them; all of the run
/// if none is named. A number that was logged twice is taken from where it has more rows.
///
/// # Errors
/// If a path names nothing.
pub fn export<'r>(run: &'r Recorded, paths: &[String]) -> Result<Export<'r>, Error> {
    let mut numbers = Vec::new();
    for path in paths {
        numbers.extend(run.catalog.find(path).map_err(|advice| {
            let file = run.file.display();
            Error::request(format!("no signal `{path}` in `{file}`; {advice}"))
        })?);
    }
    if paths.is_empty() {
        numbers = run.catalog.all().to_vec();
    }
    let series: Vec<Series<'r>> = run.recording.series_of_all().collect();
    let numbers = once(&numbers, &series);
    let mut used: Vec<usize> = numbers.iter().map(|one| one.channel).collect();
    used.sort_unstable();
    used.dedup();
    let (times, rows) = merged(&series, &used);
    Ok(Export { numbers, series, times, rows })
}

/// The rows of the table: their times, and by channel its row there. Every row of the channels that
/// are used has a place, in its order, however many lie at one instant.
fn merged(series: &[Series<'_>], used: &[usize]) -> (Vec<f64>, Vec<Vec<Option<usize>>>) {
    let key = |channel: usize, row: usize| {
        (row < series[channel].len()).then(|| series[channel].stamp(row)).map(|stamp| {
            let Stamp { t, t_ns, tick, microstep, .. } = stamp;
            // The bits of times, which are not negative, are in their order.
            (t.to_bits(), t_ns, tick, microstep)
        })
    };
    let mut times = Vec::new();
    let mut rows = vec![Vec::new(); series.len()];
    let mut next: Vec<_> = used.iter().map(|&channel| (channel, 0, key(channel, 0))).collect();
    while let Some(first) = next.iter().filter_map(|(_, _, key)| *key).min() {
        times.push(f64::from_bits(first.0));
        for (channel, row, its) in &mut next {
            let is_there = *its == Some(first);
            rows[*channel].push(is_there.then_some(*row));
            if is_there {
                *row += 1;
                *its = key(*channel, *row);
            }
        }
    }
    (times, rows)
}

/// Each number once.
fn once(numbers: &[Numbers], series: &[Series<'_>]) -> Vec<Numbers> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(series[numbers[at].channel].len()));
    let mut taken = std::collections::BTreeSet::new();
    let mut kept: Vec<Vec<Numbers>> = vec![Vec::new(); numbers.len()];
    for at in order {
        let one = &numbers[at];
        let new: Vec<usize> =
            (0..one.elements.len()).filter(|&i| taken.insert(one.elements[i].as_str())).collect();
        kept[at] = match new.len() == one.elements.len() {
            true => vec![one.clone()],
            false => new.into_iter().map(|i| one.part(&one.elements[i], i..i + 1)).collect(),
        };
    }
    kept.into_iter().flatten().collect()
}

impl Export<'_> {
    /// Names of what is exported.
    pub fn names(&self) -> Vec<&str> {
        self.numbers.iter().map(|numbers| numbers.name.as_str()).collect()
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.times.len()
    }

    /// Writes the table.
    ///
    /// # Errors
    /// If it cannot be written, or is larger than the format allows.
    pub fn write(&self, format: Format, out: &mut (dyn Write + Send)) -> std::io::Result<()> {
        match format {
            Format::Csv => csv::write(self, out),
            Format::Npz => npz::write(self, out),
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet::write(self, out),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => Err(std::io::ErrorKind::Unsupported.into()),
        }
    }

    /// Kinds of numbers.
    fn kinds(&self, numbers: &Numbers) -> Vec<Kind> {
        let kinds = self.series[numbers.channel].kinds();
        numbers.columns.iter().map(|&column| kinds[column]).collect()
    }

    /// Numbers over all rows.
    fn columns(&self, numbers: &Numbers) -> Vec<Column> {
        let rows = &self.rows[numbers.channel];
        let column = |kind| Column { kind, values: Vec::with_capacity(rows.len()) };
        let mut columns: Vec<Column> = self.kinds(numbers).into_iter().map(column).collect();
        let mut values = Vec::new();
        for row in rows {
            if let Some(row) = row {
                self.series[numbers.channel].values_into(*row, &mut values);
            }
            for (column, &at) in columns.iter_mut().zip(&numbers.columns) {
                column.values.push(row.map(|_| values[at]));
            }
        }
        columns
    }
}

#[cfg(test)]
mod tests;
