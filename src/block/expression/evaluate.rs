//! Walks the syntax tree: names, fields, indices, operators, choices. One file: each kind of part
//! has parts of every kind.

use super::arithmetic::{binary, each, negate, select};
use super::compile::{Segment, SegmentKind, Signal, SignalPath, SignalResolver};
use super::functions::{self, LIST_LIMIT};
use super::operator::{Binary, Op, Unary};
use super::syntax::{Each, Expr, ExprKind};
use super::term::{Scalar, Term};
use super::units::{Ledger, TermUnit};
use crate::code;
use crate::diagnostic::{Diagnostic, Span};
use crate::unit::{SymbolicUnit, Unit};
use crate::value::{Scope, Value};

/// Operations that the elements of one list may need together.
const CODE_LIMIT: usize = 1 << 20;

pub(super) struct Evaluator<'a> {
    scope: &'a dyn Scope,
    signals: Option<&'a mut dyn SignalResolver>,
    /// Whether the elements of a signal may be one term, [`Term::Each`].
    each: bool,
    /// Values made so far.
    made: usize,
    /// Items that expressions for each are at, from the outermost on.
    items: Vec<(String, Term)>,
    /// What is asked of units that are not known yet.
    pub(super) ledger: Ledger,
}

/// The target of a chain of names and brackets.
enum Chain {
    /// The root is a constant, or the chain starts with no name.
    Constant,
    Signal(SignalPath),
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(scope: &'a dyn Scope, signals: Option<&'a mut dyn SignalResolver>) -> Self {
        let (items, ledger) = (Vec::new(), Ledger::default());
        Self { scope, signals, each: false, made: 0, items, ledger }
    }

    /// The same where one program may give all elements of a list.
    pub(super) fn with_each(self) -> Self {
        Self { each: true, ..self }
    }

    /// Counts `count` values that the expression makes.
    fn spend(&mut self, count: usize, span: Span) -> Result<(), Diagnostic> {
        self.made = self.made.saturating_add(count);
        if self.made > LIST_LIMIT {
            let message = format!("the expression makes lists of more than {LIST_LIMIT} values");
            return Err(Diagnostic::error(code::EXPRESSION_SIZE, span, message));
        }
        if self.scope.spend(count) { Ok(()) } else { Err(too_many(span)) }
    }

    /// Counts the programs of a list and what they ask of units, of which each takes memory for
    /// as long as the diagram lives.
    pub(super) fn spend_programs(&self, items: &[Term], span: Span) -> Result<(), Diagnostic> {
        let book = self.ledger.borrow();
        let of_units = 8 * (book.equations.len() + book.factors as usize);
        let of_code: usize = items.iter().map(|item| 8 + 2 * item.size()).sum();
        match items.len() > 1 && !self.scope.spend(of_code + of_units) {
            true => Err(too_many(span)),
            false => Ok(()),
        }
    }

    /// Refuses lists whose elements are too many operations together.
    fn bounded(term: Term, span: Span) -> Result<Term, Diagnostic> {
        if matches!(term, Term::List(_)) && term.size() > CODE_LIMIT {
            let message =
                format!("the lists of the expression need more than {CODE_LIMIT} operations");
            return Err(Diagnostic::error(code::EXPRESSION_SIZE, span, message));
        }
        Ok(term)
    }

    pub(super) fn value(&mut self, expr: &Expr) -> Result<Value, Diagnostic> {
        self.term(expr)?.value(expr.span)
    }

