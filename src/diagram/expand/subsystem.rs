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
    /// "pd": Subsystem(
    ///     ports: (in: { "want": "Real", "is": "Real", "speed": "Real" }, out: { "f": "Real" }),
    ///     blocks: {
    ///         "error": Sum(signs: "+-", in: { "u1": "^want", "u2": "^is" }),
    ///         "p":     Gain(gain: "=kp", in: { "u": "error.y" }),
    ///         "d":     Gain(gain: "=kd", in: { "u": "^speed" }),
    ///         "sum":   Sum(signs: "+-", in: { "u1": "p.y", "u2": "d.y" }),
    ///     },
    ///     out: { "f": "sum.y" },
    ///     in: { "want": "target.y", "is": "cart.position", "speed": "cart.velocity" },
    /// ),
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
