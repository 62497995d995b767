//! A diagram with what changes it, and its compilation.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use legwork_block::{Diagnostic, Diagnostics, Resource, Severity};
use legwork_diagram::render::{SourceMap, to_json, to_text};
use legwork_diagram::{KnownPart, Options, ReadFile, compile, survey};
use serde_json::Value;

use crate::error::{Error, ErrorKind as Kind};
use crate::files::{Allowed, Roots};
use crate::library::{Library, doc_of};
use crate::manual::STAND_INS;
use crate::model::{Compiled, Model};

/// A diagram's text, where it comes from, and the overrides that change it without touching its
/// file. Methods that change it give a changed copy.
#[derive(Debug, Clone)]
pub struct Diagram {
    library: Library,
    name: String,
    path: PathBuf,
    text: Arc<[u8]>,
    is_built_in: bool,
    options: Options,
    /// Texts that stand in place of those of files that it reads, by their names.
    edited: Arc<BTreeMap<String, Vec<u8>>>,
}

/// What came of compiling a diagram.
#[derive(Debug)]
pub struct Compilation {
    /// The compiled diagram, unless there were errors.
    pub model: Option<Model>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
    /// The texts that they point into.
    pub sources: Arc<SourceMap>,
    /// Name and choices of every variant.
    pub variants: Vec<(String, Vec<String>)>,
}

/// What is known of a diagram, also of one that has mistakes.
#[derive(Clone)]
pub struct Survey {
    /// What its paths lead to.
    pub parts: Vec<KnownPart>,
    /// The robots that could be loaded, by name.
    pub robots: BTreeMap<String, Arc<dyn Resource>>,
    /// Name and choices of every variant.
    pub variants: Vec<(String, Vec<String>)>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
    /// The texts that they point into.
    pub sources: Arc<SourceMap>,
}

impl Compilation {
    /// The compiled diagram.
    ///
    /// # Errors
    /// What is wrong with the diagram, as text.
    pub fn into_model(self) -> Result<Model, Error> {
        let text = self.to_text();
        self.model.ok_or_else(|| Error::new(Kind::Diagram, text))
    }

    /// The compiled diagram, or the messages of its errors with their hints, a line each.
    pub(crate) fn model_or_errors(self) -> Result<Model, Error> {
        let Self { model, diagnostics, .. } = self;
        model.ok_or_else(|| {
            let errors = diagnostics.iter().filter(|one| one.severity == Severity::Error);
            let line = |one: &Diagnostic| {
                let hints: String = one.hints.iter().map(|hint| format!("; {hint}")).collect();
                format!("{}{hints}", one.message)
            };
            let lines: Vec<String> = errors.map(line).collect();
            Error::new(Kind::Diagram, lines.join("\n"))
        })
    }

    /// Errors and warnings as text, a paragraph each.
    pub fn to_text(&self) -> String {
        to_text(&self.diagnostics, &self.sources)
    }

    /// Errors and warnings as a JSON array.
    pub fn to_json(&self) -> Value {
        to_json(&self.diagnostics, &self.sources)
    }
}

impl Diagram {
    pub(crate) fn new(
        library: &Library,
        name: String,
        path: PathBuf,
        text: Vec<u8>,
        is_built_in: bool,
    ) -> Self {
        let (library, options) = (library.clone(), Options::default());
        let edited = Arc::default();
        Self { library, name, path, text: text.into(), is_built_in, options, edited }
    }

    /// The name by which it was opened.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path of its file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// What it says about itself.
    pub fn doc(&self) -> String {
        doc_of(&self.text)
    }

    /// What it is compiled against.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// All overrides.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// With another text in place of its own, or of that of a file that it reads; `name` is what
    /// diagnostics call it.
    #[must_use]
    pub fn with_text(mut self, name: &str, text: impl Into<Vec<u8>>) -> Self {
        // A built-in diagram is called by its path where it is read.
        if name == self.name || Path::new(name) == self.path {
            self.text = text.into().into();
        } else {
            Arc::make_mut(&mut self.edited).insert(name.to_owned(), text.into());
        }
        self
    }

    /// Whether it may read a file: one of its folder, of its project, or that it was allowed.
    pub fn may_read(&self, file: &Path) -> bool {
        self.reader().allowed.admit(file).is_ok()
    }

