//! Methods of strings, dictionaries, lists and sets, and format strings.

use std::rc::Rc;

use super::evaluate::{Scope, TOO_LARGE, entries, set_of, spend};
use super::operate::{binary, fits, index};
use super::value::Value;

pub(super) fn call_method(
    of: &Value,
    name: &str,
    given: &[Value],
    scope: &mut dyn Scope,
) -> Result<Value, String> {
    let wrong = || format!("{name} of {}: other arguments expected", of.kind());
    if let Value::Table(entries) = of {
        spend(scope, entries.len())?;
        let all =
            |pick: fn(&(Value, Value)) -> Value| Value::List(entries.iter().map(pick).collect());
        return match (name, given) {
            ("keys", []) => Ok(all(|(key, _)| key.clone())),
            ("values", []) => Ok(all(|(_, value)| value.clone())),
            ("items", []) => Ok(all(|(k, v)| Value::Tuple(Rc::new([k.clone(), v.clone()])))),
            ("get", [key]) => Ok(index(of, key, scope).unwrap_or(Value::None)),
            ("get", [key, other]) => Ok(index(of, key, scope).unwrap_or_else(|_| other.clone())),
            _ => Err(wrong()),
        };
    }
    if let Some(items) = of.items() {
        spend(scope, items.len())?;
        let mut same = |item: &Value, other: &Value| {
            item.equals(other, scope.fuel()).ok_or_else(|| TOO_LARGE.to_owned())
        };
        match (name, given) {
            ("index" | "count", [wanted]) => {
                let mut count = 0;
                for (at, item) in items.iter().enumerate() {
                    if same(item, wanted)? {
                        if name == "index" {
                            return Ok(Value::Int(i64::try_from(at).unwrap_or(i64::MAX)));
                        }
                        count += 1;
                    }
                }
                return match name {
                    "count" => Ok(Value::Int(count)),
                    _ => Err("index: there is no such item".to_owned()),
                };
            }
            ("union" | "intersection" | "difference", [others]) => {
                let sign = match name {
                    "union" => "|",
                    "intersection" => "&",
                    _ => "-",
                };
                let [a, b] = [of, others].map(|of| entries(of, scope));
                let [a, b] = [set_of(&a?, scope)?, set_of(&b?, scope)?];
                return binary(sign, &a, &b, scope.fuel());
            }
            _ => return Err(wrong()),
        }
    }
    let Value::Text(text) = of else { return Err(wrong()) };
    spend(scope, text.len())?;
    let out = match (name, given) {
        ("lower", []) => text.to_lowercase(),
        ("upper", []) => text.to_uppercase(),
        ("strip", []) => text.trim().to_owned(),
        ("lstrip", []) => text.trim_start().to_owned(),
        ("rstrip", []) => text.trim_end().to_owned(),
        ("strip", [Value::Text(of)]) => text.trim_matches(|c| of.contains(c)).to_owned(),
        ("lstrip", [Value::Text(of)]) => text.trim_start_matches(|c| of.contains(c)).to_owned(),
        ("rstrip", [Value::Text(of)]) => text.trim_end_matches(|c| of.contains(c)).to_owned(),
        ("capitalize", []) => {
            let mut letters = text.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            first.chain(letters.flat_map(char::to_lowercase)).collect()
        }
        ("swapcase", []) => {
            let turned = text.chars().map(|c| match c.is_uppercase() {
                true => c.to_lowercase().collect::<String>(),
                false => c.to_uppercase().collect(),
            });
            turned.collect()
        }
        ("removeprefix", [Value::Text(part)]) => {
            text.strip_prefix(&**part).unwrap_or(text).to_owned()
        }
        ("removesuffix", [Value::Text(part)]) => {
            text.strip_suffix(&**part).unwrap_or(text).to_owned()
        }
        ("isdigit" | "isdecimal" | "isnumeric", []) => {
            let all = !text.is_empty() && text.chars().all(char::is_numeric);
            return Ok(Value::Bool(all));
        }
        ("isalpha", []) => {
            let all = !text.is_empty() && text.chars().all(char::is_alphabetic);
            return Ok(Value::Bool(all));
        }
        ("isalnum", []) => {
            let all = !text.is_empty() && text.chars().all(char::is_alphanumeric);
            return Ok(Value::Bool(all));
        }
        ("isspace", []) => {
            let all = !text.is_empty() && text.chars().all(char::is_whitespace);
            return Ok(Value::Bool(all));
        }
        ("islower" | "isupper", []) => {
            let is_wrong = if name == "islower" { char::is_uppercase } else { char::is_lowercase };
            let has_case = text.chars().any(|c| c.is_uppercase() || c.is_lowercase());
            return Ok(Value::Bool(has_case && !text.chars().any(is_wrong)));
        }
        ("find" | "rfind" | "index" | "rindex" | "count", [Value::Text(part)]) => {
            if name == "count" {
                let count = match part.is_empty() {
                    true => text.chars().count() + 1,
                    false => text.matches(&**part).count(),
                };
                return Ok(Value::Int(i64::try_from(count).unwrap_or(i64::MAX)));
            }
            let last = name.starts_with('r');
            let at = if last { text.rfind(&**part) } else { text.find(&**part) };
            let at = at.map(|at| i64::try_from(text[..at].chars().count()).unwrap_or(i64::MAX));
            return match at {
                Some(at) => Ok(Value::Int(at)),
                None if name.ends_with("find") => Ok(Value::Int(-1)),
                None => Err(format!("{name}: the text does not hold the other")),
            };
        }
        ("ljust" | "rjust" | "center" | "zfill", [width, fill @ ..]) => {
            let width = width.int().ok_or_else(wrong)?;
            let fill = match fill {
                [] if name == "zfill" => "0",
                [] => " ",
                [Value::Text(fill)] if name != "zfill" && fill.chars().count() == 1 => fill,
                _ => return Err(wrong()),
            };
            let width = usize::try_from(width).unwrap_or(0);
            fits(width)?;
            let missing = width.saturating_sub(text.chars().count());
            let (sign, digits) = match name {
                "zfill" if text.starts_with(['+', '-']) => text.split_at(1),
                _ => ("", &**text),
            };
            let left = match name {
                "ljust" => 0,
                "center" => missing / 2 + (missing & width & 1),
                _ => missing,
            };
            format!("{sign}{}{digits}{}", fill.repeat(left), fill.repeat(missing - left))
        }
        ("rsplit", [Value::Text(by)]) if !by.is_empty() => {
            return Ok(Value::List(text.split(&**by).map(Value::text).collect()));
        }
        ("split" | "rsplit", [Value::Text(by), most]) if !by.is_empty() => {
            let most = usize::try_from(most.int().ok_or_else(wrong)?).unwrap_or(usize::MAX - 1);
            let parts: Vec<&str> = match name {
                "split" => text.splitn(most + 1, &**by).collect(),
                _ => {
                    let mut parts: Vec<&str> = text.rsplitn(most + 1, &**by).collect();
                    parts.reverse();
                    parts
                }
            };
            return Ok(Value::List(parts.into_iter().map(Value::text).collect()));
        }
        ("splitlines", []) => {
            return Ok(Value::List(text.lines().map(Value::text).collect()));
        }
        ("partition" | "rpartition", [Value::Text(by)]) if !by.is_empty() => {
            let found = match name {
                "partition" => text.split_once(&**by),
                _ => text.rsplit_once(&**by),
            };
            let parts = match (found, name) {
                (Some((before, after)), _) => [before, by, after],
                (None, "partition") => [&**text, "", ""],
                (None, _) => ["", "", &**text],
            };
            return Ok(Value::Tuple(parts.into_iter().map(Value::text).collect()));
        }
        ("title", []) => {
            let mut is_first = true;
            let turned = text.chars().flat_map(|c| {
                let upper = std::mem::replace(&mut is_first, !c.is_alphabetic());
                let turned: Vec<char> =
                    if upper { c.to_uppercase().collect() } else { c.to_lowercase().collect() };
                turned
            });
            turned.collect()
        }
        ("startswith" | "endswith", [Value::Tuple(parts)]) => {
            let is_so = |part: &Value| match part {
                Value::Text(part) if name == "startswith" => text.starts_with(&**part),
                Value::Text(part) => text.ends_with(&**part),
                _ => false,
            };
            return Ok(Value::Bool(parts.iter().any(is_so)));
        }
        ("startswith", [Value::Text(part)]) => return Ok(Value::Bool(text.starts_with(&**part))),
        ("endswith", [Value::Text(part)]) => return Ok(Value::Bool(text.ends_with(&**part))),
        ("replace", [Value::Text(from), Value::Text(to)]) if !from.is_empty() => {
            let count = text.matches(&**from).count();
            fits(text.len().saturating_add(count.saturating_mul(to.len())))?;
            text.replace(&**from, to)
        }
        ("split", []) => {
            return Ok(Value::List(text.split_whitespace().map(Value::text).collect()));
        }
        ("split", [Value::Text(by)]) if !by.is_empty() => {
            return Ok(Value::List(text.split(&**by).map(Value::text).collect()));
        }
        ("join", [items]) => {
            let items = entries(items, scope)?;
            let mut out = String::new();
            for (i, item) in items.iter().enumerate() {
                let Value::Text(item) = item else { return Err(wrong()) };
                out.push_str(if i > 0 { text } else { "" });
                out.push_str(item);
                fits(out.len())?;
            }
            out
        }
        _ => return Err(wrong()),
    };
    Ok(Value::text(out))
}

