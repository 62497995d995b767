//! The columns of a table over its first one.

use super::chart::{Chart, Series};
use super::{Error, Look};

/// A table of numbers under a header, with units as in `time [us]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    header: Vec<String>,
    /// Cells by row. An empty one is no number, nor is a word.
    rows: Vec<Vec<f64>>,
    /// By column, its first word with its line.
    words: Vec<Option<(u64, String)>>,
}

/// A plot of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TablePlot {
    /// The picture.
    pub svg: String,
    /// Names of the curves.
    pub series: Vec<String>,
}

impl Table {
    /// Reads comma-separated values: a header, then rows. Lines that begin with `#` are comments.
    ///
    /// # Errors
    /// If the text is not such a table, or it has only one column.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let fail = |error: csv::Error| Error::Table(error.to_string());
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text);
        let header: Vec<String> =
            reader.headers().map_err(fail)?.iter().map(|cell| cell.trim().to_owned()).collect();
        if header.len() < 2 {
            let found = header.len();
            let message = format!("expected a table of at least 2 columns, found {found}");
            return Err(Error::Table(message));
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
        Ok(Self { header, rows, words })
    }

    /// Number of rows below the header.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }
}

/// Draws columns of a table over its first one: those of these names, with or without their unit,
/// or all that have numbers.
///
/// # Errors
/// If there is no column of a name, a column holds a word, or the plot does not fit its size.
pub fn table(table: &Table, names: &[String], look: &Look) -> Result<TablePlot, Error> {
    let Table { header, rows, words } = table;
    let columns = match names.is_empty() {
        false => chosen(header, names)?,
        true => numeric(rows, words),
    };
    for &column in columns.iter().chain([&0]) {
        if let Some((line, word)) = &words[column] {
            let (column, found) = (header[column].clone(), word.clone());
            return Err(Error::NotANumber { line: *line, column, found });
        }
    }
    if columns.is_empty() {
        return Err(Error::NoNumbers);
    }
    let series: Vec<Series> = columns
        .iter()
        .map(|&column| Series {
            name: name_and_unit(&header[column]).0.to_owned(),
            points: rows.iter().map(|row| (row[0], row[column])).collect(),
        })
        .collect();
    let chart = Chart {
        title: look.title.clone().unwrap_or_default(),
        x: header[0].clone(),
        y: look.label.clone().unwrap_or_else(|| common_unit(header, &columns)),
        log_x: look.log_x,
        log_y: look.log_y,
        size: look.size,
        series,
    };
    let svg = chart.svg()?;
    Ok(TablePlot { svg, series: chart.series.into_iter().map(|series| series.name).collect() })
}

/// What is drawn if nobody chooses: all columns behind the first, but for those of words alone.
fn numeric(rows: &[Vec<f64>], words: &[Option<(u64, String)>]) -> Vec<usize> {
    let has_number = |column: usize| rows.iter().any(|row| !row[column].is_nan());
    (1..words.len()).filter(|&column| words[column].is_none() || has_number(column)).collect()
}

/// Indices of the columns named, by their header or its name without the unit.
fn chosen(header: &[String], names: &[String]) -> Result<Vec<usize>, Error> {
    let find = |name: &String| {
        let is_it = |cell: &String| cell == name || name_and_unit(cell).0 == name;
        header.iter().position(is_it).ok_or_else(|| {
            let known: Vec<&str> = header.iter().map(|cell| name_and_unit(cell).0).collect();
            let advice = match legwork_block::nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are `{}`", known.join("`, `")),
            };
            Error::UnknownColumn { name: name.clone(), advice }
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
        let failure = chosen(&header, &["wram".to_owned()]).err().map(|error| error.to_string());
        assert_eq!(failure.as_deref(), Some("no column `wram`; did you mean `warm`?"));
    }
}
