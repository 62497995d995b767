//! Document → network: parameters, robots, variants, masks, for-each.

mod alone;
mod blocks;
mod buses;
mod checks;
mod composite;
mod conditional;
mod constructs;
mod feed;
mod file;
mod for_each;
mod function;
mod group;
mod hole;
mod interface;
mod judge;
mod leaf;
mod mask;
mod names;
mod origins;
mod part;
mod resolve;
mod robot_file;
mod run;
mod sections;
mod structural;
mod subsystem;
mod tree;
mod unresolved;
mod unused;
mod value;
mod variants;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use legwork_block::{
    Diagnostic, Diagnostics, Expression, Node, Registry, Resource, Resources, Span, Type, Unit,
    code, is_constant,
};
use legwork_program::Ratio;

use crate::ids::{BlockId, FrameId, IdVec};
use crate::language::{Entries, Entry, Inputs, wrong_type};
use crate::loader::Loader;
use crate::network::{Network, NetworkBlock, Sampling, Source};
use crate::types_text::TypeTable;
pub(crate) use blocks::{in_variables_from, invalid_parameter};
pub use checks::check_kinds;
use composite::OfBlocks;
pub use constructs::{constructs, parts};
pub(crate) use feed::RootInput;
pub(crate) use group::is_group;
pub(crate) use judge::JudgeEntry;
pub use judge::reductions;
pub use mask::parameter_kinds;
pub(crate) use origins::{Origins, is_same};
pub(crate) use resolve::Resolver;
pub(crate) use run::Run;
pub(crate) use sections::{check_format, sections};
use structural::{At, STRUCTURAL};
use tree::Budget;
pub(crate) use tree::{Collected, Env, Frame, Item, Tree};
pub(crate) use value::{evaluate, node_text};

/// Most blocks, masks and copies that a diagram may unfold into.
pub(crate) const UNFOLD_LIMIT: usize = 20_000;

/// The expanded diagram.
pub(crate) struct Expanded {
    pub(crate) network: Network,
    pub(crate) assertions: Vec<Assertion>,
    /// `None` without a `log:` section.
    pub(crate) logs: Option<Vec<LogEntry>>,
    /// What diagrams inside record.
    pub(crate) logs_inside: Vec<LogEntry>,
    pub(crate) judge: Vec<JudgeEntry>,
    pub(crate) checks: Vec<CheckEntry>,
    pub(crate) inputs: Vec<RootInput>,
    pub(crate) outputs: Vec<RootOutput>,
    pub(crate) run: Run,
    /// What the robots of diagrams inside are made of.
    pub(crate) resources_inside: Vec<String>,
    /// Where the paths of checks lead.
    pub(crate) names: Names,
}

/// What names mean in a diagram that is expanded.
pub(crate) struct Names {
    /// What paths lead to.
    pub(crate) tree: Tree,
    /// The names in `judge:` of each diagram inside, by scope.
    judge_inside: Vec<Vec<String>>,
    /// The names in `judge:` of the diagram whose mistakes are reported already.
    pub(crate) failed_judge: BTreeSet<String>,
}

impl Names {
    /// Whether `path`, read in `frame`, begins at what is in `judge:` of a diagram inside.
    pub(crate) fn is_judged_inside(&self, frame: FrameId, path: &str) -> bool {
        let names = self.judge_inside.get(self.tree.frames[frame].scope);
        names.is_some_and(|names| begins_with_one(path, names))
    }
}

/// Whether the first name of a path is one of `names`.
fn begins_with_one(path: &str, names: &[String]) -> bool {
    let first = path.split(['.', '[']).next();
    names.iter().any(|name| first == Some(name))
}

/// A source that must have a type: what an interface declares.
pub(crate) struct Assertion {
    pub(crate) source: Source,
    pub(crate) ty: Type,
    pub(crate) var_count: u32,
    /// Its unit, if one is declared.
    pub(crate) unit: Option<Unit>,
    pub(crate) span: Span,
    pub(crate) what: String,
    pub(crate) code: code::Code,
}

