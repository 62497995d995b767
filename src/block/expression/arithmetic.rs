//! Operators and choices on terms.

use super::evaluate::{truth, wrong};
use super::functions::bounded;
use super::operator::{Binary, Unary};
use super::term::{Scalar, Term};
use super::units::{TermUnit, UnitRule, common};
use crate::code;
use crate::diagnostic::{Diagnostic, Span};
use crate::unit::Unit;

pub(super) fn negate(op: Unary, term: Term, span: Span) -> Result<Term, Diagnostic> {
    match (op, term) {
        (Unary::Not, term) => truth(term, span)?.unary(op, span).map(Term::Bool),
        (_, Term::Real(x, unit)) => Ok(Term::Real(x.unary(op, span)?, unit)),
        (_, other) => Err(wrong("a number", &other, span)),
    }
}

/// Applies `f` to every element of a list, or to the value itself.
pub(super) fn each(
    term: Term,
    f: &mut dyn FnMut(Term) -> Result<Term, Diagnostic>,
) -> Result<Term, Diagnostic> {
    match term {
        Term::List(items) => {
            items.into_iter().map(|item| each(item, f)).collect::<Result<_, _>>().map(Term::List)
        }
        Term::Each(count, item) => Ok(Term::Each(count, Box::new(f(*item)?))),
        other => f(other),
    }
}

/// An operator on numbers, element by element on lists; `==` and `!=` also on texts and truth
/// values.
pub(super) fn binary(op: Binary, a: Term, b: Term, span: Span) -> Result<Term, Diagnostic> {
    let same_length = |a: usize, b: usize| match a == b {
        true => Ok(()),
        false => {
            let symbol = op.symbol();
            let message = format!("`{symbol}` of lists of different lengths, {a} and {b}");
            Err(Diagnostic::error(code::EXPRESSION_LENGTH, span, message))
        }
    };
    let each = |count, item| Term::Each(count, Box::new(item));
    match (a, b) {
        (Term::Each(count, a), Term::Each(other, b)) => {
            same_length(count, other)?;
            Ok(each(count, binary(op, *a, *b, span)?))
        }
        (a @ Term::Each(..), b @ Term::List(_)) | (a @ Term::List(_), b @ Term::Each(..)) => {
            binary(op, a.listed(), b.listed(), span)
        }
        (Term::Each(count, a), b) => {
            bounded(count.saturating_mul(b.size()), span)?;
            Ok(each(count, binary(op, *a, b, span)?))
        }
        (a, Term::Each(count, b)) => {
            bounded(count.saturating_mul(a.size()), span)?;
            Ok(each(count, binary(op, a, *b, span)?))
        }
        (Term::List(a), Term::List(b)) => {
            same_length(a.len(), b.len())?;
            let pairs = a.into_iter().zip(b);
            pairs.map(|(a, b)| binary(op, a, b, span)).collect::<Result<_, _>>().map(Term::List)
        }
        (Term::List(a), b) => {
            bounded(a.len().saturating_mul(b.size()), span)?;
            let results = a.into_iter().map(|a| binary(op, a, b.clone(), span));
            results.collect::<Result<_, _>>().map(Term::List)
        }
        (a, Term::List(b)) => {
            bounded(b.len().saturating_mul(a.size()), span)?;
            let results = b.into_iter().map(|b| binary(op, a.clone(), b, span));
            results.collect::<Result<_, _>>().map(Term::List)
        }
        (Term::Real(a, a_unit), Term::Real(b, b_unit)) => {
            real_binary(op, (a, a_unit), (b, b_unit), span)
        }
        (Term::Bool(a), Term::Bool(b)) if matches!(op, Binary::Equal | Binary::NotEqual) => {
            a.binary(op, b, span).map(Term::Bool)
        }
        (Term::Text(a), Term::Text(b)) if matches!(op, Binary::Equal | Binary::NotEqual) => {
            Ok(Term::Bool(Scalar::Known(f64::from((a == b) == (op == Binary::Equal)))))
        }
        (a, b) => {
            let message = format!(
                "`{}` does not apply to {} and {}",
                op.symbol(),
                a.describe(),
                b.describe()
            );
            Err(Diagnostic::error(code::EXPRESSION_TYPE, span, message))
        }
    }
}

