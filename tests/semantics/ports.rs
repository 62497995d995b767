//! Semantics 11: ports of a diagram.

use std::path::Path;
use std::sync::Arc;

use legwork_block::Registry;
use legwork_diagram::{Compiled, Options, ReadFile, compile};
use legwork_program::Program;
use legwork_runtime::recording::Recording;
use legwork_runtime::{Cursor, Simulation};

use super::harness::{mistakes, program, record};

/// A disk with some files.
struct Files<'f>(&'f [(&'f str, &'f str)]);

impl ReadFile for Files<'_> {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        let found = self.0.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or(std::io::ErrorKind::NotFound.into())
    }
}

fn compile_files(text: &str, files: &[(&str, &str)]) -> Compiled {
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let options = Options::default();
    compile(Path::new("test.ron"), text.as_bytes(), &options, &registry, &Files(files))
}

fn program_of_files(text: &str, files: &[(&str, &str)]) -> Arc<Program> {
    let compiled = compile_files(text, files);
    let shown = legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources);
    Arc::new(compiled.program.unwrap_or_else(|| panic!("{shown}")))
}

fn messages(text: &str, files: &[(&str, &str)]) -> Vec<String> {
    let diagnostics = compile_files(text, files).diagnostics;
    diagnostics.iter().map(|found| format!("{}: {}", found.code, found.message)).collect()
}

/// A body of 2 kg under a force.
const BODY: &str = r#"Diagram(
    run: (stop: "1 s", step: "10 ms", solver: Rk4),
    ports: (
        in: { "u": Port(type: "Real", unit: "N", default: "1 N") },
        out: { "x": Port(type: "Real", unit: "m"), "v": "Real" },
    ),
    blocks: {
        "a": Gain(gain: "0.5 kg^-1", in: { "u": "^u" }),
        "body": SecondOrderIntegrator(in: { "u": "a.y" }),
    },
    out: { "x": "body.position", "v": "body.velocity" },
    log: ["^u", "body.velocity"],
)"#;

fn write(simulation: &mut Simulation, value: f64) {
    simulation.input_mut(0, 0).expect("it stands between two steps").fill(value);
}

#[test]
fn s11_1_an_input_is_held_over_a_step_and_written_between_steps() {
    let mut simulation = Simulation::new(program(BODY));
    let mut v = 0.0;
    for k in 0..50 {
        let u = f64::from(k % 7) - 3.0;
        write(&mut simulation, u);
        simulation.advance().unwrap();
        assert!(simulation.input_mut(0, 0).is_none(), "a step is going on");
        simulation.step().unwrap();
        // Under a held force the velocity is exact for every method.
        v += 0.5 * u * 0.01;
        let found = simulation.state()[1];
        assert!((found - v).abs() < 1e-14, "step {k}: {found} beside {v}");
    }
}

#[test]
fn s11_2_held_inputs_are_state() {
    let program = program(BODY);
    let mut simulation = Simulation::new(Arc::clone(&program));
    simulation.step().unwrap();
    write(&mut simulation, 5.0);
    simulation.step().unwrap();
    let bytes = simulation.to_bytes().unwrap();
    let mut resumed = Simulation::from_bytes(Arc::clone(&program), &bytes).unwrap();
    let (mut forked, _) = simulation.fork(Arc::clone(&program)).unwrap();
    for other in [&mut simulation, &mut resumed, &mut forked] {
        other.step().unwrap();
        // 0.01 s under the default of 1 N, 0.02 s under 5 N.
        assert!((other.state()[1] - 0.5 * 0.01 * (1.0 + 2.0 * 5.0)).abs() < 1e-15);
    }
    assert_eq!(simulation.arena(), resumed.arena());
    assert_eq!(simulation.arena(), forked.arena());
}

#[test]
fn s11_2_another_value_is_another_program_and_an_edit_writes_it() {
    let other = program(&BODY.replace("default: \"1 N\"", "default: \"3 N\""));
    let program = program(BODY);
    assert_ne!(program.hash(), other.hash());
    assert_ne!(program.continuation_hash(), other.continuation_hash());
    let mut simulation = Simulation::new(Arc::clone(&program));
    simulation.step().unwrap();
    let (mut forked, _) = simulation.fork(Arc::clone(&other)).unwrap();
    simulation.swap_parameters(&other).unwrap();
    for run in [&mut simulation, &mut forked] {
        run.step().unwrap();
        assert!((run.state()[1] - 0.5 * 0.01 * (1.0 + 3.0)).abs() < 1e-15);
    }
}

