//! The sections `params:` and `robots:`: what names mean in expressions.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use legwork_block::{
    Diagnostic, Diagnostics, FileId, Files, NoResource, Node, OtherResources, Resource,
    ResourceEntry, Scope, Span, Value, code,
};

use super::mask::Bounds;
use super::robot_file::RobotFile;
use super::tree::{Env, ROBOT_LIMIT};
use super::value::in_unit;
use super::{Expander, evaluate, sections};
use crate::language::{self, Construct, Entries, Entry, Text, What, construct, wrong_type};

construct! {
    /// A parameter with a unit and bounds, which hold for overrides of the command line too.
    /// Without them a parameter is a value alone: `"kp": "60 N*m/rad"`. A 0 that replaces it needs
    /// no unit.
    ///
    /// ```ron
    /// "k": Param(value: "200 N/m", unit: "N/m", min: 0.0, max: "10 kN/m", doc: "stiffness"),
    /// ```
    "Param":
    pub(super) struct Param<'n> {
        /// Its value: a number, a text with a unit, a list, or an expression of other parameters.
        value: &'n Node = required("", "Param(value: 1.0, min: 0.0)"),
        /// What it is in, such as `"N*m/rad"`; `"1"` of a pure number. Its value has this unit, with
        /// any prefix, or takes it if it is written without.
        unit: Option<Text<'n>>,
        /// The least that it, or an element of it, may be.
        min: Option<&'n Node>,
        /// The most that it, or an element of it, may be.
        max: Option<&'n Node>,
        /// What it is for.
        doc: Option<Text<'n>>,
    }
}

/// Names and what they stand for.
pub(super) struct OfNames;

impl What for OfNames {
    const EXPECTED: &'static str = "a map of names";
}

