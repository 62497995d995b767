//! Units of the terms of an expression, and what the expression asks of those that are not known.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use super::operator::Unary;
use crate::code;
use crate::diagnostic::{Diagnostic, Span};
use crate::quantity::turns_hint;
use crate::types::Var;
use crate::unit::{SymbolicUnit, Unit};

/// What an expression asks of units that inference is to find: `left` agrees with `right`.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitEquation {
    /// One unit.
    pub left: SymbolicUnit,
    /// The other.
    pub right: SymbolicUnit,
    /// Where the expression asks for it.
    pub span: Span,
    /// What asks for it.
    pub rule: UnitRule,
}

impl UnitEquation {
    /// The same with every variable renamed.
    #[must_use]
    pub fn renamed(&self, name: &dyn Fn(Var) -> Var) -> Self {
        Self { left: self.left.renamed(name), right: self.right.renamed(name), ..*self }
    }
}

/// Why two units must agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitRule {
    /// They stand on both sides of this operator.
    Sides(&'static str),
    /// They are the two choices of an `if`.
    Choices,
    /// A function takes the left one where the right one, without unit, is expected.
    Argument(Unary),
    /// The left one is an exponent.
    Exponent,
    /// The left one is the base of a power whose exponent is variable or not a multiple of 1/12.
    Base,
}

impl UnitRule {
    /// What is wrong if the units differ.
    pub fn conflict(self, left: Unit, right: Unit, span: Span) -> Diagnostic {
        let error = |message: String| Diagnostic::error(code::UNIT_MISMATCH, span, message);
        match self {
            Self::Sides(symbol) => {
                let found = error(format!(
                    "`{symbol}` of different units, left is in {left}, right in {right}"
                ));
                // The hint is about the side in hertz, which counts turns.
                let turns = match left == Unit::HERTZ {
                    true => turns_hint(right, left),
                    false => turns_hint(left, right),
                };
                turns.into_iter().fold(found, Diagnostic::hint)
            }
            Self::Choices => error(format!("the choices have different units, {left} and {right}")),
            Self::Argument(op) => {
                let name = format!("{op:?}").to_lowercase();
                let expected = match op {
                    Unary::Sin | Unary::Cos | Unary::Tan => "an angle",
                    _ => "a number without unit",
                };
                let found = error(format!("`{name}` takes {expected}, found a quantity in {left}"));
                match op {
                    Unary::Floor | Unary::Ceil | Unary::Round => {
                        found.hint(format!("divide by the step first: {name}(x / 1[{left}])"))
                    }
                    _ if left == Unit::SECOND => {
                        let is_angle = matches!(op, Unary::Sin | Unary::Cos | Unary::Tan);
                        let factor = if is_angle { "rad/s" } else { "1/s" };
                        found.hint(format!(
                            "multiply the time by a rate: times 1[{factor}] it has the same value"
                        ))
                    }
                    _ if left == Unit::HERTZ => {
                        found.hint("multiply by a time: times 1[s] it has the same value")
                    }
                    _ => found,
                }
            }
            Self::Base => error(format!(
                "expected a base without unit for such an exponent, found one in {left}"
            )),
            Self::Exponent => {
                error(format!("expected an exponent without unit, found one in {left}"))
            }
        }
    }
}

/// What the expression that is evaluated asks of units.
#[derive(Debug, Default)]
pub(super) struct Book {
    pub(super) equations: Vec<UnitEquation>,
    /// How many numbers without unit are factors of signals. Their units are the variables from
    /// [`FACTORS`] on.
    pub(super) factors: u32,
}

/// A book that every term with signals knows.
pub(super) type Ledger = Rc<RefCell<Book>>;

/// The first variable that stands for the unit of a factor without unit.
pub(super) const FACTORS: u32 = 1 << 24;

/// Unit of a term. That of a signal knows where to write down what is asked of it.
#[derive(Debug, Clone)]
pub(super) struct TermUnit {
    unit: SymbolicUnit,
    ledger: Option<Ledger>,
}

