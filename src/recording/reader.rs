//! Reads a recording, complete or truncated.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use std::ops::Range;

use mcap::records::{Channel as ChannelRecord, Record, op};

use super::channel::{Channel, Kind};
use super::chunk::{Chunk, LZ4, compression_of};
use super::container::PROTOBUF;
use super::error::RecordingError;
use super::layout::Pattern;
use super::lengths;
use super::metadata::Metadata;
use super::packed;
use super::rate;
use super::row::{Row, Stamp};
use super::schema;
use super::table::kind_of_file;
use super::writer::{Listed, SIGNALS_KEY, TOPIC_KEY};

/// Bytes of a record before its body: opcode and length.
const RECORD_HEAD: usize = 9;
/// Largest number of letters shown of another program's name.
const MOST_OF_NAME: usize = 60;
/// Bytes of a message's body before the row: channel 2, sequence 4, log and publish time 16.
const MESSAGE_HEAD: usize = 22;

/// How a file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// As the recorder closed it.
    Complete,
    /// In the middle of a record: the run was killed, or is still running.
    Truncated {
        /// Where the first incomplete record begins.
        at_byte: usize,
    },
    /// A record or the checksum of a chunk is wrong, or the times of a rate decrease; the rest was
    /// not read.
    Damaged {
        /// Where that record begins.
        at_byte: usize,
    },
}

/// A recording in memory.
pub struct Recording {
    bytes: Bytes,
    metadata: Option<Metadata>,
    tracks: Vec<Track>,
    signals: Vec<Signal>,
    topics: Vec<Topic>,
    ending: Ending,
}

/// A topic that is no rate, and where its messages are.
struct Topic {
    id: u16,
    name: String,
    schema: String,
    messages: Vec<(Place, u32)>,
}

/// The file, and behind it what its compressed chunks hold.
struct Bytes {
    file: Vec<u8>,
    unpacked: Vec<u8>,
}

/// The rows of one rate.
struct Track {
    id: u16,
    pattern: Pattern,
    rows: Vec<Place>,
    /// Time of the last row [s], [ns].
    last: (f64, u64),
}

/// A signal, which is a part of the rows of its rate.
struct Signal {
    /// Its place among all signals.
    at: usize,
    channel: Channel,
    columns: Vec<String>,
    track: usize,
    pieces: Range<usize>,
}

/// Where a row is, and its time.
#[derive(Clone, Copy)]
struct Place {
    at: usize,
    t_ns: u64,
}

/// A message of a topic that is no rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// The topic.
    pub topic: &'a str,
    /// Full name of its protobuf message.
    pub schema: &'a str,
    /// Simulated time [ns].
    pub t_ns: u64,
    /// The encoded message.
    pub body: &'a [u8],
}

/// The rows of one signal.
#[derive(Clone, Copy)]
pub struct Series<'a> {
    bytes: &'a Bytes,
    track: &'a Track,
    signal: &'a Signal,
}

impl Bytes {
    fn part(&self, at: usize, len: usize) -> &[u8] {
        match at.checked_sub(self.file.len()) {
            Some(at) => &self.unpacked[at..at + len],
            None => &self.file[at..at + len],
        }
    }
}

