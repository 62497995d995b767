#![allow(clippy::unwrap_used, reason = "tests state what must hold")]

use std::f64::consts::PI;

use super::*;

fn unit(text: &str) -> Unit {
    parse_unit(text).unwrap().0
}

#[test]
fn quantities_read_as_the_nearest_double_of_their_si_value() {
    let table = [
        ("60 N*m/rad", 60.0, "N*m/rad"),
        ("5 cm", 0.05, "m"),
        ("1e-3 s", 1e-3, "s"),
        ("-0.5 m/s", -0.5, "m/s"),
        ("250 us", 2.5e-4, "s"),
        ("9 ms", 0.009, "s"),
        ("200Hz", 200.0, "Hz"),
        ("60 rpm", 2.0 * PI, "rad/s"),
        ("180 deg", PI, "rad"),
        ("3 mm^2", 3e-6, "m^2"),
        ("2 kN/m^1.5", 2000.0, "N/m^(3/2)"),
        ("1.5 N m s/rad", 1.5, "N*m*s/rad"),
        ("2 min", 120.0, "s"),
        ("70 %", 0.7, "1"),
        ("4 kg·m²", 4.0, "kg*m^2"),
        ("1 J/(kg*K)", 1.0, "m^2/K/s^2"),
        (".5e1 g", 0.005, "kg"),
    ];
    for (text, value, canonical) in table {
        let (found, found_unit) = parse_quantity(text).unwrap();
        assert!((found - value).abs() <= 1e-15 * value.abs(), "{text}: {found}");
        assert_eq!(found_unit.unwrap().to_string(), canonical, "{text}");
    }
    assert_eq!(parse_quantity("5 cm").unwrap().0, 0.05);
    assert_eq!(parse_quantity("5").unwrap(), (5.0, None));
    assert_eq!(parse_quantity("inf N").unwrap(), (f64::INFINITY, Some(Unit::NEWTON)));
}

#[test]
fn wrong_texts_name_their_place() {
    let table = [
        ("5 foo", 2..5, "unknown unit `foo`"),
        ("5 m*", 4..4, "expected the name of a unit, found the end"),
        ("5 m/s)", 5..6, "expected `*`, `/` or the end of the unit, found `)`"),
        ("abc", 0..3, "expected a number with a unit, found \"abc\""),
        ("", 0..0, "expected a number with a unit, found \"\""),
        ("5 m^0.3", 2..7, "expected an exponent that is a multiple of 1/12"),
        ("5 m^x", 4..5, "expected a number as exponent"),
        ("1e999 m", 0..5, "the number is out of range"),
        ("5 m^999999", 2..10, "expected an exponent that is a multiple of 1/12"),
    ];
    for (text, range, message) in table {
        let error = parse_quantity(text).unwrap_err();
        assert_eq!((error.range, error.message.as_str()), (range, message), "{text}");
    }
    let deep = format!("5 {}", "(".repeat(10_000));
    assert_eq!(parse_quantity(&deep).unwrap_err().message, "the unit is nested too deeply");
}

#[test]
fn slips_in_units_are_told_what_was_meant() {
    let table = [
        ("Nm", "N*m"),
        ("Nms", "N*m*s"),
        ("kNm", "kN*m"),
        ("mAs", "mA*s"),
        ("kgm", "kg*m"),
        ("sec", "s"),
        ("seconds", "s"),
        ("Newton", "N"),
        ("ohms", "ohm"),
        ("Ohm", "ohm"),
    ];
    for (name, meant) in table {
        let hint = parse_quantity(&format!("5 {name}")).unwrap_err().hint;
        assert_eq!(hint, Some(format!("did you mean `{meant}`?")), "{name}");
    }
    for name in ["foo", "xyz", "Nq"] {
        assert!(!parse_quantity(&format!("5 {name}")).unwrap_err().message.is_empty());
    }
}

