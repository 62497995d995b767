//! The functions that expressions can call.

use super::arithmetic::{binary, each as for_each};
use super::evaluate::{whole, wrong};
use super::operator::{Binary, Unary};
use super::term::{Scalar, Term};
use super::units::{TermUnit, UnitRule, common};
use crate::code;
use crate::diagnostic::{Diagnostic, Span};
use crate::unit::Unit;
use crate::value::Name;

/// Values and operations that the lists of one expression may have.
pub(super) const LIST_LIMIT: usize = 1 << 18;

/// A function that expressions can call.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// What it takes, as in `y, x`.
    pub arguments: &'static str,
    /// What it gives.
    pub doc: &'static str,
    /// A condition that holds.
    pub example: &'static str,
    /// Least and greatest number of arguments.
    count: (usize, usize),
    rule: Rule,
}

/// How a function is computed.
enum Rule {
    /// Number by number.
    Each(Unary),
    /// From one list.
    Fold(fn(Vec<Term>, Span, Span) -> Result<Term, Diagnostic>),
    /// From left to right over the arguments, or over the one list.
    Pairs(Binary),
    /// With a rule of its own.
    Own(fn(Arguments, Span) -> Result<Term, Diagnostic>),
    /// As [`Rule::Own`], and the list may be longer than what is given.
    Makes(fn(Arguments, Span) -> Result<Term, Diagnostic>),
}

/// Arguments with their places.
type Arguments = Vec<(Term, Span)>;

const fn each(name: &'static str, op: Unary, doc: &'static str, example: &'static str) -> Function {
    Function { name, arguments: "x", doc, example, count: (1, 1), rule: Rule::Each(op) }
}

const fn function(
    name: &'static str,
    arguments: &'static str,
    count: (usize, usize),
    rule: Rule,
    doc: &'static str,
    example: &'static str,
) -> Function {
    Function { name, arguments, doc, example, count, rule }
}

const ANY: usize = usize::MAX;

/// All functions. A new one is its line.
#[rustfmt::skip]
pub(super) static FUNCTIONS: [Function; 33] = [
    each("abs", Unary::Abs, "magnitude, in the unit of x", "abs(-2[m]) == 2[m]"),
    each("sqrt", Unary::Sqrt, "square root; of m^2 in m", "sqrt(9[m^2]) == 3[m]"),
    each("exp", Unary::Exp, "e to the power of x", "exp(0) == 1"),
    each("log", Unary::Log, "natural logarithm", "log(exp(2)) == 2"),
    each("sin", Unary::Sin, "sine of an angle [rad]", "abs(sin(30[deg]) - 0.5) < 1e-15"),
    each("cos", Unary::Cos, "cosine of an angle [rad]", "abs(cos(60[deg]) - 0.5) < 1e-15"),
    each("tan", Unary::Tan, "tangent of an angle [rad]", "abs(tan(45[deg]) - 1) < 1e-15"),
    each("asin", Unary::Asin, "inverse sine, from -pi/2 to pi/2 [rad]", "asin(1) == pi[rad]/2"),
    each("acos", Unary::Acos, "inverse cosine, from 0 to pi [rad]", "acos(-1) == pi[rad]"),
    each("atan", Unary::Atan, "inverse tangent, from -pi/2 to pi/2 [rad]",
        "atan(1) == pi[rad]/4"),
    each("tanh", Unary::Tanh, "hyperbolic tangent", "tanh(0) == 0"),
    each("floor", Unary::Floor, "greatest whole number that is not above x", "floor(-1.5) == -2"),
    each("ceil", Unary::Ceil, "least whole number that is not below x", "ceil(1.2) == 2"),
    each("round", Unary::Round, "nearest whole number; halves go away from zero",
        "round(2.5) == 3"),
    each("sign", Unary::Sign, "-1, 0 or 1, without a unit", "sign(-3[N]) == -1"),
    function("atan2", "y, x", (2, 2), Rule::Pairs(Binary::Atan2),
        "angle of the point (x, y), from -pi to pi [rad]", "atan2(1[m], 0[m]) == pi[rad]/2"),
    function("mod", "x, y", (2, 2), Rule::Pairs(Binary::Mod),
        "x - y floor(x/y): has the sign of y", "mod(-1, 3) == 2"),
    function("clamp", "x, low, high", (3, 3), Rule::Own(clamp),
        "x, but at least low and at most high", "clamp(7, 0, 5) == 5"),
    function("min", "a, b, …", (1, ANY), Rule::Pairs(Binary::Min),
        "least of the arguments, or of one list", "min([3, 1, 2]) == min(1, 4)"),
    function("max", "a, b, …", (1, ANY), Rule::Pairs(Binary::Max),
        "greatest of the arguments, or of one list", "max([3, 1, 2]) == max(3, 2)"),
    function("sum", "list", (1, 1), Rule::Fold(sum),
        "sum of the elements; of an empty list 0", "sum([1, 2, 3]) == 6"),
    function("norm", "list", (1, 1), Rule::Fold(norm),
        "length of the vector, the root of the sum of squares", "norm([3[m], 4[m]]) == 5[m]"),
    function("mean", "list", (1, 1), Rule::Fold(mean),
        "mean of the elements", "mean([1, 2, 6]) == 3"),
    function("len", "list", (1, 1), Rule::Own(len),
        "number of elements of a list, or of entries of a record", "len([5, 6]) == 2"),
    function("dot", "a, b", (2, 2), Rule::Own(dot),
        "scalar product of two lists", "dot([1, 2], [3, 4]) == 11"),
    function("cross", "a, b", (2, 2), Rule::Own(cross),
        "cross product of two lists of three", "cross([1, 0, 0], [0, 1, 0])[2] == 1"),
    function("concat", "a, b, …", (1, ANY), Rule::Own(concat),
        "the lists one behind the other", "len(concat([1, 2], [3])) == 3"),
    function("repeat", "x, n", (2, 2), Rule::Makes(repeat),
        "a list of n times x", "sum(repeat(2, 3)) == 6"),
    function("zeros", "n", (1, 1), Rule::Makes(zeros), "a list of n zeros", "len(zeros(4)) == 4"),
    function("ones", "n", (1, 1), Rule::Makes(ones), "a list of n ones", "sum(ones(4)) == 4"),
    function("linspace", "a, b, n", (3, 3), Rule::Makes(linspace),
        "n numbers from a to b at equal distances, both ends included",
        "linspace(0, 1, 5)[1] == 0.25"),
    function("any", "list", (1, 1), Rule::Fold(any),
        "whether one of the elements is true", "any([false, true])"),
    function("all", "list", (1, 1), Rule::Fold(all),
        "whether every element is true", "all([1, 2, 3] > [0, 1, 2])"),
];

