//! Loads that one prediction of a system's motion has and another has not.

use std::collections::BTreeMap;

use legwork_block::{Diagnostic, Diagnostics, code};

use crate::ids::{BlockId, Id, OutputId};
use crate::listing::port_path;
use crate::network::{Network, NetworkBlock, Source};

/// Warns of an optional input that is open at one block that predicts the motion of a system, and
/// connected at another (`Ports::predicts` of `legwork-block`): a push that the acceleration knows
/// and the contact law does not moves feet that should stand.
pub(crate) fn warn_missing(network: &Network, diagnostics: &mut Diagnostics) {
    let mut systems: BTreeMap<Vec<(BlockId, OutputId, String)>, Vec<&NetworkBlock>> =
        BTreeMap::new();
    for block in network.root.blocks.iter().map(|&block| &network.blocks[block]) {
        let system = block.declaration.predicts.map(usize::from);
        if let Some(Some(wire)) = system.and_then(|port| block.inputs.get(port)) {
            systems.entry(parts(&wire.source)).or_default().push(block);
        }
    }
    for predictors in systems.values().filter(|predictors| predictors.len() > 1) {
        for block in predictors {
            for (port, input) in block.declaration.inputs.iter().enumerate() {
                if !input.optional || block.inputs[port].is_some() {
                    continue;
                }
                let name: &str = &input.name;
                let knows = predictors.iter().find_map(|other| {
                    let declared = &other.declaration.inputs;
                    let port = declared.iter().position(|input| *input.name == *name)?;
                    Some((other, other.inputs[port].as_ref()?))
                });
                let Some((other, wire)) = knows else { continue };
                let message = format!(
                    "`{}` and `{}` predict the motion of one system, and the input `{name}` of \
                     `{}` is open",
                    other.path, block.path, block.path
                );
                let from = source_path(network, &wire.source);
                let hint = match from {
                    Some(from) => format!("connect `{name}` to \"{from}\" here too"),
                    None => format!("connect `{name}` here too"),
                };
                diagnostics
                    .push(Diagnostic::warning(code::MISSING_LOAD, block.span, message).hint(hint));
            }
        }
    }
}

/// The output ports behind a source, which say whether two are one.
fn parts(source: &Source) -> Vec<(BlockId, OutputId, String)> {
    let mut parts = Vec::new();
    source.each_port(&mut |part| {
        let select: String = part.select.iter().map(ToString::to_string).collect();
        parts.push((part.block, part.output, select));
    });
    parts
}

/// The path of a source that is one port.
fn source_path(network: &Network, source: &Source) -> Option<String> {
    let mut ports = Vec::new();
    source.each_port(&mut |part| ports.push(part.clone()));
    let [part] = &ports[..] else { return None };
    let block = &network.blocks[part.block];
    let output = block.declaration.outputs.get(part.output.index())?;
    let select: String = part.select.iter().map(ToString::to_string).collect();
    Some(port_path(&block.path, &output.name) + &select)
}
