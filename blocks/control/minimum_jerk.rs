//! `MinimumJerk`: smooth references between targets.

use legwork_block::quantity::{Positive, Tensor, Time as Seconds};
use legwork_block::{
    Any, Block, Invalid, Outcome, OutputCx, PortUnit, Ports, Real, Sizes, SymbolicUnit, Unit,
    UpdateCx, block, parameters, ports,
};
use serde::{Deserialize, Serialize};

use crate::signal::{shape, units};

/// A reference that goes from target to target with the least jerk, with its rates.
///
/// From position, velocity and acceleration at the time at which the target changes it is the
/// polynomial of degree five that comes to rest at the target after `duration`, of all such paths
/// the one with the least integral of the squared jerk; from rest
/// `y = y₀ + (y₁ − y₀)(10 s³ − 15 s⁴ + 6 s⁵)`, s = (t − t₀)/T. A target that changes on the way is
/// taken up without a jump in y, ẏ or ÿ. One that moves all the time is never reached: a target is
/// a place to go to, such as what a `StateMachine` sets.
///
/// Output and rates at an instant do not depend on the target of that instant, but at t = 0 without
/// `initial`, where they begin at rest at the first target.
///
/// T. Flash, N. Hogan, *The coordination of arm movements: an experimentally confirmed mathematical
/// model* (1985), eqs. 1 and B.4; with rates at the start, the polynomial of the same degree.
#[ports(
    |ty: &Any, unit: &SymbolicUnit, second: PortUnit|
    in  target: ty.clone() as Any, unit.clone(), "where to go",
        shape "that of `initial`, else number, vector, matrix", units "that of `initial`, or any";
    in  duration?: Real, "s", "how long the way takes from where the target changes; more than 0";
    let direct = self.initial.is_none().then_some(target);
    feeds(direct);
    out y: ty.clone() as Any, unit.clone(), "the reference", shape "that of `target`",
        units "that of `target`";
    out velocity: ty.clone() as Any, units::per_second(unit), "its rate", shape "that of `target`",
        units "that of `target` / s";
    out acceleration: ty.clone() as Any, second, "the rate of that", shape "that of `target`",
        units "that of `target` / s²";
)]
#[parameters(aliases("trajectory generator", "quintic", "smooth reference", "setpoint"))]
pub struct MinimumJerk {
    /// How long a way takes [s]; required unless the input `duration` is connected.
    pub duration: Option<Positive<Seconds>>,
    /// Where it begins: a number, a list for a vector, a list of rows for a matrix [any unit];
    /// default the first target.
    pub initial: Option<Tensor>,
}

/// The way that a [`MinimumJerk`] is on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Way {
    /// Whether there is one.
    started: bool,
    /// When it began, and how long it takes [s].
    start: f64,
    duration: f64,
    target: Vec<f64>,
    /// Of each element six coefficients, of powers of the share of the duration.
    coefficients: Vec<[f64; 6]>,
}

/// The polynomial of s from `y`, `v`, `a` (rates by s) at s = 0 to rest at `to` at s = 1.
fn quintic(y: f64, v: f64, a: f64, to: f64) -> [f64; 6] {
    let (c1, c2) = (v, a / 2.0);
    let position = to - y - c1 - c2;
    let (velocity, acceleration) = (-c1 - 2.0 * c2, -2.0 * c2);
    [
        y,
        c1,
        c2,
        10.0 * position - 4.0 * velocity + 0.5 * acceleration,
        -15.0 * position + 7.0 * velocity - acceleration,
        6.0 * position - 3.0 * velocity + 0.5 * acceleration,
    ]
}

impl Way {
    /// Value and both rates of element i at `t`.
    fn at(&self, i: usize, t: f64) -> [f64; 3] {
        let s = (t - self.start) / self.duration;
        if s >= 1.0 {
            return [self.target[i], 0.0, 0.0];
        }
        let c = &self.coefficients[i];
        let y = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5]))));
        let v = c[1] + s * (2.0 * c[2] + s * (3.0 * c[3] + s * (4.0 * c[4] + s * 5.0 * c[5])));
        let a = 2.0 * c[2] + s * (6.0 * c[3] + s * (12.0 * c[4] + s * 20.0 * c[5]));
        [y, v / self.duration, a / (self.duration * self.duration)]
    }

    /// Sets out for `target` from where it is at `t`.
    fn set_out(&mut self, target: &[f64], t: f64, duration: f64) {
        for (i, &to) in target.iter().enumerate() {
            let [y, v, a] = self.at(i, t);
            self.coefficients[i] = quintic(y, v * duration, a * duration * duration, to);
        }
        self.target.copy_from_slice(target);
        (self.start, self.duration) = (t, duration);
    }

    /// Rests at `place`.
    fn rest(&mut self, place: &[f64]) {
        self.target.copy_from_slice(place);
        for (coefficients, &place) in self.coefficients.iter_mut().zip(place) {
            *coefficients = [place, 0.0, 0.0, 0.0, 0.0, 0.0];
        }
        self.started = true;
    }
}

