//! Document → network: parameters, robots, variants, masks, for-each.

mod composite;
mod resolve;
mod sections;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use legwork_block::{
    Arguments, Diagnostic, Diagnostics, Expression, Name, Named, Node, NodeField, NodeKind,
    Registry, Resource, Resources, Scope, Span, Type, Value,
};
use legwork_program::Ratio;

use crate::loader::Loader;
use crate::network::{Every, NetworkBlock, PortPath, Source};
use crate::types_text::TypeTable;
pub(crate) use resolve::BROKEN;
pub(crate) use sections::{Run, SECTIONS};
pub(crate) use tree::{Env, Tree};
use tree::{Frame, FrameId, Item};

/// Fields that the engine takes from every block.
const RESERVED: [&str; 3] = ["every", "in", "doc"];

/// Most blocks, masks and copies that a diagram may unfold into.
pub(crate) const UNFOLD_LIMIT: usize = 20_000;

/// Kinds that the language itself knows.
const COMPOSITES: [&str; 4] = ["ForEach", "Subsystem", "Mask", "Use"];

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
}

/// A collector whose sources are still text.
struct PendingCollector {
    path: String,
    stack: bool,
    node: Node,
    frames: Vec<FrameId>,
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
    variants: IndexMap<String, sections::VariantEntry>,
    chosen: BTreeMap<String, (String, Span)>,
    masks: BTreeMap<String, Option<Rc<Node>>>,
    failed_names: BTreeSet<String>,
    /// Blocks, masks and copies so far.
    unfolded: usize,
    said_too_large: bool,
}

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
            unfolded: 0,
            said_too_large: false,
            masks: BTreeMap::new(),
            failed_names: BTreeSet::new(),
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        // What only follows from a parameter that is wrong itself is not reported again.
        let follows =
            self.failed_names.iter().any(|name| diagnostic.message.contains(&format!("`{name}`")));
        let follows = diagnostic.code == BROKEN || (diagnostic.code == "unknown-name" && follows);
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
        self.tree.frames.push(Frame { prefix, parent, inputs, items: IndexMap::new() });
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
            "Use" => self.expand_use(frame, path, node, env),
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

    fn expand_leaf(
        &mut self,
        frame: FrameId,
        path: &str,
        node: &Node,
        kind: &Name,
        env: &Env,
    ) -> Item {
        let Some(entry) = self.registry.find_block(&kind.text).cloned() else {
            let known = self.registry.blocks().map(|entry| entry.kind).chain(COMPOSITES);
            let message = format!("expected a kind of block, found `{}`", kind.text);
            let mut diagnostic = Diagnostic::error("unknown-block-kind", kind.span, message)
                .suggest(&kind.text, known);
            if diagnostic.hints.is_empty() {
                diagnostic = diagnostic.hint("`legwork blocks` lists all kinds");
            }
            self.report(diagnostic);
            return Item::Broken;
        };
        if let NodeKind::Named(Named { arguments: Arguments::Positional(args), .. }) = &node.kind {
            self.report(
                Diagnostic::error(
                    "wrong-type",
                    args[0].span,
                    format!("the parameters of {} have names", kind.text),
                )
                .hint(format!("such as {}", entry.example)),
            );
            return Item::Broken;
        }
        let every = self.every(node.field("every"), env);
        let inputs = self.input_nodes(node.field("in"));
        let mut found = Diagnostics::default();
        let block = (entry.bind)(node, env, &RESERVED, &mut found);
        for diagnostic in found {
            self.report(diagnostic);
        }
        let Some(block) = block else { return Item::Broken };
        if every.is_none() && node.field("every").is_some() {
            return Item::Broken;
        }
        let parameter_spans =
            node.fields().iter().map(|field| (field.name.text.clone(), field.value.span)).collect();
        self.pending.push(Pending {
            block: NetworkBlock {
                path: path.to_owned(),
                block,
                span: kind.span,
                parameter_spans,
                every,
                inputs: BTreeMap::new(),
                text: leaf_text(kind, node, env),
                hidden: false,
            },
            inputs,
            frame,
        });
        Item::Block { path: path.to_owned() }
    }

    /// The `in:` of a block: name → path as written.
    fn input_nodes(&mut self, node: Option<&Node>) -> BTreeMap<String, (Node, Span)> {
        let mut inputs = BTreeMap::new();
        let Some(node) = node else { return inputs };
        match &node.kind {
            NodeKind::Unit => {}
            NodeKind::Map(entries) => {
                for (key, value) in entries {
                    match key.text() {
                        Some(name) => {
                            inputs.insert(name.to_owned(), (value.clone(), value.span));
                        }
                        None => self.report(wrong_type(key, "the name of an input as text")),
                    }
                }
            }
            NodeKind::Named(Named { name: None, arguments: Arguments::Fields(fields) }) => {
                for field in fields {
                    inputs.insert(field.name.text.clone(), (field.value.clone(), field.value.span));
                }
            }
            _ => self.report(wrong_type(node, "inputs such as { \"u\": \"block.port\" }")),
        }
        inputs
    }

    /// `every:`: a period, or `(period: …, offset: …)`.
    fn every(&mut self, node: Option<&Node>, env: &Env) -> Option<Every> {
        let node = node?;
        let (period, offset) = match &node.kind {
            NodeKind::Named(Named { name: None, .. }) => {
                for field in node.fields() {
                    if !["period", "offset"].contains(&field.name.text.as_str()) {
                        self.report(unknown_field(&field.name, &["period", "offset"]));
                    }
                }
                (node.field("period")?, node.field("offset"))
            }
            _ => (node, None),
        };
        let period_span = period.span;
        let period = self.seconds(period, env, true)?;
        let offset = match offset {
            Some(offset) => self.seconds(offset, env, false)?,
            None => Ratio::ZERO,
        };
        if !period.is_positive() || offset.is_negative() {
            self.report(Diagnostic::error(
                "out-of-range",
                period_span,
                format!("expected a period above zero and an offset of zero or more, found {period}, {offset}"),
            ));
            return None;
        }
        Some(Every { period, offset, span: node.span })
    }

    /// An exact time [s]; with `rate`, a frequency stands for its period.
    fn seconds(&mut self, node: &Node, env: &Env, rate: bool) -> Option<Ratio> {
        let value = self.value(node, env)?;
        let seconds = match value {
            Value::Real { value, unit } => match unit {
                None => Ratio::from_decimal(value),
                Some(unit) if unit == legwork_block::Unit::SECOND => Ratio::from_decimal(value),
                Some(unit) if rate && unit == legwork_block::Unit::HERTZ => {
                    Ratio::from_decimal(value).and_then(Ratio::inverse)
                }
                Some(unit) => {
                    let message = format!("expected a time in s, found the unit {unit}");
                    self.report(Diagnostic::error("unit-mismatch", node.span, message));
                    return None;
                }
            },
            other => {
                let message =
                    format!("expected a time such as \"1 ms\", found {}", other.describe());
                self.report(Diagnostic::error("wrong-type", node.span, message));
                return None;
            }
        };
        if seconds.is_none() {
            let message = "expected a time that is finite and not too finely divided";
            self.report(Diagnostic::error("out-of-range", node.span, message));
        }
        seconds
    }

    /// The value of a node: literals, quantities, `=` expressions; `None` is reported.
    fn value(&mut self, node: &Node, env: &dyn Scope) -> Option<Value> {
        match evaluate(node, env) {
            Ok(value) => Some(value),
            Err(diagnostic) => {
                self.report(*diagnostic);
                None
            }
        }
    }

    /// Resolves every path that is still text.
    fn resolve(&mut self) -> (Vec<NetworkBlock>, Vec<Assertion>, Vec<Collector>) {
        let mut blocks = Vec::new();
        for pending in std::mem::take(&mut self.pending) {
            let mut block = pending.block;
            for (name, (node, span)) in pending.inputs {
                match self.tree.source(pending.frame, &node, false) {
                    Ok(source) => {
                        block.inputs.insert(name, (source, span));
                    }
                    Err(diagnostic) => {
                        self.report(*diagnostic);
                        // Named, so that it is not said to be missing too.
                        let nowhere = Source::Port(PortPath {
                            block: String::new(),
                            port: String::new(),
                            select: Vec::new(),
                            span,
                        });
                        block.inputs.insert(name, (nowhere, span));
                    }
                }
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
                Err(diagnostic) => self.report(*diagnostic),
            }
        }
        let mut collectors = Vec::new();
        for pending in std::mem::take(&mut self.collectors) {
            let mut sources = Vec::new();
            for &frame in &pending.frames {
                match self.tree.source(frame, &pending.node, false) {
                    Ok(source) => sources.push(source),
                    Err(diagnostic) => self.report(*diagnostic),
                }
            }
            let span = pending.node.span;
            collectors.push(Collector { path: pending.path, stack: pending.stack, sources, span });
        }
        (blocks, assertions, collectors)
    }
}

