//! Network → typed network: finds every type, dimension and unit.

mod elements;
mod joined;
mod known;
mod misfit;
mod unit_conflict;
mod units;
mod wire;

use std::collections::{BTreeMap, BTreeSet};

use legwork_block::{
    Diagnostic, Diagnostics, Feeds, PortUnit, Span, SymbolicUnit, Type, Var, code,
};

use crate::expand::{Assertion, LogEntry, Logged, Tree};
use crate::ids::{BlockId, Id as _, IdVec, OutputId};
use crate::network::{Network, NetworkBlock, PortPart, Source, source_text};
use crate::select::Units;
use crate::survey::KnownPart;
use crate::unify::{Solution, readable};
use crate::units::{Cause, UnitTerm};
use misfit::{
    ARRAY_HINT, Misfit, NUMBER_HINT, TRUTH_HINT, fit, is_array_for_vector, number_hint, shared_part,
};
use wire::{Blocked, Carried, Sources};

/// A network with every type known. Only [`infer`] makes one.
pub(crate) struct TypedNetwork {
    pub(crate) network: Network,
    /// Those of all blocks, one block behind the other.
    outputs: Vec<OutputType>,
    /// Where those of a block begin.
    first_output: IdVec<BlockId, usize>,
    /// Value of every variable that is a dimension.
    vars: Vec<usize>,
}

/// Type and unit of an output port.
pub(crate) struct OutputType {
    pub(crate) ty: Type,
    /// Its units, as far as the port declares them or inference found them.
    pub(crate) units: Units,
}

impl TypedNetwork {
    /// Type and unit of the output that a source reads.
    pub(crate) fn output(&self, part: &PortPart) -> &OutputType {
        &self.outputs[self.first_output[part.block] + part.output.index()]
    }

    /// The types of a block's outputs, in the order in which it declares them.
    pub(crate) fn outputs(&self, block: BlockId) -> &[OutputType] {
        let count = self.network.blocks[block].declaration.outputs.len();
        &self.outputs[self.first_output[block]..][..count]
    }

    /// Values of a block's dimension variables.
    pub(crate) fn vars(&self, block: BlockId) -> &[usize] {
        let NetworkBlock { var_base, declaration, .. } = &self.network.blocks[block];
        &self.vars[*var_base as usize..][..declaration.var_count as usize]
    }
}

/// Inference under way.
struct Inference<'a> {
    network: Network,
    /// What interfaces declare.
    declared: &'a [Assertion],
    solution: Solution,
    next_var: u32,
    /// Blocks that join copies and whose declaration waits for the types of their inputs.
    undecided: Vec<BlockId>,
    /// Outputs put together from parts, with what stands for their unit.
    parts: Vec<units::Parts>,
    /// Units of the elements of those that are lists; none of those that are not.
    elements: BTreeMap<(BlockId, usize), Vec<Option<SymbolicUnit>>>,
    /// Units of the pieces of which they are put together.
    pieces: BTreeMap<(BlockId, usize), Vec<PortUnit>>,
    /// Outputs that would be in a power of time if a factor without unit, which may stand for one,
    /// were a pure number: nothing is said of their unit.
    open_times: BTreeSet<(BlockId, usize)>,
    /// Outputs whose units were open but for factors without unit.
    bare_outputs: BTreeSet<(BlockId, usize)>,
    /// For blocks with contradictions that matter only next to stated units: a variable related to
    /// all units of the block.
    doubted: BTreeMap<BlockId, Var>,
}

/// A wire whose reader and source are to get one type.
#[derive(Clone, Copy)]
struct Open {
    block: BlockId,
    input: usize,
}

/// A network of a diagram with mistakes: its types and units as far as they are known.
pub(crate) struct Untyped(pub(crate) TypedNetwork);

