//! What blocks call, in frames of their own.
//!
//! The frame of a call has the path of its caller, and holds it. What a function is called with
//! leaves the caller by pins of its own, `f.u`, and what it returns comes back to others, `f.y`.

use std::collections::BTreeMap;

use legwork_block::{PortText, Type};
use legwork_program::{FunctionProgram, Node};

use super::build::{Source, block, frame_of, output};
use super::schematic::{Flow, Pin, Schematic};

/// The drawing in the making.
pub(super) struct Calls<'a> {
    pub(super) schematic: &'a mut Schematic,
    pub(super) frames: &'a mut BTreeMap<String, usize>,
    pub(super) sources: &'a mut BTreeMap<Pin, Vec<Source>>,
    /// Whether shared computations are drawn.
    pub(super) hidden: bool,
    /// Whether the frame of this path and depth is open.
    pub(super) is_open: &'a dyn Fn(&str, usize) -> bool,
}

impl Calls<'_> {
    /// Draws what a block calls, if its frame is open; else the block says that it can be opened.
    pub(super) fn add(&mut self, caller: usize, node: &Node) {
        if node.functions.is_empty() {
            return;
        }
        let level = self.schematic.chain(self.schematic.symbols[caller].frame).len();
        if !(self.is_open)(&node.path, level) {
            self.schematic.symbols[caller].calls = true;
            return;
        }
        let (frame, _) = frame_of(self.schematic, self.frames, &format!("{}.f", node.path));
        let symbol = &mut self.schematic.symbols[caller];
        symbol.frame = frame;
        symbol.kind = node.kind.to_owned();
        for function in &node.functions {
            self.add_function(caller, function);
        }
    }

    fn add_function(&mut self, caller: usize, function: &FunctionProgram) {
        let call = &function.nodes[function.frame.index()];
        let pin = |name: &str| format!("{}.{name}", function.name);
        let (arguments, results) = {
            let symbol = &mut self.schematic.symbols[caller];
            let at = (symbol.outputs.len(), symbol.inputs.len());
            let arguments = call.output_names.iter().zip(&call.output_types);
            let named = |(name, ty): (&PortText, &Type)| output(&pin(name), ty);
            symbol.outputs.extend(arguments.map(named));
            symbol.inputs.extend(call.input_names.iter().map(|name| pin(name)));
            at
        };
        let mut index = vec![None; function.nodes.len()];
        for (n, node) in function.nodes.iter().enumerate() {
            if n == function.frame.index() {
                index[n] = Some(caller);
            } else if !node.hidden || self.hidden {
                index[n] = Some(self.add_block(caller, node));
            }
        }
        for edge in &function.edges {
            let (from, to) = (index[edge.from.index()], index[edge.to.index()]);
            // Shared values are drawn where blocks share them, on wires of the diagram.
            let (Some(from), Some(to), Some(port)) = (from, to, edge.to_port) else { continue };
            let out = usize::from(edge.from_port) + if from == caller { arguments } else { 0 };
            let input = usize::from(port) + if to == caller { results } else { 0 };
            let source = (Pin { symbol: from, pin: out }, edge.part.clone(), Flow::Through);
            let known = self.sources.entry(Pin { symbol: to, pin: input }).or_default();
            if !known.contains(&source) {
                known.push(source);
            }
        }
        for (node, symbol) in function.nodes.iter().zip(index) {
            if let Some(symbol) = symbol.filter(|symbol| *symbol != caller) {
                self.add(symbol, node);
            }
        }
    }

    /// A block that runs when, and as often as, its caller asks for it.
    fn add_block(&mut self, caller: usize, node: &Node) -> usize {
        let own_frame = self.schematic.symbols[caller].frame;
        let sample_time = self.schematic.symbols[caller].sample_time.clone();
        let symbol = block(node, sample_time, own_frame, self.schematic, self.frames);
        self.schematic.symbols.push(symbol);
        self.schematic.symbols.len() - 1
    }
}
