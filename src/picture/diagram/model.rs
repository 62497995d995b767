//! What a picture is drawn from: a tree of frames, the blocks in them, wires between their pins.

use std::collections::BTreeMap;

/// When a block is due, as a colour.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pace {
    /// Once, at t = 0.
    Constant,
    /// At every step.
    Continuous,
    /// At a period; ordered by ticks, shown as text.
    Periodic {
        /// Ticks between two hits.
        period: u64,
        /// Tick of the first hit.
        offset: u64,
        /// `1 ms`, or `1 ms + 0.5 ms`.
        text: String,
    },
}

/// How a block is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A box.
    Block,
    /// A box with a dashed border: made by the compiler.
    Hidden,
    /// A bar where several wires become one array.
    Join,
    /// A box with a double border: a frame whose inside is not shown.
    Folded,
}

/// A group of blocks: a mask, a subsystem, a for-each or one of its copies.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// The frame around it; only frame 0, the sheet, has none. Parents come before children.
    pub(super) parent: Option<usize>,
    /// Last step of the path.
    pub(super) name: String,
    /// Path in the diagram.
    pub(super) path: String,
}

/// An output pin.
#[derive(Debug, Clone)]
pub(super) struct Output {
    /// Port name.
    pub(super) name: String,
    /// Type of the signal.
    pub(super) ty: String,
    /// Whether it is a bus or an array: drawn thick.
    pub(super) bus: bool,
}

/// A block.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// The frame it lies in.
    pub(super) frame: usize,
    /// How it is drawn.
    pub(super) role: Role,
    /// Last step of the path.
    pub(super) name: String,
    /// Kind of block.
    pub(super) kind: String,
    /// What a mouse hovering over it is told.
    pub(super) note: String,
    /// When it is due.
    pub(super) pace: Pace,
    /// Names of the input pins.
    pub(super) inputs: Vec<String>,
    /// Output pins.
    pub(super) outputs: Vec<Output>,
}

/// A pin of a block: the block, and the pin's place among its inputs or outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pin {
    /// The block.
    pub(super) node: usize,
    /// The pin.
    pub(super) pin: usize,
}

/// A wire. No two wires end at one pin: see [`Role::Join`].
#[derive(Debug, Clone)]
pub(super) struct Wire {
    /// The output.
    pub(super) from: Pin,
    /// The input.
    pub(super) to: Pin,
    /// The part that is read; empty for the whole.
    pub(super) part: String,
    /// Whether it reaches an output of the reader at once.
    pub(super) feeds: bool,
}

/// A diagram to draw.
#[derive(Debug, Clone)]
pub(super) struct Model {
    /// Heading.
    pub(super) title: String,
    /// Frames; the first is the sheet.
    pub(super) frames: Vec<Frame>,
    /// Blocks.
    pub(super) nodes: Vec<Node>,
    /// Wires.
    pub(super) wires: Vec<Wire>,
}

impl Model {
    /// An empty sheet.
    pub(super) fn new(title: &str) -> Self {
        let sheet = Frame { parent: None, name: String::new(), path: String::new() };
        Self { title: title.to_owned(), frames: vec![sheet], nodes: Vec::new(), wires: Vec::new() }
    }

    /// The frames around and including `frame`, the sheet first.
    pub(super) fn chain(&self, frame: usize) -> Vec<usize> {
        let mut chain = vec![frame];
        let mut at = frame;
        while let Some(parent) = self.frames[at].parent {
            chain.push(parent);
            at = parent;
        }
        chain.reverse();
        chain
    }

    /// The innermost frame around all of `frames`; the sheet for none.
    pub(super) fn common_frame(&self, frames: impl IntoIterator<Item = usize>) -> usize {
        let mut common: Option<Vec<usize>> = None;
        for frame in frames {
            let chain = self.chain(frame);
            common = Some(match common {
                None => chain,
                Some(known) => {
                    known.iter().zip(&chain).take_while(|(a, b)| a == b).map(|(a, _)| *a).collect()
                }
            });
        }
        common.and_then(|chain| chain.last().copied()).unwrap_or(0)
    }

    /// The frames directly inside each frame.
    pub(super) fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.frames.len()];
        for (f, frame) in self.frames.iter().enumerate() {
            if let Some(parent) = frame.parent {
                children[parent].push(f);
            }
        }
        children
    }

    /// The paces that occur, constants first, then by period, and the colour of each: bars that join
    /// wires have none of their own.
    pub(super) fn paces(&self) -> BTreeMap<&Pace, Colour> {
        let mut paces: BTreeMap<&Pace, Colour> = self
            .nodes
            .iter()
            .filter(|node| node.role != Role::Join)
            .map(|node| (&node.pace, CONSTANT))
            .collect();
        let mut periods = 0;
        for (pace, colour) in &mut paces {
            *colour = match pace {
                Pace::Constant => CONSTANT,
                Pace::Continuous => CONTINUOUS,
                Pace::Periodic { .. } => {
                    periods += 1;
                    PERIODS[(periods - 1) % PERIODS.len()]
                }
            };
        }
        paces
    }
}

/// Colours of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Colour {
    /// Of borders and wires.
    pub(super) line: &'static str,
    /// Of the box.
    pub(super) fill: &'static str,
}

/// Colour of what is computed once.
const CONSTANT: Colour = Colour { line: "#7a7f87", fill: "#f1f2f4" };
/// Colour of continuous blocks.
const CONTINUOUS: Colour = Colour { line: "#1f2a3a", fill: "#ffffff" };
/// Colours of periods, the shortest first; after Okabe and Ito (2008), who chose hues that people
/// with any kind of colour vision tell apart.
const PERIODS: [Colour; 7] = [
    Colour { line: "#c2410c", fill: "#fff1e8" },
    Colour { line: "#0067a5", fill: "#e8f3fb" },
    Colour { line: "#007a5a", fill: "#e6f6f0" },
    Colour { line: "#a83a7c", fill: "#fbebf4" },
    Colour { line: "#8a6d00", fill: "#fbf5dc" },
    Colour { line: "#5b4bb3", fill: "#efedfb" },
    Colour { line: "#8c2d19", fill: "#fbeae6" },
];

impl Pace {
    /// For the legend.
    pub(super) fn label(&self) -> &str {
        match self {
            Self::Constant => "constant",
            Self::Continuous => "continuous",
            Self::Periodic { text, .. } => text,
        }
    }
}
