//! Units in headers of tables, in the spellings of other programs.

use legwork_block::{Scale, Unit, nearest, parse_quantity, parse_unit};

/// A unit that a header states.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnUnit {
    /// The unit, in SI base units.
    pub unit: Unit,
    scale: Scale,
    /// Text of the unit for [`parse_unit`]; empty if it has no dimension and no scale.
    spelling: String,
    /// The unit as written in the header.
    pub written: String,
}

impl ColumnUnit {
    /// Reads a unit in the spellings of headers: `ms`, `N·m`, `Nm`, `m/s2`, `deg/sec`, `-`.
    ///
    /// # Errors
    /// A message with the nearest known unit.
    pub fn parse(text: &str) -> Result<Self, String> {
        let written = text.trim();
        if WITHOUT_DIMENSION.contains(&written) {
            let (unit, scale, spelling) = (Unit::ONE, Scale::ONE, String::new());
            return Ok(Self { unit, scale, spelling, written: "1".to_owned() });
        }
        let read = |spelling: &str| {
            let (unit, scale) = parse_unit(spelling)?;
            Ok(Self { unit, scale, spelling: spelling.to_owned(), written: written.to_owned() })
        };
        read(written).or_else(|error: legwork_block::UnitError| {
            read(&respelled(written)).map_err(|_| match other_unit(written) {
                Some(value) => format!("unknown unit `{written}`; {value}"),
                None => error.to_string(),
            })
        })
    }

    /// The number of a cell in SI base units.
    pub(super) fn value(&self, cell: &str) -> Option<f64> {
        if self.scale == Scale::ONE {
            // A number in SI base units is read as written.
            return cell.parse().ok();
        }
        parse_quantity(&format!("{cell} {}", self.spelling)).ok().map(|(value, _)| value)
    }

    /// True if numbers in this unit are numbers in SI base units.
    pub fn is_base(&self) -> bool {
        self.scale == Scale::ONE
    }

    /// Unit of the values after conversion, as text.
    pub fn base_text(&self) -> String {
        if self.is_base() { self.written.clone() } else { self.unit.to_string() }
    }
}

/// Spellings of the unit one.
const WITHOUT_DIMENSION: [&str; 9] = ["", "-", "–", "—", "−", "1", "none", "unitless", "n/a"];

/// Units that are not SI, with their values.
const OTHERS: [(&str, &str); 24] = [
    ("kgf", "1 kgf is 9.80665 N"),
    ("kp", "1 kp is 9.80665 N"),
    ("lbf", "1 lbf is 4.4482216152605 N"),
    ("lb", "1 lb is 0.45359237 kg"),
    ("lbs", "1 lb is 0.45359237 kg"),
    ("oz", "1 oz is 0.028349523125 kg"),
    ("in", "1 in is 25.4 mm"),
    ("inch", "1 inch is 25.4 mm"),
    ("ft", "1 ft is 0.3048 m"),
    ("psi", "1 psi is 6894.757293168 Pa"),
    ("atm", "1 atm is 101325 Pa"),
    ("mmHg", "1 mmHg is 133.322387415 Pa"),
    ("hp", "1 hp is 745.69987158227 W"),
    ("cal", "1 cal is 4.184 J"),
    ("mph", "1 mph is 0.44704 m/s"),
    ("°C", "add 273.15 to the numbers and write `[K]`"),
    ("degC", "add 273.15 to the numbers and write `[K]`"),
    ("°F", "convert the numbers and write `[K]`"),
    ("degF", "convert the numbers and write `[K]`"),
    ("frames", "divide the numbers by the rate of frames and write `[s]`"),
    ("samples", "divide the numbers by the rate of samples and write `[s]`"),
    ("ticks", "divide the numbers by the rate of ticks and write `[s]`"),
    ("counts", "convert the numbers to a unit, or write `[1]`"),
    ("px", "convert the numbers to metres, or write `[1]`"),
];

/// Value of a unit that is not SI.
fn other_unit(text: &str) -> Option<&'static str> {
    OTHERS.iter().find(|(name, _)| *name == text).map(|(_, value)| *value)
}

/// True if a text probably means a unit, although the unit is not known.
pub(super) fn resembles_a_unit(text: &str) -> bool {
    let names = || legwork_block::named_units().map(|unit| unit.name);
    other_unit(text).is_some() || nearest(text, names()).is_some()
}

