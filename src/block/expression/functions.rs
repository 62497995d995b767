//! The functions that expressions can call.

use super::evaluate::{binary, common_unit, each, whole, wrong};
use super::operator::{Binary, Unary};
use super::term::{Scalar, Term};
use crate::diagnostic::{Diagnostic, Span};
use crate::unit::Unit;
use crate::value::Name;

/// Values and operations that the lists of one expression may have.
pub(super) const LIST_LIMIT: usize = 1 << 18;

/// Whether the function `name` makes longer lists than those it is given.
pub(super) fn makes_lists(name: &str) -> bool {
    matches!(name, "zeros" | "ones" | "repeat" | "linspace")
}

/// Name, least and greatest number of arguments.
const FUNCTIONS: [(&str, usize, usize); 33] = [
    ("abs", 1, 1),
    ("sqrt", 1, 1),
    ("exp", 1, 1),
    ("log", 1, 1),
    ("sin", 1, 1),
    ("cos", 1, 1),
    ("tan", 1, 1),
    ("asin", 1, 1),
    ("acos", 1, 1),
    ("atan", 1, 1),
    ("tanh", 1, 1),
    ("floor", 1, 1),
    ("ceil", 1, 1),
    ("round", 1, 1),
    ("sign", 1, 1),
    ("atan2", 2, 2),
    ("mod", 2, 2),
    ("clamp", 3, 3),
    ("min", 1, usize::MAX),
    ("max", 1, usize::MAX),
    ("sum", 1, 1),
    ("norm", 1, 1),
    ("mean", 1, 1),
    ("len", 1, 1),
    ("dot", 2, 2),
    ("cross", 2, 2),
    ("concat", 1, usize::MAX),
    ("repeat", 2, 2),
    ("zeros", 1, 1),
    ("ones", 1, 1),
    ("linspace", 3, 3),
    ("any", 1, 1),
    ("all", 1, 1),
];

/// Calls the function `name` with arguments and their places.
pub(super) fn call(
    name: &Name,
    arguments: Vec<(Term, Span)>,
    span: Span,
) -> Result<Term, Diagnostic> {
    let Some((_, least, most)) = FUNCTIONS.iter().find(|row| row.0 == name.text) else {
        let message = format!("unknown function `{}`", name.text);
        let found = Diagnostic::error("unknown-name", name.span, message)
            .suggest(&name.text, FUNCTIONS.iter().map(|row| row.0));
        let all: Vec<&str> = FUNCTIONS.iter().map(|row| row.0).collect();
        return Err(if found.hints.is_empty() {
            found.hint(format!("functions: {}", all.join(" ")))
        } else {
            found
        });
    };
    let count = arguments.len();
    if count < *least || count > *most {
        let message = format!(
            "`{}` takes {}{least} argument{}, found {count}",
            name.text,
            if most > least { "at least " } else { "" },
            if *least == 1 { "" } else { "s" },
        );
        return Err(Diagnostic::error("expression-arity", span, message));
    }
    match <[(Term, Span); 1]>::try_from(arguments) {
        Ok([(term, at)]) => call_one(&name.text, term, at, span),
        Err(arguments) => call_many(&name.text, arguments, span),
    }
}

fn call_one(name: &str, term: Term, at: Span, span: Span) -> Result<Term, Diagnostic> {
    let op = match name {
        "abs" => Unary::Abs,
        "sqrt" => Unary::Sqrt,
        "exp" => Unary::Exp,
        "log" => Unary::Log,
        "sin" => Unary::Sin,
        "cos" => Unary::Cos,
        "tan" => Unary::Tan,
        "asin" => Unary::Asin,
        "acos" => Unary::Acos,
        "atan" => Unary::Atan,
        "tanh" => Unary::Tanh,
        "floor" => Unary::Floor,
        "ceil" => Unary::Ceil,
        "round" => Unary::Round,
        "sign" => Unary::Sign,
        "zeros" | "ones" => {
            let value = if name == "ones" { 1.0 } else { 0.0 };
            return repeat(&Term::number(value), whole(&term, at)?, span);
        }
        "concat" => return concat(vec![(term, at)], span),
        _ => return fold(name, term, at, span),
    };
    each(term, &mut |term| match term {
        Term::Real(x, unit) => {
            let unit = unary_unit(op, unit, at)?;
            Ok(Term::Real(x.unary(op, span)?, unit))
        }
        other => Err(wrong("a number", &other, at)),
    })
}

