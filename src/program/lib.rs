//! The compiled diagram: what the front end makes and the engine takes.
//!
//! A [`Program`] holds planned blocks, one static order of their output groups, rates as whole
//! ticks of one rational base, and where every signal lives in one arena of doubles. It knows
//! neither text nor how to run: it can be built by hand, without the front end.

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

mod check;
mod function;
mod identity;
mod ids;
mod judge;
mod listing;
mod port;
mod ratio;
mod signal;
mod subsystem;
mod verify;

use std::ops::Deref;
use std::sync::Arc;

use legwork_block::{
    ContinuousState, Diagnostics, Guard, InstanceIo, PlannedBlock, PortText, Slot, SolveRule, Span,
    Type,
};
use serde::{Deserialize, Serialize};

pub use check::{Check, CheckKind, TIME_SLOT};
pub use function::FunctionProgram;
pub use ids::{ArenaSlot, GateId, NodeId, PoolId, StepId};
pub use judge::{JudgeValue, Reduction};
pub use legwork_block::{Solver, Tolerance};
pub use port::{InputPort, OutputPort};
pub use ratio::Ratio;
pub use signal::{LogChannel, SignalRef};
pub use subsystem::{PortPart, Subsystem, SubsystemPort};
pub use verify::{Rule, VerifyError};

/// When a block is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rate {
    /// Once, at t = 0.
    Constant,
    /// At every major step, and in minor steps.
    Continuous,
    /// At ticks `offset + i · period`.
    Periodic {
        /// Ticks between two hits.
        period: u64,
        /// Tick of the first hit.
        offset: u64,
    },
}

impl Rate {
    /// Whether the rate is due at tick `k` of a major step.
    #[inline]
    pub fn due(self, k: u64) -> bool {
        match self {
            Self::Constant => k == 0,
            Self::Continuous => true,
            Self::Periodic { period, offset } => k >= offset && (k - offset).is_multiple_of(period),
        }
    }

    /// The first tick after `k` at which time must stop for this rate, if there is one.
    #[inline]
    pub fn next_hit(self, k: u64) -> Option<u64> {
        match self {
            Self::Constant | Self::Continuous => None,
            Self::Periodic { offset, .. } if k < offset => Some(offset),
            Self::Periodic { period, offset } => {
                Some(offset + ((k - offset) / period + 1) * period)
            }
        }
    }
}

/// The `run:` section.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunSettings {
    /// When the run stops.
    pub stop: Ratio,
    /// The fixed step; the longest major step if the solver chooses its own.
    pub step: Ratio,
    /// How continuous state is advanced.
    pub solver: Solver,
    /// Seed of all random streams.
    pub seed: u64,
}

/// One block, planned and placed.
#[derive(Clone)]
pub struct Node {
    /// Path in the diagram: `foot[FL_foot].point`.
    pub path: String,
    /// Name of the block's kind.
    pub kind: &'static str,
    /// The block with its parameters, as text.
    pub text: String,
    /// The block.
    pub block: Arc<dyn PlannedBlock>,
    /// Values of the block's dimension variables.
    pub vars: Vec<usize>,
    /// Ports. What runs is [`Self::instance_io`], which adds the functions.
    pub io: InstanceIo,
    /// The functions that the block needs, in the order in which it declared them.
    pub functions: Vec<FunctionProgram>,
    /// Names of the input ports.
    pub input_names: Vec<PortText>,
    /// Names of the output ports.
    pub output_names: Vec<PortText>,
    /// Types of the output ports, without variables.
    pub output_types: Vec<Type>,
    /// Outputs that may hold infinite bounds.
    pub may_be_infinite: Vec<bool>,
    /// Outputs of which the block itself looks whether they are finite.
    pub checks_itself: Vec<bool>,
    /// Rate of the outputs.
    pub rate: Rate,
    /// Rate of `update`: the same, but for a block between two rates.
    pub update_rate: Rate,
    /// Whether `update` runs when its rate is due.
    pub updates: bool,
    /// Continuous state: layout, and where it lives.
    pub continuous: Option<Placed>,
    /// Guards.
    pub guards: Vec<Guard>,
    /// Its shared value, if this is a shared computation.
    pub pool: Option<PoolId>,
    /// Where the block is in the text.
    pub span: Span,
    /// Lines that drawings show of it.
    pub caption: Vec<String>,
    /// Made by the compiler, not written in the diagram.
    pub hidden: bool,
    /// The gate that switches it on and off, if there is one.
    pub gate: Option<GateId>,
    /// The gate whose signals it computes, if it is a condition.
    pub opens: Option<GateId>,
    /// Over how many hits of its rate one of its steps goes.
    pub stretch: u32,
    /// What is copied from its inputs after its outputs are computed.
    pub copies: Vec<HeldCopy>,
}

