//! Separators of tables, and files that are not tables.

use super::Records;
use super::units::ColumnUnit;

/// Separators in the order in which they are tried.
const SEPARATORS: [u8; 3] = [b'\t', b';', b','];

/// The separator of a table: that of a first line `sep=;`, or the one that gives the first two
/// lines the same number of cells, more than one.
pub(super) fn separator(bytes: &[u8]) -> u8 {
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    if let Some(stated) = text.strip_prefix(b"sep=").and_then(|rest| rest.first())
        && SEPARATORS.contains(stated)
    {
        return *stated;
    }
    let counts = SEPARATORS.map(|separator| {
        let mut records = Records::separated(bytes, separator);
        let mut next = || records.next_record().ok().flatten().map(|record| record.cells.len());
        (next().unwrap_or(0), next())
    });
    let fits = |(header, first): (usize, Option<usize>)| header > 1 && first == Some(header);
    let best = counts.iter().position(|count| fits(*count)).or_else(|| {
        // Comma-separated values whose first row does not fit, or a header without rows.
        let has = |at: usize| (counts[at].0 > 1).then_some(at);
        has(2).or_else(|| has(1)).or_else(|| has(0))
    });
    best.map_or(b',', |at| SEPARATORS[at])
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// First bytes of files that are often given by mistake.
const KINDS: [(&[u8], &str); 20] = [
    (b"\x1f\x8b", "a file compressed by gzip; decompress it first"),
    (b"PK\x03\x04", "a zip archive, such as .xlsx or .npz; export it as .csv"),
    (b"\x93NUMPY", "an array of NumPy (.npy); save it by numpy.savetxt"),
    (b"PAR1", "a Parquet file; export it as .csv"),
    (b"\x89HDF", "an HDF5 file, such as .mat 7.3 or .h5; export it as .csv"),
    (b"MATLAB 5.0", "a MAT-file of MATLAB; save it by writetable"),
    (b"\x89MCAP0\r\n", "an MCAP file; its name should end in .mcap"),
    (b"SQLite format 3\0", "an SQLite database, such as a bag of ROS 2; export it as .csv"),
    (b"#ROSBAG", "a bag of ROS 1; export it as .csv"),
    (b"\x28\xb5\x2f\xfd", "a file compressed by zstd; decompress it first"),
    (b"\x04\x22\x4d\x18", "a file compressed by LZ4; decompress it first"),
    (b"BZh", "a file compressed by bzip2; decompress it first"),
    (b"\xfd7zXZ", "a file compressed by xz; decompress it first"),
    (b"ULog\x01\x12\x35", "a log of PX4 (.ulg); export it as .csv"),
    (b"%PDF", "a PDF document"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file (.xls); export it as .csv"),
    (b"\xff\xfe", "a text in UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "a text in UTF-16; save it as UTF-8"),
    (b"\x89PNG", "a PNG picture"),
    (b"\x7fELF", "a program"),
];

/// Kind of a file that is neither a text nor a recording, from its first bytes; `None` if it may be
/// a text.
pub fn kind_of_file(bytes: &[u8]) -> Option<&'static str> {
    let known = KINDS.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, kind)| *kind);
    let has_nul = || bytes[..bytes.len().min(4096)].contains(&0);
    known.or_else(|| has_nul().then_some("a binary file"))
}

/// True if a cell is a number.
pub(super) fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok_and(f64::is_finite) || {
        cell.contains(',') && cell.replacen(',', ".", 1).parse::<f64>().is_ok()
    }
}

/// True if a first row holds units of the columns above: at least one unit, and no number.
pub(super) fn is_row_of_units(cells: &::csv::StringRecord) -> bool {
    let is_unit = |cell: &str| {
        let cell = cell.trim_matches(['[', ']', '(', ')']);
        cell.chars().any(char::is_alphabetic) && ColumnUnit::parse(cell).is_ok()
    };
    cells.iter().all(|cell| !is_number(cell)) && cells.iter().any(is_unit)
}
