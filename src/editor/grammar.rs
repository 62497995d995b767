//! What may be written where: from the constructs of the language and the schemas of blocks.

use std::sync::Arc;

use legwork_diagram::{FieldManual, Manual};
use serde_json::Value as Json;

use crate::schema;
use crate::tree::{Item, Tree, Value};
use crate::vocabulary::Vocabulary;

/// What is expected at a place.
#[derive(Debug, Clone)]
pub(crate) enum Expect {
    /// A whole file.
    File,
    /// A block, or a part that holds blocks.
    Block,
    Robot,
    Ground,
    Param,
    /// A parameter that a mask declares.
    MaskParameter,
    Variant,
    /// What a hole of a mask must be.
    Ports,
    Check,
    Judged,
    Bus,
    BusField,
    PortType,
    Run,
    Solver,
    /// Names of one's own, each with this.
    Each(Box<Expect>),
    ListOf(Box<Expect>),
    /// `in:` of a block: its inputs, each with a signal.
    Wires,
    Signal,
    /// What a for-each collects.
    Collected,
    /// An expression in a text that begins with `=`; of signals too, or of parameters alone.
    Expression {
        signals: bool,
    },
    /// Part of a schema.
    Schema(Arc<Json>, Json),
    Type,
    Unit,
    /// The name of a variant or of a hole.
    Hole,
    /// The name of a choice of the variant around.
    Choice,
    Path,
    /// The name of a robot.
    RobotName,
    /// A time, a number, any value.
    Value,
    /// A text for people.
    Prose,
}

/// A field that may be written.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// Its type and default in a few words.
    pub(crate) head: String,
    pub(crate) doc: String,
    pub(crate) required: bool,
    pub(crate) expect: Expect,
}

/// What may be in the brackets of an item.
#[derive(Debug)]
pub(crate) enum Inside {
    /// Named fields of what is called so.
    Fields(String, Vec<Field>),
    /// Values without names, one after the other; the last goes on.
    Listed(Vec<Expect>),
    /// Keys of one's own.
    Names(Expect),
    /// Inputs of the block around.
    Wires,
    Nothing,
}

/// Where one is: the items around, outermost first, what is expected of each, and what may be in
/// the brackets of the innermost.
pub(crate) struct Surroundings<'t> {
    pub(crate) items: Vec<(&'t Item, Expect)>,
    pub(crate) inside: Inside,
}

/// The surroundings of `offset`.
pub(crate) fn surroundings<'t>(
    tree: &'t Tree,
    text: &str,
    offset: usize,
    words: &Vocabulary,
    file: &dyn Fn(&str) -> Option<String>,
) -> Surroundings<'t> {
    let mut items: Vec<(&Item, Expect)> = Vec::new();
    let mut inside = Inside::Listed(vec![Expect::File]);
    for (index, item) in tree.around(offset) {
        let expect = child(&inside, item, index);
        inside = inside_of(&expect, item, text, words, file);
        items.push((item, expect));
    }
    Surroundings { items, inside }
}

/// What is expected of an item in brackets of which `inside` is known.
pub(crate) fn child(inside: &Inside, item: &Item, index: usize) -> Expect {
    let found = match inside {
        Inside::Fields(_, fields) => {
            let name = item.name();
            let field = match name {
                Some(name) => fields.iter().find(|field| field.name == name),
                // `Use("qp")` gives the first field.
                None => fields.first(),
            };
            field.map(|field| field.expect.clone())
        }
        Inside::Listed(list) => list.get(index).or(list.last()).cloned(),
        Inside::Names(each) => Some(each.clone()),
        Inside::Wires => Some(Expect::Signal),
        Inside::Nothing => None,
    };
    found.unwrap_or(Expect::Value)
}

