//! Files that are read whole.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// The largest file that is read as a diagram, a part of one, a table or a problem [bytes].
pub const SIZE_LIMIT: u64 = 1 << 30;

/// The largest recording that is read [bytes].
pub const RECORDING_LIMIT: u64 = 1 << 36;

/// Number of bytes that show the kind of a file.
const HEAD: u64 = 64;

/// The bytes of a file or a pipe that has at most `limit` of them.
///
/// # Errors
/// Those of [`std::fs::read`]; if it is a directory, a device or a socket, or is larger.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    read_after(path, limit, |_| Ok(()))
}

/// Reads a regular file of at most `limit` bytes. Unlike [`read`] it does not wait for the writer
/// of a pipe.
///
/// # Errors
/// Those of [`read`], and if the file is a pipe.
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>> {
    if std::fs::metadata(path).is_ok_and(|metadata| is_pipe(&metadata)) {
        return Err(Error::new(ErrorKind::InvalidInput, "it is a pipe, not a file"));
    }
    read(path, limit)
}

/// Like [`read`], with `check` of the first bytes, at most 64, before the rest is read.
///
/// # Errors
/// Those of [`read`] and of `check`.
pub fn read_after(
    path: &Path,
    limit: u64,
    check: impl FnOnce(&[u8]) -> Result<()>,
) -> Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(Error::new(ErrorKind::IsADirectory, "it is a directory"));
    }
    if !metadata.is_file() && !is_pipe(&metadata) {
        return Err(Error::new(ErrorKind::InvalidInput, "it is a device, not a file"));
    }
    let too_large = || {
        let limit = limit >> 30;
        Error::new(ErrorKind::FileTooLarge, format!("it is larger than {limit} GiB"))
    };
    if metadata.len() > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let mut file = File::open(path)?.take(limit + 1);
    (&mut file).take(HEAD).read_to_end(&mut bytes)?;
    check(&bytes)?;
    file.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// The text of a file.
///
/// # Errors
/// Those of [`read`] with [`SIZE_LIMIT`], and of [`std::fs::read_to_string`].
pub fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read(path, SIZE_LIMIT)?)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

#[cfg(unix)]
fn is_pipe(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    metadata.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let here = tempfile::tempdir().expect("a directory");
        let file = here.path().join("a");
        std::fs::write(&file, [1; 10]).expect("it is writable");
        assert_eq!(read(&file, 10).expect("ten bytes").len(), 10);
        let error = read(&file, 9).expect_err("it is larger");
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        let error = read(here.path(), 9).expect_err("a directory");
        assert_eq!(error.kind(), ErrorKind::IsADirectory);
    }

    #[test]
    fn a_file_whose_head_is_refused_is_not_read() {
        let here = tempfile::tempdir().expect("a directory");
        let file = here.path().join("a");
        std::fs::write(&file, [7; 1000]).expect("it is writable");
        let mut seen = 0;
        let refuse = |head: &[u8]| {
            seen = head.len();
            Err(Error::other("another kind"))
        };
        assert!(read_after(&file, 2000, refuse).is_err());
        assert_eq!(seen, 64);
        assert_eq!(read(&file, 2000).expect("whole"), [7; 1000]);
        assert_eq!(read(&file, 999).expect_err("larger").kind(), ErrorKind::FileTooLarge);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_no_regular_file() {
        let here = tempfile::tempdir().expect("a directory");
        let pipe = here.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
        assert!(made.success());
        let error = read_regular(&pipe, 10).expect_err("a pipe without a writer");
        assert_eq!(error.to_string(), "it is a pipe, not a file");
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_read() {
        for device in ["/dev/zero", "/dev/null"] {
            let error = read(Path::new(device), SIZE_LIMIT).expect_err("a device");
            assert_eq!(error.to_string(), "it is a device, not a file");
        }
    }
}