/// Finds every type, dimension and unit; reports what does not fit or stays unknown, and gives back
/// what is known if anything is wrong with the diagram. `survey` takes what the names of the tree
/// lead to, in either case.
pub(crate) fn infer<'l>(
    network: Network,
    assertions: &[Assertion],
    logs: impl Iterator<Item = &'l LogEntry>,
    survey: Option<(&Tree, &mut Vec<KnownPart>)>,
    diagnostics: &mut Diagnostics,
) -> Result<TypedNetwork, Untyped> {
    let mut inference = Inference::new(network, assertions);
    inference.ask_units(diagnostics);
    let (stuck, misfits) = inference.wires(diagnostics);
    inference.elements_of_joined(diagnostics);
    let refused = inference.assertions(&misfits, diagnostics);
    // Behind what interfaces say of the same, which is nearer to who wrote it. Copies that share
    // such a signal have nothing to add.
    let is_own = |found: &Misfit| !found.shares.is_some_and(|of| refused.contains(&of));
    diagnostics.extend(misfits.into_iter().filter(is_own).map(|found| found.diagnostic));
    inference.settle_units(diagnostics);
    inference.units_among(diagnostics);
    for entry in logs {
        let Logged::Port(source) = &entry.source else { continue };
        if let Err(Blocked::Wrong(diagnostic)) = inference.carried(source) {
            diagnostics.push(*diagnostic);
        }
    }
    for open in &stuck {
        let block = &inference.network.blocks[open.block];
        let Some(wire) = &block.inputs[open.input] else { continue };
        let source = source_text(&inference.network.blocks, &wire.source);
        let message = format!("the type of `{source}` cannot be found out");
        diagnostics.push(
            Diagnostic::error(code::UNKNOWN_TYPE, wire.span, message)
                .hint("connect the blocks before it to something of a known type"),
        );
    }
    inference.truths(diagnostics);
    if let Some((tree, known)) = survey {
        *known = inference.known(tree);
    }
    if !diagnostics.has_errors() {
        inference.unknown_outputs(diagnostics);
    }
    let typed = inference.typed();
    if diagnostics.has_errors() { Err(Untyped(typed)) } else { Ok(typed) }
}

impl<'a> Inference<'a> {
    fn new(network: Network, declared: &'a [Assertion]) -> Self {
        let next_var = network.var_count;
        let mut solution = Solution::default();
        solution.grow(next_var);
        let joins = |block: &BlockId| network.blocks[*block].joins;
        let undecided = network.by_path.iter().copied().filter(joins).collect();
        Self {
            network,
            declared,
            solution,
            next_var,
            undecided,
            parts: Vec::new(),
            elements: BTreeMap::new(),
            pieces: BTreeMap::new(),
            open_times: BTreeSet::new(),
            bare_outputs: BTreeSet::new(),
            doubted: BTreeMap::new(),
        }
    }

    /// Gives both ends of every wire one type; the wires of which one end stayed unknown, and what
    /// does not fit.
    ///
    /// A wire that selects from a type which is not known yet waits for the next round. Every other
    /// round goes backwards, so that a chain whose names run against it takes no round per block.
    fn wires(&mut self, diagnostics: &mut Diagnostics) -> (Vec<Open>, Vec<Misfit>) {
        let mut open: Vec<Open> = Vec::with_capacity(self.network.blocks.len());
        let mut misfits: Vec<Misfit> = Vec::new();
        for block in self.sources_first() {
            if !self.network.blocks[block].joins {
                self.open_wires(block, &mut open);
            }
        }
        while !open.is_empty() || !self.undecided.is_empty() {
            let before = (open.len(), self.solution.learnt);
            open.retain(|&wire| self.join(wire, &mut misfits, diagnostics));
            // Equations left open belong to no wire; the ports that stay unknown are named later.
            let _ = self.solution.revisit();
            let decided = self.decide_joined(false);
            let progress = (open.len(), self.solution.learnt) != before || !decided.is_empty();
            open.extend(decided);
            if !progress {
                // What is still not known is not known from its sources.
                let decided = self.decide_joined(true);
                if decided.is_empty() {
                    break;
                }
                open.extend(decided);
            }
            open.reverse();
        }
        // What does not fit a block because of a parameter does not fit its readers either.
        let blamed: Vec<BlockId> =
            misfits.iter().filter(|found| found.by_parameter).map(|found| found.block).collect();
        let is_own = |found: &Misfit| !found.sources.iter().any(|source| blamed.contains(source));
        misfits = misfits.into_iter().filter(is_own).collect();
        (open, misfits)
    }

    /// All blocks, each behind those that it reads as far as there is no loop, and those whose
    /// outputs are states last: what does not fit is then found where a signal is read, not where
    /// it is made.
    fn sources_first(&self) -> Vec<BlockId> {
        let blocks = &self.network.blocks;
        let (mut order, mut states) = (Vec::with_capacity(blocks.len()), Vec::new());
        let mut is_met = vec![false; blocks.len()];
        // Blocks to look at, and whether all that they read is in the order.
        let mut open: Vec<(BlockId, bool)> = Vec::new();
        for &root in &self.network.by_path {
            open.push((root, false));
            while let Some((block, is_ready)) = open.pop() {
                if is_ready {
                    order.push(block);
                } else if !std::mem::replace(&mut is_met[block.index()], true) {
                    let groups = &blocks[block].declaration.groups;
                    let feeds_none = |group: &Feeds| *group == Feeds::Only(Vec::new());
                    if !groups.is_empty() && groups.iter().all(feeds_none) {
                        states.push(block);
                        continue;
                    }
                    open.push((block, true));
                    for wire in blocks[block].inputs.iter().rev().flatten() {
                        wire.source.each_port(&mut |part| {
                            if !is_met[part.block.index()] {
                                open.push((part.block, false));
                            }
                        });
                    }
                }
            }
        }
        order.append(&mut states);
        order
    }