impl PartialEq for TermUnit {
    fn eq(&self, other: &Self) -> bool {
        self.unit == other.unit
    }
}

impl From<Unit> for TermUnit {
    fn from(unit: Unit) -> Self {
        Self { unit: unit.into(), ledger: None }
    }
}

impl fmt::Display for TermUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.known() {
            Some(unit) => write!(f, "{unit}"),
            None => f.write_str("a unit that is not known yet"),
        }
    }
}

impl TermUnit {
    pub(super) fn new(unit: SymbolicUnit, ledger: &Ledger) -> Self {
        Self { unit, ledger: Some(Rc::clone(ledger)) }
    }

    pub(super) fn known(&self) -> Option<Unit> {
        self.unit.known()
    }

    /// The unit if the numbers that were written without one are pure numbers; none if it is a
    /// power of time then, for which these may stand.
    pub(super) fn nominal(&self) -> Option<Unit> {
        let one = SymbolicUnit::from(Unit::ONE);
        let factor = |var: Var| (var.0 >= FACTORS).then_some(&one);
        let plain = self.unit.substitute(factor)?.known()?;
        (self.unit.known().is_some() || !plain.is_of_time()).then_some(plain)
    }

    pub(super) fn symbolic(self) -> SymbolicUnit {
        self.unit
    }

    fn with(&self, other: Option<&Self>, unit: SymbolicUnit) -> Self {
        let ledger = self.ledger.as_ref().or(other.and_then(|other| other.ledger.as_ref()));
        Self { ledger: ledger.cloned(), unit }
    }

    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        Some(self.with(Some(other), self.unit.times(&other.unit)?))
    }

    pub(super) fn over(&self, other: &Self) -> Option<Self> {
        Some(self.with(Some(other), self.unit.over(&other.unit)?))
    }

    /// The unit of the product with a number that was written without one, which may stand for a
    /// power of time.
    pub(super) fn scaled(self) -> Option<Self> {
        let Some(ledger) = &self.ledger else { return Some(self) };
        let factor = {
            let mut book = ledger.borrow_mut();
            book.factors += 1;
            Var(FACTORS + book.factors - 1)
        };
        Some(Self { unit: self.unit.times(&factor.into())?, ledger: self.ledger })
    }

    pub(super) fn root(&self) -> Option<Self> {
        Some(self.with(None, self.unit.power(1, 2)?))
    }

    pub(super) fn real_power(&self, exponent: f64) -> Option<Self> {
        Some(self.with(None, self.unit.real_power(exponent)?))
    }

    /// Asks that this unit agrees with another, now if both are known.
    ///
    /// # Errors
    /// If they do not.
    pub(super) fn agree(&self, other: &Self, rule: UnitRule, span: Span) -> Result<(), Diagnostic> {
        let ledger = self.ledger.as_ref().or(other.ledger.as_ref());
        if let (Some(left), Some(right)) = (self.known(), other.known()) {
            if left.agrees(right) {
                return Ok(());
            }
            // Times of the run are numbers in a model without units; whether it has some is known
            // later.
            if ledger.is_none() || left.is_stated() || right.is_stated() {
                return Err(rule.conflict(left, right, span));
            }
        }
        if let Some(ledger) = ledger {
            let (left, right) = (self.unit.clone(), other.unit.clone());
            ledger.borrow_mut().equations.push(UnitEquation { left, right, span, rule });
        }
        Ok(())
    }
}

/// The unit of two values that are added, compared or chosen from: they agree, or one is a bare
/// number.
pub(super) fn common(
    a: Option<TermUnit>,
    b: Option<TermUnit>,
    rule: UnitRule,
    span: Span,
) -> Result<Option<TermUnit>, Diagnostic> {
    match (a, b) {
        (Some(a), Some(b)) => {
            a.agree(&b, rule, span)?;
            let unit = if a.known().is_some() { &a.unit } else { &b.unit };
            Ok(Some(a.with(Some(&b), unit.clone())))
        }
        (a, b) => Ok(a.or(b)),
    }
}
