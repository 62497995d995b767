//! Comma-separated values, read strictly: rows that do not fit the header are errors.

mod column;
mod format;
mod units;

use std::borrow::Cow;

pub use column::{Column, ColumnName, Found, Reading};
pub use format::kind_of_file;
pub use units::ColumnUnit;

/// What is wrong with a table, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct TableError {
    /// The line, from 1.
    pub line: u64,
    /// The cell of the line, from 1, if it is one.
    pub column: Option<usize>,
    /// What was expected and what was found.
    pub message: String,
}

impl std::fmt::Display for TableError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.column {
            Some(column) => write!(f, "line {}, column {column}: {}", self.line, self.message),
            None => write!(f, "line {}: {}", self.line, self.message),
        }
    }
}

/// The records of a text of values separated by commas, semicolons or tabs, with their lines. The
/// separator is the one that gives the first two lines equal numbers of cells. Lines that start
/// with `#`, blank lines and blanks around cells are skipped. A line ends with `\n`, `\r\n` or
/// `\r`.
pub struct Records<'b> {
    bytes: &'b [u8],
    reader: ::csv::Reader<&'b [u8]>,
    separator: u8,
    /// A place, and its line from 1.
    counted: (usize, u64),
    /// True if numbers have decimal commas; `None` before the first decimal number.
    decimal_comma: Option<bool>,
}

/// Cells, and the line of the first, from 1.
pub struct Record {
    /// The line.
    pub line: u64,
    /// The cells.
    pub cells: ::csv::StringRecord,
}

impl<'b> Records<'b> {
    /// Begins to read.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self::separated(bytes, format::separator(bytes))
    }

    fn separated(bytes: &'b [u8], separator: u8) -> Self {
        let reader = ::csv::ReaderBuilder::new()
            .delimiter(separator)
            .comment(Some(b'#'))
            .trim(::csv::Trim::All)
            .flexible(true)
            .has_headers(false)
            .from_reader(bytes);
        Self { bytes, reader, separator, counted: (0, 1), decimal_comma: None }
    }

    /// The next record. The reader takes a comment that ends the file without a line break for an
    /// empty cell, and does not know all behind `\r\n`.
    ///
    /// # Errors
    /// If the file is not a text, or a cell is not UTF-8.
    pub fn next_record(&mut self) -> Result<Option<Record>, TableError> {
        let mut cells = ::csv::StringRecord::new();
        loop {
            let from = self.place();
            if from == 0
                && let Some(kind) = kind_of_file(self.bytes)
            {
                let message = format!("expected a text of comma-separated values, found {kind}");
                return Err(TableError { line: 1, column: None, message });
            }
            match self.reader.read_record(&mut cells) {
                Ok(false) => return Ok(None),
                Ok(true) => {}
                Err(error) => return Err(not_text(&error, self.line_behind(from))),
            }
            let first = cells.get(0).unwrap_or_default();
            if from == 0 && first.starts_with("sep=") {
                continue;
            }
            if !first.starts_with('#') && (cells.len() > 1 || !first.is_empty()) {
                return Ok(Some(Record { line: self.line_behind(from), cells }));
            }
        }
    }

    /// The number of a cell. Commas are decimal points in tables with another separator.
    ///
    /// # Errors
    /// A message if it is not a number, or has a decimal comma after a number with a point.
    pub fn number(&mut self, cell: &str) -> Result<f64, &'static str> {
        self.number_in(cell, None)
    }

    fn number_in(&mut self, cell: &str, unit: Option<&ColumnUnit>) -> Result<f64, &'static str> {
        let has_comma = self.separator != b',' && cell.contains(',');
        if (has_comma || cell.contains('.'))
            && *self.decimal_comma.get_or_insert(has_comma) != has_comma
        {
            return Err(if has_comma {
                "expected decimal points as in the numbers before, found a comma"
            } else {
                "expected decimal commas as in the numbers before, found a point"
            });
        }
        let with_point = if has_comma { cell.replace(',', ".").into() } else { Cow::from(cell) };
        let value = match unit {
            Some(unit) => unit.value(&with_point),
            None => with_point.parse().ok(),
        };
        value.ok_or("expected a number")
    }

    /// A warning if the file ends without a line break, so that its last number may be cut off.
    pub fn open_end(&self) -> Option<String> {
        let is_open = !self.bytes.ends_with(b"\n") && !self.bytes.ends_with(b"\r");
        (is_open && !self.bytes.is_empty()).then(|| {
            "the last line has no line break; if the file was cut off, its last number may be too"
                .to_owned()
        })
    }

    /// Bytes that were read.
    fn place(&self) -> usize {
        usize::try_from(self.reader.position().byte()).unwrap_or(usize::MAX).min(self.bytes.len())
    }

    /// The line of what was read from a place on, which begins behind blank lines and comments. The
    /// line of the reader is that of the place, and it stops between `\r` and `\n`.
    fn line_behind(&mut self, place: usize) -> u64 {
        let mut at = place;
        while let Some(byte) = self.bytes.get(at) {
            at += match byte {
                b'\n' | b'\r' => 1,
                b'#' => {
                    let rest = &self.bytes[at..];
                    rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
                }
                _ => break,
            };
        }
        let (from, line) = self.counted;
        let is_end = |at: &usize| match self.bytes[*at] {
            b'\r' => self.bytes.get(at + 1) != Some(&b'\n'),
            byte => byte == b'\n',
        };
        self.counted = (from.max(at), line + (from..at).filter(is_end).count() as u64);
        self.counted.1
    }
}

