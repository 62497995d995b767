//! Blocks with their types erased, as the compiler and the engine hold them.

use std::any::Any;
use std::sync::Arc;

use crate::block::{
    Block, CorrectCx, DerivativeCx, GuardCx, Inputs, OutputCx, Outputs, ResetCx, SharedPool, Sizes,
    Time, UpdateCx,
};
use crate::declaration::Declaration;
use crate::fault::{Fault, Invalid, Outcome};
use crate::function::{
    FunctionBody, FunctionInstance, Functions, SavedFunction, bytes_of, functions_of, json_of,
    load_functions, restore_functions, saved,
};
use crate::parameters::Parameters;
use crate::ports::Ports;
use crate::report::Report;
use crate::signal::PortTable;
use crate::slopes::{Slope, SlopeEntry, Slopes, SlopesCx, SlopesIo};
use crate::state_bytes::{decode, encode};
use crate::types::Type;

/// A block's parameters, of any kind.
pub trait ErasedBlock: Send + Sync {
    /// Name of the kind.
    fn kind(&self) -> &'static str;

    /// Runs the block's `plan`.
    ///
    /// # Errors
    /// Whatever `plan` found wrong.
    fn plan(
        self: Arc<Self>,
        ports: Ports<'_>,
    ) -> Result<(Declaration, Arc<dyn PlannedBlock>), Invalid>;
}

/// A block with its plan.
pub trait PlannedBlock: Send + Sync {
    /// Name of the kind.
    fn kind(&self) -> &'static str;

    /// [`Block::ACTS`].
    fn acts(&self) -> bool;

    /// Checks parameters against inferred sizes.
    ///
    /// # Errors
    /// Whatever `check` found wrong.
    fn check(&self, sizes: &Sizes<'_>) -> Result<(), Invalid>;

    /// How many bytes [`Self::instantiate`] will take.
    fn memory(&self, sizes: &Sizes<'_>) -> u64;

    /// Makes what changes: states, memory. The value of a shared computation comes apart, since
    /// other blocks read it.
    fn instantiate(
        &self,
        io: InstanceIo,
        vars: &[usize],
        x: &mut [f64],
    ) -> (Box<dyn Instance>, Option<Box<dyn Any + Send>>);
}

/// The ports of one instance, and the functions that it calls.
#[derive(Clone, Default)]
pub struct InstanceIo {
    /// Inputs.
    pub inputs: PortTable,
    /// Outputs.
    pub outputs: PortTable,
    /// Index in the pool of each shared computation asked for.
    pub shared: Vec<u32>,
    /// Whether the scratch memory lives in the pool.
    pub shares: bool,
    /// The functions that the block needs, in the order in which it declared them.
    pub functions: Vec<Arc<FunctionBody>>,
    /// For each output whether nobody reads it; empty if all may be read.
    pub unread: Vec<bool>,
}

/// What an output group may touch.
pub struct OutputIo<'a> {
    /// When.
    pub time: Time,
    /// Which group.
    pub group: usize,
    /// Continuous state of the block.
    pub x: &'a [f64],
    /// The arena before the group's own part.
    pub before: &'a [f64],
    /// The group's own part.
    pub own: &'a mut [f64],
    /// First index of the own part.
    pub own_start: u32,
    /// Shared computations before the own one.
    pub shared: &'a SharedPool,
    /// The own shared value, if the block is a shared computation.
    pub shared_own: Option<&'a mut Box<dyn Any + Send>>,
}

/// What the other functions see: the whole arena.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// When.
    pub time: Time,
    /// All signals.
    pub arena: &'a [f64],
    /// All shared computations.
    pub shared: &'a SharedPool,
}

