//! The values of `judge:`: paths → places in the arena, each value behind the signals of blocks.

use std::collections::BTreeSet;

use legwork_block::{Compiled, Diagnostic, Diagnostics, Expression, Type, Unit, code};
use legwork_program::{JudgeValue, Reduction, SignalRef};

use crate::conditions::{Judged, Readable, Resolver, Windows};
use crate::expand::{JudgeEntry, Tree};

/// Compiles the values of `judge:`, each of which may read those in front of it; the first has the
/// slot `first`. The names of those with mistakes are added to `failed`.
pub(crate) fn compile(
    entries: &[JudgeEntry],
    readable: Readable<'_>,
    first: usize,
    windows: Windows<'_>,
    failed: &mut BTreeSet<String>,
    diagnostics: &mut Diagnostics,
) -> Vec<JudgeValue> {
    let mut values: Vec<JudgeValue> = Vec::new();
    for entry in entries {
        let judged = Judged { values: &values, later: entries, failed };
        let mut resolver = Resolver::new(readable, Tree::ROOT, judged);
        let mut compiled = |expression: &Expression| {
            let found = resolver.program(expression, &entry.env);
            found.map_err(|diagnostic| diagnostics.push(*diagnostic)).ok()
        };
        let of = compiled(&entry.of);
        let when = entry.when.as_ref().map(&mut compiled);
        let (Some(of), false) = (of, matches!(when, Some(None))) else {
            failed.insert(entry.name.clone());
            continue;
        };
        let when: Option<Compiled> = when.flatten();
        let mut wrong = |span, message: &str| {
            let message = format!("`{}`: {message}", entry.name);
            diagnostics.push(Diagnostic::error(code::WRONG_TYPE, span, message));
        };
        let is_time = entry.by.is_some_and(|by| by.is_of_condition());
        if is_time && !of.is_boolean() {
            wrong(entry.span, "expected a condition, found a number");
        }
        if entry.by.is_some() && !is_time && of.is_boolean() {
            wrong(entry.span, "expected a number, found a condition");
        }
        if let (Some(when), Some(at)) = (&when, &entry.when)
            && !when.is_boolean()
        {
            wrong(at.span(), "`when` expected a condition, found a number");
        }
        let unit = match (is_time, entry.by) {
            (true, _) => Some(Unit::SECOND),
            (_, Some(Reduction::Integral)) => of.unit().and_then(|it| it.times(Unit::SECOND)),
            _ => of.unit(),
        };
        let (after, until) = windows(entry.after, entry.until);
        values.push(JudgeValue {
            name: entry.name.clone(),
            by: entry.by,
            of,
            when,
            after,
            until,
            slot: (first + values.len()) as u32,
            unit: unit.map(|unit| unit.as_written().to_string()),
            span: entry.span,
        });
    }
    values
}

/// A value as a signal.
pub(crate) fn signal(value: &JudgeValue) -> SignalRef {
    let is_condition = value.by.is_none() && value.of.is_boolean();
    SignalRef {
        path: value.name.clone(),
        ty: if is_condition { Type::Bool } else { Type::Real },
        unit: value.unit.clone(),
        units: Vec::new(),
        labels: Vec::new(),
        slots: vec![legwork_block::Slot { start: value.slot, len: 1 }],
    }
}
