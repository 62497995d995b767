//! Masks: their files, their parameters, their filled holes.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use indexmap::IndexMap;
use legwork_block::{Diagnostic, Diagnostics, Node, Resources, Scope, Unit, Value, code};

use super::composite::Inside;
use super::file::construct_in;
use super::origins::{MaskUse, Origin};
use super::structural::At;
use super::tree::{Around, Env, Hole, Item};
use super::value::in_unit;
use super::{Expander, check_format};
use crate::language::{
    self, Construct, Entries, Entry, Inputs, Interface, Read, Text, What, Word, construct,
    name_span,
};
use crate::patch;

construct! {
    /// A part whose inside is in a file of its own, with parameters and holes that its user fills.
    ///
    /// ```ron
    /// "limited": Mask(
    ///     file: "std:help/limited.mask", k: 2.0, limit: Saturation(lower: -1.0, upper: 1.0),
    ///     in: { "u": "wave.y" },
    /// ),
    /// ```
    "Mask" open:
    pub(super) struct Mask<'n> {
        /// Path of the file, beside the diagram or above it; with `std:` in front, a built-in one.
        file: Text<'n> =
            required("where is the mask?", "Mask(file: \"std:masks/gauss_contact.ron\", …)"),
        /// The source of each input.
        inputs as "in": Option<Inputs>,
        /// What it is for.
        doc: Option<Text<'n>>,
    }
}

construct! {
    /// The file of a mask. Blocks inside see its parameters, its holes and its inputs, nothing
    /// else.
    ///
    /// ```ron
    /// Mask(
    ///     doc: "A gain, and behind it what the user puts there; by default nothing.",
    ///     params: { "k": Real(unit: "1", min: 0.0, default: 1.0, doc: "the gain") },
    ///     holes: { "limit": (in: { "u": "Real" }, out: { "y": "Real" }, default: Gain(gain: 1.0)) },
    ///     ports: (in: { "u": "Real" }, out: { "y": "Real" }),
    ///     blocks: {
    ///         "scaled": Gain(gain: "=k", in: { "u": "^u" }),
    ///         "after":  Use(of: "limit", in: { "u": "scaled.y" }),
    ///     },
    ///     out: { "y": "after.y" },
    /// )
    /// ```
    "Mask":
    pub(super) struct MaskFile<'n> {
        /// Version of the file format: 2.
        format: Option<&'n Node>,
        /// What it is for.
        doc: Option<Text<'n>>,
        /// Parameters: `Robot(…)`, `Real(…)`, `Int(…)`, `Bool(…)`, `Text(…)`, `Name(…)`, `List(…)`
        /// or `Any(…)`, each with `default`, `min` and `max` as it needs.
        params: Option<Entries<'n, OfParameters>>,
        /// Holes that the user fills with a block, and the ports that it must have.
        holes: Option<Entries<'n, OfHoles>>,
        ..inside: Inside
    }
}

construct! {
    /// A parameter of a mask: its kind is `Robot`, `Real`, `Int`, `Bool`, `Text`, `Name`, `List` or
    /// `Any`.
    ///
    /// ```ron
    /// params: { "k": Real(unit: "1", min: 0.0, default: 1.0, doc: "the gain") },
    /// ```
    "Real":
    pub(super) struct Parameter<'n> {
        /// What it is if the user of the mask does not say. Parameters before it are known.
        default: Option<&'n Node>,
        /// What it, or an element of it, is in, such as `"N/m"`; `"1"` of a pure number. A value
        /// without unit takes it.
        unit: Option<Text<'n>>,
        /// The least that it, or an element of it, may be.
        min: Option<&'n Node>,
        /// The most that it, or an element of it, may be.
        max: Option<&'n Node>,
        /// What it is for.
        doc: Option<Text<'n>>,
    }
}

/// The kinds of parameters of a mask, and whether a value is of the kind.
type Kind = (Word, fn(&Value) -> bool);

const KINDS: [Kind; 8] = [
    (
        Word { name: "Robot", doc: "the name of a robot; expressions read its facts" },
        |value| matches!(value, Value::Record(facts) if facts.contains_key("name")),
    ),
    (Word { name: "Real", doc: "a number, with or without a unit" }, |value| {
        matches!(value, Value::Real { .. })
    }),
    (
        Word { name: "Int", doc: "a whole number" },
        |value| matches!(value, Value::Real { value, .. } if value.fract() == 0.0),
    ),
    (Word { name: "Bool", doc: "true or false" }, |value| matches!(value, Value::Bool(_))),
    (Word { name: "Text", doc: "a text" }, |value| matches!(value, Value::Text(_))),
    (Word { name: "Name", doc: "a text that names something, such as a frame" }, |value| {
        matches!(value, Value::Text(_))
    }),
    (Word { name: "List", doc: "a list: a vector, or a matrix by rows" }, |value| {
        matches!(value, Value::List(_))
    }),
    (Word { name: "Any", doc: "anything that the blocks inside accept" }, |_| true),
];

