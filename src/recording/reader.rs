//! Reads a recording, complete or truncated.

use std::collections::BTreeMap;
use std::path::Path;

use mcap::records::{Channel as ChannelRecord, Record, op};
use mcap::sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions};

use super::channel::{Channel, Field, Kind};
use super::container::PROTOBUF;
use super::error::RecordingError;
use super::layout::Pattern;
use super::lengths;
use super::metadata::Metadata;
use super::row::{Row, Stamp};
use super::schema;
use super::writer::FIELDS_KEY;

/// Bytes of a record before its body: opcode and length.
const RECORD_HEAD: usize = 9;
/// Bytes of a message's body before the row: channel 2, sequence 4, log and publish time 16.
const MESSAGE_HEAD: usize = 22;
/// Bytes of an uncompressed chunk's body before its records: times 16, sizes 16, checksum 4, the
/// length of no name 4.
const CHUNK_HEAD: usize = 40;

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
    /// A record, or the checksum of a chunk, is wrong; what follows was not read.
    Damaged {
        /// Where that record begins.
        at_byte: usize,
    },
}

/// A recording in memory.
pub struct Recording {
    bytes: Vec<u8>,
    metadata: Option<Metadata>,
    tracks: Vec<Track>,
    ending: Ending,
}

struct Track {
    id: u16,
    channel: Channel,
    columns: Vec<String>,
    pattern: Pattern,
    rows: Vec<Place>,
}

/// Where a row is in the file, and its time.
#[derive(Clone, Copy)]
struct Place {
    at: usize,
    t_ns: u64,
}

/// The rows of one topic.
#[derive(Clone, Copy)]
pub struct Series<'a> {
    bytes: &'a [u8],
    track: &'a Track,
}

impl Recording {
    /// Reads a file. One that is cut off or damaged is read up to its last good chunk; see
    /// [`Recording::ending`].
    ///
    /// # Errors
    ///
    /// [`RecordingError::Open`], [`RecordingError::NotMcap`], or
    /// [`RecordingError::ForeignChannel`] for a file that some other program wrote.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path)
            .map_err(|source| RecordingError::Open { path: path.to_owned(), source })?;
        Self::from_bytes(bytes)
    }

    /// Reads a file that is in memory.
    ///
    /// # Errors
    ///
    /// As [`Recording::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, RecordingError> {
        if !bytes.starts_with(mcap::MAGIC) {
            return Err(RecordingError::NotMcap);
        }
        let mut scan = Scan::default();
        let ending = scan.file(&bytes);
        let tracks = scan.tracks(bytes.len())?;
        let mut out = Self { bytes, metadata: scan.metadata, tracks, ending };
        out.place(scan.rows);
        Ok(out)
    }

    /// Assigns the rows to their channels, up to the first that does not fit its own.
    fn place(&mut self, rows: Vec<FoundRow>) {
        let index: BTreeMap<u16, usize> =
            self.tracks.iter().enumerate().map(|(index, track)| (track.id, index)).collect();
        for row in rows {
            let track = index.get(&row.channel).map(|&index| &mut self.tracks[index]);
            let Some(track) = track.filter(|track| {
                track.pattern.len() == row.len
                    && track.pattern.stamp(&self.bytes[row.at..row.at + row.len], 0).is_some()
            }) else {
                self.ending = Ending::Damaged { at_byte: row.at - MESSAGE_HEAD - RECORD_HEAD };
                return;
            };
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
        self.tracks.iter().map(|track| &track.channel)
    }

    /// The rows of every channel, in the same order.
    pub fn series_of_all(&self) -> impl ExactSizeIterator<Item = Series<'_>> {
        self.tracks.iter().map(|track| Series { bytes: &self.bytes, track })
    }

    /// The rows of a topic.
    ///
    /// # Errors
    ///
    /// [`RecordingError::NoSuchTopic`].
    pub fn series(&self, topic: &str) -> Result<Series<'_>, RecordingError> {
        self.series_of_all().find(|series| series.track.channel.topic == topic).ok_or_else(|| {
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
        &self.track.channel
    }

    /// Names of the values of a row.
    pub fn columns(&self) -> &'a [String] {
        &self.track.columns
    }

    /// Kinds of the values of a row.
    pub fn kinds(&self) -> Vec<Kind> {
        self.track.pattern.kinds()
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
        let mut values = Vec::with_capacity(self.track.columns.len());
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
        self.track.pattern.read_into(self.raw(index).0, out);
    }

    /// One value over all rows, by the name of its column. None if there is no such column.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let column = self.track.columns.iter().position(|column| column == name)?;
        (0..self.len()).map(|index| self.track.pattern.value(self.raw(index).0, column)).collect()
    }

    fn raw(&self, index: usize) -> (&'a [u8], u64) {
        let place = self.track.rows[index];
        (&self.bytes[place.at..place.at + self.track.pattern.len()], place.t_ns)
    }
}

/// A row as found, before its channel is known.
struct FoundRow {
    channel: u16,
    at: usize,
    len: usize,
    t_ns: u64,
}

/// The result of a walk over the file.
#[derive(Default)]
struct Scan {
    metadata: Option<Metadata>,
    schemas: BTreeMap<u16, (String, Vec<u8>)>,
    channels: BTreeMap<u16, ChannelRecord>,
    rows: Vec<FoundRow>,
}

