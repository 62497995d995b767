//! `legwork check`: every mistake of diagrams, with every choice of every variant.

use std::path::{Path, PathBuf};

use clap::Args;
use legwork_study::sweep::SweepRequest;
use legwork_study::{
    Checked, Diagram, Findings, Library, Model, Proof, RoundtripError, Severity, StudyError,
};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::Overrides;
use super::summary::counted;
use super::{console, diagnostics, folder, interrupt};

/// `legwork check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The diagrams; a folder stands for all below it. A mask or a patch is looked at by itself.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Print the diagram with everything expanded: blocks, wires, types, rates, order.
    #[arg(long)]
    pub(crate) expand: bool,
    /// Also run the diagrams and continue them from snapshots at random ticks: exit code 3 if a bit
    /// differs.
    #[arg(long)]
    pub(crate) roundtrip: bool,
    /// At how many random ticks.
    #[arg(long, value_name = "N", default_value_t = 20, requires = "roundtrip",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) ticks: u32,
}

/// Checks diagrams.
///
/// # Errors
/// If an override is no text, or a folder holds no diagram; a file that cannot be read is one
/// mistake among others.
pub(crate) fn check(arguments: &CheckArguments, library: &Library) -> Result<Answer, Failure> {
    let mut code = Code::Success;
    let mut files = Vec::new();
    let mut text = String::new();
    for file in &folder::spread(&arguments.files)? {
        let (one, json) = match check_one(file, arguments, library, &mut text) {
            Ok(checked) => checked,
            Err(failure) => {
                console::say(&format!("error: {}", failure.message));
                let diagram = file.display().to_string();
                (failure.code, json!({ "diagram": diagram, "error": failure.message }))
            }
        };
        code = code.worse(one);
        files.push(json);
    }
    let json = json!({ "ok": code == Code::Success, "diagrams": files });
    Ok(Answer::new(code, json).text(text))
}

fn check_one(
    file: &Path,
    arguments: &CheckArguments,
    library: &Library,
    text: &mut String,
) -> Result<(Code, Value), Failure> {
    let opened = library.open(file)?;
    if opened.is_study() {
        return check_study(&opened, arguments);
    }
    let diagram = arguments.overrides.apply(opened, None)?;
    let checked = diagram.check();
    diagnostics::say_findings(&checked.findings, "--variant ");
    let say = |text: &str| match arguments.expand {
        // Standard output is for the diagram.
        true => {
            console::note(text);
            Ok(())
        }
        false => console::tell(text),
    };
    let alone = if diagram.is_part() { ", by itself" } else { "" };
    say(&format!("{}: {}{alone}", diagram.name(), verdict(&checked)))?;
    let mut code = if checked.is_ok() { Code::Success } else { Code::Diagram };
    let variants: std::collections::BTreeMap<_, _> = checked.variants.iter().cloned().collect();
    let mut json = json!({
        "diagram": diagram.name(),
        "ok": checked.is_ok(),
        "variants": variants,
        "diagnostics": checked.findings.to_json(),
    });
    if let (true, Some(model)) = (arguments.expand, &checked.model) {
        let expanded = model.program().expanded();
        text.push_str(&expanded);
        json["expanded"] = expanded.into();
    }
    if let (true, Some(model)) = (arguments.roundtrip, &checked.model) {
        let (proven, text, proof) = prove(model, arguments.ticks);
        say(&text)?;
        code = code.worse(proven);
        json["roundtrip"] = proof;
    }
    Ok((code, json))
}

/// Compiles each run of a study.
fn check_study(opened: &Diagram, arguments: &CheckArguments) -> Result<(Code, Value), Failure> {
    let name = opened.name();
    let said = |findings: &Findings, count: usize| {
        diagnostics::say_findings(findings, "");
        let errors = findings.count(Severity::Error);
        let (code, verdict) = match errors {
            0 => (Code::Success, format!("ok, {}", counted(count as u64, "run"))),
            errors => (Code::Diagram, counted(errors as u64, "error")),
        };
        console::tell(&format!("{name}: {verdict}"))?;
        let json = json!({
            "diagram": name,
            "ok": errors == 0,
            "runs": count,
            "diagnostics": findings.to_json(),
        });
        Ok((code, json))
    };
    let study = match opened.study() {
        Ok(study) => study,
        Err(findings) => return said(&findings, 0),
    };
    let diagram = arguments.overrides.apply(study.diagram().clone(), None)?;
    let study = study.with_diagram(diagram);
    match study.plan(&SweepRequest::default(), interrupt::listen()) {
        Ok(plan) => said(plan.findings(), plan.count()),
        Err(StudyError::File(findings)) => said(&findings, 0),
        Err(StudyError::Request(error)) => Err(error.into()),
    }
}

/// `ok, with 3 choices of variants, 1 warning`.
fn verdict(checked: &Checked) -> String {
    let outcome = match (checked.findings.count(Severity::Error), checked.choices) {
        (0, 0) => "ok".to_owned(),
        (0, count) => format!("ok, with {} of variants", counted(count as u64, "choice")),
        (count, _) => counted(count as u64, "error"),
    };
    match checked.findings.count(Severity::Warning) {
        0 => outcome,
        count => format!("{outcome}, {}", counted(count as u64, "warning")),
    }
}

/// Continues a diagram from snapshots at random ticks: what came of it, in words and as JSON.
fn prove(model: &Model, ticks: u32) -> (Code, String, Value) {
    let name = model.diagram().name();
    match model.roundtrip(ticks) {
        Ok(Proof { snapshots, inside, bytes, .. }) => {
            let count = counted(u64::from(snapshots), "snapshot");
            let text = format!(
                "{name}: continues from {count} bit for bit, {inside} of them inside a step, up to \
                 {bytes} bytes each"
            );
            let json = json!({ "snapshots": snapshots, "inside_a_step": inside, "bytes": bytes });
            (Code::Success, text, json)
        }
        Err(error) => {
            let text = format!("error: {name}: {error}");
            let code = match &error {
                RoundtripError::Fault(_) => Code::Fault,
                _ => Code::Check,
            };
            let place = match &error {
                RoundtripError::Differs(place) => json!({
                    "tick": place.tick, "pieces": place.pieces, "t": place.t,
                    "block": place.block, "what": place.what,
                }),
                _ => Value::Null,
            };
            (code, text, json!({ "error": error.to_string(), "difference": place }))
        }
    }
}
