//! Who looks at the signals of a run, and what is left out where nobody does.

use legwork_block::Slot;
use legwork_program::{Node, NodeId, Program, TIME_SLOT};

/// Who looks at signals besides blocks.
#[derive(Debug, Clone)]
pub(super) enum Watched {
    /// Somebody may look at any.
    All,
    /// The log and the checks.
    Run,
    /// Somebody looks at these; the log, checks and values of `judge:` are left out unless they are
    /// among them, and so are blocks that only they read.
    Only(Vec<Slot>),
}

impl Watched {
    /// Whether somebody looks at a value of `judge:`. They lie behind the signals of blocks, and
    /// nothing that shapes the run reads them.
    pub(super) fn judges(&self, program: &Program) -> bool {
        let judged = program.arena_len - program.judge.len();
        match self {
            Self::All | Self::Run => true,
            Self::Only(slots) => slots.iter().any(|slot| slot.range().end > judged),
        }
    }
}

/// What is read of a program.
pub(super) struct Reading {
    /// For each number of the arena whether somebody reads it.
    slots: Vec<bool>,
    /// The blocks that run.
    nodes: Vec<bool>,
}

impl Reading {
    /// What is read, if somebody does not read all.
    pub(super) fn of(program: &Program, watched: &Watched) -> Option<Self> {
        let (by_run, asked, nodes) = match watched {
            Watched::All => return None,
            Watched::Run => (true, &[][..], vec![true; program.nodes.len()]),
            Watched::Only(slots) => (false, &slots[..], program.nodes.iter().map(acts).collect()),
        };
        let mut reading = Self { slots: vec![false; program.arena_len], nodes };
        asked.iter().for_each(|slot| reading.read(*slot));
        reading.read_by_engine(program);
        if watched.judges(program) {
            reading.read_by_judge(program);
        }
        if by_run {
            reading.read_by_run(program);
        }
        for loops in &program.loops {
            for task in &loops.tasks {
                reading.nodes[program.schedule[*task].node.index()] = true;
            }
        }
        let mut is_followed = vec![false; program.nodes.len()];
        while let Some(next) = reading.next(program, &is_followed) {
            is_followed[next] = true;
            reading.follow(program, next);
        }
        Some(reading)
    }

    /// Whether the block runs.
    pub(super) fn runs(&self, node: NodeId) -> bool {
        self.nodes[node.index()]
    }

    /// Whether somebody reads an output.
    pub(super) fn reads(&self, node: &Node, port: usize) -> bool {
        let mut slots = node.io.outputs.port(port).iter();
        slots.any(|slot| slot.range().any(|i| self.slots[i]))
    }

    fn read(&mut self, slot: Slot) {
        self.slots[slot.range()].fill(true);
    }

    fn read_by_engine(&mut self, program: &Program) {
        for unknown in program.loops.iter().flat_map(|found| &found.unknowns) {
            self.read(unknown.input);
            self.read(unknown.output);
        }
        let gates = program.gates.iter().flat_map(|gate| [gate.active, gate.starts]);
        let stops = program.stops.iter().map(|stop| stop.slot);
        for place in gates.chain(stops).map(|slot| slot.index()) {
            self.slots[place] = true;
        }
    }

    fn read_by_judge(&mut self, program: &Program) {
        let judged = program.judge.iter().flat_map(|value| value.slots());
        for place in judged.filter(|slot| *slot != TIME_SLOT) {
            self.slots[place] = true;
        }
    }

    fn read_by_run(&mut self, program: &Program) {
        for slot in program.log.iter().flat_map(|channel| channel.signal.slots.iter()) {
            self.read(*slot);
        }
        let conditions =
            program.checks.iter().flat_map(|check| check.when.iter().chain([&check.condition]));
        let checked = conditions.flat_map(|condition| condition.slots());
        for place in checked.filter(|slot| *slot != TIME_SLOT) {
            self.slots[place] = true;
        }
    }

    /// A block that runs and whose inputs have not been followed.
    fn next(&mut self, program: &Program, is_followed: &[bool]) -> Option<usize> {
        // Most blocks read what is computed before them.
        for at in (0..program.nodes.len()).rev() {
            let node = &program.nodes[NodeId::new(at)];
            let is_read = |port| self.reads(node, port);
            if !is_followed[at]
                && (self.nodes[at] || (0..node.io.outputs.port_count()).any(is_read))
            {
                self.nodes[at] = true;
                return Some(at);
            }
        }
        None
    }

    /// Adds what a block reads.
    fn follow(&mut self, program: &Program, at: usize) {
        let node = &program.nodes[NodeId::new(at)];
        for port in 0..node.io.inputs.port_count() {
            node.io.inputs.port(port).iter().for_each(|slot| self.read(*slot));
        }
        node.copies.iter().for_each(|copy| self.read(copy.from));
        for (other, provider) in program.nodes.iter().enumerate() {
            let asked = |pool: &u32| provider.pool.is_some_and(|id| id.index() == *pool as usize);
            self.nodes[other] |= node.io.shared.iter().any(asked);
        }
    }
}

/// Whether a block runs even if nobody reads it: it does more than its outputs show, or has a state
/// or guards that shape the steps of the run.
fn acts(node: &Node) -> bool {
    let is_sink = node.io.outputs.port_count() == 0;
    is_sink
        || node.block.acts()
        || node.continuous.is_some()
        || !node.guards.is_empty()
        || node.opens.is_some()
}
