//! A function's instances and memory, inside the caller's instance.

use std::any::Any;
use std::sync::Arc;

use legwork_linalg::all_finite;
use serde_json::{Map, Value};

use super::body::{FunctionBody, FunctionStep};
use crate::block::Time;
use crate::fault::{Fault, Outcome};
use crate::instance::{Instance, OutputIo, View, WrapBlock};
use crate::report::Report;
use crate::state_bytes::{decode, encode};

/// A function with its state.
pub(crate) struct FunctionInstance {
    pub(super) body: Arc<FunctionBody>,
    pub(super) arena: Vec<f64>,
    instances: Vec<Box<dyn Instance>>,
    pool: Vec<Box<dyn Any + Send>>,
    /// When it was called in the present major step, if it was: then its memos wait for the update.
    called: Option<Time>,
    /// Calls of the present major step.
    calls: u64,
    /// Calls of all major steps that were committed.
    total_calls: u64,
}

/// A copy of a function's memory.
pub(crate) struct SavedFunction {
    states: Vec<Box<dyn Any + Send>>,
    arena: Vec<f64>,
    called: Option<Time>,
    calls: u64,
    total_calls: u64,
}

impl FunctionInstance {
    /// The function at t = 0.
    pub(crate) fn new(body: Arc<FunctionBody>) -> Self {
        let mut pool: Vec<Box<dyn Any + Send>> =
            (0..body.pool_len).map(|_| Box::new(()) as Box<dyn Any + Send>).collect();
        let mut instances = Vec::with_capacity(body.blocks.len());
        for block in &body.blocks {
            // The compiler rejects continuous state in a function.
            let (instance, pooled) =
                block.block.instantiate(block.io.clone(), &block.vars, &mut []);
            instances.push(instance);
            if let (Some(id), Some(value)) = (block.pool, pooled) {
                pool[id as usize] = value;
            }
        }
        Self {
            arena: vec![0.0; body.arena_len],
            instances,
            pool,
            called: None,
            calls: 0,
            total_calls: 0,
            body,
        }
    }

    /// Computes every output on the present arguments.
    pub(super) fn run(&mut self, time: Time) -> Outcome {
        if !time.minor {
            self.called = Some(time);
            self.calls += 1;
        }
        for i in 0..self.body.order.len() {
            if let Err(fault) = self.output(i, time) {
                return Err(self.fault_of(i, &fault));
            }
        }
        if !all_finite(&self.arena)
            && let Some(fault) = self.not_finite(&self.body.order)
        {
            return Err(fault);
        }
        Ok(())
    }

    fn output(&mut self, i: usize, time: Time) -> Outcome {
        let step = self.body.order[i];
        let (before, rest) = self.arena.split_at_mut(step.own.start as usize);
        let (shared, shared_own) = match self.body.blocks[step.block as usize].pool {
            None => (&self.pool[..], None),
            Some(id) => {
                let (earlier, rest) = self.pool.split_at_mut(id as usize);
                (&*earlier, rest.first_mut())
            }
        };
        self.instances[step.block as usize].output(OutputIo {
            time,
            group: step.group as usize,
            x: &[],
            before,
            own: &mut rest[..step.own.len as usize],
            own_start: step.own.start,
            shared,
            shared_own,
        })
    }

    /// A fault at entry `i` of the order, unless a value before it was already invalid.
    #[cold]
    fn fault_of(&self, i: usize, fault: &Fault) -> Box<Fault> {
        let step = self.body.order[i];
        self.not_finite(&self.body.order[..i])
            .unwrap_or_else(|| self.fault_at(step.block, &fault.message))
    }

    #[cold]
    fn fault_at(&self, block: u32, message: &str) -> Box<Fault> {
        Fault::new(format!("`{}`: {message}", self.body.blocks[block as usize].path))
    }

    /// Semantics 9.1 inside a function: the first argument or output that is not finite.
    #[cold]
    fn not_finite(&self, steps: &[FunctionStep]) -> Option<Box<Fault>> {
        let frame = self.body.frame;
        let bad_port = |index: u32| {
            let block = &self.body.blocks[index as usize];
            let ports = block.output_names.iter().zip(&block.may_be_infinite).enumerate();
            ports.into_iter().find_map(|(port, (name, infinite_is_fine))| {
                let numbers =
                    block.io.outputs.port(port).iter().flat_map(|slot| &self.arena[slot.range()]);
                numbers
                    .into_iter()
                    .find(|v| v.is_nan() || (v.is_infinite() && !infinite_is_fine))
                    .map(|value| (name, value))
            })
        };
        if let Some((name, value)) = bad_port(frame) {
            let path = &self.body.path;
            return Some(Fault::new(format!("argument `{name}` of `{path}` became {value}")));
        }
        steps.iter().find_map(|step| {
            let (name, value) = bad_port(step.block)?;
            Some(self.fault_at(step.block, &format!("output `{name}` became {value}")))
        })
    }

