//! `legwork check`: every mistake of diagrams, with every choice of every variant.

use std::path::Path;
use std::sync::Arc;

use legwork_block::{Diagnostic, Diagnostics, Label, Registry, Severity};
use legwork_diagram::render::{SourceMap, to_json};
use legwork_diagram::{Compiled, Options};
use legwork_program::Program;
use legwork_runtime::{Proof, RoundtripError, Trials, roundtrip};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::CheckArguments;
use super::source::{self, Source};
use super::summary::counted;
use super::{complaint, console};

/// Most choices that are said of a mistake; JSON has them all.
const MOST_CHOICES: usize = 8;

/// Checks diagrams.
///
/// # Errors
/// If an override is no text; a file that cannot be read is one mistake among others.
pub(crate) fn check(arguments: &CheckArguments, registry: &Registry) -> Result<Answer, Failure> {
    let options = source::options(&arguments.overrides, None)?;
    let mut code = Code::Success;
    let mut files = Vec::new();
    let mut text = String::new();
    for file in &arguments.files {
        let (one, json) = match check_one(file, &options, arguments, registry, &mut text) {
            Ok(checked) => checked,
            Err(failure) => {
                console::say(&format!("error: {}", failure.message));
                let diagram = file.display().to_string();
                (failure.code, json!({ "diagram": diagram, "error": failure.message }))
            }
        };
        code = code.graver(one);
        files.push(json);
    }
    let json = json!({ "ok": code == Code::Success, "diagrams": files });
    Ok(Answer::new(code, json).text(text))
}

fn check_one(
    file: &Path,
    options: &Options,
    arguments: &CheckArguments,
    registry: &Registry,
    text: &mut String,
) -> Result<(Code, Value), Failure> {
    let source = Source::open(file, registry)?;
    let Compiled { program, diagnostics, sources, variants } = source.compile(options, registry);
    let mut findings = Findings::default();
    findings.add(diagnostics, sources, None);
    let mut compiled_choices = 0;
    for (name, choice) in choices(&variants) {
        let mut with_choice = options.clone();
        with_choice.variants.retain(|(other, _)| other != name);
        with_choice.variants.push((name.to_owned(), choice.to_owned()));
        let mut compiled = source.compile(&with_choice, registry);
        if lacks_a_block(&compiled.diagnostics) {
            // A choice that this build cannot offer is not a mistake of the diagram.
            let mut softened = Diagnostics::default();
            softened.extend(compiled.diagnostics.into_iter().map(as_warning));
            compiled.diagnostics = softened;
        } else {
            compiled_choices += 1;
        }
        findings.add(compiled.diagnostics, compiled.sources, Some(&format!("{name}={choice}")));
    }
    findings.say();
    let errors = findings.count(Severity::Error);
    let warnings = findings.count(Severity::Warning);
    let outcome = match (errors, compiled_choices) {
        (0, 0) => "ok".to_owned(),
        (0, count) => format!("ok, with {} of variants", counted(count, "choice")),
        (count, _) => counted(count as u64, "error"),
    };
    let also = match warnings {
        0 => String::new(),
        count => format!(", {}", counted(count as u64, "warning")),
    };
    console::say(&format!("{}: {outcome}{also}", source.name));
    let mut code = if errors == 0 { Code::Success } else { Code::Diagram };
    let mut json = json!({
        "diagram": source.name,
        "ok": errors == 0,
        "variants": variants.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
        "diagnostics": findings.to_json(),
    });
    if let (true, Some(program)) = (arguments.expand, &program) {
        json["expanded"] = program.expanded().into();
        text.push_str(&program.expanded());
    }
    if let (true, Some(program)) = (arguments.roundtrip, program) {
        let (proven, proof) = prove(&source.name, program, arguments.ticks);
        code = code.graver(proven);
        json["roundtrip"] = proof;
    }
    Ok((code, json))
}

/// Whether all that is wrong is that this build was made without some block.
fn lacks_a_block(diagnostics: &Diagnostics) -> bool {
    let mut errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).peekable();
    errors.peek().is_some() && errors.all(|error| error.code == "absent-block-kind")
}

fn as_warning(mut diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.severity = Severity::Warning;
    diagnostic
}

/// Continues a program from snapshots at random ticks.
fn prove(name: &str, program: Program, ticks: u32) -> (Code, Value) {
    let trials = Trials { ticks, ..Trials::default() };
    match roundtrip(&Arc::new(program), trials) {
        Ok(Proof { snapshots, inside, bytes, .. }) => {
            let count = counted(u64::from(snapshots), "snapshot");
            console::say(&format!(
                "{name}: continues from {count} bit for bit, {inside} of them inside a step, up to \
                 {bytes} bytes each"
            ));
            let json = json!({ "snapshots": snapshots, "inside_a_step": inside, "bytes": bytes });
            (Code::Success, json)
        }
        Err(error) => {
            console::say(&format!("error: {name}: {error}"));
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
            (code, json!({ "error": error.to_string(), "difference": place }))
        }
    }
}

