//! Gaits of four legs, and the coupled oscillators that keep and change them.
//!
//! Each leg i has an oscillator whose phase θ_i is in stance on [0, π) and in swing on [π, 2π).
//! With the period T and the duty factor β (the part of a cycle in stance) it turns at
//!
//! ```text
//! ω(θ) = π / (β T)  in stance        ω(θ) = π / ((1 − β) T)  in swing
//! θ̇_i = ω(θ_i) (1 + K Σ_j sin 2π(ψ_j + φ_j − ψ_i − φ_i))
//! ```
//!
//! where φ_i is the lag of leg i in the gait and ψ(θ) the elapsed fraction of the cycle at θ:
//! `ψ = β θ/π` in stance, `β + (1 − β)(θ − π)/π` in swing. Where all legs have the lags of the gait
//! the sines vanish, so a cycle takes exactly T and a stance exactly β T. The usual coupling by
//! `θ_j − θ_i` cannot do that: ω differs between stance and swing, so differences of θ are not
//! constant in a gait, and differences of ψ are. With `K < 1/3` no phase ever runs backward.
//!
//! The state is θ, not ψ: θ determines the position of the foot, so that a change of the duty
//! factor moves no foot. Lags, period and duty factor converge to new values exponentially, lags
//! along the shorter arc; an exact half turn goes forward. So a change of gait cannot get stuck
//! between two phases that pull equally from both sides.
//!
//! References: A. J. Ijspeert, *Central pattern generators for locomotion control in animals and
//! robots* (2008), for coupled phase oscillators; L. Righetti, A. J. Ijspeert, *Pattern generators
//! with sensory feedback for the control of quadruped locomotion* (2008), for separate frequencies
//! in stance and swing; M. Hildebrand, *Symmetrical gaits of horses* (1965) for lags and duty
//! factors.

use std::f64::consts::{PI, TAU};

use libm::{exp, floor, rint, sin};

/// Number of legs of a gait, in the order front left, front right, hind left, hind right.
pub const LEGS: usize = 4;

/// Largest coupling at which no phase can run backward.
pub const MAX_COUPLING: f64 = 1.0 / (LEGS - 1) as f64;

/// A symmetrical gait of four legs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema))]
pub enum Gait {
    /// Diagonal legs together.
    #[default]
    Trot,
    /// One leg after the other: front left, hind right, front right, hind left.
    Walk,
    /// Legs of one side together.
    Pace,
    /// Front legs together, then hind legs.
    Bound,
    /// All legs together.
    Pronk,
}

impl Gait {
    /// All gaits, in the order of their numbers in a signal.
    pub const ALL: [Self; 5] = [Self::Trot, Self::Walk, Self::Pace, Self::Bound, Self::Pronk];

    /// Lags φ of the legs [cycles]: leg i touches down φ_i after the front left one.
    #[must_use]
    pub fn lags(self) -> [f64; LEGS] {
        match self {
            Self::Trot => [0.0, 0.5, 0.5, 0.0],
            Self::Walk => [0.0, 0.5, 0.75, 0.25],
            Self::Pace => [0.0, 0.5, 0.0, 0.5],
            Self::Bound => [0.0, 0.0, 0.5, 0.5],
            Self::Pronk => [0.0; LEGS],
        }
    }

    /// Usual duty factor β [1]: three quarters in a walk, half in the others.
    #[must_use]
    pub fn duty(self) -> f64 {
        if self == Self::Walk { 0.75 } else { 0.5 }
    }
}

/// The commands of the oscillators.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct Rhythm {
    /// Lags φ of the legs [cycles].
    pub lags: [f64; LEGS],
    /// Time of a cycle T, more than zero [s].
    pub period: f64,
    /// Fraction of a cycle in stance β, between 0 and 1 [1].
    pub duty: f64,
}