/// What may be in the brackets of an item of which `expect` is expected.
pub(crate) fn inside_of(
    expect: &Expect,
    item: &Item,
    text: &str,
    words: &Vocabulary,
    file: &dyn Fn(&str) -> Option<String>,
) -> Inside {
    let Value::Group(group) = &item.value else { return Inside::Nothing };
    let kind = item.kind.clone().and_then(|range| text.get(range));
    match (group.bracket, expect) {
        (b'{', Expect::Each(each)) => return Inside::Names((**each).clone()),
        (b'{', Expect::Wires) => return Inside::Wires,
        (b'{', Expect::Bus) => return Inside::Names(Expect::BusField),
        (b'[', Expect::ListOf(each)) => return Inside::Listed(vec![(**each).clone()]),
        (b'[', Expect::Expression { .. } | Expect::Value) => {
            return Inside::Listed(vec![expect.clone()]);
        }
        (b'[', Expect::Signal) => return Inside::Listed(vec![Expect::Signal]),
        (_, Expect::Schema(root, part)) => {
            return schema::inside(group.bracket, kind, root, part);
        }
        (b'(', _) => {}
        _ => return Inside::Nothing,
    }
    match kind {
        Some(kind) => inside_of_kind(expect, kind, item, text, words, file),
        None => {
            let name = match expect {
                Expect::Run => "run",
                Expect::Ports => "ports",
                Expect::Wires => return Inside::Wires,
                Expect::Value => "every",
                _ => return Inside::Nothing,
            };
            words.construct(name, false).map_or(Inside::Nothing, |manual| named(&manual))
        }
    }
}

/// What may be in the brackets of `kind(…)`.
fn inside_of_kind(
    expect: &Expect,
    kind: &str,
    item: &Item,
    text: &str,
    words: &Vocabulary,
    file: &dyn Fn(&str) -> Option<String>,
) -> Inside {
    let is_file = matches!(expect, Expect::File);
    match (kind, expect) {
        ("Every", Expect::Signal) => return Inside::Listed(vec![Expect::Value, Expect::Signal]),
        ("Join", Expect::Signal) => {
            return Inside::Listed(vec![Expect::ListOf(Box::new(Expect::Signal))]);
        }
        ("Bus", Expect::Signal) => {
            let fields = Expect::Each(Box::new(Expect::Signal));
            return Inside::Listed(vec![Expect::Type, fields]);
        }
        (_, Expect::Collected) => return Inside::Listed(vec![Expect::Signal]),
        ("Optional", Expect::PortType) => return Inside::Listed(vec![Expect::Type]),
        ("Always" | "Eventually" | "Finally", Expect::Check) => {
            return words
                .construct("Always", false)
                .map_or(Inside::Nothing, |manual| named_as(kind, &manual));
        }
        (_, Expect::MaskParameter) => {
            return words
                .construct("Real", false)
                .map_or(Inside::Nothing, |manual| named_as(kind, &manual));
        }
        _ => {}
    }
    if let Some(manual) = words.manual(kind) {
        let mut fields = match expect {
            Expect::Robot | Expect::Ground | Expect::File => Vec::new(),
            _ => words.construct("Kind", false).map_or_else(Vec::new, |manual| own(&manual)),
        };
        let root = Arc::new(manual.schema.clone());
        let parameters = manual.parameters.iter().map(|parameter| {
            let part = manual.schema["properties"][&parameter.name].clone();
            Field {
                name: parameter.name.clone(),
                head: parameter.head(),
                doc: parameter.doc.clone(),
                required: parameter.required,
                expect: schema::expect(&parameter.name, &root, part),
            }
        });
        fields.splice(0..0, parameters);
        return Inside::Fields(kind.to_owned(), fields);
    }
    let Some(manual) = words.construct(kind, is_file) else { return Inside::Nothing };
    let mut fields = own(&manual);
    if manual.open {
        let name = item.get("file").and_then(|name| name.text(text));
        fields.extend(name.and_then(file).map_or_else(Vec::new, |mask| of_mask(&mask)));
    }
    Inside::Fields(kind.to_owned(), fields)
}

