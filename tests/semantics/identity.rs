//! Semantics 2.1, 7.1: a program's hashes tell programs apart by their structure.

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::{
    Arg, ContinuousState, Crossing, Manifold, PortTable, Slot, SolveFailure, Span, Type,
};
use legwork_program::{
    ArenaSlot, CheckKind, GateId, HeldCopy, Node, NodeId, Part, PoolId, Program, ProgramParts,
    Rate, Ratio, Solver, StepId, Tolerance,
};
use legwork_runtime::{Simulation, SnapshotError};

use super::conditional::enabled;
use super::events::ball;
use super::functions::contact;
use super::harness::program;
use super::verify::add_input;

/// At least one of each structural type: gates, a loop, a stop, a function, guards, states, a held
/// copy is added by hand.
pub(crate) const WHOLE: &str = r#"Diagram(
    run: (stop: "20 ms", step: "1 ms", solver: Rk4),
    params: { "bound": Param(value: 3.0) },
    blocks: {
        "t": Clock(),
        "wave": Sine(amplitude: 1.0, frequency: "70 Hz"),
        "held": ZeroOrderHold(every: "2 ms", in: { "u": "wave.y" }),
        "g": Constant(value: -9.81),
        "v": Integrator(initial: 0.0, reset: Falling,
            in: { "u": "g.y", "reset": "wave.y", "x0": "g.y" }),
        "outer": Enabled(by: "wave.y", ports: (in: { "u": "Real" }, out: { "n": "Real" }), blocks: {
            "inner": Enabled(by: "^u", in: { "u": "^u" },
                ports: (in: { "u": "Real" }, out: { "n": "Real" }), blocks: {
                "sum": DiscreteIntegrator(every: "1 ms", in: { "u": "^u" }),
            }, out: { "n": "sum.y" }),
        }, in: { "u": "wave.y" }, out: { "n": "inner.n" }),
        "z": Solve(initial: 0, in: { "u": "cos.y" }),
        "cos": Fcn(expression: "cos(u1) + 0 * u2", in: { "u1": "z.y", "u2": "t.y" }),
        "call": Twice(needs: { "f": Remember() }, in: { "u": "held.y" }),
        "over": Fcn(expression: "u > 1.0", in: { "u": "t.y" }),
        "end": Stop(in: { "u": "over.y" }),
    },
    log: ["v.y", Every("5 ms", "wave.y")],
    checks: { "bounded": Always(that: "=abs(v.y) < bound", after: "1 ms", until: "9 ms") },
)"#;

type Change = (&'static str, fn(&mut ProgramParts));

fn node<'p>(p: &'p mut ProgramParts, path: &str) -> &'p mut Node {
    p.nodes.iter_mut().find(|node| node.path == path).unwrap()
}

fn swap_last_ports(table: &mut PortTable) {
    let mut other = PortTable::new();
    for port in (0..table.port_count()).rev() {
        other.push(table.port(port).iter().map(|slot| Slot { start: slot.start + 1, ..*slot }));
    }
    *table = other;
}

