//! Document → network: parameters, robots, variants, masks, for-each.

mod buses;
mod checks;
mod composite;
mod conditional;
mod for_each;
mod function;
mod hole;
mod leaf;
mod mask;
mod names;
mod resolve;
mod run;
mod sections;
mod signature;
mod tree;
mod value;
mod variants;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use legwork_block::{
    Diagnostic, Diagnostics, Expression, Name, Node, Registry, Resource, Resources, Span, Type,
};
use legwork_program::Ratio;

use crate::loader::Loader;
use crate::network::{Need, NetworkBlock, PortPath, Source};
use crate::types_text::TypeTable;
use resolve::ABSENT;
pub(crate) use resolve::BROKEN;
pub(crate) use run::Run;
pub(crate) use sections::SECTIONS;
pub(crate) use tree::{Env, Tree};
use tree::{Frame, FrameId, Item};
use value::literal;
pub(crate) use value::{evaluate, node_text};

/// Fields that the engine takes from every block.
const RESERVED: [&str; 4] = ["every", "in", "needs", "doc"];

/// Most blocks, masks and copies that a diagram may unfold into.
pub(crate) const UNFOLD_LIMIT: usize = 20_000;

/// Kinds that the language itself knows.
const COMPOSITES: [&str; 8] =
    ["ForEach", "Subsystem", "Mask", "Use", "Function", "Enabled", "Triggered", "Every"];

/// The expanded diagram.
pub(crate) struct Expanded {
    pub(crate) blocks: Vec<NetworkBlock>,
    pub(crate) assertions: Vec<Assertion>,
    pub(crate) collectors: Vec<Collector>,
    /// `None` without a `log:` section.
    pub(crate) logs: Option<Vec<LogEntry>>,
    pub(crate) checks: Vec<CheckEntry>,
    pub(crate) run: Run,
    pub(crate) variants: Vec<(String, Vec<String>)>,
    /// Where the paths of checks lead.
    pub(crate) tree: Tree,
    /// What names mean in checks.
    pub(crate) env: Env,
}

/// A source that must have a type: what an interface declares.
pub(crate) struct Assertion {
    pub(crate) source: Source,
    pub(crate) ty: Type,
    pub(crate) var_count: u32,
    pub(crate) span: Span,
    pub(crate) what: String,
    pub(crate) code: &'static str,
}

/// A block that joins the copies of a for-each: which of its inputs are numbers is found when the
/// blocks before it are planned.
pub(crate) struct Collector {
    pub(crate) path: String,
    pub(crate) stack: bool,
    pub(crate) sources: Vec<Source>,
    pub(crate) span: Span,
    pub(crate) gate: Option<String>,
    pub(crate) owner: Option<String>,
}

/// An entry of `log:`.
pub(crate) struct LogEntry {
    pub(crate) path: String,
    pub(crate) source: Source,
    pub(crate) every: Option<(Ratio, Span)>,
}

/// An entry of `checks:`, its paths unresolved.
pub(crate) struct CheckEntry {
    pub(crate) name: String,
    pub(crate) kind: legwork_program::CheckKind,
    pub(crate) expression: Expression,
    pub(crate) text: String,
    pub(crate) after: f64,
    pub(crate) until: f64,
    pub(crate) span: Span,
}

/// Robots by name.
#[derive(Default)]
pub(crate) struct Robots(pub(crate) BTreeMap<String, Arc<dyn Resource>>);

impl Resources for Robots {
    fn resource(&self, name: &str) -> Option<&Arc<dyn Resource>> {
        self.0.get(name)
    }

    fn resource_names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}

/// A block whose inputs are still text.
struct Pending {
    block: NetworkBlock,
    inputs: BTreeMap<String, (Node, Span)>,
    needs: Vec<function::PendingNeed>,
    frame: FrameId,
}

/// An interface to hold against what stands behind it, once everything is expanded.
struct PendingAssertion {
    path: Node,
    frame: FrameId,
    ty: Type,
    var_count: u32,
    span: Span,
    what: String,
    code: &'static str,
    /// Whether the port that it is about need not be connected.
    is_optional: bool,
}

/// A collector whose sources are still text.
struct PendingCollector {
    path: String,
    stack: bool,
    node: Node,
    frames: Vec<FrameId>,
    gate: Option<String>,
    owner: Option<String>,
}

