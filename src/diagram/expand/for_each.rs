//! For-each: the copies of a body and what is collected from them.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use legwork_block::{
    Arguments, ConcatVectors, Diagnostic, Named, Node, NodeKind, StackRows, Value, erase,
};

use super::blocks::NewBlock;
use super::tree::{Collected, Env, Item};
use super::{Expander, PendingCopies, wrong_type};
use crate::ids::FrameId;

impl Expander<'_> {
    /// `ForEach(over: { "f": "=go.feet" }, body: {…}, collect: {…})`.
    pub(super) fn expand_for_each(
        &mut self,
        frame: FrameId,
        path: &str,
        node: &Node,
        env: &Env,
    ) -> Item {
        self.known_fields(node, &["over", "share", "body", "collect", "doc"]);
        let at = node.kind_name().map_or(node.span, |kind| kind.span);
        let (Some(over), Some(body)) = (node.field("over"), node.field("body")) else {
            self.report(
                Diagnostic::error("missing-field", at, "a ForEach needs `over` and `body`")
                    .hint("write ForEach(over: { \"f\": \"=go.feet\" }, body: { … })"),
            );
            return Item::Broken;
        };
        let Some(entries) = over.map().filter(|entries| !entries.is_empty()) else {
            self.report(wrong_type(over, "names and their lists, such as { \"f\": \"=go.feet\" }"));
            return Item::Broken;
        };
        let mut lists: Vec<(String, Vec<Value>)> = Vec::new();
        for (key, list) in entries {
            let Some(name) = key.text() else {
                self.report(wrong_type(key, "a name as text"));
                return Item::Broken;
            };
            match self.value(list, env) {
                Some(Value::List(items)) => lists.push((name.to_owned(), items)),
                Some(other) => {
                    let message = format!("expected a list, found {}", other.describe());
                    self.report(Diagnostic::error("wrong-type", list.span, message));
                    return Item::Broken;
                }
                None => return Item::Broken,
            }
        }
        let count = lists[0].1.len();
        if let Some((name, list)) = lists.iter().find(|(_, list)| list.len() != count) {
            self.report(Diagnostic::error(
                "wrong-shape",
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
                self.report(Diagnostic::error("duplicate-key", over.span, message));
                return Item::Broken;
            }
            self.share(frame, inside, node.field("share"), i, count);
            self.expand_blocks(inside, body, &inner);
        }
        let collected = self.collect(frame, path, node.field("collect"), &copies);
        Item::ForEach { copies, collected }
    }

    /// `share: { "f": "contact.f" }`: in the body `f` is the copy's own of as many equal parts of
    /// the signal as there are copies.
    fn share(
        &mut self,
        frame: FrameId,
        inside: FrameId,
        node: Option<&Node>,
        index: usize,
        count: usize,
    ) {
        let Some(node) = node else { return };
        let Some(entries) = node.map() else {
            // Once, not for every copy.
            if index == 0 {
                self.report(wrong_type(node, "a map such as { \"f\": \"block.port\" }"));
            }
            return;
        };
        for (key, path) in entries {
            let Some(name) = key.text() else { continue };
            let share = Item::Share { frame, node: path.clone(), index, count };
            self.tree.frames[inside].items.insert(name.to_owned(), share);
        }
    }

    /// `collect: { "all": Array("a.b"), "each": Join("a.e"), "J": Stack("a.c"), "v": Concat("a.d") }`.
    fn collect(
        &mut self,
        frame: FrameId,
        path: &str,
        node: Option<&Node>,
        copies: &IndexMap<String, FrameId>,
    ) -> BTreeMap<String, Collected> {
        let mut collected = BTreeMap::new();
        let Some(node) = node else { return collected };
        let Some(entries) = node.map() else {
            self.report(wrong_type(node, "a map such as { \"all\": Array(\"block.port\") }"));
            return collected;
        };
        for (key, how) in entries {
            let Some(name) = key.text() else { continue };
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
                            "unknown-collector",
                            how.span,
                            format!("expected Array, Join, Stack or Concat, found `{found}`"),
                        )
                        .suggest(&found, ["Array", "Join", "Stack", "Concat"]),
                    );
                    continue;
                }
            };
            let block = self.add_block(NewBlock {
                path: format!("{path}.{name}"),
                block: if stack {
                    erase(StackRows { count: copies.len() })
                } else {
                    // Which of them are numbers is seen when types are found.
                    erase(ConcatVectors { scalar: vec![false; copies.len()] })
                },
                span: argument.span,
                parameter_spans: Vec::new(),
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
            let Some(block) = block else { continue };
            self.blocks[block].joins_copies = !stack;
            let frames = copies.values().copied().collect();
            self.copies.push(PendingCopies { block, node: argument, frames });
            collected.insert(name.to_owned(), Collected::Block(block));
        }
        collected
    }
}