/// What a snapshot's future depends on, field by field.
const SHAPES_THE_FUTURE: &[Change] = &[
    ("run.step", |p| p.run.step = Ratio::new(1, 7).unwrap()),
    ("run.solver", |p| p.run.solver = Solver::SemiImplicitEuler),
    ("run.seed", |p| p.run.seed += 1),
    ("base", |p| p.base = Ratio::new(1, 7).unwrap()),
    ("step_ticks", |p| p.step_ticks += 1),
    ("arena_len", |p| p.arena_len += 1),
    ("state_len", |p| p.state_len += 1),
    ("rate_len", |p| p.rate_len += 1),
    ("pool_len", |p| p.pool_len += 1),
    ("resources", |p| p.resources += 1),
    ("input", |p| add_input(p, vec![1.0])),
    ("input.initial", |p| add_input(p, vec![2.0])),
    ("nodes", |p| p.nodes.truncate(3)),
    ("node.path", |p| p.nodes[0].path.push('x')),
    ("node.kind", |p| p.nodes[0].kind = "Other"),
    ("node.text", |p| p.nodes[0].text.push(' ')),
    ("node.vars", |p| p.nodes[0].vars.push(3)),
    ("node.io.inputs", |p| swap_last_ports(&mut node(p, "v").io.inputs)),
    ("node.io.outputs", |p| swap_last_ports(&mut node(p, "v").io.outputs)),
    ("node.io.shared", |p| p.nodes[0].io.shared.push(0)),
    ("node.io.shares", |p| p.nodes[0].io.shares ^= true),
    ("node.functions", |p| node(p, "call").functions.clear()),
    ("node.input_names", |p| node(p, "v").input_names[0].to_mut().push('x')),
    ("node.output_names", |p| p.nodes[0].output_names[0].to_mut().push('x')),
    ("node.output_types", |p| p.nodes[0].output_types[0] = Type::Bool),
    ("node.may_be_infinite", |p| p.nodes[0].may_be_infinite[0] ^= true),
    ("node.rate", |p| node(p, "v").rate = Rate::Constant),
    ("node.rate.period", |p| node(p, "held").rate = Rate::Periodic { period: 9, offset: 0 }),
    ("node.rate.offset", |p| node(p, "held").rate = Rate::Periodic { period: 2, offset: 1 }),
    ("node.update_rate", |p| node(p, "v").update_rate = Rate::Constant),
    ("node.updates", |p| p.nodes[0].updates ^= true),
    ("node.continuous", |p| node(p, "v").continuous = None),
    ("node.guards", |p| node(p, "v").guards.clear()),
    ("node.pool", |p| p.nodes[0].pool = Some(PoolId::new(0))),
    ("node.gate", |p| p.nodes[0].gate = Some(GateId::new(0))),
    ("node.opens", |p| p.nodes[0].opens = Some(GateId::new(0))),
    ("node.stretch", |p| p.nodes[0].stretch += 1),
    ("node.copies", |p| p.nodes[0].copies.push(copy())),
    ("continuous.state", |p| {
        let placed = node(p, "v").continuous.as_mut().unwrap();
        let ContinuousState::First(parts) = placed.state.clone() else { panic!() };
        placed.state = ContinuousState::Second(parts);
    }),
    ("continuous.state.manifold", |p| {
        let placed = node(p, "v").continuous.as_mut().unwrap();
        placed.state = ContinuousState::First(vec![Manifold::Quaternion]);
    }),
    ("continuous.parts", |p| {
        node(p, "v").continuous.as_mut().unwrap().parts = vec![Part::Quaternion];
    }),
    ("continuous.x", |p| node(p, "v").continuous.as_mut().unwrap().x.start += 1),
    ("continuous.rate", |p| node(p, "v").continuous.as_mut().unwrap().rate.len += 1),
    ("guard.crossing", |p| node(p, "v").guards[0].crossing = Crossing::Level),
    ("guard.resets", |p| node(p, "v").guards[0].resets ^= true),
    ("function.name", |p| function(p).name.push('x')),
    ("function.path", |p| function(p).path.push('x')),
    ("function.nodes", |p| function(p).nodes[0].text.push(' ')),
    ("function.frame", |p| function(p).frame = NodeId::new(7)),
    ("function.edges", |p| function(p).edges.clear()),
    ("function.schedule", |p| function(p).schedule.clear()),
    ("function.arena_len", |p| function(p).arena_len += 1),
    ("function.pool_len", |p| function(p).pool_len += 1),
    ("edges", |p| p.edges.truncate(1)),
    ("edge.from", |p| p.edges[0].from = NodeId::new(9)),
    ("edge.from_port", |p| p.edges[0].from_port += 1),
    ("edge.part", |p| p.edges[0].part.push_str("[0]")),
    ("edge.to", |p| p.edges[0].to = NodeId::new(9)),
    ("edge.to_port", |p| p.edges[0].to_port = None),
    ("edge.feeds", |p| p.edges[0].feeds ^= true),
    ("gates", |p| p.gates.truncate(1)),
    ("gate.parent", |p| p.gates.iter_mut().for_each(|gate| gate.parent = None)),
    ("gate.active", |p| p.gates[0].active = ArenaSlot::new(0)),
    ("gate.starts", |p| p.gates[0].starts = ArenaSlot::new(0)),
    ("gate.clears", |p| p.gates[0].clears ^= true),
    ("gate.restarts", |p| p.gates[0].restarts ^= true),
    ("loops", |p| p.loops.clear()),
    ("loop.tasks", |p| p.loops[0].tasks.push(StepId::new(0))),
    ("unknown.node", |p| p.loops[0].unknowns[0].node = NodeId::new(0)),
    ("unknown.output", |p| p.loops[0].unknowns[0].output.start += 1),
    ("unknown.input", |p| p.loops[0].unknowns[0].input.start += 1),
    ("rule.tolerance", |p| p.loops[0].unknowns[0].rule.tolerance *= 2.0),
    ("rule.limit", |p| p.loops[0].unknowns[0].rule.limit += 1),
    ("rule.initial", |p| p.loops[0].unknowns[0].rule.initial = vec![5.0]),
    ("rule.on_fail", |p| p.loops[0].unknowns[0].rule.on_fail = SolveFailure::Zero),
    ("rule.on_fail.most", |p| p.loops[0].unknowns[0].rule.on_fail = SolveFailure::HoldLast(4)),
    ("stops", |p| p.stops.clear()),
    ("stop.node", |p| p.stops[0].node = NodeId::new(0)),
    ("stop.slot", |p| p.stops[0].slot = ArenaSlot::new(0)),
    ("schedule", |p| p.schedule.swap(0, 1)),
    ("step.node", |p| p.schedule[0].node = NodeId::new(9)),
    ("step.group", |p| p.schedule[0].group += 1),
    ("step.own", |p| p.schedule[0].own.len += 1),
    ("step.rate", |p| p.schedule[0].rate = Rate::Periodic { period: 77, offset: 0 }),
    ("step.minor", |p| p.schedule[0].minor ^= true),
    ("checks", |p| p.checks.clear()),
    ("check.name", |p| p.checks[0].name.push('x')),
    ("check.kind", |p| p.checks[0].kind = CheckKind::Finally),
    ("check.condition", |p| p.checks[0].condition = check_with("3.5").checks[0].condition.clone()),
    ("check.after", |p| p.checks[0].after += 1),
    ("check.until", |p| p.checks[0].until += 1),
];

