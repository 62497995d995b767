//! Recordings written, damaged and read again. One file, because all tests share its channels.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};
use serde_json::json;

use super::*;

/// Every shape, alone, nested and repeated, under names that are no identifiers or collide.
fn awkward() -> Channel {
    let foot = Shape::Message(
        "Foot".into(),
        vec![
            Field::new("force", Shape::Vector(3)).unit("N").frame("world"),
            Field::new("on", Shape::Bool),
            Field::new("tick", Shape::Int),
        ],
    );
    let other_foot = Shape::Message("Foot".into(), vec![Field::new("gap", Shape::Real)]);
    let empty = Shape::Message("Empty".into(), vec![]);
    Channel::new(
        "robot[αβ] 1.state",
        vec![
            Field::new("t", Shape::Real),
            Field::new("ν̇", Shape::Vector(4)),
            Field::new("θ", Shape::Real),
            Field::new("?", Shape::Int),
            Field::new("foot_1", Shape::Bool),
            Field::new("foot1", foot.clone()),
            Field::new("Foot", foot.clone()),
            Field::new("other", other_foot),
            Field::new("2nd", Shape::Matrix(2, 3)),
            Field::new("rotation", Shape::Rotation),
            Field::new("pose", Shape::Pose),
            Field::new("none", Shape::Vector(0)),
            Field::new("empty", empty),
            Field::new("reals", Shape::Repeated(Box::new(Shape::Real), 200)),
            Field::new("bools", Shape::Repeated(Box::new(Shape::Bool), 3)),
            Field::new("ints", Shape::Repeated(Box::new(Shape::Int), 2)),
            Field::new("feet", Shape::Repeated(Box::new(foot), 2)),
            Field::new("vectors", Shape::Repeated(Box::new(Shape::Vector(2)), 2)),
            Field::new("poses", Shape::Repeated(Box::new(Shape::Pose), 1)),
            Field::new(
                "grid",
                Shape::Repeated(Box::new(Shape::Repeated(Box::new(Shape::Real), 2)), 2),
            ),
        ],
    )
}

fn simple() -> Channel {
    let fields = vec![Field::new("position", Shape::Vector(3)), Field::new("on", Shape::Bool)];
    Channel::new("body.state", fields)
}

fn metadata() -> Metadata {
    Metadata {
        diagram: "Diagram(\n    // µ = 0.7 — Ωhm\n)".into(),
        overrides: vec!["run.stop=2 s".into(), "a.b=\"c, d\"".into()],
        seed: u64::MAX,
        version: "0.1.0".into(),
        program_hash: "00ff".into(),
        other: BTreeMap::from([("seed".into(), "none of the above".into())]),
    }
}

/// A value of row `k` that fits its kind.
fn value(kind: Kind, k: u64, i: usize) -> f64 {
    let x = k as f64 * 1.1 + i as f64 * 0.37 - 3.0;
    match kind {
        Kind::Real => [f64::NAN, f64::INFINITY, -f64::INFINITY, -0.0, 5e-324]
            .get((k as usize * 31 + i) % 17)
            .copied()
            .unwrap_or(x / 3.0),
        Kind::Int => x.round() * 1e9,
        Kind::Bool => f64::from((k as usize + i).is_multiple_of(2)),
    }
}

fn encodings(channels: &[Channel]) -> Vec<schema::Encoding> {
    schema::encodings(&rate::groups(channels))
}

fn values(channel: &Channel, k: u64) -> Vec<f64> {
    let pattern = encodings(std::slice::from_ref(channel)).remove(0).pattern;
    pattern
        .kinds(&(0..pattern.piece_count()))
        .iter()
        .enumerate()
        .map(|(i, kind)| value(*kind, k, i))
        .collect()
}

fn stamp(k: u64) -> Stamp {
    let phase = Phase::ALL[k as usize % 4];
    Stamp::new(k, k as u32 % 3, phase, k * 1_000_000)
}

/// A file of both channels: one row per millisecond, `body.state` every other.
fn written(row_count: u64, policy: ChunkPolicy) -> Vec<u8> {
    let channels = [awkward(), simple()];
    let mut recorder = Recorder::create(Sink::memory(), &channels, &metadata(), policy).unwrap();
    for k in 0..row_count {
        let row = values(&channels[0], k);
        // However the values are cut, the row is the same.
        let (head, tail) = row.split_at(k as usize % row.len());
        recorder.record(RateId(0), &stamp(k), [head, &[], tail]).unwrap();
        if k.is_multiple_of(2) {
            let row = values(&channels[1], k);
            recorder.record(RateId(1), &stamp(k), row.chunks(1)).unwrap();
        }
    }
    recorder.finish().unwrap().memory.unwrap()
}

