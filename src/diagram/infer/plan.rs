//! Plans every block and adds the hidden nodes that blocks share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use legwork_block::{
    Declaration, Diagnostic, Diagnostics, Files, Invalid, PortUnit, Ports, Resources, Severity,
    Solver, Var,
};

use super::{NamedTypes, TypedBlock, TypedNetwork, functions};
use crate::network::NetworkBlock;

/// What blocks may look at when they are planned.
pub(crate) struct World<'a> {
    pub(crate) resources: &'a dyn Resources,
    pub(crate) files: &'a dyn Files,
    /// Names whose own mistakes are reported already.
    pub(crate) failed_names: &'a BTreeSet<String>,
    pub(crate) step: f64,
    pub(crate) seed: u64,
    pub(crate) solver: Solver,
}

/// Plans every block and adds hidden nodes for shared computations.
pub(crate) fn plan(
    network: Vec<NetworkBlock>,
    world: &World<'_>,
    named_types: Arc<dyn NamedTypes>,
    diagnostics: &mut Diagnostics,
) -> TypedNetwork {
    let &World { resources, files, failed_names, step, seed, solver } = world;
    let mut blocks: Vec<TypedBlock> = Vec::new();
    let mut shared: BTreeMap<String, usize> = BTreeMap::new();
    let mut queue: std::collections::VecDeque<NetworkBlock> = network.into();
    let mut next_var = 0;
    // Hidden nodes are appended to the queue as they are asked for, so their index is known.
    let mut total = queue.len();
    let mut planned_of_queue: Vec<Option<usize>> = Vec::new();
    let mut asks: Vec<(usize, Vec<usize>)> = Vec::new();
    while let Some(block) = queue.pop_front() {
        let mut ports = Ports::new(resources, files, step).at(&block.path, seed).under(solver);
        if block.owner.is_some() {
            ports = ports.in_function();
        }
        let (declaration, planned) = match Arc::clone(&block.block).plan(ports) {
            Ok(planned) => planned,
            Err(invalid) => {
                // A robot that could not be loaded has been reported.
                let follows = failed_names
                    .iter()
                    .any(|name| invalid.message.ends_with(&format!("found `{name}`")));
                if !follows {
                    diagnostics.push(invalid_parameter(&block, &invalid));
                }
                planned_of_queue.push(None);
                continue;
            }
        };
        for warning in &declaration.warnings {
            let mut diagnostic = invalid_parameter(&block, warning);
            diagnostic.severity = Severity::Warning;
            diagnostic.code = "questionable-parameter";
            diagnostics.push(diagnostic);
        }
        functions::check(&block, &declaration, diagnostics);
        check_input_names(&block, &declaration, diagnostics);
        let mut asked = Vec::new();
        for ask in &declaration.asks {
            let mut inputs = Vec::new();
            for &port in &ask.inputs {
                let name = &declaration.inputs[port as usize].name;
                if let Some(source) = block.inputs.get(name) {
                    inputs.push(source.clone());
                }
            }
            if inputs.len() != ask.inputs.len() {
                asked.push(usize::MAX);
                continue;
            }
            let sources: Vec<String> =
                inputs.iter().map(|(source, _)| source.to_string()).collect();
            // A function's blocks share among themselves only.
            let owner = block.owner.as_deref().unwrap_or_default();
            let path = format!("{owner}~{}[{}]", ask.key, sources.join(", "));
            let position = *shared.entry(path.clone()).or_insert_with(|| {
                let plan =
                    Arc::clone(&ask.block).plan(Ports::new(resources, files, step).under(solver));
                let names: Vec<String> = plan.map_or_else(
                    |_| Vec::new(),
                    |(declaration, _)| declaration.inputs.into_iter().map(|i| i.name).collect(),
                );
                queue.push_back(NetworkBlock {
                    path,
                    text: format!("{}()", ask.block.kind()),
                    block: Arc::clone(&ask.block),
                    span: block.span,
                    parameter_spans: BTreeMap::new(),
                    every: None,
                    inputs: names.into_iter().zip(inputs).collect(),
                    needs: Vec::new(),
                    owner: block.owner.clone(),
                    hidden: true,
                    gate: None,
                    condition: None,
                });
                total += 1;
                total - 1
            });
            asked.push(position);
        }
        let declaration = shift(declaration, next_var);
        let var_base = next_var;
        next_var += declaration.var_count;
        planned_of_queue.push(Some(blocks.len()));
        asks.push((blocks.len(), asked));
        let frames = functions::frames(&block, &declaration, var_base);
        blocks.push(TypedBlock {
            network: block,
            declaration,
            planned,
            asked: Vec::new(),
            gate: None,
            functions: Vec::new(),
            var_base,
            vars: Vec::new(),
        });
        blocks.extend(frames);
    }
    for (block, asked) in asks {
        blocks[block].asked = asked
            .into_iter()
            .filter_map(|position| planned_of_queue.get(position).copied().flatten())
            .collect();
    }
    sort_by_path(blocks, named_types)
}

