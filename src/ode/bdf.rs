//! Numerical differentiation formulas of orders 1 to 5 in backward differences.
//!
//! ```text
//! Σᵢ₌₁ᵏ 1/i ∇ⁱuₙ₊₁ - κₖ γₖ (uₙ₊₁ - ũ) = h g(tₙ₊₁, uₙ₊₁),   γₖ = Σᵢ₌₁ᵏ 1/i,   ũ = Σᵢ₌₀ᵏ ∇ⁱuₙ
//! ```
//!
//! κ = 0 are the BDF; Klopfenstein's κ lower the error by up to 26 % for a little of the stability
//! angle. With `d = uₙ₊₁ - ũ = ∇ᵏ⁺¹uₙ₊₁` and `αₖ = (1 - κₖ) γₖ`, Newton solves
//! `d = h/αₖ g(tₙ₊₁, ũ + d) - 1/αₖ Σᵢ₌₁ᵏ γᵢ ∇ⁱuₙ`; the error estimate is `(κₖ γₖ + 1/(k + 1)) d`.
//!
//! The step is quasi-constant: differences belong to one h and are interpolated to another when it
//! changes. A change of h and of the order is considered after k + 1 equal steps. A step that fails
//! the error test is repeated with order k - 1 if that allows a longer step, and in any case from
//! its second failure on. Dense output is the interpolation polynomial of the step's order k
//! through the last k + 1 solutions; a series of failed attempts at the next step does not change
//! it.
//!
//! # References
//! Byrne, Hindmarsh, *A polyalgorithm for the numerical solution of ordinary differential
//! equations* (1975); Shampine, Reichelt, *The MATLAB ODE suite* (1997), (2.1)-(2.6) and table 1.

use super::control::{exhausted, fit};
use super::newton::{Equation, Newton, Outcome};
use super::progress::Progress;
use super::{Failure, Flow, Kernel, Present, Tolerance};
use legwork_linalg::axpy;

const MAX_ORDER: usize = 5;
const KAPPA: [f64; MAX_ORDER + 1] = [0.0, -0.1850, -1.0 / 9.0, -0.0823, -0.0415, 0.0];
const GAMMA: [f64; MAX_ORDER + 1] = {
    let mut gamma = [0.0; MAX_ORDER + 1];
    let mut k = 1;
    while k <= MAX_ORDER {
        gamma[k] = gamma[k - 1] + 1.0 / k as f64;
        k += 1;
    }
    gamma
};

/// `αₖ`.
const fn alpha(order: usize) -> f64 {
    (1.0 - KAPPA[order]) * GAMMA[order]
}

/// Constant of the error estimate.
const fn error_constant(order: usize) -> f64 {
    KAPPA[order] * GAMMA[order] + 1.0 / (order + 1) as f64
}

/// Newton's tolerance κ in units of the error tolerance, and its limit of iterations.
const NEWTON_TOLERANCE: f64 = 0.03;
const LIMIT: u32 = 4;
/// Bounds of a change of the step size; growth by less than the middle one is left.
const SHRINK: f64 = 0.2;
const HOLD: f64 = 1.2;
const GROW: f64 = 10.0;

/// Numerical differentiation formulas of variable order.
#[derive(Debug, Clone)]
pub struct Bdf {
    progress: Progress,
    newton: Newton,
    keep_jacobian: bool,
    /// `∇⁰u, ∇¹u, …, ∇ᵏ⁺²u` at the present t for step size `grid`, n each.
    differences: [Vec<f64>; MAX_ORDER + 3],
    /// Step size of the differences [s]; 0 before the first step.
    grid: f64,
    /// Differences, step size and order after the last accepted step, kept while another one is
    /// tried: after a failure, dense output is that of the last accepted step.
    kept: Vec<Vec<f64>>,
    kept_grid: f64,
    kept_order: usize,
    is_kept: bool,
    order: usize,
    /// Order of the last accepted step.
    dense_order: usize,
    /// Accepted steps since h or k changed.
    equal_steps: usize,
    /// Step size to begin the next segment with [s].
    start: Option<f64>,
    first: Vec<f64>,
    predicted: Vec<f64>,
    shift: Vec<f64>,
    d: Vec<f64>,
}