/// The parameters and holes of a mask, from its file.
fn of_mask(text: &str) -> Vec<Field> {
    let tree = Tree::of(text, false);
    let Some(mask) = tree.items.first() else { return Vec::new() };
    let mut fields = Vec::new();
    for (section, is_hole) in [("params", false), ("holes", true)] {
        for item in mask.get(section).map_or(&[][..], Item::items) {
            let Some(name) = item.name() else { continue };
            let doc = item.get("doc").and_then(|doc| doc.text(text)).unwrap_or_default();
            let kind = item.kind(text).unwrap_or(if is_hole { "a block" } else { "" });
            let expect = match (is_hole, kind) {
                (true, _) => Expect::Block,
                (false, "Robot") => Expect::RobotName,
                (false, _) => Expect::Expression { signals: false },
            };
            fields.push(Field {
                name: name.to_owned(),
                head: format!("{name}: {kind}"),
                doc: doc.to_owned(),
                required: item.get("default").is_none(),
                expect,
            });
        }
    }
    fields
}

fn named(manual: &Manual) -> Inside {
    named_as(manual.name, manual)
}

fn named_as(name: &str, manual: &Manual) -> Inside {
    Inside::Fields(name.to_owned(), own(manual))
}

/// The fields of a construct.
fn own(manual: &Manual) -> Vec<Field> {
    let field = |field: &FieldManual| Field {
        name: field.name.to_owned(),
        head: format!("{}{}", field.name, if field.required { ", required" } else { "" }),
        doc: plain(field.doc),
        required: field.required,
        expect: expect_of(manual.name, field.name),
    };
    manual.fields.iter().chain(manual.shared).map(field).collect()
}

/// The text of a documentation comment, whose lines begin with the space behind `///`.
pub(crate) fn plain(doc: &[&str]) -> String {
    let lines: Vec<&str> = doc.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n")
}

/// What a field of a construct holds.
fn expect_of(construct: &str, field: &str) -> Expect {
    let each = |expect| Expect::Each(Box::new(expect));
    match (construct, field) {
        (_, "doc" | "title" | "label" | "reason") => Expect::Prose,
        ("Diagram" | "Mask" | "Interface", "params") if construct != "Diagram" => {
            each(Expect::MaskParameter)
        }
        (_, "params") => each(Expect::Param),
        ("ports", "in" | "out") => each(Expect::PortType),
        ("ports", "default") | ("Variant", "base") => Expect::Block,
        ("Variant" | "Choices", "default") => Expect::Choice,
        ("run", "solver") => Expect::Solver,
        ("Use", "of") => Expect::Hole,
        ("Study" | "Patch", "set" | "over") => each(Expect::Value),
        (_, "run") => Expect::Run,
        (_, "robots") => each(Expect::Robot),
        (_, "ground") => Expect::Ground,
        (_, "buses") => each(Expect::Bus),
        (_, "variants") if construct == "Diagram" => each(Expect::Variant),
        (_, "log") => Expect::ListOf(Box::new(Expect::Signal)),
        (_, "judge") => each(Expect::Judged),
        (_, "checks") => each(Expect::Check),
        (_, "holes") => each(Expect::Ports),
        (_, "ports") => Expect::Ports,
        (_, "blocks" | "body" | "choices" | "needs" | "add") => each(Expect::Block),
        (_, "in") => Expect::Wires,
        (_, "out" | "share") => each(Expect::Signal),
        (_, "by") => Expect::Signal,
        (_, "collect") => each(Expect::Collected),
        (_, "over") => each(Expect::Expression { signals: false }),
        (_, "file" | "diagram" | "with") => Expect::Path,
        (_, "unit") => Expect::Unit,
        (_, "type") => Expect::Type,
        ("Always" | "Metric", "that" | "when" | "of") => Expect::Expression { signals: true },
        (_, "value" | "min" | "max" | "default") => Expect::Expression { signals: false },
        _ => Expect::Value,
    }
}
