//! The columns of a table over its first one.

use std::collections::BTreeSet;
use std::ops::Range;

use legwork_runtime::recording::{Column, Records, TableError};

use super::chart::{Chart, Series};
use super::{Error, Look};

/// A table of numbers under a header, with units as in `time [us]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    header: Vec<String>,
    /// Cells by row. An empty one is no number, nor is a word.
    rows: Vec<Vec<f64>>,
    /// The cells as they are written, by row.
    texts: Vec<Vec<String>>,
    /// By column, its first word with its line.
    words: Vec<Option<(u64, String)>>,
    /// A warning if the last number may be cut off.
    warning: Option<String>,
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
    /// Reads values separated by commas, semicolons or tabs: a header, then rows. Lines that begin
    /// with `#` are comments. With other separators a comma is a decimal point.
    ///
    /// # Errors
    /// If the text is not such a table, or it has only one column.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let fail = |error: TableError| Error::Table(error.to_string());
        let mut records = Records::new(text);
        let header = records.next_record().map_err(fail)?.map(|record| record.cells);
        let header: Vec<String> = header.iter().flatten().map(str::to_owned).collect();
        if header.len() < 2 {
            let found = header.len();
            let message = format!(
                "expected a table of at least 2 columns, separated by commas, semicolons or tabs, \
                 found {found}"
            );
            return Err(Error::Table(message));
        }
        let (mut rows, mut texts) = (Vec::new(), Vec::new());
        let mut words = vec![None; header.len()];
        while let Some(record) = records.next_record().map_err(fail)? {
            record.fits(header.len()).map_err(fail)?;
            let mut row = Vec::with_capacity(header.len());
            for (cell, word) in record.cells.iter().zip(&mut words) {
                let number = records.number(cell);
                row.push(number.unwrap_or(f64::NAN));
                if word.is_none() && !cell.is_empty() && number.is_err() {
                    *word = Some((record.line, cell.to_owned()));
                }
            }
            rows.push(row);
            texts.push(record.cells.iter().map(str::to_owned).collect());
        }
        let warning = records.open_end();
        Ok(Self { header, rows, texts, words, warning })
    }

    /// A warning if the file ends without a line break, so that a number may be cut off.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// How many of the first columns are the axes of a grid: of two or more columns the rows hold
    /// every combination of their values exactly once, as a sweep's do. 1 if there is no grid.
    fn axis_count(&self) -> usize {
        let values = |column: usize| -> BTreeSet<&str> {
            self.texts.iter().map(|row| row[column].as_str()).collect()
        };
        let mut cells = values(0).len();
        if cells == self.texts.len() {
            return 1;
        }
        for count in 2..=self.header.len() {
            cells = cells.saturating_mul(values(count - 1).len());
            if cells >= self.texts.len() {
                let rows: BTreeSet<&[String]> =
                    self.texts.iter().map(|row| &row[..count]).collect();
                let is_grid = cells == self.texts.len() && rows.len() == cells;
                return if is_grid { count } else { 1 };
            }
        }
        1
    }

    /// Rows with equal values on the axes behind the first, in the order in which they appear, and
    /// what to call them: `mu=0.4`.
    fn groups(&self, axes: Range<usize>) -> Vec<(String, Vec<usize>)> {
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        for (index, row) in self.texts.iter().enumerate() {
            let value = |column: usize| {
                let (name, unit) = name_and_unit(&self.header[column]);
                format!("{name}={} {unit}", row[column]).trim_end().to_owned()
            };
            let name = axes.clone().map(value).collect::<Vec<_>>().join(", ");
            match groups.iter_mut().find(|(known, _)| *known == name) {
                Some((_, rows)) => rows.push(index),
                None => groups.push((name, vec![index])),
            }
        }
        groups
    }

    /// Number of rows below the header.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }
}

