//! A run that goes on as another program: semantics 7.1, 8.3.

use std::sync::Arc;

use legwork_program::Program;
use legwork_runtime::{Carried, Cursor, ForkError, Simulation};

use super::harness::program;
use super::identity::WHOLE;
use super::snapshots::programs;
use super::state::MIXED;

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|v| v.to_bits()).collect()
}

/// A simulation after so many steps.
fn after(steps: usize, program: &Arc<Program>) -> Simulation {
    let mut simulation = Simulation::new(Arc::clone(program));
    (0..steps).for_each(|_| simulation.step().unwrap());
    simulation
}

fn fork(simulation: &Simulation, text: &str) -> Result<(Simulation, Carried), ForkError> {
    simulation.fork(program(text))
}

/// A fork as the same program, and a fork of that fork, go on bit for bit with the run itself.
#[test]
fn s7_1_a_fork_as_the_same_program_goes_on_bit_for_bit() {
    let whole = ("whole", program(WHOLE));
    for (name, program) in programs().into_iter().chain([whole]) {
        for steps in [0, 1, 7, 12] {
            let mut original = after(steps, &program);
            let (mut one, carried) = original.fork(Arc::clone(&program)).unwrap();
            let Carried { kept, fresh, dropped } = carried;
            assert!(fresh.is_empty() && dropped.is_empty(), "{name}: {fresh:?}, {dropped:?}");
            assert!(!kept.is_empty(), "{name}");
            for _ in 0..2 {
                original.step().unwrap();
                one.step().unwrap();
            }
            let (mut two, _) = one.fork(Arc::clone(&program)).unwrap();
            while original.cursor() != Cursor::Done {
                for run in [&mut original, &mut one, &mut two] {
                    run.advance().unwrap();
                }
                for run in [&one, &two] {
                    assert_eq!(
                        (run.cursor(), run.moment()),
                        (original.cursor(), original.moment())
                    );
                    assert_eq!(bits(run.arena()), bits(original.arena()), "{name} from {steps}");
                    assert_eq!(bits(run.state()), bits(original.state()), "{name} from {steps}");
                }
            }
            let ended = original.to_bytes().unwrap();
            assert!(one.to_bytes().unwrap() == ended && two.to_bytes().unwrap() == ended, "{name}");
        }
    }
}

