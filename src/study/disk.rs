//! The files of this machine.

use std::io::{Error, ErrorKind, Read as _};
use std::path::Path;

use legwork_diagram::ReadFile;

/// The largest file that is read as a diagram or a part of one [bytes].
const SIZE_LIMIT: u64 = 1 << 30;

/// The files of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl ReadFile for Disk {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(SIZE_LIMIT + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > SIZE_LIMIT {
            return Err(Error::new(ErrorKind::FileTooLarge, "the file is larger than 1 GiB"));
        }
        Ok(bytes)
    }
}
