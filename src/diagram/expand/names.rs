//! The sections `params:` and `robots:`: what names mean in expressions.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use legwork_block::{
    Diagnostic, Diagnostics, Files, NoResource, Node, OtherResources, Resource, Scope, Value,
};

use super::tree::Env;
use super::{Expander, evaluate, wrong_type};

/// What expressions call the record of chosen variants: `=variants.contact == 'gauss'`.
const VARIANTS: &str = "variants";

/// Most parameters that may need one another in a chain.
const CHAIN_LIMIT: usize = 100;

impl Expander<'_> {
    /// Parameters and robots, whatever order they stand in.
    pub(super) fn names(&mut self, document: &Node) -> Env {
        let mut entries: IndexMap<String, (&Node, bool)> = IndexMap::new();
        for (section, robot) in [("params", false), ("robots", true)] {
            let Some(node) = document.field(section) else { continue };
            let Some(map) = node.map() else {
                self.report(wrong_type(node, "a map of names"));
                continue;
            };
            for (key, value) in map {
                let Some(name) = key.text() else {
                    self.report(wrong_type(key, "a name as text"));
                    continue;
                };
                if name == VARIANTS {
                    let message = format!("`{name}` is the record of the chosen variants");
                    self.report(
                        Diagnostic::error("duplicate-key", key.span, message)
                            .hint("give it another name"),
                    );
                    continue;
                }
                if let Some((first, _)) = entries.get(name) {
                    let message = format!("`{name}` names a parameter and a robot");
                    self.report(
                        Diagnostic::error("duplicate-key", key.span, message)
                            .also(first.span, "the other one"),
                    );
                    continue;
                }
                entries.insert(name.to_owned(), (value, robot));
            }
        }
        let chosen = Value::record(
            self.variants
                .iter()
                .map(|(name, entry)| (name.clone(), Value::from(entry.chosen.as_str()))),
        );
        let lazy = LazyNames {
            entries: &entries,
            variants: &chosen,
            expander: self,
            done: RefCell::default(),
            active: RefCell::default(),
            robots: RefCell::default(),
            found: RefCell::default(),
        };
        for name in entries.keys() {
            lazy.lookup(name);
        }
        let LazyNames { done, robots, found, .. } = lazy;
        let (done, robots, found) = (done.into_inner(), robots.into_inner(), found.into_inner());
        let mut names = IndexMap::new();
        let mut failed = BTreeSet::new();
        for (name, value) in done {
            match value {
                Some(value) => {
                    names.insert(name, value);
                }
                None => {
                    failed.insert(name);
                }
            }
        }
        self.robots.loaded = robots;
        self.robots.failed.clone_from(&failed);
        for diagnostic in found {
            self.diagnostics.push(diagnostic);
        }
        names.insert(VARIANTS.to_owned(), chosen);
        let env = Env { root: true, failed: Rc::new(failed), ..Env::of_names(Rc::new(names)) };
        for (name, (node, robot)) in &entries {
            let is_param = node.kind_name().is_some_and(|kind| kind.text == "Param");
            if let (false, true, Some(value)) = (robot, is_param, env.lookup(name)) {
                self.known_fields(node, &["value", "min", "max", "doc"]);
                let at = node.field("value").unwrap_or(node);
                self.in_bounds(name, node, at, &value, &env);
            }
        }
        env
    }

    /// What expressions see of a robot: its facts and its name.
    pub(super) fn robot_facts(&self, name: &str) -> Option<Value> {
        Some(with_name(self.robots.loaded.get(name)?.as_ref(), name))
    }
}

fn with_name(resource: &dyn Resource, name: &str) -> Value {
    match resource.facts() {
        Value::Record(facts) => {
            let mut facts = (*facts).clone();
            facts.insert("name".into(), Value::from(name));
            Value::Record(Arc::new(facts))
        }
        other => other,
    }
}

/// Parameters and robots, each evaluated when it is first looked up, so that their order in the
/// file does not matter.
struct LazyNames<'e, 'x> {
    entries: &'e IndexMap<String, (&'e Node, bool)>,
    /// The chosen variants.
    variants: &'e Value,
    expander: &'e Expander<'x>,
    done: RefCell<IndexMap<String, Option<Value>>>,
    active: RefCell<Vec<String>>,
    robots: RefCell<BTreeMap<String, Arc<dyn Resource>>>,
    found: RefCell<Diagnostics>,
}