/// A leaf of an output that shows a leaf of an input, and is held while that moves on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldCopy {
    /// The output group that it belongs to.
    pub group: u16,
    /// The leaf of the input.
    pub from: Slot,
    /// The leaf of the output.
    pub to: Slot,
}

/// An algebraic loop (semantics 5.3): the engine seeks outputs z of its `Solve` blocks for which
/// their inputs u, which `tasks` compute from z, equal z.
#[derive(Debug, Clone)]
pub struct Loop {
    /// The unknowns.
    pub unknowns: Vec<Unknown>,
    /// Places in the schedule of the output groups between them, side by side and in order.
    pub tasks: Vec<StepId>,
}

/// The unknown of one `Solve` block.
#[derive(Debug, Clone)]
pub struct Unknown {
    /// The block.
    pub node: NodeId,
    /// Where z lives.
    pub output: Slot,
    /// Where u lives.
    pub input: Slot,
    /// How it is sought.
    pub rule: SolveRule,
}

/// An output that ends the run when it is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// The block.
    pub node: NodeId,
    /// Where the output lives.
    pub slot: ArenaSlot,
}

/// What switches the blocks of a conditional part on and off (semantics 6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gate {
    /// The gate of the part around it.
    pub parent: Option<GateId>,
    /// Where the arena holds whether the part is on.
    pub active: ArenaSlot,
    /// Where the arena holds whether this is the step at which it came on.
    pub starts: ArenaSlot,
    /// Whether outputs are zero while it is off, instead of holding.
    pub clears: bool,
    /// Whether states begin anew when it comes on, instead of going on.
    pub restarts: bool,
}

/// A block's continuous state, placed in the state vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// What the block declared.
    pub state: ContinuousState,
    /// Its parts, in storage order.
    pub parts: Vec<Part>,
    /// Numbers in the state vector.
    pub x: Slot,
    /// Numbers in the vector of rates: what `derivative` writes.
    pub rate: Slot,
}

/// A part of a continuous state with its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// So many plain numbers.
    Euclidean(usize),
    /// A unit quaternion with the angular velocity in world axes as its rate.
    Quaternion,
    /// Roll, pitch, yaw of `Rz Ry Rx` with the angular velocity in world axes as their rate.
    EulerAngles,
}

impl Part {
    /// Numbers in the state.
    pub fn len(self) -> usize {
        match self {
            Self::Euclidean(n) => n,
            Self::Quaternion => 4,
            Self::EulerAngles => 3,
        }
    }

    /// Whether it is empty.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Numbers in its rate.
    pub fn tangent_len(self) -> usize {
        match self {
            Self::Euclidean(n) => n,
            Self::Quaternion | Self::EulerAngles => 3,
        }
    }
}

/// A wire: an output port, or a part of it, to an input port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// Node that writes.
    pub from: NodeId,
    /// Its output port; 0 for a shared value.
    pub from_port: u16,
    /// The part that is read, such as `.base.position[2]`; empty for the whole.
    pub part: String,
    /// Node that reads.
    pub to: NodeId,
    /// Its input port; `None` for a shared value.
    pub to_port: Option<u16>,
    /// Whether what is written reaches an output of the reader at once.
    pub feeds: bool,
}

/// One entry of the schedule: an output group of a node.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The node.
    pub node: NodeId,
    /// The output group.
    pub group: u16,
    /// The group's part of the arena.
    pub own: Slot,
    /// When it is due.
    pub rate: Rate,
    /// Whether it is computed in minor steps too.
    pub minor: bool,
}

