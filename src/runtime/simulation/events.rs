//! Events inside a variable step: the first crossing of a guard, on the kernel's dense output.
//!
//! Each quarter of a step is examined in order, as if the step ended there: a crossing that is
//! undone before the step ends is found if it lasts for a quarter of the step. A shorter one is
//! found if the guard is smooth: parabolas through three values show where it comes near to a
//! crossing, and the peak is followed there.

use legwork_block::Crossing;

use super::engine::Engine;
use super::integrate::Scratch;
use crate::fault::RunFault;
use crate::ode::{Kernel, VariableStep};

/// Largest number of halvings of a bracket; the event then counts as located, whatever its width.
const MOST_HALVINGS: u32 = 200;

/// Number of parts of a step.
const PARTS: usize = 4;

/// Largest number of evaluations for one peak of a guard.
const MOST_LOOKS: u32 = 6;

/// Guard values over a step.
pub(super) struct GuardValues {
    /// At both ends of the bracket of an event.
    near: Vec<f64>,
    far: Vec<f64>,
    /// At the ends of all parts of the step.
    parts: [Vec<f64>; PARTS + 1],
}

impl GuardValues {
    pub(super) fn new(count: usize) -> Self {
        let zeros = || vec![0.0; count];
        Self { near: zeros(), far: zeros(), parts: std::array::from_fn(|_| zeros()) }
    }

    /// Sets the values at the beginning of a segment.
    pub(super) fn begin(&mut self, values: &[f64]) {
        self.parts[PARTS].copy_from_slice(values);
    }

    /// Value `k` of guard `i`, with the sign of an upward crossing.
    fn upward(&self, engine: &Engine, i: usize, k: usize) -> f64 {
        upward(engine, i, self.parts[k][i])
    }

    /// Peak at which guard `i` may cross and come back between the ends `k - 1` and `k` of parts:
    /// its place in parts from the beginning of the step, by the parabola through three values.
    fn peak(&self, engine: &Engine, i: usize, k: usize) -> Option<f64> {
        let y: [f64; PARTS + 1] = std::array::from_fn(|k| self.upward(engine, i, k));
        if !(y[k - 1] <= 0.0 && y[k] <= 0.0) {
            return None;
        }
        // Possible error of a parabola.
        let third = |j: usize| (y[j + 3] - y[j] - 3.0 * (y[j + 2] - y[j + 1])).abs();
        let doubt = third(0).max(third(1));
        (1..PARTS).filter(|j| j.abs_diff(k) == 0 || j + 1 == k).find_map(|j| {
            let (slope, bend) = (0.5 * (y[j + 1] - y[j - 1]), y[j + 1] - 2.0 * y[j] + y[j - 1]);
            let place = j as f64 - slope / bend;
            let height = y[j] - 0.5 * slope * slope / bend;
            let inside = place > k as f64 - 1.3 && place < k as f64 + 0.3;
            let place = place.clamp(k as f64 - 0.98, k as f64 - 0.02);
            (bend < 0.0 && inside && height + doubt > 0.0).then_some(place)
        })
    }
}

/// Value of a guard with the sign of an upward crossing.
fn upward(engine: &Engine, i: usize, value: f64) -> f64 {
    match engine.plan.crossings[i].crossing {
        Crossing::Level | Crossing::Rising => value,
        Crossing::Falling => -value,
    }
}

impl Scratch {
    /// First crossing of a guard in the kernel's last step: the end of a part before the crossing
    /// and a time after it [s]. Without a crossing, guards are armed as at the end of the step.
    pub(super) fn crossing(
        &mut self,
        engine: &mut Engine,
        kernel: &VariableStep,
    ) -> Result<Option<(f64, f64)>, RunFault> {
        let (start, end) = (kernel.previous_t(), kernel.t());
        self.guards.parts.swap(0, PARTS);
        self.look(engine, kernel, end)?;
        self.guards.parts[PARTS].copy_from_slice(&engine.work.guard_values);
        if !engine.may_cross() {
            engine.arm();
            return Ok(None);
        }
        let at = |part: f64| start + (end - start) * part / PARTS as f64;
        for k in 1..PARTS {
            self.look(engine, kernel, at(k as f64))?;
            self.guards.parts[k].copy_from_slice(&engine.work.guard_values);
        }
        for k in 1..=PARTS {
            let near = at(k as f64 - 1.0);
            for i in 0..engine.plan.crossings.len() {
                if engine.is_on(engine.plan.guard_gates[i])
                    && let Some(peak) = self.guards.peak(engine, i, k)
                    && let Some(far) =
                        self.follow(engine, kernel, i, [k as f64 - 1.0, peak, k as f64])?
                {
                    return Ok(Some((near, far)));
                }
            }
            engine.work.guard_values.copy_from_slice(&self.guards.parts[k]);
            if engine.any_crossed() {
                return Ok(Some((near, if k == PARTS { end } else { at(k as f64) })));
            }
            engine.arm();
        }
        Ok(None)
    }

