use legwork_block::{Feeds, Type};
use serde_json::{Value, json};

use super::*;
use crate::testing::{Bench, block, refusal};

fn machine(parameters: Value) -> StateMachine {
    block(parameters)
}

/// Two states with a load and a timer, and what they set.
fn walker() -> StateMachine {
    machine(json!({
        "inputs": { "load": "Real", "place": { "Vector": 2 }, "on": "Bool" },
        "constants": { "shift": [0.5, -0.5] },
        "states": [
            { "name": "stand", "entry": { "goal": "[0, 0]", "speed": "1" }, "to": [
                { "when": "load < 10 and elapsed >= 0.002", "to": "lift" },
            ] },
            { "name": "lift", "entry": { "goal": "place + shift" }, "to": [
                { "when": "on and load > 20", "to": "stand" },
                { "when": "on", "to": "lift" },
            ] },
        ],
    }))
}

/// state, elapsed, entered and what is set, at each hit of these inputs (load, place, on).
fn run(bench: &mut Bench, inputs: &[(f64, [f64; 2], f64)]) -> Vec<(f64, f64, bool, Vec<f64>)> {
    let hits = inputs.iter().enumerate().map(|(k, (load, place, on))| {
        let t = k as f64 * 1e-3;
        bench.set("load", &[*load]);
        bench.set("place", place);
        bench.set("on", &[*on]);
        bench.output(t).expect("no fault");
        let value = |name: &str| bench.value(name);
        let set = [value("goal"), value("speed")].concat();
        let seen = (value("state")[0], value("elapsed")[0], value("entered")[0] == 1.0, set);
        bench.update(t);
        seen
    });
    hits.collect()
}

/// The guard holds from the first hit on, its timer from the third: the fourth shows the new state,
/// with the entry computed from the inputs of the third.
#[test]
fn a_transition_shows_at_the_next_hit_with_the_inputs_of_this_one() {
    let mut bench = Bench::new(walker(), &[Type::Real, Type::Bool, Type::vector(2)])
        .unwrap_or_else(|_| panic!("planned"));
    assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
    let at = |k: f64| (5.0, [k, 2.0 * k], 0.0);
    let seen = run(&mut bench, &[at(1.0), at(2.0), at(3.0), at(4.0), at(5.0)]);
    assert_eq!(
        seen,
        [
            (0.0, 0.0, true, vec![0.0, 0.0, 1.0]),
            (0.0, 1e-3, false, vec![0.0, 0.0, 1.0]),
            (0.0, 2e-3, false, vec![0.0, 0.0, 1.0]),
            // `speed` is not set by `lift`: it keeps its value.
            (1.0, 0.0, true, vec![3.5, 5.5, 1.0]),
            (1.0, 1e-3, false, vec![3.5, 5.5, 1.0]),
        ]
    );
}

/// Both guards of `lift` hold: the first is taken. With the second alone it enters itself again.
#[test]
fn the_first_guard_that_holds_is_taken_one_at_a_hit() {
    let mut bench = Bench::new(walker(), &[Type::Real, Type::Bool, Type::vector(2)])
        .unwrap_or_else(|_| panic!("planned"));
    let mut inputs = vec![(5.0, [0.0, 0.0], 0.0); 3];
    inputs.extend([(5.0, [1.0, 1.0], 1.0), (30.0, [2.0, 2.0], 1.0), (5.0, [3.0, 3.0], 1.0)]);
    let seen = run(&mut bench, &inputs);
    let states: Vec<(f64, bool)> = seen.iter().map(|hit| (hit.0, hit.2)).collect();
    let (stand, lift) = (0.0, 1.0);
    assert_eq!(
        states,
        [(stand, true), (stand, false), (stand, false), (lift, true), (lift, true), (stand, true)]
    );
    assert_eq!(seen[4].3, [1.5, 0.5, 1.0], "entered again, with the place of that hit");
}

#[test]
fn what_cannot_be_is_refused() {
    let one = |state: Value| json!({ "states": [state] });
    let refused = |parameters: Value| refusal(machine(parameters), &[]);
    assert_eq!(refused(json!({ "states": [] })), "expected at least one state, found none");
    assert_eq!(
        refused(one(json!({ "name": "a", "to": [{ "when": "t > 1", "to": "aa" }] }))),
        "`a`: expected the name of a state, found `aa`"
    );
    assert_eq!(
        refused(one(json!({ "name": "a", "to": [{ "when": "t", "to": "a" }] }))),
        "guard from `a` to `a`: expected a condition, found a number"
    );
    assert_eq!(
        refused(one(json!({ "name": "a", "entry": { "state": "1" } }))),
        "entry `state` of `a`: expected a name of letters, digits and _ other than `state`, \
         `elapsed`, `entered`"
    );
    assert_eq!(
        refused(json!({ "states": [{ "name": "a" }, { "name": "b" }] })),
        "no transition leads to the state `b`"
    );
    let two = |first: Value, second: Value| {
        json!({ "inputs": { "u": "Real" }, "states": [
            { "name": "a", "entry": first, "to": [{ "when": "u > 0", "to": "b" }] },
            { "name": "b", "entry": second },
        ] })
    };
    assert_eq!(
        refused(two(json!({ "y": "1" }), json!({ "y": "[1]" }))),
        "entry `y` of `b`: expected Real as in `a`, found Vector(1)"
    );
    assert_eq!(
        refused(two(json!({}), json!({ "y": "1" }))),
        "entry `y` of `b`: expected signals that the first state, `a`, sets too"
    );
    assert_eq!(
        refused(two(json!({ "y": "u" }), json!({}))),
        "expected an entry of the first state, `a`, that reads no input, since none feeds through, \
         found one that reads `u`"
    );
    assert_eq!(
        refused(json!({ "inputs": { "u": "Real" }, "states": [{ "name": "a" }] })),
        "no guard and no entry reads `u`"
    );
    assert!(
        refused(one(json!({ "name": "a", "entry": { "y": "w + 1" } })))
            .starts_with("entry `y` of `a`: expected an input, a constant or a time, found `w`")
    );
}
