//! Subsystems: masks written in place.

use legwork_block::Node;

use super::Expander;
use super::composite::Inside;
use super::structural::At;
use super::tree::{Env, Item};
use crate::language::{Inputs, Text, construct};

construct! {
    /// Blocks that form a part of their own, seen from outside through declared ports only.
    ///
    /// Expressions inside know the names around it; signals come in through the ports.
    ///
    /// ```ron
    /// "doubled": Subsystem(
    ///     ports: (in: { "u": "Real" }, out: { "y": "Real" }),
    ///     blocks: { "twice": Gain(gain: 2.0, in: { "u": "^u" }) },
    ///     out: { "y": "twice.y" },
    ///     in: { "u": "sine.y" },
    /// )
    /// ```
    "Subsystem":
    pub(super) struct Subsystem<'n> {
        /// The source of each input.
        inputs as "in": Option<Inputs>,
        /// What it is for.
        doc: Option<Text<'n>>,
        ..inside: Inside
    }
}

impl Expander<'_> {
    pub(super) fn expand_subsystem(
        &mut self,
        at: At<'_>,
        part: Subsystem<'_>,
        _: &Node,
        env: &Env,
    ) -> Item {
        self.expand_inside(at, part.inputs, part.inside, part.at, env)
    }
}
