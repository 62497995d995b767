//! Folding of deep frames into single boxes.

use std::collections::BTreeMap;

use super::model::{Model, Node, Output, Pace, Pin, Role, Wire};

/// The model with every frame that is nested deeper than `depth` drawn as one box. Its pins are the
/// signals that cross the frame's border.
pub(super) fn collapse(model: &Model, depth: usize) -> Model {
    let mut folded = Model::new(&model.title);
    folded.frames.clear();
    // New frame of an old one, or the box that it became.
    let mut frames: Vec<Result<usize, usize>> = Vec::new();
    let mut levels: Vec<usize> = Vec::new();
    for frame in &model.frames {
        let level = frame.parent.map_or(0, |parent| levels[parent] + 1);
        levels.push(level);
        let place = match frame.parent.map(|parent| frames[parent]) {
            Some(Err(node)) => Err(node),
            Some(Ok(parent)) if level > depth => {
                folded.nodes.push(Node {
                    frame: parent,
                    role: Role::Folded,
                    name: frame.name.clone(),
                    kind: String::new(),
                    note: frame.path.clone(),
                    pace: Pace::Constant,
                    inputs: Vec::new(),
                    outputs: Vec::new(),
                });
                Err(folded.nodes.len() - 1)
            }
            parent => {
                let parent = parent.and_then(Result::ok);
                folded.frames.push(super::model::Frame { parent, ..frame.clone() });
                Ok(folded.frames.len() - 1)
            }
        };
        frames.push(place);
    }
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let nodes: Vec<Result<usize, usize>> = model
        .nodes
        .iter()
        .map(|node| match frames[node.frame] {
            Ok(frame) => {
                folded.nodes.push(Node { frame, ..node.clone() });
                Ok(folded.nodes.len() - 1)
            }
            Err(boxed) => {
                let pace = &mut folded.nodes[boxed].pace;
                *pace = node.pace.clone().max(pace.clone());
                *counts.entry(boxed).or_default() += usize::from(node.role != Role::Join);
                Err(boxed)
            }
        })
        .collect();
    for (boxed, count) in counts {
        folded.nodes[boxed].kind = format!("{count} block{}", if count == 1 { "" } else { "s" });
    }
    fold_wires(model, &mut folded, &nodes);
    folded
}

fn fold_wires(model: &Model, folded: &mut Model, nodes: &[Result<usize, usize>]) {
    let mut outputs: BTreeMap<Pin, Pin> = BTreeMap::new();
    let mut inputs: BTreeMap<(usize, Pin, &str), usize> = BTreeMap::new();
    for wire in &model.wires {
        if let (Err(a), Err(b)) = (nodes[wire.from.node], nodes[wire.to.node])
            && a == b
        {
            continue;
        }
        let from = match nodes[wire.from.node] {
            Ok(node) => Pin { node, ..wire.from },
            Err(node) => *outputs.entry(wire.from).or_insert_with(|| {
                let output = outer_output(model, wire.from, &folded.nodes[node].outputs);
                folded.nodes[node].outputs.push(output);
                Pin { node, pin: folded.nodes[node].outputs.len() - 1 }
            }),
        };
        match nodes[wire.to.node] {
            Ok(node) => {
                let to = Pin { node, ..wire.to };
                folded.wires.push(Wire { from, to, ..wire.clone() });
            }
            Err(node) => match inputs.get(&(node, from, wire.part.as_str())) {
                Some(&known) => folded.wires[known].feeds |= wire.feeds,
                None => {
                    let name = inner_input(model, wire);
                    folded.nodes[node].inputs.push(name);
                    let to = Pin { node, pin: folded.nodes[node].inputs.len() - 1 };
                    inputs.insert((node, from, wire.part.as_str()), folded.wires.len());
                    folded.wires.push(Wire { from, to, ..wire.clone() });
                }
            },
        }
    }
}

/// The pin of a box for the signal at `pin` inside: named by the port, and by its block too where
/// the port alone is taken.
fn outer_output(model: &Model, pin: Pin, taken: &[Output]) -> Output {
    let node = &model.nodes[pin.node];
    let mut output = node.outputs[pin.pin].clone();
    if output.name.is_empty() {
        // A bar: named by what it joins.
        let joined = model.wires.iter().find(|wire| wire.to.node == pin.node);
        if let Some(wire) = joined {
            output.name = model.nodes[wire.from.node].outputs[wire.from.pin].name.clone();
        }
    }
    if taken.iter().any(|other| other.name == output.name) && !node.name.is_empty() {
        output.name = format!("{}.{}", node.name, output.name);
    }
    output
}

fn inner_input(model: &Model, wire: &Wire) -> String {
    let name = &model.nodes[wire.to.node].inputs[wire.to.pin];
    if !name.is_empty() {
        return name.clone();
    }
    model.nodes[wire.from.node]
        .outputs
        .get(wire.from.pin)
        .map_or_else(String::new, |o| o.name.clone())
}