    /// With these overrides instead of its own.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// With another value of a parameter or a field: `pd.kp` and `60`, `run.solver` and `Rk4`.
    #[must_use]
    pub fn set(mut self, path: &str, value: &str) -> Self {
        self.options.set.push((path.to_owned(), value.to_owned()));
        self
    }

    /// With this choice for a variant, instead of another that was made before.
    #[must_use]
    pub fn variant(mut self, name: &str, choice: &str) -> Self {
        self.options.variants.retain(|(other, _)| other != name);
        self.options.variants.push((name.to_owned(), choice.to_owned()));
        self
    }

    /// With a patch file, which applies before what is set. A file that lies in the working
    /// directory goes before one of the same name beside the diagram.
    ///
    /// # Errors
    /// If the path is not UTF-8.
    pub fn with(mut self, patch: impl AsRef<Path>) -> Result<Self, Error> {
        let patch = patch.as_ref();
        let path = if patch.is_file() {
            std::path::absolute(patch).unwrap_or_else(|_| patch.to_owned())
        } else {
            patch.to_owned()
        };
        let text = path.to_str().ok_or_else(|| {
            Error::request(format!("expected a patch's path in UTF-8, found {}", patch.display()))
        })?;
        self.options.patches.push(text.to_owned());
        Ok(self)
    }

    /// With something that feeds an input in place of its default: a value as in a diagram, `3 N`,
    /// `[1, 2]`; a block, `Sine(amplitude: 1.0, frequency: "1 Hz")`; or a signal of a table,
    /// `log.csv`, `log.csv:tau`. The signal has the name of the input without another, and is
    /// interpolated linearly. The file is beside the diagram or in the working directory.
    ///
    /// ```
    /// let library = legwork_study::Library::new(legwork_blocks::register);
    /// let text = r#"Diagram(
    ///     run: (stop: "1 s", step: "10 ms"),
    ///     ports: (in: { "u": Port(type: "Real", unit: "m/s") }, out: { "x": "Real" }),
    ///     blocks: { "x": Integrator(in: { "u": "^u" }) },
    ///     out: { "x": "x.y" },
    /// )"#;
    /// let diagram = library.diagram("ramp.ron", text);
    /// let mut session = diagram.input("u", "3 m/s")?.compile().into_model()?.session();
    /// session.until(0.5)?;
    /// assert!((session.read("x")?.numbers()[0] - 1.47).abs() < 1e-12);
    /// # Ok::<(), legwork_study::Error>(())
    /// ```
    ///
    /// # Errors
    /// If it is a table, and no block of the library plays one.
    pub fn input(mut self, name: &str, value: &str) -> Result<Self, Error> {
        let (file, signal) = match value.rsplit_once(".csv:") {
            Some((stem, signal)) => (format!("{stem}.csv"), signal),
            None => (value.to_owned(), name),
        };
        if !file.ends_with(".csv") {
            return Ok(self.set(&format!("inputs.{name}"), value));
        }
        let Some(player) = self.library.registry().table_player() else {
            return Err(Error::request(format!("no block plays the table `{file}`")));
        };
        if Path::new(&file).is_file() {
            self.options.roots.push(PathBuf::from("."));
        }
        let value = format!("{player}(path: {file:?}, signal: {signal:?})");
        Ok(self.set(&format!("inputs.{name}"), &value))
    }

    /// With another stop time, as text such as `2 s`.
    #[must_use]
    pub fn until(mut self, time: &str) -> Self {
        self.options.until = Some(time.to_owned());
        self
    }

    /// With these recorded signals instead of those that the diagram logs.
    #[must_use]
    pub fn signals(mut self, paths: Vec<String>) -> Self {
        self.options.signals = paths;
        self
    }

    /// Compiles it.
    ///
    /// ```
    /// let library = legwork_study::Library::new(legwork_blocks::register);
    /// let diagram = library.diagram("a.ron", r#"Diagram(
    ///     run: (stop: "1 s", step: "10 ms"),
    ///     blocks: { "one": Constant(value: 1.0), "x": Integrator(in: { "u": "one.z" }) },
    /// )"#);
    /// let compiled = diagram.compile();
    /// assert!(compiled.model.is_none());
    /// assert!(compiled.to_text().contains("a.ron:3:"));
    /// ```
    pub fn compile(&self) -> Compilation {
        let before = Instant::now();
        let (compiled, files) = self.front();
        let time = before.elapsed().as_secs_f64();
        let sources = Arc::new(compiled.sources);
        let model = compiled.program.map(|program| {
            let (warnings, sources) = (compiled.diagnostics.clone(), Arc::clone(&sources));
            let (variants, robots) = (compiled.variants.clone(), compiled.robots);
            let ground = compiled.ground;
            let compiled = Compiled { warnings, sources, files, variants, robots, ground, time };
            Model::new(self.clone(), program, compiled)
        });
        let (diagnostics, variants) = (compiled.diagnostics, compiled.variants);
        Compilation { model, diagnostics, sources, variants }
    }

