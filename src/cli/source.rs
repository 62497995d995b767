//! Diagrams from files and from the binary, and their compilation with overrides.

use std::cell::RefCell;
use std::io::{Error, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use legwork_block::Registry;
use legwork_diagram::{Compiled, Options, ReadFile, compile};

use super::answer::Failure;
use super::arguments::Overrides;

/// Folder of the built-in files that holds diagrams.
const DEMOS: &str = "diagrams/";

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

/// A diagram's text and where it comes from.
pub(crate) struct Source {
    /// As the command line names it.
    pub(crate) name: String,
    /// Where it is; of a built-in one `std:` and its path.
    pub(crate) path: PathBuf,
    /// Its text.
    pub(crate) bytes: Vec<u8>,
    built_in: bool,
}

impl Source {
    /// Reads a file, `demo:NAME` or `std:PATH`.
    ///
    /// # Errors
    /// If there is no such file, or it cannot be read.
    pub(crate) fn open(file: &Path, registry: &Registry) -> Result<Self, Failure> {
        let name = file.display().to_string();
        if let Some(demo) = file.to_str().and_then(|text| text.strip_prefix("demo:")) {
            let found = find_demo(demo, registry)?;
            return Self::built_in(name, &found.path, registry);
        }
        if let Some(path) = file.to_str().and_then(|text| text.strip_prefix("std:")) {
            return Self::built_in(name.clone(), path, registry);
        }
        match Disk.read(file) {
            Ok(bytes) => Ok(Self { name, path: file.to_owned(), bytes, built_in: false }),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(Failure::usage(format!("no file `{name}`{}", near(file, registry))))
            }
            Err(error) if error.kind() == ErrorKind::IsADirectory || file.is_dir() => {
                Err(Failure::usage(format!("expected a file, found the directory `{name}`")))
            }
            Err(error) => Err(Failure::usage(format!("cannot read `{name}`: {error}"))),
        }
    }

    fn built_in(name: String, path: &str, registry: &Registry) -> Result<Self, Failure> {
        let Some(bytes) = registry.find_file(path) else {
            let near = legwork_block::nearest(path, registry.files())
                .map_or(String::new(), |near| format!("; did you mean `std:{near}`?"));
            return Err(Failure::usage(format!("no file `std:{path}` is built in{near}")));
        };
        let path = PathBuf::from(format!("std:{path}"));
        Ok(Self { name, path, bytes: bytes.to_vec(), built_in: true })
    }

    /// Compiles it.
    pub(crate) fn compile(&self, options: &Options, registry: &Registry) -> Compiled {
        self.compile_and_keep(options, registry).0
    }

    /// Compiles it; also gives the files that were read for it, in the order read.
    pub(crate) fn compile_and_keep(
        &self,
        options: &Options,
        registry: &Registry,
    ) -> (Compiled, Vec<(PathBuf, Vec<u8>)>) {
        let reader = Reader { built_in: self.built_in, read: RefCell::default() };
        let compiled = compile(&self.path, &self.bytes, options, registry, &reader);
        (compiled, reader.read.into_inner())
    }
}

/// Reads files and keeps them.
struct Reader {
    built_in: bool,
    read: RefCell<Vec<(PathBuf, Vec<u8>)>>,
}

impl ReadFile for Reader {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        // A built-in diagram has no directory: what it names by a relative path is built in too,
        // and must not depend on where the command runs.
        if self.built_in && path.is_relative() {
            return Err(ErrorKind::NotFound.into());
        }
        let bytes = Disk.read(path)?;
        let mut read = self.read.borrow_mut();
        if !read.iter().any(|(known, _)| known == path) {
            read.push((path.to_owned(), bytes.clone()));
        }
        Ok(bytes)
    }
}