/// A part that is on while the input is above zero, begins anew, and holds when it is off.
const SWITCHED: &str = r#"Diagram(
    run: (stop: "1 s", step: "10 ms"),
    ports: (in: { "u": Port(type: "Real", default: -1.0) }, out: { "y": "Real" }),
    blocks: {
        "one": Constant(value: 1.0),
        "work": Enabled(
            by: "on.y", when_on: Restart, ports: (in: { "u": "Real" }, out: { "y": "Real" }),
            blocks: {
                "sum": Integrator(initial: 0.0, in: { "u": "^u" }),
                "count": UnitDelay(every: "10 ms", initial: 0.0, in: { "u": "next.y" }),
                "next": Sum(signs: "++", in: { "u1": "count.y", "u2": "sum.y" }),
            },
            out: { "y": "next.y" }, in: { "u": "one.y" },
        ),
        "on": Gain(gain: 1.0, in: { "u": "^u" }),
    },
    out: { "y": "work.y" },
)"#;

#[test]
fn s11_3_looking_ahead_leaves_no_trace() {
    let inputs = |k: usize| [1.0, -1.0, -1.0, 1.0, 1.0, 1.0, -1.0][k % 7];
    let drive = |looks: bool| {
        let mut simulation = Simulation::new(program(SWITCHED));
        let mut seen = Vec::new();
        for k in 0..60 {
            write(&mut simulation, inputs(k));
            simulation.step().unwrap();
            if looks {
                // Under the input of this step, and then under the opposite one.
                simulation.look_ahead().unwrap();
                write(&mut simulation, -inputs(k));
                simulation.look_ahead().unwrap();
            }
            write(&mut simulation, inputs(k));
            seen.push((simulation.arena().to_vec(), simulation.state().to_vec()));
        }
        (seen, simulation.to_bytes().unwrap())
    };
    assert_eq!(drive(true), drive(false));
}

#[test]
fn s11_3_what_is_seen_ahead_is_what_the_step_computes() {
    let program = program(BODY);
    let mut simulation = Simulation::new(Arc::clone(&program));
    let slot = |name: &str| {
        let output = program.outputs.iter().find(|output| output.name == name).unwrap();
        output.signal.slots[0].start as usize
    };
    simulation.step().unwrap();
    simulation.look_ahead().unwrap();
    let ahead = simulation.arena()[slot("v")];
    assert!((ahead - 0.5 * 0.01).abs() < 1e-15, "{ahead}");
    // Minor steps write signals too; what counts is what is observed.
    while simulation.cursor() != Cursor::Observe {
        simulation.advance().unwrap();
    }
    assert_eq!(simulation.arena()[slot("v")], ahead);
}

/// The inside of BODY with a rate of its own, written as a part and as a diagram.
fn twice(part: &str) -> String {
    format!(
        r#"Diagram(
            run: (stop: "0.2 s", step: "5 ms", solver: Rk4),
            blocks: {{
                "wave": Sine(amplitude: "1 N", frequency: "2 Hz"),
                "left": {part} "wave.y" }}),
                "each": ForEach(over: {{ "i": [1, 2] }}, body: {{ "d": {part} "wave.y" }}) }}),
            }},
            log: ["left.v", "each[2].d.v", "left.slow.y"],
        )"#
    )
}

const INSIDE: &str = r#"
    ports: (in: { "u": Port(type: "Real", unit: "N") }, out: { "v": "Real" }),
    blocks: {
        "a": Gain(gain: "0.5 kg^-1", in: { "u": "^u" }),
        "body": SecondOrderIntegrator(in: { "u": "a.y" }),
        "slow": ZeroOrderHold(every: "20 ms", in: { "u": "body.velocity" }),
    },
    out: { "v": "body.velocity" },"#;

#[test]
fn s11_4_a_diagram_in_a_diagram_is_its_network_in_place() {
    let diagram = format!("Diagram(run: (stop: \"9 s\", step: \"5 ms\"),{INSIDE})");
    let in_place = twice(&format!("Subsystem({INSIDE} in: {{ \"u\":"));
    let as_block = twice("Diagram(file: \"drive.ron\", in: { \"u\":");
    let in_place = Recording::from_bytes(record(&program(&in_place))).unwrap();
    let as_block = program_of_files(&as_block, &[("drive.ron", &diagram)]);
    let as_block = Recording::from_bytes(record(&as_block)).unwrap();
    for topic in ["left.v", "each[2].d.v", "left.slow.y"] {
        let rows = |recording: &Recording| {
            let series = recording.series(topic).unwrap();
            (0..series.len()).map(|i| series.row(i).values.to_vec()).collect::<Vec<_>>()
        };
        assert!(rows(&in_place).len() > 10);
        assert_eq!(rows(&in_place), rows(&as_block), "{topic}");
    }
}

