//! The first-order lag of a torque, `τ̇ = 2πf (u − τ)`: continuous state, or advanced once per
//! period for a held input.

use legwork_block::quantity::{Frequency, Positive};
use legwork_block::{ContinuousState, Dim, Feed, Invalid, Manifold, Ports, RateRule};

/// How the lag is computed.
#[derive(Clone, Copy)]
pub(crate) enum Lag {
    None,
    /// 2πf [1/s].
    Continuous(f64),
    /// 2πf [1/s].
    Discrete(f64),
}

impl Lag {
    /// The lag of the parameters `bandwidth` and `discrete`; `starts` says whether there is an
    /// `initial`.
    ///
    /// # Errors
    /// If one of the others is given without `bandwidth`.
    pub(crate) fn new(
        bandwidth: Option<Positive<Frequency>>,
        discrete: bool,
        starts: bool,
    ) -> Result<Self, Invalid> {
        match bandwidth {
            Some(f) => {
                let rate = std::f64::consts::TAU * f.value();
                Ok(if discrete { Self::Discrete(rate) } else { Self::Continuous(rate) })
            }
            None if discrete || starts => {
                let parameter = if discrete { "discrete" } else { "initial" };
                let message = format!("expected a lag for `{parameter}`, found none");
                Err(Invalid::parameter(parameter, message).hint("add `bandwidth: \"… Hz\"`"))
            }
            None => Ok(Self::None),
        }
    }

    /// Declares the state of `n` torques, its rate, and the group of the outputs that come next:
    /// with a lag only `feeds` reach them at once.
    pub(crate) fn declare(self, n: &Dim, feeds: &[Feed], ports: &mut Ports<'_>) {
        match self {
            Self::None => return,
            Self::Continuous(_) => {
                let torques = Manifold::Euclidean(n.clone());
                ports.continuous_state(ContinuousState::First(vec![torques]));
            }
            Self::Discrete(_) => ports.rate(RateRule::Sampled),
        }
        ports.group(feeds);
    }

    /// The discrete state that starts at `initial`.
    pub(crate) fn state(self, initial: Vec<f64>) -> Vec<f64> {
        match self {
            Self::Discrete(_) => initial,
            Self::None | Self::Continuous(_) => Vec::new(),
        }
    }

    /// The present torques, from the continuous and the discrete state; `None` without a lag. What
    /// a step of a method overshoots by, the solution does not: the limits hold for it too.
    pub(crate) fn torques<'s>(
        self,
        x: &'s [f64],
        state: &'s [f64],
        limits: &'s [f64],
    ) -> Option<impl Iterator<Item = f64> + use<'s>> {
        let torques = match self {
            Self::None => return None,
            Self::Continuous(_) => x,
            Self::Discrete(_) => state,
        };
        Some(torques.iter().zip(limits).map(|(torque, limit)| saturated(*torque, *limit)))
    }

    /// Advances the discrete state by a period `step` [s] towards `wanted`, exactly for a held one.
    pub(crate) fn advance(self, step: f64, wanted: impl Iterator<Item = f64>, state: &mut [f64]) {
        if let Self::Discrete(rate) = self {
            let share = -libm::expm1(-rate * step);
            for (torque, wanted) in state.iter_mut().zip(wanted) {
                *torque += share * (wanted - *torque);
            }
        }
    }

    /// The rate of the continuous state `x`.
    pub(crate) fn slopes(self, wanted: impl Iterator<Item = f64>, x: &[f64], slopes: &mut [f64]) {
        if let Self::Continuous(rate) = self {
            for ((slope, torque), wanted) in slopes.iter_mut().zip(x).zip(wanted) {
                *slope = rate * (wanted - torque);
            }
        }
    }
}

/// `u` within ± `limit`; NaN stays NaN.
pub(crate) fn saturated(u: f64, limit: f64) -> f64 {
    u.clamp(-limit, limit)
}

/// Fails if a limit of the parameter `torque_limit` is negative.
pub(crate) fn check_limits(limits: &[f64]) -> Result<(), Invalid> {
    match limits.iter().find(|limit| **limit < 0.0) {
        Some(negative) => {
            let message = format!("expected limits of zero or more, found {negative} N*m");
            Err(Invalid::parameter("torque_limit", message))
        }
        None => Ok(()),
    }
}

/// Fails if a torque of the parameter `initial` is beyond its limit.
pub(crate) fn check_initial(initial: &[f64], limits: &[f64]) -> Result<(), Invalid> {
    match initial.iter().zip(limits).find(|(torque, limit)| torque.abs() > **limit) {
        Some((torque, limit)) => {
            let message = format!("expected at most the limit {limit} N*m, found {torque} N*m");
            Err(Invalid::parameter("initial", message))
        }
        None => Ok(()),
    }
}

/// Torques at which a lag with these limits may begin: it comes so near to a limit that rounding
/// may carry it beyond, where it cannot.
pub(crate) fn beginning(at: &[f64], limits: &[f64]) -> Vec<f64> {
    at.iter().zip(limits).map(|(torque, most)| saturated(*torque, *most)).collect()
}
