//! `SignalFromFile`: a recorded signal.

use legwork_block::{Any, Invalid, PortUnit, Ports, parameters, ports};
use legwork_recording::{Column, Found, Reading, Table, TableError};

use crate::signal::shape;
use crate::signal::table::Interpolation;
use crate::sources::timetable::{After, Player, Timetable, played};

/// A signal over time from columns of a table with commas, semicolons or tabs.
///
/// The first line names the columns, with or without their units, as in `pd.tau[2] [N*m]`; numbers
/// of a column in `mm` are converted. Other spellings of units are read too: `x (mm)`, `x in mm`,
/// `x, mm`, `x/mm`. A unit at the end of a name counts if `column` is the rest of the name: `x`
/// reads `x_mm` in millimetres. `x_mm` itself is read in millimetres with a warning; `x_min` and
/// `x_g` are read without a unit, with a warning. An unknown unit is an error.
///
/// Lines that start with `#` are skipped. Times increase from line to line; without a column `t`
/// the column `time` or `timestamp` is used. In tables with semicolons or tabs a comma is a decimal
/// point. Every line has as many cells as the header; a line with an empty cell in a chosen column
/// is left out, as `legwork export` writes them for signals of several rates, with a warning unless
/// such lines come at a regular distance. If the last line has
/// no line break and its last number is read, a warning says that it may be cut off. Before the
/// first time the first values hold; a warning says so if the run ends before it. A variable step
/// is cut at every kink or jump.
#[ports(
    |ty: Any, unit: PortUnit|
    out y: ty as Any, unit, "the recorded signal",
        shape "number for `column`; vector for `columns`; either for `signal`",
        units "that in the header, if all columns have one; else numbers count as SI units";
)]
#[parameters(aliases("CSV", "from file", "from workspace"))]
pub struct SignalFromFile {
    /// The file: relative to the diagram, or in a search root.
    pub path: String,
    /// Name of the column of times [s].
    #[default = "t"]
    pub time: String,
    /// Name of the column for a signal that is a number.
    pub column: Option<String>,
    /// Names of the columns for a signal that is a vector, in its order.
    pub columns: Option<Vec<String>>,
    /// Name of a signal as `legwork export` writes it: a number is the column `a`, a vector the
    /// columns `a[0]`, `a[1]`, ….
    pub signal: Option<String>,
    /// `Linear`, `Nearest` or `Below`.
    #[default]
    pub interpolation: Interpolation,
    /// After the last time: `Hold` or `Repeat`.
    #[default]
    pub after: After,
}

/// Port and samples of a [`SignalFromFile`].
pub struct Plan {
    io: SignalFromFilePorts,
    player: Player,
}

/// The columns of a signal: `a`, or `a[0]`, `a[1]`, ….
///
/// # Errors
/// A sentence, if there are none.
fn columns_of(bytes: &[u8], signal: &str) -> Result<(Vec<String>, bool), Invalid> {
    let table = Table::new(bytes).map_err(|why| Invalid::parameter("path", why.to_string()))?;
    let names = || table.columns().iter().map(|column| column.name.as_str());
    if names().any(|name| name == signal) {
        return Ok((vec![signal.to_owned()], true));
    }
    let element = |i: usize| Some(format!("{signal}[{i}]"));
    let elements = (0..).map_while(element).take_while(|name| names().any(|known| known == name));
    let elements: Vec<String> = elements.collect();
    if !elements.is_empty() {
        return Ok((elements, false));
    }
    if table.find(signal) != Found::None {
        return Ok((vec![signal.to_owned()], true));
    }
    let message = format!("expected a column `{signal}` or columns `{signal}[0]`, …, found none");
    let found = Invalid::parameter("signal", message);
    Err(with_names(found, signal, &table.known_names()))
}

/// A column that is missing, with what the table has instead.
fn with_names(missing: Invalid, name: &str, known: &[String]) -> Invalid {
    let columns: Vec<Column> = known.iter().map(|column| Column::parse(column)).collect();
    match legwork_block::nearest(name, columns.iter().map(|column| column.name.as_str())) {
        Some(near) => missing.hint(format!("did you mean `{near}`?")),
        None if known.is_empty() => missing,
        None => missing.hint(format!("it has: {}", known.join(", "))),
    }
}

