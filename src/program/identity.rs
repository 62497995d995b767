//! What a program is, as a number: a hash of its structure.
//!
//! Every structural type names each of its fields, to be hashed or to be left out. A new field
//! does not compile before somebody has decided that.

use legwork_block::{
    Arg, BusField, BusType, BusView, Compiled, ContinuousState, Crossing, Dim, Guard, InstanceIo,
    Manifold, PortTable, PortText, Slot, SolveFailure, SolveRule, Solver, Tolerance, Type, Var,
};

use crate::{
    ArenaSlot, Check, CheckKind, Edge, Fnv, FunctionProgram, Gate, GateId, HeldCopy, InputPort,
    JudgeValue, LogChannel, Loop, Node, NodeId, Part, Placed, PoolId, ProgramParts, Rate, Ratio,
    Reduction, RunSettings, SignalRef, Step, StepId, Stop, Unknown,
};

/// A value with an identity: what it adds to a hash determines it, but for what is named as left
/// out.
pub(crate) trait Identity {
    /// Adds the value.
    fn add_to(&self, hash: &mut Fnv);
}

/// Hashes the named fields in order. What does not shape the result is named behind `without`.
macro_rules! identity {
    ($($Type:ident { $($field:ident),* $(; without $($left_out:ident),*)? })*) => {$(
        impl Identity for $Type {
            fn add_to(&self, hash: &mut Fnv) {
                let $Type { $($field,)* $($($left_out: _,)*)? } = self;
                $($field.add_to(hash);)*
            }
        }
    )*};
}

/// Hashes a number as it lies in memory, lowest byte first.
macro_rules! number {
    ($($number:ty),*) => {$(
        impl Identity for $number {
            fn add_to(&self, hash: &mut Fnv) {
                hash.add_bytes(&self.to_le_bytes());
            }
        }
    )*};
}

/// Hashes an id as its index.
macro_rules! id {
    ($($Id:ty),*) => {$(
        impl Identity for $Id {
            fn add_to(&self, hash: &mut Fnv) {
                self.index().add_to(hash);
            }
        }
    )*};
}

number!(u8, u16, u32, i64, i128);
id!(NodeId, GateId, StepId, PoolId, ArenaSlot);

identity! {
    RunSettings { stop, step, solver, seed }
    // The block itself is its kind with its parameters, which are in `text`, and what it read from
    // files, which is in the program's `resources`. Where it is and whether it was written by
    // hand is for people.
    Node {
        path, kind, text, vars, io, functions, input_names, output_names, output_types,
        may_be_infinite, rate, update_rate, updates, continuous, guards, pool, gate, opens,
        stretch, copies; without block, span, caption, hidden, checks_itself
    }
    // The functions of a node are hashed with the node, before they become bodies.
    // Who reads what follows from the program; it shapes no signal that is read.
    InstanceIo { inputs, outputs, shared, shares; without functions, unread }
    FunctionProgram { name, path, nodes, frame, edges, schedule, arena_len, pool_len }
    HeldCopy { group, from, to }
    Loop { unknowns, tasks }
    Unknown { node, output, input, rule }
    SolveRule { tolerance, limit, initial, on_fail }
    Stop { node, slot }
    Gate { parent, active, starts, clears, restarts }
    Placed { state, parts, x, rate }
    Guard { crossing, resets }
    Edge { from, from_port, part, to, to_port, feeds }
    Step { node, group, own, rate, minor }
    InputPort { name, node, signal, initial, given; without doc, span }
    Slot { start, len }
    // The condition as it was written says no more than what it was compiled to.
    Check { name, kind, condition, when, tolerance, after, until; without text, span }
    // A name is no part of the run, but a snapshot of one value is none of another.
    JudgeValue { name, by, of, when, after, until, slot, unit; without span }
    LogChannel { signal, rate }
    SignalRef { path, ty, unit, units, slots; without labels }
    Tolerance { relative, absolute }
    BusType { name, args, fields, views }
    BusField { name, ty, unit, frame; without doc }
    BusView { name, field, start, len, unit, units, frame; without labels }
}

