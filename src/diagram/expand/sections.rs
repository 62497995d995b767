//! The sections of a diagram besides its blocks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use legwork_block::{
    Arguments, Diagnostic, Diagnostics, Expression, Named, Node, NodeKind, Resource, Scope, Span,
    Type, Value,
};
use legwork_program::{CheckKind, Ratio, Solver};

use super::tree::Env;
use super::{CheckEntry, Expanded, Expander, LogEntry, evaluate, wrong_type};
use crate::types_text::{LEAF_LIMIT, leaves};

/// Names of sections, which blocks may not have.
pub(crate) const SECTIONS: [&str; 10] =
    ["format", "doc", "run", "params", "robots", "buses", "variants", "blocks", "log", "checks"];

/// What expressions call the record of chosen variants: `=variants.contact == 'gauss'`.
const VARIANTS: &str = "variants";

/// Most parameters that may need one another in a chain.
const CHAIN_LIMIT: usize = 100;

/// The version of the file format that this front end reads.
const FORMAT: f64 = 1.0;

/// The `run:` section.
pub(crate) struct Run {
    pub(crate) stop: (Ratio, Span),
    pub(crate) step: (Ratio, Span),
    pub(crate) solver: Solver,
    pub(crate) seed: u64,
}

/// A variant with its choice made.
pub(crate) struct VariantEntry {
    pub(crate) chosen: String,
    pub(crate) choice: Node,
    pub(crate) ports: Option<Node>,
    pub(crate) choices: Vec<String>,
}

