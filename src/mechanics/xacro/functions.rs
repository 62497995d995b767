//! Functions that expressions may call.

use std::rc::Rc;

use super::evaluate::{Scope, TOO_LARGE, spend};
use super::iterate::of_items;
use super::numbers::{MATH, of_numbers};
use super::value::Value;
use super::yaml;

/// Functions of the module `xacro`.
const XACRO: [&str; 10] = [
    "abs_filename",
    "arg",
    "dotify",
    "error",
    "fatal",
    "load_yaml",
    "message",
    "print_location",
    "tokenize",
    "warning",
];

/// Built-in functions of Python, which xacro has as `python.NAME`.
const PYTHON: [&str; 36] = [
    "abs",
    "all",
    "any",
    "bool",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "frozenset",
    "int",
    "isinstance",
    "len",
    "list",
    "map",
    "max",
    "min",
    "ord",
    "chr",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "sorted",
    "str",
    "sum",
    "tuple",
    "type",
    "zip",
    "hex",
    "oct",
    "bin",
    "pow",
    "True",
    "False",
];

/// Modules and their members.
pub(super) const MODULES: [(&str, &[&str]); 3] =
    [("math", &MATH), ("python", &PYTHON), ("xacro", &XACRO)];

/// Methods of strings, of dictionaries, and of lists and sets.
pub(super) const METHODS: [&str; 43] = [
    "capitalize",
    "center",
    "count",
    "difference",
    "endswith",
    "find",
    "get",
    "index",
    "intersection",
    "isalnum",
    "isalpha",
    "isdecimal",
    "isdigit",
    "islower",
    "isnumeric",
    "isspace",
    "isupper",
    "items",
    "join",
    "keys",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "union",
    "upper",
    "values",
    "zfill",
];

/// Value of a function for arguments, named ones last.
///
/// # Errors
/// If it does not accept these arguments, or has no value for them.
pub(super) fn call_function(
    name: &'static str,
    given: &[Value],
    named: &[(&str, Value)],
    scope: &mut dyn Scope,
) -> Result<Value, String> {
    let wrong = || {
        let kinds: Vec<&str> = given.iter().map(Value::kind).collect();
        format!("{name}({})", kinds.join(", "))
    };
    spend(scope, given.len() + named.len())?;
    if let Some(value) = of_xacro(name, given, named, scope)? {
        return Ok(value);
    }
    if let Some(value) = of_items(name, given, named, scope)? {
        return Ok(value);
    }
    if let Some((other, _)) = named.first() {
        return Err(format!("{name}: no argument is named `{other}`"));
    }
    let whole = |value: f64| -> Result<Value, String> {
        #[expect(clippy::cast_possible_truncation, reason = "within the range of integers")]
        match value.abs() < 9e18 {
            true => Ok(Value::Int(value as i64)),
            false => Err(format!("{name}: {value} is no integer")),
        }
    };
    let text = |value: &Value| value.to_text().ok_or_else(|| TOO_LARGE.to_owned());
    match (name, given) {
        ("str", []) => Ok(Value::text("")),
        ("str", [value]) => Ok(Value::text(text(value)?)),
        ("repr", [value]) => {
            let list = text(&Value::List(Rc::new([value.clone()])))?;
            Ok(Value::text(&list[1..list.len() - 1]))
        }
        ("bool", []) => Ok(Value::Bool(false)),
        ("bool", [value]) => Ok(Value::Bool(value.is_true())),
        ("type", [value]) => Ok(Value::Function(type_of(value))),
        ("isinstance", [value, kinds]) => {
            let is_one = |kind: &Value| match kind {
                Value::Function(kind) => {
                    *kind == type_of(value) || (*kind == "int" && matches!(value, Value::Bool(_)))
                }
                _ => false,
            };
            Ok(Value::Bool(match kinds {
                Value::Tuple(kinds) => kinds.iter().any(is_one),
                kind @ Value::Function(_) => is_one(kind),
                _ => return Err(wrong()),
            }))
        }
        ("ord", [Value::Text(text)]) => {
            let mut letters = text.chars();
            match (letters.next(), letters.next()) {
                (Some(letter), None) => Ok(Value::Int(i64::from(u32::from(letter)))),
                _ => Err(wrong()),
            }
        }
        ("chr", [code]) => {
            let code = code.int().and_then(|code| u32::try_from(code).ok());
            let letter = code.and_then(char::from_u32).ok_or_else(wrong)?;
            Ok(Value::text(letter.to_string()))
        }
        ("hex" | "oct" | "bin", [value]) => {
            let value = value.int().ok_or_else(wrong)?;
            let (sign, size) = (if value < 0 { "-" } else { "" }, value.unsigned_abs());
            Ok(Value::text(match name {
                "hex" => format!("{sign}{size:#x}"),
                "oct" => format!("{sign}{size:#o}"),
                _ => format!("{sign}{size:#b}"),
            }))
        }
        ("divmod", [a, b]) => {
            let quotient = super::operate::binary("//", a, b, scope.fuel())?;
            let rest = super::operate::binary("%", a, b, scope.fuel())?;
            Ok(Value::Tuple(Rc::new([quotient, rest])))
        }
        ("int", []) => Ok(Value::Int(0)),
        ("float", []) => Ok(Value::Float(0.0)),
        ("int", [Value::Text(text), base]) => {
            let base = base.int().and_then(|base| u32::try_from(base).ok()).ok_or_else(wrong)?;
            if !(2..=36).contains(&base) {
                return Err(wrong());
            }
            let digits = text.trim().to_ascii_lowercase();
            let prefix = match base {
                16 => "0x",
                8 => "0o",
                2 => "0b",
                _ => "",
            };
            let digits = digits.strip_prefix(prefix).unwrap_or(&digits);
            let value = i64::from_str_radix(digits, base);
            value.map(Value::Int).map_err(|_| format!("int: `{text}` is no number"))
        }
        ("int" | "float", [Value::Text(text)]) => {
            let text = text.trim();
            match (name, text.parse::<i64>(), text.parse::<f64>()) {
                ("int", Ok(value), _) => Ok(Value::Int(value)),
                ("float", _, Ok(value)) => Ok(Value::Float(value)),
                _ => Err(format!("{name}: `{text}` is no number")),
            }
        }
        ("int" | "trunc", [value]) => whole(value.number().ok_or_else(wrong)?.trunc()),
        ("floor", [value]) => whole(value.number().ok_or_else(wrong)?.floor()),
        ("ceil", [value]) => whole(value.number().ok_or_else(wrong)?.ceil()),
        ("round", [value] | [value, Value::None]) => {
            whole(value.number().ok_or_else(wrong)?.round_ties_even())
        }
        ("round", [value, digits]) => {
            let (Some(number), Some(digits)) = (value.number(), digits.int()) else {
                return Err(wrong());
            };
            if let Value::Int(_) = value {
                if digits >= 0 {
                    return Ok(value.clone());
                }
                let power = 10_f64.powi(i32::try_from(-digits.max(-300)).unwrap_or(300));
                return whole((number / power).round_ties_even() * power);
            }
            // Python rounds the decimal digits of the number's exact value.
            let Ok(places) = usize::try_from(digits.min(300)) else {
                let power = 10_f64.powi(i32::try_from(-digits.max(-300)).unwrap_or(300));
                return Ok(Value::Float((number / power).round_ties_even() * power));
            };
            let rounded = format!("{number:.places$}").parse().map_err(|_| wrong())?;
            Ok(Value::Float(rounded))
        }
        ("abs", [value]) if value.int().is_some() => {
            Ok(Value::Int(value.int().unwrap_or(0).saturating_abs()))
        }
        ("pow", [a, b]) if a.int().is_some() && b.int().is_some_and(|b| b >= 0) => {
            // `pow` is that of `math`, which has priority.
            let value = super::operate::binary("**", a, b, scope.fuel())?;
            Ok(Value::Float(value.number().unwrap_or(f64::NAN)))
        }
        ("True", _) | ("False", _) => Err(format!("`{name}` is called")),
        _ => of_numbers(name, given),
    }
}

