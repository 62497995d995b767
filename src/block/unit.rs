//! Physical units as exponents of base dimensions.
//!
//! Every value inside the program is in SI base units, so a [`Unit`] holds no scale: the scale of
//! `ms` or `deg` is applied where text is read ([`parse_unit`], [`parse_quantity`]).
//!
//! # The radian
//! The radian is tracked like a base dimension, so that `Hz` (1/s) never becomes `rad/s` by itself.
//! Mechanics drops and adds radians freely (torque = inertia × rad/s², arc = radius × rad), so
//! [`Unit::agrees`] says: two units that differ only in their power of rad agree, *except* when
//! they are pure powers of time. Hence `N*m` agrees with `kg*m^2*rad/s^2`, a bare ratio agrees with
//! `rad`, but `Hz` does not agree with `rad/s`, nor `s` with `s/rad`.
//!
//! A pure power of time that was *computed* from quantities of mechanics, or from several angles, is
//! not known to count turns or radians: `(m/s)/m`, `(N*m)/(kg*m^2)` and the `rad * rad/s` of an
//! amplitude times an angular frequency are angular rates as often as not. Such a unit is *loose*
//! and agrees with both; only what is written as `Hz`, or made of nothing but times and
//! frequencies, is refused where rad/s is expected.

mod parse;
mod spelling;
mod symbolic;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use parse::{
    NamedUnit, Scale, UnitError, named_units, parse_quantity, parse_unit, unit_as_written,
    unit_prefixes,
};
pub use symbolic::SymbolicUnit;

/// Exponents are held in twelfths: halves, thirds, quarters and sixths are exact.
const DENOMINATOR: i16 = 12;

/// Names of the base dimensions in the order of the exponents.
const BASE: [&str; 6] = ["kg", "m", "A", "K", "rad", "s"];

/// A physical unit: exponents of kilogram, metre, ampere, kelvin, radian and second.
///
/// Exponents are multiples of 1/12, so that `N/m^(3/2)` and square roots stay exact.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unit {
    twelfths: [i16; 6],
    /// Whether its power of rad is open, since quantities of mechanics were divided on the way.
    loose: bool,
    /// Whether it was divided by a second at last: a change of N*m in a time is N*m/s, not W.
    is_rate: bool,
    /// Exponents of rad and s that the model does not state: radians of inverse trigonometric
    /// functions, seconds of derivatives and of the run's time.
    implied: [i16; 2],
    /// True if the unit is written as `Hz`, not computed.
    is_hertz: bool,
}

// Two units are equal if they measure the same. `loose` matters only to `agrees`, `is_rate` to the
// spelling, `implied` to `is_stated`.
impl PartialEq for Unit {
    fn eq(&self, other: &Self) -> bool {
        self.twelfths == other.twelfths
    }
}

impl Eq for Unit {}

impl PartialOrd for Unit {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Unit {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.twelfths.cmp(&other.twelfths)
    }
}

impl std::hash::Hash for Unit {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.twelfths.hash(state);
    }
}