const SMALL: ChunkPolicy = ChunkPolicy { bytes: 6000, period_ns: 7_000_000, lz4: true };
/// The same as other programs' readers take it that know no compression.
const PLAIN: ChunkPolicy = ChunkPolicy { lz4: false, ..SMALL };

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The rows of a channel are a prefix of those that were written.
fn assert_rows(series: Series<'_>, channel: &Channel, every: u64) {
    assert_eq!(series.channel(), channel);
    for index in 0..series.len() {
        let (row, k) = (series.row(index), index as u64 * every);
        assert_eq!(row.stamp, stamp(k));
        assert_eq!(bits(&row.values), bits(&values(channel, k)), "row {k} of {}", channel.topic);
    }
}

#[test]
fn what_is_written_is_read() {
    let recording = Recording::from_bytes(written(50, SMALL)).unwrap();
    assert_eq!(recording.ending(), Ending::Complete);
    assert_eq!(recording.metadata(), Some(&metadata()));
    let topics: Vec<_> = recording.channels().map(|channel| channel.topic.as_str()).collect();
    assert_eq!(topics, ["robot[αβ] 1.state", "body.state"]);
    for (topic, channel, every, count) in
        [("robot[αβ] 1.state", awkward(), 1, 50), ("body.state", simple(), 2, 25)]
    {
        let series = recording.series(topic).unwrap();
        assert_eq!((series.len(), recording.rows(topic).unwrap().count()), (count, count));
        assert_rows(series, &channel, every);
        for (i, name) in series.columns().iter().enumerate() {
            let all: Vec<_> = recording.rows(topic).unwrap().map(|row| row.values[i]).collect();
            assert_eq!(bits(&series.column(name).unwrap()), bits(&all), "{name}");
        }
    }
    let error = recording.series("body").err().unwrap().to_string();
    assert_eq!(
        error,
        "no topic `body` in the recording, which has `robot[αβ] 1.state`, `body.state`"
    );
}

#[test]
fn columns_are_named_after_the_diagram() {
    assert_eq!(simple().columns(), ["position[0]", "position[1]", "position[2]", "on"]);
    let columns = awkward().columns();
    assert_eq!(columns.len(), awkward().value_count());
    for name in [
        "ν̇[3]",
        "2nd[1][0]",
        "pose.rotation[2][1]",
        "pose.position[2]",
        "feet[1].force[2]",
        "vectors[1][0]",
        "grid[1][0]",
        "Foot.tick",
    ] {
        assert!(columns.iter().any(|column| column == name), "no {name} in {columns:?}");
    }
    // Column by column.
    let at = columns.iter().position(|column| column == "2nd[0][0]").unwrap();
    assert_eq!(columns[at..at + 3], ["2nd[0][0]", "2nd[1][0]", "2nd[0][1]"]);
}

/// A protobuf reader that knows the wire format and the schema, and nothing of our patterns.
fn decode(schema: &FileDescriptorSet, message: &DescriptorProto, bytes: &[u8], out: &mut Vec<f64>) {
    let mut rest = bytes;
    let varint = |rest: &mut &[u8]| prost::encoding::decode_varint(rest).unwrap();
    let mut seen = 0;
    while !rest.is_empty() {
        let key = varint(&mut rest);
        let field = message.field.iter().find(|f| f.number == Some((key >> 3) as i32)).unwrap();
        assert!(field.number() >= seen, "fields are in order");
        seen = field.number();
        let packed = field.label() == Label::Repeated && field.r#type() != Type::Message;
        let (width, wire) = match field.r#type() {
            _ if packed => (varint(&mut rest) as usize, 2),
            Type::Message => (varint(&mut rest) as usize, 2),
            Type::Double | Type::Fixed64 | Type::Sfixed64 => (8, 1),
            Type::Fixed32 => (4, 5),
            _ => (1, 0),
        };
        assert_eq!(key & 7, wire, "wire type of {}", field.name());
        let (body, later) = rest.split_at(width);
        rest = later;
        match field.r#type() {
            Type::Message => decode(schema, find(schema, field), body, out),
            Type::Fixed32 => {} // microstep, rows, cols
            Type::Double => {
                out.extend(body.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())));
            }
            Type::Sfixed64 => out.extend(
                body.chunks_exact(8).map(|b| i64::from_le_bytes(b.try_into().unwrap()) as f64),
            ),
            Type::Bool => out.extend(body.iter().map(|b| f64::from(*b))),
            Type::Fixed64 | Type::Enum => {}
            other => panic!("unexpected type {other:?}"),
        }
    }
}

