//! What follows from a program once and stays: tasks, roles, guards and classes of rates.

use std::sync::Arc;

use legwork_block::{Guard, Slot};
use legwork_program::{GateId, HeldCopy, Loop, NodeId, PoolId, Program, Rate, Step};

use super::blocks::gates_around;

use super::finite::Finite;
use super::watched::{Reading, Watched};
use crate::observe::{LoggedRate, logged_rates};

/// One output group, ready to run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    /// Among [`Plan::copies`].
    pub(super) copies: Slot,
    pub(super) node: NodeId,
    pub(super) group: u16,
    pub(super) rate: u16,
    pub(super) own: Slot,
    pub(super) x: Slot,
    pub(super) pool: Option<PoolId>,
    pub(super) minor: bool,
    pub(super) gate: Option<GateId>,
    /// The gate whose signals this task computes.
    pub(super) opens: Option<GateId>,
    /// Loop and unknown, if its output is one.
    pub(super) unknown: Option<(u32, u32)>,
    /// The loop whose last task this is.
    pub(super) closes: Option<u32>,
}

/// What a task needs that runs whenever it is due: it has no gate, no shared value, no copies, and
/// no part in a loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlainTask {
    pub(super) own: Slot,
    pub(super) x: Slot,
    pub(super) node: NodeId,
    pub(super) group: u16,
    pub(super) rate: u16,
    pub(super) minor: bool,
}

/// A block with something besides outputs: `update`, `derivative` or guards.
#[derive(Debug, Clone, Copy)]
pub(super) struct Role {
    pub(super) node: NodeId,
    pub(super) rate: u16,
    pub(super) x: Slot,
    /// Rates of the continuous state, or guards.
    pub(super) own: Slot,
    pub(super) gate: Option<GateId>,
}

/// What a run does, whatever its state.
pub(super) struct Plan {
    pub(super) program: Arc<Program>,
    /// The rate of each class; blocks of one class are due together and step equally.
    pub(super) classes: Vec<Rate>,
    /// The step of each class [s].
    pub(super) steps: Vec<f64>,
    /// Output groups in the order of the schedule.
    pub(super) tasks: Vec<Task>,
    /// The same tasks, as far as the plain ones need.
    pub(super) plain: Vec<PlainTask>,
    /// For each task, the first one from it on that is not plain; the number of tasks if none is.
    pub(super) next_special: Vec<u32>,
    /// Forwarded leaves that are held, in the order of the tasks.
    pub(super) copies: Vec<HeldCopy>,
    pub(super) updates: Vec<Role>,
    pub(super) derivatives: Vec<Role>,
    /// Blocks with guards.
    pub(super) guards: Vec<Role>,
    /// All guards.
    pub(super) crossings: Vec<Guard>,
    /// The gate of each guard.
    pub(super) guard_gates: Vec<Option<GateId>>,
    /// What outputs that are held clear when a gate around them goes off.
    pub(super) cleared: Vec<(GateId, Slot)>,
    /// What is recorded, by rate.
    pub(super) log: Vec<LoggedRate>,
    /// Which numbers are looked at for what is none.
    pub(super) finite: Finite,
    /// Whether values of `judge:` are computed.
    pub(super) judges: bool,
}

impl Task {
    /// Whether nothing is to be done but to call the block.
    fn is_plain(&self) -> bool {
        let Self { copies, pool, gate, opens, unknown, closes, .. } = self;
        let free = pool.is_none() && gate.is_none() && opens.is_none();
        free && copies.len == 0 && unknown.is_none() && closes.is_none()
    }
}

/// The rate of what does not run.
const NEVER: Rate = Rate::Periodic { period: u64::MAX, offset: u64::MAX };

/// Rates of which each has a stretch of the step, in the order in which they were met.
#[derive(Default)]
struct Classes(Vec<(Rate, u32)>);

impl Classes {
    fn index(&mut self, rate: Rate, stretch: u32) -> u16 {
        let found = self.0.iter().position(|&known| known == (rate, stretch));
        found.unwrap_or_else(|| {
            self.0.push((rate, stretch));
            self.0.len() - 1
        }) as u16
    }
}

