//! Typed network + order + rates → program: where every signal and state lives.

use std::collections::BTreeMap;

use legwork_block::{
    ContinuousState, Declaration, Diagnostic, Diagnostics, Guard, InstanceIo, Manifold, PortTable,
    Sizes, Slot, Span,
};
use legwork_program::{
    ArenaSlot, Gate, GateId, HeldCopy, Loop, Node, NodeId, Part, Placed, PoolId, Rate, Step,
    StepId, Stop, Unknown,
};

use crate::functions;
use crate::infer::{TypedNetwork, find_output, invalid_parameter};
use crate::network::{PortPath, Source};
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

/// Places signals along the schedule and states along the paths; lets blocks check sizes.
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

/// Which outputs are held while others move.
struct Hold<'a> {
    network: &'a TypedNetwork,
    rates: &'a [Rate],
    moments: Moments,
}

impl Hold<'_> {
    fn runs_in_minor_steps(&self, block: usize) -> bool {
        self.rates[block] == Rate::Continuous
            && !self.network.blocks[block].declaration.per_major
            && !self.network.is_momentary(block)
    }

    /// Whether the outputs of `block` are computed whenever `source` is, so that one may stand for
    /// the other.
    fn together(&self, block: usize, source: &Source) -> bool {
        if self.moments == Moments::Call {
            return true;
        }
        let mut ports = Vec::new();
        source.ports(&mut ports);
        ports.iter().all(|port| {
            self.network.index.get(&port.block).is_some_and(|&other| {
                let when = |b: usize| (self.rates[b], self.network.blocks[b].gate);
                let is_minor = |b: usize| {
                    self.moments == Moments::MajorAndMinor && self.runs_in_minor_steps(b)
                };
                self.rates[other] == Rate::Constant
                    || (when(block) == when(other) && is_minor(block) == is_minor(other))
            })
        })
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

pub(crate) fn place(
    network: &TypedNetwork,
    order: &Order,
    rates: &[Rate],
    updates: &[Rate],
    moments: Moments,
    diagnostics: &mut Diagnostics,
) -> Option<Layout> {
    let Order { groups: order, loops } = order;
    let gates = place_gates(network);
    let hold = Hold { network, rates, moments };
    let Placement { outputs, copies, steps_own, arena_len } =
        place_outputs(network, order, &hold, diagnostics)?;
    let pools = place_pools(network, order);
    let mut nodes = Vec::with_capacity(network.blocks.len());
    let (mut state_len, mut rate_len) = (0, 0);
    for (b, block) in network.blocks.iter().enumerate() {
        let mut inputs = PortTable::new();
        for input in &block.declaration.inputs {
            match block.network.inputs.get(&input.name) {
                Some((source, _)) => inputs.push(source_slots(network, &outputs, source)?),
                None => inputs.push([]),
            }
        }
        let sizes = Sizes::new(&block.vars, &inputs, &outputs[b]);
        if let Err(invalid) = block.planned.check(&sizes) {
            diagnostics.push(invalid_parameter(&block.network, &invalid));
        }
        let continuous = block.declaration.continuous.as_ref().map(|state| {
            let placed = place_state(state, &sizes, state_len, rate_len);
            state_len += placed.x.len as usize;
            rate_len += placed.rate.len as usize;
            placed
        });
        nodes.push(Node {
            path: block.network.path.clone(),
            kind: block.planned.kind(),
            text: block.network.text.clone(),
            block: block.planned.clone(),
            vars: block.vars.clone(),
            io: InstanceIo {
                inputs,
                outputs: outputs[b].clone(),
                shared: block.asked.iter().map(|&asked| pool_index(pools[asked])).collect(),
                shares: block.declaration.shares,
                functions: Vec::new(),
            },
            functions: functions::place(&block.functions, diagnostics)?,
            input_names: block.declaration.inputs.iter().map(|i| i.name.clone()).collect(),
            output_names: block.declaration.outputs.iter().map(|o| o.name.clone()).collect(),
            output_types: block.declaration.outputs.iter().map(|o| o.ty.clone()).collect(),
            may_be_infinite: block
                .declaration
                .outputs
                .iter()
                .map(|output| output.may_be_infinite)
                .collect(),
            rate: rates[b],
            update_rate: updates[b],
            updates: block.declaration.updates
                || (block.declaration.pieces && rates[b] == Rate::Continuous),
            continuous,
            guards: guards(&block.declaration, rates[b]),
            pool: pools[b],
            span: block.network.span,
            hidden: block.network.hidden,
            // What never changes is computed once, whether its part is on or not.
            gate: block
                .gate
                .filter(|_| rates[b] != Rate::Constant)
                .and_then(|gate| gates.get(&gate).copied()),
            opens: gates.get(&b).copied(),
            stretch: network.stretch(b),
            copies: copies[b].clone(),
        });
    }
    let schedule = order
        .iter()
        .zip(steps_own)
        .map(|(group, own)| Step {
            node: NodeId::new(group.block),
            group: group.group as u16,
            own,
            rate: rates[group.block],
            minor: hold.runs_in_minor_steps(group.block),
        })
        .collect();
    let loops = loops.iter().map(|found| place_loop(network, &nodes, found)).collect();
    let stops = network
        .blocks
        .iter()
        .enumerate()
        .filter_map(|(b, block)| {
            let slot = outputs[b].first(block.declaration.stops? as usize);
            Some(Stop { node: NodeId::new(b), slot: arena_slot(slot) })
        })
        .collect();
    Some(Layout {
        gates: gates
            .keys()
            .filter_map(|&condition| gate(network, &gates, &outputs, condition))
            .collect(),
        loops,
        stops,
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

/// The number of each condition's gate.
fn place_gates(network: &TypedNetwork) -> BTreeMap<usize, GateId> {
    let conditions = (0..network.blocks.len())
        .filter(|&block| network.blocks[block].network.condition.is_some());
    conditions.zip((0..).map(GateId::new)).collect()
}

fn gate(
    network: &TypedNetwork,
    gates: &BTreeMap<usize, GateId>,
    outputs: &[PortTable],
    condition: usize,
) -> Option<Gate> {
    let facts = network.blocks[condition].network.condition.as_ref()?;
    let around = facts.around.as_ref().and_then(|around| network.index.get(around));
    Some(Gate {
        parent: around.and_then(|around| gates.get(around).copied()),
        active: arena_slot(outputs[condition].first(0)),
        starts: arena_slot(outputs[condition].first(1)),
        clears: facts.clears,
        restarts: facts.restarts,
    })
}

fn place_loop(network: &TypedNetwork, nodes: &[Node], found: &AlgebraicLoop) -> Loop {
    let unknowns = found.solves.iter().filter_map(|&block| {
        let rule = network.blocks[block].declaration.solves.clone()?;
        let io = &nodes[block].io;
        Some(Unknown {
            node: NodeId::new(block),
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
    network: &TypedNetwork,
    order: &[Group],
    hold: &Hold<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Placement> {
    let mut copies = vec![Vec::new(); network.blocks.len()];
    let mut ports: Vec<Vec<Vec<Slot>>> =
        network.blocks.iter().map(|b| vec![Vec::new(); b.declaration.outputs.len()]).collect();
    let mut owns = Vec::with_capacity(order.len());
    let mut at = 0u32;
    for group in order {
        let start = at;
        let block = &network.blocks[group.block];
        for (port, output) in block.declaration.outputs.iter().enumerate() {
            if output.group != group.group {
                continue;
            }
            let mut slots = Vec::new();
            for (leaf, len) in output.ty.leaves()?.into_iter().enumerate() {
                let mut shown = None;
                if let Some(forward) = output.forwards.iter().find(|forward| forward.leaf == leaf) {
                    let name = &block.declaration.inputs[forward.input as usize].name;
                    let (source, _) = block.network.inputs.get(name)?;
                    let from = *slots_in(network, &ports, source)?.get(forward.input_leaf)?;
                    if hold.together(group.block, source) {
                        shown = Some(from);
                    } else {
                        let to = Slot { start: at, len: len as u32 };
                        copies[group.block].push(HeldCopy { group: group.group as u16, from, to });
                    }
                }
                match shown {
                    Some(slot) => slots.push(slot),
                    None if len > ARENA_LIMIT - at as usize => {
                        let (path, name) = (&block.network.path, &output.name);
                        let message = format!(
                            "`{path}.{name}` and the signals before it are larger than {ARENA_LIMIT} numbers"
                        );
                        let span = block.network.span;
                        diagnostics.push(Diagnostic::error("too-large", span, message));
                        return None;
                    }
                    None => {
                        slots.push(Slot { start: at, len: len as u32 });
                        at += len as u32;
                    }
                }
            }
            ports[group.block][port] = slots;
        }
        owns.push(Slot { start, len: at - start });
    }
    let tables = ports
        .into_iter()
        .map(|ports| {
            let mut table = PortTable::new();
            ports.into_iter().for_each(|slots| table.push(slots));
            table
        })
        .collect();
    Some(Placement { outputs: tables, copies, steps_own: owns, arena_len: at as usize })
}

/// Shared values lie in the pool in the order in which they are computed.
fn place_pools(network: &TypedNetwork, order: &[Group]) -> Vec<Option<PoolId>> {
    let mut pools = vec![None; network.blocks.len()];
    let mut next = 0;
    for group in order {
        if network.blocks[group.block].declaration.shares && pools[group.block].is_none() {
            pools[group.block] = Some(PoolId::new(next));
            next += 1;
        }
    }
    pools
}

/// The place of a shared value; a block that asks for a computation that shares none reads nothing.
fn pool_index(pool: Option<PoolId>) -> u32 {
    pool.map_or(0, |pool| pool.index() as u32)
}

/// Where the number of a slot that holds one lives.
fn arena_slot(slot: Slot) -> ArenaSlot {
    ArenaSlot::new(slot.start as usize)
}

/// The leaves of a source, given the tables of all outputs.
pub(crate) fn source_slots(
    network: &TypedNetwork,
    outputs: &[PortTable],
    source: &Source,
) -> Option<Vec<Slot>> {
    collect_slots(network, source, &|block, port| outputs[block].port(port).to_vec())
}

fn slots_in(
    network: &TypedNetwork,
    ports: &[Vec<Vec<Slot>>],
    source: &Source,
) -> Option<Vec<Slot>> {
    collect_slots(network, source, &|block, port| ports[block][port].clone())
}

fn collect_slots(
    network: &TypedNetwork,
    source: &Source,
    table: &dyn Fn(usize, usize) -> Vec<Slot>,
) -> Option<Vec<Slot>> {
    match source {
        Source::Port(path) => port_slots(network, path, table),
        Source::Array { items, .. } | Source::Join { items, .. } => {
            let mut slots = Vec::new();
            for item in items {
                slots.extend(collect_slots(network, item, table)?);
            }
            Some(slots)
        }
        Source::Bus { name, fields, .. } => {
            // Storage order is that of the bus type, whatever the order in the text.
            let mut next_var = u32::MAX / 2;
            let legwork_block::Type::Bus(bus) = network.named_types.bus(name, &mut next_var)?
            else {
                return None;
            };
            let mut slots = Vec::new();
            for field in &bus.fields {
                let (_, source) = fields.iter().find(|(name, _)| *name == field.name)?;
                slots.extend(collect_slots(network, source, table)?);
            }
            Some(slots)
        }
    }
}

fn port_slots(
    network: &TypedNetwork,
    path: &PortPath,
    table: &dyn Fn(usize, usize) -> Vec<Slot>,
) -> Option<Vec<Slot>> {
    let (block, port, output) = find_output(network, path).ok()?;
    let slots = table(block, port);
    if path.select.is_empty() {
        return Some(slots);
    }
    let selected = select(&output.ty, &path.select, Span::default())?.ok()?;
    let first = selected.first_leaf?;
    let count = selected.ty.leaves()?.len();
    match selected.part {
        None => Some(slots.get(first..first + count)?.to_vec()),
        Some((start, len)) => {
            let leaf = slots.get(first)?;
            Some(vec![Slot { start: leaf.start + start as u32, len: len as u32 }])
        }
    }
}

fn place_state(
    state: &ContinuousState,
    sizes: &Sizes<'_>,
    state_start: usize,
    rate_start: usize,
) -> Placed {
    let (ContinuousState::First(manifolds) | ContinuousState::Second(manifolds)) = state;
    let parts: Vec<Part> = manifolds
        .iter()
        .map(|manifold| match manifold {
            Manifold::Euclidean(dim) => Part::Euclidean(sizes.dim(dim)),
            Manifold::Quaternion => Part::Quaternion,
            Manifold::EulerAngles => Part::EulerAngles,
        })
        .collect();
    let position: usize = parts.iter().map(|part| part.len()).sum();
    let tangent: usize = parts.iter().map(|part| part.tangent_len()).sum();
    let len = match state {
        ContinuousState::First(_) => position,
        ContinuousState::Second(_) => position + tangent,
    };
    Placed {
        state: state.clone(),
        parts,
        x: Slot { start: state_start as u32, len: len as u32 },
        rate: Slot { start: rate_start as u32, len: tangent as u32 },
    }
}
