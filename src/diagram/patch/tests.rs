//! What an override keeps of what it replaces.
#![allow(clippy::unwrap_used, reason = "tests state what must hold")]

use legwork_block::{FileId, parse_unit};

use super::*;
use crate::document::parse;

const TEXT: &str = r#"Diagram(
    params: { "v": Param(value: "0.1 m/s", min: 0.0), "d": "3 cm", "n": 2, "e": "=2*d",
        "m": "2 kg", "x": ["1 m", "2 m"] },
    blocks: { "b": Constant(value: "1 kg") },
)"#;

/// The unit of what is written at a name once `value` is.
fn unit_of(name: &str, values: &[&str]) -> Option<Unit> {
    let mut document = parse(FileId(0), TEXT.as_bytes()).unwrap();
    let mut diagnostics = Diagnostics::default();
    let place = Place::from(document.span);
    for value in values {
        let value = parse(FileId(0), value.as_bytes()).unwrap();
        set(&mut document, name, &place, &value, &mut diagnostics);
    }
    assert!(diagnostics.is_empty());
    let (section, entry) = name.split_once('.').unwrap_or(("params", name));
    let found = match section {
        "params" => document.field("params").unwrap().entry(entry).unwrap(),
        block => document.field("blocks").unwrap().entry(block).unwrap().field(entry).unwrap(),
    };
    written_unit(found.field("value").unwrap_or(found))
}

#[test]
fn zero_keeps_the_unit_of_what_it_replaces() {
    let unit = |text: &str| Some(parse_unit(text).unwrap().0);
    for (name, kept) in [("v", "m/s"), ("d", "m"), ("b.value", "kg")] {
        assert_eq!(unit_of(name, &["0"]), unit(kept), "{name}");
        assert_eq!(unit_of(name, &["0", "0.0"]), unit(kept), "{name} twice");
        assert_eq!(unit_of(name, &["\"0 s\""]), unit("s"), "{name} has its own");
    }
    assert_eq!(unit_of("n", &["0"]), None);
    assert_eq!(unit_of("e", &["0"]), None);
}

#[test]
fn a_bare_number_has_the_unit_of_the_parameter_that_it_replaces() {
    let unit = |text: &str| Some(parse_unit(text).unwrap().0);
    assert_eq!(unit_of("m", &["5"]), unit("kg"));
    assert_eq!(unit_of("params.m", &["-1.5", "7"]), unit("kg"));
    assert_eq!(unit_of("m", &["\"3 s\""]), unit("s"));
    assert_eq!(unit_of("n", &["5"]), None);
    // A declared unit is given where the value is read, a block's by its place.
    assert_eq!(unit_of("v", &["5"]), None);
    assert_eq!(unit_of("b.value", &["5"]), None);

    let set_to = |name: &str, value: &str| {
        let mut document = parse(FileId(0), TEXT.as_bytes()).unwrap();
        let value = parse(FileId(0), value.as_bytes()).unwrap();
        let place = Place::from(document.span);
        let mut diagnostics = Diagnostics::default();
        set(&mut document, name, &place, &value, &mut diagnostics);
        let codes: Vec<_> = diagnostics.iter().map(|found| found.code.name()).collect();
        (document.field("params").unwrap().entry(name).unwrap().clone(), codes)
    };
    let (_, codes) = set_to("d", "5");
    assert_eq!(codes, ["missing-unit"]);
    let (list, codes) = set_to("x", "[3, 0, \"4 cm\"]");
    assert!(codes.is_empty());
    let units: Vec<_> = list.list().unwrap().iter().map(written_unit).collect();
    assert_eq!(units, [unit("m"), None, unit("m")]);
}
