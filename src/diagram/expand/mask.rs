//! Masks: their files, their parameters, their filled holes.

use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexMap;
use legwork_block::{Diagnostic, Node, Resources, Scope, Unit, Value};

use super::tree::{Around, Env, Hole, Item};
use super::{Expander, unknown_field, wrong_type};
use crate::document;
use crate::ids::FrameId;

impl Expander<'_> {
    /// `Mask(file: "…", parameter: …, hole: …, in: …)`.
    pub(super) fn expand_mask(
        &mut self,
        frame: FrameId,
        path: &str,
        node: &Node,
        env: &Env,
    ) -> Item {
        let Some(file) = node.field("file").cloned() else {
            let diagnostic = match node.kind_name() {
                Some(name) => {
                    Diagnostic::error("missing-field", name.span, "the mask's `file` is missing")
                }
                None => wrong_type(node, "a mask"),
            };
            self.report(diagnostic.hint("write Mask(file: \"std:masks/gauss_contact.ron\", …)"));
            return Item::Broken;
        };
        let Some(name) = file.text().map(str::to_owned) else {
            self.report(wrong_type(&file, "the path of a mask's file as text"));
            return Item::Broken;
        };
        if env.around.masks.contains(&name) {
            self.report(Diagnostic::error(
                "mask-cycle",
                file.span,
                format!("a mask may not hold itself: {} ► {name}", env.around.masks.join(" ► ")),
            ));
            return Item::Broken;
        }
        let Some(mask) = self.mask_file(&name, &file) else { return Item::Broken };
        let mut around = (*env.around).clone();
        around.masks.push(name);
        let Some(inner) = self.mask_env(node, &mask, env, &Rc::new(around)) else {
            return Item::Broken;
        };
        self.expand_inside(frame, path, node, &mask, &inner)
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
        let (file, bytes) = match self.loader.source(name) {
            Ok(found) => found,
            Err(message) => {
                self.report(Diagnostic::error("missing-file", at.span, message));
                return None;
            }
        };
        let mask = match document::parse(file, &bytes) {
            Ok(mask) => mask,
            Err(diagnostic) => {
                self.report(diagnostic);
                return None;
            }
        };
        if mask.kind_name().is_none_or(|kind| kind.text != "Mask") {
            self.report(wrong_type(&mask, "Mask(params: …, ports: …, blocks: …, out: …)"));
            return None;
        }
        self.known_fields(&mask, &["format", "doc", "params", "holes", "ports", "blocks", "out"]);
        self.format_version(&mask);
        Some(Rc::new(mask))
    }

    /// What names mean inside a mask: its parameters, nothing else.
    fn mask_env(
        &mut self,
        instance: &Node,
        mask: &Node,
        env: &Env,
        around: &Rc<Around>,
    ) -> Option<Env> {
        let params = mask.field("params").and_then(Node::map).unwrap_or(&[]);
        let holes = mask.field("holes").and_then(Node::map).unwrap_or(&[]);
        let names: Vec<&str> = params.iter().chain(holes).filter_map(|(k, _)| k.text()).collect();
        let mut good = true;
        for field in instance.fields() {
            let name = field.name.text.as_str();
            if !names.contains(&name) && !["file", "in", "doc"].contains(&name) {
                self.report(unknown_field(&field.name, &names));
                good = false;
            }
        }
        let mut values: IndexMap<String, Value> = IndexMap::new();
        for (key, declaration) in params {
            let Some(name) = key.text() else { continue };
            let inner = Env::of_names(Rc::new(values.clone()));
            let given = instance.field(name);
            let value = match given.or_else(|| declaration.field("default")) {
                Some(node) => {
                    let scope: &dyn Scope = if given.is_some() { env } else { &inner };
                    self.parameter_value(name, declaration, node, scope)
                }
                None => {
                    let span = instance.kind_name().map_or(instance.span, |kind| kind.span);
                    self.report(
                        Diagnostic::error(
                            "missing-field",
                            span,
                            format!("parameter `{name}` of the mask is missing"),
                        )
                        .also(declaration.span, "declared here"),
                    );
                    None
                }
            };
            match value {
                Some(value) => {
                    values.insert(name.to_owned(), value);
                }
                None => good = false,
            }
        }
        let names = Rc::new(values);
        let mut filled = BTreeMap::new();
        for (key, interface) in holes {
            let Some(name) = key.text() else { continue };
            match instance.field(name) {
                Some(choice) => {
                    filled.insert(
                        name.to_owned(),
                        Hole {
                            choice: choice.clone(),
                            env: env.clone(),
                            interface: Some(interface.clone()),
                            interface_names: Rc::clone(&names),
                        },
                    );
                }
                None if interface.field("default").is_some() => {
                    // The mask's own choice is read inside the mask, where the holes before it are
                    // filled.
                    let inside = Env {
                        holes: Rc::new(filled.clone()),
                        around: Rc::clone(around),
                        ..Env::of_names(Rc::clone(&names))
                    };
                    let choice = interface.field("default").cloned();
                    filled.extend(choice.map(|choice| {
                        let interface = Some(interface.clone());
                        let interface_names = Rc::clone(&names);
                        (name.to_owned(), Hole { choice, env: inside, interface, interface_names })
                    }));
                }
                None => {
                    let span = instance.kind_name().map_or(instance.span, |kind| kind.span);
                    self.report(
                        Diagnostic::error(
                            "missing-field",
                            span,
                            format!("hole `{name}` of the mask is not filled"),
                        )
                        .also(interface.span, "declared here")
                        .hint(format!("fill it with a block: {name}: Use(\"…\")")),
                    );
                    good = false;
                }
            }
        }
        good.then(|| Env {
            holes: Rc::new(filled),
            around: Rc::clone(around),
            ..Env::of_names(names)
        })
    }

    /// A parameter of a mask, held against its declaration: kind, bounds.
    pub(super) fn parameter_value(
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
                        Diagnostic::error("unknown-robot", node.span, message)
                            .suggest(&robot, names.iter().map(String::as_str)),
                    );
                    return None;
                }
            },
            (_, value) => value,
        };
        let fits = match kind {
            "Robot" => matches!(&value, Value::Record(facts) if facts.contains_key("name")),
            "Real" => matches!(value, Value::Real { .. }),
            "Int" => matches!(value, Value::Real { value, .. } if value.fract() == 0.0),
            "Bool" => matches!(value, Value::Bool(_)),
            "Text" | "Name" => matches!(value, Value::Text(_)),
            "List" => matches!(value, Value::List(_)),
            "Any" | "Param" | "" => true,
            other => {
                let kinds = ["Robot", "Real", "Int", "Bool", "Text", "Name", "List", "Any"];
                self.report(
                    Diagnostic::error(
                        "unknown-parameter-kind",
                        declaration.span,
                        format!("expected one of `{}`, found `{other}`", kinds.join("`, `")),
                    )
                    .suggest(other, kinds),
                );
                return None;
            }
        };
        if !fits {
            self.report(Diagnostic::error(
                "wrong-type",
                node.span,
                format!("parameter `{name}` expected {kind}, found {}", value.describe()),
            ));
            return None;
        }
        self.in_bounds(name, declaration, node, &value, scope).then_some(value)
    }

    /// `min:` and `max:` of a declaration; lists are held element by element.
    pub(super) fn in_bounds(
        &mut self,
        name: &str,
        declaration: &Node,
        node: &Node,
        value: &Value,
        scope: &dyn Scope,
    ) -> bool {
        for (bound, above) in [("min", false), ("max", true)] {
            let Some(bound_node) = declaration.field(bound) else { continue };
            let (limit, unit) = match self.value(bound_node, scope) {
                Some(Value::Real { value, unit }) => (value, unit),
                Some(other) => {
                    let message = format!("expected a number, found {}", other.describe());
                    self.report(Diagnostic::error("wrong-type", bound_node.span, message));
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
                    Diagnostic::error("unit-mismatch", node.span, message)
                        .also(bound_node.span, "the bound"),
                );
                return false;
            }
            let broken = |&(v, _): &(f64, Option<Unit>)| if above { v > limit } else { v < limit };
            if let Some((bad, found)) = numbers.iter().copied().find(broken) {
                let unit = unit.or(found);
                let limit = Value::Real { value: limit, unit };
                let bad = Value::Real { value: bad, unit };
                let relation = if above { "at most" } else { "at least" };
                self.report(
                    Diagnostic::error(
                        "out-of-range",
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
