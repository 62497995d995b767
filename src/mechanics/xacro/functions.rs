//! Functions and methods that expressions may call.

use std::rc::Rc;

use super::evaluate::{Bound, Scope, TOO_LARGE, binary, compare, evaluate, fits, index, spend};
use super::parse::parse;
use super::value::Value;
use super::yaml;

/// Functions of the module `xacro`.
pub(super) const MODULE: [&str; 3] = ["arg", "dotify", "load_yaml"];

/// What expressions may call.
pub(super) const FUNCTIONS: [&str; 44] = [
    "abs",
    "acos",
    "asin",
    "atan",
    "atan2",
    "bool",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "degrees",
    "dict",
    "exp",
    "fabs",
    "float",
    "floor",
    "fmod",
    "hypot",
    "int",
    "isnan",
    "len",
    "list",
    "log",
    "log10",
    "max",
    "min",
    "pow",
    "radians",
    "range",
    "round",
    "sin",
    "sinh",
    "sorted",
    "sqrt",
    "str",
    "sum",
    "tan",
    "tanh",
    "trunc",
    "tuple",
    "isinf",
    "isfinite",
    "load_yaml",
    "dotify",
];

/// Methods of texts, and of tables.
pub(super) const METHODS: [&str; 13] = [
    "lower",
    "upper",
    "strip",
    "startswith",
    "endswith",
    "replace",
    "split",
    "join",
    "title",
    "get",
    "keys",
    "values",
    "items",
];

/// The items of a list, or of the only argument that is one.
fn items(given: &[Value]) -> &[Value] {
    match given {
        [Value::List(items)] => items,
        _ => given,
    }
}