const DRIVE: &str = r#"Diagram(
    run: (stop: "9 s", step: "1 ms"),
    params: { "k": Param(value: 2.0, max: 10.0) },
    variants: { "law": Variant(default: "one", choices: { "one": Gain(gain: "=k"), "two": Gain(gain: "=2*k") }) },
    ports: (in: { "u": Port(type: "Real", unit: "N", default: "3 N") }, out: { "y": "Real" }),
    inputs: { "u": "7 N" },
    blocks: { "law": Use(of: "law", in: { "u": "^u" }) },
    out: { "y": "law.y" },
    log: ["law.y"],
    checks: { "is even": Always(that: "=abs(mod(law.y, 2)) < 1e-12") },
)"#;

/// A diagram around DRIVE.
fn around(fields: &str) -> String {
    format!(
        r#"Diagram(
            run: (stop: "1 ms", step: "1 ms"),
            params: {{ "twice": 4.0 }},
            blocks: {{
                "five": Constant(value: "5 N"), "metre": Constant(value: "1 m"),
                "d": Diagram(file: "drive.ron", {fields}),
            }},
            log: ["five.y"],
        )"#
    )
}

fn last(program: &Arc<Program>, topic: &str) -> f64 {
    let recording = Recording::from_bytes(record(program)).unwrap();
    let series = recording.series(topic).unwrap();
    series.row(series.len() - 1).values[0]
}

#[test]
fn s11_4_it_keeps_its_parameters_variants_checks_and_log() {
    let files = [("drive.ron", DRIVE)];
    for (fields, y) in [
        ("", 6.0),
        ("in: { \"u\": \"five.y\" }", 10.0),
        ("set: { \"k\": \"=twice\" }", 12.0),
        ("variant: { \"law\": \"two\" }, set: { \"k\": 1.0 }", 6.0),
    ] {
        let program = program_of_files(&around(fields), &files);
        assert_eq!(last(&program, "d.law.y"), y, "{fields}");
        let checks: Vec<&str> = program.checks.iter().map(|check| check.name.as_str()).collect();
        assert_eq!(checks, ["d.is even"]);
    }
}

/// `judge:` of a diagram inside is left out, and all that would read it is named.
#[test]
fn s11_4_what_judges_a_diagram_alone_is_left_out_by_name() {
    let judged = DRIVE
        .replace(r#"log: ["law.y"],"#, r#"log: ["law.y", "top"], judge: { "top": "=2*law.y" },"#)
        .replace("checks: {", "checks: { \"is low\": Always(that: \"=top < 1\"),");
    // What judges the diagram around reads the part, by names of its own.
    let around = around("").replace(
        "log: [\"five.y\"],",
        r#"log: ["top"], judge: { "top": Metric(of: "=d.law.y + 1", by: Max) },
           checks: { "is seven": Always(that: "=top == 7") },"#,
    );
    let files = [("drive.ron", judged.as_str())];
    let mut said = messages(&around, &files);
    said.retain(|message| !message.starts_with("unused: "));
    assert_eq!(
        said,
        [
            "judge-of-part: d: `judge:` of a diagram inside is not evaluated",
            "judge-of-part: `d.top` is in `judge:` of a diagram inside: not recorded",
            "judge-of-part: check `d.is low` is not evaluated: \
             `top` is in `judge:` of a diagram inside",
        ]
    );
    let program = program_of_files(&around, &files);
    let checks: Vec<&str> = program.checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(checks, ["is seven", "d.is even"]);
    assert_eq!((last(&program, "top"), last(&program, "d.law.y")), (7.0, 6.0));
}

#[test]
fn s11_5_what_judges_a_run_is_no_output() {
    let text = BODY.replace(
        "log:",
        r#"judge: { "far": Gain(gain: 1.0, in: { "u": "body.position" }) }, log:"#,
    );
    assert_eq!(
        messages(&text, &[]),
        ["unused: nothing reads the block `far`, and `log:` has it not"]
    );
    let text = text.replace("\"x\": \"body.position\"", "\"x\": \"far.y\"");
    let found = messages(&text, &[]).join("\n");
    let said = "judge-changes-run: `far` is in `judge:`, so it cannot be the output `x`";
    assert!(found.contains(said), "{found}");
}

#[test]
fn s11_5_the_border_is_checked() {
    let files = [("drive.ron", DRIVE), ("a.ron", CYCLE_A), ("b.ron", CYCLE_B)];
    let wrong = |text: &str| messages(text, &files).join("\n");
    for (fields, said) in [
        (
            "in: { \"u\": \"metre.y\" }",
            "unit-mismatch: input `u` of `d` expected the unit N, found m",
        ),
        ("in: { \"w\": \"five.y\" }", "unknown-port: `d` declares no input `w`"),
        ("set: { \"k\": 20.0 }", "out-of-range: parameter `k` expected at most 10, found 20"),
        ("set: { \"q\": 20.0 }", "unknown-block: expected a block, a parameter or a section"),
        ("set: { \"run.step\": \"1 s\" }", "bad-path: `run` of a diagram in another cannot be set"),
        ("variant: { \"law\": \"three\" }", "unknown-variant: variant `law` has no choice `three`"),
    ] {
        let found = wrong(&around(fields));
        assert!(found.contains(said), "{fields}: {found}");
    }
    let cycle = around("").replace("drive.ron", "a.ron");
    let found = wrong(&cycle);
    let said = "diagram-cycle: a diagram may not hold itself: a.ron ► b.ron ► a.ron";
    assert!(found.contains(said), "{found}");
    let own = around("").replace("drive.ron", "test.ron");
    let text = around("");
    let found = messages(&own, &[("test.ron", &text), ("drive.ron", DRIVE)]).join("\n");
    assert!(found.contains("may not hold itself: test.ron ► test.ron"), "{found}");
}

const CYCLE_A: &str = r#"Diagram(
    run: (stop: "1 s"), blocks: { "b": Diagram(file: "b.ron") },
)"#;
const CYCLE_B: &str = r#"Diagram(
    run: (stop: "1 s"), blocks: { "a": Diagram(file: "a.ron") },
)"#;