/// A table over time with the unit of its values, and warnings.
struct Read {
    table: Timetable,
    unit: PortUnit,
    warnings: Vec<Invalid>,
}

/// Lines without a number in a chosen column.
#[derive(Default)]
struct Gaps {
    count: u64,
    first: u64,
    /// Since the last line with numbers.
    now: u64,
    /// Between lines with numbers, if it is always the same; `None` before the second of them.
    each: Option<u64>,
    rows: u64,
    is_irregular: bool,
}

impl Gaps {
    fn skip(&mut self, line: u64) {
        if self.count == 0 {
            self.first = line;
        }
        (self.count, self.now) = (self.count + 1, self.now + 1);
    }

    fn keep(&mut self) {
        let now = std::mem::take(&mut self.now);
        if self.rows > 0 {
            self.is_irregular |= *self.each.get_or_insert(now) != now;
        }
        self.rows += 1;
    }

    /// A warning of gaps that are not those of a signal of a lower rate.
    fn warning(&self) -> Option<String> {
        let lines = if self.count == 1 { "line" } else { "lines" };
        self.is_irregular.then(|| {
            format!(
                "{} {lines} with an empty cell in a chosen column left out, the first is line {}",
                self.count, self.first
            )
        })
    }
}

/// Reads the column of times and the columns of values.
///
/// # Errors
/// A sentence with the line.
fn read(bytes: &[u8], time: &str, columns: &[&str]) -> Result<Read, Invalid> {
    let wrong = |message: String| Invalid::parameter("path", message);
    let refused = |error: TableError| wrong(error.to_string());
    let mut table = Table::new(bytes).map_err(refused)?;
    let known = table.known_names();
    let is_table = !known.is_empty();
    let find = |name: &str| {
        table.find(name).one().map_err(|several| {
            // A file without a table may hold anything: its header is not shown.
            if let Some(several) = several.filter(|_| is_table) {
                let hint = "name one of them with its unit";
                return wrong(format!("column `{name}`: {several}")).hint(hint);
            }
            let missing = wrong(format!("expected a column `{name}`, found none"));
            match table.separator_hint() {
                Some(hint) => missing.hint(hint),
                None => with_names(missing, name, &known),
            }
        })
    };
    let (mut places, mut units, mut warnings) = (vec![find(time)?], Vec::new(), Vec::new());
    let shown = |message: String| match is_table {
        true => wrong(message),
        false => wrong("expected units that are known in the header".to_owned()),
    };
    units.push(table.columns()[places[0]].time_reading().map_err(shown)?);
    for name in columns {
        let place = find(name)?;
        let Reading { unit, warning } = table.columns()[place].reading(name).map_err(shown)?;
        warnings.extend(warning.filter(|_| is_table).map(wrong));
        places.push(place);
        units.push(unit);
    }
    let unit = match &units[1..] {
        [Some(first), rest @ ..]
            if rest.iter().all(|other| other.as_ref().is_some_and(|u| u.unit == first.unit)) =>
        {
            PortUnit::from(first.unit)
        }
        _ => PortUnit::Unspecified,
    };
    let (mut times, mut rows): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut gaps = Gaps::default();
    while let Some(row) = table.next_row().map_err(refused)? {
        let line = row.line;
        if places.contains(&(table.header().len() - 1)) {
            warnings.extend(row.open_end().map(wrong));
        }
        let cells: Vec<&str> =
            places.iter().map(|place| row.cells.get(*place).unwrap_or_default()).collect();
        if cells.iter().any(|cell| cell.is_empty()) {
            gaps.skip(line);
            continue;
        }
        gaps.keep();
        for (i, cell) in cells.into_iter().enumerate() {
            let column = places[i] + 1;
            let value = match table.number(cell, units[i].as_ref()) {
                Ok(value) if value.is_finite() => value,
                why => {
                    let why = why.err().filter(|why| *why != "expected a number");
                    let why = why.unwrap_or("expected a finite number");
                    let name = &table.header()[places[i]];
                    let found = if is_table { format!(", found `{cell}`") } else { String::new() };
                    let message = format!("line {line}, column {column}: {why} in `{name}`{found}");
                    return Err(wrong(message));
                }
            };
            match (i, times.last()) {
                (0, Some(last)) if *last >= value => {
                    let message = format!(
                        "line {line}, column {column}: expected rising times, found {value} after \
                         {last}"
                    );
                    return Err(wrong(message));
                }
                (0, _) => times.push(value),
                _ => rows.push(value),
            }
        }
    }
    warnings.extend(gaps.warning().map(wrong));
    let table = Timetable::new(times, rows, columns.len())
        .map_err(|message| wrong(format!("{message} in column `{time}`")))?;
    Ok(Read { table, unit, warnings })
}