/// Words and products of units, with their spelling here. Words are compared without case.
const SPELLINGS: [(&str, &[&str]); 43] = [
    ("s", &["sec", "secs", "second", "seconds"]),
    ("ms", &["msec", "msecs", "millis", "millisec", "millisecond", "milliseconds"]),
    ("us", &["usec", "usecs", "µsec", "μsec", "microsecond", "microseconds"]),
    ("ns", &["nsec", "nsecs", "nanos", "nanosecond", "nanoseconds"]),
    ("min", &["mins", "minute", "minutes"]),
    ("h", &["hr", "hrs", "hour", "hours"]),
    ("m", &["meter", "meters", "metre", "metres"]),
    ("mm", &["millimeter", "millimeters", "millimetre", "millimetres"]),
    ("cm", &["centimeter", "centimeters", "centimetre", "centimetres"]),
    ("um", &["micron", "microns", "micrometer", "micrometers", "micrometre", "micrometres"]),
    ("km", &["kilometer", "kilometers", "kilometre", "kilometres"]),
    ("N", &["newton", "newtons"]),
    ("kN", &["kilonewton", "kilonewtons"]),
    ("N*m", &["Nm", "newtonmeter", "newtonmeters"]),
    ("mN*m", &["mNm"]),
    ("kN*m", &["kNm"]),
    ("N*mm", &["Nmm"]),
    ("N*cm", &["Ncm"]),
    ("N*m*s", &["Nms"]),
    ("N*s", &["Ns"]),
    ("A*s", &["As"]),
    ("A*h", &["Ah"]),
    ("mA*h", &["mAh"]),
    ("W*h", &["Wh"]),
    ("kW*h", &["kWh"]),
    ("Pa*s", &["Pas"]),
    ("deg", &["degs", "degree", "degrees"]),
    ("rad", &["rads", "radian", "radians"]),
    ("rev", &["revs", "revolution", "revolutions", "turns"]),
    ("(deg/s)", &["dps"]),
    ("(m/s)", &["mps"]),
    ("(km/h)", &["kph", "kmh"]),
    ("(rev/s)", &["rps"]),
    ("kg", &["kgs", "kilogram", "kilograms"]),
    ("g", &["gram", "grams"]),
    ("V", &["volt", "volts"]),
    ("A", &["amp", "amps", "ampere", "amperes"]),
    ("W", &["watt", "watts"]),
    ("J", &["joule", "joules"]),
    ("Hz", &["hertz"]),
    ("Pa", &["pascal", "pascals"]),
    ("K", &["kelvin"]),
    ("%", &["percent", "pct"]),
];

/// Spelling here of one word of a unit.
fn respelled_word(word: &str) -> String {
    if word == "per" {
        return "/".to_owned();
    }
    if parse_unit(word).is_ok() {
        return word.to_owned();
    }
    let lower = word.to_lowercase();
    let is_it = |other: &&str| match other.chars().any(char::is_uppercase) {
        true => *other == word,
        false => *other == lower,
    };
    if let Some((unit, _)) = SPELLINGS.iter().find(|(_, words)| words.iter().any(is_it)) {
        return (*unit).to_owned();
    }
    // `RPM` and `DEG`, but not `M` or `S`.
    if lower.chars().count() >= 3 && parse_unit(&lower).is_ok() { lower } else { word.to_owned() }
}

/// The digit of a superscript.
fn superscript(c: char) -> Option<char> {
    "⁰¹²³⁴⁵⁶⁷⁸⁹"
        .chars()
        .position(|other| other == c)
        .and_then(|digit| char::from_digit(digit as u32, 10))
}

/// A unit in the spelling of this project, with its powers and products: `m/s2` is `m/s^2`.
fn respelled(text: &str) -> String {
    let chars: Vec<char> = text.trim().replace("**", "^").chars().collect();
    let mut out = String::new();
    let (mut at, mut after_word) = (0, false);
    let digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    while let Some(&c) = chars.get(at) {
        let is_letter = |c: &char| c.is_alphabetic() || "°µΩ%".contains(*c);
        if is_letter(&c) && superscript(c).is_none() {
            let word: String = chars[at..].iter().take_while(|c| is_letter(c)).collect();
            at += word.chars().count();
            out.push_str(&respelled_word(&word));
            after_word = true;
            continue;
        }
        let is_power = digit(at) || matches!(c, '-' | '−' | '+') && digit(at + 1);
        match c {
            _ if after_word && is_power => {
                out.push('^');
                out.push(if c == '−' { '-' } else { c });
            }
            '⁻' => out.push_str("^-"),
            _ if superscript(c).is_some() => {
                if !out.ends_with("^-") && !chars[..at].last().is_some_and(|c| is_power_digit(*c)) {
                    out.push('^');
                }
                out.extend(superscript(c));
            }
            '⋅' | '∙' | '•' | '×' | '·' => out.push('*'),
            '.' | '-' if after_word && chars.get(at + 1).is_some_and(is_letter) => out.push('*'),
            _ => out.push(c),
        }
        after_word = false;
        at += 1;
    }
    out
}

fn is_power_digit(c: char) -> bool {
    superscript(c).is_some()
}
