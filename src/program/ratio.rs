//! Exact time: rational seconds and the integer base that all rates share.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A rational number of seconds, in lowest terms, denominator positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ratio {
    num: i128,
    den: i128,
}

impl Ratio {
    /// Zero.
    pub const ZERO: Self = Self { num: 0, den: 1 };

    /// The whole number `n`.
    pub fn whole(n: i128) -> Self {
        Self { num: n, den: 1 }
    }

    /// `num / den` in lowest terms; `None` if `den` is zero.
    pub fn new(num: i128, den: i128) -> Option<Self> {
        if den == 0 {
            return None;
        }
        let g = gcd(num.unsigned_abs(), den.unsigned_abs()).max(1) as i128;
        let sign = if den < 0 { -1 } else { 1 };
        Some(Self { num: sign * num / g, den: sign * den / g })
    }

    /// The decimal that is written for `value` with the fewest digits: 0.001 is 1/1000 exactly.
    /// `None` for a value that is not finite, or has more digits than 128 bits hold.
    pub fn from_decimal(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e')?;
        let exponent: i32 = exponent.parse().ok()?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let power = exponent - fraction.len() as i32;
        let scale = 10i128.checked_pow(power.unsigned_abs())?;
        if power >= 0 { Self::new(digits.checked_mul(scale)?, 1) } else { Self::new(digits, scale) }
    }

    /// The numerator in lowest terms.
    pub fn numerator(self) -> i128 {
        self.num
    }

    /// The denominator in lowest terms, positive.
    pub fn denominator(self) -> i128 {
        self.den
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }

    /// Whether it is above zero.
    pub fn is_positive(self) -> bool {
        self.num > 0
    }

    /// Whether it is below zero.
    pub fn is_negative(self) -> bool {
        self.num < 0
    }

    /// `self / other` if that is a whole number.
    pub fn whole_multiple_of(self, other: Self) -> Option<i128> {
        if other.num == 0 {
            return None;
        }
        let num = self.num.checked_mul(other.den)?;
        let den = self.den.checked_mul(other.num)?;
        (num % den == 0).then_some(num / den)
    }

    /// `self · other`; `None` if it overflows.
    pub fn times(self, other: Self) -> Option<Self> {
        Self::new(self.num.checked_mul(other.num)?, self.den.checked_mul(other.den)?)
    }

    /// `1 / self`; `None` for zero.
    pub fn inverse(self) -> Option<Self> {
        Self::new(self.den, self.num)
    }

    /// `self − other`; `None` if it overflows.
    pub fn minus(self, other: Self) -> Option<Self> {
        let a = self.num.checked_mul(other.den)?;
        let b = other.num.checked_mul(self.den)?;
        Self::new(a.checked_sub(b)?, self.den.checked_mul(other.den)?)
    }

    /// The largest rational that both are whole multiples of; zero counts as a multiple of all.
    pub fn gcd(self, other: Self) -> Option<Self> {
        let den = lcm(self.den, other.den)?;
        let a = self.num.checked_mul(den / self.den)?;
        let b = other.num.checked_mul(den / other.den)?;
        Self::new(gcd(a.unsigned_abs(), b.unsigned_abs()) as i128, den)
    }

    /// `self · k` as nanoseconds, rounded to the nearest.
    pub fn nanoseconds(self, k: u64) -> u64 {
        // Where all fits into 64 bits, as it nearly always does, so that no division is of 128.
        if let (Some(num), Ok(den)) = (self.short_times(k), u64::try_from(self.den))
            && let Some(num) = num.checked_mul(1_000_000_000)
            && let Some(num) = num.checked_add(den / 2)
        {
            return num / den;
        }
        let num = self.num.saturating_mul(i128::from(k)).saturating_mul(1_000_000_000);
        u64::try_from(num.saturating_add(self.den / 2) / self.den).unwrap_or(u64::MAX)
    }

    /// The time of tick `k` of this base [s]: one rounding, nothing accumulated.
    pub fn at(self, k: u64) -> f64 {
        if let (Some(num), Ok(den)) = (self.short_times(k), u64::try_from(self.den)) {
            return num as f64 / den as f64;
        }
        let num = self.num * i128::from(k);
        num as f64 / self.den as f64
    }

    /// The numerator of `self · k` over the same denominator, if it is a whole number of 64 bits.
    #[inline]
    fn short_times(self, k: u64) -> Option<u64> {
        u64::try_from(self.num).ok()?.checked_mul(k)
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (self.num.checked_mul(other.den), other.num.checked_mul(self.den)) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => self.to_f64().total_cmp(&other.to_f64()),
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = self.to_f64();
        for (scale, unit) in [(1.0, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")] {
            let value = s * scale;
            if value.abs() >= 1.0 || s == 0.0 || unit == "ns" {
                // Twelve digits hide the rounding of the scale.
                let text = format!("{value:.9}");
                let text = text.trim_end_matches('0').trim_end_matches('.');
                return write!(f, "{text} {unit}");
            }
        }
        Ok(())
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn lcm(a: i128, b: i128) -> Option<i128> {
    let g = gcd(a.unsigned_abs(), b.unsigned_abs()).max(1) as i128;
    (a / g).checked_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_and_share_an_exact_base() {
        let ms = Ratio::from_decimal(0.001).unwrap();
        assert_eq!(ms, Ratio::new(1, 1000).unwrap());
        let third = Ratio::from_decimal(0.0025).unwrap();
        assert_eq!(ms.gcd(third).unwrap(), Ratio::new(1, 2000).unwrap());
        assert_eq!(Ratio::from_decimal(0.03).unwrap().whole_multiple_of(ms), Some(30));
        assert_eq!(Ratio::from_decimal(0.0015).unwrap().whole_multiple_of(ms), None);
        assert_eq!(ms.at(3000), 3.0);
        assert_eq!(ms.nanoseconds(418), 418_000_000);
        assert_eq!(Ratio::from_decimal(3.0).unwrap(), Ratio::new(3, 1).unwrap());
        assert_eq!(Ratio::from_decimal(1e-3).unwrap().to_string(), "1 ms");
    }
}
