//! Network → typed network: plans blocks, finds every type, dimension and unit.

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::{
    Declaration, Diagnostic, Diagnostics, Files, Invalid, PlannedBlock, PortUnit, Ports, Resources,
    Span, Type, Unit, Var, parse_unit,
};

use crate::expand::{Assertion, LogEntry};
use crate::network::{NetworkBlock, PortPath, Source};
use crate::select::{Selected, select};
use crate::unify::{Solution, UnitTerm};

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

/// Types by name: those of the registry and the diagram's own buses.
pub(crate) trait NamedTypes {
    /// The bus `name` with fresh variables from `next_var` on.
    fn bus(&self, name: &str, next_var: &mut u32) -> Option<Type>;
}

/// Plans every block and adds hidden nodes for shared computations.
pub(crate) fn plan(
    network: Vec<NetworkBlock>,
    resources: &dyn Resources,
    files: &dyn Files,
    step: f64,
    named_types: Arc<dyn NamedTypes>,
    diagnostics: &mut Diagnostics,
) -> TypedNetwork {
    let mut blocks: Vec<TypedBlock> = Vec::new();
    let mut shared: BTreeMap<String, usize> = BTreeMap::new();
    let mut queue: std::collections::VecDeque<NetworkBlock> = network.into();
    let mut next_var = 0;
    // Hidden nodes are appended to the queue as they are asked for, so their index is known.
    let mut total = queue.len();
    let mut planned_of_queue: Vec<Option<usize>> = Vec::new();
    let mut asks: Vec<(usize, Vec<usize>)> = Vec::new();
    while let Some(block) = queue.pop_front() {
        let ports = Ports::new(resources, files, step);
        let (declaration, planned) = match Arc::clone(&block.block).plan(ports) {
            Ok(planned) => planned,
            Err(invalid) => {
                diagnostics.push(invalid_parameter(&block, &invalid));
                planned_of_queue.push(None);
                continue;
            }
        };
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
            let path = format!("~{}[{}]", ask.key, sources.join(", "));
            let position = *shared.entry(path.clone()).or_insert_with(|| {
                let plan = Arc::clone(&ask.block).plan(Ports::new(resources, files, step));
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
                    hidden: true,
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
        blocks.push(TypedBlock {
            network: block,
            declaration,
            planned,
            asked: Vec::new(),
            var_base,
            vars: Vec::new(),
        });
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
    let index =
        blocks.iter().enumerate().map(|(i, block)| (block.network.path.clone(), i)).collect();
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
            let message = format!("expected an input of {}, found `{name}`", block.block.kind());
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
        let example = format!("connect in the block: in: {{ \"{}\": \"block.port\" }}", missing[0]);
        diagnostics.push(Diagnostic::error("missing-input", block.span, message).hint(example));
    }
}

/// Renames a block's variables to those of the whole diagram.
fn shift(mut declaration: Declaration, by: u32) -> Declaration {
    let shift_unit = |unit: &mut PortUnit| {
        if let PortUnit::Var(var) = unit {
            *var = Var(var.0 + by);
        }
    };
    for input in &mut declaration.inputs {
        input.ty = input.ty.shift(by);
        shift_unit(&mut input.unit);
    }
    for output in &mut declaration.outputs {
        output.ty = output.ty.shift(by);
        shift_unit(&mut output.unit);
    }
    declaration
}

/// Code of what only follows from another mistake.
const FOLLOW_UP: &str = "follow-up";

/// A value on a wire: type, unit, frame.
struct Wire {
    ty: Type,
    unit: UnitTerm,
    frame: Option<String>,
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
                solution.ty(&declared),
                solution.ty(&found.ty)
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
            solution.ty(&input.ty),
            solution.ty(&found.ty)
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

fn unit_term(unit: &PortUnit) -> UnitTerm {
    match unit {
        PortUnit::Unspecified => UnitTerm::Unspecified,
        PortUnit::Var(var) => UnitTerm::Var(*var),
        PortUnit::Is(text) => known_unit(text),
    }
}

/// The unit that a block's author wrote. A text that is no unit says nothing, so that a slip in a
/// third party's block keeps nobody from running.
fn known_unit(text: &str) -> UnitTerm {
    parse_unit(text).map_or(UnitTerm::Unspecified, |(unit, _): (Unit, _)| UnitTerm::Is(unit))
}

/// What a source carries; `None` if that is not known yet.
fn wire(
    network: &TypedNetwork,
    solution: &mut Solution,
    source: &Source,
    next_var: &mut u32,
) -> Option<Result<Wire, Box<Diagnostic>>> {
    match source {
        Source::Port(path) => port(network, solution, path),
        Source::Array { items, .. } => {
            let element = Type::Var(Var(*next_var));
            *next_var += 1;
            solution.grow(*next_var);
            let mut unit = None;
            let mut frame = None;
            for item in items {
                let found = match wire(network, solution, item, next_var)? {
                    Ok(found) => found,
                    Err(diagnostic) => return Some(Err(diagnostic)),
                };
                if solution.types(&element, &found.ty).is_err() {
                    return Some(Err(Box::new(Diagnostic::error(
                        "wrong-type",
                        item.span(),
                        format!(
                            "expected all copies to be {}, found {}",
                            solution.ty(&element),
                            solution.ty(&found.ty)
                        ),
                    ))));
                }
                unit = unit.or(Some(found.unit));
                frame = found.frame;
            }
            Some(Ok(Wire {
                ty: Type::array(element, items.len()),
                unit: unit.unwrap_or(UnitTerm::Unspecified),
                frame,
            }))
        }
        Source::Bus { name, fields, span } => {
            let Some(bus_type) = network.named_types.bus(name, next_var) else {
                return Some(Err(Box::new(Diagnostic::error(
                    "unknown-bus",
                    *span,
                    format!("expected the name of a bus, found `{name}`"),
                ))));
            };
            solution.grow(*next_var);
            let Type::Bus(bus) = &bus_type else {
                return Some(Err(Box::new(Diagnostic::error(
                    "unknown-bus",
                    *span,
                    format!("expected the name of a bus, found `{name}`, which is {bus_type}"),
                ))));
            };
            for field in &bus.fields {
                let Some((_, source)) = fields.iter().find(|(name, _)| *name == field.name) else {
                    return Some(Err(Box::new(Diagnostic::error(
                        "missing-field",
                        *span,
                        format!("field `{}` of {bus_type} is missing", field.name),
                    ))));
                };
                let found = match wire(network, solution, source, next_var)? {
                    Ok(found) => found,
                    Err(diagnostic) => return Some(Err(diagnostic)),
                };
                if solution.types(&field.ty, &found.ty).is_err() {
                    return Some(Err(Box::new(Diagnostic::error(
                        "wrong-type",
                        source.span(),
                        format!(
                            "field `{}` of {bus_type} expected {}, found {}",
                            field.name,
                            solution.ty(&field.ty),
                            solution.ty(&found.ty)
                        ),
                    ))));
                }
                let expected = field.unit.as_deref().map_or(UnitTerm::Unspecified, known_unit);
                if let Err((expected, found)) = solution.units(expected, found.unit) {
                    return Some(Err(Box::new(Diagnostic::error(
                        "unit-mismatch",
                        source.span(),
                        format!(
                            "field `{}` of {bus_type} expected the unit {expected}, found {found}",
                            field.name
                        ),
                    ))));
                }
            }
            for (name, source) in fields {
                if !bus.fields.iter().any(|field| field.name == *name) {
                    return Some(Err(Box::new(
                        Diagnostic::error(
                            "unknown-field",
                            source.span(),
                            format!("expected a field of {bus_type}, found `{name}`"),
                        )
                        .suggest(name, bus.fields.iter().map(|field| field.name.as_str())),
                    )));
                }
            }
            Some(Ok(Wire { ty: bus_type, unit: UnitTerm::Unspecified, frame: None }))
        }
    }
}

fn port(
    network: &TypedNetwork,
    solution: &Solution,
    path: &PortPath,
) -> Option<Result<Wire, Box<Diagnostic>>> {
    let (_, _, output) = match find_output(network, path) {
        Ok(found) => found,
        Err(diagnostic) => return Some(Err(diagnostic)),
    };
    let ty = solution.ty(&output.ty);
    if path.select.is_empty() {
        return Some(Ok(Wire { ty, unit: unit_term(&output.unit), frame: output.frame.clone() }));
    }
    let selected = match select(&ty, &path.select, path.span)? {
        Ok(selected) => selected,
        Err(diagnostic) => return Some(Err(Box::new(diagnostic))),
    };
    // Elements and slices of a vector keep the port's unit; fields bring their own.
    let Selected { ty, unit, frame, .. } = selected;
    let is_part = !path.select.iter().any(|s| matches!(s, crate::network::Select::Field(_)));
    Some(Ok(Wire {
        ty,
        unit: match unit {
            Some(text) => known_unit(&text),
            None if is_part => unit_term(&output.unit),
            None => UnitTerm::Unspecified,
        },
        frame: frame.or_else(|| if is_part { output.frame.clone() } else { None }),
    }))
}

/// Block, port index and declaration of the output that a path names.
pub(crate) fn find_output<'n>(
    network: &'n TypedNetwork,
    path: &PortPath,
) -> Result<(usize, usize, &'n legwork_block::OutputDeclaration), Box<Diagnostic>> {
    let Some(&block_index) = network.index.get(&path.block) else {
        // The block exists in the text but its plan failed, which is reported already; or it does
        // not exist, which expansion has reported with its scope.
        return Err(Box::new(Diagnostic::error(
            FOLLOW_UP,
            path.span,
            format!("block `{}` is not there, or has mistakes of its own", path.block),
        )));
    };
    let block = &network.blocks[block_index];
    let outputs = &block.declaration.outputs;
    match outputs.iter().position(|output| output.name == path.port) {
        Some(i) => Ok((block_index, i, &outputs[i])),
        None => {
            let names: Vec<&str> = outputs.iter().map(|output| output.name.as_str()).collect();
            let diagnostic = Diagnostic::error(
                "unknown-port",
                path.span,
                format!(
                    "no output `{}` on `{}` ({})",
                    path.port,
                    path.block,
                    block.network.block.kind()
                ),
            )
            .suggest(&path.port, names.iter().copied());
            Err(Box::new(if names.is_empty() {
                diagnostic.hint("it has no outputs")
            } else {
                diagnostic.hint(format!("it has `{}`", names.join("`, `")))
            }))
        }
    }
}
