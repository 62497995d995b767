//! The tree of named things that expansion builds: what a path can lead to.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use indexmap::IndexMap;
use legwork_block::{Diagnostics, Node, Scope, Span, Value};

use crate::ids::{BlockId, FrameId, Id, IdVec};
use crate::language::Inputs;
use crate::types_text::TypeTable;

/// All frames; the first, [`Tree::ROOT`], is the diagram's own.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) frames: IdVec<FrameId, Frame>,
    /// The types that each diagram knows: the one that runs first, then those that stand in it.
    pub(crate) types: Vec<TypeTable>,
}

impl Tree {
    /// The frame of the diagram's own blocks.
    pub(crate) const ROOT: FrameId = FrameId::FIRST;

    /// Whether paths that are read in `frame` may begin with `name`.
    pub(crate) fn is_block(&self, frame: FrameId, name: &str) -> bool {
        let around = |id: &FrameId| self.frames[*id].parent;
        std::iter::successors(Some(frame), around)
            .any(|id| self.frames[id].items.contains_key(name))
    }

    /// The types that can be named in a frame.
    pub(crate) fn types(&self, frame: FrameId) -> &TypeTable {
        &self.types[self.frames[frame].scope]
    }
}

/// What names lead to, in their order in the file.
pub(crate) type Items = IndexMap<String, Item, foldhash::fast::RandomState>;

/// Names visible at one level: the diagram's blocks, a mask's inside, one copy of a for-each.
pub(crate) struct Frame {
    /// In front of the names of its blocks: `foot[FL_foot].`.
    pub(crate) prefix: String,
    /// The surroundings, if they are visible.
    pub(crate) parent: Option<FrameId>,
    /// What `^port` means, if this is the inside of a mask.
    pub(crate) inputs: Option<OuterInputs>,
    /// Its blocks.
    pub(crate) items: Items,
    /// The block that stands for the caller of the function that all this is part of, if it is.
    pub(crate) owner: Option<BlockId>,
    /// The diagram that all this is part of: its place in [`Tree::types`].
    pub(crate) scope: usize,
}

/// The inputs of a mask's instance, as written by its user.
#[derive(Clone)]
pub(crate) struct OuterInputs {
    /// Where the user's paths are read.
    pub(crate) frame: FrameId,
    /// Path of each input.
    pub(crate) sources: Inputs,
    /// Inputs that the mask declares.
    pub(crate) declared: Vec<String>,
    /// Those of them that need not be connected.
    pub(crate) optional: BTreeSet<String>,
    /// What feeds those that are not connected.
    pub(crate) fed: BTreeMap<String, BlockId>,
}

/// What a name leads to.
pub(crate) enum Item {
    /// A block.
    Block(BlockId),
    /// A mask, a subsystem: only `outs` are visible from outside.
    Composite {
        /// The inside.
        inside: FrameId,
        /// Path of each output, read inside.
        outs: BTreeMap<String, Node>,
        /// Optional outputs that it does not have.
        absent: BTreeSet<String>,
    },
    /// A hole filled by a choice, seen through the declared outputs.
    Hole {
        /// The choice.
        choice: Box<Item>,
        /// Declared outputs, without those that are `absent`.
        outs: Vec<String>,
        /// Optional outputs that the choice does not have.
        absent: BTreeSet<String>,
        /// The hole's name.
        name: String,
    },
    /// One frame per copy.
    ForEach {
        /// Key of each copy, and its inside.
        copies: IndexMap<String, FrameId>,
        /// What is collected: for each output one item per copy.
        collected: BTreeMap<String, Collected>,
    },
    /// The share that a copy of a for-each has in a signal of the surroundings.
    Share {
        /// Where the path of the signal is read.
        frame: FrameId,
        /// Path of the signal.
        node: Node,
        /// Which copy this is.
        index: usize,
        /// How many copies there are.
        count: usize,
    },
    /// Something with mistakes of its own, which are reported already.
    Broken,
}

/// An output of a for-each.
pub(crate) enum Collected {
    /// One signal per copy.
    Array(Node),
    /// The elements of one array per copy.
    Join(Node),
    /// A block that stacks or joins the copies' signals.
    Block(BlockId),
    /// Something with mistakes of its own, which are reported already.
    Broken,
}

