//! `legwork compare`: one diagram with several choices for its variants; or recorded runs.

mod plot;
mod recordings;
mod table;

use std::path::{Path, PathBuf};

use clap::Args;
use legwork_study::compare::{CompareRequest, VariantComparison, split_signals};
use legwork_study::{Library, files, split_list};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::{Overrides, example, pair};
use super::progress::Progress;
use super::{console, diagnostics, interrupt};

/// `legwork compare`.
///
/// Every combination of the choices runs from the same initial state; signals are compared with
/// those of the first. Failed checks are shown and do not matter to the exit code.
///
/// Recorded runs are compared as they are, at the times that both have: how far apart their common
/// signals are in the mean, by root mean square and at most. A table of comma-separated values
/// whose first column is the time `t`, such as `legwork export` writes, is a run too.
#[derive(Debug, Args)]
#[command(
    override_usage = "legwork compare [OPTIONS] <FILE> --variant <NAME=CHOICE,CHOICE..>\n       \
                      legwork compare [--signals <PATH>] [--tol <TOLERANCE>] <RUN> <RUN>...",
    after_help = "Exit codes: 0 all within the tolerance, 1 diagram error, 2 a run stopped at a \
                        fault, 3 a signal is beyond its tolerance, 64 usage."
)]
pub(crate) struct CompareArguments {
    /// The diagram; or the directory of a recorded run, its recording or a table.
    #[arg(value_name = "FILE|RUN")]
    pub(crate) file: PathBuf,
    /// Runs to compare with the first.
    #[arg(value_name = "RUN")]
    pub(crate) others: Vec<PathBuf>,
    /// Choices of a variant, as in `qp=active_set,clarabel`; of several variants, every
    /// combination.
    #[arg(long, value_name = "NAME=CHOICE[,CHOICE..]", value_parser = pair)]
    pub(crate) variant: Vec<(String, String)>,
    /// Set a parameter or a field in all runs, as in `pd.kp=60` or `run.solver=Rk4`.
    #[arg(long, value_name = "PATH=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
    /// Feed an input of the diagram in all runs, as in `u=3 N` or `u=log.csv:tau`.
    #[arg(long, value_name = "NAME=VALUE|FILE.csv[:SIGNAL]", value_parser = pair)]
    pub(crate) input: Vec<(String, String)>,
    /// Apply a patch file to all runs, before any --set.
    #[arg(long, value_name = "PATCH")]
    pub(crate) with: Vec<PathBuf>,
    /// Stop at this time instead of the diagram's, sooner or later, as in `2 s`.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// Compare these signals instead of those that the diagram logs, as in
    /// `body.state,contact.f[0..3]`.
    #[arg(long, value_name = "PATH[,PATH..]")]
    pub(crate) signals: Vec<String>,
    /// Largest difference: a share of each signal's range, as in `1e-6` (the default where only
    /// solvers differ); or, with a unit, a difference of signals in it, as in `1 mm`. For one
    /// signal: `contact.f=0.1 N`.
    #[arg(long, value_name = "[SIGNAL=]TOLERANCE")]
    pub(crate) tol: Vec<String>,
    /// Compare with this run instead of the first, by the name that the table gives it.
    #[arg(long, value_name = "RUN")]
    pub(crate) reference: Option<String>,
    /// Directory for compare.json, compare.svg and the recordings; none are written without it.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How many runs at a time; without it, one on each core. Results do not depend on it, times
    /// do.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,
}

/// Compares the choices of a diagram.
///
/// # Errors
/// If the command line makes no sense, or the directory cannot be written.
pub(crate) fn compare(arguments: &CompareArguments, library: &Library) -> Result<Answer, Failure> {
    if recordings::is_run(&arguments.file) {
        return recordings::compare(arguments, library);
    }
    if let Some(other) = arguments.others.first() {
        let message = format!(
            "expected choices of one diagram or several runs, found a diagram and `{}`",
            other.display()
        );
        return Err(Failure::usage(message));
    }
    let overrides = Overrides {
        set: arguments.set.clone(),
        input: arguments.input.clone(),
        variant: Vec::new(),
        with: arguments.with.clone(),
    };
    let diagram = overrides.open(&arguments.file, arguments.until.as_deref(), library)?;
    let diagram = diagram.signals(split_signals(&arguments.signals)?);
    if arguments.variant.is_empty() {
        let hint = example("--variant", &diagram.compile().variants);
        let message = format!("expected --variant with the choices to compare; {hint}");
        return Err(Failure::usage(message));
    }
    let values = |list: &str| split_list(list).into_iter().map(str::to_owned).collect();
    let variants = arguments.variant.iter();
    let request = CompareRequest {
        variants: variants.map(|(name, list)| (name.clone(), values(list))).collect(),
        tolerances: arguments.tol.clone(),
        reference: arguments.reference.clone(),
        directory: arguments.out.clone(),
        jobs: arguments.jobs,
    };
    let plan = diagram.plan_comparison(&request)?;
    diagnostics::say_findings(plan.findings(), "--variant ");
    if !plan.is_whole() {
        let json = json!({ "diagram": diagram.name(), "diagnostics": plan.findings().to_json() });
        return Ok(Answer::new(Code::Diagram, json));
    }
    let progress = Progress::default();
    let outcome = plan.run(&|event| progress.tell(event), interrupt::flag())?;
    drop(progress);
    for one in &outcome.runs {
        if let Some(fault) = &one.run.execution.fault {
            diagnostics::say_fault(fault, one.run.model.sources());
        }
    }
    tell(&outcome, arguments.out.as_deref())
}

/// Says and writes what came of it.
fn tell(outcome: &VariantComparison, out: Option<&Path>) -> Result<Answer, Failure> {
    console::tell(&table::of(outcome))?;
    let mut json = outcome.to_json();
    if let Some(directory) = out {
        let picture = directory.join("compare.svg");
        files::write(&picture, plot::comparison(outcome).svg())?;
        json.insert("plot".to_owned(), picture.display().to_string().into());
        let file = directory.join("compare.json");
        files::write(&file, format!("{:#}\n", Value::Object(json.clone())))?;
        console::note(&format!("\nwrote {}, {}", picture.display(), file.display()));
    }
    let code = match (outcome.has_fault(), outcome.agrees()) {
        (true, _) => Code::Fault,
        (false, false) => Code::Check,
        (false, true) => Code::Success,
    };
    Ok(Answer::new(code, Value::Object(json)))
}
