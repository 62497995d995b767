//! The files of this machine.

use std::path::Path;

use legwork_diagram::ReadFile;

use crate::files::{SIZE_LIMIT, read};

/// The files of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl ReadFile for Disk {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        read(path, SIZE_LIMIT)
    }
}
