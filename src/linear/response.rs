//! Responses in frequency and in time.

use faer::Mat;

use crate::algebra::Error;
use crate::exponential::sampled;
use crate::modes::{mode, poles};
use crate::system::System;
use crate::zeros::zeros;

/// Frequencies [rad/s] at which a response shows what it has: even on a logarithmic scale, from a
/// decade below the slowest pole or zero to a decade above the fastest, and closer together around
/// lightly damped ones. Those of a sampled system end at half that of its samples.
///
/// # Errors
/// If poles or zeros do not converge.
pub fn frequencies(system: &System, per_decade: usize) -> Result<Vec<f64>, Error> {
    let mut features = poles(system)?;
    features.extend(zeros(system, 1e-10)?.into_iter().map(|zero| mode(zero, system.period)));
    let end = system.nyquist_frequency().unwrap_or(f64::INFINITY);
    let seen = |frequency: &f64| *frequency > 1e-9 && frequency.is_finite() && *frequency < 1e9;
    let own: Vec<f64> = features.iter().map(|one| one.frequency).filter(seen).collect();
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    own.iter().for_each(|w| (low, high) = (low.min(*w), high.max(*w)));
    if own.is_empty() {
        (low, high) = if end.is_finite() { (1e-2 * end, end) } else { (1.0, 1.0) };
    }
    let low = libm::floor(libm::log10(low)) - 1.0;
    let high = (libm::ceil(libm::log10(high)) + 1.0).min(libm::log10(end));
    let count = ((high - low).max(0.0) * per_decade as f64) as usize + 2;
    let at = |i: usize| libm::pow(10.0, low + (high - low) * i as f64 / (count - 1) as f64);
    let mut all: Vec<f64> = (0..count).map(at).collect();
    for one in features.iter().filter(|one| one.damping.abs() < 0.3 && seen(&one.frequency)) {
        // A resonance is as wide as its damping.
        let peak = one.frequency * (1.0 - one.damping * one.damping).max(0.0).sqrt();
        let width = one.damping.abs().max(1e-9);
        for k in -30..=30 {
            let spread = f64::from(k) / 6.0;
            all.push(peak * (1.0 + width * spread * spread.abs()));
        }
    }
    all.retain(|w| w.is_finite() && *w > 0.0 && *w <= end);
    all.sort_by(f64::total_cmp);
    all.dedup();
    Ok(all)
}

/// Outputs after a unit step of input `input` at rest: times [s], and of each a row of outputs.
///
/// # Errors
/// If the response overflows.
///
/// # Panics
/// If there is no such input.
pub fn step_response(
    system: &System,
    input: usize,
    duration: f64,
    count: usize,
) -> Result<(Vec<f64>, Vec<Vec<f64>>), Error> {
    let discrete = match system.period {
        Some(_) => system.clone(),
        None => sampled(system, duration / (count.max(2) - 1) as f64)?,
    };
    let period = discrete.period.unwrap_or(1.0);
    let count = match system.period {
        Some(period) => (duration / period) as usize + 1,
        None => count.max(2),
    };
    let n = system.states();
    let b = Mat::from_fn(n, 1, |i, _| discrete.b[(i, input)]);
    let mut x = Mat::<f64>::zeros(n, 1);
    let (mut times, mut rows) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for k in 0..count {
        let y = &discrete.c * &x;
        times.push(k as f64 * period);
        rows.push((0..system.outputs()).map(|i| y[(i, 0)] + discrete.d[(i, input)]).collect());
        x = &discrete.a * &x + &b;
        if !x.is_all_finite() {
            return Err(Error::NotFinite("the response"));
        }
    }
    Ok((times, rows))
}
