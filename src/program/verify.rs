//! What must hold of every program, whoever made it: each rule has a name.

use legwork_block::{ContinuousState, Manifold, Slot, Type};

use crate::{
    Edge, FunctionProgram, GateId, Loop, Node, NodeId, Part, Placed, PoolId, PortPart,
    ProgramParts, Rate, Ratio, Step, StepId, TIME_SLOT,
};

/// A rule that a program breaks, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {rule}")]
pub struct VerifyError {
    /// The rule.
    pub rule: Rule,
    /// What breaks it: the path of a block, or the name of a part of the program.
    pub place: String,
}

/// What must hold of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// A tick takes time.
    #[error("the base of time is above zero")]
    BaseIsPositive,
    /// The step of the run is that many ticks.
    #[error("the step is `step_ticks` ticks, at least one")]
    StepIsWholeTicks,
    /// Blocks, and signals, are found by path.
    #[error("paths ascend, none twice")]
    PathsAscend,
    /// Names, types and slots are of the same ports.
    #[error("every port has a name, a type and slots")]
    PortsHaveAll,
    /// A slot is a part of the arena.
    #[error("slots lie in the arena")]
    SlotInArena,
    /// Slots are as long as the leaves of the type.
    #[error("slots are the leaves of the type")]
    SlotsFitType,
    /// A period is some ticks long.
    #[error("periods are at least one tick, a step at least one hit")]
    PeriodIsPositive,
    /// A block is one of the program's.
    #[error("every block that is named exists")]
    NodeExists,
    /// A gate is one of the program's.
    #[error("every gate that is named exists")]
    GateExists,
    /// A place in the schedule exists.
    #[error("every place in the schedule that is named exists")]
    StepExists,
    /// A port is one of the block's.
    #[error("wires join ports that exist")]
    PortExists,
    /// A shared value is one of the program's.
    #[error("every shared value that is named exists")]
    PoolExists,
    /// A shared value has one writer.
    #[error("shared values have one writer each, which says that it shares")]
    PoolHasOneWriter,
    /// Parts are those of the declared state.
    #[error("the parts of a continuous state are those that were declared")]
    PartsFitState,
    /// States lie side by side in the state vector, and fill it.
    #[error("states fill the state vector in the order of blocks")]
    StatesTile,
    /// Rates lie side by side in the vector of rates, and fill it.
    #[error("rates fill the vector of rates in the order of blocks")]
    RatesTile,
    /// A copy goes from a leaf to an equally long one of its own group.
    #[error("copies go to a leaf of their group that is as long as its source")]
    CopyFits,
    /// A gate lies inside no gate that lies inside it.
    #[error("gates lie inside each other without a cycle")]
    GatesAreNested,
    /// One block computes the signals of a gate.
    #[error("one condition computes the signals of each gate")]
    GateHasOneCondition,
    /// Groups lie side by side in the arena in the order in which they run, and fill it.
    #[error("groups fill the arena in the order of the schedule")]
    GroupsTile,
    /// A group runs once.
    #[error("every group is in the schedule once")]
    GroupRunsOnce,
    /// Whatever has outputs or shares a value runs.
    #[error("every block with outputs is in the schedule")]
    BlockRuns,
    /// A step has the rate of its block.
    #[error("a group is due when its block is")]
    RateIsTheBlocks,
    /// Minor steps run what is continuous.
    #[error("only what is continuous runs in minor steps")]
    MinorIsContinuous,
    /// What is between the unknowns of a loop lies side by side in the schedule.
    #[error("the groups of a loop lie side by side in the schedule")]
    LoopIsContiguous,
    /// An unknown is the output of its block, as long as what it is compared with.
    #[error("an unknown is its block's output and as long as its input")]
    UnknownFits,
    /// A loop can be solved.
    #[error("a loop has unknowns, tolerances above zero and as many initial values")]
    RuleIsUsable,
    /// An input begins with as many numbers as it has.
    #[error("an input is the output of its block, and begins with as many numbers as it has")]
    InputFits,
    /// The values of `judge:` are the last of the arena, and read what is in front of them.
    #[error("the values of `judge:` are the last of the arena and read what is in front of them")]
    JudgeIsLast,
    /// A check gives a truth value.
    #[error("a check's condition is a truth value")]
    CheckIsBoolean,
    /// The frame of a function never runs.
    #[error("the frame of a function is not in its schedule")]
    FrameDoesNotRun,
    /// A function has no time, so that nothing in it is switched, integrated or watched.
    #[error("blocks of a function have neither gate nor continuous state nor guards")]
    FunctionHasNoTime,
}

