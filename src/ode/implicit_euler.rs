//! Implicit Euler with a fixed step: `u⁺ = u + h g(t + h, u⁺)`.
//!
//! Order 1, L-stable. Newton's iteration on the whole state starts at `u⁺ = u`, not at the explicit
//! prediction, which a stiff component would throw far off. It stops when the estimated error of
//! the iterate, `η ‖Δ‖` with `η = max(0.3, θ/(1 - θ))` and the observed rate θ, is at most 0.1 in
//! the norm of the tolerance.
//!
//! The Jacobian is kept from step to step as long as θ ≤ 0.3. When Newton fails with an old
//! Jacobian it starts again with a new one at (t + h, u); when that fails too it goes on with a
//! Jacobian at the present iterate, twenty times at most, each for ten iterations at most.
//!
//! # References
//! Hairer, Wanner, *Solving ODEs II* (1996), IV.8.

use super::newton::{Equation, Newton, Outcome};
use super::progress::Progress;
use super::{Counts, Failure, Flow, Tolerance};

/// Newton's tolerance κ in units of the tolerance.
const KAPPA: f64 = 0.1;
/// No rate better than this is believed, see [`Newton::new`].
const LEAST_ETA: f64 = 0.3;
/// Iterations with one Jacobian.
const LIMIT: u32 = 10;
/// New Jacobians in one step.
const REFRESHES: u32 = 20;
/// A Jacobian with which Newton converges slower than this is not used for the next step.
const SLOW: f64 = 0.3;

/// Implicit Euler with its Jacobian.
#[derive(Debug, Clone)]
pub struct ImplicitEuler {
    progress: Progress,
    newton: Newton,
    start: Vec<f64>,
    d: Vec<f64>,
}

impl ImplicitEuler {
    /// A tolerance of Newton's iteration for steps that are not meant to show it.
    pub const TOLERANCE: Tolerance = Tolerance { relative: 1e-9, absolute: 1e-12 };

    /// A kernel for n coordinates with a tolerance of Newton's iteration.
    pub fn new(n: usize, tolerance: Tolerance) -> Self {
        Self {
            progress: Progress::new(n, tolerance),
            newton: Newton::new(n, KAPPA, tolerance, LIMIT, LEAST_ETA),
            start: vec![0.0; n],
            d: vec![0.0; n],
        }
    }

    /// Advances `u` by `h` [s] from t [s]; after a failure `u` is as before. The rate at the new
    /// state is `(u⁺ - u) / h`; the flow's last evaluation is near it.
    ///
    /// # Errors
    /// [`Failure::Flow`]; [`Failure::NotFinite`] if the Jacobian is not; [`Failure::NotConverged`].
    ///
    /// # Panics
    /// If `u` does not have n numbers.
    pub fn advance<F: Flow>(
        &mut self,
        flow: &mut F,
        t: f64,
        h: f64,
        u: &mut [f64],
    ) -> Result<(), Failure<F::Error>> {
        self.progress.begin(t, u, None);
        self.progress.weigh(flow);
        self.start.copy_from_slice(u);
        self.d.fill(0.0);
        // The rate of convergence would be memory that no snapshot holds.
        self.newton.forget_rate();
        let next = t + h;
        let mut fresh = 0;
        loop {
            if !self.newton.has_jacobian() {
                let candidate = &mut self.progress.candidate;
                for ((y, u), d) in candidate.iter_mut().zip(&self.start).zip(&self.d) {
                    *y = u + d;
                }
                let at = std::mem::take(&mut self.progress.candidate);
                let finite = self.newton.evaluate(flow, &mut self.progress, next, &at);
                self.progress.candidate = at;
                if !finite.map_err(Failure::Flow)? {
                    return Err(Failure::NotFinite { t: next, h });
                }
                fresh += 1;
            }
            let outcome = if self.newton.prepare(h, &mut self.progress.counts) {
                let equation = Equation { t: next, c: h, base: &self.start, shift: None };
                let counts = &mut self.progress.counts;
                let weights = &self.progress.inverse_weight;
                let newton = &mut self.newton;
                newton
                    .solve(flow, counts, weights, &equation, &mut self.d)
                    .map_err(Failure::Flow)?
            } else {
                Outcome::Failed { iterations: 0, correction: f64::INFINITY }
            };
            match outcome {
                Outcome::Converged(_) => break,
                Outcome::Failed { iterations, correction } => {
                    self.progress.counts.rejected += 1;
                    self.newton.reset();
                    // A first failure, or one beyond all numbers, leaves no iterate to go on from.
                    let lost = !self.d.iter().all(|d| d.is_finite());
                    if fresh == 0 || lost {
                        self.d.fill(0.0);
                    }
                    if fresh > REFRESHES || (lost && fresh > 0) {
                        return Err(Failure::NotConverged { t: next, iterations, correction });
                    }
                    // A number that starts at zero and ends large is not known to what the weight
                    // of zero asks for: that would be below its round-off.
                    let candidate = &mut self.progress.candidate;
                    for ((y, u), d) in candidate.iter_mut().zip(&self.start).zip(&self.d) {
                        *y = u + d;
                    }
                    self.progress.weigh_candidate(flow);
                }
            }
        }
        for (u, d) in u.iter_mut().zip(&self.d) {
            *u += d;
        }
        if self.newton.take_slowest() > SLOW {
            self.newton.reset();
        }
        self.progress.counts.steps += 1;
        Ok(())
    }

    /// The Jacobian that the next step begins with, n × n column-major; `None` if it takes a new
    /// one.
    ///
    /// Which Jacobian Newton uses decides the last bits of a step, so it is memory of the solver: a
    /// snapshot keeps it.
    pub fn jacobian(&self) -> Option<&[f64]> {
        self.newton.jacobian()
    }

    /// Puts back what [`Self::jacobian`] returned.
    ///
    /// # Panics
    /// If the Jacobian does not have n² numbers.
    pub fn set_jacobian(&mut self, jacobian: Option<&[f64]>) {
        self.newton.set_jacobian(jacobian);
    }

    /// What was done since the kernel was made.
    pub fn counts(&self) -> Counts {
        self.progress.counts
    }
}
