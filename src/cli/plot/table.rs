//! The columns of a table over its first one.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::answer::Failure;
use super::super::arguments::{Logarithmic, PlotArguments};
use super::chart::{Chart, Series};

/// The chart of a table of comma-separated values, and what `--json` says of it.
///
/// # Errors
/// If the table cannot be read or is none.
pub(super) fn plot(
    table: &Path,
    names: &[PathBuf],
    arguments: &PlotArguments,
) -> Result<(String, Value), Failure> {
    let Cells { header, rows, words } = read(table)?;
    let names: Vec<String> = names.iter().map(|name| name.display().to_string()).collect();
    let columns = match names.is_empty() {
        false => chosen(&header, &names)?,
        true => numeric(&rows, &words),
    };
    for &column in columns.iter().chain([&0]) {
        if let Some((line, word)) = &words[column] {
            return Err(Failure::usage(format!(
                "{}:{line}: expected a number in the column `{}`, found `{word}`",
                table.display(),
                header[column]
            )));
        }
    }
    if columns.is_empty() {
        let message = format!("no column of `{}` but its first has numbers", table.display());
        return Err(Failure::usage(message));
    }
    let series: Vec<Series> = columns
        .iter()
        .map(|&column| Series {
            name: name_and_unit(&header[column]).0.to_owned(),
            points: rows.iter().map(|row| (row[0], row[column])).collect(),
        })
        .collect();
    let stem = table.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let chart = Chart {
        title: arguments.title.clone().or(stem).unwrap_or_default(),
        x: header[0].clone(),
        y: arguments.label.clone().unwrap_or_else(|| common_unit(&header, &columns)),
        log_x: arguments.log.contains(&Logarithmic::X),
        log_y: arguments.log.contains(&Logarithmic::Y),
        size: arguments.size,
        series,
    };
    let svg = chart.svg().map_err(Failure::usage)?;
    let output = arguments.output.display().to_string();
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    Ok((svg, json!({ "plot": output, "series": names, "rows": rows.len() })))
}

/// A table that has been read.
struct Cells {
    header: Vec<String>,
    /// Cells by row. An empty one is no number, nor is a word.
    rows: Vec<Vec<f64>>,
    /// By column, its first word with its line.
    words: Vec<Option<(u64, String)>>,
}

/// Header and cells.
fn read(path: &Path) -> Result<Cells, Failure> {
    let shown = path.display();
    let fail = |error: csv::Error| Failure::usage(format!("cannot read `{shown}`: {error}"));
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_path(path).map_err(fail)?;
    let header: Vec<String> =
        reader.headers().map_err(fail)?.iter().map(|cell| cell.trim().to_owned()).collect();
    if header.len() < 2 {
        let found = header.len();
        let message = format!("expected a table of at least 2 columns in `{shown}`, found {found}");
        return Err(Failure::usage(message));
    }
    let mut rows = Vec::new();
    let mut words = vec![None; header.len()];
    for record in reader.records() {
        let record = record.map_err(fail)?;
        let line = record.position().map_or(0, csv::Position::line);
        let mut row = Vec::with_capacity(header.len());
        for (cell, word) in record.iter().map(str::trim).zip(&mut words) {
            row.push(cell.parse().unwrap_or(f64::NAN));
            if word.is_none() && !cell.is_empty() && cell.parse::<f64>().is_err() {
                *word = Some((line, cell.to_owned()));
            }
        }
        rows.push(row);
    }
    Ok(Cells { header, rows, words })
}

/// What is drawn if nobody chooses: all columns behind the first, but for those of words alone.
fn numeric(rows: &[Vec<f64>], words: &[Option<(u64, String)>]) -> Vec<usize> {
    let has_number = |column: usize| rows.iter().any(|row| !row[column].is_nan());
    (1..words.len()).filter(|&column| words[column].is_none() || has_number(column)).collect()
}

/// Indices of the columns named, by their header or its name without the unit.
fn chosen(header: &[String], names: &[String]) -> Result<Vec<usize>, Failure> {
    let find = |name: &String| {
        let is_it = |cell: &String| cell == name || name_and_unit(cell).0 == name;
        header.iter().position(is_it).ok_or_else(|| {
            let known: Vec<&str> = header.iter().map(|cell| name_and_unit(cell).0).collect();
            let hint = match legwork_block::nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are `{}`", known.join("`, `")),
            };
            Failure::usage(format!("no column `{name}`; {hint}"))
        })
    };
    names.iter().map(find).collect()
}

/// `time [us]` is `time` in `us`.
fn name_and_unit(cell: &str) -> (&str, &str) {
    match cell.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        Some((name, unit)) => (name.trim(), unit.trim()),
        None => (cell, ""),
    }
}

/// The unit of the columns in brackets, if it is one; the name too if there is one column.
fn common_unit(header: &[String], columns: &[usize]) -> String {
    if let [column] = columns {
        return header[*column].clone();
    }
    let unit = |column: &usize| name_and_unit(&header[*column]).1;
    match columns.first().map(unit) {
        Some(first) if !first.is_empty() && columns.iter().all(|c| unit(c) == first) => {
            format!("[{first}]")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_names_and_units() {
        assert_eq!(name_and_unit("cold [us]"), ("cold", "us"));
        assert_eq!(name_and_unit("a[0]"), ("a", "0"));
        assert_eq!(name_and_unit("x.y[2]:min [m]"), ("x.y[2]:min", "m"));
        assert_eq!(name_and_unit("plain"), ("plain", ""));
        let header = ["n", "cold [us]", "warm [us]", "share"].map(str::to_owned);
        assert_eq!(common_unit(&header, &[1, 2]), "[us]");
        assert_eq!(common_unit(&header, &[1, 3]), "");
        assert_eq!(common_unit(&header, &[2]), "warm [us]");
        assert_eq!(chosen(&header, &["warm".to_owned()]).ok(), Some(vec![2]));
        let failure = chosen(&header, &["wram".to_owned()]).err().map(|f| f.message);
        assert_eq!(failure.as_deref(), Some("no column `wram`; did you mean `warm`?"));
    }
}
