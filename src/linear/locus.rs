//! Root loci.

use faer::{Mat, c64};

use crate::algebra::{Error, eigenvalues, largest};
use crate::system::System;
use crate::zeros::zeros;

/// The poles of a loop in negative feedback, as its gain grows.
#[derive(Debug, Clone)]
pub struct Locus {
    /// Gains k.
    pub gains: Vec<f64>,
    /// For each gain the poles; each place in the list is one branch.
    pub poles: Vec<Vec<c64>>,
    /// The poles at k = 0.
    pub open: Vec<c64>,
    /// The zeros, where branches end.
    pub zeros: Vec<c64>,
}

/// The poles of `1 + k L(s) = 0`, which are eigenvalues of `A − B k (1 + k D)⁻¹ C`, at gains that
/// are close where the poles move fast, up to `most` gains.
///
/// # Errors
/// If the system has not one input and one output, or eigenvalues do not converge.
pub fn root_locus(system: &System, most: usize) -> Result<Locus, Error> {
    if (system.inputs(), system.outputs()) != (1, 1) {
        return Err(Error::Request("expected a loop of one input and one output".to_owned()));
    }
    let open = eigenvalues(system.a.as_ref())?;
    let zeros = zeros(system, 1e-10)?;
    let at = |k: f64| -> Result<Vec<c64>, Error> {
        let n = system.states();
        let through = k / (1.0 + k * system.d[(0, 0)]);
        let closed = Mat::from_fn(n, n, |i, j| {
            system.a[(i, j)] - through * system.b[(i, 0)] * system.c[(0, j)]
        });
        eigenvalues(closed.as_ref())
    };
    let scale = largest(&open).max(largest(&zeros)).max(1e-3);
    // A gain at which the poles have moved by about their own size: from there up and down.
    let mut unit = 1e-6;
    while unit < 1e12 {
        let moved = matched(&open, &at(unit)?);
        let farthest = moved.iter().zip(&open).map(|(a, b)| libm::hypot(a.re - b.re, a.im - b.im));
        if farthest.fold(0.0, f64::max) > 0.1 * scale {
            break;
        }
        unit *= 2.0;
    }
    let mut locus = Locus { gains: vec![0.0], poles: vec![open.clone()], open, zeros };
    let (mut gain, mut factor) = (1e-3 * unit, 1.2_f64);
    while locus.gains.len() < most && gain < 1e4 * unit {
        let previous = &locus.poles[locus.poles.len() - 1];
        let next = matched(previous, &at(gain)?);
        let moved = next.iter().zip(previous).map(|(a, b)| libm::hypot(a.re - b.re, a.im - b.im));
        let moved = moved.fold(0.0, f64::max);
        let last = locus.gains[locus.gains.len() - 1];
        if moved > 0.05 * scale && factor > 1.005 && last > 0.0 {
            factor = factor.sqrt();
            gain = last * factor;
            continue;
        }
        locus.gains.push(gain);
        locus.poles.push(next);
        if moved < 0.02 * scale {
            factor = (factor * factor).min(1.3);
        }
        gain *= factor;
    }
    Ok(locus)
}

/// The poles in the order of those that they come from: the nearest, pair by pair.
fn matched(from: &[c64], to: &[c64]) -> Vec<c64> {
    let mut pairs: Vec<(f64, usize, usize)> = Vec::with_capacity(from.len() * to.len());
    for (i, a) in from.iter().enumerate() {
        for (j, b) in to.iter().enumerate() {
            pairs.push((libm::hypot(a.re - b.re, a.im - b.im), i, j));
        }
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut out = to.to_vec();
    let (mut taken, mut given) = (vec![false; to.len()], vec![false; from.len()]);
    for (_, i, j) in pairs {
        if !given[i] && !taken[j] {
            out[i] = to[j];
            (given[i], taken[j]) = (true, true);
        }
    }
    out
}
