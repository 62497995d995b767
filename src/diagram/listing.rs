//! The compiled diagram as text, its wires and signals for drawing, its hash.

use std::fmt::Write as _;

use legwork_block::{Feed, Feeds};
use legwork_program::{Edge, Fnv, FunctionProgram, Node, Program, Rate, SignalRef};

use crate::infer::{TypedNetwork, find_output, unit_text};
use crate::layout::Layout;

/// Every wire, by reader.
pub(crate) fn edges(network: &TypedNetwork) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (to, block) in network.blocks.iter().enumerate() {
        let feeds = |feed: Feed| {
            block.declaration.groups.iter().any(|group| match group {
                Feeds::All => true,
                Feeds::Only(list) => list.contains(&feed),
            })
        };
        for (port, input) in block.declaration.inputs.iter().enumerate() {
            let Some((source, _)) = block.network.inputs.get(&input.name) else { continue };
            let mut paths = Vec::new();
            source.ports(&mut paths);
            for path in paths {
                let Ok((from, from_port, _)) = find_output(network, path) else { continue };
                edges.push(Edge {
                    from: from as u32,
                    from_port: from_port as u16,
                    part: path.select.iter().map(ToString::to_string).collect(),
                    to: to as u32,
                    to_port: Some(port as u16),
                    feeds: feeds(Feed::Input(port as u16)),
                });
            }
        }
        for (index, &from) in block.asked.iter().enumerate() {
            edges.push(Edge {
                from: from as u32,
                from_port: 0,
                part: String::new(),
                to: to as u32,
                to_port: None,
                feeds: feeds(Feed::Shared(index as u16)),
            });
        }
    }
    edges
}

/// Every output port by path.
pub(crate) fn signals(network: &TypedNetwork, layout: &Layout) -> Vec<SignalRef> {
    let mut signals = Vec::new();
    for (block, node) in network.blocks.iter().zip(&layout.nodes) {
        for (port, output) in block.declaration.outputs.iter().enumerate() {
            signals.push(SignalRef {
                path: format!("{}.{}", node.path, output.name),
                ty: output.ty.clone(),
                unit: unit_text(&output.unit),
                slots: node.io.outputs.port(port).to_vec(),
            });
        }
    }
    signals.sort_by(|a, b| a.path.cmp(&b.path));
    signals
}

/// The diagram with everything expanded: blocks by path with kind, parameters, rate, sources and
/// types, then the order of execution.
pub(crate) fn expanded(program: &Program) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_expanded(program, &mut out);
    out
}

fn write_expanded(program: &Program, out: &mut String) -> std::fmt::Result {
    let run = &program.run;
    writeln!(
        out,
        "run: stop {}, step {}, solver {}, seed {}",
        run.stop, run.step, run.solver, run.seed
    )?;
    writeln!(
        out,
        "memory: {} numbers in signals, {} in continuous state, {} shared values\n",
        program.arena_len, program.state_len, program.pool_len
    )?;
    for (n, node) in program.nodes.iter().enumerate() {
        let hidden = if node.hidden { "  (shared)" } else { "" };
        writeln!(out, "{}: {}  [{}]{hidden}", node.path, node.text, rate_text(program, node.rate))?;
        write_wires(&program.nodes, &program.edges, n, out)?;
        for (name, ty) in node.output_names.iter().zip(&node.output_types) {
            writeln!(out, "    {name}: {ty}")?;
        }
        for function in &node.functions {
            write_function(function, &node.path, out)?;
        }
    }
    writeln!(out, "\norder:")?;
    for (i, step) in program.schedule.iter().enumerate() {
        let node = &program.nodes[step.node as usize];
        let several = program.schedule.iter().filter(|other| other.node == step.node).count() > 1;
        let group = if several { format!(" (group {})", step.group) } else { String::new() };
        writeln!(out, "{:>4}  {}{group}", i + 1, node.path)?;
    }
    Ok(())
}

/// What the inputs of node `n` read.
fn write_wires(nodes: &[Node], edges: &[Edge], n: usize, out: &mut String) -> std::fmt::Result {
    for edge in edges.iter().filter(|edge| edge.to as usize == n) {
        let from = &nodes[edge.from as usize];
        let held = if edge.feeds { "" } else { "  (does not feed through)" };
        match edge.to_port {
            Some(port) => writeln!(
                out,
                "    {} <- {}.{}{}{held}",
                nodes[n].input_names[port as usize],
                from.path,
                from.output_names.get(edge.from_port as usize).map_or("", String::as_str),
                edge.part
            )?,
            None => writeln!(out, "    uses {}", from.path)?,
        }
    }
    Ok(())
}

/// A function below its caller: the call with its arguments and results, then the blocks inside in
/// the order in which a call runs them.
fn write_function(function: &FunctionProgram, caller: &str, out: &mut String) -> std::fmt::Result {
    let frame = &function.nodes[function.frame as usize];
    let arguments = frame.output_names.iter().zip(&frame.output_types);
    let arguments: Vec<String> = arguments.map(|(name, ty)| format!("{name}: {ty}")).collect();
    let results = frame.input_names.join(", ");
    writeln!(
        out,
        "{}: fn({}) -> ({results})  [called by {caller}; {} numbers]",
        frame.path,
        arguments.join(", "),
        function.arena_len
    )?;
    write_wires(&function.nodes, &function.edges, function.frame as usize, out)?;
    for (n, node) in function.nodes.iter().enumerate() {
        let steps =
            function.schedule.iter().enumerate().filter(|(_, step)| step.node as usize == n);
        let order: Vec<String> = steps.map(|(at, _)| (at + 1).to_string()).collect();
        if n == function.frame as usize {
            continue;
        }
        let hidden = if node.hidden { "  (shared)" } else { "" };
        writeln!(out, "{}: {}  [call, {}]{hidden}", node.path, node.text, order.join(", "))?;
        write_wires(&function.nodes, &function.edges, n, out)?;
        for (name, ty) in node.output_names.iter().zip(&node.output_types) {
            writeln!(out, "    {name}: {ty}")?;
        }
        for inner in &node.functions {
            write_function(inner, &node.path, out)?;
        }
    }
    Ok(())
}

/// A rate for people.
pub fn rate_text(program: &Program, rate: Rate) -> String {
    match rate {
        Rate::Constant => "constant".into(),
        Rate::Continuous => "continuous".into(),
        Rate::Periodic { period, offset } => {
            let base = program.base;
            let time = |ticks: u64| {
                legwork_program::Ratio::new(i128::from(ticks), 1)
                    .and_then(|ticks| ticks.times(base))
                    .map_or_else(|| "?".into(), |time| time.to_string())
            };
            if offset == 0 {
                format!("every {}", time(period))
            } else {
                format!("every {} from {}", time(period), time(offset))
            }
        }
    }
}

/// FNV-1a over the listing, what is recorded, and what is checked: two programs that would run
/// differently differ here.
pub(crate) fn hash(program: &Program) -> u64 {
    let mut hash = Fnv::default();
    hash.add(&program.expanded);
    hash.add_bytes(&program.resources.to_le_bytes());
    for channel in &program.log {
        hash.add(&format!("{} {:?}", channel.signal.path, channel.rate));
    }
    for check in &program.checks {
        hash.add(&format!("{} {} {} {}", check.name, check.text, check.after, check.until));
    }
    hash.value()
}
