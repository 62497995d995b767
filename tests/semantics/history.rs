//! Semantics 7.1, 8.3 in a session: going back, and parameters that change on the way.

use std::sync::Arc;

use legwork_program::Program;
use legwork_runtime::{Cursor, History, Simulation, SwapError};

use super::events::ball;
use super::harness::program;
use super::state::MIXED;

/// Everything one can see of a place.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    step: u64,
    pieces: u64,
    cursor: Cursor,
    bits: Vec<u64>,
    rows: usize,
}

fn see(history: &History) -> Seen {
    let simulation = history.simulation();
    let numbers = simulation.arena().iter().chain(simulation.state());
    Seen {
        step: history.step(),
        pieces: history.pieces(),
        cursor: simulation.cursor(),
        bits: numbers.map(|number| number.to_bits()).collect(),
        rows: simulation.observer().journal().unwrap().len(),
    }
}

fn start(program: &Arc<Program>) -> History {
    let mut simulation = Simulation::new(Arc::clone(program));
    simulation.observer_mut().keep_rows();
    History::new(simulation).unwrap()
}

/// Goes to the end, then back by ever larger jumps and forth again: every place is as it was.
#[test]
fn s7_1_going_back_any_number_of_pieces_is_exact() {
    for text in [MIXED.to_owned(), ball("DormandPrince", "6 s"), ball("Bdf", "3 s")] {
        let mut history = start(&program(&text));
        let mut seen = vec![see(&history)];
        while history.simulation().cursor() != Cursor::Done {
            history.advance().unwrap();
            seen.push(see(&history));
        }
        assert!(seen.len() > 150, "{}", seen.len());
        let mut at = seen.len() - 1;
        let mut jump = 1;
        while at > 0 {
            let back = jump.min(at);
            assert_eq!(history.back(back as u64).unwrap(), back as u64);
            at -= back;
            assert_eq!(see(&history), seen[at], "{back} back to piece {at}");
            let forth = if at > 0 { (jump / 3).min(seen.len() - 1 - at) } else { 0 };
            for _ in 0..forth {
                history.advance().unwrap();
            }
            at += forth;
            assert_eq!(see(&history), seen[at], "{forth} forth to piece {at}");
            jump = jump * 3 / 2 + 1;
        }
        assert_eq!(history.back(5).unwrap(), 0, "nothing lies before the beginning");
        for t in [0.05, 0.0, 0.1, 0.02] {
            history.go_to(t).unwrap();
            let known = seen.iter().find(|seen| seen.step == history.step()).unwrap();
            assert_eq!(&see(&history), known, "at {t} s");
        }
    }
}

/// An edit changes what follows, is repeated when the run goes back behind it and on, and is undone
/// when the run goes back before it.
#[test]
fn s8_3_an_edit_belongs_to_its_step() {
    let plain = program(MIXED);
    let edited = program(&MIXED.replace("7 Hz", "11 Hz"));
    let mut history = start(&plain);
    for _ in 0..40 {
        history.finish_step().unwrap();
    }
    history.edit(&edited).unwrap();
    let at_edit = see(&history);
    let mut seen = vec![at_edit.clone()];
    for _ in 0..200 {
        history.advance().unwrap();
        seen.push(see(&history));
    }
    history.back(150).unwrap();
    assert_eq!(see(&history), seen[50]);
    assert_eq!(history.edit_count(), 1);
    history.back(50).unwrap();
    assert_eq!(see(&history), at_edit);
    assert_eq!(history.edit_count(), 1);
    history.back(1).unwrap();
    assert_eq!(history.edit_count(), 0, "the edit lies ahead");
    for _ in 0..51 {
        history.advance().unwrap();
    }
    assert_ne!(see(&history).bits, seen[50].bits, "the old parameters are back");
    // The same edit at the same step gives the same future.
    history.go_to(0.040).unwrap();
    history.edit(&edited).unwrap();
    for _ in 0..200 {
        history.advance().unwrap();
    }
    assert_eq!(&see(&history), seen.last().unwrap());
}

#[test]
fn s8_3_edits_enter_between_steps_and_change_parameters_only() {
    let mut run = Simulation::new(program(MIXED));
    run.step().unwrap();
    let before = run.to_bytes().unwrap();
    let mut refused = |from: &str, to: &str| {
        let changed = MIXED.replace(from, to);
        assert_ne!(changed, MIXED, "{from}");
        run.swap_parameters(&program(&changed)).unwrap_err().to_string()
    };
    for (from, to, said) in [
        ("Rk4", "Heun", "the step, the solver or the seed"),
        ("every: \"6 ms\"", "every: \"3 ms\"", "the rate of `di`"),
        ("\"f\": Flip(clears: 2.0", "\"f\": Gain(gain: 2.0", "`f` would be another kind, Gain"),
        ("\"u\": \"held.y\"", "\"u\": \"wave.y\"", "wiring"),
        ("[\"i.y\", ", "[", "what is recorded"),
        ("\"wave\":", "\"b\": Clock(), \"wave\":", "another block, `b`"),
    ] {
        // A gain has no `resets`; the log goes with it.
        let message = if to.contains("Gain") {
            let text = MIXED.replace(from, to).replace("f.resets", "f.y");
            run_swap(&text)
        } else {
            refused(from, to)
        };
        assert!(message.contains(said), "{to}: {message}");
    }
    assert_eq!(run.to_bytes().unwrap(), before, "a refused edit changes nothing");
    run.advance().unwrap();
    let same = program(MIXED);
    assert_eq!(run.swap_parameters(&same), Err(SwapError::NotBetweenSteps));
}

fn run_swap(text: &str) -> String {
    let mut run = Simulation::new(program(MIXED));
    run.step().unwrap();
    run.swap_parameters(&program(text)).unwrap_err().to_string()
}

/// Constants are computed once; an edit of one is computed again, and what follows from it.
#[test]
fn s8_3_an_edit_of_a_constant_reaches_what_it_feeds() {
    let text = r#"Diagram(run: (stop: "10 ms", step: "1 ms", solver: Euler), blocks: {
        "c": Constant(value: 1.0), "twice": Gain(gain: 2.0, in: { "u": "c.y" }),
        "i": Integrator(initial: 0.0, in: { "u": "twice.y" }) }, log: ["i.y"])"#;
    let mut run = Simulation::new(program(text));
    for _ in 0..4 {
        run.step().unwrap();
    }
    run.swap_parameters(&program(&text.replace("1.0", "10.0"))).unwrap();
    run.run().unwrap();
    assert!((run.state()[0] - (4.0 * 0.002 + 6.0 * 0.020)).abs() < 1e-12, "{:?}", run.state());
}
