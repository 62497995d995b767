//! Program → simulation at t = 0: states made, memory laid out, schedule unpacked.

use std::any::Any;
use std::sync::Arc;

use legwork_block::{Manifold, Slot};
use legwork_program::{Program, Rate};

use super::{Cursor, Role, Simulation, Task};
use crate::observe::Observer;
use crate::solver::Integrator;

impl Simulation {
    /// Everything at t = 0, before the first outputs.
    pub fn new(program: Arc<Program>) -> Self {
        let mut classes: Vec<Rate> = Vec::new();
        let mut class = |rate: Rate| {
            let found = classes.iter().position(|&known| known == rate);
            found.unwrap_or_else(|| {
                classes.push(rate);
                classes.len() - 1
            }) as u16
        };
        let mut x = vec![0.0; program.state_len];
        let mut instances = Vec::with_capacity(program.nodes.len());
        let mut pool: Vec<Option<Box<dyn Any + Send>>> =
            (0..program.pool_len).map(|_| None).collect();
        let mut no_x = [];
        let (mut updates, mut derivatives, mut guards) = (Vec::new(), Vec::new(), Vec::new());
        let mut crossings = Vec::new();
        for (i, node) in program.nodes.iter().enumerate() {
            let x_slot = node.continuous.as_ref().map_or(Slot::default(), |placed| placed.x);
            let own_x: &mut [f64] =
                if x_slot.len == 0 { &mut no_x } else { &mut x[x_slot.range()] };
            if let Some(placed) = &node.continuous {
                unit_quaternions(&placed.state, &placed.parts, own_x);
            }
            let (instance, pooled) = node.block.instantiate(node.io.clone(), &node.vars, own_x);
            instances.push(instance);
            if let (Some(id), Some(value)) = (node.pool, pooled) {
                pool[id as usize] = Some(value);
            }
            let role = Role { node: i as u32, rate: class(node.rate), x: x_slot, own: x_slot };
            if node.updates {
                updates.push(role);
            }
            if let Some(placed) = &node.continuous {
                derivatives.push(Role { own: placed.rate, ..role });
            }
            if !node.guards.is_empty() {
                let own = Slot { start: crossings.len() as u32, len: node.guards.len() as u32 };
                crossings.extend_from_slice(&node.guards);
                guards.push(Role { own, ..role });
            }
        }
        let tasks = program
            .schedule
            .iter()
            .map(|step| {
                let node = &program.nodes[step.node as usize];
                Task {
                    node: step.node,
                    group: step.group,
                    rate: class(step.rate),
                    own: step.own,
                    x: node.continuous.as_ref().map_or(Slot::default(), |placed| placed.x),
                    pool: node.pool,
                    minor: step.minor,
                }
            })
            .collect();
        let base = program.base;
        let step = base.at(program.step_ticks);
        let steps = classes
            .iter()
            .map(|rate| match rate {
                Rate::Periodic { period, .. } => base.at(*period),
                _ => step,
            })
            .collect();
        let guard_count = crossings.len();
        Self {
            integrator: Integrator::new(&program),
            observer: Observer::new(&program),
            instances,
            pool: pool
                .into_iter()
                .map(|value| value.unwrap_or_else(|| Box::new(()) as Box<dyn Any + Send>))
                .collect(),
            arena: vec![0.0; program.arena_len],
            rates: vec![0.0; program.rate_len],
            next_x: x.clone(),
            x,
            tick: 0,
            now: 0.0,
            microstep: 0,
            cursor: Cursor::Output(0),
            due: vec![false; classes.len()],
            classes,
            steps,
            tasks,
            updates,
            derivatives,
            guards,
            crossings,
            guard_values: vec![0.0; guard_count],
            armed: vec![false; guard_count],
            fired: vec![false; guard_count],
            program,
        }
    }
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
