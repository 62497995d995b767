//! The values of the evaluator: values whose numbers are known now, or are programs that give
//! them later. Operations on known numbers are carried out, the others are appended to the program.

use std::sync::Arc;

use indexmap::IndexMap;

use super::operator::{Binary, Op, Unary};
use super::units::TermUnit;
use crate::code;
use crate::diagnostic::{Diagnostic, Span};
use crate::unit::Unit;
use crate::value::{Choice, Value, clip};

/// Instructions that one expression may grow to.
const CODE_LIMIT: usize = 1 << 16;

/// A number, known now or computed later.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Known(f64),
    Later(Vec<Op>),
}

/// A value under construction.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Term {
    Real(Scalar, Option<TermUnit>),
    Bool(Scalar),
    Text(String),
    List(Vec<Term>),
    /// A list of so many numbers or truth values that one program gives, whose
    /// [`Op::LoadEach`] read a slot for each.
    Each(usize, Box<Term>),
    Record(Arc<IndexMap<String, Value>>),
    /// A kind with its arguments, only to be handed on.
    Choice(Arc<Choice>),
}

impl Scalar {
    pub(super) fn unary(self, op: Unary, span: Span) -> Result<Self, Diagnostic> {
        match self {
            Self::Known(x) => known(op.apply(x), &[x], span, || format!("{op:?}").to_lowercase()),
            Self::Later(mut code) => {
                code.push(Op::Unary(op));
                limited(code, span)
            }
        }
    }

    pub(super) fn binary(self, op: Binary, other: Self, span: Span) -> Result<Self, Diagnostic> {
        if let (Self::Known(x), Self::Known(y)) = (&self, &other) {
            if *y == 0.0 && matches!(op, Binary::Divide | Binary::Mod) {
                return Err(Diagnostic::error(code::EXPRESSION_NUMBER, span, "division by zero"));
            }
            return known(op.apply(*x, *y), &[*x, *y], span, || op.symbol().to_owned());
        }
        let mut code = self.code();
        code.extend(other.code());
        code.push(Op::Binary(op));
        limited(code, span)
    }

    /// Compares numbers in `unit`.
    pub(super) fn compare(
        self,
        op: Binary,
        other: Self,
        unit: Option<Unit>,
        span: Span,
    ) -> Result<Self, Diagnostic> {
        let mut result = self.binary(op, other, span)?;
        if let Self::Later(code) = &mut result
            && let Some(last) = code.last_mut()
        {
            *last = Op::Compare(op, unit);
        }
        Ok(result)
    }

    pub(super) fn select(self, yes: Self, no: Self, span: Span) -> Result<Self, Diagnostic> {
        let mut code = self.code();
        code.extend(yes.code());
        code.extend(no.code());
        code.push(Op::Select);
        limited(code, span)
    }

    /// What it takes: a number, or the operations that give it.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Known(_) => 1,
            Self::Later(code) => code.len(),
        }
    }

    /// Element `i` of what is the program of each.
    fn element(&self, i: usize) -> Self {
        let of = |op: &Op| match *op {
            Op::LoadEach(start) => Op::Load(start + i as u32),
            op => op,
        };
        match self {
            Self::Known(value) => Self::Known(*value),
            Self::Later(code) => Self::Later(code.iter().map(of).collect()),
        }
    }

    pub(super) fn code(self) -> Vec<Op> {
        match self {
            Self::Known(value) => vec![Op::Push(value)],
            Self::Later(code) => code,
        }
    }
}

/// The result of an operation on known numbers, if it is one.
fn known(
    result: f64,
    inputs: &[f64],
    span: Span,
    name: impl Fn() -> String,
) -> Result<Scalar, Diagnostic> {
    let finite = inputs.iter().all(|x| x.is_finite());
    if result.is_nan() || (finite && result.is_infinite()) {
        let list: Vec<String> = inputs.iter().map(f64::to_string).collect();
        let what = if result.is_nan() { "is not a number" } else { "is too large" };
        let message = format!("the result of `{}` of {} {what}", name(), list.join(" and "));
        return Err(Diagnostic::error(code::EXPRESSION_NUMBER, span, message));
    }
    Ok(Scalar::Known(result))
}

