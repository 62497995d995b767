//! The text of a robot file: read, and expanded if it is xacro.

use std::collections::BTreeMap;

use legwork_block::{Files, Invalid, nearest};
use legwork_mechanics::{
    Expanded, PackageSearch, UrdfError, Warning, XacroOptions, expand_xacro, is_xacro,
    resolve_package,
};

/// Folders above a robot file that are searched for its package, besides those that its path names.
const LEVELS_UP: usize = 3;

/// A robot file without macros.
pub(super) struct Source {
    /// As the diagram names it.
    path: String,
    pub(super) text: String,
    expanded: Option<Expanded>,
}

impl Source {
    /// Reads the file `path` and what it includes.
    ///
    /// # Errors
    /// At the parameter that names a file that cannot be read or expanded.
    pub(super) fn read(
        path: &str,
        arguments: &BTreeMap<String, String>,
        packages: &BTreeMap<String, String>,
        files: &dyn Files,
    ) -> Result<Self, Invalid> {
        let wrong = |message: String| Invalid::parameter("path", message);
        let text = files.read(path).and_then(|bytes| decoded(path, bytes)).map_err(wrong)?;
        let own_path = path.to_owned();
        if !is_xacro(&text) {
            if let Some(name) = arguments.keys().next() {
                let message = format!("expected a xacro file for argument `{name}`, found URDF");
                return Err(Invalid::parameter("args", message));
            }
            return Ok(Self { path: own_path, text, expanded: None });
        }
        let read = |uri: &str, from: &str| {
            let file = find(uri, from, packages, files)?;
            let text = decoded(&file, files.read_found(&file)?)?;
            Ok((file, text))
        };
        let options = XacroOptions { file: path, arguments, read: &read };
        let expanded = expand_xacro(&text, &options).map_err(|error| {
            let invalid = wrong(error.to_string());
            if error.is_unread { invalid.missing_file() } else { invalid }
        })?;
        let is_known = |name: &&String| expanded.arguments.contains(name);
        if let Some(other) = arguments.keys().find(|name| !is_known(name)) {
            let known = expanded.arguments.iter().map(String::as_str);
            let invalid = Invalid::parameter("args", format!("`{path}` has no argument `{other}`"));
            return Err(match nearest(other, known.clone()) {
                Some(near) => invalid.hint(format!("did you mean `{near}`?")),
                None => invalid.hint(format!("it has: {}", known.collect::<Vec<_>>().join(", "))),
            });
        }
        let text = expanded.text.clone();
        Ok(Self { path: own_path, text, expanded: Some(expanded) })
    }

    /// What an error says, with the file that it is in.
    pub(super) fn error(&self, error: UrdfError) -> Invalid {
        let (file, error) = match (&self.expanded, error.line()) {
            (Some(expanded), Some(line)) => {
                let (file, line) = expanded.origin(line);
                (file, error.at_line(line))
            }
            _ => (self.path.as_str(), error),
        };
        Invalid::parameter("path", format!("{file}: {error}"))
    }

    /// What a warning says, with the file that it is in.
    pub(super) fn warning(&self, warning: Warning) -> String {
        let Some(expanded) = &self.expanded else { return format!("{}: {warning}", self.path) };
        let file = warning.line().map_or(self.path.as_str(), |line| expanded.origin(line).0);
        let warning = warning.at_lines(|line| expanded.origin(line).1);
        format!("{file}: {warning}")
    }
}

fn decoded(path: &str, bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| format!("{path}: expected UTF-8 text, {error}"))
}

/// The file that a name in the file `from` stands for. Nothing depends on the manifests that lead
/// to it; what is in it counts.
fn find(
    uri: &str,
    from: &str,
    packages: &BTreeMap<String, String>,
    files: &dyn Files,
) -> Result<String, String> {
    // `file://$(find PACKAGE)/…` is a package too.
    let uri = uri.strip_prefix("file://").filter(|uri| uri.contains("://")).unwrap_or(uri);
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let exists = |path: &str| files.exists(path);
    let in_package = uri.strip_prefix("package://");
    let in_package = in_package.and_then(|rest| rest.trim_start_matches('/').split_once('/'));
    let mut why = String::new();
    if let Some((name, rest)) = in_package {
        if let Some(stated) = packages.get(name) {
            return Ok(format!("{}/{rest}", stated.trim_end_matches('/')));
        }
        // The package whose `package.xml` has that name, wherever its folder is.
        let mut above: Vec<String> = Vec::new();
        let mut at = folder;
        loop {
            above.push(at.to_owned());
            let Some((parent, _)) = at.rsplit_once('/') else { break };
            at = parent;
        }
        if !folder.is_empty() {
            above.push(String::new());
        }
        above.extend((1..=LEVELS_UP).map(|level| ["..", "/"].concat().repeat(level)));
        for folder in above {
            let join = |inner: &str| match folder.as_str() {
                "" => inner.to_owned(),
                folder => format!("{}/{inner}", folder.trim_end_matches('/')),
            };
            let is_it = files.look(&join("package.xml")).is_ok_and(|bytes| {
                String::from_utf8_lossy(&bytes).contains(&format!("<name>{name}</name>"))
            });
            if is_it && exists(&join(rest)) {
                return Ok(join(rest));
            }
        }
        why = format!(
            "; state its folder: `packages: {{ \"{name}\": \"…\" }}` in a diagram, `--package \
             {name}=…` of `legwork robot`"
        );
    }
    // Names from $(dirname) are those of the diagram.
    let search = PackageSearch { folder, roots: &[""], exists: &exists };
    resolve_package(uri, &search).map_err(|error| {
        // What may not be read may well be there.
        match error.tried().iter().find_map(|path| files.refusal(path)) {
            // A package is looked for in all folders above.
            Some(_) if in_package.is_some() => {
                format!("{error}; folders above may not be read, `--root ..` allows it{why}")
            }
            Some(refusal) => refusal,
            None => format!("{error}{why}"),
        }
    })
}

/// Files that the robot file names, looked for first in the folder where the last one of the same
/// folder was.
pub(super) struct Folders<'a> {
    path: &'a str,
    packages: &'a BTreeMap<String, String>,
    files: &'a dyn Files,
    known: BTreeMap<String, String>,
}

impl<'a> Folders<'a> {
    pub(super) fn new(
        path: &'a str,
        packages: &'a BTreeMap<String, String>,
        files: &'a dyn Files,
    ) -> Self {
        Self { path, packages, files, known: BTreeMap::new() }
    }

    /// The file that a name stands for.
    ///
    /// # Errors
    /// Where was looked.
    pub(super) fn find(&mut self, name: &str) -> Result<String, String> {
        let split = |path: &str| path.rsplit_once('/').map(|(a, b)| (a.to_owned(), b.to_owned()));
        let parts = split(name);
        if let Some((folder, last)) = &parts
            && let Some(known) = self.known.get(folder)
        {
            let path = format!("{known}/{last}");
            if self.files.exists(&path) {
                return Ok(path);
            }
        }
        let path = find(name, self.path, self.packages, self.files)?;
        if !self.files.exists(&path) {
            let refusal = self.files.refusal(&path);
            return Err(refusal.unwrap_or_else(|| format!("no file `{path}`")));
        }
        if let (Some((folder, _)), Some((found, _))) = (parts, split(&path)) {
            self.known.insert(folder, found);
        }
        Ok(path)
    }
}