fn real_binary(
    op: Binary,
    (a, a_unit): (Scalar, Option<TermUnit>),
    (b, b_unit): (Scalar, Option<TermUnit>),
    span: Span,
) -> Result<Term, Diagnostic> {
    let unit = match op {
        Binary::Multiply | Binary::Divide => match (a_unit, b_unit) {
            (None, None) => None,
            (a_unit, b_unit) => {
                // A number that is written without unit; what a function gives has none at all.
                let is_known = |scalar: &Scalar| matches!(scalar, Scalar::Known(_));
                let scales = match (is_known(&a), is_known(&b)) {
                    (true, false) => a_unit.is_none(),
                    (false, true) => b_unit.is_none(),
                    _ => false,
                };
                let one = || TermUnit::from(Unit::ONE);
                let (left, right) = (a_unit.unwrap_or_else(one), b_unit.unwrap_or_else(one));
                let unit = match op {
                    Binary::Multiply => left.times(&right),
                    _ => left.over(&right),
                };
                let unit = if scales { unit.and_then(TermUnit::scaled) } else { unit };
                Some(unit.ok_or_else(|| power_range(span))?)
            }
        },
        Binary::Power => power_unit(a_unit, &b, b_unit, span)?,
        _ => common(a_unit, b_unit, UnitRule::Sides(op.symbol()), span)?,
    };
    if op.sign().is_some() {
        let unit = unit.as_ref().and_then(TermUnit::nominal);
        return a.compare(op, b, unit, span).map(Term::Bool);
    }
    let result = a.binary(op, b, span)?;
    Ok(match op {
        Binary::Atan2 => Term::Real(result, Some(Unit::RESULT_RADIAN.into())),
        _ => Term::Real(result, unit),
    })
}

fn power_range(span: Span) -> Diagnostic {
    Diagnostic::error(
        code::UNIT_MISMATCH,
        span,
        "the unit of the result has exponents out of range",
    )
}

fn power_unit(
    base: Option<TermUnit>,
    exponent: &Scalar,
    exponent_unit: Option<TermUnit>,
    span: Span,
) -> Result<Option<TermUnit>, Diagnostic> {
    if let Some(unit) = exponent_unit {
        unit.agree(&Unit::ONE.into(), UnitRule::Exponent, span)?;
    }
    match (base, exponent) {
        (None, _) => Ok(None),
        (Some(unit), _) if unit.known() == Some(Unit::ONE) => Ok(Some(unit)),
        (Some(unit), Scalar::Known(exponent)) => match unit.real_power(*exponent) {
            Some(power) => Ok(Some(power)),
            None if unit.known().is_none() => without_unit(&unit, span),
            None => {
                let message = format!("{unit} cannot be raised to the power {exponent}");
                Err(Diagnostic::error(code::UNIT_MISMATCH, span, message)
                    .hint("an exponent of a quantity is a multiple of 1/12"))
            }
        },
        (Some(unit), Scalar::Later(_)) if unit.known().is_none() => without_unit(&unit, span),
        (Some(unit), Scalar::Later(_)) => {
            let message =
                format!("a quantity in {unit} cannot be raised to a power that changes with time");
            Err(Diagnostic::error(code::UNIT_MISMATCH, span, message))
        }
    }
}

/// Unit of a power whose base must be a pure number.
fn without_unit(base: &TermUnit, span: Span) -> Result<Option<TermUnit>, Diagnostic> {
    base.agree(&Unit::ONE.into(), UnitRule::Base, span)?;
    Ok(None)
}

/// `if` with a condition that is known only later: both branches must have one type.
pub(super) fn select(
    condition: &Scalar,
    yes: Term,
    no: Term,
    span: Span,
) -> Result<Term, Diagnostic> {
    match (yes, no) {
        (Term::Real(a, a_unit), Term::Real(b, b_unit)) => {
            let unit = common(a_unit, b_unit, UnitRule::Choices, span)?;
            Ok(Term::Real(condition.clone().select(a, b, span)?, unit))
        }
        (Term::Bool(a), Term::Bool(b)) => Ok(Term::Bool(condition.clone().select(a, b, span)?)),
        (Term::Each(count, a), Term::Each(other, b)) if count == other => {
            bounded(count.saturating_mul(condition.size()), span)?;
            Ok(Term::Each(count, Box::new(select(condition, *a, *b, span)?)))
        }
        (a @ Term::Each(..), b @ Term::List(_)) | (a @ Term::List(_), b @ Term::Each(..)) => {
            select(condition, a.listed(), b.listed(), span)
        }
        (Term::List(a), Term::List(b)) if a.len() == b.len() => {
            bounded(a.len().saturating_mul(condition.size()), span)?;
            let pairs = a.into_iter().zip(b);
            pairs
                .map(|(a, b)| select(condition, a, b, span))
                .collect::<Result<_, _>>()
                .map(Term::List)
        }
        (a, b) => {
            let message = format!(
                "the choices are of different kinds, {} and {}",
                a.describe(),
                b.describe()
            );
            Err(Diagnostic::error(code::EXPRESSION_TYPE, span, message))
        }
    }
}
