//! `Pid`: a PID controller with a filtered derivative, limits and anti-windup.

use legwork_block::quantity::{AngularVelocity, Frequency, Positive, Tensor};
use legwork_block::{
    Any, Block, ContinuousState, DerivativeCx, Dim, Inputs, Invalid, Manifold, Outcome, OutputCx,
    Parameters, Ports, RateRule, Sizes, Slope, SlopesCx, SymbolicUnit, Type, Unit, UpdateCx,
    Written, block, parameters, ports,
};
use serde::{Deserialize, Serialize};

use crate::discrete::discrete_integrator::Method;
use crate::nonlinear::saturation::limit;
use crate::signal::shape::{self, Common};
use crate::signal::units;

/// PID control with a filtered derivative, output limits and anti-windup. In parallel form
/// `v = kp e + ki ∫ e dt + kd N s / (s + N) e`, `y = min(max(v, lower), upper)` with e = `u`, and
/// `feed_forward` added to v if it is connected.
///
/// A number holds for every element. By default the controller is continuous. With `discrete: true`
/// it works on samples of the period T, stated with `every:` or inherited: the integral by `method`
/// as in `DiscreteIntegrator`, the derivative by backward Euler, stable for every N:
/// `d[k] = (d[k−1] + kd N (e[k] − e[k−1])) / (1 + N T)`. The input always feeds through.
///
/// # Anti-windup
///
/// | `anti_windup` | rate of the integral part |
/// |---|---|
/// | `None` | `ki e` |
/// | `Clamping` | `ki e`; zero while v is beyond a limit and `ki e` drives it further |
/// | `BackCalculation(gain: Kb)` | `ki e + Kb (y − v)` |
///
/// Reference: K. J. Åström, T. Hägglund, *Advanced PID Control* (2006), sections 3.3 and 3.5.
#[ports(
    |common: &Common|
    let ty = shape::signal(&common.shape);
    let gain = self.gain_unit(ports);
    let unit = units::known_or_open(common.unit, ports);
    in  u: ty.clone() as Any, units::quotient(&unit, &gain), "the error e",
        shape "that of gains and limits", units "unit of y / `kp`";
    in  feed_forward?: ty.clone() as Any, unit.clone(), "added before the limits",
        shape "that of `u`", units "that of `y`";
    out y: ty as Any, unit, "v within the limits",
        shape "that of `u`", units "that of the limits and `initial`", elements u;
)]
#[parameters(aliases("PI", "PD", "proportional–integral–derivative", "controller"))]
pub struct Pid {
    /// Proportional gain [unit of y / unit of u].
    pub kp: Tensor,
    /// Integral gain [unit of `kp` / s].
    #[default = 0]
    pub ki: Tensor,
    /// Derivative gain [unit of `kp` · s].
    #[default = 0]
    pub kd: Tensor,
    /// Bandwidth N of the derivative's filter [rad/s].
    #[default = "100 rad/s"]
    pub filter: Positive<AngularVelocity>,
    /// Least output [unit of y]; default none.
    pub lower: Option<Tensor>,
    /// Greatest output, at least `lower` [unit of y]; default none.
    pub upper: Option<Tensor>,
    /// What keeps the integral from growing at a limit.
    #[default]
    pub anti_windup: AntiWindup,
    /// Integral part at t = 0 [unit of y].
    #[default = 0]
    pub initial: Tensor,
    /// Error that the derivative starts from [unit of u]: with the error at t = 0 there is no kick.
    #[default = 0]
    pub initial_error: Tensor,
    /// Whether it works on samples.
    #[default]
    pub discrete: bool,
    /// How samples are integrated, with `discrete: true`.
    #[default]
    pub method: Method,
}

/// What keeps the integral of a [`Pid`] from growing at a limit.
#[parameters]
#[derive(Copy, Default, PartialEq, Serialize)]
pub enum AntiWindup {
    /// Nothing.
    None,
    /// The integral is held while it would drive the output further beyond a limit.
    #[default]
    Clamping,
    /// The excess over the limit is fed back to the integral.
    BackCalculation {
        /// The gain Kb of the feedback [1/s].
        gain: Positive<Frequency>,
    },
}

/// One channel.
struct Channel {
    kp: f64,
    ki: f64,
    kd: f64,
    limits: (f64, f64),
    initial: f64,
    initial_error: f64,
}

