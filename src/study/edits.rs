//! Parameters changed while a run goes on, kept in its recording, repeated by a run
//! (semantics 8.3).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use legwork_program::Program;
use legwork_runtime::recording::Metadata;
use serde::{Deserialize, Serialize};

use crate::diagram::Diagram;
use crate::error::Error;
use crate::files;
use crate::recorded;
use crate::run::RECORDING;

/// Name of the list in a recording's metadata.
const KEY: &str = "edits";

/// A parameter changed before a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Before which major step it enters, counted from t = 0.
    pub step: u64,
    /// When that is, for people: `0.102 s`.
    #[serde(default)]
    pub t: String,
    /// What is changed, as `--set` names it.
    pub path: String,
    /// The value, as `--set` takes it.
    pub value: String,
}

/// A change with the program that it makes.
pub(crate) struct Planned {
    pub(crate) edit: Edit,
    pub(crate) program: Arc<Program>,
}

/// Puts edits into what a recording says of its run.
pub(crate) fn note_edits(edits: &[Edit], metadata: &mut Metadata) {
    if let (false, Ok(list)) = (edits.is_empty(), serde_json::to_string(edits)) {
        metadata.other.insert(KEY.to_owned(), list);
    }
}

/// The file that [`read_edits`] reads.
pub fn edits_at(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(RECORDING) } else { path.to_owned() }
}

/// The edits of a run's directory, of a recording, or of a list in JSON.
///
/// # Errors
/// If the file cannot be read or holds no list of edits.
pub fn read_edits(path: &Path) -> Result<Vec<Edit>, Error> {
    let file = edits_at(path);
    let shown = file.display();
    let list = if file.extension().is_some_and(|extension| extension == "json") {
        files::read_text(&file)
            .map_err(|error| Error::request(format!("cannot read `{shown}`: {error}")))?
    } else {
        let recording = recorded::recording(&file)?;
        let list = recording.metadata().and_then(|metadata| metadata.other.get(KEY));
        list.cloned()
            .ok_or_else(|| Error::request(format!("no edits in the recording `{shown}`")))?
    };
    let edits: Vec<Edit> = serde_json::from_str(&list).map_err(|error| {
        // What JSON says of a text has parts of the text, which may be of any file.
        let (line, column) = (error.line(), error.column());
        Error::request(format!(
            "expected a list of edits in `{shown}`, found another text in line {line}, column \
             {column}"
        ))
    })?;
    match edits.windows(2).find(|pair| pair[0].step > pair[1].step) {
        Some(pair) => Err(Error::request(format!(
            "expected edits in the order of their steps in `{shown}`, found one before step {} \
             behind one before step {}",
            pair[1].step, pair[0].step
        ))),
        None => Ok(edits),
    }
}

/// Compiles the program after each edit.
///
/// # Errors
/// If the diagram does not compile with them.
pub(crate) fn plan(edits: Vec<Edit>, diagram: &Diagram) -> Result<Vec<Planned>, Error> {
    let mut diagram = diagram.clone();
    let mut planned = Vec::new();
    for edit in edits {
        diagram = diagram.set(&edit.path, &edit.value);
        let model = diagram.compile().into_model().map_err(|why| {
            let Edit { path, value, .. } = &edit;
            Error::request(format!("the edit {path} = {value} fails: {why}"))
        })?;
        planned.push(Planned { edit, program: Arc::clone(model.program()) });
    }
    Ok(planned)
}