/// Whether the function `name` makes longer lists than those it is given.
pub(super) fn makes_lists(name: &str) -> bool {
    FUNCTIONS.iter().any(|row| row.name == name && matches!(row.rule, Rule::Makes(_)))
}

/// Calls the function `name` with arguments and their places.
pub(super) fn call(name: &Name, arguments: Arguments, span: Span) -> Result<Term, Diagnostic> {
    let Some(function) = FUNCTIONS.iter().find(|row| row.name == name.text) else {
        let message = format!("unknown function `{}`", name.text);
        let found = Diagnostic::error(code::UNKNOWN_NAME, name.span, message)
            .suggest(&name.text, FUNCTIONS.iter().map(|row| row.name));
        let all: Vec<&str> = FUNCTIONS.iter().map(|row| row.name).collect();
        return Err(if found.hints.is_empty() {
            found.hint(format!("functions: {}", all.join(" ")))
        } else {
            found
        });
    };
    let (found, (least, most)) = (arguments.len(), function.count);
    if found < least || found > most {
        let message = format!(
            "`{}` takes {}{least} argument{}, found {found}",
            name.text,
            if most > least { "at least " } else { "" },
            if least == 1 { "" } else { "s" },
        );
        return Err(Diagnostic::error(code::EXPRESSION_ARITY, span, message));
    }
    match function.rule {
        Rule::Each(op) => {
            let [(term, at)] = exactly(arguments, span)?;
            apply(op, term, at, span)
        }
        Rule::Fold(rule) => {
            let [(term, at)] = exactly(arguments, span)?;
            rule(items(term, at)?, at, span)
        }
        Rule::Pairs(op) => match <[_; 1]>::try_from(arguments) {
            Ok([(term, at)]) => reduce(op, items(term, at)?, at, span),
            Err(arguments) => {
                let mut terms = arguments.into_iter().map(|(term, _)| Ok(term));
                let first = terms.next().unwrap_or_else(|| Err(no_rule(span)))?;
                terms.try_fold(first, |a, b| binary(op, a, b?, span))
            }
        },
        Rule::Own(rule) | Rule::Makes(rule) => rule(arguments, span),
    }
}

/// The arguments, of which there are `N`.
fn exactly<const N: usize>(
    arguments: Arguments,
    span: Span,
) -> Result<[(Term, Span); N], Diagnostic> {
    arguments.try_into().map_err(|_| no_rule(span))
}

