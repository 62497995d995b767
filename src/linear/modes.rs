//! Poles, and what a pole says of a motion.

use faer::{Mat, c64};

use crate::algebra::{Error, balance, eigenvalues, round};
use crate::system::System;

/// A pole and the motion `e^{st}` that belongs to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// The pole: s [1/s], or z of a sampled system [1].
    pub pole: c64,
    /// Natural frequency |s| [rad/s]; of a sampled system that of `s = ln z / T`.
    pub frequency: f64,
    /// Damping ratio `−Re s / |s|`; 1 at s = 0, as of a pole that does not swing.
    pub damping: f64,
    /// Time in which the motion falls by e [s]: `−1 / Re s`; negative if it grows, infinite if it
    /// does neither.
    pub time_constant: f64,
}

/// The motion of a pole.
pub fn mode(pole: c64, period: Option<f64>) -> Mode {
    let s = match period {
        None => pole,
        Some(period) => {
            let radius = libm::hypot(pole.re, pole.im);
            c64::new(libm::log(radius) / period, libm::atan2(pole.im, pole.re) / period)
        }
    };
    let frequency = libm::hypot(s.re, s.im);
    let damping =
        if frequency == 0.0 || s.re == f64::NEG_INFINITY { 1.0 } else { -s.re / frequency };
    let time_constant = if s.re == 0.0 { f64::INFINITY } else { -1.0 / s.re };
    Mode { pole, frequency, damping, time_constant }
}

/// The poles of a system: eigenvalues of A, the slowest first.
///
/// # Errors
/// If they do not converge.
pub fn poles(system: &System) -> Result<Vec<Mode>, Error> {
    let values = eigenvalues(system.a.as_ref())?;
    let mut modes: Vec<Mode> = values.into_iter().map(|pole| mode(pole, system.period)).collect();
    // By frequency of the motion; stable, so that pairs stay together.
    modes.sort_by(|a, b| round(a.frequency).total_cmp(&round(b.frequency)));
    Ok(modes)
}

/// For each pole the state that takes part most in its motion: where the product of left and right
/// eigenvector is largest. The first state where an eigenvector is not found.
///
/// # References
/// Pérez-Arriaga, Verghese, Schweppe, *Selective modal analysis* (1982).
pub fn participation(system: &System, poles: &[c64]) -> Vec<usize> {
    let right = vectors(&system.a, poles);
    let left = vectors(&system.a.transpose().to_owned(), poles);
    let most = |(right, left): (&Vec<f64>, &Vec<f64>)| {
        let share = |i: &usize| right[*i] * left[*i];
        (0..right.len()).max_by(|i, j| share(i).total_cmp(&share(j))).unwrap_or(0)
    };
    right.iter().zip(&left).map(most).collect()
}

/// Magnitudes of the eigenvector beside each value.
fn vectors(a: &Mat<f64>, values: &[c64]) -> Vec<Vec<f64>> {
    let n = a.nrows();
    let none = || values.iter().map(|_| vec![0.0; n]).collect();
    if n == 0 {
        return none();
    }
    let (balanced, scales) = balance(a.as_ref());
    let Ok(found) = balanced.eigen() else { return none() };
    let own: Vec<c64> = found.S().column_vector().iter().copied().collect();
    let u = found.U();
    let beside = |value: &c64| {
        let distance = |j: &usize| libm::hypot(own[*j].re - value.re, own[*j].im - value.im);
        let nearest = (0..n).min_by(|i, j| distance(i).total_cmp(&distance(j))).unwrap_or(0);
        let size = |i: usize| libm::hypot(u[(i, nearest)].re, u[(i, nearest)].im) * scales[i];
        (0..n).map(size).collect()
    };
    values.iter().map(beside).collect()
}
