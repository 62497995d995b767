//! `TransportDelay`: the input some time ago.

use legwork_block::quantity::{Positive, Tensor, Time};
use legwork_block::{
    Any, Block, Fault, Invalid, Outcome, OutputCx, Parameters, PortUnit, Ports, Sizes, Type,
    UpdateCx, block, parameters, ports,
};
use serde::{Deserialize, Serialize};

use crate::discrete::delay::{MOST_SAMPLES, ring_memory};
use crate::signal::shape::{self, initial_state};

/// The input some time ago: `y(t) = u(t − delay)`, `initial` before t = `delay`.
///
/// The input is stored once per major step (or period, with `every:`) and interpolated between, so
/// the output is exact at whole steps and off by `h² ü / 8` at most between them; a jump of the
/// input becomes a ramp over one step. The delay is constant and at least the step h of the run;
/// the input does not feed through. The ring of samples is of fixed length, `delay / h` and a few
/// more: with steps that get much shorter than h it can be too short, which is a fault of the run.
#[ports(
    |ty: &Any, unit: &PortUnit|
    in  u: ty.clone() as Any, unit.clone(), "what is delayed",
        shape "that of `initial`; without it any of number, vector, matrix",
        units "that of `initial`";
    feeds();
    out y: ty.clone() as Any, unit.clone(), "the input that long ago",
        shape "that of `u`", units "that of `u`", elements u;
)]
#[parameters(aliases("dead time", "time delay", "latency"))]
pub struct TransportDelay {
    /// How long [s].
    pub delay: Positive<Time>,
    /// Output before the delay has passed: a number, a list for a vector, a list of rows for a
    /// matrix [unit of u]; default zeros of the type of `u`.
    pub initial: Option<Tensor>,
}

/// Rounding of times, as a share of the step: what is this near a sample is that sample.
const NEAR: f64 = 1e-9;

/// Ports and length of a [`TransportDelay`].
pub struct Plan {
    io: TransportDelayPorts,
    /// Samples that the ring holds.
    capacity: usize,
    /// Times this near are one [s].
    near: f64,
}

/// The last samples of a [`TransportDelay`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ring {
    /// Output before any sample.
    initial: Vec<f64>,
    /// Times [s], a place for each sample.
    times: Vec<f64>,
    /// Samples, element after element.
    samples: Vec<f64>,
    /// How many samples were stored since t = 0.
    count: u64,
}

impl Ring {
    /// The place of sample `k`, counted from t = 0.
    fn place(&self, k: u64) -> usize {
        (k % self.times.len() as u64) as usize
    }

    fn sample(&self, k: u64) -> (f64, &[f64]) {
        let (place, width) = (self.place(k), self.initial.len());
        (self.times[place], &self.samples[place * width..(place + 1) * width])
    }

    /// Number of the last sample at or before `t`, if the ring still holds it.
    fn find(&self, t: f64, near: f64) -> Option<u64> {
        let oldest = self.count.saturating_sub(self.times.len() as u64);
        let (mut low, mut high) = (oldest, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.times[self.place(middle)] <= t + near {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low > oldest).then(|| low - 1)
    }
}

#[block]
impl Block for TransportDelay {
    type Plan = Plan;
    type State = Ring;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let (delay, step) = (self.delay.value(), ports.step());
        if delay < step * (1.0 - NEAR) {
            let message =
                format!("expected at least the step {step} s of the run, found {delay} s");
            return Err(Invalid::parameter("delay", message));
        }
        let samples = libm::ceil(delay / step) + 3.0;
        if samples > MOST_SAMPLES as f64 {
            let message =
                format!("expected at most {MOST_SAMPLES} steps of {step} s, found {delay} s");
            return Err(Invalid::parameter("delay", message));
        }
        ports.updates();
        let (ty, unit) = shape::like(self.initial.as_ref(), ports)?;
        let io = self.declare(ports, &ty, &unit);
        Ok(Plan { io, capacity: samples as usize, near: NEAR * step })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, plan.io.u)
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> Ring {
        let initial = initial_state(self.initial.as_ref(), sizes.output(plan.io.y));
        Ring {
            times: vec![0.0; plan.capacity],
            samples: initial.repeat(plan.capacity),
            initial,
            count: 0,
        }
    }

    fn memory(&self, plan: &Plan, sizes: &Sizes<'_>) -> u64 {
        // A sample and its time.
        ring_memory(plan.capacity, sizes.output(plan.io.y) + 1)
    }

