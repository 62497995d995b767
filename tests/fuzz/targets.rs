//! Inputs that commands read. One file, because all targets damage the same samples.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use legwork::Disk;
use legwork_block::{Registry, Severity};
use legwork_diagram::{Options, ReadFile, compile};
use legwork_program::{Fnv, Program};
use legwork_runtime::recording::{ChunkPolicy, Metadata, Recorder, Recording, Sink};
use legwork_runtime::{Cursor, Simulation, channels};
use legwork_study::duel::{DuelRequest, duel};

use crate::mutate::{self, Random};
use crate::{Target, folder, hostile, repository};

/// Files larger than this are not damaged: most damage would be far from what is read first.
const LARGEST: u64 = 60_000;
/// Steps that an accepted diagram runs.
const STEPS: u64 = 3;
/// Numbers in all signals of an accepted diagram up to which it runs.
const RUNS: usize = 200_000;

/// Files with this extension, in folders of the repository.
pub(crate) fn corpus(folders: &[&str], extension: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let mut left: Vec<PathBuf> = folders.iter().map(|folder| repository(folder)).collect();
    let mut files = Vec::new();
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|found| found == extension)
                && entry.metadata().unwrap().len() <= LARGEST
            {
                let bytes = std::fs::read(&path).unwrap();
                files.push((path, bytes));
            }
        }
    }
    files.sort();
    assert!(!files.is_empty(), "{extension} in {folders:?}");
    files
}

pub(crate) fn registry() -> Registry {
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    registry
}

/// Compiles, and runs what is accepted for a few steps.
pub(crate) fn try_out(
    path: &Path,
    text: &[u8],
    options: &Options,
    registry: &Registry,
    disk: &dyn ReadFile,
) -> Result<&'static str, String> {
    let compiled = compile(path, text, options, registry, disk);
    let said = legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources);
    let Some(program) = compiled.program else {
        let is_told = compiled.diagnostics.iter().any(|found| found.severity == Severity::Error);
        return if is_told { Ok("refused") } else { Err(format!("no program, no error: {said}")) };
    };
    if program.arena_len > RUNS {
        return Ok("accepted, large");
    }
    Ok(some_steps(Simulation::new(Arc::new(program))))
}

/// What comes of a few steps.
fn some_steps(mut simulation: Simulation) -> &'static str {
    some_steps_of(&mut simulation, STEPS)
}

fn some_steps_of(simulation: &mut Simulation, steps: u64) -> &'static str {
    for _ in 0..steps {
        if simulation.cursor() == Cursor::Done {
            break;
        }
        if simulation.step().is_err() {
            return "a fault";
        }
    }
    "ran"
}

/// Damaged diagrams.
pub(crate) struct Diagrams {
    hostile: Vec<Vec<u8>>,
    files: Vec<(PathBuf, Vec<u8>)>,
    words: Vec<&'static str>,
    registry: Registry,
    /// Where the next input is said to be: beside the files that it names.
    at: std::cell::RefCell<PathBuf>,
}

/// Words of the language that damage may put in.
pub(crate) const WORDS: [&str; 52] = [
    "judge",
    "Metric",
    "Integral",
    "tolerance",
    "Mask",
    "ForEach",
    "Variant",
    "Param",
    "Use",
    "Join",
    "Concat",
    "Array",
    "Enabled",
    "Triggered",
    "Function",
    "every",
    "in",
    "over",
    "body",
    "collect",
    "share",
    "when",
    "run",
    "solver",
    "Rk4",
    "Bdf",
    "DormandPrince",
    "ImplicitEuler",
    "Euler",
    "step",
    "stop",
    "seed",
    "memory",
    "params",
    "robots",
    "variants",
    "blocks",
    "log",
    "checks",
    "Always",
    "Finally",
    "Eventually",
    "state",
    "robot",
    "zeros",
    "ones",
    "repeat",
    "norm",
    "len",
    "y",
    "u",
    "None",
];

/// Pieces at which a reader breaks.
const GARBAGE: [&str; 18] = [
    "\"",
    "(",
    "]",
    "{",
    ":",
    "=",
    "^",
    "..",
    "/*",
    "\u{0}",
    "é",
    "\u{feff}",
    "\\",
    "'",
    "r#\"",
    "Some(",
    "variants.x",
    "\"=1/0\"",
];

