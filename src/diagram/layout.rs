//! Typed network + order + rates → program: where every signal and state lives.

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::{
    ContinuousState, Declaration, Diagnostic, Diagnostics, Guard, InstanceIo, Manifold, PortTable,
    Sizes, Slot, Span, code,
};
use legwork_program::{
    ArenaSlot, Gate, GateId, HeldCopy, Loop, Node, NodeId, Part as StatePart, Placed, PoolId, Rate,
    Step, StepId, Stop, Unknown,
};
use smallvec::SmallVec;

use crate::expand::invalid_parameter;
use crate::functions;
use crate::ids::{BlockId, Id};
use crate::infer::TypedNetwork;
use crate::network::{NetworkBlock, Part, PortPart, Source, Wire};
use crate::schedule::{AlgebraicLoop, Group, Order};
use crate::select::select;

/// Most numbers that all signals together may hold: half a gigabyte.
const ARENA_LIMIT: usize = 1 << 26;

/// Nodes, schedule and sizes of the memories.
pub(crate) struct Layout {
    pub(crate) nodes: Vec<Node>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) loops: Vec<Loop>,
    pub(crate) stops: Vec<Stop>,
    pub(crate) schedule: Vec<Step>,
    pub(crate) arena_len: usize,
    pub(crate) state_len: usize,
    pub(crate) rate_len: usize,
    pub(crate) pool_len: usize,
}

/// When the outputs of a network are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moments {
    /// At one moment, all of them: in a function that is called.
    Call,
    /// At major steps.
    Major,
    /// At major steps and at the stages between them.
    MajorAndMinor,
}

/// The blocks that are placed, and which outputs are held while others move.
struct Placing<'a> {
    typed: &'a TypedNetwork,
    part: &'a [BlockId],
    rates: &'a [Rate],
    moments: Moments,
}

impl<'a> Placing<'a> {
    fn block(&self, node: usize) -> &'a NetworkBlock {
        &self.typed.network.blocks[self.part[node]]
    }

    fn blocks(&self) -> impl Iterator<Item = &'a NetworkBlock> + use<'a> {
        let typed = self.typed;
        self.part.iter().map(|&block| &typed.network.blocks[block])
    }

    fn node(&self, block: BlockId) -> usize {
        self.typed.network.node(block)
    }

    fn runs_in_minor_steps(&self, node: usize) -> bool {
        self.rates[node] == Rate::Continuous
            && !self.block(node).declaration.per_major
            && !self.typed.network.is_momentary(self.part[node])
    }

    /// Whether the outputs of `node` are computed whenever `source` is, so that one may stand for
    /// the other.
    fn together(&self, node: usize, source: &Source) -> bool {
        if self.moments == Moments::Call {
            return true;
        }
        let when = |node: usize| (self.rates[node], self.block(node).gate);
        let is_minor =
            |node: usize| self.moments == Moments::MajorAndMinor && self.runs_in_minor_steps(node);
        let mut together = true;
        source.each_port(&mut |port| {
            let other = self.node(port.block);
            together &= self.rates[other] == Rate::Constant
                || (when(node) == when(other) && is_minor(node) == is_minor(other));
        });
        together
    }
}

/// Where the outputs lie.
struct Placement {
    outputs: Vec<PortTable>,
    /// For each block, what it copies from its inputs after each output: forwarded leaves that are
    /// held while their source moves on.
    copies: Vec<Vec<HeldCopy>>,
    steps_own: Vec<Slot>,
    arena_len: usize,
}

