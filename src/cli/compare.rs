//! `legwork compare`: one diagram with several choices for its variants, from one initial state.
//!
//! ```text
//! command line ──choices──► combinations ──compile──► programs ──runs──► recordings
//!                                                        │ problem          │ differences
//!                                                        ▼                  ▼
//!                                            tolerances per signal ──► table, report, plot
//! ```
//!
//! Recorded runs, and tables of other programs, are compared as they are (`recordings`).
//!
//! Runs whose choices only solve the same problem by other means should agree, so a default
//! tolerance holds; where the problem itself differs (another contact model, another friction cone)
//! the user must say what counts as equal.

mod choices;
mod differences;
mod plot;
mod problem;
mod recordings;
mod report;
mod runs;
mod table;
mod tolerances;

use std::path::{Path, PathBuf};

use legwork_block::{Diagnostics, Registry, Severity, nearest};
use legwork_diagram::render::SourceMap;
use legwork_diagram::{Compiled, Options};
use legwork_program::Program;
use legwork_runtime::comparison::{Quantity, quantities};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::{CompareArguments, Overrides};
use super::check::Findings;
use super::run::{RECORDING, fault_to_json, metadata, say_fault};
use super::source::{self, Source};
use super::{console, grid, pool};
use choices::Combination;
use differences::{Compared, Comparison, magnitudes};
use problem::Named;
use runs::{Job, Run};

/// Code of a diagnostic: a variant or a choice that is not there.
const UNKNOWN_VARIANT: &str = "unknown-variant";

/// A run of one combination.
struct One {
    combination: Combination,
    run: Run,
    /// Its fault as JSON.
    fault: Option<Value>,
}

impl One {
    fn name(&self) -> &str {
        &self.combination.name
    }
}

/// Everything that came of a comparison.
struct Outcome<'a> {
    diagram: &'a str,
    runs: Vec<One>,
    /// Index of the run that the others are compared with.
    reference: usize,
    compared: Vec<Compared>,
    /// By run; none for the reference.
    comparisons: Vec<Option<Comparison>>,
    /// What makes the problems different, if anything but solvers does.
    different: Option<String>,
    /// Runs at a time.
    jobs: usize,
}

impl Outcome<'_> {
    fn agrees(&self) -> bool {
        self.comparisons.iter().flatten().all(Comparison::is_within)
    }

    fn code(&self) -> Code {
        let stopped = self.runs.iter().any(|one| one.run.execution.fault.is_some());
        match (stopped, self.agrees()) {
            (true, _) => Code::Fault,
            (false, false) => Code::Check,
            (false, true) => Code::Success,
        }
    }
}

/// A compiled combination.
struct Ready {
    combination: Combination,
    options: Options,
    program: Program,
    sources: SourceMap,
    files: Vec<(PathBuf, Vec<u8>)>,
    quantities: Vec<Quantity>,
}

impl Ready {
    fn named(&self) -> Named<'_> {
        Named { name: &self.combination.name, program: &self.program }
    }
}

/// Compares the choices of a diagram.
///
/// # Errors
/// If the command line makes no sense, or the directory cannot be written.
pub(crate) fn compare(
    arguments: &CompareArguments,
    registry: &Registry,
) -> Result<Answer, Failure> {
    if recordings::is_run(&arguments.file) {
        return recordings::compare(arguments, registry);
    }
    if let Some(other) = arguments.others.first() {
        let message = format!(
            "expected choices of one diagram or several runs, found a diagram and `{}`",
            other.display()
        );
        return Err(Failure::usage(message));
    }
    let source = Source::open(&arguments.file, registry)?;
    let overrides =
        Overrides { set: arguments.set.clone(), variant: Vec::new(), with: arguments.with.clone() };
    let mut options = source::options(&overrides, arguments.until.as_deref())?;
    options.signals = choices::signals(&arguments.signals)?;
    if arguments.variant.is_empty() {
        return Err(Failure::usage(no_variant(&source, &options, registry)));
    }
    let combinations = choices::combinations(&arguments.variant)?;
    let reference = reference(&combinations, arguments.reference.as_deref())?;
    let ready = match compile_all(&source, &options, combinations, registry) {
        Ok(ready) => ready,
        Err(findings) => {
            findings.say();
            let json = json!({ "diagram": source.name, "diagnostics": findings.to_json() });
            return Ok(Answer::new(Code::Diagram, json));
        }
    };
    let different = different(&ready, reference);
    let list = &ready[reference].quantities;
    let tolerances = tolerances::tolerances(&arguments.tol, list, different.as_deref())?;
    let log = &ready[reference].program.log;
    let compared: Vec<Compared> = list
        .iter()
        .zip(tolerances)
        .map(|(quantity, tolerance)| Compared {
            topic: log[quantity.channel].signal.path.clone(),
            quantity: quantity.clone(),
            tolerance,
        })
        .collect();

    let jobs = pool::at_a_time(arguments.jobs, ready.len());
    let shared = shared_quantities(&ready, &compared);
    let runs = run_all(&source, ready, jobs, arguments.out.as_deref())?;
    let comparisons = compare_all(&compared, &shared, &runs, reference);
    let diagram = &source.name;
    let outcome = Outcome { diagram, runs, reference, compared, comparisons, different, jobs };

    console::say(&table::of(&outcome));
    let mut json = report::to_json(&outcome);
    if let Some(directory) = &arguments.out {
        let picture = directory.join("compare.svg");
        write(&picture, &plot::comparison(&outcome).svg())?;
        json.insert("plot".to_owned(), picture.display().to_string().into());
        let file = directory.join("compare.json");
        write(&file, &format!("{:#}\n", Value::Object(json.clone())))?;
        console::say(&format!("\nwrote {}, {}", picture.display(), file.display()));
    }
    Ok(Answer::new(outcome.code(), Value::Object(json)))
}

