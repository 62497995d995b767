//! Parameters changed while a program runs (semantics 8.3).
//!
//! The diagram is compiled again with the change. If the new program has the same blocks, ports,
//! wires, order, rates and memory, its blocks take over the states of the old ones between two
//! major steps. What is due next computes with the new parameters; what is held stays held.

use std::sync::Arc;

use legwork_block::Instance;
use legwork_program::{Check, FunctionProgram, JudgeValue, Node, Program, Rate};
use serde_json::Value;

use super::blocks::Blocks;
use super::plan::Plan;
use super::{Cursor, Simulation, inputs};

/// Why a program cannot take the place of another.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SwapError {
    /// A major step is going on, or the run has ended.
    #[error("edits enter between two major steps of a run that goes on")]
    NotBetweenSteps,
    /// Something besides parameters differs.
    #[error("{what}; an edit may change parameters only, give it to a new run with --set")]
    Different {
        /// What differs.
        what: String,
    },
    /// A constant cannot be computed with the new parameters.
    #[error("{0}")]
    Fault(#[from] crate::fault::RunFault),
}

impl Simulation {
    /// Goes on with `program`, which differs from the present one in parameters only.
    ///
    /// # Errors
    /// If a major step is going on or the run has ended, if more than parameters differ, or if a
    /// constant faults; then nothing has changed.
    pub fn swap_parameters(&mut self, program: &Arc<Program>) -> Result<(), SwapError> {
        if !self.is_between_steps() || self.engine.state.cursor == Cursor::Done {
            return Err(SwapError::NotBetweenSteps);
        }
        let different = |what: String| SwapError::Different { what };
        same_programs(&self.engine.plan.program, program).map_err(different)?;
        let (plan, blocks) = self.take_over(program).map_err(different)?;
        let same_places = same_comparisons(&self.engine.plan.program, program);
        let before = self.snapshot();
        let arena = &mut self.engine.state.arena;
        inputs::give(&self.engine.plan.program, program, arena);
        let old_plan = std::mem::replace(&mut self.engine.plan, plan);
        let instances = self.measured(blocks.instances);
        let old_blocks = std::mem::replace(&mut self.engine.blocks, Blocks { instances, ..blocks });
        if let Err(fault) = self.compute_constants() {
            (self.engine.plan, self.engine.blocks) = (old_plan, old_blocks);
            self.restore(&before)?;
            return Err(fault.into());
        }
        for (state, same) in self.engine.state.checks.iter_mut().zip(same_places) {
            state.decisive = state.decisive.filter(|_| same);
        }
        Ok(())
    }

    /// The plan of `program`, and its blocks with the states of the present ones.
    fn take_over(&self, program: &Arc<Program>) -> Result<(Plan, Blocks), String> {
        // What the states at t = 0 look like with old and new parameters tells whether a state of
        // the one fits the other.
        let (fresh, _) = Blocks::new(&self.engine.plan.program);
        let watched = self.engine.blocks.watched.clone();
        let (mut blocks, _) = Blocks::watched(program, watched);
        for (i, node) in program.nodes.iter().enumerate() {
            let shape = |instance: &dyn Instance| instance.state_json().ok();
            let (old, new) = (shape(&*fresh.instances[i]), shape(&*blocks.instances[i]));
            if !old.zip(new).is_some_and(|(old, new)| same_shape(&old, &new)) {
                return Err(format!("the state of `{}` would have another size", node.path));
            }
            let bytes = self.engine.blocks.instances[i].save_bytes();
            let outcome = bytes.and_then(|bytes| blocks.instances[i].load_bytes(&bytes));
            outcome.map_err(|fault| format!("`{}`: {fault}", node.path))?;
        }
        Ok((Plan::new(Arc::clone(program), &blocks.watched), blocks))
    }

    /// Computes again what is computed once, at t = 0.
    fn compute_constants(&mut self) -> Result<(), crate::fault::RunFault> {
        self.engine.compute_shared();
        for i in 0..self.engine.plan.tasks.len() {
            if self.engine.plan.classes[self.engine.plan.tasks[i].rate as usize] == Rate::Constant {
                self.engine.output(i, false, 0.0)?;
            }
        }
        Ok(())
    }
}

/// Whether two states are alike but for their numbers and texts.
pub(super) fn same_shape(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_shape(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((p, a), (q, b))| p == q && same_shape(a, b))
        }
        (Value::Array(_) | Value::Object(_), _) | (_, Value::Array(_) | Value::Object(_)) => false,
        // A number that is none is written as null.
        _ => true,
    }
}

/// Whether a state has the sizes that `initial` has at t = 0. A list that is empty then may grow.
pub(super) fn keeps_sizes(initial: &Value, found: &Value) -> bool {
    match (initial, found) {
        (Value::Array(a), Value::Array(b)) => {
            a.is_empty() || a.len() == b.len() && a.iter().zip(b).all(|(a, b)| keeps_sizes(a, b))
        }
        // Another choice of an enumeration has other names.
        (Value::Object(a), Value::Object(b)) => {
            a.iter().all(|(name, a)| b.get(name).is_none_or(|b| keeps_sizes(a, b)))
        }
        _ => true,
    }
}

