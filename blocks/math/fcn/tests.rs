use legwork_block::PortUnit;
use serde_json::json;

use super::*;
use crate::testing::{Bench, block, refusal};

fn fcn(expression: &str) -> Fcn {
    block(json!({ "expression": expression }))
}

#[test]
fn the_output_is_the_expression_of_inputs_and_time() {
    let mut bench = Bench::new(fcn("u1^2 + 3*u2 - t"), &[Type::Real, Type::Real]).expect("an fcn");
    assert_eq!(bench.y(2.0, &[("u1", &[4.0]), ("u2", &[1.0])]), [17.0]);
    assert_eq!(bench.declaration.rate, RateRule::Continuous);
}

#[test]
fn ports_stand_in_the_order_of_their_numbers() {
    let bench = Bench::new(fcn("u10 + u2 - u"), &[Type::Real, Type::Real, Type::Real]);
    let names: Vec<String> = bench
        .expect("an fcn")
        .declaration
        .inputs
        .into_iter()
        .map(|input| input.name.into_owned())
        .collect();
    assert_eq!(names, ["u", "u2", "u10"]);
}

#[test]
fn elements_and_ranges_make_a_vector_of_the_input() {
    let mut bench = Bench::new(fcn("u[3] + norm(u[0..2])"), &[Type::vector(4)]).expect("an fcn");
    assert_eq!(bench.y(0.0, &[("u", &[3.0, 4.0, 7.0, 10.0])]), [15.0]);
    let message = refusal(fcn("u[4]"), &[Type::vector(3)]);
    assert_eq!(message, "expected `u` with an element 4, found a vector of 3");
}

#[test]
fn whole_vectors_need_a_length() {
    let whole: Fcn = block(json!({ "expression": "2*u", "lengths": { "u": 3 } }));
    let mut bench = Bench::new(whole, &[Type::vector(3)]).expect("an fcn");
    assert_eq!(bench.y(0.0, &[("u", &[1.0, 2.0, 3.0])]), [2.0, 4.0, 6.0]);
    let unused: Fcn = block(json!({ "expression": "u", "lengths": { "u1": 3 } }));
    assert_eq!(refusal(unused, &[]), "expected inputs of the expression, found `u1`");
    let message = refusal(fcn("u + u[0]"), &[]);
    assert!(message.contains("does not fit the other uses"), "{message}");
}

#[test]
fn constants_carry_their_unit_to_the_output() {
    let spring: Fcn = block(json!({ "expression": "=-k*u", "constants": { "k": "3 N/m" } }));
    let mut bench = Bench::new(spring, &[Type::Real]).expect("an fcn");
    assert_eq!(bench.y(0.0, &[("u", &[2.0])]), [-6.0]);
    let PortUnit::Of(unit) = &bench.declaration.outputs[0].unit else { panic!("no unit") };
    assert_eq!(unit.constant().to_string(), "N/m");
    assert_eq!(unit.vars().count(), 1, "that of the input");
}

#[test]
fn truth_values_and_lists_are_outputs_too() {
    let mut truth = Bench::new(fcn("u > 1"), &[Type::Real]).expect("an fcn");
    assert_eq!(truth.declaration.outputs[0].ty, Type::Bool);
    assert_eq!(truth.y(0.0, &[("u", &[2.0])]), [1.0]);
    let mut list = Bench::new(fcn("[u, -u, t]"), &[Type::Real]).expect("an fcn");
    assert_eq!(list.y(5.0, &[("u", &[2.0])]), [2.0, -2.0, 5.0]);
}

#[test]
fn unknown_names_are_refused() {
    let message = refusal(fcn("kp*u"), &[]);
    assert_eq!(message, "expected an input `u`, `u1`, …, the time `t` or a constant, found `kp`");
    assert!(refusal(fcn("u +"), &[]).starts_with("expected"));
}
