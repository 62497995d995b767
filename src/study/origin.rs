//! What made a recording, from the recording alone: it keeps the diagram, what changed it on the
//! command line, and the files that it read.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use legwork_block::{Resource, Severity};
use legwork_diagram::render::SourceMap;
use legwork_diagram::{Compiled, Options, ReadFile, compile};
use legwork_program::Program;
use legwork_runtime::recording::Metadata;
use legwork_scene::Viewer;

use crate::library::{Library, doc_of};

/// What made a recording: the diagram with its overrides, and what they compile to.
pub struct Origin {
    program: Program,
    sources: SourceMap,
    variants: Vec<(String, Vec<String>)>,
    robots: BTreeMap<String, Arc<dyn Resource>>,
    ground: Option<Arc<dyn Resource>>,
    options: Options,
    text: Vec<u8>,
}

impl Origin {
    /// The program that wrote it.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The texts of the diagram and of its parts.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Name and choices of every variant.
    pub fn variants(&self) -> &[(String, Vec<String>)] {
        &self.variants
    }

    /// What changed the diagram on the command line.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The text of the diagram itself.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// What there is to see of the run, without the surfaces of meshes.
    pub fn viewer(&self) -> Viewer {
        let ground = self.ground.as_ref().and_then(|ground| ground.mechanism());
        Viewer::new(&self.program, |name| self.robots.get(name)?.mechanism(), ground)
    }
}

/// The program that wrote a recording.
///
/// # Errors
/// Why it is not known, in lower case.
pub fn program(metadata: &Metadata, name: &str, library: &Library) -> Result<Program, String> {
    of(metadata, name, library).map(|origin| origin.program)
}

/// What made a recording.
///
/// # Errors
/// Why it is not known, in lower case.
pub fn of(metadata: &Metadata, name: &str, library: &Library) -> Result<Origin, String> {
    if metadata.diagram.is_empty() {
        return Err("the recording does not hold the diagram".to_owned());
    }
    let options = Options { memory: library.memory(), ..options(&metadata.overrides) };
    let kept = Kept { files: files(metadata), given: RefCell::default() };
    let path = PathBuf::from(format!("{name}.ron"));
    let compiled = compile(&path, metadata.diagram.as_bytes(), &options, library.registry(), &kept);
    let Compiled { program, diagnostics, sources, variants, robots, ground } = compiled;
    let Some(program) = program else {
        let error = diagnostics.iter().find(|found| found.severity == Severity::Error);
        let why = error.map_or("errors", |error| error.message.as_str());
        return Err(format!("the recorded diagram does not compile here: {why}"));
    };
    if format!("{:016x}", program.hash()) != metadata.program_hash {
        let theirs = &metadata.version;
        return Err(format!(
            "the recorded diagram compiles to another program here; version {theirs} wrote it"
        ));
    }
    let text = metadata.diagram.clone().into_bytes();
    Ok(Origin { program, sources, variants, robots, ground, options, text })
}

/// What the recorded diagram says about itself.
pub fn doc(metadata: &Metadata) -> Option<String> {
    Some(doc_of(metadata.diagram.as_bytes())).filter(|doc| !doc.is_empty())
}

/// The overrides as the command line gave them; see `Model::metadata`.
fn options(overrides: &[String]) -> Options {
    let mut options = Options::default();
    for text in overrides {
        if let Some(patch) = text.strip_prefix("with ") {
            options.patches.push(patch.to_owned());
            continue;
        }
        let Some((path, value)) = text.split_once('=') else { continue };
        match path.strip_prefix("variants.") {
            Some(name) if !name.contains('.') => {
                options.variants.push((name.to_owned(), value.to_owned()));
            }
            _ if path == "run.stop" => options.until = Some(value.to_owned()),
            _ => options.set.push((path.to_owned(), value.to_owned())),
        }
    }
    options
}

