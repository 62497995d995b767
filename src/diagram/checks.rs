//! What is recorded and what is checked: paths → places in the arena.

use legwork_block::{Compiled, Diagnostic, Diagnostics, Expression, Slot, Span, Type, Unit, code};
use legwork_program::{Check, JudgeValue, LogChannel, Rate, Ratio, SignalRef};

use crate::conditions::{JUDGED_INSIDE, Judged, Readable, Resolver, Windows};
use crate::expand::{CheckEntry, LogEntry, Logged, Tree};
use crate::infer::TypedNetwork;
use crate::judge;
use crate::labels::Labels;
use crate::layout::{Layout, source_slots};
use crate::listing::node_signals;
use crate::network::{PortPart, Source};
use crate::rates::ticks;
use crate::select::{Units, select};

/// The placed signals, with what their elements are called.
pub(crate) struct Signals<'n> {
    pub(crate) typed: &'n TypedNetwork,
    pub(crate) layout: &'n Layout,
    pub(crate) labels: &'n Labels,
}

/// Without `log:` every output of the diagram's own blocks is recorded, so that a first run shows
/// something; what lies inside masks and copies is not.
pub(crate) fn all_channels(signals: &Signals<'_>) -> Vec<LogChannel> {
    let nodes = signals.typed.network.root.blocks.iter().zip(&signals.layout.nodes);
    nodes
        .filter(|(_, node)| !node.hidden && !node.path.contains(['.', '[']))
        .flat_map(|(&block, node)| {
            let channel = |signal| LogChannel { signal, rate: node.rate };
            node_signals(signals, block, node).map(channel)
        })
        .collect()
}

/// The channels of `log:`.
pub(crate) fn log_channels(
    &Signals { typed, layout, labels, .. }: &Signals<'_>,
    logs: &[LogEntry],
    judge: &[JudgeValue],
    base: Ratio,
    diagnostics: &mut Diagnostics,
) -> Vec<LogChannel> {
    let mut channels = Vec::new();
    for entry in logs {
        let (signal, own_rate) = match &entry.source {
            // What has mistakes of its own is missing.
            Logged::Judged(value) => match judge.get(*value) {
                Some(value) => (judge::signal(value), Rate::Continuous),
                None => continue,
            },
            Logged::Port(source) => {
                let Some(ty) = source_type(typed, source) else { continue };
                let Some(slots) = placed(typed, layout, source) else { continue };
                let Units { one: unit, each: units } = source_units(typed, source);
                let (path, labels) = (entry.path.clone(), labels.of_source(typed, source));
                let signal = SignalRef { path, ty, unit, units, labels, slots };
                (signal, source_rate(typed, layout, source))
            }
        };
        let rate = match entry.every {
            None => own_rate,
            Some((period, span)) => match ticks(period, base).filter(|period| *period > 0) {
                Some(period) => Rate::Periodic { period, offset: 0 },
                None => {
                    let message = format!("expected a period above zero, found {period}");
                    diagnostics.push(Diagnostic::error(code::OUT_OF_RANGE, span, message));
                    continue;
                }
            },
        };
        channels.push(LogChannel { signal, rate });
    }
    channels
}

/// Where a source lives.
pub(crate) fn placed(typed: &TypedNetwork, layout: &Layout, source: &Source) -> Option<Vec<Slot>> {
    source_slots(typed, source, &|node, port| layout.nodes[node].io.outputs.port(port))
}

/// The type of a source whose ports are all known.
pub(crate) fn source_type(typed: &TypedNetwork, source: &Source) -> Option<Type> {
    match source {
        Source::Port(part) => {
            Some(select(&typed.output(part).ty, &part.select, part.span)?.ok()?.ty)
        }
        Source::Array { items, .. } => {
            let of = source_type(typed, items.first()?)?;
            Some(Type::array(of, items.len()))
        }
        Source::Join { items, .. } => {
            let (mut element, mut count) = (None, 0);
            for item in items {
                let (of, n) = match source_type(typed, item)? {
                    Type::Array(of, n) => (*of, n.known()?),
                    one => (one, 1),
                };
                element.get_or_insert(of);
                count += n;
            }
            Some(Type::array(element?, count))
        }
        Source::Bus { ty, .. } => Some(ty.clone()),
        Source::Broken(_) => None,
    }
}

/// The units of a source, as far as they are known. Elements and slices of a port keep its unit;
/// fields of a bus bring their own.
pub(crate) fn source_units(typed: &TypedNetwork, source: &Source) -> Units {
    match source {
        Source::Port(part) => port_units(typed, part).unwrap_or_default(),
        Source::Array { items, .. } | Source::Join { items, .. } => {
            let one = items.first().and_then(|first| source_units(typed, first).one);
            Units { one, each: Vec::new() }
        }
        Source::Bus { .. } | Source::Broken(_) => Units::default(),
    }
}

pub(crate) fn port_units(typed: &TypedNetwork, part: &PortPart) -> Option<Units> {
    let output = typed.output(part);
    let selected = select(&output.ty, &part.select, part.span)?.ok()?;
    if selected.units.is_known() || !part.is_slice() {
        return Some(selected.units);
    }
    Some(match selected.part {
        Some((start, len)) => output.units.part(start..start + len),
        None => output.units.clone(),
    })
}