/// Every choice of every variant.
fn choices(variants: &[(String, Vec<String>)]) -> impl Iterator<Item = (&str, &str)> {
    variants
        .iter()
        .flat_map(|(name, choices)| choices.iter().map(move |choice| (&**name, &**choice)))
}

/// Diagnostics of several compilations of one diagram, each said once.
#[derive(Default)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    sources: Vec<SourceMap>,
}

struct Finding {
    diagnostic: Diagnostic,
    /// Index of the texts that it points into.
    sources: usize,
    /// The choices with which it was found, as `name=choice`; empty if it needs none.
    choices: Vec<String>,
}

impl Findings {
    /// Adds what one compilation found, with the choice it needed.
    pub(crate) fn add(&mut self, found: Diagnostics, sources: SourceMap, choice: Option<&str>) {
        let index = self.sources.len();
        self.sources.push(sources);
        for diagnostic in found {
            let known = self.list.iter_mut().find(|known| {
                same(
                    &known.diagnostic,
                    &self.sources[known.sources],
                    &diagnostic,
                    &self.sources[index],
                )
            });
            match (known, choice) {
                (Some(known), Some(choice)) if !known.choices.is_empty() => {
                    known.choices.push(choice.to_owned());
                }
                (Some(_), _) => {}
                (None, choice) => self.list.push(Finding {
                    diagnostic,
                    sources: index,
                    choices: choice.into_iter().map(str::to_owned).collect(),
                }),
            }
        }
    }

    /// Says of what all of `compilations` found that it needs no choice.
    pub(crate) fn forget_choices_of_all(&mut self, compilations: usize) {
        for finding in self.list.iter_mut().filter(|one| one.choices.len() == compilations) {
            finding.choices.clear();
        }
    }

    /// How many of this severity there are.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.list.iter().filter(|finding| finding.diagnostic.severity == severity).count()
    }

    /// Says them on standard error, with choices of variants.
    pub(crate) fn say(&self) {
        self.say_with("--variant ");
    }

    /// Says them on standard error; `option` stands before the choices.
    pub(crate) fn say_with(&self, option: &str) {
        for finding in &self.list {
            let mut diagnostic = finding.diagnostic.clone();
            if !finding.choices.is_empty() {
                let shown = &finding.choices[..finding.choices.len().min(MOST_CHOICES)];
                diagnostic.message += &format!(", with {option}{}", shown.join(" or "));
                let more = finding.choices.len() - shown.len();
                if more > 0 {
                    diagnostic.message += &format!(" or {more} more");
                }
            }
            complaint::say(&diagnostic, &self.sources[finding.sources]);
        }
    }

    /// As a list, each with its choices.
    pub(crate) fn to_json(&self) -> Value {
        let one = |finding: &Finding| {
            let mut alone = Diagnostics::default();
            alone.push(finding.diagnostic.clone());
            let mut json = to_json(&alone, &self.sources[finding.sources])[0].take();
            json["choices"] = json!(finding.choices);
            json
        };
        self.list.iter().map(one).collect()
    }
}

/// Whether two compilations say the same. File ids differ between them, names do not.
fn same(a: &Diagnostic, a_sources: &SourceMap, b: &Diagnostic, b_sources: &SourceMap) -> bool {
    let label = |a: &Label, b: &Label| {
        (a.span.start, a.span.end, &a.text) == (b.span.start, b.span.end, &b.text)
            && a_sources.name(a.span.file) == b_sources.name(b.span.file)
    };
    (a.severity, a.code, &a.message, &a.hints) == (b.severity, b.code, &b.message, &b.hints)
        && label(&a.primary, &b.primary)
        && a.secondary.len() == b.secondary.len()
        && a.secondary.iter().zip(&b.secondary).all(|(a, b)| label(a, b))
}

#[cfg(test)]
mod tests {
    use legwork_block::Span;

    use super::*;

    #[test]
    fn what_is_wrong_whatever_the_choice_is_said_once() {
        let found = |messages: &[&str], files_before: usize| {
            let mut sources = SourceMap::default();
            for i in 0..files_before {
                sources.add(format!("<{i}>"), b"");
            }
            let file = sources.add("a.ron", b"Diagram()");
            let mut list = Diagnostics::default();
            for message in messages {
                list.push(Diagnostic::error("code", Span::new(file, 0, 7), *message));
            }
            (list, sources)
        };
        let mut findings = Findings::default();
        let (list, sources) = found(&["always"], 0);
        findings.add(list, sources, None);
        let (list, sources) = found(&["always", "sometimes"], 1);
        findings.add(list, sources, Some("qp=a"));
        let (list, sources) = found(&["sometimes"], 2);
        findings.add(list, sources, Some("qp=b"));
        assert_eq!(findings.count(Severity::Error), 2);
        assert!(findings.list[0].choices.is_empty());
        assert_eq!(findings.list[1].choices, ["qp=a", "qp=b"]);
        assert_eq!(findings.to_json()[1]["choices"][1], "qp=b");
    }
}
