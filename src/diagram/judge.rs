//! The values of `judge:`: paths → places in the arena, each value behind the signals of blocks.

use legwork_block::{Compiled, Diagnostic, Diagnostics, Expression, Type, Unit};
use legwork_program::{JudgeValue, Reduction, SignalRef};

use crate::checks::{Resolver, Signals};
use crate::expand::{JudgeEntry, Tree};
use crate::rates::Rates;

/// Compiles the values of `judge:`, each of which may read those in front of it.
pub(crate) fn compile(
    entries: &[JudgeEntry],
    signals: &Signals<'_>,
    rates: &Rates,
    diagnostics: &mut Diagnostics,
) -> Vec<JudgeValue> {
    let mut values: Vec<JudgeValue> = Vec::new();
    for entry in entries {
        let frame = Tree::ROOT;
        let mut resolver = Resolver::new(signals, frame, &values, entries);
        let mut compiled = |expression: &Expression| {
            let found = resolver.program(expression, &entry.env);
            found.map_err(|diagnostic| diagnostics.push(*diagnostic)).ok()
        };
        let of = compiled(&entry.of);
        let when = entry.when.as_ref().map(&mut compiled);
        let (Some(of), false) = (of, matches!(when, Some(None))) else { continue };
        let when: Option<Compiled> = when.flatten();
        let mut wrong = |span, message: &str| {
            let message = format!("`{}`: {message}", entry.name);
            diagnostics.push(Diagnostic::error("wrong-type", span, message));
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
        let (after, until) = rates.window(entry.after, entry.until);
        values.push(JudgeValue {
            name: entry.name.clone(),
            by: entry.by,
            of,
            when,
            after,
            until,
            slot: (signals.layout.arena_len + values.len()) as u32,
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
