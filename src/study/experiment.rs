//! Studies: an experiment in a file of its own, run by a sweep, beside the figures of others.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use legwork_block::{Diagnostic, Diagnostics, Span, code, parse_unit};
use legwork_diagram::render::SourceMap;
use legwork_diagram::{
    AxisText, Expected, ExpectedFigure, Options, SHOWN, StudyFile, StudyText, read_study,
};
use legwork_program::JudgeValue;
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::diagram::Diagram;
use crate::error::Error;
use crate::findings::Findings;
use crate::sweep::{Cell, End, Figure, Ran, Sweep, SweepPlan, SweepRequest, parse_values};

/// A study that was read.
#[derive(Debug, Clone)]
pub struct Study {
    file: StudyFile,
    text: StudyText,
    sources: Arc<SourceMap>,
    /// Of the file.
    warnings: Diagnostics,
    diagram: Diagram,
}

/// A plot of columns of a study.
pub use legwork_diagram::PlotText as StudyPlot;

/// What became of a figure of others.
#[derive(Debug, Clone, PartialEq)]
pub enum Agreement {
    /// Ours is within the tolerance.
    Agrees,
    /// Ours is not within the tolerance, for this reason, but within our own bounds.
    Differs(String),
    /// Ours is not within the tolerance and no reason is given, ours is outside our own bounds, or
    /// there is no such figure.
    Fails,
}

/// A figure of others beside ours.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The run.
    pub cell: String,
    /// The column.
    pub column: String,
    /// The unit of both, if there is one.
    pub unit: Option<String>,
    /// Theirs.
    pub expected: f64,
    /// Ours; nothing if the run has no such number.
    pub found: Option<f64>,
    /// How far ours may be off, as a share of theirs.
    pub within: f64,
    /// With a reason, the least and the greatest value of ours.
    pub here: Option<[f64; 2]>,
    /// What became of it.
    pub agreement: Agreement,
}

impl Diagram {
    /// Whether the file is a study of a diagram, and none itself.
    pub fn is_study(&self) -> bool {
        legwork_diagram::is_study(self.text())
    }

    /// Whether the file is a mask or a patch, which is looked at by itself.
    pub fn is_part(&self) -> bool {
        ["Mask", "Patch"]
            .iter()
            .any(|kind| legwork_diagram::document::begins_with(self.text(), kind))
    }

    /// The study that the file is.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn study(&self) -> Result<Study, Findings> {
        let path = self.path().display().to_string();
        let text = StudyText { name: path, text: self.text().into() };
        let (file, mut found, sources) = read_study(&text);
        let sources = Arc::new(sources);
        if let Some(file) = file {
            let (name, span) = &file.diagram;
            match self.library().open(beside(self.path(), name)) {
                Ok(diagram) if diagram.is_study() => {
                    let message = format!("expected a diagram, found the study `{name}`");
                    found.push(Diagnostic::error(code::WRONG_TYPE, *span, message));
                }
                Ok(diagram) => match with(diagram, self.path(), &file, &text) {
                    Ok(diagram) => {
                        return Ok(Study { file, text, sources, warnings: found, diagram });
                    }
                    Err(error) => {
                        found.push(Diagnostic::error(code::MISSING_FILE, *span, error.to_string()));
                    }
                },
                Err(error) => {
                    found.push(Diagnostic::error(code::MISSING_FILE, *span, error.to_string()));
                }
            }
        }
        let mut findings = Findings::default();
        findings.add(found, &sources, None);
        Err(findings)
    }
}

/// The diagram of a study, with what all its runs have.
fn with(
    diagram: Diagram,
    from: &Path,
    file: &StudyFile,
    text: &StudyText,
) -> Result<Diagram, Error> {
    let options = Options { study: Some(text.clone()), ..diagram.options().clone() };
    let mut diagram = diagram.with_options(options);
    for patch in &file.patches {
        let own = beside(from, patch);
        diagram = diagram.with(if own.is_file() { own } else { PathBuf::from(patch) })?;
    }
    for (name, choice, _) in &file.variants {
        diagram = diagram.variant(name, choice);
    }
    Ok(diagram)
}

/// The file `name` that the file `from` names.
fn beside(from: &Path, name: &str) -> PathBuf {
    match from.parent() {
        Some(folder) if !name.contains(':') => folder.join(name),
        _ => PathBuf::from(name),
    }
}

impl Study {
    /// Its diagram, with what all runs have.
    pub fn diagram(&self) -> &Diagram {
        &self.diagram
    }

    /// What it shows.
    pub fn doc(&self) -> &str {
        &self.file.doc
    }

    /// Its plots.
    pub fn plots(&self) -> &[StudyPlot] {
        &self.file.plots
    }