type Verified = Result<(), VerifyError>;

fn ensure(holds: bool, rule: Rule, place: &str) -> Verified {
    if holds { Ok(()) } else { Err(VerifyError { rule, place: place.to_owned() }) }
}

/// Blocks, wires and order of a program or of a function.
struct Graph<'p> {
    nodes: &'p [Node],
    edges: &'p [Edge],
    schedule: &'p [Step],
    arena_len: usize,
    pool_len: usize,
    gate_count: usize,
    /// The frame of a function.
    frame: Option<NodeId>,
}

impl ProgramParts {
    /// Whether everything holds that compilation promises and the engine takes for granted.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn verify(&self) -> Result<(), VerifyError> {
        ensure(self.base.is_positive(), Rule::BaseIsPositive, "base")?;
        let step = Ratio::whole(i128::from(self.step_ticks)).times(self.base);
        let steps = self.step_ticks > 0 && step == Some(self.run.step);
        ensure(steps, Rule::StepIsWholeTicks, "run.step")?;
        let graph = Graph {
            nodes: &self.nodes,
            edges: &self.edges,
            schedule: &self.schedule,
            arena_len: self.arena_len.saturating_sub(self.judge.len()),
            pool_len: self.pool_len,
            gate_count: self.gates.len(),
            frame: None,
        };
        graph.verify()?;
        self.states()?;
        self.gates()?;
        self.loops.iter().try_for_each(|found| self.algebraic_loop(found))?;
        for stop in &self.stops {
            ensure(stop.node.index() < self.nodes.len(), Rule::NodeExists, "stops")?;
            ensure(stop.slot.index() < self.arena_len, Rule::SlotInArena, "stops")?;
        }
        for channel in &self.log {
            let signal = &channel.signal;
            leaves(&signal.ty, &signal.slots, self.arena_len, &signal.path)?;
            rate(channel.rate, &signal.path)?;
        }
        let signals = self.arena_len.checked_sub(self.judge.len());
        for (i, value) in self.judge.iter().enumerate() {
            let own = signals.map(|signals| signals + i);
            ensure(own == Some(value.slot as usize), Rule::JudgeIsLast, &value.name)?;
            let before = |slot| slot == TIME_SLOT || own.is_some_and(|own| slot < own);
            ensure(value.slots().all(before), Rule::JudgeIsLast, &value.name)?;
            let of_condition = value.by.is_some_and(|by| by.is_of_condition());
            let fits = value.by.is_none() || of_condition == value.of.is_boolean();
            ensure(fits, Rule::CheckIsBoolean, &value.name)?;
        }
        for check in &self.checks {
            ensure(check.condition.is_boolean(), Rule::CheckIsBoolean, &check.name)?;
            let when = check.when.iter();
            ensure(when.clone().all(|when| when.is_boolean()), Rule::CheckIsBoolean, &check.name)?;
            let mut slots = check.condition.slots().chain(when.flat_map(|when| when.slots()));
            let inside = slots.all(|slot| slot == TIME_SLOT || slot < self.arena_len);
            ensure(inside, Rule::SlotInArena, &check.name)?;
        }
        for signal in &self.signals {
            leaves(&signal.ty, &signal.slots, self.arena_len, &signal.path)?;
        }
        self.ports()?;
        for subsystem in &self.subsystems {
            let ports = subsystem.inputs.iter().chain(&subsystem.outputs);
            for part in ports.flat_map(|port| &port.ports) {
                let node = self.nodes.get(part.node.index());
                ensure(node.is_some(), Rule::NodeExists, &subsystem.path)?;
                let port = node.is_some_and(|node| (part.port as usize) < node.output_names.len());
                ensure(port, Rule::PortExists, &subsystem.path)?;
            }
        }
        let ascend = self.subsystems.is_sorted_by(|a, b| a.path < b.path);
        ensure(ascend, Rule::PathsAscend, "subsystems")?;
        let ascend = self.signals.is_sorted_by(|a, b| a.path < b.path);
        ensure(ascend, Rule::PathsAscend, "signals")
    }

    /// Inputs and outputs of the diagram.
    fn ports(&self) -> Verified {
        for input in &self.inputs {
            leaves(&input.signal.ty, &input.signal.slots, self.arena_len, &input.signal.path)?;
            let node = self.nodes.get(input.node.index());
            ensure(node.is_some(), Rule::NodeExists, &input.name)?;
            let own = node.is_some_and(|node| {
                node.io.outputs.port_count() > 0 && node.io.outputs.port(0) == input.signal.slots
            });
            ensure(own, Rule::PortExists, &input.name)?;
            let len: usize = input.signal.slots.iter().map(|slot| slot.len as usize).sum();
            let fits = input.initial.as_ref().is_none_or(|initial| initial.len() == len);
            ensure(fits, Rule::InputFits, &input.name)?;
        }
        for output in &self.outputs {
            leaves(&output.signal.ty, &output.signal.slots, self.arena_len, &output.name)?;
            let exists = |part: &PortPart| part.node.index() < self.nodes.len();
            ensure(output.from.iter().all(exists), Rule::NodeExists, &output.name)?;
        }
        Ok(())
    }

    /// States and their rates, one after the other.
    fn states(&self) -> Verified {
        let (mut x, mut dx) = (0, 0);
        for node in &self.nodes {
            let Some(placed) = &node.continuous else { continue };
            let path = &node.path;
            let (state, rate) = sizes(placed)
                .ok_or_else(|| VerifyError { rule: Rule::PartsFitState, place: path.clone() })?;
            ensure(is_next(placed.x, &mut x, state), Rule::StatesTile, path)?;
            ensure(is_next(placed.rate, &mut dx, rate), Rule::RatesTile, path)?;
        }
        ensure(x == self.state_len, Rule::StatesTile, "state_len")?;
        ensure(dx == self.rate_len, Rule::RatesTile, "rate_len")
    }

    fn gates(&self) -> Verified {
        for (i, gate) in self.gates.iter().enumerate() {
            let mut opening = self.nodes.iter().filter(|n| n.opens == Some(GateId::new(i)));
            let (first, second) = (opening.next(), opening.next());
            let condition = first.filter(|_| second.is_none());
            let Some(node) = condition else {
                return ensure(false, Rule::GateHasOneCondition, "gates");
            };
            for slot in [gate.active, gate.starts] {
                ensure(slot.index() < self.arena_len, Rule::SlotInArena, &node.path)?;
                let outputs = &node.io.outputs;
                let mut own = (0..outputs.port_count()).flat_map(|port| outputs.port(port));
                let computed = own.any(|own| own.range().contains(&slot.index()));
                ensure(computed, Rule::GateHasOneCondition, &node.path)?;
            }
            let mut around = gate.parent;
            for _ in 0..=self.gates.len() {
                let Some(id) = around else { break };
                let inside = id.index() < self.gates.len();
                ensure(inside, Rule::GateExists, &node.path)?;
                around = self.gates[id].parent;
            }
            ensure(around.is_none(), Rule::GatesAreNested, &node.path)?;
        }
        Ok(())
    }

    fn algebraic_loop(&self, found: &Loop) -> Verified {
        ensure(!found.unknowns.is_empty(), Rule::RuleIsUsable, "loops")?;
        for unknown in &found.unknowns {
            ensure(unknown.node.index() < self.nodes.len(), Rule::NodeExists, "loops")?;
            let node = &self.nodes[unknown.node];
            slot(unknown.output, self.arena_len, &node.path)?;
            slot(unknown.input, self.arena_len, &node.path)?;
            let (inputs, outputs) = (&node.io.inputs, &node.io.outputs);
            let fits = inputs.port_count() == 1
                && outputs.port_count() == 1
                && (inputs.port(0), outputs.port(0)) == (&[unknown.input], &[unknown.output])
                && unknown.input.len == unknown.output.len;
            ensure(fits, Rule::UnknownFits, &node.path)?;
            let rule = &unknown.rule;
            let given =
                rule.initial.is_empty() || rule.initial.len() == unknown.output.len as usize;
            ensure(rule.tolerance > 0.0 && given, Rule::RuleIsUsable, &node.path)?;
        }
        let place = &self.nodes[found.unknowns[0].node].path;
        let exist = found.tasks.iter().all(|task| task.index() < self.schedule.len());
        ensure(exist, Rule::StepExists, place)?;
        let next = |pair: &[StepId]| pair[0].index() + 1 == pair[1].index();
        ensure(found.tasks.windows(2).all(next), Rule::LoopIsContiguous, place)
    }
}

