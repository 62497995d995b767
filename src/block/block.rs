//! The trait that every block implements, and the arguments of its functions. One file: a trait
//! is read as a whole.

use std::any::Any;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::fault::{Invalid, Outcome};
use crate::function::Functions;
use crate::parameters::Parameters;
use crate::ports::Ports;
use crate::report::Report;
use crate::signal::{Feed, In, Leaves, OptionalIn, Out, PortTable, Shared, Signal};
use crate::slopes::{Slope, Slopes, SlopesCx};
use crate::types::{Dim, Type};

/// A block: an immutable struct of parameters. The engine owns everything that changes.
///
/// `plan` runs once when the diagram is compiled and declares ports, state, rate and guards. All
/// other functions see (plan, time, inputs, state) and never allocate.
///
/// | associated type | what it holds | part of a snapshot |
/// |---|---|---|
/// | `Plan`    | handles and everything computed once from parameters | no |
/// | `State`   | discrete state: everything that affects later steps | yes |
/// | `Memo`    | results of the major-step `output`, for the `update` of the same step | yes |
/// | `Scratch` | memory that never affects later steps | no |
///
/// A block without state implements [`Pure`] instead.
pub trait Block: Send + Sync + Sized + 'static {
    /// Name in diagrams, CamelCase.
    const KIND: &'static str;
    /// Whether it does more than its outputs show, such as to call code of others: it then runs
    /// even where nobody reads it.
    const ACTS: bool = false;
    /// Handles and constants.
    type Plan: Send + Sync + 'static;
    /// Discrete state.
    type State: Clone + Send + Serialize + DeserializeOwned + 'static;
    /// From `output` to `update` of one major step.
    type Memo: Clone + Default + Send + 'static;
    /// Work memory.
    type Scratch: Send + 'static;

    /// Name in diagrams of this block, if one type is registered under several names.
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    /// Declares ports, state, rate and guards.
    ///
    /// # Errors
    /// If the parameters do not fit together, or not to the robot or file that they name.
    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid>;

    /// The discrete state at t = 0.
    fn state(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Self::State;

    /// The work memory.
    fn scratch(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Self::Scratch;

    /// The memo, sized so that `output` can fill it without allocating.
    fn memo(&self, _plan: &Self::Plan, _sizes: &Sizes<'_>) -> Self::Memo {
        Self::Memo::default()
    }

    /// Empties the memo when a major step begins; a memo that owns memory keeps it here.
    fn clear_memo(&self, memo: &mut Self::Memo) {
        *memo = Self::Memo::default();
    }

    /// Checks that need the inferred sizes.
    ///
    /// # Errors
    /// If a parameter's length does not fit a port's.
    fn check(&self, _plan: &Self::Plan, _sizes: &Sizes<'_>) -> Result<(), Invalid> {
        Ok(())
    }

    /// How many bytes state, memo and scratch will take, told before any of them is made. A
    /// diagram that asks for more than its budget is refused. The default supposes four times what
    /// the ports carry; a block whose memory is a product of sizes says so here.
    fn memory(&self, _plan: &Self::Plan, sizes: &Sizes<'_>) -> u64 {
        sizes.numbers().saturating_mul(4 * size_of::<f64>() as u64)
    }

    /// Writes the continuous state at t = 0 into `x`, which holds zeros and unit quaternions.
    fn initial(&self, _plan: &Self::Plan, _sizes: &Sizes<'_>, _x: &mut [f64]) {}

    /// Computes the outputs of one group. Pure: no state is written.
    ///
    /// # Errors
    /// A fault, if the numbers are invalid.
    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome;

    /// Advances the discrete state: `xd⁺ = f(t, x, u)`.
    ///
    /// # Errors
    /// A fault, if the numbers are invalid.
    fn update(&self, _plan: &Self::Plan, _cx: &mut UpdateCx<'_, Self>) -> Outcome {
        Ok(())
    }

    /// Writes the rate of the continuous state (the acceleration, for second-order state).
    ///
    /// # Errors
    /// A fault, if the numbers are invalid.
    fn derivative(&self, _plan: &Self::Plan, _cx: &mut DerivativeCx<'_, Self>) -> Outcome {
        Ok(())
    }

    /// Corrects a step of the semi-implicit Euler method of second-order state: `ν⁺ = ν + Δt a`,
    /// `q⁺ = q ⊕ Δt (ν⁺ + δ)`, with the rate a from [`Self::derivative`] and δ = 0 by default. A
    /// block with a better model of its motion replaces a by a mean acceleration of the step and
    /// writes δ. Only that method calls it, once in a major step. Returns true if a or δ differ
    /// from the default; δ must then be written.
    fn correct(&self, _plan: &Self::Plan, _cx: &mut CorrectCx<'_, Self>) -> bool {
        false
    }

    /// Writes the derivative of one output group over inputs and continuous state, if the block
    /// knows it: `∂y/∂u`, `∂y/∂x`, discrete state and time held. A linearisation takes differences
    /// otherwise.
    fn output_slopes(&self, _plan: &Self::Plan, _cx: &mut SlopesCx<'_, Self>) -> Slope {
        Slope::Unknown
    }

    /// Writes the derivative of what [`Self::derivative`] writes, if the block knows it: `∂ẋ/∂u`,
    /// `∂ẋ/∂x`.
    fn rate_slopes(&self, _plan: &Self::Plan, _cx: &mut SlopesCx<'_, Self>) -> Slope {
        Slope::Unknown
    }

    /// Writes the guards' values.
    fn guard(&self, _plan: &Self::Plan, _cx: &mut GuardCx<'_, Self>) {}

    /// Resets state after guards fired: `x⁺ = r(x⁻)`, from the outputs before any reset.
    ///
    /// # Errors
    /// A fault, if the numbers are invalid.
    fn reset(&self, _plan: &Self::Plan, _cx: &mut ResetCx<'_, Self>) -> Outcome {
        Ok(())
    }

    /// The numbers of the discrete state that parameters can set at t = 0, such as the output of a
    /// delay; none by default.
    fn numbers(&self, _plan: &Self::Plan, _state: &Self::State) -> Vec<f64> {
        Vec::new()
    }

    /// Sets the numbers of [`Self::numbers`] in a state of t = 0.
    fn set_numbers(&self, _plan: &Self::Plan, _state: &mut Self::State, _numbers: &[f64]) {}

    /// The numbers of the discrete state that later steps depend on smoothly, at any time: what a
    /// linearisation differentiates. [`Self::numbers`] by default.
    fn memory_numbers(&self, plan: &Self::Plan, state: &Self::State) -> Vec<f64> {
        self.numbers(plan, state)
    }

    /// Sets the numbers of [`Self::memory_numbers`] in a state of any time.
    fn set_memory_numbers(&self, plan: &Self::Plan, state: &mut Self::State, numbers: &[f64]) {
        self.set_numbers(plan, state, numbers);
    }

    /// Whether a state that was read from a file is one that the block can be in: what it points
    /// with is in range. That lists keep their lengths is seen to elsewhere.
    fn accepts(&self, _plan: &Self::Plan, _state: &Self::State) -> bool {
        true
    }

    /// The parameters with which the block begins at `at`: its continuous state if it has one,
    /// else [`Self::numbers`]; of a constant, its output. `outputs` are the types of its outputs.
    /// `None` if it has no such parameters.
    fn starting_at(
        &self,
        _plan: &Self::Plan,
        _at: &[f64],
        _outputs: &[Type],
    ) -> Option<Parameters> {
        None
    }

    /// Reports metrics and counts at the end of a run.
    fn report(&self, _plan: &Self::Plan, _state: &Self::State, _report: &mut Report) {}

    /// Reports what the memo of the last step contains, after [`Self::report`]. A run that ends in
    /// a fault has no `update` that could commit it; otherwise `update` may have.
    fn report_memo(&self, _plan: &Self::Plan, _memo: &Self::Memo, _report: &mut Report) {}
}

/// A block without state: its outputs are a function of its inputs.
pub trait Pure: Send + Sync + Sized + 'static {
    /// Name in diagrams, CamelCase.
    const KIND: &'static str;
    /// Handles and constants.
    type Plan: Send + Sync + 'static;

    /// Declares ports.
    ///
    /// # Errors
    /// If the parameters do not fit together, or not to the robot or file that they name.
    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid>;

    /// Checks what only the inferred sizes can tell.
    ///
    /// # Errors
    /// If a parameter's length does not fit a port's.
    fn check(&self, _plan: &Self::Plan, _sizes: &Sizes<'_>) -> Result<(), Invalid> {
        Ok(())
    }

    /// Computes the outputs.
    ///
    /// # Errors
    /// A fault, if the numbers are invalid.
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome;

    /// Writes the derivative `∂y/∂u`, if the block knows it; see [`Block::output_slopes`].
    fn slopes(&self, _plan: &Self::Plan, _: &Inputs<'_>, _slopes: &mut Slopes<'_>) -> Slope {
        Slope::Unknown
    }

    /// The parameters with which the output of a constant is `at`; `outputs` are the types of its
    /// outputs. `None` if they are computed.
    fn starting_at(
        &self,
        _plan: &Self::Plan,
        _at: &[f64],
        _outputs: &[Type],
    ) -> Option<Parameters> {
        None
    }
}

impl<P: Pure> Block for P {
    const KIND: &'static str = P::KIND;
    type Plan = P::Plan;
    type State = ();
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        Pure::plan(self, ports)
    }

    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        Pure::check(self, plan, sizes)
    }

    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn memory(&self, _: &Self::Plan, _: &Sizes<'_>) -> u64 {
        0
    }

    #[inline]
    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        Pure::output(self, plan, &cx.inputs, &mut cx.outputs)
    }

    fn output_slopes(&self, plan: &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        Pure::slopes(self, plan, &cx.inputs, &mut cx.slopes)
    }

    fn starting_at(&self, plan: &Self::Plan, at: &[f64], outputs: &[Type]) -> Option<Parameters> {
        Pure::starting_at(self, plan, at, outputs)
    }
}