fn limited(code: Vec<Op>, span: Span) -> Result<Scalar, Diagnostic> {
    if code.len() > CODE_LIMIT {
        let message = format!("the expression needs more than {CODE_LIMIT} operations");
        return Err(Diagnostic::error(code::EXPRESSION_SIZE, span, message));
    }
    Ok(Scalar::Later(code))
}

impl Term {
    pub(super) fn number(value: f64) -> Self {
        Self::Real(Scalar::Known(value), None)
    }

    /// What kind of thing this is, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Real(Scalar::Known(value), None) => format!("the number {value}"),
            Self::Real(Scalar::Known(value), Some(unit)) => format!("{value} {unit}"),
            Self::Real(Scalar::Later(_), _) => "a number".to_owned(),
            Self::Bool(Scalar::Known(value)) => (*value != 0.0).to_string(),
            Self::Bool(_) => "a truth value".to_owned(),
            Self::Text(text) => format!("text '{}'", clip(text)),
            Self::List(items) => format!("a list of {}", items.len()),
            Self::Each(count, _) => format!("a list of {count}"),
            Self::Record(_) => "a record".to_owned(),
            Self::Choice(choice) => format!("`{}(…)`", choice.name),
        }
    }

    /// Values and operations in the tree, bounded work for lists in lists.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Real(scalar, _) | Self::Bool(scalar) => scalar.size(),
            Self::List(items) => items.iter().map(Self::size).sum::<usize>() + 1,
            Self::Each(count, item) => count.saturating_mul(item.size()) + 1,
            Self::Record(facts) => facts.len() + 1,
            _ => 1,
        }
    }

    /// The same, a list as its elements one by one.
    pub(super) fn listed(self) -> Self {
        let Self::Each(count, item) = self else { return self };
        let element = |i| match &*item {
            Self::Real(scalar, unit) => Self::Real(scalar.element(i), unit.clone()),
            Self::Bool(scalar) => Self::Bool(scalar.element(i)),
            other => other.clone(),
        };
        Self::List((0..count).map(element).collect())
    }

    /// The value, if all numbers are known.
    pub(super) fn value(self, span: Span) -> Result<Value, Diagnostic> {
        let later = || {
            Diagnostic::error(
                code::EXPRESSION_SIGNAL,
                span,
                "a value that must be known here depends on a signal",
            )
        };
        Ok(match self {
            Self::Real(Scalar::Known(value), unit) => {
                Value::Real { value, unit: unit.and_then(|unit| unit.known()) }
            }
            Self::Bool(Scalar::Known(value)) => Value::Bool(value != 0.0),
            Self::Real(..) | Self::Bool(_) | Self::Each(..) => return Err(later()),
            Self::Text(text) => Value::Text(text),
            Self::List(items) => Value::List(
                items.into_iter().map(|item| item.value(span)).collect::<Result<_, _>>()?,
            ),
            Self::Record(facts) => Value::Record(facts),
            Self::Choice(choice) => Value::Choice(choice),
        })
    }
}

impl From<Value> for Term {
    fn from(value: Value) -> Self {
        match value {
            Value::Real { value, unit } => {
                Self::Real(Scalar::Known(value), unit.map(TermUnit::from))
            }
            Value::Bool(value) => Self::Bool(Scalar::Known(f64::from(value))),
            Value::Text(text) => Self::Text(text),
            Value::List(items) => Self::List(items.into_iter().map(Into::into).collect()),
            Value::Record(facts) => Self::Record(facts),
            Value::Choice(choice) => Self::Choice(choice),
        }
    }
}