/// The unit that an operation on one number gives, if it takes the argument's unit at all.
fn unary_unit(op: Unary, unit: Option<Unit>, at: Span) -> Result<Option<Unit>, Diagnostic> {
    let name = format!("{op:?}").to_lowercase();
    match op {
        Unary::Abs | Unary::Negate => return Ok(unit),
        Unary::Sign => return Ok(None),
        Unary::Sqrt => {
            return unit.map_or(Ok(None), |unit| {
                unit.power(1, 2).map(Some).ok_or_else(|| {
                    let message = format!("the square root of {unit} is not a unit");
                    Diagnostic::error("unit-mismatch", at, message)
                })
            });
        }
        _ => {}
    }
    if let Some(unit) = unit
        && !unit.agrees(Unit::ONE)
    {
        let expected = match op {
            Unary::Sin | Unary::Cos | Unary::Tan => "an angle",
            _ => "a number without unit",
        };
        let message = format!("`{name}` takes {expected}, found a quantity in {unit}");
        let found = Diagnostic::error("unit-mismatch", at, message);
        return Err(match op {
            Unary::Floor | Unary::Ceil | Unary::Round => {
                found.hint(format!("divide by the step first: {name}(x / 1[{unit}])"))
            }
            _ => found,
        });
    }
    Ok(match op {
        Unary::Asin | Unary::Acos | Unary::Atan => Some(Unit::RADIAN),
        Unary::Floor | Unary::Ceil | Unary::Round => unit,
        _ => None,
    })
}

/// Functions of one list.
fn fold(name: &str, term: Term, at: Span, span: Span) -> Result<Term, Diagnostic> {
    if let ("len", Term::Record(facts)) = (name, &term) {
        return Ok(Term::number(facts.len() as f64));
    }
    let items = match term {
        Term::List(items) => items,
        other => return Err(wrong("a list", &other, at)),
    };
    let count = items.len();
    let all = |op: Binary, items: Vec<Term>| reduce(op, items, at, span);
    match name {
        "len" => Ok(Term::number(count as f64)),
        "sum" if count == 0 => Ok(Term::number(0.0)),
        "sum" => all(Binary::Add, items),
        "mean" if count > 0 => {
            let total = all(Binary::Add, items)?;
            binary(Binary::Divide, total, Term::number(count as f64), span)
        }
        "min" => all(Binary::Min, items),
        "max" => all(Binary::Max, items),
        "norm" if count == 0 => Ok(Term::number(0.0)),
        "norm" => {
            let squares = items
                .into_iter()
                .map(|item| binary(Binary::Power, item, Term::number(2.0), span))
                .collect::<Result<_, _>>()?;
            call_one("sqrt", all(Binary::Add, squares)?, at, span)
        }
        "any" | "all" => {
            let op = if name == "any" { Binary::Or } else { Binary::And };
            let mut result = Scalar::Known(f64::from(name == "all"));
            for item in items {
                match item {
                    Term::Bool(x) => result = result.binary(op, x, span)?,
                    other => return Err(wrong("a truth value", &other, at)),
                }
            }
            Ok(Term::Bool(result))
        }
        _ => Err(Diagnostic::error(
            "expression-length",
            at,
            format!("`{name}` of an empty list has no value"),
        )),
    }
}

fn reduce(op: Binary, items: Vec<Term>, at: Span, span: Span) -> Result<Term, Diagnostic> {
    if let Some(other) = items.iter().find(|item| !matches!(item, Term::Real(..))) {
        return Err(wrong("a list of numbers", other, at));
    }
    items.into_iter().map(Ok).reduce(|a, b| binary(op, a?, b?, span)).unwrap_or_else(|| {
        let message = format!("`{}` of an empty list has no value", op.symbol());
        Err(Diagnostic::error("expression-length", at, message))
    })
}

fn call_many(name: &str, arguments: Vec<(Term, Span)>, span: Span) -> Result<Term, Diagnostic> {
    let op = match name {
        "min" => Binary::Min,
        "max" => Binary::Max,
        "mod" => Binary::Mod,
        "atan2" => Binary::Atan2,
        "concat" => return concat(arguments, span),
        _ => return call_special(name, arguments, span),
    };
    arguments
        .into_iter()
        .map(|(term, _)| Ok(term))
        .reduce(|a, b| binary(op, a?, b?, span))
        .unwrap_or_else(|| Err(no_rule(name, span)))
}