    fn numbers(&self, _: &Plan, state: &Ring) -> Vec<f64> {
        match state.count.checked_sub(1) {
            Some(newest) => state.sample(newest).1.to_vec(),
            None => state.initial.clone(),
        }
    }

    fn set_numbers(&self, _: &Plan, state: &mut Ring, numbers: &[f64]) {
        state.initial.copy_from_slice(numbers);
    }

    /// None: what it holds is a function of time, no list of states.
    fn memory_numbers(&self, _: &Plan, _: &Ring) -> Vec<f64> {
        Vec::new()
    }

    fn set_memory_numbers(&self, _: &Plan, _: &mut Ring, _: &[f64]) {}

    fn starting_at(&self, _: &Plan, at: &[f64], outputs: &[Type]) -> Option<Parameters> {
        shape::starting_at("initial", self.initial.as_ref().and_then(Tensor::unit), at, outputs)
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let ring = cx.state;
        let then = cx.time.t - self.delay.value();
        let y = cx.outputs.get(plan.io.y);
        if then < -plan.near || ring.count == 0 {
            y.copy_from_slice(&ring.initial);
            return Ok(());
        }
        let Some(before) = ring.find(then, plan.near) else {
            return Err(Fault::new(format!(
                "expected steps that {} samples cover {} s with, found shorter ones",
                plan.capacity,
                self.delay.value()
            )));
        };
        let (t0, u0) = ring.sample(before);
        if then <= t0 + plan.near || before + 1 == ring.count {
            y.copy_from_slice(u0);
            return Ok(());
        }
        let (t1, u1) = ring.sample(before + 1);
        let share = (then - t0) / (t1 - t0);
        for ((y, u0), u1) in y.iter_mut().zip(u0).zip(u1) {
            *y = u0 + share * (u1 - u0);
        }
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let ring = &mut *cx.state;
        let (place, width) = (ring.place(ring.count), ring.initial.len());
        ring.times[place] = cx.time.t;
        ring.samples[place * width..(place + 1) * width]
            .copy_from_slice(cx.inputs.get(plan.io.u).leaf(0));
        ring.count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, Type};
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{Bench, block, refusal};

    /// A delay at the step 1 ms of the bench, after `steps` steps of u = 1000 t.
    fn after(parameters: Value, steps: u32) -> Bench {
        let delay: TransportDelay = block(parameters);
        let mut bench = Bench::new(delay, &[Type::Real]).expect("a delay");
        assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
        for k in 0..steps {
            let t = 0.001 * f64::from(k);
            bench.set("u", &[1000.0 * t]);
            bench.update(t);
        }
        bench
    }

    #[test]
    fn a_line_comes_out_later_at_whole_steps_and_between() {
        let mut bench = after(json!({ "delay": "5 ms", "initial": -1 }), 20);
        for t in [0.02, 0.0203, 0.02075] {
            let y = bench.y(t, &[])[0];
            assert!((y - 1000.0 * (t - 0.005)).abs() < 1e-10, "t = {t}: {y}");
        }
        let mut between = after(json!({ "delay": "5.25 ms" }), 20);
        assert!((between.y(0.02, &[])[0] - 14.75).abs() < 1e-10);
    }

    #[test]
    fn it_starts_with_the_initial_value_and_then_with_the_first_sample() {
        for steps in 0..5 {
            let mut bench = after(json!({ "delay": "5 ms", "initial": -1 }), steps);
            assert_eq!(bench.y(0.001 * f64::from(steps), &[]), [-1.0], "step {steps}");
        }
        let mut bench = after(json!({ "delay": "5 ms", "initial": -1 }), 5);
        assert_eq!(bench.y(0.005, &[]), [0.0]);
    }

    #[test]
    fn a_delay_of_one_step_is_a_unit_delay() {
        let mut bench = after(json!({ "delay": "1 ms" }), 7);
        assert_eq!(bench.y(0.007, &[]), [6.0]);
    }

    #[test]
    fn steps_shorter_than_that_of_the_run_end_in_a_fault() {
        let mut bench = after(json!({ "delay": "5 ms" }), 10);
        for k in 0..100 {
            bench.update(0.01 + 1e-5 * f64::from(k));
        }
        let fault = bench.output(0.011).unwrap_err();
        assert!(fault.message.ends_with("found shorter ones"), "{fault}");
    }

    #[test]
    fn the_delay_is_at_least_a_step() {
        let short: TransportDelay = block(json!({ "delay": "0.5 ms" }));
        let message = refusal(short, &[]);
        assert_eq!(message, "expected at least the step 0.001 s of the run, found 0.0005 s");
    }
}
