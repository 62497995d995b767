//! Folding of deep frames into single boxes.

use std::collections::BTreeMap;

use super::schematic::{
    Flow, Frame, Output, Pin, Port, Ports, Role, SampleTime, Schematic, Symbol, Wire,
};

/// The schematic with every frame that is not open drawn as one box. Its pins are the frame's ports,
/// and what else crosses its border. `is_open` is asked with path and depth of the frame, from 1.
pub(super) fn fold(schematic: &Schematic, is_open: impl Fn(&str, usize) -> bool) -> Schematic {
    let mut folded = Schematic::new(&schematic.title);
    folded.frames.clear();
    // New frame of an old one, or the box that it became.
    let mut frames: Vec<Result<usize, usize>> = Vec::new();
    let mut levels: Vec<usize> = Vec::new();
    // The frame that each box was.
    let mut ports: BTreeMap<usize, &Ports> = BTreeMap::new();
    for frame in &schematic.frames {
        let level = frame.parent.map_or(0, |parent| levels[parent] + 1);
        levels.push(level);
        let place = match frame.parent.map(|parent| frames[parent]) {
            Some(Err(symbol)) => Err(symbol),
            Some(Ok(parent)) if !is_open(&frame.path, level) => {
                folded.symbols.push(Symbol {
                    frame: parent,
                    role: Role::Folded,
                    name: frame.name.clone(),
                    kind: String::new(),
                    caption: Vec::new(),
                    path: frame.path.clone(),
                    note: frame.path.clone(),
                    sample_time: SampleTime::Constant,
                    inputs: Vec::new(),
                    outputs: Vec::new(),
                    calls: false,
                });
                ports.insert(folded.symbols.len() - 1, &frame.ports);
                Err(folded.symbols.len() - 1)
            }
            parent => {
                // Its ports would name pins of symbols that are gone.
                let parent = parent.and_then(Result::ok);
                folded.frames.push(Frame::new(parent, &frame.name, frame.path.clone()));
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
    let mut fold = Fold {
        schematic,
        folded: &mut folded,
        ports,
        outputs: BTreeMap::new(),
        inputs: BTreeMap::new(),
    };
    for wire in &schematic.wires {
        fold.add(wire, symbols[wire.from.symbol], symbols[wire.to.symbol]);
    }
    folded
}

/// What an input pin of a box stands for: a port of the frame, or a part of a signal that crosses
/// its border. What switches the part has a pin of its own.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Entry<'s> {
    Port(usize),
    Part(&'s str),
    Control(&'s str),
}

/// The wires of a folded schematic in the making.
struct Fold<'s> {
    schematic: &'s Schematic,
    folded: &'s mut Schematic,
    /// Ports of the frame that each box was.
    ports: BTreeMap<usize, &'s Ports>,
    /// Output pins of boxes, by the pin inside and the port that it is seen through.
    outputs: BTreeMap<(Pin, Option<usize>), Pin>,
    /// By box and source, the wire that ends at the pin.
    inputs: BTreeMap<(usize, Pin, Entry<'s>), usize>,
}

impl<'s> Fold<'s> {
    /// Adds a wire. Its ends are symbols of the folded schematic, or boxes that hold them.
    fn add(&mut self, wire: &'s Wire, from: Result<usize, usize>, to: Result<usize, usize>) {
        if from.is_err() && from == to {
            return;
        }
        let sources = sources(self.schematic, wire);
        let (from, part) = match from {
            Ok(symbol) => (Pin { symbol, ..wire.from }, wire.part.as_str()),
            Err(symbol) => self.output(symbol, wire, &sources),
        };
        let symbol = match to {
            Ok(symbol) => {
                let to = Pin { symbol, ..wire.to };
                let part = part.to_owned();
                self.folded.wires.push(Wire { from, to, part, flow: wire.flow });
                return;
            }
            Err(symbol) => symbol,
        };
        let port = find(&self.ports[&symbol].inputs, &sources);
        let (entry, part) = match port {
            _ if wire.flow == Flow::Control => (Entry::Control(part), part),
            // The box reads what the port is, the blocks inside read parts of that.
            Some((port, _, rest)) => (Entry::Port(port), part.strip_suffix(rest).unwrap_or(part)),
            None => (Entry::Part(part), part),
        };
        let next = self.folded.wires.len();
        let known = *self.inputs.entry((symbol, from, entry)).or_insert(next);
        if known < next {
            let flow = &mut self.folded.wires[known].flow;
            *flow = flow.join(wire.flow);
            return;
        }
        let name = match port {
            Some((_, port, _)) if wire.flow != Flow::Control => port.name.clone(),
            _ => inner_input(self.schematic, wire.to, &self.folded.symbols[from.symbol], from.pin),
        };
        self.folded.symbols[symbol].inputs.push(name);
        let to = Pin { symbol, pin: self.folded.symbols[symbol].inputs.len() - 1 };
        self.folded.wires.push(Wire { from, to, part: part.to_owned(), flow: wire.flow });
    }

    /// The pin of a box that a wire leaves by, and the part of it that is read.
    fn output<'w>(
        &mut self,
        symbol: usize,
        wire: &'w Wire,
        sources: &[(Pin, &str)],
    ) -> (Pin, &'w str) {
        let found = find(&self.ports[&symbol].outputs, sources);
        let outputs = &mut self.folded.symbols[symbol].outputs;
        let pin =
            self.outputs.entry((wire.from, found.map(|found| found.0))).or_insert_with(|| {
                let mut output = outer_output(self.schematic, wire.from, outputs);
                if let Some((_, port, rest)) = found {
                    output.name.clone_from(&port.name);
                    let part = wire.part.strip_suffix(rest).unwrap_or_default();
                    if !part.is_empty() {
                        (output.ty, output.bus) = (format!("{}{part}", output.ty), false);
                    }
                }
                outputs.push(output);
                Pin { symbol, pin: outputs.len() - 1 }
            });
        let rest = found.map_or(wire.part.len(), |found| found.2.len());
        (*pin, &wire.part[wire.part.len() - rest..])
    }
}

/// The pins of blocks, and their parts, that a wire carries; several behind a bar.
fn sources<'s>(schematic: &'s Schematic, wire: &'s Wire) -> Vec<(Pin, &'s str)> {
    if schematic.symbols[wire.from.symbol].role != Role::Join {
        return vec![(wire.from, wire.part.as_str())];
    }
    let into = schematic.wires.iter().filter(|other| other.to.symbol == wire.from.symbol);
    into.map(|other| (other.from, other.part.as_str())).collect()
}

/// The port, with its index, that stands for these sources, and what is read of it. The closest
/// one, if there are several.
fn find<'p, 's>(
    ports: &'p [Port],
    sources: &[(Pin, &'s str)],
) -> Option<(usize, &'p Port, &'s str)> {
    let rest = |port: &Port| {
        let mut read = None;
        for &(pin, part) in sources {
            let known = port.sources.iter().filter(|known| known.0 == pin);
            let rest = known.filter_map(|known| {
                let rest = part.strip_prefix(known.1.as_str())?;
                (rest.is_empty() || rest.starts_with(['.', '['])).then_some(rest)
            });
            read = Some(rest.min_by_key(|rest| rest.len())?);
        }
        // Behind a bar nothing is selected.
        if sources.len() == 1 { read } else { read.map(|_| "") }
    };
    let found = ports.iter().enumerate().filter_map(|(i, port)| Some((i, port, rest(port)?)));
    found.min_by_key(|(_, port, rest)| (port.sources.len(), rest.len()))
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

/// The name of a pin of a box that is no port: what switches the part, or else what is read, as
/// the blocks of a for-each name it. `to` is the pin inside; `from` and `output` are drawn.
fn inner_input(schematic: &Schematic, to: Pin, from: &Symbol, output: usize) -> String {
    let symbol = &schematic.symbols[to.symbol];
    let output = &from.outputs[output].name;
    let input = symbol.inputs[to.pin].as_str();
    match (symbol.role, from.role) {
        (Role::Condition, _) => symbol.name.clone(),
        (_, Role::Block | Role::Folded) => format!("{}.{output}", from.path),
        _ if input.is_empty() => output.clone(),
        _ => input.to_owned(),
    }
}