/// Functions whose arguments have different roles.
fn call_special(name: &str, arguments: Vec<(Term, Span)>, span: Span) -> Result<Term, Diagnostic> {
    let mut arguments = arguments.into_iter();
    let (Some((a, a_at)), Some((b, b_at))) = (arguments.next(), arguments.next()) else {
        return Err(no_rule(name, span));
    };
    match (name, arguments.next()) {
        ("repeat", _) => repeat(&a, whole(&b, b_at)?, span),
        ("dot", _) => {
            let product = binary(Binary::Multiply, list(a, a_at)?, list(b, b_at)?, span)?;
            fold("sum", product, a_at, span)
        }
        ("cross", _) => cross(list(a, a_at)?, list(b, b_at)?, span),
        ("clamp", Some((high, _))) => {
            let raised = binary(Binary::Max, a, b, span)?;
            binary(Binary::Min, raised, high, span)
        }
        ("linspace", Some((n, n_at))) => linspace(&a, &b, whole(&n, n_at)?, span),
        _ => Err(no_rule(name, span)),
    }
}

/// A function of the table without a rule for this call.
fn no_rule(name: &str, span: Span) -> Diagnostic {
    let message = format!("`{name}` does not take these arguments");
    Diagnostic::error("expression-arity", span, message)
}

fn list(term: Term, at: Span) -> Result<Term, Diagnostic> {
    match term {
        Term::List(_) => Ok(term),
        other => Err(wrong("a list", &other, at)),
    }
}

fn cross(a: Term, b: Term, span: Span) -> Result<Term, Diagnostic> {
    let (Term::List(a), Term::List(b)) = (a, b) else { return Err(no_rule("cross", span)) };
    if (a.len(), b.len()) != (3, 3) {
        let message = format!("`cross` takes lists of 3, found {} and {}", a.len(), b.len());
        return Err(Diagnostic::error("expression-length", span, message));
    }
    let part = |i: usize, j: usize| {
        let first = binary(Binary::Multiply, a[i].clone(), b[j].clone(), span)?;
        let second = binary(Binary::Multiply, a[j].clone(), b[i].clone(), span)?;
        binary(Binary::Subtract, first, second, span)
    };
    Ok(Term::List(vec![part(1, 2)?, part(2, 0)?, part(0, 1)?]))
}

fn concat(arguments: Vec<(Term, Span)>, span: Span) -> Result<Term, Diagnostic> {
    let mut result = Vec::new();
    for (term, at) in arguments {
        match term {
            Term::List(items) => result.extend(items),
            other => return Err(wrong("a list", &other, at)),
        }
    }
    bounded(result.len(), span)?;
    Ok(Term::List(result))
}

fn repeat(term: &Term, count: usize, span: Span) -> Result<Term, Diagnostic> {
    bounded(term.size().saturating_mul(count), span)?;
    Ok(Term::List(vec![term.clone(); count]))
}

/// `n` numbers from `a` to `b`, both ends exact.
fn linspace(a: &Term, b: &Term, n: usize, span: Span) -> Result<Term, Diagnostic> {
    bounded(n, span)?;
    let (Term::Real(Scalar::Known(a), a_unit), Term::Real(Scalar::Known(b), b_unit)) = (a, b)
    else {
        return Err(wrong("known numbers as ends", a, span));
    };
    let unit = common_unit(Binary::Add, *a_unit, *b_unit, span)?;
    let steps = n.saturating_sub(1).max(1) as f64;
    let at = |i: usize| {
        let part = i as f64 / steps;
        if i + 1 == n && n > 1 { *b } else { a * (1.0 - part) + b * part }
    };
    Ok(Term::List((0..n).map(|i| Term::Real(Scalar::Known(at(i)), unit)).collect()))
}

/// Refuses lists that are too long.
pub(super) fn bounded(count: usize, span: Span) -> Result<(), Diagnostic> {
    if count > LIST_LIMIT {
        let message = format!("a list of {count} values is longer than {LIST_LIMIT}");
        return Err(Diagnostic::error("expression-size", span, message));
    }
    Ok(())
}
