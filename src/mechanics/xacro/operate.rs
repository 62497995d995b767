//! Operators on values.

use std::rc::Rc;

use super::evaluate::{Scope, TOO_LARGE, spend};
use super::methods::format_text;
use super::value::{LONGEST, Value};

pub(super) fn unary(sign: &str, inner: &Value) -> Result<Value, String> {
    if sign == "not" {
        return Ok(Value::Bool(!inner.is_true()));
    }
    if sign == "~" {
        let value = inner.int().ok_or_else(|| format!("`~` of {}", inner.kind()))?;
        return Ok(Value::Int(!value));
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

/// Items of a list, repeated.
fn repeated(items: &[Value], count: &Value) -> Result<Rc<[Value]>, String> {
    let count = count.int().ok_or_else(|| format!("`*` of a list and {}", count.kind()))?;
    let count = usize::try_from(count).unwrap_or(0);
    fits(items.len().saturating_mul(count))?;
    Ok(std::iter::repeat_n(items, count).flatten().cloned().collect())
}

/// Intersection, union, symmetric difference or difference of two sets.
fn sets(sign: &str, a: &[Value], b: &[Value], fuel: &mut usize) -> Result<Value, String> {
    let mut out = Vec::new();
    for (own, other, is_first) in [(a, b, true), (b, a, false)] {
        for item in own {
            let is_in_other = item.is_among(other, fuel).ok_or(TOO_LARGE)?;
            let is_kept = match sign {
                "|" => is_first || !is_in_other,
                "&" => is_first && is_in_other,
                "-" => is_first && !is_in_other,
                _ => !is_in_other,
            };
            if is_kept {
                out.push(item.clone());
            }
        }
    }
    Ok(Value::Set(out.into()))
}

/// Value of an operator with two operands; `fuel` counts comparisons.
pub(super) fn binary(
    sign: &str,
    left: &Value,
    right: &Value,
    fuel: &mut usize,
) -> Result<Value, String> {
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
        ("+", Value::Tuple(a), Value::Tuple(b)) => {
            fits(a.len() + b.len())?;
            return Ok(Value::Tuple(a.iter().chain(b.iter()).cloned().collect()));
        }
        ("*", Value::List(items), count) | ("*", count, Value::List(items)) => {
            return repeated(items, count).map(Value::List);
        }
        ("*", Value::Tuple(items), count) | ("*", count, Value::Tuple(items)) => {
            return repeated(items, count).map(Value::Tuple);
        }
        ("|" | "&" | "^" | "-", Value::Set(a), Value::Set(b)) => return sets(sign, a, b, fuel),
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
            "|" => Some(a | b),
            "^" => Some(a ^ b),
            "&" => Some(a & b),
            "<<" => u32::try_from(b).ok().and_then(|b| 2_i64.checked_pow(b)?.checked_mul(a)),
            ">>" if b >= 0 => Some(a >> b.min(63)),
            _ => None,
        };
        let both = matches!((left, right), (Value::Bool(_), Value::Bool(_)));
        match whole {
            Some(whole) if both && matches!(sign, "|" | "^" | "&") => {
                return Ok(Value::Bool(whole != 0));
            }
            Some(whole) => return Ok(Value::Int(whole)),
            None if matches!(sign, "<<" | ">>") => {
                return Err(format!("`{sign}` of {a} and {b} is too large"));
            }
            None => {}
        }
    }
    let (Some(a), Some(b)) = (left.number(), right.number()) else {
        return Err(format!("`{sign}` of {} and {}", left.kind(), right.kind()));
    };
    if matches!(sign, "|" | "^" | "&" | "<<" | ">>") {
        return Err(format!("`{sign}` of {} and {}", left.kind(), right.kind()));
    }
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
        // Identity is equality here: apart from None, values have no identity.
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
                Value::List(items) | Value::Tuple(items) | Value::Set(items) => {
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
    if let (Value::Set(a), Value::Set(b)) = (left, right) {
        let (a, b) = if sign.starts_with('<') { (a, b) } else { (b, a) };
        for item in a.iter() {
            if !item.is_among(b, scope.fuel()).ok_or(TOO_LARGE)? {
                return Ok(false);
            }
        }
        return Ok(sign.ends_with('=') || a.len() < b.len());
    }
    if let (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) = (left, right) {
        // The first items that differ decide the order.
        scope.enter()?;
        for (a, b) in a.iter().zip(b.iter()) {
            if !same(a, b, scope)? {
                let is_so = compare(sign, a, b, scope);
                scope.leave();
                return is_so;
            }
        }
        scope.leave();
        let [a, b] = [a, b].map(|items| Value::Int(i64::try_from(items.len()).unwrap_or(i64::MAX)));
        return compare(sign, &a, &b, scope);
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

/// Position `at` in `length` items, counted from the end if negative.
fn place(at: &Value, length: usize) -> Result<usize, String> {
    let Some(at) = at.int() else { return Err(format!("an index that is {}", at.kind())) };
    let from = if at < 0 { i64::try_from(length).unwrap_or(i64::MAX) } else { 0 };
    let place = usize::try_from(at.saturating_add(from)).ok().filter(|place| *place < length);
    place.ok_or_else(|| format!("no entry {at} of {length}"))
}

pub(super) fn index(of: &Value, at: &Value, scope: &mut dyn Scope) -> Result<Value, String> {
    match of {
        Value::List(items) | Value::Tuple(items) => Ok(items[place(at, items.len())?].clone()),
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

/// `of[from:to:by]`; negative positions count from the end.
pub(super) fn slice(of: &Value, [from, to, by]: [Option<i64>; 3]) -> Result<Value, String> {
    let by = by.unwrap_or(1);
    if by == 0 {
        return Err("a slice by steps of 0".to_owned());
    }
    let places = |length: usize| -> Vec<usize> {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let (low, high) = if by > 0 { (0, length) } else { (-1, length - 1) };
        let place =
            |at: i64| (if at < 0 { at.saturating_add(length) } else { at }).clamp(low, high);
        let (first, last) = if by > 0 { (low, high) } else { (high, low) };
        let (mut at, to) = (from.map_or(first, place), to.map_or(last, place));
        let mut places = Vec::new();
        while (by > 0 && at < to) || (by < 0 && at > to) {
            places.extend(usize::try_from(at));
            at = at.saturating_add(by);
        }
        places
    };
    let chosen =
        |items: &[Value]| places(items.len()).iter().map(|&at| items[at].clone()).collect();
    match of {
        Value::List(items) => Ok(Value::List(chosen(items))),
        Value::Tuple(items) => Ok(Value::Tuple(chosen(items))),
        Value::Text(text) => {
            let all: Vec<char> = text.chars().collect();
            Ok(Value::text(places(all.len()).iter().map(|&at| all[at]).collect::<String>()))
        }
        _ => Err(format!("a slice of {}", of.kind())),
    }
}
