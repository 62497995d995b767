//! Semantics 7.1 on disk: snapshots as bytes.

use std::sync::Arc;

use legwork_block::{
    Block, In, Invalid, Out, Outcome, OutputCx, Ports, RateRule, Real, Registry, Sizes, UpdateCx,
};
use legwork_program::Program;
use legwork_runtime::{
    Cursor, RoundtripError, Simulation, SnapshotError, SnapshotHeader, Trials, roundtrip,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::events::ball;
use super::harness::program;
use super::state::MIXED;

pub(crate) fn register(registry: &mut Registry) {
    registry.block::<Hidden>("Hidden()");
}

/// Counts its steps in memory that is no state, which no block may do.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Hidden {}

impl Block for Hidden {
    const KIND: &'static str = "Hidden";
    type Plan = (In<Real>, Out<Real>);
    type State = ();
    type Memo = ();
    type Scratch = f64;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.rate(RateRule::Sampled);
        ports.updates();
        Ok((ports.input("u", &Real), ports.output("y", &Real)))
    }
    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) -> f64 {
        0.0
    }
    fn output(&self, &(u, y): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.set(y, cx.inputs.get(u) + *cx.scratch);
        Ok(())
    }
    fn update(&self, _: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        *cx.scratch += 1.0;
        Ok(())
    }
}

/// A memo between output and update, a chain of held rates, a part that is off half of the time.
const MEMO: &str = r#"Diagram(run: (stop: "100 ms", step: "1 ms", solver: Heun), blocks: {
    "wave": Sine(amplitude: 1.0, frequency: "31 Hz"),
    "echo": MemoEcho(every: "2 ms", in: { "u": "wave.y" }),
    "i": Integrator(initial: 0.0, in: { "u": "echo.sum" }),
    "slow": UnitDelay(every: "5 ms", initial: 1.0, in: { "u": "i.y" }),
}, log: ["echo.sum", "slow.y"])"#;

pub(crate) fn programs() -> Vec<(&'static str, Arc<Program>)> {
    vec![
        ("mixed", program(MIXED)),
        ("memo", program(MEMO)),
        ("implicit", program(&MIXED.replace("Rk4", "ImplicitEuler"))),
        ("events", program(&ball("DormandPrince", "5 s"))),
        ("stiff events", program(&ball("Esdirk", "5 s"))),
        ("multistep events", program(&ball("Bdf", "5 s"))),
    ]
}

fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
}

/// The whole rest of a run from bytes, not only its next steps.
#[test]
fn s7_1_a_run_continued_from_bytes_ends_at_the_same_bits() {
    for (name, program) in programs() {
        let mut whole = Simulation::new(Arc::clone(&program));
        whole.run().unwrap();
        for steps in [0, 1, 17, 40] {
            let mut part = Simulation::new(Arc::clone(&program));
            for _ in 0..steps {
                part.step().unwrap();
            }
            let bytes = part.to_bytes().unwrap();
            let mut other = Simulation::from_bytes(Arc::clone(&program), &bytes).unwrap();
            assert_eq!(other.moment(), part.moment());
            assert_eq!(other.to_bytes().unwrap(), bytes, "{name}: bytes of what came of bytes");
            other.run().unwrap();
            assert!(same(whole.arena(), other.arena()), "{name} from step {steps}");
            assert!(same(whole.state(), other.state()), "{name} from step {steps}");
            assert_eq!(whole.step_count(), other.step_count(), "{name}");
            assert_eq!(whole.to_bytes().unwrap(), other.to_bytes().unwrap(), "{name}");
        }
    }
}

/// Memos live between output and update: a snapshot there is continued too.
#[test]
fn s7_1_a_snapshot_inside_a_step_is_the_one_before_it_and_the_pieces_since() {
    for (name, program) in programs() {
        let mut run = Simulation::new(Arc::clone(&program));
        for _ in 0..6 {
            run.step().unwrap();
        }
        let begin = run.snapshot();
        let mut pieces = 0;
        loop {
            run.advance().unwrap();
            pieces += 1;
            if run.is_between_steps() {
                break;
            }
            assert!(matches!(run.to_bytes(), Err(SnapshotError::InAStep { .. })));
            let bytes = run.to_bytes_since(&begin, pieces).unwrap();
            let header = SnapshotHeader::read(&bytes).unwrap();
            assert_eq!((header.pieces, header.t), (pieces, run.time()));
            let mut other = Simulation::from_bytes(Arc::clone(&program), &bytes).unwrap();
            assert_eq!(other.cursor(), run.cursor(), "{name}");
            assert!(same(other.arena(), run.arena()), "{name} after {pieces} pieces");
            let mut original = Simulation::new(Arc::clone(&program));
            original.restore(&run.snapshot()).unwrap();
            for _ in 0..40 {
                original.advance().unwrap();
                other.advance().unwrap();
                assert!(same(other.arena(), original.arena()), "{name} after {pieces} pieces");
            }
        }
        assert!(pieces > 4, "{name}");
    }
}

#[test]
fn s7_1_random_ticks_of_runs_continue() {
    for (name, program) in programs() {
        let trials = Trials { ticks: 40, steps: 5, seed: 3 };
        let proof = roundtrip(&program, trials).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(proof.snapshots > 8 && proof.inside > 3, "{name}: {proof:?}");
    }
}