    pub(super) fn term(&mut self, expr: &Expr) -> Result<Term, Diagnostic> {
        match &expr.kind {
            ExprKind::Number(value, unit) => {
                let unit = unit.map(TermUnit::from);
                Ok(Term::Real(Scalar::Known(*value), unit))
            }
            ExprKind::Bool(value) => Ok(Term::Bool(Scalar::Known(f64::from(*value)))),
            ExprKind::Text(text) => Ok(Term::Text(text.clone())),
            ExprKind::List(items) => {
                self.spend(items.len(), expr.span)?;
                items.iter().map(|item| self.term(item)).collect::<Result<_, _>>().map(Term::List)
            }
            ExprKind::Name(_) | ExprKind::Field(..) | ExprKind::Index(..) | ExprKind::Slice(..) => {
                match self.chain(expr)? {
                    Chain::Constant => self.access(expr),
                    Chain::Signal(path) => self.signal(&path),
                }
            }
            ExprKind::Unary(op, operand) => {
                let term = self.term(operand)?;
                let result = each(term, &mut |term| negate(*op, term, operand.span))?;
                Self::bounded(result, expr.span)
            }
            ExprKind::Binary(op @ (Binary::And | Binary::Or), pair) => self.logic(*op, pair),
            ExprKind::Binary(op, pair) => {
                let (left, right) = (self.term(&pair.0)?, self.term(&pair.1)?);
                Self::bounded(binary(*op, left, right, expr.span)?, expr.span)
            }
            ExprKind::Each(each) => self.for_each(each, expr.span),
            ExprKind::If(parts) => self.choice(&parts.0, &parts.1, &parts.2, expr.span),
            ExprKind::Call(name, arguments) => {
                if functions::makes_lists(&name.text) {
                    // Where nothing is left no list is made to find that out.
                    self.spend(0, expr.span)?;
                }
                let terms = arguments
                    .iter()
                    .map(|argument| Ok((self.term(argument)?, argument.span)))
                    .collect::<Result<Vec<_>, Diagnostic>>()?;
                let result = functions::call(name, terms, expr.span)?;
                if functions::makes_lists(&name.text) {
                    self.spend(result.size(), expr.span)?;
                }
                Self::bounded(result, expr.span)
            }
        }
    }

    /// The present item that is called `name`.
    fn item(&self, name: &str) -> Option<&Term> {
        self.items.iter().rev().find(|(known, _)| known == name).map(|(_, item)| item)
    }

    /// What a name stands for, if that is no signal.
    fn named(&self, name: &str) -> Option<Term> {
        self.item(name).cloned().or_else(|| self.scope.lookup(name).map(Into::into))
    }

    /// Whether a name stands for something that is no signal.
    fn knows(&self, name: &str) -> bool {
        self.item(name).is_some() || self.scope.lookup(name).is_some()
    }

    /// Whether a chain that begins with a constant and these two steps is the path of a signal, as
    /// the constant has no such parts: `load.y`, `leg[FL].y` of a number `load`, a list `leg`.
    fn is_of_block(&self, name: &str, steps: [Option<&ExprKind>; 2]) -> bool {
        let is_by_key = match steps {
            [Some(ExprKind::Field(..)), _] => false,
            [Some(ExprKind::Index(..)), Some(ExprKind::Field(..))] => true,
            _ => return false,
        };
        if self.item(name).is_some() {
            return false;
        }
        let has_parts = match self.scope.lookup(name) {
            Some(Value::Record(_)) => true,
            Some(Value::List(items)) => {
                is_by_key && items.iter().any(|item| matches!(item, Value::Record(_)))
            }
            _ => false,
        };
        !has_parts && self.signals.as_ref().is_some_and(|signals| signals.is_start(name))
    }

    /// `[item for name in list if condition]`: a list, or with keys a record.
    fn for_each(&mut self, each: &Each, span: Span) -> Result<Term, Diagnostic> {
        let items = match self.term(&each.list)?.listed() {
            Term::List(items) => items,
            other => return Err(wrong("a list", &other, each.list.span)),
        };
        // What is evaluated again and again counts by its length.
        let cost = 1 + (each.item.span.end.saturating_sub(each.item.span.start) / 8) as usize;
        let (mut list, mut record) = (Vec::new(), Vec::new());
        for item in items {
            self.spend(cost, span)?;
            self.items.push((each.name.clone(), item));
            let made = self.one_of_each(each);
            self.items.pop();
            let Some((key, made)) = made? else { continue };
            self.spend(made.size(), span)?;
            match key {
                None => list.push(made),
                Some(key) if record.iter().any(|(known, _)| *known == key) => {
                    let message = format!("the key `{key}` is there twice");
                    return Err(Diagnostic::error(code::DUPLICATE_KEY, span, message));
                }
                Some(key) => record.push((key, made.value(each.item.span)?)),
            }
        }
        match each.key {
            None => Ok(Term::List(list)),
            Some(_) => Ok(Value::record(record).into()),
        }
    }