impl Recording {
    /// Reads a file. One that is cut off or damaged is read up to its last good chunk; see
    /// [`Recording::ending`].
    ///
    /// # Errors
    ///
    /// [`RecordingError::Open`], [`RecordingError::NotMcap`], or [`RecordingError::Foreign`] and
    /// [`RecordingError::ForeignChannel`] for a file that some other program wrote.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let path = path.as_ref();
        let failed = |source| RecordingError::Open { path: path.to_owned(), source };
        let mut file = File::open(path).map_err(failed)?;
        // What is no recording is refused by its first bytes: it may be large, or have no end.
        let mut bytes = Vec::new();
        file.by_ref().take(mcap::MAGIC.len() as u64).read_to_end(&mut bytes).map_err(failed)?;
        Self::refuse_others(&bytes)?;
        file.read_to_end(&mut bytes).map_err(failed)?;
        Self::from_bytes(bytes)
    }

    /// Reads a file that is in memory.
    ///
    /// # Errors
    ///
    /// As [`Recording::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, RecordingError> {
        Self::refuse_others(&bytes)?;
        let mut scan = Scan::default();
        let ending = scan.file(&bytes);
        scan.refuse_foreign(&bytes, ending)?;
        let topics = scan.take_topics();
        let (tracks, signals) = scan.tracks(bytes.len())?;
        let bytes = Bytes { file: bytes, unpacked: scan.unpacked };
        let mut out = Self { bytes, metadata: scan.metadata, tracks, signals, topics, ending };
        out.place(scan.rows);
        Ok(out)
    }

    /// Refuses the first bytes of a file that is not MCAP. The first eight are enough.
    ///
    /// # Errors
    ///
    /// [`RecordingError::NotMcap`].
    pub fn refuse_others(bytes: &[u8]) -> Result<(), RecordingError> {
        match bytes.starts_with(mcap::MAGIC) {
            true => Ok(()),
            false => {
                let found = kind_of_file(bytes).unwrap_or("other first bytes");
                Err(RecordingError::NotMcap { found })
            }
        }
    }

    /// Assigns the rows to their rates, up to the first that does not fit its own.
    fn place(&mut self, rows: Vec<FoundRow>) {
        let index: BTreeMap<u16, usize> =
            self.tracks.iter().enumerate().map(|(index, track)| (track.id, index)).collect();
        let topics: BTreeMap<u16, usize> =
            self.topics.iter().enumerate().map(|(index, topic)| (topic.id, index)).collect();
        for row in rows {
            if let Some(&topic) = topics.get(&row.channel) {
                let place = Place { at: row.at, t_ns: row.t_ns };
                self.topics[topic].messages.push((place, row.len));
                continue;
            }
            let track = index.get(&row.channel).map(|&index| &mut self.tracks[index]);
            let Some(track) = track.filter(|track| {
                if track.pattern.len() != row.len as usize {
                    return false;
                }
                let bytes = self.bytes.part(row.at, row.len as usize);
                let stamp = track.pattern.stamp(bytes, row.t_ns);
                // Times do not decrease; rows of one instant follow each other.
                stamp.is_some_and(|stamp| stamp.t >= track.last.0 && row.t_ns >= track.last.1)
            }) else {
                self.ending = Ending::Damaged { at_byte: row.record };
                return;
            };
            let bytes = self.bytes.part(row.at, row.len as usize);
            let t = track.pattern.stamp(bytes, row.t_ns).map_or(f64::NAN, |stamp| stamp.t);
            track.last = (t, row.t_ns);
            track.rows.push(Place { at: row.at, t_ns: row.t_ns });
        }
    }

    /// How the file ends.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// Metadata of the run; `None` if the file was truncated before them.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    /// The channels, in the order in which the recorder was given them.
    pub fn channels(&self) -> impl ExactSizeIterator<Item = &Channel> {
        self.signals.iter().map(|signal| &signal.channel)
    }

    /// How many rows there are: one for all signals of a rate at an instant.
    pub fn row_count(&self) -> usize {
        self.tracks.iter().map(|track| track.rows.len()).sum()
    }

    /// The rows of every channel, in the same order.
    pub fn series_of_all(&self) -> impl ExactSizeIterator<Item = Series<'_>> {
        let series = |signal| Series { bytes: &self.bytes, track: self.track_of(signal), signal };
        self.signals.iter().map(series)
    }

    /// Messages of the topics that are no rates, one topic after the other in the order in which
    /// they were added.
    pub fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        self.topics.iter().flat_map(|Topic { name, schema, messages, .. }| {
            messages.iter().map(|&(Place { at, t_ns }, len)| Message {
                topic: name,
                schema,
                t_ns,
                body: self.bytes.part(at, len as usize),
            })
        })
    }

    fn track_of(&self, signal: &Signal) -> &Track {
        &self.tracks[signal.track]
    }

    /// The rows of a topic.
    ///
    /// # Errors
    ///
    /// [`RecordingError::NoSuchTopic`].
    pub fn series(&self, topic: &str) -> Result<Series<'_>, RecordingError> {
        self.series_of_all().find(|series| series.signal.channel.topic == topic).ok_or_else(|| {
            RecordingError::NoSuchTopic {
                topic: topic.to_owned(),
                available: self.channels().map(|channel| channel.topic.clone()).collect(),
            }
        })
    }

    /// The rows of a topic, one by one.
    ///
    /// # Errors
    ///
    /// [`RecordingError::NoSuchTopic`].
    pub fn rows(&self, topic: &str) -> Result<impl Iterator<Item = Row> + '_, RecordingError> {
        let series = self.series(topic)?;
        Ok((0..series.len()).map(move |index| series.row(index)))
    }
}

