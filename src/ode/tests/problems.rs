//! Problems with a known solution.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Three equations that are non-linear and depend on time: `u = e^{sin t}`, the logistic function
/// and `1 / (1 + t²)`.
pub(super) fn known(t: f64, u: &[f64], rate: &mut [f64]) {
    rate[0] = u[0] * libm::cos(t);
    rate[1] = u[1] * (1.0 - u[1]);
    rate[2] = -2.0 * t * u[2] * u[2];
}

pub(super) fn known_solution(t: f64) -> [f64; 3] {
    [libm::exp(libm::sin(t)), 1.0 / (1.0 + 3.0 * libm::exp(-t)), 1.0 / (1.0 + t * t)]
}

/// A linear oscillator that is forced in time, with its solution.
pub(super) fn forced(t: f64, u: &[f64], rate: &mut [f64]) {
    rate[0] = u[1];
    rate[1] = -4.0 * u[0] + 3.0 * libm::cos(t);
}

pub(super) fn forced_solution(t: f64) -> [f64; 2] {
    // Particular solution cos t, and ½ sin 2t of the homogeneous equation.
    [libm::cos(t) + 0.5 * libm::sin(2.0 * t), -libm::sin(t) + libm::cos(2.0 * t)]
}

/// The restricted three-body problem of Earth, Moon and satellite.
pub(super) fn arenstorf(_: f64, u: &[f64], rate: &mut [f64]) {
    const MOON: f64 = 0.012277471;
    const EARTH: f64 = 1.0 - MOON;
    let (x, y, vx, vy) = (u[0], u[1], u[2], u[3]);
    let square = (x + MOON) * (x + MOON) + y * y;
    let d1 = square * square.sqrt();
    let square = (x - EARTH) * (x - EARTH) + y * y;
    let d2 = square * square.sqrt();
    rate[0] = vx;
    rate[1] = vy;
    rate[2] = x + 2.0 * vy - EARTH * (x + MOON) / d1 - MOON * (x - EARTH) / d2;
    rate[3] = y - 2.0 * vx - EARTH * y / d1 - MOON * y / d2;
}

/// Start and period of the orbit with four loops; Hairer, Nørsett, Wanner I (1993), p. 130.
pub(super) const ARENSTORF_START: [f64; 4] = [0.994, 0.0, 0.0, -2.001_585_106_379_082_5];
pub(super) const ARENSTORF_PERIOD: f64 = 17.065_216_560_157_963;

pub(super) fn van_der_pol(_: f64, u: &[f64], rate: &mut [f64]) {
    rate[0] = u[1];
    rate[1] = 1000.0 * (1.0 - u[0] * u[0]) * u[1] - u[0];
}

pub(super) fn robertson(_: f64, u: &[f64], rate: &mut [f64]) {
    let (slow, fast, square) = (0.04 * u[0], 1e4 * u[1] * u[2], 3e7 * u[1] * u[1]);
    rate[0] = fast - slow;
    rate[1] = slow - fast - square;
    rate[2] = square;
}

pub(super) fn hires(_: f64, u: &[f64], rate: &mut [f64]) {
    rate[0] = -1.71 * u[0] + 0.43 * u[1] + 8.32 * u[2] + 0.0007;
    rate[1] = 1.71 * u[0] - 8.75 * u[1];
    rate[2] = -10.03 * u[2] + 0.43 * u[3] + 0.035 * u[4];
    rate[3] = 8.32 * u[1] + 1.71 * u[2] - 1.12 * u[3];
    rate[4] = -1.745 * u[4] + 0.43 * u[5] + 0.43 * u[6];
    let reaction = 280.0 * u[5] * u[7];
    rate[5] = -reaction + 0.69 * u[3] + 1.71 * u[4] - 0.43 * u[5] + 0.69 * u[6];
    rate[6] = reaction - 1.81 * u[6];
    rate[7] = -reaction + 1.81 * u[6];
}

/// A reference solution.
#[derive(Deserialize)]
pub(super) struct Reference {
    pub(super) start: Vec<f64>,
    pub(super) times: Vec<f64>,
    pub(super) states: Vec<Vec<f64>>,
    /// Size below which an error counts as absolute.
    pub(super) floor: f64,
    /// Bound of its own relative error.
    pub(super) spread: f64,
    /// Errors of SciPy's BDF.
    pub(super) bdf: Vec<Peer>,
}

/// Largest relative error of another code at a tolerance.
#[derive(Deserialize)]
pub(super) struct Peer {
    pub(super) relative: f64,
    pub(super) error: f64,
}

/// A solution of `data/references.json`, which `data/references.py` wrote.
pub(super) fn reference(name: &str) -> Reference {
    let text = include_str!("data/references.json");
    let mut all: BTreeMap<String, serde_json::Value> = serde_json::from_str(text).unwrap();
    serde_json::from_value(all.remove(name).unwrap()).unwrap()
}
