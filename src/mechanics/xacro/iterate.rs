//! Functions of lists and of other values with items.

use std::rc::Rc;

use super::evaluate::{Scope, TOO_LARGE, call, entries, set_of, spend, table_of};
use super::operate::{binary, compare, fits};
use super::value::Value;

/// Value of a function of items; `None` for another name.
///
/// # Errors
/// If it does not accept these arguments.
pub(super) fn of_items(
    name: &'static str,
    given: &[Value],
    named: &[(&str, Value)],
    scope: &mut dyn Scope,
) -> Result<Option<Value>, String> {
    let wrong = || {
        let kinds: Vec<&str> = given.iter().map(Value::kind).collect();
        format!("{name}({})", kinds.join(", "))
    };
    let option = |wanted: &str| named.iter().find(|(name, _)| *name == wanted).map(|(_, v)| v);
    let list = |items: Vec<Value>| Ok(Some(Value::List(items.into())));
    let known: &[&str] = match name {
        "sorted" => &["key", "reverse"],
        "max" | "min" => &["key", "default"],
        "sum" | "enumerate" | "prod" => &["start"],
        _ => &[],
    };
    if let (Some((other, _)), true) =
        (named.iter().find(|(name, _)| !known.contains(name)), name != "dict")
    {
        return Err(format!("{name}: no argument is named `{other}`"));
    }
    Ok(Some(match (name, given) {
        ("list" | "tuple" | "set" | "frozenset", []) => sequence(name, Vec::new(), scope)?,
        ("list" | "tuple" | "set" | "frozenset", [of]) => {
            let items = entries(of, scope)?;
            sequence(name, items, scope)?
        }
        ("reversed", [of]) => return list(entries(of, scope)?.into_iter().rev().collect()),
        ("dict", _) => {
            let mut out: Vec<(Value, Value)> = match given {
                [] => Vec::new(),
                [Value::Table(entries)] => entries.to_vec(),
                [of] => {
                    let pairs = entries(of, scope)?;
                    let pair = |pair: Value| match pair.items().map(|items| &items[..]) {
                        Some([key, value]) => Ok((key.clone(), value.clone())),
                        _ => Err(wrong()),
                    };
                    pairs.into_iter().map(pair).collect::<Result<_, _>>()?
                }
                _ => return Err(wrong()),
            };
            out.extend(named.iter().map(|(name, value)| (Value::text(name), value.clone())));
            table_of(out, scope)?
        }
        ("len", [Value::Table(items)]) => length(items.len()),
        ("len", [Value::Text(text)]) => length(text.chars().count()),
        ("len", [of]) => length(of.items().ok_or_else(wrong)?.len()),
        ("all" | "any", [of]) => {
            let items = entries(of, scope)?;
            Value::Bool(match name {
                "all" => items.iter().all(Value::is_true),
                _ => items.iter().any(Value::is_true),
            })
        }
        ("enumerate", [of, start @ ..]) => {
            let start = start.first().or(option("start")).map_or(Some(0), Value::int);
            let start = start.ok_or_else(wrong)?;
            let pair = |(at, item)| Value::Tuple(Rc::new([Value::Int(at), item]));
            return list((start..).zip(entries(of, scope)?).map(pair).collect());
        }
        ("zip", _) => {
            let mut all = Vec::with_capacity(given.len());
            for of in given {
                all.push(entries(of, scope)?);
            }
            let rows = all.iter().map(Vec::len).min().unwrap_or(0);
            spend(scope, rows.saturating_mul(all.len()))?;
            let row = |at: usize| {
                Value::Tuple(all.iter().map(|items: &Vec<Value>| items[at].clone()).collect())
            };
            return list((0..rows).map(row).collect());
        }
        ("map", [function, lists @ ..]) if !lists.is_empty() => {
            let mut all = Vec::with_capacity(lists.len());
            for of in lists {
                all.push(entries(of, scope)?);
            }
            let rows = all.iter().map(Vec::len).min().unwrap_or(0);
            let mut out = Vec::with_capacity(rows);
            for at in 0..rows {
                let row: Vec<Value> = all.iter().map(|items| items[at].clone()).collect();
                spend(scope, 1 + row.len())?;
                out.push(call(function, &row, &[], scope)?);
            }
            return list(out);
        }
        ("filter", [function, of]) => {
            let mut out = Vec::new();
            for item in entries(of, scope)? {
                let is_in = match function {
                    Value::None => item.is_true(),
                    function => call(function, std::slice::from_ref(&item), &[], scope)?.is_true(),
                };
                if is_in {
                    out.push(item);
                }
            }
            return list(out);
        }
        ("max" | "min", _) => {
            let items = match given {
                [of] => entries(of, scope)?,
                _ => given.to_vec(),
            };
            let keys = keys(&items, option("key"), scope)?;
            let sign = if name == "max" { ">" } else { "<" };
            let mut best: Option<usize> = None;
            for at in 0..items.len() {
                let is_better = match best {
                    None => true,
                    Some(best) => compare(sign, &keys[at], &keys[best], scope)?,
                };
                best = if is_better { Some(at) } else { best };
            }
            let best = best.map(|at| items[at].clone()).or_else(|| option("default").cloned());
            best.ok_or_else(|| format!("{name} of nothing"))?
        }
        ("sum" | "fsum" | "prod", [of, start @ ..]) => {
            let (sign, first) = if name == "prod" { ("*", 1) } else { ("+", 0) };
            let first = if name == "fsum" { Value::Float(0.0) } else { Value::Int(first) };
            let mut whole = start.first().or(option("start")).cloned().unwrap_or(first);
            for item in entries(of, scope)? {
                if matches!(item, Value::Text(_)) {
                    return Err(wrong());
                }
                whole = binary(sign, &whole, &item, scope.fuel())?;
                spend(scope, whole.items().map_or(1, |items| items.len()))?;
            }
            whole
        }
        ("dist", [a, b]) => {
            let (a, b) = (a.items().ok_or_else(wrong)?, b.items().ok_or_else(wrong)?);
            let apart = |(a, b): (&Value, &Value)| Some(a.number()? - b.number()?);
            let all: Option<Vec<f64>> = a.iter().zip(b.iter()).map(apart).collect();
            let all = all.filter(|_| a.len() == b.len()).ok_or_else(wrong)?;
            Value::Float(all.iter().map(|x| x * x).sum::<f64>().sqrt())
        }
        ("range", _) => {
            let numbers: Option<Vec<i64>> = given.iter().map(Value::int).collect();
            let (from, to, by) = match numbers.as_deref() {
                Some([to]) => (0, *to, 1),
                Some([from, to]) => (*from, *to, 1),
                Some([from, to, by]) if *by != 0 => (*from, *to, *by),
                _ => return Err(wrong()),
            };
            let mut out = Vec::new();
            let mut at = from;
            while (by > 0 && at < to) || (by < 0 && at > to) {
                out.push(Value::Int(at));
                fits(out.len())?;
                spend(scope, 1)?;
                at = at.saturating_add(by);
            }
            return list(out);
        }
        ("sorted", [of]) => {
            let items = entries(of, scope)?;
            let keys = keys(&items, option("key"), scope)?;
            let is_down = option("reverse").is_some_and(Value::is_true);
            let sign = if is_down { ">" } else { "<" };
            // Insertion sort, which fails at two items without an order.
            let mut order: Vec<usize> = Vec::with_capacity(items.len());
            for item in 0..items.len() {
                let mut at = order.len();
                while at > 0 && compare(sign, &keys[item], &keys[order[at - 1]], scope)? {
                    spend(scope, 1)?;
                    at -= 1;
                }
                order.insert(at, item);
            }
            return list(order.into_iter().map(|at| items[at].clone()).collect());
        }
        _ => return Ok(None),
    }))
}

fn length(length: usize) -> Value {
    Value::Int(i64::try_from(length).unwrap_or(i64::MAX))
}

fn sequence(name: &str, items: Vec<Value>, scope: &mut dyn Scope) -> Result<Value, String> {
    match name {
        "list" => Ok(Value::List(items.into())),
        "tuple" => Ok(Value::Tuple(items.into())),
        _ => set_of(&items, scope),
    }
}

/// Keys by which items are compared.
fn keys(items: &[Value], key: Option<&Value>, scope: &mut dyn Scope) -> Result<Vec<Value>, String> {
    let Some(key) = key else { return Ok(items.to_vec()) };
    let mut keys = Vec::with_capacity(items.len());
    for item in items {
        keys.push(call(key, std::slice::from_ref(item), &[], scope)?);
    }
    spend(scope, keys.len()).map_err(|_| TOO_LARGE.to_owned())?;
    Ok(keys)
}