impl Scope for LazyNames<'_, '_> {
    fn lookup(&self, name: &str) -> Option<Value> {
        if name == VARIANTS {
            return Some(self.variants.clone());
        }
        let (node, robot) = *self.entries.get(name)?;
        if let Some(done) = self.done.borrow().get(name) {
            return done.clone();
        }
        if self.active.borrow().iter().any(|active| active == name) {
            let active = self.active.borrow();
            let all = |robots| active.iter().all(|name| self.is_robot(name) == robots);
            let (code, who) = match (all(true), all(false)) {
                (true, _) => ("robot-cycle", "robots"),
                (_, true) => ("parameter-cycle", "parameters"),
                _ => ("parameter-cycle", "parameters and robots"),
            };
            let message = format!("{who} need each other: {} ► {name}", active.join(" ► "));
            self.found.borrow_mut().push(Diagnostic::error(code, node.span, message));
            return None;
        }
        if self.active.borrow().len() >= CHAIN_LIMIT {
            self.found.borrow_mut().push(Diagnostic::error(
                "nesting",
                node.span,
                format!("more than {CHAIN_LIMIT} parameters need one another in a chain"),
            ));
            return None;
        }
        self.active.borrow_mut().push(name.to_owned());
        let value = if robot { self.robot(name, node) } else { self.parameter(node) };
        self.active.borrow_mut().pop();
        self.done.borrow_mut().insert(name.to_owned(), value.clone());
        value
    }

    fn names(&self) -> Vec<String> {
        self.entries.keys().cloned().collect()
    }

    /// A name that is there but has no value is reported where it stands.
    fn is_reported(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }
}

/// Files, with a note on whether one that was asked for could not be read.
struct NotedFiles<'l> {
    files: &'l dyn Files,
    missing: Cell<bool>,
}

impl Files for NotedFiles<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.files.read(path).inspect_err(|_| self.missing.set(true))
    }
}

/// The robots of the diagram, for one that is made of others.
struct OtherRobots<'l, 'e, 'x> {
    lazy: &'l LazyNames<'e, 'x>,
    /// The one that asks.
    name: &'l str,
    /// Whether one that was asked for has mistakes, so that what follows is not reported.
    failed: Cell<bool>,
}

impl OtherResources for OtherRobots<'_, '_, '_> {
    fn other(&self, name: &str) -> Result<Arc<dyn Resource>, NoResource> {
        if !self.lazy.is_robot(name) {
            return Err(NoResource::Unknown);
        }
        self.lazy.lookup(name);
        self.lazy.robots.borrow().get(name).cloned().ok_or_else(|| {
            self.failed.set(true);
            NoResource::Failed
        })
    }

    fn other_names(&self) -> Vec<String> {
        let robots = self
            .lazy
            .entries
            .iter()
            .filter(|(name, (_, robot))| *robot && name.as_str() != self.name);
        let mut names: Vec<String> = robots.map(|(name, _)| name.clone()).collect();
        names.sort();
        names
    }
}

impl LazyNames<'_, '_> {
    fn is_robot(&self, name: &str) -> bool {
        self.entries.get(name).is_some_and(|(_, robot)| *robot)
    }

    fn parameter(&self, node: &Node) -> Option<Value> {
        let is_param = node.kind_name().is_some_and(|kind| kind.text == "Param");
        let value_node = if is_param {
            match node.field("value") {
                Some(value) => value,
                None => {
                    self.found.borrow_mut().push(
                        Diagnostic::error("missing-field", node.span, "`value` is missing")
                            .hint("write Param(value: 1.0, min: 0.0)"),
                    );
                    return None;
                }
            }
        } else {
            node
        };
        match evaluate(value_node, self) {
            Ok(value) => Some(value),
            Err(diagnostic) => {
                self.found.borrow_mut().push(*diagnostic);
                None
            }
        }
    }

    fn robot(&self, name: &str, node: &Node) -> Option<Value> {
        let registry = self.expander.registry;
        let known: Vec<&str> = registry.resources().map(|entry| entry.kind).collect();
        let kind = node.kind_name().map(|kind| kind.text.clone()).unwrap_or_default();
        let Some(entry) = registry.find_resource(&kind) else {
            self.found.borrow_mut().push(
                wrong_type(node, &format!("a robot: `{}`", known.join("(…)`, `")))
                    .suggest(&kind, known.iter().copied()),
            );
            return None;
        };
        // Collected apart, as evaluating the fields looks names up again.
        let mut found = Diagnostics::default();
        let others = OtherRobots { lazy: self, name, failed: Cell::new(false) };
        let files = NotedFiles { files: self.expander.loader, missing: Cell::new(false) };
        let loaded = (entry.load)(node, self, name, &files, &others, &mut found);
        self.found.borrow_mut().extend(found);
        match loaded? {
            Ok((resource, warnings)) => {
                for warning in warnings {
                    let at = node.field("path").map_or(node.span, |path| path.span);
                    self.found.borrow_mut().push(Diagnostic::warning("robot", at, warning));
                }
                let facts = with_name(resource.as_ref(), name);
                self.robots.borrow_mut().insert(name.to_owned(), resource);
                Some(facts)
            }
            Err(_) if others.failed.get() => None,
            Err(invalid) => {
                let at = invalid
                    .parameter
                    .as_deref()
                    .and_then(|parameter| node.field(parameter))
                    .or_else(|| node.field("path"))
                    .map_or(node.span, |field| field.span);
                let code = if files.missing.get() { "missing-file" } else { "invalid-robot" };
                let mut diagnostic = Diagnostic::error(code, at, invalid.message);
                diagnostic.hints.extend(invalid.hints);
                self.found.borrow_mut().push(diagnostic);
                None
            }
        }
    }
}