fn sort_by_path(blocks: Vec<TypedBlock>, named_types: Arc<dyn NamedTypes>) -> TypedNetwork {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by(|&a, &b| blocks[a].network.path.cmp(&blocks[b].network.path));
    let mut new_index = vec![0; blocks.len()];
    for (new, &old) in order.iter().enumerate() {
        new_index[old] = new;
    }
    let mut slots: Vec<Option<TypedBlock>> = blocks.into_iter().map(Some).collect();
    let mut blocks: Vec<TypedBlock> = Vec::with_capacity(slots.len());
    for old in order {
        if let Some(mut block) = slots[old].take() {
            for asked in &mut block.asked {
                *asked = new_index[*asked];
            }
            blocks.push(block);
        }
    }
    let index: BTreeMap<String, usize> =
        blocks.iter().enumerate().map(|(i, block)| (block.network.path.clone(), i)).collect();
    for block in &mut blocks {
        block.gate = block.network.gate.as_ref().and_then(|gate| index.get(gate).copied());
    }
    TypedNetwork { blocks, index, named_types }
}

/// A diagnostic for what a block's `plan` or `check` found wrong.
pub(crate) fn invalid_parameter(block: &NetworkBlock, invalid: &Invalid) -> Diagnostic {
    let span = invalid
        .parameter
        .as_ref()
        .and_then(|name| block.parameter_spans.get(name))
        .copied()
        .unwrap_or(block.span);
    let mut diagnostic = Diagnostic::error(
        "invalid-parameter",
        span,
        format!("{}: {}", block.path, invalid.message),
    );
    diagnostic.hints.extend(invalid.hints.iter().cloned());
    diagnostic
}

fn check_input_names(
    block: &NetworkBlock,
    declaration: &Declaration,
    diagnostics: &mut Diagnostics,
) {
    let names = || declaration.inputs.iter().map(|input| input.name.as_str());
    for (name, (_, span)) in &block.inputs {
        if !names().any(|known| known == name) {
            let kind = block.block.kind();
            let message = match functions::called(block) {
                Some(path) => format!("`{path}` is called with `{name}`, not an input of {kind}"),
                None => format!("expected an input of {kind}, found `{name}`"),
            };
            let list: Vec<_> = names().collect();
            let diagnostic =
                Diagnostic::error("unknown-port", *span, message).suggest(name, names());
            diagnostics.push(if list.is_empty() {
                diagnostic.hint("it has no inputs")
            } else {
                diagnostic.hint(format!("it has `{}`", list.join("`, `")))
            });
        }
    }
    let missing: Vec<&str> = declaration
        .inputs
        .iter()
        .filter(|input| !input.optional && !block.inputs.contains_key(&input.name))
        .map(|input| input.name.as_str())
        .collect();
    if !missing.is_empty() {
        let plural = if missing.len() > 1 { "s" } else { "" };
        let message =
            format!("{}: input{plural} `{}` not connected", block.path, missing.join("`, `"));
        let advice = match functions::called(block) {
            Some(_) => "the function's arguments do not give it; bind a Function around it".into(),
            None => format!("connect in the block: in: {{ \"{}\": \"block.port\" }}", missing[0]),
        };
        diagnostics.push(Diagnostic::error("missing-input", block.span, message).hint(advice));
    }
}

/// Renames a block's variables to those of the whole diagram.
fn shift(mut declaration: Declaration, by: u32) -> Declaration {
    let shift_unit = |unit: &mut PortUnit| {
        if let PortUnit::Var(var) = unit {
            *var = Var(var.0 + by);
        }
    };
    let arguments = declaration.functions.iter_mut().map(|f| (&mut f.arguments, &mut f.results));
    let (arguments, results): (Vec<_>, Vec<_>) = arguments.unzip();
    for input in declaration.inputs.iter_mut().chain(results.into_iter().flatten()) {
        input.ty = input.ty.shift(by);
        shift_unit(&mut input.unit);
    }
    for output in declaration.outputs.iter_mut().chain(arguments.into_iter().flatten()) {
        output.ty = output.ty.shift(by);
        shift_unit(&mut output.unit);
    }
    declaration
}
