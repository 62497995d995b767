#![allow(clippy::unwrap_used, reason = "tests state what must hold")]

use super::*;

fn json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|e| e.to_string())
}

#[test]
fn quantities_read_numbers_in_si_and_texts_with_units() {
    assert_eq!(json::<Time>("0.5").unwrap().value(), 0.5);
    assert_eq!(json::<Time>("\"5 ms\"").unwrap().value(), 0.005);
    assert_eq!(json::<Angle>("\"180 deg\"").unwrap().value(), std::f64::consts::PI);
    assert_eq!(json::<Dimensionless>("\"70 %\"").unwrap().value(), 0.7);
    assert_eq!(json::<Limit<Force>>("\"inf N\"").unwrap().value(), f64::INFINITY);
    assert_eq!(json::<Positive<Time>>("3").unwrap().value(), 3.0);
    assert_eq!(serde_json::to_string(&Positive::<Time>::from_si(2.0).unwrap()).unwrap(), "2.0");
}

#[test]
fn wrong_quantities_say_what_was_expected() {
    let message = |result: Result<Time, String>| result.unwrap_err();
    assert!(message(json("\"5 m\"")).starts_with("expected a quantity in s, found one in m"));
    assert!(message(json("\"inf s\"")).starts_with("expected a finite value, found inf"));
    assert!(message(json("true")).contains("expected a quantity in s"));
    let negative = json::<NonNegative<Torque>>("-1").unwrap_err();
    assert!(negative.starts_with("expected a value of zero or more, found -1 N*m"), "{negative}");
    let rate = json::<AngularVelocity>("\"2 Hz\"").unwrap_err();
    assert!(rate.starts_with("expected a quantity in rad/s, found one in Hz"), "{rate}");
}

#[test]
fn schemas_carry_the_unit() {
    let schema = schemars::schema_for!(RotationalStiffness);
    assert_eq!(schema.get("x-unit").unwrap(), "N*m/rad");
    let schema = schemars::schema_for!(Positive<Time>);
    assert_eq!(schema.get("exclusiveMinimum").unwrap(), 0);
}

#[test]
fn tensors_are_column_major_and_rectangular() {
    let matrix: Tensor = json("[[1, 2, 3], [\"4 cm\", 5, 6]]").unwrap();
    assert_eq!(matrix.shape(), [2, 3]);
    assert_eq!(matrix.data(), [1.0, 0.04, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(matrix.unit(), Some(Unit::METRE));
    let again: Tensor = json(&serde_json::to_string(&matrix).unwrap()).unwrap();
    assert_eq!(again, matrix);
    assert_eq!(json::<Tensor>("2").unwrap().shape(), [0usize; 0]);
    assert_eq!(json::<Tensor>("[1, 2]").unwrap().shape(), [2]);
    assert!(json::<Tensor>("[[1], [2, 3]]").unwrap_err().contains("found a row of 2 in row 1"));
    assert!(json::<Tensor>("[1, [2]]").unwrap_err().contains("expected a number as in"));
    let mixed: Tensor = json("[\"1 m\", \"2 s\"]").unwrap();
    assert!(mixed.is_mixed() && mixed.unit().is_none());
    assert!(json::<Tensor>("[[[1]]]").unwrap_err().contains("three deep"));
}

#[test]
fn per_joint_values_resolve_by_count_and_by_pattern() {
    let names = ["FL_hip", "FL_knee", "FR_hip", "FR_knee"];
    let resolve = |text: &str| {
        let values: PerJoint<Torque> = json(text).unwrap();
        values.resolve(&names).map(|v| v.into_iter().map(Torque::value).collect::<Vec<_>>())
    };
    assert_eq!(resolve("2").unwrap(), [2.0; 4]);
    assert_eq!(resolve("[1, 2, 3, \"4 N*m\"]").unwrap(), [1.0, 2.0, 3.0, 4.0]);
    let map = r#"{"*_hip": 1, "F*knee": 2, "FR_knee": 3}"#;
    assert_eq!(resolve(map).unwrap(), [1.0, 2.0, 1.0, 3.0]);
    let error = |text: &str| resolve(text).unwrap_err().to_string();
    assert_eq!(error("[1]"), "expected 4 values, one for each joint, found 1");
    assert!(error(r#"{"*_hip": 1}"#).contains("joint `FL_knee`"));
    assert_eq!(error(r#"{"*": 1, "H*": 2}"#), "no joint matches `H*`");
    assert_eq!(error(r#"{"*": 1, "F*": 2}"#), "joint `FL_hip` is matched by `*` and by `F*`");
}
