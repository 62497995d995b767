//! ESDIRK4(3)6L\[2\]SA: a singly diagonally implicit Runge-Kutta pair 4(3) with an explicit first
//! stage.
//!
//! Six stages, five of them implicit with the same `γ = 1/4`, so one factorization of `I - γ h Ĵ`
//! serves them all. L-stable, stage order 2, stiffly accurate: the last stage is the solution, its
//! rate the first stage of the next step. That rate is taken from the stage equation,
//! `k = d / (γ h)`, not from the flow, which would multiply the error of a stiff component by its
//! eigenvalue. The embedded solution of order 3 is L-stable too, so the error estimate of a stiff
//! component decays like the component.
//!
//! Dense output `u(tₙ + θ h) = uₙ + h Σⱼ bⱼ*(θ) kⱼ` of order 4, continuous at both ends. It is not
//! L-stable inside the step: a component with `h λ → -∞` that has not decayed yet is returned with
//! up to about twice its size. The fifth stage lies at `tₙ + 1.04 h`: in the last step of a segment
//! the flow is asked for a rate beyond the end by 4 % of that step.
//!
//! # References
//! Kennedy, Carpenter, *Diagonally implicit Runge-Kutta methods for ordinary differential
//! equations. A review*, NASA/TM-2016-219173 (2016), section 7.1.1 and table 16; the same in
//! *Diagonally implicit Runge-Kutta methods for stiff ODEs* (2019).

mod tableau;

use super::control::{StepControl, exhausted, fit};
use super::newton::{Equation, Newton, Outcome};
use super::progress::Progress;
use super::{Failure, Flow, Kernel, Present, Tolerance};
use legwork_linalg::axpy;
use tableau::{A, C, DENSE, E, GAMMA, GUESS};

/// Newton's tolerance κ in units of the error tolerance, and its limit of iterations per stage.
const KAPPA: f64 = 0.05;
const LIMIT: u32 = 6;
/// A Jacobian with which Newton converges slower than this is not used for the next step.
const SLOW: f64 = 0.1;
/// Growth up to this factor is not worth a factorization.
const HOLD: f64 = 1.2;

/// The pair ESDIRK4(3)6L\[2\]SA.
#[derive(Debug, Clone)]
pub struct Esdirk43 {
    progress: Progress,
    control: StepControl,
    newton: Newton,
    keep_jacobian: bool,
    /// Stage rates `k₁ … k₆`, n each. Between steps `k₆` belongs to the present (t, u).
    k: [Vec<f64>; 6],
    base: Vec<f64>,
    d: Vec<f64>,
    error: Vec<f64>,
}

impl Esdirk43 {
    /// A kernel for n coordinates.
    pub fn new(n: usize, tolerance: Tolerance) -> Self {
        Self {
            progress: Progress::new(n, tolerance),
            control: StepControl::new(4.0, 5.0),
            newton: Newton::new(n, KAPPA, tolerance, LIMIT, 0.0),
            keep_jacobian: false,
            k: std::array::from_fn(|_| vec![0.0; n]),
            base: vec![0.0; n],
            d: vec![0.0; n],
            error: vec![0.0; n],
        }
    }

    /// Stages 2 to 6 of a step of size `h` from `k₁`: the candidate. False if Newton fails.
    fn stages<F: Flow>(&mut self, flow: &mut F, h: f64, end: f64) -> Result<bool, F::Error> {
        let n = self.base.len();
        let c = GAMMA * h;
        for stage in 1..6 {
            let (known, own) = self.k.split_at_mut(stage);
            let t = if stage == 5 { end } else { self.progress.t + C[stage] * h };
            self.base.copy_from_slice(&self.progress.u);
            for (k, a) in known.iter().zip(&A[stage]) {
                axpy(h * a, k, &mut self.base);
            }
            guess(stage, c, known, &mut self.d[..n]);
            let equation = Equation { t, c, base: &self.base, shift: None };
            let counts = &mut self.progress.counts;
            let weights = &self.progress.inverse_weight;
            match self.newton.solve(flow, counts, weights, &equation, &mut self.d)? {
                Outcome::Converged(_) => {}
                Outcome::Failed { .. } => return Ok(false),
            }
            let inverse = 1.0 / c;
            for (k, d) in own[0].iter_mut().zip(&self.d) {
                *k = inverse * d;
            }
        }
        for ((y, b), d) in self.progress.candidate.iter_mut().zip(&self.base).zip(&self.d) {
            *y = b + d;
        }
        let [k1, k2, k3, k4, k5, k6] = &self.k;
        for i in 0..n {
            let sum = E[0] * k1[i] + E[1] * k2[i] + E[2] * k3[i] + E[3] * k4[i] + E[4] * k5[i];
            self.error[i] = h * (sum + E[5] * k6[i]);
        }
        Ok(true)
    }

