//! Wrong models: each must fail a check of its diagram.
//!
//! The tables are `*.txt` beside this file, one for each folder of `diagrams`. After `== ` stands a
//! diagram with what all its runs are set to; then its mutants, by paragraphs:
//!
//! ```text
//! what is wrong
//! in robots/pendulum/pendulum.urdf
//! - the text that is found, exactly once
//! + what replaces it
//! set run.solver = Euler
//! variant contact = hertz
//! passes: why no check can fail
//! ```
//!
//! An edit may have several lines; without `in` it is one of the diagram. A mutant is caught if a
//! check fails or if the run ends in a fault. With lines `refused: text` it must not run at all, and
//! what is said of it holds these texts: `units.txt` has wrong units, which never reach a run.
//!
//! A diagram's test fails if the unchanged diagram does not pass, if a mutant is not caught, if one
//! is that is said to pass, and if a check fails for no mutant, unless a line
//! `idle "check": why` says why it cannot.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod table;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use legwork::Disk;
use legwork_block::Registry;
use legwork_diagram::{Options, ReadFile, compile};
use legwork_runtime::Simulation;
use libtest_mimic::{Arguments, Failed, Trial};

use table::{Edit, Mutant, Setting, Subject};

fn main() {
    let tables = in_repository("tests/mutants");
    let mut subjects = Vec::new();
    for path in files(&tables, "txt") {
        let text = std::fs::read_to_string(&path).unwrap();
        let read = table::parse(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        subjects.extend(read);
    }
    let named: BTreeSet<PathBuf> = subjects.iter().map(|s| in_repository(&s.file)).collect();
    let mut trials = vec![Trial::test("every diagram has mutants", move || {
        let all: BTreeSet<PathBuf> = files(&in_repository("diagrams"), "ron").into_iter().collect();
        (named == all).then_some(()).ok_or_else(|| {
            let odd: Vec<_> = named.symmetric_difference(&all).collect();
            format!("in one of diagrams and tables alone: {odd:?}").into()
        })
    })];
    let mut rest = subjects;
    while let Some(first) = rest.first() {
        let file = first.file.clone();
        let (of_file, others) = rest.into_iter().partition(|subject| subject.file == file);
        rest = others;
        trials.push(Trial::test(file, move || mutants_are_caught(&of_file)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn in_repository(file: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// All subjects of one diagram.
fn mutants_are_caught(subjects: &[Subject]) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    let mut idle: BTreeSet<String> = BTreeSet::new();
    let mut failed: BTreeSet<String> = BTreeSet::new();
    for subject in subjects {
        let unchanged = run(subject, &Mutant::default())?;
        if unchanged.is_caught() {
            wrong.push(format!("the unchanged diagram fails: {}", unchanged.text()));
        }
        idle.extend(unchanged.checks);
        for mutant in &subject.mutants {
            if !mutant.refused.is_empty() {
                wrong.extend(refusal(subject, mutant).err());
                continue;
            }
            let outcome = run(subject, mutant)
                .map_err(|why| format!("`{}` cannot be run: {why}", mutant.what))?;
            match (&mutant.passes, outcome.is_caught()) {
                (None, false) => wrong.push(format!("`{}` passes", mutant.what)),
                (Some(_), true) => wrong.push(format!(
                    "`{}` is said to pass, but is caught: {}",
                    mutant.what,
                    outcome.text()
                )),
                _ => {}
            }
            failed.extend(outcome.failed);
        }
    }
    idle.retain(|check| !failed.contains(check));
    let excused: BTreeSet<String> = subjects.iter().flat_map(|s| s.idle.clone()).collect();
    for check in idle.difference(&excused) {
        wrong.push(format!("check `{check}` fails for no mutant"));
    }
    for check in excused.difference(&idle) {
        wrong.push(format!("check `{check}` is said to be idle, and is not, or there is none"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Whether a mutant is refused with what its table says.
fn refusal(subject: &Subject, mutant: &Mutant) -> Result<(), String> {
    let said = match run(subject, mutant) {
        Ok(_) => return Err(format!("`{}` is not refused", mutant.what)),
        Err(said) => said,
    };
    match mutant.refused.iter().find(|text| !said.contains(*text)) {
        Some(text) => Err(format!("`{}` is not refused with {text:?}, but:\n{said}", mutant.what)),
        None => Ok(()),
    }
}

/// How a run ended.
struct Outcome {
    checks: Vec<String>,
    failed: Vec<String>,
    fault: Option<String>,
}

impl Outcome {
    fn is_caught(&self) -> bool {
        !self.failed.is_empty() || self.fault.is_some()
    }

    fn text(&self) -> String {
        format!("failed {:?}, fault {:?}", self.failed, self.fault)
    }
}

fn run(subject: &Subject, mutant: &Mutant) -> Result<Outcome, String> {
    let mut options = Options::default();
    for setting in subject.settings.iter().chain(&mutant.settings) {
        match setting {
            Setting::Value(path, value) => options.set.push((path.clone(), value.clone())),
            Setting::Variant(name, choice) => options.variants.push((name.clone(), choice.clone())),
            Setting::Patch(file) => options.patches.push(in_repository(file).display().to_string()),
        }
    }
    let path = in_repository(&subject.file);
    let mutated = Mutated { edits: &mutant.edits, problem: RefCell::default() };
    let text = mutated.read(&path).map_err(|error| error.to_string())?;
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let compiled = compile(&path, &text, &options, &registry, &mutated);
    if let Some(problem) = mutated.problem.into_inner() {
        return Err(problem);
    }
    let said = legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources);
    let mut simulation = Simulation::new(Arc::new(compiled.program.ok_or(said)?));
    let fault = simulation.run().err().map(|fault| fault.to_string());
    let checks = &simulation.program().checks;
    // Of a run that ended in a fault, what failed before it.
    let states = checks.iter().zip(simulation.checks());
    let failed = states
        .filter(|(_, state)| state.fails() && (fault.is_none() || state.failed_at.is_some()))
        .map(|(check, _)| check.name.clone())
        .collect();
    Ok(Outcome { checks: checks.iter().map(|check| check.name.clone()).collect(), failed, fault })
}

/// The disk, with a mutant's edits.
struct Mutated<'a> {
    edits: &'a [Edit],
    problem: RefCell<Option<String>>,
}

impl ReadFile for Mutated<'_> {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        let bytes = Disk.read(path)?;
        let edits: Vec<&Edit> = self.edits.iter().filter(|e| path.ends_with(&e.file)).collect();
        if edits.is_empty() {
            return Ok(bytes);
        }
        let mut text = String::from_utf8(bytes).map_err(std::io::Error::other)?;
        for edit in edits {
            let times = text.matches(&edit.find).count();
            if times != 1 {
                let problem = format!("{times} times in {}: {:?}", path.display(), edit.find);
                *self.problem.borrow_mut() = Some(problem);
            }
            text = text.replace(&edit.find, &edit.replace);
        }
        Ok(text.into_bytes())
    }
}
