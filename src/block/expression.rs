//! Expressions: strings of a diagram that start with `=`, and formulas over signals.
//!
//! ```text
//! = 2*sqrt(kp)              = go.keyframes.stand.s[0..3] * 0.5       = 3*len(go.feet)
//! = 2*pi[rad] * 60[Hz]      = if n > 4 then 0.2[m] else 5[cm]
//! = norm(body.state.base.velocity) < 0.1
//! ```
//!
//! Expressions are pure, floating point (`1/2` is 0.5) and know units. From loose to tight:
//! `if c then a else b`; `or ||`; `and &&`; `not !`; `== != < <= > >= in` (do not chain); `+ -`;
//! `* /`; unary `-`; `^` (to the right, so `-2^2 = -4`); then `a[i]`, `a[i, j]`, `a[i..j]`, `a.b`,
//! `f(x)`.
//!
//! - `a in b` asks whether `a` equals an item of the list `b`.
//! - A literal takes a unit in brackets: `5[cm]`, `60[N*m/rad]`, `pi[rad]`.
//! - A number without a unit is unit-free: beside a quantity in `+ - < min …` it takes the other's
//!   unit. As a factor of a signal it may stand for a power of time. Two quantities must agree
//!   ([`Unit::agrees`](crate::Unit::agrees)). `sin cos tan` take rad or bare numbers, `asin acos
//!   atan atan2` give rad.
//! - `+ - * / ^` work element by element on lists of equal length, and between a list and a number;
//!   so do functions of one number.
//! - [`functions`] are called as `f(x)`.
//! - Texts are in single quotes. Constants: `pi`, `inf`, `true`, `false`.
//! - An operation that gives NaN, or infinity from finite numbers, is an error.
//!
//! [`Expression::eval`] gives a [`Value`]; [`Expression::compile`] turns an expression over signals
//! into a [`Compiled`] program that evaluates without allocation.

#![allow(
    clippy::result_large_err,
    reason = "an error ends the compilation, its size costs nothing"
)]

mod arithmetic;
mod compile;
mod evaluate;
mod functions;
mod lexer;
mod margin;
mod operator;
mod parser;
mod slopes;
mod syntax;
mod term;
mod units;

pub use compile::{Compiled, Programs, Segment, SegmentKind, Signal, SignalPath, SignalResolver};
pub use functions::Function;
pub use margin::{Comparison, Judged, Measured};
pub use operator::{Infix, Op};
pub use parser::is_constant;
pub use units::{UnitEquation, UnitRule};

use crate::diagnostic::{Diagnostic, Span};
use crate::value::{Place, Scope, Value};

/// The functions that expressions can call.
pub fn functions() -> &'static [Function] {
    &functions::FUNCTIONS
}

/// The operators between two values, from loose to tight.
pub fn operators() -> &'static [Infix] {
    &operator::INFIX
}

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    root: syntax::Expr,
}

impl Expression {
    /// Parses `text` (without the leading `=`) that is at `place`.
    ///
    /// # Errors
    /// The first syntax error, with its place in the file.
    pub fn parse(text: &str, place: impl Into<Place>) -> Result<Self, Diagnostic> {
        Self::parse_from(text, 0, &place.into())
    }

    /// Parses the bytes of `text` from `offset` on, where the whole of `text` is at `place`.
    ///
    /// # Errors
    /// The first syntax error, with its place in the file.
    pub fn parse_from(text: &str, offset: usize, place: &Place) -> Result<Self, Diagnostic> {
        parser::parse(text, offset, place).map(|root| Self { root })
    }

    /// Where the expression is.
    pub fn span(&self) -> Span {
        self.root.span
    }

    /// The name that the expression is, if it is nothing else.
    pub fn only_name(&self) -> Option<&str> {
        match &self.root.kind {
            syntax::ExprKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// The names that the expression reads, in their order, but for those that it makes itself.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.root.add_names(&mut names);
        names
    }

    /// The value of the expression with the names of `scope`.
    ///
    /// # Errors
    /// An unknown name, units or types that do not fit, a wrong number of arguments, an index out
    /// of range, a result that is no number.
    pub fn eval(&self, scope: &dyn Scope) -> Result<Value, Diagnostic> {
        evaluate::Evaluator::new(scope, None).value(&self.root)
    }

    /// Compiles an expression over signals to one number or truth value. A name that `scope` knows
    /// is a constant; any other path goes to `signals`.
    ///
    /// # Errors
    /// As [`Expression::eval`], and if the result is neither a number nor a truth value.
    pub fn compile(
        &self,
        scope: &dyn Scope,
        signals: &mut dyn SignalResolver,
    ) -> Result<Compiled, Diagnostic> {
        compile::scalar(self, scope, signals)
    }

    /// Compiles an expression over signals to numbers or truth values, one program for each element
    /// of a list; `signals` may give units that are to be inferred.
    ///
    /// # Errors
    /// As [`Expression::compile`].
    pub fn programs(
        &self,
        scope: &dyn Scope,
        signals: &mut dyn SignalResolver,
    ) -> Result<Programs, Diagnostic> {
        compile::programs(self, scope, signals, false)
    }

    /// As [`Expression::programs`], of a condition for which a tolerance is to hold: comparisons of
    /// constants, which these carry out, stay comparisons beside `and`, `or` and `not`.
    ///
    /// # Errors
    /// As [`Expression::compile`], also for the part behind an `and` or `or` that does not matter.
    pub fn condition(
        &self,
        scope: &dyn Scope,
        signals: &mut dyn SignalResolver,
    ) -> Result<Programs, Diagnostic> {
        compile::condition(self, scope, signals)
    }

    /// As [`Expression::programs`]; a list whose elements are one formula over the elements of
    /// signals has one program for all of them, [`Programs::each`].
    ///
    /// # Errors
    /// As [`Expression::compile`].
    pub fn programs_of_each(
        &self,
        scope: &dyn Scope,
        signals: &mut dyn SignalResolver,
    ) -> Result<Programs, Diagnostic> {
        compile::programs(self, scope, signals, true)
    }
}

#[cfg(test)]
mod tests;
