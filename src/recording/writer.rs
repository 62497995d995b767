//! Writes a recording.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::channel::{Channel, Field};
use super::container::{Container, Rewind};
use super::error::RecordingError;
use super::layout::Pattern;
use super::metadata::{Metadata, RECORD};
use super::rate::{self, Group, RateId};
use super::row::Stamp;
use super::schema;

/// Key of the metadata of a rate that holds its signals as JSON, a list of [`Listed`].
pub(super) const SIGNALS_KEY: &str = "signals";

/// Key of the metadata of a topic that has no signals.
pub(super) const TOPIC_KEY: &str = "topic";

/// A signal of a rate.
#[derive(Serialize, Deserialize)]
pub(super) struct Listed<'a> {
    /// Its place among the signals of all rates.
    pub(super) at: usize,
    pub(super) topic: Cow<'a, str>,
    pub(super) fields: Cow<'a, [Field]>,
}

/// When a chunk closes: a killed run loses the chunk that is open.
///
/// Both limits are tested between instants, so the rows of one instant stay together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPolicy {
    /// Size from which a chunk is full [bytes].
    pub bytes: u64,
    /// Simulated time of a chunk [ns]: chunks part at its whole multiples. 0 is no limit.
    pub period_ns: u64,
    /// Whether chunks are compressed, those that shrink to a third.
    pub lz4: bool,
}

impl Default for ChunkPolicy {
    /// 1 MiB or 0.5 s of simulated time, whichever comes first, compressed.
    fn default() -> Self {
        Self { bytes: 1 << 20, period_ns: 500_000_000, lz4: true }
    }
}

impl ChunkPolicy {
    /// For a recording that stays in memory: the same, not compressed.
    pub fn in_memory() -> Self {
        Self { lz4: false, ..Self::default() }
    }
}

/// A topic of messages with a schema of their own, for other programs to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Name; no rate has it.
    pub name: String,
    /// Full name of the protobuf message, such as `foxglove.SceneUpdate`.
    pub schema_name: String,
    /// The encoded `FileDescriptorSet` of it and of all that it holds.
    pub schema: Vec<u8>,
}

/// Index of a topic among those that were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicId(pub usize);

/// Where a recording goes.
pub struct Sink(Option<Output>);

enum Output {
    File(File),
    Memory(Vec<u8>),
    Stream(Box<dyn Write + Send>),
}

impl Sink {
    /// A new file; one that exists is replaced.
    ///
    /// # Errors
    ///
    /// [`RecordingError::Create`].
    pub fn file(path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let path = path.as_ref();
        let file = File::create(path)
            .map_err(|source| RecordingError::Create { path: path.to_owned(), source })?;
        Ok(Self(Some(Output::File(file))))
    }

    /// A file that is open for writing.
    pub fn of(file: File) -> Self {
        Self(Some(Output::File(file)))
    }

    /// Memory, which [`Recorder::finish`] hands back.
    pub fn memory() -> Self {
        Self(Some(Output::Memory(Vec::new())))
    }

    /// Any stream. It is only ever appended to.
    pub fn stream(stream: impl Write + Send + 'static) -> Self {
        Self(Some(Output::Stream(Box::new(stream))))
    }

    /// No output: rows are counted and dropped.
    pub fn null() -> Self {
        Self(None)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Memory(memory) => memory.write(bytes),
            Self::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Memory(memory) => memory.flush(),
            Self::Stream(stream) => stream.flush(),
        }
    }
}

