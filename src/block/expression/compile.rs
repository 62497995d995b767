//! Expressions over signals: how paths find their signals, and the programs that run. One file:
//! what a program keeps is what its evaluation steps through.

use std::fmt;

use serde::Serialize;

use super::Expression;
use super::evaluate::{Evaluator, wrong};
use super::margin;
use super::operator::{Binary, Op};
use super::term::{Scalar, Term};
use super::units::{Book, FACTORS, TermUnit, UnitEquation};
use crate::code;
use crate::diagnostic::{Diagnostic, Span};
use crate::types::Var;
use crate::unit::{SymbolicUnit, Unit};
use crate::value::{Scope, Value};

/// Numbers that a program may hold at once.
pub(super) const STACK: usize = 64;
/// Numbers that most programs hold at once.
pub(super) const SMALL: usize = 8;

/// A path to a signal as written: `body.state.base.position[2]`, `foot[FL_foot].point.gap`, `u[0]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignalPath {
    /// The parts; the first is a name.
    pub segments: Vec<Segment>,
    /// The whole path.
    pub span: Span,
}

/// A part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// What it selects.
    pub kind: SegmentKind,
    /// Where it is.
    pub span: Span,
}

/// What a part of a path selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SegmentKind {
    /// `.name`, or the name in front; `^name` is a mask's own port.
    Name(String),
    /// `[FL_foot]`: one copy of a for-each.
    Key(String),
    /// `[2]`.
    Index(usize),
    /// `[2..5]`; without an end up to the last.
    Range(usize, Option<usize>),
}

impl fmt::Display for SignalPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.segments.iter().enumerate() {
            match &segment.kind {
                SegmentKind::Name(name) => write!(f, "{}{name}", if i == 0 { "" } else { "." })?,
                SegmentKind::Key(key) => write!(f, "[{key}]")?,
                SegmentKind::Index(index) => write!(f, "[{index}]")?,
                SegmentKind::Range(from, Some(to)) => write!(f, "[{from}..{to}]")?,
                SegmentKind::Range(from, None) => write!(f, "[{from}..]")?,
            }
        }
        Ok(())
    }
}

/// What a path leads to. A slot is a number that [`Compiled::eval`] reads.
#[derive(Debug, Clone, PartialEq)]
pub enum Signal {
    /// A value that never changes.
    Constant(Value),
    /// One number.
    Real {
        /// The slot.
        slot: u32,
        /// Its unit, if the port declares one; it may be one to be inferred.
        unit: Option<SymbolicUnit>,
    },
    /// One truth value: 0 or 1.
    Bool {
        /// The slot.
        slot: u32,
    },
    /// Several, a list.
    List(Vec<Signal>),
    /// Numbers of one unit in neighbouring slots, a list.
    Run {
        /// The first slot.
        start: u32,
        /// How many.
        len: u32,
        /// Their unit, if the port declares one; it may be one to be inferred.
        unit: Option<SymbolicUnit>,
    },
}

impl Signal {
    /// How many values it is.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Constant(value) => value.size(),
            Self::Real { .. } | Self::Bool { .. } => 1,
            Self::List(items) => items.iter().fold(1, |sum, item| sum + item.size()),
            Self::Run { len, .. } => *len as usize,
        }
    }
}

/// Finds signals by path.
pub trait SignalResolver {
    /// The signal at `path`.
    ///
    /// # Errors
    /// If there is none.
    fn resolve(&mut self, path: &SignalPath) -> Result<Signal, Diagnostic>;

    /// Whether paths begin with `name`: then `name.field` is one of them, also where `name` alone
    /// is a constant without fields.
    fn is_start(&self, _name: &str) -> bool {
        false
    }
}

/// A compiled expression: a flat program that needs no memory of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compiled {
    ops: Vec<Op>,
    /// The same, as it runs.
    #[serde(skip)]
    steps: Vec<Step>,
    /// Signals and constants of the sums of squares.
    #[serde(skip)]
    terms: Vec<(u32, f64)>,
    /// Numbers that it holds at once.
    #[serde(skip)]
    pub(super) need: usize,
    boolean: bool,
    unit: Option<Unit>,
    /// Whether its comparisons must all hold.
    #[serde(skip)]
    pub(super) conjunction: bool,
}

