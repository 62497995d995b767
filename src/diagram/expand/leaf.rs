//! Blocks of the registry: their parameters, inputs and periods.

use legwork_block::{Arguments, Diagnostic, Name, Named, Node, NodeField, NodeKind, code};
use legwork_program::Ratio;
use smallvec::SmallVec;

use super::blocks::NewBlock;
use super::function::OfNeeds;
use super::structural::STRUCTURAL;
use super::tree::{Env, Item};
use super::value::{write_field, write_list};
use super::{Expander, PendingInputs};
use crate::ids::FrameId;
use crate::language::{self, Construct, Entries, Inputs, Period, construct};
use crate::network::{ParameterNote, Sampling};

construct! {
    /// What the engine takes from a block of any kind, beside its parameters; `legwork blocks KIND`
    /// shows those.
    ///
    /// ```ron
    /// "doubled": Gain(gain: 2.0, every: "5 ms", in: { "u": "command.y" }),
    /// ```
    "Kind" open:
    pub(super) struct Reserved<'n> {
        /// Its period, `"1 ms"`, or `(period: "1 ms", offset: "0.5 ms")`; a frequency counts as its
        /// period. Without it the rate is that of what it reads.
        every: Option<Period<'n>>,
        /// The source of each input: `{ "u": "block.port" }`. A part of a signal is
        /// `"block.port.field[2..5]"`, a bus put together `Bus("Name", { "field": "block.port" })`,
        /// an array `Join(["a.y", "b.y"])`.
        inputs as "in": Option<Inputs>,
        /// What is bound to the functions that it calls: `{ "solve": Use("qp") }`. Functions that
        /// its manual calls optional may be left out; then it does by itself what they would.
        needs: Option<Entries<'n, OfNeeds>>,
        /// What it is for.
        doc: Option<&'n Node>,
    }
}

impl Expander<'_> {
    pub(super) fn expand_leaf(
        &mut self,
        frame: FrameId,
        path: String,
        node: &Node,
        kind: &Name,
        env: &Env,
    ) -> Item {
        if let Some(hint) = self.registry.why_absent(&kind.text) {
            let message = format!("this build has no block `{}`", kind.text);
            self.report(Diagnostic::error(code::ABSENT_BLOCK_KIND, kind.span, message).hint(hint));
            return Item::Broken;
        }
        let Some(entry) = self.registry.find_block(&kind.text) else {
            let structural = STRUCTURAL.iter().map(|construct| construct.manual.name);
            let known = self.registry.blocks().map(|entry| entry.kind).chain(structural);
            let message = format!("expected a kind of block, found `{}`", kind.text);
            let mut diagnostic = Diagnostic::error(code::UNKNOWN_BLOCK_KIND, kind.span, message)
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
                    code::WRONG_TYPE,
                    args[0].span,
                    format!("the parameters of {} have names", kind.text),
                )
                .hint(format!("such as {}", entry.example)),
            );
            return Item::Broken;
        }
        let reserved: Option<Reserved<'_>> = language::read(node, self.diagnostics);
        let Some(reserved) = reserved else { return Item::Broken };
        let stated = reserved.every.as_ref().and_then(|every| self.period(every, env));
        let names: SmallVec<[&str; 4]> = Reserved::MANUAL.names().collect();
        let block = (entry.bind)(node, env, &names, self.diagnostics);
        let Some(block) = block else { return Item::Broken };
        if stated.is_none() && reserved.every.is_some() {
            return Item::Broken;
        }
        // A function has no time of its own.
        let owner = self.tree.frames[frame].owner;
        let every = stated.or(self.every.filter(|_| owner.is_none()));
        let inputs = reserved.inputs.unwrap_or_default();
        let connected: SmallVec<[&str; 4]> = inputs.iter().map(|(name, _)| name.as_str()).collect();
        let block = self.add_block(NewBlock {
            path,
            block,
            span: kind.span,
            parameters: notes(node),
            text: leaf_text(kind, node, env),
            hidden: false,
            connected: &connected,
            every,
            owner,
            gate: self.gate,
            condition: None,
        });
        drop(connected);
        self.pending.push(PendingInputs { block, inputs, frame, is_frame: false });
        let Some(block) = block else { return Item::Broken };
        self.expand_needs(block, reserved.needs.as_ref(), env);
        Item::Block(block)
    }

    /// A period and its offset [s].
    pub(super) fn period(&mut self, every: &Period<'_>, env: &Env) -> Option<Sampling> {
        let &Period { node, period, offset } = every;
        let period_span = period.span;
        let period = self.seconds(period, env, true)?;
        let offset = match offset {
            Some(offset) => self.seconds(offset, env, false)?,
            None => Ratio::ZERO,
        };
        if !period.is_positive() || offset.is_negative() {
            self.report(Diagnostic::error(
                code::OUT_OF_RANGE,
                period_span,
                format!(
                    "expected a period above zero and an offset of zero or more, \
                     found {period}, {offset}"
                ),
            ));
            return None;
        }
        Some(Sampling { period, offset, span: node.span })
    }
}

/// Whether a field of a block is its own, not the engine's.
fn is_parameter(field: &&NodeField) -> bool {
    Reserved::MANUAL.names().all(|name| name != field.name.text)
}

/// What messages say of the parameters of a block.
fn notes(node: &Node) -> SmallVec<[ParameterNote; 1]> {
    let note = |field: &NodeField| ParameterNote {
        name: field.name.text.clone(),
        span: field.value.span,
        len: field.value.list().map(<[Node]>::len),
    };
    node.fields().iter().filter(is_parameter).map(note).collect()
}

/// Bytes that the parameters of most blocks take as text.
const SHORT: usize = 64;

/// The block as text with its expressions evaluated, for listings and the hash.
fn leaf_text(kind: &Name, node: &Node, env: &Env) -> String {
    let mut text = String::with_capacity(kind.text.len() + SHORT);
    text.push_str(&kind.text);
    let own = node.fields().iter().filter(is_parameter);
    // Fields that cannot be evaluated stay as they are.
    let _ = write_list(['(', ')'], own, &mut text, |field, text| {
        let before = text.len();
        write_field(field, Some(env), text).or_else(|_| {
            text.truncate(before);
            write_field(field, None, text)
        })
    });
    text
}
