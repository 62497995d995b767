//! From cells to programs.

use std::path::PathBuf;
use std::time::Instant;

use legwork_block::{Diagnostic, Registry, Severity, nearest};
use legwork_diagram::Compiled;
use legwork_diagram::render::{SourceMap, to_json};
use legwork_program::Program;
use legwork_runtime::recording::Metadata;
use serde_json::Value;

use super::super::answer::{Code, Failure};
use super::super::check::Findings;
use super::super::run::metadata;
use super::super::source::Source;
use super::super::{interrupt, pool};
use super::axes::{Axis, Cell, Kind};

/// Name of the source that the path of an override is.
const SET_PATH: &str = "<--set path>";

/// What compilation gave, with the files that were read and what it took [s].
pub(super) struct Attempt {
    compiled: Compiled,
    files: Vec<(PathBuf, Vec<u8>)>,
    took: f64,
}

/// A cell's program, and what is known of it.
pub(super) struct Ready {
    pub(super) program: Program,
    pub(super) sources: SourceMap,
    pub(super) metadata: Metadata,
    /// Warnings, as JSON.
    pub(super) diagnostics: Value,
    /// What compilation took [s].
    pub(super) compile_time: f64,
}

/// A cell before its run.
pub(super) enum Prepared {
    Ready(Box<Ready>),
    /// Its diagram has errors; they in words.
    Wrong(String),
    /// Ctrl-C came first.
    Skipped,
}

impl Prepared {
    pub(super) fn is_wrong(&self) -> bool {
        matches!(self, Self::Wrong(_))
    }

    pub(super) fn program(&self) -> Option<&Program> {
        match self {
            Self::Ready(ready) => Some(&ready.program),
            Self::Wrong(_) | Self::Skipped => None,
        }
    }
}

/// Compiles every cell; none where Ctrl-C came first.
pub(super) fn compile_all(
    source: &Source,
    cells: &[Cell],
    at_a_time: usize,
    registry: &Registry,
) -> Vec<Option<Attempt>> {
    pool::map(cells.iter().collect(), at_a_time, |cell: &Cell| {
        if interrupt::is_requested() {
            return None;
        }
        let before = Instant::now();
        let (compiled, files) = source.compile_and_keep(&cell.options, registry);
        Some(Attempt { compiled, files, took: before.elapsed().as_secs_f64() })
    })
}

/// The mistake that an axis names nothing of the diagram in any cell.
pub(super) fn unknown_axis(
    axes: &[Axis],
    variants: &[(String, Vec<String>)],
    attempts: &[Option<Attempt>],
) -> Option<Failure> {
    axes.iter().filter(|axis| axis.kind == Kind::Setting).find_map(|axis| {
        let slip = |attempt: &'_ Option<Attempt>| {
            let compiled = &attempt.as_ref()?.compiled;
            let sources = &compiled.sources;
            let is_it = |found: &&Diagnostic| {
                let file = found.primary.span.file;
                found.severity == Severity::Error
                    && sources.name(file) == SET_PATH
                    && sources.text(file) == axis.name
            };
            compiled.diagnostics.iter().find(is_it).cloned()
        };
        let slips = attempts.iter().map(slip).collect::<Option<Vec<Diagnostic>>>()?;
        let first = slips.into_iter().next()?;
        let names = variants.iter().map(|(name, _)| name.as_str());
        let advice = match nearest(&axis.name, names) {
            Some(near) => format!("; did you mean the variant `{near}`?"),
            None => first.hints.first().map_or(String::new(), |hint| format!("; {hint}")),
        };
        let message = format!("no axis `{}`: {}{advice}", axis.name, first.message);
        Some(Failure { code: Code::Diagram, message })
    })
}

/// The cells that can run and those that cannot, and all that was found wrong.
pub(super) fn sort(
    source: &Source,
    cells: &[Cell],
    attempts: Vec<Option<Attempt>>,
) -> (Vec<Prepared>, Findings) {
    let mut findings = Findings::default();
    let mut prepared = Vec::with_capacity(cells.len());
    let compiled = attempts.iter().flatten().count();
    for (cell, attempt) in cells.iter().zip(attempts) {
        let Some(Attempt { compiled, files, took }) = attempt else {
            prepared.push(Prepared::Skipped);
            continue;
        };
        let Compiled { program, diagnostics, sources, .. } = compiled;
        let listed = to_json(&diagnostics, &sources);
        let errors: Vec<String> = diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Error)
            .map(|found| found.message.clone())
            .collect();
        findings.add(diagnostics, sources.clone(), Some(&cell.name));
        prepared.push(match program {
            Some(program) => Prepared::Ready(Box::new(Ready {
                metadata: metadata(source, &cell.options, &program, &files),
                program,
                sources,
                diagnostics: listed,
                compile_time: took,
            })),
            None => Prepared::Wrong(errors.join("; ")),
        });
    }
    findings.forget_choices_of_all(compiled);
    (prepared, findings)
}
