//! Which blocks of a diagram with mistakes compute something that follows from them.

use std::collections::BTreeSet;

use legwork_block::{Diagnostics, Severity, Span};

use crate::expand::Assertion;
use crate::ids::{BlockId, IdVec};
use crate::network::{Network, NetworkBlock, Source};

/// The blocks at which errors are, and all that read them.
pub(crate) fn broken_blocks(
    network: &Network,
    assertions: &[Assertion],
    diagnostics: &Diagnostics,
) -> BTreeSet<BlockId> {
    let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error);
    let places: Vec<Span> = errors.map(|found| found.primary.span).collect();
    let has_error = |span: Span| {
        let is_inside =
            |at: &Span| at.file == span.file && (span.start..span.end).contains(&at.start);
        places.iter().any(|at| *at == span || is_inside(at))
    };
    let mut broken = BTreeSet::new();
    for assertion in assertions.iter().filter(|assertion| has_error(assertion.span)) {
        assertion.source.each_port(&mut |part| {
            broken.insert(part.block);
        });
    }
    for id in network.blocks.ids() {
        let NetworkBlock { span, parameters, inputs, .. } = &network.blocks[id];
        let mut wires = inputs.iter().flatten();
        let is_broken = has_error(*span)
            || parameters.iter().any(|parameter| has_error(parameter.span))
            || wires.any(|wire| has_error(wire.span) || is_cut(&wire.source));
        if is_broken {
            broken.insert(id);
        }
    }
    let mut readers: IdVec<BlockId, Vec<BlockId>> =
        network.blocks.ids().map(|_| Vec::new()).collect();
    for id in network.blocks.ids() {
        let NetworkBlock { inputs, asked, functions, .. } = &network.blocks[id];
        for &read in asked.iter().chain(functions.iter().flatten()) {
            readers[read].push(id);
        }
        for wire in inputs.iter().flatten() {
            wire.source.each_port(&mut |part| readers[part.block].push(id));
        }
    }
    let mut open: Vec<BlockId> = broken.iter().copied().collect();
    while let Some(block) = open.pop() {
        open.extend(readers[block].iter().filter(|reader| broken.insert(**reader)));
    }
    broken
}

/// Whether a part of a source has mistakes of its own.
fn is_cut(source: &Source) -> bool {
    match source {
        Source::Port(_) => false,
        Source::Bus { fields: parts, .. }
        | Source::Array { items: parts, .. }
        | Source::Join { items: parts, .. } => parts.iter().any(is_cut),
        Source::Broken(_) => true,
    }
}
