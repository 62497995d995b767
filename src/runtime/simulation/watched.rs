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
    /// Those whose inputs have not been followed yet.
    open: Vec<NodeId>,
    /// For each number of the arena who writes it, if a block does.
    writers: Vec<Option<NodeId>>,
}

impl Reading {
    /// What is read, if somebody does not read all.
    pub(super) fn of(program: &Program, watched: &Watched) -> Option<Self> {
        let asked = match watched {
            Watched::All => return None,
            Watched::Run => &[][..],
            Watched::Only(slots) => &slots[..],
        };
        let by_run = matches!(watched, Watched::Run);
        let mut writers = vec![None; program.arena_len];
        for step in &program.schedule {
            writers[step.own.range()].fill(Some(step.node));
        }
        let mut reading = Self {
            slots: vec![false; program.arena_len],
            nodes: vec![false; program.nodes.len()],
            open: Vec::new(),
            writers,
        };
        for (i, node) in program.nodes.iter().enumerate() {
            if by_run || acts(node) {
                reading.run(NodeId::new(i));
            }
        }
        for task in program.loops.iter().flat_map(|found| &found.tasks) {
            reading.run(program.schedule[*task].node);
        }
        asked.iter().for_each(|slot| reading.read(*slot));
        reading.read_by_engine(program);
        if watched.judges(program) {
            reading.read_by_judge(program);
        }
        if by_run {
            reading.read_by_run(program);
        }
        reading.follow(program);
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

    fn run(&mut self, node: NodeId) {
        if !std::mem::replace(&mut self.nodes[node.index()], true) {
            self.open.push(node);
        }
    }

    fn read(&mut self, slot: Slot) {
        slot.range().for_each(|place| self.read_place(place));
    }

    fn read_place(&mut self, place: usize) {
        let is_known = std::mem::replace(&mut self.slots[place], true);
        if !is_known && let Some(writer) = self.writers[place] {
            self.run(writer);
        }
    }

    fn read_by_engine(&mut self, program: &Program) {
        for unknown in program.loops.iter().flat_map(|found| &found.unknowns) {
            self.read(unknown.input);
            self.read(unknown.output);
        }
        let gates = program.gates.iter().flat_map(|gate| [gate.active, gate.starts]);
        let stops = program.stops.iter().map(|stop| stop.slot);
        gates.chain(stops).for_each(|slot| self.read_place(slot.index()));
    }

    fn read_by_judge(&mut self, program: &Program) {
        let judged = program.judge.iter().flat_map(|value| value.slots());
        judged.filter(|slot| *slot != TIME_SLOT).for_each(|place| self.read_place(place));
    }

    fn read_by_run(&mut self, program: &Program) {
        for slot in program.log.iter().flat_map(|channel| channel.signal.slots.iter()) {
            self.read(*slot);
        }
        let conditions =
            program.checks.iter().flat_map(|check| check.when.iter().chain([&check.condition]));
        let checked = conditions.flat_map(|condition| condition.slots());
        checked.filter(|slot| *slot != TIME_SLOT).for_each(|place| self.read_place(place));
    }

    /// Adds what the blocks read that run.
    fn follow(&mut self, program: &Program) {
        let mut providers = vec![None; program.pool_len];
        for (i, node) in program.nodes.iter().enumerate() {
            if let Some(pool) = node.pool {
                providers[pool.index()] = Some(NodeId::new(i));
            }
        }
        while let Some(node) = self.open.pop() {
            let node = &program.nodes[node];
            for port in 0..node.io.inputs.port_count() {
                node.io.inputs.port(port).iter().for_each(|slot| self.read(*slot));
            }
            node.copies.iter().for_each(|copy| self.read(copy.from));
            // One that shares none has a number all the same.
            let shared = node.io.shared.iter().filter_map(|&pool| providers.get(pool as usize));
            shared.flatten().for_each(|provider| self.run(*provider));
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
