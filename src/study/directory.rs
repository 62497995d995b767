//! The directory of a run: what is in it is of one run.

use std::io::Write as _;
use std::path::{Component, Path, PathBuf};

use legwork_program::Program;
use legwork_runtime::channels;
use legwork_runtime::recording::{Channel, ChunkPolicy, Metadata, Recorder, RecordingError, Sink};

use crate::drive;
use crate::error::Error;
use crate::files::{self, Lock, Output};
use crate::run::{self, RECORDING, RUN_JSON};

/// Name of the directory of kept problems in that of a run.
const PROBLEMS: &str = "problems";
/// Name of the list of files that the last run wrote besides its recording and its `run.json`.
const COMPANIONS: &str = ".companions";

/// The directory of a run that goes on.
///
/// The files of the run before are gone before its recording is replaced, and the new one takes
/// its name once its head is written: whenever the process is killed there is a recording that can
/// be read, and nothing of another run beside it.
#[derive(Debug)]
pub(crate) struct RunDirectory {
    path: PathBuf,
    recording: Output,
    /// Files besides the recording and `run.json`.
    companions: Vec<PathBuf>,
    /// What could not be written.
    unwritten: Vec<Error>,
    /// Files that this run reads.
    inputs: Vec<PathBuf>,
    _lock: Lock,
}

impl RunDirectory {
    /// Makes a directory if it is not there, keeps other runs out of it, and removes what the run
    /// before left, but for `inputs`.
    ///
    /// # Errors
    /// If another run writes into it, its recording is an input, or it cannot be written.
    pub(crate) fn take(path: &Path, inputs: &[PathBuf]) -> Result<Self, Error> {
        make(path)?;
        let lock = Lock::of(path)?;
        for name in [RECORDING, RUN_JSON] {
            files::refuse_input(&path.join(name), inputs)?;
        }
        files::remove_parts(path).map_err(|error| files::cannot_write(path, &error))?;
        let file = path.join(RECORDING);
        let recording = Output::create(&file).map_err(|e| files::cannot_write(&file, &e))?;
        let mut directory = Self {
            path: path.to_owned(),
            recording,
            companions: Vec::new(),
            unwritten: Vec::new(),
            inputs: inputs.to_vec(),
            _lock: lock,
        };
        directory.clear(inputs)?;
        Ok(directory)
    }

