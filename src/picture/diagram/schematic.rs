//! What is drawn of a diagram: symbols of blocks in nested frames, wires between their pins. No
//! coordinates yet; those are in a [`Drawing`](super::Drawing).

use serde::Serialize;

/// When a block is due.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum SampleTime {
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
        /// `every 1 ms`, or `every 1 ms from 0.5 ms`.
        text: String,
    },
}

impl SampleTime {
    /// For people.
    pub fn label(&self) -> &str {
        match self {
            Self::Constant => "constant",
            Self::Continuous => "continuous",
            Self::Periodic { text, .. } => text,
        }
    }
}

/// What a symbol shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Role {
    /// A block of the diagram.
    Block,
    /// A shared computation, made by the compiler.
    Hidden,
    /// What switches the conditional part on and off in whose frame it lies: `Enabled`,
    /// `Triggered(Rising)`, `Every(10)`.
    Condition,
    /// A bar where several wires become one array.
    Join,
    /// A frame whose inside is not shown.
    Folded,
}

/// A group of blocks: a mask, a subsystem, a for-each or one of its copies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Frame {
    /// The frame around it; only frame 0, the sheet, has none. Parents come before children.
    pub parent: Option<usize>,
    /// Last step of the path.
    pub name: String,
    /// Path in the diagram.
    pub path: String,
    /// What its ports stand for, for folding it.
    #[serde(skip)]
    pub(super) ports: Ports,
}

/// The ports of a frame, where the diagram names them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Ports {
    pub(super) inputs: Vec<Port>,
    pub(super) outputs: Vec<Port>,
}

/// A port of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Port {
    pub(super) name: String,
    /// The output pins of blocks that it stands for, and the part of each.
    pub(super) sources: Vec<(Pin, String)>,
}

impl Frame {
    /// A frame without ports.
    pub(super) fn new(parent: Option<usize>, name: &str, path: String) -> Self {
        Self { parent, name: name.to_owned(), path, ports: Ports::default() }
    }
}

/// An output pin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Output {
    /// Port name.
    pub name: String,
    /// Type of the signal, as the diagram writes it.
    pub ty: String,
    /// Whether it is a bus or an array.
    pub bus: bool,
}

/// A block, or what else has pins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Symbol {
    /// Index of the frame it lies in.
    pub frame: usize,
    /// What it shows.
    pub role: Role,
    /// Last step of the path; empty for a bar.
    pub name: String,
    /// Path in the diagram; empty for a bar.
    pub path: String,
    /// Kind of block.
    pub kind: String,
    /// Lines about its inside, such as its states.
    pub caption: Vec<String>,
    /// One line about it: path and parameters.
    pub note: String,
    /// When it is due.
    pub sample_time: SampleTime,
    /// Names of the input pins.
    pub inputs: Vec<String>,
    /// Output pins.
    pub outputs: Vec<Output>,
    /// Whether it calls functions whose frame is not open.
    pub calls: bool,
}

/// A pin of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Pin {
    /// Index of the symbol.
    pub symbol: usize,
    /// Index among its inputs or outputs.
    pub pin: usize,
}

/// What a wire does at its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Flow {
    /// It is stored, and reaches the outputs at a later step.
    State,
    /// It reaches an output of the reader at once.
    Through,
    /// It switches a conditional part on and off.
    Control,
}

impl Flow {
    /// Of two wires drawn as one, the flow that decides the order of execution.
    pub(super) fn join(self, other: Self) -> Self {
        if self == Self::State { other } else { self }
    }
}

/// A wire. No two wires end at one pin: see [`Role::Join`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wire {
    /// The output.
    pub from: Pin,
    /// The input.
    pub to: Pin,
    /// The part that is read, such as `.base.position[2]`; empty for the whole.
    pub part: String,
    /// What it does at its reader.
    pub flow: Flow,
}

/// A diagram to draw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Schematic {
    /// Heading.
    pub title: String,
    /// Frames; the first is the sheet.
    pub frames: Vec<Frame>,
    /// Blocks.
    pub symbols: Vec<Symbol>,
    /// Wires.
    pub wires: Vec<Wire>,
}

impl Schematic {
    /// An empty sheet.
    pub(super) fn new(title: &str) -> Self {
        let sheet = Frame::new(None, "", String::new());
        let (symbols, wires) = (Vec::new(), Vec::new());
        Self { title: title.to_owned(), frames: vec![sheet], symbols, wires }
    }

    /// The frames around and including `frame`, the sheet first.
    ///
    /// # Panics
    /// If there is no such frame.
    pub fn chain(&self, frame: usize) -> Vec<usize> {
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
}
