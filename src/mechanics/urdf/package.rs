//! Finds the mesh files that a robot file names.
//!
//! Robot files name meshes as `package://NAME/rest`, which only a ROS installation can look up:
//! `NAME` is a folder somewhere. Here the folders above the robot file are searched, which is where
//! that folder lies in every published robot description, and then the folders that the user gives.

/// Where to look for the files that a robot file names.
#[derive(Clone, Copy)]
pub struct PackageSearch<'a> {
    /// Folder of the robot file, absolute so that all folders above it are known; `/` separates.
    pub folder: &'a str,
    /// Folders to search when the folders above the robot file have been.
    pub roots: &'a [&'a str],
    /// Whether there is a file of this path.
    pub exists: &'a dyn Fn(&str) -> bool,
}

/// Why the file that a robot file names was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// No path that the name may stand for leads to a file.
    #[error("no file for `{uri}`; tried {}", .tried.join(", "))]
    NotFound {
        /// The name in the robot file.
        uri: String,
        /// The paths that were tried, in order.
        tried: Vec<String>,
    },
    /// The name cannot be that of a file.
    #[error("`{uri}`: expected package://NAME/PATH, model://NAME/PATH, file:///PATH or a path")]
    Malformed {
        /// The name in the robot file.
        uri: String,
    },
}

impl PackageError {
    /// The paths that were tried, in order.
    #[must_use]
    pub fn tried(&self) -> &[String] {
        match self {
            Self::NotFound { tried, .. } => tried,
            Self::Malformed { .. } => &[],
        }
    }
}

/// Path of the file that a robot file names, found without ROS.
///
/// | name | tried, in this order |
/// |---|---|
/// | `package://NAME/rest`, `model://NAME/rest` | `rest` in the package `NAME`; `folder/rest` |
/// | `file:///path`, `file:/path` | `/path` |
/// | `/path` | `/path` |
/// | `path`, `file://path` | `folder/path`, then `root/path` for every root |
///
/// The package `NAME` is looked for in every folder `A` from `folder` up, and then in every root:
/// it is `A` itself if `A` is called `NAME`, else `A/NAME`.
///
/// If there is no file of the name as it is, its other spelling is tried: `%20` is a blank, as in
/// every URI, and `\` is `/`, as Windows has it.
///
/// Reads no file itself, but calls `search.exists`. O(folders above the robot file + roots).
///
/// # Errors
/// [`PackageError`] with all paths tried if none exists, or if the name has no path or another
/// scheme.
pub fn resolve_package(uri: &str, search: &PackageSearch<'_>) -> Result<String, PackageError> {
    let own =
        candidates(uri, search).ok_or_else(|| PackageError::Malformed { uri: uri.to_owned() })?;
    let other = legwork_mesh::percent_decoded(&uri.replace('\\', "/"));
    let other = candidates(&other, search).unwrap_or_default();
    let mut tried: Vec<String> = Vec::new();
    for path in own.into_iter().chain(other) {
        if tried.contains(&path) {
            continue;
        }
        if (search.exists)(&path) {
            return Ok(path);
        }
        tried.push(path);
    }
    Err(PackageError::NotFound { uri: uri.to_owned(), tried })
}

/// The paths that `uri` may stand for; `None` if it cannot name a file.
fn candidates(uri: &str, search: &PackageSearch<'_>) -> Option<Vec<String>> {
    let in_package = uri.strip_prefix("package://").or_else(|| uri.strip_prefix("model://"));
    if let Some(rest) = in_package {
        // Some files have a third slash.
        let (name, rest) = rest.trim_start_matches('/').split_once('/')?;
        let rest = rest.trim_start_matches('/');
        if matches!(name, "" | "." | "..") || rest.is_empty() {
            return None;
        }
        let folders = ancestors(search.folder).chain(search.roots.iter().copied());
        let in_folder = |folder| match last_name(folder) == name {
            true => join(folder, rest),
            false => join(&join(folder, name), rest),
        };
        // A copy beside the robot file counts only where the package itself is not found.
        let beside = std::iter::once(join(search.folder, rest));
        return Some(folders.map(in_folder).chain(beside).collect());
    }
    let path = match (uri.strip_prefix("file://"), uri.strip_prefix("file:")) {
        (Some(rest), _) => match rest.strip_prefix("localhost") {
            Some(path) if path.starts_with('/') => path,
            _ => rest,
        },
        (None, Some(path)) if path.starts_with('/') => path,
        (None, _) if uri.contains("://") => return None,
        (None, _) => uri,
    };
    match path {
        "" => None,
        _ if path.ends_with('/') => None,
        _ if path.starts_with('/') => Some(vec![path.to_owned()]),
        _ => {
            let folders = std::iter::once(search.folder).chain(search.roots.iter().copied());
            Some(folders.map(|folder| join(folder, path)).collect())
        }
    }
}

/// A folder and the folders above it, as far as its path names them.
fn ancestors(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| {
        let folder = folder.trim_end_matches('/');
        match folder.rsplit_once('/') {
            // The parent of `..` is not known.
            _ if matches!(last_name(folder), "" | "." | "..") => None,
            Some(("", _)) => Some("/"),
            Some((above, _)) => Some(above),
            None => Some(""),
        }
    })
}

