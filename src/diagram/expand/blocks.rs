//! Blocks as they enter the network: planned when they are met, wired when all names are known.

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::{
    Declaration, Diagnostic, Diagnostics, ErasedBlock, FunctionDeclaration, InputDeclaration,
    Invalid, OutputDeclaration, Ports, RateRule, Registry, Severity, Span, Var, code,
};
use smallvec::SmallVec;

use super::unresolved::{Unresolved, not_among};
use super::{
    Assertion, AssertionOf, Expander, PendingAssertion, PendingCopies, PendingInputs, Resolver,
};
use crate::function_frame::{self, call_site};
use crate::ids::{BlockId, Id, IdVec, OutputId};
use crate::network::{
    ConditionFacts, NetworkBlock, ParameterNote, PortPart, Sampling, Source, Wire, source_text,
};

/// A block on its way into the network.
pub(super) struct NewBlock<'n> {
    pub(super) path: String,
    pub(super) block: Arc<dyn ErasedBlock>,
    pub(super) span: Span,
    pub(super) parameters: SmallVec<[ParameterNote; 1]>,
    pub(super) text: String,
    pub(super) hidden: bool,
    /// Names of the inputs that its user connects.
    pub(super) connected: &'n [&'n str],
    pub(super) every: Option<Sampling>,
    pub(super) owner: Option<BlockId>,
    pub(super) gate: Option<BlockId>,
    pub(super) condition: Option<ConditionFacts>,
}