/// Everything that a [`Program`] is made of.
#[derive(Clone)]
pub struct ProgramParts {
    /// Name, for people.
    pub name: String,
    /// Settings of the run.
    pub run: RunSettings,
    /// The rational base of time: one tick [s].
    pub base: Ratio,
    /// Ticks of one fixed step, or of the longest major step.
    pub step_ticks: u64,
    /// Tick at which the run stops.
    pub stop_tick: u64,
    /// Blocks, sorted by path.
    pub nodes: Vec<Node>,
    /// Wires, by reader.
    pub edges: Vec<Edge>,
    /// Inputs of the diagram, in the order of their declaration.
    pub inputs: Vec<InputPort>,
    /// Outputs of the diagram, in the order of their declaration.
    pub outputs: Vec<OutputPort>,
    /// Switches of conditional parts.
    pub gates: Vec<Gate>,
    /// Algebraic loops.
    pub loops: Vec<Loop>,
    /// Outputs that end the run.
    pub stops: Vec<Stop>,
    /// Output groups in the order of their execution; arena addresses ascend along it.
    pub schedule: Vec<Step>,
    /// Numbers in the arena.
    pub arena_len: usize,
    /// Numbers in the state vector.
    pub state_len: usize,
    /// Numbers in the vector of rates.
    pub rate_len: usize,
    /// Shared values.
    pub pool_len: usize,
    /// Bytes that a run takes, added up before it is made: what it keeps for going back is bounded
    /// by it.
    pub memory: u64,
    /// Bytes that a run may take, or what is computed of it, such as a linearisation.
    pub budget: u64,
    /// Whether what makes a run doubtful is told.
    pub warn: bool,
    /// What is recorded.
    pub log: Vec<LogChannel>,
    /// What is computed to judge a run; its places are the last of the arena.
    pub judge: Vec<JudgeValue>,
    /// What is checked.
    pub checks: Vec<Check>,
    /// All signals by path, for stepping, printing and breakpoints; sorted.
    pub signals: Vec<SignalRef>,
    /// What the blocks were expanded from, by path, for drawing.
    pub subsystems: Vec<Subsystem>,
    /// Hash of what blocks know besides their parameters: robots and files.
    pub resources: u64,
    /// What was found that does not keep it from running.
    pub warnings: Diagnostics,
}

/// The compiled diagram: its parts and what follows from them. Parts are read through it as its
/// fields; what has been made does not change, so its hashes fit.
#[derive(Clone)]
pub struct Program {
    parts: ProgramParts,
    hash: u64,
    continuation_hash: u64,
}

impl Deref for Program {
    type Target = ProgramParts;

    fn deref(&self) -> &ProgramParts {
        &self.parts
    }
}

impl Program {
    /// The program of these parts.
    pub fn new(parts: ProgramParts) -> Self {
        let continuation_hash = parts.identify_continuation();
        let hash = parts.identify(continuation_hash);
        Self { parts, hash, continuation_hash }
    }

    /// The parts, to make another program of.
    pub fn into_parts(self) -> ProgramParts {
        self.parts
    }

    /// The same program with more channels in its recording. Its hashes stay those of the diagram,
    /// which did not ask for them.
    #[must_use]
    pub fn recording_also(mut self, more: Vec<LogChannel>) -> Self {
        self.parts.log.extend(more);
        self
    }

    /// Hash of everything that shapes the result: programs of one hash give the same bits.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Hash of everything that the state of a run depends on, and of what a snapshot holds state
    /// of, such as checks: all of [`Self::hash`] but the stop time and what is recorded. A
    /// snapshot of one program continues in another of the same continuation.
    pub fn continuation_hash(&self) -> u64 {
        self.continuation_hash
    }
}

/// The hash FNV-1a of texts: the same on every machine and in every version.
#[derive(Debug, Clone, Copy)]
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    /// What so many zeros multiply by.
    const POWERS: [u64; 9] = {
        let (mut powers, mut zeros) = ([1; 9], 1);
        while zeros < powers.len() {
            powers[zeros] = Self::PRIME.wrapping_mul(powers[zeros - 1]);
            zeros += 1;
        }
        powers
    };

    /// Adds a text and its end, so that `ab`, `c` is not `a`, `bc`.
    pub fn add(&mut self, text: &str) {
        self.add_bytes(text.as_bytes());
        self.add_bytes(&[0]);
    }

    /// Adds bytes.
    pub fn add_bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(Self::PRIME);
        }
    }

    /// Adds the eight bytes of a number, lowest first. Most are small: the zeros behind their last
    /// byte multiply alone, all at once.
    fn add_number(&mut self, number: u64) {
        let zeros = number.leading_zeros() / 8;
        self.add_bytes(&number.to_le_bytes()[..8 - zeros as usize]);
        self.0 = self.0.wrapping_mul(Self::POWERS[zeros as usize]);
    }

    /// The hash so far.
    pub fn value(self) -> u64 {
        self.0
    }
}
