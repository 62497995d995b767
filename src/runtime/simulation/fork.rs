//! A run that goes on as another program: states carry over by the path of their block.

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::{Instance, Slot};
use legwork_program::{Check, FunctionProgram, JudgeValue, Node, Placed, Program, Rate, Ratio};
use serde_json::Value;

use super::blocks::Blocks;
use super::swap::same_shape;
use super::{Cursor, Simulation, inputs};
use crate::fault::RunFault;
use crate::moment::Moment;

/// What became of the states of a run that was forked, by path, in the order of paths. Blocks
/// without state are not named. A check is named `checks."NAME"`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Carried {
    /// States that went over.
    pub kept: Vec<String>,
    /// States that begin at their initial value in the new program: path, and why.
    pub fresh: Vec<(String, String)>,
    /// States of the old program that the new one has no place for.
    pub dropped: Vec<String>,
}

/// Why a run cannot go on as another program.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// A major step is going on.
    #[error("a run forks between two major steps")]
    InAStep,
    /// The run has ended: its last step has no update, so that nothing can follow it.
    #[error("the run has ended; fork it before its last step")]
    Ended,
    /// The new program has no major step at this time.
    #[error("the new program has no step at {t} s: its steps are whole multiples of {step} s")]
    NoStepHere {
        /// Time of the old run [s].
        t: f64,
        /// Ticks, or fixed steps, of the new program.
        step: Ratio,
    },
    /// The new program ends before this time.
    #[error("the new program stops at {stop} s, before the time of the fork, {t} s")]
    PastStop {
        /// Time of the old run [s].
        t: f64,
        /// Stop time of the new program.
        stop: Ratio,
    },
    /// The state of a block cannot be read.
    #[error("{block}: {message}")]
    State {
        /// Path of the block.
        block: String,
        /// Why.
        message: String,
    },
    /// An output that is computed at the fork cannot be.
    #[error("{0}")]
    Fault(#[from] RunFault),
}

impl Simulation {
    /// A new run of `program` at this moment. The state of a block goes over to the block of the
    /// same path if that is of the same kind and its state has the same layout; other states begin
    /// at their initial values. So do checks, by name, if they ask the same.
    ///
    /// Outputs that are held stay held; those of blocks that begin anew and are not due are
    /// computed once from what is there. A part that is new is off until its condition is due.
    /// Nothing is recorded until an [`Observer`](crate::Observer) of the new run is told to. A fork
    /// as the same program goes on bit for bit.
    ///
    /// # Errors
    /// Inside a major step or after the last; if the new program has no step at this time; or if
    /// an output that is computed at once faults.
    pub fn fork(&self, program: Arc<Program>) -> Result<(Self, Carried), ForkError> {
        if !self.is_between_steps() {
            return Err(ForkError::InAStep);
        }
        if self.engine.state.cursor == Cursor::Done {
            return Err(ForkError::Ended);
        }
        let moment = self.moment_in(&program)?;
        let mut fork = Self::new(program);
        fork.engine.set_moment(moment);
        fork.engine.state.step_count = self.engine.state.step_count;
        let mut carried = Carried::default();
        let begun = self.carry_blocks(&mut fork, &mut carried)?;
        let arena = &mut fork.engine.state.arena;
        inputs::give(&self.engine.plan.program, &fork.engine.plan.program, arena);
        self.carry_loops(&mut fork, &mut carried);
        self.carry_solver(&mut fork);
        self.carry_judge(&mut fork, &mut carried);
        self.carry_checks(&mut fork, &mut carried);
        let Carried { kept, fresh, dropped } = &mut carried;
        kept.sort();
        fresh.sort();
        dropped.sort();
        fork.engine.compute_shared();
        fork.compute_begun(&begun)?;
        Ok((fork, carried))
    }

