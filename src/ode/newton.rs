//! Simplified Newton iteration for the implicit equation that all stiff kernels share.
//!
//! ```text
//! d = c g(t, y + d) - ψ          c [s], y base point, ψ shift
//! (I - c Ĵ) Δ = c g(t, y + d) - ψ - d,   d ← d + Δ
//! ```
//!
//! | method | c | y | ψ | d |
//! |---|---|---|---|---|
//! | NDF of order k | h / αₖ | prediction | Σ γᵢ ∇ⁱu / αₖ | `uₙ₊₁ - y` |
//! | ESDIRK stage i | γ h | `uₙ + h Σ aᵢⱼ kⱼ` | 0 | `γ h kᵢ` |
//! | implicit Euler | h | `uₙ` | 0 | `uₙ₊₁ - uₙ` |
//!
//! The Jacobian is kept as long as it serves; a new c has `I - c Ĵ` factored anew, which costs less
//! than the iterations that a wrong c would.
//!
//! Convergence: `η ‖Δ‖ ≤ κ` with `η = θ / (1 - θ)` and `θ = ‖Δ‖ / ‖Δ₋‖` the observed rate; in the
//! first iteration η is that of the solve before to the power 0.8, and 1 with a new factorization.
//! Divergence: θ ≥ 1, or the iterations left will not do at this rate (Hairer, Wanner, *Solving
//! ODEs II* (1996), IV.8, (8.10)-(8.11)).
//!
//! # Difference Jacobian
//! Column j is `(g(u + δ eⱼ) - g(u)) / δ` with `δ = √ε (mⱼ + absolute / relative)`: the magnitude
//! of the state, not of its chart coordinate, and near zero the size below which the absolute
//! tolerance governs (Salane, *Adaptive routines for forming Jacobians numerically* (1986), as
//! numjac does), and 16 ulp of the coordinate, so that it moves. δ has the sign of the rate, so
//! that it goes the way the solution goes.

use super::progress::{Progress, norm};
use super::{Counts, Failure, Flow, Tolerance};
use legwork_linalg::Lu;

/// The functions of [`super::Kernel`] that are the same for all kernels with a Jacobian.
macro_rules! jacobian_methods {
    () => {
        fn keep_jacobian(&mut self, keep: bool) {
            self.keep_jacobian = keep;
        }

        fn jacobian(&self) -> Option<&[f64]> {
            self.newton.jacobian()
        }

        fn set_jacobian(&mut self, jacobian: Option<&[f64]>) {
            self.newton.set_jacobian(jacobian);
        }
    };
}
pub(super) use jacobian_methods;

/// What became of a solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Outcome {
    /// The equation holds to the tolerance after so many iterations.
    Converged(u32),
    /// Too slow, diverging, or rates that are not finite.
    Failed {
        /// Iterations done.
        iterations: u32,
        /// Norm of the last correction; NaN if the rate was not finite.
        correction: f64,
    },
}

/// The iteration with its Jacobian and factorization.
#[derive(Debug, Clone)]
pub(super) struct Newton {
    /// κ.
    tolerance: f64,
    limit: u32,
    /// Smallest η that two corrections are trusted to show.
    least_eta: f64,
    /// Ĵ, n × n column-major.
    jacobian: Vec<f64>,
    has_jacobian: bool,
    lu: Lu,
    /// The c of the factorization, if there is one.
    factored: Option<f64>,
    eta: f64,
    /// Largest θ since it was last taken.
    slowest: f64,
    /// False if the last solve met rates that are not finite.
    finite: bool,
    residual: Vec<f64>,
    point: Vec<f64>,
    rate: Vec<f64>,
}

impl Newton {
    /// Stops at `η ‖Δ‖ ≤ κ`, or at the round-off of a state of magnitude 1 if that is more.
    ///
    /// Two corrections in a row may show a rate that is better than what follows, as when the first
    /// removes what a bad guess put into one component. With an error estimate behind it an
    /// iteration may believe them; one whose result is taken as it is passes a `least_eta` to bound
    /// η from below.
    pub(super) fn new(
        n: usize,
        kappa: f64,
        tolerance: Tolerance,
        limit: u32,
        least_eta: f64,
    ) -> Self {
        let round_off = 10.0 * f64::EPSILON / tolerance.relative.max(f64::EPSILON);
        Self {
            tolerance: kappa.max(round_off),
            limit,
            least_eta,
            jacobian: vec![0.0; n * n],
            has_jacobian: false,
            lu: Lu::new(n),
            factored: None,
            eta: 1.0,
            slowest: 0.0,
            finite: true,
            residual: vec![0.0; n],
            point: vec![0.0; n],
            rate: vec![0.0; n],
        }
    }

    /// Forgets everything, but for the Jacobian if it is to be kept.
    pub(super) fn begin(&mut self, keep: bool) {
        self.factored = None;
        self.has_jacobian &= keep;
        self.eta = 1.0;
        self.slowest = 0.0;
    }

    /// Forgets Jacobian and factorization.
    pub(super) fn reset(&mut self) {
        self.begin(false);
    }

    pub(super) fn has_jacobian(&self) -> bool {
        self.has_jacobian
    }

    /// The largest rate of convergence since the last call.
    pub(super) fn take_slowest(&mut self) -> f64 {
        std::mem::replace(&mut self.slowest, 0.0)
    }

    /// Why a step of size `h` [s] from `t` [s] was given up.
    pub(super) fn failure<E>(&self, t: f64, h: f64) -> Failure<E> {
        match self.finite {
            true => Failure::StepTooSmall { t, h },
            false => Failure::NotFinite { t, h },
        }
    }