/// A step of a running program.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    /// One instruction, with its place.
    One(u32, Op),
    /// Pushes `Σ (signal − constant)²` over these of the terms, from left to right: the instructions
    /// of norms, one for all.
    Squares { first: u32, end: u32 },
}

impl Compiled {
    /// The value with the signals that `read` gives for each slot; a truth value is 0 or 1.
    /// Does not allocate.
    #[inline]
    pub fn eval(&self, read: impl Fn(usize) -> f64) -> f64 {
        self.eval_by(0, read, |_, op, x, y| op.apply(x, y))
    }

    /// Element `element` of a program that gives several ([`Programs::each`]), where `decide`
    /// decides the comparisons by size: it gets the number of the comparison, in the order of
    /// [`Self::decisions`], the left side minus the right one, and whether it is true, and returns
    /// the value that the comparison takes. Does not allocate.
    pub fn eval_deciding_at(
        &self,
        element: usize,
        read: impl Fn(usize) -> f64,
        mut decide: impl FnMut(usize, f64, bool) -> bool,
    ) -> f64 {
        let mut next = 0;
        self.eval_by(element, read, |_, op, x, y| {
            if !op.is_by_size() {
                return op.apply(x, y);
            }
            next += 1;
            f64::from(u8::from(decide(next - 1, x - y, op.apply(x, y) != 0.0)))
        })
    }

    /// For each comparison by size, in the order in which they are carried out, whether both of its
    /// sides follow from the slots for which `is_known` holds, and from constants.
    pub fn decisions(&self, is_known: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut found = Vec::new();
        self.follow(is_known, |_, op, left, right| {
            if op.is_by_size() {
                found.push(left && right);
            }
        });
        found
    }

    /// Goes through the program and tells of every comparison, by the place of its instruction,
    /// which of its sides follow from the slots for which `is_known` holds, and from constants.
    pub(super) fn follow(
        &self,
        is_known: impl Fn(usize) -> bool,
        mut found: impl FnMut(usize, Binary, bool, bool),
    ) {
        let mut known = Vec::new();
        for (place, op) in self.ops.iter().enumerate() {
            // A program is complete: what an instruction takes has been pushed.
            let mut pop = || known.pop().unwrap_or(false);
            let result = match *op {
                Op::Push(_) => true,
                Op::Load(slot) | Op::LoadEach(slot) => is_known(slot as usize),
                Op::Unary(_) => pop(),
                Op::Binary(_) => pop() & pop(),
                Op::Compare(op, _) => {
                    let (right, left) = (pop(), pop());
                    found(place, op, left, right);
                    left && right
                }
                Op::Select => pop() & pop() & pop(),
            };
            known.push(result);
        }
    }

    /// The program.
    pub(super) fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The value of an element; `compare` gives that of a comparison from the place of its
    /// instruction.
    #[inline]
    pub(super) fn eval_by(
        &self,
        element: usize,
        read: impl Fn(usize) -> f64,
        compare: impl FnMut(usize, Binary, f64, f64) -> f64,
    ) -> f64 {
        // Most programs are small; the memory of the others is not cleared for them.
        match self.need {
            0..=SMALL => self.eval_in(&mut [0.0; SMALL], element, read, compare),
            _ => self.eval_in(&mut [0.0; STACK], element, read, compare),
        }
    }

    #[inline]
    fn eval_in(
        &self,
        stack: &mut [f64],
        element: usize,
        read: impl Fn(usize) -> f64,
        mut compare: impl FnMut(usize, Binary, f64, f64) -> f64,
    ) -> f64 {
        let mut top = 0;
        for step in &self.steps {
            match *step {
                Step::Squares { first, end } => {
                    let terms = &self.terms[first as usize..end as usize];
                    let squares = terms.iter().map(|&(slot, constant)| {
                        let x = read(slot as usize) - constant;
                        x * x
                    });
                    // There is one, and a sum from 0 has the same bits: squares have no sign.
                    stack[top] = squares.fold(0.0, |sum, square| sum + square);
                    top += 1;
                }
                Step::One(_, Op::Push(value)) => {
                    stack[top] = value;
                    top += 1;
                }
                Step::One(_, Op::Load(slot)) => {
                    stack[top] = read(slot as usize);
                    top += 1;
                }
                Step::One(_, Op::LoadEach(slot)) => {
                    stack[top] = read(slot as usize + element);
                    top += 1;
                }
                Step::One(_, Op::Unary(op)) => stack[top - 1] = op.apply(stack[top - 1]),
                Step::One(_, Op::Binary(op)) => {
                    top -= 1;
                    stack[top - 1] = op.apply(stack[top - 1], stack[top]);
                }
                Step::One(place, Op::Compare(op, _)) => {
                    top -= 1;
                    stack[top - 1] = compare(place as usize, op, stack[top - 1], stack[top]);
                }
                Step::One(_, Op::Select) => {
                    top -= 2;
                    stack[top - 1] =
                        if stack[top - 1] != 0.0 { stack[top] } else { stack[top + 1] };
                }
            }
        }
        stack[0]
    }

