//! Where a session is, and why it stopped there.

use legwork_diagram::render::SourceMap;
use legwork_program::{Node, Rate};
use legwork_runtime::{Cursor, Simulation};
use serde::Serialize;

use super::Session;
use super::edit::EditNote;

/// What comes next in a major step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The outputs of a block.
    Output,
    /// Nothing: all outputs are computed.
    OutputsDone,
    /// Guards and resets.
    Guards,
    /// Recording and checks.
    Observe,
    /// The update of a block.
    Update,
    /// Integration up to the next step.
    Integrate,
    /// Nothing: the run has ended.
    End,
}

/// Where a session is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// Simulated time [s].
    pub t: f64,
    /// The major step that goes on or comes next, counted from t = 0.
    pub step: u64,
    /// What comes next.
    pub stage: Stage,
    /// Path of the block whose outputs or update come next.
    pub block: Option<String>,
    /// Its kind.
    pub kind: Option<String>,
    /// Its number in the order of execution, from 1, if its outputs come next.
    pub number: Option<usize>,
    /// How many entries that order has.
    pub count: usize,
    /// The block that ended the run before its time.
    pub stopped_by: Option<String>,
}

/// Why a session stopped where it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Halt {
    /// It is where it was to go.
    Arrived,
    /// At a breakpoint.
    Breakpoint {
        /// Its number, from 1.
        number: usize,
        /// As it was asked for.
        text: String,
    },
    /// At a fault; [`Session::fault`] has all of it.
    Fault {
        /// Time, phase, block and text.
        message: String,
    },
    /// The run has ended.
    End,
    /// Somebody asked by its flag.
    Cancelled,
    /// There is no block of another subsystem in the rest of the step and the next.
    NoOtherPart,
    /// Its past begins here: it went back less than it was asked to.
    Beginning {
        /// How far it went.
        gone: u64,
    },
}

/// A stop: where, why, and what became of edits on the way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stop {
    /// Why.
    pub halt: Halt,
    /// Edits that entered, were refused or undone.
    pub edits: Vec<EditNote>,
    /// Where.
    pub place: Place,
}

/// Everything about a place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Where {
    /// Where it is.
    pub place: Place,
    /// k: the time in whole ticks.
    pub tick: u64,
    /// τ: the part of a tick behind it, from 0 to 1.
    pub tau: f64,
    /// n: the number of resets that went before at this time.
    pub microstep: u32,
    /// Pieces of the step that are done.
    pub pieces: u64,
    /// The fault that the run stopped at.
    pub fault: Option<String>,
    /// The block that comes next.
    pub block: Option<BlockLine>,
    /// Edits that wait for the end of the step: path and value.
    pub pending: Vec<(String, String)>,
}

/// A block and where it is in the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BlockLine {
    /// Path.
    pub path: String,
    /// The block with its parameters.
    pub text: String,
    /// When it is due.
    pub rate: String,
    /// Its line in the file.
    pub source: Option<SourceLine>,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceLine {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// The line without the spaces around it.
    pub text: String,
}

/// An entry of the order of execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Scheduled {
    /// Path of the block.
    pub block: String,
    /// Its kind.
    pub kind: String,
    /// Which of its groups of outputs, if it has several.
    pub group: Option<u16>,
    /// When it is due.
    pub rate: String,
    /// Whether it comes next.
    pub is_next: bool,
    /// Whether it is due in this step.
    pub is_due: bool,
}

impl Session {
    /// Where it is.
    pub fn place(&self) -> Place {
        let simulation = self.simulation();
        let stage = match simulation.cursor() {
            Cursor::Output(_) if simulation.next_output().is_some() => Stage::Output,
            Cursor::Output(_) => Stage::OutputsDone,
            Cursor::Update(_) => Stage::Update,
            Cursor::Guards => Stage::Guards,
            Cursor::Observe => Stage::Observe,
            Cursor::Integrate => Stage::Integrate,
            Cursor::Done => Stage::End,
        };
        let has_block = matches!(stage, Stage::Output | Stage::Update);
        let node = next_node(simulation).filter(|_| has_block);
        Place {
            t: simulation.time(),
            step: self.history.step(),
            stage,
            block: node.map(|node| node.path.clone()),
            kind: node.map(|node| node.kind.to_owned()),
            number: simulation.next_output().map(|at| at + 1),
            count: simulation.program().schedule.len(),
            stopped_by: simulation.stopped_by().map(str::to_owned),
        }
    }

    /// Everything about the place, with the block's line in the file.
    pub fn whereabouts(&self) -> Where {
        let simulation = self.simulation();
        let moment = simulation.moment();
        Where {
            place: self.place(),
            tick: moment.tick,
            tau: moment.tau,
            microstep: simulation.microstep(),
            pieces: self.history.pieces(),
            fault: self.fault().map(ToString::to_string),
            block: next_node(simulation).map(|node| BlockLine {
                path: node.path.clone(),
                text: node.text.clone(),
                rate: simulation.program().rate_text(node.rate),
                source: self.line_of(node),
            }),
            pending: self.pending.clone(),
        }
    }

    /// Paths of the blocks that are switched off with the part around them.
    pub fn off(&self) -> Vec<&str> {
        let (simulation, program) = (self.simulation(), self.program());
        let is_off = |node: &&Node| {
            let mut gate = node.gate;
            while let Some(id) = gate {
                let of = &program.gates[id];
                if simulation.arena()[of.active.index()] == 0.0 {
                    return true;
                }
                gate = of.parent;
            }
            false
        };
        program.nodes.iter().filter(is_off).map(|node| node.path.as_str()).collect()
    }

    fn line_of(&self, node: &Node) -> Option<SourceLine> {
        SourceLine::of(node, self.sources())
    }
}

impl SourceLine {
    /// The line of a block.
    pub fn of(node: &Node, sources: &SourceMap) -> Option<Self> {
        let start = sources.positions(node.span).0;
        let text = sources.text(node.span.file).lines().nth(start.line - 1)?.trim().to_owned();
        let file = sources.name(node.span.file).to_owned();
        Some(Self { file, line: start.line, column: start.column, text })
    }
}

impl Session {
    /// The order of execution.
    pub fn schedule(&self) -> Vec<Scheduled> {
        let simulation = self.simulation();
        let program = simulation.program();
        let (next, moment) = (simulation.next_output(), simulation.moment());
        let entries = program.schedule.iter().enumerate();
        entries
            .map(|(i, step)| {
                let node = &program.nodes[step.node];
                let groups = program.schedule.iter().filter(|other| other.node == step.node);
                Scheduled {
                    block: node.path.clone(),
                    kind: node.kind.to_owned(),
                    group: (groups.count() > 1).then_some(step.group),
                    rate: program.rate_text(step.rate),
                    is_next: next == Some(i),
                    is_due: step.rate == Rate::Continuous
                        || (moment.is_tick() && step.rate.due(moment.tick)),
                }
            })
            .collect()
    }
}

/// The block that comes next.
fn next_node(simulation: &Simulation) -> Option<&Node> {
    Some(&simulation.program().nodes[simulation.next_node()?])
}