/// A call that the table does not foresee.
fn no_rule(span: Span) -> Diagnostic {
    Diagnostic::error(code::EXPRESSION_ARITY, span, "the function does not take these arguments")
}

/// The elements of a list.
fn items(term: Term, at: Span) -> Result<Vec<Term>, Diagnostic> {
    match term.listed() {
        Term::List(items) => Ok(items),
        other => Err(wrong("a list", &other, at)),
    }
}

/// An operation on a number, or on each of a list.
fn apply(op: Unary, term: Term, at: Span, span: Span) -> Result<Term, Diagnostic> {
    for_each(term, &mut |term| match term {
        Term::Real(x, unit) => {
            let unit = unary_unit(op, unit, at)?;
            Ok(Term::Real(x.unary(op, span)?, unit))
        }
        other => Err(wrong("a number", &other, at)),
    })
}

/// The unit that an operation on one number gives, if it takes the argument's unit at all.
fn unary_unit(op: Unary, unit: Option<TermUnit>, at: Span) -> Result<Option<TermUnit>, Diagnostic> {
    match op {
        Unary::Abs | Unary::Negate => return Ok(unit),
        Unary::Sign => return Ok(None),
        Unary::Sqrt => {
            return unit.map_or(Ok(None), |unit| {
                unit.root().map(Some).ok_or_else(|| {
                    let message = format!("the square root of {unit} is not a unit");
                    Diagnostic::error(code::UNIT_MISMATCH, at, message)
                })
            });
        }
        _ => {}
    }
    if let Some(unit) = &unit {
        unit.agree(&Unit::ONE.into(), UnitRule::Argument(op), at)?;
    }
    Ok(match op {
        Unary::Asin | Unary::Acos | Unary::Atan => Some(Unit::RESULT_RADIAN.into()),
        Unary::Floor | Unary::Ceil | Unary::Round => unit,
        _ => None,
    })
}

fn sum(items: Vec<Term>, at: Span, span: Span) -> Result<Term, Diagnostic> {
    if items.is_empty() {
        return Ok(Term::number(0.0));
    }
    reduce(Binary::Add, items, at, span)
}

fn mean(items: Vec<Term>, at: Span, span: Span) -> Result<Term, Diagnostic> {
    let count = items.len();
    if count == 0 {
        let message = "`mean` of an empty list has no value";
        return Err(Diagnostic::error(code::EXPRESSION_LENGTH, at, message));
    }
    let total = reduce(Binary::Add, items, at, span)?;
    // The count has no unit; a number that was written without could stand for a time.
    let unit = matches!(total, Term::Real(_, Some(_))).then(|| Unit::ONE.into());
    binary(Binary::Divide, total, Term::Real(Scalar::Known(count as f64), unit), span)
}

fn norm(items: Vec<Term>, at: Span, span: Span) -> Result<Term, Diagnostic> {
    let square = |item| binary(Binary::Power, item, Term::number(2.0), span);
    let squares = items.into_iter().map(square).collect::<Result<_, _>>()?;
    apply(Unary::Sqrt, sum(squares, at, span)?, at, span)
}

fn any(items: Vec<Term>, at: Span, span: Span) -> Result<Term, Diagnostic> {
    truths(Binary::Or, items, at, span)
}

fn all(items: Vec<Term>, at: Span, span: Span) -> Result<Term, Diagnostic> {
    truths(Binary::And, items, at, span)
}

/// Truth values joined by `and` or `or`; of an empty list what changes nothing.
fn truths(op: Binary, items: Vec<Term>, at: Span, span: Span) -> Result<Term, Diagnostic> {
    let mut result = Scalar::Known(f64::from(op == Binary::And));
    for item in items {
        match item {
            Term::Bool(x) => result = result.binary(op, x, span)?,
            other => return Err(wrong("a truth value", &other, at)),
        }
    }
    Ok(Term::Bool(result))
}

fn reduce(op: Binary, items: Vec<Term>, at: Span, span: Span) -> Result<Term, Diagnostic> {
    if let Some(other) = items.iter().find(|item| !matches!(item, Term::Real(..))) {
        return Err(wrong("a list of numbers", other, at));
    }
    items.into_iter().map(Ok).reduce(|a, b| binary(op, a?, b?, span)).unwrap_or_else(|| {
        let message = format!("`{}` of an empty list has no value", op.symbol());
        Err(Diagnostic::error(code::EXPRESSION_LENGTH, at, message))
    })
}

