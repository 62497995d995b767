//! Network → typed network: plans blocks, finds every type, dimension and unit.

mod functions;
mod plan;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::{
    Declaration, Diagnostic, Diagnostics, PlannedBlock, PortUnit, Span, Type, Var,
};

use crate::expand::{Assertion, LogEntry};
use crate::functions::TypedFunction;
use crate::network::{NetworkBlock, Source};
use crate::select::select;
use crate::unify::{Solution, UnitTerm, readable};
pub(crate) use plan::{World, invalid_parameter, plan};
use wire::{FOLLOW_UP, Wire, unit_term, wire};
pub(crate) use wire::{find_output, unit_text};

/// A block with its plan and its place in the numbering of variables.
pub(crate) struct TypedBlock {
    /// The block in the network.
    pub network: NetworkBlock,
    /// What it declared, with variables of the whole diagram and, after inference, without any.
    pub declaration: Declaration,
    /// Its plan.
    pub planned: Arc<dyn PlannedBlock>,
    /// The block that computes each shared value it asked for.
    pub asked: Vec<usize>,
    /// The condition that switches it on and off.
    pub gate: Option<usize>,
    /// The functions that it needs, once the network is split.
    pub functions: Vec<TypedFunction>,
    var_base: u32,
    /// Values of the dimension variables.
    pub vars: Vec<usize>,
}

/// The network with every type known.
pub(crate) struct TypedNetwork {
    /// Blocks, sorted by path.
    pub blocks: Vec<TypedBlock>,
    /// Index of each path.
    pub index: BTreeMap<String, usize>,
    /// Makes the types that diagrams name.
    pub(crate) named_types: Arc<dyn NamedTypes>,
}

impl TypedNetwork {
    /// A block's condition and those around it, from the inside out.
    pub(crate) fn gates(&self, block: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.blocks[block].gate, |&gate| {
            let around = self.blocks[gate].network.condition.as_ref()?.around.as_ref()?;
            self.index.get(around).copied()
        })
    }

    /// Whether a block runs at single major steps only, because a condition around it does.
    pub(crate) fn is_momentary(&self, block: usize) -> bool {
        let facts = |gate: usize| self.blocks[gate].network.condition.as_ref();
        self.gates(block).any(|gate| facts(gate).is_some_and(|facts| facts.momentary))
    }

    /// Over how many hits of its rate one step of a block goes.
    pub(crate) fn stretch(&self, block: usize) -> u32 {
        let facts = |gate: usize| self.blocks[gate].network.condition.as_ref();
        let stretches = self.gates(block).filter_map(|gate| Some(facts(gate)?.stretch));
        stretches.fold(1, u32::saturating_mul)
    }
}

/// Types by name: those of the registry and the diagram's own buses.
pub(crate) trait NamedTypes {
    /// The bus `name` with fresh variables from `next_var` on.
    fn bus(&self, name: &str, next_var: &mut u32) -> Option<Type>;
}

/// Finds every type, dimension and unit; reports what does not fit or stays unknown.
pub(crate) fn infer(
    network: &mut TypedNetwork,
    assertions: &[Assertion],
    logs: &[LogEntry],
    diagnostics: &mut Diagnostics,
) {
    let mut next_var: u32 = network.blocks.iter().map(|b| b.declaration.var_count).sum();
    let mut solution = Solution::default();
    solution.grow(next_var);
    let mut wires: Vec<(usize, usize, Source, Span)> = Vec::new();
    for (b, block) in network.blocks.iter().enumerate() {
        for (i, input) in block.declaration.inputs.iter().enumerate() {
            if let Some((source, span)) = block.network.inputs.get(&input.name) {
                wires.push((b, i, source.clone(), *span));
            }
        }
    }
    // A wire that selects from a type which is not known yet waits for the next round.
    while !wires.is_empty() {
        let before = (wires.len(), solution.learnt);
        let mut waiting = Vec::new();
        for (b, i, source, span) in wires {
            match wire(network, &mut solution, &source, &mut next_var) {
                None => waiting.push((b, i, source, span)),
                // What follows from a mistake that is reported already is not reported again.
                Some(Err(diagnostic)) => {
                    if diagnostic.code != FOLLOW_UP || !diagnostics.has_errors() {
                        diagnostics.push(*diagnostic);
                    }
                }
                Some(Ok(found)) => join(network, &mut solution, (b, i), &found, span, diagnostics),
            }
        }
        // Equations left open belong to no wire; the ports that stay unknown are named below.
        let _ = solution.revisit();
        wires = waiting;
        if (wires.len(), solution.learnt) == before {
            break;
        }
    }
    let stuck = !wires.is_empty();
    assert_types(network, &mut solution, assertions, &mut next_var, diagnostics);
    for entry in logs {
        if let Some(Err(diagnostic)) = wire(network, &mut solution, &entry.source, &mut next_var)
            && diagnostic.code != FOLLOW_UP
        {
            diagnostics.push(*diagnostic);
        }
    }
    for (_, _, source, span) in &wires {
        let message = format!("the type of `{source}` cannot be found out");
        diagnostics.push(
            Diagnostic::error("unknown-type", *span, message)
                .hint("connect the blocks before it to something of a known type"),
        );
    }
    finish(network, &solution, stuck, diagnostics);
}

