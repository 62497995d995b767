//! Narrows an interval of one unknown to a root: a change of sign, or a minimum of the residual's
//! size that touches zero.

use super::line::{Found, Line, Point};
use super::seek::{Equations, Outcome};

/// Largest number of evaluations that narrow one change of sign. Bisection over the floating-point
/// numbers ends after 64, and every second evaluation is one.
const MOST_NARROWINGS: u32 = 140;

/// Half the width over which the residual of a continuous function grows, relative to 1 + |z|,
/// and the least growth from the width of two adjacent floating-point numbers.
const WIDE: f64 = 256.0 * f64::EPSILON;
const GROWTH: f64 = 4.0;

/// Largest number of evaluations that follow one minimum.
const MOST_DESCENTS: u32 = 160;

/// Relative difference of the residuals around a minimum below which it stays above zero.
const LEVEL: f64 = 1e-3;

/// Least distance of a trial from the lowest value, relative to the interval.
const NUDGE: f64 = 1e-3;

/// Share of an interval at which the golden section divides it.
const GOLDEN: f64 = 0.381_966_011_250_105_1;

/// Growth of the residual around a minimum that touches zero. Oscillations grow less.
const RISE: f64 = 16.0;

/// Rounding of a residual, and the least residual that shows growth, relative to 1 + |z|.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
const VISIBLE: f64 = RISE * ROUNDING;

/// Distances from a minimum at which its residual has grown, relative to 1 + |z|: in units of √tol,
/// and for a residual at the level of rounding.
const STEEP: f64 = 4.0;
const FLAT: f64 = 1e-2;