impl Bdf {
    /// A kernel for n coordinates.
    pub fn new(n: usize, tolerance: Tolerance) -> Self {
        Self {
            progress: Progress::new(n, tolerance),
            newton: Newton::new(n, NEWTON_TOLERANCE, tolerance, LIMIT, 0.0),
            keep_jacobian: false,
            differences: std::array::from_fn(|_| vec![0.0; n]),
            grid: 0.0,
            kept: vec![vec![0.0; n]; MAX_ORDER + 3],
            kept_grid: 0.0,
            kept_order: 1,
            is_kept: false,
            order: 1,
            dense_order: 1,
            equal_steps: 0,
            start: None,
            first: vec![0.0; n],
            predicted: vec![0.0; n],
            shift: vec![0.0; n],
            d: vec![0.0; n],
        }
    }

    /// Order k of the next step.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Makes the differences belong to step size `h`.
    fn set_grid(&mut self, h: f64) {
        if h != self.grid && !self.is_kept {
            for (kept, difference) in self.kept.iter_mut().zip(&self.differences) {
                kept.copy_from_slice(difference);
            }
            (self.kept_grid, self.is_kept) = (self.grid, true);
        }
        if self.grid == 0.0 {
            self.differences[0].copy_from_slice(&self.progress.u);
            for (d, k) in self.differences[1].iter_mut().zip(&self.first) {
                *d = h * k;
            }
            for difference in &mut self.differences[2..] {
                difference.fill(0.0);
            }
        } else if h != self.grid {
            let change = change_of_grid(self.order, h / self.grid);
            let k = self.order;
            let mut column = [0.0; MAX_ORDER + 1];
            for i in 0..self.first.len() {
                for (c, difference) in column.iter_mut().zip(&self.differences[..=k]) {
                    *c = difference[i];
                }
                let differences = self.differences.iter_mut().enumerate();
                for (j, difference) in differences.take(k + 1).skip(1) {
                    difference[i] = (1..=k).fold(0.0, |sum, m| sum + change[m][j] * column[m]);
                }
            }
            self.equal_steps = 0;
        }
        self.grid = h;
    }

    /// Undoes the changes of failed attempts at a step.
    fn take_back(&mut self) {
        if std::mem::take(&mut self.is_kept) {
            for (difference, kept) in self.differences.iter_mut().zip(&self.kept) {
                difference.copy_from_slice(kept);
            }
            self.grid = self.kept_grid;
        }
        self.order = self.kept_order;
        self.equal_steps = 0;
    }

    /// The factor for the step size after a failed error test; sets the order of the next attempt.
    /// The order decreases if the next lower one allows a larger step, and from the second failure
    /// of a step on: then the differences do not describe the solution ahead, as after a jump of
    /// the rate.
    fn lower(&mut self, error: f64, safety: f64, failures: u32) -> f64 {
        let k = self.order;
        let factor = |error: f64, order: usize| libm::pow(error, -1.0 / (order + 1) as f64);
        let mut best = factor(error, k);
        if k > 1 {
            // ∇ᵏuₙ₊₁ = ∇ᵏuₙ + ∇ᵏ⁺¹uₙ₊₁.
            for (sum, (d, difference)) in
                self.shift.iter_mut().zip(self.d.iter().zip(&self.differences[k]))
            {
                *sum = d + difference;
            }
            let below = error_constant(k - 1) * self.progress.norm(&self.shift);
            let below = factor(below, k - 1);
            if failures > 1 || below > best {
                best = if failures > 1 { best.max(below) } else { below };
                self.order = k - 1;
                self.equal_steps = 0;
            }
        }
        let most = if failures > 1 { 0.5 } else { 1.0 };
        // Written so that NaN gives the smallest factor.
        (safety * best).max(SHRINK).min(most)
    }

    /// `ũ` and `ψ = 1/αₖ Σ γᵢ ∇ⁱu`.
    fn predict(&mut self) {
        self.predicted.copy_from_slice(&self.differences[0]);
        self.shift.fill(0.0);
        for (i, difference) in self.differences.iter().enumerate().take(self.order + 1).skip(1) {
            let weight = GAMMA[i] / alpha(self.order);
            axpy(1.0, difference, &mut self.predicted);
            axpy(weight, difference, &mut self.shift);
        }
    }