/// The message of a field, by its full name.
fn find<'a>(schema: &'a FileDescriptorSet, field: &FieldDescriptorProto) -> &'a DescriptorProto {
    let mut messages: Vec<&DescriptorProto> =
        schema.file.iter().flat_map(|file| &file.message_type).collect();
    let mut found = None;
    for part in field.type_name().strip_prefix(".legwork.").unwrap().split('.') {
        let message: &DescriptorProto = messages.iter().find(|m| m.name() == part).unwrap();
        messages = message.nested_type.iter().collect();
        found = Some(message);
    }
    found.unwrap()
}

#[test]
fn rows_decode_by_their_schema_alone() {
    let file = written(20, PLAIN);
    let mut row_count = [0, 0];
    for message in mcap::MessageStream::new(&file).unwrap() {
        let message = message.unwrap();
        let which = usize::from(message.channel.topic == "body.state");
        let k = row_count[which] * (which as u64 + 1);
        assert_eq!((message.log_time, message.publish_time), (k * 1_000_000, k * 1_000_000));
        assert_eq!(u64::from(message.sequence), row_count[which]);
        let schema = message.channel.schema.as_ref().unwrap();
        let set = FileDescriptorSet::decode(&*schema.data).unwrap();
        let row = &set.file[1].message_type[0];
        assert_eq!(schema.name, format!("legwork.{}", row.name()));
        let mut found = Vec::new();
        decode(&set, row, &message.data, &mut found);
        let mut expected = vec![stamp(k).t];
        expected.extend(values(&[awkward(), simple()][which], k));
        assert_eq!(bits(&found), bits(&expected));
        row_count[which] += 1;
    }
    assert_eq!(row_count, [20, 10]);
}

#[test]
fn identifiers_are_legal_and_differ() {
    fn check(message: &DescriptorProto) {
        let mut names: Vec<String> = message.field.iter().map(|f| f.name().to_owned()).collect();
        let mut json: Vec<String> =
            names.iter().map(|name| name.replace('_', "").to_lowercase()).collect();
        names.extend(message.nested_type.iter().map(|nested| nested.name().to_owned()));
        for list in [&mut names, &mut json] {
            let count = list.len();
            list.sort();
            list.dedup();
            assert_eq!(list.len(), count, "{list:?}");
        }
        for name in names {
            assert!(!name.starts_with(|c: char| c.is_ascii_digit()), "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{name}");
        }
        message.nested_type.iter().for_each(check);
    }
    let channels =
        ["x.y", "x/y", "X_y", "Vector", "", "ü"].map(|topic| Channel::new(topic, vec![]));
    let mut names = Vec::new();
    for encoding in encodings(&[&channels[..], &[awkward()]].concat()) {
        let set = FileDescriptorSet::decode(&*encoding.schema).unwrap();
        check(&set.file[1].message_type[0]);
        names.push(encoding.name);
    }
    assert_eq!(names[..3], ["legwork.x_y", "legwork.x_y_2", "legwork.X_y"]);
    assert_eq!(names[3..6], ["legwork.Vector_2", "legwork.field", "legwork.ufc"]);
}

