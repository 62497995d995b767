//! Headers of tables: name, label and unit of a column.

use super::units::{ColumnUnit, resembles_a_unit};

/// The parts of a column's name, written `body.state.base.position[2] (z) [m]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnName<'t> {
    /// The name alone, such as a path.
    pub name: &'t str,
    /// Another name, such as that of a joint.
    pub label: Option<&'t str>,
    /// The unit.
    pub unit: Option<&'t str>,
}

impl std::fmt::Display for ColumnName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = self.name.to_owned();
        if let Some(label) = self.label {
            text = format!("{text} ({label})");
        }
        match self.unit {
            Some(unit) => write!(f, "{text} [{unit}]"),
            // A name or label that resembles a unit is followed by the unit one.
            None if !Column::parse(&text).is_plain_name() => write!(f, "{text} [1]"),
            None => f.write_str(&text),
        }
    }
}

/// A header cell, in the spellings of this project and of others: `x [ms]`, `x[ms]`, `x (ms)`,
/// `x in ms`, `x, ms`, `x/ms`, `x_ms`, `x ms`.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The whole cell.
    pub text: String,
    /// The name without label and unit.
    pub name: String,
    /// Another name, such as that of a joint, in parentheses after an element `x[0]`.
    pub label: Option<String>,
    stated: Stated,
}

/// The unit of a header cell.
#[derive(Debug, Clone, PartialEq)]
enum Stated {
    None,
    Known(ColumnUnit),
    /// Text in the place of a unit, with the reason why it is not a unit.
    Unknown(String),
    /// The end of a name that may be a unit: `x_ms` is perhaps `x` in `ms`.
    Suffix {
        base: String,
        unit: ColumnUnit,
        is_plain: bool,
    },
}

/// Interpretation of the numbers of a column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// The unit; without one, numbers are read as written.
    pub unit: Option<ColumnUnit>,
    /// Warning if another interpretation is possible.
    pub warning: Option<String>,
}

/// Units that often have another meaning in tables of measurements.
const TWO_MEANINGS: [(&str, &str); 3] = [
    ("g", "grams; accelerations in multiples of gravity need the unit m/s^2"),
    ("C", "coulombs; temperatures need the unit K"),
    ("F", "farads; temperatures need the unit K"),
];

impl Column {
    /// Reads a header cell.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let (name, label, stated) = parts(text);
        let label = label.map(str::to_owned);
        Self { text: text.to_owned(), name: name.to_owned(), label, stated }
    }

    /// The name without a unit, even without one that [`Column::reading`] reads at its end.
    pub fn base(&self) -> &str {
        match &self.stated {
            Stated::Suffix { base, .. } => base,
            _ => &self.name,
        }
    }

    /// The unit as written in its place.
    pub fn unit_text(&self) -> Option<&str> {
        match &self.stated {
            Stated::Known(unit) => Some(&unit.written),
            _ => None,
        }
    }

    /// True if the whole cell is read as a name without a unit.
    fn is_plain_name(&self) -> bool {
        self.reading(&self.text) == Ok(Reading::default())
    }

    /// Interpretation of the column's numbers if the column is requested by the name `asked`. A
    /// unit at the end of a name, as in `x_mm`, counts if `asked` is the rest of the name.
    /// Otherwise it counts with a warning, unless it may as well be a part of the name (`x_min`,
    /// `x_g`).
    ///
    /// # Errors
    /// A message if the unit is not known.
    pub fn reading(&self, asked: &str) -> Result<Reading, String> {
        let text = &self.text;
        match &self.stated {
            Stated::None => Ok(Reading::default()),
            Stated::Unknown(why) => Err(format!(
                "column `{text}`: {why}. Units are in brackets, as in `{} [N]`; `[1]` is a plain \
                 number",
                self.name
            )),
            Stated::Known(unit) => {
                let two = TWO_MEANINGS.iter().find(|(name, _)| *name == unit.written);
                let warning = two.map(|(name, meaning)| {
                    format!("column `{text}`: `{name}` is read as {meaning}")
                });
                Ok(Reading { unit: Some(unit.clone()), warning })
            }
            Stated::Suffix { base, unit, .. } if asked == base && asked != text => {
                Ok(Reading { unit: Some(unit.clone()), warning: None })
            }
            Stated::Suffix { base, unit, is_plain } => {
                let written = &unit.written;
                let other = format!("`{base} [{written}]`");
                Ok(match (is_plain, unit.is_base()) {
                    (true, _) => Reading {
                        warning: Some(format!(
                            "column `{text}` is read in {written}; write {other}, or `{text} [1]` \
                             for a plain number"
                        )),
                        unit: Some(unit.clone()),
                    },
                    (false, true) => Reading::default(),
                    (false, false) => Reading {
                        unit: None,
                        warning: Some(format!(
                            "column `{text}` is read without a unit; write {other} if it is in \
                             {written}"
                        )),
                    },
                })
            }
        }
    }

    /// Unit of a column of times: a unit at the end of its name counts.
    ///
    /// # Errors
    /// A message if the unit is not known or not a unit of time.
    pub fn time_reading(&self) -> Result<Option<ColumnUnit>, String> {
        let unit = self.reading(self.base())?.unit;
        match unit {
            Some(unit) if !unit.unit.agrees(legwork_block::Unit::SECOND) => {
                let (name, found) = (self.base(), unit.unit);
                Err(format!("expected the column `{name}` in s, found {found}"))
            }
            unit => Ok(unit),
        }
    }

    /// True if the name is one for times: `t`, `time`, `timestamp`, with a unit or without.
    pub fn is_time(&self) -> bool {
        self.base() == "t" || TIMES.contains(&self.base().to_lowercase().as_str())
    }
}

