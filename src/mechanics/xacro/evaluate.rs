//! Values of expressions.

use std::rc::Rc;

use super::functions::{METHODS, MODULES, call_function};
use super::methods::call_method;
use super::operate::{binary, compare, fits, index, slice, unary};
use super::parse::{Each, Expression, Kind, Lambda};
use super::value::{Names, Value};

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
    /// Absolute name of a file named relative to this one.
    fn place_of(&mut self, name: &str) -> String;
    /// The text of a file, by the name that the robot file has for it.
    ///
    /// # Errors
    /// If it cannot be read.
    fn load(&mut self, name: &str) -> Result<String, String>;
    /// Steps that may still be done.
    fn fuel(&mut self) -> &mut usize;
    /// Names bound in the expression, by comprehensions and functions around it.
    fn bound(&mut self) -> Vec<(String, Value)>;
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
        Expression::List(_)
        | Expression::Tuple(_)
        | Expression::Set(_)
        | Expression::Table(_)
        | Expression::Lambda(_) => made(expression, scope),
        Expression::Each(each) => each_of(each, scope),
        Expression::Slice(parts) => slice_of(parts, scope),
        Expression::Unary(sign, inner) => unary(sign, &evaluate(inner, scope)?),
        Expression::Binary(sign, both) => {
            let left = evaluate(&both.0, scope)?;
            match (*sign, left.is_true()) {
                ("and", false) | ("or", true) => Ok(left),
                ("and" | "or", _) => evaluate(&both.1, scope),
                _ => {
                    let right = evaluate(&both.1, scope)?;
                    paid(binary(sign, &left, &right, scope.fuel())?, scope)
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
            // Python's modules of functions keep their names, whatever names the file defines.
            if let Expression::Name(module) = &**of
                && let Some(module) = MODULES.iter().find(|(name, _)| name == module)
                && scope.name(module.0)?.is_none()
            {
                return member(module.0, name);
            }
            let of = evaluate(of, scope)?;
            attribute(of, name, scope)
        }
        Expression::Call(function, arguments, named) => called(function, arguments, named, scope),
    }
}

// Separate from `value_of`, which calls itself: its frame is small without them.

/// Value of a list, set, dictionary or tuple in an expression.
fn made(expression: &Expression, scope: &mut dyn Scope) -> Result<Value, String> {
    match expression {
        Expression::List(items) => {
            let items: Result<Vec<Value>, String> =
                items.iter().map(|item| evaluate(item, scope)).collect();
            Ok(Value::List(items?.into()))
        }
        Expression::Tuple(items) => {
            let items: Result<Vec<Value>, String> =
                items.iter().map(|item| evaluate(item, scope)).collect();
            Ok(Value::Tuple(items?.into()))
        }
        Expression::Set(items) => {
            let items: Result<Vec<Value>, String> =
                items.iter().map(|item| evaluate(item, scope)).collect();
            set_of(&items?, scope)
        }
        Expression::Lambda(lambda) => {
            let around = scope.bound();
            spend(scope, around.len())?;
            Ok(Value::Lambda(Rc::new((Rc::clone(lambda), around.into()))))
        }
        Expression::Table(items) => {
            let mut out = Vec::with_capacity(items.len());
            for (key, value) in items {
                out.push((evaluate(key, scope)?, evaluate(value, scope)?));
            }
            table_of(out, scope)
        }
        _ => Err("an expression that lists nothing".to_owned()),
    }
}

/// Result of a comprehension.
fn each_of(each: &Each, scope: &mut dyn Scope) -> Result<Value, String> {
    let mut out = Made::default();
    comprehend(each, 0, scope, &mut out)?;
    let made = match each.kind {
        Kind::List => Value::List(out.items.into()),
        Kind::Set => set_of(&out.items, scope)?,
        Kind::Table => table_of(out.keys.into_iter().zip(out.items).collect(), scope)?,
    };
    paid(made, scope)
}

/// `of[from:to:by]`.
fn slice_of(
    parts: &(Expression, [Option<Expression>; 3]),
    scope: &mut dyn Scope,
) -> Result<Value, String> {
    let (of, ends) = parts;
    let of = evaluate(of, scope)?;
    let mut end = |end: &Option<Expression>| match end {
        None => Ok(None),
        Some(end) => match evaluate(end, scope)? {
            Value::None => Ok(None),
            end => end.int().map(Some).ok_or_else(|| "a slice by no integer".to_owned()),
        },
    };
    let ends = [end(&ends[0])?, end(&ends[1])?, end(&ends[2])?];
    paid(slice(&of, ends)?, scope)
}

