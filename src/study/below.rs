//! The diagrams below a folder.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use legwork_block::FileId;
use legwork_diagram::{ReadFile as _, document};

use crate::disk::Disk;

/// What files `*.ron` a folder and those inside it hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Below {
    /// The diagrams by path, and files that cannot be read as what they are.
    pub diagrams: Vec<PathBuf>,
    /// How many others there are of each construct, such as `Mask`.
    pub others: BTreeMap<String, usize>,
}

/// Finds the diagrams below `folder`, by path. Hidden folders and links to folders are left out.
///
/// # Errors
/// If a folder cannot be read.
pub fn diagrams_below(folder: &Path) -> io::Result<Below> {
    let (mut found, mut open) = (Below::default(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if entry.file_type()?.is_dir() {
                if !is_hidden {
                    open.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "ron") && path.is_file()
            {
                match construct_of(&path) {
                    Some(other) if other != "Diagram" => {
                        *found.others.entry(other).or_default() += 1;
                    }
                    _ => found.diagrams.push(path),
                }
            }
        }
    }
    found.diagrams.sort();
    Ok(found)
}

/// The construct that a file is; nothing if it cannot be read.
fn construct_of(path: &Path) -> Option<String> {
    let document = document::parse(FileId::default(), &Disk.read(path).ok()?).ok()?;
    Some(document.kind_name().map_or_else(|| "data".to_owned(), |kind| kind.text.clone()))
}