impl Expander<'_> {
    /// Plans a block and adds it; `None` if that is not possible, which is then reported.
    pub(super) fn add_block(&mut self, new: NewBlock<'_>) -> Option<BlockId> {
        let NewBlock { path, block, span, parameters, .. } = new;
        let run = self.run.as_ref()?;
        let budget = |count| self.budget.spend(count);
        let mut ports = Ports::new(&self.robots, self.loader, run.step.0.to_f64())
            .within(&budget)
            .at(&path, run.seed)
            .until(run.stop.0.to_f64())
            .under(run.solver.0)
            .connecting(new.connected)
            .every(new.every.map(|every| every.period.to_f64()));
        if new.owner.is_some() {
            ports = ports.in_function();
        }
        let planned = block.plan(ports);
        let follows = self.robots.take_asked_failed();
        let invalid = |invalid: &Invalid| invalid_parameter(&path, span, &parameters, invalid);
        let (mut declaration, planned) = match planned {
            Ok(planned) => planned,
            Err(_) if follows => return None,
            Err(found) => {
                let diagnostic = invalid(&found);
                self.report(diagnostic);
                return None;
            }
        };
        for warning in &declaration.warnings {
            let diagnostic = Diagnostic {
                severity: Severity::Warning,
                code: code::QUESTIONABLE_PARAMETER,
                ..invalid(warning)
            };
            self.report(diagnostic);
        }
        in_variables_from(self.var_count, &mut declaration);
        let var_count = declaration.var_count;
        // It is large, and made where it stays.
        let id = self.blocks.push(NetworkBlock {
            inputs: vec![None; declaration.inputs.len()],
            functions: vec![None; declaration.functions.len()],
            var_base: self.var_count,
            joins: declaration.joins,
            declaration,
            planned,
            path,
            span,
            parameters,
            text: new.text,
            hidden: new.hidden,
            every: new.every,
            asked: Vec::new(),
            owner: new.owner,
            gate: new.gate,
            condition: new.condition,
            scope: self.scope,
        });
        self.var_count += var_count;
        if let Some(owner) = new.owner {
            self.check_time(id, owner);
        }
        if self.model_blocks.is_some() && !new.hidden && new.owner.is_none() {
            self.check_judge(id);
        }
        Some(id)
    }

    /// Adds the block that stands for the caller inside the function `index` of `caller`: its
    /// outputs are the arguments, its inputs the results, both in the caller's own variables, so
    /// that inference needs no rule of its own for calls.
    pub(super) fn add_frame(
        &mut self,
        caller: BlockId,
        index: usize,
        span: Span,
    ) -> Option<BlockId> {
        let frame = BlockId::new(self.blocks.len());
        let block = function_frame::block(&self.blocks[caller], index, frame, span)?;
        self.blocks[caller].functions[index] = Some(frame);
        Some(self.blocks.push(block))
    }

    /// Reports what asks for time of its own inside a function.
    fn check_time(&mut self, id: BlockId, owner: BlockId) {
        let block = &self.blocks[id];
        let site = call_site(&self.blocks, owner);
        let mut refuse = |span, what: &str| {
            let message = format!("{} {what}, but `{site}` has no time of its own", block.path);
            self.diagnostics.push(
                Diagnostic::error(code::FUNCTION_TIME, span, message)
                    .label("a function runs when its caller calls it")
                    .hint("connect it by wires instead, outside the function"),
            );
        };
        let declaration = &block.declaration;
        if declaration.continuous.is_some() {
            refuse(block.span, "has continuous state");
        }
        if declaration.guards.iter().any(|guard| guard.resets) {
            refuse(block.span, "has guards");
        }
        if block.condition.is_some() {
            refuse(block.span, "is a conditional part");
        }
        if declaration.solves.is_some() {
            refuse(block.span, "closes an algebraic loop");
        }
        if declaration.stops.is_some() {
            refuse(block.span, "ends the run");
        }
        if let Some(every) = block.every {
            refuse(every.span, "has a period");
        } else if declaration.rate == RateRule::Sampled {
            refuse(block.span, "has sampled state");
        }
    }

    /// Finds what every path that is still text leads to, and adds the hidden blocks that compute
    /// what blocks share.
    pub(super) fn wire(&mut self) -> Vec<Assertion> {
        let resolver = Resolver { tree: &self.tree, blocks: &self.blocks };
        let mut wires = Vec::with_capacity(self.pending.len());
        for pending in std::mem::take(&mut self.pending) {
            block_wires(&resolver, self.registry, pending, &mut wires, self.diagnostics);
        }
        for pending in std::mem::take(&mut self.copies) {
            copies(&resolver, &pending, &mut wires, self.diagnostics);
        }
        let assertions = std::mem::take(&mut self.assertions)
            .into_iter()
            .filter_map(|pending| assertion(&resolver, pending, self.diagnostics))
            .collect();
        self.keep_apart(&wires);
        for NewWire { block, input, wire } in wires {
            self.blocks[block].inputs[input] = Some(wire);
        }
        self.add_shared();
        assertions
    }

    /// Adds a hidden block for each shared computation that is asked for. Two asks of one key with
    /// the same sources share one, and a function's blocks share among themselves only.
    fn add_shared(&mut self) {
        let mut shared: BTreeMap<String, BlockId> = BTreeMap::new();
        // Hidden blocks may ask for others.
        let mut at = 0;
        while at < self.blocks.len() {
            let id = BlockId::new(at);
            at += 1;
            let asks = std::mem::take(&mut self.blocks[id].declaration.asks);
            for ask in &asks {
                let block = &self.blocks[id];
                let wires: Option<Vec<Wire>> =
                    ask.inputs.iter().map(|&port| block.inputs[port as usize].clone()).collect();
                // An input that is missing is reported.
                let Some(wires) = wires else { continue };
                let sources: Vec<String> =
                    wires.iter().map(|wire| source_text(&self.blocks, &wire.source)).collect();
                let owner = block.owner.map_or("", |owner| &self.blocks[owner].path);
                let scope = block.scope;
                let within = &self.scopes[scope].path;
                let path = format!("{owner}{within}~{}[{}]", ask.key, sources.join(", "));
                let computation = match shared.get(&path) {
                    Some(known) => Some(*known),
                    None => {
                        let (span, owner) = (block.span, block.owner);
                        let new = NewBlock {
                            path: path.clone(),
                            text: format!("{}()", ask.block.kind()),
                            block: Arc::clone(&ask.block),
                            span,
                            parameters: SmallVec::new(),
                            hidden: true,
                            connected: &[],
                            every: None,
                            owner,
                            gate: None,
                            condition: None,
                        };
                        let new = self.within(scope, |expander| expander.add_block(new));
                        if let Some(new) = new {
                            let inputs = &mut self.blocks[new].inputs;
                            inputs.iter_mut().zip(wires).for_each(|(i, wire)| *i = Some(wire));
                            shared.insert(path, new);
                        }
                        new
                    }
                };
                self.blocks[id].asked.extend(computation);
            }
        }
    }
}