/// Holds interfaces against what stands behind them. A type that an interface declares also tells
/// what is not known yet.
fn assert_types(
    network: &TypedNetwork,
    solution: &mut Solution,
    assertions: &[Assertion],
    next_var: &mut u32,
    diagnostics: &mut Diagnostics,
) {
    for assertion in assertions {
        let declared = assertion.ty.shift(*next_var);
        *next_var += assertion.var_count;
        solution.grow(*next_var);
        let found = match wire(network, solution, &assertion.source, next_var) {
            None => continue,
            Some(Err(diagnostic)) if diagnostic.code == FOLLOW_UP => continue,
            Some(Err(diagnostic)) => {
                let code = assertion.code;
                let mut diagnostic = Diagnostic { code, ..*diagnostic };
                diagnostic.message = format!("{}: {}", assertion.what, diagnostic.message);
                diagnostics.push(diagnostic);
                continue;
            }
            Some(Ok(found)) => found,
        };
        if solution.types(&declared, &found.ty).is_err() {
            let message = format!(
                "{} expected {}, found {}",
                assertion.what,
                readable(&solution.ty(&declared)),
                readable(&solution.ty(&found.ty))
            );
            diagnostics.push(Diagnostic::error(assertion.code, assertion.span, message));
        }
    }
}

/// Whether a source is one number; `None` while its type is not known.
pub(crate) fn is_number(network: &TypedNetwork, source: &Source) -> Option<bool> {
    let Source::Port(path) = source else { return Some(false) };
    let (_, _, output) = find_output(network, path).ok()?;
    match select(&output.ty, &path.select, path.span)?.ok()?.ty {
        Type::Var(_) => None,
        ty => Some(matches!(ty, Type::Real | Type::Bool | Type::Int)),
    }
}

/// Puts the solution into the declarations; names outputs that stayed unknown.
fn finish(
    network: &mut TypedNetwork,
    solution: &Solution,
    stuck: bool,
    diagnostics: &mut Diagnostics,
) {
    let had_errors = stuck || diagnostics.has_errors();
    for block in &mut network.blocks {
        for input in &mut block.declaration.inputs {
            input.ty = solution.ty(&input.ty);
        }
        for output in &mut block.declaration.outputs {
            output.ty = solution.ty(&output.ty);
            if let (PortUnit::Var(_), UnitTerm::Is(unit)) =
                (&output.unit, solution.unit(unit_term(&output.unit)))
            {
                output.unit = PortUnit::Is(unit.to_string());
            }
            if output.ty.leaves().is_none() && !had_errors {
                let message = format!(
                    "the type of `{}.{}` cannot be found out",
                    block.network.path, output.name
                );
                diagnostics.push(
                    Diagnostic::error("unknown-type", block.network.span, message)
                        .label(format!("so far: {}", output.ty))
                        .hint("connect it, or its inputs, to something of a known type"),
                );
            }
        }
        block.vars = (0..block.declaration.var_count)
            .map(|v| {
                let dim = legwork_block::Dim::var(Var(block.var_base + v));
                solution.dim(&dim).known().unwrap_or(0)
            })
            .collect();
    }
}

fn join(
    network: &TypedNetwork,
    solution: &mut Solution,
    (b, i): (usize, usize),
    found: &Wire,
    span: Span,
    diagnostics: &mut Diagnostics,
) {
    let block = &network.blocks[b];
    let input = &block.declaration.inputs[i];
    let port = format!("{}.{}", block.network.path, input.name);
    if let Err(mismatch) = solution.types(&input.ty, &found.ty) {
        let message = format!(
            "`{port}` expected {}, found {}",
            readable(&solution.ty(&input.ty)),
            readable(&solution.ty(&found.ty))
        );
        let same_kind = std::mem::discriminant(&solution.ty(&input.ty))
            == std::mem::discriminant(&solution.ty(&found.ty));
        let code = if same_kind && !matches!(found.ty, Type::Bus(_)) {
            "wrong-shape"
        } else {
            "wrong-type"
        };
        let mut diagnostic = Diagnostic::error(code, span, message);
        if let Some(inside) = mismatch.inside {
            diagnostic = diagnostic.label(inside);
        }
        if let (Type::Bus(expected), Type::Bus(found)) =
            (solution.ty(&input.ty), solution.ty(&found.ty))
            && expected.name == found.name
            && expected.args != found.args
            && !input.argument_hint.is_empty()
        {
            diagnostic = diagnostic.hint(input.argument_hint.as_str());
        }
        diagnostics.push(diagnostic);
        return;
    }
    let expected = unit_term(&input.unit);
    if let Err((expected, found)) = solution.units(expected, found.unit) {
        let message = format!("`{port}` expected the unit {expected}, found {found}");
        diagnostics.push(Diagnostic::error("unit-mismatch", span, message));
    }
    if let (Some(expected), Some(found)) = (&input.frame, &found.frame)
        && expected != found
    {
        let message = format!("`{port}` expected the frame `{expected}`, found `{found}`");
        diagnostics.push(Diagnostic::error("wrong-frame", span, message));
    }
}