    /// The present moment in ticks of `program`.
    fn moment_in(&self, program: &Program) -> Result<Moment, ForkError> {
        let (old, new) = (self.engine.plan.program.base, program.base);
        let t = self.engine.work.now;
        let no_step = |step| ForkError::NoStepHere { t, step };
        let moment = if old == new {
            self.engine.state.moment
        } else if self.engine.state.moment.is_tick() {
            let time = Ratio::whole(i128::from(self.engine.state.moment.tick)).times(old);
            let tick = time.and_then(|time| time.whole_multiple_of(new));
            let tick = tick.and_then(|tick| u64::try_from(tick).ok());
            Moment::at(tick.ok_or(no_step(new))?)
        } else {
            return Err(no_step(new));
        };
        let on_step = moment.is_tick() && moment.tick.is_multiple_of(program.step_ticks);
        if !program.run.solver.is_variable() && !on_step {
            let step = Ratio::whole(i128::from(program.step_ticks)).times(new);
            return Err(no_step(step.unwrap_or(new)));
        }
        let past = moment.tick > program.stop_tick
            || (moment.tick == program.stop_tick && !moment.is_tick());
        if past {
            return Err(ForkError::PastStop { t, stop: program.run.stop });
        }
        Ok(moment)
    }

    /// Carries states, guards and held outputs over. Whether each new block begins anew.
    fn carry_blocks(&self, fork: &mut Self, carried: &mut Carried) -> Result<Vec<bool>, ForkError> {
        // What states look like at t = 0 tells whether one fits the other.
        let (initial, _) = Blocks::new(&self.engine.plan.program);
        let (old_program, program) =
            (&self.engine.plan.program, Arc::clone(&fork.engine.plan.program));
        let old: BTreeMap<&str, usize> = paths(&old_program.nodes).collect();
        let mut begun = vec![true; program.nodes.len()];
        for (i, node) in program.nodes.iter().enumerate() {
            let stateful = holds_state(&*fork.engine.blocks.instances[i], node)?;
            let mut begin = |why: String| {
                if stateful {
                    carried.fresh.push((node.path.clone(), why));
                }
            };
            let Some(&j) = old.get(node.path.as_str()) else {
                begin("a new block".to_owned());
                continue;
            };
            let before = &old_program.nodes[j];
            if let Err(why) = same_state(
                (before, &*initial.instances[j]),
                (node, &*fork.engine.blocks.instances[i]),
            ) {
                begin(why);
                continue;
            }
            let bytes = self.engine.blocks.instances[j].save_bytes().map_err(|fault| {
                ForkError::State { block: node.path.clone(), message: fault.to_string() }
            })?;
            if let Err(fault) = fork.engine.blocks.instances[i].load_bytes(&bytes) {
                begin(format!("another state: {fault}"));
                continue;
            }
            if let (Some(from), Some(to)) = (&before.continuous, &node.continuous) {
                fork.engine.state.x[to.x.range()]
                    .copy_from_slice(&self.engine.state.x[from.x.range()]);
            }
            begun[i] = !self.carry_outputs(before, node, &mut fork.engine.state.arena);
            if stateful {
                carried.kept.push(node.path.clone());
            }
        }
        self.carry_guards(fork, &begun);
        let new: BTreeMap<&str, usize> = paths(&program.nodes).collect();
        for (node, instance) in old_program.nodes.iter().zip(&initial.instances) {
            if !new.contains_key(node.path.as_str()) && holds_state(&**instance, node)? {
                carried.dropped.push(node.path.clone());
            }
        }
        Ok(begun)
    }

    /// Copies the outputs of a block. Whether they are of the same types.
    fn carry_outputs(&self, from: &Node, to: &Node, arena: &mut [f64]) -> bool {
        if from.output_types != to.output_types {
            return false;
        }
        let leaves = |node: &Node| -> Vec<Slot> {
            let outputs = &node.io.outputs;
            (0..outputs.port_count()).flat_map(|port| outputs.port(port).to_vec()).collect()
        };
        for (from, to) in leaves(from).into_iter().zip(leaves(to)) {
            arena[to.range()].copy_from_slice(&self.engine.state.arena[from.range()]);
        }
        true
    }

