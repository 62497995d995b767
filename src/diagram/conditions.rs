//! The programs of conditions, metrics and values: their paths → places in the arena.

use std::collections::BTreeSet;

use legwork_block::{
    Compiled, Diagnostic, Expression, ExpressionSignal, Place, Programs, Scope, SignalPath,
    SignalResolver, Slot, Span, SymbolicUnit, Type, Unit, Var, code, parse_unit,
};
use legwork_program::{JudgeValue, TIME_SLOT};

use crate::checks::{placed, port_units, source_type};
use crate::expand::{JudgeEntry, Names, Resolver as Paths};
use crate::ids::{BlockId, FrameId};
use crate::infer::TypedNetwork;
use crate::layout::Layout;
use crate::network::Source;
use crate::path;
use crate::select::select;
use crate::units::check_alone;

/// What is said of a check that reads the section `judge:` of a diagram inside.
pub(crate) const JUDGED_INSIDE: code::Code = code::JUDGE_OF_PART;

/// Elements up to which those of a vector without known unit may have several.
const MOST_UNITS: u32 = 256;

/// The ends of a window [s] in ticks.
pub(crate) type Windows<'w> = &'w dyn Fn(f64, f64) -> (u64, u64);

/// The signals that conditions may read, with the names that lead to them.
#[derive(Clone, Copy)]
pub(crate) struct Readable<'n> {
    pub(crate) typed: &'n TypedNetwork,
    pub(crate) names: &'n Names,
    pub(crate) places: Places<'n>,
}

/// Where signals are.
#[derive(Clone, Copy)]
pub(crate) enum Places<'n> {
    /// Each has its place.
    Layout(&'n Layout),
    /// None has one, as the diagram has mistakes; what these blocks compute is not known.
    Nowhere(&'n BTreeSet<BlockId>),
}

impl Places<'_> {
    /// Whether what a source carries follows from mistakes.
    fn is_broken(self, source: &Source) -> bool {
        let Self::Nowhere(broken) = self else { return false };
        let mut reads_broken = false;
        source.each_port(&mut |part| reads_broken |= broken.contains(&part.block));
        reads_broken
    }

    /// The slots of a source of this type.
    fn slots(self, typed: &TypedNetwork, source: &Source, ty: &Type) -> Option<Vec<Slot>> {
        match self {
            Self::Layout(layout) => placed(typed, layout, source),
            // Which ones does not matter: nothing runs.
            Self::Nowhere(_) => {
                let leaves = ty.leaves()?;
                Some(leaves.iter().map(|&len| Slot { start: 0, len: len as u32 }).collect())
            }
        }
    }
}

/// What conditions see of `judge:`.
#[derive(Clone, Copy)]
pub(crate) struct Judged<'n> {
    /// The values that are known.
    pub(crate) values: &'n [JudgeValue],
    /// Others, which are not yet.
    pub(crate) later: &'n [JudgeEntry],
    /// The names of those with mistakes, which are reported.
    pub(crate) failed: &'n BTreeSet<String>,
}

impl Judged<'_> {
    /// Nothing.
    pub(crate) const NONE: Self = Self { values: &[], later: &[], failed: &BTreeSet::new() };
}

/// Finds the signals of a condition.
pub(crate) struct Resolver<'n> {
    readable: Readable<'n>,
    /// Where its paths are read.
    frame: FrameId,
    judged: Judged<'n>,
    /// How many units of signals are not known in the expression at hand.
    unknowns: u32,
}

impl<'n> Resolver<'n> {
    pub(crate) fn new(readable: Readable<'n>, frame: FrameId, judged: Judged<'n>) -> Self {
        Self { readable, frame, judged, unknowns: 0 }
    }

    /// The program of an expression, whose units fit.
    pub(crate) fn program(
        &mut self,
        expression: &Expression,
        scope: &dyn Scope,
    ) -> Result<Compiled, Box<Diagnostic>> {
        self.unknowns = 0;
        let found = expression.programs(scope, self).map_err(Box::new)?;
        self.one(found, expression.span())
    }

    /// As [`Self::program`], of a condition with a tolerance, which holds for constants too.
    pub(crate) fn with_tolerance(
        &mut self,
        expression: &Expression,
        scope: &dyn Scope,
    ) -> Result<Compiled, Box<Diagnostic>> {
        self.unknowns = 0;
        match expression.condition(scope, self) {
            Ok(found) => self.one(found, expression.span()),
            // A part that does not matter may have mistakes.
            Err(_) => self.program(expression, scope),
        }
    }