    /// Key and value for the present item; nothing if the condition leaves it out.
    fn one_of_each(&mut self, each: &Each) -> Result<Option<(Option<String>, Term)>, Diagnostic> {
        if let Some(condition) = &each.condition {
            match truth(self.term(condition)?, condition.span)? {
                Scalar::Known(0.0) => return Ok(None),
                Scalar::Known(_) => {}
                Scalar::Later(_) => {
                    let message = "what is in a list must be known before the run, this condition \
                                   depends on a signal";
                    return Err(Diagnostic::error(
                        code::EXPRESSION_SIGNAL,
                        condition.span,
                        message,
                    ));
                }
            }
        }
        let key = match &each.key {
            None => None,
            Some(key) => match self.term(key)? {
                Term::Text(text) => Some(text),
                other => return Err(wrong("a text as key", &other, key.span)),
            },
        };
        Ok(Some((key, self.term(&each.item)?)))
    }

    /// A condition whose comparisons stay comparisons also where both sides are known, as far as
    /// only `and`, `or` and `not` stand around them.
    pub(super) fn condition(&mut self, expr: &Expr) -> Result<Term, Diagnostic> {
        match &expr.kind {
            ExprKind::Unary(op @ Unary::Not, operand) => {
                let operand = truth(self.condition(operand)?, operand.span)?;
                operand.unary(*op, expr.span).map(Term::Bool)
            }
            ExprKind::Binary(op @ (Binary::And | Binary::Or), pair) => {
                let left = truth(self.condition(&pair.0)?, pair.0.span)?;
                if matches!(left, Scalar::Known(known) if (known != 0.0) == (*op == Binary::Or)) {
                    return Ok(Term::Bool(left));
                }
                let right = truth(self.condition(&pair.1)?, pair.1.span)?;
                joined(*op, left, right, pair.1.span)
            }
            ExprKind::Binary(op, pair) if op.sign().is_some() => {
                let (left, right) = (self.term(&pair.0)?, self.term(&pair.1)?);
                let sides = match (&left, &right) {
                    (
                        Term::Real(Scalar::Known(a), a_unit),
                        Term::Real(Scalar::Known(b), b_unit),
                    ) => Some((
                        *a,
                        *b,
                        a_unit.as_ref().or(b_unit.as_ref()).and_then(TermUnit::known),
                    )),
                    _ => None,
                };
                let result = binary(*op, left, right, expr.span)?;
                Ok(match sides {
                    Some((a, b, unit)) => {
                        let code = vec![Op::Push(a), Op::Push(b), Op::Compare(*op, unit)];
                        Term::Bool(Scalar::Later(code))
                    }
                    None => result,
                })
            }
            _ => self.term(expr),
        }
    }

    /// `and`, `or`: the right side is not evaluated if the left one is known and decides.
    fn logic(&mut self, op: Binary, pair: &(Expr, Expr)) -> Result<Term, Diagnostic> {
        let left = truth(self.term(&pair.0)?, pair.0.span)?;
        if let Scalar::Known(known) = left
            && (known != 0.0) == (op == Binary::Or)
        {
            return Ok(Term::Bool(left));
        }
        let right = truth(self.term(&pair.1)?, pair.1.span)?;
        joined(op, left, right, pair.1.span)
    }

    /// Only the chosen branch is evaluated if the condition is known.
    fn choice(
        &mut self,
        condition: &Expr,
        yes: &Expr,
        no: &Expr,
        span: Span,
    ) -> Result<Term, Diagnostic> {
        match truth(self.term(condition)?, condition.span)? {
            Scalar::Known(known) => self.term(if known != 0.0 { yes } else { no }),
            later => {
                let (yes, no) = (self.term(yes)?, self.term(no)?);
                Self::bounded(select(&later, yes, no, span)?, span)
            }
        }
    }

    /// Whether a chain such as `a.b[2].c` starts at a signal.
    fn chain(&mut self, expr: &Expr) -> Result<Chain, Diagnostic> {
        if self.signals.is_none() {
            return Ok(Chain::Constant);
        }
        let (mut root, mut steps) = (expr, [None, None]);
        while let ExprKind::Field(inner, _)
        | ExprKind::Index(inner, _)
        | ExprKind::Slice(inner, ..) = &root.kind
        {
            // A path ends at its first range; what follows selects from the list.
            if matches!(inner.kind, ExprKind::Slice(..)) {
                return Ok(Chain::Constant);
            }
            steps = [Some(&root.kind), steps[0]];
            root = inner;
        }
        match &root.kind {
            ExprKind::Name(name) if !self.knows(name) || self.is_of_block(name, steps) => {}
            _ => return Ok(Chain::Constant),
        }
        let mut segments = Vec::new();
        self.segments(expr, &mut segments)?;
        Ok(Chain::Signal(SignalPath { segments, span: expr.span }))
    }

