//! The columns of a sweep, for people and for programs.

use std::io::Write;

use legwork_block::{Measured, Unit, parse_unit};
use legwork_program::Check;
use legwork_runtime::recording::written_text;

use super::runs::{End, Ran};
use super::{Status, Sweep};

/// What is in a cell of the written table.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A text.
    Text(String),
    /// A number, in the unit of the column.
    Number(f64),
    /// Nothing: the run has no such number.
    Missing,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// What it holds.
    pub name: String,
    /// Unit of its numbers, if they have one.
    pub unit: Option<String>,
    /// By row.
    pub entries: Vec<Entry>,
}

impl Column {
    /// `mean [m]`.
    pub fn heading(&self) -> String {
        match &self.unit {
            Some(unit) => format!("{} [{unit}]", self.name),
            None => self.name.clone(),
        }
    }
}

/// The table as columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The values of the axes: numbers where all are numbers of one unit.
    pub axes: Vec<Column>,
    /// How runs ended, what they took.
    pub runs: Vec<Column>,
    /// What blocks measured.
    pub metrics: Vec<Column>,
    /// How far checks are from their bounds.
    pub margins: Vec<Column>,
    /// What was asked of signals.
    pub figures: Vec<Column>,
    /// Why runs did not end well.
    pub reason: Column,
}

impl Table {
    /// The table of a sweep.
    pub(super) fn of(outcome: &Sweep) -> Self {
        let axes = (outcome.axes.iter().enumerate())
            .map(|(i, axis)| {
                let values = outcome.cells.iter().map(|cell| cell.values[i].1.as_str());
                axis_column(&axis.name, &values.collect::<Vec<_>>())
            })
            .collect();
        let text = |of: &dyn Fn(&End, Status) -> Option<String>| -> Vec<Entry> {
            let entry = |(_, end, status)| of(end, status).map_or(Entry::Missing, Entry::Text);
            outcome.rows().map(entry).collect()
        };
        let number = |name: &str, unit: Option<&str>, of: &dyn Fn(&Ran) -> Option<f64>| {
            let unit = unit.map(str::to_owned);
            let entries = outcome.ends.iter().map(|end| ran(end).and_then(of)).map(entry).collect();
            Column { name: name.to_owned(), unit, entries }
        };
        let status = text(&|_, status| Some(status.name().to_owned()));
        let status = Column { name: "status".to_owned(), unit: None, entries: status };
        let runs = vec![
            status,
            number("checks_passed", None, &|ran| Some(ran.run.execution.checks_passed() as f64)),
            number("checks", None, &|ran| Some(ran.run.execution.checks.len() as f64)),
            number("sim_time", Some("s"), &|ran| Some(ran.run.execution.sim_time)),
            number("wall", Some("s"), &|ran| Some(ran.run.execution.wall)),
            number("real_time_factor", None, &|ran| ran.run.execution.real_time_factor()),
        ];
        let metrics = gather(outcome, &|ran| {
            let all = ran.run.execution.metrics().into_iter();
            all.map(|(name, unit, value)| (name, unit, Some(value))).collect()
        });
        let margins = gather(outcome, &|ran| {
            let execution = &ran.run.execution;
            let checks = execution.program.checks.iter().enumerate();
            let margin = |(i, check): (usize, &Check)| {
                let (_, Measured { margin, unit, .. }) = execution.measured(i)?;
                let unit = unit.filter(|unit| *unit != Unit::ONE).map(|unit| unit.to_string());
                Some((format!("margin of {}", check.name), unit, Some(margin)))
            };
            checks.filter_map(margin).collect()
        });
        let figures = gather(outcome, &|ran| {
            let all = ran.figures.iter().cloned();
            all.map(|figure| (figure.name, figure.unit, figure.value)).collect()
        });
        let reason = text(&|end, _| end.reason());
        let reason = Column { name: "reason".to_owned(), unit: None, entries: reason };
        Self { axes, runs, metrics, margins, figures, reason }
    }