/// Names of times besides `t`.
const TIMES: [&str; 4] = ["time", "timestamp", "time_stamp", "times"];

/// Columns of a table under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The place of the column.
    One(usize),
    /// Columns that differ in their units alone, as their header cells.
    Several(Vec<String>),
    /// Nothing.
    None,
}

impl Found {
    /// The place of the column.
    ///
    /// # Errors
    /// A sentence for a message if the table has several; `None` if it has none.
    pub fn one(self) -> Result<usize, Option<String>> {
        match self {
            Self::One(at) => Ok(at),
            Self::None => Err(None),
            Self::Several(cells) => {
                let cells: Vec<String> = cells.iter().map(|cell| format!("`{cell}`")).collect();
                let (count, all) = (cells.len(), cells.join(", "));
                Err(Some(format!("expected one column of this name, found {count}: {all}")))
            }
        }
    }
}

/// Finds the column `asked`: by its whole cell, by its name, or by its name without the unit at its
/// end. The name `t` also means a single column `time` or `timestamp`.
pub(super) fn find(columns: &[Column], asked: &str) -> Found {
    let by = |is_it: &dyn Fn(&Column) -> bool| {
        let found: Vec<usize> = (0..columns.len()).filter(|at| is_it(&columns[*at])).collect();
        match found[..] {
            [] => Found::None,
            [at] => Found::One(at),
            _ => Found::Several(found.iter().map(|at| columns[*at].text.clone()).collect()),
        }
    };
    let ways: [&dyn Fn(&Column) -> bool; 4] = [
        &|column| column.text == asked,
        &|column| column.name == asked,
        &|column| column.base() == asked,
        &|column| asked == "t" && column.is_time(),
    ];
    ways.into_iter().map(by).find(|found| *found != Found::None).unwrap_or(Found::None)
}

/// Name, label and unit.
fn parts(text: &str) -> (&str, Option<&str>, Stated) {
    for (open, close) in [('[', ']'), ('{', '}'), ('<', '>'), ('(', ')')] {
        if let Some((before, inside)) = enclosed(text, open, close) {
            if let Some(found) = in_brackets(text, before, inside, open) {
                return found;
            }
            break;
        }
    }
    if let Some((name, unit)) = text.rsplit_once(" in ")
        && !name.trim().is_empty()
    {
        return (name.trim(), None, in_place(unit));
    }
    suffix(text)
}

fn in_place(unit: &str) -> Stated {
    match ColumnUnit::parse(unit) {
        Ok(unit) => Stated::Known(unit),
        Err(why) => Stated::Unknown(why),
    }
}

/// Text before the pair of brackets at the end of a text, and the text inside.
fn enclosed(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    let end = text.strip_suffix(close)?;
    let mut depth = 1;
    let start = end.char_indices().rev().find_map(|(at, c)| {
        depth += i32::from(c == close) - i32::from(c == open);
        (depth == 0).then_some(at)
    })?;
    Some((&text[..start], &end[start + open.len_utf8()..]))
}

fn in_brackets<'t>(
    text: &'t str,
    before: &'t str,
    inside: &'t str,
    open: char,
) -> Option<(&'t str, Option<&'t str>, Stated)> {
    let name = before.trim_end();
    if name.is_empty() {
        return Some((text, None, Stated::None));
    }
    let is_apart = name.len() < before.len();
    if open == '(' {
        // For example `v/(m/s)`.
        let (name, is_quotient) = match name.strip_suffix('/') {
            Some(name) if !name.trim().is_empty() => (name.trim_end(), true),
            _ => (name, false),
        };
        return match ColumnUnit::parse(inside) {
            // `x(t)` is a function of time.
            Ok(_) if !is_apart && inside == "t" => None,
            Ok(unit) => Some((name, None, Stated::Known(unit))),
            Err(_) if !is_apart && !is_quotient => None,
            Err(_) if name.ends_with(']') => Some((name, Some(inside.trim()), Stated::None)),
            Err(why) => Some((name, Some(inside.trim()), Stated::Unknown(why))),
        };
    }
    let is_index = |c: char| c.is_ascii_digit() || ",: ".contains(c);
    if !is_apart && (inside.chars().all(is_index) || inside.contains(' ')) {
        return None;
    }
    match ColumnUnit::parse(inside) {
        Err(_) if !is_apart => None,
        Ok(_) if inside.trim().is_empty() => Some(labelled(name, Stated::None)),
        Ok(unit) => Some(labelled(name, Stated::Known(unit))),
        Err(why) => Some(labelled(name, Stated::Unknown(why))),
    }
}