/// The recorded files by name, each with its contents in the order in which they were read.
fn files(metadata: &Metadata) -> BTreeMap<String, Vec<Vec<u8>>> {
    let mut files: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    let kept = |key: &str| Some(from_text(metadata.other.get(key)?));
    for key in metadata.other.keys() {
        let Some(name) = key.strip_prefix("file ") else { continue };
        // `a.ron (2)` is the second of its name.
        let further = |count: usize| kept(&format!("{key} ({count})"));
        let is_further = name.rsplit_once(" (").is_some_and(|(first, _)| {
            metadata.other.contains_key(&format!("file {first}")) && name.ends_with(')')
        });
        if !is_further {
            let all = kept(key).into_iter().chain((2..).map_while(further));
            files.insert(name.to_owned(), all.collect());
        }
    }
    files
}

/// In front of the text of a file that is not UTF-8.
const ENCODED: &str = "base64,";

/// A file as a text that tells its bytes.
pub(crate) fn to_text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.starts_with(ENCODED) => text.to_owned(),
        _ => [ENCODED, &STANDARD.encode(bytes)].concat(),
    }
}

/// The bytes that such a text tells.
fn from_text(text: &str) -> Vec<u8> {
    let decoded = text.strip_prefix(ENCODED).and_then(|encoded| STANDARD.decode(encoded).ok());
    decoded.unwrap_or_else(|| text.as_bytes().to_vec())
}

/// Gives the files back by their names: where they were is not recorded.
struct Kept {
    files: BTreeMap<String, Vec<Vec<u8>>>,
    /// By path, which of the files of that name it is.
    given: RefCell<BTreeMap<PathBuf, usize>>,
}

impl ReadFile for Kept {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let files = self.files.get(&*name).ok_or(ErrorKind::NotFound)?;
        // Two paths may have led to one file.
        if let [only] = &files[..] {
            return Ok(only.clone());
        }
        let mut given = self.given.borrow_mut();
        let others = given.keys().filter(|other| other.file_name() == path.file_name()).count();
        let index = given.get(path).copied().unwrap_or(others);
        let bytes = files.get(index).ok_or(ErrorKind::NotFound)?.clone();
        given.insert(path.to_owned(), index);
        Ok(bytes)
    }

    /// Whether there is a file of that name, of which no one is given.
    fn find(&self, path: &Path) -> std::io::Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if self.files.contains_key(&*name) { Ok(()) } else { Err(ErrorKind::NotFound.into()) }
    }

    /// Nothing: what does not change the program is not recorded.
    fn look(&self, _: &Path) -> std::io::Result<Vec<u8>> {
        Err(ErrorKind::NotFound.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_are_read_back() {
        let texts = [
            "with soft.ron",
            "kp=3",
            "variants.qp.choices.pgs.sweeps=2",
            "run.stop=2 s",
            "variants.qp=pgs",
        ];
        let options = options(&texts.map(str::to_owned));
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(options.patches, ["soft.ron"]);
        assert_eq!(options.set, [pair("kp", "3"), pair("variants.qp.choices.pgs.sweeps", "2")]);
        assert_eq!(options.until.as_deref(), Some("2 s"));
        assert_eq!(options.variants, [pair("qp", "pgs")]);
    }

    #[test]
    fn every_file_has_a_text_that_tells_its_bytes() {
        for bytes in [&b"plain"[..], b"", b"base64,AAAA", &[0, 159, 146, 150]] {
            assert_eq!(from_text(&to_text(bytes)), bytes);
        }
        assert_eq!(to_text(b"plain"), "plain");
    }

    #[test]
    fn files_of_one_name_are_given_in_the_order_in_which_they_were_read() {
        let mut metadata = Metadata::default();
        for (key, text) in
            [("file a", "1"), ("file a (2)", "2"), ("file b (x)", "3"), ("edits", "")]
        {
            metadata.other.insert(key.to_owned(), text.to_owned());
        }
        let kept = Kept { files: files(&metadata), given: RefCell::default() };
        let read = |path: &str| kept.read(Path::new(path)).ok();
        assert_eq!(read("x/a"), Some(b"1".to_vec()));
        assert_eq!(read("y/a"), Some(b"2".to_vec()));
        assert_eq!(read("x/a"), Some(b"1".to_vec()));
        assert_eq!(read("z/a"), None);
        assert_eq!(read("b (x)"), Some(b"3".to_vec()));
        assert_eq!(read("other/b (x)"), Some(b"3".to_vec()));
        assert_eq!(read("edits"), None);
    }
}
