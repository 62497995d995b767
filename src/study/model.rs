//! A compiled diagram.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use legwork_block::{Diagnostics, Resource};
use legwork_diagram::render::{SourceMap, to_json};
use legwork_program::{LogChannel, Program};
use legwork_runtime::recording::Metadata;
use serde_json::Value;

use crate::diagram::Diagram;
use crate::origin;
use crate::run::{Record, RunRequest};

/// A compiled diagram: the program that runs, and what it was made of. Cheap to copy.
#[derive(Clone)]
pub struct Model {
    diagram: Diagram,
    program: Arc<Program>,
    warnings: Arc<Diagnostics>,
    sources: Arc<SourceMap>,
    files: Arc<[(PathBuf, Vec<u8>)]>,
    variants: Arc<[(String, Vec<String>)]>,
    robots: Arc<BTreeMap<String, Arc<dyn Resource>>>,
    ground: Option<Arc<dyn Resource>>,
    compile_time: f64,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("diagram", &self.diagram.name()).finish_non_exhaustive()
    }
}

/// What compilation gives besides the program.
pub(crate) struct Compiled {
    pub(crate) warnings: Diagnostics,
    pub(crate) sources: Arc<SourceMap>,
    /// The files that were read, in the order read.
    pub(crate) files: Vec<(PathBuf, Vec<u8>)>,
    /// Name and choices of every variant.
    pub(crate) variants: Vec<(String, Vec<String>)>,
    /// The robots, by name.
    pub(crate) robots: BTreeMap<String, Arc<dyn Resource>>,
    /// The ground, if the diagram states one.
    pub(crate) ground: Option<Arc<dyn Resource>>,
    /// What it took [s].
    pub(crate) time: f64,
}

impl Model {
    pub(crate) fn new(diagram: Diagram, program: Program, compiled: Compiled) -> Self {
        let Compiled { warnings, sources, files, variants, robots, ground, time } = compiled;
        let (program, warnings) = (program.into(), warnings.into());
        let (files, variants, robots) = (files.into(), variants.into(), robots.into());
        Self {
            diagram,
            program,
            warnings,
            sources,
            files,
            variants,
            robots,
            ground,
            compile_time: time,
        }
    }

    /// The diagram with its overrides.
    pub fn diagram(&self) -> &Diagram {
        &self.diagram
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Warnings of the compilation.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// Warnings of the compilation as a JSON array.
    pub fn warnings_to_json(&self) -> Value {
        to_json(&self.warnings, &self.sources)
    }

    /// The texts of the diagram and its parts, which places of blocks and faults point into.
    pub fn sources(&self) -> &Arc<SourceMap> {
        &self.sources
    }

    /// Name and choices of every variant.
    pub fn variants(&self) -> &[(String, Vec<String>)] {
        &self.variants
    }

    /// The files that were read, in the order read.
    pub(crate) fn files(&self) -> &[(PathBuf, Vec<u8>)] {
        &self.files
    }

    /// The robots, by name.
    pub(crate) fn robots(&self) -> &BTreeMap<String, Arc<dyn Resource>> {
        &self.robots
    }

    /// The ground, if the diagram states one.
    pub(crate) fn ground(&self) -> Option<&Arc<dyn Resource>> {
        self.ground.as_ref()
    }

    /// What compilation took [s].
    pub fn compile_time(&self) -> f64 {
        self.compile_time
    }

    /// Records these signals too.
    pub(crate) fn log_also(&mut self, channels: Vec<LogChannel>) {
        if !channels.is_empty() {
            self.program = Arc::new(Program::clone(&self.program).recording_also(channels));
        }
    }

    /// Everything that a run depends on, as its recording says it; nothing from a clock, a host or
    /// the place of a file.
    pub fn metadata(&self) -> Metadata {
        let mut metadata = self.bare_metadata();
        metadata.diagram = String::from_utf8_lossy(self.diagram.text()).into_owned();
        metadata.other = self.texts();
        metadata
    }

    /// [`Model::metadata`] without the texts of the diagram and of the files that it read.
    pub(crate) fn bare_metadata(&self) -> Metadata {
        Metadata {
            diagram: String::new(),
            overrides: self.overrides(),
            seed: self.program.run.seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program_hash: self.hash(),
            other: BTreeMap::new(),
        }
    }

    /// Names of the files whose texts a recording holds, the diagram's first.
    pub(crate) fn embedded(&self, request: &RunRequest) -> Vec<String> {
        if request.bare || request.record == Record::Nothing {
            return Vec::new();
        }
        let name = std::iter::once(self.diagram.name().to_owned());
        name.chain(self.files.iter().map(|(path, _)| path.display().to_string())).collect()
    }

    /// Files that are read: the diagram, those that it names, and `more`. No output may be one.
    pub fn inputs(&self, more: &[PathBuf]) -> Vec<PathBuf> {
        let own = std::iter::once(PathBuf::from(self.diagram.name()));
        let named = self.files.iter().map(|(path, _)| path.clone());
        own.chain(named).chain(more.iter().cloned()).collect()
    }

    /// The files that were read, by `file` and their names.
    fn texts(&self) -> BTreeMap<String, String> {
        let name =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut other = BTreeMap::new();
        for (path, bytes) in &*self.files {
            let base = format!("file {}", name(path));
            let mut key = base.clone();
            let mut count = 1;
            while other.contains_key(&key) {
                count += 1;
                key = format!("{base} ({count})");
            }
            other.insert(key, origin::to_text(bytes));
        }
        other
    }

    /// The overrides in the order in which they apply.
    fn overrides(&self) -> Vec<String> {
        let options = self.diagram.options();
        let patches = options.patches.iter().map(|path| {
            let name = Path::new(path).file_name().unwrap_or_default();
            format!("with {}", name.to_string_lossy())
        });
        let set = options.set.iter().map(|(path, value)| format!("{path}={value}"));
        let until = options.until.iter().map(|until| format!("run.stop={until}"));
        let variants = options.variants.iter();
        let variants = variants.map(|(name, choice)| format!("variants.{name}={choice}"));
        patches.chain(set).chain(until).chain(variants).collect()
    }

    /// The hash of the program as text.
    pub fn hash(&self) -> String {
        format!("{:016x}", self.program.hash())
    }
}