/// What shapes this run's result, but not how a snapshot of it goes on.
const SHAPES_THIS_RUN: &[Change] = &[
    ("run.stop", |p| p.run.stop = Ratio::whole(9)),
    ("stop_tick", |p| p.stop_tick += 1),
    ("log", |p| p.log.truncate(1)),
    ("log.rate", |p| p.log[0].rate = Rate::Constant),
    ("log.signal.path", |p| p.log[0].signal.path.push('x')),
    ("log.signal.ty", |p| p.log[0].signal.ty = Type::Bool),
    ("log.signal.unit", |p| p.log[0].signal.unit = Some("parsec".to_owned())),
    ("log.signal.slots", |p| p.log[0].signal.slots[0].start += 1),
];

/// What is for people.
const SHAPES_NOTHING: &[Change] = &[
    ("name", |p| p.name.push('x')),
    ("node.span", |p| p.nodes[0].span = Span::default()),
    ("node.hidden", |p| p.nodes[0].hidden ^= true),
    ("check.text", |p| p.checks[0].text.push(' ')),
    ("check.span", |p| p.checks[0].span = Span::default()),
    ("signals", |p| p.signals.clear()),
];

fn copy() -> HeldCopy {
    let slot = Slot { start: 0, len: 1 };
    HeldCopy { group: 0, from: slot, to: slot }
}

fn function(p: &mut ProgramParts) -> &mut legwork_program::FunctionProgram {
    &mut node(p, "call").functions[0]
}

fn check_with(bound: &str) -> Arc<Program> {
    program(&WHOLE.replace("3.0", bound))
}

fn changed(original: &Program, change: fn(&mut ProgramParts)) -> Program {
    let mut parts = original.clone().into_parts();
    change(&mut parts);
    Program::new(parts)
}

/// Every field of every structural type is in the hash that it should be in, and no two changes
/// give one hash.
#[test]
fn s2_1_every_field_that_shapes_the_result_is_in_the_hash() {
    let original = program(WHOLE);
    let mut seen = BTreeMap::from([(original.hash(), "the program itself")]);
    for &(what, change) in SHAPES_THE_FUTURE {
        let other = changed(&original, change);
        assert_ne!(other.continuation_hash(), original.continuation_hash(), "{what}");
        assert_eq!(seen.insert(other.hash(), what), None, "{what}");
    }
    for &(what, change) in SHAPES_THIS_RUN {
        let other = changed(&original, change);
        assert_eq!(other.continuation_hash(), original.continuation_hash(), "{what}");
        assert_eq!(seen.insert(other.hash(), what), None, "{what}");
    }
    for &(what, change) in SHAPES_NOTHING {
        assert_eq!(changed(&original, change).hash(), original.hash(), "{what}");
    }
}

