use legwork_runtime::catalog::Catalog;
use legwork_runtime::recording::{
    Channel, ChunkPolicy, Field, Metadata, Phase, RateId, Recorder, Recording, Shape, Sink, Stamp,
    import_csv,
};

use super::*;

/// A recording of two rates with all kinds of numbers.
fn recorded(recording: Recording) -> Recorded {
    let catalog = Catalog::of(&recording, None);
    let (name, file) = ("run".to_owned(), "run.mcap".into());
    let program = Err(String::new());
    Recorded { name, file, recording, catalog, program, warnings: Vec::new() }
}

fn sample() -> Recorded {
    let channels = [
        Channel::new("a.y", vec![Field::new("value", Shape::Vector(2)).unit("N*m")]),
        Channel::new(
            "foot[FL.1].s",
            vec![
                Field::new("n", Shape::Int),
                Field::new("on", Shape::Bool),
                Field::new("M", Shape::Matrix(2, 3)).unit("kg"),
            ],
        ),
        Channel::new("a.y[1..2]", vec![Field::new("value", Shape::Vector(1)).unit("N*m")]),
    ];
    let policy = ChunkPolicy::default();
    let mut recorder =
        Recorder::create(Sink::memory(), &channels, &Metadata::default(), policy).expect("memory");
    for k in 0..9_u64 {
        let stamp = Stamp::new(k, 0, Phase::Step, k * 1_000_000);
        let x = 1.0 / (k as f64 + 3.0);
        let mut add = |channel, row: &[f64]| {
            recorder.record(RateId(channel), &stamp, [row]).expect("it fits");
        };
        add(0, &[x, -f64::MIN_POSITIVE * x]);
        if k % 3 == 0 {
            add(1, &[k as f64 - 4.0, (k % 2) as f64, 1.0, 2.0, 3.0, 4.0, 5.0, 1e300 * x]);
        }
        if k == 4 {
            add(2, &[7.0]);
        }
    }
    let bytes = recorder.finish().expect("memory").memory.unwrap_or_default();
    recorded(Recording::from_bytes(bytes).expect("a recording"))
}

fn written(run: &Recorded, paths: &[&str], format: Format) -> Vec<u8> {
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    let mut out = Vec::new();
    let export = export(run, &paths).expect("the paths are there");
    export.write(format, &mut out).expect("memory");
    out
}

/// Path and unit of a number, and its rows: time [ns] and value.
type Rows = (String, Option<String>, Vec<(u64, f64)>);

/// Every number.
fn all(run: &Recorded) -> Vec<Rows> {
    let series: Vec<Series<'_>> = run.recording.series_of_all().collect();
    let mut out = Vec::new();
    for numbers in run.catalog.all() {
        for (element, &column) in numbers.elements.iter().zip(&numbers.columns) {
            let series = series[numbers.channel];
            let rows = (0..series.len())
                .map(|row| (series.stamp(row).t_ns, series.row(row).values[column]))
                .collect();
            out.push((element.clone(), numbers.unit.clone(), rows));
        }
    }
    out
}

#[test]
fn a_table_comes_back_bit_for_bit_under_its_paths_and_units() {
    let original = sample();
    let table = written(&original, &["a.y", "foot[FL.1].s"], Format::Csv);
    let again = recorded(import_csv(&table).expect("a table").recording);
    let mut expected = all(&original);
    expected.truncate(2 + 8);
    assert_eq!(all(&again), expected);
    // And again: what was read is written as it was, but for kinds.
    let table = String::from_utf8(table).expect("UTF-8");
    let head = "t [s],a.y[0] [N*m],a.y[1] [N*m],foot[FL.1].s.n,foot[FL.1].s.on,";
    assert!(table.starts_with(head), "{table}");
    assert!(table.contains("\n0.003,0.16666666666666666,"), "{table}");
    assert!(table.contains(",-1,1,1.0,2.0,3.0,4.0,5.0,"), "{table}");
    assert_eq!(table.lines().count(), 1 + 9);
    assert!(table.lines().nth(2).is_some_and(|line| line.ends_with(",,,,,,,")), "{table}");
}