/// The rows of a table under a header, which are [`Records`].
pub struct Table<'b> {
    records: Records<'b>,
    header: Vec<String>,
    columns: Vec<Column>,
    /// True if the next row is the first.
    at_first_row: bool,
}

/// A row and its place.
pub struct TableRow {
    /// The line, from 1.
    pub line: u64,
    /// As many cells as the header has.
    pub cells: ::csv::StringRecord,
    /// Whether the file ends in the last cell, without a line break: a number there may have been
    /// longer.
    pub is_open: bool,
}

impl<'b> Table<'b> {
    /// Reads the header.
    ///
    /// # Errors
    /// If the file is not a text, two columns have the same name, all names are numbers, or a cell
    /// is not UTF-8.
    pub fn new(bytes: &'b [u8]) -> Result<Self, TableError> {
        let mut records = Records::new(bytes);
        let (line, header) = match records.next_record()? {
            Some(Record { line, cells }) => (line, cells),
            None => (1, ::csv::StringRecord::new()),
        };
        let header: Vec<String> = header.iter().map(|name| read_name(name).to_owned()).collect();
        let is_twice = |at: &usize| !header[*at].is_empty() && header[..*at].contains(&header[*at]);
        if let Some(at) = (0..header.len()).find(is_twice) {
            let first = header.iter().position(|name| *name == header[at]).unwrap_or(0) + 1;
            let message =
                format!("expected a column of each name, found that of column {first} again");
            return Err(TableError { line, column: Some(at + 1), message });
        }
        if header.len() > 1 && header.iter().all(|name| format::is_number(name)) {
            let after =
                if line > 1 { "; names in a comment are not read: remove its `#`" } else { "" };
            let message = format!("expected the names of the columns, found numbers{after}");
            return Err(TableError { line, column: None, message });
        }
        let columns = header.iter().map(|name| Column::parse(name)).collect();
        Ok(Self { records, header, columns, at_first_row: true })
    }

    /// Names of the columns with their units, as written.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Finds a column by the whole cell, or by the name without its unit; for `t`, the only column
    /// called `time` or `timestamp`.
    pub fn find(&self, name: &str) -> Found {
        column::find(&self.columns, name)
    }

    /// Names of the columns for messages. Empty for a file that may be anything: without a second
    /// column, or without a number in its first row.
    pub fn known_names(&self) -> Vec<String> {
        let mut own = Records::separated(self.records.bytes, self.records.separator);
        let mut next = || own.next_record().ok().flatten();
        let rows = [next(), next()];
        let is_table = match &rows {
            [Some(header), Some(first)] => {
                header.cells.len() > 1
                    && first.fits(header.cells.len()).is_ok()
                    && first.cells.iter().any(|cell| own.number(cell).is_ok())
            }
            _ => false,
        };
        if is_table { self.header.clone() } else { Vec::new() }
    }

    /// Hint if the header has only one column, as with another separator.
    pub fn separator_hint(&self) -> Option<&'static str> {
        (self.header.len() == 1).then_some(
            "the header has one column; columns are separated by commas, semicolons or tabs",
        )
    }

    /// The next row.
    ///
    /// # Errors
    /// If it has more or fewer cells than the header, or one that is not UTF-8, or if the first
    /// row holds units.
    pub fn next_row(&mut self) -> Result<Option<TableRow>, TableError> {
        let Some(record) = self.records.next_record()? else { return Ok(None) };
        record.fits(self.header.len())?;
        let Record { line, cells } = record;
        if std::mem::take(&mut self.at_first_row) && format::is_row_of_units(&cells) {
            let message = "expected numbers, found units; units are in the header, as in `t [s]`";
            return Err(TableError { line, column: None, message: message.to_owned() });
        }
        let bytes = self.records.bytes;
        let is_last = self.records.place() == bytes.len();
        let is_open = is_last && !bytes.ends_with(b"\n") && !bytes.ends_with(b"\r");
        Ok(Some(TableRow { line, cells, is_open }))
    }

    /// The number of a cell in SI base units.
    ///
    /// # Errors
    /// A message, as for [`Records::number`].
    pub fn number(&mut self, cell: &str, unit: Option<&ColumnUnit>) -> Result<f64, &'static str> {
        self.records.number_in(cell, unit)
    }
}

impl Record {
    /// Refuses a record of more or fewer cells than the header.
    ///
    /// # Errors
    /// If it is one.
    pub fn fits(&self, expected: usize) -> Result<(), TableError> {
        let found = self.cells.len();
        if found == expected {
            return Ok(());
        }
        let message = format!("expected {expected} cells as in the header, found {found}");
        Err(TableError { line: self.line, column: Some(found.min(expected) + 1), message })
    }
}