    /// The value with signals in a slice.
    ///
    /// # Panics
    /// If a slot of [`Compiled::slots`] is outside `signals`.
    pub fn eval_slice(&self, signals: &[f64]) -> f64 {
        self.eval(|slot| signals[slot])
    }

    /// The truth value with the signals that `read` gives for each slot.
    pub fn test(&self, read: impl Fn(usize) -> f64) -> bool {
        self.eval(read) != 0.0
    }

    /// Whether the result is a truth value.
    pub fn is_boolean(&self) -> bool {
        self.boolean
    }

    /// Unit of the result; `None` if it is bare or a truth value.
    pub fn unit(&self) -> Option<Unit> {
        self.unit
    }

    /// Slots that the program reads, in the order of reading.
    pub fn slots(&self) -> impl Iterator<Item = usize> + '_ {
        self.ops.iter().filter_map(|op| match op {
            Op::Load(slot) | Op::LoadEach(slot) => Some(*slot as usize),
            _ => None,
        })
    }

    /// The program as numbers. Programs of the same numbers compute the same: each instruction is
    /// what it does, then its constant or slot if it has one.
    pub fn code(&self) -> impl Iterator<Item = u64> + '_ {
        self.ops.iter().flat_map(|op| {
            let (what, operand) = match *op {
                Op::Push(value) => (0, value.to_bits()),
                Op::Load(slot) => (1, u64::from(slot)),
                Op::Unary(unary) => (2, unary as u64),
                Op::Binary(binary) | Op::Compare(binary, _) => (3, binary as u64),
                Op::Select => (4, 0),
                Op::LoadEach(slot) => (5, u64::from(slot)),
            };
            [what, operand]
        })
    }

    fn new(term: Term, span: Span) -> Result<(Self, Option<SymbolicUnit>), Diagnostic> {
        let (scalar, boolean, unit) = match term {
            Term::Real(scalar, unit) => (scalar, false, unit),
            Term::Bool(scalar) => (scalar, true, None),
            other => return Err(wrong("a number or a truth value", &other, span)),
        };
        let ops = Scalar::code(scalar);
        let need = stack_need(&ops);
        if need > STACK {
            let message = format!("the expression needs more than {STACK} numbers at once");
            return Err(Diagnostic::error(code::EXPRESSION_SIZE, span, message));
        }
        let (steps, terms) = steps(&ops);
        let conjunction = margin::is_conjunction(&ops);
        let nominal = unit.as_ref().and_then(TermUnit::nominal);
        let program = Self { ops, steps, terms, need, boolean, unit: nominal, conjunction };
        Ok((program, unit.map(TermUnit::symbolic)))
    }
}

/// The steps of a program, and the terms of its sums of squares.
fn steps(mut ops: &[Op]) -> (Vec<Step>, Vec<(u32, f64)>) {
    let (mut steps, mut terms, all) = (Vec::new(), Vec::new(), ops.len());
    while let Some((&op, rest)) = ops.split_first() {
        let Some((term, mut behind)) = square(ops) else {
            steps.push(Step::One((all - ops.len()) as u32, op));
            ops = rest;
            continue;
        };
        let first = terms.len() as u32;
        terms.push(term);
        while let Some((term, [Op::Binary(Binary::Add), rest @ ..])) = square(behind) {
            terms.push(term);
            behind = rest;
        }
        steps.push(Step::Squares { first, end: terms.len() as u32 });
        ops = behind;
    }
    (steps, terms)
}

