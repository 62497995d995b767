//! Values of expressions.

use std::rc::Rc;

use super::functions::{FUNCTIONS, METHODS, MODULE, call_function, call_method, format_text};
use super::parse::Expression;
use super::value::{LONGEST, Value};

/// Where names get their values, and how much may still be done.
pub(super) trait Scope {
    /// The value of a name; `None` if there is no such name.
    ///
    /// # Errors
    /// If the value cannot be found out.
    fn name(&mut self, name: &str) -> Result<Option<Value>, String>;
    /// The value of a name of an included file.
    ///
    /// # Errors
    /// If the value cannot be found out.
    fn name_in(&mut self, names: usize, name: &str) -> Result<Option<Value>, String>;
    /// The value of an argument of the file.
    fn argument(&mut self, name: &str) -> Option<Value>;
    /// The text of a file, by the name that the robot file has for it.
    ///
    /// # Errors
    /// If it cannot be read.
    fn load(&mut self, name: &str) -> Result<String, String>;
    /// Steps that may still be done.
    fn fuel(&mut self) -> &mut usize;
    /// Goes a level deeper; no deeper than there is room for.
    ///
    /// # Errors
    /// If there is none.
    fn enter(&mut self) -> Result<(), String>;
    /// Comes back.
    fn leave(&mut self);
}

pub(super) const TOO_LARGE: &str = "the expansion takes too long";

pub(super) fn spend(scope: &mut dyn Scope, steps: usize) -> Result<(), String> {
    let fuel = scope.fuel();
    *fuel = fuel.checked_sub(steps).ok_or(TOO_LARGE)?;
    Ok(())
}

/// The value of an expression.
///
/// # Errors
/// A sentence without the expression.
pub(super) fn evaluate(expression: &Expression, scope: &mut dyn Scope) -> Result<Value, String> {
    spend(scope, 1)?;
    scope.enter()?;
    let value = value_of(expression, scope);
    scope.leave();
    value
}

fn value_of(expression: &Expression, scope: &mut dyn Scope) -> Result<Value, String> {
    match expression {
        Expression::Literal(value) => Ok(value.clone()),
        Expression::Name(name) => name_of(name, scope),
        Expression::List(items) => {
            let items: Result<Vec<Value>, String> =
                items.iter().map(|item| evaluate(item, scope)).collect();
            Ok(Value::List(items?.into()))
        }
        Expression::Table(items) => {
            let mut out = Vec::with_capacity(items.len());
            for (key, value) in items {
                out.push((evaluate(key, scope)?, evaluate(value, scope)?));
            }
            Ok(Value::Table(out.into()))
        }
        Expression::Each(each) => {
            let (names, of) = (&each.names, evaluate(&each.of, scope)?);
            let mut out = Vec::new();
            for item in entries(&of)? {
                let mut own = Bound { values: bind(names, item)?, scope, may_load: true };
                let is_in = match &each.condition {
                    None => true,
                    Some(condition) => evaluate(condition, &mut own)?.is_true(),
                };
                if is_in {
                    out.push(evaluate(&each.item, &mut own)?);
                    fits(out.len())?;
                }
            }
            paid(Value::List(out.into()), scope)
        }
        Expression::Slice(parts) => {
            let (of, from, to) = &**parts;
            let of = evaluate(of, scope)?;
            let mut end = |end: &Option<Expression>| match end {
                None => Ok(None),
                Some(end) => match evaluate(end, scope)? {
                    Value::None => Ok(None),
                    end => end.int().map(Some).ok_or_else(|| "a slice by no integer".to_owned()),
                },
            };
            let (from, to) = (end(from)?, end(to)?);
            paid(slice(&of, from, to)?, scope)
        }
        Expression::Unary(sign, inner) => unary(sign, &evaluate(inner, scope)?),
        Expression::Binary(sign, both) => {
            let left = evaluate(&both.0, scope)?;
            match (*sign, left.is_true()) {
                ("and", false) | ("or", true) => Ok(left),
                ("and" | "or", _) => evaluate(&both.1, scope),
                _ => {
                    let right = evaluate(&both.1, scope)?;
                    paid(binary(sign, &left, &right)?, scope)
                }
            }
        }
        Expression::Compare(first, rest) => {
            let mut left = evaluate(first, scope)?;
            for (sign, next) in rest {
                let right = evaluate(next, scope)?;
                if !compare(sign, &left, &right, scope)? {
                    return Ok(Value::Bool(false));
                }
                left = right;
            }
            Ok(Value::Bool(true))
        }
        Expression::If(parts) => {
            let (condition, then, other) = &**parts;
            let is_true = evaluate(condition, scope)?.is_true();
            evaluate(if is_true { then } else { other }, scope)
        }
        Expression::Index(both) => {
            let (of, at) = (evaluate(&both.0, scope)?, evaluate(&both.1, scope)?);
            index(&of, &at, scope)
        }
        Expression::Attribute(of, name) => {
            // Python's module of functions.
            if let Expression::Name(module) = &**of {
                match module.as_str() {
                    "math" | "python" => return name_of(name, scope),
                    "xacro" => {
                        let found = MODULE.iter().find(|known| *known == name);
                        let known = || MODULE.join(", ");
                        return found
                            .map(|name| Value::Function(name))
                            .ok_or_else(|| format!("xacro.{name}: expected one of {}", known()));
                    }
                    _ => {}
                }
            }
            let of = evaluate(of, scope)?;
            attribute(of, name, scope)
        }
        Expression::Call(function, arguments, named) => {
            let function = evaluate(function, scope)?;
            if !named.is_empty() {
                if !matches!(function, Value::Function("dict")) || !arguments.is_empty() {
                    return Err("arguments with names are for dict(…) alone".to_owned());
                }
                let mut out = Vec::with_capacity(named.len());
                for (name, value) in named {
                    out.push((Value::text(name), evaluate(value, scope)?));
                }
                return Ok(Value::Table(out.into()));
            }
            let arguments: Result<Vec<Value>, String> =
                arguments.iter().map(|argument| evaluate(argument, scope)).collect();
            let value = call(&function, &arguments?, scope)?;
            paid(value, scope)
        }
    }
}