    fn segments(&mut self, expr: &Expr, path: &mut Vec<Segment>) -> Result<(), Diagnostic> {
        let (kind, span) = match &expr.kind {
            ExprKind::Field(inner, name) => {
                self.segments(inner, path)?;
                (SegmentKind::Name(name.text.clone()), name.span)
            }
            ExprKind::Index(inner, index) => {
                self.segments(inner, path)?;
                // A bare word that is not a constant is the key of a for-each copy.
                let kind = match &index.kind {
                    ExprKind::Name(key) if !self.knows(key) => SegmentKind::Key(key.clone()),
                    _ => match self.value(index)? {
                        Value::Text(key) => SegmentKind::Key(key),
                        value => SegmentKind::Index(whole(&value.into(), index.span)?),
                    },
                };
                (kind, index.span)
            }
            ExprKind::Slice(inner, from, to) => {
                self.segments(inner, path)?;
                let from = from.as_deref().map(|e| self.bound(e)).transpose()?.unwrap_or(0);
                let to = to.as_deref().map(|e| self.bound(e)).transpose()?;
                (SegmentKind::Range(from, to), expr.span)
            }
            ExprKind::Name(name) => (SegmentKind::Name(name.clone()), expr.span),
            _ => return Ok(()),
        };
        path.push(Segment { kind, span });
        Ok(())
    }

    fn bound(&mut self, expr: &Expr) -> Result<usize, Diagnostic> {
        let value = self.value(expr)?;
        whole(&value.into(), expr.span)
    }

    fn signal(&mut self, path: &SignalPath) -> Result<Term, Diagnostic> {
        let Some(signals) = self.signals.as_deref_mut() else {
            return Err(Diagnostic::error(code::EXPRESSION_SIGNAL, path.span, "no signals here"));
        };
        let signal = signals.resolve(path)?;
        let of_each = matches!(signal, Signal::Run { .. }) && self.each;
        self.spend(if of_each { 1 } else { signal.size() }, path.span)?;
        Ok(self.loaded(signal, of_each))
    }

    /// The term of a signal; with `of_each` one for all elements of a run.
    fn loaded(&self, signal: Signal, of_each: bool) -> Term {
        let load = |slot: u32| Scalar::Later(vec![Op::Load(slot)]);
        match signal {
            Signal::Constant(value) => value.into(),
            Signal::Real { slot, unit } => Term::Real(load(slot), self.unit(unit)),
            Signal::Bool { slot } => Term::Bool(load(slot)),
            Signal::Run { start, len, unit } => {
                let unit = self.unit(unit);
                if of_each {
                    let each = Scalar::Later(vec![Op::LoadEach(start)]);
                    return Term::Each(len as usize, Box::new(Term::Real(each, unit)));
                }
                let item = |slot| Term::Real(load(slot), unit.clone());
                Term::List((start..start + len).map(item).collect())
            }
            Signal::List(items) => {
                Term::List(items.into_iter().map(|item| self.loaded(item, false)).collect())
            }
        }
    }

    /// The unit of a signal.
    fn unit(&self, unit: Option<SymbolicUnit>) -> Option<TermUnit> {
        unit.map(|unit| TermUnit::new(unit, &self.ledger))
    }

    /// Names, fields and indices of constants.
    fn access(&mut self, expr: &Expr) -> Result<Term, Diagnostic> {
        match &expr.kind {
            ExprKind::Name(name) => match self.named(name) {
                Some(term) => {
                    self.spend(term.size(), expr.span)?;
                    Ok(term)
                }
                // Nobody reads what follows from another mistake: no names are compared for it.
                None if self.scope.is_reported(name) => {
                    Err(Diagnostic { follows: true, ..unknown(name, expr.span, &[]) })
                }
                None if !self.scope.suggests(expr.span) => {
                    Err(Diagnostic { hints: Vec::new(), ..unknown(name, expr.span, &[]) })
                }
                None => Err(unknown(name, expr.span, &self.scope.names())),
            },
            ExprKind::Field(inner, name) => {
                let term = self.term(inner)?;
                field(&term, &name.text, name.span)
            }
            ExprKind::Index(inner, index) => {
                let (term, at) = (self.term(inner)?.listed(), self.term(index)?);
                match (term, at) {
                    (Term::List(items), at) => element(items, &at, index.span),
                    (record @ Term::Record(_), Term::Text(key)) => field(&record, &key, index.span),
                    (other, _) => Err(wrong("a list", &other, inner.span)),
                }
            }
            ExprKind::Slice(inner, from, to) => {
                let items = match self.term(inner)?.listed() {
                    Term::List(items) => items,
                    other => return Err(wrong("a list", &other, inner.span)),
                };
                let from = from.as_deref().map(|e| self.bound(e)).transpose()?.unwrap_or(0);
                let to = to.as_deref().map(|e| self.bound(e)).transpose()?.unwrap_or(items.len());
                let part = items.get(from..to).ok_or_else(|| {
                    let message =
                        format!("range {from}..{to} is outside the list of {}", items.len());
                    Diagnostic::error(code::EXPRESSION_INDEX, expr.span, message)
                })?;
                Ok(Term::List(part.to_vec()))
            }
            _ => self.term(expr),
        }
    }
}

