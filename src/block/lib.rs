//! What a block is: ports, signals, buses, parameters, diagnostics, faults.
//!
//! Start at [`Block`] (or [`Pure`], for blocks without state): a block is an immutable struct of
//! parameters that declares its [`Ports`] once and then computes from slices. [`Type`]s are what
//! inference works on; handles such as [`In`] and [`Out`] are what a block's code uses.
//! [`Diagnostic`] is what the author of a diagram did wrong, [`Fault`] what the numbers did.
//!
//! # A block
//!
//! The attribute [`parameters`](macro@parameters) makes a struct readable from a diagram,
//! [`ports`](macro@ports) declares its ports in a table; the manual of the block comes from both
//! and from the comments. [`block`](macro@block) adds what the implementation leaves out:
//!
//! ```
//! use legwork_block::quantity::{Positive, Resistance};
//! use legwork_block::{Inputs, Outcome, Outputs, Pure, Real, block, parameters, ports};
//!
//! /// Heat of a resistor: `P = R i²`.
//! #[ports(
//!     in  i: Real, "A", "current";
//!     out power: Real, "W", "what becomes heat";
//! )]
//! #[parameters(aliases("Joule heating"))]
//! struct Heat {
//!     /// R [ohm].
//!     #[default = "1 ohm"]
//!     resistance: Positive<Resistance>,
//! }
//!
//! #[block]
//! impl Pure for Heat {
//!     fn output(&self, io: &HeatPorts, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
//!         let i = inputs.get(io.i);
//!         outputs.set(io.power, self.resistance.value() * i * i);
//!         Ok(())
//!     }
//! }
//! ```
//!
//! A third party writes a crate on this one alone and registers its blocks by name.
//!
//! # Calling another block
//!
//! A block whose algorithm needs another several times per step declares a [`Function`] in `plan`,
//! typed in its own dimension variables, and calls it in `output`, `update`, `derivative` or
//! `reset`. The diagram binds it to any block, mask or variant of that signature:
//! `Slope(h: 0.1, needs: { "f": Use("model") })`. What is called has no time of its own; its memory
//! lives in the caller's instance, one per function declared. All calls of a step start from what
//! the last step committed, and the last call of the outputs or the update is what the caller's
//! update phase commits; calls in minor steps, in `derivative` and in `reset` commit nothing.
//!
//! A function may be optional ([`Ports::optional_function`]): where the diagram binds none, the
//! block does by itself what it would, as a solver does that is used unless another is named.
//!
//! ```
//! use legwork_block::{
//!     Argument, Block, Function, Outcome, OutputCx, Real, ResultOf, block, parameters, ports,
//! };
//!
//! /// `y = (f(u + h) - f(u - h)) / (2 h)`.
//! #[ports(
//!     in  u: Real, _, "where the slope is taken";
//!     out y: Real, _, "the slope";
//!     keep f: Function = ports.function("f");
//!     keep argument: Argument<Real> = ports.argument(f, "u", &Real);
//!     keep value: ResultOf<Real> = ports.result(f, "y", &Real);
//! )]
//! #[parameters]
//! struct Slope {
//!     /// h [unit of u].
//!     h: f64,
//! }
//!
//! #[block]
//! impl Block for Slope {
//!     fn output(&self, plan: &SlopePorts, cx: &mut OutputCx<'_, Self>) -> Outcome {
//!         let u = cx.inputs.get(plan.u);
//!         let mut call = cx.functions.of(plan.f);
//!         call.set(plan.argument, u + self.h);
//!         let above = call.run()?.get(plan.value);
//!         call.set(plan.argument, u - self.h);
//!         let below = call.run()?.get(plan.value);
//!         cx.outputs.set(plan.y, (above - below) / (2.0 * self.h));
//!         Ok(())
//!     }
//! }
//! ```