/// What a comprehension runs over.
fn entries(of: &Value) -> Result<Vec<Value>, String> {
    match of {
        Value::List(items) => Ok(items.to_vec()),
        Value::Table(items) => Ok(items.iter().map(|(key, _)| key.clone()).collect()),
        Value::Text(text) => Ok(text.chars().map(|c| Value::text(c.to_string())).collect()),
        _ => Err(format!("each of {}", of.kind())),
    }
}

/// The names of a comprehension with their values.
fn bind(names: &[String], item: Value) -> Result<Vec<(&str, Value)>, String> {
    match (names, item) {
        ([name], item) => Ok(vec![(name, item)]),
        (names, Value::List(items)) if items.len() == names.len() => {
            Ok(names.iter().map(String::as_str).zip(items.iter().cloned()).collect())
        }
        (names, item) => Err(format!("{} names for {}", names.len(), item.kind())),
    }
}

/// A scope with further names.
pub(super) struct Bound<'s> {
    pub(super) values: Vec<(&'s str, Value)>,
    pub(super) scope: &'s mut dyn Scope,
    pub(super) may_load: bool,
}

impl Scope for Bound<'_> {
    fn name(&mut self, name: &str) -> Result<Option<Value>, String> {
        match self.values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => Ok(Some(value.clone())),
            None => self.scope.name(name),
        }
    }

    fn name_in(&mut self, names: usize, name: &str) -> Result<Option<Value>, String> {
        self.scope.name_in(names, name)
    }

    fn argument(&mut self, name: &str) -> Option<Value> {
        self.scope.argument(name)
    }

    fn load(&mut self, name: &str) -> Result<String, String> {
        match self.may_load {
            true => self.scope.load(name),
            false => Err(format!("`{name}` is loaded from within a file that is loaded")),
        }
    }

    fn fuel(&mut self) -> &mut usize {
        self.scope.fuel()
    }

    fn enter(&mut self) -> Result<(), String> {
        self.scope.enter()
    }

    fn leave(&mut self) {
        self.scope.leave();
    }
}

