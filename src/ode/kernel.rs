//! What every variable-step kernel offers.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Flow;

/// Tolerance of the local error: `wᵢ = absolute + relative · mᵢ`.
///
/// Both are positive; a relative tolerance below about 1e-14 asks for more than `f64` holds and
/// ends in [`Failure::StepTooSmall`]. `absolute / relative` is the magnitude below which the
/// absolute part decides; forward differences take it for the size of a state near zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// Relative part.
    pub relative: f64,
    /// Absolute part, in the unit of each coordinate.
    pub absolute: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { relative: 1e-6, absolute: 1e-9 }
    }
}

/// Why a step could not be taken. The kernel stays at the last accepted (t, u).
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum Failure<E> {
    /// The flow refused to give a rate.
    #[error("{0}")]
    Flow(E),
    /// The error test or Newton's iteration failed down to the smallest step.
    #[error(
        "step size {h:e} s is too small at {t} s into the step: \
         the tolerance cannot be met there"
    )]
    StepTooSmall {
        /// Time since the beginning of the segment [s].
        t: f64,
        /// Step size that was tried last [s].
        h: f64,
    },
    /// Rates are not finite at (t, u), or right after it however small the step.
    #[error("rates are not finite at {t} s into the step (step size {h:e} s)")]
    NotFinite {
        /// Time since the beginning of the segment [s].
        t: f64,
        /// Step size that was tried last [s]; 0 if the rate at t itself is not finite.
        h: f64,
    },
    /// Newton's iteration of a fixed-step method did not converge.
    #[error(
        "newton's iteration does not converge at {t} s into the step: after {iterations} iterations \
         the correction is {correction:e} times the tolerance"
    )]
    NotConverged {
        /// Time at the end of the failed step [s].
        t: f64,
        /// Iterations done with the newest Jacobian.
        iterations: u32,
        /// Norm of the last correction in units of the tolerance.
        correction: f64,
    },
}

/// What a kernel has done since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Accepted steps.
    pub steps: u64,
    /// Attempts that failed the error test or in Newton's iteration.
    pub rejected: u64,
    /// Evaluations of the rate, those for difference Jacobians included.
    pub rates: u64,
    /// Jacobians.
    pub jacobians: u64,
    /// LU factorizations.
    pub factorizations: u64,
}

/// Where a kernel is.
#[derive(Debug, Clone, Copy)]
pub struct Present<'a> {
    /// Time of the last accepted step [s].
    pub t: f64,
    /// Solution at `t`.
    pub u: &'a [f64],
    /// Time before the last accepted step [s].
    pub previous_t: f64,
    /// What was done since the kernel was made.
    pub counts: Counts,
}

/// A variable-step method with its memory.
///
/// ```text
/// kernel.begin(0.0, &zero, &rate_at_start, remembered);
/// while kernel.t() < end { kernel.step(&mut flow, end)?; /* kernel.interpolate(..) */ }
/// ```
pub trait Kernel {
    /// Begins a segment at (t, u) where the rate is `first`. `h` [s] is the step size remembered
    /// from the segment before; without it the first [`Self::step`] chooses one (Hairer, Nørsett,
    /// Wanner I, II.4), never beyond its `end`. All history is discarded, but for a Jacobian that
    /// is kept on request.
    ///
    /// # Panics
    /// If `u` or `first` do not have n numbers.
    fn begin(&mut self, t: f64, u: &[f64], first: &[f64], h: Option<f64>);

    /// Takes one accepted step, to at most `end` [s], and exactly to `end` with the last one. Does
    /// nothing if t ≥ `end`.
    ///
    /// Near the end the step is stretched by up to 1 % or two equal steps are taken, so that no
    /// sliver remains. Rates are asked for up to `end`; [`super::Esdirk43`] has a stage at 1.04 of
    /// a step. After success the flow's last evaluation of an explicit kernel is at the new
    /// (t, u); after a failure the kernel is where it was.
    ///
    /// # Errors
    /// [`Failure::Flow`], [`Failure::StepTooSmall`] or [`Failure::NotFinite`]. A rate that is not
    /// finite or a Newton iteration that diverges inside the step only make it smaller.
    fn step<F: Flow>(&mut self, flow: &mut F, end: f64) -> Result<(), Failure<F::Error>>;

    /// Where the kernel is.
    fn present(&self) -> Present<'_>;

    /// [`Present::t`].
    fn t(&self) -> f64 {
        self.present().t
    }

    /// [`Present::u`].
    fn u(&self) -> &[f64] {
        self.present().u
    }

    /// [`Present::previous_t`].
    fn previous_t(&self) -> f64 {
        self.present().previous_t
    }

    /// [`Present::counts`].
    fn counts(&self) -> Counts {
        self.present().counts
    }

    /// Writes the solution at t ∈ \[[`Self::previous_t`], [`Self::t`]\]; exactly the steps' own
    /// values at both ends.
    ///
    /// # Panics
    /// If `u` does not have n numbers.
    fn interpolate(&self, t: f64, u: &mut [f64]);

    /// The step size to begin the next segment with [s]; a step that was cut at `end` does not
    /// lower it. Infinite before the first step chose one.
    fn remembered_step(&self) -> f64;

    /// Whether an implicit kernel keeps its Jacobian from one segment to the next, as it does from
    /// step to step: n + 1 rates less per segment. It is false at first. With it
    /// [`Self::jacobian`] is memory that a snapshot has to hold.
    fn keep_jacobian(&mut self, keep: bool) {
        let _ = keep;
    }

    /// The Jacobian that the next step begins with, n × n column-major; `None` if it takes a new
    /// one or none at all.
    fn jacobian(&self) -> Option<&[f64]> {
        None
    }

    /// Puts back what [`Self::jacobian`] returned, before [`Self::begin`].
    ///
    /// # Panics
    /// If the Jacobian does not have n² numbers.
    fn set_jacobian(&mut self, jacobian: Option<&[f64]>) {
        let _ = jacobian;
    }
}