impl Unit {
    /// The unit of a pure number.
    pub const ONE: Self = Self::new(0, 0, 0, 0);
    /// Metre, m.
    pub const METRE: Self = Self::new(0, 1, 0, 0);
    /// Kilogram, kg.
    pub const KILOGRAM: Self = Self::new(1, 0, 0, 0);
    /// Second, s.
    pub const SECOND: Self = Self::new(0, 0, 1, 0);
    /// Radian, rad.
    pub const RADIAN: Self = Self::new(0, 0, 0, 1);
    /// Hertz, 1/s: cycles, not radians.
    pub const HERTZ: Self = Self { is_hertz: true, ..Self::new(0, 0, -1, 0) };
    /// Metre per second, m/s.
    pub const METRE_PER_SECOND: Self = Self::new(0, 1, -1, 0);
    /// Metre per second squared, m/s².
    pub const METRE_PER_SECOND_SQUARED: Self = Self::new(0, 1, -2, 0);
    /// Radian per second, rad/s.
    pub const RADIAN_PER_SECOND: Self = Self::new(0, 0, -1, 1);
    /// Newton, N.
    pub const NEWTON: Self = Self::new(1, 1, -2, 0);
    /// Newton metre, N m (a torque or an energy).
    pub const NEWTON_METRE: Self = Self::new(1, 2, -2, 0);
    /// Watt, W.
    pub const WATT: Self = Self::new(1, 2, -3, 0);
    /// Kilogram square metre, kg m².
    pub const KILOGRAM_SQUARE_METRE: Self = Self::new(1, 2, 0, 0);
    /// Second of the run's time, from derivatives and integrals: not [stated](Self::is_stated).
    pub const RUN_SECOND: Self = Self { implied: [0, DENOMINATOR], ..Self::SECOND };
    /// Radian of the result of an inverse trigonometric function: not [stated](Self::is_stated).
    pub const RESULT_RADIAN: Self = Self { implied: [DENOMINATOR, 0], ..Self::RADIAN };

    /// The unit kg^`kilogram` m^`metre` s^`second` rad^`radian`.
    pub const fn new(kilogram: i8, metre: i8, second: i8, radian: i8) -> Self {
        Self {
            twelfths: [
                kilogram as i16 * DENOMINATOR,
                metre as i16 * DENOMINATOR,
                0,
                0,
                radian as i16 * DENOMINATOR,
                second as i16 * DENOMINATOR,
            ],
            loose: false,
            is_rate: false,
            implied: [0; 2],
            is_hertz: false,
        }
    }

    /// True if this is the unit of a pure number.
    pub fn is_one(self) -> bool {
        self == Self::ONE
    }

    /// True if the model states the unit: it consists of more than seconds of the run's time and
    /// radians of inverse functions.
    pub fn is_stated(self) -> bool {
        self.is_mechanical() || self.twelfths[4..] != self.implied
    }

    /// Whether it has a dimension other than angle and time.
    pub fn is_mechanical(self) -> bool {
        self.twelfths[..4].iter().any(|e| *e != 0)
    }

    /// Whether it is a power of time, with or without an angle.
    pub fn is_of_time(self) -> bool {
        !self.is_mechanical() && self.twelfths[5] != 0
    }

    /// Whether it measures a ratio or an angle.
    pub fn is_ratio(self) -> bool {
        !self.is_mechanical() && self.twelfths[5] == 0
    }

    /// The unit without its power of rad.
    #[must_use]
    pub fn without_angle(self) -> Self {
        let mut without = self;
        (without.twelfths[4], without.implied[0]) = (0, 0);
        without
    }

    /// True if the unit is a rate written as `Hz`, which counts turns. A rate computed from times
    /// and ratios is in 1/s.
    pub fn is_hertz(self) -> bool {
        self.is_hertz
    }

    /// The unit whose power of rad is open: that of a computed angular rate.
    #[must_use]
    pub fn loosened(self) -> Self {
        Self { loose: true, ..self }
    }

    /// The unit as a quantity of mechanics is usually written, without the radians that its factors
    /// brought along: `N*m` for kg m² times rad/s², `W` for N m times rad/s, `m/s` for m times
    /// rad/s. It [agrees](Self::agrees) with this one.
    #[must_use]
    pub fn as_written(self) -> Self {
        match self.is_mechanical() && self.twelfths[4] > 0 {
            true => self.without_angle(),
            false => self,
        }
    }

    /// The unit of the product; `None` if an exponent overflows.
    pub fn times(self, other: Self) -> Option<Self> {
        // Most factors are pure numbers.
        if other.is_plain() {
            return Some(self);
        }
        if self.is_plain() {
            return Some(other);
        }
        let is_rate = |unit: Self| unit.is_rate && unit == Self::HERTZ;
        let of_one = |a: Self, b: Self| a == Self::ONE && b.is_rate;
        let is_rate = is_rate(self) || is_rate(other) || of_one(self, other) || of_one(other, self);
        Some(Self { is_rate, ..self.combine(other, i16::checked_add)? })
    }