fn last_name(folder: &str) -> &str {
    folder.trim_end_matches('/').rsplit('/').next().unwrap_or("")
}

fn join(folder: &str, path: &str) -> String {
    match folder {
        "" => path.to_owned(),
        _ if folder.ends_with('/') => format!("{folder}{path}"),
        _ => format!("{folder}/{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Resolves among these files from `/ws/src/dog_description/urdf`.
    fn resolve(uri: &str, files: &[&str]) -> Result<String, PackageError> {
        let search = PackageSearch {
            folder: "/ws/src/dog_description/urdf",
            roots: &["/opt/share/", "/opt/arm"],
            exists: &|path| files.contains(&path),
        };
        resolve_package(uri, &search)
    }

    #[test]
    fn packages_are_found_in_the_layouts_that_occur() {
        let uri = "package://dog_description/meshes/a.stl";
        for file in [
            // Meshes beside the robot file.
            "/ws/src/dog_description/urdf/meshes/a.stl",
            // The robot file inside its package.
            "/ws/src/dog_description/meshes/a.stl",
            // A package in a package, and one higher up.
            "/ws/src/dog_description/urdf/dog_description/meshes/a.stl",
            "/ws/dog_description/meshes/a.stl",
            "/dog_description/meshes/a.stl",
            // Installed elsewhere.
            "/opt/share/dog_description/meshes/a.stl",
        ] {
            assert_eq!(resolve(uri, &[file]).as_deref(), Ok(file));
        }
        // Another package of the same workspace, and a root that is the package itself.
        let file = "/ws/src/leg/a.stl";
        assert_eq!(resolve("package://leg/a.stl", &[file]).as_deref(), Ok(file));
        assert_eq!(
            resolve("model://arm/a.stl", &["/opt/arm/a.stl"]).as_deref(),
            Ok("/opt/arm/a.stl")
        );
    }

    #[test]
    fn nearer_places_win() {
        let files =
            ["/ws/src/dog_description/meshes/a.stl", "/opt/share/dog_description/meshes/a.stl"];
        let found = resolve("package://dog_description/meshes/a.stl", &files);
        assert_eq!(found.as_deref(), Ok(files[0]));
    }

    #[test]
    fn paths_and_file_names_are_found() {
        let folder = "/ws/src/dog_description/urdf";
        for (uri, file) in [
            ("file:///m/a.stl", "/m/a.stl".to_owned()),
            ("file://localhost/m/a.stl", "/m/a.stl".to_owned()),
            ("file:/m/a.stl", "/m/a.stl".to_owned()),
            ("file:///my%20m/a%2Db.stl", "/my m/a-b.stl".to_owned()),
            ("file:///my%20m/a.stl", "/my%20m/a.stl".to_owned()),
            ("package://urdf/my%20m/a.stl", format!("{folder}/my m/a.stl")),
            ("m\\b\\a.STL", format!("{folder}/m/b/a.STL")),
            ("100%/a.stl", format!("{folder}/100%/a.stl")),
            ("file://m/a.stl", format!("{folder}/m/a.stl")),
            ("/m/a.stl", "/m/a.stl".to_owned()),
            ("m/a.stl", format!("{folder}/m/a.stl")),
            ("../m/a.stl", format!("{folder}/../m/a.stl")),
            ("m/a.stl", "/opt/share/m/a.stl".to_owned()),
        ] {
            assert_eq!(resolve(uri, &[&file]).as_deref(), Ok(file.as_str()), "{uri}");
        }
    }

    #[test]
    fn the_error_lists_what_was_tried() {
        let Err(error) = resolve("package://leg/a.stl", &[]) else { panic!("found nothing") };
        assert_eq!(
            error.to_string(),
            "no file for `package://leg/a.stl`; tried \
             /ws/src/dog_description/urdf/leg/a.stl, /ws/src/dog_description/leg/a.stl, \
             /ws/src/leg/a.stl, /ws/leg/a.stl, /leg/a.stl, /opt/share/leg/a.stl, \
             /opt/arm/leg/a.stl, /ws/src/dog_description/urdf/a.stl"
        );
    }

    #[test]
    fn relative_folders_end_where_their_names_do() {
        let list = |folder| ancestors(folder).collect::<Vec<_>>();
        assert_eq!(list("/a/b/"), ["/a/b/", "/a", "/"]);
        assert_eq!(list("a/b"), ["a/b", "a", ""]);
        assert_eq!(list("../a"), ["../a", ".."]);
        assert_eq!(list("."), ["."]);
        assert_eq!(list(""), [""]);
    }

    #[test]
    fn malformed_names_are_refused() {
        let names = [
            "",
            "package://",
            "package://a",
            "package://a/",
            "package:///a.stl",
            "package://../a.stl",
            "model://a//",
            "http://host/a.stl",
            "file://",
            "file:///m/",
        ];
        for uri in names {
            let expected = PackageError::Malformed { uri: uri.to_owned() };
            assert_eq!(resolve(uri, &[""]), Err(expected), "{uri}");
        }
    }
}
