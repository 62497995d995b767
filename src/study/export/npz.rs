//! Arrays of NumPy, in formats [NPY 1.0](https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html)
//! and ZIP without compression, as `numpy.savez` writes them.

use std::io::{Error, ErrorKind, Result, Write};

use legwork_runtime::catalog::Numbers;
use legwork_runtime::recording::Kind;

use super::{Column, Export};

/// Writes the times `t` [s] and an array for each signal under its path: of shape (rows,) for a
/// number, (rows, n) for a vector, (rows, m, n) for a matrix. Where a signal has no row there are
/// NaN, in an array of doubles. `units` has a row (path, unit) for each array with a unit, `labels`
/// a row (path, label) for each number that is called something besides, such as a joint.
pub(super) fn write(export: &Export<'_>, out: &mut dyn Write) -> Result<()> {
    let mut zip = Zip::new(out);
    let times = export.times.iter().flat_map(|t| t.to_le_bytes()).collect();
    zip.add("t", &array("<f8", &[export.times.len()], times)?)?;
    let mut units = vec![["t".to_owned(), "s".to_owned()]];
    let mut labels = Vec::new();
    for numbers in &export.numbers {
        zip.add(&numbers.name, &numbers_array(export, numbers)?)?;
        let unit = numbers.unit.iter().map(|unit| [numbers.name.clone(), unit.clone()]);
        units.extend(unit);
        let pairs = numbers.elements.iter().zip(&numbers.labels);
        labels.extend(pairs.map(|(element, label)| [element.clone(), label.clone()]));
    }
    zip.add("units", &texts(&units)?)?;
    zip.add("labels", &texts(&labels)?)?;
    zip.finish()
}

/// Numbers over all rows.
fn numbers_array(export: &Export<'_>, numbers: &Numbers) -> Result<Vec<u8>> {
    let columns = export.columns(numbers);
    let (places, inner) = places(numbers);
    let mut shape = vec![export.times.len()];
    shape.extend(inner);
    let is_whole = columns.iter().all(|column: &Column| column.values.iter().all(Option::is_some));
    let is_all = |kind| is_whole && columns.iter().all(|column| column.kind == kind);
    let ordered = |row: usize| places.iter().map(move |&at| (row, at));
    let cells = (0..export.times.len()).flat_map(ordered);
    let value = |(row, at): (usize, usize)| columns[at].values[row].unwrap_or(f64::NAN);
    if is_all(Kind::Bool) {
        return array("|b1", &shape, cells.map(|cell| u8::from(value(cell) != 0.0)).collect());
    }
    if is_all(Kind::Int) {
        let bytes = cells.flat_map(|cell| (value(cell) as i64).to_le_bytes()).collect();
        return array("<i8", &shape, bytes);
    }
    array("<f8", &shape, cells.flat_map(|cell| value(cell).to_le_bytes()).collect())
}

/// The numbers of a row in NumPy's order, the last index fastest, and the shape of a row. Those of
/// a matrix are recorded column by column.
fn places(numbers: &Numbers) -> (Vec<usize>, Vec<usize>) {
    let count = numbers.elements.len();
    let last = numbers.elements.last().map_or("", String::as_str);
    if *last == numbers.name {
        return ((0..count).collect(), Vec::new());
    }
    let corner =
        last.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')).and_then(|(_, at)| {
            let (row, column) = at.split_once(", ")?;
            Some((row.parse::<usize>().ok()? + 1, column.parse::<usize>().ok()? + 1))
        });
    match corner.filter(|(rows, columns)| rows * columns == count) {
        Some((rows, columns)) => {
            let at = |row: usize| (0..columns).map(move |column| column * rows + row);
            ((0..rows).flat_map(at).collect(), vec![rows, columns])
        }
        None => ((0..count).collect(), vec![count]),
    }
}

/// An array of pairs of texts.
fn texts(rows: &[[String; 2]]) -> Result<Vec<u8>> {
    let width = rows.iter().flatten().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    let padded = |text: &String| {
        let mut cell: Vec<u8> = text.chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
        cell.resize(4 * width, 0);
        cell
    };
    array(&format!("<U{width}"), &[rows.len(), 2], rows.iter().flatten().flat_map(padded).collect())
}

/// The file of an array: a head of a multiple of 64 bytes, then the values in C order.
fn array(kind: &str, shape: &[usize], values: Vec<u8>) -> Result<Vec<u8>> {
    let lengths: String = shape.iter().map(|length| format!("{length},")).collect();
    let mut head = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({lengths}), }}");
    let before = b"\x93NUMPY\x01\x00".len() + 2;
    while !(before + head.len() + 1).is_multiple_of(64) {
        head.push(' ');
    }
    head.push('\n');
    let length = u16::try_from(head.len()).map_err(|_| too_large())?;
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(length.to_le_bytes());
    file.extend(head.as_bytes());
    file.extend(values);
    Ok(file)
}

fn too_large() -> Error {
    Error::new(
        ErrorKind::FileTooLarge,
        "an archive of arrays has at most 4 GB; export fewer signals",
    )
}

/// An archive of files that are stored as they are.
struct Zip<'o> {
    out: &'o mut dyn Write,
    /// Bytes written.
    at: u32,
    /// The directory at its end.
    directory: Vec<u8>,
    count: u16,
}

impl<'o> Zip<'o> {
    fn new(out: &'o mut dyn Write) -> Self {
        Self { out, at: 0, directory: Vec::new(), count: 0 }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let length = u32::try_from(bytes.len()).map_err(|_| too_large())?;
        self.at = self.at.checked_add(length).ok_or_else(too_large)?;
        self.out.write_all(bytes)
    }

    /// Adds the file of an array.
    fn add(&mut self, name: &str, file: &[u8]) -> Result<()> {
        let name = format!("{name}.npy");
        let size = u32::try_from(file.len()).map_err(|_| too_large())?;
        let name_length = u16::try_from(name.len()).map_err(|_| too_large())?;
        // Version 2.0, names in UTF-8, stored, on the 1st of January 1980; no extra field.
        let mut head = Vec::new();
        for half in [20_u16, 1 << 11, 0, 0, 1 << 5 | 1] {
            head.extend(half.to_le_bytes());
        }
        for word in [crc32fast::hash(file), size, size] {
            head.extend(word.to_le_bytes());
        }
        head.extend(name_length.to_le_bytes());
        head.extend([0, 0]);
        let place = self.at;
        self.write(b"PK\x03\x04")?;
        self.write(&head)?;
        self.write(name.as_bytes())?;
        self.write(file)?;
        // The same again, with comment, disk, attributes (none of them) and the place.
        self.directory.extend(b"PK\x01\x02\x14\x00");
        self.directory.extend(&head);
        self.directory.extend([0; 10]);
        self.directory.extend(place.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.count = self.count.checked_add(1).ok_or_else(too_large)?;
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        let place = self.at;
        let directory = std::mem::take(&mut self.directory);
        self.write(&directory)?;
        let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
        end.extend(self.count.to_le_bytes());
        end.extend(self.count.to_le_bytes());
        end.extend((self.at - place).to_le_bytes());
        end.extend(place.to_le_bytes());
        end.extend([0, 0]);
        self.write(&end)?;
        self.out.flush()
    }
}
