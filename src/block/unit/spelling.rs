//! Spelling of units in messages and recordings.

use std::fmt;
use std::sync::LazyLock;

use super::{BASE, DENOMINATOR, Unit, parse_unit};

/// Spellings with priority over all others.
const PREFERRED: [&str; 23] = [
    "1",
    "Hz",
    "N",
    "N*m",
    "N*m/rad",
    "N*m*s/rad",
    "N*m*s",
    "N/m",
    "N*s/m",
    "N*s",
    "N*m^2",
    "W",
    "Pa",
    "V",
    "ohm",
    "H",
    "F",
    "T",
    "N/m^(3/2)",
    "N*s/m^2",
    "N*m/A",
    "V*s/rad",
    "A*s",
];

/// Units of these spellings.
static PREFERRED_UNITS: LazyLock<Vec<(Unit, &str)>> = LazyLock::new(|| units_of(&PREFERRED));

/// Units that can be factors of a product, in the order of preference.
static FACTORS: LazyLock<Vec<(Unit, &str)>> =
    LazyLock::new(|| units_of(&["N", "V", "ohm", "W", "H", "F", "Pa", "T", "Wb"]));

fn units_of(texts: &[&'static str]) -> Vec<(Unit, &'static str)> {
    let unit = |text: &'static str| Some((parse_unit(text).ok()?.0, text));
    texts.iter().filter_map(|text| unit(text)).collect()
}

/// Powers of units that have names, and exponents of base units [1/12].
struct Product {
    named: Vec<(&'static str, i16)>,
    rest: Unit,
}

impl Product {
    /// Number of factors, with a power counted as its exponent.
    fn length(&self) -> i32 {
        let base = self.rest.twelfths.map(|e| (i32::from(e.abs()) + 11) / i32::from(DENOMINATOR));
        let named = self.named.iter().map(|(_, power)| i32::from(power.abs()));
        base.iter().sum::<i32>() + named.sum::<i32>()
    }

    fn times(&self, (unit, name): (Unit, &'static str), power: i16) -> Option<Self> {
        let rest = self.rest.over(unit.power(power.into(), 1)?)?;
        let named = self.named.iter().copied().chain([(name, power)]).collect();
        Some(Self { named, rest })
    }
}

/// The shortest product: `1/ohm` for A² s³/kg/m². Units of length and time alone are not replaced.
fn shortest(unit: Unit) -> Product {
    let plain = || Product { named: Vec::new(), rest: unit };
    let [kilogram, _, ampere, ..] = unit.twelfths;
    let mut best = plain();
    if kilogram == 0 && ampere == 0 || best.length() <= 3 {
        return best;
    }
    let factors = || FACTORS.iter().flat_map(|factor| [1, -1, 2, -2].map(|power| (*factor, power)));
    for (first, power) in factors() {
        let Some(one) = plain().times(first, power) else { continue };
        let others = factors().filter(|((_, name), _)| *name != first.1);
        let two = others.filter_map(|(second, power)| one.times(second, power));
        let mut found: Vec<Product> = two.collect();
        found.push(one);
        for product in found {
            if product.length() < best.length() {
                best = product;
            }
        }
    }
    best
}

impl fmt::Display for Unit {
    /// Canonical spelling, which [`parse_unit`] reads back with scale 1: `Hz` for a unit written
    /// so, `1/s` for a computed rate.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let preferred = |unit: Self| {
            let known = PREFERRED_UNITS.iter().find(|(known, _)| *known == unit);
            known.map(|(_, text)| *text).filter(|text| *text != "Hz" || self.is_hertz)
        };
        if self.is_rate
            && self.is_mechanical()
            && let Some(text) = self.times(Self::SECOND).and_then(preferred)
        {
            return write!(f, "{text}/s");
        }
        if let Some(text) = preferred(*self) {
            return f.write_str(text);
        }
        let factor = |(name, e): (&str, i16)| match (e / DENOMINATOR, e % DENOMINATOR) {
            (1, 0) => name.to_owned(),
            (whole, 0) => format!("{name}^{whole}"),
            _ => {
                let shared = [12, 6, 4, 3, 2].into_iter().find(|d| e % d == 0).unwrap_or(1);
                format!("{name}^({}/{})", e / shared, DENOMINATOR / shared)
            }
        };
        let product = shortest(*self);
        let named = product.named.iter().map(|(name, power)| (*name, power * DENOMINATOR));
        let base = BASE.into_iter().zip(product.rest.twelfths);
        let all: Vec<(&str, i16)> = named.chain(base).collect();
        let above: Vec<String> = all.iter().filter(|(_, e)| *e > 0).map(|it| factor(*it)).collect();
        let below = all.iter().filter(|(_, e)| *e < 0).map(|(name, e)| factor((name, -e)));
        f.write_str(&if above.is_empty() { "1".to_owned() } else { above.join("*") })?;
        below.into_iter().try_for_each(|name| write!(f, "/{name}"))
    }
}
