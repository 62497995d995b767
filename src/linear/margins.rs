//! Margins of a loop.

use std::f64::consts::PI;

use faer::c64;

use crate::algebra::Error;
use crate::response::frequencies;
use crate::system::System;

/// Where the response of a loop crosses a gain of 1, or the negative real axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// Where [rad/s]; 0 where a loop begins on the negative real axis.
    pub frequency: f64,
    /// Gain margin `1 / |L|` at a crossing of the negative real axis [1]; phase margin at a gain of
    /// 1, from −π to π [rad].
    pub margin: f64,
}

/// How far a loop `L` in negative unity feedback is from the border of stability.
#[derive(Debug, Clone, Default)]
pub struct Margins {
    /// Crossings of the negative real axis, by frequency.
    pub gain: Vec<Crossing>,
    /// Crossings of a gain of 1, by frequency.
    pub phase: Vec<Crossing>,
    /// The smallest distance of L from −1, which is `1 / max |S|`, and where [rad/s].
    pub distance: Option<Crossing>,
}

impl Margins {
    /// The gain margin that is nearest to 1, above or below.
    pub fn nearest_gain(&self) -> Option<Crossing> {
        let size = |one: &Crossing| libm::log(one.margin).abs();
        self.gain.iter().copied().min_by(|a, b| size(a).total_cmp(&size(b)))
    }

    /// The phase margin that is nearest to 0.
    pub fn nearest_phase(&self) -> Option<Crossing> {
        self.phase.iter().copied().min_by(|a, b| a.margin.abs().total_cmp(&b.margin.abs()))
    }

    /// The delay that makes the loop unstable [s]: the smallest phase margin over its frequency,
    /// the margin counted from 0 to 2π.
    pub fn delay(&self) -> Option<f64> {
        let lag = |one: &Crossing| one.margin.rem_euclid(2.0 * PI) / one.frequency;
        self.phase.iter().map(lag).min_by(f64::total_cmp)
    }
}

/// The margins of a loop of one input and one output.
///
/// Crossings are bracketed on a grid that is close around lightly damped poles and zeros, then
/// located to the last digit.
///
/// # Errors
/// If the system has not one input and one output, or its poles or zeros do not converge.
pub fn margins(system: &System) -> Result<Margins, Error> {
    if (system.inputs(), system.outputs()) != (1, 1) {
        let message = format!(
            "expected a loop of one input and one output, found {} and {}",
            system.inputs(),
            system.outputs()
        );
        return Err(Error::Request(message));
    }
    let mut grid = frequencies(system, 200)?;
    let at = |w: f64| system.at(system.point(w))[(0, 0)];
    let gain = |w: f64| libm::log(libm::hypot(at(w).re, at(w).im));
    let imaginary = |w: f64| at(w).im;
    extend(&mut grid, gain, system.nyquist_frequency());
    let mut found = Margins::default();
    // At 0 a loop is real: below that gain, or above it, a real pole is unstable.
    let start = at(0.0).re;
    if start.is_finite() && start < 0.0 && is_flat(start, at(grid[0])) {
        found.gain.push(Crossing { frequency: 0.0, margin: -1.0 / start });
    }
    let values: Vec<c64> = grid.iter().map(|w| at(*w)).collect();
    for (w, z) in grid.windows(2).zip(values.windows(2)) {
        let finite = z.iter().all(|z| z.re.is_finite() && z.im.is_finite());
        if !finite {
            continue;
        }
        let log = |z: c64| libm::log(libm::hypot(z.re, z.im));
        if (log(z[0]) > 0.0) != (log(z[1]) > 0.0) {
            let frequency = root(gain, w[0], w[1]);
            let here = at(frequency);
            found.phase.push(Crossing { frequency, margin: libm::atan2(-here.im, -here.re) });
        }
        if (z[0].im > 0.0) != (z[1].im > 0.0) && z[0].re.min(z[1].re) < 0.0 {
            let frequency = root(imaginary, w[0], w[1]);
            let here = at(frequency);
            let small = here.im.abs() < 1e-6 * (1e-12 + here.re.abs());
            if here.re < 0.0 && small {
                found.gain.push(Crossing { frequency, margin: -1.0 / here.re });
            }
        }
    }
    // At the end of its frequencies a sampled loop is real.
    if let (Some(end), Some(last)) = (system.nyquist_frequency(), values.last())
        && last.re < 0.0
        && last.im.abs() < 1e-9 * last.re.abs()
        && !found.gain.iter().any(|one| (one.frequency / end - 1.0).abs() < 1e-6)
    {
        found.gain.push(Crossing { frequency: end, margin: -1.0 / last.re });
    }
    let distance = |w: f64| {
        let z = at(w);
        libm::hypot(z.re + 1.0, z.im)
    };
    let nearest = (0..grid.len())
        .filter(|i| distance(grid[*i]).is_finite())
        .min_by(|a, b| distance(grid[*a]).total_cmp(&distance(grid[*b])));
    found.distance = nearest.map(|i| {
        let (low, high) = (grid[i.saturating_sub(1)], grid[(i + 1).min(grid.len() - 1)]);
        let frequency = minimum(distance, low, high);
        Crossing { frequency, margin: distance(frequency) }
    });
    Ok(found)
}

/// Whether a response at the lowest frequency of a grid is still that at 0, as it is without poles
/// and zeros there.
fn is_flat(start: f64, lowest: c64) -> bool {
    libm::hypot(lowest.re - start, lowest.im) < 0.5 * start.abs()
}

/// Lengthens a grid to where a gain that grows or falls on and on has crossed 1.
fn extend(grid: &mut Vec<f64>, gain: impl Fn(f64) -> f64, end: Option<f64>) {
    const STEP: f64 = 1.02;
    for _ in 0..1400 {
        let (here, below) = (gain(grid[0]), gain(grid[0] / STEP));
        let crosses_on = (here > 0.0) != (below - here > 0.0) && (here - below).abs() > 1e-3;
        if !crosses_on {
            break;
        }
        grid.insert(0, grid[0] / STEP);
    }
    for _ in 0..1400 {
        let last = grid[grid.len() - 1];
        let (here, beyond) = (gain(last), gain(last * STEP));
        let crosses_on = (here > 0.0) != (beyond - here > 0.0) && (here - beyond).abs() > 1e-3;
        if !crosses_on || end.is_some_and(|end| last * STEP > end) {
            break;
        }
        grid.push(last * STEP);
    }
}

/// Where a function changes its sign between `a` and `b`: bisection, to the last digit.
fn root(function: impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> f64 {
    let is_positive = function(a) > 0.0;
    for _ in 0..200 {
        let middle = 0.5 * (a + b);
        if middle <= a || middle >= b {
            break;
        }
        if (function(middle) > 0.0) == is_positive {
            a = middle;
        } else {
            b = middle;
        }
    }
    if function(a).abs() < function(b).abs() { a } else { b }
}

/// Where a function is least between `a` and `b`, by golden sections.
fn minimum(function: impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> f64 {
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    for _ in 0..100 {
        let (left, right) = (b - golden * (b - a), a + golden * (b - a));
        if function(left) < function(right) {
            b = right;
        } else {
            a = left;
        }
    }
    0.5 * (a + b)
}
