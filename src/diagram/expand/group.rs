//! Groups of blocks with a common period.

use legwork_block::Node;

use super::Expander;
use super::composite::OfBlocks;
use super::tree::Env;
use crate::ids::FrameId;
use crate::language::{self, Construct, Entries, Period, Text, construct};

construct! {
    /// Blocks with a common period. Their names are as if they stood outside: a group is no part of
    /// a path.
    ///
    /// ```ron
    /// "monitor": Group(
    ///     every: "10 ms",
    ///     blocks: {
    ///         "level": Gain(gain: 1.0, in: { "u": "plant.y" }),
    ///         "alarm": Compare(op: ">=", to: 0.9, in: { "u": "level.y" }),
    ///     },
    /// ),
    /// ```
    "Group":
    pub(super) struct Group<'n> {
        /// The period of every block inside that states none.
        every: Period<'n> = required("", "every: \"1 ms\""),
        /// The blocks inside, which have no continuous state.
        blocks: Entries<'n, OfBlocks> = required("", "blocks: { \"a\": Gain(gain: 1.0) }"),
        /// What it is for.
        doc: Option<Text<'n>>,
    }
}

/// Whether an entry of a map of blocks is a group.
pub(crate) fn is_group(node: &Node) -> bool {
    node.kind_name().is_some_and(|kind| kind.text == Group::MANUAL.name)
}

impl Expander<'_> {
    /// Expands the blocks of a group into the frame around it.
    pub(super) fn expand_group(&mut self, frame: FrameId, node: &Node, env: &Env) {
        let Some(group) = language::read::<Group<'_>>(node, self.diagnostics) else { return };
        let around = self.every;
        self.every = self.period(&group.every, env);
        self.expand_blocks(frame, &group.blocks, env);
        self.every = around;
    }
}