/// Ports and channels of a [`Pid`].
pub struct Plan {
    io: PidPorts,
    channels: Vec<Channel>,
    /// N [rad/s].
    filter: f64,
    /// Whether a derivative is filtered.
    derivative: bool,
    /// Unit of y, if a parameter carries one.
    unit: Option<Unit>,
}

/// The inputs of one channel.
#[derive(Clone, Copy)]
struct Wanted {
    error: f64,
    feed_forward: f64,
}

/// What a discrete [`Pid`] keeps: one number for each channel; empty if it is continuous.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Memory {
    /// Integral part.
    integral: Vec<f64>,
    /// Derivative part of the last sample.
    derivative: Vec<f64>,
    /// Error of the last sample.
    error: Vec<f64>,
}

impl Pid {
    /// Gains that carry units belong together.
    fn check_units(&self) -> Result<(), Invalid> {
        let Some(kp) = self.kp.unit() else { return Ok(()) };
        let wanted = [
            ("ki", self.ki.unit(), kp.over(Unit::SECOND)),
            ("kd", self.kd.unit(), kp.times(Unit::SECOND)),
        ];
        for (name, found, expected) in wanted {
            if let (Some(found), Some(expected)) = (found, expected)
                && !expected.agrees(found)
            {
                let message =
                    format!("expected the unit {expected} to go with `kp`, found {found}");
                return Err(Invalid::parameter(name, message));
            }
        }
        Ok(())
    }

    /// The unit of y over that of the error: that of `kp`, or as `ki` and `kd` ask.
    fn gain_unit(&self, ports: &mut Ports<'_>) -> SymbolicUnit {
        let of_ki = || self.ki.unit().and_then(|unit| unit.times(Unit::SECOND));
        let of_kd = || self.kd.unit().and_then(|unit| unit.over(Unit::SECOND));
        match self.kp.unit().or_else(of_ki).or_else(of_kd) {
            Some(unit) => unit.into(),
            None => ports.bare_factor("kp").into(),
        }
    }

    fn channels(&self) -> Result<(Vec<Channel>, Common), Invalid> {
        let mut of_output: Vec<(&str, &Tensor)> = vec![("initial", &self.initial)];
        of_output.extend(self.lower.as_ref().map(|lower| ("lower", lower)));
        of_output.extend(self.upper.as_ref().map(|upper| ("upper", upper)));
        let unit = Common::of(&of_output)?.unit;
        let gains = [
            ("kp", &self.kp),
            ("ki", &self.ki),
            ("kd", &self.kd),
            ("initial_error", &self.initial_error),
        ];
        for (name, tensor) in gains.iter().chain(&[("initial", &self.initial)]) {
            shape::finite(name, tensor)?;
        }
        of_output.extend(gains);
        let common = Common { shape: Common::shape(&of_output)?, unit };
        let spread = |tensor: &Tensor| common.spread(tensor);
        let count = common.shape.iter().product();
        let bound = |given: &Option<Tensor>, none: f64| match given {
            Some(given) => spread(given),
            None => vec![none; count],
        };
        let (lower, upper) =
            (bound(&self.lower, f64::NEG_INFINITY), bound(&self.upper, f64::INFINITY));
        if let Some((lower, upper)) = lower.iter().zip(&upper).find(|(lower, upper)| lower > upper)
        {
            let message = format!("expected a limit of at least `lower` = {lower}, found {upper}");
            return Err(Invalid::parameter("upper", message));
        }
        let (kp, ki, kd) = (spread(&self.kp), spread(&self.ki), spread(&self.kd));
        let (initial, error) = (spread(&self.initial), spread(&self.initial_error));
        let channels = (0..count)
            .map(|i| Channel {
                kp: kp[i],
                ki: ki[i],
                kd: kd[i],
                limits: (lower[i], upper[i]),
                initial: initial[i],
                initial_error: error[i],
            })
            .collect();
        Ok((channels, common))
    }

    /// Rate of the integral part, from the output before and after its limits.
    fn windup(&self, channel: &Channel, error: f64, v: f64) -> f64 {
        let rate = channel.ki * error;
        match self.anti_windup {
            AntiWindup::None => rate,
            AntiWindup::Clamping => {
                let (lower, upper) = channel.limits;
                let further = (v > upper && rate > 0.0) || (v < lower && rate < 0.0);
                if further { 0.0 } else { rate }
            }
            AntiWindup::BackCalculation { gain } => {
                rate + gain.value() * (limit(v, channel.limits) - v)
            }
        }
    }
}