/// The parts of types and solvers.
#[test]
fn s2_1_types_and_solvers_are_in_the_hash_with_all_they_hold() {
    let original = program(&contact(
        r#""s": ProjectedGaussSeidel(sweeps: 9, tol: 1e-9, accept: 1e-6, in: { "problem": IN })"#,
        "",
    ));
    type InBus = fn(&mut legwork_block::BusType);
    let in_bus: &[(&str, InBus)] = &[
        ("name", |bus| bus.name.push('x')),
        ("args", |bus| bus.args.push(Arg::Name("go".to_owned()))),
        ("fields", |bus| bus.fields.truncate(1)),
        ("field.name", |bus| bus.fields[0].name.push('x')),
        ("field.ty", |bus| bus.fields[0].ty = Type::vector(17)),
        ("field.unit", |bus| bus.fields[0].unit = Some("parsec".to_owned())),
        ("field.frame", |bus| bus.fields[0].frame = Some("moon".to_owned())),
    ];
    for (what, change) in in_bus {
        let mut parts = Program::clone(&original).into_parts();
        let ty = node(&mut parts, "push").output_types.iter_mut();
        let mut buses = ty.filter_map(|ty| match ty {
            Type::Bus(bus) => Some(bus),
            _ => None,
        });
        change(Arc::make_mut(buses.next().unwrap()));
        drop(buses);
        assert_ne!(Program::new(parts).hash(), original.hash(), "{what}");
    }
    let hash_with = |solver| {
        let mut parts = Program::clone(&original).into_parts();
        parts.run.solver = solver;
        Program::new(parts).hash()
    };
    let tolerance = Tolerance::default();
    let solvers = [
        Solver::named("Euler", tolerance).unwrap(),
        Solver::SemiImplicitEuler,
        Solver::named("Heun", tolerance).unwrap(),
        Solver::named("Rk4", tolerance).unwrap(),
        Solver::ImplicitEuler,
        Solver::DormandPrince(tolerance),
        Solver::DormandPrince(Tolerance { relative: 1e-3, ..tolerance }),
        Solver::DormandPrince(Tolerance { absolute: 1e-3, ..tolerance }),
        Solver::Esdirk(tolerance),
        Solver::Bdf(tolerance),
    ];
    let hashes: std::collections::BTreeSet<u64> = solvers.into_iter().map(hash_with).collect();
    assert_eq!(hashes.len(), solvers.len());
}

/// A snapshot of one program goes on in no other, neither in memory nor as bytes.
#[test]
fn s7_1_a_snapshot_of_one_program_is_refused_by_every_other() {
    let with = |old: &str, new: &str| {
        assert!(WHOLE.contains(old), "{old}");
        program(&WHOLE.replace(old, new))
    };
    let inner = r#"Enabled(by: "^u","#;
    let programs = [
        program(WHOLE),
        with("3.0", "4.0"),
        with("Always(that", "Finally(that"),
        with("abs(v.y) < bound", "abs(v.y) <= bound"),
        with(r#"until: "9 ms""#, r#"until: "8 ms""#),
        with(inner, &format!("{inner} when_off: Reset,")),
        with(inner, &format!("{inner} when_on: Restart,")),
        with("held", "holding"),
    ];
    for (i, from) in programs.iter().enumerate() {
        let mut simulation = Simulation::new(Arc::clone(from));
        (0..5).for_each(|_| simulation.step().unwrap());
        let (snapshot, bytes) = (simulation.snapshot(), simulation.to_bytes().unwrap());
        for (j, to) in programs.iter().enumerate() {
            let mut other = Simulation::new(Arc::clone(to));
            let read = Simulation::from_bytes(Arc::clone(to), &bytes);
            if i == j {
                other.restore(&snapshot).unwrap();
                read.unwrap();
                continue;
            }
            assert!(other.restore(&snapshot).is_err(), "{i} in {j}");
            assert!(matches!(read, Err(SnapshotError::OtherProgram { .. })), "{i} in {j}");
        }
    }
}

/// Parts that hold and parts that are cleared give other numbers: they are other programs.
#[test]
fn s6_1_what_a_part_does_while_it_is_off_makes_another_program() {
    let hashes = ["", "when_off: Reset,", "when_on: Restart,"].map(|how| {
        let program = program(&enabled(how));
        (program.hash(), program.continuation_hash())
    });
    assert!(hashes[0].0 != hashes[1].0 && hashes[0].1 != hashes[1].1);
    assert!(hashes[0].0 != hashes[2].0 && hashes[0].1 != hashes[2].1);
    assert!(hashes[1].0 != hashes[2].0 && hashes[1].1 != hashes[2].1);
}

/// A variable step makes ticks as long as the shortest period, so that a log period of one tick may
/// be of any length.
#[test]
fn s3_1_the_length_of_a_tick_is_in_the_hash() {
    let logged = |every: &str| {
        let text = ball("DormandPrince", "1 s");
        program(&text.replace(r#"["x.y", "v.y"]"#, &format!(r#"[Every("{every}", "x.y")]"#)))
    };
    let (slow, fast) = (logged("10 ms"), logged("5 ms"));
    assert_eq!(slow.log[0].rate, fast.log[0].rate, "both of one tick");
    assert_ne!(slow.hash(), fast.hash());
}