impl Scan {
    fn file(&mut self, bytes: &[u8]) -> Ending {
        let mut at = mcap::MAGIC.len();
        while let Some((opcode, end)) = record_at(bytes, at) {
            let good = match opcode {
                op::CHUNK => self.chunk(bytes, at, end),
                op::FOOTER if bytes[end..] == *mcap::MAGIC => return Ending::Complete,
                _ => self.record(bytes, opcode, at, end),
            };
            if good.is_none() {
                return Ending::Damaged { at_byte: at };
            }
            at = end;
        }
        Ending::Truncated { at_byte: at }
    }

    /// Reads the records of a chunk, none of them unless all are good.
    fn chunk(&mut self, bytes: &[u8], start: usize, end: usize) -> Option<()> {
        let body = &bytes[start + RECORD_HEAD..end];
        if !lengths::fit(op::CHUNK, body) {
            return None;
        }
        let Ok(Record::Chunk { header, data }) = mcap::parse_record(op::CHUNK, body) else {
            return None;
        };
        // Rows are read in place, so the data must fill the chunk as it is. A stated size that is
        // not that of the data would be allocated to check the sum.
        let plain = header.compression.is_empty()
            && data.len() + CHUNK_HEAD == body.len()
            && header.uncompressed_size == data.len() as u64;
        if !plain || !checksum_holds(&bytes[start..end]) {
            return None;
        }
        let (mut at, row_count) = (end - data.len(), self.rows.len());
        while at < end {
            let step = record_at(&bytes[..end], at).and_then(|(opcode, next)| {
                self.record(bytes, opcode, at, next)?;
                Some(next)
            });
            let Some(next) = step else {
                self.rows.truncate(row_count);
                return None;
            };
            at = next;
        }
        Some(())
    }

    fn record(&mut self, bytes: &[u8], opcode: u8, start: usize, end: usize) -> Option<()> {
        let body = &bytes[start + RECORD_HEAD..end];
        match opcode {
            op::MESSAGE => {
                self.rows.push(FoundRow {
                    channel: u16::from_le_bytes(body.get(..2)?.try_into().ok()?),
                    t_ns: u64::from_le_bytes(body.get(6..14)?.try_into().ok()?),
                    at: start + RECORD_HEAD + MESSAGE_HEAD,
                    len: body.len().checked_sub(MESSAGE_HEAD)?,
                });
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

    /// The channels, provided that their schemas are those that this version would have written:
    /// only then are the positions of the values known.
    ///
    /// What they take is held against the size of the file: its few digits may state any number.
    fn tracks(&self, file_size: usize) -> Result<Vec<Track>, RecordingError> {
        let most = (file_size as u64).saturating_mul(64).saturating_add(64_000_000);
        let mut memory = 0u64;
        let mut found = Vec::with_capacity(self.channels.len());
        for record in self.channels.values() {
            let foreign = |reason: &str| RecordingError::ForeignChannel {
                topic: record.topic.clone(),
                reason: reason.to_owned(),
            };
            if record.message_encoding != PROTOBUF {
                return Err(foreign("its rows are no protobuf"));
            }
            let json =
                record.metadata.get(FIELDS_KEY).ok_or_else(|| foreign("it lists no fields"))?;
            let fields: Vec<Field> = serde_json::from_str(json)
                .map_err(|error| foreign(&format!("its fields do not parse: {error}")))?;
            let channel = Channel::new(record.topic.clone(), fields);
            memory = memory.saturating_add(channel.memory());
            if memory > most {
                return Err(RecordingError::OutOfProportion { topic: channel.topic });
            }
            let schema = self
                .schemas
                .get(&record.schema_id)
                .ok_or_else(|| foreign("its schema is missing"))?;
            found.push((
                record.id,
                channel,
                schema,
                foreign("its schema is not that of its fields"),
            ));
        }
        let encodings = schema::encodings(found.iter().map(|(_, channel, ..)| channel));
        let mut tracks = Vec::with_capacity(found.len());
        for ((id, channel, (name, data), mismatch), encoding) in found.into_iter().zip(encodings) {
            if *name != encoding.name || *data != encoding.schema {
                return Err(mismatch);
            }
            let (columns, pattern) = (channel.columns(), encoding.pattern);
            tracks.push(Track { id, channel, columns, pattern, rows: Vec::new() });
        }
        Ok(tracks)
    }
}

/// Opcode and end of the record at `at`, if it is whole.
fn record_at(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    let head = bytes.get(at..)?.first_chunk::<RECORD_HEAD>()?;
    let [opcode, len @ ..] = *head;
    let len = usize::try_from(u64::from_le_bytes(len)).ok()?;
    let end = (at + RECORD_HEAD).checked_add(len)?;
    (end <= bytes.len()).then_some((opcode, end))
}

/// Whether the checksum of a chunk record is that of its data.
fn checksum_holds(record: &[u8]) -> bool {
    let mut reader = LinearReader::new_with_options(
        LinearReaderOptions::default()
            .with_skip_start_magic(true)
            .with_skip_end_magic(true)
            .with_prevalidate_chunk_crcs(true)
            .with_record_length_limit(record.len()),
    );
    let mut rest = record;
    while let Some(event) = reader.next_event() {
        match event {
            Ok(LinearReadEvent::ReadRequest(need)) => {
                let (now, later) = rest.split_at(need.min(rest.len()));
                reader.insert(now.len()).copy_from_slice(now);
                reader.notify_read(now.len());
                rest = later;
            }
            // The first record comes out only after the checksum of them all was found right.
            Ok(LinearReadEvent::Record { .. }) => return true,
            Err(_) => return false,
        }
    }
    true
}