    /// What is known of it, as far as its mistakes let it be known. A mask or a patch is looked at
    /// by itself, whoever uses it.
    pub fn survey(&self) -> Survey {
        let memory = self.library.memory();
        let options = Options { roots: self.searched(), memory, ..self.options.clone() };
        let registry = self.library.registry();
        let (path, reader) = (&self.path, self.reader());
        let (compiled, parts) = survey(path, &self.text, &options, registry, &reader, &STAND_INS);
        Survey {
            parts,
            robots: compiled.robots,
            variants: compiled.variants,
            diagnostics: compiled.diagnostics,
            sources: Arc::new(compiled.sources),
        }
    }

    /// What the front end makes of it, and the files that it read.
    pub(crate) fn front(&self) -> (legwork_diagram::Compiled, Vec<(PathBuf, Vec<u8>)>) {
        let reader = self.reader();
        let memory = self.library.memory();
        let options = Options { roots: self.searched(), memory, ..self.options.clone() };
        let registry = self.library.registry();
        let compiled = compile(&self.path, &self.text, &options, registry, &reader);
        (compiled, reader.read.into_inner())
    }

    /// A file that the diagram may read, by the name that it or its robots have for it.
    ///
    /// # Errors
    /// A sentence that says where was looked.
    pub fn look(&self, name: &str) -> Result<Vec<u8>, String> {
        let registry = self.library.registry();
        legwork_diagram::look(&self.path, name, &self.searched(), registry, &self.reader())
    }

    /// Where a file is that the diagram may read: its path, with `std:` in front if it is built in.
    ///
    /// # Errors
    /// A sentence that says where was looked.
    pub fn place(&self, name: &str) -> Result<String, String> {
        let registry = self.library.registry();
        legwork_diagram::place(&self.path, name, &self.searched(), registry, &self.reader())
    }

    /// Folders in which files are looked for.
    fn searched(&self) -> Vec<PathBuf> {
        self.options.roots.iter().chain(self.library.roots().named()).cloned().collect()
    }

    /// Reads what it may read.
    fn reader(&self) -> Reader {
        let searched = self.options.roots.iter();
        let roots = searched.fold(self.library.roots().clone(), Roots::and);
        let patches: Vec<&Path> = self.options.patches.iter().map(Path::new).collect();
        let allowed = roots.of_diagram(&self.path, &patches);
        let (is_built_in, edited) = (self.is_built_in, Arc::clone(&self.edited));
        Reader { is_built_in, allowed, edited, read: RefCell::default() }
    }
}

/// Reads files and keeps them.
struct Reader {
    is_built_in: bool,
    allowed: Allowed,
    edited: Arc<BTreeMap<String, Vec<u8>>>,
    read: RefCell<Vec<(PathBuf, Vec<u8>)>>,
}

impl Reader {
    /// A built-in diagram has no directory: what it names by a relative path is built in too, and
    /// must not depend on where the command runs.
    fn refuse_relative(&self, path: &Path) -> std::io::Result<()> {
        match self.is_built_in && path.is_relative() {
            true => Err(ErrorKind::NotFound.into()),
            false => Ok(()),
        }
    }
}

impl ReadFile for Reader {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        let bytes = self.look(path)?;
        let mut read = self.read.borrow_mut();
        if !read.iter().any(|(known, _)| known == path) {
            read.push((path.to_owned(), bytes.clone()));
        }
        Ok(bytes)
    }

    fn look(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        self.refuse_relative(path)?;
        let edited = path.to_str().and_then(|name| self.edited.get(name));
        match edited {
            Some(text) => self.allowed.admit(path).map(|()| text.clone()),
            None => self.allowed.read(path),
        }
    }

    fn find(&self, path: &Path) -> std::io::Result<()> {
        self.refuse_relative(path)?;
        match self.allowed.place(path)?.is_dir() {
            true => Err(ErrorKind::IsADirectory.into()),
            false => Ok(()),
        }
    }
}