/// A wire on its way into the network.
pub(super) struct NewWire {
    pub(super) block: BlockId,
    /// Place of the input in the block's declaration.
    input: usize,
    pub(super) wire: Wire,
}

/// Adds the wires of a block's inputs.
fn block_wires(
    resolver: &Resolver<'_>,
    registry: &Registry,
    pending: PendingInputs,
    wires: &mut Vec<NewWire>,
    diagnostics: &mut Diagnostics,
) {
    let PendingInputs { block: id, inputs, frame, is_frame } = pending;
    let block = id.map(|block| &resolver.blocks[block]);
    let declared = block.map_or(&[][..], |block| &block.declaration.inputs);
    let first = wires.len();
    let mut unknown = Vec::new();
    for (name, node) in inputs.iter() {
        let span = node.span;
        let input = declared.iter().position(|input| input.name == *name);
        if block.is_some() && input.is_none() && !is_frame {
            unknown.push((name.as_str(), span));
            continue;
        }
        let source = match resolver.source(frame, node, false) {
            Ok(source) => source,
            // An input that needs it is said to be missing.
            Err(Unresolved::Absent { .. }) => continue,
            Err(unresolved) => {
                diagnostics.extend(unresolved.diagnostic());
                Source::Broken(span)
            }
        };
        if let (Some(block), Some(input)) = (id, input) {
            wires.push(NewWire { block, input, wire: Wire { source, span } });
        }
    }
    wires[first..].sort_by_key(|wire| wire.input);
    if let (Some(block), false) = (block, is_frame) {
        check_inputs((resolver, registry), block, &wires[first..], &unknown, diagnostics);
    }
}

/// Reports inputs that the block does not have, and inputs that are not connected.
fn check_inputs(
    (resolver, registry): (&Resolver<'_>, &Registry),
    block: &NetworkBlock,
    wires: &[NewWire],
    unknown: &[(&str, Span)],
    diagnostics: &mut Diagnostics,
) {
    let declared = &block.declaration.inputs;
    // A condition is wired to the one around it when it is made.
    let is_wired = |input: usize| {
        block.inputs[input].is_some() || wires.iter().any(|wire| wire.input == input)
    };
    let missing = declared.iter().enumerate();
    let missing: Vec<&str> = missing
        .filter(|(input, declared)| !declared.optional && !is_wired(*input))
        .map(|(_, declared)| &*declared.name)
        .collect();
    if unknown.is_empty() && missing.is_empty() {
        return;
    }
    let called = called(resolver.blocks, block);
    for &(name, span) in unknown {
        let kind = block.planned.kind();
        let message = match &called {
            Some(site) => format!("`{site}` is called with `{name}`, not an input of {kind}"),
            None => format!("expected an input of {kind}, found `{name}`"),
        };
        let known = declared.iter().map(|input| &*input.name);
        let mut found = not_among(code::UNKNOWN_PORT, span, message, name, known, "it has");
        if let Some(condition) = condition(registry, kind, name) {
            found = found.hint(format!("it has `{name}` {condition}"));
        }
        diagnostics.push(match declared.is_empty() {
            true => found.hint("it has no inputs"),
            false => found,
        });
    }
    // A wrong name is probably that of a missing input.
    let Some(first) = missing.first().filter(|_| unknown.is_empty()) else { return };
    let plural = if missing.len() > 1 { "s" } else { "" };
    let message = format!("{}: input{plural} `{}` not connected", block.path, missing.join("`, `"));
    let advice = match called {
        Some(_) => "the function's arguments do not give it; bind a Function around it".to_owned(),
        None => format!("connect in the block: in: {{ \"{first}\": \"block.port\" }}"),
    };
    diagnostics.push(Diagnostic::error(code::MISSING_INPUT, block.span, message).hint(advice));
}

/// When a kind of block has an input that it does not always have, as its manual says: "with the
/// parameter `reset` only".
fn condition(registry: &Registry, kind: &str, input: &str) -> Option<String> {
    let schema = (registry.find_block(kind)?.schema)().to_value();
    let begin = format!("| in `{input}`, ");
    let mut lines = schema["description"].as_str()?.lines();
    let row = lines.find_map(|line| line.trim_start().strip_prefix(&begin))?;
    let condition = row.split(" |").next()?.trim_end_matches(", optional");
    ["with", "not "].iter().any(|word| condition.starts_with(word)).then(|| condition.to_owned())
}

/// The call site, if the block itself is what a function is bound to.
fn called<'b>(blocks: &'b IdVec<BlockId, NetworkBlock>, block: &NetworkBlock) -> Option<&'b str> {
    let site = call_site(blocks, block.owner?);
    (site == block.path).then_some(site)
}