    /// Follows the peak of guard `i` between two ends of a part, in parts from the beginning of the
    /// step. Returns a time at which the guard has crossed [s].
    fn follow(
        &mut self,
        engine: &mut Engine,
        kernel: &VariableStep,
        i: usize,
        [mut left, mut peak, mut right]: [f64; 3],
    ) -> Result<Option<f64>, RunFault> {
        let (start, end) = (kernel.previous_t(), kernel.t());
        let at = |part: f64| start + (end - start) * part / PARTS as f64;
        let k = right as usize;
        let mut y = [self.guards.upward(engine, i, k - 1), 0.0, self.guards.upward(engine, i, k)];
        let mut looked = None;
        for _ in 0..MOST_LOOKS {
            let place = looked.unwrap_or(peak);
            self.look(engine, kernel, at(place))?;
            if engine.any_crossed() {
                return Ok(Some(at(place)));
            }
            let value = upward(engine, i, engine.work.guard_values[i]);
            match looked {
                None => y[1] = value,
                // The higher of the two lies between the others.
                Some(_) if value > y[1] => {
                    if place > peak {
                        (left, y[0]) = (peak, y[1]);
                    } else {
                        (right, y[2]) = (peak, y[1]);
                    }
                    (peak, y[1]) = (place, value);
                }
                Some(_) if place > peak => (right, y[2]) = (place, value),
                Some(_) => (left, y[0]) = (place, value),
            }
            // The parabola through the three values.
            let (to_left, to_right) =
                ((y[0] - y[1]) / (left - peak), (y[2] - y[1]) / (right - peak));
            let bend = (to_right - to_left) / (right - left);
            let slope = to_left - bend * (left - peak);
            let next = peak - 0.5 * slope / bend;
            let height = y[1] - 0.25 * slope * slope / bend;
            let moves = (next - peak).abs() > 1e-4 && next > left && next < right;
            // Twice the height that the parabola predicts is not enough.
            let hopeless = 2.0 * height - y[1] < 0.0;
            if bend >= 0.0 || bend.is_nan() || !moves || hopeless {
                return Ok(None);
            }
            looked = Some(next);
        }
        Ok(None)
    }

    /// Narrows a part of the kernel's last step, at whose end a guard has crossed, to the first
    /// crossing. Leaves `x` at the far end of a bracket as narrow as floating-point numbers allow.
    /// Returns its time since the major step [s].
    pub(super) fn locate(
        &mut self,
        engine: &mut Engine,
        kernel: &VariableStep,
        mut near: f64,
        mut far: f64,
    ) -> Result<f64, RunFault> {
        self.look(engine, kernel, near)?;
        self.guards.near.copy_from_slice(&engine.work.guard_values);
        self.look(engine, kernel, far)?;
        self.guards.far.copy_from_slice(&engine.work.guard_values);
        // Times far below the resolution of time: there dense output is only rounding.
        let step = engine.plan.program.base.at(engine.plan.program.step_ticks);
        let least = f64::EPSILON * step;
        for round in 0..MOST_HALVINGS {
            // Relative to the time since the major step, not since t = 0: events at ever shorter
            // intervals remain distinct until they fall on one moment, and are counted there.
            let width = 2.0 * f64::EPSILON * far.max(least);
            if far - near <= width {
                break;
            }
            // The secant finds the crossing of a smooth guard; every third round halves, so that
            // the bracket closes from both sides.
            let middle = 0.5 * (near + far);
            let try_at = if round % 3 == 2 {
                middle
            } else {
                let root = self.earliest_root(engine, near, far);
                let margin = (0.25 * width).max(f64::MIN_POSITIVE);
                // Slightly beyond the estimate, so that it becomes the far end if the estimate is
                // good.
                let aim = root + if round % 3 == 0 { margin } else { -margin };
                if aim > near && aim < far { aim } else { middle }
            };
            if try_at <= near || try_at >= far {
                break;
            }
            self.look(engine, kernel, try_at)?;
            if engine.any_crossed() {
                far = try_at;
                self.guards.far.copy_from_slice(&engine.work.guard_values);
            } else {
                near = try_at;
                self.guards.near.copy_from_slice(&engine.work.guard_values);
            }
        }
        self.look(engine, kernel, far)?;
        engine.work.guard_values.copy_from_slice(&self.guards.far);
        engine.mark_located();
        Ok(far)
    }

    /// Computes outputs and guards at a time inside the kernel's last step.
    fn look(&mut self, engine: &mut Engine, kernel: &VariableStep, t: f64) -> Result<(), RunFault> {
        let Self { chart, x, u, .. } = self;
        kernel.interpolate(t, u);
        chart.place(u, x);
        engine.minor_outputs(t, x)?;
        engine.guard_values(t, true);
        Ok(())
    }

    /// The earliest zero of the lines through the guards that have crossed at the far side.
    fn earliest_root(&self, engine: &Engine, near: f64, far: f64) -> f64 {
        let mut earliest = far;
        for (i, (&a, &b)) in self.guards.near.iter().zip(&self.guards.far).enumerate() {
            if engine.has_crossed(i, b) && a != b {
                earliest = earliest.min(near + (far - near) * (a / (a - b)).clamp(0.0, 1.0));
            }
        }
        earliest
    }
}