/// Places the signals of a part along the schedule and its states along the paths; lets blocks
/// check sizes.
pub(crate) fn place(
    typed: &TypedNetwork,
    part: &Part,
    order: &Order,
    rates: &[Rate],
    updates: &[Rate],
    moments: Moments,
    diagnostics: &mut Diagnostics,
) -> Option<Layout> {
    let Order { groups: order, loops } = order;
    let placing = Placing { typed, part: &part.blocks, rates, moments };
    let gates = place_gates(&placing);
    let Placement { outputs, mut copies, steps_own, arena_len } =
        place_outputs(&placing, order, diagnostics)?;
    let mut inputs = Vec::with_capacity(part.blocks.len());
    for block in placing.blocks() {
        inputs.push(place_inputs(typed, block, &outputs)?);
    }
    let pools = place_pools(&placing, order);
    let mut nodes = Vec::with_capacity(part.blocks.len());
    let (mut state_len, mut rate_len) = (0, 0);
    for ((n, &id), (inputs, outputs)) in
        part.blocks.iter().enumerate().zip(inputs.into_iter().zip(outputs))
    {
        let block = placing.block(n);
        let declaration = &block.declaration;
        let vars = typed.vars(id);
        let sizes = Sizes::new(vars, &inputs, &outputs);
        if let Err(found) = block.planned.check(&sizes) {
            let NetworkBlock { path, span, parameters, .. } = block;
            diagnostics.push(invalid_parameter(path, *span, parameters, &found));
        }
        let continuous = match &declaration.continuous {
            None => None,
            Some(state) => {
                let Some(placed) = place_state(state, &sizes, state_len, rate_len) else {
                    let message = format!(
                        "the states of `{}` and those before it are more than {ARENA_LIMIT}",
                        block.path
                    );
                    diagnostics.push(Diagnostic::error(code::TOO_LARGE, block.span, message));
                    return None;
                };
                state_len += placed.x.len as usize;
                rate_len += placed.rate.len as usize;
                Some(placed)
            }
        };
        // A block that asks for a computation that shares none reads nothing.
        let pool = |&asked: &BlockId| pools[placing.node(asked)].map_or(0, |p| p.index() as u32);
        nodes.push(Node {
            path: block.path.clone(),
            kind: block.planned.kind(),
            text: block.text.clone(),
            block: Arc::clone(&block.planned),
            vars: vars.to_vec(),
            io: InstanceIo {
                inputs,
                outputs,
                shared: block.asked.iter().map(pool).collect(),
                shares: declaration.shares,
                functions: Vec::new(),
                unread: Vec::new(),
            },
            functions: functions::place(typed, id, diagnostics)?,
            input_names: declaration.inputs.iter().map(|i| i.name.clone()).collect(),
            output_names: declaration.outputs.iter().map(|o| o.name.clone()).collect(),
            output_types: typed.outputs(id).iter().map(|output| output.ty.clone()).collect(),
            may_be_infinite: declaration.outputs.iter().map(|o| o.may_be_infinite).collect(),
            checks_itself: declaration.outputs.iter().map(|o| o.checks_itself).collect(),
            rate: rates[n],
            update_rate: updates[n],
            updates: typed.network.updates(id)
                || (declaration.pieces && rates[n] == Rate::Continuous),
            continuous,
            guards: guards(declaration, rates[n]),
            pool: pools[n],
            span: block.span,
            caption: declaration.caption.clone(),
            hidden: block.hidden,
            gate: block.gate.and_then(|gate| gates.get(&gate).copied()),
            opens: gates.get(&id).copied(),
            stretch: typed.network.stretch(id),
            copies: std::mem::take(&mut copies[n]),
        });
    }
    let schedule = order
        .iter()
        .zip(steps_own)
        .map(|(group, own)| Step {
            node: NodeId::new(group.node),
            group: group.group as u16,
            own,
            rate: rates[group.node],
            minor: placing.runs_in_minor_steps(group.node),
        })
        .collect();
    let loops = loops.iter().map(|found| place_loop(&placing, &nodes, found)).collect();
    let stop = |(n, block): (usize, &NetworkBlock)| {
        let slot = nodes[n].io.outputs.first(block.declaration.stops? as usize);
        Some(Stop { node: NodeId::new(n), slot: arena_slot(slot) })
    };
    let mut placed_gates: Vec<(GateId, BlockId)> =
        gates.iter().map(|(&b, &gate)| (gate, b)).collect();
    placed_gates.sort_unstable();
    Some(Layout {
        gates: placed_gates
            .into_iter()
            .filter_map(|(_, condition)| gate(&placing, &gates, &nodes, condition))
            .collect(),
        loops,
        stops: placing.blocks().enumerate().filter_map(stop).collect(),
        nodes,
        schedule,
        arena_len,
        state_len,
        rate_len,
        pool_len: pools.iter().flatten().count(),
    })
}

/// The guards that can fire inside a step: inputs of a block that is not continuous are held there,
/// so nothing is to be located.
fn guards(declaration: &Declaration, rate: Rate) -> Vec<Guard> {
    let moves = rate == Rate::Continuous || declaration.guards.iter().any(|guard| guard.resets);
    if moves { declaration.guards.clone() } else { Vec::new() }
}

