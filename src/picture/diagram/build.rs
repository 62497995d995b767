//! From a compiled program to the model of its picture.

use std::collections::BTreeMap;

use legwork_block::Type;
use legwork_program::{Edge, FunctionProgram, Program, Rate, Ratio};

use super::model::{Frame, Model, Node, Output, Pace, Pin, Role, Wire};

/// What writes an input: a pin of the model, the part read, whether it feeds through.
type Source = (Pin, String, bool);

/// The model of a program, with or without shared computations.
pub(super) fn build(program: &Program, hidden: bool) -> Model {
    let mut model = Model::new(&program.name);
    let mut frames = BTreeMap::new();
    let mut index = vec![None; program.nodes.len()];
    for (n, node) in program.nodes.iter().enumerate() {
        if node.hidden && !hidden {
            continue;
        }
        index[n] = Some(model.nodes.len());
        let (frame, name, role) = if node.hidden {
            (0, hidden_name(&node.path), Role::Hidden)
        } else {
            let (frame, name) = frame_of(&mut model, &mut frames, &node.path);
            (frame, name, Role::Block)
        };
        model.nodes.push(Node {
            frame,
            role,
            name,
            kind: node.kind.to_owned(),
            note: format!("{}: {}{}", node.path, node.text, calls(&node.functions)),
            pace: pace(program, node.rate),
            inputs: node.input_names.clone(),
            outputs: node
                .output_names
                .iter()
                .zip(&node.output_types)
                .map(|(name, ty)| Output {
                    name: name.clone(),
                    ty: ty.to_string(),
                    bus: matches!(ty, Type::Bus(_) | Type::Array(..)),
                })
                .collect(),
        });
    }
    let sources = sources(program, &index, &mut model);
    connect(&mut model, sources);
    model
}

/// What a block calls, by name of the function.
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
    model: &mut Model,
) -> BTreeMap<Pin, Vec<Source>> {
    let mut sources: BTreeMap<Pin, Vec<Source>> = BTreeMap::new();
    for edge in &program.edges {
        let Edge { from, from_port, part, to, to_port, feeds } = edge;
        let (Some(from), Some(to)) = (index[from.index()], index[to.index()]) else { continue };
        let shared = to_port.is_none();
        let out = if shared { shared_output(&mut model.nodes[from]) } else { *from_port as usize };
        let input = match to_port {
            Some(port) => *port as usize,
            None => {
                let name = model.nodes[from].kind.clone();
                model.nodes[to].inputs.push(name);
                model.nodes[to].inputs.len() - 1
            }
        };
        let source = (Pin { node: from, pin: out }, part.clone(), *feeds);
        let known = sources.entry(Pin { node: to, pin: input }).or_default();
        match known.iter_mut().find(|(pin, part, _)| (pin, part) == (&source.0, &source.1)) {
            Some(same) => same.2 |= source.2,
            None => known.push(source),
        }
    }
    sources
}

/// The output pin that stands for a shared value.
fn shared_output(node: &mut Node) -> usize {
    const NAME: &str = "shared";
    if let Some(known) = node.outputs.iter().position(|output| output.ty == NAME) {
        return known;
    }
    node.outputs.push(Output { name: NAME.to_owned(), ty: NAME.to_owned(), bus: true });
    node.outputs.len() - 1
}

/// Makes the wires. Where several sources write one input, they meet at a bar next to where they
/// come from, so that one wire leaves the copies of a for-each; equal sources share a bar.
pub(super) fn connect(model: &mut Model, sources: BTreeMap<Pin, Vec<Source>>) {
    let mut joins: BTreeMap<Vec<(Pin, String)>, usize> = BTreeMap::new();
    let mut join_wires: BTreeMap<(usize, usize), Wire> = BTreeMap::new();
    for (to, sources) in sources {
        if let [(from, part, feeds)] = sources.as_slice() {
            model.wires.push(Wire { from: *from, to, part: part.clone(), feeds: *feeds });
            continue;
        }
        let key: Vec<_> = sources.iter().map(|(from, part, _)| (*from, part.clone())).collect();
        let join = *joins.entry(key).or_insert_with(|| {
            let frame = model.common_frame(sources.iter().map(|s| model.nodes[s.0.node].frame));
            let pace = sources.iter().map(|s| &model.nodes[s.0.node].pace).max();
            model.nodes.push(Node {
                frame,
                role: Role::Join,
                name: String::new(),
                kind: String::new(),
                note: format!("array of {}", sources.len()),
                pace: pace.cloned().unwrap_or(Pace::Constant),
                inputs: vec![String::new(); sources.len()],
                outputs: vec![Output {
                    name: String::new(),
                    ty: format!("{} signals", sources.len()),
                    bus: true,
                }],
            });
            model.nodes.len() - 1
        });
        for (pin, (from, part, feeds)) in sources.iter().enumerate() {
            let wire = join_wires.entry((join, pin)).or_insert_with(|| Wire {
                from: *from,
                to: Pin { node: join, pin },
                part: part.clone(),
                feeds: false,
            });
            wire.feeds |= feeds;
        }
        let feeds = sources.iter().any(|s| s.2);
        let from = Pin { node: join, pin: 0 };
        model.wires.push(Wire { from, to, part: String::new(), feeds });
    }
    model.wires.extend(join_wires.into_values());
}

fn pace(program: &Program, rate: Rate) -> Pace {
    match rate {
        Rate::Constant => Pace::Constant,
        Rate::Continuous => Pace::Continuous,
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
            Pace::Periodic { period, offset, text }
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
    model: &mut Model,
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
                model.frames.push(Frame { parent: Some(parent), name: name.to_owned(), path });
                model.frames.len() - 1
            });
        }
        prefix.push_str(step);
        prefix.push('.');
    }
    (frame, steps[last].to_owned())
}

/// `~KinematicsOf:go[body.state]` shows as `KinematicsOf:go`.
fn hidden_name(path: &str) -> String {
    let path = path.strip_prefix('~').unwrap_or(path);
    path.split_once('[').map_or(path, |(name, _)| name).to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

    use super::*;

    #[test]
    fn a_path_is_a_chain_of_frames() {
        let mut model = Model::new("");
        let mut known = BTreeMap::new();
        let (frame, name) = frame_of(&mut model, &mut known, "leg.foot[F.L].point");
        let names: Vec<_> =
            model.chain(frame).into_iter().map(|f| &*model.frames[f].path).collect();
        assert_eq!(names, ["", "leg", "leg.foot", "leg.foot[F.L]"]);
        assert_eq!(name, "point");
        assert_eq!(
            frame_of(&mut model, &mut known, "leg.foot.J").0,
            model.frames[frame].parent.unwrap()
        );
        assert_eq!(frame_of(&mut model, &mut known, "body").0, 0);
        assert_eq!(hidden_name("~Kinematics:go[body.state]"), "Kinematics:go");
    }
}
