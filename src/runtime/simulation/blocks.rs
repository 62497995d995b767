//! The blocks of a program, made: they keep their discrete states themselves.

use std::any::Any;

use legwork_block::{ContinuousState, Instance, InstanceIo, Manifold, Slot};
use legwork_program::{GateId, Node, NodeId, Part, Program};

use super::watched::{Reading, Watched};

/// The blocks of a program with their discrete states and what they share.
pub(super) struct Blocks {
    /// In the order of the program's nodes.
    pub(super) instances: Vec<Box<dyn Instance>>,
    /// Shared values; they follow from signals.
    pub(super) pool: Vec<Box<dyn Any + Send>>,
    pub(super) initials: Vec<Initial>,
    pub(super) watched: Watched,
}

/// The initial state of a block behind a gate that restarts it.
pub(super) struct Initial {
    pub(super) gate: GateId,
    pub(super) node: NodeId,
    pub(super) state: Box<dyn Any + Send>,
    pub(super) slot: Slot,
    pub(super) x: Vec<f64>,
}

impl Blocks {
    /// The blocks and their continuous state at t = 0.
    pub(super) fn new(program: &Program) -> (Self, Vec<f64>) {
        Self::watched(program, Watched::All)
    }

    /// The same; outputs that nobody reads need not be written.
    pub(super) fn watched(program: &Program, watched: Watched) -> (Self, Vec<f64>) {
        let Some(reading) = Reading::of(program, &watched) else {
            return Self::made(program, watched, |node| node.instance_io());
        };
        Self::made(program, watched, |node| {
            let count = node.io.outputs.port_count();
            let unread = (0..count).map(|port| !reading.reads(node, port)).collect();
            InstanceIo { unread, ..node.instance_io() }
        })
    }

    fn made(
        program: &Program,
        watched: Watched,
        io: impl Fn(&Node) -> InstanceIo,
    ) -> (Self, Vec<f64>) {
        let mut x = vec![0.0; program.state_len];
        let mut instances = Vec::with_capacity(program.nodes.len());
        let mut pool: Vec<Box<dyn Any + Send>> = Vec::with_capacity(program.pool_len);
        pool.resize_with(program.pool_len, || Box::new(()));
        for node in &program.nodes {
            let placed = node.continuous.as_ref();
            let own_x = placed.map_or(&mut [][..], |placed| &mut x[placed.x.range()]);
            if let Some(placed) = placed {
                unit_quaternions(&placed.state, &placed.parts, own_x);
            }
            let (instance, shared) = node.block.instantiate(io(node), &node.vars, own_x);
            instances.push(instance);
            if let (Some(id), Some(value)) = (node.pool, shared) {
                pool[id.index()] = value;
            }
        }
        let mut initials = Vec::new();
        for (i, node) in program.nodes.iter().enumerate() {
            let slot = node.continuous.as_ref().map_or(Slot::default(), |placed| placed.x);
            for gate in gates_around(program, node.gate) {
                if program.gates[gate].restarts {
                    let (node, state) = (NodeId::new(i), instances[i].save());
                    initials.push(Initial { gate, node, state, slot, x: x[slot.range()].to_vec() });
                }
            }
        }
        (Self { instances, pool, initials, watched }, x)
    }
}

/// A gate and all gates around it.
pub(super) fn gates_around(
    program: &Program,
    gate: Option<GateId>,
) -> impl Iterator<Item = GateId> + '_ {
    std::iter::successors(gate, |&gate| program.gates[gate].parent)
}

/// Quaternions start as no rotation.
fn unit_quaternions(state: &ContinuousState, parts: &[Part], x: &mut [f64]) {
    let (ContinuousState::First(manifolds) | ContinuousState::Second(manifolds)) = state;
    let mut at = 0;
    for (manifold, part) in manifolds.iter().zip(parts) {
        if *manifold == Manifold::Quaternion {
            x[at] = 1.0;
        }
        at += part.len();
    }
}
