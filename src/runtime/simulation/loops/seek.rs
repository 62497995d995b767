//! A root of `r(z) = u(z) − z` from any start: Newton's method with a line search, then methods
//! that do not need a good start.
//!
//! # Acceptance
//! An iterate is a solution if `|rᵢ| ≤ tol sᵢ`, and if the correction for r and its rounding is as
//! small, `|δᵢ| ≤ tol sᵢ`, with `sᵢ = max(|zᵢ|, |uᵢ|)`. The second part refuses a residual that is
//! small only relative to a large z, such as `r = −atan(z − 3)` at z = −2e10. If an iteration makes
//! no progress, at the level of rounding or at a multiple root, `|rᵢ| ≤ tol (1 + |zᵢ|)` and
//! `|δᵢ| ≤ √tol (1 + |zᵢ|)` suffice. One unknown between two adjacent floating-point numbers with
//! residuals of different sign is a solution too, unless r jumps there.
//!
//! # Methods after Newton's method stalls
//! - One unknown: `super::line` searches for a change of sign, and for a place where r touches
//!   zero, in both directions, and narrows it.
//! - Several: pseudo-transient continuation `(1/τ + 1 − ∂u/∂z) δ = r`, where τ grows as r falls
//!   (Kelley, Keyes, *Convergence analysis of pseudo-transient continuation* (1998)), then each
//!   unknown in turn by its own row, then Newton's method again.

use legwork_linalg::Lu;

use super::line::Line;

/// Change of an unknown z for the difference quotient, relative to its size.
const DIFFERENCE: f64 = 1.5e-8;

/// After a step shorter than this, relative to each unknown, the factors still show the distance of
/// the root.
const SHORT: f64 = 0.5;

/// Largest number of halvings of a correction.
const MOST_HALVINGS: u32 = 12;

/// Share of the correction's decrease of r that a step must reach (Armijo).
const DECREASE: f64 = 1e-4;

/// Equations `r(z) = u(z) − z`.
pub(super) trait Equations {
    /// Reason to stop all computations.
    type Stop;

    /// Writes r(z), NaN where it cannot be computed. Returns false if r is not finite.
    fn residual(&mut self, z: &[f64], r: &mut [f64]) -> Result<bool, Self::Stop>;
}

/// Outcome of a search. `z` and `r` of [`Seeker`] are the solution, or the iterate with the
/// smallest residual; the equations were evaluated last at a solution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Outcome {
    /// r is zero to the tolerance.
    Solved,
    /// No solution was found.
    NotFound,
    /// The residual of the only unknown changes sign without a zero.
    Jumps {
        /// Value of the unknown at the change of sign.
        at: f64,
        /// r on both sides.
        sides: (f64, f64),
    },
}

/// Result of Newton's method.
#[derive(PartialEq)]
pub(super) enum Ended {
    Solved,
    Stalled,
}

/// Work memory for n unknowns.
pub(super) struct Seeker {
    pub(super) z: Vec<f64>,
    pub(super) r: Vec<f64>,
    pub(super) tolerance: f64,
    pub(super) limit: u32,
    /// Iterations of Newton's method and of continuation, and evaluations on lines.
    pub(super) iterations: u32,
    pub(super) evaluations: u32,
    pub(super) trial: Vec<f64>,
    pub(super) trial_r: Vec<f64>,
    /// `∂r/∂z`, column-major.
    slopes: Vec<f64>,
    pub(super) lu: Lu,
    pub(super) step: Vec<f64>,
    reach: Vec<f64>,
    scale: Vec<f64>,
    pub(super) start: Vec<f64>,
    pub(super) best: Vec<f64>,
    best_r: Vec<f64>,
    best_error: f64,
}

impl Seeker {
    pub(super) fn new(n: usize) -> Self {
        let zeros = || vec![0.0; n];
        Self {
            z: zeros(),
            r: zeros(),
            tolerance: 0.0,
            limit: 0,
            iterations: 0,
            evaluations: 0,
            trial: zeros(),
            trial_r: zeros(),
            slopes: vec![0.0; n * n],
            lu: Lu::new(n),
            step: zeros(),
            reach: zeros(),
            scale: zeros(),
            start: zeros(),
            best: zeros(),
            best_r: zeros(),
            best_error: f64::INFINITY,
        }
    }

