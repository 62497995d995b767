//! Comma-separated values.

use std::fmt::Write as _;
use std::io::{Result, Write};

use legwork_runtime::catalog::Numbers;
use legwork_runtime::recording::{ColumnName, Kind, written_text};

use super::Export;

/// Writes a header and a line an instant.
///
/// The first column is the simulated time `t` [s]. The others are named by path, label and unit, as
/// in `body.state.base.position[2] (z) [m]`; a name that spreadsheets take for a formula has `'` in front.
/// Where a signal has no row its cells stay empty. Real numbers have as many digits as it takes to
/// read the same double back; whole numbers and truth values (0, 1) are written as integers.
pub(super) fn write(export: &Export<'_>, out: &mut dyn Write) -> Result<()> {
    let mut table = ::csv::Writer::from_writer(out);
    table.write_field(ColumnName { name: "t", label: None, unit: Some("s") }.to_string())?;
    for numbers in &export.numbers {
        for (i, name) in numbers.elements.iter().enumerate() {
            let label = numbers.labels.get(i).map(String::as_str);
            let name = ColumnName { name, label, unit: numbers.unit.as_deref() }.to_string();
            table.write_field(written_text(&name).as_ref())?;
        }
    }
    table.write_record(None::<&[u8]>)?;

    let kinds: Vec<(&Numbers, Vec<Kind>)> =
        export.numbers.iter().map(|numbers| (numbers, export.kinds(numbers))).collect();
    // By channel, its row at the instant.
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); export.series.len()];
    let mut text = String::new();
    for (instant, t) in export.times.iter().enumerate() {
        for ((values, rows), series) in values.iter_mut().zip(&export.rows).zip(&export.series) {
            match rows.get(instant).copied().flatten() {
                Some(row) => series.values_into(row, values),
                None => values.clear(),
            }
        }
        write_value(&mut table, &mut text, Kind::Real, Some(t))?;
        for (numbers, kinds) in &kinds {
            let values = &values[numbers.channel];
            for (kind, &column) in kinds.iter().zip(&numbers.columns) {
                write_value(&mut table, &mut text, *kind, values.get(column))?;
            }
        }
        table.write_record(None::<&[u8]>)?;
    }
    table.flush()
}

fn write_value<W: Write>(
    table: &mut ::csv::Writer<W>,
    text: &mut String,
    kind: Kind,
    value: Option<&f64>,
) -> Result<()> {
    text.clear();
    if let Some(value) = value {
        // Writing to a string cannot fail.
        let _ = match kind {
            Kind::Real => write!(text, "{value:?}"),
            Kind::Int | Kind::Bool => write!(text, "{}", *value as i64),
        };
    }
    Ok(table.write_field(&text)?)
}