/// `of[from:to]`, from the end where negative.
fn slice(of: &Value, from: Option<i64>, to: Option<i64>) -> Result<Value, String> {
    let range = |length: usize| {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let place =
            |at: i64| (if at < 0 { at.saturating_add(length) } else { at }).clamp(0, length);
        let (from, to) = (place(from.unwrap_or(0)), place(to.unwrap_or(length)));
        let (from, count) = (from.unsigned_abs(), to.saturating_sub(from).max(0).unsigned_abs());
        (usize::try_from(from).unwrap_or(0), usize::try_from(count).unwrap_or(0))
    };
    match of {
        Value::List(items) => {
            let (from, count) = range(items.len());
            Ok(Value::List(items.iter().skip(from).take(count).cloned().collect()))
        }
        Value::Text(text) => {
            let (from, count) = range(text.chars().count());
            Ok(Value::text(text.chars().skip(from).take(count).collect::<String>()))
        }
        _ => Err(format!("a slice of {}", of.kind())),
    }
}

/// Counts what a new value takes, so that memory has a bound too.
fn paid(value: Value, scope: &mut dyn Scope) -> Result<Value, String> {
    match &value {
        Value::Text(text) => spend(scope, text.len() / 8)?,
        Value::List(items) => spend(scope, 4 * items.len())?,
        _ => {}
    }
    Ok(value)
}

fn name_of(name: &str, scope: &mut dyn Scope) -> Result<Value, String> {
    if let Some(value) = scope.name(name)? {
        return Ok(value);
    }
    let constant = match name {
        "pi" => std::f64::consts::PI,
        "e" => std::f64::consts::E,
        "tau" => std::f64::consts::TAU,
        "inf" => f64::INFINITY,
        "nan" => f64::NAN,
        _ => {
            let function = FUNCTIONS.iter().find(|function| **function == name);
            return function
                .map(|function| Value::Function(function))
                .ok_or_else(|| format!("nothing is named `{name}`"));
        }
    };
    Ok(Value::Float(constant))
}

fn unary(sign: &str, inner: &Value) -> Result<Value, String> {
    if sign == "not" {
        return Ok(Value::Bool(!inner.is_true()));
    }
    if let Some(value) = inner.int() {
        let value = if sign == "-" { value.checked_neg() } else { Some(value) };
        return value.map(Value::Int).ok_or_else(|| "an integer is too large".to_owned());
    }
    match inner.number() {
        Some(value) => Ok(Value::Float(if sign == "-" { -value } else { value })),
        None => Err(format!("`{sign}` of {}", inner.kind())),
    }
}

pub(super) fn binary(sign: &str, left: &Value, right: &Value) -> Result<Value, String> {
    match (sign, left, right) {
        ("%", Value::Text(text), given) => return format_text(text, given).map(Value::text),
        ("+", Value::Text(a), Value::Text(b)) => {
            fits(a.len() + b.len())?;
            return Ok(Value::text(format!("{a}{b}")));
        }
        ("+", Value::List(a), Value::List(b)) => {
            fits(a.len() + b.len())?;
            return Ok(Value::List(a.iter().chain(b.iter()).cloned().collect()));
        }
        ("*", Value::Text(text), count) | ("*", count, Value::Text(text)) => {
            if let Some(count) = count.int() {
                let count = usize::try_from(count).unwrap_or(0);
                fits(text.len().saturating_mul(count))?;
                return Ok(Value::text(text.repeat(count)));
            }
        }
        _ => {}
    }
    if let (Some(a), Some(b)) = (left.int(), right.int()) {
        let whole = match sign {
            "+" => a.checked_add(b),
            "-" => a.checked_sub(b),
            "*" => a.checked_mul(b),
            "//" if b != 0 => {
                let (quotient, rest) = (a.checked_div(b), a.checked_rem(b));
                quotient.zip(rest).map(|(q, r)| q - i64::from(r != 0 && (r < 0) != (b < 0)))
            }
            "%" if b != 0 => {
                a.checked_rem(b).map(|r| if r != 0 && (r < 0) != (b < 0) { r + b } else { r })
            }
            "**" if b >= 0 => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
            _ => None,
        };
        if let Some(whole) = whole {
            return Ok(Value::Int(whole));
        }
    }
    let (Some(a), Some(b)) = (left.number(), right.number()) else {
        return Err(format!("`{sign}` of {} and {}", left.kind(), right.kind()));
    };
    if b == 0.0 && matches!(sign, "/" | "//" | "%") {
        return Err("a division by zero".to_owned());
    }
    Ok(Value::Float(match sign {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "//" => (a / b).floor(),
        "%" => a - b * (a / b).floor(),
        _ => libm::pow(a, b),
    }))
}

