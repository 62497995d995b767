//! Semantics 7, 8, 9: state, order, determinism, failure.

use std::sync::Arc;

use legwork_runtime::recording::Recording;
use legwork_runtime::{Cursor, Simulation};

use super::harness::{finish, program, record, recorder};

pub(crate) const MIXED: &str = r#"Diagram(run: (stop: "200 ms", step: "1 ms", solver: Rk4), blocks: {
    "wave": Sine(amplitude: 1.0, frequency: "7 Hz"),
    "held": ZeroOrderHold(every: "3 ms", in: { "u": "wave.y" }),
    "late": UnitDelay(every: "3 ms", initial: 0.5, in: { "u": "held.y" }),
    "sum": Sum(signs: "+-", in: { "u1": "late.y", "u2": "i.y" }),
    "i": Integrator(initial: 0.1, in: { "u": "sum.y" }),
    "di": DiscreteIntegrator(every: "6 ms", initial: 0.0, in: { "u": "late.y" }),
    "f": Flip(clears: 2.0, in: { "u": "i.y" }),
}, log: ["i.y", "di.y", "f.resets", "late.y"])"#;

/// Semantics 7.1: restoring a snapshot continues bit for bit, from any tick and any block of it.
#[test]
fn s7_1_a_restored_run_continues_bit_for_bit() {
    let program = program(MIXED);
    for pieces in [1usize, 7, 50, 333, 900, 1500] {
        let mut original = Simulation::new(Arc::clone(&program));
        for _ in 0..pieces {
            original.advance().unwrap();
        }
        let snapshot = original.snapshot();
        let mut other = Simulation::new(Arc::clone(&program));
        for _ in 0..pieces / 2 {
            other.advance().unwrap();
        }
        other.restore(&snapshot).unwrap();
        assert_eq!(other.cursor(), original.cursor());
        while original.cursor() != Cursor::Done {
            original.advance().unwrap();
            other.advance().unwrap();
            let same =
                |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits());
            assert!(same(original.arena(), other.arena()), "after {pieces} pieces");
            assert!(same(original.state(), other.state()), "after {pieces} pieces");
        }
    }
}

/// Semantics 7.1: a snapshot of another program is refused.
#[test]
fn s7_1_a_snapshot_of_another_program_is_refused() {
    let a = Simulation::new(program(MIXED));
    let mut b = Simulation::new(program(&MIXED.replace("0.5", "0.25")));
    assert!(b.restore(&a.snapshot()).is_err());
}

/// Semantics 8.1: topological order; of blocks that may come next, the first by path, whatever the
/// file's order.
#[test]
fn s8_1_ties_are_broken_by_path() {
    let text =
        |blocks: &str| format!(r#"Diagram(run: (stop: "1 s"), blocks: {{ {blocks} }}, log: [])"#);
    let [a, b, c] = [
        r#""a": Gain(gain: 1.0, in: { "u": "z.y" })"#,
        r#""b": Gain(gain: 1.0, in: { "u": "z.y" })"#,
        r#""z": Clock()"#,
    ];
    let order = |text: &str| {
        let program = program(text);
        let path = |step: &legwork_program::Step| program.nodes[step.node].path.clone();
        program.schedule.iter().map(path).collect::<Vec<_>>()
    };
    let expected = ["z", "a", "b"];
    assert_eq!(order(&text(&format!("{a}, {b}, {c}"))), expected);
    assert_eq!(order(&text(&format!("{c}, {b}, {a}"))), expected);
}

/// Semantics 8.2: same program → same bytes; headless and stepped by block give byte-equal
/// recordings.
#[test]
fn s8_2_runs_and_stepped_runs_are_byte_equal() {
    let program = program(MIXED);
    let first = record(&program);
    assert_eq!(first, record(&program), "run against run");
    let mut stepped = Simulation::new(Arc::clone(&program));
    stepped.observer_mut().record_to(recorder(&program));
    while stepped.cursor() != Cursor::Done {
        stepped.advance().unwrap();
    }
    assert_eq!(first, finish(&mut stepped), "run against stepped by block");
    let mut by_step = Simulation::new(Arc::clone(&program));
    by_step.observer_mut().record_to(recorder(&program));
    while by_step.cursor() != Cursor::Done {
        by_step.step().unwrap();
    }
    assert_eq!(first, finish(&mut by_step), "run against stepped by major step");
}

/// Semantics 9.1: NaN on an output is a fault with t, phase, block, port; the last good row is
/// kept.
#[test]
fn s9_1_nan_is_a_fault_and_the_recording_is_kept_to_the_last_good_row() {
    let program = program(
        r#"Diagram(run: (stop: "10 ms", step: "1 ms"), blocks: {
            "r": Ramp(slope: -1000.0, initial: 4.5),
            "d": Divide(in: { "u": "r.y" }),
            "g": Gain(gain: 1.0, in: { "u": "d.y" }) }, log: ["g.y"])"#,
    );
    let mut simulation = Simulation::new(Arc::clone(&program));
    simulation.observer_mut().record_to(recorder(&program));
    let fault = simulation.run().unwrap_err();
    assert_eq!((fault.block.as_str(), fault.t), ("d", 0.005));
    assert!(fault.fault.message.contains("`y` became NaN"), "{fault}");
    let recording = Recording::from_bytes(finish(&mut simulation)).unwrap();
    assert_eq!(recording.series("g.y").unwrap().len(), 5, "rows at 0 … 4 ms");
}

/// Semantics 9.1: an infinity is a fault, except on an output that is marked as a bound.
#[test]
fn s9_1_infinity_is_fine_on_bounds_only() {
    let text = |source: &str| {
        format!(
            r#"Diagram(run: (stop: "3 ms", step: "1 ms"), blocks: {{
                "r": Ramp(slope: 1.0, initial: 0.0), "d": Divide(in: {{ "u": "r.y" }}),
                "g": Gain(gain: 1.0, in: {{ "u": "{source}" }}) }}, log: [])"#
        )
    };
    Simulation::new(program(&text("d.y"))).run().unwrap();
    let fault = Simulation::new(program(&text("d.bound"))).run().unwrap_err();
    assert_eq!(fault.block, "g", "the gain's output is no bound: {fault}");
}

/// Semantics 9.3: every run-time message names time, phase and block.
#[test]
fn s9_3_messages_name_time_phase_and_block() {
    let mut simulation = Simulation::new(program(
        r#"Diagram(run: (stop: "1 s", step: "1 ms"), blocks: {
            "r": Ramp(slope: -1.0, initial: 0.4175), "d": Divide(in: { "u": "r.y" }) }, log: [])"#,
    ));
    let fault = simulation.run().unwrap_err();
    assert!(fault.to_string().starts_with("t=0.418 s, output, d: "), "{fault}");
}
