//! What all kernels keep: where they are, the error norm, the choice of the first step.

use super::{Counts, Failure, Flow, Present, Tolerance};

/// Position, norm and counts of a kernel.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    pub(super) tolerance: Tolerance,
    pub(super) t: f64,
    pub(super) previous_t: f64,
    /// Solution at `t`, n.
    pub(super) u: Vec<f64>,
    /// Solution at `previous_t`, n.
    pub(super) previous: Vec<f64>,
    /// Solution of the present attempt, n.
    pub(super) candidate: Vec<f64>,
    /// Step size wanted next [s], before it is cut at an end.
    pub(super) h: Option<f64>,
    /// Magnitudes at `u` and at `candidate`, n each.
    magnitude: Vec<f64>,
    candidate_magnitude: Vec<f64>,
    /// `1 / wᵢ`, n.
    pub(super) inverse_weight: Vec<f64>,
    weighed: bool,
    pub(super) counts: Counts,
}

impl Progress {
    pub(super) fn new(n: usize, tolerance: Tolerance) -> Self {
        Self {
            tolerance,
            t: 0.0,
            previous_t: 0.0,
            u: vec![0.0; n],
            previous: vec![0.0; n],
            candidate: vec![0.0; n],
            h: None,
            magnitude: vec![0.0; n],
            candidate_magnitude: vec![0.0; n],
            inverse_weight: vec![0.0; n],
            weighed: false,
            counts: Counts::default(),
        }
    }

    pub(super) fn present(&self) -> Present<'_> {
        Present { t: self.t, u: &self.u, previous_t: self.previous_t, counts: self.counts }
    }

    pub(super) fn begin(&mut self, t: f64, u: &[f64], h: Option<f64>) {
        self.t = t;
        self.previous_t = t;
        self.u.copy_from_slice(u);
        self.previous.copy_from_slice(u);
        self.h = h.filter(|h| h.is_finite() && *h > 0.0);
        self.weighed = false;
    }

    /// Weights at `u`.
    pub(super) fn weigh<F: Flow>(&mut self, flow: &mut F) {
        if !self.weighed {
            flow.magnitude(&self.u, &mut self.magnitude);
            self.weighed = true;
        }
        let Tolerance { relative, absolute } = self.tolerance;
        for (w, m) in self.inverse_weight.iter_mut().zip(&self.magnitude) {
            *w = 1.0 / (absolute + relative * m);
        }
    }

    /// Weights of a step from `u` to `candidate`.
    pub(super) fn weigh_candidate<F: Flow>(&mut self, flow: &mut F) {
        flow.magnitude(&self.candidate, &mut self.candidate_magnitude);
        let Tolerance { relative, absolute } = self.tolerance;
        let magnitudes = self.magnitude.iter().zip(&self.candidate_magnitude);
        for (w, (before, after)) in self.inverse_weight.iter_mut().zip(magnitudes) {
            *w = 1.0 / (absolute + relative * before.max(*after));
        }
    }

    /// Increment of coordinate j from `start` in a difference Jacobian, see [`super::newton`].
    pub(super) fn difference_step(&self, j: usize, start: f64) -> f64 {
        let Tolerance { relative, absolute } = self.tolerance;
        let size = self.magnitude[j] + absolute / relative;
        // Without a relative tolerance, or with tolerances of zero, all that is left is a number of
        // size one.
        let size = if size.is_finite() && size > 0.0 { size } else { 1.0 };
        f64::EPSILON.sqrt() * size + 16.0 * f64::EPSILON * start.abs()
    }

    /// Error norm of `x`.
    pub(super) fn norm(&self, x: &[f64]) -> f64 {
        norm(x, &self.inverse_weight)
    }

    /// Moves to the candidate, whose weights have been taken, at time `t`.
    pub(super) fn accept(&mut self, t: f64) {
        self.previous_t = self.t;
        self.t = t;
        std::mem::swap(&mut self.previous, &mut self.u);
        std::mem::swap(&mut self.u, &mut self.candidate);
        std::mem::swap(&mut self.magnitude, &mut self.candidate_magnitude);
        self.counts.steps += 1;
    }

    /// Copies a solution at one of the ends of the last step, if `t` is one.
    pub(super) fn at_end(&self, t: f64, u: &mut [f64]) -> bool {
        let end = if t == self.t {
            &self.u
        } else if t == self.previous_t {
            &self.previous
        } else {
            return false;
        };
        u.copy_from_slice(end);
        true
    }

    /// The step size to begin with, from the rate `first` at (t, u): such that an explicit Euler
    /// step is small against the state and the leading error term, as far as two rates show it, is
    /// 1 % of the tolerance. `q`: the error of the method's estimate is `O(h^q)`. Weights at `u`
    /// are taken; `scratch` has n numbers. One rate. Without a state the step is the whole way.
    ///
    /// # References
    /// Hairer, Nørsett, Wanner, *Solving ODEs I* (1993), II.4, p. 169. `‖u₀‖` is the norm of the
    /// magnitudes, since the origin of a chart says nothing about the size of the state.
    pub(super) fn first_step<F: Flow>(
        &mut self,
        flow: &mut F,
        first: &[f64],
        end: f64,
        q: f64,
        scratch: &mut [f64],
    ) -> Result<f64, Failure<F::Error>> {
        let left = end - self.t;
        if first.is_empty() {
            return Ok(left);
        }
        let size = self.norm(&self.magnitude);
        let speed = self.norm(first);
        if !(speed.is_finite()) {
            return Err(Failure::NotFinite { t: self.t, h: 0.0 });
        }
        let h0 = if size < 1e-5 || speed < 1e-5 { 1e-6 } else { 0.01 * size / speed }.min(left);
        for ((y, u), k) in self.candidate.iter_mut().zip(&self.u).zip(first) {
            *y = u + h0 * k;
        }
        self.counts.rates += 1;
        flow.rate(self.t + h0, &self.candidate, scratch).map_err(Failure::Flow)?;
        for (s, k) in scratch.iter_mut().zip(first) {
            *s -= k;
        }
        let change = self.norm(scratch) / h0;
        if !change.is_finite() {
            // The probe left the domain of the flow; the error control will find the way.
            return Ok((1e-3 * h0).min(left));
        }
        let fastest = speed.max(change);
        let h1 = if fastest <= 1e-15 {
            (1e-3 * h0).max(1e-6)
        } else {
            libm::pow(0.01 / fastest, 1.0 / q)
        };
        Ok(h1.min(100.0 * h0).min(left))
    }
}

/// Root of the mean of `(xᵢ / wᵢ)²`, given `1 / wᵢ`; 0 for n = 0.
///
/// Four interleaved partial sums are added in a fixed order.
pub(super) fn norm(x: &[f64], inverse_weight: &[f64]) -> f64 {
    if x.is_empty() {
        return 0.0;
    }
    let (x4, w4) = (x.chunks_exact(4), inverse_weight.chunks_exact(4));
    let tail: f64 =
        (x4.remainder().iter().zip(w4.remainder())).map(|(x, w)| (x * w) * (x * w)).sum();
    let mut sums = [0.0; 4];
    for (x, w) in x4.zip(w4) {
        for lane in 0..4 {
            let e = x[lane] * w[lane];
            sums[lane] += e * e;
        }
    }
    (((sums[0] + sums[2]) + (sums[1] + sums[3]) + tail) / x.len() as f64).sqrt()
}
