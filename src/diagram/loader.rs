//! Files by name: beside the diagram, in search roots, among those built into the binary.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use legwork_block::{FileId, Files, Registry};
use legwork_program::Fnv;

use crate::document;
use crate::render::SourceMap;

/// The world outside: reads one file. The front end does no IO of its own.
pub trait ReadFile {
    /// The bytes of the file at `path`.
    ///
    /// # Errors
    /// As [`std::fs::read`]; [`std::io::ErrorKind::PermissionDenied`] for what a diagram may not
    /// read, as if it were not there.
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>>;

    /// The same for a file on which the program does not depend.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    fn look(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        self.read(path)
    }

    /// Whether there is a file at `path`.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    fn find(&self, path: &Path) -> std::io::Result<()> {
        self.look(path).map(|_| ())
    }
}

/// A file that a diagram at `path` may name, for which nothing is compiled.
///
/// # Errors
/// A sentence that says where was looked.
pub fn look(
    path: &Path,
    name: &str,
    roots: &[PathBuf],
    registry: &Registry,
    disk: &dyn ReadFile,
) -> Result<Vec<u8>, String> {
    let directory = path.parent().map(Path::to_owned).unwrap_or_default();
    Loader::new(registry, disk, directory, roots).look(name)
}

/// Where a file is that a diagram at `path` may name: its path, with `std:` in front if it is built
/// in.
///
/// # Errors
/// A sentence that says where was looked.
pub fn place(
    path: &Path,
    name: &str,
    roots: &[PathBuf],
    registry: &Registry,
    disk: &dyn ReadFile,
) -> Result<String, String> {
    let directory = path.parent().map(Path::to_owned).unwrap_or_default();
    Loader::new(registry, disk, directory, roots).place_of(name)
}

/// Directories above the diagram's own that are searched: `diagrams/basics/a.ron` finds
/// `robots/go.urdf` in `diagrams/`.
const LEVELS_UP: usize = 3;

/// Finds and keeps the files of one compilation.
pub(crate) struct Loader<'a> {
    registry: &'a Registry,
    disk: &'a dyn ReadFile,
    /// Where names begin: in the folder of the diagram that is being unfolded.
    here: RefCell<Here>,
    roots: &'a [PathBuf],
    sources: RefCell<SourceMap>,
    /// Hashes of the files that robots and blocks read, by name.
    data: RefCell<BTreeMap<String, u64>>,
}

/// Where the names of files begin.
#[derive(Clone, Default)]
pub(crate) struct Here {
    /// Folder of the diagram; `std:…` among the built-in files.
    directory: PathBuf,
    /// What is in front of the names of its files in hashes: the folders of the diagrams that lead
    /// to it, as they were named, so that a hash does not say where on a disk a file is.
    prefix: String,
}

/// In front of the path of a built-in file.
const BUILT_IN: &str = "std:";

impl<'a> Loader<'a> {
    pub(crate) fn new(
        registry: &'a Registry,
        disk: &'a dyn ReadFile,
        directory: PathBuf,
        roots: &'a [PathBuf],
    ) -> Self {
        let (sources, data) = (RefCell::default(), RefCell::default());
        let here = RefCell::new(Here { directory, prefix: String::new() });
        Self { registry, disk, here, roots, sources, data }
    }

    /// The name of a file that was read, as messages show it.
    pub(crate) fn name_of(&self, file: FileId) -> String {
        self.sources.borrow().name(file).to_owned()
    }

    /// Where the file `name` is, as messages show it.
    pub(crate) fn place_of(&self, name: &str) -> Result<String, String> {
        self.find(name).map(|(shown, _)| shown)
    }

    /// Lets names begin in the folder of the diagram `file`, which was found by `name`; gives where
    /// they began before.
    pub(crate) fn enter(&self, file: FileId, name: &str) -> Here {
        let shown = self.name_of(file);
        let mut here = self.here.borrow_mut();
        let before = here.clone();
        here.directory = Path::new(&shown).parent().map(Path::to_owned).unwrap_or_default();
        here.prefix.push_str(name);
        here.prefix.push('>');
        before
    }

    /// Lets names begin where they did.
    pub(crate) fn leave(&self, before: Here) {
        *self.here.borrow_mut() = before;
    }

    /// Adds a text that is not a file of its own, such as an override of the command line.
    pub(crate) fn add(&self, name: &str, text: &[u8]) -> FileId {
        self.sources.borrow_mut().add(name, text)
    }

    /// Adds the files that robots and blocks have read to a hash.
    pub(crate) fn hash_data(&self, hash: &mut Fnv) {
        for (name, data) in self.data.borrow().iter() {
            hash.add(name);
            hash.add_bytes(&data.to_le_bytes());
        }
    }

    /// What `act` makes of everything that was read so far.
    pub(crate) fn with_sources<T>(&self, act: impl FnOnce(&SourceMap) -> T) -> T {
        act(&self.sources.borrow())
    }

    /// Everything that was read.
    pub(crate) fn into_sources(self) -> SourceMap {
        self.sources.into_inner()
    }

    /// Reads a file whose place in messages matters, which must hold one of the constructs `kinds`.
    pub(crate) fn source(&self, name: &str, kinds: &[&str]) -> Result<(FileId, Rc<[u8]>), String> {
        let (shown, bytes) = self.find(name)?;
        if !document::is_ours(&bytes, kinds) {
            // Nothing of it is shown: it may be anything.
            let kinds = kinds.join("(` or `");
            return Err(format!("expected `{shown}` to begin with `{kinds}(`"));
        }
        let file = self.add(&shown, &bytes);
        Ok((file, bytes.into()))
    }

