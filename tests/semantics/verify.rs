//! A program that breaks what compilation promises (semantics 2.1) is told by the rule it breaks.

use std::collections::BTreeSet;

use legwork_block::{
    Diagnostic, Expression, ExpressionSignal, PortTable, SignalPath, SignalResolver, Slot, Span,
    Type,
};
use legwork_program::{
    ArenaSlot, GateId, HeldCopy, InputPort, Node, NodeId, Part, PoolId, Program, ProgramParts,
    Rate, Ratio, Rule, Step, StepId,
};

use super::harness::{program, program_of};
use super::identity::WHOLE;

type Corruption = (Rule, &'static str, fn(&mut ProgramParts));

fn node<'p>(p: &'p mut ProgramParts, path: &str) -> &'p mut Node {
    p.nodes.iter_mut().find(|node| node.path == path).unwrap()
}

const FAR: usize = 1_000_000;

fn far() -> Slot {
    Slot { start: FAR as u32, len: 1 }
}

fn table(slot: Slot) -> PortTable {
    let mut table = PortTable::new();
    table.push([slot]);
    table
}

fn add_copy(p: &mut ProgramParts, from: Slot, to: Slot) {
    p.nodes[0].copies.push(HeldCopy { group: 0, from, to });
}

/// Makes the block `wave` an input that begins with these numbers.
pub(crate) fn add_input(p: &mut ProgramParts, initial: Vec<f64>) {
    let node = p.nodes.iter().position(|node| node.path == "wave").unwrap();
    let signal = p.signals.iter().find(|signal| signal.path == "wave.y").unwrap().clone();
    p.inputs.push(InputPort {
        name: "wave".to_owned(),
        doc: String::new(),
        node: NodeId::new(node),
        signal,
        initial: Some(initial),
        given: true,
        span: Span::default(),
    });
}