/// Results of inference, for a block to size its memory.
#[derive(Debug, Clone, Copy)]
pub struct Sizes<'a> {
    pub(crate) vars: &'a [usize],
    pub(crate) inputs: &'a PortTable,
    pub(crate) outputs: &'a PortTable,
}

impl<'a> Sizes<'a> {
    /// The sizes of a block: the values of its dimension variables, and its ports' slots.
    pub fn new(vars: &'a [usize], inputs: &'a PortTable, outputs: &'a PortTable) -> Self {
        Self { vars, inputs, outputs }
    }

    /// The value of a dimension that the block declared.
    ///
    /// # Panics
    /// If the dimension is negative or not of this block.
    #[expect(clippy::panic, reason = "inference refuses negative dimensions")]
    pub fn dim(&self, dim: &Dim) -> usize {
        let value: i64 = dim.constant
            + dim.terms.iter().map(|&(c, var)| c * self.vars[var.0 as usize] as i64).sum::<i64>();
        usize::try_from(value).unwrap_or_else(|_| panic!("dimension {dim} = {value} is negative"))
    }

    /// How many numbers all ports carry together.
    pub fn numbers(&self) -> u64 {
        let carried = |table: &PortTable| -> u64 {
            let ports = (0..table.port_count()).flat_map(|port| table.port(port));
            ports.map(|slot| u64::from(slot.len)).sum()
        };
        carried(self.inputs) + carried(self.outputs)
    }

