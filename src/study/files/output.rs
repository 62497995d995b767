//! Files that are written.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{BufWriter, Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::cannot_write;
use crate::error;

/// How the names of files begin that are not whole yet.
const PREFIX: &str = ".legwork-";
/// How they end.
const SUFFIX: &str = ".part";

/// A file that is written beside its place and takes it when it is published. One that is dropped
/// before leaves what was there.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    part: PathBuf,
    file: BufWriter<File>,
    /// Whether `part` is still there.
    waits: bool,
    /// Those of the file that it replaces.
    permissions: Option<Permissions>,
}

impl Output {
    /// Begins a file that will be at `path`.
    ///
    /// # Errors
    /// If the directory cannot be written, or there is something at `path` that is no file or is
    /// read-only: a symbolic link is not followed.
    pub fn create(path: &Path) -> Result<Self> {
        let permissions = replaceable(path)?;
        let (part, file) = part_beside(path)?;
        let file = BufWriter::new(file);
        Ok(Self { path: path.to_owned(), part, file, waits: true, permissions })
    }

    /// Puts it at its place, where it replaces another. It may be written on.
    ///
    /// # Errors
    /// If not all can be written, or the place has gone away.
    pub fn publish(&mut self) -> Result<()> {
        self.file.flush()?;
        if self.waits {
            if let Some(permissions) = self.permissions.take() {
                std::fs::set_permissions(&self.part, permissions)?;
            }
            std::fs::rename(&self.part, &self.path)?;
            self.waits = false;
        }
        Ok(())
    }

    /// A second handle of the file, which writes where this one does.
    ///
    /// # Errors
    /// Those of [`File::try_clone`].
    pub fn handle(&self) -> Result<File> {
        self.file.get_ref().try_clone()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.waits {
            // What cannot be removed is replaced by no name that anybody reads.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

/// Writes a whole file.
///
/// # Errors
/// Those of [`Output`].
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> std::result::Result<(), error::Error> {
    let written = Output::create(path).and_then(|mut output| {
        output.write_all(bytes.as_ref())?;
        output.publish()
    });
    written.map_err(|error| cannot_write(path, &error))
}

/// Lets the symbolic link `link` name what is beside it, in place of an earlier link. Where there is
/// something else, it stays; where the system has no such links, there is none.
///
/// # Errors
/// If the directory cannot be written.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no such links"))]
pub fn point(link: &Path, name: &OsStr) -> Result<()> {
    if link.symlink_metadata().is_ok_and(|place| !place.is_symlink()) || !cfg!(unix) {
        return Ok(());
    }
    let part = link.with_file_name(format!("{PREFIX}{}{SUFFIX}", std::process::id()));
    #[cfg(unix)]
    std::os::unix::fs::symlink(name, &part)?;
    std::fs::rename(&part, link)
}

/// Refuses an output that is one of these inputs.
///
/// # Errors
/// If it is.
pub fn refuse_input<P: AsRef<Path>>(
    output: &Path,
    inputs: impl IntoIterator<Item = P>,
) -> std::result::Result<(), error::Error> {
    // What is not there yet is no input.
    let Ok(place) = output.canonicalize() else { return Ok(()) };
    let is_it = |input: P| input.as_ref().canonicalize().is_ok_and(|input| input == place);
    if inputs.into_iter().any(is_it) {
        let shown = output.display();
        let message = format!("`{shown}` is read here, so it is not written; name another file");
        return Err(error::Error::request(message));
    }
    Ok(())
}

/// Removes the remains of outputs whose process was killed.
pub(crate) fn remove_parts(directory: &Path) -> Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_part = name.to_str().is_some_and(|n| n.starts_with(PREFIX) && n.ends_with(SUFFIX));
        if is_part {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The permissions of the file at `path`, if there is one; what is no file may not be replaced.
fn replaceable(path: &Path) -> Result<Option<Permissions>> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let refuse = |kind, why| Err(Error::new(kind, why));
    if metadata.is_symlink() {
        let why = "it is a symbolic link, which is not written through; name the file itself";
        return refuse(ErrorKind::InvalidInput, why);
    }
    if metadata.is_dir() {
        return refuse(ErrorKind::IsADirectory, "it is a directory");
    }
    if !metadata.is_file() {
        return refuse(ErrorKind::InvalidInput, "it is a device, not a file");
    }
    if metadata.permissions().readonly() {
        return refuse(ErrorKind::PermissionDenied, "it is read-only");
    }
    Ok(Some(metadata.permissions()))
}

/// A new file in the directory of `path`.
fn part_beside(path: &Path) -> Result<(PathBuf, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    if path.file_name().is_none() {
        return Err(Error::new(ErrorKind::InvalidInput, "it names no file"));
    }
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}{SUFFIX}", std::process::id());
        let part = path.with_file_name(name);
        match OpenOptions::new().write(true).create_new(true).open(&part) {
            // That of a process of the same number, killed or in another container.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (part, file)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).expect("it can be read");
        let name = |entry: Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_old_or_new_and_never_half() {
        let here = tempfile::tempdir().expect("a directory");
        let file = here.path().join("a");
        let held = || std::fs::read_to_string(&file).expect("it is there");
        write(&file, "old").expect("the first");
        let mut output = Output::create(&file).expect("the second");
        output.write_all(b"new").expect("it is written");
        assert_eq!(held(), "old");
        output.publish().expect("it is published");
        assert_eq!(held(), "new");
        drop(Output::create(&file).expect("the third"));
        assert_eq!((held().as_str(), names(here.path())), ("new", vec!["a".to_owned()]));
    }

    #[test]
    fn a_published_file_grows_in_its_place() {
        let here = tempfile::tempdir().expect("a directory");
        let file = here.path().join("a");
        let mut output = Output::create(&file).expect("a file");
        output.write_all(b"head").expect("it is written");
        output.publish().expect("it is published");
        output.handle().expect("a handle").write_all(b", rows").expect("it is written");
        assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "head, rows");
    }

    #[test]
    fn what_a_killed_process_left_is_removed() {
        let here = tempfile::tempdir().expect("a directory");
        write(&here.path().join("a"), "kept").expect("a file");
        std::mem::forget(Output::create(&here.path().join("b")).expect("a part"));
        assert_eq!(names(here.path()).len(), 2);
        remove_parts(here.path()).expect("they are removed");
        assert_eq!(names(here.path()), ["a"]);
    }

    #[cfg(unix)]
    #[test]
    fn only_files_are_replaced() {
        let here = tempfile::tempdir().expect("a directory");
        let (target, link) = (here.path().join("target"), here.path().join("link"));
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        let why = |path: &Path| write(path, "x").expect_err("it is refused").to_string();
        assert!(why(&link).contains("is a symbolic link"), "a dangling link");
        std::fs::write(&target, "held").expect("a file");
        assert!(why(&link).contains("is a symbolic link"), "a link");
        assert_eq!(std::fs::read_to_string(&target).expect("it is there"), "held");
        assert!(why(here.path()).contains("is a directory"));
        assert!(why(Path::new("/dev/null")).contains("is a device"));
    }

    #[test]
    fn an_input_is_known_by_any_of_its_names() {
        let here = tempfile::tempdir().expect("a directory");
        let file = here.path().join("a");
        write(&file, "x").expect("a file");
        let inputs = [here.path().join("b"), here.path().join(".").join("a")];
        assert!(refuse_input(&file, &inputs).is_err());
        assert!(refuse_input(&here.path().join("b"), &inputs).is_ok());
    }
}
