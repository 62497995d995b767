//! Laws of the kernels, and their solutions beside independent ones.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod bdf;
mod contract;
mod nonstiff;
mod order;
mod problems;
mod stiff;

use std::convert::Infallible;

use super::*;

/// A flow given by a function of plain numbers.
struct Plain<R> {
    rate: R,
    /// Where the rate was last asked for.
    last: (f64, Vec<f64>),
    /// The latest time asked for.
    latest: f64,
}

impl<R: FnMut(f64, &[f64], &mut [f64])> Plain<R> {
    fn new(rate: R) -> Self {
        Self { rate, last: (0.0, Vec::new()), latest: f64::NEG_INFINITY }
    }
}

impl<R: FnMut(f64, &[f64], &mut [f64])> Flow for Plain<R> {
    type Error = Infallible;

    fn rate(&mut self, t: f64, u: &[f64], rate: &mut [f64]) -> Result<(), Infallible> {
        (self.rate)(t, u, rate);
        self.latest = self.latest.max(t);
        // The kernel allocates nothing, so neither does its test flow after the first call.
        self.last.0 = t;
        self.last.1.clear();
        self.last.1.extend_from_slice(u);
        Ok(())
    }

    fn magnitude(&mut self, u: &[f64], magnitude: &mut [f64]) {
        for (m, u) in magnitude.iter_mut().zip(u) {
            *m = u.abs();
        }
    }
}

fn tolerance(relative: f64, absolute: f64) -> Tolerance {
    Tolerance { relative, absolute }
}

/// One kernel of each kind.
fn kernels(n: usize, tolerance: Tolerance) -> [VariableStep; 3] {
    [
        VariableStep::DormandPrince54(DormandPrince54::new(n, tolerance)),
        VariableStep::Esdirk43(Esdirk43::new(n, tolerance)),
        VariableStep::Bdf(Bdf::new(n, tolerance)),
    ]
}

/// Begins at (t, u) with the flow's rate there.
fn begin<K: Kernel, F: Flow<Error = Infallible>>(
    kernel: &mut K,
    flow: &mut F,
    t: f64,
    u: &[f64],
    h: Option<f64>,
) {
    let mut first = vec![0.0; u.len()];
    flow.rate(t, u, &mut first).unwrap();
    kernel.begin(t, u, &first, h);
}

/// Integrates from (0, u) to each of `times` in turn, the later ones reached by dense output, and
/// returns the states there.
fn solve<K: Kernel, F: Flow<Error = Infallible>>(
    kernel: &mut K,
    flow: &mut F,
    u: &[f64],
    times: &[f64],
) -> Vec<Vec<f64>> {
    begin(kernel, flow, 0.0, u, None);
    let end = *times.last().unwrap();
    let mut states = Vec::new();
    for &t in times {
        while kernel.t() < t {
            kernel.step(flow, end).unwrap();
        }
        let mut state = vec![0.0; u.len()];
        kernel.interpolate(t, &mut state);
        states.push(state);
    }
    states
}

/// Largest `|a - b| / (|b| + floor)`.
fn relative_error(a: &[f64], b: &[f64], floor: f64) -> f64 {
    a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs() / (b.abs() + floor)))
}