/// The message where no variant is named: it says which there are.
fn no_variant(source: &Source, options: &Options, registry: &Registry) -> String {
    let Compiled { variants, .. } = source.compile(options, registry);
    let hint = grid::example("--variant", &variants);
    format!("expected --variant with the choices to compare; {hint}")
}

/// Index of the run that the others are compared with.
fn reference(combinations: &[Combination], name: Option<&str>) -> Result<usize, Failure> {
    let Some(name) = name else { return Ok(0) };
    combinations.iter().position(|one| one.name == name).ok_or_else(|| {
        let names: Vec<&str> = combinations.iter().map(|one| one.name.as_str()).collect();
        let hint = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are `{}`", names.join("`, `")),
        };
        Failure::usage(format!("no run `{name}` to compare with; {hint}"))
    })
}

/// Compiles every combination.
///
/// # Errors
/// What was found wrong, if any has errors.
fn compile_all(
    source: &Source,
    options: &Options,
    combinations: Vec<Combination>,
    registry: &Registry,
) -> Result<Vec<Ready>, Findings> {
    let count = combinations.len();
    let mut findings = Findings::default();
    let mut slips: Vec<String> = Vec::new();
    let mut ready = Vec::with_capacity(count);
    for combination in combinations {
        let mut options = options.clone();
        options.variants.clone_from(&combination.choices);
        let (compiled, files) = source.compile_and_keep(&options, registry);
        let Compiled { program, diagnostics, sources, .. } = compiled;
        let choices: Vec<String> =
            combination.choices.iter().map(|(name, choice)| format!("{name}={choice}")).collect();
        let kept = sources.clone();
        // A slip on the command line shows its place there, and says the same for every choice.
        let mut others = Diagnostics::default();
        for diagnostic in diagnostics {
            if diagnostic.code != UNKNOWN_VARIANT {
                others.push(diagnostic);
            } else if !slips.contains(&diagnostic.message) {
                slips.push(diagnostic.message.clone());
                let mut alone = Diagnostics::default();
                alone.push(diagnostic);
                findings.add(alone, sources.clone(), None);
            }
        }
        findings.add(others, sources, Some(&choices.join(" --variant ")));
        let Some(program) = program else { continue };
        let quantities = quantities(&program);
        let program = runs::record_solvers(program);
        ready.push(Ready { combination, options, program, sources: kept, files, quantities });
    }
    findings.forget_choices_of_all(count);
    if findings.count(Severity::Error) > 0 || ready.len() < count {
        return Err(findings);
    }
    findings.say();
    Ok(ready)
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
    source: &Source,
    ready: Vec<Ready>,
    at_a_time: usize,
    directory: Option<&Path>,
) -> Result<Vec<One>, Failure> {
    let mut jobs = Vec::with_capacity(ready.len());
    let mut rest = Vec::with_capacity(ready.len());
    for (i, one) in ready.into_iter().enumerate() {
        let Ready { combination, options, program, sources, files, .. } = one;
        let metadata = metadata(source, &options, &program, &files);
        let file = match directory {
            Some(directory) => Some(recording_file(directory, i, &combination.name)?),
            None => None,
        };
        jobs.push(Job { program, metadata, file });
        rest.push((combination, sources));
    }
    let runs = runs::run_all(jobs, at_a_time)?;
    let one = |(run, (combination, sources)): (Run, (Combination, SourceMap))| {
        let fault = run.execution.fault.as_ref().map(|fault| {
            say_fault(fault, &sources);
            fault_to_json(fault, &sources)
        });
        One { combination, run, fault }
    };
    Ok(runs.into_iter().zip(rest).map(one).collect())
}

/// `DIR/1-active_set/run.mcap`, with its directory made.
fn recording_file(directory: &Path, index: usize, name: &str) -> Result<PathBuf, Failure> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    let folder = directory.join(format!("{}-{name}", index + 1));
    std::fs::create_dir_all(&folder).map_err(|error| {
        Failure::usage(format!("cannot create the directory `{}`: {error}", folder.display()))
    })?;
    Ok(folder.join(RECORDING))
}

/// Every run but the reference against it.
fn compare_all(
    compared: &[Compared],
    shared: &[Vec<bool>],
    runs: &[One],
    reference: usize,
) -> Vec<Option<Comparison>> {
    let base = &runs[reference].run;
    let program = &base.execution.program;
    let magnitudes = magnitudes(compared, &base.recording);
    runs.iter()
        .zip(shared)
        .enumerate()
        .map(|(i, (one, shared))| {
            let (base, other) = (&base.recording, &one.run.recording);
            (i != reference)
                .then(|| Comparison::of(compared, shared, &magnitudes, base, other, program))
        })
        .collect()
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|error| Failure::usage(format!("cannot write `{}`: {error}", path.display())))
}