/// Value of a call.
fn called(
    function: &Expression,
    arguments: &[Expression],
    named: &[(String, Expression)],
    scope: &mut dyn Scope,
) -> Result<Value, String> {
    let function = evaluate(function, scope)?;
    let mut given = Vec::with_capacity(arguments.len());
    for argument in arguments {
        given.push(evaluate(argument, scope)?);
    }
    let mut by_name = Vec::with_capacity(named.len());
    for (name, value) in named {
        by_name.push((name.as_str(), evaluate(value, scope)?));
    }
    let value = call(&function, &given, &by_name, scope)?;
    paid(value, scope)
}

/// Keys and items of a comprehension so far.
#[derive(Default)]
struct Made {
    keys: Vec<Value>,
    items: Vec<Value>,
}

/// Evaluates the clauses of a comprehension from `at` on.
fn comprehend(each: &Each, at: usize, scope: &mut dyn Scope, out: &mut Made) -> Result<(), String> {
    let Some(clause) = each.clauses.get(at) else {
        if let Some(key) = &each.key {
            out.keys.push(evaluate(key, scope)?);
        }
        out.items.push(evaluate(&each.item, scope)?);
        return fits(out.items.len());
    };
    let of = evaluate(&clause.of, scope)?;
    'items: for item in entries(&of, scope)? {
        spend(scope, 1)?;
        let mut own = Bound { values: bind(&clause.names, item)?, scope, may_load: true };
        for condition in &clause.conditions {
            if !evaluate(condition, &mut own)?.is_true() {
                continue 'items;
            }
        }
        comprehend(each, at + 1, &mut own, out)?;
    }
    Ok(())
}

/// Entries that a comprehension or a function iterates over.
pub(super) fn entries(of: &Value, scope: &mut dyn Scope) -> Result<Vec<Value>, String> {
    let entries: Vec<Value> = match of {
        Value::List(items) | Value::Tuple(items) | Value::Set(items) => items.to_vec(),
        Value::Table(items) => items.iter().map(|(key, _)| key.clone()).collect(),
        Value::Text(text) => text.chars().map(|c| Value::text(c.to_string())).collect(),
        _ => return Err(format!("each of {}", of.kind())),
    };
    spend(scope, entries.len())?;
    Ok(entries)
}

/// Set of the different values.
pub(super) fn set_of(items: &[Value], scope: &mut dyn Scope) -> Result<Value, String> {
    let mut out: Vec<Value> = Vec::new();
    for item in items {
        if matches!(item, Value::List(_) | Value::Set(_) | Value::Table(_)) {
            return Err(format!("{} in a set", item.kind()));
        }
        if !item.is_among(&out, scope.fuel()).ok_or(TOO_LARGE)? {
            out.push(item.clone());
        }
    }
    // Numbers in ascending order, as Python prints sets of small ones.
    if out.iter().all(|item| item.int().is_some()) {
        out.sort_by_key(|item| item.int());
    }
    Ok(Value::Set(out.into()))
}

/// A dictionary: a later value replaces an earlier one of the same key.
pub(super) fn table_of(
    entries: Vec<(Value, Value)>,
    scope: &mut dyn Scope,
) -> Result<Value, String> {
    let mut out: Vec<(Value, Value)> = Vec::with_capacity(entries.len());
    'entries: for (key, value) in entries {
        for known in &mut out {
            if known.0.equals(&key, scope.fuel()).ok_or(TOO_LARGE)? {
                known.1 = value;
                continue 'entries;
            }
        }
        out.push((key, value));
    }
    Ok(Value::Table(out.into()))
}