/// An output of the diagram that runs.
pub(crate) struct RootOutput {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) unit: Option<String>,
    pub(crate) source: Source,
}

/// An entry of `log:`.
pub(crate) struct LogEntry {
    pub(crate) path: String,
    pub(crate) source: Logged,
    pub(crate) every: Option<(Ratio, Span)>,
}

/// What an entry of `log:` names.
pub(crate) enum Logged {
    /// A signal of blocks.
    Port(Source),
    /// The value of `judge:` of this index.
    Judged(usize),
}

/// An entry of `checks:`, its paths unresolved.
pub(crate) struct CheckEntry {
    pub(crate) name: String,
    /// Where its paths are read.
    pub(crate) frame: FrameId,
    /// What its names mean.
    pub(crate) env: Env,
    pub(crate) kind: legwork_program::CheckKind,
    pub(crate) expression: Expression,
    /// Where it is asked for.
    pub(crate) when: Option<Expression>,
    /// How far beyond its bound a comparison still holds, with its unit and where it is written.
    pub(crate) tolerance: Option<((f64, Option<Unit>), Span)>,
    pub(crate) text: String,
    pub(crate) after: f64,
    pub(crate) until: f64,
    pub(crate) span: Span,
}

/// Robots by name.
#[derive(Default)]
pub(crate) struct Robots {
    loaded: BTreeMap<String, Arc<dyn Resource>>,
    /// What `ground:` is, and where it is written.
    ground: Option<(Arc<dyn Resource>, Span)>,
    /// Whether anything asked for it.
    asked_ground: Cell<bool>,
    /// Those whose own mistakes are reported already.
    failed: BTreeSet<String>,
    /// Whether there may be others, of which nothing is known.
    is_open: bool,
    /// Whether one of those was asked for: what its user then finds wrong only follows.
    asked_failed: Cell<bool>,
    /// Those that were asked for.
    asked: RefCell<BTreeSet<String>>,
}

impl Robots {
    /// Whether nothing is known of a robot, and that is no news: its own mistakes are reported.
    pub(crate) fn is_failed(&self, name: &str) -> bool {
        self.failed.contains(name) || (self.is_open && !self.loaded.contains_key(name))
    }

    /// Whether a block asked for a robot.
    fn is_asked(&self, name: &str) -> bool {
        self.asked.borrow().contains(name)
    }

    /// The warning that nothing stands on the ground, if that is so.
    fn unused_ground(&self) -> Option<Diagnostic> {
        let (_, span) = self.ground.as_ref().filter(|_| !self.asked_ground.get())?;
        let message = "nothing in the diagram stands on this ground";
        let hint =
            "contact blocks take it with `ground: OfDiagram`, their default but for Collisions";
        Some(Diagnostic::warning(code::UNUSED_GROUND, *span, message).hint(hint))
    }

    /// Whether a robot with mistakes of its own was asked for since the last call.
    fn take_asked_failed(&self) -> bool {
        self.asked_failed.take()
    }
}

impl Resources for Robots {
    fn resource(&self, name: &str) -> Option<&Arc<dyn Resource>> {
        if self.is_failed(name) {
            self.asked_failed.set(true);
        }
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(name) {
            asked.insert(name.to_owned());
        }
        self.loaded.get(name)
    }

    fn resource_names(&self) -> Vec<String> {
        self.loaded.keys().cloned().collect()
    }

    fn ground(&self) -> Option<&Arc<dyn Resource>> {
        self.asked_ground.set(true);
        self.ground.as_ref().map(|(ground, _)| ground)
    }
}

/// Inputs that are still text: of a block, or of one that had mistakes of its own, whose wires are
/// looked at all the same.
struct PendingInputs {
    block: Option<BlockId>,
    inputs: Inputs,
    frame: FrameId,
    /// Whether the block stands for the caller of a function: what is wrong with its inputs, the
    /// results, is said where the function is bound.
    is_frame: bool,
}