    /// With another diagram in place of its own: the same with more overrides.
    #[must_use]
    pub fn with_diagram(mut self, diagram: Diagram) -> Self {
        self.diagram = diagram;
        self
    }

    /// The axes of its file but for what the request or an override sets, then those of the
    /// request; and which of them change together.
    fn axes(&self, request: &SweepRequest, found: &mut Diagnostics) -> SweepRequest {
        let options = self.diagram.options();
        let is_given = |name: &String| {
            request.over.iter().any(|(other, _)| other == name)
                || options.set.iter().any(|(other, _)| other == name)
                || options.variants.iter().any(|(other, _)| other == name)
        };
        let (mut over, mut tied) = (Vec::new(), Vec::new());
        for axis in &self.file.axes {
            let kept: Vec<usize> =
                (0..axis.names.len()).filter(|i| !is_given(&axis.names[*i])).collect();
            let rows = rows(axis, found);
            for &i in &kept {
                let values = rows.iter().map(|row| row[i].clone()).collect();
                over.push((axis.names[i].clone(), values));
            }
            if axis.names.len() > 1 {
                tied.push(kept.iter().map(|i| axis.names[*i].clone()).collect());
            }
        }
        over.extend(request.over.iter().cloned());
        SweepRequest { over, tied, ..request.clone() }
    }

    /// Compiles every run. What the request and the diagram's overrides set, the file does not.
    ///
    /// # Errors
    /// What is wrong with the file, or that the request makes no sense.
    pub fn plan(&self, request: &SweepRequest, cancel: &Cancel) -> Result<SweepPlan, StudyError> {
        let mut found = self.warnings.clone();
        let given: Vec<&String> = request.over.iter().map(|(name, _)| name).collect();
        let request = self.axes(request, &mut found);
        self.check_axes(&request, &given, &mut found);
        if found.has_errors() {
            let mut findings = Findings::default();
            findings.add(found, &self.sources, None);
            return Err(StudyError::File(Box::new(findings)));
        }
        let mut plan = self.diagram.plan_sweep_of(&request, true, cancel)?;
        self.check_units(&plan, &mut found);
        if found.has_errors() {
            let mut findings = Findings::default();
            findings.add(found, &self.sources, None);
            return Err(StudyError::File(Box::new(findings)));
        }
        plan.findings_mut().relocate(&|diagnostic, sources| self.relocate(diagnostic, sources));
        plan.findings_mut().add(found, &self.sources, None);
        Ok(plan)
    }

    /// Reports choices and figures of others that no run has.
    fn check_axes(&self, request: &SweepRequest, given: &[&String], found: &mut Diagnostics) {
        let variants = self.diagram.compile().variants;
        for axis in &self.file.axes {
            for (i, name) in axis.names.iter().enumerate() {
                let Some((_, choices)) = variants.iter().find(|(known, _)| known == name) else {
                    continue;
                };
                for (row, span) in &axis.values {
                    let choice = &row[i];
                    if choices.contains(choice) {
                        continue;
                    }
                    let message = format!("variant `{name}` has no choice `{choice}`");
                    let known = choices.iter().map(String::as_str);
                    found.push(
                        Diagnostic::error(code::UNKNOWN_CHOICE, *span, message)
                            .suggest(choice, known),
                    );
                }
            }
        }
        for (name, value, span) in self.file.expect.iter().flat_map(|expect| &expect.at) {
            // Of an axis that an override took away, or changed, no run need be there.
            let own = request.over.iter().find(|(known, _)| known == name);
            let own = own.filter(|(known, _)| !given.contains(&known));
            let Some((_, values)) = own else { continue };
            if !values.contains(value) {
                let message = format!("no run has `{name}` at {value}");
                let known = values.iter().map(String::as_str);
                found.push(
                    Diagnostic::error(code::UNKNOWN_NAME, *span, message).suggest(value, known),
                );
            }
        }
    }

    /// Reports figures of others in another unit than their column.
    fn check_units(&self, plan: &SweepPlan, found: &mut Diagnostics) {
        let Some(program) = plan.program() else { return };
        for figure in self.file.expect.iter().flat_map(|one| &one.figures) {
            let ExpectedFigure { column, unit, span, .. } = figure;
            let is_it = |value: &&JudgeValue| value.name.strip_prefix(SHOWN) == Some(column);
            let value = program.judge.iter().find(is_it).and_then(|value| value.unit.as_deref());
            let own = value.and_then(|unit| parse_unit(unit).ok()).map(|(unit, _)| unit);
            if let (Some(own), Some(unit)) = (own, unit)
                && !own.agrees(*unit)
            {
                let message = format!("the column `{column}` is in {own}, the figure in {unit}");
                found.push(Diagnostic::error(code::UNIT_MISMATCH, *span, message));
            }
        }
    }

