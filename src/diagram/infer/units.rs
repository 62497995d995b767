//! Units in the network: what blocks ask of them, and where those come from that do not fit.

use std::collections::{BTreeSet, VecDeque};

use legwork_block::quantity::turns_hint;
use legwork_block::{Diagnostic, Diagnostics, PortUnit, Span, SymbolicUnit, Unit, Var, parse_unit};

use super::wire::{Blocked, Carried};
use super::{Inference, Open};
use crate::expand::Assertion;
use crate::ids::{BlockId, Id as _};
use crate::network::{Source, Wire, source_text};
use crate::units::{Cause, Clash, UnitTerm};

/// An output put together from parts: it has a unit if they have one.
pub(super) struct Parts {
    block: BlockId,
    output: usize,
    of: Vec<PortUnit>,
    /// What stands for its unit.
    var: Var,
}

/// How many origins of a unit are shown.
const ORIGINS: usize = 3;
/// How many unknowns are followed to find them.
const WAY: usize = 500;

/// A unit that a conflict comes from.
struct Origin {
    span: Span,
    text: String,
}

impl Inference<'_> {
    /// Writes down what every block asks of the units of its ports.
    pub(super) fn ask_units(&mut self, diagnostics: &mut Diagnostics) {
        for block in self.network.by_path.clone() {
            self.name_parts(block);
            for (var, _) in &self.network.blocks[block].declaration.bare_factors {
                self.solution.units.bare(*var);
            }
            for index in 0..self.network.blocks[block].declaration.unit_equations.len() {
                let equation = &self.network.blocks[block].declaration.unit_equations[index];
                let left = UnitTerm::Of(equation.left.clone());
                let right = UnitTerm::Of(equation.right.clone());
                let (span, cause) = (equation.span, Cause::Equation(block, index));
                if let Err(clash) = self.solution.units.equal(&left, &right, cause) {
                    diagnostics.push(self.unit_conflict(cause, &left, &right, &clash, span));
                }
            }
        }
    }

    /// Makes variables of the units of outputs that are put together from parts.
    pub(super) fn name_parts(&mut self, block: BlockId) {
        for (output, port) in self.network.blocks[block].declaration.outputs.iter_mut().enumerate()
        {
            let (of, elements) = match &port.unit {
                PortUnit::Common(of) => (of.clone(), Vec::new()),
                PortUnit::List(list) => {
                    let of = list.iter().flatten().cloned().map(PortUnit::from);
                    (of.collect(), list.clone())
                }
                _ => continue,
            };
            let var = Var(self.next_var);
            self.next_var += 1;
            port.unit = var.into();
            self.elements.insert((block, output), elements);
            self.pieces.insert((block, output), of.clone());
            self.parts.push(Parts { block, output, of, var });
        }
        self.solution.grow(self.next_var);
    }

    /// Solves what is still open once every wire is looked at.
    pub(super) fn settle_units(&mut self, diagnostics: &mut Diagnostics) {
        let mut bare_is_settled = false;
        loop {
            for (cause, clash) in self.solution.units.revisit() {
                self.late_conflict(cause, &clash, diagnostics);
            }
            let parts = std::mem::take(&mut self.parts);
            let before = parts.len();
            for part in parts {
                if let Some(open) = self.settle_parts(part, diagnostics) {
                    self.parts.push(open);
                }
            }
            if self.parts.len() < before {
                continue;
            }
            if std::mem::replace(&mut bare_is_settled, true) {
                return;
            }
            self.note_open_times();
            for (cause, clash) in self.solution.units.settle_bare() {
                self.late_conflict(cause, &clash, diagnostics);
            }
        }
    }

    /// Holds what is connected to inputs whose elements have several units against those.
    pub(super) fn units_among(&mut self, diagnostics: &mut Diagnostics) {
        for block in self.network.by_path.clone() {
            for input in 0..self.network.blocks[block].inputs.len() {
                let of = &self.network.blocks[block];
                let Some(wire) = of.inputs[input].clone() else { continue };
                let text = match &of.declaration.inputs[input].unit {
                    PortUnit::Among(text) => *text,
                    PortUnit::List(list) => {
                        let list = list.clone();
                        self.units_one_by_one(Open { block, input }, &list, &wire, diagnostics);
                        continue;
                    }
                    _ => continue,
                };
                let each = text.split(',').map(|unit| unit.trim().replace(' ', "*"));
                let each =
                    each.map(|unit| parse_unit(&unit.replace('²', "^2")).map(|(unit, _)| unit));
                // A text that is no list of units says nothing, as everywhere.
                let Ok(allowed) = each.collect::<Result<Vec<Unit>, _>>() else { continue };
                let found = self.units_of(&wire.source);
                let strange = |unit: &Unit| {
                    *unit != Unit::ONE && !allowed.iter().any(|allowed| allowed.agrees(*unit))
                };
                let Some(unit) = found.into_iter().find(strange) else { continue };
                // Made by a number without unit, which may be a power of time.
                let of_time = |allowed: &Unit| allowed.over(unit).is_some_and(Unit::is_of_time);
                if self.is_of_bare(&wire.source) && allowed.iter().any(of_time) {
                    continue;
                }
                let of = &self.network.blocks[block];
                let name = &of.declaration.inputs[input].name;
                let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
                let allowed = allowed.join(" or ");
                let message =
                    format!("`{}.{name}` expected the unit {allowed}, found {unit}", of.path);
                let mut found = Diagnostic::error("unit-mismatch", wire.span, message);
                if let Some((span, source)) = self.place_of(&wire.source) {
                    found = found.also(span, format!("{source} is in {unit}"));
                }
                diagnostics.push(found);
            }
        }
    }

    /// Holds each element of what is connected to an input against the unit of its own.
    fn units_one_by_one(
        &mut self,
        Open { block, input }: Open,
        list: &[Option<SymbolicUnit>],
        wire: &Wire,
        diagnostics: &mut Diagnostics,
    ) {
        let Source::Port(part) = &wire.source else { return };
        if self.is_of_bare(&wire.source) {
            return;
        }
        let each = self.each_of(part).unwrap_or_else(|| {
            let one = match self.carried(&wire.source) {
                Ok(Carried { unit: UnitTerm::Of(unit), .. }) => Some(unit),
                _ => None,
            };
            vec![one; list.len()]
        });
        let known = |unit: &Option<SymbolicUnit>| {
            self.solution.units.unit(unit.as_ref()?)?.known().filter(|unit| *unit != Unit::ONE)
        };
        for (i, (own, wanted)) in each.iter().zip(list).enumerate() {
            let (Some(own), Some(wanted)) = (known(own), known(wanted)) else { continue };
            if own.agrees(wanted) {
                continue;
            }
            let of = &self.network.blocks[block];
            let name = &of.declaration.inputs[input].name;
            let message =
                format!("`{}.{name}[{i}]` expected the unit {wanted}, found {own}", of.path);
            let hint = "`Concat` joins numbers of several units";
            let mut found = Diagnostic::error("unit-mismatch", wire.span, message).hint(hint);
            if let Some((span, source)) = self.place_of(&wire.source) {
                found = found.also(span, format!("element {i} of {source} is in {own}"));
            }
            diagnostics.push(found);
            return;
        }
    }

    /// Whether the unit of a source was open but for factors without unit.
    fn is_of_bare(&self, source: &Source) -> bool {
        let mut all = true;
        source.each_port(&mut |part| {
            all &= self.bare_outputs.contains(&(part.block, part.output.index()));
        });
        all
    }

    /// The units of the numbers of a source, as far as they are known.
    fn units_of(&mut self, source: &Source) -> Vec<Unit> {
        let Ok(found) = self.carried(source) else { return Vec::new() };
        let known = |unit: &SymbolicUnit| self.solution.units.unit(unit)?.known();
        if let UnitTerm::Of(unit) = &found.unit
            && let Some(unit) = known(unit)
        {
            return vec![unit];
        }
        let Source::Port(part) = source else { return Vec::new() };
        let pieces = self.pieces.get(&(part.block, part.output.index()));
        let pieces = pieces.filter(|_| part.select.is_empty());
        let of_piece = |piece: &PortUnit| match UnitTerm::of(piece) {
            UnitTerm::Of(unit) => known(&unit),
            UnitTerm::Unspecified => None,
        };
        pieces.into_iter().flatten().filter_map(of_piece).collect()
    }

    /// Finds the outputs whose units factors without unit leave open, and of these the ones in a
    /// power of time.
    fn note_open_times(&mut self) {
        let (blocks, units) = (&self.network.blocks, &self.solution.units);
        for block in blocks.ids() {
            for (output, port) in blocks[block].declaration.outputs.iter().enumerate() {
                let PortUnit::Of(unit) = &port.unit else { continue };
                let Some(unit) = units.unit(unit) else { continue };
                let is_open = unit.known().is_none();
                let Some(rest) = units.without_bare(&unit).filter(|_| is_open) else { continue };
                self.bare_outputs.insert((block, output));
                if rest.is_of_time() {
                    self.open_times.insert((block, output));
                }
            }
        }
    }

    fn late_conflict(&mut self, cause: Cause, clash: &Clash, diagnostics: &mut Diagnostics) {
        let (mut left, right, span) = self.sides(cause);
        let left = left.pop().unwrap_or(UnitTerm::Unspecified);
        diagnostics.push(self.unit_conflict(cause, &left, &right, clash, span));
    }

    /// Gives an output the unit of its parts; back if they are not known yet.
    fn settle_parts(&mut self, parts: Parts, diagnostics: &mut Diagnostics) -> Option<Parts> {
        let mut found: Vec<Unit> = Vec::new();
        for part in &parts.of {
            match UnitTerm::of(part) {
                UnitTerm::Unspecified => return None,
                UnitTerm::Of(unit) => match self.solution.units.unit(&unit)?.known() {
                    Some(unit) => found.push(unit),
                    None => return Some(parts),
                },
            }
        }
        let first = *found.first()?;
        let wanted = self.solution.units.of(parts.var);
        let is_one = found.iter().all(|unit| unit.agrees(first));
        if !is_one && wanted.is_none() {
            return None;
        }
        let cause = Cause::Parts(parts.block, parts.output);
        let output = UnitTerm::Of(parts.var.into());
        for unit in found {
            let unit = UnitTerm::Of(unit.into());
            if let Err(clash) = self.solution.units.equal(&output, &unit, cause) {
                let span = self.network.blocks[parts.block].span;
                diagnostics.push(self.unit_conflict(cause, &output, &unit, &clash, span));
                return None;
            }
        }
        None
    }

    /// Both sides of what asks that two units agree, and its place.
    fn sides(&mut self, cause: Cause) -> (Vec<UnitTerm>, UnitTerm, Span) {
        match cause {
            Cause::Wire(block, input) => {
                let block = &self.network.blocks[block];
                let wanted = UnitTerm::wanted(&block.declaration.inputs[input].unit).collect();
                let Some(wire) = block.inputs[input].clone() else {
                    return (wanted, UnitTerm::Unspecified, block.span);
                };
                let found = match self.carried(&wire.source) {
                    Ok(found) => found.unit,
                    Err(Blocked::Unknown | Blocked::Reported | Blocked::Wrong(_)) => {
                        UnitTerm::Unspecified
                    }
                };
                (wanted, found, wire.span)
            }
            Cause::Equation(block, index) => {
                let equation = &self.network.blocks[block].declaration.unit_equations[index];
                let [left, right] = [&equation.left, &equation.right];
                let [left, right] = [left, right].map(|unit| UnitTerm::Of(unit.clone()));
                (vec![left], right, equation.span)
            }
            Cause::Parts(block, output) => {
                let block = &self.network.blocks[block];
                let unit = UnitTerm::of(&block.declaration.outputs[output].unit);
                (vec![unit], UnitTerm::Unspecified, block.span)
            }
            Cause::Declared(index) => {
                let declared = &self.declared[index];
                let unit = declared.unit.map(|unit| UnitTerm::Of(unit.into()));
                let found = self.carried(&declared.source);
                let found = found.map_or(UnitTerm::Unspecified, |found| found.unit);
                (unit.into_iter().collect(), found, declared.span)
            }
            Cause::Bare(_) => (Vec::new(), UnitTerm::Unspecified, Span::default()),
            Cause::Place(span) => (Vec::new(), UnitTerm::Unspecified, span),
        }
    }

    /// What is told of two units that do not agree: both, where each comes from, and factors
    /// without unit on the way.
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
        // Of two units that agree only if a bare factor had one, what they are without.
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
        let error = |message: String| Diagnostic::error("unit-mismatch", span, message);
        let mut diagnostic = match (differ, clash, cause) {
            (Some((left, right)), _, Cause::Equation(block, index)) => {
                let equation = &self.network.blocks[block].declaration.unit_equations[index];
                let found = equation.rule.conflict(left, right, span);
                Diagnostic { message: format!("{name}: {}", found.message), ..found }
            }
            (Some((left, right)), ..) => {
                let found = error(format!("{name} expected the unit {left}, found {right}"));
                match turns_hint(left, right) {
                    Some(hint) => found.hint(hint),
                    None => found,
                }
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

    /// Where the unit of one side comes from: the nearest ports that declare one.
    fn traced(&mut self, side: &UnitTerm, cause: Cause) -> Vec<Origin> {
        let mut traced = Vec::new();
        let mut seen: BTreeSet<Var> = BTreeSet::new();
        let mut vars: VecDeque<Var> = VecDeque::new();
        let mut causes: Vec<Cause> = Vec::new();
        if let UnitTerm::Of(unit) = side {
            vars.extend(unit.vars());
        }
        // What the side itself declares.
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

    /// Adds what the ends of a wire, or the sides of an equation, declare, and the unknowns there.
    /// With `only`, of the end with this unit.
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

    /// Where a source is, and how it is written.
    fn place_of(&self, source: &Source) -> Option<(Span, String)> {
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

/// That a port declares a unit, or a factor of it.
fn told(name: &str, unit: &SymbolicUnit) -> String {
    match unit.known() {
        Some(unit) if unit == Unit::ONE => format!("{name} has no unit"),
        Some(unit) => format!("{name} is in {unit}"),
        None => format!("{name} brings the factor {}", unit.constant()),
    }
}