fn len(arguments: Arguments, span: Span) -> Result<Term, Diagnostic> {
    let [(term, at)] = exactly(arguments, span)?;
    let count = match term {
        Term::Record(facts) => facts.len(),
        Term::Each(count, _) => count,
        term => items(term, at)?.len(),
    };
    Ok(Term::number(count as f64))
}

fn clamp(arguments: Arguments, span: Span) -> Result<Term, Diagnostic> {
    let [(x, _), (low, _), (high, _)] = exactly(arguments, span)?;
    let raised = binary(Binary::Max, x, low, span)?;
    binary(Binary::Min, raised, high, span)
}

fn dot(arguments: Arguments, span: Span) -> Result<Term, Diagnostic> {
    let [(a, a_at), (b, b_at)] = exactly(arguments, span)?;
    let (a, b) = (items(a, a_at)?, items(b, b_at)?);
    let products = binary(Binary::Multiply, Term::List(a), Term::List(b), span)?;
    sum(items(products, span)?, a_at, span)
}

fn cross(arguments: Arguments, span: Span) -> Result<Term, Diagnostic> {
    let [(a, a_at), (b, b_at)] = exactly(arguments, span)?;
    let (a, b) = (items(a, a_at)?, items(b, b_at)?);
    if (a.len(), b.len()) != (3, 3) {
        let message = format!("`cross` takes lists of 3, found {} and {}", a.len(), b.len());
        return Err(Diagnostic::error(code::EXPRESSION_LENGTH, span, message));
    }
    let part = |i: usize, j: usize| {
        let first = binary(Binary::Multiply, a[i].clone(), b[j].clone(), span)?;
        let second = binary(Binary::Multiply, a[j].clone(), b[i].clone(), span)?;
        binary(Binary::Subtract, first, second, span)
    };
    Ok(Term::List(vec![part(1, 2)?, part(2, 0)?, part(0, 1)?]))
}

fn concat(arguments: Arguments, span: Span) -> Result<Term, Diagnostic> {
    let mut result = Vec::new();
    for (term, at) in arguments {
        result.extend(items(term, at)?);
    }
    bounded(result.len(), span)?;
    Ok(Term::List(result))
}

fn zeros(arguments: Arguments, span: Span) -> Result<Term, Diagnostic> {
    let [(n, n_at)] = exactly(arguments, span)?;
    repeated(&Term::number(0.0), whole(&n, n_at)?, span)
}

fn ones(arguments: Arguments, span: Span) -> Result<Term, Diagnostic> {
    let [(n, n_at)] = exactly(arguments, span)?;
    repeated(&Term::number(1.0), whole(&n, n_at)?, span)
}

fn repeat(arguments: Arguments, span: Span) -> Result<Term, Diagnostic> {
    let [(term, _), (n, n_at)] = exactly(arguments, span)?;
    repeated(&term, whole(&n, n_at)?, span)
}

fn repeated(term: &Term, count: usize, span: Span) -> Result<Term, Diagnostic> {
    bounded(term.size().saturating_mul(count), span)?;
    Ok(Term::List(vec![term.clone(); count]))
}

/// `n` numbers from `a` to `b`, both ends exact, and whole where all are whole: it counts too.
fn linspace(arguments: Arguments, span: Span) -> Result<Term, Diagnostic> {
    let [(a, _), (b, _), (n, n_at)] = exactly(arguments, span)?;
    let n = whole(&n, n_at)?;
    bounded(n, span)?;
    let (Term::Real(Scalar::Known(a), a_unit), Term::Real(Scalar::Known(b), b_unit)) = (&a, &b)
    else {
        return Err(wrong("known numbers as ends", &a, span));
    };
    let rule = UnitRule::Sides(Binary::Add.symbol());
    let unit = common(a_unit.clone(), b_unit.clone(), rule, span)?;
    let steps = n.saturating_sub(1).max(1) as f64;
    let at = |i: usize| match i {
        0 => *a,
        last if last + 1 == n => *b,
        i => (a * (steps - i as f64) + b * i as f64) / steps,
    };
    Ok(Term::List((0..n).map(|i| Term::Real(Scalar::Known(at(i)), unit.clone())).collect()))
}

/// Refuses lists that are too long.
pub(super) fn bounded(count: usize, span: Span) -> Result<(), Diagnostic> {
    if count > LIST_LIMIT {
        let message = format!("a list of {count} values is longer than {LIST_LIMIT}");
        return Err(Diagnostic::error(code::EXPRESSION_SIZE, span, message));
    }
    Ok(())
}