/// The names of a comprehension with their values.
fn bind(names: &[String], item: Value) -> Result<Vec<(&str, Value)>, String> {
    match (names, item) {
        ([name], item) => Ok(vec![(name, item)]),
        (names, Value::List(items) | Value::Tuple(items)) if items.len() == names.len() => {
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
        match self.values.iter().rev().find(|(known, _)| *known == name) {
            Some((_, value)) => Ok(Some(value.clone())),
            None => self.scope.name(name),
        }
    }

    fn bound(&mut self) -> Vec<(String, Value)> {
        let own = self.values.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        let own: Vec<(String, Value)> = own.collect();
        let around = self.scope.bound().into_iter();
        let around = around.filter(|(name, _)| !own.iter().any(|(known, _)| known == name));
        own.iter().cloned().chain(around).collect()
    }

    fn name_in(&mut self, names: usize, name: &str) -> Result<Option<Value>, String> {
        self.scope.name_in(names, name)
    }

    fn argument(&mut self, name: &str) -> Option<Value> {
        self.scope.argument(name)
    }

    fn place_of(&mut self, name: &str) -> String {
        self.scope.place_of(name)
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

/// Counts what a new value takes, so that memory has a bound too.
fn paid(value: Value, scope: &mut dyn Scope) -> Result<Value, String> {
    match &value {
        Value::Text(text) => spend(scope, text.len() / 8)?,
        Value::List(items) | Value::Tuple(items) | Value::Set(items) => {
            spend(scope, 4 * items.len())?;
        }
        Value::Table(items) => spend(scope, 8 * items.len())?,
        _ => {}
    }
    Ok(value)
}

fn name_of(name: &str, scope: &mut dyn Scope) -> Result<Value, String> {
    if let Some(value) = scope.name(name)? {
        return Ok(value);
    }
    match name {
        "load_yaml" | "dotify" | "abs_filename" => return member("xacro", name),
        _ => {}
    }
    // Names that need `python.` in Python are known without it too.
    member("math", name)
        .or_else(|_| member("python", name))
        .map_err(|_| format!("nothing is named `{name}`"))
}

/// Value of a name in a module.
fn member(module: &str, name: &str) -> Result<Value, String> {
    if module == "math" {
        let constant = match name {
            "pi" => Some(std::f64::consts::PI),
            "e" => Some(std::f64::consts::E),
            "tau" => Some(std::f64::consts::TAU),
            "inf" => Some(f64::INFINITY),
            "nan" => Some(f64::NAN),
            _ => None,
        };
        if let Some(constant) = constant {
            return Ok(Value::Float(constant));
        }
    }
    let known = MODULES.iter().find(|(known, _)| *known == module).map_or(&[][..], |(_, all)| all);
    match known.iter().find(|known| **known == name) {
        Some(&"True") => Ok(Value::Bool(true)),
        Some(&"False") => Ok(Value::Bool(false)),
        Some(name) => Ok(Value::Function(name)),
        None => Err(format!("{module}.{name}: expected one of {}", known.join(", "))),
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
    match (METHODS.iter().find(|method| **method == name), &of) {
        (Some(method), Value::Text(_) | Value::Table(_)) => Ok(Value::Method(Rc::new(of), method)),
        (Some(method @ &("index" | "count" | "union" | "intersection" | "difference")), of)
            if of.items().is_some() =>
        {
            Ok(Value::Method(Rc::new(of.clone()), method))
        }
        _ => Err(format!("{} has no `{name}`", of.kind())),
    }
}

/// Value of a function for arguments, named ones last.
pub(super) fn call(
    function: &Value,
    given: &[Value],
    named: &[(&str, Value)],
    scope: &mut dyn Scope,
) -> Result<Value, String> {
    match function {
        Value::Function(name) => call_function(name, given, named, scope),
        Value::Method(of, name) if named.is_empty() => call_method(of, name, given, scope),
        Value::Method(_, name) => Err(format!("{name} takes no arguments with names")),
        Value::Lambda(whole) => {
            let mut depth = 0;
            let entered = (0..LAMBDA).try_for_each(|_| {
                depth += 1;
                scope.enter()
            });
            let value = entered.and_then(|()| apply(whole, given, named, scope));
            (0..depth).for_each(|_| scope.leave());
            value
        }
        _ => Err(format!("{} is called", function.kind())),
    }
}

/// Levels of nesting that a call of a `lambda` counts as.
const LAMBDA: usize = 6;

fn apply(
    whole: &(Rc<Lambda>, Names),
    given: &[Value],
    named: &[(&str, Value)],
    scope: &mut dyn Scope,
) -> Result<Value, String> {
    let (lambda, around) = whole;
    if given.len() > lambda.parameters.len() {
        let (most, found) = (lambda.parameters.len(), given.len());
        return Err(format!("lambda: expected {most} arguments, found {found}"));
    }
    let names = around.iter().map(|(name, value)| (name.as_str(), value.clone()));
    let mut own = Bound { values: names.collect(), scope, may_load: true };
    let mut values = Vec::with_capacity(lambda.parameters.len());
    for (at, (parameter, default)) in lambda.parameters.iter().enumerate() {
        let stated = named.iter().find(|(name, _)| name == parameter);
        let value = match (given.get(at), stated, default) {
            (Some(value), None, _) | (None, Some((_, value)), _) => value.clone(),
            (None, None, Some(default)) => evaluate(default, &mut own)?,
            _ => return Err(format!("lambda: `{parameter}` is missing or occurs twice")),
        };
        values.push((parameter.as_str(), value));
    }
    let is_known = |name: &str| lambda.parameters.iter().any(|(known, _)| known == name);
    if let Some((other, _)) = named.iter().find(|(name, _)| !is_known(name)) {
        return Err(format!("lambda: no parameter is named `{other}`"));
    }
    own.values.extend(values);
    evaluate(&lambda.body, &mut own)
}