/// When a source can change: at the rate of the one block behind it, else at every step.
fn source_rate(typed: &TypedNetwork, layout: &Layout, source: &Source) -> Rate {
    let mut rates = Vec::new();
    source.each_port(&mut |port| rates.push(layout.nodes[typed.network.node(port.block)].rate));
    match rates.first() {
        Some(first) if rates.iter().all(|rate| rate == first) => *first,
        _ => Rate::Continuous,
    }
}

/// Compiles the conditions of `checks:`.
pub(crate) fn compile(
    entries: &[CheckEntry],
    judged: Judged<'_>,
    readable: Readable<'_>,
    windows: Windows<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<Check> {
    let mut checks = Vec::new();
    for entry in entries {
        // A diagram inside has no values: its `judge:` is not evaluated.
        let judged = if entry.frame == Tree::ROOT { judged } else { Judged::NONE };
        let mut resolver = Resolver::new(readable, entry.frame, judged);
        let mut condition = |expression: &Expression, at: Span, has_tolerance: bool| {
            let found = match has_tolerance {
                true => resolver.with_tolerance(expression, &entry.env),
                false => resolver.program(expression, &entry.env),
            };
            let report = |mut diagnostic: Box<Diagnostic>| {
                if diagnostic.code == JUDGED_INSIDE {
                    let name = &entry.name;
                    let message = &diagnostic.message;
                    let message = format!("check `{name}` is not evaluated: {message}");
                    let span = diagnostic.primary.span;
                    *diagnostic = Diagnostic::warning(JUDGED_INSIDE, span, message);
                }
                diagnostics.push(*diagnostic);
            };
            let condition = found.map_err(report).ok()?;
            if !condition.is_boolean() {
                let message =
                    format!("check `{}` expected a condition, found a number", entry.name);
                let found = Diagnostic::error(code::WRONG_TYPE, at, message);
                diagnostics.push(found.hint("compare it: `… > 0.2`"));
                return None;
            }
            Some(condition)
        };
        let when = entry.when.as_ref().map(|when| condition(when, when.span(), false));
        let that = condition(&entry.expression, entry.span, entry.tolerance.is_some());
        let (Some(that), false) = (that, when == Some(None)) else { continue };
        if that.slots().next().is_none() {
            let message = format!("check `{}` reads no signal: it never changes", entry.name);
            let hint = "a signal is its path without quotes: `=plant.y < 0.2`; what parameters \
                        may be is said by `Param(min:, max:)`";
            diagnostics
                .push(Diagnostic::warning(code::CONSTANT_CHECK, entry.span, message).hint(hint));
        }
        let Some(tolerance) = tolerance(entry, &that, diagnostics) else { continue };
        let (after, until) = windows(entry.after, entry.until);
        checks.push(Check {
            name: entry.name.clone(),
            kind: entry.kind,
            condition: that,
            when: when.flatten(),
            tolerance,
            after,
            until,
            text: entry.text.clone(),
            span: entry.span,
        });
    }
    checks
}

/// The tolerance of a check, 0 without one; nothing if it does not fit what is compared.
fn tolerance(entry: &CheckEntry, that: &Compiled, diagnostics: &mut Diagnostics) -> Option<f64> {
    let Some(((value, unit), span)) = entry.tolerance else { return Some(0.0) };
    let mut wrong = |message: String| {
        diagnostics.push(Diagnostic::error(code::BAD_TOLERANCE, span, message));
        None
    };
    if !(value >= 0.0 && value.is_finite()) {
        return wrong(format!("expected a tolerance from 0 up, found {value}"));
    }
    let mut units: Vec<Unit> = Vec::new();
    let mut is_compared = false;
    for compared in that.compared_units() {
        is_compared = true;
        units.extend(compared.filter(|unit| !units.iter().any(|known| known.agrees(*unit))));
    }
    if !is_compared {
        let message = "a tolerance is for comparisons of numbers, and the condition has none";
        return wrong(message.to_owned());
    }
    if let ([first, others @ .., last], true) = (units.as_slice(), value > 0.0)
        && first != last
    {
        let others: String = others.iter().map(|unit| format!(", {}", in_unit(*unit))).collect();
        let (first, last) = (in_unit(*first), in_unit(*last));
        let message = format!(
            "the condition compares values {first}{others} and {last}, and a tolerance has one unit"
        );
        let hint = "make a check of each comparison, with a tolerance of its own";
        diagnostics.push(Diagnostic::error(code::BAD_TOLERANCE, span, message).hint(hint));
        return None;
    }
    let Some(&compared) = units.first() else { return Some(value) };
    match unit {
        Some(unit) if !compared.agrees(unit) => {
            wrong(format!("expected a tolerance in {compared}, found one in {unit}"))
        }
        None if value > 0.0 && compared != Unit::ONE => {
            let message = format!("expected a tolerance in {compared}, found {value}");
            let hint = format!("with its unit: tolerance: \"{} {compared}\"", short(value));
            diagnostics.push(Diagnostic::error(code::BAD_TOLERANCE, span, message).hint(hint));
            None
        }
        _ => Some(value),
    }
}

/// `in m`, `without unit`.
fn in_unit(unit: Unit) -> String {
    if unit == Unit::ONE { "without unit".to_owned() } else { format!("in {unit}") }
}

/// A number as one would write it: `0.1`, `1e-9`.
fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}
