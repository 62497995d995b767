//! The diagram after expansion: a flat list of blocks with one source per input.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use legwork_block::{ErasedBlock, Span};
use legwork_program::Ratio;

/// A block that the diagram (or a mask, a for-each, a variant's choice) holds.
pub(crate) struct NetworkBlock {
    /// Path: `foot[FL_foot].point`.
    pub path: String,
    /// The block's parameters, bound.
    pub block: Arc<dyn ErasedBlock>,
    /// Where the kind's name stands.
    pub span: Span,
    /// Where each parameter stands.
    pub parameter_spans: BTreeMap<String, Span>,
    /// `every:`, if it is stated.
    pub every: Option<Every>,
    /// Source of each input port.
    pub inputs: BTreeMap<String, (Source, Span)>,
    /// What is bound to the functions that it needs.
    pub needs: Vec<Need>,
    /// Path of the frame of the function that it is part of, if it is.
    pub owner: Option<String>,
    /// The block as text, for listings.
    pub text: String,
    /// Whether the compiler made it.
    pub hidden: bool,
    /// Path of the condition that switches it on and off, if there is one.
    pub gate: Option<String>,
    /// If it is a condition: what it does to the blocks behind it.
    pub condition: Option<ConditionFacts>,
}

/// What a condition does to the blocks behind it (semantics 6.1).
#[derive(Debug, Clone)]
pub(crate) struct ConditionFacts {
    /// Path of the condition around it.
    pub around: Option<String>,
    /// Outputs are zero while it is off.
    pub clears: bool,
    /// States begin anew when it comes on.
    pub restarts: bool,
    /// It is on at single major steps only: nothing behind it runs in minor steps.
    pub momentary: bool,
    /// Every how many hits it is on.
    pub stretch: u32,
}

impl NetworkBlock {
    /// The same block, to be planned once more.
    pub(crate) fn clone_for_planning(&self) -> Self {
        Self {
            path: self.path.clone(),
            block: Arc::clone(&self.block),
            span: self.span,
            parameter_spans: self.parameter_spans.clone(),
            every: self.every,
            inputs: self.inputs.clone(),
            needs: self.needs.clone(),
            owner: self.owner.clone(),
            text: self.text.clone(),
            hidden: self.hidden,
            gate: self.gate.clone(),
            condition: self.condition.clone(),
        }
    }
}

/// What is bound to a needed function. Its blocks are blocks of the network, owned by the frame: a
/// pseudo-block of this path, whose outputs are the arguments and whose inputs are the results.
#[derive(Debug, Clone)]
pub(crate) struct Need {
    /// Name of the function.
    pub name: String,
    /// Source of each result, inside the function.
    pub results: BTreeMap<String, (Source, Span)>,
    /// Where the binding stands.
    pub span: Span,
}

/// Path of the frame of a function: `ctrl.solve()`. No block of the text can have it.
pub(crate) fn frame_path(caller: &str, function: &str) -> String {
    format!("{caller}.{function}()")
}

/// A stated rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Every {
    /// Period.
    pub period: Ratio,
    /// Time of the first hit.
    pub offset: Ratio,
    /// Where it stands.
    pub span: Span,
}

/// Where a value comes from.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// A port, or a part of it.
    Port(PortPath),
    /// A bus put together from parts; no data is copied.
    Bus {
        /// Name of the bus type.
        name: String,
        /// Its fields.
        fields: Vec<(String, Source)>,
        /// Where it stands.
        span: Span,
    },
    /// One signal per copy of a for-each; no data is copied.
    Array {
        /// The signals.
        items: Vec<Source>,
        /// Where it stands.
        span: Span,
    },
    /// The elements of several arrays, and single signals of their kind, in one array; no data is
    /// copied.
    Join {
        /// The arrays and signals.
        items: Vec<Source>,
        /// Where it stands.
        span: Span,
    },
}

/// `block.port.field[2..5]`, with the block resolved.
#[derive(Debug, Clone)]
pub(crate) struct PortPath {
    /// Path of the block.
    pub block: String,
    /// Name of the output port.
    pub port: String,
    /// What part of the port's value.
    pub select: Vec<Select>,
    /// Where it stands.
    pub span: Span,
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

impl fmt::Display for Select {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

impl fmt::Display for PortPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.block, self.port)?;
        self.select.iter().try_for_each(|select| write!(f, "{select}"))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(path) => write!(f, "{path}"),
            Self::Bus { name, fields, .. } => {
                write!(f, "{name}{{")?;
                for (i, (field, source)) in fields.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{field}: {source}")?;
                }
                f.write_str("}")
            }
            Self::Array { items, .. } | Self::Join { items, .. } => {
                f.write_str(if matches!(self, Self::Join { .. }) { "Join[" } else { "[" })?;
                for (i, source) in items.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{source}")?;
                }
                f.write_str("]")
            }
        }
    }
}

impl Source {
    /// Where it stands.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Port(path) => path.span,
            Self::Bus { span, .. } | Self::Array { span, .. } | Self::Join { span, .. } => *span,
        }
    }

    /// Every port that is read.
    pub(crate) fn ports<'s>(&'s self, out: &mut Vec<&'s PortPath>) {
        match self {
            Self::Port(path) => out.push(path),
            Self::Bus { fields, .. } => fields.iter().for_each(|(_, source)| source.ports(out)),
            Self::Array { items, .. } | Self::Join { items, .. } => {
                items.iter().for_each(|source| source.ports(out));
            }
        }
    }
}
