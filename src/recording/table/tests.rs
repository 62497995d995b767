//! Tests of headers, separators and files that are not tables.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use super::*;

/// A line of `headers.tsv`.
fn cases() -> Vec<[&'static str; 5]> {
    let lines = include_str!("headers.tsv").lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split('\t').collect::<Vec<_>>().try_into().unwrap()).collect()
}

#[test]
fn headers_give_names_units_and_numbers_in_si_units() {
    let cases = cases();
    assert!(cases.len() >= 100, "{}", cases.len());
    for [header, asked, cell, result, warning] in cases {
        for (separator, end) in [(",", "\n"), (";", "\r\n"), ("\t", "\n")] {
            let quoted = header.replace('"', "\"\"");
            let text = format!("\"{quoted}\"{separator}other{end}{cell}{separator}1{end}");
            let mut table = Table::new(text.as_bytes()).unwrap();
            assert_eq!(table.find(asked), Found::One(0), "{header}");
            let column = table.columns()[0].clone();
            let reading = match asked {
                "t" => column.time_reading().map(|unit| Reading { unit, warning: None }),
                _ => column.reading(asked),
            };
            if let Some(expected) = result.strip_prefix("error: ") {
                let found = reading.err().unwrap_or_default();
                assert!(found.contains(expected), "{header}: {found}");
                continue;
            }
            let Reading { unit, warning: found } = reading.unwrap();
            let found = found.unwrap_or_default();
            assert_eq!(found.is_empty(), warning.is_empty(), "{header}: {found}");
            assert!(found.contains(warning), "{header}: {found}");
            let row = table.next_row().unwrap().unwrap();
            let value = table.number(row.cells.get(0).unwrap(), unit.as_ref()).unwrap();
            let (number, expected) = result.split_once(' ').unwrap_or((result, ""));
            assert_eq!(value, number.parse::<f64>().unwrap(), "{header}");
            let expected = (!expected.is_empty()).then(|| legwork_block::parse_unit(expected));
            let expected = expected.map(|unit| unit.unwrap().0);
            assert_eq!(unit.map(|unit| unit.unit), expected, "{header}");
        }
    }
}

#[test]
fn names_that_are_written_are_read_back() {
    for name in ["a.y", "a.y[2]", "M[0, 1]", "foot[F L].y", "x_ms", "x in N", "x[m]"] {
        for label in [None, Some("knee"), Some("s"), Some("left knee")] {
            for unit in [None, Some("N*m"), Some("1")] {
                let written = ColumnName { name, label, unit }.to_string();
                let column = Column::parse(&written);
                if label.is_none() || name.ends_with(']') || unit.is_some() {
                    assert_eq!(column.label.as_deref(), label, "{written}");
                    assert_eq!(column.name, name, "{written}");
                }
                let read = column.reading(&written).unwrap().unit.map(|unit| unit.written);
                assert!(read.as_deref() == unit || unit.is_none() && read.as_deref() == Some("1"));
            }
        }
    }
}

#[test]
fn separators_are_found_and_commas_are_decimal_points_where_they_do_not_separate() {
    for (text, expected) in [
        ("t,a\n0,1.5\n1,2\n", 1.5),
        ("t;a\n0;1,5\n1;2\n", 1.5),
        ("t;a\n0;-1,5e-1\n1;2\n", -0.15),
        ("t;a\n0;1.5\n", 1.5),
        ("t\ta\n0\t1,5\n", 1.5),
        ("\u{feff}t;a\r\n0;1,5\r\n", 1.5),
        ("\u{feff}t,a\r0,1.5\r", 1.5),
        ("sep=;\nt;a\n0;1,5\n", 1.5),
        ("# a; b, c\nt,a\n0,1.5\n", 1.5),
        ("\"t\";\"a\"\n\"0\";\"1,5\"\n", 1.5),
        ("\"t\",\"a\"\n\"0\",\"1.5\"\n", 1.5),
        ("t;a;\"M[0, 1]\"\n0;1,5;2,5\n", 1.5),
        ("t;a;M[0, 1]\n0;1,5;2,5\n", 1.5),
        ("t,a;b\n0,1.5\n", 1.5),
    ] {
        let mut table = Table::new(text.as_bytes()).unwrap();
        let row = table.next_row().unwrap().unwrap();
        assert_eq!(table.columns()[0].name, "t", "{text:?}");
        assert_eq!(table.number(&row.cells[1], None), Ok(expected), "{text:?}");
    }
    let mut mixed = Table::new(b"t;a\n0;1,5\n1;1.500,0\n2;2.5\n").unwrap();
    let mut number = || {
        let row = mixed.next_row().unwrap().unwrap();
        mixed.number(&row.cells[1], None)
    };
    assert_eq!(number(), Ok(1.5));
    assert_eq!(number(), Err("expected a number"));
    assert_eq!(number(), Err("expected decimal commas as in the numbers before, found a point"));
}

#[test]
fn files_that_are_not_tables_are_named() {
    for (bytes, kind) in [
        (&b"\x1f\x8b\x08\x00"[..], "gzip"),
        (b"PK\x03\x04\x14", ".npz"),
        (b"\x93NUMPY\x01", ".npy"),
        (b"PAR1abc", "Parquet"),
        (b"\x89HDF\r\n", "HDF5"),
        (b"MATLAB 5.0 MAT-file", "MAT-file"),
        (b"\x89MCAP0\r\n", "MCAP"),
        (b"#ROSBAG V2.0\n", "ROS 1"),
        (b"SQLite format 3\0", "ROS 2"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\xff\xfet\0,\0", "UTF-16"),
        (b"abc\0def,1\n", "binary"),
    ] {
        let error = Table::new(bytes).err().unwrap().to_string();
        assert!(error.contains(kind), "{error}");
    }
    for (text, expected) in
        [("t a\n0 1\n", "the header has one column"), ("t|a\n0|1\n", "the header has one column")]
    {
        assert!(Table::new(text.as_bytes()).unwrap().separator_hint().unwrap().contains(expected));
    }
    let names = Table::new(b"0,1\n1,2\n").err().unwrap().message;
    assert_eq!(names, "expected the names of the columns, found numbers");
    let units = Table::new(b"t,a\n[s],[N]\n0,1\n").unwrap().next_row().err().unwrap();
    assert!(units.to_string().starts_with("line 2: expected numbers, found units"));
}
