//! Units of each element of a vector that is put together from others.

use std::collections::BTreeSet;

use legwork_block::{Diagnostics, PortUnit, SymbolicUnit, Type};

use super::wire::{Blocked, Carried};
use super::{Inference, Open};
use crate::ids::{BlockId, Id as _};
use crate::network::{PortPart, Source};
use crate::select::{Selected, select};
use crate::units::UnitTerm;

/// Most elements of one vector, and of all together, whose units are noted: beyond them a vector
/// is data, and nothing is said of its parts.
const MOST: usize = 1_000;
const MOST_OF_ALL: usize = 50_000;

/// A unit for each number of a signal; `None` of one that fits any.
type Each = Vec<Option<SymbolicUnit>>;

impl Inference<'_> {
    /// Finds which unit each element of a vector has that was joined from vectors, once all types
    /// are known, and holds what reads some of its elements against them.
    pub(super) fn elements_of_joined(&mut self, diagnostics: &mut Diagnostics) {
        let blocks = self.pieces.keys().map(|&(block, _)| block);
        let joined: BTreeSet<BlockId> = blocks.filter(|&block| self.is_open(block)).collect();
        if joined.is_empty() {
            return;
        }
        let mut left = MOST_OF_ALL;
        for block in self.sources_first().into_iter().filter(|block| joined.contains(block)) {
            let Some(each) = self.each_of_pieces(block, left.min(MOST)) else { continue };
            left -= each.len();
            self.elements.insert((block, 0), each);
        }
        for block in self.network.by_path.clone() {
            for input in 0..self.network.blocks[block].inputs.len() {
                let Some(wire) = &self.network.blocks[block].inputs[input] else { continue };
                let Source::Port(part) = &wire.source else { continue };
                if part.select.is_empty() || !joined.contains(&part.block) {
                    continue;
                }
                self.read_unit(Open { block, input }, diagnostics);
            }
        }
    }

    /// Whether a block joins vectors whose elements have units that are not noted yet.
    fn is_open(&self, block: BlockId) -> bool {
        let of = &self.network.blocks[block].declaration;
        self.elements.get(&(block, 0)).is_some_and(Vec::is_empty)
            && of
                .outputs
                .first()
                .is_some_and(|y| matches!(self.solution.ty(&y.ty), Type::Vector(_)))
            && self.pieces.get(&(block, 0)).is_some_and(|pieces| pieces.len() == of.inputs.len())
    }

    /// The units of what is joined, one input after the other; none of more than `most` elements.
    fn each_of_pieces(&mut self, block: BlockId, most: usize) -> Option<Each> {
        let mut each = Vec::new();
        for input in 0..self.network.blocks[block].inputs.len() {
            let of = &self.network.blocks[block];
            let (ty, unit) = (&of.declaration.inputs[input].ty, &of.declaration.inputs[input].unit);
            let unit = match unit {
                PortUnit::Of(unit) => Some(unit.clone()),
                _ => None,
            };
            let count = count(&self.solution.ty(ty))?;
            if count > most - each.len() {
                return None;
            }
            let wire = of.inputs[input].as_ref();
            let part = match wire.map(|wire| &wire.source) {
                Some(Source::Port(part)) => Some(part.clone()),
                _ => None,
            };
            let own = part.and_then(|part| self.each_of(&part)).filter(|own| own.len() == count);
            each.extend(own.unwrap_or_else(|| vec![unit; count]));
        }
        Some(each)
    }

    /// The units of a part of an output whose numbers have several.
    pub(super) fn each_of(&self, part: &PortPart) -> Option<Each> {
        let ty = self.solution.ty(&self.network.output(part).ty);
        let Selected { ty, units, part: run, .. } = select(&ty, &part.select, part.span)?.ok()?;
        if !units.each.is_empty() {
            let written = |unit: &String| match UnitTerm::written(unit) {
                UnitTerm::Of(unit) => Some(unit),
                UnitTerm::Unspecified => None,
            };
            return Some(units.each.iter().map(written).collect());
        }
        let list = self.elements.get(&(part.block, part.output.index()))?;
        let (start, len) = run.unwrap_or((0, count(&ty)?));
        part.is_slice().then(|| list.get(start..start + len).map(<[_]>::to_vec))?
    }

    /// Holds the unit of a wire whose type fits against the input.
    fn read_unit(&mut self, Open { block, input }: Open, diagnostics: &mut Diagnostics) {
        let Some(wire) = self.network.blocks[block].inputs[input].clone() else { return };
        match self.carried(&wire.source) {
            Ok(Carried { unit, .. }) => {
                self.join_unit(Open { block, input }, &unit, wire.span, diagnostics);
            }
            // Told where the wire was looked at.
            Err(Blocked::Unknown | Blocked::Reported | Blocked::Wrong(_)) => {}
        }
    }
}

/// How many numbers a vector or a number has.
fn count(ty: &Type) -> Option<usize> {
    match ty {
        Type::Vector(n) => n.known(),
        Type::Real | Type::Int | Type::Bool => Some(1),
        _ => None,
    }
}
