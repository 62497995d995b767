//! The constructs that hold blocks: the kinds that the language itself knows.

use legwork_block::Node;

use super::Expander;
use super::conditional::{Enabled, Every, Triggered};
use super::for_each::ForEach;
use super::function::Function;
use super::hole::Use;
use super::mask::Mask;
use super::part::DiagramPart;
use super::subsystem::Subsystem;
use super::tree::{Env, Item};
use crate::ids::FrameId;
use crate::language::{Construct, Manual};

/// Where a block or part goes.
#[derive(Clone, Copy)]
pub(super) struct At<'p> {
    /// The names around it.
    pub(super) frame: FrameId,
    /// Its path.
    pub(super) path: &'p str,
}

/// A construct that unfolds into blocks.
pub(super) struct Structural {
    pub(super) manual: Manual,
    /// Reads and unfolds it.
    pub(super) expand: fn(&mut Expander<'_>, At<'_>, &Node, &Env) -> Item,
}

macro_rules! structural {
    ($($type:ident => $expand:ident,)*) => { &[$(Structural {
        manual: <$type<'_> as Construct<'_>>::MANUAL,
        expand: |expander, at, node, env| match $type::from_node(node, expander.diagnostics) {
            Some(part) => expander.$expand(at, part, node, env),
            None => Item::Broken,
        },
    }),*] };
}

/// All of them. A new one is a type, a method that expands it, and a line in this list.
pub(super) const STRUCTURAL: &[Structural] = structural![
    ForEach => expand_for_each,
    Subsystem => expand_subsystem,
    Mask => expand_mask,
    DiagramPart => expand_diagram,
    Use => expand_use,
    Function => expand_function,
    Enabled => expand_enabled,
    Triggered => expand_triggered,
    Every => expand_every,
];