/// Rows of three rates, of which one has two signals and no other signal between them.
#[test]
fn signals_of_a_rate_share_their_rows() {
    let real = |topic: &str| Channel::new(topic, vec![Field::new("value", Shape::Real)]);
    let channels = [
        real("a.y").at("every 1 ms"),
        real("b.y").at("every 2 ms"),
        simple().at("every 1 ms"),
        real("c.y"),
    ];
    let mut recorder = Recorder::create(Sink::memory(), &channels, &metadata(), PLAIN).unwrap();
    for k in 0..10 {
        let x = k as f64;
        let row = [x, 1.0, 2.0, 3.0, f64::from(k % 3 == 0)];
        recorder.record(RateId(0), &stamp(k), row.chunks(2)).unwrap();
        if k % 2 == 0 {
            recorder.record(RateId(1), &stamp(k), [&[-x][..]]).unwrap();
        }
    }
    recorder.record(RateId(2), &stamp(10), [&[0.5][..]]).unwrap();
    let error = recorder.record(RateId(0), &stamp(11), [&[0.0; 4][..]]).unwrap_err().to_string();
    assert_eq!(error, "expected 5 values in a row of `every 1 ms`, found 4");
    let finished = recorder.finish().unwrap();
    let file = finished.memory.unwrap();
    let recording = Recording::from_bytes(file.clone()).unwrap();
    assert_eq!((finished.row_count, recording.row_count()), (16, 16));
    assert!(recording.channels().eq(&channels), "in the order of the diagram");
    let lens: Vec<usize> = recording.series_of_all().map(|series| series.len()).collect();
    assert_eq!(lens, [10, 5, 10, 1]);
    let column = |topic: &str, name: &str| recording.series(topic).unwrap().column(name).unwrap();
    assert_eq!(column("a.y", "value")[..3], [0.0, 1.0, 2.0]);
    assert_eq!(column("b.y", "value"), [0.0, -2.0, -4.0, -6.0, -8.0]);
    assert_eq!(column("body.state", "on")[..4], [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(column("body.state", "position[2]"), [3.0; 10]);
    // Another program sees one topic for each rate, and a number as a number.
    let summary = mcap::Summary::read(&file).unwrap().unwrap();
    let topics: Vec<&str> = summary.channels.values().map(|one| one.topic.as_str()).collect();
    assert_eq!(topics.len(), 3, "{topics:?}");
    let schema = summary.schemas.values().find(|one| one.name == "legwork.every_1_ms").unwrap();
    let set = FileDescriptorSet::decode(&*schema.data).unwrap();
    let fields = set.file[1].message_type[0].field.iter();
    let fields: Vec<(&str, Type)> = fields.skip(4).map(|f| (f.name(), f.r#type())).collect();
    assert_eq!(fields, [("a_y", Type::Double), ("body_state", Type::Message)]);
}

/// Messages of another schema among the rows: they are no rows, and rows are what they are without
/// them.
#[test]
fn topics_of_other_schemas_are_kept_apart() {
    let topic = |name: &str| Topic {
        name: name.to_owned(),
        schema_name: "foxglove.SceneUpdate".to_owned(),
        schema: vec![1, 2, 3],
    };
    for policy in [SMALL, PLAIN] {
        let channels = [awkward(), simple()];
        let mut recorder =
            Recorder::create(Sink::memory(), &channels, &metadata(), policy).unwrap();
        let (a, b) = (topic("scene"), topic("poses"));
        let (a, b) = (recorder.add_topic(&a).unwrap(), recorder.add_topic(&b).unwrap());
        let error = recorder.add_topic(&topic("body.state")).unwrap_err();
        assert!(matches!(error, RecordingError::DuplicateTopic { .. }), "{error}");
        assert!(recorder.message(TopicId(2), 0, &[]).is_err());
        for k in 0..40 {
            recorder.record(RateId(0), &stamp(k), [&values(&channels[0], k)[..]]).unwrap();
            if k % 2 == 0 {
                recorder.record(RateId(1), &stamp(k), [&values(&channels[1], k)[..]]).unwrap();
                recorder.message(b, stamp(k).t_ns, &vec![k as u8; k as usize]).unwrap();
            }
        }
        recorder.message(a, stamp(40).t_ns, b"last").unwrap();
        let finished = recorder.finish().unwrap();
        assert_eq!(finished.row_count, 60);
        let recording = Recording::from_bytes(finished.memory.unwrap()).unwrap();
        assert_eq!((recording.ending(), recording.row_count()), (Ending::Complete, 60));
        assert!(recording.channels().eq(&channels));
        assert_rows(recording.series("body.state").unwrap(), &channels[1], 2);
        assert_rows(recording.series(&channels[0].topic).unwrap(), &channels[0], 1);
        let messages: Vec<Message<'_>> = recording.messages().collect();
        assert_eq!((messages[0].topic, messages[0].body), ("scene", &b"last"[..]));
        assert_eq!(messages.len(), 21);
        for (message, k) in messages[1..].iter().zip((0..40).step_by(2)) {
            assert_eq!((message.topic, message.schema), ("poses", "foxglove.SceneUpdate"));
            assert_eq!(
                (message.t_ns, message.body),
                (stamp(k).t_ns, &vec![k as u8; k as usize][..])
            );
        }
    }
}

#[test]
fn equal_runs_write_equal_bytes() {
    assert_eq!(written(50, SMALL), written(50, SMALL));
}

/// The container's bytes are those of the reference writer of MCAP.
#[test]
fn the_bytes_are_those_of_the_mcap_crate() {
    let policy = ChunkPolicy { bytes: u64::MAX, period_ns: 0, lz4: false };
    let channels = [awkward(), simple(), Channel::new("again", simple().fields)];
    let metadata = metadata();
    let options = mcap::WriteOptions::new()
        .library(format!("legwork {}", metadata.version))
        .compression(None)
        .disable_seeking(true)
        .chunk_size(None);
    let mut bytes = Vec::new();
    let mut theirs = options.create(mcap::write::NoSeek::new(&mut bytes)).unwrap();
    let texts = metadata.texts().into_iter().map(|(key, text)| (key, text.into_owned()));
    let record = mcap::records::Metadata { name: "legwork".to_owned(), metadata: texts.collect() };
    theirs.write_metadata(&record).unwrap();
    let encodings = encodings(&channels);
    for (at, (channel, encoding)) in channels.iter().zip(&encodings).enumerate() {
        let Channel { topic, fields, .. } = channel;
        let signals = json!([{ "at": at, "topic": topic, "fields": fields }]).to_string();
        let fields = BTreeMap::from([("signals".to_owned(), signals)]);
        let schema = theirs.add_schema(&encoding.name, "protobuf", &encoding.schema).unwrap();
        theirs.add_channel(schema, &channel.topic, "protobuf", &fields).unwrap();
    }
    theirs.flush().unwrap();
    let mut ours = Recorder::create(Sink::memory(), &channels, &metadata, policy).unwrap();
    for k in 0..60 {
        // The third channel stays empty, as a flush does now and then.
        let i = usize::from(k % 3 == 0);
        let row = values(&channels[i], k);
        ours.record(RateId(i), &stamp(k), [&row[..]]).unwrap();
        let mut pattern = encodings[i].pattern.clone();
        pattern.fill(&stamp(k), [&row[..]]).unwrap();
        let header = mcap::records::MessageHeader {
            channel_id: i as u16 + 1,
            sequence: (if i == 1 { k / 3 } else { k - k / 3 - 1 }) as u32,
            log_time: stamp(k).t_ns,
            publish_time: stamp(k).t_ns,
        };
        theirs.write_to_known_channel(&header, pattern.bytes()).unwrap();
        if k % 20 == 7 {
            ours.flush().unwrap();
            ours.flush().unwrap();
            theirs.flush().unwrap();
        }
    }
    theirs.finish().unwrap();
    drop(theirs);
    let ours = ours.finish().unwrap().memory.unwrap();
    let first = ours.iter().zip(&bytes).position(|(a, b)| a != b);
    assert_eq!((first, ours.len()), (None, bytes.len()), "first byte that differs, length");
}

#[test]
fn a_cut_recording_is_read_to_its_last_whole_chunk() {
    let file = written(40, SMALL);
    let chunk_count = mcap::Summary::read(&file).unwrap().unwrap().chunk_indexes.len();
    assert!(chunk_count > 5, "{chunk_count} chunks");
    let mut last = 0;
    for cut in (mcap::MAGIC.len()..file.len()).step_by(307) {
        let recording = match Recording::from_bytes(file[..cut].to_vec()) {
            Ok(recording) => recording,
            Err(RecordingError::NoSignal { len }) => {
                assert_eq!((len, last), (cut, 0), "no rows before the first signal");
                continue;
            }
            Err(error) => panic!("cut at {cut}: {error}"),
        };
        let Ending::Truncated { at_byte } = recording.ending() else {
            panic!("cut at {cut} of {}: {:?}", file.len(), recording.ending());
        };
        assert!(at_byte <= cut);
        let mut instants = Vec::new();
        for series in recording.series_of_all() {
            let every = if series.channel().topic == "body.state" { 2 } else { 1 };
            let channel = if every == 2 { simple() } else { awkward() };
            assert_rows(series, &channel, every);
            instants.push(series.len() as u64 * every);
        }
        if let [all, half] = instants[..] {
            // No instant is torn: a row of the one channel never comes without that of the other.
            assert_eq!(half, all.next_multiple_of(2), "cut at {cut}");
            assert!(all >= last, "a longer file has no fewer rows");
            last = all;
        }
    }
    assert_eq!(last, 40, "a file cut in its indexes has all rows");
}

#[test]
fn bytes_behind_the_end_are_named() {
    let file = written(40, SMALL);
    for (more, found) in
        [(&file[..], "another one"), (b"\0", "other bytes"), (b"x,y", "other bytes")]
    {
        let error = Recording::from_bytes([&file, more].concat()).err().unwrap();
        let expected = format!(
            "expected the end of the recording at byte {}, found {found} behind it",
            file.len()
        );
        assert_eq!(error.to_string(), expected);
    }
    let alone = Recording::from_bytes(mcap::MAGIC.to_vec()).err().unwrap();
    let expected = "expected a recording, found the first 8 bytes of one, without a signal";
    assert_eq!(alone.to_string(), expected);
}

#[test]
fn a_killed_recorder_leaves_all_closed_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    let sink = Sink::file(&path).unwrap();
    let mut recorder = Recorder::create(sink, &[simple()], &metadata(), SMALL).unwrap();
    let on_disk = || Recording::open(&path).unwrap();
    // Before the first row a reader sees what the run is.
    assert_eq!(on_disk().metadata(), Some(&metadata()));
    assert_eq!(on_disk().channels().collect::<Vec<_>>(), [&simple()]);
    for k in 0..20 {
        let row = values(&simple(), k);
        recorder.record(RateId(0), &stamp(k), [&row[..]]).unwrap();
        // Chunks part at multiples of 7 ms of simulated time.
        assert_eq!(on_disk().series("body.state").unwrap().len() as u64, k / 7 * 7);
    }
    recorder.flush().unwrap();
    assert_eq!(on_disk().series("body.state").unwrap().len(), 20);
    // As if killed: neither finished nor dropped.
    std::mem::forget(recorder);
    let recording = on_disk();
    assert!(matches!(recording.ending(), Ending::Truncated { .. }));
    assert_rows(recording.series("body.state").unwrap(), &simple(), 1);
}

#[test]
fn damage_ends_the_reading_before_it() {
    let file = written(40, SMALL);
    let whole = Recording::from_bytes(file.clone()).unwrap();
    for at in (mcap::MAGIC.len()..file.len()).step_by(509) {
        let mut bytes = file.clone();
        bytes[at] ^= 0x10;
        // Damage may hit an index, where it is not detected, or a schema; rows are never wrong.
        let Ok(recording) = Recording::from_bytes(bytes) else { continue };
        for series in recording.series_of_all() {
            let Ok(original) = whole.series(&series.channel().topic) else { continue };
            for index in 0..series.len() {
                let (row, expected) = (series.row(index), original.row(index));
                assert_eq!(row.stamp, expected.stamp, "byte {at}");
                assert_eq!(bits(&row.values), bits(&expected.values), "byte {at}");
            }
        }
    }
}

#[test]
fn a_recording_without_rows_or_channels_is_whole() {
    for channels in [vec![], vec![awkward(), simple()]] {
        let recorder =
            Recorder::create(Sink::memory(), &channels, &Metadata::default(), SMALL).unwrap();
        let finished = recorder.finish().unwrap();
        assert_eq!(finished.row_count, 0);
        let recording = Recording::from_bytes(finished.memory.unwrap()).unwrap();
        assert_eq!(recording.ending(), Ending::Complete);
        assert_eq!(recording.metadata(), Some(&Metadata::default()));
        assert!(recording.channels().eq(&channels));
        assert!(recording.series_of_all().all(|series| series.is_empty()));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let twice = [simple(), simple()];
    let error = Recorder::create(Sink::null(), &twice, &metadata(), SMALL).err().unwrap();
    assert!(matches!(error, RecordingError::DuplicateTopic { .. }), "{error}");
    let nothing = Shape::Message("Nothing".into(), vec![]);
    for shape in [Shape::Vector(usize::MAX), Shape::Repeated(Box::new(nothing), 1 << 40)] {
        let channel = Channel::new("x", vec![Field::new("x", shape)]);
        let error = Recorder::create(Sink::null(), &[channel], &metadata(), SMALL).err().unwrap();
        assert!(matches!(error, RecordingError::RowTooLarge { .. }), "{error}");
    }
    let mut recorder = Recorder::create(Sink::memory(), &[simple()], &metadata(), SMALL).unwrap();
    for found in [0, 3, 5, 9] {
        let error = recorder.record(RateId(0), &stamp(0), [&[0.0; 9][..found]]).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("expected 4 values in a row of `body.state`, found {found}")
        );
    }
    let error = recorder.record(RateId(1), &stamp(0), []).unwrap_err();
    assert!(matches!(error, RecordingError::UnknownRate { index: 1, .. }), "{error}");
    let file = recorder.finish().unwrap().memory.unwrap();
    assert!(Recording::from_bytes(file).unwrap().series("body.state").unwrap().is_empty());
    assert!(matches!(
        Recording::from_bytes(vec![0; 99]),
        Err(RecordingError::NotMcap { found: "a binary file" })
    ));
}

/// A recording without rows that states these fields, one channel for each.
fn of_a_stranger(channels: &[Channel]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = mcap::write::NoSeek::new(&mut bytes);
    let mut out = mcap::WriteOptions::new().disable_seeking(true).create(&mut writer).unwrap();
    for channel in channels {
        // The schema of a vector does not say how long it is.
        let short = Channel::new(&channel.topic, vec![Field::new("x", Shape::Vector(1))]);
        let encoding = encodings(&[short]).remove(0);
        let signals = json!([{ "at": 0, "topic": channel.topic, "fields": channel.fields }]);
        let fields = BTreeMap::from([("signals".to_owned(), signals.to_string())]);
        let schema = out.add_schema(&encoding.name, "protobuf", &encoding.schema).unwrap();
        out.add_channel(schema, &channel.topic, "protobuf", &fields).unwrap();
    }
    out.finish().unwrap();
    drop(out);
    bytes
}

/// Names of half a gigabyte of values took tens of gigabytes, for a file of a few kilobytes.
#[test]
fn a_small_file_cannot_state_large_rows() {
    let vector =
        |i: usize, n| Channel::new(format!("t{i}"), vec![Field::new("x", Shape::Vector(n))]);
    let fair: Vec<Channel> = (0..20).map(|i| vector(i, 10_000)).collect();
    assert_eq!(Recording::from_bytes(of_a_stranger(&fair)).unwrap().channels().count(), 20);
    let long = Channel::new("t", vec![Field::new("x".repeat(50_000), Shape::Vector(50_000))]);
    let many: Vec<Channel> = (0..100).map(|i| vector(i, 500_000)).collect();
    for channels in [&[vector(0, 1 << 26)][..], &[long], &many, &[vector(0, usize::MAX)]] {
        let error = Recording::from_bytes(of_a_stranger(channels)).err().unwrap();
        assert!(matches!(error, RecordingError::OutOfProportion { .. }), "{error}");
    }
}

/// MCAP files of other programs are errors that name the program, even if they are cut off.
#[test]
fn files_of_other_programs_are_named() {
    let zstd = include_bytes!("other_program.mcap");
    let of = |bytes: &[u8]| Recording::from_bytes(bytes.to_vec()).err().map(|e| e.to_string());
    let expected = "expected a recording of legwork, found an MCAP file of `mcap-python/1.6.0`: \
                    its chunks are compressed by zstd, which is not read";
    assert_eq!(of(zstd).as_deref(), Some(expected));
    for cut in 60..zstd.len() {
        let found = of(&zstd[..cut]).unwrap_or_default();
        assert!(found.contains("an MCAP file of `mcap-python/1.6.0`"), "{cut}: {found}");
    }
    for messages in [0, 3] {
        for encoding in ["json", "cdr", "ros1", "protobuf", ""] {
            let mut bytes = std::io::Cursor::new(Vec::new());
            let options = mcap::WriteOptions::new().compression(None).library("recorder 7");
            let mut out = options.create(&mut bytes).unwrap();
            let schema = out.add_schema("imu", "jsonschema", b"{}").unwrap();
            let channel = out.add_channel(schema, "imu", encoding, &BTreeMap::new()).unwrap();
            for n in 0..messages {
                let header = mcap::records::MessageHeader {
                    channel_id: channel,
                    sequence: n,
                    log_time: u64::from(n),
                    publish_time: u64::from(n),
                };
                out.write_to_known_channel(&header, b"{}").unwrap();
            }
            out.finish().unwrap();
            drop(out);
            let bytes = bytes.into_inner();
            let found = of(&bytes).unwrap_or_default();
            assert!(found.contains("`recorder 7`"), "{encoding} {messages}: {found}");
            let found = of(&bytes[..bytes.len() - 9]).unwrap_or_default();
            assert!(found.contains("`recorder 7`"), "{encoding} {messages}: {found}");
        }
    }
}

/// Rows with decreasing times are damage: the rows before them are read.
#[test]
fn times_that_go_back_end_a_recording() {
    let channels = [simple()];
    let policy = ChunkPolicy::in_memory();
    let mut recorder = Recorder::create(Sink::memory(), &channels, &metadata(), policy).unwrap();
    for k in [0, 1, 1, 5, 4, 6] {
        recorder.record(RateId(0), &stamp(k), [values(&channels[0], k).as_slice()]).unwrap();
    }
    let damaged = Recording::from_bytes(recorder.finish().unwrap().memory.unwrap()).unwrap();
    assert!(matches!(damaged.ending(), Ending::Damaged { .. }), "{:?}", damaged.ending());
    let rows: Vec<Row> = damaged.rows("body.state").unwrap().collect();
    let times: Vec<f64> = rows.iter().map(|row| row.stamp.t).collect();
    assert_eq!(times, [0, 1, 1, 5].map(|k| stamp(k).t));
}

/// A chunk of compressed zeros, which are records that nobody knows, of nine bytes each.
fn chunk_of_nothing(len: usize) -> Vec<u8> {
    let mut frame = Vec::new();
    let packed = packed::pack(&vec![0; len], &mut frame).unwrap();
    frame.truncate(packed);
    let mut body = vec![0; 16];
    body.extend((len as u64).to_le_bytes());
    body.extend([0, 0, 0, 0, 3, 0, 0, 0]);
    body.extend(b"lz4");
    body.extend((frame.len() as u64).to_le_bytes());
    body.extend(frame);
    let mut chunk = vec![mcap::records::op::CHUNK];
    chunk.extend((body.len() as u64).to_le_bytes());
    chunk.extend(body);
    chunk
}

/// A megabyte of compressed chunks could hold a quarter of a gigabyte.
#[test]
fn a_small_file_cannot_hold_much() {
    let chunk = chunk_of_nothing(9 << 18);
    let bytes = [mcap::MAGIC.to_vec(), chunk.repeat(100)].concat();
    assert!(bytes.len() < 1_000_000);
    let recording = Recording::from_bytes(bytes.clone()).unwrap();
    let most = packed::most(bytes.len() as u64) as usize;
    let count = most / (9 << 18);
    assert!((30..60).contains(&count), "{count} of 100 chunks");
    let Ending::Damaged { at_byte } = recording.ending() else { panic!("read whole") };
    assert_eq!(at_byte, mcap::MAGIC.len() + count * chunk.len());
}

/// What readers refuse is not written: rows of zeros by the megabyte, compressed as far as it may
/// be.
#[test]
fn rows_that_never_change_stay_readable() {
    let wide = Channel::new("wide", vec![Field::new("value", Shape::Vector(1 << 17))]);
    let policy = ChunkPolicy::default();
    let mut recorder = Recorder::create(Sink::memory(), &[wide], &metadata(), policy).unwrap();
    for k in 0..120 {
        recorder.record(RateId(0), &stamp(k), [&[0.0; 1 << 17][..]]).unwrap();
    }
    let file = recorder.finish().unwrap().memory.unwrap();
    assert!(file.len() < 8 << 20, "{} bytes", file.len());
    let recording = Recording::from_bytes(file).unwrap();
    assert_eq!((recording.ending(), recording.row_count()), (Ending::Complete, 120));
}

/// The bound on memory is one: names as long as an index can make them, in every shape.
#[test]
fn names_and_rows_take_what_is_reckoned() {
    let deep = Shape::Repeated(Box::new(Shape::Matrix(12, 11)), 101);
    let channels = [awkward(), simple(), Channel::new("d", vec![Field::new("a name", deep)])];
    for channel in &channels {
        let names: usize =
            channel.columns().iter().map(|name| name.capacity() + size_of::<String>()).sum();
        let row = encodings(std::slice::from_ref(channel)).remove(0).pattern.len();
        let most = channel.memory();
        assert!((names + row) as u64 <= most, "{}: {names} + {row}, {most}", channel.topic);
    }
}

/// Messages of one name inside one another: each was made anew for each name that was tried, twice
/// at every depth.
#[test]
fn names_that_collide_take_no_time() {
    let leaf = |name: &str| Shape::Message("M".into(), vec![Field::new(name, Shape::Real)]);
    let mut shape = leaf("x");
    for _ in 0..60 {
        let fields = vec![Field::new("a", leaf("y")), Field::new("b", shape)];
        shape = Shape::Message("M".into(), fields);
    }
    let deep = Channel::new("deep", vec![Field::new("m", shape)]);
    // The first of each sixteen names that stand for the same identifier.
    let spelt = |i: usize| -> String {
        (0..5).map(|k| char::from(b" !\"#$%&'()*+,-./"[(i >> (4 * k)) & 15])).collect()
    };
    let wide = (0..100_000).map(|i| Field::new(spelt(i) + "x", Shape::Real)).collect();
    let of_messages =
        (0..20_000).map(|i| Field::new(format!("f{i}"), leaf(&format!("x{i}")))).collect();
    let channels = [deep, Channel::new("wide", wide), Channel::new("messages", of_messages)];
    let encodings = encodings(&channels);
    let last = |i: usize| {
        let set = FileDescriptorSet::decode(&*encodings[i].schema).unwrap();
        let row = set.file[1].message_type[0].nested_type[0].clone();
        (row.field.last().unwrap().name().to_owned(), row.nested_type.last().cloned())
    };
    assert_eq!(last(1).0, "_____x_100000");
    assert_eq!(last(2).1.unwrap().name(), "M_20000");
}

#[test]
fn a_full_disk_is_an_error() {
    struct FullDisk(usize);
    impl std::io::Write for FullDisk {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let is_full = |error: &RecordingError| match error {
        RecordingError::Write(e) => e.kind() == std::io::ErrorKind::StorageFull,
        _ => false,
    };
    for space in [0, 100, 5_000, 20_000] {
        let sink = Sink::stream(FullDisk(space));
        let error =
            Recorder::create(sink, &[simple()], &metadata(), SMALL).and_then(|mut recorder| {
                for k in 0..1000 {
                    recorder.record(RateId(0), &stamp(k), [&[0.0; 4][..]])?;
                }
                Ok(())
            });
        assert!(is_full(&error.unwrap_err()), "{space} bytes");
    }
    let missing = Sink::file("/no/such/folder/run.mcap").err().unwrap();
    assert!(matches!(missing, RecordingError::Create { .. }), "{missing}");
}