impl Diagrams {
    pub(crate) fn new() -> Self {
        let files = corpus(&["diagrams", "tests/data/run", "tests/data/errors"], "ron");
        let registry = registry();
        let kinds = registry.blocks().map(|kind| kind.kind);
        let words = WORDS.into_iter().chain(GARBAGE).chain(kinds).collect();
        Self { hostile: hostile::texts(), files, words, registry, at: PathBuf::new().into() }
    }
}

impl Target for Diagrams {
    fn fixed(&self, index: u64) -> Option<Vec<u8>> {
        self.at.replace(repository("tests/data/run/hostile.ron"));
        self.hostile.get(usize::try_from(index).ok()?).cloned()
    }

    fn input(&self, random: &mut Random) -> Vec<u8> {
        let (path, bytes) = &self.files[random.below(self.files.len())];
        let (_, other) = &self.files[random.below(self.files.len())];
        self.at.replace(path.clone());
        mutate::text(random, bytes, other, &self.words)
    }

    fn run(&self, input: &[u8], _: &mut Random) -> Result<&'static str, String> {
        try_out(&self.at.borrow(), input, &Options::default(), &self.registry, &Disk)
    }
}

fn program(file: &str) -> Arc<Program> {
    let path = repository(file);
    let text = std::fs::read(&path).unwrap();
    let compiled = compile(&path, &text, &Options::default(), &registry(), &Disk);
    Arc::new(compiled.program.unwrap())
}

/// Runs of the targets below: with events, with contacts, with functions, with diagrams in
/// them.
const RUN: [&str; 11] = [
    "diagrams/basics/sliding_block.ron",
    "diagrams/quadruped/stand.ron",
    "tests/data/run/functions.ron",
    "tests/data/run/signal_blocks.ron",
    "tests/data/run/buses.ron",
    "diagrams/signals/compositions.ron",
    "diagrams/signals/gust.ron",
    "diagrams/basics/multirate_pid.ron",
    "diagrams/basics/gantry.ron",
    "diagrams/quadruped/gaits.ron",
    "tests/data/run/landing.ron",
];

/// Damaged recordings.
pub(crate) struct Recordings {
    files: Vec<Vec<u8>>,
}

impl Recordings {
    pub(crate) fn new() -> Self {
        let record = |file: &str| {
            let program = program(file);
            let path = folder().join("recorded.mcap");
            let sink = Sink::file(&path).unwrap();
            let policy = ChunkPolicy::default();
            let recorder =
                Recorder::create(sink, &channels(&program), &Metadata::default(), policy).unwrap();
            let mut simulation = Simulation::new(program);
            simulation.observer_mut().record_to(recorder);
            for _ in 0..30 {
                simulation.step().unwrap();
            }
            simulation.observer_mut().finish_recording().unwrap().unwrap();
            std::fs::read(&path).unwrap()
        };
        let whole = RUN.map(record);
        let files = whole.iter().cloned().chain(whole.iter().map(|bytes| unchecked(bytes)));
        Self { files: files.collect() }
    }
}

/// The kind of a record that holds rows.
const CHUNK: u8 = 6;

/// The recording without the checksums of its chunks, so that damage comes as far as the rows.
fn unchecked(recording: &[u8]) -> Vec<u8> {
    let mut bytes = recording.to_vec();
    // The mark of the format, then records: kind, length, body.
    let mut at = 8;
    while let Some(&[kind, ref len @ ..]) = bytes.get(at..).and_then(|rest| rest.first_chunk::<9>())
    {
        let len = u64::from_le_bytes(*len);
        if kind == CHUNK {
            // Behind two times and a size, of eight bytes each.
            bytes[at + 33..at + 37].fill(0);
        }
        at += 9 + len as usize;
    }
    bytes
}

impl Target for Recordings {
    fn input(&self, random: &mut Random) -> Vec<u8> {
        let bytes = &self.files[random.below(self.files.len())];
        let other = &self.files[random.below(self.files.len())];
        mutate::bytes(random, bytes, other)
    }

    fn run(&self, input: &[u8], _: &mut Random) -> Result<&'static str, String> {
        let Ok(recording) = Recording::from_bytes(input.to_vec()) else { return Ok("refused") };
        let topics: Vec<String> =
            recording.channels().map(|channel| channel.topic.clone()).collect();
        let messages = recording.messages().map(|message| message.body.len());
        std::hint::black_box(messages.sum::<usize>());
        for topic in topics {
            if let Ok(rows) = recording.rows(&topic) {
                std::hint::black_box(rows.count());
            }
        }
        Ok("read")
    }
}