/// The number of each condition's gate, by path.
fn place_gates(placing: &Placing<'_>) -> BTreeMap<BlockId, GateId> {
    let is_condition = |block: &BlockId| placing.typed.network.blocks[*block].condition.is_some();
    placing.part.iter().copied().filter(is_condition).zip((0..).map(GateId::new)).collect()
}

fn gate(
    placing: &Placing<'_>,
    gates: &BTreeMap<BlockId, GateId>,
    nodes: &[Node],
    condition: BlockId,
) -> Option<Gate> {
    let node = placing.node(condition);
    let facts = placing.block(node).condition.as_ref()?;
    let outputs = &nodes[node].io.outputs;
    Some(Gate {
        parent: facts.around.and_then(|around| gates.get(&around).copied()),
        active: arena_slot(outputs.first(0)),
        starts: arena_slot(outputs.first(1)),
        clears: facts.clears,
        restarts: facts.restarts,
    })
}

fn place_loop(placing: &Placing<'_>, nodes: &[Node], found: &AlgebraicLoop) -> Loop {
    let unknowns = found.solves.iter().filter_map(|&node| {
        let rule = placing.block(node).declaration.solves.clone()?;
        let io = &nodes[node].io;
        Some(Unknown {
            node: NodeId::new(node),
            output: io.outputs.first(0),
            input: io.inputs.first(0),
            rule,
        })
    });
    Loop {
        unknowns: unknowns.collect(),
        tasks: found.body.iter().map(|&place| StepId::new(place)).collect(),
    }
}

/// The outputs of a group lie side by side, groups in the order of the schedule. A forwarded leaf
/// is the input's own place, or a copy of it if the block's outputs are held while the input moves.
fn place_outputs(
    placing: &Placing<'_>,
    order: &[Group],
    diagnostics: &mut Diagnostics,
) -> Option<Placement> {
    let mut copies = vec![Vec::new(); placing.part.len()];
    // The ports of all blocks, one block behind the other.
    let mut first_port = Vec::with_capacity(placing.part.len());
    let mut ports: Vec<SmallVec<[Slot; 2]>> = Vec::with_capacity(placing.part.len());
    for block in placing.blocks() {
        first_port.push(ports.len());
        ports.resize(ports.len() + block.declaration.outputs.len(), SmallVec::new());
    }
    let mut owns = Vec::with_capacity(order.len());
    let mut at = 0u32;
    for group in order {
        let start = at;
        let block = placing.block(group.node);
        let types = placing.typed.outputs(placing.part[group.node]);
        for ((port, output), ty) in block.declaration.outputs.iter().enumerate().zip(types.iter()) {
            if output.group != group.group {
                continue;
            }
            let mut slots = SmallVec::new();
            for (leaf, len) in ty.ty.leaves()?.into_iter().enumerate() {
                let mut shown = None;
                if let Some(forward) = output.forwards.iter().find(|forward| forward.leaf == leaf) {
                    let source = &block.inputs[forward.input as usize].as_ref()?.source;
                    let from = source_slots(placing.typed, source, &|node, port| {
                        ports[first_port[node] + port].as_slice()
                    })?;
                    let from = *from.get(forward.input_leaf)?;
                    if placing.together(group.node, source) {
                        shown = Some(from);
                    } else {
                        let to = Slot { start: at, len: len as u32 };
                        copies[group.node].push(HeldCopy { group: group.group as u16, from, to });
                    }
                }
                match shown {
                    Some(slot) => slots.push(slot),
                    None if len > ARENA_LIMIT - at as usize => {
                        let (path, name) = (&block.path, &output.name);
                        let message = format!(
                            "`{path}.{name}` and the signals before it are larger than \
                             {ARENA_LIMIT} numbers"
                        );
                        diagnostics.push(Diagnostic::error(code::TOO_LARGE, block.span, message));
                        return None;
                    }
                    None => {
                        slots.push(Slot { start: at, len: len as u32 });
                        at += len as u32;
                    }
                }
            }
            ports[first_port[group.node] + port] = slots;
        }
        owns.push(Slot { start, len: at - start });
    }
    let mut ports = ports.into_iter();
    let table = |block: &NetworkBlock| {
        let mut table = PortTable::new();
        let own = ports.by_ref().take(block.declaration.outputs.len());
        own.zip(&block.declaration.outputs).for_each(|(slots, output)| {
            table.push(slots);
            if output.is_smooth {
                table.mark_smooth();
            }
        });
        table
    };
    let tables = placing.blocks().map(table).collect();
    Some(Placement { outputs: tables, copies, steps_own: owns, arena_len: at as usize })
}

