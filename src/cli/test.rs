//! `legwork test`: diagrams that say themselves what must hold.

use std::path::Path;

use legwork_block::Registry;
use legwork_diagram::render::to_json;
use legwork_diagram::{Compiled, Options};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::TestArguments;
use super::execution::Execution;
use super::source::{self, Source};
use super::summary::{counted, seconds};
use super::{complaint, console, run};

/// Runs diagrams, without recordings.
///
/// # Errors
/// If an override is no text; a file that cannot be read fails by itself.
pub(crate) fn test(arguments: &TestArguments, registry: &Registry) -> Result<Answer, Failure> {
    let options = source::options(&arguments.overrides, None)?;
    let mut code = Code::Success;
    let mut results = Vec::new();
    let mut passed = 0;
    for file in &arguments.files {
        let (one, result) = match test_one(file, &options, registry) {
            Ok(tested) => tested,
            Err(failure) => {
                console::say(&format!("FAIL  {}: {}", file.display(), failure.message));
                let diagram = file.display().to_string();
                (failure.code, json!({ "diagram": diagram, "error": failure.message }))
            }
        };
        passed += usize::from(one == Code::Success);
        code = code.graver(one);
        results.push(result);
    }
    let failed = results.len() - passed;
    console::say(&format!("{} passed, {failed} failed", counted(passed as u64, "diagram")));
    Ok(Answer::new(code, json!({ "diagrams": results, "passed": passed, "failed": failed })))
}

fn test_one(file: &Path, options: &Options, registry: &Registry) -> Result<(Code, Value), Failure> {
    let source = Source::open(file, registry)?;
    let Compiled { program, diagnostics, sources, .. } = source.compile(options, registry);
    let listed = to_json(&diagnostics, &sources);
    let Some(program) = program else {
        console::say(&format!("FAIL  {}: it does not compile", source.name));
        complaint::say_all(&diagnostics, &sources);
        let json = json!({ "diagram": source.name, "passed": false, "diagnostics": listed });
        return Ok((Code::Diagram, json));
    };
    let execution = Execution::of(program, None);
    let code = execution.code(true, false);
    console::say(&line(&source.name, &execution, code));
    if let Some(fault) = &execution.fault {
        run::say_fault(fault, &sources);
    }
    let mut json = json!({
        "diagram": source.name,
        "passed": code == Code::Success,
        "checks": run::checks_to_json(&execution),
        "sim_time_s": execution.sim_time,
        "wall_s": execution.wall,
        "diagnostics": listed,
    });
    if let Some(fault) = &execution.fault {
        json["fault"] = run::fault_to_json(fault, &sources);
    }
    Ok((code, json))
}

/// `pass  a.ron: 2 checks, 3 s in 0.2 s`, or what failed.
fn line(name: &str, execution: &Execution, code: Code) -> String {
    let count = execution.checks.len() as u64;
    let times = format!("{} in {}", seconds(execution.sim_time), seconds(execution.wall));
    if code == Code::Success {
        return format!("pass  {name}: {}, {times}", counted(count, "check"));
    }
    let failed = execution.failed_checks(false);
    let what = match (&execution.fault, failed.is_empty()) {
        (Some(_), true) => "fault".to_owned(),
        (Some(_), false) => format!("fault, {}", failed.join(", ")),
        (None, _) => failed.join(", "),
    };
    format!("FAIL  {name}: {what} ({times})")
}