impl Expander<'_> {
    /// Expands a whole diagram; `None` if it is not one.
    pub(crate) fn expand(&mut self, document: &Node) -> Option<Expanded> {
        if document.kind_name().is_none_or(|kind| kind.text != "Diagram") {
            let mut diagnostic =
                wrong_type(document, "Diagram(format: 1, run: (…), blocks: { … })");
            if document.kind_name().is_some_and(|kind| kind.text == "Mask") {
                diagnostic = diagnostic.hint("a mask runs inside a diagram: Mask(file: \"…\")");
            }
            self.report(diagnostic);
            return None;
        }
        self.known_fields(document, &SECTIONS);
        self.format_version(document);
        self.read_variants(document.field("variants"));
        let env = self.names(document);
        self.buses(document.field("buses"), &env);
        let run = self.run(document, &env);
        let root = self.new_frame(String::new(), None, None);
        match document.field("blocks") {
            Some(blocks) => self.expand_blocks(root, blocks, &env),
            None => self.report(
                Diagnostic::error("missing-field", document.span, "`blocks` is missing")
                    .hint("write blocks: { \"a\": Constant(value: 1.0) }"),
            ),
        }
        let (blocks, assertions, collectors) = self.resolve();
        let logs = document.field("log").map(|log| self.log(log, root, &env));
        let checks = self.checks(document.field("checks"), &env);
        let tree = std::mem::take(&mut self.tree);
        let variants = self
            .variants
            .iter()
            .map(|(name, entry)| (name.clone(), entry.choices.clone()))
            .collect();
        Some(Expanded {
            blocks,
            assertions,
            collectors,
            logs,
            checks,
            run: run?,
            variants,
            tree,
            env,
        })
    }

    /// `format: 1`.
    pub(super) fn format_version(&mut self, document: &Node) {
        let Some(format) = document.field("format") else { return };
        if format.number() != Some(FORMAT) {
            self.report(
                Diagnostic::error(
                    "wrong-format",
                    format.span,
                    format!("expected format {FORMAT}, found {}", format.describe()),
                )
                .hint("a newer format needs a newer legwork"),
            );
        }
    }

    /// Parameters and robots, whatever order they stand in.
    fn names(&mut self, document: &Node) -> Env {
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
        self.robots.0 = robots;
        let mut names = IndexMap::new();
        for (name, value) in done {
            match value {
                Some(value) => {
                    names.insert(name, value);
                }
                None => {
                    self.failed_names.insert(name);
                }
            }
        }
        for diagnostic in found {
            self.diagnostics.push(diagnostic);
        }
        names.insert(VARIANTS.to_owned(), chosen);
        let env = Env { root: true, ..Env::of_names(Rc::new(names)) };
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
        Some(with_name(self.robots.0.get(name)?.as_ref(), name))
    }

    /// `buses: { "Foot": { "J": "Matrix(3, go.nv)", "p": Field(type: "Vector(3)", unit: "m") } }`.
    fn buses(&mut self, node: Option<&Node>, env: &Env) {
        let Some(node) = node else { return };
        let Some(entries) = node.map() else {
            self.report(wrong_type(node, "a map of buses"));
            return;
        };
        // A bus may hold another that stands behind it: rounds until nothing new is known.
        let mut waiting: Vec<&(Node, Node)> = entries.iter().collect();
        loop {
            let before = waiting.len();
            let mut failed = Vec::new();
            for entry in std::mem::take(&mut waiting) {
                match self.bus(entry, env) {
                    Ok(()) => {}
                    Err(diagnostics) => failed.push((entry, diagnostics)),
                }
            }
            if failed.is_empty() {
                return;
            }
            if failed.len() == before {
                for (_, diagnostics) in failed {
                    diagnostics.into_iter().for_each(|diagnostic| self.report(diagnostic));
                }
                return;
            }
            waiting = failed.into_iter().map(|(entry, _)| entry).collect();
        }
    }

    fn bus(&mut self, (key, fields): &(Node, Node), env: &Env) -> Result<(), Vec<Diagnostic>> {
        let (Some(name), Some(entries)) = (key.text(), fields.map()) else {
            return Err(vec![wrong_type(fields, "a map of fields and their types")]);
        };
        if self.types.named.iter().any(|known| known.name == name) {
            let message = format!("`{name}` is the name of a bus of the library");
            return Err(vec![Diagnostic::error("duplicate-key", key.span, message)]);
        }
        let mut found = Vec::new();
        let mut errors = Vec::new();
        let mut next_var = 0;
        for (key, node) in entries {
            let Some(field) = key.text() else { continue };
            let ty_node = node.field("type").unwrap_or(node);
            let NodeKind::Text(text) = &ty_node.kind else {
                errors.push(wrong_type(node, "a type as text, or Field(type: …, unit: …)"));
                continue;
            };
            let before = next_var;
            match self.types.parse(&text.value, &text.place, env, &self.robots, &mut next_var) {
                Ok(ty)
                    if next_var == before || !matches!(ty, Type::Vector(_) | Type::Matrix(..)) =>
                {
                    let note =
                        |name: &str| node.field(name).and_then(Node::text).map(str::to_owned);
                    found.push(legwork_block::BusField {
                        name: field.to_owned(),
                        ty,
                        unit: note("unit"),
                        frame: note("frame"),
                        doc: note("doc").unwrap_or_default(),
                    });
                }
                Ok(_) => errors.push(
                    Diagnostic::error(
                        "bad-type",
                        ty_node.span,
                        format!("field `{field}` of a bus needs its dimensions"),
                    )
                    .hint("write \"Vector(3)\" or \"Matrix(3, go.nv)\""),
                ),
                Err(diagnostic) => errors.push(diagnostic),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let ty = legwork_block::bus(name, Vec::new(), found, Vec::new());
        // Buses in buses grow fast.
        if leaves(&ty) > LEAF_LIMIT {
            let message = format!("the bus `{name}` has more than {LEAF_LIMIT} parts");
            return Err(vec![Diagnostic::error("too-large", key.span, message)]);
        }
        self.types.buses.insert(name.to_owned(), (ty, next_var));
        Ok(())
    }

    /// `variants: { "qp": Variant(ports: …, default: "a", choices: {…}) }`, and what was chosen.
    fn read_variants(&mut self, node: Option<&Node>) {
        let entries = node.and_then(Node::map).unwrap_or(&[]);
        if let (Some(node), true) = (node, entries.is_empty())
            && node.map().is_none()
        {
            self.report(wrong_type(node, "a map of variants"));
        }
        for (key, node) in entries {
            let Some(name) = key.text() else { continue };
            self.known_fields(node, &["ports", "default", "choices", "doc"]);
            let choices = node.field("choices").and_then(Node::map).unwrap_or(&[]);
            let names: Vec<String> =
                choices.iter().filter_map(|(k, _)| k.text().map(str::to_owned)).collect();
            let chosen = match self.chosen.get(name) {
                Some((choice, span)) => Some((choice.clone(), *span)),
                None => match node.field("default") {
                    Some(default) => default.text().map(|text| (text.to_owned(), default.span)),
                    None => None,
                },
            };
            let Some((choice, span)) = chosen else {
                self.report(Diagnostic::error(
                    "missing-field",
                    node.span,
                    format!("variant `{name}` needs `default` as text, and `choices`"),
                ));
                continue;
            };
            let Some((_, choice_node)) = choices.iter().find(|(k, _)| k.text() == Some(&choice))
            else {
                self.report(
                    Diagnostic::error(
                        "unknown-variant",
                        span,
                        format!("variant `{name}` has no choice `{choice}`"),
                    )
                    .suggest(&choice, names.iter().map(String::as_str))
                    .hint(format!("it has `{}`", names.join("`, `"))),
                );
                continue;
            };
            self.variants.insert(
                name.to_owned(),
                VariantEntry {
                    chosen: choice,
                    choice: choice_node.clone(),
                    ports: node.field("ports").cloned(),
                    choices: names,
                },
            );
        }
        let unknown: Vec<(String, Span)> = self
            .chosen
            .iter()
            .filter(|(name, _)| !entries.iter().any(|(k, _)| k.text() == Some(name)))
            .map(|(name, (_, span))| (name.clone(), *span))
            .collect();
        for (name, span) in unknown {
            let known: Vec<String> =
                entries.iter().filter_map(|(k, _)| k.text().map(str::to_owned)).collect();
            let message = format!("the diagram has no variant `{name}`");
            let mut diagnostic = Diagnostic::error("unknown-variant", span, message)
                .suggest(&name, known.iter().map(String::as_str));
            if !known.is_empty() {
                diagnostic = diagnostic.hint(format!("it has `{}`", known.join("`, `")));
            }
            self.report(diagnostic);
        }
    }

    /// `run: (stop: "3 s", step: "1 ms", solver: SemiImplicitEuler, seed: 7)`.
    fn run(&mut self, document: &Node, env: &Env) -> Option<Run> {
        let Some(run) = document.field("run") else {
            self.report(
                Diagnostic::error("missing-field", document.span, "`run` is missing")
                    .hint("write run: (stop: \"3 s\", step: \"1 ms\")"),
            );
            return None;
        };
        self.known_fields(run, &["stop", "step", "solver", "seed"]);
        let stop = match run.field("stop") {
            Some(node) => self.seconds(node, env, false).map(|stop| (stop, node.span)),
            None => {
                self.report(
                    Diagnostic::error("missing-field", run.span, "`run.stop` is missing")
                        .hint("write stop: \"3 s\""),
                );
                None
            }
        };
        let step = match run.field("step") {
            Some(node) => self.seconds(node, env, false).map(|step| (step, node.span)),
            None => Ratio::new(1, 1000).map(|step| (step, run.span)),
        };
        let solver = match run.field("solver") {
            None => Some(Solver::SemiImplicitEuler),
            Some(node) => self.solver(node),
        };
        let seed = match run.field("seed").map(|node| (node, &node.kind)) {
            None => Some(0),
            Some((node, kind)) => {
                let seed = match kind {
                    NodeKind::Number(number) => number.integer(),
                    _ => None,
                };
                let seed = seed.and_then(|seed| u64::try_from(seed).ok());
                if seed.is_none() {
                    self.report(wrong_type(node, "a whole number from 0 up to 2^64 - 1"));
                }
                seed
            }
        };
        let (stop, step) = (stop?, step?);
        for ((time, span), least) in [(stop, "zero or more"), (step, "above zero")] {
            if time.is_negative() || (least == "above zero" && !time.is_positive()) {
                let message = format!("expected a time {least}, found {time}");
                self.report(Diagnostic::error("out-of-range", span, message));
                return None;
            }
        }
        Some(Run { stop, step, solver: solver?, seed: seed? })
    }

    fn solver(&mut self, node: &Node) -> Option<Solver> {
        let name = node
            .text()
            .or_else(|| node.kind_name().map(|name| name.text.as_str()))
            .unwrap_or_default();
        let known = [
            ("Euler", Solver::Euler),
            ("SemiImplicitEuler", Solver::SemiImplicitEuler),
            ("Heun", Solver::Heun),
            ("Rk4", Solver::Rk4),
        ];
        let found = known.iter().find(|(known, _)| *known == name);
        if found.is_none() {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let message = format!("expected the name of a solver, found {}", node.describe());
            self.report(
                Diagnostic::error("unknown-solver", node.span, message)
                    .suggest(name, names.iter().copied())
                    .hint(format!("known are `{}`", names.join("`, `"))),
            );
        }
        found.map(|(_, solver)| *solver)
    }

    /// `log: ["body.state", Every("10 ms", "contact.f")]`.
    fn log(&mut self, node: &Node, root: usize, env: &Env) -> Vec<LogEntry> {
        let mut logs: Vec<LogEntry> = Vec::new();
        let Some(items) = node.list() else {
            self.report(wrong_type(node, "a list of paths"));
            return logs;
        };
        for item in items {
            let (path, every) = match &item.kind {
                NodeKind::Named(Named {
                    name: Some(name),
                    arguments: Arguments::Positional(args),
                }) if name.text == "Every" && args.len() == 2 => {
                    let Some(period) = self.seconds(&args[0], env, true) else { continue };
                    (&args[1], Some((period, args[0].span)))
                }
                _ => (item, None),
            };
            let Some(text) = path.text() else {
                self.report(wrong_type(path, "a path, or Every(\"10 ms\", \"block.port\")"));
                continue;
            };
            if logs.iter().any(|entry| entry.path == text) {
                let message = format!("`{text}` is logged twice");
                self.report(Diagnostic::error("duplicate-key", path.span, message));
                continue;
            }
            match self.tree.source(root, path, true) {
                Ok(source) => logs.push(LogEntry { path: text.to_owned(), source, every }),
                Err(diagnostic) => self.report(*diagnostic),
            }
        }
        logs
    }

    /// `checks: { "stays up": Always(that: "=…", after: "0.2 s") }`.
    fn checks(&mut self, node: Option<&Node>, env: &Env) -> Vec<CheckEntry> {
        let mut checks = Vec::new();
        let Some(node) = node else { return checks };
        let Some(entries) = node.map() else {
            self.report(wrong_type(node, "a map of checks"));
            return checks;
        };
        for (key, check) in entries {
            let Some(name) = key.text() else { continue };
            let kind = match check.kind_name().map(|kind| kind.text.as_str()) {
                Some("Always") => CheckKind::Always,
                Some("Eventually") => CheckKind::Eventually,
                Some("Finally") => CheckKind::Finally,
                found => {
                    let kinds = ["Always", "Eventually", "Finally"];
                    let found = found.unwrap_or("no kind");
                    self.report(
                        Diagnostic::error(
                            "unknown-check",
                            check.span,
                            format!("expected one of `{}`, found `{found}`", kinds.join("`, `")),
                        )
                        .suggest(found, kinds),
                    );
                    continue;
                }
            };
            self.known_fields(check, &["that", "after", "until", "doc"]);
            let Some(NodeKind::Text(text)) = check.field("that").map(|that| &that.kind) else {
                self.report(
                    Diagnostic::error("missing-field", check.span, "`that` is missing")
                        .hint("write that: \"=block.port > 0\""),
                );
                continue;
            };
            let that_span = check.field("that").map_or(check.span, |that| that.span);
            if !text.value.starts_with('=') {
                self.report(Diagnostic::error(
                    "wrong-type",
                    that_span,
                    "expected an expression that begins with `=`",
                ));
                continue;
            }
            let mut bound = |field: &str, default: f64| match check.field(field) {
                None => Some(default),
                Some(node) => self.seconds(node, env, false).map(Ratio::to_f64),
            };
            let (Some(after), Some(until)) = (bound("after", 0.0), bound("until", f64::INFINITY))
            else {
                continue;
            };
            match Expression::parse_from(&text.value, 1, &text.place) {
                Ok(expression) => checks.push(CheckEntry {
                    name: name.to_owned(),
                    kind,
                    expression,
                    text: text.value.clone(),
                    after,
                    until,
                    span: that_span,
                }),
                Err(diagnostic) => self.report(diagnostic),
            }
        }
        checks
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
            let chain = self.active.borrow().join(" ► ");
            self.found.borrow_mut().push(Diagnostic::error(
                "parameter-cycle",
                node.span,
                format!("parameters need each other: {chain} ► {name}"),
            ));
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
}

impl LazyNames<'_, '_> {
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
                // A name that is there but has no value is reported where it stands.
                let follows = diagnostic.code == "unknown-name"
                    && self
                        .entries
                        .keys()
                        .any(|name| diagnostic.message.ends_with(&format!("`{name}`")));
                if !follows {
                    self.found.borrow_mut().push(*diagnostic);
                }
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
        let loaded = (entry.load)(node, self, name, self.expander.loader, &mut found);
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
            Err(invalid) => {
                let at = invalid
                    .parameter
                    .as_deref()
                    .and_then(|parameter| node.field(parameter))
                    .or_else(|| node.field("path"))
                    .map_or(node.span, |field| field.span);
                let code = if invalid.message.contains("no file") {
                    "missing-file"
                } else {
                    "invalid-robot"
                };
                let mut diagnostic = Diagnostic::error(code, at, invalid.message);
                diagnostic.hints.extend(invalid.hints);
                self.found.borrow_mut().push(diagnostic);
                None
            }
        }
    }
}