#[block]
impl Block for MinimumJerk {
    type State = Way;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let ty = shape::state_signal(self.initial.as_ref(), ports)?;
        let unit = units::known_or_open(self.initial.as_ref().and_then(Tensor::unit), ports);
        let square = Unit::RUN_SECOND.power(2, 1).map(SymbolicUnit::from);
        let second = square.map_or(PortUnit::Unspecified, |square| units::quotient(&unit, &square));
        ports.updates();
        Ok(self.declare(ports, &ty, &unit, second))
    }

    fn check(&self, io: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, io.target)?;
        if self.duration.is_none() && sizes.optional(io.duration).is_none() {
            let message = "expected a duration, here or as a signal, found none";
            return Err(Invalid::parameter("duration", message));
        }
        Ok(())
    }

    fn state(&self, io: &Self::Plan, sizes: &Sizes<'_>) -> Way {
        let len = sizes.output(io.y);
        let (target, coefficients) = (vec![0.0; len], vec![[0.0; 6]; len]);
        let mut way = Way { started: false, start: 0.0, duration: 1.0, target, coefficients };
        if let Some(initial) = &self.initial {
            way.rest(initial.data());
        }
        way
    }

    fn output(&self, io: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (way, t) = (cx.state, cx.time.t);
        if !way.started {
            cx.outputs.get(io.y).copy_from_slice(cx.inputs.get(io.target).leaf(0));
            cx.outputs.get(io.velocity).fill(0.0);
            cx.outputs.get(io.acceleration).fill(0.0);
            return Ok(());
        }
        for i in 0..way.target.len() {
            let [y, v, a] = way.at(i, t);
            cx.outputs.get(io.y)[i] = y;
            cx.outputs.get(io.velocity)[i] = v;
            cx.outputs.get(io.acceleration)[i] = a;
        }
        Ok(())
    }

    fn update(&self, io: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let target = cx.inputs.get(io.target).leaf(0);
        if !cx.state.started {
            cx.state.rest(target);
        } else if target != cx.state.target {
            let given = self.duration.as_ref().map(|duration| duration.value());
            let duration = cx.inputs.optional(io.duration).or(given).unwrap_or(0.0);
            if duration <= 0.0 {
                return Err(legwork_block::Fault::new(format!(
                    "expected a duration of more than 0 s, found {duration} s"
                )));
            }
            cx.state.set_out(target, cx.time.t, duration);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    /// y, velocity, acceleration of a reference for this target at t, then on to the next step.
    fn step(bench: &mut Bench, t: f64, target: f64) -> [f64; 3] {
        bench.set("target", &[target]);
        bench.output(t).expect("no fault");
        let seen = ["y", "velocity", "acceleration"].map(|name| bench.value(name)[0]);
        bench.update(t);
        seen
    }

    /// A reference whose ways take so long, by the input, which goes before the parameter.
    fn reference(duration: f64, parameters: serde_json::Value) -> Bench {
        let jerk: MinimumJerk = block(parameters);
        let mut bench = Bench::new(jerk, &[Type::Real, Type::Real]).expect("a reference");
        bench.set("duration", &[duration]);
        bench
    }

    /// Flash and Hogan's polynomial; its jerk has the integral of squares 720 Δ²/T⁵.
    #[test]
    fn from_rest_it_is_the_polynomial_of_the_source() {
        let mut bench = reference(2.0, json!({ "duration": "9 s", "initial": 1 }));
        assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
        let (h, n) = (1e-3, 2000);
        assert_eq!(step(&mut bench, 0.0, 4.0), [1.0, 0.0, 0.0]);
        let (mut cost, mut before) = (0.0, 0.0);
        for k in 1..=n {
            let t = f64::from(k) * h;
            let [y, v, a] = step(&mut bench, t, 4.0);
            let s = t / 2.0;
            let exact = 1.0 + 3.0 * s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
            assert!((y - exact).abs() < 1e-14, "{t}: {y}, {exact}");
            let speed = 3.0 / 2.0 * 30.0 * (s * (1.0 - s)) * (s * (1.0 - s));
            assert!((v - speed).abs() < 1e-13, "{t}: {v}, {speed}");
            cost += (a - before) * (a - before) / h;
            before = a;
        }
        let least = 720.0 * 9.0 / 32.0;
        assert!((cost / least - 1.0).abs() < 1e-5, "{cost}, {least}");
        assert_eq!(step(&mut bench, 2.0, 4.0), [4.0, 0.0, 0.0]);
    }

    /// The rates are those of the values, across a change of the target too, and nothing jumps.
    #[test]
    fn a_new_target_is_taken_up_without_a_jump() {
        let mut bench = reference(1.0, json!({ "initial": 0 }));
        let h = 1e-4;
        let mut before = step(&mut bench, 0.0, 1.0);
        for k in 1..=14_000 {
            let t = f64::from(k) * h;
            let now = step(&mut bench, t, if k < 4000 { 1.0 } else { -2.0 });
            let middle = |rate: usize| (now[rate + 1] + before[rate + 1]) / 2.0;
            for rate in [0, 1] {
                let difference = (now[rate] - before[rate]) / h;
                assert!((difference - middle(rate)).abs() < 2e-5, "{t}: rate {rate}");
            }
            // |jerk| is below 700 on either way.
            assert!((now[2] - before[2]).abs() < 700.0 * h, "{t}");
            before = now;
        }
        assert_eq!(before, [-2.0, 0.0, 0.0]);
    }

    #[test]
    fn without_a_beginning_it_begins_at_the_first_target() {
        let mut bench = reference(1.0, json!({}));
        assert_ne!(bench.declaration.groups, [Feeds::Only(vec![])]);
        assert_eq!(step(&mut bench, 0.0, 3.0), [3.0, 0.0, 0.0]);
        assert_eq!(step(&mut bench, 0.1, 5.0), [3.0, 0.0, 0.0]);
        assert!(step(&mut bench, 0.2, 5.0)[0] > 3.0);
    }
}
