//! What is recorded and what is checked: paths → places in the arena.

use legwork_block::{
    Compiled, Diagnostic, Diagnostics, Expression, ExpressionSignal, Place, Scope, SignalPath,
    SignalResolver, Slot, Span, SymbolicUnit, Type, Unit, Var, parse_unit,
};
use legwork_program::{Check, JudgeValue, LogChannel, Rate, Ratio, SignalRef, TIME_SLOT};

use crate::expand::{CheckEntry, JudgeEntry, LogEntry, Logged, Names, Resolver as Paths, Tree};
use crate::ids::FrameId;
use crate::infer::TypedNetwork;
use crate::judge;
use crate::labels::Labels;
use crate::layout::{Layout, source_slots};
use crate::listing::node_signals;
use crate::network::{PortPart, Source};
use crate::path;
use crate::rates::{Rates, ticks};
use crate::select::{Units, select};
use crate::units::check_alone;

/// The placed signals, with the names that lead to them.
pub(crate) struct Signals<'n> {
    pub(crate) typed: &'n TypedNetwork,
    pub(crate) layout: &'n Layout,
    pub(crate) labels: &'n Labels,
    pub(crate) names: &'n Names,
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
                    diagnostics.push(Diagnostic::error("out-of-range", span, message));
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

fn port_units(typed: &TypedNetwork, part: &PortPart) -> Option<Units> {
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
    judge: &[JudgeValue],
    signals: &Signals<'_>,
    rates: &Rates,
    diagnostics: &mut Diagnostics,
) -> Vec<Check> {
    let mut checks = Vec::new();
    for entry in entries {
        // A diagram inside has no values: its `judge:` is not evaluated.
        let judge = if entry.frame == Tree::ROOT { judge } else { &[] };
        let frame = entry.frame;
        let mut resolver = Resolver::new(signals, frame, judge, &[]);
        let mut condition = |expression: &Expression, at: Span| {
            let found = resolver.program(expression, &entry.env);
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
                let found = Diagnostic::error("wrong-type", at, message);
                diagnostics.push(found.hint("compare it: `… > 0.2`"));
                return None;
            }
            Some(condition)
        };
        let when = entry.when.as_ref().map(|when| condition(when, when.span()));
        let that = condition(&entry.expression, entry.span);
        let (Some(that), false) = (that, when == Some(None)) else { continue };
        if that.slots().next().is_none() {
            let message = format!("check `{}` reads no signal: it never changes", entry.name);
            let hint = "a signal is its path without quotes: `=plant.y < 0.2`; what parameters \
                        may be is said by `Param(min:, max:)`";
            diagnostics.push(Diagnostic::warning("constant-check", entry.span, message).hint(hint));
        }
        let Some(tolerance) = tolerance(entry, &that, diagnostics) else { continue };
        let (after, until) = rates.window(entry.after, entry.until);
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
        diagnostics.push(Diagnostic::error("bad-tolerance", span, message));
        None
    };
    if !(value >= 0.0 && value.is_finite()) {
        return wrong(format!("expected a tolerance from 0 up, found {value}"));
    }
    if that.compared_units().next().is_none() {
        return wrong("a tolerance is for comparisons, and the condition has none".to_owned());
    }
    for compared in that.compared_units() {
        match (compared, unit) {
            (Some(compared), Some(unit)) if !compared.agrees(unit) => {
                return wrong(format!("expected a tolerance in {compared}, found one in {unit}"));
            }
            (Some(compared), None) if value > 0.0 && compared != Unit::ONE => {
                let message = format!("expected a tolerance in {compared}, found {value}");
                let hint = format!("with its unit: tolerance: \"{value:e} {compared}\"");
                diagnostics.push(Diagnostic::error("bad-tolerance", span, message).hint(hint));
                return None;
            }
            _ => {}
        }
    }
    Some(value)
}

/// What is said of a check that reads the section `judge:` of a diagram inside.
const JUDGED_INSIDE: &str = "judge-of-part";

/// Finds the signals of a condition.
pub(crate) struct Resolver<'n> {
    pub(crate) signals: &'n Signals<'n>,
    /// Where its paths are read.
    pub(crate) frame: FrameId,
    /// The values of `judge:` that are known.
    pub(crate) judge: &'n [JudgeValue],
    /// Others, which are not yet.
    pub(crate) later: &'n [JudgeEntry],
    /// How many units of signals are not known in the expression at hand.
    unknowns: u32,
}

impl<'n> Resolver<'n> {
    pub(crate) fn new(
        signals: &'n Signals<'n>,
        frame: FrameId,
        judge: &'n [JudgeValue],
        later: &'n [JudgeEntry],
    ) -> Self {
        Self { signals, frame, judge, later, unknowns: 0 }
    }