    /// Adds the wires into a block.
    fn open_wires(&self, block: BlockId, open: &mut Vec<Open>) {
        let inputs = self.network.blocks[block].inputs.iter().enumerate();
        let connected = inputs.filter(|(_, wire)| wire.is_some());
        open.extend(connected.map(|(input, _)| Open { block, input }));
    }

    /// Makes the types at both ends of a wire equal; whether it has to wait.
    fn join(
        &mut self,
        open: Open,
        misfits: &mut Vec<Misfit>,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let network = &self.network;
        let block = &network.blocks[open.block];
        let Some(wire) = &block.inputs[open.input] else { return false };
        let (solution, next_var) = (&mut self.solution, &mut self.next_var);
        let elements = &self.elements;
        match (Sources { network, solution, next_var, elements }).carried(&wire.source) {
            Err(Blocked::Unknown) => return true,
            Err(Blocked::Reported) => {}
            Err(Blocked::Wrong(diagnostic)) => {
                let shares = shared_part(&wire.source);
                let (block, sources, by_parameter) = (open.block, Vec::new(), false);
                let diagnostic = *diagnostic;
                misfits.push(Misfit { block, sources, by_parameter, shares, diagnostic });
            }
            Ok(found) => {
                let (misfit, span) =
                    (fit(network, &mut self.solution, open, &found, wire), wire.span);
                match misfit {
                    Some(misfit) => misfits.push(misfit),
                    None => self.join_unit(open, &found.unit, span, diagnostics),
                }
            }
        }
        false
    }

    /// Makes the units at both ends of a wire equal.
    fn join_unit(
        &mut self,
        Open { block, input }: Open,
        found: &UnitTerm,
        span: Span,
        diagnostics: &mut Diagnostics,
    ) {
        let cause = Cause::Wire(block, input);
        let units = &mut self.solution.units;
        let wire = self.network.blocks[block].inputs[input].as_ref();
        let input = &self.network.blocks[block].declaration.inputs[input];
        if let (Some(wire), false) = (wire, self.doubted.is_empty()) {
            wire.source.each_port(&mut |part| {
                let Some(var) = self.doubted.get(&part.block) else { return };
                for wanted in UnitTerm::wanted(&input.unit) {
                    if let UnitTerm::Of(wanted) = wanted {
                        units.relate(&wanted, &(*var).into(), true);
                    }
                }
            });
        }
        let clash = UnitTerm::wanted(&input.unit).find_map(|wanted| {
            let clash = units.equal(&wanted, found, cause).err()?;
            Some((wanted, clash))
        });
        if let Some((wanted, clash)) = clash {
            diagnostics.push(self.unit_conflict(cause, &wanted, found, &clash, span));
        }
    }

    /// What is known.
    fn typed(self) -> TypedNetwork {
        let mut outputs = Vec::with_capacity(self.network.blocks.len());
        let mut first_output = IdVec::default();
        for block in self.network.blocks.ids() {
            first_output.push(outputs.len());
            outputs.extend(self.output_types(block));
        }
        // A dimension that nothing asks for, as of an input that is not connected, is zero.
        let value = |var| self.solution.size(Var(var)).unwrap_or(0);
        let vars = (0..self.next_var).map(value).collect();
        TypedNetwork { network: self.network, outputs, first_output, vars }
    }

    fn carried(&mut self, source: &Source) -> Result<Carried, Blocked> {
        let Self { network, solution, next_var, elements, .. } = self;
        Sources { network, solution, next_var, elements }.carried(source)
    }

