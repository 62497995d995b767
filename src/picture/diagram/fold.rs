//! Folding of deep frames into single boxes.

use std::collections::BTreeMap;

use super::schematic::{Flow, Frame, Output, Pin, Role, SampleTime, Schematic, Symbol, Wire};

/// The schematic with every frame that is nested deeper than `depth` drawn as one box. Its pins are the
/// signals that cross the frame's border.
pub(super) fn fold(schematic: &Schematic, depth: usize) -> Schematic {
    let mut folded = Schematic::new(&schematic.title);
    folded.frames.clear();
    // New frame of an old one, or the box that it became.
    let mut frames: Vec<Result<usize, usize>> = Vec::new();
    let mut levels: Vec<usize> = Vec::new();
    for frame in &schematic.frames {
        let level = frame.parent.map_or(0, |parent| levels[parent] + 1);
        levels.push(level);
        let place = match frame.parent.map(|parent| frames[parent]) {
            Some(Err(symbol)) => Err(symbol),
            Some(Ok(parent)) if level > depth => {
                folded.symbols.push(Symbol {
                    frame: parent,
                    role: Role::Folded,
                    name: frame.name.clone(),
                    kind: String::new(),
                    path: frame.path.clone(),
                    note: frame.path.clone(),
                    sample_time: SampleTime::Constant,
                    inputs: Vec::new(),
                    outputs: Vec::new(),
                });
                Err(folded.symbols.len() - 1)
            }
            parent => {
                let parent = parent.and_then(Result::ok);
                folded.frames.push(Frame { parent, ..frame.clone() });
                Ok(folded.frames.len() - 1)
            }
        };
        frames.push(place);
    }
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let symbols: Vec<Result<usize, usize>> = schematic
        .symbols
        .iter()
        .map(|symbol| match frames[symbol.frame] {
            Ok(frame) => {
                folded.symbols.push(Symbol { frame, ..symbol.clone() });
                Ok(folded.symbols.len() - 1)
            }
            Err(boxed) => {
                let sample_time = &mut folded.symbols[boxed].sample_time;
                *sample_time = symbol.sample_time.clone().max(sample_time.clone());
                *counts.entry(boxed).or_default() +=
                    usize::from(!matches!(symbol.role, Role::Join | Role::Condition));
                Err(boxed)
            }
        })
        .collect();
    for (boxed, count) in counts {
        folded.symbols[boxed].kind = format!("{count} block{}", if count == 1 { "" } else { "s" });
    }
    fold_wires(schematic, &mut folded, &symbols);
    folded
}

fn fold_wires(schematic: &Schematic, folded: &mut Schematic, symbols: &[Result<usize, usize>]) {
    let mut outputs: BTreeMap<Pin, Pin> = BTreeMap::new();
    let mut inputs: BTreeMap<(usize, Pin, &str, bool), usize> = BTreeMap::new();
    for wire in &schematic.wires {
        if let (Err(a), Err(b)) = (symbols[wire.from.symbol], symbols[wire.to.symbol])
            && a == b
        {
            continue;
        }
        let from = match symbols[wire.from.symbol] {
            Ok(symbol) => Pin { symbol, ..wire.from },
            Err(symbol) => *outputs.entry(wire.from).or_insert_with(|| {
                let output = outer_output(schematic, wire.from, &folded.symbols[symbol].outputs);
                folded.symbols[symbol].outputs.push(output);
                Pin { symbol, pin: folded.symbols[symbol].outputs.len() - 1 }
            }),
        };
        // A signal that both switches a part and goes into it has two pins.
        let is_control = wire.flow == Flow::Control;
        match symbols[wire.to.symbol] {
            Ok(symbol) => {
                let to = Pin { symbol, ..wire.to };
                folded.wires.push(Wire { from, to, ..wire.clone() });
            }
            Err(symbol) => match inputs.get(&(symbol, from, wire.part.as_str(), is_control)) {
                Some(&known) => {
                    let flow = &mut folded.wires[known].flow;
                    *flow = flow.join(wire.flow);
                }
                None => {
                    let name = inner_input(schematic, wire);
                    folded.symbols[symbol].inputs.push(name);
                    let to = Pin { symbol, pin: folded.symbols[symbol].inputs.len() - 1 };
                    let key = (symbol, from, wire.part.as_str(), is_control);
                    inputs.insert(key, folded.wires.len());
                    folded.wires.push(Wire { from, to, ..wire.clone() });
                }
            },
        }
    }
}

/// The pin of a box for the signal at `pin` inside: named by the port, and by its block too where
/// the port alone is taken.
fn outer_output(schematic: &Schematic, pin: Pin, taken: &[Output]) -> Output {
    let symbol = &schematic.symbols[pin.symbol];
    let mut output = symbol.outputs[pin.pin].clone();
    if output.name.is_empty() {
        // A bar: named by what it joins.
        let joined = schematic.wires.iter().find(|wire| wire.to.symbol == pin.symbol);
        if let Some(wire) = joined {
            output.name = schematic.symbols[wire.from.symbol].outputs[wire.from.pin].name.clone();
        }
    }
    if taken.iter().any(|other| other.name == output.name) && !symbol.name.is_empty() {
        output.name = format!("{}.{}", symbol.name, output.name);
    }
    output
}

fn inner_input(schematic: &Schematic, wire: &Wire) -> String {
    let symbol = &schematic.symbols[wire.to.symbol];
    if symbol.role == Role::Condition {
        return symbol.name.clone();
    }
    let name = &symbol.inputs[wire.to.pin];
    if !name.is_empty() {
        return name.clone();
    }
    schematic.symbols[wire.from.symbol]
        .outputs
        .get(wire.from.pin)
        .map_or_else(String::new, |o| o.name.clone())
}