    /// Guards of a block that goes on stay armed as they are.
    fn carry_guards(&self, fork: &mut Self, begun: &[bool]) {
        for role in &fork.engine.plan.guards {
            let node = &fork.engine.plan.program.nodes[role.node];
            let before = self.engine.plan.guards.iter().find(|old| {
                let old = &self.engine.plan.program.nodes[old.node];
                old.path == node.path && old.guards == node.guards
            });
            let Some(before) = before.filter(|_| !begun[role.node.index()]) else { continue };
            let (from, to) = (before.own.range(), role.own.range());
            fork.engine.state.armed[to.clone()]
                .copy_from_slice(&self.engine.state.armed[from.clone()]);
            fork.engine.state.located[to.clone()]
                .copy_from_slice(&self.engine.state.located[from.clone()]);
            fork.engine.state.spent[to].copy_from_slice(&self.engine.state.spent[from]);
        }
    }

    /// Iterates go over to loops of the same unknowns.
    fn carry_loops(&self, fork: &mut Self, carried: &mut Carried) {
        let unknowns = |program: &Program, index: usize| -> Vec<(String, u32)> {
            let unknowns = program.loops[index].unknowns.iter();
            unknowns.map(|u| (program.nodes[u.node].path.clone(), u.output.len)).collect()
        };
        for i in 0..fork.engine.state.loops.len() {
            let own = unknowns(&fork.engine.plan.program, i);
            let same = (0..self.engine.state.loops.len())
                .find(|&j| unknowns(&self.engine.plan.program, j) == own);
            match same {
                Some(j) => {
                    fork.engine.state.loops[i].clone_from(&self.engine.state.loops[j]);
                    carried.kept.extend(own.into_iter().map(|(path, _)| path));
                }
                None => {
                    let why = || "another algebraic loop".to_owned();
                    carried.fresh.extend(own.into_iter().map(|(path, _)| (path, why())));
                }
            }
        }
    }

    /// What the solver remembers goes over to the same solver of the same states.
    fn carry_solver(&self, fork: &mut Self) {
        let states = |program: &Program| -> Vec<(String, Placed)> {
            let nodes = program.nodes.iter();
            nodes.filter_map(|n| Some((n.path.clone(), n.continuous.clone()?))).collect()
        };
        let same_states = states(&self.engine.plan.program) == states(&fork.engine.plan.program);
        if same_states && self.engine.plan.program.run.solver == fork.engine.plan.program.run.solver
        {
            fork.engine.state.step_memory = self.engine.state.step_memory;
            fork.engine.state.since_event = self.engine.state.since_event;
            fork.engine.state.inner_steps = self.engine.state.inner_steps;
            fork.integrator.method.set_memory(self.integrator.method.memory().as_deref());
        }
    }

    fn carry_judge(&self, fork: &mut Self, carried: &mut Carried) {
        let program = Arc::clone(&fork.engine.plan.program);
        let (old, base) = (&self.engine.plan.program.judge, self.engine.plan.program.base);
        let path = |value: &JudgeValue| format!("judge.{}", value.name);
        for (i, value) in program.judge.iter().enumerate() {
            let Some(j) = old.iter().position(|known| known.name == value.name) else {
                carried.fresh.push((path(value), "a new value".to_owned()));
                continue;
            };
            let window = |value: &JudgeValue, base| ticks([value.after, value.until], base);
            let same =
                old[j].by == value.by && window(&old[j], base) == window(value, program.base);
            if same {
                let (from, to) = (&self.engine.state, &mut fork.engine.state);
                to.judge[i] = from.judge[j];
                to.arena[value.slot as usize] = from.arena[old[j].slot as usize];
                carried.kept.push(path(value));
            } else {
                carried.fresh.push((path(value), "it is made of something else".to_owned()));
            }
        }
        let is_gone = |old: &&JudgeValue| !program.judge.iter().any(|new| new.name == old.name);
        carried.dropped.extend(old.iter().filter(is_gone).map(path));
    }