impl<'a> Series<'a> {
    /// The channel.
    pub fn channel(&self) -> &'a Channel {
        &self.signal.channel
    }

    /// Names of the values of a row.
    pub fn columns(&self) -> &'a [String] {
        &self.signal.columns
    }

    /// Kinds of the values of a row.
    pub fn kinds(&self) -> Vec<Kind> {
        self.track.pattern.kinds(&self.signal.pieces)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.track.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.track.rows.is_empty()
    }

    /// Instant of a row.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`Series::len`].
    #[expect(clippy::expect_used, reason = "rows with another phase end the reading")]
    pub fn stamp(&self, index: usize) -> Stamp {
        let (row, t_ns) = self.raw(index);
        self.track.pattern.stamp(row, t_ns).expect("phases were checked when the file was opened")
    }

    /// A row.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`Series::len`].
    pub fn row(&self, index: usize) -> Row {
        let mut values = Vec::with_capacity(self.signal.columns.len());
        self.values_into(index, &mut values);
        Row { stamp: self.stamp(index), values }
    }

    /// The values of a row, replacing the contents of `out`.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`Series::len`].
    pub fn values_into(&self, index: usize, out: &mut Vec<f64>) {
        out.clear();
        self.track.pattern.read_into(&self.signal.pieces, self.raw(index).0, out);
    }

    /// One value over all rows, by the name of its column. None if there is no such column.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let Signal { columns, pieces, .. } = self.signal;
        let column = columns.iter().position(|column| column == name)?;
        let value = |index| self.track.pattern.value(pieces, self.raw(index).0, column);
        (0..self.len()).map(value).collect()
    }

    fn raw(&self, index: usize) -> (&'a [u8], u64) {
        let place = self.track.rows[index];
        (self.bytes.part(place.at, self.track.pattern.len()), place.t_ns)
    }
}

/// A row as found, before its rate is known.
struct FoundRow {
    channel: u16,
    len: u32,
    at: usize,
    /// Where the record begins that stands in the file: its own, or that of its chunk.
    record: usize,
    t_ns: u64,
}

/// The result of a walk over the file.
#[derive(Default)]
struct Scan {
    metadata: Option<Metadata>,
    schemas: BTreeMap<u16, (String, Vec<u8>)>,
    channels: BTreeMap<u16, ChannelRecord>,
    rows: Vec<FoundRow>,
    unpacked: Vec<u8>,
    /// Library that wrote the file, from its header.
    writer: Option<String>,
}

/// Records side by side in one stretch of bytes.
#[derive(Clone, Copy)]
struct Stretch<'a> {
    bytes: &'a [u8],
    /// What is added to a place in it for a place among all bytes.
    offset: usize,
    /// Where the compressed chunk begins that holds it.
    chunk: Option<usize>,
}

impl Scan {
    /// The topics without signals, which are not rates.
    fn take_topics(&mut self) -> Vec<Topic> {
        let is_topic = |channel: &ChannelRecord| channel.metadata.contains_key(TOPIC_KEY);
        let topics = self.channels.values().filter(|channel| is_topic(channel));
        let topics = topics.map(|channel| Topic {
            id: channel.id,
            name: channel.topic.clone(),
            schema: self.schemas.get(&channel.schema_id).map_or("", |(name, _)| name).to_owned(),
            messages: Vec::new(),
        });
        let topics = topics.collect();
        self.channels.retain(|_, channel| !is_topic(channel));
        topics
    }

