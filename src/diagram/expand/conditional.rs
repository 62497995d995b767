//! Conditional parts (semantics 6.1): subsystems that are on now and then.

use std::collections::BTreeMap;

use legwork_block::{Condition, Diagnostic, Edge, Name, Node, Span, Test, erase};

use super::blocks::NewBlock;
use super::leaf::parameter_spans;
use super::tree::{Env, Item};
use super::{Expander, PendingInputs, wrong_type};
use crate::ids::{BlockId, FrameId, Id, OutputId};
use crate::network::{ConditionFacts, PortPart, Source, Wire};

/// After the path of a conditional part: the node that says whether it is on.
const CONDITION: &str = "~on";

impl Expander<'_> {
    /// `Enabled(by: "a.b", when_off: Hold, …)`, `Triggered(by: "a.b", edge: Rising, …)`,
    /// `Every(n: 10, …)`; the rest is as for a Subsystem.
    pub(super) fn expand_conditional(
        &mut self,
        frame: FrameId,
        path: &str,
        node: &Node,
        kind: &Name,
        env: &Env,
    ) -> Item {
        let own: &[&str] = match kind.text.as_str() {
            "Enabled" => &["by", "when_off", "when_on"],
            "Triggered" => &["by", "edge", "when_off"],
            _ => &["n", "every", "when_off"],
        };
        let shared = ["ports", "blocks", "out", "in", "doc"];
        let known: Vec<&str> = own.iter().chain(&shared).copied().collect();
        self.known_fields(node, &known);
        let clears = self.word(node, "when_off", &["Hold", "Reset"]) == Some(1);
        let restarts = self.word(node, "when_on", &["Resume", "Restart"]) == Some(1);
        let test = match kind.text.as_str() {
            "Enabled" => Some(Test::Enabled),
            "Triggered" => {
                let edges = [Edge::Rising, Edge::Falling, Edge::Either];
                let edge = self.word(node, "edge", &["Rising", "Falling", "Either"]).unwrap_or(0);
                Some(Test::Triggered(edges[edge]))
            }
            _ => self.every_n(node, kind, env).map(Test::Every),
        };
        let mut inputs = BTreeMap::new();
        if kind.text != "Every" {
            match node.field("by") {
                Some(by) => {
                    inputs.insert("by".to_owned(), (by.clone(), by.span));
                }
                None => {
                    self.report(
                        Diagnostic::error(
                            "missing-field",
                            kind.span,
                            "`by` is missing: which signal?",
                        )
                        .hint("write by: \"block.port\""),
                    );
                    return Item::Broken;
                }
            }
        } else {
            let sources = self.input_nodes(node.field("in")).into_values();
            inputs.extend(sources.enumerate().map(|(i, source)| (format!("u{}", i + 1), source)));
        }
        let every = self.every(node.field("every"), env);
        let Some(test) = test else { return Item::Broken };
        let condition = Condition { test, nested: self.gate.is_some(), input_count: inputs.len() };
        let around = self.gate;
        let gate = self.add_block(NewBlock {
            path: format!("{path}{CONDITION}"),
            block: erase(condition),
            span: kind.span,
            parameter_spans: parameter_spans(node),
            text: format!("{}({test:?})", kind.text),
            hidden: true,
            every,
            owner: self.tree.frames[frame].owner,
            gate: None,
            condition: Some(ConditionFacts {
                around,
                clears,
                restarts,
                momentary: test != Test::Enabled,
                stretch: if let Test::Every(n) = test { n } else { 1 },
            }),
        });
        self.pending.push(PendingInputs { block: gate, inputs, frame, is_frame: false });
        if let (Some(gate), Some(around)) = (gate, around) {
            self.connect_around(gate, around, kind.span);
        }
        // Without a condition of its own, because of a mistake, the part is looked at as any other.
        self.gate = gate.or(around);
        let item = self.expand_inside(frame, path, node, node, env);
        self.gate = around;
        item
    }

    /// Connects a condition to the one around it, which says in its first output whether it is on.
    fn connect_around(&mut self, gate: BlockId, around: BlockId, span: Span) {
        let block = &mut self.blocks[gate];
        let inputs = &block.declaration.inputs;
        let Some(input) = inputs.iter().position(|input| input.name == "around") else { return };
        let active = PortPart { block: around, output: OutputId::FIRST, select: Vec::new(), span };
        block.inputs[input] = Some(Wire { source: Source::Port(active), span });
    }

    /// The index of the word that a field holds; `None` if there is no such field, or it holds
    /// something else, which is reported.
    fn word(&mut self, node: &Node, field: &str, known: &[&str]) -> Option<usize> {
        let value = node.field(field)?;
        let name = value
            .text()
            .or_else(|| value.kind_name().map(|name| name.text.as_str()))
            .unwrap_or_default();
        let found = known.iter().position(|word| *word == name);
        if found.is_none() {
            let expected = format!("one of {}", known.join(", "));
            self.report(wrong_type(value, &expected).suggest(name, known.iter().copied()));
        }
        found
    }

    /// `n` of Every.
    fn every_n(&mut self, node: &Node, kind: &Name, env: &Env) -> Option<u32> {
        let Some(field) = node.field("n") else {
            self.report(
                Diagnostic::error("missing-field", kind.span, "`n` is missing: every which hit?")
                    .hint("write n: 10"),
            );
            return None;
        };
        let n = self.number(field, env)?;
        if n >= 1.0 && n.fract() == 0.0 && n <= f64::from(u32::MAX) {
            return Some(n as u32);
        }
        let message = format!("expected a whole number from 1 on, found {n}");
        self.report(Diagnostic::error("out-of-range", field.span, message));
        None
    }
}
