//! The explicit Runge-Kutta pair 5(4) of Dormand and Prince, known as ode45.
//!
//! Seven stages, the last of which is the first of the next step (FSAL): six rates per step. The
//! solution of order 5 is carried on, the difference to the embedded one of order 4 estimates the
//! error. Dense output of order 4 needs no further rate.
//!
//! # References
//! Dormand, Prince, *A family of embedded Runge-Kutta formulae* (1980), table 2;
//! Shampine, *Some practical Runge-Kutta formulas* (1986), and Hairer, Nørsett, Wanner,
//! *Solving ODEs I* (1993), II.5 table 5.2, II.6 (6.12) for the dense output.

use super::control::{StepControl, exhausted, fit};
use super::progress::Progress;
use super::{Failure, Flow, Kernel, Present, Tolerance};

const C: [f64; 4] = [1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0];
const A2: f64 = 1.0 / 5.0;
const A3: [f64; 2] = [3.0 / 40.0, 9.0 / 40.0];
const A4: [f64; 3] = [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0];
const A5: [f64; 4] = [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0];
const A6: [f64; 5] =
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0];
/// Weights of stages 1, 3, 4, 5, 6; the second has none.
const B: [f64; 5] = [35.0 / 384.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0];
/// `b - b̂` of stages 1, 3, 4, 5, 6, 7.
const E: [f64; 6] = [
    71.0 / 57600.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];
/// Highest coefficient of the dense output, stages 1, 3, 4, 5, 6, 7.
const D: [f64; 6] = [
    -12715105075.0 / 11282082432.0,
    87487479700.0 / 32700410799.0,
    -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0,
    -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0,
];

/// The pair of Dormand and Prince.
#[derive(Debug, Clone)]
pub struct DormandPrince54 {
    progress: Progress,
    control: StepControl,
    /// Stage rates `k₁ … k₇`, n each. Between steps `k₇` belongs to the present (t, u).
    k: [Vec<f64>; 7],
    error: Vec<f64>,
}

impl DormandPrince54 {
    /// A kernel for n coordinates.
    pub fn new(n: usize, tolerance: Tolerance) -> Self {
        Self {
            progress: Progress::new(n, tolerance),
            control: StepControl::new(5.0, 5.0),
            k: std::array::from_fn(|_| vec![0.0; n]),
            error: vec![0.0; n],
        }
    }

    /// Stages 2 to 7 of a step of size `h` from `k₁`, ending at `end`: the candidate and the error.
    fn stages<F: Flow>(&mut self, flow: &mut F, h: f64, end: f64) -> Result<(), F::Error> {
        let n = self.error.len();
        let t = self.progress.t;
        let u = &self.progress.u[..n];
        let y = &mut self.progress.candidate[..n];
        let [k1, k2, k3, k4, k5, k6, k7] = &mut self.k;
        let k1 = &k1[..n];
        self.progress.counts.rates += 6;
        for i in 0..n {
            y[i] = u[i] + h * (A2 * k1[i]);
        }
        flow.rate(t + C[0] * h, y, k2)?;
        let k2 = &k2[..n];
        for i in 0..n {
            y[i] = u[i] + h * (A3[0] * k1[i] + A3[1] * k2[i]);
        }
        flow.rate(t + C[1] * h, y, k3)?;
        let k3 = &k3[..n];
        for i in 0..n {
            y[i] = u[i] + h * (A4[0] * k1[i] + A4[1] * k2[i] + A4[2] * k3[i]);
        }
        flow.rate(t + C[2] * h, y, k4)?;
        let k4 = &k4[..n];
        for i in 0..n {
            let sum = A5[0] * k1[i] + A5[1] * k2[i] + A5[2] * k3[i] + A5[3] * k4[i];
            y[i] = u[i] + h * sum;
        }
        flow.rate(t + C[3] * h, y, k5)?;
        let k5 = &k5[..n];
        for i in 0..n {
            let sum = A6[0] * k1[i] + A6[1] * k2[i] + A6[2] * k3[i] + A6[3] * k4[i] + A6[4] * k5[i];
            y[i] = u[i] + h * sum;
        }
        flow.rate(end, y, k6)?;
        let k6 = &k6[..n];
        for i in 0..n {
            let sum = B[0] * k1[i] + B[1] * k3[i] + B[2] * k4[i] + B[3] * k5[i] + B[4] * k6[i];
            y[i] = u[i] + h * sum;
        }
        flow.rate(end, y, k7)?;
        let k7 = &k7[..n];
        let error = &mut self.error[..n];
        for i in 0..n {
            let sum = E[0] * k1[i] + E[1] * k3[i] + E[2] * k4[i] + E[3] * k5[i] + E[4] * k6[i];
            error[i] = h * (sum + E[5] * k7[i]);
        }
        Ok(())
    }
}

impl Kernel for DormandPrince54 {
    fn begin(&mut self, t: f64, u: &[f64], first: &[f64], h: Option<f64>) {
        self.progress.begin(t, u, h);
        self.control.reset();
        self.k[6].copy_from_slice(first);
    }

    fn step<F: Flow>(&mut self, flow: &mut F, end: f64) -> Result<(), Failure<F::Error>> {
        if self.progress.t >= end {
            return Ok(());
        }
        let mut wanted = match self.progress.h {
            Some(h) => h,
            None => {
                self.progress.weigh(flow);
                self.progress.first_step(flow, &self.k[6], end, 5.0, &mut self.error)?
            }
        };
        self.progress.weigh(flow);
        self.k.swap(0, 6);
        let mut attempts = 0;
        loop {
            let t = self.progress.t;
            let h = fit(t, wanted, end);
            let next = if h == end - t { end } else { t + h };
            if let Err(fault) = self.stages(flow, h, next) {
                self.k.swap(0, 6);
                return Err(Failure::Flow(fault));
            }
            self.progress.weigh_candidate(flow);
            let error = self.progress.norm(&self.error);
            if error <= 1.0 {
                let limit = if attempts == 0 { f64::INFINITY } else { 1.0 };
                self.progress.h = Some(self.control.accept(h, wanted, error, limit));
                self.progress.accept(next);
                return Ok(());
            }
            attempts += 1;
            self.progress.counts.rejected += 1;
            wanted = if error.is_finite() { self.control.reject(h, error) } else { 0.1 * h };
            if exhausted(t, wanted, attempts) {
                self.k.swap(0, 6);
                return Err(match error.is_finite() {
                    true => Failure::StepTooSmall { t, h },
                    false => Failure::NotFinite { t, h },
                });
            }
        }
    }

    fn present(&self) -> Present<'_> {
        self.progress.present()
    }

    fn interpolate(&self, t: f64, u: &mut [f64]) {
        let Progress { t: end, previous_t: start, u: last, previous, .. } = &self.progress;
        if self.progress.at_end(t, u) {
            return;
        }
        let h = end - start;
        let theta = (t - start) / h;
        let rest = 1.0 - theta;
        let [k1, _, k3, k4, k5, k6, k7] = &self.k;
        for i in 0..u.len() {
            let difference = last[i] - previous[i];
            let left = h * k1[i] - difference;
            let right = difference - h * k7[i] - left;
            let sum = D[0] * k1[i] + D[1] * k3[i] + D[2] * k4[i] + D[3] * k5[i] + D[4] * k6[i];
            let top = h * (sum + D[5] * k7[i]);
            u[i] =
                previous[i] + theta * (difference + rest * (left + theta * (right + rest * top)));
        }
    }

    fn remembered_step(&self) -> f64 {
        self.progress.h.unwrap_or(f64::INFINITY)
    }
}