    /// How many numbers an input carries, 0 if it is not connected.
    pub fn input<S>(&self, input: In<S>) -> usize {
        self.inputs.port(input.port as usize).iter().map(|slot| slot.len as usize).sum()
    }

    /// True if an input is a whole output that its block declares
    /// [smooth](crate::Ports::is_smooth).
    pub fn is_smooth<S>(&self, input: In<S>) -> bool {
        self.inputs.is_smooth(input.port as usize)
    }

    /// How many numbers an optional input carries, `None` if it is not connected.
    pub fn optional<S>(&self, input: OptionalIn<S>) -> Option<usize> {
        let slots = self.inputs.port(input.port as usize);
        (!slots.is_empty()).then(|| slots.iter().map(|slot| slot.len as usize).sum())
    }

    /// How many leaves an input has.
    pub fn input_leaves<S>(&self, input: In<S>) -> usize {
        self.inputs.port(input.port as usize).len()
    }

    /// How many numbers an output carries.
    pub fn output<S>(&self, output: Out<S>) -> usize {
        self.outputs.port(output.port as usize).iter().map(|slot| slot.len as usize).sum()
    }
}

/// When a block's function runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Time {
    /// Time [s].
    pub t: f64,
    /// Length of the major step that starts here [s]: the run's fixed step, or for a block with
    /// a period its period.
    pub step: f64,
    /// Whether this is a minor step, inside an integration step.
    pub minor: bool,
}