    /// Holds interfaces against what is behind them. A type that an interface declares also
    /// tells what is not known yet. Gives the outputs that are no such vectors as they should be.
    fn assertions(
        &mut self,
        misfits: &[Misfit],
        diagnostics: &mut Diagnostics,
    ) -> Vec<(BlockId, OutputId)> {
        // What does not fit one interface does not fit those inside of it that want the same.
        let mut refused: Vec<(&PortPart, Type)> = Vec::new();
        for (index, assertion) in self.declared.iter().enumerate() {
            let declared = assertion.ty.shift(self.next_var);
            self.next_var += assertion.var_count;
            self.solution.grow(self.next_var);
            let found = match self.carried(&assertion.source) {
                Err(Blocked::Unknown | Blocked::Reported) => continue,
                // What reads it says so.
                Err(Blocked::Wrong(found))
                    if misfits.iter().any(|own| own.diagnostic == *found) =>
                {
                    continue;
                }
                Err(Blocked::Wrong(found)) => {
                    let message = format!("{}: {}", assertion.what, found.message);
                    diagnostics.push(Diagnostic { code: assertion.code, message, ..*found });
                    continue;
                }
                Ok(found) => found,
            };
            let widens = declared == Type::Real && self.solution.ty(&found.ty) == Type::Int;
            if !widens && self.solution.types(&declared, &found.ty).is_err() {
                let (expected, given) = (self.solution.ty(&declared), self.solution.ty(&found.ty));
                if let Source::Port(part) = &assertion.source {
                    let is_told =
                        |(of, wanted): &(&PortPart, Type)| of.is_same(part) && *wanted == expected;
                    if refused.iter().any(is_told) {
                        continue;
                    }
                    refused.push((part, expected.clone()));
                }
                let (what, wanted) = (&assertion.what, readable(&expected));
                let message = format!("{what} expected {wanted}, found {}", readable(&given));
                let told = Diagnostic::error(assertion.code, assertion.span, message);
                let number = match (&expected, &given) {
                    (Type::Vector(n), Type::Real | Type::Int) => number_hint(n),
                    _ => None,
                };
                let hint = match (&expected, &given) {
                    (Type::Bool, Type::Real) => Some(NUMBER_HINT),
                    (Type::Real, Type::Bool) => Some(TRUTH_HINT),
                    _ => is_array_for_vector(&expected, &given).then_some(ARRAY_HINT),
                };
                let hint = hint.map(str::to_owned).or(number);
                diagnostics.push(hint.into_iter().fold(told, Diagnostic::hint));
                continue;
            }
            let Some(unit) = assertion.unit else { continue };
            let (unit, cause) = (UnitTerm::Of(unit.into()), Cause::Declared(index));
            if let Err(clash) = self.solution.units.equal(&unit, &found.unit, cause) {
                let span = assertion.span;
                diagnostics.push(self.unit_conflict(cause, &unit, &found.unit, &clash, span));
            }
        }
        let is_vector = |(_, wanted): &(&PortPart, Type)| matches!(wanted, Type::Vector(_));
        let vectors = refused.into_iter().filter(is_vector);
        vectors.map(|(part, _)| (part.block, part.output)).collect()
    }

    /// Reports truth values that blocks would compute with.
    fn truths(&self, diagnostics: &mut Diagnostics) {
        for &block in &self.network.by_path {
            let block = &self.network.blocks[block];
            let numbers = &block.declaration.numbers;
            for (input, wire) in block.declaration.inputs.iter().zip(&block.inputs) {
                let Some(wire) = wire else { continue };
                let computes = matches!(input.ty, Type::Var(var) if numbers.contains(&var));
                if computes && self.solution.ty(&input.ty) == Type::Bool {
                    let path = &block.path;
                    let message = format!("`{path}.{}` expected a number, found Bool", input.name);
                    diagnostics.push(
                        Diagnostic::error(code::WRONG_TYPE, wire.span, message).hint(TRUTH_HINT),
                    );
                }
            }
        }
    }

    /// Names outputs that stayed unknown.
    fn unknown_outputs(&self, diagnostics: &mut Diagnostics) {
        for &block in &self.network.by_path {
            let block = &self.network.blocks[block];
            for output in &block.declaration.outputs {
                let ty = self.solution.ty(&output.ty);
                if ty.leaves().is_some() {
                    continue;
                }
                let message =
                    format!("the type of `{}.{}` cannot be found out", block.path, output.name);
                diagnostics.push(
                    Diagnostic::error(code::UNKNOWN_TYPE, block.span, message)
                        .label(format!("so far: {ty}"))
                        .hint("connect it, or its inputs, to something of a known type"),
                );
            }
        }
    }

    /// The solution for the outputs of one block.
    fn output_types(&self, id: BlockId) -> impl Iterator<Item = OutputType> {
        let known = move |unit: &SymbolicUnit| {
            Some(self.solution.units.shown(unit)?.as_written().to_string())
        };
        let unit = move |(index, unit): (usize, &PortUnit)| match unit {
            PortUnit::Is(text) => Some(text.to_string()),
            PortUnit::Of(_) if self.open_times.contains(&(id, index)) => None,
            PortUnit::Of(unit) => known(unit),
            _ => None,
        };
        // Of a list whose elements differ.
        let each = move |index| {
            let list = self.elements.get(&(id, index))?;
            list.iter().map(|unit| known(unit.as_ref()?)).collect::<Option<Vec<String>>>()
        };
        let units = move |(index, declared)| match unit((index, declared)) {
            Some(unit) => Units { one: Some(unit), each: Vec::new() },
            None => Units::of_each(each(index).unwrap_or_default()),
        };
        let outputs = self.network.blocks[id].declaration.outputs.iter().enumerate();
        outputs.map(move |(index, output)| OutputType {
            ty: self.solution.ty(&output.ty),
            units: units((index, &output.unit)),
        })
    }
}
