//! `GaitGenerator`: the rhythm of four legs.

use std::f64::consts::{PI, TAU};

use legwork_block::quantity::{Angle, Dimensionless, NonNegative, Positive, Time};
use legwork_block::{
    Block, Bool, Fault, Invalid, Outcome, OutputCx, Ports, RateRule, Real, Sizes, UpdateCx, block,
    parameters, ports,
};
use legwork_control::{Coupling, Gait, LEGS, MAX_COUPLING, Oscillators, Rhythm};
use serde::{Deserialize, Serialize};

use crate::buses::GaitBus;

/// Phases of four legs in a gait: coupled oscillators that change gait smoothly.
///
/// Legs are in the order front left, front right, hind left, hind right. Phase θ is in stance on
/// [0, π), in swing on [π, 2π), and
///
/// `θ̇_i = ω(θ_i) (1 + K Σ_j sin 2π(ψ_j + φ_j − ψ_i − φ_i))`,
///
/// with ω = π/(β T) in stance and π/((1 − β) T) in swing, the lags φ of the gait and the part ψ of
/// the cycle that has gone by:
///
/// | gait | φ of front left, front right, hind left, hind right | usual β |
/// |---|---|---|
/// | `Trot` | 0, ½, ½, 0 | ½ |
/// | `Walk` | 0, ½, ¾, ¼ | ¾ |
/// | `Pace` | 0, ½, 0, ½ | ½ |
/// | `Bound` | 0, 0, ½, ½ | ½ |
/// | `Pronk` | 0, 0, 0, 0 | ½ |
///
/// Gait, T and β may change at any time: they are approached exponentially in the time `blend`, and
/// no phase jumps or runs backward. Phases do not change until `start`, and while `walk` is false;
/// then steps grow from nothing to full in the time `ramp` and shrink so again. While the robot
/// stands all `stance` are 1.
///
/// It is discrete: state its period by `every:`. While the legs are in step it keeps time exactly.
///
/// References: as in `legwork_control`: A. J. Ijspeert (2008), L. Righetti and A. J. Ijspeert
/// (2008), M. Hildebrand (1965). De Paula et al. (2024), sec. 6.2, have such a generator in a trot;
/// its equations are not printed there.
#[ports(
    in  gait?: Real, _, "0 trot, 1 walk, 2 pace, 3 bound, 4 pronk; default `gait`", units "1";
    in  period?: Real, "s", "time of a cycle T, more than zero; else the parameter";
    in  duty?: Real, "1", "duty factor β, between 0 and 1; default the parameter";
    in  walk?: Bool, _, "whether to walk; true without";
    feeds();
    out steps("gait"): GaitBus::new(), _,
        "where the legs are in their steps; no input feeds through";
)]
#[parameters(aliases("CPG", "central pattern generator", "trot", "walk"))]
pub struct GaitGenerator {
    /// The gait: `Trot` (the default), `Walk`, `Pace`, `Bound` or `Pronk`.
    #[default]
    pub gait: Gait,
    /// Time of a cycle T [s].
    #[default = "0.4 s"]
    pub period: Positive<Time>,
    /// Part of a cycle in stance β, between 0 and 1 [1]; default that usual in the gait.
    pub duty: Option<Dimensionless>,
    /// Time of the first step [s].
    #[default = 0]
    pub start: NonNegative<Time>,
    /// Time in which steps grow to full or shrink to nothing [s].
    #[default = "1 s"]
    pub ramp: NonNegative<Time>,
    /// Time in which a new gait, period or duty factor is 63 % reached [s].
    #[default = "0.2 s"]
    pub blend: NonNegative<Time>,
    /// Coupling K, at least 0 and less than 1/3 [1]. Small errors of phase fall by e^(−8πK) per
    /// cycle.
    #[default = 0.1]
    pub coupling: Dimensionless,
    /// Phases at t = 0 [rad]; default in step, the front left leg at its touch-down.
    pub phases: Option<[Angle; LEGS]>,
}

/// Ports and coupling of a [`GaitGenerator`].
pub struct Plan {
    io: GaitGeneratorPorts,
    coupling: Coupling,
}

/// State of a [`GaitGenerator`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    legs: Oscillators,
    /// Whether the legs move.
    is_walking: bool,
    /// Share of full steps, from 0 to 1.
    amplitude: f64,
}

/// The duty factor, if it is one.
fn duty_factor(duty: f64) -> Option<f64> {
    (duty > 0.0 && duty < 1.0).then_some(duty)
}

