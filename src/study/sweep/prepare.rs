//! From cells to programs.

use legwork_block::{Diagnostic, Severity, nearest};

use super::axes::{Axis, Cell, Kind};
use crate::cancel::Cancel;
use crate::diagram::{Compilation, Diagram};
use crate::error::{Error, ErrorKind};
use crate::findings::Findings;
use crate::model::Model;
use crate::pool;

/// Name of the source that the path of an override is.
const SET_PATH: &str = "<--set path>";

/// A cell before its run.
pub(super) enum Prepared {
    Ready(Box<Model>),
    /// Its diagram has errors; they in words.
    Wrong(String),
    /// Somebody cancelled the sweep before.
    Skipped,
}

impl Prepared {
    pub(super) fn is_wrong(&self) -> bool {
        matches!(self, Self::Wrong(_))
    }

    pub(super) fn model(&self) -> Option<&Model> {
        match self {
            Self::Ready(model) => Some(model),
            Self::Wrong(_) | Self::Skipped => None,
        }
    }
}

/// Compiles every cell; none after somebody cancelled.
pub(super) fn compile_all(
    diagram: &Diagram,
    cells: &[Cell],
    at_a_time: usize,
    cancel: &Cancel,
) -> Vec<Option<Compilation>> {
    pool::map(cells.iter().collect(), at_a_time, |cell: &Cell| {
        let compile = || diagram.clone().with_options(cell.options.clone()).compile();
        (!cancel.is_cancelled()).then(compile)
    })
}

/// The mistake that an axis names nothing of the diagram in any cell.
pub(super) fn unknown_axis(
    axes: &[Axis],
    variants: &[(String, Vec<String>)],
    attempts: &[Option<Compilation>],
) -> Option<Error> {
    axes.iter().filter(|axis| axis.kind == Kind::Setting).find_map(|axis| {
        let mistake = |attempt: &'_ Option<Compilation>| {
            let compiled = attempt.as_ref()?;
            let sources = &compiled.sources;
            let is_it = |found: &&Diagnostic| {
                let file = found.primary.span.file;
                found.severity == Severity::Error
                    && sources.name(file) == SET_PATH
                    && sources.text(file) == axis.name
            };
            compiled.diagnostics.iter().find(is_it).cloned()
        };
        let mistakes = attempts.iter().map(mistake).collect::<Option<Vec<Diagnostic>>>()?;
        let first = mistakes.into_iter().next()?;
        let names = variants.iter().map(|(name, _)| name.as_str());
        let advice = match nearest(&axis.name, names) {
            Some(near) => format!("; did you mean the variant `{near}`?"),
            None => first.hints.first().map_or(String::new(), |hint| format!("; {hint}")),
        };
        let message = format!("no axis `{}`: {}{advice}", axis.name, first.message);
        Some(Error::new(ErrorKind::Diagram, message))
    })
}

/// The cells that can run and those that cannot, and all that was found wrong.
pub(super) fn sort(
    cells: &[Cell],
    attempts: Vec<Option<Compilation>>,
) -> (Vec<Prepared>, Findings) {
    let mut findings = Findings::default();
    let mut prepared = Vec::with_capacity(cells.len());
    let compiled = attempts.iter().flatten().count();
    for (cell, attempt) in cells.iter().zip(attempts) {
        let Some(Compilation { model, diagnostics, sources, .. }) = attempt else {
            prepared.push(Prepared::Skipped);
            continue;
        };
        let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error);
        let errors: Vec<String> = errors.map(|found| found.message.clone()).collect();
        findings.add(diagnostics, &sources, Some(&cell.name));
        prepared.push(match model {
            Some(model) => Prepared::Ready(Box::new(model)),
            None => Prepared::Wrong(errors.join("; ")),
        });
    }
    findings.forget_choices_of_all(compiled);
    (prepared, findings)
}