impl Plan {
    /// Output before the limits, of a continuous controller in the state `x`.
    fn continuous(&self, i: usize, x: &[f64], wanted: Wanted) -> f64 {
        let (channel, error) = (&self.channels[i], wanted.error);
        let slope = match self.derivative {
            true => self.filter * (error - x[self.channels.len() + i]),
            false => 0.0,
        };
        wanted.feed_forward + channel.kp * error + x[i] + channel.kd * slope
    }

    /// Derivative part and output before the limits, of a discrete controller.
    fn discrete(
        &self,
        i: usize,
        memory: &Memory,
        wanted: Wanted,
        method: Method,
        period: f64,
    ) -> (f64, f64) {
        let (channel, error) = (&self.channels[i], wanted.error);
        let change = channel.kd * self.filter * (error - memory.error[i]);
        let derivative = (memory.derivative[i] + change) / (1.0 + self.filter * period);
        let before = method.parts().0 * period * channel.ki * error;
        let integral = memory.integral[i] + before;
        (derivative, wanted.feed_forward + channel.kp * error + integral + derivative)
    }

    /// The inputs of every channel.
    fn wanted<'a>(&self, inputs: Inputs<'a>) -> impl Iterator<Item = Wanted> + use<'a> {
        let feed_forward = inputs.optional(self.io.feed_forward).map(|leaves| leaves.leaf(0));
        inputs.get(self.io.u).leaf(0).iter().enumerate().map(move |(i, &error)| Wanted {
            error,
            feed_forward: feed_forward.map_or(0.0, |feed_forward| feed_forward[i]),
        })
    }
}