#[test]
fn units_form_a_group_and_print_as_they_read() {
    let texts = [
        "1",
        "m",
        "kg",
        "s",
        "rad",
        "Hz",
        "N",
        "N*m/rad",
        "N*m*s/rad",
        "m/s^2",
        "kg*m^2",
        "V",
        "T",
        "1/m",
        "N/m^(3/2)",
        "m^(1/12)",
        "rad/s^2",
        "1/rad",
        "N*s/m^1.5",
    ];
    for a in texts.map(unit) {
        assert_eq!(parse_unit(&a.to_string()).unwrap(), (a, Scale::ONE), "{a}");
        assert_eq!(a.over(a).unwrap(), Unit::ONE);
        assert_eq!(a.times(Unit::ONE).unwrap(), a);
        assert_eq!(a.power(2, 1).unwrap(), a.times(a).unwrap());
        for b in texts.map(unit) {
            assert_eq!(a.times(b).unwrap(), b.times(a).unwrap());
            assert_eq!(a.times(b).unwrap().over(b).unwrap(), a);
            assert_eq!(a.agrees(b), b.agrees(a));
        }
    }
    assert_eq!(Unit::METRE.power(1, 24), None);
}

#[test]
fn radians_drop_in_mechanics_but_a_frequency_is_no_angular_velocity() {
    assert!(unit("N*m").agrees(unit("kg*m^2*rad/s^2")));
    assert!(unit("N*m/rad*rad") == unit("N*m"));
    assert!(unit("rad").agrees(Unit::ONE));
    assert!(unit("m/s").agrees(unit("m*rad/s")));
    assert!(!unit("Hz").agrees(unit("rad/s")));
    assert!(!unit("s").agrees(unit("s/rad")));
    assert!(!unit("rpm").agrees(unit("Hz")));
    assert!(!unit("N").agrees(unit("N*m")));
}

#[test]
fn every_unit_with_a_name_is_read_and_has_a_word() {
    for NamedUnit { name, word, unit, scale, takes_prefixes } in named_units() {
        assert!(!word.is_empty(), "{name}");
        assert_eq!(parse_unit(name).unwrap(), (unit, scale), "{name}");
        for (prefix, tens) in unit_prefixes() {
            let whole = format!("{prefix}{name}");
            // A whole name wins over a prefix: `min` is a minute, `Pa` a pascal.
            let other = named_units().any(|unit| unit.name == whole);
            let read = parse_unit(&whole);
            if takes_prefixes && !other {
                let larger = Scale { tens: scale.tens + tens, ..scale };
                assert_eq!(read.unwrap(), (unit, larger), "{whole}");
            } else if !takes_prefixes && !other {
                assert!(read.is_err() || ["°", "%"].contains(&name), "{whole}: {read:?}");
            }
        }
    }
}

#[test]
fn what_was_divided_by_a_second_is_spelt_as_a_rate() {
    let table = [
        ("N*m/s", "N*m/s"),
        ("W", "W"),
        ("kg*m^2/s^3", "W"),
        ("N/s", "N/s"),
        ("m/s", "m/s"),
        ("1/s/s", "1/s^2"),
        ("V*A", "W"),
    ];
    for (text, spelt) in table {
        assert_eq!(unit(text).to_string(), spelt, "{text}");
        assert_eq!(unit(&unit(text).to_string()), unit(text), "{text}");
    }
    let change = Unit::NEWTON_METRE.over(Unit::SECOND).unwrap();
    assert_eq!((change.to_string().as_str(), change == Unit::WATT), ("N*m/s", true));
    for factor in [change.times(Unit::ONE), Unit::ONE.times(change), change.over(Unit::ONE)] {
        assert_eq!(factor.unwrap().to_string(), "N*m/s");
    }
    let power = Unit::NEWTON.times(Unit::METRE_PER_SECOND).unwrap();
    assert_eq!(power.to_string(), "W");
}

