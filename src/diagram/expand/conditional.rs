//! Conditional parts (semantics 6.1): subsystems that are on now and then.

use legwork_block::{
    Condition, Diagnostic, Diagnostics, Node, SignChange, Span, Test, code, erase,
};

use super::blocks::NewBlock;
use super::composite::Inside;
use super::structural::At;
use super::tree::{Env, Item};
use super::{Expander, PendingInputs};
use crate::ids::{BlockId, Id, OutputId};
use crate::language::{Inputs, Period, Read, Text, construct, read_word, words};
use crate::network::{ConditionFacts, ParameterNote, PortPart, Source, Wire};

/// After the path of a conditional part: the node that says whether it is on.
const CONDITION: &str = "~on";

words! {
    /// What the outputs of a part show while it is off.
    pub(super) enum WhenOff {
        /// The last values from when it was on.
        Hold,
        /// Zeros.
        Reset,
    }
}

words! {
    /// What the states of a part do when it comes on.
    pub(super) enum WhenOn {
        /// They go on from where they were.
        Resume,
        /// They begin at their initial values.
        Restart,
    }
}

impl<'n> Read<'n> for SignChange {
    fn read(node: &'n Node, found: &mut Diagnostics) -> Option<Self> {
        let words =
            [("Rising", Self::Rising), ("Falling", Self::Falling), ("Either", Self::Either)];
        read_word(node, &words, found)
    }
}

construct! {
    /// A part that is on while a signal is above zero.
    ///
    /// ```ron
    /// "work": Enabled(
    ///     by: "wave.y", when_off: Reset, when_on: Restart,
    ///     ports: (in: { "u": "Real" }, out: { "y": "Real" }),
    ///     blocks: { "sum": Integrator(initial: 0.0, in: { "u": "^u" }) },
    ///     out: { "y": "sum.y" },
    ///     in: { "u": "one.y" },
    /// ),
    /// ```
    "Enabled":
    pub(super) struct Enabled<'n> {
        /// The signal, a number or a truth value: the part is on while it is above zero.
        by: &'n Node = required("which signal?", "by: \"block.port\""),
        /// What the outputs show while it is off: `Hold` (the default) their last values, or
        /// `Reset` to zero.
        when_off: Option<WhenOff>,
        /// What states do when it comes on: `Resume` where they were (the default), or `Restart`.
        when_on: Option<WhenOn>,
        /// The source of each input.
        inputs as "in": Option<Inputs>,
        /// What it is for.
        doc: Option<Text<'n>>,
        ..inside: Inside
    }
}

construct! {
    /// A part that runs at single major steps: when a signal crosses zero.
    ///
    /// ```ron
    /// "last": Triggered(
    ///     by: "wave.y", edge: Rising, when_off: Hold,
    ///     ports: (in: { "t": "Real" }, out: { "t": "Real" }),
    ///     blocks: { "pass": Gain(gain: 1.0, in: { "u": "^t" }) },
    ///     out: { "t": "pass.y" },
    ///     in: { "t": "clock.y" },
    /// ),
    /// ```
    "Triggered":
    pub(super) struct Triggered<'n> {
        /// The signal, a number or a truth value.
        by: &'n Node = required("which signal?", "by: \"block.port\""),
        /// Which crossing counts: `Rising` (the default), `Falling` or `Either`.
        edge: Option<SignChange>,
        /// What the outputs show at other steps: `Hold` their last values (the default), or `Reset`
        /// to zero.
        when_off: Option<WhenOff>,
        /// The source of each input.
        inputs as "in": Option<Inputs>,
        /// What it is for.
        doc: Option<Text<'n>>,
        ..inside: Inside
    }
}

construct! {
    /// A part that runs at every n-th hit of its rate, the first included.
    ///
    /// ```ron
    /// "slow": Every(
    ///     n: 10, every: "1 ms",
    ///     ports: (in: { "u": "Real" }, out: { "y": "Real" }),
    ///     blocks: {
    ///         "sum":  Sum(in: { "u1": "^u", "u2": "past.y" }),
    ///         "past": UnitDelay(initial: 0.0, in: { "u": "sum.y" }),
    ///     },
    ///     out: { "y": "sum.y" },
    ///     in: { "u": "one.y" },
    /// ),
    /// ```
    "Every":
    pub(super) struct Every<'n> {
        /// Every how many hits it runs.
        n: &'n Node = required("every which hit?", "n: 10"),
        /// The period of the hits that are counted. Default: that of its inputs.
        every: Option<Period<'n>>,
        /// What the outputs show at other hits: `Hold` their last values, or `Reset` to zero.
        when_off: Option<WhenOff>,
        /// The source of each input.
        inputs as "in": Option<Inputs>,
        /// What it is for.
        doc: Option<Text<'n>>,
        ..inside: Inside
    }
}

