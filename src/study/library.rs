//! What there is to build diagrams from, and the diagrams that are built in.

use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use legwork_block::{FileId, Registry, nearest};
use legwork_diagram::document::begins_with;
use legwork_diagram::{ReadFile as _, document};

use crate::diagram::Diagram;
use crate::disk::Disk;
use crate::error::Error;
use crate::files::Roots;
use crate::reference;

/// Folder of the built-in files that holds diagrams.
const DEMOS: &str = "diagrams/";
/// Bytes that are read of a file to recognise its kind.
const BEGINNING: u64 = 1 << 16;

/// The kinds of blocks, robots and files that diagrams are made of; cheap to copy.
///
/// ```
/// let library = legwork_study::Library::new(legwork_blocks::register);
/// let stand = library.open("demo:stand")?;
/// assert!(stand.doc().contains("Mini Cheetah"));
/// # Ok::<(), legwork_study::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Library {
    registry: Arc<Registry>,
    roots: Arc<Roots>,
    memory: Option<u64>,
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library").field("blocks", &self.registry.blocks().count()).finish()
    }
}

impl From<Registry> for Library {
    fn from(mut registry: Registry) -> Self {
        reference::register(&mut registry);
        Self { registry: Arc::new(registry), roots: Arc::default(), memory: None }
    }
}

/// A diagram that is built in.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Demo {
    /// What follows `demo:`.
    pub name: String,
    /// Path among the built-in files.
    #[serde(skip)]
    pub path: String,
    /// What [`Library::open`] takes.
    pub file: String,
    /// What the diagram says about itself.
    pub doc: String,
}

impl Library {
    /// A library of what `register` adds.
    pub fn new(register: impl FnOnce(&mut Registry)) -> Self {
        let mut registry = Registry::default();
        register(&mut registry);
        registry.into()
    }

    /// With other folders whose files diagrams may read.
    #[must_use]
    pub fn reading(mut self, roots: Roots) -> Self {
        self.roots = Arc::new(roots);
        self
    }

    /// Sets the most memory that a diagram may state for its run [bytes]; without it, 2 GB.
    #[must_use]
    pub fn allowing_memory(mut self, bytes: Option<u64>) -> Self {
        self.memory = bytes;
        self
    }

    /// The most memory that a diagram may state for its run [bytes].
    pub fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// The folders whose files diagrams may read.
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// The kinds of blocks, robots and files.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Opens a file, `demo:NAME`, `help:PAGE` (the example of a page of the reference) or
    /// `std:PATH`. It is compiled later.
    ///
    /// # Errors
    /// If there is no such file, or it cannot be read.
    pub fn open(&self, file: impl AsRef<Path>) -> Result<Diagram, Error> {
        let file = file.as_ref();
        let name = file.display().to_string();
        if let Some(demo) = file.to_str().and_then(|text| text.strip_prefix("demo:")) {
            let found = self.find_demo(demo)?;
            return self.built_in(name, &found);
        }
        if let Some(page) = file.to_str().and_then(|text| text.strip_prefix("help:")) {
            let Some(path) = reference::example_of(page) else {
                let near = nearest(page, reference::names())
                    .map_or(String::new(), |near| format!("; did you mean `help:{near}`?"));
                return Err(Error::request(format!("no page `{page}` has an example{near}")));
            };
            return self.built_in(name, path);
        }
        if let Some(path) = file.to_str().and_then(|text| text.strip_prefix("std:")) {
            return self.built_in(name.clone(), path);
        }
        let admitted = self.roots.of_diagram(file, &[]).admit(file);
        match admitted.and_then(|()| Disk.read(file)) {
            Ok(bytes) => Ok(Diagram::new(self, name, file.to_owned(), bytes, false)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(Error::request(format!("no file `{name}`{}", self.near(file))))
            }
            Err(error) if error.kind() == ErrorKind::IsADirectory || file.is_dir() => {
                Err(Error::request(format!("expected a file, found the directory `{name}`")))
            }
            Err(error) => Err(Error::request(format!("cannot read `{name}`: {error}"))),
        }
    }

    /// A diagram from its text. Files that it names are looked for beside `name`, as if it were
    /// the path of a file.
    pub fn diagram(&self, name: &str, text: impl Into<Vec<u8>>) -> Diagram {
        Diagram::new(self, name.to_owned(), PathBuf::from(name), text.into(), false)
    }