/// The value of a node: literals, quantities, `=` expressions, lists and records of them.
pub(crate) fn evaluate(node: &Node, scope: &dyn Scope) -> Result<Value, Box<Diagnostic>> {
    match &node.kind {
        NodeKind::Bool(value) => Ok(Value::Bool(*value)),
        NodeKind::Number(number) => Ok(Value::Real { value: number.value, unit: number.unit }),
        NodeKind::Text(text) => match text.value.strip_prefix('=') {
            Some(_) => Expression::parse_from(&text.value, 1, &text.place)
                .and_then(|expression| expression.eval(scope))
                .map_err(Box::new),
            None => match legwork_block::parse_quantity(&text.value) {
                Ok((value, unit)) => Ok(Value::Real { value, unit }),
                Err(_) => Ok(Value::Text(text.value.clone())),
            },
        },
        NodeKind::List(items) => Ok(Value::List(
            items.iter().map(|item| evaluate(item, scope)).collect::<Result<_, _>>()?,
        )),
        NodeKind::Unit => Ok(Value::List(Vec::new())),
        NodeKind::Map(entries) => {
            let mut record = Vec::new();
            for (key, value) in entries {
                let key = key.text().ok_or_else(|| Box::new(wrong_type(key, "a name as text")))?;
                record.push((key.to_owned(), evaluate(value, scope)?));
            }
            Ok(Value::record(record))
        }
        NodeKind::Named(Named { name: None, arguments: Arguments::Fields(fields) }) => {
            let mut record = Vec::new();
            for field in fields {
                record.push((field.name.text.clone(), evaluate(&field.value, scope)?));
            }
            Ok(Value::record(record))
        }
        NodeKind::Named(Named { name: Some(name), arguments: Arguments::None }) => {
            Ok(Value::Text(name.text.clone()))
        }
        NodeKind::Named(_) => Err(Box::new(wrong_type(node, "a value"))),
    }
}