impl Expander<'_> {
    pub(super) fn expand_enabled(
        &mut self,
        at: At<'_>,
        part: Enabled<'_>,
        _: &Node,
        env: &Env,
    ) -> Item {
        let gate = Gate {
            kind: "Enabled",
            span: part.at,
            test: Test::Enabled,
            control: by(part.by),
            every: None,
            when_off: part.when_off,
            when_on: part.when_on,
        };
        self.expand_conditional(at, gate, part.inputs, part.inside, env)
    }

    pub(super) fn expand_triggered(
        &mut self,
        at: At<'_>,
        part: Triggered<'_>,
        _: &Node,
        env: &Env,
    ) -> Item {
        let gate = Gate {
            kind: "Triggered",
            span: part.at,
            test: Test::Triggered(part.edge.unwrap_or(SignChange::Rising)),
            control: by(part.by),
            every: None,
            when_off: part.when_off,
            when_on: None,
        };
        self.expand_conditional(at, gate, part.inputs, part.inside, env)
    }

    pub(super) fn expand_every(
        &mut self,
        at: At<'_>,
        part: Every<'_>,
        _: &Node,
        env: &Env,
    ) -> Item {
        let n = hit_count(self, part.n, env);
        let every = part.every.as_ref().and_then(|every| self.period(every, env));
        let Some(n) = n else { return Item::Broken };
        // Its inputs tell the rate whose hits are counted.
        let inputs = part.inputs.unwrap_or_default();
        let sources = inputs.iter().map(|(_, source)| source.clone());
        let gate = Gate {
            kind: "Every",
            span: part.at,
            test: Test::Every(n),
            control: (1..).map(|i| format!("u{i}")).zip(sources).collect(),
            every,
            when_off: part.when_off,
            when_on: None,
        };
        self.expand_conditional(at, gate, Some(inputs), part.inside, env)
    }
}

/// What a condition with the one control signal `source` reads.
fn by(source: &Node) -> Inputs {
    [("by".to_owned(), source.clone())].into_iter().collect()
}

/// `n` of Every.
fn hit_count(expander: &mut Expander<'_>, node: &Node, env: &Env) -> Option<u32> {
    let n = expander.number(node, env)?;
    if n >= 1.0 && n.fract() == 0.0 && n <= f64::from(u32::MAX) {
        return Some(n as u32);
    }
    let message = format!("expected a whole number from 1 on, found {n}");
    expander.report(Diagnostic::error(code::OUT_OF_RANGE, node.span, message));
    None
}

/// What switches a conditional part of any kind.
struct Gate {
    kind: &'static str,
    span: Span,
    test: Test,
    /// What the condition reads.
    control: Inputs,
    every: Option<crate::network::Sampling>,
    when_off: Option<WhenOff>,
    when_on: Option<WhenOn>,
}

impl Expander<'_> {
    fn expand_conditional(
        &mut self,
        at: At<'_>,
        switch: Gate,
        inputs: Option<Inputs>,
        inside: Inside<'_>,
        env: &Env,
    ) -> Item {
        let Gate { kind, span, test, control, every, when_off, when_on } = switch;
        let around = self.gate;
        let condition =
            Condition { test, nested: around.is_some(), input_count: control.iter().len() };
        let note = |span| ParameterNote { name: "by".to_owned(), span, len: None };
        let parameters = control.get("by").map(|by| note(by.span)).into_iter().collect();
        let gate = self.add_block(NewBlock {
            path: format!("{}{CONDITION}", at.path),
            block: erase(condition),
            span,
            parameters,
            text: format!("{kind}({test:?})"),
            hidden: true,
            connected: &[],
            every,
            owner: self.tree.frames[at.frame].owner,
            gate: None,
            condition: Some(ConditionFacts {
                around,
                clears: when_off == Some(WhenOff::Reset),
                restarts: when_on == Some(WhenOn::Restart),
                momentary: test != Test::Enabled,
                stretch: if let Test::Every(n) = test { n } else { 1 },
            }),
        });
        let pending =
            PendingInputs { block: gate, inputs: control, frame: at.frame, is_frame: false };
        self.pending.push(pending);
        if let (Some(gate), Some(around)) = (gate, around) {
            self.connect_around(gate, around, span);
        }
        // Without a condition of its own, because of a mistake, the part is looked at as any other.
        self.gate = gate.or(around);
        let item = self.expand_inside(at, inputs, inside, span, env);
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
}
