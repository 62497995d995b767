//! Walks over the records of a file: rates, signals, topics, and where rows are.

use std::collections::{BTreeMap, BTreeSet};

use mcap::records::{Channel as ChannelRecord, Record, op};

use super::{Ending, Signal, Topic, Track};
use crate::channel::Channel;
use crate::chunk::{Chunk, LZ4, compression_of};
use crate::container::PROTOBUF;
use crate::error::RecordingError;
use crate::lengths;
use crate::metadata::Metadata;
use crate::packed;
use crate::rate;
use crate::schema;
use crate::writer::{Listed, SIGNALS_KEY, TOPIC_KEY};

/// Bytes of a record before its body: opcode and length.
const RECORD_HEAD: usize = 9;
/// Largest number of letters shown of another program's name.
const MOST_OF_NAME: usize = 60;
/// Bytes of a message's body before the row: channel 2, sequence 4, log and publish time 16.
const MESSAGE_HEAD: usize = 22;

/// A row as found, before its rate is known.
pub(super) struct FoundRow {
    pub(super) channel: u16,
    pub(super) len: u32,
    pub(super) at: usize,
    /// Where the record begins that stands in the file: its own, or that of its chunk.
    pub(super) record: usize,
    pub(super) t_ns: u64,
}

/// The result of a walk over the file.
#[derive(Default)]
pub(super) struct Scan {
    pub(super) metadata: Option<Metadata>,
    schemas: BTreeMap<u16, (String, Vec<u8>)>,
    channels: BTreeMap<u16, ChannelRecord>,
    pub(super) rows: Vec<FoundRow>,
    pub(super) unpacked: Vec<u8>,
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
    pub(super) fn take_topics(&mut self) -> Vec<Topic> {
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

    pub(super) fn file(&mut self, bytes: &[u8]) -> Result<Ending, RecordingError> {
        let mut at = mcap::MAGIC.len();
        while let Some((opcode, end)) = record_at(bytes, at) {
            let rest = bytes.get(end..).unwrap_or_default();
            let good = match opcode {
                op::CHUNK => self.chunk(bytes, at, end),
                op::FOOTER if rest.starts_with(mcap::MAGIC) => {
                    let at_byte = end + mcap::MAGIC.len();
                    let found = match &bytes[at_byte..] {
                        [] => return Ok(Ending::Complete),
                        more if more.starts_with(mcap::MAGIC) => "another one",
                        _ => "other bytes",
                    };
                    return Err(RecordingError::MoreBehind { at_byte, found });
                }
                _ => self.record(Stretch { bytes, offset: 0, chunk: None }, opcode, at, end),
            };
            if good.is_none() {
                return Ok(Ending::Damaged { at_byte: at });
            }
            at = end;
        }
        Ok(Ending::Truncated { at_byte: at })
    }

    /// Refuses a file from which nothing could be read: of another program, or with its head alone.
    pub(super) fn refuse_empty(&self, bytes: &[u8], ending: Ending) -> Result<(), RecordingError> {
        if !self.channels.is_empty() {
            return Ok(());
        }
        let is_ours = |writer: &&String| writer.starts_with("legwork ") || self.metadata.is_some();
        let Some(writer) = self.writer.as_ref().filter(|writer| !is_ours(writer)) else {
            return match ending {
                Ending::Truncated { .. } => Err(RecordingError::NoSignal { len: bytes.len() }),
                _ => Ok(()),
            };
        };
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
    pub(super) fn tracks(
        &self,
        file_size: usize,
    ) -> Result<(Vec<Track>, Vec<Signal>), RecordingError> {
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
