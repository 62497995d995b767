//! What the elements of vectors are called, such as joints: handed on from the parts of a state.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use legwork_block::{ElementsOf, OutputDeclaration, Type};

use crate::ids::{BlockId, Id};
use crate::infer::TypedNetwork;
use crate::network::{NetworkBlock, PortPart, Source};
use crate::select::select;

/// What the elements of a vector are called.
type Names = Arc<[String]>;

/// The labels of output ports, by block and port: `None` where two inputs that an output goes
/// element by element with disagree.
pub(crate) struct Labels {
    of: BTreeMap<(BlockId, usize), Option<Names>>,
}

impl Labels {
    /// Those of all outputs. An output has the labels of the input that it declares, else those of
    /// inputs whose type or length it shares by declaration, such as the terms of a sum.
    ///
    /// What an output has goes from unknown to names to a contradiction and never back, so the
    /// result is one, whatever the order and whatever loops there are.
    pub(crate) fn of(typed: &TypedNetwork) -> Self {
        let mut labels = Self { of: BTreeMap::new() };
        let network = &typed.network;
        let has_labels = |ty: &Type| match ty {
            Type::Bus(bus) => bus.views.iter().any(|view| !view.labels.is_empty()),
            _ => false,
        };
        let is_source = |block: &BlockId| typed.outputs(*block).iter().any(|o| has_labels(&o.ty));
        let sources: Vec<BlockId> = network.by_path.iter().copied().filter(is_source).collect();
        if sources.is_empty() {
            return labels;
        }
        let mut readers: BTreeMap<BlockId, Vec<BlockId>> = BTreeMap::new();
        for &reader in &network.by_path {
            for wire in network.blocks[reader].inputs.iter().flatten() {
                wire.source
                    .each_port(&mut |port| readers.entry(port.block).or_default().push(reader));
            }
        }
        let mut changed = sources;
        while let Some(source) = changed.pop() {
            for &reader in readers.get(&source).into_iter().flatten() {
                if labels.join(typed, reader) {
                    changed.push(reader);
                }
            }
        }
        labels
    }

    /// What the numbers of a source are called; none if they have only indices.
    pub(crate) fn of_source(&self, typed: &TypedNetwork, source: &Source) -> Vec<String> {
        match source {
            Source::Port(part) => self.of_part(typed, part).as_deref().unwrap_or_default().to_vec(),
            _ => Vec::new(),
        }
    }

    /// What the numbers of an output port are called.
    pub(crate) fn of_output(&self, block: BlockId, port: usize) -> Vec<String> {
        let names = self.of.get(&(block, port)).cloned().flatten();
        names.as_deref().unwrap_or_default().to_vec()
    }

    /// Whether the outputs of a block have learnt something.
    fn join(&mut self, typed: &TypedNetwork, id: BlockId) -> bool {
        let block = &typed.network.blocks[id];
        let mut has_changed = false;
        for (port, output) in block.declaration.outputs.iter().enumerate() {
            let found: Vec<Names> = self.handed_on(typed, block, output);
            let place = (id, port);
            for names in found {
                let joined = match self.of.get(&place) {
                    None => Some(names),
                    Some(Some(known)) if *known == names => continue,
                    Some(None) => continue,
                    Some(Some(_)) => None,
                };
                self.of.insert(place, joined);
                has_changed = true;
            }
        }
        has_changed
    }

    /// The labels of all inputs that an output goes element by element with.
    fn handed_on(
        &self,
        typed: &TypedNetwork,
        block: &NetworkBlock,
        output: &OutputDeclaration,
    ) -> Vec<Names> {
        let read = |port: usize| block.inputs.get(port)?.as_ref();
        if let Some(ElementsOf { input, view }) = output.elements {
            let Some(Source::Port(part)) = read(input as usize).map(|wire| &wire.source) else {
                return Vec::new();
            };
            return self.of_view(typed, part, view).into_iter().collect();
        }
        let is_open = match &output.ty {
            Type::Vector(n) => n.known().is_none(),
            ty => matches!(ty, Type::Var(_)),
        };
        if !is_open {
            return Vec::new();
        }
        let declared = block.declaration.inputs.iter().enumerate();
        let like = declared.filter(|(_, input)| input.ty == output.ty);
        let names = like.filter_map(|(port, _)| match &read(port)?.source {
            Source::Port(part) => self.of_part(typed, part),
            _ => None,
        });
        names.collect()
    }

    /// Those of a part of a bus, or of a vector itself.
    fn of_view(&self, typed: &TypedNetwork, part: &PortPart, view: &str) -> Option<Names> {
        let selected = select(&typed.output(part).ty, &part.select, part.span)?.ok()?;
        match &selected.ty {
            Type::Bus(bus) => {
                // That of a world has the parts of its robots instead.
                let view = bus.views.iter().find(|known| known.name == view)?;
                (!view.labels.is_empty()).then(|| view.labels.clone().into())
            }
            _ => self.of_part(typed, part),
        }
    }

    fn of_part(&self, typed: &TypedNetwork, part: &PortPart) -> Option<Names> {
        let selected = select(&typed.output(part).ty, &part.select, part.span)?.ok()?;
        if !selected.labels.is_empty() {
            return Some(selected.labels.into());
        }
        let whole = self.of.get(&(part.block, part.output.index()))?.as_ref()?;
        let stretch: Option<Range<usize>> = selected.part.map(|(start, len)| start..start + len);
        match stretch {
            None => Some(Arc::clone(whole)),
            Some(stretch) => Some(whole.get(stretch)?.into()),
        }
    }
}