impl Graph<'_> {
    fn verify(&self) -> Verified {
        let ascend = self.nodes.is_sorted_by(|a, b| a.path < b.path);
        ensure(ascend, Rule::PathsAscend, "nodes")?;
        self.nodes.iter().try_for_each(|node| self.node(node))?;
        self.pool()?;
        self.edges.iter().try_for_each(|edge| self.edge(edge))?;
        self.schedule()
    }

    fn node(&self, node: &Node) -> Verified {
        let (path, io) = (&node.path, &node.io);
        let outputs =
            [node.output_types.len(), node.may_be_infinite.len(), node.checks_itself.len()];
        let all = outputs.iter().all(|&count| count == node.output_names.len())
            && io.outputs.port_count() == node.output_names.len()
            && io.inputs.port_count() == node.input_names.len();
        ensure(all, Rule::PortsHaveAll, path)?;
        for (port, ty) in node.output_types.iter().enumerate() {
            leaves(ty, io.outputs.port(port), self.arena_len, path)?;
        }
        for port in 0..io.inputs.port_count() {
            io.inputs.port(port).iter().try_for_each(|&one| slot(one, self.arena_len, path))?;
        }
        rate(node.rate, path)?;
        rate(node.update_rate, path)?;
        ensure(node.stretch > 0, Rule::PeriodIsPositive, path)?;
        for gate in [node.gate, node.opens].into_iter().flatten() {
            ensure(gate.index() < self.gate_count, Rule::GateExists, path)?;
        }
        for copy in &node.copies {
            slot(copy.from, self.arena_len, path)?;
            slot(copy.to, self.arena_len, path)?;
            let own = |step: &Step| {
                let (own, to) = (step.own.range(), copy.to.range());
                self.nodes[step.node].path == *path
                    && step.group == copy.group
                    && own.start <= to.start
                    && to.end <= own.end
            };
            let known = |step: &&Step| step.node.index() < self.nodes.len();
            let fits = copy.from.len == copy.to.len && self.schedule.iter().filter(known).any(own);
            ensure(fits, Rule::CopyFits, path)?;
        }
        node.functions.iter().try_for_each(verify_function)
    }

    /// Every shared value is written by one block, and whoever asks for one asks for one of them.
    fn pool(&self) -> Verified {
        let mut written = vec![false; self.pool_len];
        for node in self.nodes {
            let shares = node.io.shares == node.pool.is_some();
            ensure(shares, Rule::PoolHasOneWriter, &node.path)?;
            for id in node.pool.iter().copied().map(PoolId::index) {
                ensure(id < self.pool_len, Rule::PoolExists, &node.path)?;
                let first = !std::mem::replace(&mut written[id], true);
                ensure(first, Rule::PoolHasOneWriter, &node.path)?;
            }
            let asked = node.io.shared.iter().all(|&id| (id as usize) < self.pool_len);
            ensure(asked, Rule::PoolExists, &node.path)?;
        }
        ensure(!written.contains(&false), Rule::PoolHasOneWriter, "pool_len")
    }

    fn edge(&self, edge: &Edge) -> Verified {
        let exists = |id: NodeId| id.index() < self.nodes.len();
        ensure(exists(edge.from) && exists(edge.to), Rule::NodeExists, "edges")?;
        let (from, to) = (&self.nodes[edge.from], &self.nodes[edge.to]);
        let ports = match edge.to_port {
            Some(port) => {
                (edge.from_port as usize) < from.output_names.len()
                    && (port as usize) < to.input_names.len()
            }
            None => from.pool.is_some(),
        };
        ensure(ports, Rule::PortExists, &to.path)
    }

    fn schedule(&self) -> Verified {
        let mut end = 0;
        let mut groups = std::collections::BTreeSet::new();
        for step in self.schedule {
            ensure(step.node.index() < self.nodes.len(), Rule::NodeExists, "schedule")?;
            let node = &self.nodes[step.node];
            slot(step.own, self.arena_len, &node.path)?;
            // The frame of a function has its place in the arena, but no step.
            let start = step.own.start as usize;
            let next = if self.frame.is_some() { start >= end } else { start == end };
            ensure(next, Rule::GroupsTile, &node.path)?;
            end = step.own.range().end;
            ensure(groups.insert((step.node, step.group)), Rule::GroupRunsOnce, &node.path)?;
            ensure(step.rate == node.rate, Rule::RateIsTheBlocks, &node.path)?;
            let minor = !step.minor || step.rate == Rate::Continuous;
            ensure(minor, Rule::MinorIsContinuous, &node.path)?;
        }
        let filled =
            if self.frame.is_some() { end <= self.arena_len } else { end == self.arena_len };
        ensure(filled, Rule::GroupsTile, "arena_len")?;
        for (i, node) in self.nodes.iter().enumerate() {
            let runs = groups.iter().any(|(id, _)| id.index() == i);
            if self.frame.map(NodeId::index) == Some(i) {
                ensure(!runs, Rule::FrameDoesNotRun, &node.path)?;
            } else {
                let outputs = node.output_names.is_empty() && node.pool.is_none();
                ensure(runs || outputs, Rule::BlockRuns, &node.path)?;
            }
        }
        Ok(())
    }
}

