//! The ports of the diagram that runs, placed (semantics 11).

use legwork_block::{Diagnostic, Diagnostics, code};
use legwork_program::{Edge, InputPort, NodeId, OutputPort, SignalRef};

use crate::checks::{Signals, placed, source_type, source_units};
use crate::expand::{RootInput, RootOutput};
use crate::infer::TypedNetwork;
use crate::layout::Layout;
use crate::listing::port_parts;
use crate::select::Units;

/// The inputs, in the order of their declaration.
pub(crate) fn inputs(
    inputs: &[RootInput],
    typed: &TypedNetwork,
    layout: &Layout,
) -> Vec<InputPort> {
    let input = |input: &RootInput| {
        let node = typed.network.node(input.block);
        let slots = layout.nodes[node].io.outputs.port(0).to_vec();
        let output = &typed.outputs(input.block)[0];
        let leaves = slots.iter().map(|slot| slot.len as usize);
        InputPort {
            name: input.name.clone(),
            doc: input.doc.clone(),
            node: NodeId::new(node),
            signal: SignalRef {
                path: format!("^{}", input.name),
                ty: output.ty.clone(),
                unit: output.units.one.clone(),
                units: output.units.each.clone(),
                labels: Vec::new(),
                slots: slots.clone(),
            },
            // A value that does not fit is reported where blocks are placed.
            initial: input.held.as_ref().map(|held| held.spread(leaves).unwrap_or_default()),
            given: input.given,
            span: input.span,
        }
    };
    inputs.iter().map(input).collect()
}

/// The outputs, in the order of their declaration.
pub(crate) fn outputs(
    outputs: &[RootOutput],
    &Signals { typed, layout, labels, .. }: &Signals<'_>,
) -> Vec<OutputPort> {
    let output = |output: &RootOutput| {
        let Units { one, each } = source_units(typed, &output.source);
        let unit = output.unit.clone().or(one);
        Some(OutputPort {
            name: output.name.clone(),
            doc: output.doc.clone(),
            signal: SignalRef {
                path: output.name.clone(),
                ty: source_type(typed, &output.source)?,
                units: if unit.is_none() { each } else { Vec::new() },
                unit,
                labels: labels.of_source(typed, &output.source),
                slots: placed(typed, layout, &output.source)?,
            },
            from: port_parts(&typed.network, &output.source),
        })
    };
    outputs.iter().filter_map(output).collect()
}

/// Warns of inputs that nothing reads.
pub(crate) fn warn_unread(
    inputs: &[InputPort],
    edges: &[Edge],
    outputs: &[OutputPort],
    diagnostics: &mut Diagnostics,
) {
    for input in inputs {
        let wired = edges.iter().any(|edge| edge.from == input.node);
        let handed_on =
            outputs.iter().flat_map(|output| &output.from).any(|part| part.node == input.node);
        if !wired && !handed_on {
            let message = format!("nothing reads the input `{}`", input.name);
            diagnostics.push(
                Diagnostic::warning(code::UNUSED_INPUT, input.span, message)
                    .hint(format!("blocks read it as \"^{}\"", input.name)),
            );
        }
    }
}
