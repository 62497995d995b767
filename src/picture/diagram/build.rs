//! From a compiled program to its schematic.

use std::collections::BTreeMap;

use legwork_block::Type;
use legwork_program::{Edge, FunctionProgram, Node, PortPart, Program, Rate, Ratio, SubsystemPort};

use super::calls::Calls;
use super::schematic::{
    Flow, Frame, Output, Pin, Port, Ports, Role, SampleTime, Schematic, Symbol, Wire,
};

/// Name of a condition's input that switches its part on and off.
const CONTROL: &str = "by";

/// What writes an input: a pin, the part read, what it does there.
pub(super) type Source = (Pin, String, Flow);

/// The schematic of a program, with or without shared computations. Of what blocks call, the frames
/// are drawn that `is_open`, by path and depth.
pub(super) fn build(
    program: &Program,
    hidden: bool,
    is_open: &dyn Fn(&str, usize) -> bool,
) -> Schematic {
    let mut schematic = Schematic::new(&program.name);
    let mut frames = BTreeMap::new();
    let mut index = vec![None; program.nodes.len()];
    for (n, node) in program.nodes.iter().enumerate() {
        let is_condition = node.opens.is_some();
        if node.hidden && !hidden && !is_condition {
            continue;
        }
        index[n] = Some(schematic.symbols.len());
        let symbol = if is_condition {
            condition(program, node, &mut schematic, &mut frames)
        } else {
            let sample_time = sample_time(program, node.rate);
            block(node, sample_time, 0, &mut schematic, &mut frames)
        };
        schematic.symbols.push(symbol);
    }
    for subsystem in &program.subsystems {
        if let Some(&frame) = frames.get(&subsystem.path) {
            let pins = |port: &SubsystemPort| place(port, &index);
            let inputs = subsystem.inputs.iter().map(pins).collect();
            let outputs = subsystem.outputs.iter().map(pins).collect();
            schematic.frames[frame].ports = Ports { inputs, outputs };
        }
    }
    let mut sources = sources(program, &index, &mut schematic);
    outputs(program, &index, &mut schematic, &mut sources);
    let (frames, sources_of) = (&mut frames, &mut sources);
    let mut calls =
        Calls { schematic: &mut schematic, frames, sources: sources_of, hidden, is_open };
    for (node, symbol) in program.nodes.iter().zip(&index) {
        if let Some(symbol) = symbol {
            calls.add(*symbol, node);
        }
    }
    connect(&mut schematic, sources);
    schematic
}

/// A port of a subsystem in terms of pins.
fn place(port: &SubsystemPort, index: &[Option<usize>]) -> Port {
    let source = |part: &PortPart| {
        let symbol = index[part.node.index()]?;
        Some((Pin { symbol, pin: part.port as usize }, part.part.clone()))
    };
    Port { name: port.name.clone(), sources: port.ports.iter().filter_map(source).collect() }
}

/// A block that runs at `sample_time`; one that nobody wrote stands in the frame `beside`.
pub(super) fn block(
    node: &Node,
    sample_time: SampleTime,
    beside: usize,
    schematic: &mut Schematic,
    frames: &mut BTreeMap<String, usize>,
) -> Symbol {
    let (frame, name, role) = if node.hidden {
        (beside, hidden_name(&node.path), Role::Hidden)
    } else {
        let (frame, name) = frame_of(schematic, frames, &node.path);
        (frame, name, Role::Block)
    };
    let outputs = node.output_names.iter().zip(&node.output_types);
    Symbol {
        frame,
        role,
        name,
        path: node.path.clone(),
        kind: format!("{}{}", node.kind, callees(&node.functions)),
        caption: node.caption.clone(),
        note: format!("{}: {}{}", node.path, node.text, calls(&node.functions)),
        sample_time,
        inputs: node.input_names.iter().map(ToString::to_string).collect(),
        outputs: outputs.map(|(name, ty)| output(name, ty)).collect(),
        calls: false,
    }
}

/// The output pin of a port.
pub(super) fn output(name: &str, ty: &Type) -> Output {
    let bus = matches!(ty, Type::Bus(_) | Type::Array(..));
    Output { name: name.to_owned(), ty: ty.to_string(), bus }
}

