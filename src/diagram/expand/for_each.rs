//! For-each: the copies of a body and what is collected from them.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use legwork_block::{
    Arguments, ConcatVectors, Diagnostic, Named, Node, NodeKind, StackRows, Value, code, erase,
};
use smallvec::SmallVec;

use super::blocks::NewBlock;
use super::composite::OfBlocks;
use super::structural::At;
use super::tree::{Collected, Env, Item};
use super::{Expander, PendingCopies};
use crate::ids::FrameId;
use crate::language::{Entries, Text, What, construct, wrong_type};

construct! {
    /// Copies of blocks, one for each item of a list.
    ///
    /// A copy is called by its item if the first list holds texts or whole numbers only, else by
    /// its position: `foot[FL_foot].point.contact`. Copies see the blocks around them.
    ///
    /// ```ron
    /// "joint": ForEach(
    ///     over: { "name": "=joints", "k": "=stiffness" },
    ///     share: { "want": "wanted.y" },
    ///     body: {
    ///         "error":  Sum(signs: "+-", in: { "u1": "want[0]", "u2": "angle.position" }),
    ///         "spring": Gain(gain: "=k", in: { "u": "error.y" }),
    ///         "damper": Gain(gain: "=2*sqrt(k)", in: { "u": "angle.velocity" }),
    ///         "torque": Sum(signs: "+-", in: { "u1": "spring.y", "u2": "damper.y" }),
    ///         "angle":  SecondOrderIntegrator(in: { "u": "torque.y" }),
    ///     },
    ///     collect: { "s": Concat("angle.position") },
    /// ),
    /// ```
    "ForEach":
    pub(super) struct ForEach<'n> {
        /// Names and their lists, all of one length: in a copy the name is the item.
        over: Entries<'n, OfLists> = required("which list?", "over: { \"f\": \"=go.feet\" }"),
        /// Signals of which each copy gets its part, by the name of the part in the body: a vector
        /// is cut into as many equal parts as there are copies.
        share: Option<Entries<'n, OfShares>>,
        /// The blocks of each copy.
        body: Entries<'n, OfBlocks> = required("", "body: { \"a\": Constant(value: 1.0) }"),
        /// Outputs made of the copies' signals: `Concat("a.y")` their numbers or vectors in one
        /// vector, `Stack("a.y")` their matrices below one another, `Array("a.y")` an array of
        /// them, which is no vector, `Join("a.y")` the elements of their arrays.
        collect: Option<Entries<'n, OfCollectors>>,
        /// What it is for.
        doc: Option<Text<'n>>,
    }
}

/// Lists by name.
pub(super) struct OfLists;

impl What for OfLists {
    const EXPECTED: &'static str = "names and their lists, such as { \"f\": \"=go.feet\" }";
}

/// Signals that are shared out.
pub(super) struct OfShares;

impl What for OfShares {
    const EXPECTED: &'static str = "a map such as { \"f\": \"block.port\" }";
}

/// What is collected.
pub(super) struct OfCollectors;

impl What for OfCollectors {
    const EXPECTED: &'static str = "a map such as { \"all\": Array(\"block.port\") }";
}