impl SignalFromFile {
    /// Port and values.
    fn planned(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let bytes = || {
            let read = ports.files().read(&self.path);
            read.map_err(|message| Invalid::parameter("path", message))
        };
        let (columns, is_number) = match (&self.column, &self.columns, &self.signal) {
            (Some(column), None, None) => (vec![column.clone()], true),
            (None, Some(columns), None) if !columns.is_empty() => (columns.clone(), false),
            (None, None, Some(signal)) => columns_of(&bytes()?, signal)?,
            _ => {
                let message = "expected one of `column`, a list of `columns`, and `signal`";
                return Err(Invalid::parameter("columns", message));
            }
        };
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        let Read { table, unit, warnings } = read(&bytes()?, &self.time, &names)?;
        warnings.into_iter().for_each(|warning| ports.warn(warning));
        if let Some(message) = table.apart_from_run(self.after, ports.stop()) {
            let hint = "write times from the begin of the run on, or change `run.stop`";
            ports.warn(Invalid::parameter("path", message).hint(hint));
        }
        let ty = if is_number { shape::signal(&[]) } else { shape::signal(&[names.len()]) };
        let player = Player::new(table, self.interpolation, self.after, ports);
        Ok(Plan { io: self.declare(ports, ty, unit), player })
    }
}

