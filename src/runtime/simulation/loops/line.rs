//! One unknown of a loop, solved by its own residual: changes of sign, and places where the
//! residual touches zero.

use super::seek::{Equations, Outcome, Seeker};

/// Exponents of the distances from the start that are tried, each twice the previous one: from 2⁻¹⁰
/// of the first one on.
const NEAR: i32 = -10;
const FAR: i32 = 40;

/// Number of further distances, each 16 times the previous one.
const FARTHER: i32 = 16;

/// Largest number of evaluations on the way to one edge of the domain.
const MOST_EDGE_TRIALS: u32 = 30;

/// Distances per doubling, and the largest exponent of a distance, where the residual was not
/// finite anywhere else.
const FINE: i32 = 32;
const FAR_FINE: i32 = 20;

/// Residual `i` over unknown `i`; the other unknowns are fixed at `seeker.z`.
pub(super) struct Line<'a, E> {
    pub(super) seeker: &'a mut Seeker,
    pub(super) equations: &'a mut E,
    pub(super) i: usize,
}

/// An unknown and its residual.
pub(super) type Point = (f64, f64);

/// Result of a search: a value of the unknown, and its outcome.
pub(super) type Found = (f64, Outcome);

/// Results of a search around one value.
struct Survey {
    /// First change of sign that is not a solution.
    jump: Option<Found>,
    /// First value with a residual of exactly zero.
    zero: Option<f64>,
    /// True if all residuals were zero.
    is_flat: bool,
    /// True if a residual has a sign.
    has_sign: bool,
    /// Smallest residual from which a minimum was followed.
    lowest: f64,
}

/// Values that were tried in one direction.
struct Side {
    direction: f64,
    /// Last value, whatever its residual.
    place: f64,
    /// Last two values with a sign.
    last: [Point; 2],
    /// True once the edge where the domain begins was followed, and the one where it ends.
    has_entered: bool,
    has_left: bool,
}

impl Side {
    fn of(start: Point, direction: f64) -> Self {
        let none = (start.0, f64::NAN);
        Self { direction, place: start.0, last: [none, start], has_entered: false, has_left: false }
    }
}