/// A running block.
pub trait Instance: Send {
    /// Computes one output group.
    ///
    /// # Errors
    /// The block's fault.
    fn output(&mut self, io: OutputIo<'_>) -> Outcome;

    /// Empties the memo: a major step begins.
    fn begin_step(&mut self);

    /// Advances the discrete state.
    ///
    /// # Errors
    /// The block's fault.
    fn update(&mut self, view: View<'_>, x: &[f64]) -> Outcome;

    /// Writes the rate of the continuous state.
    ///
    /// # Errors
    /// The block's fault.
    fn derivative(&mut self, view: View<'_>, x: &[f64], rate: &mut [f64]) -> Outcome;

    /// Corrects a step of the semi-implicit Euler method; see [`Block::correct`].
    fn correct(&mut self, time: Time, x: &[f64], rate: &mut [f64], shift: &mut [f64]) -> bool;

    /// Adds the entries of the Jacobian of an output group or of the rate, if the block knows it;
    /// of a shared computation nothing is asked.
    fn slopes(&mut self, io: SlopesIo<'_>, entries: &mut Vec<SlopeEntry>) -> Slope;

    /// Writes the guards' values.
    fn guard(&mut self, view: View<'_>, x: &[f64], values: &mut [f64]);

    /// Resets state after guards fired.
    ///
    /// # Errors
    /// The block's fault.
    fn reset(&mut self, view: View<'_>, fired: &[bool], x: &mut [f64]) -> Outcome;

    /// A copy of discrete state and memo, those of called functions included.
    fn save(&self) -> Box<dyn Any + Send>;

    /// Puts a saved copy back.
    ///
    /// # Panics
    /// If the copy is of another kind of block.
    fn restore(&mut self, saved: &(dyn Any + Send));

    /// The discrete state as bytes, those of called functions included. Memos are left out: between
    /// two major steps they hold nothing that matters.
    ///
    /// # Errors
    /// If the state cannot be written.
    fn save_bytes(&self) -> Result<Vec<u8>, Box<Fault>>;

    /// Puts back what [`Self::save_bytes`] gave.
    ///
    /// # Errors
    /// If the bytes are not those of such a state.
    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), Box<Fault>>;

    /// The discrete state as data.
    ///
    /// # Errors
    /// If the state cannot be written as JSON.
    fn state_json(&self) -> Result<serde_json::Value, Box<Fault>>;

    /// The numbers of the discrete state that parameters can give.
    fn numbers(&self) -> Vec<f64>;

    /// Puts such numbers into the state of t = 0.
    fn set_numbers(&mut self, numbers: &[f64]);

    /// The numbers of the discrete state that a linearisation differentiates.
    fn memory_numbers(&self) -> Vec<f64>;

    /// Puts such numbers into the state, at any time.
    fn set_memory_numbers(&mut self, numbers: &[f64]);

    /// The parameters with which the block begins at `at`, if it has such; `outputs` are the types
    /// of its outputs.
    fn starting_at(&self, at: &[f64], outputs: &[Type]) -> Option<Parameters>;

    /// Reports metrics and counts.
    fn report(&self, report: &mut Report);

    /// Adds the reports of the blocks inside the functions that it calls: (path, report).
    fn function_reports<'a>(&'a self, _reports: &mut Vec<(&'a str, Report)>) {}

    /// Puts what `wrap` makes of each block inside the functions that it calls in its place, the
    /// innermost first.
    fn wrap_functions(&mut self, _wrap: &mut WrapBlock<'_>) {}
}

/// Makes another running block, such as one that counts calls, of a path, a kind and the block that
/// runs there.
pub type WrapBlock<'w> = dyn FnMut(&str, &'static str, Box<dyn Instance>) -> Box<dyn Instance> + 'w;

/// Erases a block's type.
pub fn erase<B: Block>(block: B) -> Arc<dyn ErasedBlock> {
    Arc::new(block)
}

impl<B: Block> ErasedBlock for B {
    fn kind(&self) -> &'static str {
        Block::kind(self)
    }

    fn plan(
        self: Arc<Self>,
        mut ports: Ports<'_>,
    ) -> Result<(Declaration, Arc<dyn PlannedBlock>), Invalid> {
        let plan = Block::plan(&*self, &mut ports)?;
        Ok((ports.finish(), Arc::new(Planned { block: self, plan: Arc::new(plan) })))
    }
}

struct Planned<B: Block> {
    block: Arc<B>,
    plan: Arc<B::Plan>,
}

impl<B: Block> PlannedBlock for Planned<B> {
    fn kind(&self) -> &'static str {
        Block::kind(&*self.block)
    }

    fn acts(&self) -> bool {
        B::ACTS
    }

    fn check(&self, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        self.block.check(&self.plan, sizes)
    }

    fn memory(&self, sizes: &Sizes<'_>) -> u64 {
        self.block.memory(&self.plan, sizes)
    }

    fn instantiate(
        &self,
        io: InstanceIo,
        vars: &[usize],
        x: &mut [f64],
    ) -> (Box<dyn Instance>, Option<Box<dyn Any + Send>>) {
        let sizes = Sizes::new(vars, &io.inputs, &io.outputs);
        let state = self.block.state(&self.plan, &sizes);
        let scratch = self.block.scratch(&self.plan, &sizes);
        self.block.initial(&self.plan, &sizes, x);
        let (scratch, pooled): (_, Option<Box<dyn Any + Send>>) =
            if io.shares { (None, Some(Box::new(scratch))) } else { (Some(scratch), None) };
        let running = Running {
            block: Arc::clone(&self.block),
            plan: Arc::clone(&self.plan),
            state,
            memo: self.block.memo(&self.plan, &Sizes::new(vars, &io.inputs, &io.outputs)),
            scratch,
            functions: functions_of(&io),
            io,
        };
        (Box::new(running), pooled)
    }
}

struct Running<B: Block> {
    block: Arc<B>,
    plan: Arc<B::Plan>,
    state: B::State,
    memo: B::Memo,
    /// `None` if it lives in the pool of shared computations.
    scratch: Option<B::Scratch>,
    functions: Vec<FunctionInstance>,
    io: InstanceIo,
}

/// State, memo, and the memory of called functions.
type Saved<B> = (<B as Block>::State, <B as Block>::Memo, Vec<SavedFunction>);

/// The memory of a block that is no shared computation.
#[expect(clippy::expect_used, reason = "what `Ports::ask` makes is called for outputs alone")]
#[inline]
fn own<S>(scratch: &mut Option<S>) -> &mut S {
    scratch.as_mut().expect("a shared computation has neither state nor guards")
}

/// The memory of a shared computation: the value that the engine keeps for all.
#[expect(clippy::expect_used, reason = "the engine made the value from the same block")]
#[inline]
fn pooled<S: 'static>(value: Option<&mut Box<dyn Any + Send>>) -> &mut S {
    let value = value.expect("a shared computation is given its value");
    value.downcast_mut().expect("the pool holds this value")
}

impl<B: Block> Running<B> {
    #[inline]
    fn inputs<'a>(io: &'a InstanceIo, view: View<'a>) -> Inputs<'a> {
        Inputs { arena: view.arena, table: &io.inputs, shared: view.shared, shared_ids: &io.shared }
    }
}

impl<B: Block> Instance for Running<B> {
    #[inline]
    fn output(&mut self, io: OutputIo<'_>) -> Outcome {
        let scratch = match &mut self.scratch {
            Some(scratch) => scratch,
            None => pooled(io.shared_own),
        };
        let mut cx = OutputCx {
            time: io.time,
            group: io.group,
            state: &self.state,
            memo: &mut self.memo,
            scratch,
            x: io.x,
            inputs: Inputs {
                arena: io.before,
                table: &self.io.inputs,
                shared: io.shared,
                shared_ids: &self.io.shared,
            },
            functions: Functions { instances: &mut self.functions, time: io.time },
            outputs: Outputs {
                own: io.own,
                start: io.own_start,
                table: &self.io.outputs,
                unread: &self.io.unread,
            },
        };
        self.block.output(&self.plan, &mut cx)
    }

    fn begin_step(&mut self) {
        if size_of::<B::Memo>() > 0 {
            self.block.clear_memo(&mut self.memo);
        }
        self.functions.iter_mut().for_each(FunctionInstance::begin_step);
    }

    fn update(&mut self, view: View<'_>, x: &[f64]) -> Outcome {
        let mut cx = UpdateCx {
            time: view.time,
            state: &mut self.state,
            memo: &self.memo,
            scratch: own(&mut self.scratch),
            x,
            inputs: Self::inputs(&self.io, view),
            functions: Functions { instances: &mut self.functions, time: view.time },
        };
        self.block.update(&self.plan, &mut cx)?;
        self.functions.iter_mut().try_for_each(|function| function.update(view.time))
    }

    fn derivative(&mut self, view: View<'_>, x: &[f64], rate: &mut [f64]) -> Outcome {
        let mut cx = DerivativeCx {
            time: view.time,
            state: &self.state,
            scratch: own(&mut self.scratch),
            x,
            inputs: Self::inputs(&self.io, view),
            functions: Functions { instances: &mut self.functions, time: view.time },
            rate,
        };
        self.block.derivative(&self.plan, &mut cx)
    }

    fn correct(&mut self, time: Time, x: &[f64], rate: &mut [f64], shift: &mut [f64]) -> bool {
        let scratch = own(&mut self.scratch);
        self.block.correct(&self.plan, &mut CorrectCx { time, scratch, x, rate, shift })
    }

    fn slopes(&mut self, io: SlopesIo<'_>, entries: &mut Vec<SlopeEntry>) -> Slope {
        let Some(scratch) = &mut self.scratch else { return Slope::Unknown };
        let view = View { time: io.time, arena: io.arena, shared: io.shared };
        let (group, start) = io.output.unwrap_or_default();
        let mut cx = SlopesCx {
            time: io.time,
            group,
            state: &self.state,
            scratch,
            x: io.x,
            inputs: Self::inputs(&self.io, view),
            slopes: Slopes {
                entries,
                inputs: &self.io.inputs,
                outputs: &self.io.outputs,
                start,
                state_len: io.x.len() as u32,
                rate_len: io.rate_len as u32,
                moves: io.moves,
                most: io.most,
            },
        };
        match io.output {
            Some(_) => self.block.output_slopes(&self.plan, &mut cx),
            None => self.block.rate_slopes(&self.plan, &mut cx),
        }
    }

    fn guard(&mut self, view: View<'_>, x: &[f64], values: &mut [f64]) {
        let mut cx = GuardCx {
            time: view.time,
            state: &self.state,
            scratch: own(&mut self.scratch),
            x,
            inputs: Self::inputs(&self.io, view),
            values,
        };
        self.block.guard(&self.plan, &mut cx);
    }

    fn reset(&mut self, view: View<'_>, fired: &[bool], x: &mut [f64]) -> Outcome {
        let mut cx = ResetCx {
            time: view.time,
            fired,
            state: &mut self.state,
            scratch: own(&mut self.scratch),
            x,
            inputs: Self::inputs(&self.io, view),
            functions: Functions { instances: &mut self.functions, time: view.time },
        };
        self.block.reset(&self.plan, &mut cx)
    }

    fn save(&self) -> Box<dyn Any + Send> {
        Box::new((self.state.clone(), self.memo.clone(), saved(&self.functions)) as Saved<B>)
    }

    #[expect(clippy::expect_used, reason = "a history is of one program")]
    fn restore(&mut self, saved: &(dyn Any + Send)) {
        let (state, memo, functions) = saved
            .downcast_ref::<Saved<B>>()
            .expect("a saved state goes back to the block it came from");
        self.state = state.clone();
        self.memo = memo.clone();
        restore_functions(&mut self.functions, functions);
    }

    fn save_bytes(&self) -> Result<Vec<u8>, Box<Fault>> {
        encode(&(&self.state, bytes_of(&self.functions)?))
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), Box<Fault>> {
        let (state, functions): (B::State, Vec<Vec<u8>>) = decode(bytes)?;
        if !self.block.accepts(&self.plan, &state) {
            return Err(Fault::new("expected a state of this block, found another".to_owned()));
        }
        load_functions(&mut self.functions, &functions)?;
        self.state = state;
        Ok(())
    }

    fn state_json(&self) -> Result<serde_json::Value, Box<Fault>> {
        json_of(serde_json::to_value(&self.state), &self.functions)
    }

    fn numbers(&self) -> Vec<f64> {
        self.block.numbers(&self.plan, &self.state)
    }

    fn set_numbers(&mut self, numbers: &[f64]) {
        self.block.set_numbers(&self.plan, &mut self.state, numbers);
    }

    fn memory_numbers(&self) -> Vec<f64> {
        self.block.memory_numbers(&self.plan, &self.state)
    }

    fn set_memory_numbers(&mut self, numbers: &[f64]) {
        self.block.set_memory_numbers(&self.plan, &mut self.state, numbers);
    }

    fn starting_at(&self, at: &[f64], outputs: &[Type]) -> Option<Parameters> {
        self.block.starting_at(&self.plan, at, outputs)
    }

    fn report(&self, report: &mut Report) {
        self.block.report(&self.plan, &self.state, report);
        self.block.report_memo(&self.plan, &self.memo, report);
    }

    fn function_reports<'a>(&'a self, reports: &mut Vec<(&'a str, Report)>) {
        self.functions.iter().for_each(|function| function.reports(reports));
    }

    fn wrap_functions(&mut self, wrap: &mut WrapBlock<'_>) {
        self.functions.iter_mut().for_each(|function| function.wrap(wrap));
    }
}