played!(SignalFromFile);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{block, refusal};

    const TABLE: &str = "# recorded by hand\nt, a,\"b,c\"\n0, 1, 10\n1, 2,\n2, 5, 30\n";

    fn at(columns: &[&str], t: f64) -> Vec<f64> {
        let Read { table, .. } = read(TABLE.as_bytes(), "t", columns).expect("a table");
        let mut y = vec![f64::NAN; columns.len()];
        table.values(t, Interpolation::Linear, After::Hold, &mut y);
        y
    }

    #[test]
    fn columns_are_read_by_name_and_interpolated() {
        assert_eq!(at(&["a"], 0.5), [1.5]);
        assert_eq!(at(&["a"], 1.5), [3.5]);
        assert_eq!(at(&["b,c", "a"], 9.0), [30.0, 5.0]);
    }

    #[test]
    fn a_header_says_units_and_the_columns_of_a_signal() {
        const UNITS: &str = "t [ms],x[0] [mm],x[1] [mm],f [N]\n0,1,2,3\n10,2,3,4\n";
        let (columns, is_number) = columns_of(UNITS.as_bytes(), "x").expect("a vector");
        assert_eq!((columns.as_slice(), is_number), (&["x[0]".into(), "x[1]".into()][..], false));
        assert_eq!(columns_of(UNITS.as_bytes(), "f").map(|(_, number)| number), Ok(true));
        let missing = columns_of(UNITS.as_bytes(), "y").expect_err("no such signal");
        assert!(missing.message.starts_with("expected a column `y` or columns `y[0]`"));
        let Read { table, unit, .. } =
            read(UNITS.as_bytes(), "t", &["x[0]", "x[1]"]).expect("a table");
        assert_eq!(unit, PortUnit::Is("m".into()));
        let mut y = [0.0; 2];
        table.values(0.01, Interpolation::Linear, After::Hold, &mut y);
        assert_eq!(y, [0.002, 0.003]);
        let mixed = read(UNITS.as_bytes(), "t", &["x[0]", "f"]).expect("a table");
        assert_eq!(mixed.unit, PortUnit::Unspecified);
        let wrong = read(b"t [m],x\n0,1\n1,2\n", "t", &["x"]).err().expect("not a time");
        assert_eq!(wrong.message, "expected the column `t` in s, found m");
    }

    #[test]
    fn lines_with_an_empty_cell_are_left_out() {
        assert_eq!(at(&["b,c"], 1.0), [20.0]);
        assert_eq!(at(&["a", "b,c"], 1.0), [3.0, 20.0]);
        let warnings = |cells: &[&str]| {
            let lines = cells.iter().enumerate().map(|(t, cell)| format!("{t},{cell}\n"));
            let text = format!("t,a\n{}", lines.collect::<String>());
            let read = read(text.as_bytes(), "t", &["a"]).expect("a table");
            read.warnings.iter().map(|warning| warning.message.clone()).collect::<Vec<_>>()
        };
        assert_eq!(warnings(&["1", "", "", "2", "", "", "3", ""]), [""; 0]);
        let left_out = "with an empty cell in a chosen column left out, the first is line";
        assert_eq!(warnings(&["1", "2", "", "4"]), [format!("1 line {left_out} 4")]);
        assert_eq!(warnings(&["1", "", "2", "", "", "4"]), [format!("3 lines {left_out} 3")]);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let message = |text: &str| read(text.as_bytes(), "t", &["a"]).map(|_| ()).unwrap_err();
        let wrong = message("t,a\n0,1\n1,x\n");
        assert_eq!(wrong.message, "line 3, column 2: expected a finite number in `a`, found `x`");
        let wrong = message("t,a\n0,1\n2,1\n1,1\n");
        assert_eq!(wrong.message, "line 4, column 1: expected rising times, found 1 after 2");
        for (text, place) in [
            ("t,a\n0,1\n1\n2,3\n", "line 3, column 2: expected 2 cells"),
            ("t,a\n0,1\n1,2,3\n", "line 3, column 3: expected 2 cells"),
            (
                "t,a [N],a [kN]\n0,1,2\n",
                "column `a`: expected one column of this name, found 2: `a [N]`, `a [kN]`",
            ),
            ("t [s],t [ms],a\n0,1,2\n", "column `t`: expected one column of this name, found 2"),
            ("t,a,a\n0,1,2\n", "line 1, column 3: expected a column of each name"),
            ("t,a [kgf]\n0,1\n1,2\n", "column `a [kgf]`: unknown unit `kgf`; 1 kgf is 9.80665 N"),
            ("t [frames],a\n0,1\n1,2\n", "column `t [frames]`: unknown unit `frames`"),
            ("t;a\n0;1,5\n1;2.5\n", "line 3, column 2: expected decimal commas"),
            ("t,a\ns,m\n0,1\n", "line 2: expected numbers, found units"),
            ("PK\u{3}\u{4}", "line 1: expected a text of comma-separated values, found a zip"),
        ] {
            let wrong = message(text);
            assert!(wrong.message.starts_with(place), "{text:?}: {}", wrong.message);
        }
        // A cut last cell matters only if it is read: then there is a warning.
        let uncut = read(b"t,a,note\n0,1,x\n1,2,y", "t", &["a"]).expect("a table");
        assert!(uncut.warnings.is_empty());
        let cut = read(b"t,a\n0,1\n1,2", "t", &["a"]).expect("a table");
        assert!(cut.warnings[0].message.starts_with("line 3, column 2: the file ends in this"));
        let wrong = message("t,aa\n0,1\n");
        assert_eq!(wrong.message, "expected a column `a`, found none");
        // Nothing is told of what may be any other file.
        for text in ["a=hunter2\n", "hunter2\nhunter2\n", "t,a,hunter2\nx,hunter2,\n"] {
            let wrong = format!("{:?}", message(text));
            assert!(!wrong.contains("hunter2"), "{wrong}");
        }
        let wrong = message("t,a\n0,1\n");
        assert_eq!(wrong.message, "expected at least two points, found 1 in column `t`");
    }

    #[test]
    fn a_file_and_a_column_are_needed() {
        let both: SignalFromFile =
            block(json!({ "path": "a.csv", "column": "a", "columns": ["b"] }));
        assert_eq!(
            refusal(both, &[]),
            "expected one of `column`, a list of `columns`, and `signal`"
        );
        let missing: SignalFromFile = block(json!({ "path": "a.csv", "column": "a" }));
        assert_eq!(refusal(missing, &[]), "no file a.csv");
    }
}
