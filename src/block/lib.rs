//! What a block is: ports, signals, buses, parameters, diagnostics, faults.
//!
//! Start at [`Block`] (or [`Pure`], for blocks without state): a block is an immutable struct of
//! parameters that declares its [`Ports`] once and then computes from slices. [`Type`]s are what
//! inference works on; handles such as [`In`] and [`Out`] are what a block's code uses.
//! [`Diagnostic`] is what the author of a diagram did wrong, [`Fault`] what the numbers did.
//!
//! A third party writes a crate on this one alone and registers its blocks by name.

// The crate's own name, for the macros and tests that use its public paths.
extern crate self as legwork_block;

mod binder;
mod block;
mod conditional;
mod diagnostic;
mod expression;
mod fault;
mod instance;
mod ports;
pub mod quantity;
mod registry;
mod report;
mod resource;
mod signal;
mod structural;
mod typenames;
mod types;
mod unit;
mod value;

pub use binder::bind;
pub use block::{
    Block, DerivativeCx, GuardCx, Inputs, LeafOf, NO_FEEDS, OutputCx, Outputs, Pure, ResetCx,
    SharedPool, Sizes, Time, UpdateCx,
};
pub use conditional::{Condition, Edge, Test};
pub use diagnostic::{Diagnostic, Diagnostics, FileId, Label, Severity, Span, nearest};
pub use expression::{
    Compiled, Expression, Op, Segment, SegmentKind, Signal as ExpressionSignal, SignalPath,
    SignalResolver,
};
pub use fault::{Fault, Invalid, Outcome};
pub use instance::{ErasedBlock, Instance, InstanceIo, OutputIo, PlannedBlock, View, erase};
pub use ports::{
    Ask, ContinuousState, Crossing, Declaration, Feeds, Forward, Guard, InputDeclaration, Manifold,
    OutputDeclaration, PortNote, PortUnit, Ports, RateRule, SolveFailure, SolveRule,
};
pub use registry::{BindBlock, BlockKind, LoadResource, Registry, ResourceEntry, ResourceKind};
pub use report::Report;
pub use resource::{Files, NoResource, OtherResources, Resource, Resources, other, typed};
pub use signal::{
    Any, Bool, Feed, In, Int, Leaves, Matrix, OptionalIn, Out, PortTable, Pose, Real, Rotation,
    Shared, Signal, Slot, Vector,
};
pub use structural::{ConcatVectors, Piece, StackRows};
pub use typenames::{NamedType, TypeMaker, bus};
pub use types::{Arg, BusType, Dim, Field as BusField, Type, Var, View as BusView};
pub use unit::{Scale, Unit, UnitError, parse_quantity, parse_unit};
pub use value::{
    Arguments, Field as NodeField, Name, Named, Node, NodeKind, Number, Place, Scope, Text, Value,
};