/// A signal of every step and one of every second, with events beside ticks: in the nanosecond of
/// a tick, at the very time of one, and several in one moment.
fn eventful() -> Recorded {
    let channel = |name| Channel::new(name, vec![Field::new("value", Shape::Real)]);
    let channels = [channel("fast.y"), channel("slow.y")];
    let policy = ChunkPolicy::default();
    let mut recorder =
        Recorder::create(Sink::memory(), &channels, &Metadata::default(), policy).expect("memory");
    let mut value = 0.0;
    for tick in 0..6_u64 {
        let at_tick = Stamp::new(tick, 0, Phase::Step, tick * 1_000_000);
        let later = Stamp { t: at_tick.t.next_up(), ..at_tick };
        let event = |microstep| Stamp { microstep, phase: Phase::Event, ..later };
        let stamps = match tick {
            1 => vec![at_tick, later],
            2 => vec![at_tick, at_tick, at_tick],
            3 => vec![at_tick, event(1), event(2)],
            _ => vec![at_tick],
        };
        for (i, stamp) in stamps.iter().enumerate() {
            value += 1.0;
            recorder.record(RateId(0), stamp, [[value].as_slice()]).expect("it fits");
            if tick % 2 == 0 && i == 0 {
                recorder.record(RateId(1), stamp, [[-value].as_slice()]).expect("it fits");
            }
        }
    }
    let bytes = recorder.finish().expect("memory").memory.unwrap_or_default();
    recorded(Recording::from_bytes(bytes).expect("a recording"))
}

#[test]
fn rows_of_one_instant_are_all_written_and_come_back() {
    let original = eventful();
    let table = written(&original, &[], Format::Csv);
    assert_eq!(all(&recorded(import_csv(&table).expect("a table").recording)), all(&original));
    let (_, _, fast) = &all(&original)[0];
    assert_eq!(fast.len(), 6 + 1 + 2 + 2);
    let text = String::from_utf8(table).expect("UTF-8");
    assert_eq!(text.lines().count(), 1 + fast.len(), "{text}");
    // Rows of one instant stand in one line.
    assert!(text.contains("\n0.002,4.0,-4.0\n0.002,5.0,\n0.002,6.0,\n"), "{text}");

    let files = unzip(&written(&original, &["fast.y"], Format::Npz));
    let doubles = fast.iter().flat_map(|(_, value)| value.to_le_bytes());
    assert_eq!(array(&files, "fast.y.npy").1, doubles.collect::<Vec<u8>>());
    let export = export(&original, &[]).expect("all");
    assert_eq!(export.times.len(), fast.len());
    assert!(export.times.is_sorted());
    let present = |channel: usize| export.rows[channel].iter().flatten().count();
    assert_eq!((present(0), present(1)), (fast.len(), 3));
}

#[test]
fn a_number_that_is_logged_twice_is_one_column_with_most_rows() {
    let table = String::from_utf8(written(&sample(), &[], Format::Csv)).expect("UTF-8");
    assert_eq!(table.matches("a.y[1]").count(), 1, "{table}");
    assert!(!table.contains("7.0"), "{table}");
    let part = String::from_utf8(written(&sample(), &["a.y[1]"], Format::Csv)).expect("UTF-8");
    assert_eq!(part.lines().count(), 1 + 9);
    assert!(part.starts_with("t [s],a.y[1] [N*m]\n"), "{part}");
    assert!(export(&sample(), &["a.z".to_owned()]).is_err());
}

/// Files of an archive that stores them as they are, read from its directory.
fn unzip(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let half = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let word = |at: usize| half(at) + (half(at + 2) << 16);
    let end = bytes.len() - 22;
    assert_eq!(&bytes[end..end + 4], b"PK\x05\x06");
    let mut at = word(end + 16);
    assert_eq!(at + word(end + 12), end, "the directory ends at the end");
    let mut files = Vec::new();
    for _ in 0..half(end + 10) {
        assert_eq!(&bytes[at..at + 4], b"PK\x01\x02");
        let (sum, size, length, place) =
            (word(at + 16), word(at + 24), half(at + 28), word(at + 42));
        let name = String::from_utf8(bytes[at + 46..at + 46 + length].to_vec()).expect("UTF-8");
        assert_eq!(&bytes[place..place + 4], b"PK\x03\x04");
        let start = place + 30 + half(place + 26) + half(place + 28);
        let file = bytes[start..start + size].to_vec();
        assert_eq!(crc32fast::hash(&file) as usize, sum, "{name}");
        files.push((name, file));
        at += 46 + length;
    }
    files
}

