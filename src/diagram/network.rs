//! The diagram after expansion: planned blocks, joined by wires that are resolved to ids.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use legwork_block::{Declaration, OutputDeclaration, PlannedBlock, Span, Type};
use legwork_program::Ratio;
use smallvec::SmallVec;

use crate::ids::{BlockId, Id, IdVec, OutputId};
use crate::listing::port_path;

/// All blocks, before their types are known.
///
/// Blocks keep the ids that expansion gave them. Whatever the order in the text, they are looked
/// at, ordered and placed by path.
pub(crate) struct Network {
    /// The blocks, those inside functions included.
    pub(crate) blocks: IdVec<BlockId, NetworkBlock>,
    /// All of them, by path.
    pub(crate) by_path: Vec<BlockId>,
    /// The diagram's own blocks, by path.
    pub(crate) root: Part,
    /// The blocks of each function, under its frame.
    functions: BTreeMap<BlockId, Part>,
    /// Place of each block in its part.
    node: IdVec<BlockId, usize>,
    /// Number of variables of all blocks.
    pub(crate) var_count: u32,
}

/// Blocks that run in one order: those of the diagram itself, or those of one function. They are
/// wired among themselves only.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// The blocks by path: their places are the indices of the program's nodes.
    pub(crate) blocks: Vec<BlockId>,
}

/// A block that the diagram (or a mask, a for-each, a variant's choice) holds, or that the compiler
/// made.
pub(crate) struct NetworkBlock {
    /// Path: `foot[FL_foot].point`.
    pub(crate) path: String,
    /// Where the kind's name is written.
    pub(crate) span: Span,
    /// Where each parameter is written, and how long it is.
    pub(crate) parameters: SmallVec<[ParameterNote; 1]>,
    /// The block as text, for listings.
    pub(crate) text: String,
    /// Whether the compiler made it.
    pub(crate) hidden: bool,
    /// What the block declared, in variables of the whole diagram.
    pub(crate) declaration: Declaration,
    /// The first of those variables that is its own.
    pub(crate) var_base: u32,
    /// Its plan.
    pub(crate) planned: Arc<dyn PlannedBlock>,
    /// Whether the block joins signals, and it is not known yet which of its inputs are one number:
    /// then its declaration says nothing of types.
    pub(crate) joins: bool,
    /// `every:`, if it is stated.
    pub(crate) every: Option<Sampling>,
    /// What each input port reads, in the order of the declaration.
    pub(crate) inputs: Vec<Option<Wire>>,
    /// The block that computes each shared value that it asked for.
    pub(crate) asked: Vec<BlockId>,
    /// The frame of each function that it needs, in the order of the declaration: a block that
    /// stands for the caller inside. Its outputs are the arguments, its inputs the results.
    pub(crate) functions: Vec<Option<BlockId>>,
    /// The frame of the function that it is part of, if it is.
    pub(crate) owner: Option<BlockId>,
    /// The condition that switches it on and off, if there is one.
    pub(crate) gate: Option<BlockId>,
    /// If it is a condition: what it does to the blocks behind it.
    pub(crate) condition: Option<ConditionFacts>,
    /// The diagram that it is written in, counted from the one that runs.
    pub(crate) scope: usize,
}

/// What messages say of a parameter.
pub(crate) struct ParameterNote {
    pub(crate) name: String,
    /// Where its value is written.
    pub(crate) span: Span,
    /// How many elements it has, if it is written as a list.
    pub(crate) len: Option<usize>,
}

/// What a condition does to the blocks behind it (semantics 6.1).
#[derive(Debug, Clone)]
pub(crate) struct ConditionFacts {
    /// The condition around it.
    pub(crate) around: Option<BlockId>,
    /// Outputs are zero while it is off.
    pub(crate) clears: bool,
    /// States begin anew when it comes on.
    pub(crate) restarts: bool,
    /// It is on at single major steps only: nothing behind it runs in minor steps.
    pub(crate) momentary: bool,
    /// Every how many hits it is on.
    pub(crate) stretch: u32,
}