#[block]
impl Block for Pid {
    type Plan = Plan;
    type State = Memory;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        self.check_units()?;
        let (channels, common) = self.channels()?;
        let derivative = channels.iter().any(|channel| channel.kd != 0.0);
        if !self.discrete && self.method != Method::ForwardEuler {
            let message = "expected `discrete: true` for a method of samples, found none";
            return Err(Invalid::parameter("method", message));
        }
        if self.discrete {
            ports.rate(RateRule::Sampled);
        } else {
            let parts = if derivative { 2 } else { 1 };
            let states = Manifold::Euclidean(Dim::fixed(parts * channels.len()));
            ports.continuous_state(ContinuousState::First(vec![states]));
        }
        let io = self.declare(ports, &common);
        let filter = self.filter.value();
        Ok(Plan { io, channels, filter, derivative, unit: common.unit })
    }

    fn state(&self, plan: &Plan, _: &Sizes<'_>) -> Memory {
        if !self.discrete {
            return Memory::default();
        }
        Memory {
            integral: plan.channels.iter().map(|channel| channel.initial).collect(),
            derivative: vec![0.0; plan.channels.len()],
            error: plan.channels.iter().map(|channel| channel.initial_error).collect(),
        }
    }

    fn initial(&self, plan: &Plan, _: &Sizes<'_>, x: &mut [f64]) {
        let integral = plan.channels.iter().map(|channel| channel.initial);
        let error = plan.channels.iter().map(|channel| channel.initial_error);
        x.iter_mut().zip(integral.chain(error)).for_each(|(x, value)| *x = value);
    }

    fn numbers(&self, _: &Plan, state: &Memory) -> Vec<f64> {
        [state.integral.as_slice(), &state.error].concat()
    }

    fn set_numbers(&self, _: &Plan, state: &mut Memory, numbers: &[f64]) {
        let (integral, error) = numbers.split_at(state.integral.len());
        state.integral.copy_from_slice(integral);
        state.error.copy_from_slice(error);
    }

    fn starting_at(&self, plan: &Plan, at: &[f64], outputs: &[Type]) -> Option<Parameters> {
        let ty = outputs.first()?;
        let (integral, error) = at.split_at(plan.channels.len());
        let mut parameters = vec![("initial", Written::signal(ty, plan.unit, integral)?)];
        if !error.is_empty() {
            let unit = self.initial_error.unit();
            parameters.push(("initial_error", Written::signal(ty, unit, error)?));
        }
        Some(parameters)
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let wanted = plan.wanted(cx.inputs);
        for (i, (y, wanted)) in cx.outputs.get(plan.io.y).iter_mut().zip(wanted).enumerate() {
            let v = match self.discrete {
                true => plan.discrete(i, cx.state, wanted, self.method, cx.time.step).1,
                false => plan.continuous(i, cx.x, wanted),
            };
            *y = limit(v, plan.channels[i].limits);
        }
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let period = cx.time.step;
        let (before, after) = self.method.parts();
        for (i, wanted) in plan.wanted(cx.inputs).enumerate() {
            let (derivative, v) = plan.discrete(i, cx.state, wanted, self.method, period);
            let rate = period * self.windup(&plan.channels[i], wanted.error, v);
            let integral = cx.state.integral[i];
            cx.state.integral[i] = (integral + before * rate) + after * rate;
            cx.state.derivative[i] = derivative;
            cx.state.error[i] = wanted.error;
        }
        Ok(())
    }

    fn derivative(&self, plan: &Plan, cx: &mut DerivativeCx<'_, Self>) -> Outcome {
        let count = plan.channels.len();
        for (i, wanted) in plan.wanted(cx.inputs).enumerate() {
            let v = plan.continuous(i, cx.x, wanted);
            cx.rate[i] = self.windup(&plan.channels[i], wanted.error, v);
            if plan.derivative {
                cx.rate[count + i] = plan.filter * (wanted.error - cx.x[count + i]);
            }
        }
        Ok(())
    }

    /// On the present side of each limit; at a limit itself differences tell both sides.
    fn output_slopes(&self, plan: &Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let (y, u, x) =
            (cx.slopes.rows(plan.io.y, 0), cx.slopes.columns(plan.io.u, 0), cx.slopes.state());
        let feed_forward = cx.slopes.optional(plan.io.feed_forward, 0);
        let count = plan.channels.len();
        for (i, wanted) in plan.wanted(cx.inputs).enumerate() {
            let Channel { kp, ki, kd, limits: (lower, upper), .. } = plan.channels[i];
            let (v, by_error) = if self.discrete {
                let period = cx.time.step;
                let derivative = kd * plan.filter / (1.0 + plan.filter * period);
                let integral = self.method.parts().0 * period * ki;
                let v = plan.discrete(i, cx.state, wanted, self.method, period).1;
                (v, kp + integral + derivative)
            } else {
                let by_filter = if plan.derivative { kd * plan.filter } else { 0.0 };
                (plan.continuous(i, cx.x, wanted), kp + by_filter)
            };
            if v == lower || v == upper {
                return Slope::Unknown;
            }
            if v < lower || v > upper {
                continue;
            }
            cx.slopes.add((y, i), (u, i), by_error);
            if let Some(feed_forward) = feed_forward {
                cx.slopes.add((y, i), (feed_forward, i), 1.0);
            }
            if !self.discrete {
                cx.slopes.add((y, i), (x, i), 1.0);
                cx.slopes.add((y, i), (x, count + i), -kd * plan.filter);
            }
        }
        Slope::Exact
    }

    fn rate_slopes(&self, plan: &Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let (rates, u, x) = (cx.slopes.rates(), cx.slopes.columns(plan.io.u, 0), cx.slopes.state());
        let feed_forward = cx.slopes.optional(plan.io.feed_forward, 0);
        let count = plan.channels.len();
        for (i, wanted) in plan.wanted(cx.inputs).enumerate() {
            let Channel { kp, ki, kd, limits: (lower, upper), .. } = plan.channels[i];
            if plan.derivative {
                cx.slopes.add((rates, count + i), (u, i), plan.filter);
                cx.slopes.add((rates, count + i), (x, count + i), -plan.filter);
            }
            let v = plan.continuous(i, cx.x, wanted);
            let beyond = v < lower || v > upper;
            if v == lower || v == upper || (beyond && ki * wanted.error == 0.0) {
                return Slope::Unknown;
            }
            // How the rate follows the error, and v beyond a limit.
            let (by_error, by_v) = match self.anti_windup {
                AntiWindup::BackCalculation { gain } if beyond => (ki, -gain.value()),
                AntiWindup::Clamping if (v > upper) == (ki * wanted.error > 0.0) && beyond => {
                    (0.0, 0.0)
                }
                _ => (ki, 0.0),
            };
            let by_filter = if plan.derivative { kd * plan.filter } else { 0.0 };
            cx.slopes.add((rates, i), (u, i), by_error + by_v * (kp + by_filter));
            cx.slopes.add((rates, i), (x, i), by_v);
            cx.slopes.add((rates, i), (x, count + i), -by_v * by_filter);
            if let Some(feed_forward) = feed_forward {
                cx.slopes.add((rates, i), (feed_forward, i), by_v);
            }
        }
        Slope::Exact
    }
}

#[cfg(test)]
mod tests;