fn verify_function(function: &FunctionProgram) -> Verified {
    let exists = function.frame.index() < function.nodes.len();
    ensure(exists, Rule::NodeExists, &function.path)?;
    let graph = Graph {
        nodes: &function.nodes,
        edges: &function.edges,
        schedule: &function.schedule,
        arena_len: function.arena_len,
        pool_len: function.pool_len,
        gate_count: 0,
        frame: Some(function.frame),
    };
    graph.verify()?;
    for node in &function.nodes {
        let timeless = node.continuous.is_none() && node.guards.is_empty();
        ensure(timeless, Rule::FunctionHasNoTime, &node.path)?;
    }
    Ok(())
}

/// Whether `slot` begins at `at` and has `len` numbers; moves `at` to its end.
fn is_next(slot: Slot, at: &mut usize, len: usize) -> bool {
    let next = (slot.start as usize, slot.len as usize) == (*at, len);
    *at += len;
    next
}

/// Numbers of a placed state and of its rate; `None` if its parts are not what was declared.
fn sizes(placed: &Placed) -> Option<(usize, usize)> {
    let (second, manifolds) = match &placed.state {
        ContinuousState::First(manifolds) => (false, manifolds),
        ContinuousState::Second(manifolds) => (true, manifolds),
    };
    let fits = |(manifold, part): (&Manifold, &Part)| {
        matches!(
            (manifold, part),
            (Manifold::Euclidean(_), Part::Euclidean(_))
                | (Manifold::Quaternion, Part::Quaternion)
                | (Manifold::EulerAngles, Part::EulerAngles)
        )
    };
    let declared =
        manifolds.len() == placed.parts.len() && manifolds.iter().zip(&placed.parts).all(fits);
    let state: usize = placed.parts.iter().map(|part| part.len()).sum();
    let rate: usize = placed.parts.iter().map(|part| part.tangent_len()).sum();
    declared.then_some((if second { state + rate } else { state }, rate))
}

fn rate(rate: Rate, place: &str) -> Verified {
    let passes = !matches!(rate, Rate::Periodic { period: 0, .. });
    ensure(passes, Rule::PeriodIsPositive, place)
}

fn slot(slot: Slot, arena_len: usize, place: &str) -> Verified {
    let end = u64::from(slot.start) + u64::from(slot.len);
    ensure(end <= arena_len as u64, Rule::SlotInArena, place)
}

fn leaves(ty: &Type, slots: &[Slot], arena_len: usize, place: &str) -> Verified {
    slots.iter().try_for_each(|&one| slot(one, arena_len, place))?;
    let lengths = ty.leaves();
    let same = lengths.is_some_and(|lengths| {
        lengths.len() == slots.len()
            && lengths.iter().zip(slots).all(|(&len, slot)| len == slot.len as usize)
    });
    ensure(same, Rule::SlotsFitType, place)
}
