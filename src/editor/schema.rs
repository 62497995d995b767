//! What a schema of parameters lets one write.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::grammar::{Expect, Field, Inside};

/// Levels of references that are followed.
const MOST_LEVELS: usize = 8;

/// A word that a parameter may be.
pub(crate) struct Choice {
    pub(crate) name: String,
    pub(crate) doc: String,
    /// Whether it takes something in parentheses.
    pub(crate) takes: bool,
}

/// What a parameter holds.
pub(crate) fn expect(name: &str, root: &Arc<Json>, part: Json) -> Expect {
    let is_text = parts(root, &part).iter().any(|one| has_type(one, "string"));
    let is_quantity = unit_of(root, &part).is_some();
    match name {
        "robot" if is_text => Expect::RobotName,
        "path" | "file" if is_text && !is_quantity => Expect::Path,
        _ => Expect::Schema(Arc::clone(root), part),
    }
}

fn has_type(part: &Json, name: &str) -> bool {
    part["type"] == name
        || part["type"].as_array().is_some_and(|types| types.iter().any(|ty| ty == name))
}

/// The alternatives of a part, with references followed.
fn parts(root: &Json, part: &Json) -> Vec<Json> {
    let mut found = Vec::new();
    collect(root, part, 0, &mut found);
    found
}

fn collect(root: &Json, part: &Json, level: usize, found: &mut Vec<Json>) {
    if level > MOST_LEVELS {
        return;
    }
    if let Some(path) = part["$ref"].as_str() {
        if let Some(target) = root.pointer(path.trim_start_matches('#')) {
            collect(root, target, level + 1, found);
        }
        return;
    }
    let alternatives = part["anyOf"].as_array().or_else(|| part["oneOf"].as_array());
    match alternatives {
        Some(list) => list.iter().for_each(|one| collect(root, one, level + 1, found)),
        None => found.push(part.clone()),
    }
}

/// The field that a variant with data is written as: `FeetAbove` of `FeetAbove("5 cm")`.
fn tag(part: &Json) -> Option<(&String, &Json)> {
    let fields = part["properties"].as_object()?;
    let (name, data) = fields.iter().next()?;
    (fields.len() == 1 && name.starts_with(char::is_uppercase)).then_some((name, data))
}

/// The words that a parameter may be.
pub(crate) fn choices(root: &Json, part: &Json) -> Vec<Choice> {
    let mut found = Vec::new();
    for one in parts(root, part) {
        let doc = one["description"].as_str().unwrap_or_default();
        let mut add = |name: &str, takes| {
            found.push(Choice { name: name.to_owned(), doc: doc.to_owned(), takes });
        };
        if let Some((name, _)) = tag(&one) {
            add(name, true);
        } else if let Some(name) = one["const"].as_str() {
            add(name, false);
        } else if let Some(names) = one["enum"].as_array() {
            names.iter().filter_map(Json::as_str).for_each(|name| add(name, false));
        } else if has_type(&one, "boolean") {
            add("true", false);
            add("false", false);
        }
    }
    found
}

/// The unit of a quantity.
pub(crate) fn unit_of(root: &Json, part: &Json) -> Option<String> {
    parts(root, part).iter().find_map(|one| {
        let own = one["x-unit"].as_str().map(str::to_owned);
        own.or_else(|| unit_of(root, one.get("items")?))
            .or_else(|| unit_of(root, one.get("additionalProperties")?))
    })
}

/// What may be in brackets that hold such a parameter.
pub(crate) fn inside(bracket: u8, kind: Option<&str>, root: &Arc<Json>, part: &Json) -> Inside {
    let all = parts(root, part);
    let within = |part: &Json| Expect::Schema(Arc::clone(root), part.clone());
    if bracket == b'[' {
        let items = all.iter().find_map(|one| one.get("items"));
        return items.map_or(Inside::Nothing, |items| Inside::Listed(vec![within(items)]));
    }
    if bracket == b'{' {
        let values = all.iter().find_map(|one| one.get("additionalProperties"));
        let values = values.filter(|values| values.is_object());
        return values.map_or(Inside::Nothing, |values| Inside::Names(within(values)));
    }
    let Some(kind) = kind else {
        let record = all.iter().find(|one| one["properties"].is_object() && tag(one).is_none());
        return record.map_or(Inside::Nothing, |record| fields("", root, record));
    };
    let data = all.iter().filter_map(tag).find(|(name, _)| *name == kind);
    let Some((_, data)) = data else { return Inside::Nothing };
    match parts(root, data).iter().find(|one| one["properties"].is_object() && tag(one).is_none()) {
        Some(record) => fields(kind, root, record),
        None => Inside::Listed(vec![within(data)]),
    }
}

fn fields(name: &str, root: &Arc<Json>, record: &Json) -> Inside {
    let required = record["required"].as_array();
    let properties = record["properties"].as_object().into_iter().flatten();
    let field = |(field, part): (&String, &Json)| {
        let unit = unit_of(root, part).filter(|unit| unit != "1");
        let unit = unit.map_or(String::new(), |unit| format!(" [{unit}]"));
        Field {
            name: field.clone(),
            head: format!("{field}{unit}"),
            doc: part["description"].as_str().unwrap_or_default().to_owned(),
            required: required.is_some_and(|names| names.iter().any(|one| one == field)),
            expect: expect(field, root, part.clone()),
        }
    };
    Inside::Fields(name.to_owned(), properties.map(field).collect())
}
