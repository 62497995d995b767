//! Units in the network: what blocks ask of them, and where those come from that do not fit.

use legwork_block::{
    Diagnostic, Diagnostics, PortUnit, Span, SymbolicUnit, Unit, Var, code, parse_unit,
};

use super::wire::{Blocked, Carried};
use super::{Inference, Open};
use crate::ids::{BlockId, Id as _};
use crate::network::{Source, Wire};
use crate::units::{Cause, Clash, UnitTerm};

/// An output put together from parts: it has a unit if they have one.
pub(super) struct Parts {
    block: BlockId,
    output: usize,
    of: Vec<PortUnit>,
    /// What stands for its unit.
    var: Var,
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
                let known = (equation.left.known(), equation.right.known());
                if let (Some(left), Some(right)) = known
                    && !left.agrees(right)
                    && !(left.is_stated() || right.is_stated())
                {
                    let var = self.doubted_units(block);
                    self.solution.units.doubt(var, cause, Clash::Differ(left, right));
                    continue;
                }
                if let Err(clash) = self.solution.units.equal(&left, &right, cause) {
                    diagnostics.push(self.unit_conflict(cause, &left, &right, &clash, span));
                }
            }
        }
    }

    /// A variable that is related to all units of a block.
    fn doubted_units(&mut self, block: BlockId) -> Var {
        if let Some(var) = self.doubted.get(&block) {
            return *var;
        }
        let var = Var(self.next_var);
        self.next_var += 1;
        self.solution.grow(self.next_var);
        self.doubted.insert(block, var);
        let declaration = &self.network.blocks[block].declaration;
        let inputs = declaration.inputs.iter().map(|input| &input.unit);
        let outputs = declaration.outputs.iter().map(|output| &output.unit);
        let of_ports = inputs.chain(outputs).filter_map(|unit| match UnitTerm::of(unit) {
            UnitTerm::Of(unit) => Some(unit),
            UnitTerm::Unspecified => None,
        });
        let equations = declaration.unit_equations.iter();
        let asked = equations.flat_map(|equation| [equation.left.clone(), equation.right.clone()]);
        let all: Vec<SymbolicUnit> = of_ports.chain(asked).collect();
        for unit in all {
            self.solution.units.relate(&unit, &var.into(), false);
        }
        var
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
                break;
            }
            self.note_open_times();
            for (cause, clash) in self.solution.units.settle_bare() {
                self.late_conflict(cause, &clash, diagnostics);
            }
        }
        for (cause, clash) in self.solution.units.deferred() {
            self.late_conflict(cause, &clash, diagnostics);
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
                let mut found = Diagnostic::error(code::UNIT_MISMATCH, wire.span, message);
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
            self.solution.units.shown(unit.as_ref()?).filter(|unit| *unit != Unit::ONE)
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
            let mut found = Diagnostic::error(code::UNIT_MISMATCH, wire.span, message).hint(hint);
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
        let known = |unit: &SymbolicUnit| self.solution.units.shown(unit);
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
    pub(super) fn sides(&mut self, cause: Cause) -> (Vec<UnitTerm>, UnitTerm, Span) {
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
}
