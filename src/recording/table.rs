//! Comma-separated values, read strictly: a table that was cut off, or whose rows do not fit its
//! header, is told from a whole one.

use std::borrow::Cow;

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

/// The name of a column in parts, written `body.state.base.position[2] (z) [m]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnName<'t> {
    /// The name alone, such as a path.
    pub name: &'t str,
    /// What it is called besides, such as the name of a joint.
    pub label: Option<&'t str>,
    /// The unit.
    pub unit: Option<&'t str>,
}

impl<'t> ColumnName<'t> {
    /// The parts of a name; what stands in brackets at its end, behind a blank, is no part of it.
    pub fn parse(text: &'t str) -> Self {
        fn end<'t>(text: &'t str, open: &str, close: char) -> (&'t str, Option<&'t str>) {
            match text.strip_suffix(close).and_then(|rest| rest.rsplit_once(open)) {
                Some((rest, inside)) if !rest.trim().is_empty() => {
                    (rest.trim(), Some(inside.trim()).filter(|inside| !inside.is_empty()))
                }
                _ => (text, None),
            }
        }
        let (rest, unit) = end(text.trim(), " [", ']');
        let (name, label) = end(rest, " (", ')');
        Self { name, label, unit }
    }
}

impl std::fmt::Display for ColumnName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)?;
        if let Some(label) = self.label {
            write!(f, " ({label})")?;
        }
        match self.unit {
            Some(unit) => write!(f, " [{unit}]"),
            None => Ok(()),
        }
    }
}

/// The records of a text of comma-separated values, with their lines. Lines that start with `#` do
/// not count, nor do blank ones, and blanks around cells neither. A line ends with `\n`,
/// `\r\n` or `\r`.
pub struct Records<'b> {
    bytes: &'b [u8],
    reader: ::csv::Reader<&'b [u8]>,
    /// A place, and its line from 1.
    counted: (usize, u64),
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
        let reader = ::csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .trim(::csv::Trim::All)
            .flexible(true)
            .has_headers(false)
            .from_reader(bytes);
        Self { bytes, reader, counted: (0, 1) }
    }

    /// The next record. The reader takes a comment that ends the file without a line break for an
    /// empty cell, and does not know all behind `\r\n`.
    ///
    /// # Errors
    /// If a cell is not UTF-8.
    pub fn next_record(&mut self) -> Result<Option<Record>, TableError> {
        let mut cells = ::csv::StringRecord::new();
        loop {
            let from = self.place();
            match self.reader.read_record(&mut cells) {
                Ok(false) => return Ok(None),
                Ok(true) => {}
                Err(error) => return Err(not_text(&error, self.line_behind(from))),
            }
            let first = cells.get(0).unwrap_or_default();
            if !first.starts_with('#') && (cells.len() > 1 || !first.is_empty()) {
                return Ok(Some(Record { line: self.line_behind(from), cells }));
            }
        }
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
    /// If two columns have one name, or a cell is not UTF-8.
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
        Ok(Self { records, header })
    }

    /// Names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// Names of the columns that messages may show: none of what may be any other file, since it
    /// has no second column, or no number in its first row.
    pub fn known_names(&self) -> Vec<String> {
        let mut own = Records::new(self.records.bytes);
        let rows = [own.next_record(), own.next_record()];
        let is_table = match &rows {
            [Ok(Some(header)), Ok(Some(first))] => {
                let is_number = |cell: &str| cell.parse::<f64>().is_ok();
                header.cells.len() > 1
                    && first.fits(header.cells.len()).is_ok()
                    && first.cells.iter().any(is_number)
            }
            _ => false,
        };
        if is_table { self.header.clone() } else { Vec::new() }
    }

    /// The next row.
    ///
    /// # Errors
    /// If it has more or fewer cells than the header, or one that is not UTF-8.
    pub fn next_row(&mut self) -> Result<Option<TableRow>, TableError> {
        let Some(record) = self.records.next_record()? else { return Ok(None) };
        record.fits(self.header.len())?;
        let Record { line, cells } = record;
        let bytes = self.records.bytes;
        let is_last = self.records.place() == bytes.len();
        let is_open = is_last && !bytes.ends_with(b"\n") && !bytes.ends_with(b"\r");
        Ok(Some(TableRow { line, cells, is_open }))
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
    /// Refuses a row whose last cell is read and may have been longer.
    ///
    /// # Errors
    /// If the file ends in it.
    pub fn refuse_cut(&self) -> Result<(), TableError> {
        if !self.is_open {
            return Ok(());
        }
        let message = "the file ends in this cell, so that a number that was cut off cannot be \
                       told from a whole one; end the last line with a line break";
        let column = Some(self.cells.len());
        Err(TableError { line: self.line, column, message: message.to_owned() })
    }
}

fn not_text(error: &::csv::Error, line: u64) -> TableError {
    match error.kind() {
        ::csv::ErrorKind::Utf8 { err, .. } => {
            let message = "expected a text in UTF-8, found other bytes".to_owned();
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
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

    use super::*;

    fn wrong(text: &str) -> String {
        let read = || -> Result<(), TableError> {
            let mut table = Table::new(text.as_bytes())?;
            while let Some(row) = table.next_row()? {
                row.refuse_cut()?;
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
            assert!(wrong(&whole[..end]).starts_with("line 3, column 2: "), "{}", &whole[..end]);
        }
        assert_eq!(wrong(whole), "");
        // Line breaks behind the cut are no part of it.
        assert_eq!(wrong("t,a\n0,\"1\"\n\n"), "");
    }

    #[test]
    fn the_name_of_a_column_comes_apart_and_together() {
        let cases = [
            ("a.y", "a.y", None, None),
            ("a.y[2]", "a.y[2]", None, None),
            ("a.M[0, 1] [N*m]", "a.M[0, 1]", None, Some("N*m")),
            ("a.s[3] (left knee) [rad]", "a.s[3]", Some("left knee"), Some("rad")),
            ("foot[F L].y (x)", "foot[F L].y", Some("x"), None),
            (" [m]", "[m]", None, None),
            ("", "", None, None),
        ];
        for (text, name, label, unit) in cases {
            let parts = ColumnName { name, label, unit };
            assert_eq!(ColumnName::parse(text), parts);
            assert_eq!(parts.to_string(), text.trim());
        }
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
