//! Events inside a variable step: the first crossing of a guard, on the kernel's dense output.
//!
//! Each quarter of a step is examined in order, as if the step ended there: a crossing that is
//! undone before the step ends is found if it lasts for a quarter of the step. A shorter one is
//! found if the guard is smooth: the quartic through its values at the quarters shows its peaks,
//! and the guard is evaluated there. A quarter is divided again where the quartic is not accurate
//! enough to exclude a crossing.

mod shape;

use legwork_block::Crossing;

use super::engine::Engine;
use super::integrate::Scratch;
use crate::fault::RunFault;
use crate::ode::{Kernel, VariableStep};
use shape::{PARTS, Samples, Shape};

/// Largest number of halvings of a bracket; the event then counts as located, whatever its width.
const MOST_HALVINGS: u32 = 200;

/// Number of levels of division: the step, its parts, and the parts of these.
const LEVELS: usize = 3;

/// Guard values over a step.
pub(super) struct GuardValues {
    /// At both ends of the bracket of an event.
    near: Vec<f64>,
    far: Vec<f64>,
    /// At the ends of all parts of the segment that is examined on each level.
    levels: [[Vec<f64>; PARTS + 1]; LEVELS],
}

/// A step or a part of it, between two times [s].
#[derive(Clone, Copy)]
struct Segment {
    level: usize,
    start: f64,
    end: f64,
}

impl Segment {
    /// Time at `place`, in parts.
    fn at(&self, place: f64) -> f64 {
        if place == PARTS as f64 {
            return self.end;
        }
        self.start + (self.end - self.start) * place / PARTS as f64
    }
}

/// Place at which a guard is evaluated between the ends of a part.
#[derive(Clone, Copy)]
enum Place {
    /// A guard crosses here and comes back.
    Peak(f64),
    /// A guard returns to its near side.
    Dip(f64),
}

impl Place {
    fn place(self) -> f64 {
        match self {
            Self::Peak(place) | Self::Dip(place) => place,
        }
    }
}

impl GuardValues {
    pub(super) fn new(count: usize) -> Self {
        let zeros = || vec![0.0; count];
        let segment = || std::array::from_fn(|_| zeros());
        Self { near: zeros(), far: zeros(), levels: std::array::from_fn(|_| segment()) }
    }

    /// Sets the values at the beginning of a segment.
    pub(super) fn begin(&mut self, values: &[f64]) {
        self.levels[0][PARTS].copy_from_slice(values);
    }

    /// Shape of guard `i` on a level. `None` if the guard is off or does not come near a crossing.
    fn shape(&self, engine: &Engine, i: usize, level: usize) -> Option<Shape> {
        let sign = match engine.plan.crossings[i].crossing {
            Crossing::Level | Crossing::Rising => 1.0,
            Crossing::Falling => -1.0,
        };
        let values: Samples = std::array::from_fn(|k| sign * self.levels[level][k][i]);
        engine.is_on(engine.plan.guard_gates[i]).then(|| Shape::of(values)).flatten()
    }

    /// First place after `from` in part `k` at which a guard has to be evaluated.
    fn place(&self, engine: &Engine, level: usize, k: usize, from: f64) -> Option<Place> {
        let places = (0..engine.plan.crossings.len()).filter_map(|i| {
            let shape = self.shape(engine, i, level)?;
            if engine.is_ready(i) {
                shape.peak(k, from).map(Place::Peak)
            } else {
                shape.dip(k, from).map(Place::Dip)
            }
        });
        places.min_by(|a, b| a.place().total_cmp(&b.place()))
    }

    /// True if the quartics are not accurate enough to exclude a crossing in part `k`.
    fn is_doubtful(&self, engine: &Engine, level: usize, k: usize) -> bool {
        (0..engine.plan.crossings.len()).any(|i| {
            engine.is_ready(i)
                && self.shape(engine, i, level).is_some_and(|shape| shape.is_doubtful(k))
        })
    }
}

impl Scratch {
    /// First crossing of a guard in the kernel's last step: a time before the crossing and one
    /// after it [s]. Without a crossing, guards are armed as at the end of the step.
    pub(super) fn crossing(
        &mut self,
        engine: &mut Engine,
        kernel: &VariableStep,
    ) -> Result<Option<(f64, f64)>, RunFault> {
        let step = Segment { level: 0, start: kernel.previous_t(), end: kernel.t() };
        self.guards.levels[0].swap(0, PARTS);
        self.sample(engine, kernel, step, PARTS)?;
        if !engine.may_cross() {
            engine.arm();
            return Ok(None);
        }
        self.examine(engine, kernel, step)
    }

    /// First crossing in a segment. The values at both of its ends are known.
    fn examine(
        &mut self,
        engine: &mut Engine,
        kernel: &VariableStep,
        segment: Segment,
    ) -> Result<Option<(f64, f64)>, RunFault> {
        for k in 1..PARTS {
            self.sample(engine, kernel, segment, k)?;
        }
        for k in 1..=PARTS {
            let found = self.examine_part(engine, kernel, segment, k)?;
            if found.is_some() {
                return Ok(found);
            }
            engine.work.guard_values.copy_from_slice(&self.guards.levels[segment.level][k]);
            if engine.any_crossed() {
                return Ok(Some((segment.at(k as f64 - 1.0), segment.at(k as f64))));
            }
            engine.arm();
        }
        Ok(None)
    }

    /// First crossing that is undone before part `k` of a segment ends.
    fn examine_part(
        &mut self,
        engine: &mut Engine,
        kernel: &VariableStep,
        segment: Segment,
        k: usize,
    ) -> Result<Option<(f64, f64)>, RunFault> {
        let level = segment.level;
        let mut near = k as f64 - 1.0;
        let mut from = near;
        let mut is_doubtful = false;
        if let Some([outer, inner]) = self.guards.levels.get_mut(level..level + 2) {
            inner[0].copy_from_slice(&outer[k - 1]);
            inner[PARTS].copy_from_slice(&outer[k]);
        }
        while let Some(place) = self.guards.place(engine, level, k, from) {
            from = place.place();
            self.look(engine, kernel, segment.at(from))?;
            if engine.any_crossed() {
                return Ok(Some((segment.at(near), segment.at(from))));
            }
            match place {
                // The quartic is wrong.
                Place::Peak(_) => is_doubtful = true,
                Place::Dip(place) => {
                    engine.arm();
                    near = place;
                    if let Some(inner) = self.guards.levels.get_mut(level + 1) {
                        inner[0].copy_from_slice(&engine.work.guard_values);
                    }
                }
            }
        }
        let is_doubtful = is_doubtful || self.guards.is_doubtful(engine, level, k);
        if !is_doubtful || level + 1 == LEVELS {
            return Ok(None);
        }
        let part = Segment { level: level + 1, start: segment.at(near), end: segment.at(k as f64) };
        self.examine(engine, kernel, part)
    }

    /// Keeps the guard values at the end of part `k` of a segment.
    fn sample(
        &mut self,
        engine: &mut Engine,
        kernel: &VariableStep,
        segment: Segment,
        k: usize,
    ) -> Result<(), RunFault> {
        self.look(engine, kernel, segment.at(k as f64))?;
        self.guards.levels[segment.level][k].copy_from_slice(&engine.work.guard_values);
        Ok(())
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
