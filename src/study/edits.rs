//! Parameters and texts changed while a run goes on, kept in its recording, repeated by a run
//! (semantics 8.3).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use legwork_program::Program;
use legwork_runtime::recording::Metadata;
use serde::{Deserialize, Serialize};

use crate::diagram::Diagram;
use crate::error::Error;
use crate::files;
use crate::model::Model;
use crate::recorded;
use crate::run::RECORDING;

/// Name of the list in a recording's metadata.
const KEY: &str = "edits";

/// A parameter or a text changed before a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Before which major step it enters, counted from t = 0.
    pub step: u64,
    /// When that is, for people: `0.102 s`.
    #[serde(default)]
    pub t: String,
    /// What is changed, as `--set` names it; of texts, the names of their files.
    pub path: String,
    /// The value, as `--set` takes it; of texts, empty.
    pub value: String,
    /// The texts that it changes, if it changes texts and not a parameter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<TextChange>,
}

/// A text of a diagram before and after an edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextChange {
    /// The file, as the diagram names it.
    pub file: String,
    /// What it held before; nothing if the diagram did not read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What it holds from then on.
    pub after: String,
}

impl Edit {
    /// Whether it changes texts.
    pub fn is_of_text(&self) -> bool {
        !self.texts.is_empty()
    }

    /// A diagram with it.
    #[must_use]
    pub fn apply(&self, diagram: Diagram) -> Diagram {
        match self.is_of_text() {
            true => self
                .texts
                .iter()
                .fold(diagram, |diagram, TextChange { file, after, .. }| put(diagram, file, after)),
            false => diagram.set(&self.path, &self.value),
        }
    }

    /// When it enters [s], if that is known.
    pub fn time(&self) -> Option<f64> {
        self.t.strip_suffix(" s")?.parse().ok()
    }

    /// In words: `pd.kp = 80`, `the text of stand.ron`.
    pub fn words(&self) -> String {
        match self.is_of_text() {
            true => format!("the text of {}", self.path),
            false => format!("{} = {}", self.path, self.value),
        }
    }
}

/// A diagram with the texts that it had before these edits, which a file that was saved since has
/// not.
pub(crate) fn before(edits: &[Edit], diagram: &Diagram) -> Diagram {
    let changes = edits.iter().rev().flat_map(|edit| &edit.texts);
    let known = changes.filter_map(|change| Some((&change.file, change.before.as_ref()?)));
    known.fold(diagram.clone(), |diagram, (file, text)| put(diagram, file, text))
}

/// A diagram with another text. It may have been opened from another folder.
fn put(diagram: Diagram, file: &str, text: &str) -> Diagram {
    let own = diagram.path().file_name();
    let name = match own.is_some() && own == Path::new(file).file_name() {
        true => diagram.name().to_owned(),
        false => file.to_owned(),
    };
    diagram.with_text(&name, text)
}

/// The texts in which a model differs from one before.
pub(crate) fn changes(old: &Model, new: &Model) -> Vec<TextChange> {
    let texts = |model: &Model| {
        let own = (model.diagram().name().to_owned(), model.diagram().text().to_vec());
        let files = model.files().iter();
        let files =
            files.filter_map(|(path, text)| Some((path.to_str()?.to_owned(), text.clone())));
        std::iter::once(own).chain(files).collect::<BTreeMap<String, Vec<u8>>>()
    };
    let (old, new) = (texts(old), texts(new));
    let changed = new.into_iter().filter_map(|(file, after)| {
        let before = old.get(&file);
        if before == Some(&after) {
            return None;
        }
        let before = before.and_then(|before| String::from_utf8(before.clone()).ok());
        Some(TextChange { file, before, after: String::from_utf8(after).ok()? })
    });
    changed.collect()
}

/// A change of parameters with the program that it makes.
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
        diagram = edit.apply(diagram);
        let model = diagram
            .compile()
            .into_model()
            .map_err(|why| Error::request(format!("the edit {} fails: {why}", edit.words())))?;
        planned.push(Planned { edit, program: Arc::clone(model.program()) });
    }
    Ok(planned)
}
