//! The recording of a session: in memory, or in a file as it comes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use legwork_runtime::channels;
use legwork_runtime::recording::{
    Channel, Files, Metadata, Recorder, Recording, RecordingError, Spool,
};

use super::Session;
use crate::directory::RunDirectory;
use crate::edits::note_edits;
use crate::error::Error;
use crate::recorded;
use crate::run::{self, RECORDING};

/// The head of a recording's file, and where the file is.
pub(super) struct Head {
    metadata: Arc<Mutex<Metadata>>,
    directory: PathBuf,
}

/// The files of a session, one after the other under one name.
struct SessionFiles {
    directory: RunDirectory,
    channels: Vec<Channel>,
    metadata: Arc<Mutex<Metadata>>,
    /// Whether the present file has its name.
    is_named: bool,
}

impl Files for SessionFiles {
    fn begin(&mut self) -> Result<Recorder, RecordingError> {
        if std::mem::take(&mut self.is_named) {
            self.directory.begin_anew()?;
        }
        let metadata = self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
        self.directory.unnamed_recorder(&self.channels, &metadata)
    }

    fn publish(&mut self) -> Result<PathBuf, RecordingError> {
        self.is_named = true;
        Ok(self.directory.publish()?)
    }
}

impl Session {
    /// Records into a directory, as a run does, from the beginning of the session on. The file
    /// holds all rows after [`Session::save`]; on the way it grows, and memory is bounded.
    ///
    /// # Errors
    /// If it cannot be written, another run writes into it, or the session records into one
    /// already.
    pub fn record_into(&mut self, directory: &Path) -> Result<(), Error> {
        if self.head.is_some() {
            return Err(Error::request("the session has a recording already"));
        }
        let metadata = Arc::new(Mutex::new(self.metadata_with_edits()));
        let files = SessionFiles {
            directory: RunDirectory::take(directory, &self.inputs)?,
            channels: channels(self.program()),
            metadata: Arc::clone(&metadata),
            is_named: false,
        };
        self.head = Some(Head { metadata, directory: directory.to_owned() });
        self.spool(Box::new(files))
    }

    fn spool(&mut self, files: Box<dyn Files>) -> Result<(), Error> {
        let observer = self.history.observer_mut();
        let Some(journal) = observer.journal_mut() else {
            return Err(Error::request("the session keeps no rows"));
        };
        let spooled = Spool::new(files).and_then(|spool| journal.spool_into(spool));
        spooled.map_err(|error| unwritten(&error))
    }

    /// Lets the rows of a new past go to the file of the old one, from its beginning.
    pub(super) fn go_on_in(&mut self, mut spool: Spool) -> Result<(), Error> {
        if let Some(head) = &self.head {
            let metadata = self.metadata_with_edits();
            *head.metadata.lock().unwrap_or_else(PoisonError::into_inner) = metadata;
        }
        let begun = spool.remake(0);
        let spooled = begun.and_then(|()| match self.history.observer_mut().journal_mut() {
            Some(journal) => journal.spool_into(spool),
            None => Ok(()),
        });
        spooled.map_err(|error| unwritten(&error))
    }

    /// Keeps no rows: nothing can be recorded.
    pub fn forget_rows(&mut self) {
        self.history.observer_mut().forget_rows();
    }

    /// The recording's file, if there is one.
    pub fn recording_file(&self) -> Option<PathBuf> {
        let file = self.head.as_ref()?.directory.join(RECORDING);
        file.is_file().then_some(file)
    }

    /// Lets the recording's file hold all rows so far, if there is one.
    ///
    /// # Errors
    /// If it could not be written.
    pub fn save(&mut self) -> Result<(), Error> {
        self.renew_head();
        match self.history.observer_mut().journal_mut() {
            Some(journal) => journal.save().map_err(|error| unwritten(&error)),
            None => Ok(()),
        }
    }

    /// Closes the recording's file, if there is one; its path. The session records no more. So are
    /// the files of what went on before a text changed the structure.
    ///
    /// # Errors
    /// If it is not whole.
    pub fn close(&mut self) -> Result<Option<PathBuf>, Error> {
        self.close_earlier()?;
        self.renew_head();
        let closed = match self.history.observer_mut().journal_mut() {
            Some(journal) => journal.finish(),
            None => None,
        };
        let Some(head) = self.head.take() else { return Ok(None) };
        let file = head.directory.join(RECORDING);
        match closed {
            Some(Err(error)) => Err(unwritten(&error)),
            _ if !file.is_file() => {
                let gone = format!("`{}` was removed while the session went on", file.display());
                Err(Error::output(gone))
            }
            Some(Ok(_)) => Ok(Some(file)),
            None => Err(Error::output(format!("`{}` is not whole", file.display()))),
        }
    }

    /// What was recorded so far.
    ///
    /// # Errors
    /// If a row cannot be recorded.
    pub fn recording(&mut self) -> Result<Recording, Error> {
        if let Some(file) = self.head.as_ref().map(|head| head.directory.join(RECORDING)) {
            self.save()?;
            return recorded::recording(&file);
        }
        let metadata = self.metadata_with_edits();
        let mut recorder = run::recorder(self.program(), &metadata)?;
        let written = match self.simulation().observer().journal() {
            Some(journal) => journal.write_to(&mut recorder),
            None => Ok(()),
        };
        let finished = written.and_then(|()| recorder.finish());
        let finished = finished.map_err(|error| run::recording_error(&error))?;
        Recording::from_bytes(finished.memory.unwrap_or_default())
            .map_err(|error| run::recording_error(&error))
    }

    /// Begins the file anew where its head is no longer true.
    pub(super) fn renew_head(&mut self) {
        let Some(head) = &self.head else { return };
        let metadata = self.metadata_with_edits();
        let mut known = head.metadata.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != metadata {
            *known = metadata;
            drop(known);
            if let Some(journal) = self.history.observer_mut().journal_mut() {
                journal.renew();
            }
        }
    }

    pub(super) fn metadata_with_edits(&self) -> Metadata {
        let mut metadata = self.metadata.clone();
        note_edits(&self.edits, &mut metadata);
        metadata
    }
}

pub(super) fn unwritten(error: &RecordingError) -> Error {
    Error::output(error.to_string())
}