impl TableRow {
    /// A warning if the file ends in the last cell, and that cell is read.
    pub fn open_end(&self) -> Option<String> {
        self.is_open.then(|| {
            format!(
                "line {}, column {}: the file ends in this cell without a line break; if it was \
                 cut off, the number may be too",
                self.line,
                self.cells.len()
            )
        })
    }
}

fn not_text(error: &::csv::Error, line: u64) -> TableError {
    match error.kind() {
        ::csv::ErrorKind::Utf8 { err, .. } => {
            let message =
                "expected a text in UTF-8, found other bytes; save the file as UTF-8".to_owned();
            TableError { line, column: Some(err.field() + 1), message }
        }
        _ => TableError { line, column: None, message: error.to_string() },
    }
}

/// A text as a cell of a table that spreadsheets do not take for a formula: `'` in front.
pub fn written_text(text: &str) -> Cow<'_, str> {
    if text.starts_with(FORMULA) { format!("'{text}").into() } else { text.into() }
}

/// The name of a column as it was before [`written_text`].
fn read_name(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|name| name.starts_with(FORMULA)).unwrap_or(cell)
}

/// How spreadsheets know formulas.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

#[cfg(test)]
#[path = "tests.rs"]
mod spellings;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

    use super::*;

    fn wrong(text: &str) -> String {
        let read = || -> Result<(), TableError> {
            let mut table = Table::new(text.as_bytes())?;
            while let Some(row) = table.next_row()? {
                if let Some(warning) = row.open_end() {
                    return Err(TableError { line: 0, column: None, message: warning });
                }
            }
            Ok(())
        };
        read().err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn rows_that_do_not_fit_are_told_with_line_and_column() {
        assert_eq!(wrong("t,a\n0,1\n1,2\n"), "");
        assert_eq!(wrong("# c\r\n# d\r\nt, a\r\n0,1\r\n\r\n# a, b\r\n1,2\r\n# end"), "");
        let cells = "expected 2 cells as in the header, found";
        assert_eq!(wrong("t,a\n0,1\n1\n"), format!("line 3, column 2: {cells} 1"));
        assert_eq!(wrong("t,a\n0,1,2\n"), format!("line 2, column 3: {cells} 3"));
        let twice = "expected a column of each name, found that of column 2 again";
        assert_eq!(wrong("t,a,b,a\n"), format!("line 1, column 4: {twice}"));
    }

    #[test]
    fn lines_are_those_of_the_file_however_they_end() {
        for end in ["\n", "\r\n", "\r"] {
            let rows = (0..10).map(|k| format!("{k},0{end}")).collect::<String>();
            let wrong_at_12 = wrong(&format!("t,a{end}{rows}10{end}"));
            assert!(wrong_at_12.starts_with("line 12, column 2: "), "{end:?}: {wrong_at_12}");
        }
        for end in ["\n", "\r\n"] {
            let table =
                format!("# c{end}{end}t,a{end}# d{end}{end}0,\"1{end}2\"{end}# e{end}3{end}");
            assert!(wrong(&table).starts_with("line 9, column 2: "), "{end:?}: {}", wrong(&table));
        }
        let mut bytes = b"t,a\r\n0,1\r\n# c\r\n1,".to_vec();
        bytes.extend([0xff, b'\r', b'\n']);
        let mut table = Table::new(&bytes).unwrap();
        assert!(table.next_row().is_ok());
        let error = table.next_row().err().unwrap();
        assert_eq!((error.line, error.column), (4, Some(2)));
    }

    #[test]
    fn names_are_known_of_tables_alone() {
        for (text, expected) in [
            ("t,a\n0,1\n", &["t", "a"][..]),
            ("t,a,b\nx,1,\n", &["t", "a", "b"]),
            ("KEY=abc\nOTHER=1\n", &[]),
            ("password: hunter2\n1\n", &[]),
            ("a,b\nc,d\n", &[]),
            ("a,b\n1\n", &[]),
            ("a,b\n", &[]),
            ("", &[]),
        ] {
            assert_eq!(Table::new(text.as_bytes()).unwrap().known_names(), expected, "{text}");
        }
    }

    #[test]
    fn a_last_cell_without_a_line_break_may_have_been_longer() {
        let whole = "t,a\n0,1\n1,23.5\n";
        for end in whole.len() - 5..whole.len() {
            let warning = wrong(&whole[..end]);
            assert!(warning.starts_with("line 0: line 3, column 2: "), "{}", &whole[..end]);
        }
        assert_eq!(wrong(whole), "");
        // Line breaks behind the cut are no part of it.
        assert_eq!(wrong("t,a\n0,\"1\"\n\n"), "");
    }

    #[test]
    fn names_are_no_formulas_and_come_back() {
        for name in ["=1+1", "@a.y", "-a", "+a", "'a", "a"] {
            let written = written_text(name);
            assert!(!written.starts_with(FORMULA), "{written}");
            assert_eq!(read_name(&written), name);
        }
    }
}
