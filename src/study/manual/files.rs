//! Built-in files: masks, robots, interfaces and others that diagrams name by `std:`.

use legwork_block::Registry;
use serde::Serialize;

use super::first_sentence;
use crate::library::doc_of;

/// Folder of the examples of the reference, which its pages show.
const EXAMPLES: &str = "help/";

/// A built-in file in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BuiltIn {
    /// Its path, `std:` included.
    pub file: String,
    /// First sentence of what it says about itself; empty if it says nothing.
    pub summary: String,
    /// What it says about itself.
    #[serde(skip)]
    pub doc: String,
}

impl BuiltIn {
    fn of(path: &str, registry: &Registry) -> Self {
        let text = registry.find_file(path).unwrap_or_default();
        let doc = if path.ends_with(".ron") { told(text) } else { String::new() };
        Self { file: format!("std:{path}"), summary: first_sentence(&doc), doc }
    }

    /// The name of the file without folder and ending.
    pub(super) fn stem(&self) -> &str {
        let name = self.file.rsplit('/').next().unwrap_or_default();
        name.split_once('.').map_or(name, |(stem, _)| stem)
    }

    /// The folder that it is in, `std:` included.
    pub(super) fn folder(&self) -> &str {
        self.file.rsplit_once('/').map_or("std:", |(folder, _)| folder)
    }
}

/// The built-in files below `folder`, which is as in `masks` or empty for all, by path; without the
/// examples of the reference.
pub fn built_in(folder: &str, registry: &Registry) -> Vec<BuiltIn> {
    let folder = folder.trim_end_matches('/');
    let is_below = |path: &&str| {
        let rest = path.strip_prefix(folder);
        folder.is_empty() || rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let paths = registry.files().filter(|path| !path.starts_with(EXAMPLES)).filter(is_below);
    paths.map(|path| BuiltIn::of(path, registry)).collect()
}

/// What a file says about itself: its field `doc`, or the comment that it begins with.
fn told(text: &[u8]) -> String {
    let doc = doc_of(text);
    if !doc.is_empty() {
        return doc;
    }
    let text = String::from_utf8_lossy(text);
    let comment = text.lines().map_while(|line| line.strip_prefix("//"));
    comment.map(str::trim).collect::<Vec<_>>().join("\n")
}