/// A name before its unit, with a label in parentheses or without.
fn labelled(name: &str, stated: Stated) -> (&str, Option<&str>, Stated) {
    match enclosed(name, '(', ')') {
        Some((before, label)) if before.ends_with(' ') && !before.trim().is_empty() => {
            let label = Some(label.trim()).filter(|label| !label.is_empty());
            (before.trim_end(), label, stated)
        }
        _ => (name, None, stated),
    }
}

/// Units that are unlikely to be a part of a name.
const PLAIN: [&str; 34] = [
    "ms", "us", "µs", "μs", "ns", "sec", "secs", "seconds", "msec", "usec", "mm", "cm", "km", "kN",
    "mN", "Nm", "mNm", "kNm", "Nmm", "kg", "deg", "degrees", "rpm", "mA", "mV", "kV", "kW", "kPa",
    "MPa", "kHz", "MHz", "dps", "mps", "kmh",
];

/// Units that are not read, and are unlikely to be a part of a name.
const FOREIGN: [&str; 8] = ["lbf", "lbs", "kgf", "inch", "inches", "ft", "mph", "knots"];

/// A unit at the end of a name without brackets: `x, ms`, `x/ms`, `x_ms`, `x_m_s`, `x ms`.
fn suffix(text: &str) -> (&str, Option<&str>, Stated) {
    let whole = |stated| (text, None, stated);
    if text.ends_with([']', ')']) {
        return whole(Stated::None);
    }
    if let Some((base, unit)) = text.rsplit_once(", ").filter(|(base, _)| !base.trim().is_empty()) {
        return match ColumnUnit::parse(unit) {
            Ok(unit) => (base.trim(), None, Stated::Known(unit)),
            Err(why) if resembles_a_unit(unit.trim()) => whole(Stated::Unknown(why)),
            Err(_) => whole(Stated::None),
        };
    }
    let found = |base: &str, unit: &str, is_plain: bool| {
        let base = base.trim_end();
        let has_letter = unit.chars().any(|c| c.is_alphabetic() || "°%".contains(c));
        let has_digit = unit.contains(|c: char| c.is_ascii_digit()) && !is_plain;
        let unit = ColumnUnit::parse(unit).ok().filter(|_| has_letter && !has_digit)?;
        let (base, is_plain) = (base.to_owned(), is_plain || PLAIN.contains(&&*unit.written));
        (!base.is_empty()).then_some(Stated::Suffix { base, unit, is_plain })
    };
    // `force,kN` in quotes.
    if let Some((base, unit)) = text.rsplit_once(',')
        && let Some(stated) = found(base, unit.trim(), false)
    {
        return whole(stated);
    }
    // `x/ms` and `v/m/s`, but not `/imu/x/m` of topics with slashes.
    if let Some((base, unit)) = text.split_once('/').filter(|(base, _)| !base.is_empty())
        && let Some(stated) = found(base, unit.trim(), unit.contains('/'))
    {
        return whole(stated);
    }
    for separator in ['_', ' '] {
        if let Some((base, unit)) = text.rsplit_once(separator)
            && !base.trim().is_empty()
            && FOREIGN.contains(&unit)
            && let Err(why) = ColumnUnit::parse(unit)
        {
            return whole(Stated::Unknown(why));
        }
        let mut ends: Vec<(usize, &str)> = text.rmatch_indices(separator).collect();
        ends.truncate(3);
        // The longest first: `v_m_per_s`, `v_m_s`, `t_ms`.
        for (at, _) in ends.into_iter().rev() {
            let (base, unit) = (&text[..at], &text[at + 1..]);
            let words: Vec<&str> = unit.split(separator).collect();
            let stated = match words[..] {
                [one] => found(base, one, false),
                [above, below] => quotient(above, below).and_then(|unit| found(base, &unit, true)),
                [above, "per", below] => found(base, &format!("{above}/{below}"), true),
                _ => None,
            };
            if let Some(stated) = stated {
                return whole(stated);
            }
        }
    }
    whole(Stated::None)
}

/// `m` and `s2` of `a_m_s2`: a unit of length or angle per time.
fn quotient(above: &str, below: &str) -> Option<String> {
    let is_above = ["m", "mm", "cm", "km", "rad", "deg", "rev"].contains(&above);
    let is_below = ["s", "s2", "h"].contains(&below);
    (is_above && is_below).then(|| format!("{above}/{below}"))
}
