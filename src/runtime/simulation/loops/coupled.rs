//! Several unknowns of a loop, where Newton's method stalls or its start is not usable.

use super::line::Line;
use super::seek::{Ended, Equations, Outcome, Seeker};

/// Largest number of iterations of the continuation.
const MOST_CONTINUED: u32 = 120;

/// Largest number of sweeps over the unknowns, one after the other.
const MOST_SWEEPS: u32 = 40;

/// Number of evaluations after which no other method begins.
const MOST_EVALUATIONS: u32 = 20_000;

/// Largest number of rounds of continuation, sweeps and Newton's method.
const MOST_ROUNDS: u32 = 2;

/// Largest number of halvings of a start that is not usable, and the exponents of equal unknowns
/// that are tried after it.
const NEARER: i32 = 30;
const EQUAL: i32 = 20;

/// Size of z, relative to the size of its start, above which a zero residual alone is not a
/// solution.
const FAR_AWAY: f64 = 1e6;

impl Seeker {
    /// Moves from a start that is not usable to one that is: towards zero, then equal unknowns.
    pub(super) fn enter<E: Equations>(&mut self, equations: &mut E) -> Result<bool, E::Stop> {
        let towards_zero =
            (1..=NEARER).map(|k| (libm::exp2(-f64::from(k)), 0.0)).chain([(0.0, 0.0)]);
        let equal = (-EQUAL..=EQUAL).flat_map(|k| {
            let size = libm::exp2(f64::from(k));
            [(0.0, size), (0.0, -size)]
        });
        for (factor, offset) in towards_zero.chain(equal) {
            for (trial, start) in self.trial.iter_mut().zip(&self.start) {
                *trial = factor * start + offset;
            }
            if self.evaluate(equations)? {
                self.take_trial();
                self.start.copy_from_slice(&self.z);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Continuation from the best iterate and from the start, then each unknown by its own
    /// residual; Newton's method follows each.
    pub(super) fn far<E: Equations>(&mut self, equations: &mut E) -> Result<Outcome, E::Stop> {
        for round in 0..MOST_ROUNDS {
            if round > 0 {
                self.trial.copy_from_slice(&self.best);
            } else {
                self.trial.copy_from_slice(&self.start);
            }
            if !self.evaluate(equations)? {
                break;
            }
            self.take_trial();
            self.continued(equations)?;
            if self.newton(equations)? == Ended::Solved {
                return Ok(Outcome::Solved);
            }
            self.swept(equations)?;
            if self.newton(equations)? == Ended::Solved {
                return Ok(Outcome::Solved);
            }
            if self.evaluations > MOST_EVALUATIONS {
                break;
            }
        }
        // If r is zero up to rounding, there is a solution, even if r is flat. Far away, where
        // floating-point numbers have no digits left for r, a zero proves nothing.
        self.trial.copy_from_slice(&self.best);
        if self.evaluate(equations)? {
            self.take_trial();
            let rounding =
                |(r, z): (&f64, &f64)| r.abs() <= 4.0 * f64::EPSILON * z.abs().max((z + r).abs());
            let reach = |(z, start): (&f64, &f64)| z.abs() <= FAR_AWAY * (1.0 + start.abs());
            if self.r.iter().zip(&self.z).all(rounding) && self.z.iter().zip(&self.start).all(reach)
            {
                return Ok(Outcome::Solved);
            }
        }
        Ok(Outcome::NotFound)
    }

    /// Pseudo-transient continuation: implicit Euler on `ż = r(z)` with steps that grow as r falls.
    fn continued<E: Equations>(&mut self, equations: &mut E) -> Result<(), E::Stop> {
        let mut pace = 1.0;
        let mut fresh = false;
        for _ in 0..MOST_CONTINUED {
            self.iterations += 1;
            if !fresh && !self.differences(equations, false)? {
                return Ok(());
            }
            fresh = true;
            self.weigh();
            let before = self.merit(&self.r);
            if before == 0.0 || !self.factor(1.0 / pace) {
                return Ok(());
            }
            self.step.copy_from_slice(&self.r);
            self.lu.solve(&mut self.step);
            for i in 0..self.z.len() {
                self.trial[i] = self.z[i] + self.step[i];
            }
            let usable = self.evaluate(equations)?;
            let after = if usable { self.merit(&self.trial_r) } else { f64::INFINITY };
            let ratio = after / before;
            if ratio < 1.5 {
                self.take_trial();
                fresh = false;
            }
            pace *= if ratio < 0.9 { (1.0 / ratio).min(10.0) } else { 0.3 };
            if pace < 1e-12 || after < 1e-6 * self.tolerance.min(1e-4) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Solves each residual in turn for its own unknown (nonlinear Gauss-Seidel).
    fn swept<E: Equations>(&mut self, equations: &mut E) -> Result<(), E::Stop> {
        for _ in 0..MOST_SWEEPS {
            let mut moved = 0.0_f64;
            for i in 0..self.z.len() {
                if self.evaluations > MOST_EVALUATIONS {
                    return Ok(());
                }
                self.trial.copy_from_slice(&self.z);
                if !self.evaluate(equations)? {
                    return Ok(());
                }
                self.take_trial();
                let start = (self.z[i], self.r[i]);
                let mut line = Line { seeker: self, equations, i };
                let (found, _) = line.seek(start)?;
                moved = moved.max((found - start.0).abs() / (1.0 + start.0.abs()));
                self.z[i] = found;
            }
            if moved <= 1e-3 {
                break;
            }
        }
        self.trial.copy_from_slice(&self.z);
        self.evaluate(equations)?;
        self.take_trial();
        Ok(())
    }
}