/// Parameters of the oscillators.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coupling {
    /// K, at least zero and less than [`MAX_COUPLING`] [1]. Small errors of phase fall by
    /// `e^(−8πK)` per cycle.
    pub strength: f64,
    /// Time in which lags, period and duty factor cover 63 % of a change [s]; 0: immediately.
    pub blend: f64,
}

/// Four coupled oscillators: the state of a gait.
#[doc(alias("CPG", "central pattern generator", "Kuramoto"))]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct Oscillators {
    /// θ of each leg, in [0, 2π) [rad].
    pub phases: [f64; LEGS],
    /// The lags, period and duty factor at present.
    pub rhythm: Rhythm,
}

/// Elapsed fraction of a cycle at the phase θ in [0, 2π): ψ in [0, 1).
#[must_use]
pub fn elapsed(phase: f64, duty: f64) -> f64 {
    if phase < PI { duty * phase / PI } else { duty + (1.0 - duty) * (phase - PI) / PI }
}

/// Phase in [0, 2π) at which the fraction ψ of a cycle has elapsed; ψ of any value.
#[must_use]
pub fn phase_at(elapsed: f64, duty: f64) -> f64 {
    let part = elapsed - floor(elapsed);
    let phase = if part < duty { PI * part / duty } else { PI + PI * (part - duty) / (1.0 - duty) };
    // Rounding may reach the end, where the next cycle begins.
    if phase < TAU { phase } else { 0.0 }
}

impl Oscillators {
    /// The gait in step, with the front left leg at the beginning of its stance.
    #[must_use]
    pub fn in_step(rhythm: Rhythm) -> Self {
        Self { phases: rhythm.lags.map(|lag| phase_at(-lag, rhythm.duty)), rhythm }
    }

    /// Rates ψ̇ of the legs [1/s].
    fn cycle_rates(&self, strength: f64) -> [f64; LEGS] {
        let Rhythm { lags, period, duty } = self.rhythm;
        let mut own = [0.0; LEGS];
        for ((own, phase), lag) in own.iter_mut().zip(self.phases).zip(lags) {
            *own = elapsed(phase, duty) + lag;
        }
        own.map(|of_leg| {
            let pull: f64 = own.iter().map(|other| sin(TAU * (other - of_leg))).sum();
            (1.0 + strength * pull) / period
        })
    }

    /// Rates θ̇ of the legs [rad/s].
    #[must_use]
    pub fn rates(&self, coupling: &Coupling) -> [f64; LEGS] {
        let duty = self.rhythm.duty;
        let mut rates = self.cycle_rates(coupling.strength);
        for (rate, phase) in rates.iter_mut().zip(self.phases) {
            *rate *= PI / if phase < PI { duty } else { 1.0 - duty };
        }
        rates
    }

    /// Advances all legs by `time_step` [s] and moves towards the rhythm `wanted`.
    ///
    /// Explicit Euler in ψ: with all legs in step it is exact, also over a change from stance to
    /// swing, so that a run of any length keeps time.
    pub fn advance(&mut self, wanted: &Rhythm, coupling: &Coupling, time_step: f64) {
        let part = if coupling.blend > 0.0 { 1.0 - exp(-time_step / coupling.blend) } else { 1.0 };
        let rhythm = &mut self.rhythm;
        for (lag, wanted) in rhythm.lags.iter_mut().zip(wanted.lags) {
            let way = wanted - *lag;
            // The shorter arc; `rint` sends both half turns to 0 whole ones.
            let short = way - rint(way);
            *lag += part * if short == -0.5 { 0.5 } else { short };
            *lag -= floor(*lag);
        }
        rhythm.period += part * (wanted.period - rhythm.period);
        rhythm.duty += part * (wanted.duty - rhythm.duty);
        let (rates, duty) = (self.cycle_rates(coupling.strength), self.rhythm.duty);
        for (phase, rate) in self.phases.iter_mut().zip(rates) {
            *phase = phase_at(elapsed(*phase, duty) + time_step * rate, duty);
        }
    }
}