    /// Solves for the candidate at `next`. `None` if Newton fails, else its iterations.
    fn solve<F: Flow>(&mut self, flow: &mut F, h: f64, next: f64) -> Result<Option<u32>, F::Error> {
        let c = h / alpha(self.order);
        if !self.newton.prepare(c, &mut self.progress.counts) {
            return Ok(None);
        }
        self.predict();
        self.d.fill(0.0);
        let equation = Equation { t: next, c, base: &self.predicted, shift: Some(&self.shift) };
        let counts = &mut self.progress.counts;
        let weights = &self.progress.inverse_weight;
        match self.newton.solve(flow, counts, weights, &equation, &mut self.d)? {
            Outcome::Converged(iterations) => {
                let sums = self.predicted.iter().zip(&self.d);
                for (y, (p, d)) in self.progress.candidate.iter_mut().zip(sums) {
                    *y = p + d;
                }
                Ok(Some(iterations))
            }
            Outcome::Failed { .. } => Ok(None),
        }
    }

    /// Moves the differences to the accepted candidate.
    fn move_differences(&mut self) {
        let k = self.order;
        let (low, high) = self.differences.split_at_mut(k + 2);
        for ((top, next), d) in high[0].iter_mut().zip(&mut low[k + 1]).zip(&self.d) {
            *top = d - *next;
            *next = *d;
        }
        for i in (1..=k).rev() {
            let (low, high) = self.differences.split_at_mut(i + 1);
            for (d, above) in low[i].iter_mut().zip(&high[0]) {
                *d += above;
            }
        }
        self.differences[0].copy_from_slice(&self.progress.candidate);
    }

    /// Chooses order and step size after k + 1 equal steps; returns the size wanted next.
    /// `error` is the norm of the estimate at order k.
    fn choose(&mut self, h: f64, error: f64, safety: f64) -> f64 {
        let k = self.order;
        let factor = |error: f64, order: usize| libm::pow(error, -1.0 / (order + 1) as f64);
        let mut best = (factor(error, k), k);
        if k > 1 {
            let error = error_constant(k - 1) * self.progress.norm(&self.differences[k]);
            best = better(best, (factor(error, k - 1), k - 1));
        }
        if k < MAX_ORDER {
            let error = error_constant(k + 1) * self.progress.norm(&self.differences[k + 2]);
            best = better(best, (factor(error, k + 1), k + 1));
        }
        let growth = (safety * best.0).clamp(SHRINK, GROW);
        if (1.0..HOLD).contains(&growth) {
            return h;
        }
        if best.1 != k {
            self.order = best.1;
            self.equal_steps = 0;
        }
        h * growth
    }

    /// Largest number of attempts at a step.
    fn attempts<F: Flow>(&mut self, flow: &mut F, end: f64) -> Result<(), Failure<F::Error>> {
        let t = self.progress.t;
        if t >= end {
            return Ok(());
        }
        self.progress.weigh(flow);
        let mut wanted = match self.progress.h {
            Some(h) => h,
            None => self.progress.first_step(flow, &self.first, end, 2.0, &mut self.d)?,
        };
        let mut fresh = false;
        let (mut attempts, mut inaccurate, mut unsolved) = (0, 0, 0);
        loop {
            let h = fit(t, wanted, end);
            let next = if h == end - t { end } else { t + h };
            self.progress.weigh(flow);
            if !self.newton.has_jacobian() {
                self.predicted.copy_from_slice(&self.progress.u);
                let newton = &mut self.newton;
                let finite = newton.evaluate(flow, &mut self.progress, t, &self.predicted);
                if !finite.map_err(Failure::Flow)? {
                    return Err(Failure::NotFinite { t, h: 0.0 });
                }
                fresh = true;
            }
            self.set_grid(h);
            let solved = self.solve(flow, h, next).map_err(Failure::Flow)?;
            let mut factor = 0.25;
            if let Some(iterations) = solved {
                self.progress.weigh_candidate(flow);
                let error = error_constant(self.order) * self.progress.norm(&self.d);
                let safety = 0.9 * f64::from(2 * LIMIT + 1) / f64::from(2 * LIMIT + iterations);
                if error <= 1.0 {
                    self.accept(h, wanted, next, error, safety);
                    return Ok(());
                }
                inaccurate += 1;
                factor = self.lower(error, safety, inaccurate);
            } else if !fresh {
                // The Jacobian of an earlier step may be the only cause.
                self.newton.reset();
                factor = 1.0;
            } else {
                unsolved += 1;
                if unsolved > 1 && self.order > 1 {
                    // The prediction of a high order may be a bad start for Newton's method.
                    self.order -= 1;
                    self.equal_steps = 0;
                }
            }
            attempts += 1;
            self.progress.counts.rejected += 1;
            wanted = factor * h;
            self.progress.h = Some(wanted);
            if exhausted(t, wanted, attempts) {
                return Err(self.newton.failure(t, h));
            }
        }
    }

