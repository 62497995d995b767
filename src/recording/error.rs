//! Errors of recordings.

use std::io;
use std::path::PathBuf;

/// Why a recording could not be written, read or exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file could not be created.
    #[error("cannot create the recording {}: {source}", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file could not be read.
    #[error("cannot read the recording {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The disk is full, or another write error. What was written before stays readable.
    #[error("cannot write the recording: {0}")]
    Write(#[from] io::Error),
    /// The container format rejected a record.
    #[error("cannot write the recording: {0}")]
    Container(#[source] mcap::McapError),
    /// Two channels of one topic.
    #[error("expected one channel per topic, found two of `{topic}`")]
    DuplicateTopic {
        /// The topic.
        topic: String,
    },
    /// A row that is too large for memory.
    #[error("expected rows of at most 2^26 values, found a larger one in `{topic}`")]
    RowTooLarge {
        /// The rate.
        topic: String,
    },
    /// A file whose channels state far more values than it can hold.
    #[error(
        "expected rows in proportion to the file, found signals up to `{topic}` that would take \
         more than 64 times its size and 64 MB"
    )]
    OutOfProportion {
        /// The topic.
        topic: String,
    },
    /// The row does not fit its rate.
    #[error("expected {expected} values in a row of `{rate}`, found {found}")]
    ValueCount {
        /// The rate.
        rate: String,
        /// Values that its signals have.
        expected: usize,
        /// Values passed in.
        found: usize,
    },
    /// The recorder has no such rate.
    #[error("expected the index of a rate below {rate_count}, found {index}")]
    UnknownRate {
        /// The index asked for.
        index: usize,
        /// Number of rates.
        rate_count: usize,
    },
    /// Not an MCAP file.
    #[error("expected an MCAP file, found {found}")]
    NotMcap {
        /// The kind of the file.
        found: &'static str,
    },
    /// A file that ends before its first signal.
    #[error("expected a recording, found the first {len} bytes of one, without a signal")]
    NoSignal {
        /// Size of the file.
        len: usize,
    },
    /// Bytes behind the end of the recording.
    #[error("expected the end of the recording at byte {at_byte}, found {found} behind it")]
    MoreBehind {
        /// End of the recording.
        at_byte: usize,
        /// Kind of the bytes behind it.
        found: &'static str,
    },
    /// An MCAP file of another program.
    #[error("expected a recording of legwork, found an MCAP file of `{writer}`: {reason}")]
    Foreign {
        /// Name of the library that wrote it, from the file.
        writer: String,
        /// Missing or different part of the file.
        reason: String,
    },
    /// A channel that some other program wrote.
    #[error("expected a channel written by legwork, found `{topic}`: {reason}")]
    ForeignChannel {
        /// The topic.
        topic: String,
        /// What is missing or different.
        reason: String,
    },
    /// The recording has no such topic.
    #[error("no topic `{topic}` in the recording, which has {}", listing(available))]
    NoSuchTopic {
        /// The topic asked for.
        topic: String,
        /// Existing topics.
        available: Vec<String>,
    },
    /// A table does not have the form of a recording.
    #[error("{0}")]
    Table(#[from] super::table::TableError),
}

impl From<mcap::McapError> for RecordingError {
    fn from(error: mcap::McapError) -> Self {
        match error {
            mcap::McapError::Io(source) => Self::Write(source),
            other => Self::Container(other),
        }
    }
}

fn listing(topics: &[String]) -> String {
    if topics.is_empty() { "none".to_owned() } else { format!("`{}`", topics.join("`, `")) }
}
