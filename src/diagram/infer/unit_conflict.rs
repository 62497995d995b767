//! Units that do not agree: the message, and the origins of the units.

use std::collections::{BTreeSet, VecDeque};

use legwork_block::quantity::turns_hint;
use legwork_block::{Diagnostic, Span, SymbolicUnit, Unit, Var, code};

use super::Inference;
use crate::expand::Assertion;
use crate::network::{Source, source_text};
use crate::units::{Cause, Clash, UnitTerm};

/// Largest number of origins of a unit in a message.
const ORIGINS: usize = 3;
/// Largest number of unknowns that the search for origins follows.
const WAY: usize = 500;

/// Origin of a unit in a conflict.
struct Origin {
    span: Span,
    text: String,
}

impl Inference<'_> {
    /// Error for two units that do not agree: both, their origins, and factors without unit between
    /// them.
    pub(super) fn unit_conflict(
        &mut self,
        cause: Cause,
        left: &UnitTerm,
        right: &UnitTerm,
        clash: &Clash,
        span: Span,
    ) -> Diagnostic {
        let name = match cause {
            Cause::Wire(block, input) => {
                let block = &self.network.blocks[block];
                format!("`{}.{}`", block.path, block.declaration.inputs[input].name)
            }
            Cause::Parts(block, output) => {
                let block = &self.network.blocks[block];
                format!("`{}.{}`", block.path, block.declaration.outputs[output].name)
            }
            Cause::Equation(block, _) => format!("`{}`", self.network.blocks[block].path),
            Cause::Declared(index) => self.declared[index].what.clone(),
            Cause::Place(_) | Cause::Bare(_) => "a part of a bus".to_owned(),
        };
        // If the units agree only with a unit for a bare factor, the message shows them without it.
        let differ = match clash {
            Clash::Differ(left, right) => Some((*left, *right)),
            Clash::Bare(..) => {
                let plain = |unit: &UnitTerm| match unit {
                    UnitTerm::Of(unit) => self.solution.units.without_bare(unit),
                    UnitTerm::Unspecified => None,
                };
                plain(left).zip(plain(right)).filter(|(left, right)| !left.agrees(*right))
            }
            _ => None,
        };
        let error = |message: String| Diagnostic::error(code::UNIT_MISMATCH, span, message);
        let mut diagnostic = match (differ, clash, cause) {
            (Some((left, right)), _, Cause::Equation(block, index)) => {
                let equation = &self.network.blocks[block].declaration.unit_equations[index];
                let found = equation.rule.conflict(left, right, span);
                Diagnostic { message: format!("{name}: {}", found.message), ..found }
            }
            (Some((left, right)), ..) => {
                let found = error(format!("{name} expected the unit {left}, found {right}"));
                let hint = turns_hint(left, right).or_else(|| bare_hint(left, right));
                hint.into_iter().fold(found, Diagnostic::hint)
            }
            (_, Clash::Bare(_, factor), _) => {
                error(format!("the unit at {name} fits only if a number has the unit {factor}"))
            }
            (_, Clash::Factor(factor), _) => {
                error(format!("the unit at {name} would have to be itself times {factor}"))
                    .label("a loop whose factors do not cancel")
            }
            (_, Clash::Range | Clash::Differ(..), _) => {
                error(format!("the unit at {name} has exponents out of range"))
            }
        };
        let sides = [self.traced(left, cause), self.traced(right, cause)];
        let mut told = BTreeSet::new();
        for Origin { span: at, text } in sides.iter().flatten() {
            if told.insert((at.file, at.start, text.clone())) {
                diagnostic = diagnostic.also(*at, text.clone());
            }
        }
        if let Clash::Bare(var, unit) = *clash
            && let Some((block, parameter)) = self.factor_of(var)
        {
            let number = match parameter {
                "expression" => "a factor in the expression",
                name => name,
            };
            diagnostic = diagnostic
                .hint(format!("{number} of `{block}` has no unit: give it one, such as {unit}"));
        }
        diagnostic
    }

    /// Origins of the unit of one side: the nearest ports that declare one.
    fn traced(&mut self, side: &UnitTerm, cause: Cause) -> Vec<Origin> {
        let mut traced = Vec::new();
        let mut seen: BTreeSet<Var> = BTreeSet::new();
        let mut vars: VecDeque<Var> = VecDeque::new();
        let mut causes: Vec<Cause> = Vec::new();
        if let UnitTerm::Of(unit) = side {
            vars.extend(unit.vars());
        }
        // Units that the side itself declares.
        self.origins_of(cause, Some(side), &mut traced, &mut VecDeque::new());
        while let Some(var) = vars.pop_front() {
            if traced.len() >= ORIGINS || seen.len() > WAY {
                break;
            }
            if !seen.insert(var) {
                continue;
            }
            let Some(cause) = self.solution.units.cause(var) else { continue };
            if !causes.contains(&cause) {
                causes.push(cause);
                self.origins_of(cause, None, &mut traced, &mut vars);
            }
        }
        traced
    }

    /// Adds the units that the ends of a wire, or the sides of an equation, declare, and the
    /// unknowns there. With `only`, adds those of the end with this unit.
    fn origins_of(
        &mut self,
        cause: Cause,
        only: Option<&UnitTerm>,
        traced: &mut Vec<Origin>,
        vars: &mut VecDeque<Var>,
    ) {
        let (left, right, span) = self.sides(cause);
        let (to, from) = match cause {
            Cause::Wire(block, input) => {
                let block = &self.network.blocks[block];
                let name = &block.declaration.inputs[input].name;
                let to = (block.span, format!("`{}.{name}`", block.path));
                let wire = block.inputs[input].as_ref();
                (to, wire.and_then(|wire| self.place_of(&wire.source)))
            }
            Cause::Declared(index) => {
                let Assertion { what, source, .. } = &self.declared[index];
                ((span, what.clone()), self.place_of(source))
            }
            _ => ((span, "this".to_owned()), Some((span, "this".to_owned()))),
        };
        let left = left.into_iter().map(|unit| (unit, Some(to.clone())));
        for (unit, place) in left.chain([(right, from)]) {
            if only.is_some_and(|only| *only != unit) {
                continue;
            }
            let UnitTerm::Of(unit) = &unit else { continue };
            if let Some((span, name)) = place
                && (unit.known().is_some() || unit.constant() != Unit::ONE)
                && !matches!(cause, Cause::Equation(..) if only.is_some())
            {
                traced.push(Origin { span, text: told(&name, unit) });
            }
            vars.extend(unit.vars());
        }
    }

    /// Place and spelling of a source.
    pub(super) fn place_of(&self, source: &Source) -> Option<(Span, String)> {
        let blocks = &self.network.blocks;
        let mut place = None;
        source.each_port(&mut |part| {
            place.get_or_insert_with(|| {
                (blocks[part.block].span, format!("`{}`", source_text(blocks, source)))
            });
        });
        place
    }

    /// Path and parameter of a factor without unit.
    fn factor_of(&self, var: Var) -> Option<(&str, &'static str)> {
        let blocks = &self.network.blocks;
        blocks.ids().find_map(|id| {
            let factors = &blocks[id].declaration.bare_factors;
            let (_, parameter) = factors.iter().find(|(factor, _)| *factor == var)?;
            Some((blocks[id].path.as_str(), *parameter))
        })
    }
}

/// Hint for an equation between numbers that lacks a power of time: the factor keeps the value.
fn bare_hint(expected: Unit, found: Unit) -> Option<String> {
    let factor = expected.over(found)?;
    let is_plain = |unit: Unit| unit == unit.without_angle() && !unit.is_mechanical();
    (is_plain(expected) && is_plain(found) && factor.is_of_time())
        .then(|| format!("an equation of numbers: times 1[{factor}] it has the same value"))
}

/// States the unit of a port, or a factor of it.
fn told(name: &str, unit: &SymbolicUnit) -> String {
    match unit.known() {
        Some(unit) if unit == Unit::ONE => format!("{name} has no unit"),
        Some(unit) => format!("{name} is in {unit}"),
        None => format!("{name} brings the factor {}", unit.constant()),
    }
}