/// What expressions and holes mean at one place.
#[derive(Clone)]
pub(crate) struct Env {
    /// Parameters, for-each names, robots.
    pub(crate) names: Rc<IndexMap<String, Value>>,
    /// Holes that the user of a mask filled; `None` of which nothing is known.
    pub(crate) holes: Rc<BTreeMap<String, Option<Hole>>>,
    /// Whether this is the diagram itself, where variants are visible.
    pub(crate) root: bool,
    /// What is being unfolded around this place, so that nothing unfolds inside itself.
    pub(crate) around: Rc<Around>,
    /// Names whose own mistakes are reported already.
    pub(crate) failed: Rc<BTreeSet<String>>,
    /// Whether there are names of which nothing is known, as in a patch by itself: nothing is said
    /// of any that are not here.
    pub(crate) is_open: bool,
    /// Names that got their value on the command line or in a patch, and where.
    pub(crate) elsewhere: Rc<BTreeMap<String, Span>>,
    /// What the expressions of the diagram may still make.
    pub(crate) budget: Rc<Budget>,
}

/// Values that the expressions of one diagram may make together.
const VALUE_LIMIT: usize = 1 << 20;

/// Bytes that the robots of one diagram may take together, beside those of their files.
pub(crate) const ROBOT_LIMIT: u64 = 100_000_000;

/// Counts the values that the expressions of a diagram make, and other things that a short text
/// could have many of.
#[derive(Default)]
pub(crate) struct Budget {
    made: Cell<usize>,
    /// Bytes of robots beside those of their files.
    robots: Cell<u64>,
    /// Places of wrong names for which the names that there are were listed.
    listed: RefCell<BTreeSet<Span>>,
}

impl Budget {
    /// Counts `count` values more; false if those are too many.
    pub(crate) fn spend(&self, count: usize) -> bool {
        let made = self.made.get().saturating_add(count);
        self.made.set(made);
        made <= VALUE_LIMIT
    }

    /// Counts the bytes of a robot; what all together take if that is too much.
    pub(crate) fn add_robot(&self, bytes: u64) -> Option<u64> {
        let all = self.robots.get().saturating_add(bytes);
        self.robots.set(all);
        (all > ROBOT_LIMIT).then_some(all)
    }

    /// Whether the names that there are may be listed for a wrong one at this place.
    pub(crate) fn suggests(&self, at: Span) -> bool {
        let mut listed = self.listed.borrow_mut();
        listed.contains(&at) || (listed.len() < Diagnostics::MOST && listed.insert(at))
    }
}

/// Masks and variants around a place, from the outermost on.
#[derive(Clone, Default)]
pub(crate) struct Around {
    /// Files of masks, as written.
    pub(crate) masks: Vec<String>,
    /// Names of variants.
    pub(crate) variants: Vec<String>,
    /// Files of diagrams, as they were found, from the one that runs on.
    pub(crate) diagrams: Vec<String>,
}

/// A filled hole.
#[derive(Clone)]
pub(crate) struct Hole {
    /// What fills it.
    pub(crate) choice: Node,
    /// Where the filling is read.
    pub(crate) env: Env,
    /// The interface that the mask declares.
    pub(crate) interface: Option<Node>,
    /// Where the interface's types are read.
    pub(crate) interface_names: Rc<IndexMap<String, Value>>,
}

impl Env {
    /// The same place with more names.
    pub(crate) fn with(&self, more: impl IntoIterator<Item = (String, Value)>) -> Self {
        let mut names = (*self.names).clone();
        names.extend(more);
        Self { names: Rc::new(names), ..self.clone() }
    }

    /// The names of a declared interface, and nothing else.
    pub(crate) fn of_names(names: Rc<IndexMap<String, Value>>, budget: &Rc<Budget>) -> Self {
        Self {
            names,
            budget: Rc::clone(budget),
            holes: Rc::default(),
            root: false,
            around: Rc::default(),
            failed: Rc::default(),
            is_open: false,
            elsewhere: Rc::default(),
        }
    }
}

impl Scope for Env {
    fn lookup(&self, name: &str) -> Option<Value> {
        self.names.get(name).cloned()
    }

    fn names(&self) -> Vec<String> {
        self.names.keys().cloned().collect()
    }

    fn suggests(&self, at: Span) -> bool {
        self.budget.suggests(at)
    }

    fn is_reported(&self, name: &str) -> bool {
        self.is_open || self.failed.contains(name)
    }

    fn spend(&self, count: usize) -> bool {
        self.budget.spend(count)
    }

    fn set_elsewhere(&self, name: &str) -> Option<Span> {
        self.elsewhere.get(name).copied()
    }
}