/// Damaged snapshots.
pub(crate) struct Snapshots {
    runs: Vec<(Arc<Program>, Vec<u8>)>,
    which: std::cell::Cell<usize>,
}

impl Snapshots {
    pub(crate) fn new() -> Self {
        let at = |file: PathBuf| {
            let program = program(file.to_str().unwrap());
            let mut simulation = Simulation::new(Arc::clone(&program));
            // Robots land after 100.
            assert_ne!(some_steps_of(&mut simulation, 120), "a fault", "{}", file.display());
            (program, simulation.to_bytes().unwrap())
        };
        let shipped = corpus(&["diagrams"], "ron").into_iter().map(|(file, _)| file);
        let others = RUN.into_iter().filter(|file| file.starts_with("tests")).map(PathBuf::from);
        Self { runs: shipped.chain(others).map(at).collect(), which: 0.into() }
    }
}

impl Target for Snapshots {
    fn input(&self, random: &mut Random) -> Vec<u8> {
        let which = random.below(self.runs.len());
        self.which.set(which);
        let other = &self.runs[random.below(self.runs.len())].1;
        mutate::bytes(random, &self.runs[which].1, other)
    }

    /// What is not the snapshot is refused.
    fn run(&self, input: &[u8], _: &mut Random) -> Result<&'static str, String> {
        let (program, bytes) = &self.runs[self.which.get()];
        match Simulation::from_bytes(Arc::clone(program), input) {
            Err(_) => Ok("refused"),
            Ok(_) if input == bytes => Ok("the same"),
            Ok(_) => Err("a damaged snapshot was accepted".to_owned()),
        }
    }
}

/// Snapshots that were damaged before their checksum was made, as somebody may who writes one.
pub(crate) struct Sealed(pub(crate) Snapshots);

/// Bytes of the mark, the format, the length and the checksum in front.
const SEAL: usize = 28;

impl Target for Sealed {
    fn input(&self, random: &mut Random) -> Vec<u8> {
        let runs = &self.0.runs;
        let which = random.below(runs.len());
        self.0.which.set(which);
        let (head, payload) = runs[which].1.split_at(SEAL);
        // What says of which program it is stands in front, the states of blocks at the end.
        let last = 1 + random.below(payload.len());
        let (intact, rest) = payload.split_at(payload.len() - 1 - random.below(last));
        let other = &runs[random.below(runs.len())].1;
        let payload = [intact, &mutate::bytes(random, rest, other)].concat();
        let mut checksum = Fnv::default();
        checksum.add_bytes(&payload);
        let length = (payload.len() as u64).to_le_bytes();
        [&head[..12], &length, &checksum.value().to_le_bytes(), &payload].concat()
    }

    /// What is accepted runs.
    fn run(&self, input: &[u8], _: &mut Random) -> Result<&'static str, String> {
        let (program, _) = &self.0.runs[self.0.which.get()];
        Ok(Simulation::from_bytes(Arc::clone(program), input).map_or("refused", some_steps))
    }
}

/// Damaged problem files, through all solvers.
pub(crate) struct Problems {
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Problems {
    pub(crate) fn new() -> Self {
        Self { files: corpus(&["tests/data/problems"], "json") }
    }
}

impl Target for Problems {
    fn input(&self, random: &mut Random) -> Vec<u8> {
        let (_, bytes) = &self.files[random.below(self.files.len())];
        let (_, other) = &self.files[random.below(self.files.len())];
        let words =
            ["contact", "qp", "lcp", "cone", "null", "true", "[", "]", "{", "}", ",", "bias"];
        mutate::text(random, bytes, other, &words)
    }

    fn run(&self, input: &[u8], _: &mut Random) -> Result<&'static str, String> {
        let path = folder().join("problem.json");
        std::fs::write(&path, input).unwrap();
        let request = DuelRequest {
            problems: vec![path],
            solvers: Vec::new(),
            tolerance: None,
            repeats: NonZeroU32::MIN,
            shrink: None,
        };
        Ok(match duel(&request) {
            Ok(Ok(_)) => "solved",
            Ok(Err(_)) | Err(_) => "refused",
        })
    }
}