#[test]
fn radians_that_products_bring_along_are_not_written() {
    let table = [
        ("kg*m^2*rad/s^2", "N*m"),
        // As written, a change of torque and angle; a product of both is a power, below.
        ("N*m*rad/s", "N*m/s"),
        ("kg*m^2*rad/s", "N*m*s"),
        ("m*rad/s", "m/s"),
        ("N*m*s/rad", "N*m*s/rad"),
        ("V*s/rad", "V*s/rad"),
        ("rad/s", "rad/s"),
        ("rad", "rad"),
        ("1/s", "1/s"),
        ("Hz", "Hz"),
        ("kHz", "Hz"),
    ];
    for (text, written) in table {
        let (found, usual) = (unit(text), unit(text).as_written());
        assert_eq!(usual.to_string(), written, "{text}");
        assert!(usual.agrees(found), "{text}");
    }
    let power = unit("N*m").times(unit("rad/s")).unwrap();
    assert_eq!(power.as_written().to_string(), "W");
}

/// A product is written with few factors that have names; units of length and time are kept.
#[test]
fn products_are_written_in_the_units_of_the_field() {
    let table = [
        ("A^2*s^3/kg/m^2", "1/ohm"),
        ("A^3*s^3/kg/m^2/rad", "A/ohm/rad"),
        ("kg^2*m^2/s^4", "N^2"),
        ("kg^2*m/s^2", "N*kg"),
        ("kg^2*m^2/A/s^3", "V*kg"),
        ("m/kg/s^2", "N/kg^2"),
        ("kg*m^2/A^2/s^2", "H"),
        ("A^2*s^4/kg/m^2", "F"),
        ("kg*m^2/A^2/s^4", "1/F"),
        ("A*s", "A*s"),
        ("A^2*s", "A^2*s"),
        ("m/s^2", "m/s^2"),
        ("m^2/K/s^2", "m^2/K/s^2"),
        ("kg*m^2", "kg*m^2"),
    ];
    for (text, written) in table {
        assert_eq!(unit(text).to_string(), written, "{text}");
        assert_eq!(unit(written), unit(text), "{text}");
    }
}

/// Seconds of the run and radians of inverse functions are not stated; written units are.
#[test]
fn seconds_of_the_run_are_not_stated() {
    let over = |a: Unit, b: Unit| a.over(b).unwrap();
    assert!(!Unit::RUN_SECOND.is_stated() && !Unit::RESULT_RADIAN.is_stated());
    assert!(!over(Unit::ONE, Unit::RUN_SECOND).power(3, 2).unwrap().is_stated());
    assert!(!over(Unit::RESULT_RADIAN, Unit::RUN_SECOND).is_stated());
    for text in ["s", "Hz", "rad", "rad/s", "m", "kg", "A", "K"] {
        assert!(unit(text).is_stated(), "{text}");
        assert!(over(unit(text), Unit::RUN_SECOND).is_stated(), "{text}");
    }
    assert!(!Unit::ONE.is_stated());
}

/// Hints about rates: each factor that they name is 1 in SI units.
#[test]
fn advice_on_rates_keeps_their_values() {
    use crate::quantity::turns_hint;
    let computed = unit("1/s");
    for (expected, found) in [
        (unit("rad/s"), unit("Hz")),
        (unit("Hz"), unit("rad/s")),
        (unit("rad/s"), computed),
        (computed, unit("rad/s")),
    ] {
        let hint = turns_hint(expected, found).unwrap();
        assert!(!hint.contains("pi") && !hint.contains("180"), "{hint}");
        let factor = hint.split_once("1[").map(|(_, rest)| rest.split_once(']').unwrap().0);
        assert!(factor.is_none_or(|factor| parse_unit(factor).unwrap().1 == Scale::ONE), "{hint}");
    }
    assert_eq!(turns_hint(unit("m/s"), unit("rad/s")), None);
}
