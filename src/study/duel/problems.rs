//! From files to problems.

use std::path::PathBuf;
use std::sync::Arc;

use legwork_block::{Diagnostic, Diagnostics, Span, code};
use legwork_diagram::render::SourceMap;
use legwork_qp::{NamedProblem, problem_file};

use crate::error::Error;
use crate::files::SIZE_LIMIT;
use crate::findings::Findings;

/// A problem and the file that it is in.
pub struct Given {
    /// The file.
    pub file: PathBuf,
    /// Its name is that of the file, which no other has.
    pub problem: NamedProblem,
    /// The name in the file.
    pub title: String,
}

/// The problems of files and of the `.json` files in directories, and what is wrong with them.
///
/// # Errors
/// If a file cannot be read, or a directory cannot be listed or holds no problems.
pub(super) fn read_all(paths: &[PathBuf]) -> Result<(Vec<Given>, Findings), Error> {
    let mut given: Vec<Given> = Vec::new();
    let mut findings = Findings::default();
    for file in files(paths)? {
        if given.iter().any(|other| other.file == file) {
            continue;
        }
        let shown = file.display().to_string();
        let bytes = crate::files::read(&file, SIZE_LIMIT)
            .map_err(|error| Error::request(format!("cannot read `{shown}`: {error}")))?;
        match read(bytes) {
            Ok(mut problem) => {
                let title = std::mem::replace(&mut problem.name, shown);
                given.push(Given { file, problem, title });
            }
            Err(mistake) => {
                let mut sources = SourceMap::default();
                let id = sources.add(shown, mistake.text.as_bytes());
                let span = Span::new(id, mistake.at.start, mistake.at.end);
                let mut list = Diagnostics::default();
                list.push(Diagnostic::error(code::PROBLEM_FILE, span, mistake.message));
                findings.add(list, &Arc::new(sources), None);
            }
        }
    }
    Ok((given, findings))
}

/// The format that a problem file names.
const FORMAT: &str = "legwork-problem";

/// What is wrong with a file.
struct Mistake {
    message: String,
    /// As far as it could be read.
    text: String,
    at: std::ops::Range<usize>,
}

fn read(bytes: Vec<u8>) -> Result<NamedProblem, Mistake> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let end = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..end]).into_owned();
        let (text, end) = if text.contains(FORMAT) { (text, end) } else { (String::new(), 0) };
        let message = "expected UTF-8, found other bytes".to_owned();
        Mistake { message, text, at: end..end }
    })?;
    problem_file::read(&text).map_err(|error| {
        if !text.contains(FORMAT) {
            // It may be any file, so that nothing of it is shown.
            let message = format!("expected a problem file, which has \"format\": \"{FORMAT}\"");
            return Mistake { message, text: String::new(), at: 0..0 };
        }
        let at = problem_file::place(&text, &error);
        Mistake { message: error.to_string(), text, at }
    })
}

/// Files as named, those of directories in the order of their names.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let unlisted = |error| Error::request(format!("cannot list `{}`: {error}", path.display()));
        let mut inside = Vec::new();
        for entry in std::fs::read_dir(path).map_err(unlisted)? {
            let file = entry.map_err(unlisted)?.path();
            if file.extension().is_some_and(|ending| ending == "json") {
                inside.push(file);
            }
        }
        if inside.is_empty() {
            return Err(Error::request(format!("no .json files in `{}`", path.display())));
        }
        inside.sort();
        files.append(&mut inside);
    }
    Ok(files)
}