impl Rewind for Output {
    fn rewind(&mut self, to: u64) -> io::Result<()> {
        match self {
            Self::File(file) => {
                file.set_len(to)?;
                file.seek(SeekFrom::Start(to)).map(drop)
            }
            Self::Memory(memory) => {
                memory.truncate(usize::try_from(to).unwrap_or(usize::MAX));
                Ok(())
            }
            Self::Stream(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

/// Result of a finished recorder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finished {
    /// Rows recorded, over all rates.
    pub row_count: u64,
    /// The file, if the sink was [`Sink::memory`].
    pub memory: Option<Vec<u8>>,
}

struct Track {
    rate: String,
    /// Its place among the container's channels.
    place: usize,
    sequence: u32,
    pattern: Pattern,
}

/// Writes rows immediately.
///
/// A recorder that is dropped closes its file as [`Recorder::finish`] does, but reports nothing.
pub struct Recorder {
    writer: Option<Container<Output>>,
    tracks: Vec<Track>,
    /// Places and sequence numbers of the topics.
    topics: Vec<(usize, u32)>,
    policy: ChunkPolicy,
    /// Time of the last row of the chunk [ns]; `None` in a chunk without rows.
    last_ns: Option<u64>,
    row_count: u64,
}

impl Recorder {
    /// Starts a recording: metadata, schemas and channels are in the file when this returns.
    ///
    /// # Errors
    ///
    /// Two channels of one topic, a row beyond 2²⁶ values, more than 65 535 rates, or a sink that
    /// fails.
    pub fn create(
        sink: Sink,
        channels: &[Channel],
        metadata: &Metadata,
        policy: ChunkPolicy,
    ) -> Result<Self, RecordingError> {
        let mut topics = BTreeSet::new();
        for Channel { topic, .. } in channels {
            if !topics.insert(topic) {
                return Err(RecordingError::DuplicateTopic { topic: topic.clone() });
            }
        }
        let groups = rate::groups(channels);
        let of = |group: &Group<'_>| Channel::fit(group.channels.iter().map(|(_, one)| *one));
        if let Some(group) = groups.iter().find(|group| !of(group)) {
            return Err(RecordingError::RowTooLarge { topic: group.name.to_owned() });
        }
        let library = format!("legwork {}", metadata.version);
        let mut writer = sink.0.map(|output| Container::new(output, &library, policy.lz4));
        if let Some(writer) = &mut writer {
            writer.add_metadata(RECORD, &metadata.texts());
        }
        let mut tracks = Vec::with_capacity(groups.len());
        for (group, encoding) in groups.iter().zip(schema::encodings(&groups)) {
            let place = match &mut writer {
                Some(writer) => declare(writer, group, &encoding)?,
                None => 0,
            };
            let pattern = encoding.pattern;
            tracks.push(Track { rate: group.name.to_owned(), place, sequence: 0, pattern });
        }
        if let Some(writer) = &mut writer {
            writer.flush()?;
        }
        Ok(Self { writer, tracks, topics: Vec::new(), policy, last_ns: None, row_count: 0 })
    }

    /// Adds a topic, which is in the file when this returns. Messages of topics are no rows: they
    /// are not counted, and [`Recording`](crate::Recording) keeps them apart.
    ///
    /// # Errors
    ///
    /// [`RecordingError::DuplicateTopic`] if a rate has its name, or a sink that fails.
    pub fn add_topic(&mut self, topic: &Topic) -> Result<TopicId, RecordingError> {
        if self.tracks.iter().any(|track| track.rate == topic.name) {
            return Err(RecordingError::DuplicateTopic { topic: topic.name.clone() });
        }
        let mut place = 0;
        if let Some(writer) = &mut self.writer {
            let metadata = BTreeMap::from([(TOPIC_KEY.to_owned(), String::new())]);
            let schema = (&*topic.schema_name, &*topic.schema);
            place = writer.add_channel(&topic.name, schema, &metadata)?;
            writer.flush()?;
        }
        self.topics.push((place, 0));
        Ok(TopicId(self.topics.len() - 1))
    }

    /// Appends an encoded message of a topic at `t_ns`.
    ///
    /// # Errors
    ///
    /// [`RecordingError::UnknownRate`] if there is no such topic; [`RecordingError::Write`] if the
    /// sink fails.
    pub fn message(
        &mut self,
        topic: TopicId,
        t_ns: u64,
        message: &[u8],
    ) -> Result<(), RecordingError> {
        let rate_count = self.topics.len();
        let (place, sequence) = self
            .topics
            .get_mut(topic.0)
            .ok_or(RecordingError::UnknownRate { index: topic.0, rate_count })?;
        if let Some(writer) = &mut self.writer {
            if closes_before(self.last_ns, t_ns, writer.chunk_len(), self.policy) {
                writer.flush()?;
            }
            writer.add_message(*place, *sequence, t_ns, message);
            self.last_ns = Some(t_ns);
        }
        *sequence = sequence.wrapping_add(1);
        Ok(())
    }

    /// Appends a row of a rate.
    ///
    /// The leaves are the values of its channels in order, each in that of [`Channel::columns`], in
    /// as many slices as suits the caller. The stamps of a rate must not go back in time.
    /// Recording a row allocates nothing once the buffers have the size of a chunk; closing a chunk
    /// lengthens the index of chunks.
    ///
    /// # Errors
    ///
    /// [`RecordingError::ValueCount`] or [`RecordingError::UnknownRate`], with nothing written;
    /// [`RecordingError::Write`] if the sink fails.
    pub fn record<'a>(
        &mut self,
        rate: RateId,
        stamp: &Stamp,
        leaves: impl IntoIterator<Item = &'a [f64]>,
    ) -> Result<(), RecordingError> {
        let rate_count = self.tracks.len();
        let track = self
            .tracks
            .get_mut(rate.0)
            .ok_or(RecordingError::UnknownRate { index: rate.0, rate_count })?;
        if let Some(writer) = &mut self.writer {
            track.pattern.fill(stamp, leaves).map_err(|found| RecordingError::ValueCount {
                rate: track.rate.clone(),
                expected: track.pattern.value_count(),
                found,
            })?;
            if closes_before(self.last_ns, stamp.t_ns, writer.chunk_len(), self.policy) {
                writer.flush()?;
            }
            let row = track.pattern.bytes();
            writer.add_message(track.place, track.sequence, stamp.t_ns, row);
            self.last_ns = Some(stamp.t_ns);
        }
        track.sequence = track.sequence.wrapping_add(1);
        self.row_count += 1;
        Ok(())
    }

    /// Records a row as the body of its message in another file of these channels.
    pub(super) fn record_raw(&mut self, body: &[u8]) -> Result<(), RecordingError> {
        let wrong = || RecordingError::Write(io::ErrorKind::InvalidData.into());
        let (head, row) = body.split_first_chunk::<22>().ok_or_else(wrong)?;
        let place = usize::from(u16::from_le_bytes([head[0], head[1]])).wrapping_sub(1);
        let t_ns = u64::from_le_bytes(std::array::from_fn(|i| head[6 + i]));
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let track = self.tracks.iter_mut().find(|track| track.place == place);
        let track = track.filter(|track| track.pattern.len() == row.len()).ok_or_else(wrong)?;
        if closes_before(self.last_ns, t_ns, writer.chunk_len(), self.policy) {
            writer.flush()?;
        }
        writer.add_message(track.place, track.sequence, t_ns, row);
        self.last_ns = Some(t_ns);
        track.sequence = track.sequence.wrapping_add(1);
        self.row_count += 1;
        Ok(())
    }

    /// Writes the open chunk without closing it: a file holds all rows so far, and its bytes will
    /// be the same as if this had not been called.
    ///
    /// # Errors
    ///
    /// [`RecordingError::Write`], also if the sink is a stream.
    pub fn show(&mut self) -> Result<(), RecordingError> {
        if let Some(writer) = &mut self.writer {
            writer.show()?;
        }
        Ok(())
    }

    /// Leaves the file as it is.
    pub(super) fn forget(mut self) {
        if let Some(writer) = &mut self.writer {
            writer.forget();
        }
    }

    /// Closes the open chunk, so that the rows so far survive a crash.
    ///
    /// # Errors
    ///
    /// [`RecordingError::Write`].
    pub fn flush(&mut self) -> Result<(), RecordingError> {
        if let Some(writer) = &mut self.writer {
            writer.flush()?;
        }
        self.last_ns = None;
        Ok(())
    }

    /// Rows recorded so far, over all rates.
    pub fn row_count(&self) -> u64 {
        self.row_count
    }

    /// Closes the file with its indexes.
    ///
    /// # Errors
    ///
    /// [`RecordingError::Write`].
    pub fn finish(mut self) -> Result<Finished, RecordingError> {
        let mut memory = None;
        if let Some(mut writer) = self.writer.take()
            && let Output::Memory(bytes) = writer.finish()?
        {
            memory = Some(bytes);
        }
        Ok(Finished { row_count: self.row_count, memory })
    }
}

/// Whether a row at this time belongs to the next chunk, after one at `last` if there is one.
fn closes_before(last: Option<u64>, t_ns: u64, bytes: u64, policy: ChunkPolicy) -> bool {
    let slot = |t_ns: u64| t_ns.checked_div(policy.period_ns);
    last.is_some_and(|last| last != t_ns && (bytes >= policy.bytes || slot(last) != slot(t_ns)))
}

fn declare(
    writer: &mut Container<Output>,
    group: &Group<'_>,
    encoding: &schema::Encoding,
) -> Result<usize, RecordingError> {
    let listed = |&(at, channel): &(usize, &Channel)| {
        let Channel { topic, fields, .. } = channel;
        serde_json::to_value(Listed { at, topic: topic.into(), fields: fields.into() })
    };
    let signals: Result<serde_json::Value, _> = group.channels.iter().map(listed).collect();
    let signals = signals.map_err(io::Error::from)?.to_string();
    let metadata = BTreeMap::from([(SIGNALS_KEY.to_owned(), signals)]);
    let schema = (&*encoding.name, &*encoding.schema);
    Ok(writer.add_channel(group.name, schema, &metadata)?)
}