    /// A recorder whose file is at its place, with its head.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn recorder(
        &mut self,
        program: &Program,
        metadata: &Metadata,
    ) -> Result<Recorder, Error> {
        let recorder = self.unnamed_recorder(&channels(program), metadata);
        let recorder = recorder.map_err(|error| run::recording_error(&error))?;
        let file = self.path.join(RECORDING);
        self.publish().map_err(|error| files::cannot_write(&file, &error))?;
        Ok(recorder)
    }

    /// Begins the recording anew, beside the one that is there.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn begin_anew(&mut self) -> std::io::Result<()> {
        self.recording = Output::create(&self.path.join(RECORDING))?;
        Ok(())
    }

    /// A recorder whose file has no name yet.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn unnamed_recorder(
        &self,
        channels: &[Channel],
        metadata: &Metadata,
    ) -> Result<Recorder, RecordingError> {
        let sink = Sink::of(self.recording.handle()?);
        Recorder::create(sink, channels, metadata, ChunkPolicy::default())
    }

    /// Gives the recording its name.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn publish(&mut self) -> std::io::Result<PathBuf> {
        self.recording.publish()?;
        Ok(self.path.join(RECORDING))
    }

    /// A name for a file of this run: with a number if the file of this name is read, as the
    /// snapshot of an interrupt is by the run that continues it.
    pub(crate) fn unread(&self, name: &str) -> String {
        let is_read =
            |name: &String| files::refuse_input(&self.path.join(name), &self.inputs).is_err();
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        let numbered = (2..).map(|number: usize| format!("{stem}-{number}.{ending}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        names.find(|name| !is_read(name)).unwrap_or_default()
    }

    /// Writes a file of this run beside the recording; its path. What cannot be written is told at
    /// the end.
    pub(crate) fn write(&mut self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path.join(name);
        let written = match name {
            RUN_JSON => Ok(()),
            _ => self.note(Path::new(name)),
        };
        let written = written.and_then(|()| files::refuse_input(&path, &self.inputs));
        if let Err(error) = written.and_then(|()| files::write(&path, bytes)) {
            self.unwritten.push(error);
        }
        path
    }

    /// Writes a problem that a solver kept; its path.
    pub(crate) fn write_problem(&mut self, name: &str, bytes: &[u8]) -> PathBuf {
        let folder = self.path.join(PROBLEMS);
        match make(&folder).and_then(|()| only_directory(&folder)) {
            Ok(()) => self.write(&format!("{PROBLEMS}/{name}"), bytes),
            Err(error) => {
                self.unwritten.push(error);
                folder.join(name)
            }
        }
    }

    /// What could not be written so far.
    pub(crate) fn unwritten(&mut self) -> Vec<Error> {
        let file = self.path.join(RECORDING);
        if !file.is_file() {
            let gone = format!("`{}` was removed while the run went on", file.display());
            self.unwritten.push(Error::output(gone));
        }
        std::mem::take(&mut self.unwritten)
    }

    /// Lists a file before it is written, so that the next run knows it for one of this.
    fn note(&mut self, name: &Path) -> Result<(), Error> {
        self.companions.push(name.to_owned());
        let mut list = Vec::new();
        for name in &self.companions {
            // Writing to memory cannot fail.
            let _ = writeln!(list, "{}", name.display());
        }
        files::write(&self.path.join(COMPANIONS), list)
    }

    /// Removes the files of the run before; those that this one reads become its own.
    fn clear(&mut self, inputs: &[PathBuf]) -> Result<(), Error> {
        let list = self.path.join(COMPANIONS);
        let listed = files::read_text(&list).unwrap_or_default();
        let listed = listed.lines().map(Path::new).filter(|name| is_of_a_run(name));
        let own = [RUN_JSON, drive::FAULT, drive::INTERRUPT].map(Path::new);
        for name in own.into_iter().chain(listed) {
            let path = self.path.join(name);
            if name.components().count() > 1 && only_directory(&self.path.join(PROBLEMS)).is_err() {
                continue;
            }
            if files::refuse_input(&path, inputs).is_err() {
                self.companions.push(name.to_owned());
                continue;
            }
            remove(&path)?;
        }
        remove(&list)?;
        for name in std::mem::take(&mut self.companions) {
            self.note(&name)?;
        }
        Ok(())
    }
}

/// Whether a listed file is one that a run writes: a snapshot in its directory, or a problem among
/// those there. The list may come with a directory of somebody else.
fn is_of_a_run(name: &Path) -> bool {
    let ends = |ending: &str| name.extension().is_some_and(|it| it == ending);
    let mut parts = name.components();
    match (parts.next(), parts.next(), parts.next()) {
        (Some(Component::Normal(_)), None, _) => ends("snapshot"),
        (Some(Component::Normal(folder)), Some(Component::Normal(_)), None) => {
            folder == PROBLEMS && ends("json")
        }
        _ => false,
    }
}

/// Makes a directory and those above it.
pub(crate) fn make(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(|error| {
        let why = files::cannot_write(path, &error);
        let path = path.display();
        Error::new(why.kind(), format!("cannot create the directory `{path}`: {error}"))
    })
}

/// Refuses a symbolic link where a directory was made.
fn only_directory(path: &Path) -> Result<(), Error> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        _ => Err(Error::request(format!("expected a directory `{}`, no link", path.display()))),
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            let path = path.display();
            Err(Error::request(format!("cannot remove `{path}` of an earlier run: {error}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_run_before_are_removed_and_no_others() {
        let here = tempfile::tempdir().expect("a directory");
        let path = here.path().join("run");
        let is_there = |name: &str| path.join(name).is_file();
        let mut first = RunDirectory::take(&path, &[]).expect("the first run");
        first.write("t=1.snapshot", b"1");
        first.write_problem("a.json", b"2");
        first.write(RUN_JSON, b"3");
        for own in ["problems/own.json", "robot.urdf"] {
            std::fs::write(path.join(own), "kept").expect("a file of the user");
        }
        let listed = std::fs::read_to_string(path.join(COMPANIONS)).expect("the list");
        std::fs::write(path.join(COMPANIONS), listed + "robot.urdf\n../run.mcap\n")
            .expect("a trap");
        std::fs::write(path.join(drive::FAULT), "4").expect("a file of an earlier version");
        assert!(RunDirectory::take(&path, &[]).is_err(), "two at a time");
        drop(first);
        let snapshot = path.join("t=1.snapshot");
        drop(RunDirectory::take(&path, &[snapshot]).expect("the second run"));
        assert!(is_there("t=1.snapshot"), "what this run continues");
        for name in [RUN_JSON, drive::FAULT, "problems/a.json"] {
            assert!(!is_there(name), "{name}");
        }
        drop(RunDirectory::take(&path, &[]).expect("the third run"));
        assert!(
            !is_there("t=1.snapshot") && is_there("problems/own.json") && is_there("robot.urdf")
        );
    }

    #[test]
    fn what_a_run_reads_it_does_not_write() {
        let here = tempfile::tempdir().expect("a directory");
        let path = here.path().join("run");
        std::fs::create_dir(&path).expect("a directory");
        let read = ["interrupt.snapshot", "interrupt-2.snapshot", "other"];
        let inputs: Vec<PathBuf> = read.iter().map(|name| path.join(name)).collect();
        inputs.iter().for_each(|file| std::fs::write(file, "kept").expect("a file"));
        let mut run = RunDirectory::take(&path, &inputs).expect("a run");
        assert_eq!(run.unread("t=1.snapshot"), "t=1.snapshot");
        assert_eq!(run.unread("interrupt.snapshot"), "interrupt-3.snapshot");
        run.write("other", b"new");
        assert!(run.unwritten().iter().any(|error| error.to_string().contains("is read here")));
        for file in &inputs {
            assert_eq!(std::fs::read(file).expect("a file"), b"kept");
        }
    }

    #[test]
    fn a_list_names_files_of_runs_alone() {
        for name in ["../a", "/a", "a/b", "problems/../../a", "problems/a/b", ""] {
            assert!(!is_of_a_run(Path::new(name)), "{name}");
        }
        assert!(is_of_a_run(Path::new("a.snapshot")) && is_of_a_run(Path::new("problems/a.json")));
    }
}