impl ProgramParts {
    /// Hash of everything that the future of a run depends on and what a snapshot holds state of:
    /// all but how long the run is and what is recorded.
    pub(crate) fn identify_continuation(&self) -> u64 {
        let ProgramParts {
            name: _,
            run: RunSettings { stop: _, step, solver, seed },
            base,
            step_ticks,
            stop_tick: _,
            nodes,
            edges,
            inputs,
            // Names of what the nodes say.
            outputs: _,
            gates,
            loops,
            stops,
            schedule,
            arena_len,
            state_len,
            rate_len,
            pool_len,
            memory: _,
            budget: _,
            warn: _,
            log: _,
            judge,
            checks,
            // Names of what the nodes say.
            signals: _,
            subsystems: _,
            resources,
            warnings: _,
        } = self;
        let mut hash = Fnv::default();
        (step, solver, seed).add_to(&mut hash);
        (base, step_ticks).add_to(&mut hash);
        (nodes, edges, gates).add_to(&mut hash);
        inputs.add_to(&mut hash);
        (loops, stops, schedule).add_to(&mut hash);
        (arena_len, state_len).add_to(&mut hash);
        (rate_len, pool_len).add_to(&mut hash);
        (judge, checks, resources).add_to(&mut hash);
        hash.value()
    }

    /// Hash of everything that shapes the result: the continuation, the stop time, and what is
    /// recorded.
    pub(crate) fn identify(&self, continuation: u64) -> u64 {
        let mut hash = Fnv::default();
        (&continuation, &self.run.stop, &self.stop_tick).add_to(&mut hash);
        self.log.add_to(&mut hash);
        hash.value()
    }
}

impl Identity for bool {
    fn add_to(&self, hash: &mut Fnv) {
        u8::from(*self).add_to(hash);
    }
}

impl Identity for u64 {
    fn add_to(&self, hash: &mut Fnv) {
        hash.add_number(*self);
    }
}

impl Identity for usize {
    fn add_to(&self, hash: &mut Fnv) {
        (*self as u64).add_to(hash);
    }
}

impl Identity for f64 {
    fn add_to(&self, hash: &mut Fnv) {
        self.to_bits().add_to(hash);
    }
}

impl Identity for str {
    fn add_to(&self, hash: &mut Fnv) {
        self.as_bytes().add_to(hash);
    }
}

impl Identity for String {
    fn add_to(&self, hash: &mut Fnv) {
        self.as_str().add_to(hash);
    }
}

impl Identity for PortText {
    fn add_to(&self, hash: &mut Fnv) {
        (**self).add_to(hash);
    }
}

impl Identity for Dim {
    fn add_to(&self, hash: &mut Fnv) {
        let Dim { constant, terms } = self;
        constant.add_to(hash);
        terms.as_slice().add_to(hash);
    }
}

impl<T: Identity + ?Sized> Identity for &T {
    fn add_to(&self, hash: &mut Fnv) {
        (**self).add_to(hash);
    }
}

impl<T: Identity> Identity for Option<T> {
    fn add_to(&self, hash: &mut Fnv) {
        self.is_some().add_to(hash);
        if let Some(value) = self {
            value.add_to(hash);
        }
    }
}

impl<T: Identity> Identity for [T] {
    fn add_to(&self, hash: &mut Fnv) {
        self.len().add_to(hash);
        self.iter().for_each(|item| item.add_to(hash));
    }
}

impl<T: Identity> Identity for Vec<T> {
    fn add_to(&self, hash: &mut Fnv) {
        self.as_slice().add_to(hash);
    }
}

impl<A: Identity, B: Identity> Identity for (A, B) {
    fn add_to(&self, hash: &mut Fnv) {
        self.0.add_to(hash);
        self.1.add_to(hash);
    }
}

impl<A: Identity, B: Identity, C: Identity> Identity for (A, B, C) {
    fn add_to(&self, hash: &mut Fnv) {
        self.0.add_to(hash);
        self.1.add_to(hash);
        self.2.add_to(hash);
    }
}

impl Identity for Ratio {
    fn add_to(&self, hash: &mut Fnv) {
        (self.numerator(), self.denominator()).add_to(hash);
    }
}

impl Identity for Rate {
    fn add_to(&self, hash: &mut Fnv) {
        match *self {
            Self::Constant => 0u8.add_to(hash),
            Self::Continuous => 1u8.add_to(hash),
            Self::Periodic { period, offset } => (2u8, period, offset).add_to(hash),
        }
    }
}

impl Identity for Solver {
    fn add_to(&self, hash: &mut Fnv) {
        match self {
            Self::Explicit(method) => (0u8, method.tableau().name).add_to(hash),
            Self::SemiImplicitEuler => 1u8.add_to(hash),
            Self::ImplicitEuler => 4u8.add_to(hash),
            Self::DormandPrince(tolerance) => (5u8, tolerance).add_to(hash),
            Self::Esdirk(tolerance) => (6u8, tolerance).add_to(hash),
            Self::Bdf(tolerance) => (7u8, tolerance).add_to(hash),
        }
    }
}