/// What switches a conditional part on and off, in the part's frame. Of its inputs only the control
/// signal is drawn: the others tell its rate, or what the part around it does.
fn condition(
    program: &Program,
    node: &Node,
    schematic: &mut Schematic,
    frames: &mut BTreeMap<String, usize>,
) -> Symbol {
    let part = node.path.rsplit_once('~').map_or(node.path.as_str(), |(part, _)| part);
    let (frame, _) = frame_of(schematic, frames, &format!("{part}.{CONTROL}"));
    let name = condition_name(&node.text);
    let gate = node.opens.map(|gate| &program.gates[gate]);
    let effect = gate.map_or(String::new(), |gate| {
        let off = if gate.clears { "are zero" } else { "hold" };
        let on = if gate.restarts { "begin anew" } else { "go on" };
        format!("; outputs {off} while it is off, states {on} when it comes on")
    });
    let is_controlled = node.input_names.iter().any(|input| input == CONTROL);
    Symbol {
        frame,
        role: Role::Condition,
        note: format!("{part}: {name}{effect}"),
        name,
        path: part.to_owned(),
        kind: String::new(),
        caption: Vec::new(),
        sample_time: sample_time(program, node.rate),
        inputs: if is_controlled { vec![CONTROL.to_owned()] } else { Vec::new() },
        outputs: Vec::new(),
        calls: false,
    }
}

/// `Triggered(Rising)` of `Triggered(Triggered(Rising))`, `Enabled` of `Enabled(Enabled)`.
fn condition_name(text: &str) -> String {
    let word = text.split('(').next().unwrap_or(text);
    let detail = text.rsplit('(').next().map_or("", |last| last.trim_end_matches(')'));
    if detail == word { word.to_owned() } else { format!("{word}({detail})") }
}

/// Kinds of the blocks that a block calls, by name of the function: `(solve: ActiveSetQp)`.
fn callees(functions: &[FunctionProgram]) -> String {
    let call = |function: &FunctionProgram| {
        let kinds: Vec<&str> = function.blocks().map(|block| block.kind).collect();
        format!("{}: {}", function.name, kinds.join(", "))
    };
    match functions {
        [] => String::new(),
        _ => format!("({})", functions.iter().map(call).collect::<Vec<_>>().join("; ")),
    }
}

/// What a block calls, by name of the function, with its parameters.
fn calls(functions: &[FunctionProgram]) -> String {
    let call = |function: &FunctionProgram| {
        let blocks: Vec<&str> = function.blocks().map(|block| block.text.as_str()).collect();
        format!("; {} calls {}", function.name, blocks.join(", "))
    };
    functions.iter().map(call).collect()
}

/// What writes each input pin; pins for shared values are made here.
fn sources(
    program: &Program,
    index: &[Option<usize>],
    schematic: &mut Schematic,
) -> BTreeMap<Pin, Vec<Source>> {
    let mut sources: BTreeMap<Pin, Vec<Source>> = BTreeMap::new();
    for edge in &program.edges {
        let Edge { from, from_port, part, to, to_port, feeds } = edge;
        let reader = &program.nodes[*to];
        let (Some(from), Some(to)) = (index[from.index()], index[to.index()]) else { continue };
        let symbols = &mut schematic.symbols;
        let is_control = symbols[to].role == Role::Condition;
        let name = to_port.and_then(|port| reader.input_names.get(port as usize));
        if symbols[from].role == Role::Condition
            || is_control && name.is_none_or(|name| name != CONTROL)
        {
            continue;
        }
        let out = match to_port {
            Some(_) => *from_port as usize,
            None => shared_output(&mut symbols[from]),
        };
        let input = match to_port {
            Some(_) if is_control => 0,
            Some(port) => *port as usize,
            None => {
                let name = symbols[from].kind.clone();
                symbols[to].inputs.push(name);
                symbols[to].inputs.len() - 1
            }
        };
        let flow = match feeds {
            _ if is_control => Flow::Control,
            true => Flow::Through,
            false => Flow::State,
        };
        let source = (Pin { symbol: from, pin: out }, part.clone(), flow);
        let known = sources.entry(Pin { symbol: to, pin: input }).or_default();
        match known.iter_mut().find(|(pin, part, _)| (pin, part) == (&source.0, &source.1)) {
            Some(same) => same.2 = same.2.join(source.2),
            None => known.push(source),
        }
    }
    sources
}

