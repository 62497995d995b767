//! Compiles diagrams of the repository with settings as on the command line, runs and records them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use legwork::Disk;
use legwork_block::{Metric, Registry};
use legwork_diagram::{Compiled, Options, compile};
use legwork_program::Program;
use legwork_runtime::recording::{ChunkPolicy, Metadata, Recorder, Recording, Sink};
use legwork_runtime::{RunFault, Simulation, channels};

pub(crate) type Pairs<'a> = &'a [(&'a str, &'a str)];

/// A diagram with settings, choices of variants and patches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Case<'a> {
    /// From the root of the repository, as are patches.
    pub(crate) file: &'a str,
    pub(crate) set: Pairs<'a>,
    pub(crate) variants: Pairs<'a>,
    pub(crate) patches: &'a [&'a str],
}

/// A run that reached its end.
pub(crate) struct Ended {
    pub(crate) recording: Recording,
    /// Checks of the diagram that failed.
    pub(crate) failed: Vec<String>,
}

pub(crate) fn in_repository(file: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// A text as if it were in this file.
pub(crate) fn compile_text(path: &Path, text: &[u8], options: &Options) -> Compiled {
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    compile(path, text, options, &registry, &Disk)
}

pub(crate) fn program_of(compiled: Compiled) -> Arc<Program> {
    let shown = legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources);
    Arc::new(compiled.program.unwrap_or_else(|| panic!("{shown}")))
}

pub(crate) fn recorder(program: &Program) -> Recorder {
    let metadata = Metadata::default();
    let policy = ChunkPolicy::default();
    Recorder::create(Sink::memory(), &channels(program), &metadata, policy).unwrap()
}

pub(crate) fn failed_checks(simulation: &Simulation) -> Vec<String> {
    let checks = &simulation.program().checks;
    let states = simulation.checks();
    checks.iter().zip(states).filter(|(_, s)| s.fails()).map(|(c, _)| c.name.clone()).collect()
}

/// What the blocks report at the end, as `block.metric`.
pub(crate) fn metrics(simulation: &Simulation) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    for (path, report) in simulation.reports() {
        for Metric { name, value, .. } in report.metrics {
            all.insert(format!("{path}.{name}"), value);
        }
    }
    for value in &simulation.program().judge {
        all.insert(value.name.clone(), simulation.arena()[value.slot as usize]);
    }
    all
}

/// Runs a diagram with each choice of each of its variants; every check must hold.
pub(crate) fn passes_with_every_choice(file: &str) {
    // The defaults of all variants are one program.
    let mut seen = BTreeSet::new();
    for (name, choices) in (Case { file, set: &[], variants: &[], patches: &[] }).choices() {
        // Behind a cargo feature.
        let is_built = |choice: &&String| *choice != "osqp" || cfg!(feature = "osqp");
        for choice in choices.iter().filter(is_built) {
            let variants = [(&*name, &**choice)];
            let case = Case { file, set: &[], variants: &variants, patches: &[] };
            if seen.insert(case.program().hash()) {
                case.passes();
            }
        }
    }
}

impl Case<'_> {
    pub(crate) fn compiled(&self) -> Compiled {
        let own = |pairs: Pairs<'_>| {
            pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>()
        };
        let options = Options {
            set: own(self.set),
            variants: own(self.variants),
            patches: self.patches.iter().map(|p| in_repository(p).display().to_string()).collect(),
            ..Options::default()
        };
        let path = in_repository(self.file);
        compile_text(&path, &std::fs::read(&path).unwrap(), &options)
    }

    pub(crate) fn program(&self) -> Arc<Program> {
        program_of(self.compiled())
    }

    /// The variants with their choices.
    pub(crate) fn choices(&self) -> BTreeMap<String, Vec<String>> {
        self.compiled().variants.into_iter().collect()
    }

    /// Runs to the end without a recording, whether checks hold or not.
    pub(crate) fn simulate(&self) -> Simulation {
        let mut simulation = Simulation::new(self.program());
        simulation.run().unwrap_or_else(|fault| panic!("{self:?}: {fault}"));
        simulation
    }

    /// The same; every check of the diagram must hold.
    pub(crate) fn passes(&self) -> Simulation {
        let simulation = self.simulate();
        assert_eq!(failed_checks(&simulation), [""; 0], "{self:?}");
        simulation
    }

    /// Runs with a recording to the end or to a fault.
    pub(crate) fn attempt(&self) -> Result<Ended, RunFault> {
        let program = self.program();
        let mut simulation = Simulation::new(Arc::clone(&program));
        simulation.observer_mut().record_to(recorder(&program));
        simulation.run()?;
        let written = simulation.observer_mut().finish_recording().unwrap().unwrap();
        let recording = Recording::from_bytes(written.memory.unwrap()).unwrap();
        let failed = failed_checks(&simulation);
        Ok(Ended { recording, failed })
    }

    /// Runs with a recording to the end, whether checks hold or not.
    pub(crate) fn end(&self) -> Ended {
        self.attempt().unwrap_or_else(|fault| panic!("{self:?}: {fault}"))
    }

    /// The recording of a run in which every check of the diagram holds.
    pub(crate) fn record(&self) -> Recording {
        let ended = self.end();
        assert_eq!(ended.failed, [""; 0], "{self:?}");
        ended.recording
    }
}

/// Runs a diagram, a text of the folder `diagrams`: the simulation at its end, and the rows of a
/// signal.
pub(crate) fn run_text(text: &str, topic: &str) -> (Simulation, Vec<(f64, Vec<f64>)>) {
    let file = in_repository("diagrams/none.ron");
    let program = program_of(compile_text(&file, text.as_bytes(), &Options::default()));
    let mut simulation = Simulation::new(Arc::clone(&program));
    simulation.observer_mut().record_to(recorder(&program));
    simulation.run().unwrap_or_else(|fault| panic!("{text}: {fault}"));
    let written = simulation.observer_mut().finish_recording().unwrap().unwrap();
    let recording = Recording::from_bytes(written.memory.unwrap()).unwrap();
    let all = rows(&recording, topic);
    (simulation, all)
}

/// Rows of a signal with their times [s].
pub(crate) fn rows(recording: &Recording, topic: &str) -> Vec<(f64, Vec<f64>)> {
    recording.rows(topic).unwrap().map(|row| (row.stamp.t, row.values)).collect()
}

/// The last row of a signal.
pub(crate) fn last(recording: &Recording, topic: &str) -> Vec<f64> {
    rows(recording, topic).pop().unwrap().1
}
