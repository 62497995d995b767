//! `legwork compare`: one diagram with several choices for its variants; or recorded runs.

mod plot;
mod recordings;
mod table;

use std::path::Path;

use legwork_study::compare::{CompareRequest, VariantComparison, split_signals};
use legwork_study::{Library, split_list};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::{CompareArguments, Overrides, example};
use super::progress::Progress;
use super::{complaint, console, interrupt};

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
    let overrides =
        Overrides { set: arguments.set.clone(), variant: Vec::new(), with: arguments.with.clone() };
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
    complaint::say_findings(plan.findings(), "--variant ");
    if !plan.is_whole() {
        let json = json!({ "diagram": diagram.name(), "diagnostics": plan.findings().to_json() });
        return Ok(Answer::new(Code::Diagram, json));
    }
    let progress = Progress::default();
    let outcome = plan.run(&|event| progress.tell(event), interrupt::flag())?;
    drop(progress);
    for one in &outcome.runs {
        if let Some(fault) = &one.run.execution.fault {
            complaint::say_fault(fault, one.run.model.sources());
        }
    }
    tell(&outcome, arguments.out.as_deref())
}

/// Says and writes what came of it.
fn tell(outcome: &VariantComparison, out: Option<&Path>) -> Result<Answer, Failure> {
    console::say(&table::of(outcome));
    let mut json = outcome.to_json();
    if let Some(directory) = out {
        let picture = directory.join("compare.svg");
        write(&picture, &plot::comparison(outcome).svg())?;
        json.insert("plot".to_owned(), picture.display().to_string().into());
        let file = directory.join("compare.json");
        write(&file, &format!("{:#}\n", Value::Object(json.clone())))?;
        console::say(&format!("\nwrote {}, {}", picture.display(), file.display()));
    }
    let code = match (outcome.has_fault(), outcome.agrees()) {
        (true, _) => Code::Fault,
        (false, false) => Code::Check,
        (false, true) => Code::Success,
    };
    Ok(Answer::new(code, Value::Object(json)))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|error| Failure::usage(format!("cannot write `{}`: {error}", path.display())))
}
