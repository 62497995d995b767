//! Gains that minimise: the linear-quadratic regulator and the Kalman filter.

use faer::{Mat, c64};

use crate::algebra::{Error, eigenvalues, expect_shape, solve, symmetric};
use crate::riccati::{Words, riccati, riccati_of};
use crate::system::System;

/// State feedback `u = −K x` of least cost.
#[derive(Debug, Clone)]
pub struct Regulator {
    /// K: m × n.
    pub gain: Mat<f64>,
    /// X with the cost `x₀ᵀ X x₀` from a state x₀ on: n × n.
    pub cost: Mat<f64>,
    /// Poles of `A − B K`.
    pub poles: Vec<c64>,
}

/// The linear-quadratic regulator: `u = −K x` minimises
///
/// ```text
/// continuous  ∫ (xᵀ Q x + uᵀ R u + 2 xᵀ N u) dt
/// sampled     Σ (xᵀ Q x + uᵀ R u + 2 xᵀ N u)
/// ```
///
/// # Errors
/// As [`riccati`].
pub fn regulator(
    system: &System,
    q: &Mat<f64>,
    r: &Mat<f64>,
    cross: Option<&Mat<f64>>,
) -> Result<Regulator, Error> {
    let found = riccati(system, q, r, cross)?;
    let closed = &system.a - &system.b * &found.gain;
    Ok(Regulator { poles: eigenvalues(closed.as_ref())?, gain: found.gain, cost: found.x })
}

/// An estimator of least error, in the steady state.
#[derive(Debug, Clone)]
pub struct Filter {
    /// L: n × p. Continuous: `x̂̇ = A x̂ + B u + L (y − C x̂ − D u)`. Sampled: of the prediction,
    /// `x̂⁻₊ = A x̂⁻ + B u + L (y − C x̂⁻ − D u)`.
    pub gain: Mat<f64>,
    /// Of a sampled system, M with `x̂ = x̂⁻ + M (y − C x̂⁻ − D u)`: `L = A M`; else L.
    pub update: Mat<f64>,
    /// Covariance of the error of x̂, of a sampled system of x̂⁻, before the measurement: n × n.
    pub covariance: Mat<f64>,
    /// Poles of the estimator: of `A − L C`.
    pub poles: Vec<c64>,
}

const FILTER: Words = Words {
    weights: ["the covariance of process noise", "the covariance of measurement noise"],
    motion: "error",
    unmoved: "no output shows",
    unseen: "no noise drives",
};

/// The Kalman filter in the steady state, of process noise w of covariance `process` (n × n, per
/// second in continuous time) that adds to the rates of states, or to the next states, and of
/// measurement noise of covariance `measurement` (p × p): the dual of [`regulator`].
///
/// # Errors
/// Those of [`riccati`], with outputs for inputs and noise for weights.
pub fn filter(
    system: &System,
    process: &Mat<f64>,
    measurement: &Mat<f64>,
) -> Result<Filter, Error> {
    let (n, p) = (system.states(), system.outputs());
    expect_shape(FILTER.weights[0], process.as_ref(), (n, n))?;
    expect_shape(FILTER.weights[1], measurement.as_ref(), (p, p))?;
    let found = riccati_of(&system.dual(), process, measurement, None, &FILTER)?;
    let gain = found.gain.transpose().to_owned();
    let covariance = found.x;
    let update = match system.period {
        None => gain.clone(),
        Some(_) => {
            let cp = &system.c * &covariance;
            let innovation = symmetric(&(&cp * system.c.transpose() + measurement));
            let update = solve(&innovation, &cp);
            let singular = "the covariance of the innovation is singular";
            let update = update.ok_or_else(|| Error::NoSolution(singular.to_owned()))?;
            update.transpose().to_owned()
        }
    };
    let closed = &system.a - &gain * &system.c;
    Ok(Filter { poles: eigenvalues(closed.as_ref())?, gain, update, covariance })
}