impl Plan {
    /// The plan of a program in which blocks that nobody reads do not run.
    pub(super) fn new(program: Arc<Program>, watched: &Watched) -> Self {
        let reading = Reading::of(&program, watched);
        let runs = |node| reading.as_ref().is_none_or(|reading| reading.runs(node));
        let mut classes = Classes::default();
        let (mut updates, mut derivatives, mut guards) = (Vec::new(), Vec::new(), Vec::new());
        let (mut crossings, mut guard_gates) = (Vec::new(), Vec::new());
        for (i, node) in program.nodes.iter().enumerate() {
            let x = node.continuous.as_ref().map_or(Slot::default(), |placed| placed.x);
            let rate = classes.index(node.rate, node.stretch);
            let role = Role { node: NodeId::new(i), rate, x, own: x, gate: node.gate };
            if node.updates && runs(role.node) {
                let rate = classes.index(node.update_rate, node.stretch);
                updates.push(Role { rate, ..role });
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
        let log = logged_rates(&program);
        for logged in &log {
            classes.index(logged.rate, 1);
        }
        let mut copies = Vec::new();
        let mut tasks = tasks(&program, &mut classes, &mut copies);
        for task in tasks.iter_mut().filter(|task| !runs(task.node)) {
            (task.rate, task.minor) = (classes.index(NEVER, 1), false);
        }
        let plain = tasks.iter().map(|&Task { own, x, node, group, rate, minor, .. }| PlainTask {
            own,
            x,
            node,
            group,
            rate,
            minor,
        });
        let plain = plain.collect();
        let mut next_special = vec![0; tasks.len()];
        let mut next = tasks.len() as u32;
        for (i, task) in tasks.iter().enumerate().rev() {
            next = if task.is_plain() { next } else { i as u32 };
            next_special[i] = next;
        }
        let reading = reading.filter(|_| matches!(watched, Watched::Only(_)));
        let finite = Finite::of(&program, reading.as_ref());
        let base = program.base;
        let step = base.at(program.step_ticks);
        let steps = classes.0.iter().map(|(rate, stretch)| match rate {
            Rate::Periodic { period, .. } => base.at(period * u64::from(*stretch)),
            _ => step * f64::from(*stretch),
        });
        Self {
            steps: steps.collect(),
            classes: classes.0.into_iter().map(|(rate, _)| rate).collect(),
            tasks,
            plain,
            next_special,
            copies,
            updates,
            derivatives,
            guards,
            crossings,
            guard_gates,
            cleared: cleared(&program),
            log,
            finite,
            judges: watched.judges(&program),
            program,
        }
    }
}

/// The schedule, unpacked; copies are added to `copies`.
fn tasks(program: &Program, classes: &mut Classes, copies: &mut Vec<HeldCopy>) -> Vec<Task> {
    let closes = |place: usize| {
        let ends = |found: &Loop| found.tasks.last().is_some_and(|last| last.index() == place);
        program.loops.iter().position(ends).map(|index| index as u32)
    };
    let steps = program.schedule.iter().enumerate();
    let tasks = steps.map(|(place, step)| {
        let node = &program.nodes[step.node];
        let first_copy = copies.len() as u32;
        copies.extend(node.copies.iter().filter(|copy| copy.group == step.group));
        Task {
            copies: Slot { start: first_copy, len: copies.len() as u32 - first_copy },
            node: step.node,
            group: step.group,
            rate: classes.index(step.rate, node.stretch),
            own: step.own,
            x: node.continuous.as_ref().map_or(Slot::default(), |placed| placed.x),
            pool: node.pool,
            minor: step.minor,
            gate: node.gate,
            opens: node.opens,
            unknown: unknown_of(program, step.node),
            closes: closes(place),
        }
    });
    tasks.collect()
}

/// By gate, the outputs inside that have a period and clear; others are looked at in every step.
fn cleared(program: &Program) -> Vec<(GateId, Slot)> {
    let held = program.schedule.iter().filter(|step| matches!(step.rate, Rate::Periodic { .. }));
    let gates = |step: &Step| {
        let (own, gate) = (step.own, program.nodes[step.node].gate);
        let clears = gate.is_some_and(|gate| program.gates[gate].clears);
        let around = gates_around(program, gate.filter(|_| clears));
        around.map(move |gate| (gate, own)).collect::<Vec<_>>()
    };
    held.flat_map(gates).collect()
}

/// Loop and place among its unknowns of a `Solve` block.
fn unknown_of(program: &Program, node: NodeId) -> Option<(u32, u32)> {
    program.loops.iter().zip(0..).find_map(|(found, index)| {
        let unknown = found.unknowns.iter().position(|unknown| unknown.node == node)?;
        Some((index, unknown as u32))
    })
}