    fn file(&mut self, bytes: &[u8]) -> Ending {
        let mut at = mcap::MAGIC.len();
        while let Some((opcode, end)) = record_at(bytes, at) {
            let good = match opcode {
                op::CHUNK => self.chunk(bytes, at, end),
                op::FOOTER if bytes[end..] == *mcap::MAGIC => return Ending::Complete,
                _ => self.record(Stretch { bytes, offset: 0, chunk: None }, opcode, at, end),
            };
            if good.is_none() {
                return Ending::Damaged { at_byte: at };
            }
            at = end;
        }
        Ending::Truncated { at_byte: at }
    }

    /// Refuses a file of another program from which nothing could be read.
    fn refuse_foreign(&self, bytes: &[u8], ending: Ending) -> Result<(), RecordingError> {
        let Some(writer) = &self.writer else { return Ok(()) };
        let is_ours = writer.starts_with("legwork ") || self.metadata.is_some();
        if is_ours || !self.channels.is_empty() {
            return Ok(());
        }
        let compression = match ending {
            Ending::Damaged { at_byte } => record_at(bytes, at_byte)
                .filter(|(opcode, _)| *opcode == op::CHUNK)
                .and_then(|(_, end)| compression_of(&bytes[at_byte + RECORD_HEAD..end])),
            _ => None,
        };
        let reason = match compression {
            Some(name) if name != LZ4 && !name.is_empty() => {
                let name: String = name.chars().filter(|c| c.is_alphanumeric()).take(16).collect();
                format!("its chunks are compressed by {name}, which is not read")
            }
            _ => "it has no signals of a diagram".to_owned(),
        };
        let writer = if writer.is_empty() { "another program".to_owned() } else { writer.clone() };
        Err(RecordingError::Foreign { writer, reason })
    }

    /// Reads the records of a chunk, none of them unless all are good.
    fn chunk(&mut self, bytes: &[u8], start: usize, end: usize) -> Option<()> {
        let chunk = Chunk::of(&bytes[start + RECORD_HEAD..end])?;
        let mut unpacked = std::mem::take(&mut self.unpacked);
        let (before, row_count) = (unpacked.len(), self.rows.len());
        let read = chunk.records(&mut unpacked, packed::most(bytes.len() as u64));
        let read = read.and_then(|records| {
            self.records(if chunk.is_packed() {
                let offset = bytes.len() + before;
                Stretch { bytes: records, offset, chunk: Some(start) }
            } else {
                Stretch { bytes: records, offset: end - records.len(), chunk: None }
            })
        });
        if read.is_none() {
            self.rows.truncate(row_count);
            unpacked.truncate(before);
        }
        self.unpacked = unpacked;
        read
    }

    fn records(&mut self, of: Stretch<'_>) -> Option<()> {
        let mut at = 0;
        while at < of.bytes.len() {
            let (opcode, end) = record_at(of.bytes, at)?;
            self.record(of, opcode, at, end)?;
            at = end;
        }
        Some(())
    }