    /// Empties the memos: a major step begins.
    pub(crate) fn begin_step(&mut self) {
        self.called = None;
        self.calls = 0;
        for (block, instance) in self.body.blocks.iter().zip(&mut self.instances) {
            if block.updates {
                instance.begin_step();
            }
        }
    }

    /// Commits the results of the last call of this major step, if there was one.
    pub(crate) fn update(&mut self, time: Time) -> Outcome {
        if self.called.is_none() {
            return Ok(());
        }
        self.total_calls += self.calls;
        for (i, block) in self.body.blocks.iter().enumerate() {
            if !block.updates {
                continue;
            }
            let view = View { time, arena: &self.arena, shared: &self.pool };
            if let Err(fault) = self.instances[i].update(view, &[]) {
                return Err(self.fault_at(i as u32, &fault.message));
            }
        }
        Ok(())
    }

    /// See [`Instance::wrap_functions`].
    pub(crate) fn wrap(&mut self, wrap: &mut WrapBlock<'_>) {
        let instances = std::mem::take(&mut self.instances).into_iter().enumerate();
        let wrapped = instances.map(|(i, mut instance)| {
            let block = &self.body.blocks[i];
            instance.wrap_functions(wrap);
            let is_frame = i == self.body.frame as usize;
            if is_frame { instance } else { wrap(&block.path, block.block.kind(), instance) }
        });
        self.instances = wrapped.collect();
    }

    pub(crate) fn save(&self) -> SavedFunction {
        SavedFunction {
            states: self.instances.iter().map(|instance| instance.save()).collect(),
            arena: self.arena.clone(),
            called: self.called,
            calls: self.calls,
            total_calls: self.total_calls,
        }
    }

    pub(crate) fn restore(&mut self, saved: &SavedFunction) {
        for (instance, state) in self.instances.iter_mut().zip(&saved.states) {
            instance.restore(state.as_ref());
        }
        self.arena.copy_from_slice(&saved.arena);
        (self.called, self.calls, self.total_calls) =
            (saved.called, saved.calls, saved.total_calls);
        let Some(time) = saved.called else { return };
        // Shared values are functions of signals: recomputed instead of stored.
        for i in 0..self.body.order.len() {
            let block = self.body.order[i].block as usize;
            if self.body.blocks[block].pool.is_some() && self.output(i, time).is_err() {
                // It faulted in the saved run too, which then ended before any update.
                return;
            }
        }
    }

    /// States, arguments and counts as bytes, as they are between two major steps.
    pub(crate) fn save_bytes(&self) -> Result<Vec<u8>, Box<Fault>> {
        let states: Result<Vec<_>, _> =
            self.instances.iter().map(|instance| instance.save_bytes()).collect();
        encode(&(states?, &self.arena, self.total_calls))
    }

    /// Restores the bytes of [`Self::save_bytes`]: the function has not been called in its step.
    pub(crate) fn load_bytes(&mut self, bytes: &[u8]) -> Outcome {
        let (states, arena, total_calls): (Vec<Vec<u8>>, Vec<f64>, u64) = decode(bytes)?;
        if (states.len(), arena.len()) != (self.instances.len(), self.arena.len()) {
            return Err(Fault::new(format!(
                "`{}`: expected {} blocks and {} numbers, found {} and {}",
                self.body.path,
                self.instances.len(),
                self.arena.len(),
                states.len(),
                arena.len()
            )));
        }
        for (i, state) in states.iter().enumerate() {
            let outcome = self.instances[i].load_bytes(state);
            outcome.map_err(|fault| self.fault_at(i as u32, &fault.message))?;
        }
        self.arena = arena;
        (self.called, self.calls, self.total_calls) = (None, 0, total_calls);
        Ok(())
    }

    /// The discrete states by path.
    pub(crate) fn state_json(&self) -> Result<Value, Box<Fault>> {
        let mut states = Map::new();
        for (i, (block, instance)) in self.body.blocks.iter().zip(&self.instances).enumerate() {
            if i != self.body.frame as usize {
                states.insert(block.path.clone(), instance.state_json()?);
            }
        }
        Ok(Value::Object(states))
    }

    /// Reports of the blocks inside, by path, and under the path of the call site how often it was
    /// called in major steps.
    pub(crate) fn reports<'a>(&'a self, reports: &mut Vec<(&'a str, Report)>) {
        let first = reports.len();
        for (i, (block, instance)) in self.body.blocks.iter().zip(&self.instances).enumerate() {
            if i != self.body.frame as usize {
                let mut report = Report::default();
                instance.report(&mut report);
                reports.push((&block.path, report));
                instance.function_reports(reports);
            }
        }
        // Calls are counted where something inside has state to commit.
        if self.total_calls == 0 {
            return;
        }
        let site = self.body.path.as_str();
        let own = match reports[first..].iter().position(|(path, _)| *path == site) {
            Some(i) => first + i,
            None => {
                reports.push((site, Report::default()));
                reports.len() - 1
            }
        };
        reports[own].1.metric("function_calls", self.total_calls as f64);
    }
}