/// Adds a symbol for each output of the diagram. Its inputs are blocks, `^u`.
fn outputs(
    program: &Program,
    index: &[Option<usize>],
    schematic: &mut Schematic,
    sources: &mut BTreeMap<Pin, Vec<Source>>,
) {
    for output in &program.outputs {
        let pins = output.from.iter().filter_map(|part| {
            let pin = Pin { symbol: index[part.node.index()]?, pin: part.port as usize };
            Some((pin, part.part.clone(), Flow::Through))
        });
        let pins: Vec<Source> = pins.collect();
        let times = pins.iter().map(|(pin, ..)| &schematic.symbols[pin.symbol].sample_time);
        let sample_time = times.max().cloned().unwrap_or(SampleTime::Constant);
        sources.insert(Pin { symbol: schematic.symbols.len(), pin: 0 }, pins);
        schematic.symbols.push(Symbol {
            frame: 0,
            role: Role::Block,
            name: output.name.clone(),
            path: output.name.clone(),
            kind: "Output".to_owned(),
            caption: Vec::new(),
            note: format!("output {}: {}", output.name, output.signal.ty),
            sample_time,
            inputs: vec![String::new()],
            outputs: Vec::new(),
            calls: false,
        });
    }
}

/// The output pin of a shared value.
fn shared_output(symbol: &mut Symbol) -> usize {
    const NAME: &str = "shared";
    if let Some(known) = symbol.outputs.iter().position(|output| output.ty == NAME) {
        return known;
    }
    symbol.outputs.push(Output { name: NAME.to_owned(), ty: NAME.to_owned(), bus: true });
    symbol.outputs.len() - 1
}

/// Makes the wires. Where several sources write one input, they meet at a bar next to where they
/// come from, so that one wire leaves the copies of a for-each; equal sources share a bar.
pub(super) fn connect(schematic: &mut Schematic, sources: BTreeMap<Pin, Vec<Source>>) {
    let mut joins: BTreeMap<Vec<(Pin, String)>, usize> = BTreeMap::new();
    let mut join_wires: BTreeMap<(usize, usize), Wire> = BTreeMap::new();
    for (to, sources) in sources {
        if let [(from, part, flow)] = sources.as_slice() {
            schematic.wires.push(Wire { from: *from, to, part: part.clone(), flow: *flow });
            continue;
        }
        let key: Vec<_> = sources.iter().map(|(from, part, _)| (*from, part.clone())).collect();
        let join = *joins.entry(key).or_insert_with(|| {
            let frame =
                schematic.common_frame(sources.iter().map(|s| schematic.symbols[s.0.symbol].frame));
            let sample_time =
                sources.iter().map(|s| &schematic.symbols[s.0.symbol].sample_time).max();
            schematic.symbols.push(Symbol {
                frame,
                role: Role::Join,
                name: String::new(),
                path: String::new(),
                kind: String::new(),
                caption: Vec::new(),
                note: format!("array of {}", sources.len()),
                sample_time: sample_time.cloned().unwrap_or(SampleTime::Constant),
                inputs: vec![String::new(); sources.len()],
                outputs: vec![Output {
                    name: String::new(),
                    ty: format!("{} signals", sources.len()),
                    bus: true,
                }],
                calls: false,
            });
            schematic.symbols.len() - 1
        });
        for (pin, (from, part, flow)) in sources.iter().enumerate() {
            let wire = join_wires.entry((join, pin)).or_insert_with(|| Wire {
                from: *from,
                to: Pin { symbol: join, pin },
                part: part.clone(),
                flow: *flow,
            });
            wire.flow = wire.flow.join(*flow);
        }
        let flow = sources.iter().map(|s| s.2).reduce(Flow::join).unwrap_or(Flow::State);
        let from = Pin { symbol: join, pin: 0 };
        schematic.wires.push(Wire { from, to, part: String::new(), flow });
    }
    schematic.wires.extend(join_wires.into_values());
}

