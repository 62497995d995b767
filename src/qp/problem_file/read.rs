//! From text to a problem.

use super::ProblemFileError;
use crate::cone::{Cone, ConeShape, PyramidFit};
use crate::contact_problem::ContactProblemData;
use crate::problem_data::{ConeProgramData, LcpData, NamedProblem, Problem, QpData};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Result<T> = std::result::Result<T, ProblemFileError>;

const COMMON: [&str; 6] = ["format", "version", "kind", "name", "origin", "extra"];
const QP: [&str; 9] =
    ["dim", "row_count", "hessian", "gradient", "rows", "row_lower", "row_upper", "lower", "upper"];
const CONES: [&str; 4] = ["cone_row_count", "cone_rows", "cone_offset", "cone_sizes"];
const LCP: [&str; 3] = ["dim", "matrix", "vector"];
const CONTACT: [&str; 9] = [
    "contact_count",
    "cone",
    "force_scale",
    "regularisation",
    "friction",
    "bias",
    "compliance",
    "active",
    "inverse_inertia",
];

/// The problem that [`super::write`] wrote, bit by bit.
///
/// # Errors
/// [`ProblemFileError`] says where the text is no problem file, and why. All lengths fit each other
/// in what is returned; numbers may still be refused by a solver.
pub fn read(text: &str) -> Result<NamedProblem> {
    let value: Value = serde_json::from_str(text).map_err(|error| ProblemFileError::Json {
        line: error.line(),
        column: error.column(),
        message: without_place(&error.to_string()),
    })?;
    let Value::Object(map) = &value else {
        return Err(wrong("the file", "an object", &value));
    };
    let mut object = Object { map, kind: "any" };
    object.expect_word("format", &["legwork-problem"])?;
    let version = object.get("version")?;
    if version.as_u64() != Some(1) {
        return Err(wrong("version", "1", version));
    }
    let kind = object.expect_word("kind", &["qp", "cone_program", "lcp", "contact"])?;
    object.kind = kind;
    let keys: Vec<&str> = match kind {
        "qp" => [&COMMON[..], &QP].concat(),
        "cone_program" => [&COMMON[..], &QP, &CONES].concat(),
        "lcp" => [&COMMON[..], &LCP].concat(),
        _ => [&COMMON[..], &CONTACT].concat(),
    };
    object.check_keys(&keys)?;
    let problem = match kind {
        "qp" => Problem::Qp(object.qp()?),
        "cone_program" => Problem::ConeProgram(object.cone_program()?),
        "lcp" => {
            let n = object.count("dim")?;
            let (matrix, vector) = (object.matrix("matrix", n, n)?, object.list("vector", n)?);
            Problem::Lcp(LcpData { matrix, vector })
        }
        _ => Problem::Contact(object.contact()?),
    };
    let (name, origin) = (object.text("name")?.to_owned(), object.text("origin")?.to_owned());
    Ok(NamedProblem { name, origin, problem, extra: object.extra()? })
}

/// An object of which only the keys of its kind are read.
struct Object<'a> {
    map: &'a Map<String, Value>,
    kind: &'a str,
}