/// Draws columns of a table over its first one: those of these names, with or without their unit,
/// or all that have numbers. Where the first columns are the axes of a grid, as in the table of a
/// sweep over two parameters, each combination of values of the others is a curve of its own.
///
/// # Errors
/// If there is no column of a name, a column holds a word, or the plot does not fit its size.
pub fn table(table: &Table, names: &[String], look: &Look) -> Result<TablePlot, Error> {
    let Table { header, rows, words, .. } = table;
    let axes = table.axis_count();
    let columns = match names.is_empty() {
        false => chosen(header, names)?,
        true => numeric(rows, words).into_iter().filter(|column| *column >= axes).collect(),
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
    let chart = Chart {
        title: look.title.clone().unwrap_or_default(),
        x: header[0].clone(),
        y: look.label.clone().unwrap_or_else(|| common_unit(header, &columns)),
        log_x: look.log_x,
        log_y: look.log_y,
        size: look.size,
        series: series(table, 1..axes, &columns),
    };
    let svg = chart.svg()?;
    Ok(TablePlot { svg, series: chart.series.into_iter().map(|series| series.name).collect() })
}

/// A curve for each column and group of rows.
fn series(table: &Table, axes: Range<usize>, columns: &[usize]) -> Vec<Series> {
    let groups = table.groups(axes);
    let mut series = Vec::new();
    for (c, &column) in columns.iter().enumerate() {
        for (g, (group, rows)) in groups.iter().enumerate() {
            let own = &name_and_unit(&table.header[column]).0;
            let name = match (group.is_empty(), columns.len()) {
                (true, _) => own.to_owned(),
                (false, 1) => group.clone(),
                (false, _) => format!("{own}, {group}"),
            };
            let points = rows.iter().map(|&row| (table.rows[row][0], table.rows[row][column]));
            // Without groups a colour a column; with them a colour a group and dashes by column.
            let (colour, dash) = if groups.len() == 1 { (c, c) } else { (g, c) };
            series.push(Series { name, colour, dash, points: points.collect() });
        }
    }
    series
}

/// What is drawn if no column is named: all columns behind the first, but for those of words alone.
fn numeric(rows: &[Vec<f64>], words: &[Option<(u64, String)>]) -> Vec<usize> {
    let has_number = |column: usize| rows.iter().any(|row| !row[column].is_nan());
    (1..words.len()).filter(|&column| words[column].is_none() || has_number(column)).collect()
}

/// Indices of the columns named, by their header or its name without the unit.
fn chosen(header: &[String], names: &[String]) -> Result<Vec<usize>, Error> {
    let find = |name: &String| {
        let is_it = |cell: &String| cell == name || name_and_unit(cell).0 == *name;
        header.iter().position(is_it).ok_or_else(|| {
            let known: Vec<String> = header.iter().map(|cell| name_and_unit(cell).0).collect();
            let advice = match legwork_block::nearest(name, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are `{}`", known.join("`, `")),
            };
            Error::UnknownColumn { name: name.clone(), advice }
        })
    };
    names.iter().map(find).collect()
}

/// `time [us]` is `time` in `us`.
fn name_and_unit(cell: &str) -> (String, String) {
    let column = Column::parse(cell);
    let unit = column.unit_text().unwrap_or_default().to_owned();
    (column.name, unit)
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
        for (cell, name, unit) in [
            ("cold [us]", "cold", "us"),
            ("cold (us)", "cold", "us"),
            ("a[0]", "a[0]", ""),
            ("x.y[2]:min [m]", "x.y[2]:min", "m"),
            ("plain", "plain", ""),
        ] {
            assert_eq!(name_and_unit(cell), (name.to_owned(), unit.to_owned()));
        }
        let header = ["n", "cold [us]", "warm [us]", "share"].map(str::to_owned);
        assert_eq!(common_unit(&header, &[1, 2]), "[us]");
        assert_eq!(common_unit(&header, &[1, 3]), "");
        assert_eq!(common_unit(&header, &[2]), "warm [us]");
        assert_eq!(chosen(&header, &["warm".to_owned()]).ok(), Some(vec![2]));
        let failure = chosen(&header, &["wram".to_owned()]).err().map(|error| error.to_string());
        assert_eq!(failure.as_deref(), Some("no column `wram`; did you mean `warm`?"));
    }

    fn table_of(text: &str) -> Table {
        Table::parse(text.as_bytes()).expect("a table")
    }

    #[test]
    fn semicolons_separate_and_a_missing_line_break_is_a_warning() {
        let table = table_of("t;a\n0;1,5\n1;2,5");
        assert_eq!(table.rows, [[0.0, 1.5], [1.0, 2.5]]);
        assert!(table.warning().is_some_and(|text| text.contains("no line break")));
        assert_eq!(table_of("t,a\n0,1\n").warning(), None);
    }

    #[test]
    fn lines_are_told_as_they_are_in_the_file() {
        for end in ["\n", "\r\n"] {
            let rows = (0..10).map(|k| format!("{k},0{end}")).collect::<String>();
            let short = Table::parse(format!("t,a{end}{rows}# c{end}10{end}").as_bytes());
            let short = short.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(short.contains("line 13, column 2: expected 2 cells"), "{end:?}: {short}");
            let word = Table::parse(format!("t,a{end}{rows}10,fast{end}").as_bytes());
            let word = table(&word.expect("a table"), &["a".to_owned()], &Look::default());
            let word = word.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(word.contains("line 12"), "{end:?}: {word}");
        }
    }

    #[test]
    fn a_grid_is_drawn_with_a_curve_for_each_value_of_its_other_axes() {
        let sweep = "kp [N],mu,status,x [m],y [m]\n\
                     1,0.2,ok,1,5\n1,0.4,ok,2,6\n2,0.2,ok,3,7\n2,0.4,ok,4,8\n\
                     3,0.2,ok,5,9\n3,0.4,ok,6,10\n";
        let sweep = table_of(sweep);
        assert_eq!(sweep.axis_count(), 2);
        let points = |series: &Series| series.points.clone();
        let both = series(&sweep, 1..2, &[3]);
        assert_eq!(
            both.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
            ["mu=0.2", "mu=0.4"]
        );
        assert_eq!(points(&both[0]), [(1.0, 1.0), (2.0, 3.0), (3.0, 5.0)]);
        assert_eq!(points(&both[1]), [(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]);
        let all = table(&sweep, &[], &Look::default()).expect("a plot");
        assert_eq!(all.series, ["x, mu=0.2", "x, mu=0.4", "y, mu=0.2", "y, mu=0.4"]);
        // The unit goes with the value; words are values too.
        for (text, curves) in [
            ("n,step [ms],t\n1,1,3\n1,2,4\n2,1,5\n2,2,6\n", ["step=1 ms", "step=2 ms"]),
            ("n,solver,t\n1,a,3\n1,b,4\n2,a,5\n2,b,6\n", ["solver=a", "solver=b"]),
        ] {
            let drawn = table(&table_of(text), &["t".to_owned()], &Look::default());
            assert_eq!(drawn.expect("a plot").series, curves);
        }
    }

    #[test]
    fn measurements_are_no_grid() {
        for text in [
            "n,cold,warm\n1,2,1\n10,20,3\n",
            // The first column repeats, but the second has values of its own.
            "t,x\n0,1\n0,2\n1,3\n",
            // A row is missing, or is there twice.
            "a,b,x\n1,1,5\n1,2,6\n2,1,7\n",
            "a,b,x\n1,1,5\n1,2,6\n2,1,7\n2,1,8\n",
        ] {
            assert_eq!(table_of(text).axis_count(), 1, "{text}");
        }
    }
}