/// `and`, `or` of two truth values, of which the left one does not decide alone.
fn joined(op: Binary, left: Scalar, right: Scalar, span: Span) -> Result<Term, Diagnostic> {
    Ok(Term::Bool(match (left, right) {
        // What is known and does not decide changes nothing.
        (Scalar::Known(_), other) => other,
        (other, Scalar::Known(known)) if (known != 0.0) == (op == Binary::And) => other,
        (left, right) => left.binary(op, right, span)?,
    }))
}

fn too_many(span: Span) -> Diagnostic {
    let message = "the expressions of the diagram make more values than it may have";
    Diagnostic::error(code::EXPRESSION_SIZE, span, message).hint("read long tables from files")
}

fn unknown(name: &str, span: Span, names: &[String]) -> Diagnostic {
    let found = Diagnostic::error(code::UNKNOWN_NAME, span, format!("unknown name `{name}`"))
        .suggest(name, names.iter().map(String::as_str));
    if !found.hints.is_empty() {
        found
    } else if names.is_empty() {
        found.hint("no names are known here")
    } else {
        let shown: Vec<&str> = names.iter().take(12).map(String::as_str).collect();
        let more = if names.len() > shown.len() { ", …" } else { "" };
        found.hint(format!("known names: {}{more}", shown.join(", ")))
    }
}

fn field(term: &Term, name: &str, span: Span) -> Result<Term, Diagnostic> {
    let Term::Record(facts) = term else {
        return Err(wrong(&format!("something with a field `{name}`"), term, span));
    };
    facts.get(name).cloned().map(Into::into).ok_or_else(|| {
        let names: Vec<&str> = facts.keys().map(String::as_str).collect();
        let found = Diagnostic::error(code::UNKNOWN_NAME, span, format!("no field `{name}` here"));
        found.suggest(name, names.iter().copied()).hint(format!("fields: {}", names.join(", ")))
    })
}

fn element(items: Vec<Term>, at: &Term, span: Span) -> Result<Term, Diagnostic> {
    let index = whole(at, span)?;
    let count = items.len();
    items.into_iter().nth(index).ok_or_else(|| {
        let message = format!("index {index} is outside the list of {count}");
        Diagnostic::error(code::EXPRESSION_INDEX, span, message).hint("indices count from 0")
    })
}

/// A count: a whole number, known now, not negative, without unit.
pub(super) fn whole(term: &Term, span: Span) -> Result<usize, Diagnostic> {
    match term {
        Term::Real(Scalar::Known(value), unit)
            if value.fract() == 0.0
                && (0.0..=1e9).contains(value)
                && unit.as_ref().is_none_or(|unit| unit.known() == Some(Unit::ONE)) =>
        {
            Ok(*value as usize)
        }
        Term::Real(Scalar::Later(_), _) => Err(Diagnostic::error(
            code::EXPRESSION_SIGNAL,
            span,
            "an index or count must be known before the run, this one depends on a signal",
        )),
        other => Err(wrong("a whole number from 0 up", other, span)),
    }
}

pub(super) fn wrong(expected: &str, found: &Term, span: Span) -> Diagnostic {
    let message = format!("expected {expected}, found {}", found.describe());
    Diagnostic::error(code::EXPRESSION_TYPE, span, message)
}

pub(super) fn truth(term: Term, span: Span) -> Result<Scalar, Diagnostic> {
    match term {
        Term::Bool(scalar) => Ok(scalar),
        other => Err(wrong("a truth value", &other, span)),
    }
}
