//! Rows that go to a file as they come and can still be taken back.

use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};

use mcap::records::op;

use super::chunk::Chunk;
use super::error::RecordingError;
use super::writer::{Finished, Recorder};

/// Largest record of a file that is copied [bytes].
const LARGEST: u64 = 1 << 30;

/// Makes a recorder of a new file, which is to take the place of the one before once
/// [`Files::publish`] is called.
pub trait Files: Send {
    /// A recorder whose file holds the head alone, and has no name yet.
    ///
    /// # Errors
    /// If it cannot be made.
    fn begin(&mut self) -> Result<Recorder, RecordingError>;

    /// Gives the file that was begun last its name, which is returned.
    ///
    /// # Errors
    /// If it cannot be named.
    fn publish(&mut self) -> Result<PathBuf, RecordingError>;
}

/// The file of a run that is stepped back and forth. Rows that are taken back are left out of a
/// new file, which is a copy of the old one up to them; so the file of a run is that of one without
/// steps back.
pub struct Spool {
    files: Box<dyn Files>,
    recorder: Recorder,
    /// The file.
    path: PathBuf,
}

impl Spool {
    /// Begins a file.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(mut files: Box<dyn Files>) -> Result<Self, RecordingError> {
        let recorder = files.begin()?;
        let path = files.publish()?;
        Ok(Self { files, recorder, path })
    }

    /// How many rows it has.
    pub(super) fn len(&self) -> usize {
        usize::try_from(self.recorder.row_count()).unwrap_or(usize::MAX)
    }

    /// What appends rows.
    pub(super) fn recorder(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    /// Lets the file hold all rows.
    pub(super) fn show(&mut self) -> Result<(), RecordingError> {
        self.recorder.show()
    }

    /// Begins the file anew with the first `len` rows, and the head as it is now.
    ///
    /// # Errors
    /// If it cannot be written, or the old one cannot be read.
    pub fn remake(&mut self, len: usize) -> Result<(), RecordingError> {
        self.recorder.show()?;
        let mut recorder = self.files.begin()?;
        copy(&self.path, len, &mut recorder)?;
        recorder.show()?;
        self.path = self.files.publish()?;
        // The old recorder would close a file that has no name any more.
        std::mem::replace(&mut self.recorder, recorder).forget();
        Ok(())
    }

    /// Closes the file.
    pub(super) fn finish(self) -> Result<Finished, RecordingError> {
        self.recorder.finish()
    }
}

/// Copies the first rows of a file, chunk by chunk.
fn copy(from: &Path, mut rows: usize, to: &mut Recorder) -> Result<(), RecordingError> {
    let mut file = BufReader::new(File::open(from)?);
    let mut magic = [0; mcap::MAGIC.len()];
    file.read_exact(&mut magic)?;
    let mut unpacked = Vec::new();
    while rows > 0 {
        let (opcode, body) = record(&mut file)?;
        unpacked.clear();
        if opcode != op::CHUNK {
            continue;
        }
        let chunk = Chunk::of(&body);
        let records = chunk.and_then(|chunk| chunk.records(&mut unpacked, u64::MAX));
        let Some(mut rest) = records else {
            return Err(RecordingError::Write(io::ErrorKind::InvalidData.into()));
        };
        while rows > 0 && !rest.is_empty() {
            let (opcode, body) = record(&mut rest)?;
            if opcode == op::MESSAGE {
                to.record_raw(&body)?;
                rows -= 1;
            }
        }
    }
    Ok(())
}

/// The next record.
fn record(file: &mut impl io::Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 9];
    file.read_exact(&mut head)?;
    let length = u64::from_le_bytes(std::array::from_fn(|i| head[i + 1]));
    let mut body = Vec::new();
    if length > LARGEST || file.take(length).read_to_end(&mut body)? as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((head[0], body))
}
