//! One writer for each directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::cannot_write;
use crate::error::{Error, ErrorKind};

/// Name of the file that is locked. It holds nothing and stays; the lock ends with its process.
const NAME: &str = ".lock";

/// A directory that this process alone writes into, until this is dropped.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held for its lock")] Option<File>);

impl Lock {
    /// Locks a directory. File systems that know no locks go without.
    ///
    /// # Errors
    /// If another process, or another run of this one, writes into it.
    pub fn of(directory: &Path) -> Result<Self, Error> {
        let path = directory.join(NAME);
        if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
            let shown = path.display();
            return Err(Error::request(format!("expected no other than a file `{shown}`")));
        }
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|error| cannot_write(&path, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(Some(file))),
            Err(TryLockError::WouldBlock) => {
                let directory = directory.display();
                let message = format!(
                    "another run writes into `{directory}`; wait for its end, or choose another \
                     directory with --out"
                );
                Err(Error::new(ErrorKind::Busy, message))
            }
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {
                Ok(Self(None))
            }
            Err(TryLockError::Error(error)) => Err(cannot_write(&path, &error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_one_writer_at_a_time() {
        let here = tempfile::tempdir().expect("a directory");
        let first = Lock::of(here.path()).expect("the first");
        let error = Lock::of(here.path()).expect_err("the second");
        assert!(error.to_string().starts_with("another run writes into"), "{error}");
        drop(first);
        Lock::of(here.path()).expect("the third");
    }
}