    /// Forgets how fast the last solve converged.
    pub(super) fn forget_rate(&mut self) {
        self.eta = 1.0;
        self.slowest = 0.0;
    }

    /// Ĵ, if there is one, and a way to put it back.
    pub(super) fn jacobian(&self) -> Option<&[f64]> {
        self.has_jacobian.then_some(&self.jacobian)
    }

    pub(super) fn set_jacobian(&mut self, jacobian: Option<&[f64]>) {
        self.reset();
        if let Some(jacobian) = jacobian {
            self.jacobian.copy_from_slice(jacobian);
            self.has_jacobian = true;
        }
    }

    /// Evaluates Ĵ at (t, u), from the program or by differences. Weights of `progress` are at `u`
    /// or near it. Returns false if an entry is not finite.
    pub(super) fn evaluate<F: Flow>(
        &mut self,
        flow: &mut F,
        progress: &mut Progress,
        t: f64,
        u: &[f64],
    ) -> Result<bool, F::Error> {
        self.factored = None;
        self.has_jacobian = false;
        progress.counts.jacobians += 1;
        if !flow.jacobian(t, u, &mut self.jacobian)? {
            self.differences(flow, progress, t, u)?;
        }
        self.has_jacobian = self.jacobian.iter().all(|j| j.is_finite());
        Ok(self.has_jacobian)
    }

    fn differences<F: Flow>(
        &mut self,
        flow: &mut F,
        progress: &mut Progress,
        t: f64,
        u: &[f64],
    ) -> Result<(), F::Error> {
        let n = u.len();
        progress.counts.rates += n as u64 + 1;
        flow.rate(t, u, &mut self.rate)?;
        self.point.copy_from_slice(u);
        for (j, &start) in u.iter().enumerate() {
            let step = progress.difference_step(j, start);
            let step = if self.rate[j] < 0.0 { -step } else { step };
            self.point[j] = start + step;
            let step = self.point[j] - start;
            let column = &mut self.jacobian[j * n..(j + 1) * n];
            flow.rate(t, &self.point, column)?;
            self.point[j] = start;
            for (entry, rate) in column.iter_mut().zip(&self.rate) {
                *entry = (*entry - rate) / step;
            }
        }
        Ok(())
    }

    /// Factors `I - c Ĵ` unless the present factorization serves. Returns false if it is singular.
    pub(super) fn prepare(&mut self, c: f64, counts: &mut Counts) -> bool {
        if self.factored == Some(c) {
            return true;
        }
        self.factored = None;
        self.finite = true;
        self.eta = 1.0;
        counts.factorizations += 1;
        if self.lu.factor_shifted(c, &self.jacobian).is_ok() {
            self.factored = Some(c);
        }
        self.factored.is_some()
    }

    /// Solves for `d`, which holds the first guess and after a failure the best iterate, in the
    /// norm of `inverse_weight`; [`Self::prepare`] has been called with this c.
    pub(super) fn solve<F: Flow>(
        &mut self,
        flow: &mut F,
        counts: &mut Counts,
        inverse_weight: &[f64],
        equation: &Equation<'_>,
        d: &mut [f64],
    ) -> Result<Outcome, F::Error> {
        let &Equation { t, c, base, shift } = equation;
        let mut before = f64::NAN;
        let mut eta = libm::pow(self.eta.max(f64::EPSILON), 0.8);
        for iteration in 1..=self.limit {
            for ((y, b), d) in self.point.iter_mut().zip(base).zip(d.iter()) {
                *y = b + d;
            }
            counts.rates += 1;
            flow.rate(t, &self.point, &mut self.rate)?;
            match shift {
                Some(shift) => {
                    let known = shift.iter().zip(d.iter());
                    for ((r, f), (s, d)) in self.residual.iter_mut().zip(&self.rate).zip(known) {
                        *r = c * f - s - d;
                    }
                }
                None => {
                    for ((r, f), d) in self.residual.iter_mut().zip(&self.rate).zip(d.iter()) {
                        *r = c * f - d;
                    }
                }
            }
            self.lu.solve(&mut self.residual);
            for (d, r) in d.iter_mut().zip(&self.residual) {
                *d += r;
            }
            let correction = norm(&self.residual, inverse_weight);
            let failed = Outcome::Failed { iterations: iteration, correction };
            self.finite = correction.is_finite();
            if !self.finite {
                return Ok(failed);
            }
            if iteration > 1 {
                let theta = correction / before;
                if theta >= 1.0 {
                    // The iterate before was the better one.
                    for (d, r) in d.iter_mut().zip(&self.residual) {
                        *d -= r;
                    }
                    return Ok(failed);
                }
                self.slowest = self.slowest.max(theta);
                eta = (theta / (1.0 - theta)).max(self.least_eta);
                let left = self.limit - iteration;
                let reach = (0..left).fold(eta * correction, |r, _| r * theta);
                if reach > self.tolerance {
                    return Ok(failed);
                }
            }
            if eta * correction <= self.tolerance {
                self.eta = eta.max(1e-3);
                return Ok(Outcome::Converged(iteration));
            }
            before = correction;
        }
        Ok(Outcome::Failed { iterations: self.limit, correction: before })
    }
}

/// `d = c g(t, base + d) - shift`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Equation<'a> {
    pub(super) t: f64,
    pub(super) c: f64,
    pub(super) base: &'a [f64],
    pub(super) shift: Option<&'a [f64]>,
}