/// A node with every `=` expression replaced by its value, so that it means the same elsewhere.
fn literal(node: &Node, scope: &dyn Scope) -> Result<Node, Box<Diagnostic>> {
    let kind = match &node.kind {
        NodeKind::Text(text) if text.value.starts_with('=') => {
            return Ok(evaluate(node, scope)?.to_node(node.span));
        }
        NodeKind::List(items) => {
            NodeKind::List(items.iter().map(|item| literal(item, scope)).collect::<Result<_, _>>()?)
        }
        NodeKind::Map(entries) => NodeKind::Map(
            entries
                .iter()
                .map(|(key, value)| Ok((key.clone(), literal(value, scope)?)))
                .collect::<Result<_, Box<Diagnostic>>>()?,
        ),
        NodeKind::Named(named) => NodeKind::Named(Named {
            name: named.name.clone(),
            arguments: match &named.arguments {
                Arguments::Fields(fields) => Arguments::Fields(
                    fields
                        .iter()
                        .map(|field| {
                            Ok(NodeField {
                                name: field.name.clone(),
                                value: literal(&field.value, scope)?,
                            })
                        })
                        .collect::<Result<_, Box<Diagnostic>>>()?,
                ),
                Arguments::Positional(args) => Arguments::Positional(
                    args.iter().map(|arg| literal(arg, scope)).collect::<Result<_, _>>()?,
                ),
                Arguments::None => Arguments::None,
            },
        }),
        other => other.clone(),
    };
    Ok(Node { span: node.span, kind })
}

/// "expected …, found …" at a node.
pub(crate) fn wrong_type(node: &Node, expected: &str) -> Diagnostic {
    Diagnostic::error(
        "wrong-type",
        node.span,
        format!("expected {expected}, found {}", node.describe()),
    )
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

/// The block as text with its expressions evaluated, for listings and the hash.
fn leaf_text(kind: &Name, node: &Node, env: &Env) -> String {
    let fields: Vec<String> = node
        .fields()
        .iter()
        .filter(|field| !RESERVED.contains(&field.name.text.as_str()))
        .map(|field| {
            let value = literal(&field.value, env).unwrap_or_else(|_| field.value.clone());
            format!("{}: {}", field.name.text, node_text(&value))
        })
        .collect();
    format!("{}({})", kind.text, fields.join(", "))
}

/// A node as text.
fn node_text(node: &Node) -> String {
    let list = |items: &[Node]| items.iter().map(node_text).collect::<Vec<_>>().join(", ");
    match &node.kind {
        NodeKind::Unit => "()".into(),
        NodeKind::Bool(value) => value.to_string(),
        NodeKind::Number(number) => match number.unit {
            Some(unit) => format!("\"{} {unit}\"", number.text),
            None => number.text.clone(),
        },
        NodeKind::Text(text) => format!("{:?}", text.value),
        NodeKind::List(items) => format!("[{}]", list(items)),
        NodeKind::Map(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", node_text(key), node_text(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        NodeKind::Named(named) => {
            let name = named.name.as_ref().map_or("", |name| &name.text);
            match &named.arguments {
                Arguments::None => name.to_owned(),
                Arguments::Positional(args) => format!("{name}({})", list(args)),
                Arguments::Fields(fields) => {
                    let fields: Vec<String> = fields
                        .iter()
                        .map(|f| format!("{}: {}", f.name.text, node_text(&f.value)))
                        .collect();
                    format!("{name}({})", fields.join(", "))
                }
            }
        }
    }
}
