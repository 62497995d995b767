//! One unknown of a loop, solved by a change of sign of its own residual.

use super::seek::{Equations, Outcome, Seeker};

/// Exponents of the distances from the start that are tried, each twice the previous one: from 2⁻¹⁰
/// of the first one on.
const NEAR: i32 = -10;
const FAR: i32 = 40;

/// Number of further distances, each 16 times the previous one.
const FARTHER: i32 = 16;

/// Largest number of evaluations that narrow one change of sign. Bisection over the floating-point
/// numbers ends after 64, and every second evaluation is one.
const MOST_NARROWINGS: u32 = 140;

/// Residual `i` over unknown `i`; the other unknowns are fixed at `seeker.z`.
pub(super) struct Line<'a, E> {
    pub(super) seeker: &'a mut Seeker,
    pub(super) equations: &'a mut E,
    pub(super) i: usize,
}

/// An unknown and its residual.
type Point = (f64, f64);

impl<E: Equations> Line<'_, E> {
    /// Residual at `z`: it may be infinite, and is NaN if it cannot be computed.
    fn at(&mut self, z: f64) -> Result<f64, E::Stop> {
        self.seeker.trial.copy_from_slice(&self.seeker.z);
        self.seeker.trial[self.i] = z;
        self.seeker.iterations += 1;
        // An infinite residual still has a sign.
        if self.seeker.evaluate(self.equations)? {
            self.seeker.keep_best_trial();
        }
        Ok(self.seeker.trial_r[self.i])
    }

    /// Searches for a change of sign around the start, then around zero, nearest first, and narrows
    /// it. Returns the value from which the solver continues.
    pub(super) fn seek(&mut self, start: Point) -> Result<(f64, Outcome), E::Stop> {
        let (near, is_flat) = self.look_around(start)?;
        if near.1 == Outcome::Solved {
            return Ok(near);
        }
        let (far, all_flat) = match start.0 == 0.0 {
            true => (near, is_flat),
            false => {
                let zero = (0.0, self.at(0.0)?);
                self.look_around(zero)?
            }
        };
        if far.1 == Outcome::Solved || (is_flat && all_flat) {
            // If r is zero at all tested values, every number is a solution.
            let found = if far.1 == Outcome::Solved { far.0 } else { start.0 };
            return Ok((found, Outcome::Solved));
        }
        Ok(if near.1 == Outcome::NotFound { (start.0, far.1) } else { near })
    }

    /// Searches around `start`; the flag is true if r was zero at all tested values.
    fn look_around(&mut self, start: Point) -> Result<((f64, Outcome), bool), E::Stop> {
        let (z, r) = start;
        let size = 1e-3 * z.abs();
        let width = match r.abs() {
            r if r > 0.0 && r.is_finite() => r.max(size),
            _ => size.max(1.0),
        };
        // u lies in this direction; a bounded u is reached there.
        let ahead = if r < 0.0 { -1.0 } else { 1.0 };
        let mut jump = None;
        let mut zero = (r == 0.0).then_some(z);
        let mut is_flat = r == 0.0;
        // The last value with a sign on each side, the side ahead first.
        let mut last = [start, start];
        let far = (1..=FARTHER).map(|k| FAR + 4 * k);
        for power in (NEAR..=FAR).chain(far) {
            for (side, direction) in [(0, ahead), (1, -ahead)] {
                let place = z + direction * width * libm::exp2(f64::from(power));
                let found = (place, if place.is_finite() { self.at(place)? } else { f64::NAN });
                is_flat &= found.1 == 0.0;
                if found.1 == 0.0 {
                    zero = zero.or(Some(place));
                }
                if found.1 == 0.0 || found.1.is_nan() {
                    continue;
                }
                let mut before = std::mem::replace(&mut last[side], found);
                if before.1.is_nan() || before.1 == 0.0 {
                    // From a start without a sign, both sides make one interval.
                    before = last[1 - side];
                }
                if before.1 * found.1 < 0.0 {
                    let zero = zero.filter(|zero| (before.0 - zero) * (found.0 - zero) < 0.0);
                    let narrowed = match zero {
                        Some(zero) => (zero, Outcome::Solved),
                        None => self.narrow(before, found)?,
                    };
                    if narrowed.1 == Outcome::Solved {
                        return Ok((narrowed, false));
                    }
                    jump = jump.or(Some(narrowed));
                }
            }
        }
        Ok((jump.unwrap_or((z, Outcome::NotFound)), is_flat))
    }

    /// Narrows a change of sign to a root or to two adjacent floating-point numbers.
    fn narrow(&mut self, a: Point, b: Point) -> Result<(f64, Outcome), E::Stop> {
        let tolerance = self.seeker.tolerance;
        let (mut a, mut b) = (a, b);
        // Weights of the secant: an end that does not move is halved (Illinois).
        let (mut weight_a, mut weight_b) = (1.0, 1.0);
        for round in 0..MOST_NARROWINGS {
            let (z, r) = if a.1.abs() <= b.1.abs() { a } else { b };
            let size = z.abs().max((z + r).abs());
            if r == 0.0 || (r.abs() <= tolerance * size && (b.0 - a.0).abs() <= tolerance * size) {
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
        if r.abs() <= tolerance * (1.0 + z.abs()) {
            return Ok((z, Outcome::Solved));
        }
        let (left, right) = if a.0 < b.0 { (a, b) } else { (b, a) };
        Ok((z, Outcome::Jumps { at: z, sides: (left.1, right.1) }))
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