const CORRUPTIONS: &[Corruption] = &[
    (Rule::BaseIsPositive, "base", |p| p.base = Ratio::ZERO),
    (Rule::StepIsWholeTicks, "step_ticks", |p| p.step_ticks = 0),
    (Rule::StepIsWholeTicks, "run.step", |p| p.run.step = Ratio::new(1, 7).unwrap()),
    (Rule::PathsAscend, "nodes", |p| p.nodes[1].path = "zz".to_owned()),
    (Rule::PathsAscend, "nodes twice", |p| p.nodes[1].path = p.nodes[0].path.clone()),
    (Rule::PathsAscend, "signals", |p| p.signals.swap(0, 1)),
    (Rule::PortsHaveAll, "input_names", |p| p.nodes[0].input_names.push("u9".into())),
    (Rule::PortsHaveAll, "output_names", |p| p.nodes[0].output_names.push("y9".into())),
    (Rule::PortsHaveAll, "output_types", |p| p.nodes[0].output_types.clear()),
    (Rule::PortsHaveAll, "may_be_infinite", |p| p.nodes[0].may_be_infinite.clear()),
    (Rule::SlotInArena, "inputs", |p| node(p, "z").io.inputs = table(far())),
    (Rule::SlotInArena, "outputs", |p| node(p, "z").io.outputs = table(far())),
    (Rule::SlotInArena, "arena_len", |p| p.arena_len -= 1),
    (Rule::SlotInArena, "schedule", |p| p.schedule[0].own.start = u32::MAX),
    (Rule::SlotInArena, "stop", |p| p.stops[0].slot = ArenaSlot::new(FAR)),
    (Rule::SlotInArena, "log", |p| p.log[0].signal.slots[0] = far()),
    (Rule::SlotInArena, "signals", |p| p.signals[0].slots[0] = far()),
    (Rule::SlotInArena, "gate", |p| p.gates[0].active = ArenaSlot::new(FAR)),
    (Rule::SlotInArena, "unknown", |p| p.loops[0].unknowns[0].input = far()),
    (Rule::SlotInArena, "copy", |p| add_copy(p, far(), Slot { start: 0, len: 1 })),
    (Rule::SlotsFitType, "outputs", |p| p.nodes[0].output_types[0] = Type::vector(5)),
    (Rule::SlotsFitType, "log", |p| p.log[0].signal.ty = Type::Pose),
    (Rule::SlotsFitType, "signals", |p| p.signals[0].ty = Type::Rotation),
    (Rule::PeriodIsPositive, "rate", |p| {
        p.nodes[0].rate = Rate::Periodic { period: 0, offset: 0 };
    }),
    (Rule::PeriodIsPositive, "update_rate", |p| {
        p.nodes[0].update_rate = Rate::Periodic { period: 0, offset: 0 };
    }),
    (Rule::PeriodIsPositive, "log", |p| p.log[0].rate = Rate::Periodic { period: 0, offset: 0 }),
    (Rule::PeriodIsPositive, "stretch", |p| p.nodes[0].stretch = 0),
    (Rule::NodeExists, "edge.from", |p| p.edges[0].from = NodeId::new(FAR)),
    (Rule::NodeExists, "edge.to", |p| p.edges[0].to = NodeId::new(FAR)),
    (Rule::NodeExists, "step", |p| p.schedule[0].node = NodeId::new(FAR)),
    (Rule::NodeExists, "stop", |p| p.stops[0].node = NodeId::new(FAR)),
    (Rule::NodeExists, "unknown", |p| p.loops[0].unknowns[0].node = NodeId::new(FAR)),
    (Rule::NodeExists, "frame", |p| node(p, "call").functions[0].frame = NodeId::new(FAR)),
    (Rule::GateExists, "gate", |p| p.nodes[0].gate = Some(GateId::new(FAR))),
    (Rule::GateExists, "opens", |p| p.nodes[0].opens = Some(GateId::new(FAR))),
    (Rule::GateExists, "parent", |p| p.gates[0].parent = Some(GateId::new(FAR))),
    (Rule::StepExists, "loop", |p| p.loops[0].tasks = vec![StepId::new(FAR)]),
    (Rule::PortExists, "from_port", |p| p.edges[0].from_port = 99),
    (Rule::PortExists, "to_port", |p| p.edges[0].to_port = Some(99)),
    (Rule::PortExists, "no shared value", |p| p.edges[0].to_port = None),
    (Rule::PoolExists, "shared", |p| p.nodes[0].io.shared.push(7)),
    (Rule::PoolExists, "pool", |p| {
        p.nodes[0].pool = Some(PoolId::new(7));
        p.nodes[0].io.shares = true;
    }),
    (Rule::PoolHasOneWriter, "shares", |p| p.nodes[0].io.shares = true),
    (Rule::PoolHasOneWriter, "pool_len", |p| p.pool_len += 1),
    (Rule::PartsFitState, "parts", |p| {
        node(p, "v").continuous.as_mut().unwrap().parts = vec![Part::Quaternion];
    }),
    (Rule::StatesTile, "x", |p| node(p, "v").continuous.as_mut().unwrap().x.start += 1),
    (Rule::StatesTile, "parts", |p| {
        node(p, "v").continuous.as_mut().unwrap().parts = vec![Part::Euclidean(4)];
    }),
    (Rule::StatesTile, "state_len", |p| p.state_len += 1),
    (Rule::RatesTile, "rate", |p| node(p, "v").continuous.as_mut().unwrap().rate.len += 1),
    (Rule::RatesTile, "rate_len", |p| p.rate_len += 1),
    (Rule::CopyFits, "lengths", |p| {
        add_copy(p, Slot { start: 0, len: 2 }, Slot { start: 0, len: 1 });
    }),
    (Rule::CopyFits, "another group", |p| {
        let own = p.schedule.iter().find(|step| step.node.index() != 0).unwrap().own;
        let len = own.len.min(1);
        let to = Slot { start: own.start, len };
        add_copy(p, to, Slot { len: 1, ..to });
    }),
    (Rule::GatesAreNested, "parent", |p| p.gates[0].parent = Some(GateId::new(0))),
    (Rule::GateHasOneCondition, "none", |p| {
        p.nodes.iter_mut().for_each(|node| node.opens = None);
    }),
    (Rule::GateHasOneCondition, "two", |p| p.nodes[0].opens = Some(GateId::new(0))),
    (Rule::GateHasOneCondition, "another's", |p| {
        let own = p.schedule.iter().find(|step| p.nodes[step.node].opens.is_none()).unwrap().own;
        p.gates[0].starts = ArenaSlot::new(own.start as usize);
    }),
    (Rule::GroupsTile, "order", |p| p.schedule.swap(0, 1)),
    (Rule::GroupsTile, "gap", |p| p.schedule[1].own.start += 1),
    (Rule::GroupsTile, "arena_len", |p| p.arena_len += 1),
    (Rule::GroupRunsOnce, "twice", |p| {
        let (node, group) = (p.schedule[0].node, p.schedule[0].group);
        (p.schedule[1].node, p.schedule[1].group) = (node, group);
    }),
    (Rule::BlockRuns, "gone", |p| {
        let own = p.schedule.pop().unwrap().own;
        p.schedule.last_mut().unwrap().own.len += own.len;
    }),
    (Rule::RateIsTheBlocks, "step", |p| {
        p.schedule[0].rate = Rate::Periodic { period: 5, offset: 0 };
    }),
    (Rule::MinorIsContinuous, "minor", |p| {
        let held = p.schedule.iter_mut().find(|step| step.rate != Rate::Continuous);
        held.unwrap().minor = true;
    }),
    (Rule::LoopIsContiguous, "tasks", |p| {
        p.loops[0].tasks = vec![StepId::new(0), StepId::new(2)];
    }),
    (Rule::UnknownFits, "output", |p| {
        let other = p.schedule.iter().find(|step| p.nodes[step.node].path == "wave").unwrap().own;
        p.loops[0].unknowns[0].output = other;
    }),
    (Rule::RuleIsUsable, "unknowns", |p| p.loops[0].unknowns.clear()),
    (Rule::RuleIsUsable, "tolerance", |p| p.loops[0].unknowns[0].rule.tolerance = 0.0),
    (Rule::RuleIsUsable, "initial", |p| p.loops[0].unknowns[0].rule.initial = vec![0.0; 3]),
    (Rule::InputFits, "initial", |p| add_input(p, vec![0.0; 3])),
    (Rule::PortExists, "input", |p| {
        add_input(p, vec![0.0]);
        p.inputs[0].node = NodeId::new(0);
    }),
    (Rule::NodeExists, "input", |p| {
        add_input(p, vec![0.0]);
        p.inputs[0].node = NodeId::new(FAR);
    }),
    (Rule::CheckIsBoolean, "number", |p| {
        let number = Expression::parse("1 + 1", Span::default()).unwrap();
        p.checks[0].condition = number.compile(&(), &mut NoSignals).unwrap();
    }),
    (Rule::SlotInArena, "check", |p| {
        let big = r#""big": Constant(value: "=ones(200)"), "end": Stop"#;
        let larger = program(&WHOLE.replace(r#""end": Stop"#, big));
        p.checks[0].condition = larger.checks[0].condition.clone();
    }),
    (Rule::NodeExists, "subsystem", |p| {
        p.subsystems[0].outputs[0].ports[0].node = NodeId::new(FAR);
    }),
    (Rule::PortExists, "subsystem", |p| p.subsystems[0].outputs[0].ports[0].port = 9),
    (Rule::FrameDoesNotRun, "frame", |p| {
        let function = &mut node(p, "call").functions[0];
        let last = *function.schedule.last().unwrap();
        let own = Slot { start: last.own.range().end as u32, len: 0 };
        function.schedule.push(Step { node: function.frame, own, ..last });
    }),
    (Rule::FunctionHasNoTime, "guards", |p| {
        let guards = node(p, "v").guards.clone();
        node(p, "call").functions[0].nodes[0].guards = guards;
    }),
];

struct NoSignals;

impl SignalResolver for NoSignals {
    fn resolve(&mut self, path: &SignalPath) -> Result<ExpressionSignal, Diagnostic> {
        Err(Diagnostic::error(legwork_block::code::UNKNOWN_NAME, path.span, "no signals here"))
    }
}

fn corrupted(original: &Program, corrupt: fn(&mut ProgramParts)) -> ProgramParts {
    let mut parts = original.clone().into_parts();
    corrupt(&mut parts);
    parts
}

#[test]
fn s2_1_a_corrupted_program_is_caught_by_the_rule_it_breaks() {
    let original = program(WHOLE);
    original.verify().unwrap();
    for &(rule, what, corrupt) in CORRUPTIONS {
        match corrupted(&original, corrupt).verify() {
            Ok(()) => panic!("{what}: nothing was found, not {rule:?}"),
            Err(error) => assert_eq!(error.rule, rule, "{what}: {error}"),
        }
    }
    let seen: BTreeSet<Rule> = CORRUPTIONS.iter().map(|(rule, ..)| *rule).collect();
    assert_eq!(seen.len(), 31, "a rule that nothing breaks is tested by nothing");
}

/// What compilation makes keeps every rule, also with shared values and second-order states.
#[test]
fn s2_1_compiled_diagrams_keep_every_rule() {
    for file in
        ["quadruped/stand", "basics/sliding_block", "floating_base/five_bar", "signals/limit_cycle"]
    {
        let program = program_of(&format!("diagrams/{file}.ron"), &[]);
        program.verify().unwrap_or_else(|error| panic!("{file}: {error}"));
    }
}
