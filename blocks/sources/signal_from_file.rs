//! `SignalFromFile`: a recorded signal.

use legwork_block::{Any, Invalid, Ports, parameters, ports};
use legwork_recording::{ColumnName, Table};

use crate::signal::shape;
use crate::signal::table::Interpolation;
use crate::sources::timetable::{After, Player, Timetable, played};

/// A signal over time from columns of a CSV file (comma-separated values).
///
/// The first line names the columns, with or without their units, as in `pd.tau[2] [N*m]`; lines
/// that start with `#` do not count. Times rise from line to line. Every line has as many cells as
/// the header; one where a chosen column is empty is left out, as `legwork export` writes them for
/// signals of several rates. The last line ends with a line break if its last cell is read, so that
/// a number that was cut off is told from a whole one.
/// Before the first time the first values hold. A variable step is cut at every kink or jump.
#[ports(
    |ty: Any|
    out y: ty as Any, _, "the recorded signal", shape "number for `column`; vector for `columns`",
        units "not known: numbers count as SI units";
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

/// Reads the column of times and the others.
///
/// # Errors
/// A sentence with the line.
fn read(bytes: &[u8], time: &str, columns: &[&str]) -> Result<Timetable, Invalid> {
    let wrong = |message: String| Invalid::parameter("path", message);
    let mut table = Table::new(bytes).map_err(|error| wrong(error.to_string()))?;
    let header = table.header().to_vec();
    let find = |name: &str| {
        let is_it = |column: &String| column == name || ColumnName::parse(column).name == name;
        header.iter().position(is_it).ok_or_else(|| {
            let found = wrong(format!("expected a column `{name}`, found none"));
            let known = header.iter().map(|column| ColumnName::parse(column).name);
            match legwork_block::nearest(name, known) {
                Some(near) => found.hint(format!("did you mean `{near}`?")),
                None => found.hint(format!("it has: {}", header.join(", "))),
            }
        })
    };
    let places = [time]
        .iter()
        .chain(columns)
        .map(|name| find(name))
        .collect::<Result<Vec<usize>, Invalid>>()?;
    let (mut times, mut rows): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    while let Some(row) = table.next_row().map_err(|error| wrong(error.to_string()))? {
        let line = row.line;
        if places.contains(&(header.len() - 1)) {
            row.refuse_cut().map_err(|error| wrong(error.to_string()))?;
        }
        let cells: Vec<&str> =
            places.iter().map(|place| row.cells.get(*place).unwrap_or_default()).collect();
        if cells.iter().any(|cell| cell.is_empty()) {
            continue;
        }
        for (i, cell) in cells.into_iter().enumerate() {
            let value = cell.parse::<f64>().ok().filter(|value| value.is_finite());
            let Some(value) = value else {
                let name = &header[places[i]];
                let message = format!(
                    "line {line}, column {}: expected a finite number in `{name}`, found `{cell}`",
                    places[i] + 1
                );
                return Err(wrong(message));
            };
            match (i, times.last()) {
                (0, Some(last)) if *last >= value => {
                    let message = format!(
                        "line {line}, column {}: expected rising times, found {value} after {last}",
                        places[i] + 1
                    );
                    return Err(wrong(message));
                }
                (0, _) => times.push(value),
                _ => rows.push(value),
            }
        }
    }
    Timetable::new(times, rows, columns.len())
        .map_err(|message| wrong(format!("{message} in column `{time}`")))
}

impl SignalFromFile {
    /// Port and values.
    fn planned(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let (columns, ty): (Vec<&str>, Any) = match (&self.column, &self.columns) {
            (Some(column), None) => (vec![column], shape::signal(&[])),
            (None, Some(columns)) if !columns.is_empty() => {
                (columns.iter().map(String::as_str).collect(), shape::signal(&[columns.len()]))
            }
            _ => {
                let message = "expected either `column` or a list of `columns`";
                return Err(Invalid::parameter("columns", message));
            }
        };
        let bytes = ports
            .files()
            .read(&self.path)
            .map_err(|message| Invalid::parameter("path", message))?;
        let table = read(&bytes, &self.time, &columns)?;
        let player = Player::new(table, self.interpolation, self.after, ports);
        Ok(Plan { io: self.declare(ports, ty), player })
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
        let table = read(TABLE.as_bytes(), "t", columns).expect("a table");
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
    fn lines_with_an_empty_cell_are_left_out() {
        assert_eq!(at(&["b,c"], 1.0), [20.0]);
        assert_eq!(at(&["a", "b,c"], 1.0), [3.0, 20.0]);
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
            ("t,a,a\n0,1,2\n", "line 1, column 3: expected a column of each name"),
            ("t,a\n0,1\n1,2", "line 3, column 2: the file ends in this cell"),
        ] {
            let wrong = message(text);
            assert!(wrong.message.starts_with(place), "{text:?}: {}", wrong.message);
        }
        // What nobody reads may be cut.
        assert!(read(b"t,a,note\n0,1,x\n1,2,y", "t", &["a"]).is_ok());
        let wrong = message("t,aa\n0,1\n");
        assert_eq!(wrong.message, "expected a column `a`, found none");
        let wrong = message("t,a\n0,1\n");
        assert_eq!(wrong.message, "expected at least two points, found 1 in column `t`");
    }

    #[test]
    fn a_file_and_a_column_are_needed() {
        let both: SignalFromFile =
            block(json!({ "path": "a.csv", "column": "a", "columns": ["b"] }));
        assert_eq!(refusal(both, &[]), "expected either `column` or a list of `columns`");
        let missing: SignalFromFile = block(json!({ "path": "a.csv", "column": "a" }));
        assert_eq!(refusal(missing, &[]), "no file a.csv");
    }
}