    /// Searches for a solution from `z`; the equations were evaluated last there, and `r` is their
    /// residual.
    pub(super) fn seek<E: Equations>(&mut self, equations: &mut E) -> Result<Outcome, E::Stop> {
        (self.iterations, self.evaluations) = (0, 0);
        self.best_error = f64::INFINITY;
        self.start.copy_from_slice(&self.z);
        self.best.copy_from_slice(&self.z);
        self.best_r.copy_from_slice(&self.r);
        let mut usable = self.r.iter().all(|r| r.is_finite());
        if !usable && self.z.len() > 1 {
            usable = self.enter(equations)?;
        }
        if usable {
            self.keep_best();
            if self.newton(equations)? == Ended::Solved {
                return Ok(Outcome::Solved);
            }
        }
        let outcome = if self.z.len() == 1 {
            self.on_its_line(equations)?
        } else if usable {
            self.far(equations)?
        } else {
            Outcome::NotFound
        };
        if outcome != Outcome::Solved {
            self.z.copy_from_slice(&self.best);
            self.r.copy_from_slice(&self.best_r);
        }
        Ok(outcome)
    }

    /// Newton's method with a line search, from a usable `z`.
    pub(super) fn newton<E: Equations>(&mut self, equations: &mut E) -> Result<Ended, E::Stop> {
        let n = self.z.len();
        let (mut fine, mut is_close) = (false, false);
        for iteration in 0..=self.limit {
            // After a short step the factors of the previous iterate show the distance of the root.
            if is_close {
                self.take_reach();
                if self.is_solved() {
                    return Ok(Ended::Solved);
                }
            }
            if iteration == self.limit {
                break;
            }
            self.iterations += 1;
            if !self.differences(equations, fine)? || !self.factor(0.0) {
                return Ok(Ended::Stalled);
            }
            self.step.copy_from_slice(&self.r);
            self.lu.solve(&mut self.step);
            self.take_reach();
            self.weigh();
            let before = self.merit(&self.r);
            if iteration > 0 && self.is_solved() {
                return self.settle(equations);
            }
            let near = self.is_near();
            let mut part = 1.0;
            let mut halvings = 0;
            loop {
                for i in 0..n {
                    self.trial[i] = self.z[i] + part * self.step[i];
                }
                let usable = self.evaluate(equations)?;
                let after = if usable { self.merit(&self.trial_r) } else { f64::INFINITY };
                if near && after > 0.5 * before {
                    // Rounding, or a multiple root: no further progress is possible.
                    return self.settle(equations);
                }
                if after <= (1.0 - DECREASE * part) * before {
                    // Too slow for full steps: the interval of the difference quotient may be too
                    // wide.
                    fine ^= part == 1.0 && after > 0.3 * before;
                    self.take_trial();
                    is_close = self.is_short(part);
                    break;
                }
                if halvings == MOST_HALVINGS
                    || (n == 1 && usable && self.r[0] * self.trial_r[0] < 0.0)
                {
                    return Ok(Ended::Stalled);
                }
                halvings += 1;
                part *= 0.5;
            }
        }
        if self.is_near() { self.settle(equations) } else { Ok(Ended::Stalled) }
    }

    /// Evaluates at `z` again, so that the equations are left at it.
    fn settle<E: Equations>(&mut self, equations: &mut E) -> Result<Ended, E::Stop> {
        self.trial.copy_from_slice(&self.z);
        let usable = self.evaluate(equations)?;
        self.take_trial();
        Ok(if usable { Ended::Solved } else { Ended::Stalled })
    }

    /// Solves for the only unknown by changes of sign.
    fn on_its_line<E: Equations>(&mut self, equations: &mut E) -> Result<Outcome, E::Stop> {
        let start = (self.start[0], f64::NAN);
        self.trial[0] = start.0;
        let usable = self.evaluate(equations)?;
        let start = (start.0, if usable { self.trial_r[0] } else { f64::NAN });
        let mut line = Line { seeker: self, equations, i: 0 };
        let (found, outcome) = line.seek(start)?;
        if outcome == Outcome::Solved {
            self.trial[0] = found;
            self.evaluate(equations)?;
            self.take_trial();
        }
        Ok(outcome)
    }

    /// Evaluates at `trial`.
    pub(super) fn evaluate<E: Equations>(&mut self, equations: &mut E) -> Result<bool, E::Stop> {
        self.evaluations += 1;
        equations.residual(&self.trial, &mut self.trial_r)
    }

    /// Makes the trial the iterate.
    pub(super) fn take_trial(&mut self) {
        std::mem::swap(&mut self.z, &mut self.trial);
        std::mem::swap(&mut self.r, &mut self.trial_r);
        self.keep_best();
    }

    fn keep_best(&mut self) {
        let error = resolved(&self.z, &self.r);
        if error < self.best_error {
            self.best_error = error;
            self.best.copy_from_slice(&self.z);
            self.best_r.copy_from_slice(&self.r);
        }
    }