/// `'leg_%02d' % 3`: flags, width, digits and kind, and `%%`.
pub(super) fn format_text(pattern: &str, given: &Value) -> Result<String, String> {
    let given = match given {
        Value::Tuple(items) => &items[..],
        one => std::slice::from_ref(one),
    };
    let (mut out, mut next) = (String::new(), given.iter());
    let mut rest = pattern;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let end = rest.find(|c: char| c.is_alphabetic());
        let end = end.ok_or_else(|| format!("`{pattern}` ends inside of a place"))?;
        let kind = &rest[end..=end];
        let (flags, numbers) =
            rest[..end].split_at(rest.find(|c| !"-+0 ".contains(c)).unwrap_or(end).min(end));
        let (width, digits) =
            numbers.split_once('.').map_or((numbers, None), |(w, d)| (w, Some(d)));
        let number = |text: &str| match text {
            "" => Ok(0),
            text => text.parse::<usize>().map_err(|_| format!("`%{}` is not known", &rest[..=end])),
        };
        let (width, digits) = (number(width)?, digits.map(number).transpose()?);
        fits(width.max(digits.unwrap_or(0)))?;
        let value =
            next.next().ok_or_else(|| format!("`{pattern}` has more places than values"))?;
        let wrong = || format!("`%{kind}` of {}", value.kind());
        let mut text = match kind {
            "s" => {
                let text = value.to_text().ok_or_else(|| TOO_LARGE.to_owned())?;
                text.chars().take(digits.unwrap_or(usize::MAX)).collect()
            }
            "d" | "i" => format!("{:.0}", value.number().ok_or_else(wrong)?.trunc()),
            "f" | "F" => {
                format!("{:.*}", digits.unwrap_or(6), value.number().ok_or_else(wrong)?)
            }
            "e" | "E" => {
                let number = value.number().ok_or_else(wrong)?;
                let text = scientific(number, digits.unwrap_or(6));
                if kind == "E" { text.to_uppercase() } else { text }
            }
            "g" => shortest(value.number().ok_or_else(wrong)?, digits.unwrap_or(6)),
            "r" => Value::List(Rc::new([value.clone()]))
                .to_text()
                .and_then(|text| Some(text.strip_prefix('[')?.strip_suffix(']')?.to_owned()))
                .ok_or_else(|| TOO_LARGE.to_owned())?,
            "x" => format!("{:x}", value.int().filter(|x| *x >= 0).ok_or_else(wrong)?),
            "X" => format!("{:X}", value.int().filter(|x| *x >= 0).ok_or_else(wrong)?),
            "o" => format!("{:o}", value.int().filter(|x| *x >= 0).ok_or_else(wrong)?),
            _ => {
                let known = "%s, %r, %d, %i, %f, %e, %g, %x, %X and %o";
                return Err(format!("`%{kind}` is not known; there are {known}"));
            }
        };
        if !matches!(kind, "s" | "r") && !text.starts_with('-') {
            let sign = ['+', ' '].into_iter().find(|sign| flags.contains(*sign));
            text = sign.map_or(text.clone(), |sign| format!("{sign}{text}"));
        }
        let missing = width.saturating_sub(text.chars().count());
        if flags.contains('-') {
            out.push_str(&text);
            out.push_str(&" ".repeat(missing));
        } else if flags.contains('0') && !matches!(kind, "s" | "r") {
            let digits = text.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
            out.push_str(&text[..digits]);
            out.push_str(&"0".repeat(missing));
            out.push_str(&text[digits..]);
        } else {
            out.push_str(&" ".repeat(missing));
            out.push_str(&text);
        }
        fits(out.len())?;
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    match next.next() {
        None => Ok(out),
        Some(_) => Err(format!("`{pattern}` has fewer places than values")),
    }
}

/// `1.5e+03`.
fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    match text.split_once('e').map(|(digits, power)| (digits, power.parse::<i32>())) {
        Some((digits, Ok(power))) => {
            let sign = if power < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", power.abs())
        }
        _ => text,
    }
}

/// `%g`: this many significant digits, without trailing zeros.
fn shortest(value: f64, digits: usize) -> String {
    let digits = digits.max(1);
    let text = scientific(value, digits - 1);
    let Some((_, power)) = text.split_once('e') else { return text };
    let power: i32 = power.parse().unwrap_or(0);
    let most = i32::try_from(digits).unwrap_or(i32::MAX);
    let bare = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..most).contains(&power) {
        let places = usize::try_from(most.saturating_sub(1).saturating_sub(power)).unwrap_or(0);
        return bare(&format!("{value:.places$}"));
    }
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{power}", bare(digits))
}