/// Builds the tree of names and the flat list of blocks.
pub(crate) struct Expander<'a> {
    registry: &'a Registry,
    loader: &'a Loader<'a>,
    diagnostics: &'a mut Diagnostics,
    pub(crate) robots: Robots,
    pub(crate) types: TypeTable,
    tree: Tree,
    pending: Vec<Pending>,
    assertions: Vec<PendingAssertion>,
    collectors: Vec<PendingCollector>,
    variants: IndexMap<String, variants::VariantEntry>,
    /// Step of the run [s], which blocks see when they are planned.
    step: f64,
    chosen: BTreeMap<String, (String, Span)>,
    masks: BTreeMap<String, Option<Rc<Node>>>,
    pub(crate) failed_names: BTreeSet<String>,
    /// Blocks, masks and copies so far.
    unfolded: usize,
    said_too_large: bool,
    /// Path of the condition of the part that is being unfolded.
    gate: Option<String>,
}

/// Codes of what is said of a name that is not known.
const FOLLOWERS: [&str; 3] = ["unknown-name", "unknown-robot", "unknown-variant"];

impl<'a> Expander<'a> {
    pub(crate) fn new(
        registry: &'a Registry,
        loader: &'a Loader<'a>,
        chosen: BTreeMap<String, (String, Span)>,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        Self {
            types: TypeTable { named: registry.types().copied().collect(), buses: BTreeMap::new() },
            registry,
            loader,
            diagnostics,
            robots: Robots::default(),
            tree: Tree::default(),
            pending: Vec::new(),
            assertions: Vec::new(),
            collectors: Vec::new(),
            variants: IndexMap::new(),
            chosen,
            step: 0.0,
            unfolded: 0,
            said_too_large: false,
            gate: None,
            masks: BTreeMap::new(),
            failed_names: BTreeSet::new(),
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        // What only follows from a name that is wrong itself is not reported again.
        let names_it = FOLLOWERS.contains(&diagnostic.code)
            && self
                .failed_names
                .iter()
                .any(|name| diagnostic.message.ends_with(&format!("`{name}`")));
        let follows = diagnostic.code == BROKEN || names_it;
        if !follows {
            self.diagnostics.push(diagnostic);
        }
    }

    fn new_frame(
        &mut self,
        prefix: String,
        parent: Option<FrameId>,
        inputs: Option<tree::OuterInputs>,
    ) -> FrameId {
        let around = parent.or(inputs.as_ref().map(|outer| outer.frame));
        let owner = around.and_then(|id| self.tree.frames[id].owner.clone());
        self.tree.frames.push(Frame { prefix, parent, inputs, items: IndexMap::new(), owner });
        self.tree.frames.len() - 1
    }

    /// Expands the entries of a `blocks:` map into `frame`.
    fn expand_blocks(&mut self, frame: FrameId, blocks: &Node, env: &Env) {
        let Some(entries) = blocks.map() else {
            self.report(wrong_type(blocks, "a map of blocks, such as { \"a\": Constant(…) }"));
            return;
        };
        for (key, node) in entries {
            let Some(name) = key.text() else {
                self.report(wrong_type(key, "the name of a block as text"));
                continue;
            };
            if let Some(reason) = bad_name(name, frame == 0) {
                self.report(Diagnostic::error("bad-name", key.span, reason));
            }
            if self.tree.frames[frame].items.contains_key(name) {
                let message = format!("`{name}` is a share of a signal already");
                self.report(Diagnostic::error("duplicate-key", key.span, message));
                continue;
            }
            let path = format!("{}{name}", self.tree.frames[frame].prefix);
            let item = self.expand_block(frame, &path, node, env);
            self.tree.frames[frame].items.insert(name.to_owned(), item);
        }
    }

    /// Expands one block, mask, for-each or hole.
    fn expand_block(&mut self, frame: FrameId, path: &str, node: &Node, env: &Env) -> Item {
        self.unfolded += 1;
        if self.too_large(node.span) {
            return Item::Broken;
        }
        let Some(kind) = node.kind_name().cloned() else {
            self.report(
                wrong_type(node, "a block such as Gain(gain: 2.0, in: { … })")
                    .hint("begin with the kind's name"),
            );
            return Item::Broken;
        };
        match kind.text.as_str() {
            "ForEach" => self.expand_for_each(frame, path, node, env),
            "Subsystem" => self.expand_subsystem(frame, path, node, env),
            "Mask" => self.expand_mask(frame, path, node, env),
            "Function" => self.expand_function(frame, path, node, env),
            "Use" => self.expand_use(frame, path, node, env),
            "Enabled" | "Triggered" | "Every" => {
                self.expand_conditional(frame, path, node, &kind, env)
            }
            _ => self.expand_leaf(frame, path, node, &kind, env),
        }
    }

    /// Whether too much was unfolded: few lines can stand for very many blocks, by for-each in
    /// for-each and masks in masks.
    fn too_large(&mut self, at: Span) -> bool {
        if self.unfolded <= UNFOLD_LIMIT {
            return false;
        }
        if !self.said_too_large {
            self.said_too_large = true;
            let message = format!("the diagram unfolds into more than {UNFOLD_LIMIT} blocks");
            self.report(Diagnostic::error("too-large", at, message));
        }
        true
    }

    /// Resolves every path that is still text.
    fn resolve(&mut self) -> (Vec<NetworkBlock>, Vec<Assertion>, Vec<Collector>) {
        let mut blocks = Vec::new();
        for pending in std::mem::take(&mut self.pending) {
            let mut block = pending.block;
            block.inputs.extend(self.sources(pending.frame, pending.inputs));
            for need in pending.needs {
                let results = self.sources(need.frame, need.results);
                block.needs.push(Need { name: need.name, results, span: need.span });
            }
            blocks.push(block);
        }
        let mut assertions = Vec::new();
        for pending in std::mem::take(&mut self.assertions) {
            match self.tree.source(pending.frame, &pending.path, true) {
                Ok(source) => assertions.push(Assertion {
                    source,
                    ty: pending.ty,
                    var_count: pending.var_count,
                    span: pending.span,
                    what: pending.what,
                    code: pending.code,
                }),
                Err(diagnostic) if diagnostic.code == ABSENT && pending.is_optional => {}
                Err(diagnostic) if diagnostic.code == ABSENT => self
                    .report(not_connected(&diagnostic, &format!("{} not connected", pending.what))),
                Err(diagnostic) => self.report(*diagnostic),
            }
        }
        let mut collectors = Vec::new();
        for pending in std::mem::take(&mut self.collectors) {
            let mut sources = Vec::new();
            for &frame in &pending.frames {
                match self.tree.source(frame, &pending.node, false) {
                    Ok(source) => sources.push(source),
                    Err(diagnostic) if diagnostic.code == ABSENT => {
                        self.report(not_connected(&diagnostic, &diagnostic.message));
                    }
                    Err(diagnostic) => self.report(*diagnostic),
                }
            }
            let span = pending.node.span;
            let PendingCollector { path, stack, gate, owner, .. } = pending;
            collectors.push(Collector { path, stack, sources, span, gate, owner });
        }
        (blocks, assertions, collectors)
    }

    /// Resolves the paths of one block's inputs, or of one function's results.
    fn sources(
        &mut self,
        frame: FrameId,
        paths: BTreeMap<String, (Node, Span)>,
    ) -> BTreeMap<String, (Source, Span)> {
        let mut sources = BTreeMap::new();
        for (name, (node, span)) in paths {
            let source = match self.tree.source(frame, &node, false) {
                Ok(source) => source,
                // An input that needs it is said to be missing when it is planned.
                Err(diagnostic) if diagnostic.code == ABSENT => continue,
                Err(diagnostic) => {
                    self.report(*diagnostic);
                    // Named, so that it is not said to be missing too.
                    Source::Port(PortPath {
                        block: String::new(),
                        port: String::new(),
                        select: Vec::new(),
                        span,
                    })
                }
            };
            sources.insert(name, (source, span));
        }
        sources
    }
}

/// "expected …, found …" at a node.
pub(crate) fn wrong_type(node: &Node, expected: &str) -> Diagnostic {
    Diagnostic::error(
        "wrong-type",
        node.span,
        format!("expected {expected}, found {}", node.describe()),
    )
}

/// An input that must be connected leads to an optional input of a mask that is not.
fn not_connected(absent: &Diagnostic, message: &str) -> Diagnostic {
    let at = absent.primary.span;
    Diagnostic::error("missing-input", at, message.to_owned())
        .hint("the mask's own input is optional, and its user has not connected it")
}

/// A field that is not known.
pub(crate) fn unknown_field(name: &Name, known: &[&str]) -> Diagnostic {
    Diagnostic::error(
        "unknown-field",
        name.span,
        format!("expected one of `{}`, found `{}`", known.join("`, `"), name.text),
    )
    .suggest(&name.text, known.iter().copied())
}

/// Why a name cannot be a block's name, if it cannot.
fn bad_name(name: &str, root: bool) -> Option<String> {
    if name.is_empty() || name.contains(['.', '[', ']', '^', '~', '=']) || name.trim() != name {
        return Some(format!(
            "expected a name without `.`, `[`, `]`, `^`, `~`, `=` and outer blanks, found `{name}`"
        ));
    }
    if root && SECTIONS.contains(&name) {
        return Some(format!("`{name}` is the name of a section, so it cannot name a block"));
    }
    None
}
