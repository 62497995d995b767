//! What can be written in an expression, and the units of quantities.

use std::ops::Range;

use legwork_block::{Value, expression_functions, named_units, parse_unit, unit_prefixes};

use super::{CompletionKind, List, escaped, is_of_name};
use crate::service::Asked;
use crate::tree::Item;

impl List<'_> {
    /// An expression, up to the place.
    pub(super) fn expression(&mut self, begun: &str, signals: bool) {
        let is_of_path = |c: char| is_of_name(c) || ".^[]".contains(c);
        let start = begun
            .rfind(|c| !is_of_path(c))
            .map_or(0, |at| at + begun[at..].chars().next().map_or(1, char::len_utf8));
        let word = &begun[start..];
        // `0.1[m`: a unit stands in brackets behind a number.
        if let Some((number, unit)) = word.rsplit_once('[')
            && number.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && !unit.contains(']')
        {
            let from = self.asked.offset - unit.len();
            return self.units(None, &(from..self.asked.offset), |unit| format!("{unit}]"));
        }
        let last = word.rfind('.');
        let base = last.map_or("", |at| &word[..at]);
        let from = self.asked.offset - (word.len() - last.map_or(0, |at| at + 1));
        let end = self.end_of_step(from, self.asked.text().len());
        let range = from..end;
        if base.is_empty() {
            self.expression_names(&range, signals);
        } else {
            self.facts(base, &range);
        }
        if signals {
            for port in self.asked.scope().behind(base) {
                let (head, kind) = (port.head(), CompletionKind::Signal);
                self.add((&port.name, &head, &port.doc), kind, escaped(&port.name), &range);
            }
        }
    }

    /// What an expression may begin with.
    fn expression_names(&mut self, range: &Range<usize>, signals: bool) {
        for (name, detail, doc) in names(self.asked) {
            self.add((&name, &detail, &doc), CompletionKind::Name, escaped(&name), range);
        }
        if signals {
            self.add(("t", "the time [s]", ""), CompletionKind::Name, "t".to_owned(), range);
        }
        for function in expression_functions() {
            let detail = format!("{}({})", function.name, function.arguments);
            let doc = format!("{}\n\n`{}`", function.doc, function.example);
            let insert = format!("{}($1)", function.name);
            self.add((function.name, &detail, &doc), CompletionKind::Function, insert, range);
        }
    }

    /// The facts of a robot, or the variants.
    fn facts(&mut self, base: &str, range: &Range<usize>) {
        if base == "variants" {
            let variants = self.asked.survey.map_or(&[][..], |survey| &survey.variants);
            for (name, choices) in variants {
                let doc = choices.join(", ");
                self.add((name, "the choice", &doc), CompletionKind::Name, escaped(name), range);
            }
            return;
        }
        let Some(Value::Record(facts)) = fact(self.asked, base) else { return };
        for (name, value) in facts.iter() {
            let detail = short(value);
            self.add((name, &detail, ""), CompletionKind::Name, escaped(name), range);
        }
    }

    /// The unit behind a number.
    pub(super) fn quantity(&mut self, begun: &str, unit: Option<&str>) {
        let digits = begun.trim_start();
        let end = digits.find(|c: char| !(c.is_ascii_alphanumeric() || "+-._".contains(c)));
        let Some(end) =
            end.filter(|_| digits.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)))
        else {
            return;
        };
        let rest = digits[end..].trim_start();
        let start = self.asked.offset - rest.len();
        let unit = unit.filter(|unit| !["any", "1"].contains(unit));
        self.units(unit, &(start..self.asked.offset), escaped);
    }

    /// Units, that of the parameter and those that measure the same first.
    pub(super) fn units(
        &mut self,
        wanted: Option<&str>,
        range: &Range<usize>,
        insert: impl Fn(&str) -> String,
    ) {
        let dimension = wanted.and_then(|unit| Some(parse_unit(unit).ok()?.0));
        if let Some(wanted) = wanted {
            let told = (wanted, "the unit of the parameter", "");
            self.add(told, CompletionKind::Unit, insert(wanted), range);
        }
        let (mut same, mut others) = (Vec::new(), Vec::new());
        for unit in named_units() {
            let fits = dimension == Some(unit.unit);
            let list = if fits { &mut same } else { &mut others };
            list.push((unit.name.to_owned(), unit.word.to_owned()));
            if fits && unit.takes_prefixes {
                let usual = unit_prefixes().filter(|(_, tens)| (-6..=6).contains(tens));
                list.extend(usual.map(|(prefix, tens)| {
                    (format!("{prefix}{}", unit.name), format!("1e{tens} {}", unit.name))
                }));
            }
        }
        for (name, word) in same.into_iter().chain(others) {
            self.add((&name, &word, ""), CompletionKind::Unit, insert(&name), range);
        }
    }
}

/// The names that expressions know at a place: name, what it is, what it is for.
pub(crate) fn names(asked: &Asked<'_>) -> Vec<(String, String, String)> {
    let text = asked.text();
    let mut found = Vec::new();
    let root = asked.document.tree.items.first();
    for section in ["params", "robots"] {
        let items = root.and_then(|root| root.get(section)).map_or(&[][..], Item::items);
        for item in items {
            let Some(name) = item.name() else { continue };
            let value = item.get("value").unwrap_or(item);
            let detail = text.get(value.start..value.end).unwrap_or_default();
            let detail = match &value.key {
                Some(key) => text.get(key.colon + 1..value.end).unwrap_or_default().trim(),
                None => detail,
            };
            let detail: String =
                detail.lines().next().unwrap_or_default().chars().take(60).collect();
            let doc = item.get("doc").and_then(|doc| doc.text(text)).unwrap_or_default();
            found.push((name.to_owned(), detail, doc.to_owned()));
        }
    }
    for (item, _) in &asked.around.items {
        for over in item.get("over").map_or(&[][..], Item::items) {
            if let Some(name) = over.name() {
                found.push((name.to_owned(), "each in turn".to_owned(), String::new()));
            }
        }
    }
    if root.and_then(|root| root.get("variants")).is_some() {
        let told = "the chosen variants".to_owned();
        found.push(("variants".to_owned(), told, String::new()));
    }
    found
}

/// A fact of a robot: `go.keyframes.stand.s`.
pub(crate) fn fact(asked: &Asked<'_>, path: &str) -> Option<Value> {
    let mut steps = path.split('.');
    let robot = asked.survey?.robots.get(steps.next()?)?;
    let mut at = robot.facts();
    for step in steps {
        let Value::Record(facts) = &at else { return None };
        at = facts.get(step)?.clone();
    }
    Some(at)
}

/// A value in a few words.
pub(crate) fn short(value: &Value) -> String {
    match value {
        Value::Record(facts) => {
            let names: Vec<&str> = facts.keys().map(String::as_str).take(8).collect();
            format!("{{ {} }}", names.join(", "))
        }
        Value::List(list) => format!("a list of {}", list.len()),
        other => other.to_string(),
    }
}