/// Adds the wires of a block that joins copies: one from each of them.
fn copies(
    resolver: &Resolver<'_>,
    pending: &PendingCopies,
    wires: &mut Vec<NewWire>,
    diagnostics: &mut Diagnostics,
) {
    let (block, span) = (pending.block, pending.node.span);
    wires.extend(pending.frames.iter().enumerate().map(|(input, &frame)| {
        let source = resolver.source(frame, &pending.node, false).unwrap_or_else(|unresolved| {
            diagnostics.extend(unresolved.diagnostic());
            Source::Broken(span)
        });
        NewWire { block, input, wire: Wire { source, span } }
    }));
}

fn assertion(
    resolver: &Resolver<'_>,
    pending: PendingAssertion,
    diagnostics: &mut Diagnostics,
) -> Option<Assertion> {
    let PendingAssertion { of, ty, var_count, unit, span, what, code } = pending;
    let (unresolved, is_optional) = match of {
        AssertionOf::Block(block) => {
            let whole = PortPart { block, output: OutputId::FIRST, select: Vec::new(), span };
            let source = Source::Port(whole);
            return Some(Assertion { source, ty, var_count, unit, span, what, code });
        }
        AssertionOf::Path { path, frame, is_optional } => match resolver.source(frame, &path, true)
        {
            Ok(source) => return Some(Assertion { source, ty, var_count, unit, span, what, code }),
            Err(unresolved) => (unresolved, is_optional),
        },
    };
    diagnostics.extend(match unresolved {
        Unresolved::Absent { .. } if is_optional => None,
        Unresolved::Absent { span, port } => Some(port.missing(span, Some(&what))),
        // A block inside that reads the input says so.
        Unresolved::NoOutput(found) if diagnostics.iter().any(|known| *known == *found) => None,
        Unresolved::NoOutput(found) => {
            Some(Diagnostic { code, message: format!("{what}: {}", found.message), ..*found })
        }
        unresolved => unresolved.diagnostic(),
    });
    None
}

/// A diagnostic for what a block's `plan` or `check` found wrong.
pub(crate) fn invalid_parameter(
    path: &str,
    span: Span,
    parameters: &[ParameterNote],
    invalid: &Invalid,
) -> Diagnostic {
    let name = invalid.parameter.as_ref();
    let at = name.and_then(|name| parameters.iter().find(|known| known.name == *name));
    let message = format!("{path}: {}", invalid.message);
    let span = at.map_or(span, |parameter| parameter.span);
    let mut diagnostic = Diagnostic::error(code::INVALID_PARAMETER, span, message);
    diagnostic.hints.extend(invalid.hints.iter().cloned());
    diagnostic
}

/// Lets the variables of a declaration begin at `base` instead of at 0.
pub(crate) fn in_variables_from(base: u32, declaration: &mut Declaration) {
    fn input(base: u32, port: &mut InputDeclaration) {
        port.ty = port.ty.shift(base);
        port.unit = port.unit.shift(base);
    }
    fn output(base: u32, port: &mut OutputDeclaration) {
        port.ty = port.ty.shift(base);
        port.unit = port.unit.shift(base);
    }
    if base == 0 {
        return;
    }
    declaration.inputs.iter_mut().for_each(|port| input(base, port));
    declaration.outputs.iter_mut().for_each(|port| output(base, port));
    for FunctionDeclaration { arguments, results, .. } in &mut declaration.functions {
        arguments.iter_mut().for_each(|port| output(base, port));
        results.iter_mut().for_each(|port| input(base, port));
    }
    for equation in &mut declaration.unit_equations {
        *equation = equation.renamed(&|var| Var(var.0 + base));
    }
    for (var, _) in &mut declaration.bare_factors {
        var.0 += base;
    }
    for var in &mut declaration.numbers {
        var.0 += base;
    }
}