    fn carry_checks(&self, fork: &mut Self, carried: &mut Carried) {
        let program = Arc::clone(&fork.engine.plan.program);
        let path = |check: &Check| format!("checks.{:?}", check.name);
        for (check, state) in program.checks.iter().zip(&mut fork.engine.state.checks) {
            let known = |old: &&(&Check, _)| old.0.name == check.name;
            let old = self.engine.plan.program.checks.iter().zip(&self.engine.state.checks);
            let old: Vec<_> = old.collect();
            let Some(&(old, reached)) = old.iter().find(known) else {
                carried.fresh.push((path(check), "a new check".to_owned()));
                continue;
            };
            let asks = |check: &Check| (check.kind, check.text.clone());
            let same_window =
                window(old, self.engine.plan.program.base) == window(check, program.base);
            if asks(old) == asks(check) && same_window {
                *state = *reached;
                carried.kept.push(path(check));
            } else {
                carried.fresh.push((path(check), "it asks something else".to_owned()));
            }
        }
        for old in &self.engine.plan.program.checks {
            if !program.checks.iter().any(|check| check.name == old.name) {
                carried.dropped.push(path(old));
            }
        }
    }

    /// Computes what is computed once, at t = 0, and the outputs that hold until they are due of
    /// blocks that begin anew.
    fn compute_begun(&mut self, begun: &[bool]) -> Result<(), RunFault> {
        for i in 0..self.engine.plan.tasks.len() {
            let task = self.engine.plan.tasks[i];
            let once = match self.engine.plan.classes[task.rate as usize] {
                Rate::Constant => true,
                Rate::Continuous => false,
                Rate::Periodic { .. } => {
                    begun[task.node.index()] && task.opens.is_none() && !self.engine.is_due(i)
                }
            };
            if once {
                self.engine.output(i, false, 0.0)?;
            }
        }
        Ok(())
    }
}

fn paths(nodes: &[Node]) -> impl Iterator<Item = (&str, usize)> {
    nodes.iter().enumerate().map(|(i, node)| (node.path.as_str(), i))
}

/// First and last time of a check's window; `None` has no end.
fn window(check: &Check, base: Ratio) -> [Option<Ratio>; 2] {
    ticks([check.after, check.until], base)
}

/// Times of ticks.
fn ticks(ticks: [u64; 2], base: Ratio) -> [Option<Ratio>; 2] {
    ticks.map(|tick| Ratio::whole(i128::from(tick)).times(base))
}

/// Whether the state of the block `old` fits the block `new`, given both as they are at t = 0;
/// else why not.
fn same_state(old: (&Node, &dyn Instance), new: (&Node, &dyn Instance)) -> Result<(), String> {
    let ((before, old), (after, new)) = (old, new);
    if before.kind != after.kind {
        return Err(format!("it was another kind, {}", before.kind));
    }
    let layout = |node: &Node| node.continuous.as_ref().map(|c| (c.state.clone(), c.parts.clone()));
    if layout(before) != layout(after) {
        return Err("its continuous state has another layout".to_owned());
    }
    let inside = |node: &Node| node.functions.iter().map(members).collect::<Vec<_>>();
    if inside(before) != inside(after) {
        return Err("it calls another function".to_owned());
    }
    match (old.state_json(), new.state_json()) {
        (Ok(old), Ok(new)) if same_shape(&old, &new) => Ok(()),
        _ => Err("its state has another size".to_owned()),
    }
}

/// Paths and kinds of the blocks of a function and of those that they call.
fn members(function: &FunctionProgram) -> Vec<(String, &'static str)> {
    let own = function.nodes.iter().map(|node| (node.path.clone(), node.kind));
    let inner = function.nodes.iter().flat_map(|node| &node.functions).flat_map(members);
    own.chain(inner).collect()
}

/// Whether a block has something to carry.
fn holds_state(instance: &dyn Instance, node: &Node) -> Result<bool, ForkError> {
    if node.continuous.is_some() {
        return Ok(true);
    }
    let failed = |message: String| ForkError::State { block: node.path.clone(), message };
    if node.functions.is_empty() {
        // A state of nothing takes no byte, and the list of functions one: its length.
        let bytes = instance.save_bytes().map_err(|fault| failed(fault.to_string()))?;
        return Ok(bytes.len() > 1);
    }
    instance.state_json().map(|json| says_something(&json)).map_err(|f| failed(f.to_string()))
}

fn says_something(state: &Value) -> bool {
    match state {
        Value::Null => false,
        Value::Array(items) => items.iter().any(says_something),
        Value::Object(fields) => fields.values().any(says_something),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}