/// Name of the type of a value.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::None => "NoneType",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Float(_) => "float",
        Value::Text(_) => "str",
        Value::List(_) => "list",
        Value::Tuple(_) => "tuple",
        Value::Set(_) => "set",
        Value::Table(_) | Value::Names(_) => "dict",
        Value::Function(_) | Value::Lambda(_) | Value::Method(..) => "function",
    }
}

/// Value of a function of the module `xacro`; `None` for another name.
fn of_xacro(
    name: &str,
    given: &[Value],
    named: &[(&str, Value)],
    scope: &mut dyn Scope,
) -> Result<Option<Value>, String> {
    let text = |value: &Value| value.to_text().ok_or_else(|| TOO_LARGE.to_owned());
    Ok(Some(match (name, given) {
        ("arg", [Value::Text(name)]) => {
            let value = scope.argument(name);
            value.ok_or_else(|| format!("no argument is named `{name}`"))?
        }
        // The entries of a dictionary can be read as attributes without it.
        ("dotify", [Value::Table(_)]) => given[0].clone(),
        ("abs_filename", [Value::Text(name)]) => Value::text(scope.place_of(name)),
        ("load_yaml", [Value::Text(name)]) => {
            let text = scope.load(name)?;
            let read = yaml::read(&text, scope).map_err(|why| format!("{name}: {why}"))?;
            match read {
                Value::Table(_) | Value::List(_) | Value::None => read,
                // Any text is a YAML scalar; messages must not show it.
                _ => return Err(format!("{name}: expected a list or a dictionary")),
            }
        }
        // Output while a file is read is not part of the robot.
        ("message" | "warning" | "error" | "print_location", _) => Value::text(""),
        ("fatal", _) => {
            let texts: Result<Vec<String>, String> = given.iter().map(text).collect();
            return Err(texts?.join(" "));
        }
        ("tokenize", [Value::Text(of), more @ ..]) => {
            let option = |at: usize, wanted: &str| {
                let named = named.iter().find(|(name, _)| *name == wanted).map(|(_, v)| v);
                more.get(at).or(named)
            };
            let marks = option(0, "sep").map_or_else(|| Ok(",; ".to_owned()), text)?;
            let skips_empty = option(1, "skip_empty").is_none_or(Value::is_true);
            spend(scope, of.len())?;
            let parts = of.split(|c| marks.contains(c));
            let parts = parts.filter(|part| !(skips_empty && part.is_empty()));
            Value::List(parts.map(Value::text).collect())
        }
        _ => return Ok(None),
    }))
}
