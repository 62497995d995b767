//! One diagram with several choices for its variants, from one initial state; and recorded runs.
//!
//! ```text
//! request ──choices──► combinations ──compile──► models ──runs──► recordings
//!                                                  │ problem          │ differences
//!                                                  ▼                  ▼
//!                                      tolerances per signal ──► VariantComparison
//! ```
//!
//! Recorded runs, and tables of other programs, are compared as they are ([`compare_recordings`]).
//!
//! Runs whose choices only solve the same problem by other means should agree, so a default
//! tolerance holds; where the problem itself differs (another contact model, another friction cone)
//! the user must say what counts as equal.

mod choices;
mod differences;
mod problem;
mod recordings;
mod report;
mod runs;
mod tolerances;

use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use legwork_block::{Diagnostics, Severity, code, nearest};
use legwork_runtime::comparison::quantities;
use serde_json::{Map, Value};

pub use choices::{Combination, split_signals};
pub use differences::{Compared, Comparison, First, Source, severity};
pub use legwork_runtime::comparison::{Difference, Divergence, Quantity, Samples, Tolerance};
pub use recordings::{
    RecordedPair, RecordedSignal, RecordingComparison, RecordingsRequest, compare_recordings,
};
pub use runs::{SolverFigures, Totals, VariantRun};

use crate::cancel::Cancel;
use crate::diagram::{Compilation, Diagram};
use crate::directory;
use crate::error::Error;
use crate::files::Lock;
use crate::findings::Findings;
use crate::model::Model;
use crate::pool;
use crate::run::RECORDING;
use crate::watch::Watch;
use differences::magnitudes;
use problem::Named;
use runs::{Ended, Job};

/// What is asked of a comparison of variants.
#[derive(Debug, Clone, Default)]
pub struct CompareRequest {
    /// Variants with the choices to compare; of several variants, every combination.
    pub variants: Vec<(String, Vec<String>)>,
    /// Largest differences, as texts: a share of each signal's range, `1e-6`; a difference in a
    /// unit, `1 mm`; for one signal, `contact.f=0.1 N`.
    pub tolerances: Vec<String>,
    /// The run that the others are compared with, by name; without it, the first.
    pub reference: Option<String>,
    /// Directory for the recordings; none is written without it.
    pub directory: Option<PathBuf>,
    /// Runs at a time; without it, one on each core. Results do not depend on it, times do.
    pub jobs: Option<NonZeroUsize>,
}

/// What came of a comparison of variants.
pub struct VariantComparison {
    /// Name of the diagram.
    pub diagram: String,
    /// The runs.
    pub runs: Vec<VariantRun>,
    /// Index of the run that the others are compared with.
    pub reference: usize,
    /// What is compared.
    pub compared: Vec<Compared>,
    /// By run; none for the reference.
    pub comparisons: Vec<Option<Comparison>>,
    /// What makes the problems different, if anything but solvers does.
    pub different: Option<String>,
    /// Runs at a time.
    pub jobs: usize,
}

impl VariantComparison {
    /// Whether all is within its tolerance.
    pub fn agrees(&self) -> bool {
        self.comparisons.iter().flatten().all(Comparison::is_within)
    }

    /// Whether a run stopped at a fault.
    pub fn has_fault(&self) -> bool {
        self.runs.iter().any(|one| one.run.execution.fault.is_some())
    }

    /// All of it as JSON. Numbers that JSON has not, such as infinite differences, are null.
    pub fn to_json(&self) -> Map<String, Value> {
        report::to_json(self)
    }
}

/// A compiled combination.
struct Ready {
    combination: Combination,
    model: Model,
    quantities: Vec<Quantity>,
}

impl Ready {
    fn named(&self) -> Named<'_> {
        Named { name: &self.combination.name, program: self.model.program() }
    }
}

/// A comparison whose combinations are compiled.
pub struct ComparePlan {
    diagram: String,
    ready: Vec<Ready>,
    reference: usize,
    findings: Findings,
    is_whole: bool,
    request: CompareRequest,
}

impl fmt::Debug for ComparePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComparePlan").field("request", &self.request).finish_non_exhaustive()
    }
}

impl Diagram {
    /// Compiles every combination of the choices of a comparison. What is compared is what the
    /// diagram records ([`Diagram::signals`]).
    ///
    /// # Errors
    /// If the request makes no sense.
    pub fn plan_comparison(&self, request: &CompareRequest) -> Result<ComparePlan, Error> {
        let combinations = choices::combinations(&request.variants)?;
        let reference = reference(&combinations, request.reference.as_deref())?;
        let count = combinations.len();
        let (ready, findings) = compile_all(self, combinations);
        let is_whole = findings.count(Severity::Error) == 0 && ready.len() == count;
        let (diagram, request) = (self.name().to_owned(), request.clone());
        Ok(ComparePlan { diagram, ready, reference, findings, is_whole, request })
    }
}