impl<E: Equations> Line<'_, E> {
    /// Narrows a change of sign to a root or to two adjacent floating-point numbers.
    pub(super) fn narrow(&mut self, a: Point, b: Point) -> Result<Found, E::Stop> {
        let tolerance = self.seeker.tolerance;
        let (mut a, mut b) = (a, b);
        // Weights of the secant: an end that does not move is halved (Illinois).
        let (mut weight_a, mut weight_b) = (1.0, 1.0);
        for round in 0..MOST_NARROWINGS {
            let (z, r) = if a.1.abs() <= b.1.abs() { a } else { b };
            let size = z.abs().max((z + r).abs());
            let is_close = r.abs() <= tolerance * size && (b.0 - a.0).abs() <= tolerance * size;
            if r == 0.0 || (r.is_finite() && is_close) {
                return Ok((z, Outcome::Solved));
            }
            let middle = between(a.0, b.0);
            if middle == a.0 || middle == b.0 {
                break;
            }
            let (ra, rb) = (weight_a * a.1, weight_b * b.1);
            let secant = a.0 + (b.0 - a.0) * (ra / (ra - rb));
            let inside = (secant - a.0) * (secant - b.0) < 0.0;
            let place = if round % 2 == 0 && inside { secant } else { middle };
            let mut found = (place, self.at(place)?);
            if found.1.is_nan() && place != middle {
                found = (middle, self.at(middle)?);
            }
            if found.1.is_nan() {
                return Ok((z, Outcome::NotFound));
            }
            if found.1 == 0.0 {
                return Ok((found.0, Outcome::Solved));
            }
            if found.1 * a.1 > 0.0 {
                (a, weight_a) = (found, 1.0);
                weight_b *= 0.5;
            } else {
                (b, weight_b) = (found, 1.0);
                weight_a *= 0.5;
            }
        }
        let (z, r) = if a.1.abs() <= b.1.abs() { a } else { b };
        let (left, right) = if a.0 < b.0 { (a, b) } else { (b, a) };
        if r.abs() <= tolerance * (1.0 + z.abs()) || self.is_continuous(left, right)? {
            return Ok((z, Outcome::Solved));
        }
        Ok((z, Outcome::Jumps { at: z, sides: (left.1, right.1) }))
    }

    /// True if the residual between two adjacent floating-point numbers is small because they are:
    /// its spread grows with the width around them. The spread of a jump stays.
    fn is_continuous(&mut self, left: Point, right: Point) -> Result<bool, E::Stop> {
        let width = WIDE * (1.0 + left.0.abs().max(right.0.abs()));
        let below = self.at(left.0 - width)?;
        let above = self.at(right.0 + width)?;
        Ok((above - below).abs() >= GROWTH * (right.1 - left.1).abs())
    }

    /// Follows a minimum of the residual's size, which has one sign at three values in order:
    /// parabolas, and the golden section where they do not advance.
    pub(super) fn descend(&mut self, [mut a, mut b, mut c]: [Point; 3]) -> Result<Found, E::Stop> {
        let sign = 1.0_f64.copysign(b.1);
        for round in 0..MOST_DESCENTS {
            let size = 1.0 + b.0.abs();
            let rise = (a.1.abs() - b.1.abs()).max(c.1.abs() - b.1.abs());
            let is_level = rise <= LEVEL * b.1.abs() && b.1.abs() > self.seeker.tolerance * size;
            // Closer than this a smooth minimum is only rounding; a kink is not.
            let width = (c.0 - a.0).abs();
            let is_smooth = width <= f64::EPSILON.sqrt() * size && rise <= VISIBLE * size;
            if is_level || is_smooth || width <= ROUNDING * size || b.1 == 0.0 {
                break;
            }
            let (to_a, to_c) = (a.0 - b.0, c.0 - b.0);
            let (slope_a, slope_c) = (sign * (a.1 - b.1) / to_a, sign * (c.1 - b.1) / to_c);
            let bend = (slope_c - slope_a) / (to_c - to_a);
            let vertex = b.0 - 0.5 * (slope_a - bend * to_a) / bend;
            let longer = if to_a.abs() > to_c.abs() { a.0 } else { c.0 };
            let golden = b.0 + GOLDEN * (longer - b.0);
            // Where b is the vertex, both ends are drawn to it.
            let nudge = NUDGE * width;
            let vertex = if (vertex - b.0).abs() < nudge {
                b.0 + nudge.copysign(longer - b.0)
            } else {
                vertex
            };
            let is_inside = (vertex - a.0) * (vertex - c.0) < 0.0;
            let place = if round % 2 == 0 && is_inside { vertex } else { golden };
            let mut found = (place, self.at(place)?);
            if found.1.is_nan() {
                found.1 = sign * f64::INFINITY;
            }
            if found.1 * sign < 0.0 {
                return self.narrow(b, found);
            }
            let is_on_side_of_c = (place - b.0) * to_c > 0.0;
            if found.1.abs() <= b.1.abs() {
                if is_on_side_of_c {
                    a = b;
                } else {
                    c = b;
                }
                b = found;
            } else if is_on_side_of_c {
                c = found;
            } else {
                a = found;
            }
        }
        let touches = self.touches(b)?;
        Ok((b.0, if touches { Outcome::Solved } else { Outcome::NotFound }))
    }

    /// True if the residual at a minimum of its size is zero to the tolerance: it is small, and it
    /// grows on both sides. Without the growth it may be small only far from any root.
    pub(super) fn touches(&mut self, (z, r): Point) -> Result<bool, E::Stop> {
        let tolerance = self.seeker.tolerance;
        let size = 1.0 + z.abs();
        if r.is_nan() || r.abs() > tolerance * size {
            return Ok(false);
        }
        let is_rounding = r.abs() <= ROUNDING * size;
        let distances = [STEEP * tolerance.sqrt(), FLAT];
        for distance in &distances[..if is_rounding { 2 } else { 1 }] {
            let (left, right) = (self.at(z - distance * size)?, self.at(z + distance * size)?);
            let least = (RISE * r.abs()).max(VISIBLE * size);
            if left.abs() >= least && right.abs() >= least && left * right > 0.0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The middle of all floating-point numbers between two.
fn between(a: f64, b: f64) -> f64 {
    let (a, b) = (ordered(a), ordered(b));
    let middle = (a & b) + ((a ^ b) >> 1);
    let bits = if middle < 0 { i64::MIN - middle } else { middle };
    f64::from_bits(bits as u64)
}

/// Integers in the order of the floating-point numbers; both zeros are 0.
fn ordered(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
}