    /// Keeps the hash of a file under its name. Not of a patch: the document has what it says, and
    /// a recording keeps neither its folder nor needs it.
    pub(crate) fn note(&self, name: &str, bytes: &[u8]) {
        let name = [self.here.borrow().prefix.as_str(), name].concat();
        self.data.borrow_mut().insert(name, hash_of(bytes));
    }

    fn find(&self, name: &str) -> Result<(String, Vec<u8>), String> {
        self.search(name, &<[u8]>::to_vec, &|path| self.disk.read(path))
    }

    /// Where the file `name` is, as messages show it, and what `built_in` makes of its bytes or
    /// `read` of its path.
    fn search<T>(
        &self,
        name: &str,
        built_in: &dyn Fn(&[u8]) -> T,
        read: &dyn Fn(&Path) -> std::io::Result<T>,
    ) -> Result<(String, T), String> {
        if let Some(inner) = name.strip_prefix(BUILT_IN) {
            return match self.registry.find_file(inner) {
                Some(bytes) => Ok((name.to_owned(), built_in(bytes))),
                None => {
                    if let Some(instead) = self.registry.file_instead(inner) {
                        return Err(format!("`{name}` is no more: take {instead}"));
                    }
                    let near = legwork_block::nearest(inner, self.registry.files());
                    let near =
                        near.map_or(String::new(), |near| format!("; did you mean `std:{near}`?"));
                    Err(format!("no file `{name}` is built in{near}"))
                }
            };
        }
        if let Some((shown, bytes)) = self.find_beside_built_in(name) {
            return Ok((shown, built_in(bytes)));
        }
        let (mut tried, mut refused) = (Vec::new(), None);
        for (i, candidate) in self.candidates(name).into_iter().enumerate() {
            match read(&candidate) {
                Ok(found) => return Ok((candidate.display().to_string(), found)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    tried.push(candidate.display().to_string());
                }
                Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                    // The first is what was written, the others are folders above.
                    refused.get_or_insert_with(|| match i {
                        0 => left_alone(&candidate, &error),
                        _ => "folders above may not be searched, --root DIR allows it".to_owned(),
                    });
                }
                Err(error) => {
                    return Err(format!("no file `{name}`: {}: {error}", candidate.display()));
                }
            }
        }
        match self.registry.find_file(name) {
            Some(bytes) => Ok((format!("{BUILT_IN}{name}"), built_in(bytes))),
            None => {
                let tried = match tried.is_empty() {
                    true => "looked".to_owned(),
                    false => format!("looked for {} and", tried.join(", ")),
                };
                let refused = refused.map_or(String::new(), |refused| format!("; {refused}"));
                Err(format!("no file `{name}`; {tried} among the built-in files{refused}"))
            }
        }
    }

    /// A file beside the built-in diagram that names it.
    fn find_beside_built_in(&self, name: &str) -> Option<(String, &[u8])> {
        let here = self.here.borrow();
        let folder = here.directory.to_str()?.strip_prefix(BUILT_IN)?;
        let path = tidy(&Path::new(folder).join(name));
        let path = path.to_str()?;
        Some((format!("{BUILT_IN}{path}"), self.registry.find_file(path)?))
    }

    fn candidates(&self, name: &str) -> Vec<PathBuf> {
        let path = Path::new(name);
        if path.is_absolute() {
            return vec![path.to_owned()];
        }
        let directory = &self.here.borrow().directory;
        let mut found = vec![tidy(&directory.join(path))];
        let mut up = PathBuf::new();
        for _ in 0..LEVELS_UP {
            up.push("..");
            let candidate = tidy(&directory.join(&up).join(path));
            if !found.contains(&candidate) {
                found.push(candidate);
            }
        }
        found.extend(self.roots.iter().map(|root| tidy(&root.join(path))));
        found
    }
}

fn left_alone(path: &Path, error: &std::io::Error) -> String {
    match error.raw_os_error() {
        // The system's word, of a file that is there.
        Some(_) => format!("{} was not read: {error}", path.display()),
        None => format!("{} was not looked for: it is {error}", path.display()),
    }
}

/// The path without `a/..` inside, so that messages read well.
fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_))) =>
            {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

impl Files for Loader<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let (_, bytes) = self.find(path)?;
        self.note(path, &bytes);
        Ok(bytes)
    }

    fn read_found(&self, path: &str) -> Result<Vec<u8>, String> {
        let (_, bytes) = self.find(path)?;
        let hash = hash_of(&bytes);
        let name = path.rsplit('/').next().unwrap_or(path);
        // Files of one name are told apart by what is in them.
        self.data.borrow_mut().insert(format!("found {name} {hash:016x}"), hash);
        Ok(bytes)
    }

    fn look(&self, path: &str) -> Result<Vec<u8>, String> {
        self.search(path, &<[u8]>::to_vec, &|path| self.disk.look(path)).map(|(_, bytes)| bytes)
    }

    fn exists(&self, path: &str) -> bool {
        self.search(path, &|_| (), &|path| self.disk.find(path)).is_ok()
    }

    fn refusal(&self, path: &str) -> Option<String> {
        self.candidates(path).into_iter().find_map(|path| {
            let error = self.disk.find(&path).err()?;
            let is_refused = error.kind() == std::io::ErrorKind::PermissionDenied;
            is_refused.then(|| left_alone(&path, &error))
        })
    }
}

/// A hash of a file, eight bytes at a time: meshes have hundreds of megabytes.
fn hash_of(bytes: &[u8]) -> u64 {
    let add = |hash: u64, word: u64| {
        let product = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        product ^ (product >> 32)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    words.fold(add(0, bytes.len() as u64), add)
}