/// What a name of the sections `params:` and `robots:` stands for.
enum Named<'n> {
    Value(&'n Node),
    /// A parameter with bounds; `None` if it is wrong, which is reported.
    Param(Option<Param<'n>>),
    Robot(&'n Node),
}

/// A name of the sections `params:` and `robots:`.
struct Declared<'n> {
    /// Where what it stands for is written.
    span: Span,
    named: Named<'n>,
}

/// What expressions call the record of chosen variants: `=variants.contact == 'gauss'`.
const VARIANTS: &str = "variants";

/// What the section `ground:` is called in messages.
const GROUND: &str = "ground";

/// Most parameters that may need one another in a chain.
const CHAIN_LIMIT: usize = 100;

impl Expander<'_> {
    /// The robots that could be loaded.
    pub(crate) fn robots(&self) -> &BTreeMap<String, Arc<dyn Resource>> {
        &self.robots.loaded
    }

    /// What `ground:` of the diagram is, if it could be loaded.
    pub(crate) fn ground(&self) -> Option<&Arc<dyn Resource>> {
        self.robots.ground.as_ref().map(|(ground, _)| ground)
    }

    /// Parameters and robots of the diagram `file`, whatever order they are in, and its ground.
    pub(super) fn names(
        &mut self,
        params: Option<&Entries<'_, OfNames>>,
        robots: Option<&Entries<'_, OfNames>>,
        ground: Option<&Node>,
        file: FileId,
    ) -> Env {
        let mut entries: IndexMap<String, Declared<'_>> = IndexMap::new();
        for (section, is_robot) in [(params, false), (robots, true)] {
            for Entry { name, name_span, value, .. } in section.into_iter().flat_map(Entries::iter)
            {
                if name == VARIANTS {
                    let message = format!("`{name}` is the record of the chosen variants");
                    self.report(
                        Diagnostic::error(code::DUPLICATE_KEY, name_span, message)
                            .hint("give it another name"),
                    );
                    continue;
                }
                self.refuse_constant(name, name_span, if is_robot { "robot" } else { "parameter" });
                // `--set` takes the name for the section's.
                if !is_robot && sections().any(|section| section == name) {
                    let message =
                        format!("`{name}` is the name of a section, so it cannot name a parameter");
                    let found = Diagnostic::error(code::BAD_NAME, name_span, message);
                    self.report(found.hint("give it another name"));
                }
                if let Some(first) = entries.get(name) {
                    let message = format!("`{name}` names a parameter and a robot");
                    self.report(
                        Diagnostic::error(code::DUPLICATE_KEY, name_span, message)
                            .also(first.span, "the other one"),
                    );
                    continue;
                }
                let is_param = value.kind_name().is_some_and(|kind| kind.text == "Param");
                let named = match (is_robot, is_param) {
                    (true, _) => Named::Robot(value),
                    (false, true) => Named::Param(language::read(value, self.diagnostics)),
                    (false, false) => Named::Value(value),
                };
                entries.insert(name.to_owned(), Declared { span: value.span, named });
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
        let ground = ground.zip(lazy.expander.registry.ground());
        let ground =
            ground.and_then(|(node, entry)| Some((lazy.load(GROUND, node, entry)?, node.span)));
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
        let elsewhere = entries.iter().filter_map(|(name, declared)| {
            let span = match &declared.named {
                Named::Param(Some(param)) => param.value.span,
                _ => declared.span,
            };
            (span.file != file).then(|| (name.clone(), span))
        });
        let elsewhere = Rc::new(elsewhere.collect());
        (self.robots.loaded, self.robots.ground) = (robots, ground);
        self.robots.failed.clone_from(&failed);
        for diagnostic in found {
            self.diagnostics.push(diagnostic);
        }
        names.insert(VARIANTS.to_owned(), chosen);
        let mut env = Env {
            root: true,
            failed: Rc::new(failed),
            elsewhere,
            ..Env::of_names(Rc::new(names), &self.budget)
        };
        for (name, declared) in &entries {
            let Named::Param(Some(param)) = &declared.named else { continue };
            let Some(value) = env.lookup(name) else { continue };
            let bounds = Bounds { least: param.min, most: param.max };
            // What uses a value that is out of bounds would say so again.
            if !self.in_bounds(name, bounds, param.value, &value, &env) {
                Rc::make_mut(&mut env.names).shift_remove(name);
                Rc::make_mut(&mut env.failed).insert(name.clone());
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
    entries: &'e IndexMap<String, Declared<'e>>,
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
        let declared = self.entries.get(name)?;
        if let Some(done) = self.done.borrow().get(name) {
            return done.clone();
        }
        if self.active.borrow().iter().any(|active| active == name) {
            let active = self.active.borrow();
            let all = |robots| active.iter().all(|name| self.is_robot(name) == robots);
            let (code, who) = match (all(true), all(false)) {
                (true, _) => (code::ROBOT_CYCLE, "robots"),
                (_, true) => (code::PARAMETER_CYCLE, "parameters"),
                _ => (code::PARAMETER_CYCLE, "parameters and robots"),
            };
            let message = format!("{who} need each other: {} ► {name}", active.join(" ► "));
            self.found.borrow_mut().push(Diagnostic::error(code, declared.span, message));
            return None;
        }
        if self.active.borrow().len() >= CHAIN_LIMIT {
            self.found.borrow_mut().push(Diagnostic::error(
                code::NESTING,
                declared.span,
                format!("more than {CHAIN_LIMIT} parameters need one another in a chain"),
            ));
            return None;
        }
        self.active.borrow_mut().push(name.to_owned());
        let value = match &declared.named {
            Named::Value(node) => self.parameter(node),
            Named::Param(param) => param.as_ref().and_then(|param| {
                let value = self.parameter(param.value)?;
                let Some(unit) = &param.unit else { return Some(value) };
                let found = in_unit(name, unit, param.value, value);
                found.map_err(|diagnostic| self.found.borrow_mut().push(*diagnostic)).ok()
            }),
            Named::Robot(node) => self.robot(name, node),
        };
        self.active.borrow_mut().pop();
        self.done.borrow_mut().insert(name.to_owned(), value.clone());
        value
    }

    fn names(&self) -> Vec<String> {
        self.entries.keys().cloned().collect()
    }

    fn spend(&self, count: usize) -> bool {
        self.expander.budget.spend(count)
    }

    fn suggests(&self, at: Span) -> bool {
        self.expander.budget.suggests(at)
    }

    /// A name that is there but has no value is reported where it is written.
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

    fn read_found(&self, path: &str) -> Result<Vec<u8>, String> {
        self.files.read_found(path).inspect_err(|_| self.missing.set(true))
    }

    fn look(&self, path: &str) -> Result<Vec<u8>, String> {
        self.files.look(path)
    }

    fn exists(&self, path: &str) -> bool {
        self.files.exists(path)
    }

    fn refusal(&self, path: &str) -> Option<String> {
        self.files.refusal(path)
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
            .filter(|(name, _)| self.lazy.is_robot(name) && name.as_str() != self.name);
        let mut names: Vec<String> = robots.map(|(name, _)| name.clone()).collect();
        names.sort();
        names
    }
}

impl LazyNames<'_, '_> {
    fn is_robot(&self, name: &str) -> bool {
        self.entries.get(name).is_some_and(|declared| matches!(declared.named, Named::Robot(_)))
    }

    fn parameter(&self, node: &Node) -> Option<Value> {
        match evaluate(node, self) {
            Ok(value) => Some(value),
            Err(diagnostic) => {
                self.found.borrow_mut().push(*diagnostic);
                None
            }
        }
    }

    fn robot(&self, name: &str, node: &Node) -> Option<Value> {
        let registry = self.expander.registry;
        let kinds = registry.resources().map(|entry| entry.kind);
        let known: Vec<&str> = kinds.chain([RobotFile::MANUAL.name]).collect();
        let mut kind = node.kind_name().map(|kind| kind.text.clone()).unwrap_or_default();
        let of_file;
        let node = if kind == RobotFile::MANUAL.name {
            let mut found = Diagnostics::default();
            let read = self.expander.robot_of_file(node, &mut found);
            self.found.borrow_mut().extend(found);
            of_file = read?;
            kind = of_file.kind_name().map(|kind| kind.text.clone()).unwrap_or_default();
            &of_file
        } else {
            node
        };
        let Some(entry) = registry.find_resource(&kind) else {
            self.found.borrow_mut().push(
                wrong_type(node, &format!("a robot: `{}`", known.join("(…)`, `")))
                    .suggest(&kind, known.iter().copied()),
            );
            return None;
        };
        let resource = self.load(name, node, entry)?;
        let facts = with_name(resource.as_ref(), name);
        self.robots.borrow_mut().insert(name.to_owned(), resource);
        Some(facts)
    }

    /// Loads a resource; what is wrong with it is noted.
    fn load(&self, name: &str, node: &Node, entry: &ResourceEntry) -> Option<Arc<dyn Resource>> {
        let too_large = |bytes: u64| {
            let (bytes, limit) = (bytes / 1_000_000, ROBOT_LIMIT / 1_000_000);
            let message = format!(
                "the chains of joints up to `{name}` take {bytes} MB, more than the {limit} MB \
                 that all robots of a diagram may take"
            );
            self.found.borrow_mut().push(Diagnostic::error(code::TOO_LARGE, node.span, message));
        };
        let budget = &self.expander.budget;
        if let Some(bytes) = budget.add_robot(0) {
            too_large(bytes);
            return None;
        }
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
                    self.found.borrow_mut().push(Diagnostic::warning(code::ROBOT, at, warning));
                }
                match budget.add_robot(resource.memory()) {
                    Some(bytes) => {
                        too_large(bytes);
                        None
                    }
                    None => Some(resource),
                }
            }
            Err(_) if others.failed.get() => None,
            Err(invalid) => {
                let at = invalid
                    .parameter
                    .as_deref()
                    .and_then(|parameter| node.field(parameter))
                    .or_else(|| node.field("path"))
                    .map_or(node.span, |field| field.span);
                let code = match invalid.is_missing_file || files.missing.get() {
                    true => code::MISSING_FILE,
                    false if name == GROUND => code::INVALID_GROUND,
                    false => code::INVALID_ROBOT,
                };
                let mut diagnostic = Diagnostic::error(code, at, invalid.message);
                diagnostic.hints.extend(invalid.hints);
                self.found.borrow_mut().push(diagnostic);
                None
            }
        }
    }
}