/// The description of an array, and its values.
fn array(files: &[(String, Vec<u8>)], name: &str) -> (String, Vec<u8>) {
    let file = &files.iter().find(|(other, _)| other == name).expect("the array is there").1;
    assert_eq!(&file[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([file[8], file[9]]));
    assert_eq!((10 + length) % 64, 0);
    let head = String::from_utf8(file[10..10 + length].to_vec()).expect("UTF-8");
    (head.trim().to_owned(), file[10 + length..].to_vec())
}

#[test]
fn arrays_have_shapes_kinds_and_the_order_of_numpy() {
    let files = unzip(&written(&sample(), &["a.y", "foot[FL.1].s"], Format::Npz));
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let parts = ["n", "on", "M"].map(|part| format!("foot[FL.1].s.{part}.npy"));
    assert_eq!(
        names,
        ["t.npy", "a.y.npy", &parts[0], &parts[1], &parts[2], "units.npy", "labels.npy"]
    );
    let doubles = |bytes: &[u8]| -> Vec<f64> {
        bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight"))).collect()
    };
    let (head, values) = array(&files, "a.y.npy");
    assert_eq!(head, "{'descr': '<f8', 'fortran_order': False, 'shape': (9,2,), }");
    assert_eq!(doubles(&values)[..3], [1.0 / 3.0, -f64::MIN_POSITIVE / 3.0, 0.25]);
    let (head, values) = array(&files, &parts[2]);
    assert!(head.contains("'<f8'") && head.contains("(9,2,3,)"), "{head}");
    // Recorded column by column: rows 1 3 5 and 2 4 x.
    assert_eq!(doubles(&values)[..5], [1.0, 3.0, 5.0, 2.0, 4.0]);
    assert!(doubles(&values)[6..18].iter().all(|value| value.is_nan()), "no row at 1 and 2 ms");
    // Without gaps whole numbers and truth values are what they were.
    let files = unzip(&written(&sample(), &["foot[FL.1].s"], Format::Npz));
    let (head, values) = array(&files, &parts[0]);
    assert!(head.contains("'<i8'") && head.contains("(3,)"), "{head}");
    assert_eq!(values[..16], [(-4_i64).to_le_bytes(), (-1_i64).to_le_bytes()].concat());
    assert_eq!(array(&files, &parts[1]).1, [0, 1, 0]);
    let (head, values) = array(&files, "units.npy");
    assert!(head.contains("'<U14'") && head.contains("(2,2,)"), "{head}");
    let text: String =
        values.chunks_exact(4).filter(|c| c[0] != 0).map(|c| char::from(c[0])).collect();
    assert_eq!(text, "tsfoot[FL.1].s.Mkg");
    assert!(array(&files, "labels.npy").1.is_empty());
}

#[cfg(feature = "parquet")]
#[test]
fn columns_of_parquet_hold_values_and_gaps() {
    use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
    use ::parquet::record::RowAccessor as _;

    let bytes = written(&sample(), &["a.y", "foot[FL.1].s"], Format::Parquet);
    let path = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(path.path(), bytes).expect("it is written");
    let file = std::fs::File::open(path.path()).expect("a file");
    let reader = SerializedFileReader::new(file).expect("Parquet");
    let rows: Vec<_> =
        reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 9);
    let names: Vec<&String> = rows[0].get_column_iter().map(|(name, _)| name).collect();
    assert_eq!(names[..4], ["t", "a.y[0]", "a.y[1]", "foot[FL.1].s.n"]);
    assert_eq!(rows[3].get_double(1).ok(), Some(1.0 / 6.0));
    assert_eq!((rows[3].get_long(3).ok(), rows[3].get_bool(4).ok()), (Some(-1), Some(true)));
    let is_null = |column| rows[1].is_null(column).ok() == Some(true);
    assert!(is_null(3) && is_null(9), "no row at 1 ms");
    let about = reader.metadata().file_metadata().key_value_metadata().expect("units");
    let units = about.iter().find(|one| one.key == "units").and_then(|one| one.value.clone());
    assert!(units.expect("units").contains("\"a.y[0]\":\"N*m\""));
}
