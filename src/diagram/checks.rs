//! What is recorded and what is checked: paths → places in the arena.

use legwork_block::{
    Diagnostic, Diagnostics, ExpressionSignal, Place, PortTable, SignalPath, SignalResolver, Slot,
    Span, Type, Unit, parse_unit,
};
use legwork_program::{Check, LogChannel, Rate, Ratio, SignalRef, TIME_SLOT};

use crate::expand::{CheckEntry, Env, LogEntry, Tree};
use crate::infer::{TypedNetwork, find_output, unit_text};
use crate::layout::{Layout, source_slots};
use crate::network::{Select, Source};
use crate::path;
use crate::rates::{Rates, ticks};
use crate::select::select;

/// The placed signals, with the names that lead to them.
pub(crate) struct Signals<'n> {
    pub(crate) network: &'n TypedNetwork,
    pub(crate) layout: &'n Layout,
    pub(crate) tree: &'n Tree,
}

/// Without `log:` every output of the diagram's own blocks is recorded, so that a first run shows
/// something; what lies inside masks and copies is not.
pub(crate) fn all_channels(network: &TypedNetwork, layout: &Layout) -> Vec<LogChannel> {
    let mut channels = Vec::new();
    for (block, node) in network.blocks.iter().zip(&layout.nodes) {
        if node.hidden || node.path.contains(['.', '[']) {
            continue;
        }
        for (port, output) in block.declaration.outputs.iter().enumerate() {
            let signal = SignalRef {
                path: format!("{}.{}", node.path, output.name),
                ty: output.ty.clone(),
                unit: unit_text(&output.unit),
                slots: node.io.outputs.port(port).to_vec(),
            };
            channels.push(LogChannel { signal, rate: node.rate });
        }
    }
    channels
}

/// The channels of `log:`.
pub(crate) fn log_channels(
    network: &TypedNetwork,
    layout: &Layout,
    logs: &[LogEntry],
    base: Ratio,
    diagnostics: &mut Diagnostics,
) -> Vec<LogChannel> {
    let outputs = outputs(layout);
    let mut channels = Vec::new();
    for entry in logs {
        let Some(ty) = source_type(network, &entry.source) else { continue };
        let Some(slots) = source_slots(network, &outputs, &entry.source) else { continue };
        let rate = match entry.every {
            None => source_rate(network, layout, &entry.source),
            Some((period, span)) => match ticks(period, base).filter(|period| *period > 0) {
                Some(period) => Rate::Periodic { period, offset: 0 },
                None => {
                    let message = format!("expected a period above zero, found {period}");
                    diagnostics.push(Diagnostic::error("out-of-range", span, message));
                    continue;
                }
            },
        };
        let unit = source_unit(network, &entry.source);
        let signal = SignalRef { path: entry.path.clone(), ty, unit, slots };
        channels.push(LogChannel { signal, rate });
    }
    channels
}

fn outputs(layout: &Layout) -> Vec<PortTable> {
    layout.nodes.iter().map(|node| node.io.outputs.clone()).collect()
}

/// The type of a source whose ports are all known.
fn source_type(network: &TypedNetwork, source: &Source) -> Option<Type> {
    match source {
        Source::Port(path) => {
            let (_, _, output) = find_output(network, path).ok()?;
            Some(select(&output.ty, &path.select, path.span)?.ok()?.ty)
        }
        Source::Array { items, .. } => {
            let of = source_type(network, items.first()?)?;
            Some(Type::array(of, items.len()))
        }
        Source::Join { items, .. } => {
            let (mut element, mut count) = (None, 0);
            for item in items {
                let (of, n) = match source_type(network, item)? {
                    Type::Array(of, n) => (*of, n.known()?),
                    one => (one, 1),
                };
                element.get_or_insert(of);
                count += n;
            }
            Some(Type::array(element?, count))
        }
        Source::Bus { name, .. } => network.named_types.bus(name, &mut 0),
    }
}

/// The unit of a source, if one is known. Elements and slices of a port keep its unit; fields of a
/// bus bring their own.
fn source_unit(network: &TypedNetwork, source: &Source) -> Option<String> {
    match source {
        Source::Port(path) => {
            let (_, _, output) = find_output(network, path).ok()?;
            let of_port = unit_text(&output.unit);
            if path.select.is_empty() {
                return of_port;
            }
            let selected = select(&output.ty, &path.select, path.span)?.ok()?;
            let is_part = !path.select.iter().any(|step| matches!(step, Select::Field(_)));
            selected.unit.or(of_port.filter(|_| is_part))
        }
        Source::Array { items, .. } | Source::Join { items, .. } => {
            source_unit(network, items.first()?)
        }
        Source::Bus { .. } => None,
    }
}

