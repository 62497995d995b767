//! Which files a diagram may read.

use std::io::{Error, ErrorKind, Result};
use std::path::{Component, Path, PathBuf};

use super::read::{SIZE_LIMIT, read};

/// Name of the file that marks the folder of a project; what it holds does not matter.
pub const PROJECT: &str = "legwork.toml";

/// Folders whose files a diagram may read, those below them included.
///
/// A diagram may come from a stranger. It reads files in its own folder, in that of its project
/// (the nearest folder above it with a [`PROJECT`] file) and in the working directory, unless that
/// is the home directory or the root of the file system; then those that the user names. Symbolic
/// links lead nowhere else. What is built in is read everywhere.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    named: Vec<PathBuf>,
    is_trusted: bool,
}

impl Roots {
    /// With one more folder.
    #[must_use]
    pub fn and(mut self, folder: impl Into<PathBuf>) -> Self {
        self.named.push(folder.into());
        self
    }

    /// With every file that the user may read.
    #[must_use]
    pub fn trusting(mut self) -> Self {
        self.is_trusted = true;
        self
    }

    /// The folders that the user named.
    pub fn named(&self) -> &[PathBuf] {
        &self.named
    }

    /// What a diagram in this file may read; `more` are files that the user named.
    pub(crate) fn of_diagram(&self, file: &Path, more: &[&Path]) -> Allowed {
        let folder = match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut folders = vec![folder.to_owned()];
        folders.extend(project(folder));
        folders.extend(working_directory());
        folders.extend(self.named.iter().cloned());
        let mut places = Vec::new();
        for folder in &folders {
            let written = tidy(&std::path::absolute(folder).unwrap_or_else(|_| folder.clone()));
            let whole = folder.canonicalize();
            for place in [Some(written), whole.ok()].into_iter().flatten() {
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        let files = more.iter().map(|path| (*path).to_owned()).collect();
        Allowed { folders: places, files, is_trusted: self.is_trusted }
    }
}

/// What one diagram may read.
pub(crate) struct Allowed {
    /// As they are written, and without links.
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
    is_trusted: bool,
}

impl Allowed {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ErrorKind::PermissionDenied`] outside of the folders, whether there is a file or not; those
    /// of [`read`].
    pub(crate) fn read(&self, path: &Path) -> Result<Vec<u8>> {
        read(&self.place(path)?, SIZE_LIMIT)
    }

    /// Where a file is that may be read.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub(crate) fn place(&self, path: &Path) -> Result<PathBuf> {
        if self.is_trusted || self.files.iter().any(|file| file == path) {
            std::fs::metadata(path)?;
            return Ok(path.to_owned());
        }
        let written = tidy(&std::path::absolute(path)?);
        if !self.holds(&written) {
            return Err(Error::new(ErrorKind::PermissionDenied, self.outside()));
        }
        let place = written.canonicalize()?;
        if !self.holds(&place) {
            let message = format!("it is a symbolic link that leads {}", self.outside());
            return Err(Error::new(ErrorKind::InvalidInput, message));
        }
        // A pipe would let the diagram wait for ever.
        if !place.is_file() && !place.is_dir() {
            return Err(Error::new(ErrorKind::InvalidInput, "it is a device, not a file"));
        }
        Ok(place)
    }

    /// Whether the diagram's own file is in its folders, also behind symbolic links.
    ///
    /// # Errors
    /// If not.
    pub(crate) fn admit(&self, file: &Path) -> Result<()> {
        let is_link = file.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
        if !is_link || self.is_trusted || self.holds(&file.canonicalize()?) {
            return Ok(());
        }
        let message = format!("it is a symbolic link that leads {}", self.outside());
        Err(Error::new(ErrorKind::InvalidInput, message))
    }

    fn holds(&self, place: &Path) -> bool {
        self.folders.iter().any(|folder| place.starts_with(folder))
    }

    fn outside(&self) -> String {
        "outside of the folders that the diagram may read: its own, that of its project, the \
         working directory; `--root DIR` adds a folder, and `--trust` lifts the limit"
            .to_owned()
    }
}

/// The nearest folder above with the file of a project.
fn project(folder: &Path) -> Option<PathBuf> {
    let whole = folder.canonicalize().ok()?;
    whole.ancestors().find(|above| above.join(PROJECT).is_file()).map(Path::to_owned)
}

/// The working directory, unless it holds everything that the user has.
fn working_directory() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let is_wide = here.parent().is_none()
        || home.is_some_and(|home| here.canonicalize().is_ok_and(|here| home.starts_with(here)));
    (!is_wide).then_some(here)
}

/// The path without `.` and `a/..`, as it is written.
fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a/d.ron`, `a/below/in`, `b/out` and links in `a` to both files and to `b`.
    fn tree() -> tempfile::TempDir {
        let here = tempfile::tempdir().expect("a directory");
        let write = |name: &str| {
            let path = here.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            std::fs::write(path, name).expect("files");
        };
        ["a/d.ron", "a/below/in", "b/out"].into_iter().for_each(write);
        #[cfg(unix)]
        for (target, link) in [("below/in", "a/near"), ("../b/out", "a/far"), ("../b", "a/folder")]
        {
            std::os::unix::fs::symlink(target, here.path().join(link)).expect("a link");
        }
        here
    }

    #[test]
    fn a_diagram_reads_in_its_folder_and_below() {
        let here = tree();
        let file = here.path().join("a/d.ron");
        let read = |roots: &Roots, name: &str| {
            roots.of_diagram(&file, &[]).read(&here.path().join(name)).map_err(|e| e.kind())
        };
        let own = Roots::default();
        assert!(read(&own, "a/below/in").is_ok());
        assert_eq!(read(&own, "a/missing"), Err(ErrorKind::NotFound));
        // Outside it is not told whether there is a file.
        for name in ["b/out", "b/missing", "a/../b/out"] {
            assert_eq!(read(&own, name), Err(ErrorKind::PermissionDenied), "{name}");
        }
        assert!(read(&own.clone().and(here.path().join("b")), "a/../b/out").is_ok());
        assert!(read(&own.clone().trusting(), "b/out").is_ok());
        std::fs::write(here.path().join(PROJECT), "").expect("a file");
        assert!(read(&own, "b/out").is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_nowhere_else() {
        let here = tree();
        let file = here.path().join("a/d.ron");
        let allowed = Roots::default().of_diagram(&file, &[]);
        let read = |name: &str| allowed.read(&here.path().join(name)).map_err(|e| e.kind());
        assert!(read("a/near").is_ok());
        assert_eq!(read("a/far"), Err(ErrorKind::InvalidInput));
        assert_eq!(read("a/folder/out"), Err(ErrorKind::InvalidInput));
        assert!(allowed.admit(&here.path().join("a/near")).is_ok());
        assert!(allowed.admit(&here.path().join("a/far")).is_err());
    }
}