/// A stated rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sampling {
    /// Period.
    pub(crate) period: Ratio,
    /// Time of the first hit.
    pub(crate) offset: Ratio,
    /// Where it is written.
    pub(crate) span: Span,
}

/// What an input port reads.
#[derive(Debug, Clone)]
pub(crate) struct Wire {
    /// Where the value comes from.
    pub(crate) source: Source,
    /// Where the connection is written.
    pub(crate) span: Span,
}

/// Where a value comes from.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// A port, or a part of it.
    Port(PortPart),
    /// A bus put together from parts; no data is copied.
    Bus {
        /// The bus type, whose variables count from 0.
        ty: Type,
        /// How many variables it has.
        var_count: u32,
        /// The source of each of its fields, in their order.
        fields: Vec<Self>,
        /// Where it is written.
        span: Span,
    },
    /// One signal per copy of a for-each; no data is copied.
    Array {
        /// The signals.
        items: Vec<Self>,
        /// Where it is written.
        span: Span,
    },
    /// The elements of several arrays, and single signals of their kind, in one array; no data is
    /// copied.
    Join {
        /// The arrays and signals.
        items: Vec<Self>,
        /// Where it is written.
        span: Span,
    },
    /// Something with mistakes that are reported already.
    Broken(Span),
}

/// An output port, or a part of its value.
#[derive(Debug, Clone)]
pub(crate) struct PortPart {
    /// The block.
    pub(crate) block: BlockId,
    /// The port.
    pub(crate) output: OutputId,
    /// What part of the port's value.
    pub(crate) select: Vec<Select>,
    /// Where it is written.
    pub(crate) span: Span,
}

impl PortPart {
    /// Whether the part is an element or a slice, which keeps the unit and the frame of the port;
    /// fields of a bus bring their own.
    pub(crate) fn is_slice(&self) -> bool {
        !self.select.iter().any(|step| matches!(step, Select::Field(_)))
    }

    /// Whether both are one signal, wherever they are written.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let key = |part: &Self| (part.block, part.output);
        key(self) == key(other) && self.select == other.select
    }
}

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Select {
    /// A field of a bus.
    Field(String),
    /// One of several equal parts of a vector.
    Part {
        /// Which, from 0 on.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// An element of a vector or an array.
    Index(usize),
    /// Elements `start..end` of a vector; `None` for the end.
    Slice(usize, Option<usize>),
    /// An element of a matrix: row, column.
    Element(usize, usize),
}

impl std::fmt::Display for Select {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Index(i) => write!(f, "[{i}]"),
            Self::Part { index, count } => write!(f, "[part {index} of {count}]"),
            Self::Slice(a, Some(b)) => write!(f, "[{a}..{b}]"),
            Self::Slice(a, None) => write!(f, "[{a}..]"),
            Self::Element(r, c) => write!(f, "[{r}, {c}]"),
        }
    }
}

impl Source {
    /// Where it is written.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Port(part) => part.span,
            Self::Bus { span, .. }
            | Self::Array { span, .. }
            | Self::Join { span, .. }
            | Self::Broken(span) => *span,
        }
    }

    /// Calls `read` with every port that is read.
    pub(crate) fn each_port<'s>(&'s self, read: &mut impl FnMut(&'s PortPart)) {
        match self {
            Self::Port(part) => read(part),
            Self::Bus { fields: parts, .. }
            | Self::Array { items: parts, .. }
            | Self::Join { items: parts, .. } => parts.iter().for_each(|part| part.each_port(read)),
            Self::Broken(_) => {}
        }
    }
}

/// A source as the diagram could write it.
pub(crate) fn source_text(blocks: &IdVec<BlockId, NetworkBlock>, source: &Source) -> String {
    let mut out = String::new();
    write_source(blocks, source, &mut out);
    out
}