/// What the front end is told of the command line.
///
/// # Errors
/// If a patch's path is not UTF-8.
pub(crate) fn options(overrides: &Overrides, until: Option<&str>) -> Result<Options, Failure> {
    let mut patches = Vec::new();
    for patch in &overrides.with {
        // A patch that lies here goes before one of the same name beside the diagram.
        let path = if patch.is_file() {
            std::path::absolute(patch).unwrap_or_else(|_| patch.clone())
        } else {
            patch.clone()
        };
        let text = path.to_str().ok_or_else(|| {
            Failure::usage(format!("expected a patch's path in UTF-8, found {}", patch.display()))
        })?;
        patches.push(text.to_owned());
    }
    Ok(Options {
        set: overrides.set.clone(),
        variants: overrides.variant.clone(),
        patches,
        until: until.map(str::to_owned),
        signals: Vec::new(),
        roots: Vec::new(),
    })
}

/// A diagram that is built in.
pub(crate) struct Demo {
    /// What follows `demo:`.
    pub(crate) name: String,
    /// Path among the built-in files.
    pub(crate) path: String,
}

/// The diagrams that are built in, by path. A name is the file's stem where that is unique.
pub(crate) fn demos(registry: &Registry) -> Vec<Demo> {
    let long: Vec<(&str, &str)> = registry
        .files()
        .filter_map(|path| Some((path.strip_prefix(DEMOS)?.strip_suffix(".ron")?, path)))
        .collect();
    let stem = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    long.iter()
        .map(|(name, path)| {
            let short = stem(name);
            let unique = long.iter().filter(|(other, _)| stem(other) == short).count() == 1;
            Demo { name: if unique { short } else { (*name).to_owned() }, path: (*path).to_owned() }
        })
        .collect()
}

/// The built-in diagram of this name, short or long.
///
/// # Errors
/// If there is none; the message names the nearest.
pub(crate) fn find_demo(name: &str, registry: &Registry) -> Result<Demo, Failure> {
    let mut known = demos(registry);
    let long = format!("{DEMOS}{name}.ron");
    if let Some(at) = known.iter().position(|demo| demo.name == name || demo.path == long) {
        return Ok(known.swap_remove(at));
    }
    let names = known.iter().map(|demo| demo.name.as_str());
    let hint = match legwork_block::nearest(name, names.clone()) {
        Some(near) => format!("did you mean `demo:{near}`?"),
        None if known.is_empty() => "this program has none".to_owned(),
        None => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
    };
    Err(Failure::usage(format!("no built-in diagram `{name}`; {hint}")))
}

/// Advice for a file that is not there.
fn near(file: &Path, registry: &Registry) -> String {
    let Some(name) = file.file_name().and_then(|name| name.to_str()) else { return String::new() };
    let folder = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut beside: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|other| other.ends_with(".ron"))
        .collect();
    beside.sort();
    if let Some(near) = legwork_block::nearest(name, beside.iter().map(String::as_str)) {
        return format!("; did you mean `{}`?", folder.join(near).display());
    }
    let stem = name.strip_suffix(".ron").unwrap_or(name);
    match demos(registry).iter().find(|demo| demo.name == stem) {
        Some(demo) => format!("; did you mean `demo:{}`?", demo.name),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry() -> Registry {
        let mut registry = Registry::default();
        registry
            .file("diagrams/leg/hop.ron", b"a")
            .file("diagrams/arm/reach.ron", b"b")
            .file("diagrams/leg/reach.ron", b"c")
            .file("masks/reach.ron", b"d");
        registry
    }

    #[test]
    fn a_demo_has_its_short_name_where_that_is_unique() {
        let names: Vec<String> = demos(&registry()).into_iter().map(|demo| demo.name).collect();
        assert_eq!(names, ["arm/reach", "hop", "leg/reach"]);
    }

    #[test]
    fn a_demo_is_found_by_its_short_and_its_long_name() {
        let open = |name: &str| Source::open(Path::new(name), &registry());
        assert_eq!(open("demo:hop").expect("short").bytes, b"a");
        assert_eq!(open("demo:leg/hop").expect("long").bytes, b"a");
        assert_eq!(open("demo:leg/reach").expect("long").bytes, b"c");
        assert_eq!(open("std:masks/reach.ron").expect("by path").bytes, b"d");
        let message = open("demo:hopp").err().expect("no such demo").message;
        assert!(message.ends_with("did you mean `demo:hop`?"), "{message}");
    }
}