/// When a source can change: at the rate of the one block behind it, else at every step.
fn source_rate(network: &TypedNetwork, layout: &Layout, source: &Source) -> Rate {
    let mut ports = Vec::new();
    source.ports(&mut ports);
    let mut rates = ports
        .iter()
        .filter_map(|port| network.index.get(&port.block))
        .map(|&block| layout.nodes[block].rate);
    match rates.next() {
        Some(first) if rates.all(|rate| rate == first) => first,
        _ => Rate::Continuous,
    }
}

/// Compiles the conditions of `checks:`.
pub(crate) fn compile(
    entries: &[CheckEntry],
    signals: &Signals<'_>,
    env: &Env,
    rates: &Rates,
    diagnostics: &mut Diagnostics,
) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut resolver = Resolver { signals, outputs: outputs(signals.layout) };
    let base = rates.base.to_f64();
    for entry in entries {
        let condition = match entry.expression.compile(env, &mut resolver) {
            Ok(condition) => condition,
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                continue;
            }
        };
        if !condition.is_boolean() {
            diagnostics.push(
                Diagnostic::error(
                    "wrong-type",
                    entry.span,
                    format!("check `{}` expected a condition, found a number", entry.name),
                )
                .hint("compare it: `… > 0.2`"),
            );
            continue;
        }
        // The window's ends are rounded outwards to whole steps.
        let after = (entry.after / base - 1e-9).ceil().max(0.0) as u64;
        let until = (entry.until / base + 1e-9).floor() as u64;
        checks.push(Check {
            name: entry.name.clone(),
            kind: entry.kind,
            condition,
            after,
            until,
            text: entry.text.clone(),
            span: entry.span,
        });
    }
    checks
}

/// Finds the signals of a condition.
struct Resolver<'n> {
    signals: &'n Signals<'n>,
    outputs: Vec<PortTable>,
}

impl SignalResolver for Resolver<'_> {
    fn resolve(&mut self, path: &SignalPath) -> Result<ExpressionSignal, Diagnostic> {
        let text = path.to_string();
        if text == "t" {
            return Ok(ExpressionSignal::Real { slot: TIME_SLOT as u32, unit: Some(Unit::SECOND) });
        }
        let place = Place::from(path.span);
        let signal = path::parse(&text, &place).map_err(|d| at(d, path.span))?;
        let source = self
            .signals
            .tree
            .path_source(0, &signal, true, 0)
            .map_err(|diagnostic| at(*diagnostic, path.span))?;
        let network = self.signals.network;
        self.check_path(&source, path.span)?;
        let (Some(ty), Some(slots)) =
            (source_type(network, &source), source_slots(network, &self.outputs, &source))
        else {
            let message = format!("`{text}` cannot stand in a condition");
            return Err(Diagnostic::error("wrong-type", path.span, message));
        };
        let unit = unit_of(network, &source);
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

impl Resolver<'_> {
    /// The mistakes of a path into a known network: no such output, field or element.
    fn check_path(&self, source: &Source, span: Span) -> Result<(), Diagnostic> {
        let mut ports = Vec::new();
        source.ports(&mut ports);
        for port in ports {
            let (_, _, output) = find_output(self.signals.network, port)
                .map_err(|diagnostic| at(*diagnostic, span))?;
            if let Some(Err(diagnostic)) = select(&output.ty, &port.select, span) {
                return Err(diagnostic);
            }
        }
        Ok(())
    }
}

fn at(diagnostic: Diagnostic, span: Span) -> Diagnostic {
    let mut diagnostic = diagnostic;
    diagnostic.primary.span = span;
    diagnostic
}

fn unit_of(network: &TypedNetwork, source: &Source) -> Option<Unit> {
    let Source::Port(path) = source else { return None };
    let (_, _, output) = find_output(network, path).ok()?;
    let selected = select(&output.ty, &path.select, path.span)?.ok()?;
    let is_part = !path.select.iter().any(|step| matches!(step, Select::Field(_)));
    let text = match (&selected.unit, &output.unit) {
        (Some(text), _) => text.clone(),
        (None, legwork_block::PortUnit::Is(text)) if is_part => text.clone(),
        _ => return None,
    };
    parse_unit(&text).ok().map(|(unit, _)| unit)
}