impl ComparePlan {
    /// What was found wrong.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Whether every combination compiles.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Runs every combination and compares the recordings.
    ///
    /// # Errors
    /// If a combination does not compile, a tolerance makes no sense or is missing, or a file
    /// cannot be written.
    pub fn run(self, watch: Watch<'_>, cancel: &Cancel) -> Result<VariantComparison, Error> {
        let Self { diagram, ready, reference, is_whole, request, .. } = self;
        let base = ready.get(reference).filter(|_| is_whole);
        let base = base.ok_or_else(|| Error::request("some combination does not compile"))?;
        let different = different(&ready, reference);
        let tolerances =
            tolerances::tolerances(&request.tolerances, &base.quantities, different.as_deref())?;
        let log = &base.model.program().log;
        let compared: Vec<Compared> = base
            .quantities
            .iter()
            .zip(tolerances)
            .map(|(quantity, tolerance)| Compared {
                topic: log[quantity.channel].signal.path.clone(),
                quantity: quantity.clone(),
                tolerance,
            })
            .collect();
        let jobs = pool::at_a_time(request.jobs, ready.len());
        let shared = shared_quantities(&ready, &compared);
        let lock = match &request.directory {
            Some(folder) => {
                directory::make(folder)?;
                Some(Lock::of(folder)?)
            }
            None => None,
        };
        let runs = run_all(ready, jobs, request.directory.as_deref(), watch, cancel)?;
        drop(lock);
        let comparisons = compare_all(&compared, &shared, &runs, reference);
        Ok(VariantComparison { diagram, runs, reference, compared, comparisons, different, jobs })
    }
}

/// Index of the run that the others are compared with.
fn reference(combinations: &[Combination], name: Option<&str>) -> Result<usize, Error> {
    let Some(name) = name else { return Ok(0) };
    combinations.iter().position(|one| one.name == name).ok_or_else(|| {
        let names: Vec<&str> = combinations.iter().map(|one| one.name.as_str()).collect();
        let hint = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are `{}`", names.join("`, `")),
        };
        Error::request(format!("no run `{name}` to compare with; {hint}"))
    })
}

/// Compiles every combination; what was found wrong.
fn compile_all(diagram: &Diagram, combinations: Vec<Combination>) -> (Vec<Ready>, Findings) {
    let count = combinations.len();
    let mut findings = Findings::default();
    let mut mistakes: Vec<String> = Vec::new();
    let mut ready = Vec::with_capacity(count);
    for combination in combinations {
        let mut options = diagram.options().clone();
        options.variants.clone_from(&combination.choices);
        let compiled = diagram.clone().with_options(options).compile();
        let Compilation { model, diagnostics, sources, .. } = compiled;
        let choices: Vec<String> =
            combination.choices.iter().map(|(name, choice)| format!("{name}={choice}")).collect();
        // A mistake in the request shows its place there, and is the same for every choice.
        let mut others = Diagnostics::default();
        for diagnostic in diagnostics {
            if diagnostic.code != code::UNKNOWN_VARIANT {
                others.push(diagnostic);
            } else if !mistakes.contains(&diagnostic.message) {
                mistakes.push(diagnostic.message.clone());
                let mut alone = Diagnostics::default();
                alone.push(diagnostic);
                findings.add(alone, &sources, None);
            }
        }
        findings.add(others, &sources, Some(&choices.join(" --variant ")));
        let Some(mut model) = model else { continue };
        let quantities = quantities(model.program());
        model.log_also(runs::unrecorded_solvers(model.program()));
        ready.push(Ready { combination, model, quantities });
    }
    findings.forget_choices_of_all(count);
    (ready, findings)
}

/// What makes the problem of some run another than that of the reference.
fn different(ready: &[Ready], reference: usize) -> Option<String> {
    ready.iter().find_map(|one| problem::difference(ready[reference].named(), one.named()))
}

/// By run and quantity of the reference: whether the run has the same.
fn shared_quantities(ready: &[Ready], compared: &[Compared]) -> Vec<Vec<bool>> {
    let has = |one: &Ready, compared: &Compared| {
        let wanted = &compared.quantity;
        one.quantities.iter().any(|own| {
            (&own.name, &own.elements, own.start) == (&wanted.name, &wanted.elements, wanted.start)
        })
    };
    ready.iter().map(|one| compared.iter().map(|c| has(one, c)).collect()).collect()
}

/// Runs all, with recordings under `directory` if there is one.
fn run_all(
    ready: Vec<Ready>,
    at_a_time: usize,
    directory: Option<&Path>,
    watch: Watch<'_>,
    cancel: &Cancel,
) -> Result<Vec<VariantRun>, Error> {
    let mut jobs = Vec::with_capacity(ready.len());
    let mut combinations = Vec::with_capacity(ready.len());
    for (i, Ready { combination, model, .. }) in ready.into_iter().enumerate() {
        let file = match directory {
            Some(directory) => Some(recording_file(directory, i, &combination.name)?),
            None => None,
        };
        jobs.push(Job { model, file });
        combinations.push(combination);
    }
    let ended = runs::run_all(jobs, at_a_time, watch, cancel)?;
    let one = |(ended, combination): (Ended, Combination)| {
        let Ended { run, recording, file } = ended;
        VariantRun { combination, run, recording, file }
    };
    Ok(ended.into_iter().zip(combinations).map(one).collect())
}

/// `DIR/1-active_set/run.mcap`, with its directory made.
fn recording_file(directory: &Path, index: usize, name: &str) -> Result<PathBuf, Error> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    let folder = directory.join(format!("{}-{name}", index + 1));
    directory::make(&folder)?;
    Ok(folder.join(RECORDING))
}

/// Every run but the reference against it.
fn compare_all(
    compared: &[Compared],
    shared: &[Vec<bool>],
    runs: &[VariantRun],
    reference: usize,
) -> Vec<Option<Comparison>> {
    let base = &runs[reference];
    let program = &base.run.execution.program;
    let magnitudes = magnitudes(compared, &base.recording);
    runs.iter()
        .zip(shared)
        .enumerate()
        .map(|(i, (one, shared))| {
            let (base, other) = (&base.recording, &one.recording);
            (i != reference)
                .then(|| Comparison::of(compared, shared, &magnitudes, base, other, program))
        })
        .collect()
}