/// Memory of shared computations.
pub type SharedPool = [Box<dyn Any + Send>];

/// The inputs of a block.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    pub(crate) arena: &'a [f64],
    pub(crate) table: &'a PortTable,
    pub(crate) shared: &'a SharedPool,
    pub(crate) shared_ids: &'a [u32],
}

impl<'a> Inputs<'a> {
    /// The value of an input.
    #[inline]
    pub fn get<S: Signal>(&self, input: In<S>) -> S::Ref<'a> {
        S::read_port(self.arena, self.table, input.port as usize)
    }

    /// The value of an optional input, if it is connected.
    #[inline]
    pub fn optional<S: Signal>(&self, input: OptionalIn<S>) -> Option<S::Ref<'a>> {
        let slots = self.table.port(input.port as usize);
        (!slots.is_empty()).then(|| S::read(Leaves::new(self.arena, slots)))
    }

    /// The value of a shared computation.
    ///
    /// # Panics
    /// If `V` is not the value's type.
    #[inline]
    #[expect(clippy::expect_used, reason = "a handle carries its type")]
    pub fn shared<V: Any>(&self, shared: Shared<V>) -> &'a V {
        self.shared[self.shared_ids[shared.index as usize] as usize]
            .downcast_ref()
            .expect("the handle of a shared computation carries its type")
    }
}

/// The outputs of one group of a block.
pub struct Outputs<'a> {
    pub(crate) own: &'a mut [f64],
    pub(crate) start: u32,
    pub(crate) table: &'a PortTable,
    /// For each port whether nobody reads it; empty if all may be read.
    pub(crate) unread: &'a [bool],
}

impl Outputs<'_> {
    /// Whether anybody may read an output: a block, a check, the recording, or whoever looks at a
    /// run that is stepped. What is costly and cannot fault need not be written where nobody does.
    #[inline]
    pub fn is_read<S>(&self, output: Out<S>) -> bool {
        !self.unread.get(output.port as usize).copied().unwrap_or(false)
    }

    /// The numbers of an output of one leaf, to write.
    #[inline(always)]
    pub fn get<S>(&mut self, output: Out<S>) -> &mut [f64] {
        let slot = self.table.first(output.port as usize);
        let start = (slot.start - self.start) as usize;
        &mut self.own[start..start + slot.len as usize]
    }

    /// Leaf `leaf` of an output, to write.
    #[inline]
    pub fn leaf<S>(&mut self, output: Out<S>, leaf: usize) -> &mut [f64] {
        let slot = self.table.port(output.port as usize)[leaf];
        let start = (slot.start - self.start) as usize;
        &mut self.own[start..start + slot.len as usize]
    }

    /// Writes an output of one number.
    #[inline(always)]
    pub fn set<S>(&mut self, output: Out<S>, value: f64) {
        let slot = self.table.first(output.port as usize);
        self.own[(slot.start - self.start) as usize] = value;
    }

    /// How many leaves an output has.
    pub fn leaf_count<S>(&self, output: Out<S>) -> usize {
        self.table.port(output.port as usize).len()
    }

    /// Several leaves at once, to write.
    ///
    /// # Panics
    /// If a leaf is named twice.
    #[inline(always)]
    #[expect(clippy::expect_used, reason = "a block's source names the leaves")]
    pub fn leaves<const N: usize>(&mut self, which: [LeafOf; N]) -> [&mut [f64]; N] {
        let ranges = which.map(|LeafOf { port, leaf }| {
            let slot = self.table.port(port as usize)[leaf as usize];
            let start = (slot.start - self.start) as usize;
            start..start + slot.len as usize
        });
        self.own.get_disjoint_mut(ranges).expect("every leaf is named once")
    }
}