impl<'a> Object<'a> {
    fn get(&self, key: &str) -> Result<&'a Value> {
        self.map.get(key).ok_or_else(|| ProblemFileError::Missing {
            key: key.to_owned(),
            kind: self.kind.to_owned(),
        })
    }

    fn check_keys(&self, keys: &[&str]) -> Result<()> {
        let Some(key) = self.map.keys().find(|key| !keys.contains(&key.as_str())) else {
            return Ok(());
        };
        let near = keys.iter().map(|known| (distance(key, known), known)).min();
        let hint = match near {
            Some((d, known)) if d <= 2 => format!("; did you mean `{known}`?"),
            _ => String::new(),
        };
        let (key, kind) = (key.clone(), self.kind.to_owned());
        Err(ProblemFileError::Unknown { key, kind, hint })
    }

    fn text(&self, key: &str) -> Result<&'a str> {
        let value = self.get(key)?;
        value.as_str().ok_or_else(|| wrong(key, "text", value))
    }

    fn expect_word(&self, key: &str, words: &[&'static str]) -> Result<&'static str> {
        let value = self.get(key)?;
        let known = words.iter().find(|word| value.as_str() == Some(word));
        known.copied().ok_or_else(|| wrong(key, &one_of(words), value))
    }

    fn count(&self, key: &str) -> Result<usize> {
        count(self.get(key)?, key)
    }

    fn number(&self, key: &str) -> Result<f64> {
        number(self.get(key)?, || key.to_owned())
    }

    fn list(&self, key: &str, len: usize) -> Result<Vec<f64>> {
        list(self.get(key)?, key, len)
    }

    /// A list of bounds; `null` means `none`.
    fn bounds(&self, key: &str, len: usize, none: f64) -> Result<Vec<f64>> {
        let values = array(self.get(key)?, key, "numbers", len)?;
        let bound = |(i, value): (usize, &Value)| match value {
            Value::Null => Ok(none),
            value => number(value, || format!("{key}[{i}]")),
        };
        values.iter().enumerate().map(bound).collect()
    }

    /// A list of bounds, or an empty list.
    fn optional_bounds(&self, key: &str, len: usize, none: f64) -> Result<Vec<f64>> {
        let is_empty = self.get(key)?.as_array().is_some_and(Vec::is_empty);
        if is_empty { Ok(Vec::new()) } else { self.bounds(key, len, none) }
    }

    /// A list of `len` values or none.
    fn optional_list(&self, key: &str, len: usize) -> Result<Vec<f64>> {
        let value = self.get(key)?;
        let is_empty = value.as_array().is_some_and(Vec::is_empty);
        if is_empty { Ok(Vec::new()) } else { list(value, key, len) }
    }

    /// A list of rows, as a column-major matrix.
    fn matrix(&self, key: &str, rows: usize, columns: usize) -> Result<Vec<f64>> {
        let lines = array(self.get(key)?, key, "rows", rows)?;
        let lines: Vec<Vec<f64>> = lines
            .iter()
            .enumerate()
            .map(|(i, line)| list(line, &format!("{key}[{i}]"), columns))
            .collect::<Result<_>>()?;
        Ok((0..columns).flat_map(|j| lines.iter().map(move |line| line[j])).collect())
    }

    /// The lists of `extra`, none if the key is missing.
    fn extra(&self) -> Result<BTreeMap<String, Vec<f64>>> {
        let Some(value) = self.map.get("extra") else { return Ok(BTreeMap::new()) };
        let Value::Object(lists) = value else { return Err(wrong("extra", "an object", value)) };
        let numbers = |(key, value): (&String, &Value)| {
            let at = format!("extra.{key}");
            let len = value.as_array().map_or(0, Vec::len);
            Ok((key.clone(), list(value, &at, len)?))
        };
        lists.iter().map(numbers).collect()
    }

    fn qp(&self) -> Result<QpData> {
        let (n, m) = (self.count("dim")?, self.count("row_count")?);
        Ok(QpData {
            hessian: self.matrix("hessian", n, n)?,
            gradient: self.list("gradient", n)?,
            rows: self.matrix("rows", m, n)?,
            row_lower: self.bounds("row_lower", m, f64::NEG_INFINITY)?,
            row_upper: self.bounds("row_upper", m, f64::INFINITY)?,
            lower: self.optional_bounds("lower", n, f64::NEG_INFINITY)?,
            upper: self.optional_bounds("upper", n, f64::INFINITY)?,
        })
    }

    fn cone_program(&self) -> Result<ConeProgramData> {
        let (n, r) = (self.count("dim")?, self.count("cone_row_count")?);
        let sizes = self.get("cone_sizes")?;
        let Value::Array(values) = sizes else {
            return Err(wrong("cone_sizes", "a list", sizes));
        };
        let mut cone_sizes = Vec::with_capacity(values.len());
        for (i, value) in values.iter().enumerate() {
            let at = format!("cone_sizes[{i}]");
            match count(value, &at)? {
                0 => return Err(wrong(&at, "at least 1", value)),
                size => cone_sizes.push(size),
            }
        }
        let total = cone_sizes.iter().fold(0usize, |sum, &size| sum.saturating_add(size));
        if total != r {
            let expected = format!("a sum of {r}, the `cone_row_count`,");
            let (at, found) = (String::from("cone_sizes"), total.to_string());
            return Err(ProblemFileError::Value { at, expected, found });
        }
        Ok(ConeProgramData {
            linear: self.qp()?,
            cone_rows: self.matrix("cone_rows", r, n)?,
            cone_offset: self.list("cone_offset", r)?,
            cone_sizes,
        })
    }

    fn contact(&self) -> Result<ContactProblemData> {
        let k = self.count("contact_count")?;
        // Longer than any list in the file, and short enough that its triple is a number.
        let n = k.saturating_mul(3);
        let bias = self.list("bias", n)?;
        let mut data = ContactProblemData::new(0, self.cone()?);
        data.bias = bias;
        data.inverse_inertia = self.matrix("inverse_inertia", n, n)?;
        data.friction = self.list("friction", k)?;
        data.compliance = self.optional_list("compliance", n)?;
        data.active = self.optional_list("active", k)?;
        data.force_scale = self.number("force_scale")?;
        data.regularisation = self.number("regularisation")?;
        Ok(data)
    }

    fn cone(&self) -> Result<ConeShape> {
        let value = self.get("cone")?;
        if value.as_str() == Some("circular") {
            return Ok(ConeShape::circular());
        }
        let Value::Object(map) = value else {
            return Err(wrong("cone", "`circular` or an object with `sides` and `fit`", value));
        };
        let pyramid = Object { map, kind: self.kind };
        pyramid.check_keys(&["sides", "fit"])?;
        let sides = pyramid.count("sides")?;
        let fit = match pyramid.expect_word("fit", &["inscribed", "circumscribed"])? {
            "inscribed" => PyramidFit::Inscribed,
            _ => PyramidFit::Circumscribed,
        };
        // A table of directions is made per side.
        let is_sane = (3..=4096).contains(&sides);
        let shape = is_sane.then(|| ConeShape::new(Cone::Pyramid { sides, fit }).ok()).flatten();
        shape.ok_or_else(|| wrong("cone.sides", "3 to 4096", &map["sides"]))
    }
}

/// The parser's message without the line and column that follow it.
fn without_place(message: &str) -> String {
    message.split(" at line ").next().unwrap_or(message).to_owned()
}

fn wrong(at: &str, expected: &str, found: &Value) -> ProblemFileError {
    let found = match found {
        Value::Null => String::from("null"),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::String(text) if text.chars().count() <= 40 => format!("`{text}`"),
        Value::String(_) => String::from("a long text"),
        Value::Array(values) => format!("a list of {}", values.len()),
        Value::Object(_) => String::from("an object"),
    };
    ProblemFileError::Value { at: at.to_owned(), expected: expected.to_owned(), found }
}

fn one_of(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(" or ")
}

fn count(value: &Value, at: &str) -> Result<usize> {
    let count = value.as_u64().and_then(|v| usize::try_from(v).ok());
    count.ok_or_else(|| wrong(at, "a count", value))
}

fn array<'a>(value: &'a Value, at: &str, what: &str, len: usize) -> Result<&'a [Value]> {
    match value {
        Value::Array(values) if values.len() == len => Ok(values),
        _ => Err(wrong(at, &format!("a list of {len} {what}"), value)),
    }
}

fn list(value: &Value, at: &str, len: usize) -> Result<Vec<f64>> {
    let values = array(value, at, "numbers", len)?;
    values.iter().enumerate().map(|(i, v)| number(v, || format!("{at}[{i}]"))).collect()
}

fn number(value: &Value, at: impl Fn() -> String) -> Result<f64> {
    let parsed = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match text.as_str() {
            "inf" => Some(f64::INFINITY),
            "-inf" => Some(f64::NEG_INFINITY),
            "nan" => Some(f64::NAN),
            text => text
                .strip_prefix("nan:")
                .filter(|hex| hex.len() == 16)
                .and_then(|hex| u64::from_str_radix(hex, 16).ok())
                .map(f64::from_bits)
                .filter(|value| value.is_nan()),
        },
        _ => None,
    };
    parsed.ok_or_else(|| wrong(&at(), "a number, `inf`, `-inf` or `nan`", value))
}

/// Edit distance of two short words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