impl<E: Equations> Line<'_, E> {
    /// Residual at `z`: it may be infinite, and is NaN if it cannot be computed.
    pub(super) fn at(&mut self, z: f64) -> Result<f64, E::Stop> {
        self.seeker.trial.copy_from_slice(&self.seeker.z);
        self.seeker.trial[self.i] = z;
        self.seeker.iterations += 1;
        // An infinite residual still has a sign.
        if self.seeker.evaluate(self.equations)? {
            self.seeker.keep_best_trial();
        }
        Ok(self.seeker.trial_r[self.i])
    }

    /// Searches around the start, then around zero, nearest first. If the residual is not finite
    /// anywhere, searches for its domain. Returns the value from which the solver continues.
    pub(super) fn seek(&mut self, start: Point) -> Result<Found, E::Stop> {
        let (near, survey) = self.look_around(start)?;
        if near.1 == Outcome::Solved {
            return Ok(near);
        }
        let (mut far, mut is_flat, mut has_sign) = (near, survey.is_flat, survey.has_sign);
        if start.0 != 0.0 {
            let zero = (0.0, self.at(0.0)?);
            let (found, survey) = self.look_around(zero)?;
            far = found;
            is_flat &= survey.is_flat;
            has_sign |= survey.has_sign;
        }
        if is_flat && far.1 != Outcome::Solved {
            // If r is zero at all tested values, every number is a solution.
            return Ok((start.0, Outcome::Solved));
        }
        if !has_sign
            && far.1 == Outcome::NotFound
            && let Some(inside) = self.domain(start.0)?
        {
            far = self.look_around(inside)?.0;
        }
        if far.1 == Outcome::Solved {
            return Ok(far);
        }
        Ok(if near.1 == Outcome::NotFound { (start.0, far.1) } else { near })
    }

    /// A value with a finite residual, by distances from zero and from `start` that grow slowly.
    fn domain(&mut self, start: f64) -> Result<Option<Point>, E::Stop> {
        for step in NEAR * FINE..=FAR_FINE * FINE {
            let distance = libm::exp2(f64::from(step) / f64::from(FINE));
            for place in [distance, -distance, start + distance, start - distance] {
                let found = (place, self.at(place)?);
                if found.1.is_finite() {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// Searches around `start`.
    fn look_around(&mut self, start: Point) -> Result<(Found, Survey), E::Stop> {
        let (z, r) = start;
        let size = 1e-3 * z.abs();
        let width = match r.abs() {
            r if r > 0.0 && r.is_finite() => r.max(size),
            _ => size.max(1.0),
        };
        // u lies in this direction; a bounded u is reached there.
        let ahead = if r < 0.0 { -1.0 } else { 1.0 };
        let mut survey = Survey {
            jump: None,
            zero: (r == 0.0).then_some(z),
            is_flat: r == 0.0,
            has_sign: has_sign(r),
            lowest: f64::INFINITY,
        };
        let mut sides = [Side::of(start, ahead), Side::of(start, -ahead)];
        let far = (1..=FARTHER).map(|k| FAR + 4 * k);
        for power in (NEAR..=FAR).chain(far) {
            for side in 0..2 {
                let distance = width * libm::exp2(f64::from(power));
                let place = z + sides[side].direction * distance;
                let found = (place, if place.is_finite() { self.at(place)? } else { f64::NAN });
                if let Some(found) = self.visit(&mut survey, &mut sides, side, found)? {
                    return Ok((found, survey));
                }
            }
        }
        if let Some(zero) = survey.zero
            && !survey.is_flat
            && self.touches((zero, 0.0))?
        {
            return Ok(((zero, Outcome::Solved), survey));
        }
        Ok((survey.jump.unwrap_or((z, Outcome::NotFound)), survey))
    }

    /// Compares a new value with the previous ones on its side.
    fn visit(
        &mut self,
        survey: &mut Survey,
        sides: &mut [Side; 2],
        side: usize,
        found: Point,
    ) -> Result<Option<Found>, E::Stop> {
        survey.is_flat &= found.1 == 0.0;
        let place = std::mem::replace(&mut sides[side].place, found.0);
        if found.1 == 0.0 {
            survey.zero = survey.zero.or(Some(found.0));
            return Ok(None);
        }
        let opposite = sides[1 - side].last[1];
        let own = &mut sides[side];
        let [older, mut before] = own.last;
        if !has_sign(found.1) {
            if has_sign(before.1) && !std::mem::replace(&mut own.has_left, true) {
                return Ok(self.edge(survey, [older, before], found.0)?.0);
            }
            return Ok(None);
        }
        survey.has_sign = true;
        own.last = [before, found];
        if before.1.is_nan() && !std::mem::replace(&mut own.has_entered, true) {
            let none = (found.0, f64::NAN);
            let (solved, first) = self.edge(survey, [none, found], place)?;
            if solved.is_some() {
                return Ok(solved);
            }
            own.last[0] = first;
        }
        if !has_sign(before.1) {
            // From a start without a sign, both sides make one interval.
            before = opposite;
        }
        // The start lies between both sides.
        let older = if has_sign(older.1) { older } else { opposite };
        self.compare(survey, [older, before, found])
    }

    /// Follows the residual from `inside` to the edge of its domain, which is before `outside`.
    /// Returns the first value inside the domain too.
    fn edge(
        &mut self,
        survey: &mut Survey,
        [mut older, mut inside]: [Point; 2],
        mut outside: f64,
    ) -> Result<(Option<Found>, Point), E::Stop> {
        let mut first = (inside.0, f64::NAN);
        for _ in 0..MOST_EDGE_TRIALS {
            let place = 0.5 * inside.0 + 0.5 * outside;
            if place == inside.0 || place == outside {
                break;
            }
            let found = (place, self.at(place)?);
            if found.1 == 0.0 {
                survey.zero = survey.zero.or(Some(place));
            }
            if !has_sign(found.1) {
                outside = place;
                continue;
            }
            let solved = self.compare(survey, [older, inside, found])?;
            if first.1.is_nan() {
                first = found;
            }
            if solved.is_some() {
                return Ok((solved, first));
            }
            (older, inside) = (inside, found);
        }
        Ok((None, first))
    }

    /// Narrows a change of sign between the last two of three values, and follows a minimum of the
    /// residual's size between the outer two.
    fn compare(
        &mut self,
        survey: &mut Survey,
        [older, before, found]: [Point; 3],
    ) -> Result<Option<Found>, E::Stop> {
        let narrowed = if before.1 * found.1 < 0.0 {
            let is_between = |zero: &f64| (before.0 - zero) * (found.0 - zero) < 0.0;
            match survey.zero.filter(is_between) {
                Some(zero) => (zero, Outcome::Solved),
                None => self.narrow(before, found)?,
            }
        } else {
            let is_inside = (before.0 - older.0) * (before.0 - found.0) < 0.0;
            let is_lowest = before.1.abs() <= found.1.abs().min(older.1.abs());
            if !(is_inside && is_lowest && before.1 * older.1 > 0.0 && found.1 * older.1 > 0.0)
                || before.1.abs() >= survey.lowest
            {
                return Ok(None);
            }
            survey.lowest = before.1.abs();
            self.descend([older, before, found])?
        };
        if narrowed.1 == Outcome::Solved {
            return Ok(Some(narrowed));
        }
        if narrowed.1 != Outcome::NotFound {
            survey.jump = survey.jump.or(Some(narrowed));
        }
        Ok(None)
    }
}

/// True if a residual is above or below zero.
fn has_sign(r: f64) -> bool {
    r != 0.0 && !r.is_nan()
}