impl Expander<'_> {
    pub(super) fn expand_for_each(
        &mut self,
        place: At<'_>,
        part: ForEach<'_>,
        _: &Node,
        env: &Env,
    ) -> Item {
        let At { frame, path } = place;
        let ForEach { at, over, share, body, collect, .. } = part;
        if over.is_empty() {
            let message = format!("expected {}, found none", OfLists::EXPECTED);
            self.report(Diagnostic::error(code::WRONG_TYPE, over.span, message));
            return Item::Broken;
        }
        for entry in over.iter() {
            self.refuse_constant(entry.name, entry.name_span, "variable");
            self.origins.hide(entry.name, entry.value.span);
        }
        let mut lists: Vec<(String, Vec<Value>)> = Vec::new();
        for entry in over.iter() {
            let list = entry.value;
            match self.value(list, env) {
                Some(Value::List(items)) => lists.push((entry.name.to_owned(), items)),
                Some(other) => {
                    let message = format!("expected a list, found {}", other.describe());
                    self.report(Diagnostic::error(code::WRONG_TYPE, list.span, message));
                    return Item::Broken;
                }
                None => return Item::Broken,
            }
        }
        let count = lists[0].1.len();
        if let Some((name, list)) = lists.iter().find(|(_, list)| list.len() != count) {
            self.report(Diagnostic::error(
                code::WRONG_SHAPE,
                over.span,
                format!("`{name}` has {} items, `{}` has {count}", list.len(), lists[0].0),
            ));
            return Item::Broken;
        }
        // Copies are called by the first list if it names them all, else by their position.
        let whole =
            |v: &Value| matches!(v, Value::Real { value, unit: None } if value.fract() == 0.0);
        let whole = lists[0].1.iter().all(whole);
        let texts = lists[0].1.iter().all(|value| matches!(value, Value::Text(_)));
        let mut copies = IndexMap::new();
        for i in 0..count {
            // A copy counts even if its body is empty.
            self.unfolded += 1;
            if self.too_large(at) {
                return Item::Broken;
            }
            let key = match &lists[0].1[i] {
                Value::Text(text) if texts => text.clone(),
                Value::Real { value, .. } if whole => format!("{value}"),
                _ => i.to_string(),
            };
            let inner = env.with(lists.iter().map(|(name, list)| (name.clone(), list[i].clone())));
            let inside = self.new_frame(format!("{path}[{key}]."), Some(frame), None);
            if copies.insert(key.clone(), inside).is_some() {
                let message =
                    format!("the copies of a ForEach need different keys, found `{key}` twice");
                self.report(Diagnostic::error(code::DUPLICATE_KEY, over.span, message));
                return Item::Broken;
            }
            for entry in share.iter().flat_map(Entries::iter) {
                let share = Item::Share { frame, node: entry.value.clone(), index: i, count };
                self.tree.frames[inside].items.insert(entry.name.to_owned(), share);
            }
            self.expand_blocks(inside, &body, &inner);
        }
        let collected = self.collect(place, collect.as_ref(), &copies);
        Item::ForEach { copies, collected }
    }

    /// `collect: { "all": Array("a.b"), "each": Join("a.e"), "J": Stack("a.c"), "v": Concat("a.d")
    /// }`.
    fn collect(
        &mut self,
        At { frame, path }: At<'_>,
        entries: Option<&Entries<'_, OfCollectors>>,
        copies: &IndexMap<String, FrameId>,
    ) -> BTreeMap<String, Collected> {
        let mut collected = BTreeMap::new();
        for entry in entries.into_iter().flat_map(Entries::iter) {
            let (name, how) = (entry.name, entry.value);
            let argument = match &how.kind {
                NodeKind::Named(Named { arguments: Arguments::Positional(args), .. })
                    if args.len() == 1 =>
                {
                    args[0].clone()
                }
                _ => {
                    self.report(wrong_type(
                        how,
                        "Array(\"…\"), Join(\"…\"), Stack(\"…\") or Concat(\"…\")",
                    ));
                    collected.insert(name.to_owned(), Collected::Broken);
                    continue;
                }
            };
            let kind = how.kind_name().cloned();
            let stack = match kind.as_ref().map(|kind| kind.text.as_str()) {
                Some("Array") => {
                    collected.insert(name.to_owned(), Collected::Array(argument));
                    continue;
                }
                Some("Join") => {
                    collected.insert(name.to_owned(), Collected::Join(argument));
                    continue;
                }
                Some("Stack") => true,
                Some("Concat") => false,
                _ => {
                    let found = kind.map_or_else(String::new, |kind| kind.text);
                    self.report(
                        Diagnostic::error(
                            code::UNKNOWN_COLLECTOR,
                            how.span,
                            format!("expected Array, Join, Stack or Concat, found `{found}`"),
                        )
                        .suggest(&found, ["Array", "Join", "Stack", "Concat"]),
                    );
                    collected.insert(name.to_owned(), Collected::Broken);
                    continue;
                }
            };
            let block = self.add_block(NewBlock {
                connected: &[],
                path: format!("{path}.{name}"),
                block: if stack {
                    erase(StackRows { count: copies.len() })
                } else {
                    // Which of them are numbers is seen when types are found.
                    erase(ConcatVectors { scalar: vec![false; copies.len()] })
                },
                span: argument.span,
                parameters: SmallVec::new(),
                text: format!(
                    "{}(count: {})",
                    if stack { "Stack" } else { "Concat" },
                    copies.len()
                ),
                hidden: false,
                every: None,
                owner: self.tree.frames[frame].owner,
                gate: self.gate,
                condition: None,
            });
            let Some(block) = block else {
                collected.insert(name.to_owned(), Collected::Broken);
                continue;
            };
            self.blocks[block].joins = !stack;
            let frames = copies.values().copied().collect();
            self.copies.push(PendingCopies { block, node: argument, frames });
            collected.insert(name.to_owned(), Collected::Block(block));
        }
        collected
    }
}
