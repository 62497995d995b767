//! `legwork test`: diagrams that say themselves what must hold.

use std::path::{Path, PathBuf};

use clap::Args;
use legwork_study::{Execution, Library, Outcome, RunRequest, Verdict, fault_to_json};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::Overrides;
use super::progress::Progress;
use super::summary::{counted, seconds};
use super::{console, diagnostics, folder, interrupt};

/// `legwork test`.
#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    /// The diagrams; a folder stands for all below it.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
}

/// Runs diagrams, without recordings.
///
/// # Errors
/// If an override is no text, or a folder holds no diagram; a file that cannot be read fails by
/// itself.
pub(crate) fn test(arguments: &TestArguments, library: &Library) -> Result<Answer, Failure> {
    let mut code = Code::Success;
    let mut results = Vec::new();
    let mut passed = 0;
    for file in &folder::spread(&arguments.files)? {
        let (one, result) = match test_one(file, arguments, library) {
            Ok(tested) => tested,
            Err(failure) => {
                console::tell_failed(&format!("FAIL  {}: {}", file.display(), failure.message))?;
                let diagram = file.display().to_string();
                (failure.code, json!({ "diagram": diagram, "error": failure.message }))
            }
        };
        passed += usize::from(one == Code::Success);
        code = code.worse(one);
        results.push(result);
    }
    let failed = results.len() - passed;
    console::tell(&format!("{} passed, {failed} failed", counted(passed as u64, "diagram")))?;
    Ok(Answer::new(code, json!({ "diagrams": results, "passed": passed, "failed": failed })))
}

fn test_one(
    file: &Path,
    arguments: &TestArguments,
    library: &Library,
) -> Result<(Code, Value), Failure> {
    let diagram = arguments.overrides.open(file, None, library)?;
    let name = diagram.name();
    let compiled = diagram.compile();
    let listed = compiled.to_json();
    let Some(model) = &compiled.model else {
        console::tell_failed(&format!("FAIL  {name}: it does not compile"))?;
        diagnostics::say_all(&compiled.diagnostics, &compiled.sources);
        let json = json!({ "diagram": name, "passed": false, "diagnostics": listed });
        return Ok((Code::Diagram, json));
    };
    let progress = Progress::default();
    let watch = |event| progress.tell(event);
    let run = model.run(&RunRequest::default(), &watch, interrupt::flag())?;
    drop(progress);
    let (execution, outcome) = (&run.execution, run.outcome());
    match outcome {
        Outcome::Success => console::tell(&line(name, execution, outcome))?,
        _ => console::tell_failed(&line(name, execution, outcome))?,
    }
    let mut json = json!({
        "diagram": name,
        "passed": outcome == Outcome::Success,
        "checks": execution.checks_to_json(),
        "sim_time_s": execution.sim_time,
        "wall_s": execution.wall,
        "diagnostics": listed,
    });
    if let Some(fault) = &execution.fault {
        diagnostics::say_fault(fault, model.sources());
        json["fault"] = fault_to_json(fault, model.sources());
    }
    Ok((outcome.into(), json))
}

/// `pass  a.ron: 2 checks, 3 s in 0.2 s`, or what failed.
fn line(name: &str, execution: &Execution, outcome: Outcome) -> String {
    let count = execution.checks.len() as u64;
    let times = format!("{} in {}", seconds(execution.sim_time), seconds(execution.wall));
    if outcome == Outcome::Success {
        let is_silent = |verdict: &&Verdict| **verdict == Verdict::NotAsked;
        let silent = execution.checks.iter().filter(is_silent).count();
        let silent = match silent {
            0 => String::new(),
            count => format!(", {count} of them never asked"),
        };
        return format!("pass  {name}: {}{silent}, {times}", counted(count, "check"));
    }
    let failed = execution.failed_checks(false);
    let what = match (&execution.fault, failed.is_empty()) {
        (Some(_), true) => "fault".to_owned(),
        (Some(_), false) => format!("fault, {}", failed.join(", ")),
        (None, _) => failed.join(", "),
    };
    format!("FAIL  {name}: {what} ({times})")
}
