//! Program → simulation at t = 0: states made, memory laid out, schedule unpacked.

use std::any::Any;
use std::sync::Arc;

use legwork_block::{Manifold, Slot};
use legwork_program::{GateId, NodeId, Program, Rate};

use super::loops::LoopWork;
use super::state::State;
use super::{Initial, PlainTask, Role, Simulation, Task};
use crate::chart::Chart;
use crate::observe::Observer;
use crate::solver::Method;

impl Simulation {
    /// Everything at t = 0, before the first outputs.
    pub fn new(program: Arc<Program>) -> Self {
        let mut classes: Vec<(Rate, u32)> = Vec::new();
        let mut class = |rate: Rate, stretch: u32| {
            let found = classes.iter().position(|&known| known == (rate, stretch));
            found.unwrap_or_else(|| {
                classes.push((rate, stretch));
                classes.len() - 1
            }) as u16
        };
        let mut x = vec![0.0; program.state_len];
        let mut instances = Vec::with_capacity(program.nodes.len());
        let mut pool: Vec<Option<Box<dyn Any + Send>>> =
            (0..program.pool_len).map(|_| None).collect();
        let mut no_x = [];
        let (mut updates, mut derivatives, mut guards) = (Vec::new(), Vec::new(), Vec::new());
        let (mut crossings, mut guard_gates) = (Vec::new(), Vec::new());
        let mut initials = Vec::new();
        for (i, node) in program.nodes.iter().enumerate() {
            let x_slot = node.continuous.as_ref().map_or(Slot::default(), |placed| placed.x);
            let own_x: &mut [f64] =
                if x_slot.len == 0 { &mut no_x } else { &mut x[x_slot.range()] };
            if let Some(placed) = &node.continuous {
                unit_quaternions(&placed.state, &placed.parts, own_x);
            }
            let (instance, pooled) = node.block.instantiate(node.instance_io(), &node.vars, own_x);
            instances.push(instance);
            if let (Some(id), Some(value)) = (node.pool, pooled) {
                pool[id.index()] = Some(value);
            }
            let role = Role {
                node: NodeId::new(i),
                rate: class(node.rate, node.stretch),
                x: x_slot,
                own: x_slot,
                gate: node.gate,
            };
            if node.updates {
                updates.push(Role { rate: class(node.update_rate, node.stretch), ..role });
            }
            if let Some(placed) = &node.continuous {
                derivatives.push(Role { own: placed.rate, ..role });
            }
            if !node.guards.is_empty() {
                let own = Slot { start: crossings.len() as u32, len: node.guards.len() as u32 };
                crossings.extend_from_slice(&node.guards);
                guard_gates.resize(crossings.len(), node.gate);
                guards.push(Role { own, ..role });
            }
        }
        for (i, node) in program.nodes.iter().enumerate() {
            let slot = node.continuous.as_ref().map_or(Slot::default(), |placed| placed.x);
            for gate in gates_around(&program, node.gate) {
                if program.gates[gate].restarts {
                    let (node, state) = (NodeId::new(i), instances[i].save());
                    initials.push(Initial { gate, node, state, slot, x: x[slot.range()].to_vec() });
                }
            }
        }
        for channel in &program.log {
            class(channel.rate, 1);
        }
        let mut copies = Vec::new();
        let tasks: Vec<Task> = program
            .schedule
            .iter()
            .zip(0..)
            .map(|(step, place)| {
                let node = &program.nodes[step.node];
                let first_copy = copies.len() as u32;
                copies.extend(node.copies.iter().filter(|copy| copy.group == step.group));
                Task {
                    copies: Slot { start: first_copy, len: copies.len() as u32 - first_copy },
                    node: step.node,
                    group: step.group,
                    rate: class(step.rate, node.stretch),
                    own: step.own,
                    x: node.continuous.as_ref().map_or(Slot::default(), |placed| placed.x),
                    pool: node.pool,
                    minor: step.minor,
                    gate: node.gate,
                    opens: node.opens,
                    unknown: unknown_of(&program, step.node),
                    closes: program
                        .loops
                        .iter()
                        .position(|found| {
                            found.tasks.last().is_some_and(|&last| last.index() == place)
                        })
                        .map(|index| index as u32),
                }
            })
            .collect();
        let plain = tasks
            .iter()
            .map(|&Task { own, x, node, group, rate, minor, .. }| PlainTask {
                own,
                x,
                node,
                group,
                rate,
                minor,
            })
            .collect();
        let mut next_special = vec![0; tasks.len()];
        let mut next = tasks.len() as u32;
        for (i, task) in tasks.iter().enumerate().rev() {
            next = if task.is_plain() { next } else { i as u32 };
            next_special[i] = next;
        }
        let base = program.base;
        let step = base.at(program.step_ticks);
        let steps = classes
            .iter()
            .map(|(rate, stretch)| match rate {
                Rate::Periodic { period, .. } => base.at(period * u64::from(*stretch)),
                _ => step * f64::from(*stretch),
            })
            .collect();
        let guard_count = crossings.len();
        let chart = Chart::new(&program);
        let coordinates = chart.len();
        Self {
            method: Method::new(program.run.solver, coordinates),
            chart,
            u: vec![0.0; coordinates],
            u_rate: vec![0.0; coordinates],
            initials,
            copies,
            loop_work: program.loops.iter().map(|found| Some(LoopWork::new(found))).collect(),
            observer: Observer::default(),
            profile: None,
            instances,
            pool: pool
                .into_iter()
                .map(|value| value.unwrap_or_else(|| Box::new(()) as Box<dyn Any + Send>))
                .collect(),
            rates: vec![0.0; program.rate_len],
            next_x: x.clone(),
            state: State::new(&program, x, guard_count),
            now: 0.0,
            due: vec![false; classes.len()],
            classes: classes.into_iter().map(|(rate, _)| rate).collect(),
            steps,
            tasks,
            plain,
            next_special,
            updates,
            derivatives,
            guards,
            crossings,
            guard_gates,
            guard_values: vec![0.0; guard_count],
            guard_before: vec![0.0; guard_count],
            far_values: vec![0.0; guard_count],
            fired: vec![false; guard_count],
            program,
        }
    }
}

/// A gate and all gates around it.
fn gates_around(program: &Program, gate: Option<GateId>) -> impl Iterator<Item = GateId> + '_ {
    std::iter::successors(gate, |&gate| program.gates[gate].parent)
}

/// Loop and place among its unknowns of a `Solve` block.
fn unknown_of(program: &Program, node: NodeId) -> Option<(u32, u32)> {
    program.loops.iter().zip(0..).find_map(|(found, index)| {
        let unknown = found.unknowns.iter().position(|unknown| unknown.node == node)?;
        Some((index, unknown as u32))
    })
}

/// Quaternions start as no rotation.
fn unit_quaternions(
    state: &legwork_block::ContinuousState,
    parts: &[legwork_program::Part],
    x: &mut [f64],
) {
    let (legwork_block::ContinuousState::First(manifolds)
    | legwork_block::ContinuousState::Second(manifolds)) = state;
    let mut at = 0;
    for (manifold, part) in manifolds.iter().zip(parts) {
        if *manifold == Manifold::Quaternion {
            x[at] = 1.0;
        }
        at += part.len();
    }
}