/// An interface to hold against what is behind it, once everything is expanded.
struct PendingAssertion {
    of: AssertionOf,
    ty: Type,
    var_count: u32,
    unit: Option<Unit>,
    span: Span,
    what: String,
    code: code::Code,
}

/// What an assertion is about.
enum AssertionOf {
    Path {
        path: Node,
        /// Where the path is read.
        frame: FrameId,
        /// Whether the port that it is about need not be connected.
        is_optional: bool,
    },
    /// The one output of a block.
    Block(BlockId),
}

/// A block that joins copies, whose source in each copy is still text.
struct PendingCopies {
    block: BlockId,
    node: Node,
    frames: Vec<FrameId>,
}

/// Builds the tree of names and the flat list of blocks.
pub(crate) struct Expander<'a> {
    registry: &'a Registry,
    loader: &'a Loader<'a>,
    diagnostics: &'a mut Diagnostics,
    robots: Robots,
    types: TypeTable,
    tree: Tree,
    blocks: IdVec<BlockId, NetworkBlock>,
    /// Variables of all blocks so far.
    var_count: u32,
    pending: Vec<PendingInputs>,
    assertions: Vec<PendingAssertion>,
    copies: Vec<PendingCopies>,
    variants: IndexMap<String, variants::VariantEntry>,
    /// The section `run:`, which blocks see when they are planned; without it they are not planned.
    run: Option<Run>,
    chosen: BTreeMap<String, (String, Span)>,
    masks: BTreeMap<String, Option<Rc<Node>>>,
    /// Where values come from, for messages.
    origins: Origins,
    /// Variants whose own mistakes are reported already.
    failed_variants: BTreeSet<String>,
    /// What expressions may still make.
    budget: Rc<Budget>,
    /// Blocks, masks and copies so far.
    unfolded: usize,
    said_too_large: bool,
    /// The condition of the part that is being unfolded.
    gate: Option<BlockId>,
    /// The period of the group around.
    every: Option<Sampling>,
    /// The diagrams that are unfolded, the one that runs first.
    scopes: Vec<Scope>,
    /// The one that is being unfolded.
    scope: usize,
    /// Files of diagrams, by where they were found.
    diagrams: BTreeMap<String, Rc<Node>>,
    /// What diagrams inside record, their paths unresolved.
    logs_inside: Vec<part::LogInside>,
    /// What diagrams inside check.
    checks_inside: Vec<CheckEntry>,
    /// What the robots of diagrams inside are made of.
    resources_inside: Vec<String>,
    /// How many blocks there are before those of `judge:`, once these are met.
    model_blocks: Option<usize>,
    /// Names in `judge:` whose mistakes are reported already.
    failed_judge: BTreeSet<String>,
}