    fn accept(&mut self, h: f64, wanted: f64, next: f64, error: f64, safety: f64) {
        if self.start.is_none() {
            let allowed = h * safety * libm::pow(error.max(1e-10), -0.5);
            self.start = Some(allowed.min(wanted.max(GROW * h)));
        }
        self.dense_order = self.order;
        self.equal_steps += 1;
        self.move_differences();
        let wanted =
            if self.equal_steps > self.order { self.choose(h, error, safety) } else { wanted };
        self.progress.h = Some(wanted);
        self.progress.accept(next);
    }
}

/// The larger factor; the first of equals.
fn better(a: (f64, usize), b: (f64, usize)) -> (f64, usize) {
    if b.0 > a.0 { b } else { a }
}

/// `R(ρ) R(1)` for differences of orders 0 to k when h becomes ρ h: `∇*ʲ = Σₘ [R U]ₘⱼ ∇ᵐ` with
/// `Rᵢⱼ = Πₘ₌₁ⁱ (m - 1 - j ρ) / m` (Shampine, Reichelt 1997, section 2.2).
fn change_of_grid(k: usize, ratio: f64) -> [[f64; MAX_ORDER + 1]; MAX_ORDER + 1] {
    let products = |ratio: f64| {
        let mut r = [[0.0; MAX_ORDER + 1]; MAX_ORDER + 1];
        r[0] = [1.0; MAX_ORDER + 1];
        for i in 1..=k {
            let above = r[i - 1];
            for (j, (r, above)) in r[i].iter_mut().zip(above).enumerate() {
                *r = above * ((i - 1) as f64 - j as f64 * ratio) / i as f64;
            }
        }
        r
    };
    let (r, u) = (products(ratio), products(1.0));
    let mut change = [[0.0; MAX_ORDER + 1]; MAX_ORDER + 1];
    for i in 0..=k {
        for j in 0..=k {
            change[i][j] = (0..=k).fold(0.0, |sum, m| sum + r[i][m] * u[m][j]);
        }
    }
    change
}

impl Kernel for Bdf {
    fn begin(&mut self, t: f64, u: &[f64], first: &[f64], h: Option<f64>) {
        self.progress.begin(t, u, h);
        self.newton.begin(self.keep_jacobian);
        self.grid = 0.0;
        self.order = 1;
        self.dense_order = 1;
        self.equal_steps = 0;
        self.start = None;
        self.first.copy_from_slice(first);
    }

    fn step<F: Flow>(&mut self, flow: &mut F, end: f64) -> Result<(), Failure<F::Error>> {
        self.kept_order = self.order;
        let outcome = self.attempts(flow, end);
        if outcome.is_err() {
            self.take_back();
        }
        self.is_kept = false;
        outcome
    }

    fn present(&self) -> Present<'_> {
        self.progress.present()
    }

    fn interpolate(&self, t: f64, u: &mut [f64]) {
        if self.progress.at_end(t, u) {
            return;
        }
        u.copy_from_slice(&self.differences[0]);
        let mut weight = 1.0;
        for m in 0..self.dense_order {
            // Newton's form on the nodes t, t - h, t - 2h, ….
            weight *= ((t - self.progress.t) / self.grid + m as f64) / (m + 1) as f64;
            axpy(weight, &self.differences[m + 1], u);
        }
    }

    fn remembered_step(&self) -> f64 {
        self.start.unwrap_or(f64::INFINITY)
    }

    super::newton::jacobian_methods!();
}