#[test]
fn s8_3_a_fork_says_what_it_kept_began_and_dropped() {
    let run = after(5, &program(MIXED));
    let x = run.state()[0];
    // `di` goes, `late` and `f` become other kinds, `k` is new.
    let mut text = MIXED.to_owned();
    for (old, new) in [
        (r#""di": DiscreteIntegrator(every: "6 ms", initial: 0.0, in: { "u": "late.y" }),"#, ""),
        (r#"UnitDelay(every: "3 ms", initial: 0.5"#, r#"Delay(every: "3 ms", length: 2"#),
        ("Flip(clears: 2.0", r#"UnitDelay(every: "1 ms""#),
        (r#"}, log"#, r#""k": DiscreteIntegrator(every: "2 ms", in: { "u": "i.y" }) }, log"#),
        (r#""di.y", "f.resets", "#, r#""k.y", "#),
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    let (mut other, carried) = fork(&run, &text).unwrap();
    let names = |list: &[(String, String)]| -> Vec<String> {
        list.iter().map(|(path, why)| format!("{path}: {why}")).collect()
    };
    assert_eq!(carried.kept, ["i"]);
    assert_eq!(
        names(&carried.fresh),
        ["f: it was another kind, Flip", "k: a new block", "late: it was another kind, UnitDelay"]
    );
    assert_eq!(carried.dropped, ["di"]);
    assert_eq!((other.state()[0].to_bits(), other.tick()), (x.to_bits(), run.tick()));
    other.run().unwrap();
}

/// A fork changes nothing in the run it comes from, and new parameters act from there on.
#[test]
fn s8_3_a_fork_with_other_parameters_leaves_the_run_alone() {
    let ramp = |gain: &str| {
        program(&format!(
            r#"Diagram(run: (stop: "8 ms", step: "1 ms", solver: Euler), blocks: {{
                "c": Constant(value: 1000.0), "g": Gain(gain: {gain}, in: {{ "u": "c.y" }}),
                "x": Integrator(in: {{ "u": "g.y" }}) }}, log: ["x.y"])"#
        ))
    };
    let mut run = after(4, &ramp("1.0"));
    let before = run.to_bytes().unwrap();
    let (mut other, _) = run.fork(ramp("3.0")).unwrap();
    other.run().unwrap();
    assert_eq!(run.to_bytes().unwrap(), before);
    run.run().unwrap();
    // 4 ms of 1 /s, then 4 ms of 1 /s or of 3 /s.
    assert!((run.state()[0] - 8.0).abs() < 1e-12, "{:?}", run.state());
    assert!((other.state()[0] - 16.0).abs() < 1e-12, "{:?}", other.state());
}

/// Ticks of another length: the moment is the same, exactly, or the fork is refused.
#[test]
fn s3_1_a_fork_stands_at_the_same_moment_whatever_the_tick() {
    let text = |step: &str| {
        format!(
            r#"Diagram(run: (stop: "30 ms", step: "{step}"), blocks: {{ "t": Clock(),
                "x": Integrator(in: {{ "u": "t.y" }}),
                "d": UnitDelay(every: "6 ms", in: {{ "u": "t.y" }}) }}, log: ["d.y"])"#
        )
    };
    let run = after(6, &program(&text("1 ms")));
    assert_eq!((run.tick(), run.time()), (6, 0.006));
    for (step, tick) in [("0.5 ms", 12), ("2 ms", 3), ("3 ms", 2)] {
        let (mut other, _) = fork(&run, &text(step)).unwrap();
        assert_eq!((other.tick(), other.time().to_bits()), (tick, run.time().to_bits()), "{step}");
        other.run().unwrap();
        // The delay took the time of its last hit before the stop, 24 ms, which it showed at 30 ms.
        assert_eq!(other.arena()[place(&other, "d.y")], 0.024, "{step}");
    }
    let off = after(5, &program(&text("1 ms")));
    assert!(matches!(fork(&off, &text("2 ms")), Err(ForkError::NoStepHere { .. })));
}

fn place(simulation: &Simulation, signal: &str) -> usize {
    let signals = &simulation.program().signals;
    signals.iter().find(|s| s.path == signal).unwrap().slots[0].start as usize
}

/// Outputs that hold until they are due are there at once, also those of new blocks.
#[test]
fn s3_3_a_new_block_that_is_not_due_holds_its_output() {
    let text = |blocks: &str| {
        format!(
            r#"Diagram(run: (stop: "20 ms", step: "1 ms"), blocks: {{ "t": Clock(), {blocks}
                "d": UnitDelay(every: "5 ms", initial: 4.0, in: {{ "u": "t.y" }}),
            }}, log: ["d.y"])"#
        )
    };
    let run = after(7, &program(&text("")));
    let new = r#""c": Constant(value: 3.0),
        "n": DiscreteIntegrator(every: "5 ms", initial: 2.0, in: { "u": "d.y" }),"#;
    let (other, carried) = fork(&run, &text(new)).unwrap();
    assert_eq!(carried.fresh, [("n".to_owned(), "a new block".to_owned())]);
    let value = |signal| other.arena()[place(&other, signal)];
    assert_eq!((value("c.y"), value("n.y"), value("d.y")), (3.0, 2.0, 0.0));
}

#[test]
fn s8_3_runs_fork_between_steps_before_their_end() {
    let mut run = after(3, &program(MIXED));
    run.advance().unwrap();
    assert_eq!(fork(&run, MIXED).err(), Some(ForkError::InAStep));
    run.step().unwrap();
    let short = MIXED.replace("200 ms", "2 ms");
    assert!(matches!(fork(&run, &short), Err(ForkError::PastStop { .. })));
    run.run().unwrap();
    assert_eq!(fork(&run, MIXED).err(), Some(ForkError::Ended));
}