/// The manual of the kinds of parameters that a mask may have.
pub fn parameter_kinds() -> impl Iterator<Item = Word> {
    KINDS.into_iter().map(|(word, _)| word)
}

/// Parameters of a mask.
pub(super) struct OfParameters;

impl What for OfParameters {
    const EXPECTED: &'static str = "a map of parameters, such as { \"k\": Real(default: 1.0) }";
}

/// Holes of a mask.
pub(super) struct OfHoles;

impl What for OfHoles {
    const EXPECTED: &'static str = "a map of holes and their ports";
}

/// `min:` and `max:` of a parameter.
#[derive(Clone, Copy)]
pub(super) struct Bounds<'n> {
    pub(super) least: Option<&'n Node>,
    pub(super) most: Option<&'n Node>,
}

/// Where the parameters and holes of a mask that is used in `instance` are written.
fn origins(instance: &Node, mask: &MaskFile<'_>) -> BTreeMap<String, Origin> {
    let params = mask.params.iter().flat_map(Entries::iter);
    let entries = params.chain(mask.holes.iter().flat_map(Entries::iter));
    let origin = |entry: Entry<'_>| {
        let default = || entry.value.field("default").map(|node| Origin::Default(node.span));
        let given = instance.field(entry.name).map(|node| Origin::Given(node.span));
        Some((entry.name.to_owned(), given.or_else(default)?))
    };
    let wires = instance.field("in").and_then(Node::map).unwrap_or_default();
    let wires = wires
        .iter()
        .filter_map(|(name, wire)| Some((format!("^{}", name.text()?), Origin::Given(wire.span))));
    entries.filter_map(origin).chain(wires).collect()
}