impl GaitGenerator {
    fn duty_of(&self, gait: Gait) -> f64 {
        self.duty.map_or(gait.duty(), Dimensionless::value)
    }

    /// What the inputs ask for.
    fn wanted(&self, plan: &Plan, cx: &UpdateCx<'_, Self>) -> Result<Rhythm, Box<Fault>> {
        let gait = match cx.inputs.optional(plan.io.gait) {
            None => self.gait,
            Some(number) => {
                // A comparison, not a conversion: what is no whole number is no gait.
                let known =
                    Gait::ALL.into_iter().zip(0_u8..).find(|(_, i)| f64::from(*i) == number);
                let message = || format!("expected a gait, 0, 1, 2, 3 or 4, found {number}");
                known.ok_or_else(|| Fault::new(message()))?.0
            }
        };
        let period = cx.inputs.optional(plan.io.period).unwrap_or(self.period.value());
        if !(period > 0.0 && period.is_finite()) {
            return Err(Fault::new(format!("expected a period above 0 s, found {period} s")));
        }
        let duty = cx.inputs.optional(plan.io.duty).unwrap_or_else(|| self.duty_of(gait));
        let Some(duty) = duty_factor(duty) else {
            let message = format!("expected a duty factor between 0 and 1, found {duty}");
            return Err(Fault::new(message));
        };
        Ok(Rhythm { lags: gait.lags(), period, duty })
    }
}

#[block]
impl Block for GaitGenerator {
    type Plan = Plan;
    type State = State;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        if let Some(duty) = self.duty.map(Dimensionless::value)
            && duty_factor(duty).is_none()
        {
            let message = format!("expected a number between 0 and 1, found {duty}");
            return Err(Invalid::parameter("duty", message));
        }
        let strength = self.coupling.value();
        if !(0.0..MAX_COUPLING).contains(&strength) {
            let message = format!("expected at least 0 and less than 1/3, found {strength}");
            return Err(Invalid::parameter("coupling", message));
        }
        ports.rate(RateRule::Sampled);
        let coupling = Coupling { strength, blend: self.blend.value() };
        Ok(Plan { io: self.declare(ports), coupling })
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) -> State {
        let (period, duty) = (self.period.value(), self.duty_of(self.gait));
        let mut legs = Oscillators::in_step(Rhythm { lags: self.gait.lags(), period, duty });
        if let Some(phases) = &self.phases {
            legs.phases = phases.map(|phase| {
                let turned = phase.value() - TAU * libm::floor(phase.value() / TAU);
                if turned < TAU { turned } else { 0.0 }
            });
        }
        State { legs, is_walking: false, amplitude: 0.0 }
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let State { legs, is_walking, amplitude } = *cx.state;
        let rates = match is_walking {
            true => legs.rates(&plan.coupling),
            false => [0.0; LEGS],
        };
        let stands = |phase: f64| amplitude == 0.0 || phase < PI;
        let out = plan.io.steps;
        cx.outputs.leaf(out, GaitBus::PHASE).copy_from_slice(&legs.phases);
        cx.outputs.leaf(out, GaitBus::PHASE_RATE).copy_from_slice(&rates);
        let stance = legs.phases.map(|phase| f64::from(u8::from(stands(phase))));
        cx.outputs.leaf(out, GaitBus::STANCE).copy_from_slice(&stance);
        let Rhythm { period, duty, .. } = legs.rhythm;
        cx.outputs.leaf(out, GaitBus::STANCE_TIME)[0] = duty * period;
        cx.outputs.leaf(out, GaitBus::SWING_TIME)[0] = (1.0 - duty) * period;
        cx.outputs.leaf(out, GaitBus::AMPLITUDE)[0] = amplitude;
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let wanted = self.wanted(plan, cx)?;
        let walks = cx.inputs.optional(plan.io.walk).unwrap_or(true);
        let is_on = walks && cx.time.t >= self.start.value();
        let step = cx.time.step;
        let state = &mut *cx.state;
        if state.is_walking {
            state.legs.advance(&wanted, &plan.coupling, step);
        }
        let ramp = self.ramp.value();
        let change = if ramp > step { step / ramp } else { 1.0 };
        let amplitude = state.amplitude + if is_on { change } else { -change };
        state.amplitude = amplitude.clamp(0.0, 1.0);
        state.is_walking = state.amplitude > 0.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
