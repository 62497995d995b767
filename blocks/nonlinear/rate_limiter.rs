//! `RateLimiter`: limits the rate of change.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, GuardCx, Invalid, Outcome, OutputCx, Parameters, Ports, Sizes, Type, Unit,
    UpdateCx, block, parameters, ports,
};
use serde::{Deserialize, Serialize};

use crate::signal::elementwise::Each;
use crate::signal::pieces::{self, Piece};
use crate::signal::shape::{self, Common, spread};

/// Follows the input with a limited rate of change. From the last output y₀ at t₀,
/// `y = min(max(u, y₀ + falling (t − t₀)), y₀ + rising (t − t₀))`.
///
/// t₀ is the last major step (the last sample, with `every:`). The input feeds through. Without
/// `initial` the output starts at the first input. A variable step is cut where a limit begins and
/// where the output has caught up.
#[ports(
    |common: &Common|
    let (ty, unit) = common.signal(ports);
    in  u: ty.clone() as Any, unit.clone(), "what is followed", units "that of `rising` · s",
        shape "that of the parameters; any if they are numbers";
    out y: ty as Any, unit, "what follows it", shape "that of `u`", units "that of `u`", elements u;
)]
#[parameters(aliases("slew rate"))]
pub struct RateLimiter {
    /// Greatest rate, zero or more [unit of u / s].
    pub rising: Tensor,
    /// Least rate, zero or less [unit of u / s]; default `-rising`.
    pub falling: Option<Tensor>,
    /// Output at t = 0 that limits start from [unit of u]; default the first input.
    pub initial: Option<Tensor>,
}

/// Ports and rates of a [`RateLimiter`].
pub struct Plan {
    io: RateLimiterPorts,
    rising: Each,
    falling: Each,
    located: bool,
}

/// The last output of a [`RateLimiter`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Last {
    /// Whether there was one.
    started: bool,
    /// When [s].
    time: f64,
    value: Vec<f64>,
    /// Where the input was, seen from what is in reach; empty where no step is cut.
    pieces: Vec<Piece>,
}

impl Plan {
    /// The output for element `i` of the input.
    #[inline]
    fn limited(&self, i: usize, u: f64, last: &Last, t: f64) -> f64 {
        if last.started {
            crate::nonlinear::saturation::limit(u, self.reach(i, last, t))
        } else {
            u
        }
    }

    /// What element `i` of the output can have reached at `t`.
    #[inline]
    fn reach(&self, i: usize, last: &Last, t: f64) -> (f64, f64) {
        let (from, elapsed) = (last.value[i], t - last.time);
        (from + self.falling.at(i) * elapsed, from + self.rising.at(i) * elapsed)
    }
}