fn sample_time(program: &Program, rate: Rate) -> SampleTime {
    match rate {
        Rate::Constant => SampleTime::Constant,
        Rate::Continuous => SampleTime::Continuous,
        Rate::Periodic { period, offset } => {
            let text = |ticks: u64| {
                Ratio::new(i128::from(ticks), 1)
                    .and_then(|ticks| program.base.times(ticks))
                    .map_or_else(|| format!("{ticks} ticks"), |time| time.to_string())
            };
            let text = match offset {
                0 => format!("every {}", text(period)),
                _ => format!("every {} from {}", text(period), text(offset)),
            };
            SampleTime::Periodic { period, offset, text }
        }
    }
}

/// The steps of a path: `foot[FL.x].point` has two.
fn steps(path: &str) -> Vec<&str> {
    let mut steps = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    for (at, c) in path.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '.' if depth == 0 => {
                steps.push(&path[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    steps.push(&path[start..]);
    steps
}

/// The frame of the block at `path`, made if need be, and the block's own name. A step with a key,
/// `foot[FL]`, is a frame in the frame `foot` of all copies.
pub(super) fn frame_of(
    schematic: &mut Schematic,
    known: &mut BTreeMap<String, usize>,
    path: &str,
) -> (usize, String) {
    let steps = steps(path);
    let mut frame = 0;
    let mut prefix = String::new();
    let last = steps.len() - 1;
    for (s, step) in steps.iter().enumerate() {
        let group = step.split_once('[').map(|(group, _)| group);
        for name in group.into_iter().chain((s < last).then_some(*step)) {
            let path = format!("{prefix}{name}");
            let parent = frame;
            frame = *known.entry(path.clone()).or_insert_with(|| {
                schematic.frames.push(Frame::new(Some(parent), name, path));
                schematic.frames.len() - 1
            });
        }
        prefix.push_str(step);
        prefix.push('.');
    }
    (frame, steps[last].to_owned())
}

/// `~KinematicsOf:go[body.state]` shows as `KinematicsOf:go`, and so does that of a call,
/// `robot.f()~KinematicsOf:go[robot.f().state]`.
fn hidden_name(path: &str) -> String {
    let path = path.split_once('~').map_or(path, |(_, path)| path);
    path.split_once('[').map_or(path, |(name, _)| name).to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

    use super::*;

    #[test]
    fn a_path_is_a_chain_of_frames() {
        let mut schematic = Schematic::new("");
        let mut known = BTreeMap::new();
        let (frame, name) = frame_of(&mut schematic, &mut known, "leg.foot[F.L].point");
        let names: Vec<_> =
            schematic.chain(frame).into_iter().map(|f| &*schematic.frames[f].path).collect();
        assert_eq!(names, ["", "leg", "leg.foot", "leg.foot[F.L]"]);
        assert_eq!(name, "point");
        assert_eq!(
            frame_of(&mut schematic, &mut known, "leg.foot.J").0,
            schematic.frames[frame].parent.unwrap()
        );
        assert_eq!(frame_of(&mut schematic, &mut known, "body").0, 0);
        assert_eq!(hidden_name("~Kinematics:go[body.state]"), "Kinematics:go");
        assert_eq!(hidden_name("robot.f()~Kinematics:go[robot.f().state]"), "Kinematics:go");
    }

    #[test]
    fn a_condition_says_its_test_once() {
        assert_eq!(condition_name("Enabled(Enabled)"), "Enabled");
        assert_eq!(condition_name("Triggered(Triggered(Rising))"), "Triggered(Rising)");
        assert_eq!(condition_name("Every(Every(10))"), "Every(10)");
        assert_eq!(condition_name("Enabled"), "Enabled");
        assert_eq!(condition_name("Triggered(Falling)"), "Triggered(Falling)");
    }
}