/// The signal and the constant whose difference's square the instructions begin with, and what
/// follows; the square of a signal alone is that of its difference from 0.
fn square(ops: &[Op]) -> Option<((u32, f64), &[Op])> {
    const TO_THE_2ND: [Op; 2] = [Op::Push(2.0), Op::Binary(Binary::Power)];
    match ops {
        [Op::Load(slot), a, b, rest @ ..] if [*a, *b] == TO_THE_2ND => Some(((*slot, 0.0), rest)),
        [Op::Load(slot), Op::Push(constant), Op::Binary(Binary::Subtract), a, b, rest @ ..]
            if [*a, *b] == TO_THE_2ND =>
        {
            Some(((*slot, *constant), rest))
        }
        _ => None,
    }
}

/// The greatest number of values on the stack.
fn stack_need(ops: &[Op]) -> usize {
    let (mut top, mut most) = (0usize, 0);
    for op in ops {
        match op {
            Op::Push(_) | Op::Load(_) | Op::LoadEach(_) => top += 1,
            Op::Unary(_) => {}
            Op::Binary(_) | Op::Compare(..) => top -= 1,
            Op::Select => top -= 2,
        }
        most = most.max(top);
    }
    most
}

/// The programs of an expression, and what it says of units.
#[derive(Debug, Clone)]
pub struct Programs {
    /// One for each element of a list, else one.
    pub programs: Vec<Compiled>,
    /// How many elements the one program gives, if the list has one for all.
    pub each: Option<usize>,
    /// Whether the expression gives a list.
    pub is_list: bool,
    /// The unit of each; `None` of a bare number and of a truth value.
    pub units: Vec<Option<SymbolicUnit>>,
    /// What is asked of units.
    pub equations: Vec<UnitEquation>,
    /// How many numbers without unit are factors of signals. The units of these are the variables
    /// from [`Programs::FACTORS`] on: powers of time, 1 unless one is needed.
    pub factors: u32,
}

impl Programs {
    /// The variable of the first factor without unit.
    pub const FACTORS: u32 = FACTORS;

    /// The same with every variable renamed: those of the resolver by `name`, those of factors
    /// without unit counted from `factors` on.
    #[must_use]
    pub fn renamed(mut self, name: &dyn Fn(Var) -> Var, factors: u32) -> Self {
        let name = |var: Var| match var.0.checked_sub(FACTORS) {
            Some(factor) => Var(factors + factor),
            None => name(var),
        };
        for unit in self.units.iter_mut().flatten() {
            *unit = unit.renamed(&name);
        }
        for equation in &mut self.equations {
            *equation = equation.renamed(&name);
        }
        self
    }
}

pub(super) fn scalar(
    expression: &Expression,
    scope: &dyn Scope,
    signals: &mut dyn SignalResolver,
) -> Result<Compiled, Diagnostic> {
    let term = Evaluator::new(scope, Some(signals)).term(&expression.root)?;
    Compiled::new(term, expression.root.span).map(|(program, _)| program)
}

pub(super) fn programs(
    expression: &Expression,
    scope: &dyn Scope,
    signals: &mut dyn SignalResolver,
    with_each: bool,
) -> Result<Programs, Diagnostic> {
    let evaluator = Evaluator::new(scope, Some(signals));
    let mut evaluator = if with_each { evaluator.with_each() } else { evaluator };
    let term = evaluator.term(&expression.root)?;
    programs_of(term, &evaluator, expression.root.span)
}

/// The program of a condition whose comparisons stay comparisons.
pub(super) fn condition(
    expression: &Expression,
    scope: &dyn Scope,
    signals: &mut dyn SignalResolver,
) -> Result<Programs, Diagnostic> {
    let mut evaluator = Evaluator::new(scope, Some(signals));
    let term = evaluator.condition(&expression.root)?;
    programs_of(term, &evaluator, expression.root.span)
}

fn programs_of(term: Term, evaluator: &Evaluator<'_>, span: Span) -> Result<Programs, Diagnostic> {
    let (items, is_list, each) = match term {
        Term::List(items) => (items, true, None),
        Term::Each(count, item) => (vec![*item], true, Some(count)),
        one => (vec![one], false, None),
    };
    evaluator.spend_programs(&items, span)?;
    let items = items.into_iter().map(|item| Compiled::new(item, span));
    let (programs, units) = items.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    let Book { equations, factors } = evaluator.ledger.take();
    Ok(Programs { programs, each, is_list, units, equations, factors })
}
