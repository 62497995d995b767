//! Diagnostics with their places as editors count them.

use legwork_block::{Diagnostic, FileId, Label, Severity};
use legwork_diagram::document;
use legwork_diagram::render::SourceMap;
use legwork_study::sweep::SweepRequest;
use legwork_study::{Cancel, Diagram, Findings, StudyError, Survey};

use crate::document::Document;
use crate::text::{Position, position_at};

/// Something wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Where.
    pub(crate) place: Place,
    /// Whether it is an error or a warning.
    pub(crate) severity: Severity,
    /// The name of the kind of mistake.
    pub(crate) code: &'static str,
    /// What is wrong, with the choices that it needs, and hints.
    pub(crate) message: String,
    /// Other places that explain it, each with a text.
    pub(crate) related: Vec<(Place, String)>,
}

/// A range of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Name of the file: its path, `std:…` if it is built in, `<…>` if it is none.
    pub(crate) file: String,
    /// The first character.
    pub(crate) start: Position,
    /// One past the last.
    pub(crate) end: Position,
}

fn place(label: &Label, sources: &SourceMap) -> Place {
    let (text, span) = (sources.text(label.span.file), label.span);
    let at = |byte: u32| position_at(text, byte as usize);
    let file = sources.name(span.file).to_owned();
    Place { file, start: at(span.start), end: at(span.end.max(span.start)) }
}

fn finding(diagnostic: &Diagnostic, sources: &SourceMap) -> Finding {
    let hints = diagnostic.hints.iter().map(|hint| format!("\n{hint}"));
    let label = &diagnostic.primary.text;
    let label = if label.is_empty() { String::new() } else { format!(": {label}") };
    let related = diagnostic.secondary.iter();
    Finding {
        place: place(&diagnostic.primary, sources),
        severity: diagnostic.severity,
        code: diagnostic.code.name(),
        message: format!("{}{label}{}", diagnostic.message, hints.collect::<String>()),
        related: related.map(|label| (place(label, sources), label.text.clone())).collect(),
    }
}

/// What one compilation found.
pub(crate) fn of_survey(survey: &Survey) -> Vec<Finding> {
    survey.diagnostics.iter().map(|one| finding(one, &survey.sources)).collect()
}

/// What `legwork check` says of a diagram or a study; `None` once `goes_on` says no.
pub(crate) fn of_check(diagram: &Diagram, goes_on: &dyn Fn() -> bool) -> Option<Vec<Finding>> {
    let of = |findings: &Findings| {
        let list = findings.list("--variant ");
        list.iter().map(|(one, sources)| finding(one, sources)).collect::<Vec<_>>()
    };
    let found = if diagram.is_study() {
        match diagram.study() {
            Err(findings) => of(&findings),
            Ok(study) => match study.plan(&SweepRequest::default(), &Cancel::default()) {
                Ok(plan) => of(plan.findings()),
                Err(StudyError::File(findings)) => of(&findings),
                Err(StudyError::Request(error)) => {
                    let start = Position { line: 0, character: 0 };
                    let file = diagram.name().to_owned();
                    let place = Place { file, start, end: start };
                    let (severity, code) = (Severity::Error, "study");
                    let message = error.to_string();
                    vec![Finding { place, severity, code, message, related: Vec::new() }]
                }
            },
        }
    } else {
        of(&diagram.check_while(goes_on).findings)
    };
    goes_on().then_some(found)
}

/// What is wrong with the RON of a text alone.
pub(crate) fn of_text(document: &Document) -> Vec<Finding> {
    let Err(error) = document::parse(FileId(0), document.text().as_bytes()) else {
        return Vec::new();
    };
    let mut sources = SourceMap::default();
    sources.add(document.path(), document.text().as_bytes());
    vec![finding(&error, &sources)]
}
