//! Step size control.

/// Attempts at one step before it is given up: even halving each time they reach 1e-18 of the
/// first.
const ATTEMPTS: u32 = 60;

/// Safety factor on the step size that the error estimate allows.
const SAFETY: f64 = 0.9;

/// Largest part of the step size by which `end` may be missed and still be reached in one step.
const STRETCH: f64 = 1.01;

/// The size of the next step towards `end`: at most `h`, or up to 1 % more if that reaches `end`.
/// If two steps are left they are made equal.
pub(super) fn fit(t: f64, h: f64, end: f64) -> f64 {
    let left = end - t;
    if left <= STRETCH * h {
        left
    } else if left < 2.0 * h {
        0.5 * left
    } else {
        h
    }
}

/// True if no further attempt with step size `h` makes sense: it no longer moves t, or the attempts
/// are used up.
pub(super) fn exhausted(t: f64, h: f64, attempts: u32) -> bool {
    h <= 16.0 * f64::EPSILON * t.abs() || attempts >= ATTEMPTS
}

/// PI step size control: `h⁺ = h · 0.9 ‖e‖^-α ‖e₋‖^β` after an accepted step, with the error of the
/// accepted step before, and `h · 0.9 ‖e‖^-α'` after a rejected one.
///
/// # References
/// Gustafsson, *Control theoretic techniques for stepsize selection* (1991);
/// Hairer, Wanner, *Solving ODEs II* (1996), IV.2, (2.43c) with β = 0.04 · 5/q as in dopri5.
#[derive(Debug, Clone)]
pub(super) struct StepControl {
    /// `1/q`, where the estimate is `O(h^q)`.
    exponent: f64,
    beta: f64,
    shrink: f64,
    grow: f64,
    /// `ln ‖e₋‖`.
    previous: f64,
}

/// `ln 1e-4`: smaller errors, as of a first step, say no more about the next step than this one.
const LEAST: f64 = -9.210_340_371_976_184;

impl StepControl {
    /// For an estimate of order `O(h^q)`; the step grows at most by the factor `grow`.
    pub(super) fn new(q: f64, grow: f64) -> Self {
        Self { exponent: 1.0 / q, beta: 0.2 / q, shrink: 0.2, grow, previous: LEAST }
    }

    /// Forgets the step before.
    pub(super) fn reset(&mut self) {
        self.previous = LEAST;
    }

    /// The step size to remember after a step `taken` with error norm `error` was accepted.
    ///
    /// `wanted` is the size before it was cut at the end of the segment: a cut step that passes
    /// with ease does not lower it. `limit` bounds the growth, 1 right after a rejection.
    pub(super) fn accept(&mut self, taken: f64, wanted: f64, error: f64, limit: f64) -> f64 {
        let alpha = self.exponent - 0.75 * self.beta;
        let present = libm::log(error.max(1e-10));
        let allowed = SAFETY * libm::exp(self.beta * self.previous - alpha * present);
        self.previous = present.max(LEAST);
        let most = (taken * self.grow.min(limit)).max(wanted);
        (taken * allowed.max(self.shrink)).min(most)
    }

    /// The step size to try after a step `taken` with error norm `error` > 1 was rejected.
    pub(super) fn reject(&self, taken: f64, error: f64) -> f64 {
        let alpha = self.exponent - 0.75 * self.beta;
        taken * (SAFETY / libm::pow(error, alpha)).clamp(self.shrink, SAFETY)
    }
}