pub(super) fn call_function(
    name: &str,
    given: &[Value],
    scope: &mut dyn Scope,
) -> Result<Value, String> {
    let wrong = || {
        let kinds: Vec<&str> = given.iter().map(Value::kind).collect();
        format!("{name}({})", kinds.join(", "))
    };
    spend(scope, items(given).len())?;
    let whole = |value: f64| -> Result<Value, String> {
        #[expect(clippy::cast_possible_truncation, reason = "within the range of integers")]
        match value.abs() < 9e18 {
            true => Ok(Value::Int(value as i64)),
            false => Err(format!("{name}: {value} is no integer")),
        }
    };
    let text = |value: &Value| value.to_text().ok_or_else(|| TOO_LARGE.to_owned());
    match (name, given) {
        ("arg", [Value::Text(name)]) => {
            let value = scope.argument(name);
            return value.ok_or_else(|| format!("no argument is named `{name}`"));
        }
        // The entries of a dictionary have their names as it is.
        ("dotify", [Value::Table(_)]) => return Ok(given[0].clone()),
        ("load_yaml", [Value::Text(name)]) => {
            let text = scope.load(name)?;
            let mut number = |text: &str| {
                let mut own = Bound { values: Vec::new(), scope, may_load: false };
                let value = evaluate(&parse(text)?, &mut own)?.number();
                value.ok_or_else(|| format!("`{text}` is no number"))
            };
            let read = yaml::read(&text, &mut number).map_err(|why| format!("{name}: {why}"))?;
            return match read {
                Value::Table(_) | Value::List(_) | Value::None => Ok(read),
                // Any text is a scalar of YAML, and none of it gets into messages.
                _ => Err(format!("{name}: expected a list or a dictionary")),
            };
        }
        ("str", [value]) => return Ok(Value::text(text(value)?)),
        ("bool", [value]) => return Ok(Value::Bool(value.is_true())),
        ("list" | "tuple", [Value::List(items)]) => return Ok(Value::List(Rc::clone(items))),
        ("list" | "tuple", []) => return Ok(Value::List(Rc::new([]))),
        ("dict", []) => return Ok(Value::Table(Rc::new([]))),
        ("int" | "float", [Value::Text(text)]) => {
            let text = text.trim();
            return match (name, text.parse::<i64>(), text.parse::<f64>()) {
                ("int", Ok(value), _) => Ok(Value::Int(value)),
                ("float", _, Ok(value)) => Ok(Value::Float(value)),
                _ => Err(format!("{name}: `{text}` is no number")),
            };
        }
        ("int" | "trunc", [value]) => {
            return whole(value.number().ok_or_else(wrong)?.trunc());
        }
        ("floor", [value]) => return whole(value.number().ok_or_else(wrong)?.floor()),
        ("ceil", [value]) => return whole(value.number().ok_or_else(wrong)?.ceil()),
        ("round", [value]) => {
            return whole(value.number().ok_or_else(wrong)?.round_ties_even());
        }
        ("round", [value, digits]) => {
            let (Some(value), Some(digits)) = (value.number(), digits.int()) else {
                return Err(wrong());
            };
            // Text is rounded by the number's exact value, as Python does it.
            let places = usize::try_from(digits.min(300)).map_err(|_| wrong())?;
            let rounded = format!("{value:.places$}").parse().map_err(|_| wrong())?;
            return Ok(Value::Float(rounded));
        }
        ("abs", [value]) => {
            if let Some(value) = value.int() {
                return Ok(Value::Int(value.saturating_abs()));
            }
        }
        ("len", [Value::List(items)]) => return whole(items.len() as f64),
        ("len", [Value::Table(items)]) => return whole(items.len() as f64),
        ("len", [Value::Text(text)]) => return whole(text.chars().count() as f64),
        ("max" | "min", _) if !items(given).is_empty() => {
            let sign = if name == "max" { ">" } else { "<" };
            let mut best = items(given)[0].clone();
            for item in &items(given)[1..] {
                if compare(sign, item, &best, scope)? {
                    best = item.clone();
                }
            }
            return Ok(best);
        }
        ("sum", [Value::List(items)]) => {
            let mut sum = Value::Int(0);
            for item in items.iter() {
                sum = binary("+", &sum, item)?;
            }
            return Ok(sum);
        }
        ("range", _) => {
            let numbers: Option<Vec<i64>> = given.iter().map(Value::int).collect();
            let (from, to, by) = match numbers.as_deref() {
                Some([to]) => (0, *to, 1),
                Some([from, to]) => (*from, *to, 1),
                Some([from, to, by]) if *by > 0 => (*from, *to, *by),
                _ => return Err(wrong()),
            };
            let mut out = Vec::new();
            let mut at = from;
            while at < to {
                out.push(Value::Int(at));
                fits(out.len())?;
                spend(scope, 1)?;
                at = at.saturating_add(by);
            }
            return Ok(Value::List(out.into()));
        }
        ("sorted", [Value::List(items)]) => {
            // Insertion, which stops where two items have no order.
            let mut out: Vec<Value> = Vec::with_capacity(items.len());
            for item in items.iter() {
                let mut at = out.len();
                while at > 0 && compare("<", item, &out[at - 1], scope)? {
                    spend(scope, 1)?;
                    at -= 1;
                }
                out.insert(at, item.clone());
            }
            return Ok(Value::List(out.into()));
        }
        _ => {}
    }
    let numbers: Option<Vec<f64>> = given.iter().map(Value::number).collect();
    let numbers = numbers.ok_or_else(wrong)?;
    let value = match (name, &numbers[..]) {
        ("abs" | "fabs", [x]) => x.abs(),
        ("float", [x]) => *x,
        ("sin", [x]) => libm::sin(*x),
        ("cos", [x]) => libm::cos(*x),
        ("tan", [x]) => libm::tan(*x),
        ("asin", [x]) => libm::asin(*x),
        ("acos", [x]) => libm::acos(*x),
        ("atan", [x]) => libm::atan(*x),
        ("sinh", [x]) => libm::sinh(*x),
        ("cosh", [x]) => libm::cosh(*x),
        ("tanh", [x]) => libm::tanh(*x),
        ("atan2", [y, x]) => libm::atan2(*y, *x),
        ("hypot", [x, y]) => libm::hypot(*x, *y),
        ("pow", [x, y]) => libm::pow(*x, *y),
        ("fmod", [x, y]) => x % y,
        ("copysign", [x, y]) => x.copysign(*y),
        ("exp", [x]) => libm::exp(*x),
        ("log", [x]) => libm::log(*x),
        ("log", [x, base]) => libm::log(*x) / libm::log(*base),
        ("log10", [x]) => libm::log10(*x),
        ("radians", [x]) => x * (std::f64::consts::PI / 180.0),
        ("degrees", [x]) => x * (180.0 / std::f64::consts::PI),
        ("sqrt", [x]) => x.sqrt(),
        ("isnan", [x]) => return Ok(Value::Bool(x.is_nan())),
        ("isinf", [x]) => return Ok(Value::Bool(x.is_infinite())),
        ("isfinite", [x]) => return Ok(Value::Bool(x.is_finite())),
        _ => return Err(wrong()),
    };
    // Python refuses what has no value.
    if value.is_nan() && numbers.iter().all(|x| !x.is_nan()) {
        return Err(format!("{name} has no value there"));
    }
    Ok(Value::Float(value))
}

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
            ("items", []) => Ok(all(|(k, v)| Value::List(Rc::new([k.clone(), v.clone()])))),
            ("get", [key]) => Ok(index(of, key, scope).unwrap_or(Value::None)),
            ("get", [key, other]) => Ok(index(of, key, scope).unwrap_or_else(|_| other.clone())),
            _ => Err(wrong()),
        };
    }
    let Value::Text(text) = of else { return Err(wrong()) };
    spend(scope, text.len())?;
    let out = match (name, given) {
        ("lower", []) => text.to_lowercase(),
        ("upper", []) => text.to_uppercase(),
        ("strip", []) => text.trim().to_owned(),
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
        ("join", [Value::List(items)]) => {
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

/// `'leg_%02d' % 3`: `%s`, `%d`, `%i`, `%f` with flags, width and digits, and `%%`.
pub(super) fn format_text(pattern: &str, given: &Value) -> Result<String, String> {
    let given = match given {
        Value::List(items) => &items[..],
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
            "s" => value.to_text().ok_or_else(|| TOO_LARGE.to_owned())?,
            "d" | "i" => format!("{:.0}", value.number().ok_or_else(wrong)?.trunc()),
            "f" => format!("{:.*}", digits.unwrap_or(6), value.number().ok_or_else(wrong)?),
            _ => return Err(format!("`%{kind}` is not known; there are %s, %d, %i and %f")),
        };
        if kind != "s" && !text.starts_with('-') {
            let sign = ['+', ' '].into_iter().find(|sign| flags.contains(*sign));
            text = sign.map_or(text.clone(), |sign| format!("{sign}{text}"));
        }
        let missing = width.saturating_sub(text.chars().count());
        if flags.contains('-') {
            out.push_str(&text);
            out.push_str(&" ".repeat(missing));
        } else if flags.contains('0') && kind != "s" {
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