impl Identity for Reduction {
    fn add_to(&self, hash: &mut Fnv) {
        let tag: u8 = match self {
            Self::Last => 0,
            Self::Min => 1,
            Self::Max => 2,
            Self::Mean => 3,
            Self::Rms => 4,
            Self::FirstTime => 5,
            Self::LastTime => 6,
            Self::Integral => 7,
        };
        tag.add_to(hash);
    }
}

impl Identity for CheckKind {
    fn add_to(&self, hash: &mut Fnv) {
        let tag: u8 = match self {
            Self::Always => 0,
            Self::Eventually => 1,
            Self::Finally => 2,
        };
        tag.add_to(hash);
    }
}

impl Identity for Crossing {
    fn add_to(&self, hash: &mut Fnv) {
        let tag: u8 = match self {
            Self::Level => 0,
            Self::Rising => 1,
            Self::Falling => 2,
        };
        tag.add_to(hash);
    }
}

impl Identity for SolveFailure {
    fn add_to(&self, hash: &mut Fnv) {
        match self {
            Self::Stop => 0u8.add_to(hash),
            Self::HoldLast(most) => (1u8, *most).add_to(hash),
            Self::Zero => 2u8.add_to(hash),
        }
    }
}

impl Identity for ContinuousState {
    fn add_to(&self, hash: &mut Fnv) {
        match self {
            Self::First(manifolds) => (1u8, manifolds).add_to(hash),
            Self::Second(manifolds) => (2u8, manifolds).add_to(hash),
        }
    }
}

impl Identity for Manifold {
    fn add_to(&self, hash: &mut Fnv) {
        match self {
            Self::Euclidean(n) => (0u8, n).add_to(hash),
            Self::Quaternion => 1u8.add_to(hash),
            Self::EulerAngles => 2u8.add_to(hash),
        }
    }
}

impl Identity for Part {
    fn add_to(&self, hash: &mut Fnv) {
        match self {
            Self::Euclidean(n) => (0u8, *n).add_to(hash),
            Self::Quaternion => 1u8.add_to(hash),
            Self::EulerAngles => 2u8.add_to(hash),
        }
    }
}

/// The leaves of each port are all that a table says.
impl Identity for PortTable {
    fn add_to(&self, hash: &mut Fnv) {
        self.port_count().add_to(hash);
        (0..self.port_count()).for_each(|port| {
            self.port(port).add_to(hash);
            if self.is_smooth(port) {
                true.add_to(hash);
            }
        });
    }
}

impl Identity for Compiled {
    fn add_to(&self, hash: &mut Fnv) {
        self.is_boolean().add_to(hash);
        let code: Vec<u64> = self.code().collect();
        code.add_to(hash);
    }
}

impl Identity for Var {
    fn add_to(&self, hash: &mut Fnv) {
        self.0.add_to(hash);
    }
}

impl Identity for Arg {
    fn add_to(&self, hash: &mut Fnv) {
        match self {
            Self::Name(name) => (0u8, name).add_to(hash),
            Self::Var(var) => (1u8, var).add_to(hash),
        }
    }
}

impl Identity for Type {
    fn add_to(&self, hash: &mut Fnv) {
        match self {
            Self::Real => 0u8.add_to(hash),
            Self::Bool => 1u8.add_to(hash),
            Self::Int => 2u8.add_to(hash),
            Self::Vector(n) => (3u8, n).add_to(hash),
            Self::Matrix(rows, columns) => (4u8, rows, columns).add_to(hash),
            Self::Rotation => 5u8.add_to(hash),
            Self::Pose => 6u8.add_to(hash),
            Self::Bus(bus) => (7u8, &**bus).add_to(hash),
            Self::Array(of, n) => (8u8, &**of, n).add_to(hash),
            Self::Var(var) => (9u8, var).add_to(hash),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_hashed_as_its_bytes() {
        for number in [0, 1, 0xff, 0x100, 0x1234_5600, 1 << 56, u64::MAX] {
            let (mut at_once, mut by_bytes) = (Fnv::default(), Fnv::default());
            number.add_to(&mut at_once);
            by_bytes.add_bytes(&number.to_le_bytes());
            assert_eq!(at_once.value(), by_bytes.value(), "{number:#x}");
        }
    }
}