    fn built_in(&self, name: String, path: &str) -> Result<Diagram, Error> {
        let Some(bytes) = self.registry.find_file(path) else {
            let near = nearest(path, self.registry.files())
                .map_or(String::new(), |near| format!("; did you mean `std:{near}`?"));
            return Err(Error::request(format!("no file `std:{path}` is built in{near}")));
        };
        let path = PathBuf::from(format!("std:{path}"));
        Ok(Diagram::new(self, name, path, bytes.to_vec(), true))
    }

    /// The diagrams that are built in, by path. A name is the file's stem where that is unique.
    pub fn demos(&self) -> Vec<Demo> {
        let demo = |(name, path): (String, &str)| Demo {
            file: format!("demo:{name}"),
            name,
            path: path.to_owned(),
            doc: doc_of(self.registry.find_file(path).unwrap_or_default()),
        };
        self.demo_names().into_iter().map(demo).collect()
    }

    /// Name and path of every diagram that is built in.
    fn demo_names(&self) -> Vec<(String, &str)> {
        let long: Vec<(&str, &str)> = self
            .registry
            .files()
            .filter_map(|path| Some((path.strip_prefix(DEMOS)?.strip_suffix(".ron")?, path)))
            .collect();
        let stem = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
        let name = |long_name: &str| {
            let short = stem(long_name);
            let unique = long.iter().filter(|(other, _)| stem(other) == short).count() == 1;
            if unique { short } else { long_name.to_owned() }
        };
        long.iter().map(|(long_name, path)| (name(long_name), *path)).collect()
    }

    /// Path of the built-in diagram of this name, short or long.
    fn find_demo(&self, name: &str) -> Result<String, Error> {
        let known = self.demo_names();
        let long = format!("{DEMOS}{name}.ron");
        if let Some((_, path)) = known.iter().find(|(short, path)| short == name || *path == long) {
            return Ok((*path).to_owned());
        }
        let names = known.iter().map(|(name, _)| name.as_str());
        let hint = match nearest(name, names.clone()) {
            Some(near) => format!("did you mean `demo:{near}`?"),
            None if known.is_empty() => "this program has none".to_owned(),
            None => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
        };
        Err(Error::request(format!("no built-in diagram `{name}`; {hint}")))
    }

    /// Advice for a file that is not there.
    fn near(&self, file: &Path) -> String {
        let Some(name) = file.file_name().and_then(|name| name.to_str()) else {
            return String::new();
        };
        let folder = match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut beside: Vec<String> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|other| other.ends_with(".ron") && is_diagram(&folder.join(other)))
            .collect();
        beside.sort();
        if let Some(near) = nearest(name, beside.iter().map(String::as_str)) {
            return format!("; did you mean `{}`?", folder.join(near).display());
        }
        let stem = name.strip_suffix(".ron").unwrap_or(name);
        match self.demo_names().iter().find(|(demo, _)| demo == stem) {
            Some((demo, _)) => format!("; did you mean `demo:{demo}`?"),
            None => String::new(),
        }
    }
}

/// True if a file begins as a diagram does; only its beginning is read.
fn is_diagram(file: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(file).and_then(|file| file.take(BEGINNING).read_to_end(&mut start));
    read.is_ok() && begins_with(&start, "Diagram")
}

/// What a diagram says about itself; empty if nothing, or if it cannot be parsed.
pub(crate) fn doc_of(text: &[u8]) -> String {
    let document = document::parse(FileId::default(), text).ok();
    let doc = document.as_ref().and_then(|node| node.field("doc")?.text());
    doc.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library() -> Library {
        Library::new(|registry| {
            registry
                .file("diagrams/leg/hop.ron", b"a")
                .file("diagrams/arm/reach.ron", b"b")
                .file("diagrams/leg/reach.ron", b"c")
                .file("masks/reach.ron", b"d");
        })
    }

    #[test]
    fn a_demo_has_its_short_name_where_that_is_unique() {
        let names: Vec<String> = library().demos().into_iter().map(|demo| demo.name).collect();
        assert_eq!(names, ["arm/reach", "hop", "leg/reach"]);
    }

    #[test]
    fn a_demo_is_found_by_its_short_and_its_long_name() {
        let open = |name: &str| library().open(name);
        assert_eq!(open("demo:hop").expect("short").text(), b"a");
        assert_eq!(open("demo:leg/hop").expect("long").text(), b"a");
        assert_eq!(open("demo:leg/reach").expect("long").text(), b"c");
        assert_eq!(open("std:masks/reach.ron").expect("by path").text(), b"d");
        let error = open("demo:hopp").expect_err("no such demo");
        assert!(error.message().ends_with("did you mean `demo:hop`?"), "{error}");
    }
}