impl Expander<'_> {
    pub(super) fn expand_mask(
        &mut self,
        at: At<'_>,
        part: Mask<'_>,
        node: &Node,
        env: &Env,
    ) -> Item {
        let (name, file) = (part.file.value.to_owned(), part.file.node);
        if env.around.masks.contains(&name) {
            self.report(Diagnostic::error(
                code::MASK_CYCLE,
                file.span,
                format!("a mask may not hold itself: {} ► {name}", env.around.masks.join(" ► ")),
            ));
            return Item::Broken;
        }
        let Some(mask) = self.mask_file(&name, file) else { return Item::Broken };
        let file = mask.span.file;
        let Some(mask) = language::read::<MaskFile<'_>>(&mask, self.diagnostics) else {
            return Item::Broken;
        };
        check_format(mask.format, self.diagnostics);
        let used = MaskUse {
            file,
            is_built_in: name.starts_with("std:"),
            path: at.path.to_owned(),
            at: part.at,
            names: origins(node, &mask),
        };
        let before = self.diagnostics.len();
        let mut around = (*env.around).clone();
        around.masks.push(name);
        let inner = self.mask_env(node, &mask, env, &Rc::new(around));
        let item = match inner {
            Some(inner) => self.expand_inside(at, part.inputs, mask.inside, part.at, &inner),
            // Without its parameters nothing is known of a mask but the names of its inputs.
            None => {
                let ports = mask.inside.ports.filter(|ports| ports.kind_name().is_none());
                let names = |ports| Interface::read(ports, &mut Diagnostics::default());
                if let Some(interface) = ports.and_then(names) {
                    let sources = part.inputs.unwrap_or_default();
                    self.check_names(at.path, &interface, &sources);
                    self.check_connected(at.path, &interface, &sources, part.at, None);
                }
                Item::Broken
            }
        };
        self.loader.with_sources(|sources| {
            self.diagnostics.change_from(before, |found| {
                used.move_out(found, &self.origins, sources);
            });
        });
        self.origins.add(used);
        item
    }

    /// The parsed file of a mask, once per file.
    fn mask_file(&mut self, name: &str, at: &Node) -> Option<Rc<Node>> {
        if let Some(known) = self.masks.get(name) {
            return known.clone();
        }
        let parsed = self.parse_mask(name, at);
        self.masks.insert(name.to_owned(), parsed.clone());
        parsed
    }

    fn parse_mask(&mut self, name: &str, at: &Node) -> Option<Rc<Node>> {
        let expected = "Mask(params: …, ports: …, blocks: …, out: …)";
        let mask = construct_in(self.loader, name, at, &["Mask"], expected);
        mask.map_err(|diagnostic| self.report(diagnostic)).ok()
    }

    /// What names mean inside a mask: its parameters, nothing else.
    fn mask_env(
        &mut self,
        instance: &Node,
        mask: &MaskFile<'_>,
        env: &Env,
        around: &Rc<Around>,
    ) -> Option<Env> {
        let params = || mask.params.iter().flat_map(Entries::iter);
        let holes = || mask.holes.iter().flat_map(Entries::iter);
        let names: Vec<&str> = params().chain(holes()).map(|entry| entry.name).collect();
        let mut good = true;
        for field in instance.fields() {
            let name = field.name.text.as_str();
            if !names.contains(&name) && !Mask::MANUAL.names().any(|own| own == name) {
                self.report(language::unknown_field(&field.name, &names));
                good = false;
            }
        }
        let missing = |message, declaration: &Node| {
            Diagnostic::error(code::MISSING_FIELD, name_span(instance), message)
                .also(declaration.span, "declared here")
        };
        let no_value = |name: &str, declaration: &Node| {
            Some(missing(format!("parameter `{name}` of the mask is missing"), declaration))
        };
        let (values, failed) =
            self.parameters(instance, &params().collect::<Vec<_>>(), env, &no_value);
        good &= failed.is_empty();
        let names = Rc::new(values);
        let mut filled = BTreeMap::new();
        for entry in holes() {
            let (name, interface) = (entry.name, entry.value);
            let (choice, env) = match (instance.field(name), interface.field("default")) {
                (Some(choice), _) => (choice.clone(), env.clone()),
                // The mask's own choice is read inside the mask, where the holes before it are
                // filled.
                (None, Some(choice)) => {
                    let (holes, around) = (Rc::new(filled.clone()), Rc::clone(around));
                    (
                        choice.clone(),
                        Env { holes, around, ..Env::of_names(Rc::clone(&names), &self.budget) },
                    )
                }
                (None, None) => {
                    let message = format!("hole `{name}` of the mask is not filled");
                    let hint = format!("fill it with a block: {name}: Use(\"…\")");
                    self.report(missing(message, interface).hint(hint));
                    good = false;
                    continue;
                }
            };
            let (interface, interface_names) = (Some(interface.clone()), Rc::clone(&names));
            let hole = Hole { choice, env, interface, interface_names };
            filled.insert(name.to_owned(), Some(hole));
        }
        good.then(|| Env {
            holes: Rc::new(filled),
            around: Rc::clone(around),
            ..Env::of_names(names, &self.budget)
        })
    }

    /// The values of the parameters `params` that `instance` states, else their defaults, and the
    /// names of those that are wrong, which is reported, or `missing`, of which that says what to
    /// report.
    pub(super) fn parameters(
        &mut self,
        instance: &Node,
        params: &[Entry<'_>],
        env: &Env,
        missing: &dyn Fn(&str, &Node) -> Option<Diagnostic>,
    ) -> (IndexMap<String, Value>, BTreeSet<String>) {
        let mut failed = BTreeSet::new();
        let mut values: IndexMap<String, Value> = IndexMap::new();
        for &Entry { name, name_span, value: declaration, .. } in params {
            self.refuse_constant(name, name_span, "parameter");
            let Some(parameter) = language::read::<Parameter<'_>>(declaration, self.diagnostics)
            else {
                failed.insert(name.to_owned());
                continue;
            };
            let (names, wrong) = (Rc::new(values.clone()), Rc::new(failed.clone()));
            let inner = Env { failed: wrong, ..Env::of_names(names, &self.budget) };
            let given = instance.field(name);
            let value = match given.or(parameter.default) {
                Some(node) => {
                    let mut node = node.clone();
                    let unit = parameter.default.and_then(patch::written_unit);
                    patch::give_zero_its_unit(&mut node, unit);
                    let node = &node;
                    let scope: &dyn Scope = if given.is_some() { env } else { &inner };
                    let value = self.parameter_value(name, declaration, node, scope);
                    let value = match &parameter.unit {
                        Some(unit) => value.and_then(|value| {
                            let found = in_unit(name, unit, node, value);
                            found.map_err(|diagnostic| self.report(*diagnostic)).ok()
                        }),
                        None => value,
                    };
                    value.filter(|value| {
                        let bounds = Bounds { least: parameter.min, most: parameter.max };
                        self.in_bounds(name, bounds, node, value, scope)
                    })
                }
                None => {
                    self.diagnostics.extend(missing(name, declaration));
                    None
                }
            };
            match value {
                Some(value) => {
                    values.insert(name.to_owned(), value);
                }
                None => {
                    failed.insert(name.to_owned());
                }
            }
        }
        (values, failed)
    }

    /// A parameter of a mask, held against the kind that it is declared to be.
    fn parameter_value(
        &mut self,
        name: &str,
        declaration: &Node,
        node: &Node,
        scope: &dyn Scope,
    ) -> Option<Value> {
        let value = self.value(node, scope)?;
        let kind = declaration.kind_name().map_or("", |kind| kind.text.as_str());
        let value = match (kind, value) {
            ("Robot", Value::Text(robot)) => match self.robot_facts(&robot) {
                Some(facts) => facts,
                None if self.robots.is_failed(&robot) => return None,
                None => {
                    let names = self.robots.resource_names();
                    let message = format!("expected the name of a robot, found `{robot}`");
                    self.report(
                        Diagnostic::error(code::UNKNOWN_ROBOT, node.span, message)
                            .suggest(&robot, names.iter().map(String::as_str)),
                    );
                    return None;
                }
            },
            (_, value) => value,
        };
        let declared = KINDS.iter().find(|(word, _)| word.name == kind);
        let fits = match (declared, kind) {
            (Some((_, fits)), _) => fits(&value),
            (None, "Param" | "") => true,
            (None, other) => {
                self.unknown_kind(declaration, other);
                return None;
            }
        };
        if !fits {
            self.report(Diagnostic::error(
                code::WRONG_TYPE,
                node.span,
                format!("parameter `{name}` expected {kind}, found {}", value.describe()),
            ));
            return None;
        }
        Some(value)
    }

    /// Reports a kind of parameter that there is not.
    fn unknown_kind(&mut self, declaration: &Node, kind: &str) {
        let kinds = KINDS.map(|(word, _)| word.name);
        let message = format!("expected one of `{}`, found `{kind}`", kinds.join("`, `"));
        let found = Diagnostic::error(code::UNKNOWN_PARAMETER_KIND, declaration.span, message);
        self.report(found.suggest(kind, kinds));
    }

    /// Looks at the kinds of parameters that have no value.
    pub(super) fn check_kinds<'n>(&mut self, params: impl Iterator<Item = Entry<'n>>) {
        for Entry { value: declaration, .. } in params {
            let kind = declaration.kind_name().map_or("", |kind| kind.text.as_str());
            let is_known = KINDS.iter().any(|(word, _)| word.name == kind);
            if !is_known && !["Param", ""].contains(&kind) {
                self.unknown_kind(declaration, kind);
            }
        }
    }

    /// Whether a value is within its bounds; lists are held element by element.
    pub(super) fn in_bounds(
        &mut self,
        name: &str,
        bounds: Bounds<'_>,
        node: &Node,
        value: &Value,
        scope: &dyn Scope,
    ) -> bool {
        for (bound, above) in [(bounds.least, false), (bounds.most, true)] {
            let Some(bound_node) = bound else { continue };
            let (limit, unit) = match self.value(bound_node, scope) {
                Some(Value::Real { value, unit }) => (value, unit),
                Some(other) => {
                    let message = format!("expected a number, found {}", other.describe());
                    self.report(Diagnostic::error(code::WRONG_TYPE, bound_node.span, message));
                    return false;
                }
                None => return false,
            };
            let one = std::slice::from_ref(value);
            let items = if let Value::List(items) = value { items } else { one };
            let numbers: Vec<_> = items
                .iter()
                .filter_map(|item| match item {
                    Value::Real { value, unit } => Some((*value, *unit)),
                    _ => None,
                })
                .collect();
            // A bare number takes the unit of the other side.
            let strange = |&(_, found): &(f64, Option<Unit>)| {
                found.zip(unit).is_some_and(|(found, unit)| !found.agrees(unit))
            };
            if let Some((_, Some(found))) = numbers.iter().copied().find(strange) {
                let expected = unit.unwrap_or_default();
                let message =
                    format!("parameter `{name}` expected the unit {expected}, found {found}");
                self.report(
                    Diagnostic::error(code::UNIT_MISMATCH, node.span, message)
                        .also(bound_node.span, "the bound"),
                );
                return false;
            }
            let broken = |&(v, _): &(f64, Option<Unit>)| if above { v > limit } else { v < limit };
            if let Some((bad, found)) = numbers.iter().copied().find(broken) {
                let unit = unit.or(found).filter(|unit| *unit != Unit::ONE);
                let limit = Value::Real { value: limit, unit };
                let bad = Value::Real { value: bad, unit };
                let relation = if above { "at most" } else { "at least" };
                self.report(
                    Diagnostic::error(
                        code::OUT_OF_RANGE,
                        node.span,
                        format!("parameter `{name}` expected {relation} {limit}, found {bad}"),
                    )
                    .also(bound_node.span, "the bound"),
                );
                return false;
            }
        }
        true
    }
}