    fn record(&mut self, of: Stretch<'_>, opcode: u8, start: usize, end: usize) -> Option<()> {
        let body = &of.bytes[start + RECORD_HEAD..end];
        match opcode {
            op::MESSAGE => {
                self.rows.push(FoundRow {
                    channel: u16::from_le_bytes(body.get(..2)?.try_into().ok()?),
                    t_ns: u64::from_le_bytes(body.get(6..14)?.try_into().ok()?),
                    len: u32::try_from(body.len().checked_sub(MESSAGE_HEAD)?).ok()?,
                    at: of.offset + start + RECORD_HEAD + MESSAGE_HEAD,
                    record: of.chunk.unwrap_or(of.offset + start),
                });
            }
            op::HEADER if self.writer.is_none() => {
                let text = |from: usize| -> Option<&str> {
                    let len = u32::from_le_bytes(body.get(from..from + 4)?.try_into().ok()?);
                    std::str::from_utf8(body.get(from + 4..)?.get(..len as usize)?).ok()
                };
                let library = text(0).and_then(|profile| text(4 + profile.len()));
                let is_plain = |c: &char| !c.is_control() && *c != '`';
                let library = library.unwrap_or_default().chars().filter(is_plain);
                self.writer = Some(library.take(MOST_OF_NAME).collect());
            }
            op::SCHEMA | op::CHANNEL | op::METADATA => {
                if !lengths::fit(opcode, body) {
                    return None;
                }
                match mcap::parse_record(opcode, body).ok()? {
                    Record::Schema { header, data } => {
                        self.schemas.insert(header.id, (header.name, data.into_owned()));
                    }
                    Record::Channel(channel) => {
                        self.channels.insert(channel.id, channel);
                    }
                    Record::Metadata(record) => {
                        self.metadata = Metadata::from_record(record).or(self.metadata.take());
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        Some(())
    }

    /// The rates and the signals, provided that their schemas are those that this version would
    /// have written: only then are the positions of the values known.
    ///
    /// What they take is held against the size of the file: its few digits may state any number.
    fn tracks(&self, file_size: usize) -> Result<(Vec<Track>, Vec<Signal>), RecordingError> {
        let most = (file_size as u64).saturating_mul(64).saturating_add(64_000_000);
        let mut memory = 0u64;
        let (mut places, mut channels) = (Vec::new(), Vec::new());
        let mut topics = BTreeSet::new();
        for record in self.channels.values() {
            let foreign = |reason: &str| foreign(&record.topic, reason);
            let json = record.metadata.get(SIGNALS_KEY);
            if record.message_encoding != PROTOBUF || json.is_none() {
                let plain = |c: &char| c.is_alphanumeric() || "-_/".contains(*c);
                let encoding: String =
                    record.message_encoding.chars().filter(plain).take(MOST_OF_NAME).collect();
                let writer = self.writer.as_deref().filter(|writer| !writer.is_empty());
                let writer = writer.unwrap_or("another program");
                return Err(foreign(&format!(
                    "its messages are {encoding} without a list of signals, and the file was \
                     written by `{writer}`"
                )));
            }
            let json = json.map_or("", String::as_str);
            let listed: Vec<Listed<'_>> = serde_json::from_str(json)
                .map_err(|error| foreign(&format!("its signals do not parse: {error}")))?;
            if listed.is_empty() || !topics.insert(&record.topic) {
                return Err(foreign("it has no signals, or a name that another has"));
            }
            for signal in listed {
                let channel = Channel::new(signal.topic, signal.fields.into_owned());
                let channel = channel.at(&record.topic);
                memory = memory.saturating_add(channel.memory());
                if memory > most {
                    return Err(RecordingError::OutOfProportion { topic: channel.topic });
                }
                places.push(signal.at);
                channels.push(channel);
            }
        }
        let groups = rate::groups(&channels);
        let (mut tracks, mut signals) = (Vec::new(), Vec::new());
        let records = self.channels.values();
        for (record, (group, encoding)) in
            records.zip(groups.iter().zip(schema::encodings(&groups)))
        {
            let topic = &record.topic;
            let schema = self.schemas.get(&record.schema_id);
            let (name, data) = schema.ok_or_else(|| foreign(topic, "its schema is missing"))?;
            if *name != encoding.name || *data != encoding.schema {
                return Err(foreign(topic, "its schema is not that of its signals"));
            }
            for (&(place, channel), pieces) in group.channels.iter().zip(encoding.pieces) {
                signals.push(Signal {
                    at: places[place],
                    channel: channel.clone(),
                    columns: channel.columns(),
                    track: tracks.len(),
                    pieces,
                });
            }
            let last = (f64::NEG_INFINITY, 0);
            tracks.push(Track { id: record.id, pattern: encoding.pattern, rows: Vec::new(), last });
        }
        signals.sort_by_key(|signal| signal.at);
        Ok((tracks, signals))
    }
}

fn foreign(topic: &str, reason: &str) -> RecordingError {
    RecordingError::ForeignChannel { topic: topic.to_owned(), reason: reason.to_owned() }
}

/// Opcode and end of the record at `at`, if it is whole.
fn record_at(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    let head = bytes.get(at..)?.first_chunk::<RECORD_HEAD>()?;
    let [opcode, len @ ..] = *head;
    let len = usize::try_from(u64::from_le_bytes(len)).ok()?;
    let end = (at + RECORD_HEAD).checked_add(len)?;
    (end <= bytes.len()).then_some((opcode, end))
}