    /// A mistake in a value of an axis is one of the file.
    fn relocate(&self, diagnostic: &mut Diagnostic, sources: &SourceMap) {
        let Some(file) = sources.find(&self.text.name) else { return };
        let at = diagnostic.primary.span.file;
        let text = sources.text(at);
        let place = |axis: &AxisText| match sources.name(at) {
            "<--set path>" => axis.names.iter().any(|name| name == text).then_some(axis.span),
            "<--set value>" => {
                let row = axis.values.iter().find(|(row, _)| row.iter().any(|one| one == text));
                row.map(|(_, span)| *span)
            }
            _ => None,
        };
        if let Some(Span { start, end, .. }) = self.file.axes.iter().find_map(place) {
            diagnostic.primary.span = Span { file, start, end };
        }
    }

    /// The figures of others beside those of the runs, in the order of the file.
    pub fn compare(&self, sweep: &Sweep) -> Vec<Compared> {
        let mut all = Vec::new();
        for expect in &self.file.expect {
            for (cell, end) in sweep.cells.iter().zip(&sweep.ends) {
                let is_of = |(name, value, _): &(String, String, Span)| {
                    cell.values.iter().any(|(known, own)| known == name && own == value)
                };
                if expect.at.iter().all(is_of) {
                    all.extend(compared(expect, cell, end));
                }
            }
        }
        all
    }
}

/// What is wrong with a study.
#[derive(Debug)]
pub enum StudyError {
    /// Mistakes in its file.
    File(Box<Findings>),
    /// What was asked makes no sense.
    Request(Error),
}

impl From<Error> for StudyError {
    fn from(error: Error) -> Self {
        Self::Request(error)
    }
}

/// The values of an axis by row, ranges written out.
fn rows(axis: &AxisText, found: &mut Diagnostics) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (row, span) in &axis.values {
        let is_range = |text: &String| text.starts_with("lin(") || text.starts_with("log(");
        match row.as_slice() {
            [one] if is_range(one) => match parse_values(one) {
                Ok(values) => rows.extend(values.into_iter().map(|value| vec![value])),
                Err(error) => {
                    let message = error.to_string();
                    found.push(Diagnostic::error(code::BAD_RANGE, *span, message));
                }
            },
            _ => rows.push(row.clone()),
        }
    }
    rows
}

fn compared(expect: &Expected, cell: &Cell, end: &End) -> Vec<Compared> {
    let ours = |column: &str| match end {
        End::Ran(ran) => ran.figures.iter().find(|figure| figure.name == column),
        End::Wrong(_) | End::Unwritten(_) | End::NotRun => None,
    };
    let one = |ExpectedFigure { column, value: expected, here, .. }: &ExpectedFigure| {
        let figure = ours(column);
        let found = figure.and_then(|figure| figure.value);
        let tolerance = expect.within * expected.abs();
        let agrees = found.is_some_and(|found| (found - expected).abs() <= tolerance);
        let is_ours = here.is_none_or(|[least, greatest]| {
            found.is_some_and(|found| (least..=greatest).contains(&found))
        });
        let agreement = match &expect.reason {
            _ if agrees => Agreement::Agrees,
            Some(reason) if is_ours => Agreement::Differs(reason.clone()),
            _ => Agreement::Fails,
        };
        Compared {
            cell: cell.name.clone(),
            column: column.clone(),
            unit: figure.and_then(|figure| figure.unit.clone()),
            expected: *expected,
            found,
            within: expect.within,
            here: *here,
            agreement,
        }
    };
    expect.figures.iter().map(one).collect()
}

impl Compared {
    /// As JSON.
    pub fn to_json(&self) -> Value {
        let (agreement, reason) = match &self.agreement {
            Agreement::Agrees => ("agrees", None),
            Agreement::Differs(reason) => ("differs", Some(reason)),
            Agreement::Fails => ("fails", None),
        };
        json!({
            "run": self.cell,
            "column": self.column,
            "unit": self.unit,
            "expected": self.expected,
            "found": self.found,
            "within": self.within,
            "here": self.here,
            "agreement": agreement,
            "reason": reason,
        })
    }
}

/// The columns of a study in a run: values of `judge:` at its end.
pub(crate) fn columns(ran: &Ran) -> Vec<Figure> {
    let execution = &ran.run.execution;
    let values = execution.program.judge.iter().zip(&execution.judged);
    let column = |(value, number): (&JudgeValue, &f64)| {
        let name = value.name.strip_prefix(SHOWN)?.to_owned();
        let unit = value.unit.clone().filter(|unit| unit != "1");
        Some(Figure { name, unit, value: Some(*number) })
    };
    values.filter_map(column).collect()
}