    /// The program of an expression, whose units fit.
    pub(crate) fn program(
        &mut self,
        expression: &Expression,
        scope: &dyn Scope,
    ) -> Result<Compiled, Box<Diagnostic>> {
        self.unknowns = 0;
        let mut found = expression.programs(scope, self).map_err(Box::new)?;
        let count = found.programs.len();
        let program = match (found.is_list, found.programs.pop()) {
            (false, Some(program)) => program,
            _ => {
                let message =
                    format!("expected a number or a truth value, found a list of {count}");
                let span = expression.span();
                return Err(Box::new(Diagnostic::error("expression-type", span, message)));
            }
        };
        check_alone(found, self.unknowns)?;
        Ok(program)
    }

    /// The unit of a signal; what is not known stays open.
    fn unit(&mut self, unit: Option<Unit>) -> Option<SymbolicUnit> {
        Some(match unit {
            Some(unit) => unit.into(),
            None => {
                self.unknowns += 1;
                SymbolicUnit::from(Var(self.unknowns - 1))
            }
        })
    }
}

impl SignalResolver for Resolver<'_> {
    fn resolve(&mut self, path: &SignalPath) -> Result<ExpressionSignal, Diagnostic> {
        let text = path.to_string();
        if text == "t" {
            return Ok(ExpressionSignal::Real {
                slot: TIME_SLOT as u32,
                unit: Some(Unit::SECOND.into()),
            });
        }
        if let Some(value) = self.judge.iter().find(|value| value.name == text) {
            let unit = value.unit.as_deref().and_then(|unit| parse_unit(unit).ok());
            return Ok(match value.by.is_none() && value.of.is_boolean() {
                true => ExpressionSignal::Bool { slot: value.slot },
                false => {
                    let unit = self.unit(unit.map(|(unit, _)| unit));
                    ExpressionSignal::Real { slot: value.slot, unit }
                }
            });
        }
        if self.later.iter().any(|value| value.name == text) {
            let message = format!("`{text}` does not stand above in `judge:`");
            return Err(Diagnostic::error("judge-order", path.span, message)
                .hint("each value reads those above it, in the order of the file"));
        }
        if self.signals.names.is_judged_inside(self.frame, &text) {
            let message = format!("`{text}` is in `judge:` of a diagram inside");
            return Err(Diagnostic::error(JUDGED_INSIDE, path.span, message));
        }
        let place = Place::from(path.span);
        let signal = path::parse(&text, &place).map_err(|d| at(d, path.span))?;
        let &Signals { typed, layout, names, .. } = self.signals;
        let paths = Paths { tree: &names.tree, blocks: &typed.network.blocks };
        let source = match paths.path_source(self.frame, &signal, true, 0) {
            Ok(source) => source,
            // Nothing is reported of a network that is typed.
            Err(unresolved) => {
                let message = format!("`{text}` has mistakes of its own");
                let found = unresolved
                    .diagnostic()
                    .unwrap_or_else(|| Diagnostic::error("bad-path", path.span, message));
                return Err(at(found, path.span));
            }
        };
        check_parts(typed, &source, path.span)?;
        let (Some(ty), Some(slots)) = (source_type(typed, &source), placed(typed, layout, &source))
        else {
            let message = format!("`{text}` cannot be used in a condition");
            return Err(Diagnostic::error("wrong-type", path.span, message));
        };
        let unit = self.unit(unit_of(typed, &source));
        let slot = slots.first().copied().unwrap_or_default();
        match ty {
            Type::Real | Type::Int => Ok(ExpressionSignal::Real { slot: slot.start, unit }),
            Type::Bool => Ok(ExpressionSignal::Bool { slot: slot.start }),
            Type::Vector(_) | Type::Matrix(..) | Type::Rotation | Type::Pose => {
                let Slot { start, len } = slot;
                Ok(ExpressionSignal::Run { start, len, unit })
            }
            other => Err(Diagnostic::error(
                "wrong-type",
                path.span,
                format!("expected a number or a vector, found {other}: `{text}`"),
            )
            .hint("name a field of it")),
        }
    }
}

/// The mistakes of a path into a known network: no such field or element.
fn check_parts(typed: &TypedNetwork, source: &Source, span: Span) -> Result<(), Diagnostic> {
    let mut checked = Ok(());
    source.each_port(&mut |part| {
        let selected = select(&typed.output(part).ty, &part.select, span);
        if let (Ok(()), Some(Err(found))) = (&checked, selected) {
            checked = Err(found);
        }
    });
    checked
}

fn at(diagnostic: Diagnostic, span: Span) -> Diagnostic {
    let mut diagnostic = diagnostic;
    diagnostic.primary.span = span;
    diagnostic
}

fn unit_of(typed: &TypedNetwork, source: &Source) -> Option<Unit> {
    let Source::Port(part) = source else { return None };
    parse_unit(&port_units(typed, part)?.one?).ok().map(|(unit, _)| unit)
}