/// A diagram that is unfolded: the one that runs, or one that stands in it.
#[derive(Default)]
struct Scope {
    /// Path of the part; empty for the diagram that runs.
    path: String,
    /// Its robots, while another is being unfolded.
    robots: Robots,
    /// Of one that stands in another: the names in its `judge:`, which is not evaluated.
    judge: Vec<String>,
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
            blocks: IdVec::default(),
            var_count: 0,
            pending: Vec::new(),
            assertions: Vec::new(),
            copies: Vec::new(),
            variants: IndexMap::new(),
            chosen,
            run: None,
            budget: Rc::default(),
            unfolded: 0,
            said_too_large: false,
            gate: None,
            every: None,
            scopes: vec![Scope::default()],
            scope: 0,
            diagrams: BTreeMap::new(),
            logs_inside: Vec::new(),
            checks_inside: Vec::new(),
            resources_inside: Vec::new(),
            model_blocks: None,
            failed_judge: BTreeSet::new(),
            masks: BTreeMap::new(),
            origins: Origins::default(),
            failed_variants: BTreeSet::new(),
        }
    }

    /// Where values come from.
    pub(crate) fn take_origins(&mut self) -> Origins {
        std::mem::take(&mut self.origins)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn new_frame(
        &mut self,
        prefix: String,
        parent: Option<FrameId>,
        inputs: Option<tree::OuterInputs>,
    ) -> FrameId {
        let around = parent.or(inputs.as_ref().map(|outer| outer.frame));
        let owner = around.and_then(|id| self.tree.frames[id].owner);
        let (items, scope) = (tree::Items::default(), self.scope);
        self.tree.frames.push(Frame { prefix, parent, inputs, items, owner, scope })
    }

    /// Reports a name that expressions take for a constant, where it is to name something else.
    fn refuse_constant(&mut self, name: &str, span: Span, what: &str) {
        if is_constant(name) {
            let message = constant_name(name, what);
            let found = Diagnostic::error(code::BAD_NAME, span, message);
            self.report(found.hint("give it another name"));
        }
    }

    /// Expands blocks into `frame`.
    fn expand_blocks(&mut self, frame: FrameId, blocks: &Entries<'_, OfBlocks>, env: &Env) {
        let count = blocks.iter().count();
        self.tree.frames[frame].items.reserve(count);
        self.blocks.reserve(count);
        self.pending.reserve(count);
        for Entry { name, name_span, value, .. } in blocks.iter() {
            if is_group(value) {
                self.expand_group(frame, value, env);
                continue;
            }
            if let Some(reason) = bad_name(name, frame == Tree::ROOT && env.root) {
                self.report(Diagnostic::error(code::BAD_NAME, name_span, reason));
            }
            if let Some(known) = self.tree.frames[frame].items.get(name) {
                let what = match known {
                    Item::Share { .. } => "a share of a signal",
                    _ => "another block",
                };
                let message = format!("`{name}` is {what} already");
                self.report(Diagnostic::error(code::DUPLICATE_KEY, name_span, message));
                continue;
            }
            let path = [&self.tree.frames[frame].prefix, name].concat();
            let item = self.expand_block(frame, path, value, env);
            self.tree.frames[frame].items.insert(name.to_owned(), item);
        }
    }

    /// Expands a block of the registry, or a construct that holds blocks.
    fn expand_block(&mut self, frame: FrameId, path: String, node: &Node, env: &Env) -> Item {
        self.unfolded += 1;
        if self.too_large(node.span) {
            return Item::Broken;
        }
        let Some(kind) = node.kind_name() else {
            self.report(
                wrong_type(node, "a block such as Gain(gain: 2.0, in: { … })")
                    .hint("begin with the kind's name"),
            );
            return Item::Broken;
        };
        match STRUCTURAL.iter().find(|construct| construct.manual.name == kind.text) {
            Some(construct) => (construct.expand)(self, At { frame, path: &path }, node, env),
            None => self.expand_leaf(frame, path, node, kind, env),
        }
    }

    /// Whether too much was unfolded: few lines can make very many blocks, by for-each in
    /// for-each and masks in masks.
    fn too_large(&mut self, at: Span) -> bool {
        if self.unfolded <= UNFOLD_LIMIT {
            return false;
        }
        if !self.said_too_large {
            self.said_too_large = true;
            let message = format!("the diagram unfolds into more than {UNFOLD_LIMIT} blocks");
            self.report(Diagnostic::error(code::TOO_LARGE, at, message));
        }
        true
    }
}

/// Why a constant of expressions cannot name a block, a parameter or anything else.
fn constant_name(name: &str, what: &str) -> String {
    format!("`{name}` is a constant of expressions, so it cannot name a {what}")
}

/// Why a name cannot be a block's name, if it cannot.
fn bad_name(name: &str, root: bool) -> Option<String> {
    if name.is_empty() || name.contains(['.', '[', ']', '^', '~', '=']) || name.trim() != name {
        return Some(format!(
            "expected a name without `.`, `[`, `]`, `^`, `~`, `=` and outer blanks, found `{name}`"
        ));
    }
    if is_constant(name) {
        return Some(constant_name(name, "block"));
    }
    if root && sections().any(|section| section == name) {
        return Some(format!("`{name}` is the name of a section, so it cannot name a block"));
    }
    None
}