    /// The one program of an expression.
    fn one(&self, mut found: Programs, span: Span) -> Result<Compiled, Box<Diagnostic>> {
        let count = found.programs.len();
        let program = match (found.is_list, found.programs.pop()) {
            (false, Some(program)) => program,
            _ => {
                let message =
                    format!("expected a number or a truth value, found a list of {count}");
                return Err(Box::new(Diagnostic::error(code::EXPRESSION_TYPE, span, message)));
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
        if let Some(value) = self.judged.values.iter().find(|value| value.name == text) {
            let unit = value.unit.as_deref().and_then(|unit| parse_unit(unit).ok());
            return Ok(match value.by.is_none() && value.of.is_boolean() {
                true => ExpressionSignal::Bool { slot: value.slot },
                false => {
                    let unit = self.unit(unit.map(|(unit, _)| unit));
                    ExpressionSignal::Real { slot: value.slot, unit }
                }
            });
        }
        if self.judged.failed.contains(&text) {
            return Err(follows(path.span));
        }
        if self.judged.later.iter().any(|value| value.name == text) {
            let message = format!("`{text}` does not stand above in `judge:`");
            return Err(Diagnostic::error(code::JUDGE_ORDER, path.span, message)
                .hint("each value reads those above it, in the order of the file"));
        }
        if self.readable.names.is_judged_inside(self.frame, &text) {
            let message = format!("`{text}` is in `judge:` of a diagram inside");
            return Err(Diagnostic::error(JUDGED_INSIDE, path.span, message));
        }
        let place = Place::from(path.span);
        let signal = path::parse(&text, &place).map_err(|d| at(d, path.span))?;
        let Readable { typed, names, places } = self.readable;
        let paths = Paths { tree: &names.tree, blocks: &typed.network.blocks };
        let source = match paths.path_source(self.frame, &signal, true, 0) {
            Ok(source) => source,
            Err(unresolved) => {
                return Err(match unresolved.diagnostic() {
                    Some(found) => at(found, path.span),
                    None => follows(path.span),
                });
            }
        };
        if places.is_broken(&source) {
            return Err(follows(path.span));
        }
        check_parts(typed, &source, path.span)?;
        let ty = source_type(typed, &source);
        let slots = ty.as_ref().and_then(|ty| places.slots(typed, &source, ty));
        let (Some(ty), Some(slots)) = (ty, slots) else {
            let message = format!("`{text}` cannot be used in a condition");
            let found = Diagnostic::error(code::WRONG_TYPE, path.span, message);
            // In a network with mistakes types may be open.
            return Err(Diagnostic { follows: matches!(places, Places::Nowhere(_)), ..found });
        };
        let known = unit_of(typed, &source);
        let slot = slots.first().copied().unwrap_or_default();
        if let (Type::Vector(_), None, 2..=MOST_UNITS) = (&ty, known, slot.len) {
            let slots = slot.start..slot.start + slot.len;
            let item = |slot| ExpressionSignal::Real { slot, unit: self.unit(None) };
            return Ok(ExpressionSignal::List(slots.map(item).collect()));
        }
        let unit = self.unit(known);
        match ty {
            Type::Real | Type::Int => Ok(ExpressionSignal::Real { slot: slot.start, unit }),
            Type::Bool => Ok(ExpressionSignal::Bool { slot: slot.start }),
            Type::Vector(_) | Type::Matrix(..) | Type::Rotation | Type::Pose => {
                let Slot { start, len } = slot;
                Ok(ExpressionSignal::Run { start, len, unit })
            }
            other => Err(Diagnostic::error(
                code::WRONG_TYPE,
                path.span,
                format!("expected a number or a vector, found {other}: `{text}`"),
            )
            .hint("name a field of it")),
        }
    }

    fn is_start(&self, name: &str) -> bool {
        self.readable.names.tree.is_block(self.frame, name)
    }
}

/// What is not reported, as it follows from a mistake that is.
fn follows(span: Span) -> Diagnostic {
    Diagnostic { follows: true, ..Diagnostic::error(code::FOLLOWS, span, "follows from a mistake") }
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