/// The places that a block's inputs read.
fn place_inputs(
    typed: &TypedNetwork,
    block: &NetworkBlock,
    outputs: &[PortTable],
) -> Option<PortTable> {
    let mut inputs = PortTable::new();
    let mut slots = Vec::new();
    for wire in &block.inputs {
        if let Some(wire) = wire {
            let table = |node: usize, port| outputs[node].port(port);
            push_slots(typed, &wire.source, &table, &mut slots)?;
        }
        inputs.push(slots.drain(..));
        if let Some(Wire { source: Source::Port(part), .. }) = wire
            && part.select.is_empty()
            && outputs[typed.network.node(part.block)].is_smooth(part.output.index())
        {
            inputs.mark_smooth();
        }
    }
    Some(inputs)
}

/// Shared values lie in the pool in the order in which they are computed.
fn place_pools(placing: &Placing<'_>, order: &[Group]) -> Vec<Option<PoolId>> {
    let mut pools = vec![None; placing.part.len()];
    let mut next = 0;
    for group in order {
        if placing.block(group.node).declaration.shares && pools[group.node].is_none() {
            pools[group.node] = Some(PoolId::new(next));
            next += 1;
        }
    }
    pools
}

/// Where the number of a slot that holds one lives.
fn arena_slot(slot: Slot) -> ArenaSlot {
    ArenaSlot::new(slot.start as usize)
}

/// The leaves of a source; `table` gives those of an output port by node and port.
pub(crate) fn source_slots<'t>(
    typed: &TypedNetwork,
    source: &Source,
    table: &impl Fn(usize, usize) -> &'t [Slot],
) -> Option<Vec<Slot>> {
    let mut slots = Vec::new();
    push_slots(typed, source, table, &mut slots)?;
    Some(slots)
}

fn push_slots<'t>(
    typed: &TypedNetwork,
    source: &Source,
    table: &impl Fn(usize, usize) -> &'t [Slot],
    slots: &mut Vec<Slot>,
) -> Option<()> {
    match source {
        Source::Port(part) => {
            let whole = table(typed.network.node(part.block), part.output.index());
            push_part(typed, part, whole, slots)
        }
        // The fields of a bus are in the order of its type, which is that of storage.
        Source::Bus { fields: parts, .. }
        | Source::Array { items: parts, .. }
        | Source::Join { items: parts, .. } => {
            parts.iter().try_for_each(|part| push_slots(typed, part, table, slots))
        }
        Source::Broken(_) => None,
    }
}

/// The leaves of a part of the port whose leaves are `whole`.
fn push_part(
    typed: &TypedNetwork,
    part: &PortPart,
    whole: &[Slot],
    slots: &mut Vec<Slot>,
) -> Option<()> {
    if part.select.is_empty() {
        slots.extend(whole);
        return Some(());
    }
    let selected = select(&typed.output(part).ty, &part.select, Span::default())?.ok()?;
    let first = selected.first_leaf?;
    match selected.part {
        None => slots.extend(whole.get(first..first + selected.ty.leaves()?.len())?),
        Some((start, len)) => {
            let leaf = whole.get(first)?;
            slots.push(Slot { start: leaf.start + start as u32, len: len as u32 });
        }
    }
    Some(())
}

fn place_state(
    state: &ContinuousState,
    sizes: &Sizes<'_>,
    state_start: usize,
    rate_start: usize,
) -> Option<Placed> {
    let (ContinuousState::First(manifolds) | ContinuousState::Second(manifolds)) = state;
    let parts: Vec<StatePart> = manifolds
        .iter()
        .map(|manifold| match manifold {
            Manifold::Euclidean(dim) => StatePart::Euclidean(sizes.dim(dim)),
            Manifold::Quaternion => StatePart::Quaternion,
            Manifold::EulerAngles => StatePart::EulerAngles,
        })
        .collect();
    let position: usize = parts.iter().map(|part| part.len()).sum();
    let tangent: usize = parts.iter().map(|part| part.tangent_len()).sum();
    let len = match state {
        ContinuousState::First(_) => position,
        ContinuousState::Second(_) => position + tangent,
    };
    let slot = |start: usize, len: usize| {
        (len <= ARENA_LIMIT - start).then_some(Slot { start: start as u32, len: len as u32 })
    };
    let (x, rate) = (slot(state_start, len)?, slot(rate_start, tangent)?);
    Some(Placed { state: state.clone(), parts, x, rate })
}