#[block]
impl Block for RateLimiter {
    type Plan = Plan;
    type State = Last;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let mut given = vec![("rising", &self.rising)];
        given.extend(self.falling.as_ref().map(|falling| ("falling", falling)));
        let rate = Common::of(&given)?.unit;
        given.extend(self.initial.as_ref().map(|initial| ("initial", initial)));
        let shape = Common::shape(&given)?;
        for (name, tensor) in &given {
            shape::finite(name, tensor)?;
        }
        let unit = rate.and_then(|rate| rate.times(Unit::SECOND));
        let of_signal = self.initial.as_ref().and_then(Tensor::unit);
        if let (Some(expected), Some(found)) = (unit, of_signal)
            && !expected.agrees(found)
        {
            let message = format!("expected the unit {expected} of `rising` · s, found {found}");
            return Err(Invalid::parameter("initial", message));
        }
        shape::expect("rising", &self.rising, "rates of zero or more", |rate| rate >= 0.0)?;
        let rising = Each::new(&self.rising);
        let falling = match &self.falling {
            Some(falling) => {
                shape::expect("falling", falling, "rates of zero or less", |rate| rate <= 0.0)?;
                Each::new(falling)
            }
            None => rising.negated(),
        };
        ports.updates();
        let located = ports.pieces();
        let io = self.declare(ports, &Common { shape, unit: unit.or(of_signal) });
        Ok(Plan { io, rising, falling, located })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, plan.io.u)
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> Last {
        let len = sizes.output(plan.io.y);
        let value = self.initial.as_ref().map_or_else(|| vec![0.0; len], |y| spread(y, len));
        let pieces = pieces::held(plan.located, len);
        Last { started: self.initial.is_some(), time: 0.0, value, pieces }
    }

    fn numbers(&self, _: &Plan, state: &Last) -> Vec<f64> {
        state.value.clone()
    }

    fn set_numbers(&self, _: &Plan, state: &mut Last, numbers: &[f64]) {
        state.started = true;
        state.value.copy_from_slice(numbers);
    }

    fn starting_at(&self, _: &Plan, at: &[f64], outputs: &[Type]) -> Option<Parameters> {
        shape::starting_at("initial", self.initial.as_ref().and_then(Tensor::unit), at, outputs)
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let u = cx.inputs.get(plan.io.u).leaf(0);
        for (i, (y, &u)) in cx.outputs.get(plan.io.y).iter_mut().zip(u).enumerate() {
            *y = match cx.state.pieces.get(i) {
                Some(piece) if cx.time.minor => {
                    let (least, most) = plan.reach(i, cx.state, cx.time.t);
                    match piece {
                        Piece::Below => least,
                        Piece::Inside => u,
                        Piece::Above => most,
                    }
                }
                _ => plan.limited(i, u, cx.state, cx.time.t),
            };
        }
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        for (i, &u) in cx.inputs.get(plan.io.u).leaf(0).iter().enumerate() {
            let y = plan.limited(i, u, cx.state, cx.time.t);
            cx.state.value[i] = y;
            if let Some(piece) = cx.state.pieces.get_mut(i) {
                *piece = if u < y {
                    Piece::Below
                } else if u > y {
                    Piece::Above
                } else {
                    Piece::Inside
                };
            }
        }
        cx.state.started = true;
        cx.state.time = cx.time.t;
        Ok(())
    }

    fn guard(&self, plan: &Plan, cx: &mut GuardCx<'_, Self>) {
        let elements = cx.inputs.get(plan.io.u).leaf(0).iter().zip(&cx.state.pieces);
        cx.values.fill(pieces::furthest(
            elements
                .enumerate()
                .map(|(i, (&u, piece))| piece.left(u, plan.reach(i, cx.state, cx.time.t))),
        ));
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{PortUnit, Type};
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{Bench, block, refusal};

    /// Outputs once per second.
    fn seconds(parameters: Value, u: &[f64]) -> Vec<f64> {
        let limiter: RateLimiter = block(parameters);
        let mut bench = Bench::new(limiter, &[Type::Real]).expect("a limiter");
        let mut seen = Vec::new();
        for (k, u) in u.iter().enumerate() {
            seen.push(bench.y(k as f64, &[("u", &[*u])])[0]);
            bench.update(k as f64);
        }
        seen
    }

    #[test]
    fn it_follows_no_faster_than_the_rates() {
        let u = [0.0, 10.0, 10.0, 4.5, -10.0, -10.0];
        let y = seconds(json!({ "rising": 2, "falling": -3 }), &u);
        assert_eq!(y, [0.0, 2.0, 4.0, 4.5, 1.5, -1.5]);
    }

    #[test]
    fn it_starts_at_the_input_or_at_the_initial_value() {
        assert_eq!(seconds(json!({ "rising": 1 }), &[5.0, 0.0]), [5.0, 4.0]);
        assert_eq!(seconds(json!({ "rising": 1, "initial": 0 }), &[5.0, 5.0]), [0.0, 1.0]);
    }

    #[test]
    fn between_steps_it_goes_on_from_the_last_one() {
        let limiter: RateLimiter = block(json!({ "rising": "2 m/s" }));
        let mut bench = Bench::new(limiter, &[Type::Real]).expect("a limiter");
        assert_eq!(bench.declaration.inputs[0].unit, PortUnit::Is("m".into()));
        bench.y(0.0, &[("u", &[0.0])]);
        bench.update(0.0);
        assert_eq!(bench.y(0.25, &[("u", &[9.0])]), [0.5]);
        assert_eq!(bench.y(0.5, &[]), [1.0]);
    }

    #[test]
    fn rates_have_their_signs() {
        let refused = |parameters: Value| refusal(block::<RateLimiter>(parameters), &[]);
        assert_eq!(refused(json!({ "rising": -1 })), "expected rates of zero or more, found -1");
        let message = refused(json!({ "rising": 1, "falling": 2 }));
        assert_eq!(message, "expected rates of zero or less, found 2");
        let message = refused(json!({ "rising": "1 m/s", "initial": "1 rad" }));
        assert!(message.starts_with("expected the unit m"), "{message}");
    }
}