#[test]
fn s11_5_mistakes_in_ports_are_told() {
    let with = |ports: &str, inputs: &str| {
        let text = format!(
            r#"Diagram(
                run: (stop: "1 s", step: "10 ms"),
                ports: ({ports}), inputs: {{ {inputs} }},
                blocks: {{ "x": Gain(gain: 1.0, in: {{ "u": "^u" }}) }},
            )"#
        );
        let found = mistakes(&text);
        format!("{found:?}")
    };
    let port = |fields: &str| format!("in: {{ \"u\": Port({fields}) }}");
    for (ports, inputs, said) in [
        (port("type: \"Real\", unit: \"mm\""), "", "expected a unit without a prefix, found `mm`"),
        (port("type: \"Real\", unit: \"N\""), "\"u\": 3.0", "expected the unit N, found none"),
        (port("type: \"Real\", unit: \"N\""), "\"u\": \"3 m\"", "expected the unit N, found m"),
        (port("type: \"Real\""), "\"v\": 3.0", "the diagram declares no input `v`"),
        (port("type: \"Real\", default: [1, 2]"), "", "expected a number, found a list of 2"),
        (port("type: \"Vector(2)\", default: [1, 2, 3]"), "", "expected 2 numbers, found 3"),
        (port("unit: \"N\""), "", "`type` is missing"),
        (port("type: \"Real\""), "\"u\": Nonsense()", "expected a kind of block, found `Nonsense`"),
        (
            port("type: \"Real\", unit: \"N\""),
            "\"u\": Constant(value: \"1 m\")",
            "what feeds the input `u` expected the unit N, found m",
        ),
        (
            "out: { \"y\": \"Real\" }".to_owned(),
            "",
            "output `y` is declared, but `out` does not say",
        ),
    ] {
        let found = with(&ports, inputs);
        assert!(found.contains(said), "{ports} {inputs}: {found}");
    }
}

#[test]
fn s11_5_a_default_feeds_a_mask_too() {
    let mask = r#"Mask(
        params: { "k": Real(default: 2.0) },
        ports: (in: { "u": Port(type: "Real", default: "=3*k") }, out: { "y": "Real" }),
        blocks: { "g": Gain(gain: 1.0, in: { "u": "^u" }) },
        out: { "y": "g.y" },
    )"#;
    let text = r#"Diagram(
        run: (stop: "1 ms", step: "1 ms"),
        blocks: {
            "one": Constant(value: 1.0),
            "open": Mask(file: "m.mask", k: 5.0),
            "wired": Mask(file: "m.mask", in: { "u": "one.y" }),
        },
        log: ["open.y", "wired.y"],
    )"#;
    let program = program_of_files(text, &[("m.mask", mask)]);
    assert_eq!(last(&program, "open.y"), 15.0);
    assert_eq!(last(&program, "wired.y"), 1.0);
}