pub(super) fn fits(length: usize) -> Result<(), String> {
    if length <= LONGEST {
        return Ok(());
    }
    Err(format!("a text or list of {length}, more than {LONGEST}"))
}

pub(super) fn compare(
    sign: &str,
    left: &Value,
    right: &Value,
    scope: &mut dyn Scope,
) -> Result<bool, String> {
    let same = |a: &Value, b: &Value, scope: &mut dyn Scope| {
        a.equals(b, scope.fuel()).ok_or_else(|| TOO_LARGE.to_owned())
    };
    match sign {
        "==" => return same(left, right, scope),
        // Of values that have no identity but for None.
        "is" => return same(left, right, scope),
        "is not" => return Ok(!same(left, right, scope)?),
        "!=" => return Ok(!same(left, right, scope)?),
        "in" | "not in" => {
            let is_in = match right {
                Value::Text(whole) => match left {
                    Value::Text(part) => {
                        spend(scope, whole.len())?;
                        whole.contains(&**part)
                    }
                    _ => return Err(format!("`in` of {} and a text", left.kind())),
                },
                Value::List(items) => {
                    let mut found = false;
                    for item in items.iter() {
                        found |= same(item, left, scope)?;
                    }
                    found
                }
                Value::Table(items) => {
                    let mut found = false;
                    for (key, _) in items.iter() {
                        found |= same(key, left, scope)?;
                    }
                    found
                }
                _ => return Err(format!("`in` of {}", right.kind())),
            };
            return Ok(is_in == (sign == "in"));
        }
        _ => {}
    }
    let order = match (left, right) {
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        _ => match (left.number(), right.number()) {
            (Some(a), Some(b)) => a.partial_cmp(&b),
            _ => return Err(format!("`{sign}` of {} and {}", left.kind(), right.kind())),
        },
    };
    Ok(order.is_some_and(|order| match sign {
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    }))
}

/// Position `at` of `length`, from the end if it is negative.
fn place(at: &Value, length: usize) -> Result<usize, String> {
    let Some(at) = at.int() else { return Err(format!("an index that is {}", at.kind())) };
    let from = if at < 0 { i64::try_from(length).unwrap_or(i64::MAX) } else { 0 };
    let place = usize::try_from(at.saturating_add(from)).ok().filter(|place| *place < length);
    place.ok_or_else(|| format!("no entry {at} of {length}"))
}

pub(super) fn index(of: &Value, at: &Value, scope: &mut dyn Scope) -> Result<Value, String> {
    match of {
        Value::List(items) => Ok(items[place(at, items.len())?].clone()),
        Value::Text(text) => {
            spend(scope, text.len())?;
            let place = place(at, text.chars().count())?;
            Ok(Value::text(text.chars().skip(place).take(1).collect::<String>()))
        }
        Value::Table(items) => {
            for (key, value) in items.iter() {
                if key.equals(at, scope.fuel()).ok_or(TOO_LARGE)? {
                    return Ok(value.clone());
                }
            }
            let key = at.to_text().unwrap_or_default();
            Err(format!("the dictionary has no entry `{key}`"))
        }
        _ => Err(format!("an entry of {}", of.kind())),
    }
}

fn attribute(of: Value, name: &str, scope: &mut dyn Scope) -> Result<Value, String> {
    if let Value::Names(names) = of {
        let found = scope.name_in(names, name)?;
        return found.ok_or_else(|| format!("nothing is named `{name}` in that namespace"));
    }
    if let Value::Table(_) = of
        && let Ok(found) = index(&of, &Value::text(name), scope)
    {
        return Ok(found);
    }
    let method = METHODS.iter().find(|method| **method == name);
    match (method, &of) {
        (Some(method), Value::Text(_) | Value::Table(_)) => Ok(Value::Method(Rc::new(of), method)),
        _ => Err(format!("{} has no `{name}`", of.kind())),
    }
}

fn call(function: &Value, given: &[Value], scope: &mut dyn Scope) -> Result<Value, String> {
    match function {
        Value::Function(name) => call_function(name, given, scope),
        Value::Method(of, name) => call_method(of, name, given, scope),
        _ => Err(format!("{} is called", function.kind())),
    }
}
