//! Reads a recording, complete or truncated.

mod scan;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;

use self::scan::{FoundRow, Scan};
use super::channel::{Channel, Kind};
use super::error::RecordingError;
use super::layout::Pattern;
use super::metadata::Metadata;
use super::row::{Row, Stamp};
use super::table::kind_of_file;

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
    /// [`RecordingError::Open`], [`RecordingError::NotMcap`], [`RecordingError::NoSignal`],
    /// [`RecordingError::MoreBehind`], or [`RecordingError::Foreign`] and
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
        let ending = scan.file(&bytes)?;
        scan.refuse_empty(&bytes, ending)?;
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