    /// One step from `k₁`, which is in its place.
    fn attempt<F: Flow>(&mut self, flow: &mut F, end: f64) -> Result<(), Failure<F::Error>> {
        let t = self.progress.t;
        let mut wanted = self.progress.h.unwrap_or(end - t);
        let mut fresh = false;
        let mut attempts = 0;
        loop {
            let h = fit(t, wanted, end);
            let next = if h == end - t { end } else { t + h };
            self.progress.weigh(flow);
            if !self.newton.has_jacobian() {
                self.base.copy_from_slice(&self.progress.u);
                let newton = &mut self.newton;
                let finite = newton.evaluate(flow, &mut self.progress, t, &self.base);
                if !finite.map_err(Failure::Flow)? {
                    return Err(Failure::NotFinite { t, h: 0.0 });
                }
                fresh = true;
            }
            let solved = self.newton.prepare(GAMMA * h, &mut self.progress.counts)
                && self.stages(flow, h, next).map_err(Failure::Flow)?;
            let mut error = f64::INFINITY;
            if solved {
                self.progress.weigh_candidate(flow);
                error = self.progress.norm(&self.error);
                if error <= 1.0 {
                    let limit = if attempts == 0 { f64::INFINITY } else { 1.0 };
                    let proposed = self.control.accept(h, wanted, error, limit);
                    let hold = h == wanted && (h..HOLD * h).contains(&proposed);
                    self.progress.h = Some(if hold { h } else { proposed });
                    if self.newton.take_slowest() > SLOW && !fresh {
                        self.newton.reset();
                    }
                    self.progress.accept(next);
                    return Ok(());
                }
            }
            attempts += 1;
            self.progress.counts.rejected += 1;
            wanted = if error.is_finite() {
                self.control.reject(h, error)
            } else if !fresh {
                // The Jacobian of an earlier step may be all that is wrong.
                self.newton.reset();
                h
            } else {
                0.25 * h
            };
            if exhausted(t, wanted, attempts) {
                return Err(self.newton.failure(t, h));
            }
        }
    }
}

/// The first guess of `d = c k` at a stage.
fn guess(stage: usize, c: f64, k: &[Vec<f64>], d: &mut [f64]) {
    d.fill(0.0);
    for (weight, k) in GUESS[stage].iter().zip(k) {
        axpy(c * weight, k, d);
    }
}

impl Kernel for Esdirk43 {
    fn begin(&mut self, t: f64, u: &[f64], first: &[f64], h: Option<f64>) {
        self.progress.begin(t, u, h);
        self.control.reset();
        self.newton.begin(self.keep_jacobian);
        self.k[5].copy_from_slice(first);
    }

    fn step<F: Flow>(&mut self, flow: &mut F, end: f64) -> Result<(), Failure<F::Error>> {
        if self.progress.t >= end {
            return Ok(());
        }
        self.progress.weigh(flow);
        if self.progress.h.is_none() {
            let first = &self.k[5];
            let h = self.progress.first_step(flow, first, end, 4.0, &mut self.error)?;
            self.progress.h = Some(h);
        }
        self.k.swap(0, 5);
        let outcome = self.attempt(flow, end);
        if outcome.is_err() {
            self.k.swap(0, 5);
        }
        outcome
    }

    fn present(&self) -> Present<'_> {
        self.progress.present()
    }

    fn interpolate(&self, t: f64, u: &mut [f64]) {
        if self.progress.at_end(t, u) {
            return;
        }
        let Progress { t: end, previous_t: start, u: last, previous, .. } = &self.progress;
        let h = end - start;
        let theta = (t - start) / h;
        // u(θ) is the chord plus h Σ (b*(θ) - θ b) k, where each bracket has the factor θ (θ - 1);
        // with the factor taken out both ends are met to round-off.
        let chord_off = h * theta * (theta - 1.0);
        let weights: [f64; 6] = std::array::from_fn(|j| {
            let (b2, b3, b4) = (DENSE[0][j], DENSE[1][j], DENSE[2][j]);
            chord_off * ((b2 + b3 + b4) + theta * ((b3 + b4) + theta * b4))
        });
        for i in 0..u.len() {
            let mut sum = previous[i] + theta * (last[i] - previous[i]);
            for (weight, k) in weights.iter().zip(&self.k) {
                sum += weight * k[i];
            }
            u[i] = sum;
        }
    }

    fn remembered_step(&self) -> f64 {
        self.progress.h.unwrap_or(f64::INFINITY)
    }

    super::newton::jacobian_methods!();
}
