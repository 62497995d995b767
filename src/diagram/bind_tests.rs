//! Parameter structs that are read from texts: the binder of `legwork-block` over this crate's
//! reader of files.

#![allow(clippy::unwrap_used, reason = "tests state what must hold")]

use std::collections::BTreeMap;

use indexmap::IndexMap;
use legwork_block::quantity::{
    Formula, Frequency, PerJoint, Positive, RotationalStiffness, Scalar, Tensor, Time, Torque,
};
use legwork_block::{Diagnostic, Diagnostics, FileId, Value, bind, parse_unit};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::document::parse;

fn scope() -> IndexMap<String, Value> {
    let kp = Value::quantity(60.0, parse_unit("N*m/rad").unwrap().0);
    let go = Value::record([("n", Value::from(2.0)), ("feet", Value::from(vec!["FL", "FR"]))]);
    IndexMap::from_iter([
        ("kp".to_owned(), kp),
        ("go".to_owned(), go),
        ("f".to_owned(), Value::from("FL")),
        ("mode".to_owned(), Value::from("Fast")),
    ])
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Vec<Diagnostic>> {
    let node = parse(FileId(0), text.as_bytes()).map_err(|error| vec![error])?;
    let mut diagnostics = Diagnostics::default();
    match bind(&node, &scope(), &["every", "in", "doc"], &mut diagnostics) {
        Some(value) if diagnostics.is_empty() => Ok(value),
        _ => Err(diagnostics.into_iter().collect()),
    }
}

#[derive(Debug, PartialEq, Deserialize)]
enum Mode {
    Fast,
    Hold { max: u32 },
    Use(String),
    Pair(f64, f64),
    Inner(Inner),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inner {
    gain: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct JointPd {
    kp: RotationalStiffness,
    kd: f64,
    name: String,
    #[serde(default)]
    mode: Option<Mode>,
    #[serde(default)]
    list: Vec<f64>,
    #[serde(default)]
    feet: Vec<String>,
    #[serde(default)]
    map: BTreeMap<String, Time>,
    #[serde(default)]
    order: IndexMap<String, bool>,
    #[serde(default)]
    pair: Option<(f64, u64)>,
    #[serde(default)]
    limit: Option<PerJoint<Torque>>,
    #[serde(default)]
    tensor: Option<Tensor>,
    #[serde(default)]
    scalar: Option<Scalar>,
    #[serde(default)]
    that: Option<Formula>,
    #[serde(default)]
    inner: Option<Inner>,
    #[serde(default)]
    period: Option<Positive<Time>>,
    #[serde(default)]
    #[expect(dead_code, reason = "only its mistakes are tested")]
    rate: Option<Frequency>,
}

#[test]
fn every_form_of_parameter_binds() {
    let pd: JointPd = read(
        r#"JointPd(every: "1 ms", in: { "a": "b" }, kp: "=2*kp", kd: "=1/2", name: "=f",
            mode: Hold(max: 3), list: [1, "=go.n", 2.5], feet: "=go.feet",
            map: { "a": "5 ms", "b": 2 }, order: { "z": true, "a": "=1 < 2" }, pair: (1, 7),
            limit: { "*_hip": "3 N*m", "*_knee": "=kp*0.1[rad]" }, tensor: [[1, 2], ["=go.n", 4]],
            scalar: "=5[cm]", that: "=body.z > 0.2", inner: (gain: 1), period: "=2[ms]", rate: 200)"#,
    )
    .unwrap();
    assert_eq!((pd.kp.value(), pd.kd, pd.name.as_str()), (120.0, 0.5, "FL"));
    assert_eq!(pd.mode, Some(Mode::Hold { max: 3 }));
    assert_eq!(pd.list, [1.0, 2.0, 2.5]);
    assert_eq!(pd.feet, ["FL", "FR"]);
    assert_eq!(pd.map["a"].value(), 0.005);
    assert_eq!(pd.order.keys().collect::<Vec<_>>(), ["z", "a"]);
    assert_eq!(pd.pair, Some((1.0, 7)));
    let limits = pd.limit.unwrap().resolve(&["l_hip", "l_knee"]).unwrap();
    assert_eq!(limits.iter().map(|limit| limit.value()).collect::<Vec<_>>(), [3.0, 6.0]);
    assert_eq!(pd.tensor.unwrap().data(), [1.0, 2.0, 2.0, 4.0]);
    assert_eq!(pd.scalar.unwrap().value, 0.05);
    assert_eq!(pd.that.unwrap().text, "=body.z > 0.2");
    assert_eq!(pd.inner, Some(Inner { gain: 1.0 }));
    assert_eq!(pd.period.unwrap().value(), 0.002);
}

#[test]
fn variants_bind_from_every_form() {
    let table = [
        ("Fast", Mode::Fast),
        ("Fast()", Mode::Fast),
        ("\"Fast\"", Mode::Fast),
        ("\"=mode\"", Mode::Fast),
        ("Hold(max: 2)", Mode::Hold { max: 2 }),
        ("Use(\"qp\")", Mode::Use("qp".to_owned())),
        ("Pair(1, 2)", Mode::Pair(1.0, 2.0)),
        ("Inner(gain: 2)", Mode::Inner(Inner { gain: 2.0 })),
        ("Inner((gain: 2))", Mode::Inner(Inner { gain: 2.0 })),
        ("Some(Fast)", Mode::Fast),
    ];
    for (text, expected) in table {
        assert_eq!(read::<Mode>(text), Ok(expected), "{text}");
    }
}

/// Place, message and first hint of every mistake.
/// A choice may be called `None`, which RON reads as nothing.
#[test]
fn none_is_the_name_of_a_choice_where_there_is_one() {
    #[derive(Debug, PartialEq, Deserialize)]
    enum Windup {
        None,
        Clamping,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    struct Block {
        windup: Windup,
        other: Option<Windup>,
    }
    let block: Block = read("B(windup: None, other: None)").expect("a choice");
    assert_eq!(block, Block { windup: Windup::None, other: None });
    let block: Block = read("B(windup: Clamping, other: Clamping)").expect("a choice");
    assert_eq!(block, Block { windup: Windup::Clamping, other: Some(Windup::Clamping) });
}

fn mistakes(text: &str) -> Vec<(String, String, String)> {
    let found = read::<JointPd>(text).expect_err(text);
    let row = |d: Diagnostic| {
        let place = &text[d.primary.span.start as usize..d.primary.span.end as usize];
        (place.to_owned(), d.message, d.hints.into_iter().next().unwrap_or_default())
    };
    found.into_iter().map(row).collect()
}

#[test]
fn mistakes_name_place_expectation_and_remedy() {
    let table = [
        ("kp: \"60 m\"", "\"60 m\"", "expected a quantity in N*m/rad, found one in m", ""),
        ("kp: \"60 foo\"", "foo", "unknown unit `foo`", ""),
        (
            "kp: \"abc\"",
            "abc",
            "expected a number with a unit, found \"abc\"",
            "write a quantity such as \"5 cm\", or an expression that starts with `=`",
        ),
        (
            "kp: [1]",
            "[1]",
            "expected a quantity in N*m/rad, such as \"1 N*m/rad\", found a list of 1",
            "",
        ),
        ("kp: \"=kpp\"", "kpp", "unknown name `kpp`", "did you mean `kp`?"),
        (
            "kp: \"=kp*1[m]\"",
            "\"=kp*1[m]\"",
            "expected a quantity in N*m/rad, found one in N*m^2/rad",
            "",
        ),
        ("kp: inf", "inf", "expected a finite value, found inf", ""),
        ("kp: 1, kd: \"abc\"", "\"abc\"", "expected a number, found text \"abc\"", ""),
        (
            "kp: 1, kd: \"=kp\"",
            "\"=kp\"",
            "expected a number without unit, found one in N*m/rad",
            "",
        ),
        ("kp: 1, name: abc", "abc", "expected a text, found `abc`", "put texts in quotes: \"abc\""),
        (
            "kp: 1, mode: Fats",
            "Fats",
            "expected one of `Fast`, `Hold`, `Use`, `Pair`, `Inner`, found `Fats`",
            "did you mean `Fast`?",
        ),
        ("kp: 1, mode: Hold(mx: 1)", "mx", "`Hold` has no parameter `mx`", "did you mean `max`?"),
        ("kp: 1, mode: Hold()", "Hold", "`Hold` needs the parameter `max`", "add `max: …`"),
        (
            "kp: 1, mode: Fast(1)",
            "Fast(1)",
            "expected `Fast` without parameters, found `Fast(…)` with values without names",
            "",
        ),
        ("kp: 1, mode: Inner(1)", "1", "expected `(gain: …)`, found the number 1", ""),
        ("kp: 1, list: [1, \"x\"]", "\"x\"", "expected a number, found text \"x\"", ""),
        ("kp: 1, list: 3", "3", "expected a list, found the number 3", ""),
        ("kp: 1, pair: (1, 2, 3)", "(1, 2, 3)", "expected 2 values, found 3", ""),
        ("kp: 1, pair: (1, 2.5)", "2.5", "expected a whole number, found the number 2.5", ""),
        (
            "kp: 1, map: { \"a\": \"1 m\" }",
            "\"1 m\"",
            "expected a quantity in s, found one in m",
            "",
        ),
        (
            "kp: 1, period: \"-1 s\"",
            "\"-1 s\"",
            "expected a value greater than zero, found -1 s",
            "",
        ),
        (
            "kp: 1, rate: \"3 rad/s\"",
            "\"3 rad/s\"",
            "expected a quantity in Hz, found one in rad/s",
            "Hz counts turns and rad/s angles: write the rate in Hz",
        ),
        (
            "kp: 1, inner: { \"gain\": 1 }",
            "{ \"gain\": 1 }",
            "expected `(name: value)`, found a map",
            "fixed fields stand in `( )` without quotes",
        ),
        ("kp: 1, inner: Inner()", "Inner", "`Inner` needs the parameter `gain`", "add `gain: …`"),
        (
            "kp: 1, inner: Outer(gain: 1)",
            "Outer",
            "expected `Inner(…)` or `(…)`, found `Outer`",
            "",
        ),
        (
            "kp: 1, tensor: [[1], [1, 2]]",
            "[[1], [1, 2]]",
            "expected a row of 1 as in the first row, found a row of 2 in row 1",
            "",
        ),
    ];
    for (fields, place, message, hint) in table {
        let kd = if fields.contains("kd:") { "" } else { ", kd: 1" };
        let name = if fields.contains("name:") { "" } else { ", name: \"n\"" };
        let text = format!("JointPd({fields}{kd}{name})");
        let found = mistakes(&text);
        assert_eq!(found.len(), 1, "{text}: {found:#?}");
        assert_eq!((found[0].0.as_str(), found[0].1.as_str()), (place, message), "{text}");
        assert!(hint.is_empty() || found[0].2 == hint, "{text}: {}", found[0].2);
    }
}

#[test]
fn all_mistakes_of_a_block_come_together() {
    let found =
        mistakes("JointPd(kpp: 1, kd: \"x\", list: [1, \"y\", \"z\"], mode: Hold(max: -1))");
    let messages: Vec<&str> = found.iter().map(|(_, message, _)| message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "`JointPd` needs the parameter `name`",
            "`JointPd` has no parameter `kpp`",
            "expected a number, found text \"x\"",
            "expected a number, found text \"y\"",
            "expected a number, found text \"z\"",
            "expected u32, found integer `-1`",
        ]
    );
    let found = mistakes("JointPd()");
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(found.iter().all(|(place, ..)| place == "JointPd"));
}

/// A formula keeps its place in the file through serde.
#[test]
fn formulas_report_mistakes_in_the_file() {
    let text = r#"JointPd(kp: 1, kd: 1, name: "n", that: "=\"x +")"#;
    let pd: JointPd = read(text).unwrap();
    let error = pd.that.unwrap().parse().unwrap_err();
    let span = error.primary.span;
    assert_eq!(&text[span.start as usize..span.end as usize], "\\\"");
}