/// The proof fails for a block whose future is not in its state, and names it.
#[test]
fn s7_1_what_is_no_state_is_found() {
    let text = r#"Diagram(run: (stop: "100 ms", step: "1 ms"), blocks: {
        "c": Constant(value: 1.0), "h": Hidden(every: "1 ms", in: { "u": "c.y" }) })"#;
    match roundtrip(&program(text), Trials::default()) {
        Err(RoundtripError::Differs(difference)) => {
            assert_eq!(difference.block.as_deref(), Some("h"), "{difference}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn s7_1_bytes_of_another_program_are_refused_with_what_differs() {
    let bytes = Simulation::new(program(MIXED)).to_bytes().unwrap();
    let refused = |text: &str| match Simulation::from_bytes(program(text), &bytes) {
        Err(SnapshotError::OtherProgram { difference }) => difference,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was taken"),
    };
    assert!(refused(&MIXED.replace("0.5", "0.25")).contains("other parameters of `late`"));
    assert!(
        refused(&MIXED.replace("\"f\": Flip", "\"g\": Flip").replace("f.resets", "g.resets"))
            .contains("has a block `f` that is not here")
    );
    assert!(refused(&MIXED.replace("\"f\":", "\"a\": Clock(), \"f\":")).contains("no block `a`"));
    assert!(refused(&MIXED.replace("Rk4", "Heun")).contains("solver"));
    // When the run stops and what it records shape no future.
    for other in [MIXED.replace("200 ms", "150 ms"), MIXED.replace("\"di.y\", ", "")] {
        Simulation::from_bytes(program(&other), &bytes).unwrap();
    }
}

/// Bytes cut off, changed, or changed with a checksum made to fit: an error each, never a panic.
#[test]
fn s7_1_damaged_bytes_are_refused() {
    let program = program(MEMO);
    let mut run = Simulation::new(Arc::clone(&program));
    for _ in 0..9 {
        run.step().unwrap();
    }
    let bytes = run.to_bytes().unwrap();
    let read = |bytes: &[u8]| Simulation::from_bytes(Arc::clone(&program), bytes);
    for len in 0..bytes.len() {
        match read(&bytes[..len]).map(|_| ()) {
            Err(SnapshotError::NotASnapshot) if len == 0 => {}
            Err(SnapshotError::Truncated { .. }) => {}
            other => panic!("cut off after {len}: {other:?}"),
        }
    }
    assert!(matches!(read(&[&bytes[..], b"x"].concat()), Err(SnapshotError::Damaged { .. })));
    assert!(matches!(read(b"Diagram("), Err(SnapshotError::NotASnapshot)));
    let mut accepted = 0;
    for at in 0..bytes.len() {
        for bit in [0, 3, 7] {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            assert!(read(&changed).is_err(), "bit {bit} of byte {at}");
            if at >= 28 {
                let mut sum = legwork_program::Fnv::default();
                sum.add_bytes(&changed[28..]);
                changed[20..28].copy_from_slice(&sum.value().to_le_bytes());
                // Some numbers mean another state, which runs on; nothing panics.
                if let Ok(mut other) = read(&changed) {
                    accepted += 1;
                    for _ in 0..3 {
                        if other.cursor() != Cursor::Done {
                            let _ = other.step();
                        }
                    }
                }
            }
        }
    }
    assert!(accepted > 0, "changed numbers are states too");
    let mut old = bytes.clone();
    old[8] = 99;
    assert!(matches!(read(&old), Err(SnapshotError::Format { found: 99 })));
}

/// A state of two numbers for a block of three, under a checksum that fits: `output` would end in a
/// panic.
#[test]
fn s7_1_states_of_another_size_are_refused() {
    let program = program(
        r#"Diagram(run: (stop: "10 ms", step: "1 ms"), blocks: {
        "c": Constant(value: [1.5, 2.5, 3.5]),
        "d": UnitDelay(every: "1 ms", in: { "u": "c.y" }) })"#,
    );
    let mut run = Simulation::new(Arc::clone(&program));
    run.step().unwrap();
    let bytes = run.to_bytes().unwrap();
    // Length of the state, of its list, the list, and no functions.
    let state = |list: &[f64]| -> Vec<u8> {
        let numbers = list.iter().flat_map(|x| x.to_le_bytes());
        let length = list.len() as u8;
        [8 * length + 2, length].into_iter().chain(numbers).chain([0]).collect()
    };
    let (three, two) = (state(&[1.5, 2.5, 3.5]), state(&[1.5, 2.5]));
    let places: Vec<usize> =
        (28..bytes.len()).filter(|&at| bytes[at..].starts_with(&three)).collect();
    let [at] = places[..] else { panic!("expected one state, found {places:?}") };
    let with = |state: &[u8]| {
        let payload = [&bytes[28..at], state, &bytes[at + three.len()..]].concat();
        let mut sum = legwork_program::Fnv::default();
        sum.add_bytes(&payload);
        let (length, sum) = (payload.len() as u64, sum.value());
        [&bytes[..12], &length.to_le_bytes(), &sum.to_le_bytes(), &payload].concat()
    };
    let read = |bytes: &[u8]| Simulation::from_bytes(Arc::clone(&program), bytes).map(|_| ());
    assert!(read(&with(&three)).is_ok());
    let error = read(&with(&two)).unwrap_err();
    assert!(error.to_string().contains("the state of `d` has another size"), "{error}");
}

/// A NaN and a negative zero in a state come back with all their bits.
#[test]
fn s7_1_every_bit_of_a_number_comes_back() {
    let text = r#"Diagram(run: (stop: "10 ms", step: "1 ms"), blocks: {
        "c": Constant(value: -0.0),
        "d": UnitDelay(every: "1 ms", initial: -0.0, in: { "u": "c.y" }),
        "i": Integrator(initial: -0.0, in: { "u": "d.y" }) })"#;
    let program = program(text);
    let run = Simulation::new(Arc::clone(&program));
    let other = Simulation::from_bytes(program, &run.to_bytes().unwrap()).unwrap();
    assert_eq!(run.state()[0].to_bits(), (-0.0f64).to_bits());
    assert!(same(run.state(), other.state()));
}