/// Whether all but parameters agree; else what does not.
fn same_programs(old: &Program, new: &Program) -> Result<(), String> {
    let run = |p: &Program| (p.run.step, p.run.solver, p.run.seed, p.base, p.step_ticks);
    if run(old) != run(new) {
        return Err("the step, the solver or the seed of the run would change".into());
    }
    if old.stop_tick != new.stop_tick {
        return Err("the stop time would change".into());
    }
    same_paths(&old.nodes, &new.nodes)?;
    let same = |what: &str, equal: bool| {
        if equal { Ok(()) } else { Err(format!("{what} would change")) }
    };
    same("the wiring", old.edges == new.edges)?;
    same_nodes(&old.nodes, &new.nodes)?;
    same("the switches of conditional parts", old.gates == new.gates)?;
    let ports = |p: &Program| -> Vec<_> {
        p.inputs.iter().map(|port| (port.name.clone(), port.initial.is_some())).collect()
    };
    same("what feeds an input", ports(old) == ports(new))?;
    let switches = old.nodes.iter().filter(|node| node.opens.is_some());
    same("a constant switch", switches.clone().all(|node| node.rate != Rate::Constant))?;
    same("the algebraic loops", text(&old.loops) == text(&new.loops))?;
    same("the stop conditions", old.stops == new.stops)?;
    same("the order of execution", text(&old.schedule) == text(&new.schedule))?;
    let sizes = |p: &Program| (p.arena_len, p.state_len, p.rate_len, p.pool_len);
    same("the layout of memory", sizes(old) == sizes(new))?;
    same("what is recorded", text(&old.log) == text(&new.log))?;
    let window = |p: &Program| -> Vec<_> {
        let window = |c: &Check| (c.name.clone(), c.kind, c.after, c.until);
        p.checks.iter().map(window).collect()
    };
    same("the checks", window(old) == window(new))?;
    let values = |p: &Program| -> Vec<_> {
        let value = |v: &JudgeValue| (v.name.clone(), v.by, v.after, v.until);
        p.judge.iter().map(value).collect()
    };
    same("the values of `judge:`", values(old) == values(new))
}

/// By check, whether its condition is made of the same comparisons, which its state names by place.
fn same_comparisons(old: &Program, new: &Program) -> Vec<bool> {
    let shape = |check: &Check| {
        let condition = &check.condition;
        (condition.code().count(), condition.compared_units().collect::<Vec<_>>())
    };
    old.checks.iter().zip(&new.checks).map(|(old, new)| shape(old) == shape(new)).collect()
}

/// Whether there are the same blocks.
fn same_paths(old: &[Node], new: &[Node]) -> Result<(), String> {
    let path = |nodes: &[Node], other: &[Node]| {
        let unknown = |node: &&Node| !other.iter().any(|other| other.path == node.path);
        nodes.iter().find(unknown).map(|node| node.path.clone())
    };
    if let Some(path) = path(new, old) {
        return Err(format!("there would be another block, `{path}`"));
    }
    if let Some(path) = path(old, new) {
        return Err(format!("the block `{path}` would be gone"));
    }
    match old.iter().zip(new).find(|(old, new)| old.kind != new.kind) {
        Some((old, new)) => Err(format!("`{}` would be another kind, {}", old.path, new.kind)),
        None => Ok(()),
    }
}

/// Whether nodes of equal paths agree.
fn same_nodes(old: &[Node], new: &[Node]) -> Result<(), String> {
    for (old, new) in old.iter().zip(new) {
        let path = &old.path;
        let same = |what: &str, equal: bool| {
            if equal { Ok(()) } else { Err(format!("{what} of `{path}` would change")) }
        };
        same("the rate", rates(old) == rates(new))?;
        let ports = |node: &Node| (text(&node.io.inputs), text(&node.io.outputs));
        same("the sizes", old.vars == new.vars && ports(old) == ports(new))?;
        same("the type of an output", old.output_types == new.output_types)?;
        same("the bounds", old.may_be_infinite == new.may_be_infinite)?;
        same("the shared computations", old.io.shared == new.io.shared && old.pool == new.pool)?;
        same("the continuous state", text(&old.continuous) == text(&new.continuous))?;
        same("the guards", old.guards == new.guards)?;
        same("the switch", (old.gate, old.opens) == (new.gate, new.opens))?;
        same("a function", old.functions.len() == new.functions.len())?;
        for (old, new) in old.functions.iter().zip(&new.functions) {
            same_functions(old, new)?;
        }
    }
    Ok(())
}

fn rates(node: &Node) -> (Rate, Rate, bool, u32) {
    (node.rate, node.update_rate, node.updates, node.stretch)
}

fn same_functions(old: &FunctionProgram, new: &FunctionProgram) -> Result<(), String> {
    same_paths(&old.nodes, &new.nodes)?;
    same_nodes(&old.nodes, &new.nodes)?;
    let sizes = |f: &FunctionProgram| (f.frame, f.arena_len, f.pool_len);
    let same = old.edges == new.edges && text(&old.schedule) == text(&new.schedule);
    if same && sizes(old) == sizes(new) {
        Ok(())
    } else {
        Err(format!("the function `{}` would change", old.path))
    }
}

/// Programs are compared when somebody edits, so that a text will do.
fn text(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}")
}