    /// Keeps the trial of one unknown if it is the best.
    pub(super) fn keep_best_trial(&mut self) {
        let error = resolved(&self.trial, &self.trial_r);
        if error < self.best_error {
            self.best_error = error;
            self.best.copy_from_slice(&self.trial);
            self.best_r.copy_from_slice(&self.trial_r);
        }
    }

    /// `∂r/∂z` at `z` by difference quotients, with intervals relative only to the size of each
    /// unknown if `fine`. Returns false if it cannot be computed.
    pub(super) fn differences<E: Equations>(
        &mut self,
        equations: &mut E,
        fine: bool,
    ) -> Result<bool, E::Stop> {
        let n = self.z.len();
        self.trial.copy_from_slice(&self.z);
        for j in 0..n {
            let z = self.z[j];
            let own = z.abs().max((z + self.r[j]).abs());
            let wide = 1.0 + z.abs();
            let size = if fine && own > 1e-150 { own.min(wide) } else { wide };
            let mut usable = false;
            for step in [DIFFERENCE * size, -DIFFERENCE * size] {
                self.trial[j] = z + step;
                if self.evaluate(equations)? {
                    usable = true;
                    break;
                }
            }
            if !usable {
                return Ok(false);
            }
            let step = self.trial[j] - z;
            self.trial[j] = z;
            let column = &mut self.slopes[j * n..(j + 1) * n];
            for ((slope, after), before) in column.iter_mut().zip(&self.trial_r).zip(&self.r) {
                *slope = (after - before) / step;
            }
        }
        Ok(true)
    }

    /// Factors `shift − ∂r/∂z`.
    pub(super) fn factor(&mut self, shift: f64) -> bool {
        let n = self.z.len();
        for (a, slope) in self.lu.matrix_mut().iter_mut().zip(&self.slopes) {
            *a = -slope;
        }
        if shift != 0.0 {
            for i in 0..n {
                self.lu.matrix_mut()[i * n + i] += shift;
            }
        }
        self.lu.factor(0.0).is_ok()
    }

    /// Sets the scales of the rows at the present iterate.
    pub(super) fn weigh(&mut self) {
        for ((s, z), r) in self.scale.iter_mut().zip(&self.z).zip(&self.r) {
            *s = z.abs().max((z + r).abs());
        }
        let least = (1e-6 * largest(&self.scale)).max(f64::MIN_POSITIVE);
        for s in &mut self.scale {
            *s = s.max(least);
        }
    }

    /// Largest residual relative to the scale of its row.
    pub(super) fn merit(&self, r: &[f64]) -> f64 {
        let parts = r.iter().zip(&self.scale).map(|(r, s)| r.abs() / s);
        parts.fold(0.0, |a: f64, b| if b.is_nan() { f64::INFINITY } else { a.max(b) })
    }

    /// Estimated distance of the root: the correction for the residual and for its rounding.
    fn take_reach(&mut self) {
        for ((reach, z), r) in self.reach.iter_mut().zip(&self.z).zip(&self.r) {
            *reach = r + (f64::EPSILON * z.abs().max((z + r).abs())).copysign(*r);
        }
        self.lu.solve(&mut self.reach);
    }

    /// True if the step to the present iterate was short relative to each unknown.
    fn is_short(&self, part: f64) -> bool {
        self.z
            .iter()
            .zip(&self.r)
            .zip(&self.step)
            .all(|((z, r), step)| (part * step).abs() <= SHORT * z.abs().max((z + r).abs()))
    }

    /// True if residual and correction are small relative to each unknown.
    fn is_solved(&self) -> bool {
        self.z.iter().zip(&self.r).zip(&self.reach).all(|((z, r), reach)| {
            let most = self.tolerance * z.abs().max((z + r).abs());
            r.abs() <= most && reach.abs() <= most
        })
    }

    /// True if residual and correction are so small that an iteration without progress ends the
    /// search.
    fn is_near(&self) -> bool {
        self.z.iter().zip(&self.r).zip(&self.reach).all(|((z, r), reach)| {
            let size = 1.0 + z.abs();
            r.abs() <= self.tolerance * size && reach.abs() <= self.tolerance.sqrt() * size
        })
    }
}

/// Largest residual, or its rounding error: far away r appears to be zero.
fn resolved(z: &[f64], r: &[f64]) -> f64 {
    let parts = z.iter().zip(r).map(|(z, r)| r.abs().max(f64::EPSILON * z.abs()));
    parts.fold(0.0, |a: f64, b| if b.is_nan() { f64::INFINITY } else { a.max(b) })
}

/// Largest magnitude; infinite if one is not a number.
pub(super) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |a: f64, b| if b.is_nan() { f64::INFINITY } else { a.max(b.abs()) })
}