/// A leaf of an output, for [`Outputs::leaves`].
#[derive(Debug, Clone, Copy)]
pub struct LeafOf {
    port: u16,
    leaf: u16,
}

impl<S> Out<S> {
    /// Leaf `leaf` of this output.
    pub fn leaf(self, leaf: usize) -> LeafOf {
        LeafOf { port: self.port, leaf: leaf as u16 }
    }

    /// This output's only feed-independent name: its index.
    pub fn index(self) -> usize {
        self.port as usize
    }
}

/// Arguments of `output`.
pub struct OutputCx<'a, B: Block> {
    /// The current step.
    pub time: Time,
    /// Which output group.
    pub group: usize,
    /// Discrete state.
    pub state: &'a B::State,
    /// For the `update` of this step; empty when a major step begins.
    pub memo: &'a mut B::Memo,
    /// Work memory.
    pub scratch: &'a mut B::Scratch,
    /// Continuous state.
    pub x: &'a [f64],
    /// Inputs that feed this group.
    pub inputs: Inputs<'a>,
    /// The functions that the block needs.
    pub functions: Functions<'a>,
    /// Outputs of this group.
    pub outputs: Outputs<'a>,
}

/// Arguments of `update`.
pub struct UpdateCx<'a, B: Block> {
    /// The current step.
    pub time: Time,
    /// Discrete state, to advance.
    pub state: &'a mut B::State,
    /// Results of this step's `output`.
    pub memo: &'a B::Memo,
    /// Work memory.
    pub scratch: &'a mut B::Scratch,
    /// Continuous state.
    pub x: &'a [f64],
    /// All inputs.
    pub inputs: Inputs<'a>,
    /// The functions that the block needs.
    pub functions: Functions<'a>,
}

/// Arguments of `derivative`.
pub struct DerivativeCx<'a, B: Block> {
    /// The current step.
    pub time: Time,
    /// Discrete state.
    pub state: &'a B::State,
    /// Work memory.
    pub scratch: &'a mut B::Scratch,
    /// Continuous state.
    pub x: &'a [f64],
    /// All inputs.
    pub inputs: Inputs<'a>,
    /// The functions that the block needs.
    pub functions: Functions<'a>,
    /// The rate, to write.
    pub rate: &'a mut [f64],
}

/// Arguments of `correct`.
pub struct CorrectCx<'a, B: Block> {
    /// The step.
    pub time: Time,
    /// Work memory.
    pub scratch: &'a mut B::Scratch,
    /// Continuous state at the beginning of the step.
    pub x: &'a [f64],
    /// Acceleration a: rate of the velocity, to replace.
    pub rate: &'a mut [f64],
    /// Correction δ to write: velocity of the position minus ν⁺.
    pub shift: &'a mut [f64],
}

/// Arguments of `guard`.
pub struct GuardCx<'a, B: Block> {
    /// The current step.
    pub time: Time,
    /// Discrete state.
    pub state: &'a B::State,
    /// Work memory.
    pub scratch: &'a mut B::Scratch,
    /// Continuous state.
    pub x: &'a [f64],
    /// All inputs.
    pub inputs: Inputs<'a>,
    /// The guards' values, to write.
    pub values: &'a mut [f64],
}

/// Arguments of `reset`.
pub struct ResetCx<'a, B: Block> {
    /// The current step.
    pub time: Time,
    /// Which of the block's guards fired.
    pub fired: &'a [bool],
    /// Discrete state, to reset.
    pub state: &'a mut B::State,
    /// Work memory.
    pub scratch: &'a mut B::Scratch,
    /// Continuous state, to reset.
    pub x: &'a mut [f64],
    /// All inputs, as they were before any reset.
    pub inputs: Inputs<'a>,
    /// The functions that the block needs.
    pub functions: Functions<'a>,
}

/// Lists feeds: `feeds![u, state, kinematics]`.
#[macro_export]
macro_rules! feeds {
    ($($handle:expr),* $(,)?) => { [$($handle.feed()),*] };
}

/// No feeds: outputs that depend on state only.
pub const NO_FEEDS: [Feed; 0] = [];