    /// Writes it as comma-separated values with a header.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, out: impl Write) -> std::io::Result<()> {
        let parts = [&self.axes, &self.runs, &self.metrics, &self.margins, &self.figures];
        let columns: Vec<&Column> = parts.into_iter().flatten().chain([&self.reason]).collect();
        let mut out = csv::Writer::from_writer(out);
        let heading = |column: &&Column| written_text(&column.heading()).into_owned();
        out.write_record(columns.iter().map(heading))?;
        for row in 0..self.reason.entries.len() {
            out.write_record(columns.iter().map(|column| match &column.entries[row] {
                Entry::Text(text) => written_text(text).into_owned(),
                Entry::Number(number) => number.to_string(),
                Entry::Missing => String::new(),
            }))?;
        }
        out.flush()?;
        Ok(())
    }
}

fn ran(end: &End) -> Option<&Ran> {
    match end {
        End::Ran(ran) => Some(ran),
        End::Wrong(_) | End::Unwritten(_) | End::NotRun => None,
    }
}

fn entry(number: Option<f64>) -> Entry {
    number.map_or(Entry::Missing, Entry::Number)
}

type Named = (String, Option<String>, Option<f64>);

/// A column for every name that some run has a number for, in the order of their first runs.
fn gather(outcome: &Sweep, of: &dyn Fn(&Ran) -> Vec<Named>) -> Vec<Column> {
    let count = outcome.ends.len();
    let mut columns: Vec<Column> = Vec::new();
    for (row, end) in outcome.ends.iter().enumerate() {
        for (name, unit, value) in ran(end).map(of).unwrap_or_default() {
            let is_it = |column: &Column| column.name == name && column.unit == unit;
            let at = columns.iter().position(is_it).unwrap_or_else(|| {
                columns.push(Column { name, unit, entries: vec![Entry::Missing; count] });
                columns.len() - 1
            });
            columns[at].entries[row] = entry(value);
        }
    }
    columns
}

/// The values of an axis: numbers with the unit that all of them have, or else texts.
fn axis_column(name: &str, values: &[&str]) -> Column {
    let numbers: Option<Vec<(f64, &str)>> = values.iter().map(|value| quantity(value)).collect();
    let unit = numbers.as_ref().and_then(|numbers| numbers.first()).map(|(_, unit)| *unit);
    let (unit, entries) = match (numbers, unit) {
        (Some(numbers), Some(unit)) if numbers.iter().all(|(_, other)| *other == unit) => {
            let entries = numbers.iter().map(|(number, _)| Entry::Number(*number)).collect();
            ((!unit.is_empty()).then(|| unit.to_owned()), entries)
        }
        _ => (None, values.iter().map(|value| Entry::Text((*value).to_owned())).collect()),
    };
    Column { name: name.to_owned(), unit, entries }
}

/// `60 N*m/rad` as a finite number and its unit, which may be none.
pub(super) fn quantity(text: &str) -> Option<(f64, &str)> {
    let (number, unit) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let number: f64 = number.parse().ok().filter(|number: &f64| number.is_finite())?;
    let unit = unit.trim();
    (unit.is_empty() || parse_unit(unit).is_ok()).then_some((number, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_of_numbers_if_all_have_one_unit() {
        let column = axis_column("kp", &["60 N*m/rad", "8e1 N*m/rad"]);
        assert_eq!(column.heading(), "kp [N*m/rad]");
        assert_eq!(column.entries, [Entry::Number(60.0), Entry::Number(80.0)]);
        let plain = axis_column("mu", &["0.1", "1"]);
        assert_eq!((plain.heading().as_str(), &plain.entries[1]), ("mu", &Entry::Number(1.0)));
        for values in [["1 m", "1 cm"], ["1 m", "1"], ["1", "pgs"], ["1", "inf"], ["1", "1 zork"]] {
            let column = axis_column("a", &values);
            assert_eq!(column.heading(), "a");
            assert_eq!(column.entries[0], Entry::Text(values[0].to_owned()));
        }
    }
}