//! # Slopes
//!
//! A block may know its derivative: [`Pure::slopes`], or [`Block::output_slopes`] and
//! [`Block::rate_slopes`], write the entries of its Jacobian. A linearisation uses them; of a block
//! that offers none it takes differences.
//!
//! ```
//! use legwork_block::{
//!     Inputs, Outcome, Outputs, Pure, Real, Slope, Slopes, block, parameters, ports,
//! };
//!
//! /// `y = u²`.
//! #[ports(
//!     in  u: Real, _, "a number";
//!     out y: Real, _, "its square";
//! )]
//! #[parameters]
//! struct Square {}
//!
//! #[block]
//! impl Pure for Square {
//!     fn output(&self, io: &SquarePorts, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
//!         let u = inputs.get(io.u);
//!         outputs.set(io.y, u * u);
//!         Ok(())
//!     }
//!
//!     fn slopes(&self, io: &SquarePorts, inputs: &Inputs<'_>, slopes: &mut Slopes<'_>) -> Slope {
//!         let (y, u) = (slopes.rows(io.y, 0), slopes.columns(io.u, 0));
//!         slopes.add((y, 0), (u, 0), 2.0 * inputs.get(io.u));
//!         Slope::Exact
//!     }
//! }
//! ```

// Each of these says why no input reaches it.
#![warn(clippy::expect_used, clippy::panic, clippy::unreachable)]

// The crate's own name, for the macros and tests that use its public paths.
extern crate self as legwork_block;

mod binder;
mod block;
pub mod code;
mod conditional;
mod declaration;
mod diagnostic;
mod expression;
mod fault;
mod function;
mod hidden;
mod input;
mod instance;
mod parameters;
mod ports;
pub mod quantity;
mod registry;
mod report;
mod resource;
mod signal;
mod slopes;
mod state_bytes;
mod structural;
mod typenames;
mod types;
mod unit;
mod value;

pub use legwork_block_macros::{block, bus_type, parameters, ports};
pub use legwork_linalg::cancel;
pub use legwork_ode::{Solver, Tolerance};
// For what the attributes make.
#[doc(hidden)]
pub use {schemars, serde};

pub use binder::bind;
pub use block::{
    Block, CorrectCx, DerivativeCx, GuardCx, Inputs, LeafOf, NO_FEEDS, OutputCx, Outputs, Pure,
    ResetCx, SharedPool, Sizes, Time, UpdateCx,
};
pub use conditional::{Condition, SignChange, Test};
pub use declaration::{
    Ask, ContinuousState, Crossing, Declaration, ElementsOf, Feeds, Forward, Guard,
    InputDeclaration, Manifold, OutputDeclaration, PortText, PortUnit, RateRule, SolveFailure,
    SolveRule,
};
pub use diagnostic::{Diagnostic, Diagnostics, FileId, Label, Severity, Span, nearest};
pub use expression::{
    Comparison, Compiled, Expression, Function as ExpressionFunction, Infix, Judged, Measured, Op,
    Programs, Segment, SegmentKind, Signal as ExpressionSignal, SignalPath, SignalResolver,
    UnitEquation, UnitRule, functions as expression_functions, is_constant,
    operators as expression_operators,
};
pub use fault::{Fault, Invalid, Outcome};
pub use function::{
    Argument, Call, Function, FunctionBlock, FunctionBody, FunctionDeclaration, FunctionStep,
    Functions, ResultOf, Results,
};
pub use hidden::{is_hidden, marked};
pub use input::Input;
pub use instance::{
    ErasedBlock, Instance, InstanceIo, OutputIo, PlannedBlock, View, WrapBlock, erase,
};
pub use parameters::{Parameters, Written};
pub use ports::{PortNote, Ports};
pub use registry::{
    BindBlock, BlockKind, LoadResource, Registry, ResourceEntry, ResourceKind, Shelf, ShelfMut,
};
pub use report::{Metric, Report, Warning};
pub use resource::{Files, NoResource, OtherResources, Resource, Resources, other, typed};
pub use signal::{
    Any, Array, Bool, Bus, Feed, Feeding, In, Int, Items, Leaves, Matrix, OptionalIn, Out,
    PortTable, Pose, Real, Rotation, Shared, Signal, Slot, Vector,
};
pub use slopes::{Columns, Rows, Slope, SlopeBy, SlopeEntry, Slopes, SlopesCx, SlopesIo};
pub use structural::{ConcatVectors, Piece, StackRows};
pub use typenames::{NamedType, TypeMaker, bus};
pub use types::{Arg, BusType, Dim, Field as BusField, Type, Var, View as BusView};
pub use unit::{
    NamedUnit, Scale, SymbolicUnit, Unit, UnitError, named_units, parse_quantity, parse_unit,
    unit_as_written, unit_prefixes,
};
pub use value::{
    Arguments, Choice, ChoiceArguments, Field as NodeField, Name, Named, Node, NodeKind, Number,
    Place, Scope, Text, Value,
};