fn write_source(blocks: &IdVec<BlockId, NetworkBlock>, source: &Source, out: &mut String) {
    let list = |items: &[Source], names: &[&str], out: &mut String| {
        for (i, item) in items.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            if let Some(name) = names.get(i) {
                out.push_str(name);
                out.push_str(": ");
            }
            write_source(blocks, item, out);
        }
    };
    match source {
        Source::Port(part) => {
            let block = &blocks[part.block];
            let output = &block.declaration.outputs[part.output.index()].name;
            // Writing to a String cannot fail.
            let _ = write!(out, "{}", port_path(&block.path, output));
            part.select.iter().for_each(|select| {
                let _ = write!(out, "{select}");
            });
        }
        Source::Bus { ty, fields, .. } => {
            let (name, names) = match ty {
                Type::Bus(bus) => (
                    bus.name.as_str(),
                    bus.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(),
                ),
                _ => ("", Vec::new()),
            };
            out.push_str(name);
            out.push('{');
            list(fields, &names, out);
            out.push('}');
        }
        Source::Array { items, .. } | Source::Join { items, .. } => {
            out.push_str(if matches!(source, Source::Join { .. }) { "Join[" } else { "[" });
            list(items, &[], out);
            out.push(']');
        }
        Source::Broken(_) => out.push('?'),
    }
}

impl Network {
    /// The network of `blocks`, whose wires are resolved.
    pub(crate) fn new(blocks: IdVec<BlockId, NetworkBlock>, var_count: u32) -> Self {
        let mut by_path: Vec<BlockId> = blocks.ids().collect();
        by_path.sort_by(|&a, &b| blocks[a].path.cmp(&blocks[b].path));
        let mut root = Part::default();
        let mut functions: BTreeMap<BlockId, Part> = BTreeMap::new();
        let mut node: IdVec<BlockId, usize> = blocks.ids().map(|_| 0).collect();
        for &block in &by_path {
            let part = match blocks[block].owner {
                Some(frame) => functions.entry(frame).or_default(),
                None => &mut root,
            };
            node[block] = part.blocks.len();
            part.blocks.push(block);
        }
        Self { blocks, by_path, root, functions, node, var_count }
    }

    /// Place of a block in its part: the index of the program's node.
    pub(crate) fn node(&self, block: BlockId) -> usize {
        self.node[block]
    }

    /// The declaration of the output that a source reads.
    pub(crate) fn output(&self, part: &PortPart) -> &OutputDeclaration {
        &self.blocks[part.block].declaration.outputs[part.output.index()]
    }

    /// The blocks of the function with the frame `frame`.
    pub(crate) fn function(&self, frame: BlockId) -> &Part {
        &self.functions[&frame]
    }

    /// A block's condition and those around it, from the inside out.
    pub(crate) fn gates(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        std::iter::successors(self.blocks[block].gate, |&gate| {
            self.blocks[gate].condition.as_ref()?.around
        })
    }

    fn conditions(&self, block: BlockId) -> impl Iterator<Item = &ConditionFacts> + '_ {
        self.gates(block).filter_map(|gate| self.blocks[gate].condition.as_ref())
    }

    /// Whether a block runs at single major steps only, because a condition around it does.
    pub(crate) fn is_momentary(&self, block: BlockId) -> bool {
        self.conditions(block).any(|facts| facts.momentary)
    }

    /// Over how many hits of its rate one step of a block goes.
    pub(crate) fn stretch(&self, block: BlockId) -> u32 {
        self.conditions(block).map(|facts| facts.stretch).fold(1, u32::saturating_mul)
    }

    /// Whether a block has an update phase. Memory inside a function is committed in that of its
    /// caller.
    pub(crate) fn updates(&self, block: BlockId) -> bool {
        let block = &self.blocks[block];
        let mut frames = block.functions.iter().flatten();
        block.declaration.updates
            || frames.any(|frame| {
                let inside = &self.functions[frame].blocks;
                inside.iter().any(|inner| inner != frame && self.updates(*inner))
            })
    }
}