    /// The unit of the quotient; `None` if an exponent overflows.
    pub fn over(self, other: Self) -> Option<Self> {
        let is_rate = other == Self::SECOND || (other == Self::ONE && self.is_rate);
        Some(Self { is_rate, ..self.combine(other, i16::checked_sub)? })
    }

    /// The unit of the power `numerator / denominator`; `None` if an exponent would not be a
    /// multiple of 1/12, overflows, or the denominator is zero.
    pub fn power(self, numerator: i32, denominator: i32) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let scaled = |from: i16| {
            let product = i32::from(from).checked_mul(numerator)?;
            (product % denominator == 0).then(|| i16::try_from(product / denominator).ok())?
        };
        let mut twelfths = [0i16; 6];
        for (to, from) in twelfths.iter_mut().zip(self.twelfths).filter(|(_, from)| *from != 0) {
            *to = scaled(from)?;
        }
        let [angle, time] = self.implied;
        let implied = [scaled(angle)?, scaled(time)?];
        // The inverse of a second is what multiplies by a rate.
        let is_same = numerator == denominator;
        let is_rate = self.is_rate && is_same || self == Self::SECOND && numerator == -denominator;
        let is_hertz = self.is_hertz && is_same;
        Some(Self { twelfths, loose: self.loose, is_rate, implied, is_hertz })
    }

    /// The unit of the real power `exponent`, which must be a multiple of 1/12 (within round-off)
    /// unless the unit is one.
    pub fn real_power(self, exponent: f64) -> Option<Self> {
        if self == Self::ONE {
            return Some(self);
        }
        let twelfths = libm::round(exponent * f64::from(DENOMINATOR));
        let near = (twelfths - exponent * f64::from(DENOMINATOR)).abs() < 1e-9;
        (near && twelfths.abs() < 1e4)
            .then(|| self.power(twelfths as i32, i32::from(DENOMINATOR)))
            .flatten()
    }

    /// Whether a value of one unit may be used where the other is expected: equal, or different
    /// only in the power of rad and not a pure power of time (see the module's text).
    pub fn agrees(self, other: Self) -> bool {
        let [mut a, mut b] = [self.twelfths, other.twelfths];
        let timeless = a[5] == 0;
        (a[4], b[4]) = (0, 0);
        let open = self.is_mechanical() || timeless || self.loose || other.loose;
        self == other || (a == b && open)
    }

    /// Whether it is one, and nothing else is known of it.
    fn is_plain(self) -> bool {
        self == Self::ONE && !self.loose && !self.is_rate && self.implied == [0; 2]
    }

    fn combine(self, other: Self, f: impl Fn(i16, i16) -> Option<i16>) -> Option<Self> {
        let mut twelfths = [0i16; 6];
        for ((to, a), b) in twelfths.iter_mut().zip(self.twelfths).zip(other.twelfths) {
            *to = f(a, b)?;
        }
        let mut implied = [0i16; 2];
        for ((to, a), b) in implied.iter_mut().zip(self.implied).zip(other.implied) {
            *to = f(a, b)?;
        }
        let is_open = |unit: Self| unit.loose || unit.is_mechanical();
        let result = Self { twelfths, loose: false, is_rate: false, implied, is_hertz: false };
        let angles = self.twelfths[4] != 0 && other.twelfths[4] != 0;
        let loose = !result.is_mechanical() && (angles || is_open(self) || is_open(other));
        Some(Self { loose, ..result })
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Unit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match parse_unit(&text).map_err(serde::de::Error::custom)? {
            (unit, scale) if scale == Scale::ONE => Ok(unit),
            _ => Err(serde::de::Error::custom(format!("expected a base unit, found `{text}`"))),
        }
    }
}

#[cfg(test)]
mod tests;
